"""Names, links and limits: what refuses a whole archive."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import posixpath
import random

import lz4.frame
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import ArchiveError, UnsafeArchiveError
from datasets_core.fetch.members import Budget, Member, decompressed, open_decompressed, plan, safe_path

HOSTILE = [
    "/etc/passwd",
    "//host/share",
    "../up",
    "a/../../up",
    "a/..",
    "..",
    "C:/x",
    "c:x",
    "a/C:/x",
    "\\abs",
    "..\\up",
    "a\\..\\..\\up",
    "a\\..",
    "",
    "a\0b",
    "a\udcffb",
]
PIECES = st.sampled_from(["..", ".", "", "a", "b c", "C:", "\\", "/", "//", "..\\", "x\0", "é", "\udc80", "~", "nul", " "])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused(name):
    with pytest.raises(UnsafeArchiveError) as caught:
        safe_path("bad.zip", name)
    assert str(caught.value.file).endswith("bad.zip")


@given(st.lists(PIECES | st.text(max_size=3), max_size=6), st.sampled_from(["/", "\\", ""]))
def test_whatever_is_let_through_stays_inside(pieces, joint):
    name = joint.join(pieces)
    try:
        path = safe_path("a.zip", name)
    except UnsafeArchiveError:
        return
    for system in (path, path.replace("\\", "/")):
        assert posixpath.normpath(posixpath.join("/target", system)).startswith("/target")
        assert ".." not in system.split("/")
    assert not posixpath.isabs(path)
    path.encode("utf-8")


@pytest.mark.parametrize(
    ("name", "path"), [("./a", "a"), ("a//b/", "a/b"), ("./", ""), ("a\\b", "a\\b"), ("a..b/..c", "a..b/..c")]
)
def test_a_harmless_name_loses_only_its_empty_parts(name, path):
    assert safe_path("a.zip", name) == path


def budget(**changes):
    with config.using(**changes) as limits:
        return Budget("a.tar", 1000, limits)


def planned(*members, **changes):
    return plan("a.tar", members, budget(**changes))


def file(path, size=1):
    return Member(path, path, "file", size)


def link(path, target):
    return Member(path, path, "symlink", target=target)


def hard(path, target):
    return Member(path, path, "hardlink", target=target)


def test_a_path_without_end_is_refused():
    assert safe_path("a.zip", "a/" * 200 + "b") == "a/" * 200 + "b"
    with pytest.raises(UnsafeArchiveError, match=r"member '(a/){100,}a?….* more than 256 folders deep") as caught:
        safe_path("a.zip", "a/" * 3000 + "b")
    assert len(str(caught.value)) < 600


def test_folders_are_made_for_all_that_lies_in_them():
    found = planned(file("a/b/c"), Member("d/", "d", "folder"))
    assert sorted(found.folders) == ["a", "a/b", "d"]
    assert found.folders.index("a") < found.folders.index("a/b")


@pytest.mark.parametrize(
    ("member", "source"),
    [
        (link("l", "d/f"), "d/f"),
        (link("d/l", "f"), "d/f"),
        (link("d/l", "../g"), "g"),
        (link("d/l", "./../d/./f"), "d/f"),
        (hard("x/l", "d/f"), "d/f"),
        (hard("x/l", "./d/f"), "d/f"),
    ],
)
def test_a_link_that_stays_inside_is_a_copy(member, source):
    assert planned(file("d/f"), file("g"), member).copies == [(member.path, source)]
    assert planned(member, file("d/f"), file("g")).copies == [(member.path, source)]


def test_links_to_links_and_to_folders_are_followed():
    found = planned(file("d/f"), file("d/e/g"), link("one", "two"), link("two", "d"), link("d/l", "f"))
    assert sorted(found.copies) == [
        ("d/l", "d/f"),
        ("one/e/g", "d/e/g"),
        ("one/f", "d/f"),
        ("one/l", "d/f"),
        ("two/e/g", "d/e/g"),
        ("two/f", "d/f"),
        ("two/l", "d/f"),
    ]


def test_a_link_may_lead_through_another():
    assert ("l", "d/f") in planned(file("d/f"), link("k", "d"), link("l", "k/f")).copies


@pytest.mark.parametrize("target", ["/etc/passwd", "../up", "d/../../up", "C:\\x", "\\\\host", "..\\up", "", "a\0b"])
@pytest.mark.parametrize("make", [link, hard])
def test_a_link_that_leaves_is_refused(make, target):
    with pytest.raises(UnsafeArchiveError, match="points outside the archive"):
        planned(file("d/f"), make("l", target))


@pytest.mark.parametrize(
    "members",
    [
        [link("a", "a")],
        [link("a", "b"), link("b", "a")],
        [link("d/l", "..")],
        [link("d/l", ".")],
        [link("l", ".")],
        [link("a/x", "../b"), link("b/y", "../a"), file("a/f"), file("b/f")],
        [link("a", "b/x"), link("b", "a/y")],
    ],
)
def test_circles_are_refused(members):
    with pytest.raises(UnsafeArchiveError, match="cycle"):
        planned(*members)


def test_a_link_to_nothing_is_told():
    with pytest.raises(ArchiveError, match="points to 'gone', which is not in the archive"):
        planned(link("l", "gone"))


@pytest.mark.parametrize(
    "members",
    [
        [file("a"), file("a/b")],
        [link("a", "d"), file("a/b"), file("d/x")],
        [file("a"), Member("a/", "a", "folder")],
        [file("")],
        [file("a"), link("a", "b"), file("b")],
        [link("a", "b"), link("a", "c"), file("b"), file("c")],
    ],
)
def test_members_that_contradict_each_other_are_refused(members):
    with pytest.raises(UnsafeArchiveError):
        planned(*members)


def test_a_name_that_comes_twice_is_marked_to_be_compared():
    assert planned(file("a"), file("b"), file("a")).repeated == {"a"}


def test_copies_count_as_bytes():
    with pytest.raises(UnsafeArchiveError, match="max_archive_bytes"):
        planned(file("d/f", 60), link("l", "d"), link("m", "d"), max_archive_bytes=100)


def test_the_ratio_counts_above_100_mb_only():
    limits = budget()
    limits.take_bytes(100_000_000)
    with pytest.raises(UnsafeArchiveError, match="200 times"):
        limits.take_bytes(1)


# Compressed streams: all of their bytes, or an error that names the file.

PACK = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    "lz4": lambda data: lz4.frame.compress(data, content_checksum=True),
}
DATA = random.Random(0).randbytes(100_000) * 4 + b"end"
PACKED = {kind: pack(DATA) for kind, pack in PACK.items()}
kinds = pytest.mark.parametrize("kind", PACK)


def unpacked(data):
    with decompressed(io.BytesIO(data), path="the/file") as source:
        return source.read()


@kinds
def test_what_was_packed_comes_out(kind, tmp_path):
    (tmp_path / "x").write_bytes(PACK[kind](DATA))
    with open_decompressed(str(tmp_path / "x")) as source:
        assert source.read() == DATA


@kinds
def test_several_streams_in_a_row_are_one_file(kind):
    assert unpacked(PACK[kind](DATA) + PACK[kind](b"") + PACK[kind](b"more")) == DATA + b"more"


@kinds
@given(cut=st.integers(min_value=1, max_value=200))
def test_a_cut_stream_is_an_error_wherever_it_is_cut(kind, cut):
    packed = PACK[kind](b"some data, and more of it " * 10)
    head = packed[: max(8, len(packed) - cut)]
    with pytest.raises(ArchiveError, match="the/file: "):
        unpacked(head)


@kinds
def test_a_flipped_bit_is_an_error(kind):
    packed = bytearray(PACK[kind](DATA))
    packed[len(packed) // 2] ^= 1
    with pytest.raises(ArchiveError, match="the/file: "):
        unpacked(bytes(packed))


@kinds
def test_foreign_bytes_after_the_end_are_an_error(kind):
    with pytest.raises(ArchiveError, match="the/file: "):
        unpacked(PACK[kind](DATA) + b"garbage!")


@pytest.mark.parametrize("kind", ["gz", "bz2", "xz"])
def test_zero_bytes_after_the_end_are_padding(kind):
    assert unpacked(PACK[kind](DATA) + bytes(512)) == DATA


@given(
    st.binary(max_size=50).filter(lambda data: not data.startswith((b"\x1f\x8b", b"BZh", b"\xfd7z", b"\x28\xb5", b"\x04\x22")))
)
def test_a_plain_file_comes_as_it_is(data):
    assert unpacked(data) == data


@kinds
@settings(max_examples=20)
@given(sizes=st.lists(st.integers(min_value=1, max_value=40_000), min_size=1, max_size=10))
def test_small_and_large_reads_give_the_same_bytes(kind, sizes):
    with decompressed(io.BytesIO(PACKED[kind]), path="x") as source:
        pieces = [source.read(size) for size in sizes]
    assert b"".join(pieces) == DATA[: sum(len(piece) for piece in pieces)]
    assert [len(piece) for piece in pieces] == sizes


@pytest.mark.parametrize("kind", ["gz", "zst"])
def test_a_file_that_unpacks_to_far_too_much_is_refused(kind, tmp_path):
    path = tmp_path / "bomb"
    path.write_bytes(PACK[kind](bytes(2_000_000)) * 60)

    with (
        open_decompressed(str(path)) as source,
        pytest.raises(UnsafeArchiveError, match="bomb: extracts to more than 200"),
    ):
        while source.read(1 << 20):
            pass


def test_a_file_that_unpacks_to_much_is_read_where_the_limit_is_raised(tmp_path):
    path = tmp_path / "large.gz"
    path.write_bytes(PACK["gz"](bytes(2_000_000)) * 60)

    with config.using(max_archive_ratio=2000), open_decompressed(str(path)) as source:
        assert sum(len(data) for data in iter(lambda: source.read(1 << 20), b"")) == 120_000_000

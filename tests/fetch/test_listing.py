"""Iterating over archives and folders: the same files in the same order as users of HF know them, as often as wanted."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import pickle
import tarfile
import zipfile

import pytest

from datasets_core.errors import ArchiveError, DataFilesNotFoundError, UnsafeArchiveError
from datasets_core.fetch.extract import iter_archive, iter_files

NAMES = ["b.txt", ".hid", "dir/.hid", "dir/a.txt", ".hd/c.txt", "__MACOSX/x", "_x", "x/__y", "x/__z/q"]
SHOWN = ["b.txt", "dir/a.txt", ".hd/c.txt", "__MACOSX/x", "_x", "x/__z/q"]
"""What `datasets` 5.2.0 gives for NAMES: only a file's own name can hide it."""


def tarred(names=NAMES):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(name)
            archive.addfile(member, io.BytesIO(name.encode()))
        for kind, name in ((tarfile.SYMTYPE, "soft"), (tarfile.LNKTYPE, "hard"), (tarfile.DIRTYPE, "folder")):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "b.txt"
            archive.addfile(member)
    return buffer.getvalue()


def zipped():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.mkdir("folder")
        for name in NAMES:
            archive.writestr(name, name)
    return buffer.getvalue()


@pytest.fixture(params=["zip", "tar", "tar.gz"])
def archive(request, tmp_path):
    path = tmp_path / f"a.{request.param}"
    path.write_bytes({"zip": zipped, "tar": tarred, "tar.gz": lambda: gzip.compress(tarred())}[request.param]())
    return str(path)


def test_an_archive_gives_its_visible_files_in_its_order_each_time(archive):
    wanted = [(name, name.encode()) for name in SHOWN]
    wanted += [] if archive.endswith("zip") else [("soft", b"b.txt"), ("hard", b"b.txt")]
    found = iter_archive(archive)
    for again in (found, found, pickle.loads(pickle.dumps(found))):
        assert [(name, source.read()) for name, source in again] == wanted


def test_an_open_archive_can_be_walked_twice_too(archive):
    with open(archive, "rb") as source:
        found = iter_archive(source)
        first, second = ([name for name, _ in itertools.islice(found, len(SHOWN))] for _ in range(2))
    assert first == second == SHOWN


def test_a_link_in_an_open_compressed_file_asks_for_the_path():
    with pytest.raises(ArchiveError, match="Give the path"):
        list(iter_archive(io.BytesIO(gzip.compress(tarred(["b.txt"])))))


def test_a_link_in_an_open_file_gives_what_it_points_to():
    found = [(name, source.read()) for name, source in iter_archive(io.BytesIO(tarred(["b.txt"])))]

    assert found == [("b.txt", b"b.txt"), ("soft", b"b.txt"), ("hard", b"b.txt")]


def test_two_walks_at_once_do_not_disturb_each_other(archive):
    found = iter_archive(archive)
    pairs = [(one.read(), two.read()) for (_, one), (_, two) in zip(found, found, strict=True)]
    assert all(one == two for one, two in pairs)


def test_a_member_reads_as_text_and_has_its_name(archive):
    walked = iter(iter_archive(archive))
    name, source = next(walked)
    assert source.name == name
    assert io.TextIOWrapper(source, encoding="utf-8").readline() == "b.txt"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="reads /proc")
def test_a_walk_that_is_left_early_closes_the_archive(archive):
    walked = iter(iter_archive(archive))
    next(walked)
    assert is_open(archive)
    del walked
    assert not is_open(archive)


def is_open(path):
    opened = (f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd"))
    return any(os.path.lexists(link) and os.path.realpath(link) == os.path.realpath(path) for link in opened)


@pytest.fixture
def folder(tmp_path):
    for name in [*NAMES, "dir/b/z.txt", "dir/a.txu"]:
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return str(tmp_path / "in")


def test_files_of_folders_come_sorted_folder_by_folder_without_the_hidden(folder):
    found = iter_files(folder)
    wanted = [os.path.join(folder, name) for name in ["_x", "b.txt", "dir/a.txt", "dir/a.txu", "dir/b/z.txt"]]
    assert list(found) == wanted
    assert list(pickle.loads(pickle.dumps(found))) == list(found)


def test_a_file_that_is_named_comes_hidden_or_not(folder):
    named = [os.path.join(folder, ".hid"), os.path.join(folder, "b.txt")]
    assert list(iter_files(named)) == named


def test_a_missing_path_is_told(folder):
    with pytest.raises(DataFilesNotFoundError, match="none does not exist"):
        list(iter_files([folder, os.path.join(folder, "none")]))


def test_folders_of_other_stores_are_listed_too():
    import fsspec

    store = fsspec.filesystem("memory")
    for name in ("b.txt", "a/c.txt", ".hid/d", "__e"):
        store.pipe(f"/listing/{name}", b"x")
    assert list(iter_files("memory://listing")) == ["memory:///listing/a/c.txt", "memory:///listing/b.txt"]
    with pytest.raises(DataFilesNotFoundError, match="memory://listing/none"):
        list(iter_files("memory://listing/none"))
    store.rm("/listing", recursive=True)


def linked(*links, content=b"x", mode="w"):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:
        member = tarfile.TarInfo("x")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
        for name, target, kind in links:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member)
    return buffer.getvalue()


def test_a_chain_of_hard_links_gives_the_file_each_time(tmp_path):
    path = tmp_path / "a.tar"
    path.write_bytes(linked(("b", "x", tarfile.LNKTYPE), ("c", "b", tarfile.LNKTYPE), content=b"hi"))

    assert [(name, source.read()) for name, source in iter_archive(path)] == [("x", b"hi"), ("b", b"hi"), ("c", b"hi")]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE])
def test_a_link_out_of_the_archive_is_refused(tmp_path, kind):
    path = tmp_path / "a.tar"
    path.write_bytes(linked(("l", "../secret", kind)))

    with pytest.raises(UnsafeArchiveError, match=r"points out of the archive, to '\.\./secret'"):
        list(iter_archive(path))


def test_what_links_repeat_is_limited(tmp_path):
    path = tmp_path / "a.tar.gz"
    path.write_bytes(linked(*((f"l{n}", "x", tarfile.LNKTYPE) for n in range(500)), content=bytes(1_000_000), mode="w:gz"))

    with pytest.raises(UnsafeArchiveError, match="200 times its size"):
        for _, source in iter_archive(path):
            source.read()


def test_a_sparse_member_is_counted_with_what_it_unpacks_to(tmp_path):
    path = tmp_path / "a.tar.gz"
    facts = {"major": "1", "minor": "0", "name": "s", "realsize": "2000000000"}
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        member = tarfile.TarInfo("GNUSparseFile.0/s")
        member.size, member.pax_headers = 512, {f"GNU.sparse.{name}": value for name, value in facts.items()}
        archive.addfile(member, io.BytesIO(b"0\n".ljust(512, b"\0")))

    with pytest.raises(UnsafeArchiveError, match="200 times its size"):
        list(iter_archive(path))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_a_zip_gives_twice_with_other_bytes_is_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", "a")
        archive.writestr("./x", "b")

    with pytest.raises(UnsafeArchiveError, match="appears twice and differs"):
        list(iter_archive(path))


SOFT, HARD = tarfile.SYMTYPE, tarfile.LNKTYPE


def packed(path, members):
    """A tar at `path` of (name, bytes of a file, or (kind, target) of a link)."""
    with tarfile.open(path, "w:gz" if str(path).endswith("gz") else "w") as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
            else:
                member.type, member.linkname = content
                archive.addfile(member)
    return path


UNSAFE = {
    "link out": ([("l", (SOFT, "/etc/passwd"))], "points out of the archive"),
    "circle of links": ([("l", (SOFT, "m")), ("m", (SOFT, "l"))], "circle"),
    "link to nothing": ([("l", (SOFT, "none"))], "does not hold"),
    "other bytes": ([("x", b"2")], "appears twice and differs"),
    "other bytes, other spelling": ([("./x", b"2")], "appears twice and differs"),
    "file and link": ([("x", (SOFT, "y")), ("y", b"")], "appears twice and differs"),
    "file in a file": ([("x/y", b"2")], "both a folder and a file"),
    "file in a link": ([("q/x", b"2"), ("d", (SOFT, "q")), ("d/e", b"3")], "both a folder and a file"),
    "out": ([("../e", b"2")], "leads out"),
}


@pytest.mark.parametrize("case", UNSAFE)
def test_an_unsafe_archive_is_refused_before_its_first_file(tmp_path, case):
    members, reason = UNSAFE[case]
    path = packed(tmp_path / "a.tar", [("x", b"1"), *members])

    for source in (path, io.BytesIO(path.read_bytes())):
        with pytest.raises(ArchiveError, match=reason):
            next(iter(iter_archive(source)))


@pytest.mark.parametrize("case", UNSAFE)
def test_an_unsafe_compressed_archive_is_refused_while_it_is_read(tmp_path, case):
    members, reason = UNSAFE[case]
    path = packed(tmp_path / "a.tar.gz", [("x", b"1"), *members])

    with pytest.raises(ArchiveError, match=reason):
        list(iter_archive(path))


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_files_of_one_name_and_the_same_bytes_are_no_fault(tmp_path, name):
    path = packed(tmp_path / name, [("x", b"1"), ("./x", b"1")])

    assert [(name, source.read()) for name, source in iter_archive(path)] == [("x", b"1"), ("./x", b"1")]


def test_an_open_compressed_tar_with_a_name_twice_asks_for_the_path(tmp_path):
    path = packed(tmp_path / "a.tar.gz", [("x", b"1"), ("x", b"1")])

    with open(path, "rb") as source, pytest.raises(ArchiveError, match="Give the path"):
        list(iter_archive(source))


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz"])
def test_links_give_the_bytes_of_what_they_point_to(tmp_path, name):
    members = [("l", (SOFT, "d/x")), ("k", (SOFT, "l")), ("d/x", b"1"), ("d/y", b"2"), ("e", (SOFT, "d")), (".h", (SOFT, "k"))]
    path = packed(tmp_path / name, members)

    found = [(name, source.read()) for name, source in iter_archive(path)]

    assert found[:2] == [("d/x", b"1"), ("d/y", b"2")]
    assert sorted(found[2:]) == [("e/x", b"1"), ("e/y", b"2"), ("k", b"1"), ("l", b"1")]


def test_a_link_in_a_zip_gives_the_bytes_of_what_it_points_to(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x", "1")
        link = zipfile.ZipInfo("l")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "x")

    assert [(name, source.read()) for name, source in iter_archive(path)] == [("x", b"1"), ("l", b"1")]

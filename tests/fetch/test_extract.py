"""Unpacking: all of a harmless archive, nothing of another; once, and again when it was damaged."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import itertools
import os
import pickle
import stat
import tarfile
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import ArchiveError, DataFilesNotFoundError, DatasetDiskError, UnsafeArchiveError
from datasets_core.fetch.extract import ExtractionCache, extract, iter_archive, iter_files


def tarred(path, *members, mode="w"):
    with tarfile.open(path, mode) as archive:
        for name, data, *changes in members:
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(data), 0o7777
            for key, value in dict(*changes).items():
                setattr(member, key, value)
            archive.addfile(member, io.BytesIO(data))
    return str(path)


def zipped(path, *members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data, *changes in members:
            member = zipfile.ZipInfo(name)
            for key, value in dict(*changes).items():
                setattr(member, key, value)
            archive.writestr(member, data)
    return str(path)


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}


SYMLINK = {"create_system": 3, "external_attr": 0o120777 << 16}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_becomes_a_folder_with_plain_modes_and_copies_for_links(tmp_path, mode):
    archive = tarred(
        tmp_path / "a",
        ("./d/a.csv", b"one"),
        ("link", b"", {"type": tarfile.SYMTYPE, "linkname": "d/a.csv"}),
        ("hard", b"", {"type": tarfile.LNKTYPE, "linkname": "./d/a.csv"}),
        ("empty/", b"", {"type": tarfile.DIRTYPE}),
        mode=mode,
    )
    extract(archive, str(tmp_path / "out"))
    assert tree(tmp_path / "out") == {"d/a.csv": b"one", "link": b"one", "hard": b"one"}
    assert not (tmp_path / "out" / "link").is_symlink()
    assert os.stat(tmp_path / "out" / "hard").st_nlink == 1
    assert stat.S_IMODE(os.stat(tmp_path / "out" / "d" / "a.csv").st_mode) & ~0o644 == 0
    assert stat.S_IMODE(os.stat(tmp_path / "out" / "empty").st_mode) & ~0o755 == 0


def test_a_zip_becomes_a_folder(tmp_path):
    archive = zipped(tmp_path / "a", ("d/", b""), ("d/a.csv", b"one"), ("l", b"d/a.csv", SYMLINK))
    extract(archive, str(tmp_path / "out"))
    assert tree(tmp_path / "out") == {"d/a.csv": b"one", "l": b"one"}


def test_a_compressed_file_becomes_a_file(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"one"))
    extract(tmp_path / "a.gz", str(tmp_path / "out"))
    assert (tmp_path / "out").read_bytes() == b"one"


ATTACKS = {
    "absolute": [("/tmp/evil", b"x")],
    "up": [("../evil", b"x")],
    "up later": [("ok", b"x"), ("a/../../evil", b"x")],
    "drive": [("C:\\evil", b"x")],
    "backslash": [("..\\evil", b"x")],
    "link out": [("l", b"", {"type": tarfile.SYMTYPE, "linkname": "../evil"})],
    "link absolute": [("l", b"", {"type": tarfile.SYMTYPE, "linkname": "/etc"})],
    "through a link": [("l", b"", {"type": tarfile.SYMTYPE, "linkname": "d"}), ("l/evil", b"x"), ("d/a", b"x")],
    "two links": [
        ("a", b"", {"type": tarfile.SYMTYPE, "linkname": "."}),
        ("b", b"", {"type": tarfile.SYMTYPE, "linkname": "a/.."}),
        ("b/evil", b"x"),
    ],
    "hard link out": [("l", b"", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"})],
    "pipe": [("p", b"", {"type": tarfile.FIFOTYPE})],
    "device": [("ok", b"x"), ("p", b"", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 3})],
    "twice": [("a", b"x"), ("./a", b"y")],
    "file and folder": [("a", b"x"), ("a/b", b"y")],
}


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_by_tar_is_refused_whole_and_leaves_nothing(tmp_path, attack, mode):
    archive = tarred(tmp_path / "a", ("first", b"x"), *ATTACKS[attack], mode=mode)
    with pytest.raises(UnsafeArchiveError, match=archive):
        extract(archive, str(tmp_path / "box" / "out"))
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize(
    "members",
    [
        [("/evil", b"x")],
        [("../evil", b"x")],
        [("..\\evil", b"x")],
        [("l", b"../evil", SYMLINK)],
        [("l", b"/etc/passwd", SYMLINK)],
        [("l", b"d", SYMLINK), ("l/evil", b"x"), ("d/a", b"x")],
    ],
)
def test_an_attack_by_zip_is_refused_whole_and_leaves_nothing(tmp_path, members):
    archive = zipped(tmp_path / "a", ("first", b"x"), *members)
    with pytest.raises(UnsafeArchiveError, match=archive):
        extract(archive, str(tmp_path / "box" / "out"))
    assert os.listdir(tmp_path) == ["a"]


@given(st.lists(st.lists(st.sampled_from(["..", ".", "a", "b", "", "C:"]), min_size=1, max_size=4), min_size=1, max_size=4))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_names_at_all_write_outside(tmp_path_factory, names):
    box = tmp_path_factory.mktemp("box")
    archive = tarred(box / "a.tar", *[("/".join(name) or "x", b"same") for name in names])
    with contextlib.suppress(ArchiveError):
        extract(archive, str(box / "in" / "out"))
    assert set(os.listdir(box)) <= {"a.tar", "in"}
    assert "in" not in os.listdir(box) or os.listdir(box / "in") == ["out"]


def test_equal_repeats_are_one_file(tmp_path):
    extract(tarred(tmp_path / "a", ("a", b"x"), ("./a", b"x")), str(tmp_path / "out"))
    assert tree(tmp_path / "out") == {"a": b"x"}


def test_a_damaged_archive_leaves_nothing(tmp_path):
    archive = Path(zipped(tmp_path / "a", ("first", b"x"), ("second", b"some data")))
    archive.write_bytes(archive.read_bytes().replace(b"some data", b"some dAta"))
    with pytest.raises(ArchiveError, match="member 'second' is damaged"):
        extract(archive, str(tmp_path / "out"))
    assert os.listdir(tmp_path) == ["a"]


def test_a_compressed_bomb_is_refused(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(120_000_000), 1))
    with config.using(max_archive_ratio=100), pytest.raises(UnsafeArchiveError, match="100 times"):
        extract(tmp_path / "a.gz", str(tmp_path / "out"))
    assert os.listdir(tmp_path) == ["a.gz"]


def test_more_than_the_disk_holds_is_told_at_once(tmp_path):
    member = tarfile.TarInfo("big")
    member.size = 1 << 50
    with open(tmp_path / "a", "wb") as out:
        out.write(member.tobuf(tarfile.GNU_FORMAT))
        out.truncate((1 << 42) + 512)
    with config.using(max_archive_bytes=1 << 60, max_archive_ratio=1 << 30), pytest.raises((DatasetDiskError, ArchiveError)):
        extract(tmp_path / "a", str(tmp_path / "out"))
    assert os.listdir(tmp_path) == ["a"]


# -- once


@pytest.fixture
def cache(tmp_path):
    return ExtractionCache(str(tmp_path / "extracted"))


def test_an_archive_is_unpacked_once(cache, tmp_path):
    archive = tarred(tmp_path / "a", ("d/a.csv", b"one"))
    first = cache.extract(archive)
    before = os.stat(os.path.join(first, "d", "a.csv")).st_ino
    assert cache.extract(archive) == first
    assert os.stat(os.path.join(first, "d", "a.csv")).st_ino == before


def test_a_changed_archive_is_unpacked_anew(cache, tmp_path):
    first = cache.extract(tarred(tmp_path / "a", ("a", b"one")))
    second = cache.extract(tarred(tmp_path / "a", ("a", b"two")))
    assert (tree(first), tree(second)) == ({"a": b"one"}, {"a": b"two"})


def test_equal_content_is_unpacked_into_one_folder(cache, tmp_path):
    one, two = tarred(tmp_path / "a", ("a", b"x")), tarred(tmp_path / "b", ("a", b"x"))
    assert cache.extract(one, identity="sha") == cache.extract(two, identity="sha")


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_damage_in_the_folder_is_noticed(cache, tmp_path, damage):
    archive = tarred(tmp_path / "a", ("a", b"one"), ("b", b"two"))
    folder = cache.extract(archive)
    os.unlink(os.path.join(folder, "a")) if damage == "missing" else os.truncate(os.path.join(folder, "a"), 1)
    assert tree(cache.extract(archive)) == {"a": b"one", "b": b"two"}


def test_force_unpacks_again(cache, tmp_path):
    archive = tarred(tmp_path / "a", ("a", b"one"))
    Path(cache.extract(archive), "a").write_bytes(b"own")
    assert tree(cache.extract(archive, force=True)) == {"a": b"one"}


def test_a_compressed_file_keeps_its_name_without_the_suffix(cache, tmp_path):
    (tmp_path / "my data.csv.gz").write_bytes(gzip.compress(b"x"))
    path = cache.extract(str(tmp_path / "my data.csv.gz"))
    assert (os.path.basename(path), Path(path).read_bytes()) == ("my_data.csv", b"x")
    assert os.path.basename(cache.extract(str(tmp_path / "my data.csv.gz"), name="https://h/../.gz")) == "data"


def test_threads_that_ask_together_unpack_once(cache, tmp_path):
    archive = tarred(tmp_path / "a", *[(f"{number}", b"x") for number in range(50)])
    barrier, told, places = threading.Barrier(6), [], []

    def ask():
        barrier.wait()
        places.append(cache.extract(archive, on_bytes=told.append))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(places)) == 1
    assert len(places) == 6
    assert sum(told) == 50


def test_a_refused_archive_leaves_no_litter(cache, tmp_path):
    archive = tarred(tmp_path / "a", ("ok", b"x"), ("../up", b"x"))
    with pytest.raises(UnsafeArchiveError):
        cache.extract(archive)
    assert [name for name in os.listdir(cache.folder) if not name.endswith(".lock")] == []


def test_removing_takes_only_what_was_unpacked(cache, tmp_path):
    archive = tarred(tmp_path / "a", ("a", b"one"))
    folder = cache.extract(archive)
    cache.remove(folder)
    cache.remove(str(tmp_path / "a"))
    assert not os.path.exists(folder)
    assert os.path.exists(archive)


# Iterating over archives and folders: the same files in the same order as users of HF know them, as often as wanted.

NAMES = ["b.txt", ".hid", "dir/.hid", "dir/a.txt", ".hd/c.txt", "__MACOSX/x", "_x", "x/__y", "x/__z/q"]
SHOWN = ["b.txt", "dir/a.txt", ".hd/c.txt", "__MACOSX/x", "_x", "x/__z/q"]
"""What `datasets` 5.2.0 gives for NAMES: only a file's own name can hide it."""


def tarred_listing(names=NAMES):
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


def zipped_listing():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.mkdir("folder")
        for name in NAMES:
            archive.writestr(name, name)
    return buffer.getvalue()


@pytest.fixture(params=["zip", "tar", "tar.gz"])
def archive(request, tmp_path):
    path = tmp_path / f"a.{request.param}"
    path.write_bytes(
        {"zip": zipped_listing, "tar": tarred_listing, "tar.gz": lambda: gzip.compress(tarred_listing())}[request.param]()
    )
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
    with pytest.raises(ArchiveError, match="Pass the path"):
        list(iter_archive(io.BytesIO(gzip.compress(tarred_listing(["b.txt"])))))


def test_a_link_in_an_open_file_gives_what_it_points_to():
    found = [(name, source.read()) for name, source in iter_archive(io.BytesIO(tarred_listing(["b.txt"])))]

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

    with pytest.raises(UnsafeArchiveError, match=r"points outside the archive, to '\.\./secret'"):
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

    with pytest.raises(UnsafeArchiveError, match="appears twice"):
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
    "link out": ([("l", (SOFT, "/etc/passwd"))], "points outside the archive"),
    "circle of links": ([("l", (SOFT, "m")), ("m", (SOFT, "l"))], "cycle"),
    "link to nothing": ([("l", (SOFT, "none"))], "not in the archive"),
    "other bytes": ([("x", b"2")], "appears twice"),
    "other bytes, other spelling": ([("./x", b"2")], "appears twice"),
    "file and link": ([("x", (SOFT, "y")), ("y", b"")], "appears twice"),
    "file in a file": ([("x/y", b"2")], "both a folder and a file"),
    "file in a link": ([("q/x", b"2"), ("d", (SOFT, "q")), ("d/e", b"3")], "both a folder and a file"),
    "out": ([("../e", b"2")], "is outside"),
}


@pytest.mark.parametrize("name", ["", "/", "//", ".", "./"])
@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "zip"])
def test_an_entry_of_the_folder_itself_is_skipped(tmp_path, name, suffix):
    path = tmp_path / f"a.{suffix}"
    if suffix == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(f"{name.rstrip('/')}/", "")
            archive.writestr("x", "1")
    else:
        with tarfile.open(path, "w:gz" if suffix == "tar.gz" else "w") as archive:
            root, member = tarfile.TarInfo(name), tarfile.TarInfo("x")
            root.type, member.size = tarfile.DIRTYPE, 1
            archive.addfile(root)
            archive.addfile(member, io.BytesIO(b"1"))

    assert [(found, file.read()) for found, file in iter_archive(path)] == [("x", b"1")]
    extract(path, str(tmp_path / "out"))
    assert os.listdir(tmp_path / "out") == ["x"]


@pytest.mark.parametrize("suffix", ["tar", "zip"])
def test_members_can_be_read_after_the_archive_was_walked(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    if suffix == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in "xyz":
                archive.writestr(name, name * 100_000)
    else:
        packed(path, [(name, name.encode() * 100_000) for name in "xyz"])

    held = dict(iter_archive(path))
    assert [held[name].read() for name in "zxy"] == [name.encode() * 100_000 for name in "zxy"]
    held["x"].seek(99_999)
    assert held["x"].read() == b"x"


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

    with open(path, "rb") as source, pytest.raises(ArchiveError, match="Pass the path"):
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes on this system")
def test_a_pipe_is_not_waited_for_and_a_device_is_not_read(tmp_path):
    os.mkfifo(tmp_path / "a.zip")
    for path in (tmp_path / "a.zip", Path("/dev/zero")):
        with pytest.raises(ArchiveError, match="a pipe, a device or a socket"):
            extract(path, str(tmp_path / "out"))
        assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_listed_is_an_error_and_not_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("a")
    listed = os.scandir

    def refused(path: str) -> Any:
        if str(path).endswith("in"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return listed(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(DatasetDiskError) as caught:
        list(iter_files(str(tmp_path)))
    assert caught.value.path == str(tmp_path / "in")

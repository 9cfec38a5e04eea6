"""Unpacking: all of a harmless archive, nothing of another; once, and again when it was damaged."""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import stat
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import ArchiveError, DatasetDiskError, UnsafeArchiveError
from datasets_core.fetch.extract import ExtractionCache, extract


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

"""A listing that is known stands in for the store: what patterns find in it, and what is told of what they do not find."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import DataFilesNotFoundError, DataFilesWarning
from datasets_core.files import FileEntry
from datasets_core.meta.data_files import infer_data_files, match, resolve_data_files
from datasets_core.meta.listings import (
    COMPRESSION,
    FORMATS,
    UnfitFileError,
    extensions,
    is_bare_shard,
    media_type,
    opened,
    small_bytes,
)

ROOT = "known://all/set@1"
NAMES = st.text("ab.-_1", min_size=1, max_size=4).filter(lambda name: name.strip("."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


class Known:
    """The files of one set; `known://all/set` is pinned to its version 1."""

    def __init__(self, *paths: str) -> None:
        self.paths, self.asked = sorted(paths), 0

    def holds(self, url: str) -> bool:
        return url.rpartition("::")[2].startswith("known://")

    def pinned(self, url: str) -> str:
        return url if "@" in url else url.replace("known://all/set", ROOT)

    def is_whole(self, url: str) -> bool:
        return True

    def entry(self, url: str) -> FileEntry | None:
        self.asked += 1
        return next((found for found in self.list_folder(ROOT) if found.path == url), None)

    def list_folder(self, url: str) -> list[FileEntry]:
        every = [FileEntry(f"{ROOT}/{path}", len(path), f"etag {path}") for path in self.paths]
        return [found for found in every if found.path.startswith(f"{url}/")]


def _found(known: Known, data_files: object, base: str = ROOT) -> dict[str, list[str]]:
    return {split: list(paths) for split, paths in resolve_data_files(data_files, base, listing=known).items()}


def test_paths_and_patterns_are_looked_up_and_pinned() -> None:
    known = Known("a.csv", "b.csv", "deep/c.csv", "deep/er/d.csv")
    wanted = {"one": "known://all/set/a.csv", "all": "*.csv", "deep": ["deep/c.csv", "known://all/set/deep/**"]}
    found = resolve_data_files(wanted, ROOT, listing=known)
    assert {split: list(paths) for split, paths in found.items()} == {
        "one": [f"{ROOT}/a.csv"],
        "all": [f"{ROOT}/a.csv", f"{ROOT}/b.csv"],
        "deep": [f"{ROOT}/deep/c.csv", f"{ROOT}/deep/er/d.csv"],
    }
    assert found["one"].identities == ((f"{ROOT}/a.csv", 5, "etag a.csv"),)


def test_a_local_folder_is_no_affair_of_the_listing(tmp_path: object) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    known = Known("a.csv")
    assert _found(known, "*.csv", str(tmp_path)) == {"train": [str(tmp_path / "a.csv")]}
    assert known.asked == 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("none.csv", r"no data file known://all/set@1/none\.csv.*contains: a\.csv, deep/c\.csv\."),
        ("deep/none.csv", r"known://all/set@1/deep contains: c\.csv\."),
        ("deep", r"is a folder, not a data file\. Write 'deep/\*\*'"),
        ("*.parquet", r"'\*\.parquet' matches no file in known://all/set@1\. Found: a\.csv"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(name: str, words: str) -> None:
    with pytest.raises(DataFilesNotFoundError, match=words):
        _found(Known("a.csv", "deep/c.csv"), name)


def test_shards_that_are_missing_in_a_known_store_are_told_and_the_rest_is_read() -> None:
    known = Known("data/train-00000-of-00002.csv", "a.csv")
    with pytest.warns(DataFilesWarning, match=r"1 of the 2 shards.*The existing files are read\."):
        assert len(_found(known, "data/*")["train"]) == 1
    with pytest.warns(DataFilesWarning, match="1 of the 2 shards"):
        infer_data_files(known.list_folder(ROOT), ROOT, refuses_gaps=False)
    with pytest.raises(DataFilesNotFoundError, match="1 of the 2 shards"):
        infer_data_files(known.list_folder(ROOT), ROOT)


@given(st.sets(PATHS, min_size=1, max_size=6), st.sampled_from(["*", "**", "a/*", "**/*1*", "*/**"]))
def test_a_pattern_finds_in_a_listing_what_it_finds_in_its_paths(paths: set[str], pattern: str) -> None:
    expected = match(pattern, sorted(paths))
    try:
        found = _found(Known(*paths), pattern)["train"]
    except DataFilesNotFoundError:
        found = []
    assert found == [f"{ROOT}/{path}" for path in expected]


# Media types of files by their names.


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.CSV", "text/csv"),
        ("a.tsv", "text/tab-separated-values"),
        ("a.jsonl", "application/jsonlines"),
        ("a.json", "application/json"),
        ("a.parquet", "application/x-parquet"),
        ("a.zip", "application/zip"),
        ("a.tar", "application/x-tar"),
        ("a.csv.gz", "application/gzip"),
        ("a.png", "image/png"),
        ("a", "application/octet-stream"),
    ],
)
def test_a_name_tells_the_media_type(name: str, kind: str) -> None:
    assert media_type(name) == kind


# The last extension comes first; queries of URLs are none.


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("data/a.CSV", [".csv"]),
        (".hidden", []),
        ("a.b/c", []),
        ("https://x.org/a.json.gz?b=.csv#d.txt", [".gz", ".json"]),
        ("hf://datasets/org/x@main/what?.csv", [".csv"]),
        ("a.tar::zip://b.csv", [".tar"]),
        ("mnist-train.tfrecord-00000-of-00010", [".tfrecord"]),
        ("a.tfrecord-00000-of-00010.gz", [".gz", ".tfrecord"]),
        ("a-00000-of-00010.csv", [".csv"]),
    ],
)
def test_the_last_extension_comes_first(path: str, found: list[str]) -> None:
    assert list(extensions(path)) == found


def test_a_tar_is_both_an_archive_and_a_format() -> None:
    assert COMPRESSION & FORMATS.keys() == {".tar"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data/train-00000-of-01024", True),
        ("imagenet-2.0.1-train-00000-of-01024.gz", True),
        ("https://x.org/train-00000-of-01024?key=1", True),
        ("train-0-of-2", False),
        ("a.txt-00000-of-00002", False),
        ("a.array_record-00000-of-00002", False),
        ("a-00000-of-00002.csv", False),
        ("train-00000-of-01024.idx", False),
    ],
)
def test_a_shard_without_an_extension_is_told_by_its_number(path: str, expected: bool) -> None:
    assert is_bare_shard(path) is expected


# Small files: regular ones of the folder are read, and nothing else.


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("a")
    assert small_bytes(str(tmp_path / "a"), most_bytes=3) == b"abc"
    assert small_bytes(str(tmp_path / "link"), most_bytes=3, within=str(tmp_path)) == b"abc"
    with opened(str(tmp_path / "a"), most_bytes=3) as file:
        assert file.read(1) == b"a"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: os.mkfifo(path), "not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "not a regular file"),
        (lambda path: path.mkdir(), "not a regular file"),
        (lambda path: path.write_bytes(b"abcd"), "4 bytes, more than the limit of 3"),
        (lambda path: path.symlink_to("../outside"), "a link that leads outside its folder"),
    ],
)
def test_others_are_not_read(tmp_path: Path, make: object, words: str) -> None:
    (tmp_path / "outside").write_bytes(b"x")
    folder = tmp_path / "folder"
    folder.mkdir()
    make(folder / "odd")  # type: ignore[operator]
    with pytest.raises(UnfitFileError, match=words):
        small_bytes(str(folder / "odd"), most_bytes=3, within=str(folder))


def test_a_folder_of_a_name_that_begins_so_is_another(tmp_path: Path) -> None:
    for name in ("a", "ab"):
        (tmp_path / name).mkdir()
    (tmp_path / "ab" / "x").write_bytes(b"x")
    (tmp_path / "a" / "x").symlink_to(tmp_path / "ab" / "x")
    with pytest.raises(UnfitFileError, match="outside its folder"):
        small_bytes(str(tmp_path / "a" / "x"), most_bytes=3, within=str(tmp_path / "a"))

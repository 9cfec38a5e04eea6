"""A listing that is known stands in for the store: what patterns find in it, and what is told of what they do not find."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import DataFilesNotFoundError, DataFilesWarning
from datasets_core.files import FileEntry
from datasets_core.meta.data_files import infer_data_files, match, resolve_data_files

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
        ("none.csv", r"no data file known://all/set@1/none\.csv.*there is: a\.csv, deep/c\.csv\."),
        ("deep/none.csv", r"In known://all/set@1/deep there is: c\.csv\."),
        ("deep", r"is a folder, not a data file\. Write 'deep/\*\*'"),
        ("*.parquet", r"'\*\.parquet' matches no file in known://all/set@1\. There is: a\.csv"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(name: str, words: str) -> None:
    with pytest.raises(DataFilesNotFoundError, match=words):
        _found(Known("a.csv", "deep/c.csv"), name)


def test_shards_that_are_missing_in_a_known_store_are_told_and_the_rest_is_read() -> None:
    known = Known("data/train-00000-of-00002.csv", "a.csv")
    with pytest.warns(DataFilesWarning, match=r"1 of the 2 shards.*What is there is read\."):
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

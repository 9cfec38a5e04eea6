"""Hashes of files that are taken once, and again where the file may be another one."""

import json
import os
import time
from pathlib import Path

import pytest

from datasets_core.fetch.hub import cache
from datasets_core.fetch.hub.cache import HashCache

ABC = "f2ba8f84ab5c1bce84a7b441cb1959cfc7093b7f"  # git hash-object of "abc"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    found = tmp_path / "a.csv"
    found.write_bytes(b"abc")
    os.utime(found, (1e9, 1e9))
    return found


def kept(hashes: HashCache) -> HashCache:
    return HashCache.of(hashes.text())


def test_a_file_is_read_once(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = HashCache.of(None)
    assert (first.git_oid(str(place), "a.csv"), first.is_changed) == (ABC, True)
    again = kept(first)
    monkeypatch.setattr(cache, "_git_oid", lambda place, size: "read")
    assert (again.git_oid(str(place), "a.csv"), again.is_changed) == (ABC, False)
    assert again.git_oid(str(place), "b.csv") == "read"


@pytest.mark.parametrize("way", ["in place", "another time", "another file"])
def test_another_file_is_read_again(place: Path, tmp_path: Path, way: str) -> None:
    first = HashCache()
    first.git_oid(str(place), "a.csv")
    again = kept(first)
    if way == "another file":  # with the time of the first
        (tmp_path / "new").write_bytes(b"xyz")
        os.utime(tmp_path / "new", (1e9, 1e9))
        (tmp_path / "new").replace(place)
    else:
        place.write_bytes(b"xyz" if way == "another time" else b"abcd")
        os.utime(place, (1e9, 2e9 if way == "another time" else 1e9))
    assert again.git_oid(str(place), "a.csv") not in (ABC, None)
    assert again.is_changed


def test_a_file_that_was_written_just_now_is_not_believed_to_stay(place: Path) -> None:
    os.utime(place, (time.time(), time.time()))
    hashes = HashCache()
    assert hashes.git_oid(str(place), "a.csv") == ABC
    assert not hashes.is_changed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "null",
        "[" * 90_000,
        json.dumps({"form": 2, "files": {"a.csv": [3, 10**18, 1, ABC]}}),
        json.dumps({"form": 1, "files": {"a.csv": [3, 10**18, ABC]}}),
        json.dumps({"form": 1, "files": {"a.csv": [3, 10**18, 1, "../../x"]}}),
        '{"form": 1, "files": {"a.csv": [Infinity, 1, 1, ""]}}',
    ],
)
def test_what_is_damaged_is_nothing(text: str) -> None:
    assert HashCache.of(text.encode()).known == {}

"""A listing comes from a stranger and becomes paths on the disk: it is believed as far as it cannot do harm."""

import pickle
import tracemalloc
from typing import Any

import pytest

from datasets_core.errors import HubError
from datasets_core.fetch.hub import repository
from datasets_core.fetch.hub.repository import HubCommit, HubFile, listed_files, shown

OID, SHA256 = "a" * 40, "b" * 64


def item(path: object = "data/a.csv", **changes: Any) -> dict[str, Any]:
    """One entry as the Hub sends it."""
    return {"type": "file", "path": path, "size": 3, "oid": OID, **changes}


def test_files_are_listed_in_the_order_of_their_paths_and_folders_are_not() -> None:
    files = listed_files([item("b.csv"), {"type": "directory", "path": "data", "oid": OID, "size": 0}, item("a.csv")], "o/n")
    assert list(files) == ["a.csv", "b.csv"]
    assert files["a.csv"] == HubFile("a.csv", 3, OID)


def test_a_file_behind_a_pointer_has_the_size_and_hash_of_its_content() -> None:
    lfs = {"oid": SHA256, "size": 5_000, "pointerSize": 134}
    file = listed_files([item(size=134, lfs=lfs, xetHash="c" * 64)], "o/n")["data/a.csv"]
    assert (file.size, file.oid, file.sha256, file.etag, file.xet_hash) == (5_000, OID, SHA256, SHA256, "c" * 64)


@pytest.mark.parametrize(
    "path", ["a b.csv", "日本/é.csv", "a\nb", "-rf", "...", "a..b", ".gitattributes", "~/a", "con", "A/a.csv"]
)
def test_odd_names_are_names(path: str) -> None:
    assert list(listed_files([item(path)], "o/n")) == [path]


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "..",
        "../a",
        "a/../../b",
        "a/..",
        "./a",
        "a//b",
        "a/",
        "a\\b",
        "..\\a",
        "C:/a",
        "a\0b",
        "\ud800",
        None,
        5,
        ["a"],
    ],
)
def test_a_path_that_leads_out_of_a_folder_is_refused_by_name(path: object) -> None:
    with pytest.raises(HubError, match="none inside a repository") as caught:
        listed_files([item(path)], "org/name")
    assert ascii(path) in str(caught.value)
    assert "org/name" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({"size": -1}, "size -1"),
        ({"size": "3"}, "size '3'"),
        ({"size": True}, "size True"),
        ({"size": None}, "size None"),
        ({"size": 1.5}, "size 1.5"),
        ({"size": float("nan")}, "size nan"),
        ({"size": 1 << 63}, "size 9223372036854775808"),
        ({"oid": "../../x"}, "hash '../../x'"),
        ({"oid": None}, "hash None"),
        ({"oid": OID.upper()}, "hash 'AAA"),
        ({"lfs": {"oid": "../x", "size": 3}}, "sha256 '../x'"),
        ({"lfs": {"oid": SHA256, "size": -3}}, "size -3"),
        ({"lfs": "x"}, "'x' as the LFS record"),
        ({"lfs": {"size": 3}}, "sha256 None"),
    ],
)
def test_values_that_no_hub_lists_are_refused_by_name(changes: dict[str, Any], found: str) -> None:
    with pytest.raises(HubError, match=r"data/a\.csv") as caught:
        listed_files([item(**changes)], "org/name")
    assert found in str(caught.value)


@pytest.mark.parametrize(
    ("items", "found"),
    [
        ([item("a"), item("a", size=4)], "'a' twice"),
        ([item("a/b/c"), item("a")], "'a' is both a file and a folder"),
        (["a.csv"], "'a.csv' in place of a file"),
        ([None], "None in place of a file"),
    ],
)
def test_listings_that_no_folder_can_hold_are_refused(items: list[object], found: str) -> None:
    with pytest.raises(HubError) as caught:
        listed_files(items, "org/name")
    assert found in str(caught.value)


@pytest.mark.parametrize("between", ["a-b", "a!/x", "a.csv", "a\x01"])
def test_a_file_that_is_a_folder_is_found_whatever_stands_between(between: str) -> None:
    with pytest.raises(HubError, match="'a' is both a file and a folder"):
        listed_files([item("a/b/c"), item(between), item("a")], "o/n")
    assert len(listed_files([item("a/b/c"), item(between), item("b")], "o/n")) == 3


@pytest.mark.parametrize("path", ["a" * 4097, "é" * 2049, "a/" * 256 + "x"])
def test_a_path_that_no_disk_holds_is_refused(path: str) -> None:
    with pytest.raises(HubError, match="where no disk holds more than 4,096 bytes and 256 parts") as caught:
        listed_files([item(path)], "o/n")
    assert len(str(caught.value)) < 600
    assert listed_files([item("a" * 4096), item("é" * 2048), item("a/" * 255 + "x")], "o/n")


def test_long_and_deep_paths_take_the_memory_of_their_letters() -> None:
    items = [item(f"{number:04d}/" + "/".join(["folder" * 2] * 250) + "/x") for number in range(200)]
    tracemalloc.start()
    try:
        listed_files(items, "o/n")
        assert tracemalloc.get_traced_memory()[1] < 2e6  # the paths alone are 0.65 MB
    finally:
        tracemalloc.stop()


def test_a_listing_has_no_end_of_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "_MOST_LETTERS", 25)
    with pytest.raises(HubError, match="paths have more than 25 letters"):
        listed_files([item(f"{number:09d}") for number in range(3)], "o/n")


@pytest.mark.parametrize("deep", [{"a": [[[[[[[[[[[]]]]]]]]]]]}, [[[{"a": "x" * 9_000}]] * 9_000], "\x1b" * 9_000, 10**4000])
def test_what_is_shown_of_an_answer_is_short_however_deep_it_is(deep: object) -> None:
    assert len(shown(deep)) <= 201
    nested: list[object] = []
    for _ in range(100_000):
        nested = [nested]
    assert shown(nested).startswith("[[[")


def test_a_message_stays_short_and_plain_whatever_the_server_sends() -> None:
    with pytest.raises(HubError) as caught:
        listed_files([item("/\x1b[2J" + "x" * 10_000)], "org/name")
    assert len(str(caught.value)) < 600
    assert "\x1b" not in str(caught.value)


def test_a_commit_crosses_process_borders() -> None:
    commit = HubCommit("org/name", OID, "main", listed_files([item()], "org/name"))
    assert pickle.loads(pickle.dumps(commit)) == commit

"""A listing comes from a stranger and becomes paths on the disk: it is believed as far as it cannot do harm."""

import pickle
import string
import tracemalloc
from typing import Any

import pytest
from huggingface_hub.utils import HFValidationError, parse_hf_uri, validate_repo_id
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, HubError
from datasets_core.fetch.hub import repository
from datasets_core.fetch.hub.repository import HubCommit, HubFile, listed_files, shown
from datasets_core.hub_urls import HubPath, hub_url, is_commit, is_repo_id, parse_hub_url, without_commit

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
    with pytest.raises(HubError, match="invalid path") as caught:
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
        (["a.csv"], "'a.csv' instead of a file"),
        ([None], "None instead of a file"),
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
    with pytest.raises(HubError, match="but the limits are 4,096 bytes and 256 parts") as caught:
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


# `hf://datasets/…` URLs are taken apart as the Hub's client does it, and put together so that they mean the same.

SHA = "0123456789" * 4
URLS = [
    "hf://datasets/org/name",
    "hf://datasets/org/name/",
    "hf://datasets/org/name/data/a.csv",
    "hf://datasets/org/name/a@b.csv",
    "hf://datasets/org/name/data@v1/a.csv",
    "hf://datasets/org/name@main",
    "hf://datasets/org/name@v1.0/a b.csv",
    "hf://datasets/org/name@feature%2Fnew/data/a.csv",
    "hf://datasets/org/name@100%25/a.csv",
    "hf://datasets/org/name@refs/convert/parquet/default/train/0000.parquet",
    "hf://datasets/org/name@refs%2Fconvert%2Fparquet/default/train/0000.parquet",
    "hf://datasets/org/name@refs/pr/12/a.csv",
    "hf://datasets/org/name@refs/pr/12",
    f"hf://datasets/org/name@{SHA}/**/*.parquet",
]


@pytest.mark.parametrize("url", URLS)
def test_a_url_means_what_the_client_of_the_hub_takes_it_for(url: str) -> None:
    theirs = parse_hf_uri(url)
    assert parse_hub_url(url) == HubPath(theirs.id, theirs.revision, theirs.path_in_repo)


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("hf://datasets/squad", HubPath("squad", None, "")),
        ("hf://datasets/squad/", HubPath("squad", None, "")),
        ("hf://datasets/squad@main/a.csv", HubPath("squad", "main", "a.csv")),
        ("hf://datasets/squad@refs/convert/parquet", HubPath("squad", "refs/convert/parquet", "")),
        ("hf://datasets/org/name@main//data/./a.csv", HubPath("org/name", "main", "data/a.csv")),
    ],
)
def test_a_repository_may_have_no_namespace(url: str, meant: HubPath) -> None:
    assert parse_hub_url(url) == meant


@pytest.mark.parametrize(
    "url", ["", "data/a.csv", "https://huggingface.co/datasets/org/name", "hf://org/model/a.csv", "hf://spaces/org/name/a.csv"]
)
def test_what_is_no_dataset_of_the_hub_is_left_alone(url: str) -> None:
    assert parse_hub_url(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "hf://datasets/",
        "hf://datasets//name",
        "hf://datasets/org/name@/a.csv",
        "hf://datasets/org/@main/a.csv",
        "hf://datasets/a--b/name/a.csv",
        "hf://datasets/../name/a.csv",
        "hf://datasets/org/name/../../etc/passwd",
        "hf://datasets/org/name@main/data/../../a.csv",
    ],
)
def test_a_url_without_a_repository_or_out_of_it_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="hf://datasets/"):
        parse_hub_url(url)


letters = st.text(string.ascii_letters + string.digits + "-_./%@ #é", min_size=1, max_size=20)


@given(st.sampled_from(["org/name", "squad"]), letters | st.just(SHA) | st.just("refs/pr/3"), st.lists(letters, max_size=3))
def test_a_url_that_was_put_together_is_taken_apart_again(repo: str, revision: str, parts: list[str]) -> None:
    path = "/".join(part for text in parts for part in text.split("/") if part not in ("", ".", ".."))
    assert parse_hub_url(hub_url(repo, revision, path)) == HubPath(repo, revision, path)


@given(st.text(string.ascii_letters + "0-_./é\n", max_size=12) | st.text("ab-./", max_size=100))
def test_repository_ids_are_those_that_the_client_of_the_hub_takes(text: str) -> None:
    try:
        validate_repo_id(text)
    except HFValidationError:
        assert not is_repo_id(text)
    else:
        assert is_repo_id(text)


@pytest.mark.parametrize("text", ["main", SHA[:39], SHA + "0", SHA.replace("0", "A"), f"{SHA}\n", "", None])
def test_only_a_full_hash_is_a_commit(text: str | None) -> None:
    assert not is_commit(text)
    assert is_commit(SHA)


@pytest.mark.parametrize(
    "text", ["org@x/a.csv", f"/data/set@{SHA}/a", f"hf://datasets/org/name@{SHA}x/a", "hf://datasets/org/name@main/a"]
)
def test_only_a_commit_in_a_url_is_taken_off(text: str) -> None:
    assert without_commit(text) == text
    assert without_commit(hub_url("org/name", SHA, "a@b/c.csv")) == "hf://datasets/org/name/a@b/c.csv"
    assert without_commit(hub_url("squad", SHA)) == "hf://datasets/squad"

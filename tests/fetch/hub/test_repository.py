"""A listing comes from a stranger and becomes paths on the disk: it is believed as far as it cannot do harm."""

import json
import os
import pickle
import string
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import scan_cache_dir, snapshot_download, try_to_load_from_cache
from huggingface_hub.utils import HFValidationError, parse_hf_uri, validate_repo_id
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import ConfigurationError, DatasetDiskError, HubError
from datasets_core.fetch.hub import repository
from datasets_core.fetch.hub import repository as cache_kept_hashes
from datasets_core.fetch.hub import repository as kept_hashes
from datasets_core.fetch.hub.client import Hub
from datasets_core.fetch.hub.files import fetch_files
from datasets_core.fetch.hub.repository import HashCache, HubCache, HubCommit, HubFile, listed_files, shown
from datasets_core.hub_urls import HubPath, hub_url, is_commit, is_repo_id, parse_hub_url, without_commit

OID, SHA_256 = "a" * 40, "b" * 64


def item(path: object = "data/a.csv", **changes: Any) -> dict[str, Any]:
    """One entry as the Hub sends it."""
    return {"type": "file", "path": path, "size": 3, "oid": OID, **changes}


def test_files_are_listed_in_the_order_of_their_paths_and_folders_are_not() -> None:
    files = listed_files([item("b.csv"), {"type": "directory", "path": "data", "oid": OID, "size": 0}, item("a.csv")], "o/n")
    assert list(files) == ["a.csv", "b.csv"]
    assert files["a.csv"] == HubFile("a.csv", 3, OID)


def test_a_file_behind_a_pointer_has_the_size_and_hash_of_its_content() -> None:
    lfs = {"oid": SHA_256, "size": 5_000, "pointerSize": 134}
    file = listed_files([item(size=134, lfs=lfs, xetHash="c" * 64)], "o/n")["data/a.csv"]
    assert (file.size, file.oid, file.sha256, file.etag, file.xet_hash) == (5_000, OID, SHA_256, SHA_256, "c" * 64)


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
        ({"lfs": {"oid": SHA_256, "size": -3}}, "size -3"),
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

SHA1 = "0123456789" * 4
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
    f"hf://datasets/org/name@{SHA1}/**/*.parquet",
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


@given(st.sampled_from(["org/name", "squad"]), letters | st.just(SHA1) | st.just("refs/pr/3"), st.lists(letters, max_size=3))
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


@pytest.mark.parametrize("text", ["main", SHA1[:39], SHA1 + "0", SHA1.replace("0", "A"), f"{SHA1}\n", "", None])
def test_only_a_full_hash_is_a_commit(text: str | None) -> None:
    assert not is_commit(text)
    assert is_commit(SHA1)


@pytest.mark.parametrize(
    "text",
    ["org@x/a.csv", f"/data/set@{SHA1}/a", f"hf://datasets/org/name@{SHA1}x/a", "hf://datasets/org/name@main/a"],
)
def test_only_a_commit_in_a_url_is_taken_off(text: str) -> None:
    assert without_commit(text) == text
    assert without_commit(hub_url("org/name", SHA1, "a@b/c.csv")) == "hf://datasets/org/name/a@b/c.csv"
    assert without_commit(hub_url("squad", SHA1)) == "hf://datasets/squad"


# The hub cache.


SHA, OTHER, SHA256 = "a" * 40, "b" * 40, "c" * 64
FILES = {"a.csv": HubFile("a.csv", 3, OTHER), "data/b.bin": HubFile("data/b.bin", 7, OTHER, SHA256, "d" * 64)}


@pytest.fixture
def cache(tmp_path: Path) -> HubCache:
    """An empty hub cache."""
    return HubCache(str(tmp_path / "hub"))


def put_blob(cache: HubCache, etag: str, data: bytes = b"abc") -> str:
    """A blob that stands."""
    path = cache.blob_path("org/name", etag)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    Path(path).write_bytes(data)
    return path


# -- refs


@pytest.mark.parametrize("revision", ["main", "v1.0", "feature/new", "refs/convert/parquet", "refs/pr/1", "50%", "a%2Fb", "é"])
def test_a_ref_is_what_it_was_set_to(cache: HubCache, revision: str) -> None:
    cache.set_ref("org/name", revision, SHA)
    cache.set_ref("org/name", revision, OTHER)
    assert (cache.ref("org/name", revision), cache.refs("org/name")) == (OTHER, [revision])


def test_a_commit_means_itself_and_is_no_ref(cache: HubCache) -> None:
    cache.set_ref("org/name", SHA, SHA)
    assert (cache.ref("org/name", SHA), cache.refs("org/name")) == (SHA, [])


@pytest.mark.parametrize("revision", ["../../../x", "/etc/x", "a/../../b", "a\\b", "", "."])
def test_no_ref_is_written_or_read_outside_its_folder(cache: HubCache, revision: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_text(SHA)
    cache.set_ref("org/name", revision, SHA)
    assert cache.ref("org/name", revision) is None
    assert sorted(os.listdir(tmp_path)) == ["x"]


@pytest.mark.parametrize("text", ["", "main", SHA[:39], SHA + "0", "é", "../" * 20])
def test_a_ref_that_names_no_commit_is_none(cache: HubCache, text: str) -> None:
    cache.set_ref("org/name", "main", SHA)
    Path(cache.folder("org/name"), "refs", "main").write_text(text)
    assert cache.ref("org/name", "main") is None


def test_a_ref_below_another_is_left_out_where_the_disk_cannot_hold_both(cache: HubCache) -> None:
    cache.set_ref("org/name", "v1", SHA)
    cache.set_ref("org/name", "v1/new", OTHER)
    assert (cache.ref("org/name", "v1"), cache.ref("org/name", "v1/new")) == (SHA, None)


# -- listings


def test_a_listing_is_kept_whole(cache: HubCache) -> None:
    cache.keep_listing("org/name", SHA, FILES)
    assert cache.listing("org/name", SHA) == FILES
    assert cache.listing("org/name", OTHER) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"format_version": 2, "files": {}}',
        '{"format_version": 1, "files": [1]}',
        '{"format_version": 1, "files": {"a": {}}}',
        '{"format_version": 1, "files": {"../a": {"size": 1, "blob_id": "' + SHA + '"}}}',
        '{"format_version": 1, "files": {"a": {"size": 1, "blob_id": "../x"}}}',
        "[" * 100_000,
    ],
)
def test_a_listing_that_cannot_be_believed_is_none(cache: HubCache, text: str) -> None:
    for place in (".listings", "trees"):
        Path(cache.folder("org/name"), place).mkdir(parents=True)
        Path(cache.folder("org/name"), place, f"{SHA}.json").write_text(text)
    assert cache.listing("org/name", SHA) is None


# -- blobs and snapshots


def test_a_snapshot_leads_to_its_blob_by_a_relative_link(cache: HubCache) -> None:
    blob = put_blob(cache, SHA256)
    path = cache.link("org/name", SHA, FILES["data/b.bin"])
    assert os.readlink(path) == f"../../../blobs/{SHA256}"
    assert os.path.samefile(path, blob)
    assert cache.held("org/name", SHA, "data/b.bin") == path
    assert cache.link("org/name", SHA, FILES["data/b.bin"]) == path


def test_a_link_that_led_to_another_content_is_replaced(cache: HubCache) -> None:
    put_blob(cache, OTHER, b"old")
    put_blob(cache, SHA256, b"new")
    cache.link("org/name", SHA, HubFile("a", 3, OTHER))
    assert Path(cache.link("org/name", SHA, HubFile("a", 3, OTHER, SHA256))).read_bytes() == b"new"


def test_without_links_the_snapshot_has_the_content_itself(cache: HubCache) -> None:
    put_blob(cache, OTHER)
    with config.using(hub_symlinks=False):
        path = cache.link("org/name", SHA, FILES["a.csv"])
    assert not os.path.islink(path)
    assert Path(path).read_bytes() == b"abc"


def test_what_a_snapshot_holds_has_the_hashes_of_the_listing_linked_or_not(cache: HubCache) -> None:
    text, oid = b"hello", "b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0"
    put_blob(cache, oid, text)
    put_blob(cache, SHA256, text)
    cache.link("org/name", SHA, HubFile("linked", 5, oid))
    cache.link("org/name", SHA, HubFile("data/large", 5, OTHER, SHA256))
    with config.using(hub_symlinks=False):
        cache.link("org/name", SHA, HubFile("copied", 5, oid))
    found = cache.snapshot_listing("org/name", SHA) or {}
    assert {path: (file.size, file.etag) for path, file in found.items()} == {
        "copied": (5, oid),
        "data/large": (5, SHA256),
        "linked": (5, oid),
    }


def test_what_is_no_link_is_read_once_and_again_where_it_changed(cache: HubCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_hashes, "_YOUNG_NS", 0)
    path = Path(cache.snapshot_path("org/name", SHA, "data/a.csv"))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"hello")
    first = cache.snapshot_listing("org/name", SHA)
    with monkeypatch.context() as patched:
        patched.setattr(kept_hashes, "_git_oid", lambda place, size: OTHER)
        assert cache.snapshot_listing("org/name", SHA) == first
        path.write_bytes(b"other")
        os.utime(path, (1e9, 1e9))
        assert (cache.snapshot_listing("org/name", SHA) or {})["data/a.csv"].oid == OTHER
    assert [repo.repo_id for repo in scan_cache_dir(cache.root).repos] == ["org/name"]


def test_a_link_that_leads_nowhere_is_no_file_of_a_snapshot(cache: HubCache) -> None:
    os.unlink(put_blob(cache, OTHER))
    os.makedirs(cache.snapshot_folder("org/name", SHA))
    os.symlink(f"../../blobs/{OTHER}", cache.snapshot_path("org/name", SHA, "a.csv"))
    assert cache.snapshot_listing("org/name", SHA) == {}
    assert cache.held("org/name", SHA, "a.csv") is None


@pytest.mark.parametrize("path", ["../a", "/etc/passwd", "a/../../b", "", "a\\b"])
def test_no_file_of_a_snapshot_is_outside_it(cache: HubCache, path: str) -> None:
    with pytest.raises(HubError, match="not a valid path in a repository"):
        cache.snapshot_path("org/name", SHA, path)


@pytest.mark.parametrize("etag", ["", "../x", "abc", SHA.upper(), f"{SHA}\n"])
def test_a_blob_is_named_by_a_hash_alone(cache: HubCache, etag: str) -> None:
    with pytest.raises(HubError, match="invalid hash"):
        cache.blob_path("org/name", etag)


def test_a_cache_that_takes_nothing_is_read_all_the_same(cache: HubCache) -> None:
    Path(cache.root).mkdir()
    Path(cache.folder("org/name")).write_text("a file where a folder is due")
    cache.set_ref("org/name", "main", SHA)
    cache.keep_listing("org/name", SHA, FILES)
    assert (cache.ref("org/name", "main"), cache.listing("org/name", SHA)) == (None, None)


def test_a_snapshot_that_cannot_be_written_is_an_error_of_the_disk(cache: HubCache) -> None:
    put_blob(cache, OTHER)
    folder = Path(cache.folder("org/name"), "snapshots")
    folder.write_text("a file where a folder is due")
    with pytest.raises((DatasetDiskError, OSError)):
        cache.link("org/name", SHA, FILES["a.csv"])


# -- both ways


def test_the_client_finds_a_snapshot_of_which_a_dataset_needs_a_part(hub: Any, cache: HubCache) -> None:
    hub.repo("org/name", {"a.csv": "a\n1\n", "notes.txt": "not needed"})
    reach = Hub.of()
    commit = reach.commit("org/name")
    fetch_files(reach, commit, ["a.csv"])
    hub.forget()
    folder = snapshot_download(
        "org/name", repo_type="dataset", endpoint=hub.url, cache_dir=hub.cache_dir, token=False, local_files_only=True
    )
    assert (os.listdir(folder), hub.requests) == (["a.csv"], [])


def test_we_read_the_listing_that_the_client_keeps(hub: Any) -> None:
    hub.repo("org/name", {"a.csv": "a\n1\n", "b.parquet": b"PAR1" * 10})
    snapshot_download("org/name", repo_type="dataset", endpoint=hub.url, cache_dir=hub.cache_dir, token=False)
    hub.forget()
    listed = Hub.of().commit("org/name")
    assert hub.counts() == {"info": 1}
    theirs = json.loads(Path(listed_at(hub, listed.sha)).read_text())["files"]
    assert {path: file.oid for path, file in listed.files.items()} == {path: facts["blob_id"] for path, facts in theirs.items()}
    assert listed.files["b.parquet"].sha256 is not None


def listed_at(hub: Any, sha: str) -> str:
    """Where the listing of a commit stands."""
    return os.path.join(HubCache(str(hub.cache_dir)).folder("org/name"), "trees", f"{sha}.json")


def test_the_client_finds_what_we_link_and_its_refs(hub: Any) -> None:
    hub.repo("org/name", {"a.csv": "a\n1\n"})
    commit = Hub.of().commit("org/name")
    cache, file = HubCache(str(hub.cache_dir)), commit.files["a.csv"]
    put_blob(cache, file.etag, b"a\n1\n")
    path = cache.link("org/name", commit.sha, file)
    for revision in ("main", commit.sha):
        assert try_to_load_from_cache("org/name", "a.csv", hub.cache_dir, revision, "dataset") == path
    (repo,) = scan_cache_dir(hub.cache_dir).repos
    assert (repo.repo_id, repo.nb_files, set(repo.refs)) == ("org/name", 1, {"main"})


def test_a_snapshot_does_not_lead_out_of_its_repository(tmp_path: Path) -> None:
    cache, outside = HubCache(str(tmp_path / "hub")), tmp_path / "outside"
    outside.mkdir()
    home = Path(cache.folder("org/name"))
    home.mkdir(parents=True)
    (home / "snapshots").symlink_to(outside)
    with pytest.raises(DatasetDiskError, match="is a link"):
        cache.link("org/name", "a" * 40, HubFile("data/a.csv", 1, "b" * 40))
    assert list(outside.iterdir()) == []


# Hashes of files that are taken once, and again where the file may be another one.

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
    monkeypatch.setattr(cache_kept_hashes, "_git_oid", lambda place, size: "read")
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

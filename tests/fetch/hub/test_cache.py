"""The hub cache is shared both ways with huggingface_hub, and what stands in it is whole."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import scan_cache_dir, snapshot_download, try_to_load_from_cache

from datasets_core import config
from datasets_core.errors import DatasetDiskError, HubError
from datasets_core.fetch.hub import repository as cache_kept_hashes
from datasets_core.fetch.hub import repository as kept_hashes
from datasets_core.fetch.hub.client import Hub
from datasets_core.fetch.hub.files import fetch_files
from datasets_core.fetch.hub.repository import HashCache, HubCache, HubFile

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

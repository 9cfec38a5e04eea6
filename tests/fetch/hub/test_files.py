"""`hf://datasets/…` URLs in the hands of scripts: fetched, unpacked, walked, streamed, and the same offline."""

from __future__ import annotations

import io
import os
import pathlib
import pickle
import random
import threading
import time
import zipfile

import huggingface_hub
import pytest

from datasets_core import config
from datasets_core.engines.threads import Watch
from datasets_core.errors import DataFilesNotFoundError, DownloadError, NonMatchingChecksumError, OfflineError
from datasets_core.fetch.checksums import DownloadConfig, FileRecord, VerificationMode
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.hub.client import Hub
from datasets_core.fetch.hub.files import HubFiles, fetch_files, read_small
from datasets_core.fetch.hub.repository import HubCommit
from datasets_core.fetch.streaming import StreamingDownloadManager


def zipped(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        for name, text in files.items():
            out.writestr(f"{name}.txt", text)
    return packed.getvalue()


CONTENT = {
    "data/a.csv": b"a\n1\n", "data/sub/b.csv": b"b\n", "data/.hidden": b"", "pack.zip": zipped(one="1", two="2"),
    "big.parquet": bytes(range(256)) * 8000,
}  # fmt: skip
ROOT = "hf://datasets/org/name"


@pytest.fixture
def repo(hub):
    return hub.repo("org/name", CONTENT)


@pytest.fixture
def made(repo, policy):
    def manager(kind=DownloadManager, *, base=None, **how):
        return kind(download_config=DownloadConfig(**how), base_path=base, retries=policy)

    return manager


def read(path):
    return pathlib.Path(path).read_bytes()


@pytest.mark.parametrize("revision", ["", "@main", "@SHA"])
def test_a_nesting_of_urls_is_one_of_paths(hub, repo, made, revision):
    at = ROOT + revision.replace("SHA", repo.sha)
    manager = made()
    places = manager.download({"train": [f"{at}/data/a.csv", f"{at}/big.parquet"], "test": (f"{at}/data/a.csv",)})
    assert {split: [read(place) for place in listed] for split, listed in places.items()} == {
        "train": [CONTENT["data/a.csv"], CONTENT["big.parquet"]], "test": [CONTENT["data/a.csv"]],
    }  # fmt: skip
    assert places["train"][0].endswith(f"/snapshots/{repo.sha}/data/a.csv")
    assert hub.counts()["resolve"] == 2
    assert {url.rpartition("/")[2]: size["num_bytes"] for url, size in manager.get_recorded_sizes_checksums().items()} == {
        "a.csv": 4, "big.parquet": 2_048_000,
    }  # fmt: skip
    assert all(len(record["checksum"]) == 64 for record in manager.get_recorded_sizes_checksums().values())


def test_relative_paths_are_files_of_the_repository(hub, repo, made):
    manager = made(base=f"{ROOT}@{repo.sha}")
    assert read(manager.download("data/a.csv")) == CONTENT["data/a.csv"]
    assert read(manager.download("./data/sub/b.csv")) == CONTENT["data/sub/b.csv"]
    with pytest.raises(DataFilesNotFoundError, match=r"data/no\.csv does not exist"):
        manager.download("data/no.csv")


def test_a_branch_means_one_commit_for_a_manager(hub, repo, made):
    manager = made()
    manager.download(f"{ROOT}/data/a.csv")
    repo.commit({"data/sub/b.csv": "later\n"})
    assert read(manager.download(f"{ROOT}/data/sub/b.csv")) == CONTENT["data/sub/b.csv"]
    assert hub.counts()["info"] == 1


def test_a_file_that_changed_since_the_dataset_was_named_is_noticed(hub, repo, made):
    url = f"{ROOT}/data/a.csv"
    known = made().versions([url])
    repo.commit({"data/a.csv": "later\n"})
    manager = made()
    manager.identities = known
    assert manager.versions([url]) != known
    with pytest.raises(DownloadError, match="changed while"):
        manager.download(url)


def test_what_is_on_record_is_compared(hub, repo, made):
    url = f"{ROOT}/data/a.csv"
    manager = made()
    manager.expected = {url: FileRecord(5)}
    with pytest.raises(NonMatchingChecksumError, match="5 bytes"):
        manager.download(url)
    manager.verification = VerificationMode.NO_CHECKS
    assert read(manager.download(url)) == CONTENT["data/a.csv"]


def test_archives_are_unpacked_and_walked(hub, repo, made):
    manager = made(base=f"{ROOT}@{repo.sha}")
    folder = pathlib.Path(manager.download_and_extract("pack.zip"))
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"one.txt": "1", "two.txt": "2"}
    assert [(name, file.read()) for name, file in manager.iter_archive(manager.download("pack.zip"))] == [
        ("one.txt", b"1"), ("two.txt", b"2"),
    ]  # fmt: skip
    assert [name for name, _ in manager.iter_archive("pack.zip")] == ["one.txt", "two.txt"]
    assert manager.local_paths == set()


def test_a_chain_leads_into_an_archive_of_the_hub(hub, repo, made):
    place = made().download(f"zip://two.txt::{ROOT}/pack.zip")
    assert read(place) == b"2"


def test_a_folder_of_the_repository_is_walked_without_its_hidden_files(hub, repo, made):
    manager = made(base=f"{ROOT}@{repo.sha}")
    places = list(manager.iter_files("data"))
    assert [read(place) for place in places] == [CONTENT["data/a.csv"], CONTENT["data/sub/b.csv"]]
    streamed = made(StreamingDownloadManager, base=f"{ROOT}@{repo.sha}").iter_files("data")
    assert [file.read_bytes() for file in streamed] == [CONTENT["data/a.csv"], CONTENT["data/sub/b.csv"]]


def test_offline_what_was_fetched_is_there(hub, repo, made):
    made().download(f"{ROOT}/data/a.csv")
    hub.forget()
    with config.using(offline=True):
        assert read(made().download(f"{ROOT}/data/a.csv")) == CONTENT["data/a.csv"]
        assert made(StreamingDownloadManager).download(f"{ROOT}/data/a.csv").read_bytes() == CONTENT["data/a.csv"]
        for kind in (DownloadManager, StreamingDownloadManager):
            with pytest.raises(OfflineError, match=r"org/name@.*big\.parquet: is not in the hub cache"):
                read(made(kind).download(f"{ROOT}/big.parquet"))
    with pytest.raises(OfflineError, match="local_files_only=False"):
        made(local_files_only=True).download(f"{ROOT}/big.parquet")
    assert hub.requests == []


def test_a_private_file_comes_with_the_token_and_it_is_pickled_with_the_manager(hub, repo, made):
    repo.private = True
    for kind in (DownloadManager, StreamingDownloadManager):
        manager = made(kind, token=hub.token)
        manager.download(f"{ROOT}/data/a.csv")
        again = pickle.loads(pickle.dumps(manager))
        assert read(again.download(f"{ROOT}/data/a.csv")) == CONTENT["data/a.csv"]


def test_it_is_fetched_again_where_that_is_asked_for(hub, repo, made):
    made().download(f"{ROOT}/data/a.csv")
    hub.forget()
    made(force_download=True).download(f"{ROOT}/data/a.csv")
    assert hub.counts()["resolve"] == 1


# -- as it comes


def test_a_large_file_is_streamed_and_leaves_nothing(hub, repo, made):
    file = made(StreamingDownloadManager).download(f"{ROOT}/big.parquet")
    assert hub.requests == []
    with file.open("rb") as handle:
        handle.seek(1_536_000)
        assert handle.read(256) == bytes(range(256))
        handle.seek(0)
        assert handle.read() == CONTENT["big.parquet"]
    assert list(hub.cache_dir.glob("*/blobs/*")) == []
    assert any(request.range for request in hub.of("storage"))


def test_a_streamed_file_is_compared_with_its_hash_at_its_end(hub, repo, made):
    hub.fail(hub.faults.wrong(), "storage", times=None)
    with pytest.raises(NonMatchingChecksumError) as caught:
        made(StreamingDownloadManager).download(f"{ROOT}/big.parquet").read_bytes()
    assert "no_checks" not in str(caught.value)


def test_a_streamed_file_goes_on_after_its_url_expired(hub, repo, made):
    hub.fail(hub.faults.cut(300_000, reset=False), "storage")
    hub.fail(hub.faults.status(403), "storage")
    assert made(StreamingDownloadManager).download(f"{ROOT}/big.parquet").read_bytes() == CONTENT["big.parquet"]


def test_a_small_file_is_compared_before_its_first_byte_is_seen(hub, repo, made):
    hub.fail(hub.faults.wrong(), "resolve", times=None)
    file = made(StreamingDownloadManager).download(f"{ROOT}/data/a.csv")
    with pytest.raises(NonMatchingChecksumError):
        file.open("rb")


def test_a_streamed_file_as_a_path_is_one_of_the_hub_cache(hub, repo, made):
    file = made(StreamingDownloadManager).download(f"{ROOT}/big.parquet")
    assert read(file) == CONTENT["big.parquet"]
    assert f"/snapshots/{repo.sha}/big.parquet" in file.__fspath__()


def test_a_member_of_a_streamed_zip_is_read_in_parts(hub, repo, made):
    manager = made(StreamingDownloadManager, base=f"{ROOT}@{repo.sha}")
    assert (manager.download_and_extract("pack.zip") / "two.txt").read_text() == "2"
    assert list(hub.cache_dir.glob("*/blobs/*")) == []


def test_missing_streamed_files_do_not_exist(hub, repo, made):
    manager = made(StreamingDownloadManager)
    assert not manager.download(f"{ROOT}/no.csv").exists()
    assert manager.download(f"{ROOT}/data/a.csv").exists()


def test_other_repositories_of_the_hub_are_left_to_their_own_client(hub, repo, made):
    with pytest.raises(DownloadError):
        made().download("hf://datasets/org/name")


def test_names_of_files_on_the_hub_hold_any_letter(hub, policy):
    names = ["C# 100%?.csv", "%41;x=1.csv", "a+b&c.csv", "ü \U0001f600.csv", "a@b.csv"]
    repo = hub.repo("org/name", {f"data/{name}": name for name in names})
    for kind in (DownloadManager, StreamingDownloadManager):
        manager = kind(base_path=f"{ROOT}@{repo.sha}", retries=policy)
        places = manager.download([f"data/{name}" for name in names])
        assert [read(place).decode() for place in places] == names
        assert [pathlib.PurePath(place).name for place in places] == names
        assert [getattr(place, "name", pathlib.PurePath(place).name) for place in places] == names


def test_what_a_snapshot_has_of_a_commit_is_taken_without_asking(hub, repo, made):
    for path in ("data/a.csv", "data/sub/b.csv"):
        huggingface_hub.hf_hub_download(
            "org/name", path, repo_type="dataset", revision=repo.sha, cache_dir=hub.cache_dir, endpoint=hub.url, token=False
        )
    hub.forget()
    manager = made(base=f"{ROOT}@{repo.sha}")
    assert [read(place) for place in manager.download(["data/a.csv", "data/sub/b.csv"])] == [
        CONTENT["data/a.csv"], CONTENT["data/sub/b.csv"],
    ]  # fmt: skip
    assert hub.requests == []
    assert read(manager.download("big.parquet")) == CONTENT["big.parquet"]
    assert hub.counts() == {"tree": 1, "resolve": 1, "storage": 1}


# Files of a commit in the cache that Hub tools share: fetched once, verified, found by the others and found of them.

CONTENT_HUB_FILES = {
    "README.md": b"# hi",
    "data/a.csv": b"a\n1\n",
    "data/b ü#?%.csv": b"b\n",
    "c.parquet": b"PAR1" * 99,
    "empty.txt": b"",
}


@pytest.fixture
def repo_hub_files(hub):
    return hub.repo("org/name", CONTENT_HUB_FILES)


def contents(places):
    return {path: pathlib.Path(place).read_bytes() for path, place in places.items()}


def test_files_stand_where_other_tools_look_for_them(hub, repo_hub_files, snapshot):
    files = snapshot()
    places = files.fetch(list(CONTENT_HUB_FILES), Watch())
    assert contents(places) == CONTENT_HUB_FILES
    for path, place in places.items():
        found = huggingface_hub.try_to_load_from_cache("org/name", path, cache_dir=hub.cache_dir, repo_type="dataset")
        assert found == place
        blob = hub.cache_dir / "datasets--org--name" / "blobs" / files.commit.files[path].etag
        assert os.readlink(place) == os.path.relpath(blob, os.path.dirname(place))


def test_what_another_tool_fetched_is_taken(hub, repo_hub_files, snapshot):
    folder = huggingface_hub.snapshot_download(
        "org/name", repo_type="dataset", cache_dir=hub.cache_dir, endpoint=hub.url, token=False
    )
    files = snapshot()
    hub.forget()
    assert files.fetch(list(CONTENT_HUB_FILES), Watch()) == {path: os.path.join(folder, path) for path in CONTENT_HUB_FILES}
    assert hub.requests == []


def test_a_file_that_two_commits_share_is_fetched_once(hub, repo_hub_files, snapshot):
    snapshot().fetch(list(CONTENT_HUB_FILES), Watch())
    repo_hub_files.commit({"data/copy.csv": CONTENT_HUB_FILES["data/a.csv"]})
    hub.forget()
    later = snapshot()
    assert contents(later.fetch(["data/copy.csv", "data/a.csv"], Watch())) == {
        "data/copy.csv": CONTENT_HUB_FILES["data/a.csv"], "data/a.csv": CONTENT_HUB_FILES["data/a.csv"],
    }  # fmt: skip
    assert hub.counts() == {"info": 1, "tree": 1}


def test_a_blob_of_another_size_is_fetched_again(hub, repo_hub_files, snapshot):
    files = snapshot()
    place = files.fetch(["c.parquet"], Watch())["c.parquet"]
    blob = os.path.realpath(place)
    os.truncate(blob, 5)
    assert contents(files.fetch(["c.parquet"], Watch())) == {"c.parquet": CONTENT_HUB_FILES["c.parquet"]}


def test_a_blob_of_other_bytes_is_told_where_hashes_are_compared(hub, repo_hub_files, snapshot):
    place = pathlib.Path(snapshot().fetch(["c.parquet"], Watch())["c.parquet"]).resolve()
    place.write_bytes(b"X" * len(CONTENT_HUB_FILES["c.parquet"]))
    hub.forget()
    snapshot().fetch(["c.parquet"], Watch())
    assert hub.counts()["resolve"] == 0
    with pytest.raises(NonMatchingChecksumError):
        snapshot(is_hashed=True, is_local=True).fetch(["c.parquet"], Watch())
    assert contents(snapshot(is_hashed=True).fetch(["c.parquet"], Watch())) == {"c.parquet": CONTENT_HUB_FILES["c.parquet"]}


def test_a_file_is_fetched_again_where_that_is_asked_for(hub, repo_hub_files, snapshot):
    snapshot().fetch(["data/a.csv"], Watch())
    hub.forget()
    snapshot(is_refused=True).fetch(["data/a.csv"], Watch())
    assert hub.counts()["resolve"] == 1


def test_offline_what_is_there_is_found_and_what_is_not_is_named(hub, repo_hub_files, snapshot):
    snapshot().fetch(["data/a.csv"], Watch())
    hub.forget()
    with config.using(offline=True):
        files = snapshot()
        assert contents(files.fetch(["data/a.csv"], Watch())) == {"data/a.csv": CONTENT_HUB_FILES["data/a.csv"]}
        with pytest.raises(OfflineError, match=r"org/name@.*c\.parquet: is not in the hub cache"):
            files.fetch(["data/a.csv", "c.parquet"], Watch())
    assert hub.requests == []


def test_a_snapshot_without_a_listing_gives_what_it_has(hub, repo_hub_files):
    huggingface_hub.hf_hub_download(
        "org/name", "data/a.csv", repo_type="dataset", cache_dir=hub.cache_dir, endpoint=hub.url, token=False
    )
    with config.using(offline=True):
        source = Hub.of()
        commit = source.commit("org/name")
        assert contents(fetch_files(source, commit, ["data/a.csv"])) == {"data/a.csv": CONTENT_HUB_FILES["data/a.csv"]}
        with pytest.raises(OfflineError, match="README"):
            fetch_files(source, commit, ["README.md"])


def test_a_path_that_the_commit_does_not_have_is_named(hub, repo_hub_files, snapshot):
    with pytest.raises(DataFilesNotFoundError, match=r"no\.csv does not exist"):
        snapshot().fetch(["no.csv"], Watch())


def test_a_killed_download_is_continued_by_the_next_process(hub, snapshot):
    content = random.Random(1).randbytes(4_000_000)
    hub.repo("org/name", {"big.parquet": content})
    hub.fail(hub.faults.hanging(2_500_000), "storage")
    code = (
        "from datasets_core.fetch.hub.client import Hub\nfrom datasets_core.fetch.hub.files import fetch_files\n"
        "hub = Hub.of(); fetch_files(hub, hub.commit('org/name'), ['big.parquet'])"
    )
    process = hub.run.start(code)
    blobs = hub.cache_dir / "datasets--org--name" / "blobs"
    _wait(lambda: sum(path.stat().st_size for path in blobs.glob("*")) >= 2_000_000)
    hub.run.kill(process)
    (part,) = blobs.iterdir()
    came = part.stat().st_size
    assert contents(snapshot().fetch(["big.parquet"], Watch())) == {"big.parquet": content}
    assert hub.of("storage")[-1].range == f"bytes={came}-"
    assert [path.name for path in blobs.iterdir()] == [path.name.partition(".")[0] for path in blobs.iterdir()]


def _wait(is_so):
    end = time.monotonic() + 30
    while not is_so() and time.monotonic() < end:
        threading.Event().wait(0.02)
    assert is_so()


def test_those_who_ask_at_the_same_time_fetch_it_once(hub, repo_hub_files, snapshot):
    files = [snapshot() for _ in range(6)]
    hub.forget()
    threads = [threading.Thread(target=each.fetch, args=(list(CONTENT_HUB_FILES), Watch())) for each in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hub.counts() == {"resolve": 4, "storage": 1}  # the empty one is known


def test_where_links_are_impossible_files_are_copied(hub, repo_hub_files, snapshot, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "symlink", refused)
    monkeypatch.setattr(os, "link", refused)
    places = snapshot().fetch(list(CONTENT_HUB_FILES), Watch())
    assert contents(places) == CONTENT_HUB_FILES
    assert not any(os.path.islink(place) for place in places.values())
    hub.forget()
    snapshot().fetch(list(CONTENT_HUB_FILES), Watch())
    assert hub.counts()["resolve"] == 0


def test_parts_that_nobody_goes_on_with_are_cleared_away(hub, repo_hub_files, snapshot):
    blobs = hub.cache_dir / "datasets--org--name" / "blobs"
    blobs.mkdir(parents=True)
    for name, age in (("old", 30 * 24 * 3600), ("new", 60)):
        part = blobs / f"{name}.resumable.incomplete"
        part.write_bytes(b"x")
        os.utime(part, (time.time() - age,) * 2)
    snapshot().fetch(["data/a.csv"], Watch())
    assert sorted(path.name for path in blobs.glob("*.incomplete")) == ["new.resumable.incomplete"]


def test_small_files_are_read_through_the_cache(hub, repo_hub_files):
    source = Hub.of()
    commit = source.commit("org/name")
    assert read_small(source, commit, "README.md", 100) == b"# hi"
    assert read_small(source, commit, "NOTHING.md", 100) is None
    with pytest.raises(DownloadError, match="4 bytes, more than the limit of 3"):
        read_small(source, commit, "README.md", 3)


def test_bytes_are_counted_as_they_come(hub, repo_hub_files, snapshot):
    counted = []
    snapshot().fetch(list(CONTENT_HUB_FILES), Watch(counted.append))
    assert sum(counted) == sum(map(len, CONTENT_HUB_FILES.values()))


def test_records_hold_sizes_and_sha256_of_all(hub, repo_hub_files, snapshot):
    files = snapshot()
    files.fetch(list(CONTENT_HUB_FILES), Watch())
    fetched = {path: files.record(path) for path in CONTENT_HUB_FILES}
    later = snapshot()
    assert {path: later.record(path) for path in CONTENT_HUB_FILES} == fetched


def test_no_path_of_a_listing_leaves_the_snapshot(hub, repo_hub_files, snapshot):
    source = Hub.of()
    commit = source.commit("org/name")
    file = commit.files["data/a.csv"]
    bad = HubCommit("org/name", commit.sha, "main", {"../../../x.csv": type(file)("../../../x.csv", file.size, file.oid)})
    with pytest.raises(Exception, match="not a valid path in"):
        HubFiles(source, bad).fetch(["../../../x.csv"], Watch())

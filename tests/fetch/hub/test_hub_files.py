"""Files of a commit in the cache that Hub tools share: fetched once, verified, found by the others and found of them."""

from __future__ import annotations

import os
import pathlib
import random
import threading
import time

import huggingface_hub
import pytest

from datasets_core import config
from datasets_core.engines.threads import Watch
from datasets_core.errors import DataFilesNotFoundError, DownloadError, NonMatchingChecksumError, OfflineError
from datasets_core.fetch.hub.client import Hub
from datasets_core.fetch.hub.files import HubFiles, fetch_files, read_small
from datasets_core.fetch.hub.repository import HubCommit

CONTENT = {
    "README.md": b"# hi",
    "data/a.csv": b"a\n1\n",
    "data/b ü#?%.csv": b"b\n",
    "c.parquet": b"PAR1" * 99,
    "empty.txt": b"",
}


@pytest.fixture
def repo(hub):
    return hub.repo("org/name", CONTENT)


def contents(places):
    return {path: pathlib.Path(place).read_bytes() for path, place in places.items()}


def test_files_stand_where_other_tools_look_for_them(hub, repo, snapshot):
    files = snapshot()
    places = files.fetch(list(CONTENT), Watch())
    assert contents(places) == CONTENT
    for path, place in places.items():
        found = huggingface_hub.try_to_load_from_cache("org/name", path, cache_dir=hub.cache_dir, repo_type="dataset")
        assert found == place
        blob = hub.cache_dir / "datasets--org--name" / "blobs" / files.commit.files[path].etag
        assert os.readlink(place) == os.path.relpath(blob, os.path.dirname(place))


def test_what_another_tool_fetched_is_taken(hub, repo, snapshot):
    folder = huggingface_hub.snapshot_download(
        "org/name", repo_type="dataset", cache_dir=hub.cache_dir, endpoint=hub.url, token=False
    )
    files = snapshot()
    hub.forget()
    assert files.fetch(list(CONTENT), Watch()) == {path: os.path.join(folder, path) for path in CONTENT}
    assert hub.requests == []


def test_a_file_that_two_commits_share_is_fetched_once(hub, repo, snapshot):
    snapshot().fetch(list(CONTENT), Watch())
    repo.commit({"data/copy.csv": CONTENT["data/a.csv"]})
    hub.forget()
    later = snapshot()
    assert contents(later.fetch(["data/copy.csv", "data/a.csv"], Watch())) == {
        "data/copy.csv": CONTENT["data/a.csv"], "data/a.csv": CONTENT["data/a.csv"],
    }  # fmt: skip
    assert hub.counts() == {"info": 1, "tree": 1}


def test_a_blob_of_another_size_is_fetched_again(hub, repo, snapshot):
    files = snapshot()
    place = files.fetch(["c.parquet"], Watch())["c.parquet"]
    blob = os.path.realpath(place)
    os.truncate(blob, 5)
    assert contents(files.fetch(["c.parquet"], Watch())) == {"c.parquet": CONTENT["c.parquet"]}


def test_a_blob_of_other_bytes_is_told_where_hashes_are_compared(hub, repo, snapshot):
    place = pathlib.Path(snapshot().fetch(["c.parquet"], Watch())["c.parquet"]).resolve()
    place.write_bytes(b"X" * len(CONTENT["c.parquet"]))
    hub.forget()
    snapshot().fetch(["c.parquet"], Watch())
    assert hub.counts()["resolve"] == 0
    with pytest.raises(NonMatchingChecksumError):
        snapshot(is_hashed=True, is_local=True).fetch(["c.parquet"], Watch())
    assert contents(snapshot(is_hashed=True).fetch(["c.parquet"], Watch())) == {"c.parquet": CONTENT["c.parquet"]}


def test_a_file_is_fetched_again_where_that_is_asked_for(hub, repo, snapshot):
    snapshot().fetch(["data/a.csv"], Watch())
    hub.forget()
    snapshot(is_refused=True).fetch(["data/a.csv"], Watch())
    assert hub.counts()["resolve"] == 1


def test_offline_what_is_there_is_found_and_what_is_not_is_named(hub, repo, snapshot):
    snapshot().fetch(["data/a.csv"], Watch())
    hub.forget()
    with config.using(offline=True):
        files = snapshot()
        assert contents(files.fetch(["data/a.csv"], Watch())) == {"data/a.csv": CONTENT["data/a.csv"]}
        with pytest.raises(OfflineError, match=r"org/name@.*c\.parquet: is not in the hub cache"):
            files.fetch(["data/a.csv", "c.parquet"], Watch())
    assert hub.requests == []


def test_a_snapshot_without_a_listing_gives_what_it_has(hub, repo):
    huggingface_hub.hf_hub_download(
        "org/name", "data/a.csv", repo_type="dataset", cache_dir=hub.cache_dir, endpoint=hub.url, token=False
    )
    with config.using(offline=True):
        source = Hub.of()
        commit = source.commit("org/name")
        assert contents(fetch_files(source, commit, ["data/a.csv"])) == {"data/a.csv": CONTENT["data/a.csv"]}
        with pytest.raises(OfflineError, match="README"):
            fetch_files(source, commit, ["README.md"])


def test_a_path_that_the_commit_does_not_have_is_named(hub, repo, snapshot):
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


def test_those_who_ask_at_the_same_time_fetch_it_once(hub, repo, snapshot):
    files = [snapshot() for _ in range(6)]
    hub.forget()
    threads = [threading.Thread(target=each.fetch, args=(list(CONTENT), Watch())) for each in files]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hub.counts() == {"resolve": 4, "storage": 1}  # the empty one is known


def test_where_links_are_impossible_files_are_copied(hub, repo, snapshot, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError(1, "no links here")

    monkeypatch.setattr(os, "symlink", refused)
    monkeypatch.setattr(os, "link", refused)
    places = snapshot().fetch(list(CONTENT), Watch())
    assert contents(places) == CONTENT
    assert not any(os.path.islink(place) for place in places.values())
    hub.forget()
    snapshot().fetch(list(CONTENT), Watch())
    assert hub.counts()["resolve"] == 0


def test_parts_that_nobody_goes_on_with_are_cleared_away(hub, repo, snapshot):
    blobs = hub.cache_dir / "datasets--org--name" / "blobs"
    blobs.mkdir(parents=True)
    for name, age in (("old", 30 * 24 * 3600), ("new", 60)):
        part = blobs / f"{name}.resumable.incomplete"
        part.write_bytes(b"x")
        os.utime(part, (time.time() - age,) * 2)
    snapshot().fetch(["data/a.csv"], Watch())
    assert sorted(path.name for path in blobs.glob("*.incomplete")) == ["new.resumable.incomplete"]


def test_small_files_are_read_through_the_cache(hub, repo):
    source = Hub.of()
    commit = source.commit("org/name")
    assert read_small(source, commit, "README.md", 100) == b"# hi"
    assert read_small(source, commit, "NOTHING.md", 100) is None
    with pytest.raises(DownloadError, match="4 bytes, of which 3"):
        read_small(source, commit, "README.md", 3)


def test_bytes_are_counted_as_they_come(hub, repo, snapshot):
    counted = []
    snapshot().fetch(list(CONTENT), Watch(counted.append))
    assert sum(counted) == sum(map(len, CONTENT.values()))


def test_records_hold_sizes_and_sha256_of_all(hub, repo, snapshot):
    files = snapshot()
    files.fetch(list(CONTENT), Watch())
    fetched = {path: files.record(path) for path in CONTENT}
    later = snapshot()
    assert {path: later.record(path) for path in CONTENT} == fetched


def test_no_path_of_a_listing_leaves_the_snapshot(hub, repo, snapshot):
    source = Hub.of()
    commit = source.commit("org/name")
    file = commit.files["data/a.csv"]
    bad = HubCommit("org/name", commit.sha, "main", {"../../../x.csv": type(file)("../../../x.csv", file.size, file.oid)})
    with pytest.raises(Exception, match="not a path inside"):
        HubFiles(source, bad).fetch(["../../../x.csv"], Watch())

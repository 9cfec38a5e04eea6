"""One file of the Hub, whatever happens on its way: the right bytes in the end, or an error and nothing."""

from __future__ import annotations

import random

import pytest

from datasets_core.engines.threads import Watch
from datasets_core.errors import (
    DatasetDiskError,
    DownloadError,
    GatedRepositoryError,
    HubUnreachableError,
    InvalidTokenError,
    NonMatchingChecksumError,
    RepositoryNotFoundError,
    UrlNotFoundError,
)

BIG = random.Random(7).randbytes(3_000_000)
SMALL = "a,b\n" * 1000


@pytest.fixture
def repo(hub):
    return hub.repo("org/name", {"big.parquet": BIG, "small.csv": SMALL})


def fetched(files, path="big.parquet"):
    with open(files.fetch([path], Watch())[path], "rb") as handle:
        return handle.read()


def left(hub):
    return [path.name for path in hub.cache_dir.glob("*/blobs/*")]


def test_a_file_costs_one_get_and_its_redirect(hub, repo, snapshot):
    files = snapshot()
    hub.forget()
    assert fetched(files) == BIG
    assert [request.method for request in hub.requests] == ["GET", "GET"]
    assert left(hub) == [repo.at("main").files["big.parquet"].etag]


def test_a_drop_is_continued_where_it_was(hub, repo, snapshot, clock):
    hub.fail(hub.faults.cut(1_000_000, reset=False), "storage", times=3)
    assert fetched(snapshot()) == BIG
    assert [request.range for request in hub.of("storage")] == [None, "bytes=1000000-", "bytes=2000000-"]
    assert len(clock.pauses) == 2


@pytest.mark.parametrize("fault", ["wrong", "shortened", "pointer"])
@pytest.mark.parametrize("path", ["big.parquet", "small.csv"])
def test_wrong_bytes_are_fetched_once_more_and_then_refused(hub, repo, snapshot, fault, path):
    faults = hub.faults
    pointer = b"version https://git-lfs.github.com/spec/v1\n"
    fault = {"wrong": faults.wrong(), "shortened": faults.shortened(9), "pointer": faults.wrong(pointer)}[fault]
    kind = "storage" if path == "big.parquet" else "resolve"
    rule = hub.fail(fault, kind, times=1)
    assert fetched(snapshot(), path) == (BIG if path == "big.parquet" else SMALL.encode())
    hub.fail(fault, kind, times=None)
    with pytest.raises(NonMatchingChecksumError, match=rf"org/name@.*{path}") as caught:
        snapshot(is_refused=True).fetch([path], Watch())
    assert "no_checks" not in str(caught.value)
    assert rule.met == 1
    assert left(hub) == [repo.at("main").files[path].etag]  # the good one from before


@pytest.mark.parametrize("kind", ["resolve", "storage"])
def test_a_busy_server_is_asked_again_when_it_says(hub, repo, snapshot, clock, kind):
    hub.fail(hub.faults.status(429, Retry_After="7"), kind, times=2)
    hub.fail(hub.faults.status(503), kind)
    assert fetched(snapshot()) == BIG
    assert clock.pauses[:2] == [7.0, 7.0]
    assert len(clock.pauses) == 3


@pytest.mark.parametrize("status", [400, 403])
def test_an_expired_storage_url_is_made_anew_by_the_endpoint(hub, repo, snapshot, clock, status):
    hub.fail(hub.faults.status(status), "storage")
    assert fetched(snapshot()) == BIG
    assert hub.counts()["resolve"] == 2
    assert clock.pauses == []


def test_a_storage_url_that_expires_on_the_way_costs_no_byte_twice(hub, repo, snapshot):
    hub.fail(hub.faults.cut(1_500_000, reset=False), "storage")
    hub.fail(hub.faults.status(403), "storage")
    assert fetched(snapshot()) == BIG
    assert [request.range is not None for request in hub.of("storage")] == [False, True, True]


def test_a_range_past_the_end_begins_again(hub, repo, snapshot):
    hub.fail(hub.faults.cut(1_500_000, reset=False), "storage")
    hub.fail(hub.faults.status(416), "storage")
    assert fetched(snapshot()) == BIG


def test_a_storage_that_knows_no_ranges_doubles_no_byte(hub, repo, snapshot):
    hub.fail(hub.faults.cut(1_500_000, reset=False), "storage")
    hub.fail(lambda right: hub.faults.Answer(200, {}, BIG), "storage")
    assert fetched(snapshot()) == BIG


def test_the_token_goes_to_the_endpoint_alone_there_and_back(hub, repo, snapshot):
    repo.private = True
    hub.fail(hub.faults.redirected(f"{hub.storage.url}/away"), "resolve")
    hub.fail(hub.faults.redirected(f"{hub.url}/datasets/org/name/resolve/main/big.parquet"), "storage")
    assert fetched(snapshot(hub.token)) == BIG
    assert {request.token for request in hub.of("storage")} == {None}
    assert {request.token for request in hub.of("resolve")} == {hub.token}


def test_refusals_say_why(hub, repo, snapshot):
    repo.gated = "auto"
    with pytest.raises(GatedRepositoryError, match="no token was sent"):
        fetched(snapshot(False))
    with pytest.raises(GatedRepositoryError, match="your token has no access"):
        fetched(snapshot(hub.stranger.token))
    assert fetched(snapshot(hub.token)) == BIG
    repo.gated, repo.private = False, True
    late = snapshot(hub.token)
    del hub.users[hub.token]  # while the files are on their way
    with pytest.raises(InvalidTokenError):
        fetched(late, "small.csv")


def test_a_repository_that_went_away_is_missing(hub, repo, snapshot):
    files = snapshot(False)
    repo.private = True
    with pytest.raises(RepositoryNotFoundError):
        fetched(files)


def test_a_file_that_is_listed_and_not_there_is_named(hub, repo, snapshot):
    hub.fail(hub.faults.status(404, X_Error_Code="EntryNotFound"), "resolve")
    with pytest.raises(UrlNotFoundError, match=r"small\.csv: is listed"):
        fetched(snapshot(), "small.csv")


def test_nobody_there_is_told_from_an_answer(hub, repo, snapshot):
    files = snapshot()
    hub.fail(hub.faults.status(500), "resolve", times=5)
    with pytest.raises(DownloadError, match="500, 5 tries") as caught:
        fetched(files)
    assert not isinstance(caught.value, HubUnreachableError)
    hub.stop()
    with pytest.raises(HubUnreachableError, match=r"big\.parquet: is not in the hub cache"):
        fetched(files)


def test_a_disk_that_is_too_small_is_told_before_the_first_byte(hub, repo, snapshot, monkeypatch):
    monkeypatch.setattr("datasets_core.files.free_bytes", lambda path: 1000)
    with pytest.raises(DatasetDiskError, match="too small"):
        fetched(snapshot())
    assert left(hub) == []

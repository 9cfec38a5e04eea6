"""Files of LFS by one request for all of them, where the Hub offers it, and by their own addresses else."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from datasets_core import config
from datasets_core.engines.threads import Watch
from datasets_core.errors import HubUnreachableError

FILES = {f"data/{number}.parquet": b"%d" % number * 100 for number in range(5)}


@pytest.fixture
def repo(hub):
    return hub.repo("org/name", FILES)


def fetched(files):
    places = files.fetch(list(FILES), Watch())
    return {path: Path(place).read_bytes() for path, place in places.items()}


def test_each_file_costs_one_get(hub, repo, snapshot):
    files = snapshot()
    hub.forget()
    assert fetched(files) == FILES
    assert hub.counts() == {"lfs-batch": 1, "storage": 5}


def test_a_few_files_do_without(hub, repo, snapshot):
    files = snapshot()
    hub.forget()
    files.fetch(list(FILES)[:2], Watch())
    assert hub.counts() == {"resolve": 2, "storage": 2}


def test_a_renamed_repository_is_followed(hub, repo, snapshot):
    files = snapshot()
    hub.rename("org/name", "org/other")
    hub.forget()
    assert fetched(files) == FILES
    assert hub.counts() == {"lfs-batch": 2, "storage": 5}


ANSWERS = [
    b"",
    b"no json",
    b"[1]",
    b'{"objects": 1}',
    b'{"objects": [1, {"oid": 1}, {"oid": "%s"}]}' % (b"0" * 64),
    json.dumps({"objects": [{"oid": "OID", "actions": {"download": {"href": "file:///etc/passwd"}}}]}).encode(),
    json.dumps({"objects": [{"oid": "OID", "actions": {"upload": {"href": "http://127.0.0.1:1/"}}}]}).encode(),
    json.dumps({"objects": [{"oid": "OID", "actions": {"download": {"href": "http://h/", "header": [1]}}}]}).encode(),
]


@pytest.mark.parametrize("body", ANSWERS)
def test_an_answer_that_makes_no_sense_is_no_failure(hub, repo, snapshot, body):
    files = snapshot()
    oid = files.commit.files["data/0.parquet"].etag
    hub.fail(hub.faults.wrong(body.replace(b"OID", oid.encode())), "lfs-batch", times=None)
    hub.forget()
    assert fetched(files) == FILES
    assert hub.counts() == {"lfs-batch": 1, "resolve": 5, "storage": 5}


@pytest.mark.parametrize("fault", ["status", "dropped", "cut"])
def test_a_hub_that_does_not_offer_it_is_asked_once(hub, repo, snapshot, fault):
    faults = {"status": hub.faults.status(501), "dropped": hub.faults.dropped(), "cut": hub.faults.cut(10)}
    files = snapshot()
    hub.fail(faults[fault], "lfs-batch", times=None)
    hub.forget()
    assert fetched(files) == FILES
    assert hub.counts()["lfs-batch"] == 1


@pytest.mark.parametrize("header", ["X\\nY", "X Y", ""])
def test_headers_that_no_request_has_are_not_sent(hub, repo, snapshot, header):
    def answered(right):
        return hub.faults.replace(
            right, body=right.body.replace(b'"expires_in"', b'"header": {"%s": "1"}, "expires_in"' % name)
        )

    name = header.encode()
    hub.fail(answered, "lfs-batch", times=None)
    assert fetched(snapshot()) == FILES
    assert hub.counts()["resolve"] == 5


def test_a_storage_host_that_is_away_is_asked_for_once_at_each_place(hub, repo, snapshot):
    away = b"http://127.0.0.1:9/"
    port = hub.storage.url.encode() + b"/"
    hub.fail(lambda right: hub.faults.replace(right, body=right.body.replace(port, away)), "lfs-batch", times=None)
    assert fetched(snapshot()) == FILES
    assert (hub.counts()["resolve"], hub.counts()["storage"]) == (5, 5)


def test_urls_that_have_expired_are_made_anew_one_by_one(hub, repo, snapshot):
    hub.before(lambda request: hub.storage.expire(), "storage")
    assert fetched(snapshot()) == FILES
    assert hub.counts()["lfs-batch"] == 1


def test_the_token_is_for_the_request_and_not_for_the_storage(hub, repo, snapshot):
    repo.private = True
    assert fetched(snapshot(hub.token)) == FILES
    assert [request.token for request in hub.of("lfs-batch")] == [hub.token]
    assert {request.token for request in hub.of("storage")} == {None}


def test_a_hub_that_is_away_is_not_waited_for_by_each_file(hub, repo, snapshot, clock):
    files = snapshot()
    hub.stop()
    with pytest.raises(HubUnreachableError):
        fetched(files)
    assert len(clock.pauses) <= len(FILES)


@pytest.mark.parametrize("fault", ["hanging", "dripping"])
def test_a_batch_that_does_not_come_in_time_is_done_without(hub, repo, snapshot, fault):
    files = snapshot()
    hub.fail(getattr(hub.faults, fault)(), "lfs-batch", times=None)
    hub.forget()
    begin = time.monotonic()
    with config.using(hub_timeout_seconds=0.3):
        assert fetched(files) == FILES
    assert time.monotonic() - begin < 3
    assert hub.counts() == {"lfs-batch": 1, "resolve": 5, "storage": 5}

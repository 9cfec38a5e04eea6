"""Parts of files of the Hub: hashes of git and of LFS, what continues a part, and what is no part of the file."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
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
from datasets_core.fetch.http import HttpResponse, TransientError
from datasets_core.fetch.hub.repository import HubFile
from datasets_core.fetch.hub.transfer import BlobDigest, BlobPart, WrongBytesError, blob_digest_of


class Sent:
    """The body of an answer."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks

    def iter_raw(self) -> Iterator[bytes]:
        return iter(self._chunks)


def answer(status: int, *chunks: bytes, **headers: str) -> HttpResponse:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpResponse("http://h/a", status, named, Sent(*chunks))


def in_git(content: bytes, path: str = "a.csv") -> HubFile:
    return HubFile(path, len(content), hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest())


def received(part: BlobPart, response: HttpResponse, *, is_rest: bool = False) -> bytes:
    part.receive(part.begin(response, is_rest=is_rest))
    part.check()
    with open(part.path, "rb") as handle:
        return handle.read()


@given(st.lists(st.binary(max_size=50)))
def test_the_hash_of_a_small_file_is_the_one_of_git_however_it_comes(chunks):
    content = b"".join(chunks)
    digest = BlobDigest(in_git(content))
    for chunk in chunks:
        digest.update(chunk)
    assert digest.etag() == in_git(content).oid
    assert digest.record().checksum == hashlib.sha256(content).hexdigest()


def test_git_itself_gives_that_hash(tmp_path):
    (tmp_path / "a").write_bytes(b"some text\n")
    said = subprocess.run(["git", "hash-object", "a"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert blob_digest_of(str(tmp_path / "a"), HubFile("a", 10, "")).etag() == said.strip()


@given(st.binary(min_size=1, max_size=200), st.data())
def test_a_part_continues_at_its_exact_byte(tmp_path_factory, content, data):
    cut = data.draw(st.integers(1, len(content)))
    path = tmp_path_factory.mktemp("part") / "blob"
    path.write_bytes(content[:cut])
    part = BlobPart(str(path), in_git(content), Watch())
    assert part.ranged() == {"Range": f"bytes={cut}-"}
    rest = answer(206, content[cut:], content_range=f"bytes {cut}-{len(content) - 1}/{len(content)}")
    assert received(part, rest, is_rest=True) == content


def test_a_server_that_gives_all_of_it_again_doubles_no_byte(tmp_path):
    (tmp_path / "blob").write_bytes(b"ab")
    part = BlobPart(str(tmp_path / "blob"), in_git(b"abcdef"), Watch())
    assert received(part, answer(200, b"abc", b"def"), is_rest=True) == b"abcdef"


@pytest.mark.parametrize("content_range", ["bytes 3-5/6", "bytes 0-5/6", "nonsense"])
def test_another_part_than_the_one_asked_for_is_not_taken_nor_asked_for_again(tmp_path, content_range):
    (tmp_path / "blob").write_bytes(b"ab")
    part = BlobPart(str(tmp_path / "blob"), in_git(b"abcdef"), Watch())
    with pytest.raises(TransientError):
        part.begin(answer(206, b"xxxx", content_range=content_range), is_rest=True)
    assert (part.size, part.ranged()) == (0, {})


def test_what_lies_there_and_is_longer_than_the_file_is_no_part_of_it(tmp_path):
    (tmp_path / "blob").write_bytes(b"longer than that")
    assert BlobPart(str(tmp_path / "blob"), in_git(b"abc"), Watch()).size == 0


def test_an_empty_file_is_known_without_asking(tmp_path):
    part = BlobPart(str(tmp_path / "blob"), in_git(b""), Watch())
    assert part.is_complete()
    assert part.check().num_bytes == 0
    assert (tmp_path / "blob").read_bytes() == b""


def test_a_body_that_a_proxy_compressed_is_the_file_again(tmp_path):
    content = b"a,b\n" * 1000
    part = BlobPart(str(tmp_path / "blob"), in_git(content), Watch())
    packed = gzip.compress(content)
    assert received(part, answer(200, packed[:20], packed[20:], content_encoding="gzip")) == content


def test_a_compressed_file_stays_compressed_whatever_the_header_says(tmp_path):
    content = gzip.compress(b"a,b\n" * 1000)
    part = BlobPart(str(tmp_path / "blob"), in_git(content, "a.csv.gz"), Watch())
    assert received(part, answer(200, content, content_encoding="gzip", content_length=str(len(content)))) == content


def test_after_an_encoded_body_broke_off_no_part_is_asked_for(tmp_path):
    content = bytes(range(256)) * 40
    part = BlobPart(str(tmp_path / "blob"), in_git(content), Watch())
    with pytest.raises(TransientError):
        received(part, answer(200, gzip.compress(content)[:200], content_encoding="gzip"))
    assert part.size > 0
    assert (part.ranged(), part.size) == ({}, 0)


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "Git LFS"),
        (b"<!DOCTYPE html><html>log in", "web page"),
    ],
)
def test_what_comes_in_the_place_of_the_content_is_told(tmp_path, body, advice):
    part = BlobPart(str(tmp_path / "blob"), HubFile("a.bin", 5000, "0" * 40, "1" * 64), Watch())
    with pytest.raises(WrongBytesError) as caught:
        received(part, answer(200, body, content_length=str(len(body))))
    assert advice in caught.value.advice


def test_more_bytes_than_are_listed_are_not_kept(tmp_path):
    part = BlobPart(str(tmp_path / "blob"), in_git(b"abc"), Watch())
    with pytest.raises(WrongBytesError, match="size"):
        received(part, answer(200, b"abc", b"d"))


# Files of LFS by one request for all of them, where the Hub offers it, and by their own addresses else.

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
    with config.using(hub_timeout_seconds=0.3):
        assert fetched(files) == FILES
    assert hub.counts() == {"lfs-batch": 1, "resolve": 5, "storage": 5}


# One file of the Hub, whatever happens on its way: the right bytes in the end, or an error and nothing.

BIG = random.Random(7).randbytes(3_000_000)
SMALL = "a,b\n" * 1000


@pytest.fixture
def repo_hub_transfer(hub):
    return hub.repo("org/name", {"big.parquet": BIG, "small.csv": SMALL})


def fetched_hub_transfer(files, path="big.parquet"):
    with open(files.fetch([path], Watch())[path], "rb") as handle:
        return handle.read()


def left(hub):
    return [path.name for path in hub.cache_dir.glob("*/blobs/*")]


def test_a_file_costs_one_get_and_its_redirect(hub, repo_hub_transfer, snapshot):
    files = snapshot()
    hub.forget()
    assert fetched_hub_transfer(files) == BIG
    assert [request.method for request in hub.requests] == ["GET", "GET"]
    assert left(hub) == [repo_hub_transfer.at("main").files["big.parquet"].etag]


def test_a_drop_is_continued_where_it_was(hub, repo_hub_transfer, snapshot, clock):
    hub.fail(hub.faults.cut(1_000_000, reset=False), "storage", times=3)
    assert fetched_hub_transfer(snapshot()) == BIG
    assert [request.range for request in hub.of("storage")] == [None, "bytes=1000000-", "bytes=2000000-"]
    assert len(clock.pauses) == 2


@pytest.mark.parametrize("fault", ["wrong", "shortened", "pointer"])
@pytest.mark.parametrize("path", ["big.parquet", "small.csv"])
def test_wrong_bytes_are_fetched_once_more_and_then_refused(hub, repo_hub_transfer, snapshot, fault, path):
    faults = hub.faults
    pointer = b"version https://git-lfs.github.com/spec/v1\n"
    fault = {"wrong": faults.wrong(), "shortened": faults.shortened(9), "pointer": faults.wrong(pointer)}[fault]
    kind = "storage" if path == "big.parquet" else "resolve"
    rule = hub.fail(fault, kind, times=1)
    assert fetched_hub_transfer(snapshot(), path) == (BIG if path == "big.parquet" else SMALL.encode())
    hub.fail(fault, kind, times=None)
    with pytest.raises(NonMatchingChecksumError, match=rf"org/name@.*{path}") as caught:
        snapshot(is_refused=True).fetch([path], Watch())
    assert "no_checks" not in str(caught.value)
    assert rule.met == 1
    assert left(hub) == [repo_hub_transfer.at("main").files[path].etag]  # the good one from before


@pytest.mark.parametrize("kind", ["resolve", "storage"])
def test_a_busy_server_is_asked_again_when_it_says(hub, repo_hub_transfer, snapshot, clock, kind):
    hub.fail(hub.faults.status(429, Retry_After="7"), kind, times=2)
    hub.fail(hub.faults.status(503), kind)
    assert fetched_hub_transfer(snapshot()) == BIG
    assert clock.pauses[:2] == [7.0, 7.0]
    assert len(clock.pauses) == 3


@pytest.mark.parametrize("status", [400, 403])
def test_an_expired_storage_url_is_made_anew_by_the_endpoint(hub, repo_hub_transfer, snapshot, clock, status):
    hub.fail(hub.faults.status(status), "storage")
    assert fetched_hub_transfer(snapshot()) == BIG
    assert hub.counts()["resolve"] == 2
    assert clock.pauses == []


def test_a_storage_url_that_expires_on_the_way_costs_no_byte_twice(hub, repo_hub_transfer, snapshot):
    hub.fail(hub.faults.cut(1_500_000, reset=False), "storage")
    hub.fail(hub.faults.status(403), "storage")
    assert fetched_hub_transfer(snapshot()) == BIG
    assert [request.range is not None for request in hub.of("storage")] == [False, True, True]


def test_a_range_past_the_end_begins_again(hub, repo_hub_transfer, snapshot):
    hub.fail(hub.faults.cut(1_500_000, reset=False), "storage")
    hub.fail(hub.faults.status(416), "storage")
    assert fetched_hub_transfer(snapshot()) == BIG


def test_a_storage_that_knows_no_ranges_doubles_no_byte(hub, repo_hub_transfer, snapshot):
    hub.fail(hub.faults.cut(1_500_000, reset=False), "storage")
    hub.fail(lambda right: hub.faults.Answer(200, {}, BIG), "storage")
    assert fetched_hub_transfer(snapshot()) == BIG


def test_the_token_goes_to_the_endpoint_alone_there_and_back(hub, repo_hub_transfer, snapshot):
    repo_hub_transfer.private = True
    hub.fail(hub.faults.redirected(f"{hub.storage.url}/away"), "resolve")
    hub.fail(hub.faults.redirected(f"{hub.url}/datasets/org/name/resolve/main/big.parquet"), "storage")
    assert fetched_hub_transfer(snapshot(hub.token)) == BIG
    assert {request.token for request in hub.of("storage")} == {None}
    assert {request.token for request in hub.of("resolve")} == {hub.token}


def test_refusals_say_why(hub, repo_hub_transfer, snapshot):
    repo_hub_transfer.gated = "auto"
    with pytest.raises(GatedRepositoryError, match="no token was sent"):
        fetched_hub_transfer(snapshot(False))
    with pytest.raises(GatedRepositoryError, match="your token has no access"):
        fetched_hub_transfer(snapshot(hub.stranger.token))
    assert fetched_hub_transfer(snapshot(hub.token)) == BIG
    repo_hub_transfer.gated, repo_hub_transfer.private = False, True
    late = snapshot(hub.token)
    del hub.users[hub.token]  # while the files are on their way
    with pytest.raises(InvalidTokenError):
        fetched_hub_transfer(late, "small.csv")


def test_a_repository_that_went_away_is_missing(hub, repo_hub_transfer, snapshot):
    files = snapshot(False)
    repo_hub_transfer.private = True
    with pytest.raises(RepositoryNotFoundError):
        fetched_hub_transfer(files)


def test_a_file_that_is_listed_and_not_there_is_named(hub, repo_hub_transfer, snapshot):
    hub.fail(hub.faults.status(404, X_Error_Code="EntryNotFound"), "resolve")
    with pytest.raises(UrlNotFoundError) as caught:
        fetched_hub_transfer(snapshot(), "small.csv")
    assert str(caught.value.file).endswith("small.csv")


def test_nobody_there_is_told_from_an_answer(hub, repo_hub_transfer, snapshot):
    files = snapshot()
    hub.fail(hub.faults.status(500), "resolve", times=5)
    with pytest.raises(DownloadError, match="500, in 5 consecutive tries") as caught:
        fetched_hub_transfer(files)
    assert not isinstance(caught.value, HubUnreachableError)
    hub.stop()
    with pytest.raises(HubUnreachableError, match=r"big\.parquet: is not in the hub cache"):
        fetched_hub_transfer(files)


def test_a_disk_that_is_too_small_is_told_before_the_first_byte(hub, repo_hub_transfer, snapshot, monkeypatch):
    monkeypatch.setattr("datasets_core.files.free_bytes", lambda path: 1000)
    with pytest.raises(DatasetDiskError, match="space"):
        fetched_hub_transfer(snapshot())
    assert left(hub) == []

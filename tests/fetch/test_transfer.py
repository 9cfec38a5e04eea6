"""A GET over a bad line: the right bytes, or one clear error; never two versions in one file."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from datasets_core import config, files
from datasets_core.errors import DatasetDiskError, DownloadError, NonMatchingChecksumError
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.streaming import StreamingDownloadManager

BODY = bytes(range(256)) * 4000


def read(path):
    return Path(path).read_bytes()


@pytest.mark.parametrize("count", [0, 1, 100_000, len(BODY) - 1])
def test_a_reset_is_survived(site, manager, faults, count):
    site.pages["/a"] = faults.page(BODY, faults=[faults.reset_after(count)])
    assert read(manager.download(site.at("/a"))) == BODY


def test_a_short_body_is_continued_where_it_stopped(site, manager, faults):
    site.pages["/a"] = faults.page(BODY, faults=[faults.short_by(1000)])
    assert read(manager.download(site.at("/a"))) == BODY
    assert site.heads("range") == [None, f"bytes={len(BODY) - 1000}-"]
    assert site.heads("if-range") == [None, '"v1"']


@pytest.mark.parametrize("etag", [None, 'W/"weak"'])
def test_without_a_strong_etag_a_body_is_begun_again(site, manager, faults, etag):
    site.pages["/a"] = faults.page(BODY, etag=etag, faults=[faults.short_by(1000)])
    assert read(manager.download(site.at("/a"))) == BODY
    assert site.heads("range") == [None, None]


def test_two_versions_are_never_mixed(site, manager, faults):
    newer = bytes(reversed(BODY))
    site.pages["/a"] = faults.page(BODY, faults=[faults.changing_to(newer, '"v2"', faults.short_by(1000))])
    assert read(manager.download(site.at("/a"))) == newer


def test_a_server_that_ignores_if_range_is_not_believed(site, manager, faults):
    newer = bytes(reversed(BODY))

    def rest_of_another(handler, page):
        handler.answer(206, {"ETag": '"v2"', "Content-Range": f"bytes 1000-{len(newer) - 1}/{len(newer)}"}, newer[1000:])

    first = faults.changing_to(newer, '"v2"', faults.short_by(len(BODY) - 1000))
    site.pages["/a"] = faults.page(BODY, faults=[first, rest_of_another])
    assert read(manager.download(site.at("/a"))) == newer


def test_another_range_than_asked_for_is_not_believed(site, manager, faults):
    def shifted(handler, page):
        handler.answer(206, {"ETag": '"v1"', "Content-Range": f"bytes 7-{len(BODY) - 1}/{len(BODY)}"}, BODY[7:])

    site.pages["/a"] = faults.page(BODY, faults=[faults.short_by(1000), shifted])
    assert read(manager.download(site.at("/a"))) == BODY


def test_a_server_without_ranges_sends_it_again(site, manager, faults):
    site.pages["/a"] = faults.page(BODY, is_ranged=False, faults=[faults.short_by(1000)])
    assert read(manager.download(site.at("/a"))) == BODY


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_server_in_trouble_is_asked_again(site, manager, faults, clock, status):
    site.pages["/a"] = faults.page(b"a", faults=[faults.answering(status)] * 4)
    assert read(manager.download(site.at("/a"))) == b"a"
    assert len(site.requests) == 5
    assert clock.pauses == sorted(clock.pauses)


def test_after_five_tries_the_error_names_url_status_and_tries(site, manager, faults):
    site.pages["/a"] = faults.page(b"a", faults=[faults.answering(503)] * 9)
    with pytest.raises(DownloadError, match="the server answers 503, in 5 consecutive tries") as caught:
        manager.download(site.at("/a"))
    assert (caught.value.status, caught.value.url) == (503, site.at("/a"))
    assert not isinstance(caught.value, FileNotFoundError)


def test_a_refused_connection_is_tried_again(site, manager, faults):
    site.pages["/a"] = faults.page(b"a", faults=[faults.refusing] * 3)
    assert read(manager.download(site.at("/a"))) == b"a"


def test_no_server_at_all_is_a_clear_error(manager, site, clock):
    with pytest.raises(DownloadError, match="no connection"):
        manager.download("http://127.0.0.1:9/a")
    assert len(clock.pauses) == 4


def test_the_server_says_how_long_to_wait_in_seconds_or_as_a_date_up_to_a_cap(site, manager, faults, clock):
    pauses = [
        faults.answering(429, Retry_After="7"),
        faults.answering(503, Retry_After=faults.http_date(faults.now + 11)),
        faults.answering(503, Retry_After="86400"),
        faults.answering(503, Retry_After=faults.http_date(faults.now - 5)),
    ]
    site.pages["/a"] = faults.page(b"a", faults=pauses)
    manager.download(site.at("/a"))
    assert clock.pauses == [7.0, 11.0, 60.0, 0.0]


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "required"), (403, "forbidden"), (404, "not found"), (410, "not found"), (400, "400")],
)
def test_a_refusal_is_told_at_once_with_its_status(site, manager, faults, status, words):
    site.pages["/a"] = faults.page(b"a", faults=[faults.answering(status)] * 2)
    with pytest.raises(DownloadError, match=words) as caught:
        manager.download(site.at("/a"))
    assert caught.value.status == status
    assert len(site.requests) == 1
    assert isinstance(caught.value, FileNotFoundError) == (status in (404, 410))


def test_a_failed_download_leaves_nothing_in_the_cache(site, manager, faults, cache_dir):
    site.pages["/a"] = faults.page(BODY, etag=None, faults=[faults.short_by(10)] * 9)
    with pytest.raises(DownloadError):
        manager.download(site.at("/a"))
    assert [name for name in os.listdir(cache_dir) if not name.endswith(".lock")] == []


def test_another_process_continues_what_one_began(site, manager, faults, cache_dir, policy):
    big = os.urandom(3 << 20)
    site.pages["/a"] = faults.page(big, faults=[faults.short_by(1000), *[faults.answering(503)] * 4])
    with pytest.raises(DownloadError):
        manager.download(site.at("/a"))
    site.requests.clear()
    assert read(DownloadManager(retries=policy).download(site.at("/a"))) == big
    assert site.heads("range") == [f"bytes={len(big) - 1000}-"]


def test_a_body_without_end_is_cut_off(site, manager, faults):
    site.pages["/a"] = faults.page(BODY, has_length=False)
    with config.using(max_download_bytes=1000), pytest.raises(DownloadError, match="more than 1,000 bytes"):
        manager.download(site.at("/a"))


@pytest.mark.parametrize("told", ["record", "head", "setting", "disk", "small disk"])
def test_a_body_that_never_ends_is_stopped_and_its_file_named(site, manager, faults, cache_dir, monkeypatch, told):
    url = site.at("/endless.csv")
    site.pages["/endless.csv"] = faults.page(faults=[faults.endless] * 9, head_length=3 << 20 if told == "head" else None)
    expected = DatasetDiskError if "disk" in told else NonMatchingChecksumError if told == "record" else DownloadError
    if told == "record":
        manager.expected = {url: {"num_bytes": 1000, "checksum": None}}
    if "disk" in told:
        free = (7 << 20) if told == "disk" else (1 << 20)
        monkeypatch.setattr(files, "disk_usage", lambda path: (100 << 20, 0, free))
    with config.using(max_download_bytes=2 << 20 if told in ("head", "setting") else None), pytest.raises(expected) as caught:
        manager.download(url)
    said = {
        "record": "1000 bytes",
        "head": "3,145,728 bytes for",
        "setting": "more than 2,097,152 bytes",
        "disk": "5% of the disk",
    }
    assert url in str(caught.value) and said.get(told, "5% of the disk") in str(caught.value)
    assert len(site.requests) == (2 if told == "record" else 1)
    assert [name for name in os.listdir(cache_dir) if not name.endswith(".lock")] == []


def test_a_stream_of_a_body_that_never_ends_is_stopped(site, cache_dir, faults, policy):
    url = site.at("/endless.csv")
    site.pages["/endless.csv"] = faults.page(faults=[faults.endless] * 9)
    remote = StreamingDownloadManager(retries=policy).download(url)
    with (
        config.using(max_download_bytes=2 << 20),
        remote.open("rb") as data,
        pytest.raises(DownloadError, match="2,097,152") as caught,
    ):
        while data.read(1 << 16):
            pass
    assert url in str(caught.value)


def test_an_unasked_for_compression_is_undone(site, manager, faults):
    site.pages["/a.csv"] = faults.page(gzip.compress(BODY), headers={"Content-Encoding": "gzip"})
    site.pages["/a.csv.gz"] = faults.page(gzip.compress(BODY), headers={"Content-Encoding": "gzip"})
    site.pages["/b"] = faults.page(b"??", headers={"Content-Encoding": "br"})
    plain, packed = manager.download([site.at("/a.csv"), site.at("/a.csv.gz")])
    assert read(plain) == BODY
    assert read(packed) == gzip.compress(BODY) or gzip.decompress(read(packed)) == BODY
    with pytest.raises(DownloadError, match="'br'"):
        manager.download(site.at("/b"))
    assert set(site.heads("accept-encoding")) == {"identity"}

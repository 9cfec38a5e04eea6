"""Ranges of one file are merged, fetched side by side, kept on the disk where that is wished, and taken whole where need be."""

import logging
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import DownloadError, FileChangedError
from datasets_core.fetch.ranges.file import FileVersion
from datasets_core.fetch.ranges.reader import TransportRanges
from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.streaming import StreamingDownloadManager

BODY = random.Random(7).randbytes(300_000)


class Memory:
    """A transport that reads bytes, and notes what is asked for."""

    name, url, takes_many = "a.bin", "test://a.bin", False

    def __init__(self, body=BODY, tag="v"):
        self.body, self.tag, self.asked = body, tag, []

    def stat(self, stall_timeout):
        return FileVersion(len(self.body), self.tag)

    def get_ranges(self, ranges, held, stall_timeout):
        self.asked += ranges
        found = [self.body[start:stop] if start >= 0 else self.body[start:] for start, stop in ranges]
        return found, FileVersion(len(self.body), self.tag)

    def close(self):
        pass


RANGES = st.lists(st.tuples(st.integers(0, 300_000), st.integers(0, 300_000)).map(sorted).map(tuple), max_size=12)


@settings(max_examples=60)
@given(RANGES, st.booleans(), st.booleans())
def test_any_ranges_hold_their_bytes(ranges, takes_many, is_known):
    transport = Memory()
    transport.takes_many = takes_many
    read = TransportRanges(transport, told=FileVersion(len(BODY), "v") if is_known else None)
    assert [bytes(part) for part in read.read(ranges)] == [BODY[start:stop] for start, stop in ranges]


def test_near_ranges_are_one_request():
    transport = Memory()
    TransportRanges(transport).read([(0, 50_000), (51_000, 90_000), (200_000, 200_100)])
    assert transport.asked == [(0, 90_000), (200_000, 200_100)]


def test_parts_of_different_versions_are_never_given_together():
    transport = Memory()
    read = TransportRanges(transport)
    read.tail(5)
    transport.tag = "w"
    with pytest.raises(FileChangedError):
        read.read([(0, 5), (200_000, 200_010)])


def test_what_was_told_beforehand_is_held_to():
    read = TransportRanges(Memory(), told=FileVersion(5, "sha"))
    assert read.version() == FileVersion(5, "sha")
    with pytest.raises(FileChangedError, match="should have 5 bytes, and its server has 300,000"):
        read.read([(0, 5)])
    with pytest.raises(FileChangedError):
        read.hold(FileVersion(6, "sha"))


def test_the_disk_cache_is_asked_first(tmp_path):
    with config.using(stream_cache_bytes=1 << 20, cache_dir=tmp_path):
        for _ in range(2):
            transport = Memory()
            read = TransportRanges(transport)
            read.version()
            assert [bytes(part) for part in read.read([(0, 50), (90_000, 90_010)])] == [BODY[:50], BODY[90_000:90_010]]
        assert transport.asked == []
        other = Memory(BODY[::-1], "w")
        read = TransportRanges(other)
        read.version()
        assert bytes(read.read([(0, 50)])[0]) == BODY[::-1][:50]


def test_without_a_tag_nothing_is_kept(tmp_path):
    with config.using(stream_cache_bytes=1 << 20, cache_dir=tmp_path):
        for _ in range(2):
            transport = Memory(tag="")
            read = TransportRanges(transport)
            read.version()
            read.read([(0, 50)])
            assert transport.asked == [(0, 50)]


@pytest.fixture
def remote(range_server, tmp_path):
    with config.using(cache_dir=tmp_path / "cache", max_retry_wait_seconds=0):
        manager = StreamingDownloadManager()
        yield lambda body=BODY, name="a.bin": RemoteFile(range_server.put(name, body), manager._access).ranges()


@pytest.mark.parametrize("call", ["tail", "read", "version"])
@pytest.mark.parametrize("has_length", [True, False])
def test_a_server_without_parts_is_read_whole_and_that_is_said_once(remote, range_server, caplog, call, has_length):
    range_server.ranged, range_server.has_length = False, has_length
    read = remote()
    with caplog.at_level(logging.WARNING):
        if call == "tail":
            assert bytes(read.tail(10)) == BODY[-10:]
        elif call == "version":
            assert read.version().size == len(BODY)
        for start in (5, 100):
            assert bytes(read.read([(start, start + 10)])[0]) == BODY[start : start + 10]
        assert bytes(read.tail(7)) == BODY[-7:]
    assert caplog.text.count("is fetched whole") == 1
    assert len(range_server.requests) <= 3


def test_what_is_compressed_on_its_way_is_refused_or_fetched_whole(remote, range_server):
    range_server.fail("a.bin", "encoded")
    assert bytes(remote().read([(0, 10)])[0]) == BODY[:10]


def test_a_whole_file_of_another_size_is_refused(range_server):
    read = TransportRanges(Memory(), whole=lambda: __file__, told=FileVersion(5, "sha"))
    from datasets_core.fetch.ranges.file import NoRangesError

    with pytest.raises(FileChangedError, match="it had 5 bytes"):
        read._go_whole(NoRangesError(None))
    with pytest.raises(DownloadError, match="gives no parts of it"):
        TransportRanges(Memory())._go_whole(NoRangesError(None))


def test_a_large_file_that_the_hub_lists_is_read_in_parts(hub):
    hub.repo("org/data", {"train.bin": BODY}, lfs=True)
    manager = StreamingDownloadManager()
    url = manager._hub.below("hf://datasets/org/data")[0]
    read = RemoteFile(url, manager._access).ranges()
    hub.forget()
    assert read.version().size == len(BODY)
    assert hub.requests == []
    assert [bytes(part) for part in read.read([(0, 10), (200_000, 200_010)])] == [BODY[:10], BODY[200_000:200_010]]
    hub.storage.expire()
    assert bytes(read.tail(5)) == BODY[-5:]
    assert bytes(read.tail(6)) == BODY[-6:]
    assert hub.counts()["resolve"] <= 3
    read.close()

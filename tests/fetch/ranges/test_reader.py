"""Ranges of one file are merged, fetched side by side, kept on the disk where that is wished, and taken whole where need be."""

import gc
import logging
import os
import random
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import DownloadError, FileChangedError
from datasets_core.fetch.ranges.file import FileVersion
from datasets_core.fetch.ranges.reader import MOST_BYTES, Pieces, ReadAhead, TransportRanges
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
    with pytest.raises(FileChangedError, match="should have 5 bytes, but its server has 300,000"):
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
    with pytest.raises(DownloadError, match="does not support ranges"):
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


# What is read soon is fetched meanwhile: in order, within a budget, and failures are raised where it is taken.


class Fetches:
    """Fetches that begin one after the other, and end when they are let."""

    def __init__(self, until):
        self.begun, self.gate, self.lock, self.until = [], threading.Semaphore(0), threading.Lock(), until

    def of(self, key, *, waits=True):
        def fetch():
            with self.lock:
                self.begun.append(key)
            if waits:
                assert self.gate.acquire(timeout=60)
            return key

        return fetch

    def begin(self, count):
        self.until(lambda: len(self.begun) >= count)

    def let(self, count):
        for _ in range(count):
            self.gate.release()


@pytest.fixture
def fetches(until):
    made = Fetches(until)
    yield made
    made.let(100)


@pytest.fixture
def ahead():
    made = []

    def make(*args, **kwargs):
        made.append(ReadAhead(*args, **kwargs))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_no_more_is_under_way_than_the_budget_holds(ahead, fetches):
    found = ahead(300, threads=8)
    found.want((n, 100, fetches.of(n)) for n in range(10))
    fetches.begin(3)
    fetches.let(3)
    time.sleep(0.02)
    assert sorted(fetches.begun) == [0, 1, 2]
    assert found.take(0) == 0
    fetches.begin(4)
    assert fetches.begun[3:] == [3]
    fetches.let(9)
    assert [found.take(n) for n in range(1, 10)] == list(range(1, 10))


def test_one_thing_is_fetched_whatever_it_takes(ahead, fetches):
    found = ahead(10, threads=2)
    found.want([("a", 1000, fetches.of("a")), ("b", 1000, fetches.of("b"))])
    fetches.begin(1)
    fetches.let(2)
    assert (found.take("a"), found.take("b")) == ("a", "b")


def test_what_waits_for_a_thread_is_fetched_by_who_takes_it(ahead, fetches):
    found = ahead(1000, threads=1)
    found.want([("a", 1, fetches.of("a")), ("b", 1, threading.get_ident)])
    fetches.begin(1)
    assert found.take("b") == threading.get_ident()
    fetches.let(1)
    assert found.take("a") == "a"


def test_what_is_not_wanted_any_more_is_not_begun(ahead, fetches):
    found = ahead(1000, threads=1)
    found.want((n, 1, fetches.of(n)) for n in range(5))
    fetches.begin(1)
    found.want([(7, 1, fetches.of(7))])
    fetches.let(2)
    assert found.take(7) == 7
    assert fetches.begun == [0, 7]
    with pytest.raises(KeyError):
        found.take(1)


def test_what_is_wanted_again_is_fetched_once(ahead, fetches):
    found = ahead(1000, threads=4)
    for first in range(4):
        found.want((n, 1, fetches.of(n, waits=False)) for n in range(first, first + 4))
        assert found.take(first) == first
    assert sorted(fetches.begun) == sorted(set(fetches.begun))


def test_failures_are_raised_where_it_is_taken(ahead):
    def fail():
        raise OSError("there is not enough disk space gone")

    found = ahead(1000, threads=2)
    found.want([("a", 1, fail), ("b", 1, lambda: "b")])
    assert found.take("b") == "b"
    with pytest.raises(OSError, match="there is not enough disk space gone"):
        found.take("a")
    assert found.take("a", lambda: "now") == "now"


def test_its_threads_go_with_it(fetches):
    others = threading.enumerate()  # of tests before this one
    found = ReadAhead(1000, threads=3)
    found.want((n, 1, fetches.of(n)) for n in range(9))
    fetches.begin(3)
    threads = [each for each in threading.enumerate() if each.name == "datasets_core-ahead" and each not in others]
    assert len(threads) == 3
    del found
    gc.collect()
    fetches.let(3)
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert len(fetches.begun) == 3


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_fetches_anew(ahead, fetches):
    found = ahead(1000, threads=2)
    found.want((n, 1, fetches.of(n)) for n in range(4))
    fetches.begin(2)
    pid = os.fork()
    if not pid:
        fetches.let(4)
        os._exit(0 if [found.take(n) for n in range(4)] == [0, 1, 2, 3] else 1)
    assert os.waitpid(pid, 0)[1] == 0
    fetches.let(4)
    assert [found.take(n) for n in range(4)] == [0, 1, 2, 3]


# A file in order comes in pieces that grow while reading goes on, and little of it comes where it does not.

BODY_READ_PIECES = random.Random(1).randbytes(1 << 16) * 320  # 20 MiB
LONG = BODY_READ_PIECES * 3
KIB = 1 << 10


class MemoryReadPieces:
    """A transport that notes what is asked for."""

    name, url = "a.bin", "test://a.bin"

    def __init__(self, body=BODY_READ_PIECES):
        self.body, self.asked = body, []

    def get_ranges(self, ranges, held, stall_timeout):
        self.asked += ranges
        return [self.body[start:stop] for start, stop in ranges], held


@pytest.fixture
def transport():
    return MemoryReadPieces()


def _read(pieces, start, stop, step=64 * KIB):
    found, place = bytearray(), start
    while place < stop:
        data = pieces.at(place, min(step, stop - place))[: min(step, stop - place)]
        found += data
        place += len(data)
    return bytes(found)


def test_all_bytes_come_in_few_requests_and_once(transport):
    pieces = Pieces(transport, FileVersion(len(BODY_READ_PIECES), "v"))
    assert _read(pieces, 0, len(BODY_READ_PIECES)) == BODY_READ_PIECES
    assert len(transport.asked) < 20
    assert sum(stop - start for start, stop in transport.asked) == len(BODY_READ_PIECES)


def test_over_a_long_way_several_are_on_their_way():
    transport = MemoryReadPieces(LONG)
    pieces = Pieces(transport, FileVersion(len(LONG), "v"))
    assert _read(pieces, 0, len(LONG)) == LONG
    assert len(transport.asked) < 32
    pieces = Pieces(transport, FileVersion(len(LONG), "v"))
    _read(pieces, 0, 40 << 20)
    assert pieces.has(48 << 20)
    assert max(stop - start for start, stop in transport.asked) == MOST_BYTES
    assert len(pieces.at(len(LONG))) == 0


@pytest.mark.parametrize(("head", "most"), [(1, 64), (64, 64), (100, 256), (1024, 1280), (1100, 1400)])
def test_little_comes_behind_a_head(transport, head, most):
    pieces = Pieces(transport, FileVersion(len(BODY_READ_PIECES), "v"))
    assert _read(pieces, 0, head * KIB) == BODY_READ_PIECES[: head * KIB]
    pieces.drop()
    assert sum(stop - start for start, stop in transport.asked) <= most * KIB


@pytest.mark.parametrize("mib", [4, 6, 8, 10, 12, 16])
def test_not_much_more_comes_than_is_read(transport, mib):
    pieces = Pieces(transport, FileVersion(len(BODY_READ_PIECES), "v"))
    _read(pieces, 0, mib << 20)
    pieces.drop()
    assert sum(stop - start for start, stop in transport.asked) <= (mib << 20) * 1.5
    asked = len(transport.asked)
    assert pieces.at((mib << 20) - 1)  # what is here is read again: nothing more is asked for
    assert len(transport.asked) <= asked + 1


def test_what_is_wanted_at_once_is_asked_for_at_once(transport):
    pieces = Pieces(transport, FileVersion(len(BODY_READ_PIECES), "v"), BODY_READ_PIECES[: 64 * KIB])
    assert len(pieces.at(64 * KIB, 960 * KIB)) == 960 * KIB
    assert transport.asked == [(64 * KIB, 1024 * KIB)]


def test_another_place_begins_with_little(transport):
    pieces = Pieces(transport, FileVersion(len(BODY_READ_PIECES), "v"))
    _read(pieces, 0, 4 << 20)
    transport.asked.clear()
    assert not pieces.has(15 << 20)
    assert pieces.at(15 << 20)[:9] == BODY_READ_PIECES[15 << 20 :][:9]
    assert pieces.has(15 << 20)
    assert ((15 << 20), (15 << 20) + 64 * KIB) in transport.asked


def test_without_a_tag_a_piece_is_compared_with_the_one_before():
    transport = MemoryReadPieces()
    pieces = Pieces(transport, FileVersion(len(BODY_READ_PIECES), ""))
    assert _read(pieces, 0, len(BODY_READ_PIECES)) == BODY_READ_PIECES
    pieces = Pieces(transport, FileVersion(len(BODY_READ_PIECES), ""))
    pieces.at(0)
    transport.body = BODY_READ_PIECES[::-1]
    with pytest.raises(FileChangedError):
        _read(pieces, 0, len(BODY_READ_PIECES))


def test_pieces_are_kept_on_the_disk_where_that_is_wished(tmp_path):
    with config.using(stream_cache_bytes=100 << 20, cache_dir=tmp_path):
        for transport in (first := MemoryReadPieces(), second := MemoryReadPieces()):
            assert _read(Pieces(transport, FileVersion(len(BODY_READ_PIECES), "v")), 0, 3 << 20) == BODY_READ_PIECES[: 3 << 20]
    assert first.asked
    assert second.asked == []


def test_what_is_on_its_way_is_not_asked_for_again(transport):
    pieces = Pieces(transport, FileVersion(len(BODY_READ_PIECES), "v"))
    _read(pieces, 0, 9 << 20)
    place = 9 << 20
    while not pieces.has(place + (2 << 20)):
        _read(pieces, place, place + 64 * KIB)
        place += 64 * KIB
    there = place + (2 << 20)
    assert pieces.at(there)[:9] == BODY_READ_PIECES[there:][:9]
    pieces.drop()
    starts = [start for start, _ in transport.asked]
    assert len(set(starts)) == len(starts)
    assert there not in starts

"""A file in order comes in pieces that grow while reading goes on, and little of it comes where it does not."""

import random

import pytest

from datasets_core import config
from datasets_core.errors import FileChangedError
from datasets_core.fetch.ranges.file import FileVersion
from datasets_core.fetch.ranges.reader import MOST_BYTES, Pieces

BODY = random.Random(1).randbytes(1 << 16) * 320  # 20 MiB
LONG = BODY * 3
KIB = 1 << 10


class Memory:
    """A transport that notes what is asked for."""

    name, url = "a.bin", "test://a.bin"

    def __init__(self, body=BODY):
        self.body, self.asked = body, []

    def get_ranges(self, ranges, held, stall_timeout):
        self.asked += ranges
        return [self.body[start:stop] for start, stop in ranges], held


@pytest.fixture
def transport():
    return Memory()


def _read(pieces, start, stop, step=64 * KIB):
    found, place = bytearray(), start
    while place < stop:
        data = pieces.at(place, min(step, stop - place))[: min(step, stop - place)]
        found += data
        place += len(data)
    return bytes(found)


def test_all_bytes_come_in_few_requests_and_once(transport):
    pieces = Pieces(transport, FileVersion(len(BODY), "v"))
    assert _read(pieces, 0, len(BODY)) == BODY
    assert len(transport.asked) < 20
    assert sum(stop - start for start, stop in transport.asked) == len(BODY)


def test_over_a_long_way_several_are_on_their_way():
    transport = Memory(LONG)
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
    pieces = Pieces(transport, FileVersion(len(BODY), "v"))
    assert _read(pieces, 0, head * KIB) == BODY[: head * KIB]
    pieces.drop()
    assert sum(stop - start for start, stop in transport.asked) <= most * KIB


@pytest.mark.parametrize("mib", [4, 6, 8, 10, 12, 16])
def test_not_much_more_comes_than_is_read(transport, mib):
    pieces = Pieces(transport, FileVersion(len(BODY), "v"))
    _read(pieces, 0, mib << 20)
    pieces.drop()
    assert sum(stop - start for start, stop in transport.asked) <= (mib << 20) * 1.5
    asked = len(transport.asked)
    assert pieces.at((mib << 20) - 1)  # what is here is read again: nothing more is asked for
    assert len(transport.asked) <= asked + 1


def test_what_is_wanted_at_once_is_asked_for_at_once(transport):
    pieces = Pieces(transport, FileVersion(len(BODY), "v"), BODY[: 64 * KIB])
    assert len(pieces.at(64 * KIB, 960 * KIB)) == 960 * KIB
    assert transport.asked == [(64 * KIB, 1024 * KIB)]


def test_another_place_begins_with_little(transport):
    pieces = Pieces(transport, FileVersion(len(BODY), "v"))
    _read(pieces, 0, 4 << 20)
    transport.asked.clear()
    assert not pieces.has(15 << 20)
    assert pieces.at(15 << 20)[:9] == BODY[15 << 20 :][:9]
    assert pieces.has(15 << 20)
    assert ((15 << 20), (15 << 20) + 64 * KIB) in transport.asked


def test_without_a_tag_a_piece_is_compared_with_the_one_before():
    transport = Memory()
    pieces = Pieces(transport, FileVersion(len(BODY), ""))
    assert _read(pieces, 0, len(BODY)) == BODY
    pieces = Pieces(transport, FileVersion(len(BODY), ""))
    pieces.at(0)
    transport.body = BODY[::-1]
    with pytest.raises(FileChangedError):
        _read(pieces, 0, len(BODY))


def test_pieces_are_kept_on_the_disk_where_that_is_wished(tmp_path):
    with config.using(stream_cache_bytes=100 << 20, cache_dir=tmp_path):
        for transport in (first := Memory(), second := Memory()):
            assert _read(Pieces(transport, FileVersion(len(BODY), "v")), 0, 3 << 20) == BODY[: 3 << 20]
    assert first.asked
    assert second.asked == []


def test_what_is_on_its_way_is_not_asked_for_again(transport):
    pieces = Pieces(transport, FileVersion(len(BODY), "v"))
    _read(pieces, 0, 9 << 20)
    place = 9 << 20
    while not pieces.has(place + (2 << 20)):
        _read(pieces, place, place + 64 * KIB)
        place += 64 * KIB
    there = place + (2 << 20)
    assert pieces.at(there)[:9] == BODY[there:][:9]
    pieces.drop()
    starts = [start for start, _ in transport.asked]
    assert len(set(starts)) == len(starts)
    assert there not in starts

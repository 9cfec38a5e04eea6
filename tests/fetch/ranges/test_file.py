"""Files of this disk, and whatever can be opened, give any of their bytes, all of one version."""

from __future__ import annotations

import io
import itertools
import os
import pickle
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.engines.threads import RetryPolicy
from datasets_core.errors import DataFilesNotFoundError, DownloadError, FileChangedError, UrlNotFoundError
from datasets_core.fetch.http import Credentials, HttpClient
from datasets_core.fetch.ranges.file import (
    MOST_BYTES,
    MOST_GAP,
    FileVersion,
    LocalRanges,
    NoRangesError,
    OpenedRanges,
    StallTimeout,
    Transport,
    cut,
    merged,
)
from datasets_core.fetch.ranges.http import HttpTransport
from datasets_core.fetch.ranges.reader import TransportRanges
from datasets_core.fetch.ranges.stores import ObstoreTransport, StoreTransport
from datasets_core.fetch.streaming import StreamingDownloadManager
from datasets_core.fetch.transfer import HttpSource

BODY = bytes(range(256)) * 40


@pytest.fixture(params=["local", "opened"])
def file(request, tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(BODY)
    return LocalRanges(str(path)) if request.param == "local" else OpenedRanges("a.bin", lambda: path.open("rb"))


def test_any_bytes_are_read(file):
    assert [bytes(part) for part in file.read([(5, 9), (0, 0), (10_000, 10_240), (1, 2)])] == [
        BODY[5:9],
        b"",
        BODY[10_000:],
        BODY[1:2],
    ]
    assert bytes(file.tail(7)) == BODY[-7:]
    assert bytes(file.tail(1 << 20)) == BODY
    assert file.version().size == len(BODY)


@pytest.mark.parametrize("place", [(0, len(BODY) + 1), (-1, 5), (9, 5)])
def test_bytes_that_a_file_has_not_are_told(file, place):
    with pytest.raises(DownloadError, match=r"a\.bin: it has 10,240 bytes"):
        file.read([place])


def test_another_version_is_not_read(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(BODY)
    file = LocalRanges(str(path))
    file.read([(0, 5)])
    path.write_bytes(BODY[::-1])
    os.utime(path, ns=(1, 1))
    with pytest.raises(FileChangedError, match=r"a\.bin: it changed while it was read"):
        file.read([(0, 5)])
    path.write_bytes(BODY[:-1])
    with pytest.raises(FileChangedError, match="it had 10,240 bytes, and now has 10,239"):
        file.tail(5)


def test_a_version_of_before_is_held_to(file):
    file.hold(FileVersion(len(BODY) - 1, "another"))
    with pytest.raises(FileChangedError):
        file.read([(0, 1)])


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(DataFilesNotFoundError, match="does not exist"):
        LocalRanges(str(tmp_path / "none")).version()
    with pytest.raises(DownloadError, match=r"does not support reading parts of it|Is a directory"):
        LocalRanges(str(tmp_path)).version()


def test_it_goes_to_another_process(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(BODY)
    assert pickle.loads(pickle.dumps(LocalRanges(str(path), name="b"))).read([(0, 3)]) == [BODY[:3]]


def test_a_file_that_ends_early_is_told():
    class Cut(io.BytesIO):
        def read(self, count=-1):
            return super().read(min(count, max(0, 2 - self.tell())))

    with pytest.raises(FileChangedError, match="truncated to 2 bytes"):
        OpenedRanges("x", lambda: Cut(BODY)).read([(0, 9)])


# Requests hold every range that is wanted, and little else.

PLACES = st.integers(0, 2_000_000)
RANGES = st.lists(st.tuples(PLACES, st.integers(0, 300_000)).map(lambda each: (each[0], sum(each))), max_size=30)


@given(RANGES)
def test_each_range_is_in_one_request_and_no_byte_in_two(ranges):
    plan = merged(ranges)
    held = {number: (start, stop) for each in plan for number, start, stop in each.ranges}
    assert held == {number: each for number, each in enumerate(ranges) if each[1] > each[0]}
    assert all(each.start <= start < stop <= each.stop for each in plan for _, start, stop in each.ranges)
    assert all(one.stop <= other.start for one, other in itertools.pairwise(plan))


@given(RANGES)
def test_little_comes_that_nobody_wants(ranges):
    for each in merged(ranges):
        covered, place, gaps = 0, each.start, []
        for _, start, stop in sorted(each.ranges, key=lambda part: part[1]):
            gaps.append(max(0, start - place))
            covered += max(0, stop - max(start, place))
            place = max(place, stop)
        size = each.stop - each.start
        assert max(gaps) <= MOST_GAP
        assert size - covered <= max(size // 10, 128 * len(gaps))


@given(PLACES, st.integers(1, 10 * MOST_BYTES))
def test_long_ranges_are_cut_into_equal_parts(start, count):
    parts = list(cut(start, start + count))
    assert parts[0][0] == start and parts[-1][1] == start + count
    assert all(one[1] == other[0] for one, other in itertools.pairwise(parts))
    sizes = [stop - begin for begin, stop in parts]
    assert max(sizes) <= MOST_BYTES and max(sizes) - min(sizes) <= 1


# What every way to a file does alike: http, the Hub, stores by fsspec and by obstore.

BODY_TRANSPORTS = random.Random(5).randbytes(300_000)


@dataclass
class Way:
    """One kind of transport.

    Attributes:
        file: has a file of these bytes by a name, and gives the way to it; of None there is none.
        change: has the file of that name be these bytes; what is pinned to a commit never changes.
        is_written: whether `put` writes.
    """

    file: Callable[[bytes | None, str], Transport]
    change: Callable[[bytes, str], object] | None
    is_written: bool = False


def _http(range_server: Any, policy: RetryPolicy) -> Iterator[Way]:
    client = HttpClient()

    def file(body: bytes | None, name: str) -> Transport:
        url = f"{range_server.url}/{name}" if body is None else range_server.put(name, body)
        return HttpTransport(HttpSource(url, client, policy, Credentials.of(url), {}), url)

    yield Way(file, lambda body, name: range_server.put(name, body))


def _hub(hub: Any, policy: RetryPolicy) -> Iterator[Way]:
    def file(body: bytes | None, name: str) -> Transport:
        hub.repo("org/name", {"another.bin": BODY_TRANSPORTS} if body is None else {name: body})
        url = f"hf://datasets/org/name/{'another.bin' if body is None else name}"
        source = StreamingDownloadManager(retries=policy)._hub.source(url)
        if body is None:
            hub.fail(hub.faults.status(404), "resolve", times=None)
        return HttpTransport(source, url, is_pinned=True)

    yield Way(file, None)


def _fsspec(policy: RetryPolicy) -> Iterator[Way]:
    store = fsspec.filesystem("memory")

    def file(body: bytes | None, name: str) -> Transport:
        if body is not None:
            store.pipe(f"/transports/{name}", body)
        return StoreTransport(f"memory://transports/{name}", policy=policy)

    yield Way(file, lambda body, name: store.pipe(f"/transports/{name}", body), is_written=True)
    if store.exists("/transports"):
        store.rm("/transports", recursive=True)


def _obstore() -> Iterator[Way]:
    from obstore.store import MemoryStore

    store = MemoryStore()

    def file(body: bytes | None, name: str) -> Transport:
        transport = ObstoreTransport(f"s3://bucket/{name}", {})
        transport._store = store
        if body is not None:
            transport.put(body)
        return transport

    yield Way(file, file, is_written=True)


@pytest.fixture(params=["http", "hub", "fsspec", pytest.param("obstore", marks=pytest.mark.optional("obstore"))])
def way(request: pytest.FixtureRequest, range_server: Any, hub: Any, policy: RetryPolicy) -> Iterator[Way]:
    made = {
        "http": lambda: _http(range_server, policy),
        "hub": lambda: _hub(hub, policy),
        "fsspec": lambda: _fsspec(policy),
        "obstore": _obstore,
    }
    yield from made[request.param]()


def _stall_timeout() -> StallTimeout:
    return StallTimeout("a", 0)


def test_any_bytes_are_read_transports(way: Way) -> None:
    read = TransportRanges(way.file(BODY_TRANSPORTS, "a.bin"))
    found = read.read([(100, 200), (299_990, 300_000), (5, 5), (150, 250)])
    assert [bytes(part) for part in found] == [BODY_TRANSPORTS[100:200], BODY_TRANSPORTS[-10:], b"", BODY_TRANSPORTS[150:250]]
    assert (bytes(read.tail(9)), bytes(read.tail(1 << 20)), read.version().size) == (
        BODY_TRANSPORTS[-9:],
        BODY_TRANSPORTS,
        len(BODY_TRANSPORTS),
    )
    assert bytes(TransportRanges(way.file(BODY_TRANSPORTS, "a.bin")).tail(9)) == BODY_TRANSPORTS[-9:]


def test_the_version_is_told_alike_with_bytes_and_without(way: Way) -> None:
    transport = way.file(BODY_TRANSPORTS, "a.bin")
    version = transport.stat(_stall_timeout())
    (data, end), with_bytes = transport.get_ranges([(7, 19), (-5, 0)], None, _stall_timeout())
    assert (bytes(data), bytes(end)) == (BODY_TRANSPORTS[7:19], BODY_TRANSPORTS[-5:])
    assert with_bytes == version == transport.get_ranges([(0, 1)], version, _stall_timeout())[1]
    assert version.size == len(BODY_TRANSPORTS)


def test_an_empty_file_has_no_bytes(way: Way) -> None:
    read = TransportRanges(way.file(b"", "empty.bin"))
    assert (bytes(read.tail(5)), read.read([(0, 0)]), read.version().size) == (b"", [b""], 0)


def test_bytes_that_it_has_not_are_told(way: Way) -> None:
    with pytest.raises(DownloadError, match="it has 300,000 bytes"):
        TransportRanges(way.file(BODY_TRANSPORTS, "a.bin")).read([(0, 300_001)])


def test_another_version_is_never_read(way: Way) -> None:
    transport = way.file(BODY_TRANSPORTS, "a.bin")
    version = transport.stat(_stall_timeout())
    if way.change is None:
        version = FileVersion(version.size + 1, version.tag)
    else:
        way.change(BODY_TRANSPORTS[::-1], "a.bin")
    with pytest.raises(FileChangedError) as caught:
        transport.get_ranges([(5, 9)], version, _stall_timeout())
    assert str(caught.value.file).endswith("a.bin")


def test_what_is_not_there_is_told(way: Way) -> None:
    with pytest.raises((DataFilesNotFoundError, UrlNotFoundError)):
        way.file(None, "none.bin").stat(_stall_timeout())


def test_bytes_are_told_as_they_come(way: Way) -> None:
    told = []

    class Told(StallTimeout):
        def told(self, count: int) -> None:
            told.append(count)
            super().told(count)

    ((data,), _) = way.file(BODY_TRANSPORTS * 20, "large.bin").get_ranges([(1, 20 * len(BODY_TRANSPORTS))], None, Told("a", 0))
    assert bytes(data) == (BODY_TRANSPORTS * 20)[1:] and sum(told) == len(data)


def test_it_is_used_again_behind_its_close(way: Way) -> None:
    transport = way.file(BODY_TRANSPORTS, "a.bin")
    transport.stat(_stall_timeout())
    transport.close()
    assert bytes(transport.get_ranges([(3, 8)], None, _stall_timeout())[0][0]) == BODY_TRANSPORTS[3:8]


def test_it_goes_to_another_process_transports(way: Way) -> None:
    transport = way.file(BODY_TRANSPORTS, "a.bin")
    again = pickle.loads(pickle.dumps(transport))
    assert isinstance(again, type(transport))
    assert (again.url, again.name, again.takes_many) == (transport.url, transport.name, transport.takes_many)


def test_what_is_put_is_there_or_it_is_said_that_it_cannot_be(way: Way) -> None:
    transport = way.file(BODY_TRANSPORTS, "a.bin")
    if not way.is_written:
        with pytest.raises(DownloadError, match="cannot be written"):
            transport.put(b"new")
        return
    transport.put(b"new")
    assert bytes(way.file(None, "a.bin").get_ranges([(0, 3)], None, _stall_timeout())[0][0]) == b"new"


def test_a_server_without_parts_tells_the_version_that_it_has() -> None:
    assert NoRangesError(FileVersion(5, '"a"')).version == FileVersion(5, '"a"')
    assert "does not support ranges" in str(NoRangesError(None))

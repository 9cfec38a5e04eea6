"""`TransportRanges`: the ranges of one file, merged, fetched in parallel, and cached on disk if the settings enable it.

Files from servers without ranges are fetched into the cache of downloads, and read there.
"""

from __future__ import annotations

import threading
import weakref
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from datasets_core.config import settings
from datasets_core.engines.threads import SHARED, CallWindow, Daemons, renewed_after_fork
from datasets_core.errors import DownloadError, FileChangedError
from datasets_core.fetch.disk_cache import RangeCache
from datasets_core.fetch.ranges.file import (
    WITNESS_BYTES,
    Bytes,
    FileVersion,
    LocalRanges,
    Merged,
    NoRangesError,
    Range,
    StallTimeout,
    Transport,
    check_ranges,
    check_same,
    cut,
    merged,
)

T = TypeVar("T")

_MOST_EDGES = 256


class Underway(Generic[T]):
    """Bytes being fetched by a thread.

    Args:
        name: name of the file, for messages.
        num_bytes: number of requested bytes.
        work: fetches the bytes; it reports progress to the given timeout.
    """

    def __init__(self, name: str, num_bytes: int, work: Callable[[StallTimeout], T]) -> None:
        self._stall_timeout = stall_timeout = StallTimeout(name, num_bytes)
        self._job = SHARED.submit(lambda: work(stall_timeout))

    def wait(self) -> T:
        """Return the bytes.

        Raises:
            DownloadError: almost no bytes were received for too long.
        """
        return self._stall_timeout.waited_for(self._job, SHARED)

    def drop(self) -> None:
        """Cancel the fetch."""
        if not self._job.done():
            self._stall_timeout.end()
            SHARED.leave(self._job)


def open_range(
    location: Transport, ranges: list[Range], *, version: FileVersion | None, kept_as: FileVersion | None = None
) -> Underway[tuple[list[Bytes], FileVersion | None]]:
    """Start to read ranges of a file, from the disk cache if it has them.  All readers use this function.

    Args:
        location: the transport that reads the file.
        ranges: the ranges, as `Transport.get_ranges` takes them.
        version: the version that the file must have; None for any.
        kept_as: the version under which the disk cache stores the ranges; with None, or without a tag, it stores nothing.

    Returns:
        A pending read of the bytes of each range, and the version of the fetched bytes (None if all came from the disk cache).
    """
    cache = None if kept_as is None or not kept_as.tag else RangeCache.of_settings()
    tag = "" if kept_as is None else kept_as.tag

    def work(stall_timeout: StallTimeout) -> tuple[list[Bytes], FileVersion | None]:
        if cache is None:
            return location.get_ranges(ranges, version, stall_timeout)
        keys = [cache.key(location.url, tag, *each) for each in ranges]
        found: dict[str, Bytes] = {key: known for key in keys if (known := cache.get(key)) is not None}
        missing = {key: each for key, each in zip(keys, ranges, strict=True) if key not in found}
        told = None
        if missing:
            fetched, told = location.get_ranges(list(missing.values()), version, stall_timeout)
            for key, data in zip(missing, fetched, strict=True):
                cache.put(key, data)
                found[key] = data
        return [found[key] for key in keys], told

    return Underway(location.name, sum(stop - start for start, stop in ranges), work)


class TransportRanges:
    """A `RangeFile` that reads through a `Transport`.

    Args:
        transport: the transport.
        whole: fetches the whole file, logs that, and returns its path; None if that is not possible.
        told: its version, if it never changes.
    """

    def __init__(
        self, transport: Transport, *, whole: Callable[[], str] | None = None, told: FileVersion | None = None
    ) -> None:
        self._transport, self._whole, self._told = transport, whole, told
        self._held: FileVersion | None = None
        self._begin()

    def _begin(self) -> None:
        self._local: LocalRanges | None = None
        self._sample = (0, b"")  # of what came first: another version would have other bytes there
        self._edges: dict[int, bytes] = {}  # the bytes before a place, of a file without a tag
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Create the locks anew after a fork: threads that held them belong to the parent process."""
        self._lock, self._whole_lock = threading.Lock(), threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_transport", "_whole", "_told", "_held")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    @property
    def name(self) -> str:
        return self._transport.name

    def version(self) -> FileVersion:
        if self._told is not None:
            return self._told
        if self._held is not None:
            return self._held
        try:
            return self._settled(Underway(self.name, 1, self._transport.stat).wait())
        except NoRangesError as error:
            return self._go_whole(error)

    def hold(self, version: FileVersion) -> None:
        if self._told is not None:
            check_same(self.name, self._told, version)
        else:
            self._held = version

    def tail(self, count: int) -> Bytes:
        known = self._told or self._held
        if known is not None:
            start = max(0, known.size - count)
            return self.read([(start, known.size)])[0]
        if self._local is None:
            try:
                found = self._fetched([(-count, 0)])[0]
                assert self._held is not None
                self._sample = max(0, self._held.size - count), bytes(found[:WITNESS_BYTES])
                return found
            except NoRangesError as error:
                self._go_whole(error)
        assert self._local is not None
        return self._local.tail(count)

    def read(self, ranges: Sequence[Range]) -> list[Bytes]:
        known = self._told or self._held
        if known is not None:
            check_ranges(self.name, ranges, known.size)
        if self._local is None:
            try:
                return self._read(ranges)
            except NoRangesError as error:
                self._go_whole(error)
        assert self._local is not None
        return self._local.read(ranges)

    def close(self) -> None:
        self._transport.close()

    # -- fetching ------------------------------------------------------------------------------------------------------

    def _read(self, ranges: Sequence[Range]) -> list[Bytes]:
        plan = merged(ranges)
        parts = [part for each in plan for part in cut(each.start, each.stop)]
        version = self._told or self._held
        fetched = self._fetched(parts) if version is not None and version.tag else self._compared(parts)
        known = dict(zip(parts, fetched, strict=True))
        found: list[Bytes] = [b""] * len(ranges)
        for each in plan:
            data = _joined([known[part] for part in cut(each.start, each.stop)])
            for number, start, stop in each.ranges:
                found[number] = data if len(data) == stop - start else _slice(data, each, start, stop)
        return found

    def _compared(self, parts: list[Range]) -> list[Bytes]:
        """Return each part of a file whose server gives no version; parts next to known bytes are read with some of them."""
        with self._lock:
            before = [self._edges.get(start, b"") for start, _ in parts]
        wanted = [(start - len(known), stop) for known, (start, stop) in zip(before, parts, strict=True)]
        found: list[Bytes] = []
        for known, data in zip(before, self._fetched(wanted), strict=True):
            if data[: len(known)] != known:
                raise FileChangedError(self.name)
            found.append(memoryview(data)[len(known) :])
        with self._lock:
            for (_, stop), data in zip(parts, found, strict=True):
                self._edges[stop] = bytes(data[-WITNESS_BYTES:])
                if len(self._edges) > _MOST_EDGES:
                    self._edges.pop(next(iter(self._edges)))
        return found

    def _fetched(self, parts: list[Range]) -> list[Bytes]:
        """Return the bytes of each part, fetched in parallel; the first failure cancels the others."""
        groups = [parts] if self._transport.takes_many else [[part] for part in parts]
        begun: list[Underway[tuple[list[Bytes], FileVersion | None]]] = []
        found: list[Bytes] = []
        kept_as = self._told or self._held
        try:
            for group in groups:  # one by one: those that are begun are called off where one fails
                begun += [open_range(self._transport, group, version=self._held, kept_as=kept_as)] if group else []
            for each in begun:
                data, version = each.wait()
                if version is not None:
                    self._settled(version)
                found += data
            if found and not self._sample[1] and parts[0][0] >= 0:
                self._sample = parts[0][0], bytes(found[0][:WITNESS_BYTES])
        except BaseException:
            for each in begun:
                each.drop()
            raise
        return found

    def _settled(self, found: FileVersion) -> FileVersion:
        """Check the version of a response, and store it."""
        with self._lock:
            if self._told is not None and self._told.size != found.size:
                raise FileChangedError(
                    self.name, f"it should have {self._told.size:,} bytes, but its server has {found.size:,}"
                )
            self._held = check_same(self.name, self._held, found)
            return self._held

    def _go_whole(self, error: NoRangesError) -> FileVersion:
        """Fetch the whole file, and read it locally from now on; return its version."""
        if self._whole is None:
            advice = "Download it, and pass the path"
            raise DownloadError(self.name, "its server does not support ranges", advice=advice) from error
        with self._whole_lock:
            if self._local is None:
                local = LocalRanges(self._whole(), name=self.name)
                size = local.version().size
                known = self._told or self._held or error.version
                if known is not None and known.size != size:
                    reason = f"it changed while it was read: it had {known.size:,} bytes, and now has {size:,}"
                    raise FileChangedError(self.name, reason)
                start, sample = self._sample
                if bytes(local.read([(start, start + len(sample))])[0]) != sample:
                    raise FileChangedError(self.name)
                self._held = self._held or error.version or FileVersion(size, "")
                self._local = local
            return self._held or FileVersion(0, "")


def _joined(parts: list[Bytes]) -> Bytes:
    return parts[0] if len(parts) == 1 else memoryview(b"".join(parts))


def _slice(data: Bytes, merged: Merged, start: int, stop: int) -> Bytes:
    return memoryview(data)[start - merged.start : stop - merged.start]


# `ReadAhead`: data that will be read soon is fetched by threads, in the order of its use and within a budget of bytes.


class ReadAhead(CallWindow[T]):
    """Values that are fetched by threads before they are taken; used by one thread.

    A forked process starts with the same list, and fetches all of it again.

    Args:
        budget_bytes: limit of the bytes fetched or being fetched and not yet taken; one item is always allowed. Default: the
        setting `stream_memory_bytes`.
        threads: number of items fetched at the same time; default: the setting `stream_threads`.

    >>> ahead = ReadAhead(1_000, threads=2)
    >>> ahead.want((n, 100, lambda n=n: n * n) for n in range(5))
    >>> [ahead.take(n) for n in (0, 1, 4)]
    [0, 1, 16]
    >>> ahead.close()
    """

    def __init__(self, budget_bytes: int | None = None, threads: int | None = None) -> None:
        self._most = most = settings().stream_threads if threads is None else threads
        self._pool = pool = Daemons("datasets_core-ahead", lambda: most)
        budget = settings().stream_memory_bytes if budget_bytes is None else budget_bytes
        super().__init__(lambda fetch, _: pool.submit(fetch), budget)
        weakref.finalize(self, pool.close)
        renewed_after_fork(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadAhead, (self._budget, self._most)

    def close(self) -> None:
        """Drop everything; the threads end after their current fetch. The object can be used again."""
        super().close()
        self._pool.close()


# `Pieces`: a file in order, in pieces that grow while reading continues; the next ones are prefetched.


FIRST_BYTES = 1 << 16
MOST_BYTES = 1 << 22
_PROBE_BYTES = 1 << 12  # a header of a tar, and a small member with the header behind it
_SMALL_BYTES = 1 << 18  # of a piece, as long as it may be that only the head of the file is requested
_HEAD_BYTES = 5 << 18
_LONG_BYTES = 1 << 25  # who has read so many in order reads on
_MOST_AHEAD = 3  # pieces, for whom: over a long way one at a time is slow
_MOST_SHARE = 4  # a piece has this part at most of what was read before it


class Pieces:
    """Sequential reading of a file in pieces.

    Args:
        transport: the transport.
        version: version of the file.
        first: bytes that were already fetched.
        start: their position.
        quiet: position before which nothing is prefetched, since reading may stop there.

    Attributes:
        ends: ascending positions that no piece crosses: other content follows there.
        num_asked: bytes that were requested.
    """

    def __init__(
        self, transport: Transport, version: FileVersion, first: Bytes = b"", start: int = 0, *, quiet: int = 0
    ) -> None:
        self._transport, self.version, self._quiet = transport, version, quiet
        self.ends: list[int] = []
        self._most_guessed, self.num_asked = 1, len(first)
        self._start, self._data = start, memoryview(first)
        self._begun = start  # where reading in order began
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Reset after a fork: the threads belong to the parent process."""
        self._ahead: deque[tuple[int, int, bytes, Underway[tuple[list[Bytes], FileVersion | None]]]] = deque()

    def at(self, place: int, count: int = 0) -> memoryview:
        """Return the buffered bytes from a position on, or the next ones; empty at the end of the file.

        Args:
            place: the position.
            count: minimum size of the request.
        """
        if place >= self.version.size:
            return memoryview(b"")
        if not self._start <= place < self.stop:
            self._start, self._data = self._next(place, count)
        self._look_ahead(place)
        return self._data[place - self._start :]

    def has(self, place: int) -> bool:
        """Return True if the bytes at a position are buffered or being fetched."""
        return self._start <= place < self.stop or any(start <= place < stop for start, stop, _, _ in self._ahead)

    def skip_to(self, place: int, jump: int) -> None:
        """Request only a few bytes at a position, and meanwhile those at the positions that are likely read next.

        Args:
            place: the position.
            jump: distance from each position to the next one; 0 if it is not known.
        """
        if self._ahead and self._ahead[0][0] != place:
            self.drop()
        self._begun = place
        self._most_guessed = min(2 * self._most_guessed, settings().stream_threads) if jump else 1
        start = self._ahead[-1][0] + jump if self._ahead else place
        while len(self._ahead) < self._most_guessed and start < self.version.size:
            self._ask(start, _PROBE_BYTES)
            start += jump

    def drop(self, *, before: int | None = None) -> None:
        """Cancel the fetches in progress, or those of them that end before a position."""
        while self._ahead and (before is None or self._ahead[0][1] <= before):
            self._ahead.popleft()[3].drop()

    @property
    def stop(self) -> int:
        """The position after the buffered bytes."""
        return self._start + len(self._data)

    def _next(self, place: int, count: int) -> tuple[int, memoryview]:
        """Return the piece that contains a position, and its start."""
        self.drop(before=place)
        if not self._ahead or place < self._ahead[0][0]:
            self.drop()
            if place != self.stop:
                self._begun = place
            self._ask(place, max(count, self._piece_bytes(place)))
        start, _, witness, underway = self._ahead[0]
        try:
            (data,), _ = underway.wait()
        finally:
            if self._ahead and self._ahead[0][3] is underway:
                self._ahead.popleft()
        if data[: len(witness)] != witness:
            raise FileChangedError(self._transport.name)
        return start, memoryview(data)[len(witness) :]

    def _look_ahead(self, place: int) -> None:
        """Prefetch the next pieces if reading continues."""
        is_long = place - self._begun >= _LONG_BYTES
        is_going_on = is_long or (place >= self._quiet and place - self._start >= len(self._data) // 2)
        while is_going_on:
            start = self._ahead[-1][1] if self._ahead else self.stop
            most = _MOST_AHEAD if is_long and self.version.tag else 1
            if len(self._ahead) >= most or start >= self.version.size or start in self.ends:
                break
            self._ask(start, self._piece_bytes(start))

    def _piece_bytes(self, start: int) -> int:
        """Return the size of the piece at a position, which grows with the distance read in order."""
        before = start - self._begun
        if before < _SMALL_BYTES:
            return max(FIRST_BYTES, _SMALL_BYTES - before) if before else FIRST_BYTES
        return _SMALL_BYTES if before < _HEAD_BYTES else max(before // _MOST_SHARE, 2 * _SMALL_BYTES)

    def _ask(self, start: int, count: int) -> None:
        stop = min(self.version.size, start + min(count, MOST_BYTES))
        number = bisect_right(self.ends, start)
        stop = min(stop, self.ends[number]) if number < len(self.ends) else stop
        witness = bytes(self._data[-WITNESS_BYTES:]) if not self.version.tag and start == self.stop else b""
        asked = [(start - len(witness), stop)]
        self.num_asked += stop - start
        underway = open_range(self._transport, asked, version=self.version, kept_as=self.version)
        self._ahead.append((start, stop, witness, underway))

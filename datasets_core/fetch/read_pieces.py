"""`Pieces`: a file in order, in pieces that grow while reading goes on, with the next ones on their way."""

from __future__ import annotations

from collections import deque

from datasets_core.errors import FileChangedError
from datasets_core.fetch.after_fork import renewed_after_fork
from datasets_core.fetch.daemons import SHARED, Job, Patience
from datasets_core.fetch.range_cache import RangeCache
from datasets_core.fetch.range_file import WITNESS_BYTES, Bytes, FileVersion
from datasets_core.fetch.transports import Transport

FIRST_BYTES = 1 << 16
MOST_BYTES = 1 << 22
_SMALL_BYTES = 1 << 18  # of a piece, as long as it may be that only the head of the file is wanted
_HEAD_BYTES = 5 << 18
_LONG_BYTES = 1 << 25  # who has read so many in order reads on
_MOST_AHEAD = 3  # pieces, for whom: over a long way one at a time is slow
_MOST_SHARE = 4  # a piece has this part at most of what was read before it


class Pieces:
    """See the module.

    Args:
        transport: the way to the file.
        version: of the file.
        first: bytes that came already.
        start: their place.
    """

    def __init__(self, transport: Transport, version: FileVersion, first: Bytes = b"", start: int = 0) -> None:
        self._transport, self.version = transport, version
        self._start, self._data = start, memoryview(first)
        self._begun = start  # where reading in order began
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have nothing on its way: the threads are those of the process that this one was forked from."""
        self._ahead: deque[tuple[int, int, Patience, Job[Bytes]]] = deque()

    def at(self, place: int, count: int = 0) -> memoryview:
        """The bytes from a place on that are here, or come next; none at the end of the file.

        Args:
            place: the place.
            count: how many are wanted at once, which are asked for at once.
        """
        if place >= self.version.size:
            return memoryview(b"")
        if not self._start <= place < self._stop:
            self._start, self._data = self._next(place, count)
        self._look_ahead(place)
        return self._data[place - self._start :]

    def has(self, place: int) -> bool:
        """Whether the bytes at a place are here, or on their way."""
        return self._start <= place < self._stop or any(start <= place < stop for start, stop, _, _ in self._ahead)

    def drop(self, *, before: int | None = None) -> None:
        """Want nothing more of what is on its way, or of what of that ends before a place."""
        while self._ahead and (before is None or self._ahead[0][1] <= before):
            _, _, patience, job = self._ahead.popleft()
            if not job.done.is_set():
                patience.end()
                SHARED.leave(job)

    @property
    def _stop(self) -> int:
        return self._start + len(self._data)

    def _next(self, place: int, count: int) -> tuple[int, memoryview]:
        """The piece with a place, and where it begins."""
        self.drop(before=place)
        if not self._ahead or place < self._ahead[0][0]:
            self.drop()
            if place != self._stop:
                self._begun = place
            self._ask(place, max(count, self._piece_bytes(place)))
        start, _, patience, job = self._ahead[0]
        try:
            return start, memoryview(patience.waited_for(job, SHARED))
        finally:
            if self._ahead and self._ahead[0][3] is job:
                self._ahead.popleft()

    def _look_ahead(self, place: int) -> None:
        """Ask for the next pieces, where reading goes on."""
        is_long = place - self._begun >= _LONG_BYTES
        is_going_on = is_long or place - self._start >= len(self._data) // 2
        while is_going_on:
            start = self._ahead[-1][1] if self._ahead else self._stop
            most = _MOST_AHEAD if is_long and self.version.tag else 1
            if len(self._ahead) >= most or start >= self.version.size:
                break
            self._ask(start, self._piece_bytes(start))

    def _piece_bytes(self, start: int) -> int:
        """How long the piece is that begins at a place: the longer, the longer reading has gone on."""
        before = start - self._begun
        if before < _SMALL_BYTES:
            return max(FIRST_BYTES, _SMALL_BYTES - before) if before else FIRST_BYTES
        return _SMALL_BYTES if before < _HEAD_BYTES else max(before // _MOST_SHARE, 2 * _SMALL_BYTES)

    def _ask(self, start: int, count: int) -> None:
        stop = min(self.version.size, start + min(max(count, FIRST_BYTES), MOST_BYTES))
        witness = self._data[-WITNESS_BYTES:] if not self.version.tag and start == self._stop else memoryview(b"")
        patience = Patience(self._transport.name, stop - start)

        def work() -> Bytes:
            cache = RangeCache.of_settings() if self.version.tag else None
            key = RangeCache.key(self._transport.url, self.version.tag, start, stop)
            if cache is not None and (kept := cache.get(key, stop - start)) is not None:
                return kept
            (data,), _ = self._transport.get_ranges([(start - len(witness), stop)], self.version, patience)
            if data[: len(witness)] != witness:
                raise FileChangedError(self._transport.name)
            if cache is not None:
                cache.put(key, data)
            return memoryview(data)[len(witness) :]

        self._ahead.append((start, stop, patience, SHARED.submit(work)))

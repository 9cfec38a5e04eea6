"""`Sparse`: a file elsewhere, of which some parts are at hand, and others are fetched when they are read."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from datasets_core.fetch.range_file import RangeFile

from ._window import Sought

_MOST_STRETCHES = 4096


class Sparse(Sought):
    """The bytes of a file in which one may seek.

    Args:
        ranges: the file.
        stretch: what is not at hand is fetched in parts of so many bytes; 0 fetches just what is read.
        ends: no such part goes on behind one of these places, where that which is read ends before it.
    """

    def __init__(self, ranges: RangeFile, stretch: int = 0, ends: Sequence[int] = ()) -> None:
        self._ranges, self._stretch, self._ends = ranges, stretch, sorted(ends)
        self._size = ranges.version().size
        self._held: list[tuple[int, memoryview]] = []

    @contextmanager
    def holding(self, parts: Sequence[tuple[int, Any]]) -> Iterator[None]:
        """Have some parts at hand: pairs of their place and their bytes."""
        given = [(start, memoryview(data)) for start, data in parts]
        self._held = [*given, *self._held]
        try:
            yield
        finally:
            ours = {id(view) for _, view in given}
            self._held = [each for each in self._held if id(each[1]) not in ours]

    def read(self, size: int = -1, /) -> Any:
        """The next bytes, which are not copied where they are at hand."""
        stop = self._size if size < 0 else min(self._size, self._at + size)
        start, self._at = self._at, max(self._at, stop)
        found = self._part(start, stop)
        if found is not None or start >= stop:
            return found or b""
        if not self._stretch:
            return self._ranges.read([(start, stop)])[0]
        first, held = next(((at, view) for at, view in self._held if at <= start < at + len(view)), (start, memoryview(b"")))
        begin = first + len(held)  # what comes before is at hand
        data = memoryview(self._ranges.read([(begin, self._end(begin, stop))])[0])
        self._keep(begin, data)
        return b"".join([held[start - first :], data[: stop - begin]]) if begin > start else data[: stop - begin]

    def _end(self, begin: int, stop: int) -> int:
        """Where the part that is fetched from `begin` on ends."""
        number = bisect_left(self._ends, stop)
        last = self._ends[number] if number < len(self._ends) else self._size
        return max(stop, min(last, begin + self._stretch))

    def _part(self, start: int, stop: int) -> memoryview | None:
        for first, view in self._held:
            if first <= start and stop <= first + len(view):
                return view[start - first : stop - first]
        return None

    def _keep(self, start: int, data: memoryview) -> None:
        """Have a stretch in place of the one that it goes on from."""
        if start not in self._ends:
            self._held = [each for each in self._held if each[0] + len(each[1]) != start]
        self._held = self._held[-_MOST_STRETCHES:]
        self._held.append((start, data))

    def readinto(self, buffer: Any) -> int:
        """See `io.RawIOBase.readinto`."""
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

"""`SharedReading`: what several readers want of the same rows is read once, while they stand near one another."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Generator, Hashable
from typing import Any, NamedTuple, TypeAlias

_MOST_ROWS, _MOST_BYTES = 1 << 17, 64 << 20


class Piece(NamedTuple):
    """Some rows.

    Attributes:
        start: the number of the first one.
        stop: the number behind the last one.
        held: the rows.
        behind: what it takes to read on behind them.
        num_bytes: that they take in memory.
    """

    start: int
    stop: int
    held: Any
    behind: Any
    num_bytes: int = 0


Opened: TypeAlias = Callable[[int, Any], Generator[Piece]]
"""Reads from a row on, by what it takes to begin there."""


class SharedReading:
    """Reads rows for readers that go through them side by side; of one walk, and of one process.

    Pieces are kept until the last reader has passed them, as far as memory allows: a reader that is left behind further than
    that reads for itself.
    """

    def __init__(self) -> None:
        self._readings: dict[Hashable, _Reading] = {}
        self._parts: dict[int, SharedReading] = {}

    def expect(self, key: Hashable, reader: int, row: int, begin: Any) -> None:
        """A reader will read these rows, from this row on."""
        self._reading(key).expect(reader, row, begin)

    def pieces(self, key: Hashable, reader: int, row: int, begin: Any, opened: Opened) -> Generator[Piece]:
        """The rows from this row on; the first piece may hold some before it.

        Args:
            key: tells rows from others.
            reader: tells those who read the same rows from one another.
            row: the first that is wanted.
            begin: what it takes to begin there.
            opened: reads.
        """
        reading = self._reading(key)
        reading.expect(reader, row, begin)
        try:
            while (piece := reading.at(row, opened)) is not None:
                yield piece
                row, begin = piece.stop, piece.behind
                reading.passed(reader, row)
            if reading.has_ended(row):
                return
        finally:
            reading.leave(reader)
        yield from opened(row, begin)

    def part(self, number: int) -> SharedReading:
        """What is read of one of several rows that are read as one: the same for all readers that ask for it."""
        return self._parts.setdefault(number, SharedReading())

    def close(self) -> None:
        """End what was begun."""
        for part in self._parts.values():
            part.close()
        for reading in self._readings.values():
            reading.close()
        self._readings.clear()

    def _reading(self, key: Hashable) -> _Reading:
        return self._readings.setdefault(key, _Reading())


class _Reading:
    """The rows of one key."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}
        self._first: tuple[int, Any] | None = None
        self._pieces: deque[Piece] = deque()
        self._source: Generator[Piece] | None = None
        self._stop, self._ended = 0, False
        self._failure: Exception | None = None
        self._lock = threading.Lock()

    def expect(self, reader: int, row: int, begin: Any) -> None:
        with self._lock:
            self._rows[reader] = row
            if self._first is None or row < self._first[0]:
                self._first = row, begin

    def passed(self, reader: int, row: int) -> None:
        with self._lock:
            self._rows[reader] = row

    def leave(self, reader: int) -> None:
        with self._lock:
            self._rows.pop(reader, None)

    def has_ended(self, row: int) -> bool:
        return self._ended and row >= self._stop

    def at(self, row: int, opened: Opened) -> Piece | None:
        """The piece with this row; None where it is no longer there, or there are no more."""
        with self._lock:
            if self._source is None:
                assert self._first is not None
                self._stop = self._first[0]
                self._source = opened(*self._first)
            if self._failure is not None and row >= self._stop:
                raise self._failure
            while row >= self._stop and not self._ended:
                try:
                    piece = next(self._source, None)
                except Exception as error:
                    self._failure = error
                    raise
                if piece is None:
                    self._ended = True
                else:
                    self._stop = piece.stop
                    self._pieces.append(piece)
                    self._drop(piece)
            return next((piece for piece in self._pieces if piece.start <= row < piece.stop), None)

    def _drop(self, newest: Piece) -> None:
        """Forget what all have passed, and what is too much."""
        least = min(self._rows.values(), default=self._stop)
        pieces = self._pieces
        while pieces[0] is not newest and (
            pieces[0].stop <= least
            or self._stop - pieces[0].start > _MOST_ROWS
            or sum(piece.num_bytes for piece in pieces) > _MOST_BYTES
        ):
            pieces.popleft()

    def close(self) -> None:
        if self._source is not None:
            self._source.close()

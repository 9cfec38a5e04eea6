"""Readers of the same rows, side by side and far apart."""

from collections.abc import Generator
from typing import Any

import pytest

from datasets_core.stream.nodes import ordered
from datasets_core.stream.nodes.ordered import Piece, SharedCursor


class Rows:
    """Reads numbers in pieces of five; counts how often it begins, and how many it makes."""

    def __init__(self, count: int = 100, fails_at: int | None = None) -> None:
        self.count, self.fails_at = count, fails_at
        self.begun: list[int] = []
        self.made = self.closed = 0

    def opened(self, row: int, begin: Any) -> Generator[Piece]:
        self.begun.append(row)
        try:
            for start in range(row, self.count, 5):
                if self.fails_at is not None and start >= self.fails_at:
                    raise ValueError("no more")
                stop = min(start + 5, self.count)
                self.made += stop - start
                yield Piece(start, stop, list(range(start, stop)), stop, 100)
        finally:
            self.closed += 1


def _numbers(pieces: Generator[Piece], row: int = 0) -> list[int]:
    return [number for piece in pieces for number in piece.held if number >= row]


def test_readers_side_by_side_read_once() -> None:
    rows, reading = Rows(), SharedCursor()
    readers = [reading.pieces("a", number, 0, 0, rows.opened) for number in range(4)]

    for pieces in zip(*readers, strict=True):
        assert len({piece.start for piece in pieces}) == 1

    assert rows.begun == [0]
    assert rows.made == 100


def test_reading_begins_at_the_first_row_that_somebody_wants() -> None:
    rows, reading = Rows(), SharedCursor()
    for number, row in enumerate((7, 3, 9)):
        reading.expect("a", number, row, row)

    found = [_numbers(reading.pieces("a", number, row, row, rows.opened), row) for number, row in enumerate((7, 3, 9))]

    assert [each[0] for each in found] == [7, 3, 9]
    assert all(each == list(range(each[0], 100)) for each in found)
    assert rows.begun == [3]


def test_a_reader_that_is_left_far_behind_reads_for_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered, "_SHARED_ROWS", 20)
    rows, reading = Rows(), SharedCursor()
    slow = reading.pieces("a", 0, 0, 0, rows.opened)
    first = next(slow).held

    assert _numbers(reading.pieces("a", 1, 0, 0, rows.opened)) == list(range(100))
    assert first + _numbers(slow) == list(range(100))
    assert rows.begun == [0, 5]


def test_what_all_have_passed_is_forgotten() -> None:
    rows, reading = Rows(10_000), SharedCursor()
    readers = [reading.pieces("a", number, 0, 0, rows.opened) for number in range(2)]

    for _ in zip(*readers, strict=True):
        assert len(reading._reading("a")._pieces) <= 2


def test_a_failure_is_one_for_all_who_come_to_it() -> None:
    rows, reading = Rows(fails_at=10), SharedCursor()
    for number in range(2):
        pieces = reading.pieces("a", number, 0, 0, rows.opened)
        assert [next(pieces).start, next(pieces).start] == [0, 5]
        with pytest.raises(ValueError, match="no more"):
            next(pieces)


def test_closing_ends_what_reads() -> None:
    rows, reading = Rows(), SharedCursor()
    next(reading.pieces("a", 0, 0, 0, rows.opened))
    reading.close()
    assert rows.closed == 1

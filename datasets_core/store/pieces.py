"""Pieces: runs of rows of the record batches of shards, as arrays, and how row ranges become pieces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Ints: TypeAlias = "npt.NDArray[np.int64]"
Runs: TypeAlias = Sequence[tuple[int, int]]


class BatchRows(Sequence[int]):
    """The number of rows of each batch of a shard, run-length coded as a manifest has it.

    Args:
        runs: (rows of a batch, how many such batches in a row), in order.

    >>> rows = BatchRows([(1000, 2), (7, 1)])
    >>> list(rows), rows[-1], len(rows)
    ([1000, 1000, 7], 7, 3)
    """

    __slots__ = ("runs",)

    def __init__(self, runs: Runs) -> None:
        self.runs = tuple(runs)

    def __len__(self) -> int:
        return sum(count for _, count in self.runs)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return list(self)[index]
        left = index if index >= 0 else index + len(self)
        if left >= 0:
            for rows, count in self.runs:
                if left < count:
                    return rows
                left -= count
        raise IndexError(f"Batch {index} does not exist: there are {len(self)}.")

    def __iter__(self) -> Iterator[int]:
        for rows, count in self.runs:
            for _ in range(count):
                yield rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(self.runs)

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchRows, (self.runs,)


def counts_of(rows: Sequence[int]) -> Ints:
    """The number of rows of each batch as an array.

    >>> counts_of(BatchRows([(3, 2), (1, 1)]))
    array([3, 3, 1])
    """
    if not isinstance(rows, BatchRows):
        return np.array(rows, dtype=np.int64)
    coded = np.array(rows.runs, dtype=np.int64).reshape(-1, 2)
    return coded[:, 0].repeat(coded[:, 1])


def pieces_of(ranges: Iterable[tuple[int, int, int]], rows: Sequence[Sequence[int]]) -> Ints:
    """The pieces of row ranges of shards, in their order: one row for each, of shard, batch, first row in it, number of rows.

    All ranges are computed at once: a thousand shards of a hundred batches take some milliseconds.

    Args:
        ranges: (shard, first row, row behind the last); all of them exist.
        rows: of each batch, for each shard.

    >>> pieces_of([(0, 5, 8), (1, 0, 2)], [[4, 4], BatchRows([(2, 1)])]).tolist()
    [[0, 1, 1, 3], [1, 0, 0, 2]]
    """
    given = np.array([found for found in ranges if found[1] < found[2]], dtype=np.int64).reshape(-1, 3)
    shards, starts, stops = given.T
    coded = [_runs(rows[shard]) for shard in shards.tolist()]
    flat = np.array([run for runs in coded for run in runs], dtype=np.int64).reshape(-1, 2)
    counts = flat[:, 0].repeat(flat[:, 1])  # rows of every batch of every range
    run_ends = np.cumsum(np.fromiter(map(len, coded), np.int64, len(coded)))
    behind = np.concatenate([[0], np.cumsum(flat[:, 1])])[np.concatenate([[0], run_ends])]  # the batches before each range
    num_batches = np.diff(behind)
    ends = np.cumsum(counts)
    before = np.concatenate([[0], ends])[behind[:-1]]  # the rows before each range
    pieces = np.empty((len(counts), 4), dtype=np.int64)
    pieces[:, 0] = shards.repeat(num_batches)
    pieces[:, 1] = np.arange(len(counts)) - behind[:-1].repeat(num_batches)
    first = ends - counts - (before + starts).repeat(num_batches)  # counted from the beginning of the range
    np.minimum(first + counts, (stops - starts).repeat(num_batches), out=counts)
    pieces[:, 2] = np.maximum(-first, 0)
    np.maximum(first, 0, out=first)
    pieces[:, 3] = counts - first
    kept = pieces[:, 3] > 0
    return pieces if kept.all() else pieces[kept]


def _runs(rows: Sequence[int]) -> Runs:
    return rows.runs if isinstance(rows, BatchRows) else [(int(count), 1) for count in rows]


def whole_ranges(rows: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """All rows of every shard, as ranges."""
    return [(shard, 0, sum(count * times for count, times in _runs(each))) for shard, each in enumerate(rows)]


def cut(pieces: Ints, start: int, stop: int) -> Ints:
    """The pieces of the rows from `start` to `stop`, both within the rows that there are.

    >>> cut(np.array([[0, 0, 0, 4], [0, 1, 0, 4]]), 3, 6).tolist()
    [[0, 0, 3, 1], [0, 1, 0, 2]]
    """
    if start >= stop:
        return pieces[:0]
    ends = pieces[:, 3].cumsum()
    if start == 0 and stop == int(ends[-1]):
        return pieces
    first, last = int(ends.searchsorted(start, side="right")), int(ends.searchsorted(stop, side="left"))
    found = pieces[first : last + 1].copy()
    found[-1, 3] -= int(ends[last]) - stop
    skipped = start - (int(ends[first]) - int(pieces[first, 3]))
    found[0, 2] += skipped
    found[0, 3] -= skipped
    return found


def stacked(pieces: Sequence[Ints]) -> Ints:
    """Several lists of pieces as one."""
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate(pieces) if pieces else np.zeros((0, 4), dtype=np.int64)

"""`ShardLengths`: how many rows the shards of one split hold, and where among them a row stands."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate


class ShardLengths(tuple[int, ...]):
    """Rows of each shard of a split, in order; the running totals are computed once, and a row is found by bisection.

    >>> lengths = ShardLengths([4, 0, 6])
    >>> lengths.total, lengths.place(4), list(lengths.pieces(3, 6))
    (10, (2, 0), [(0, 3, 4), (2, 0, 2)])
    """

    @classmethod
    def of(cls, lengths: Iterable[int]) -> ShardLengths:
        """`lengths`, taken as they are where they have their totals already."""
        return lengths if isinstance(lengths, cls) else cls(lengths)

    @cached_property
    def borders(self) -> list[int]:
        """The first row of each shard, and the row behind the last."""
        return list(accumulate(self, initial=0))

    @property
    def total(self) -> int:
        """Rows of all shards."""
        return self.borders[-1]

    def place(self, row: int) -> tuple[int, int]:
        """The shard of a row from 0 to `total`, and the row's number in it."""
        shard = bisect_right(self.borders, row) - 1
        return shard, row - self.borders[shard]

    def pieces(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """Rows `first` to `last` as shard, first row in it and the row behind the last; shards without rows are left out."""
        borders = self.borders
        shard = bisect_right(borders, first) - 1
        while first < last:
            begin, end = borders[shard], borders[shard + 1]
            if first < end:
                stop = min(last, end)
                yield shard, first - begin, stop - begin
                first = stop
            shard += 1

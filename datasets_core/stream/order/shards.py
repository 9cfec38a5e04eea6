"""Number of logical shards (lanes) of a stream, `LANES`, and the order of their rows, `ShardPositions`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from datasets_core.stream.order.layers import ENDLESS, Ints, OrderLayer, even_run

LANES = 48
"""Default number of logical shards (lanes) of a stream; many numbers of ranks divide it."""
ENDS = ("keep", "drop", "pad")
"""Handling of logical shards that are longer than others."""


@dataclass(frozen=True)
class ShardPositions(OrderLayer):
    """Some logical shards (lanes) of an order; each is a run of its rows, and they yield one row each, round after round.

    Rows come by their number in their lane, and rows of one number by their lanes.  Lanes that are behind, since another
    reader read fewer of their rows, catch up first.  A lane that has ended is passed over.

    Attributes:
        own: the lanes read, ascending.
        starts: for each the place of its first row in the order.
        lengths: for each its number of rows there.
        limits: for each the number of rows it yields: more than its length if rows are repeated, or pad it.
        given: for each the number of rows it yielded before.
        period: number of rows of the order, if it is repeated: each round begins that many positions after the one before.
        rounds: number of rounds; further rows are those of the last round again.
    """

    own: tuple[int, ...]
    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    limits: tuple[int, ...]
    given: tuple[int, ...]
    period: int = 0
    rounds: int | None = 1
    mixes = True

    @classmethod
    def of(cls, size: int, shards: int, own: tuple[int, ...], ends: str = "keep", times: int | None = 1) -> Self:
        """Return the lanes of an order.

        Args:
            size: number of rows.
            shards: number of lanes.
            own: the lanes read.
            ends: one of `ENDS`: lanes of different length keep all rows, drop the last one, or repeat rows up to the longest.
            times: how often the rows are repeated; None: endlessly.

        >>> ShardPositions.of(7, 3, (0, 1, 2)).below(np.arange(7), 0).tolist()
        [0, 3, 5, 1, 4, 6, 2]
        """
        runs = [even_run(size, shards, shard) for shard in own]
        if ends == "pad" and 0 < size < shards:  # a lane without rows repeats the row of another
            runs = [range(shard % size, shard % size + 1) for shard in own]
        lengths = tuple(map(len, runs))
        most = ENDLESS // (4 * shards)
        rounds = [most // max(1, length) if times is None else min(times, most // max(1, length)) for length in lengths]
        limits = tuple(length * each for length, each in zip(lengths, rounds, strict=True))
        if ends != "keep":
            even = (size // shards if ends == "drop" else -(-size // shards)) * (times or 0)
            if times is not None:
                limits = tuple(min(most, even) if length else 0 for length in lengths)
        starts = tuple(run.start for run in runs)
        return cls(own, starts, lengths, limits, (0,) * len(own), size, times)

    def behind(self, given: tuple[int, ...]) -> Self:
        """Return the rows that remain after each lane yielded the number in `given`."""
        return replace(self, given=tuple(map(min, given, self.limits)))

    def alone(self, shard: int) -> Self:
        """Return the rows of one lane."""
        number = self.own.index(shard)
        names = "own", "starts", "lengths", "limits", "given"
        kept: dict[str, Any] = {name: (getattr(self, name)[number],) for name in names}
        return replace(self, **kept)

    @property
    def num_rows(self) -> int:
        """See `OrderLayer.num_rows`."""
        return sum(self.limits) - sum(self.given)

    def below(self, places: Ints, epoch: int) -> Ints:
        """See `OrderLayer.below`."""
        rounds, which = self._turns(places)
        starts, lengths = np.array(self.starts, np.int64), np.array(self.lengths, np.int64)[which]
        turns, rows = rounds // lengths, rounds % lengths
        if self.rounds is not None:
            turns = np.minimum(turns, self.rounds - 1)
        found: Ints = starts[which] + rows + turns * np.int64(self.period)
        return found

    def given_at(self, place: int) -> list[int]:
        """Return the number of rows of each lane among the first `place` rows.

        >>> ShardPositions.of(7, 3, (0, 1, 2)).given_at(4)
        [2, 1, 1]
        """
        if not place:
            return list(self.given)
        rounds, which = self._turns(np.array([place - 1], np.int64))
        row, last = int(rounds[0]), int(which[0])
        told = zip(self.given, self.limits, strict=True)
        return [min(max(given, row + (shard <= last)), limit) for shard, (given, limit) in enumerate(told)]

    def _turns(self, places: Ints) -> tuple[Ints, Ints]:
        """Return for each place the number of the row in its lane, and the index of the lane."""
        spans = self._spans
        span = np.searchsorted(spans.ends, places, side="right")
        rounds, turn = np.divmod(places - spans.begins[span], spans.sizes[span])
        return spans.rows[span] + rounds, spans.lanes[spans.offsets[span] + turn]

    @cached_property
    def _spans(self) -> _Spans:
        """The rounds in which the same lanes yield rows."""
        given, limits = (np.array(each, np.int64) for each in (self.given, self.limits))
        borders = np.unique(np.concatenate([given, limits]))
        begins, sizes, rows, shards = [], [], [], []
        place = 0
        for row, stop in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
            group = np.flatnonzero((given <= row) & (row < limits))
            if len(group):
                begins.append(place)
                sizes.append(len(group))
                rows.append(row)
                shards.append(group)
                place += (stop - row) * len(group)
        ends = [*begins[1:], place] if begins else []
        offsets = np.cumsum(np.array([0, *sizes], np.int64))[: len(sizes)]
        ends_, begins_, sizes_, rows_ = (np.array(each, np.int64) for each in (ends, begins, sizes, rows))
        return _Spans(ends_, begins_, sizes_, rows_, offsets, np.concatenate(shards) if shards else np.zeros(0, np.int64))


class _Spans(NamedTuple):
    """Spans of places with the same lanes: each span's end, begin, number of lanes, first row and first lane."""

    ends: Ints
    begins: Ints
    sizes: Ints
    rows: Ints
    offsets: Ints
    lanes: Ints

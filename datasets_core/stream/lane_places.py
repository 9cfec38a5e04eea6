"""`LanePlaces`: the rows of lanes in turn, by arithmetic: which row of an order somebody who reads some lanes gets when."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.stream.order import ENDLESS, even_run
from datasets_core.stream.permutation import Ints

LANES = 48
"""Into how many lanes a stream is cut, if nobody says otherwise: many numbers of ranks divide it."""
ENDS = ("keep", "drop", "pad")
"""What becomes of lanes that are longer than others."""


@dataclass(frozen=True)
class LanePlaces:
    """Some lanes of an order, each of which is a run of its rows: they give a row each, round after round.

    Rows come by their number in their lane, and those of one number by their lanes: lanes that stand behind others, since they
    were read by somebody else before, catch up first.  A lane that has ended is passed over.

    Attributes:
        own: the lanes that are read, ascending.
        starts: for each the place of its first row in the order.
        lengths: for each how many rows it has there.
        limits: for each how many rows it gives: more than it has where rows are repeated, or fill it up.
        given: for each how many it gave before.
        period: how many rows the order has, where it is repeated: the second round begins so many places behind the first.
        rounds: how often it is repeated; further rows are those of the last round again.
    """

    own: tuple[int, ...]
    starts: tuple[int, ...]
    lengths: tuple[int, ...]
    limits: tuple[int, ...]
    given: tuple[int, ...]
    period: int = 0
    rounds: int | None = 1

    @classmethod
    def of(cls, size: int, lanes: int, own: tuple[int, ...], ends: str = "keep", times: int | None = 1) -> Self:
        """The lanes of an order.

        Args:
            size: how many rows it has.
            lanes: into how many it is cut.
            own: those that are read.
            ends: one of `ENDS`: lanes that differ in length keep all rows, lose the last one, or repeat rows up to the longest.
            times: how often the rows are repeated; None: without end.

        >>> LanePlaces.of(7, 3, (0, 1, 2)).below(np.arange(7), 0).tolist()
        [0, 3, 5, 1, 4, 6, 2]
        """
        runs = [even_run(size, lanes, lane) for lane in own]
        if ends == "pad" and 0 < size < lanes:  # a lane without rows gives that of another
            runs = [range(lane % size, lane % size + 1) for lane in own]
        lengths = tuple(map(len, runs))
        most = ENDLESS // (4 * lanes)
        rounds = [most // max(1, length) if times is None else min(times, most // max(1, length)) for length in lengths]
        limits = tuple(length * each for length, each in zip(lengths, rounds, strict=True))
        if ends != "keep":
            even = (size // lanes if ends == "drop" else -(-size // lanes)) * (times or 0)
            if times is not None:
                limits = tuple(min(most, even) if length else 0 for length in lengths)
        starts = tuple(run.start for run in runs)
        return cls(own, starts, lengths, limits, (0,) * len(own), size, times)

    def behind(self, given: tuple[int, ...]) -> Self:
        """The rows that are left where each lane gave so many."""
        return replace(self, given=tuple(map(min, given, self.limits)))

    def alone(self, lane: int) -> Self:
        """The rows of one lane."""
        number = self.own.index(lane)
        names = "own", "starts", "lengths", "limits", "given"
        kept: dict[str, Any] = {name: (getattr(self, name)[number],) for name in names}
        return replace(self, **kept)

    @property
    def num_rows(self) -> int:
        """See `Layer.num_rows`."""
        return sum(self.limits) - sum(self.given)

    @property
    def mixes(self) -> bool:
        """See `Layer.mixes`."""
        return True

    def reach(self, count: int) -> int:
        """See `Layer.reach`."""
        return min(count, self.num_rows)

    def structure(self, blocks: RowBlocks, epoch: int) -> RowBlocks | None:
        """See `Layer.structure`."""
        return None

    def below(self, places: Ints, epoch: int) -> Ints:
        """See `Layer.below`."""
        rounds, which = self._turns(places)
        starts, lengths = np.array(self.starts, np.int64), np.array(self.lengths, np.int64)[which]
        turns, rows = rounds // lengths, rounds % lengths
        if self.rounds is not None:
            turns = np.minimum(turns, self.rounds - 1)
        found: Ints = starts[which] + rows + turns * np.int64(self.period)
        return found

    def given_at(self, place: int) -> list[int]:
        """How many rows each lane gave in all behind so many rows.

        >>> LanePlaces.of(7, 3, (0, 1, 2)).given_at(4)
        [2, 1, 1]
        """
        if not place:
            return list(self.given)
        rounds, which = self._turns(np.array([place - 1], np.int64))
        row, last = int(rounds[0]), int(which[0])
        told = zip(self.given, self.limits, strict=True)
        return [min(max(given, row + (lane <= last)), limit) for lane, (given, limit) in enumerate(told)]

    def _turns(self, places: Ints) -> tuple[Ints, Ints]:
        """For each place the number of the row in its lane, and which of the lanes that is."""
        spans = self._spans
        span = np.searchsorted(spans.ends, places, side="right")
        rounds, turn = np.divmod(places - spans.begins[span], spans.sizes[span])
        return spans.rows[span] + rounds, spans.lanes[spans.offsets[span] + turn]

    @cached_property
    def _spans(self) -> _Spans:
        """The rounds in which the same lanes give rows."""
        given, limits = (np.array(each, np.int64) for each in (self.given, self.limits))
        borders = np.unique(np.concatenate([given, limits]))
        begins, sizes, rows, lanes = [], [], [], []
        place = 0
        for row, stop in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
            group = np.flatnonzero((given <= row) & (row < limits))
            if len(group):
                begins.append(place)
                sizes.append(len(group))
                rows.append(row)
                lanes.append(group)
                place += (stop - row) * len(group)
        ends = [*begins[1:], place] if begins else []
        offsets = np.cumsum(np.array([0, *sizes], np.int64))[: len(sizes)]
        ends_, begins_, sizes_, rows_ = (np.array(each, np.int64) for each in (ends, begins, sizes, rows))
        return _Spans(ends_, begins_, sizes_, rows_, offsets, np.concatenate(lanes) if lanes else np.zeros(0, np.int64))


class _Spans(NamedTuple):
    """Spans of places in which the same lanes take turns: each span's end, begin, number of lanes, first row and first lane."""

    ends: Ints
    begins: Ints
    sizes: Ints
    rows: Ints
    offsets: Ints
    lanes: Ints

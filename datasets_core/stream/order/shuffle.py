"""`ShuffledBlocks`, `BlocksInTurn`: random order of rows in blocks, which reads few blocks at a time; `ShardPositions`.

The order is part of every saved state, and is the same wherever the rows are stored. Its formulas never change;
`tests/stream/test_shuffled_blocks.py` contains some of its numbers.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np

from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.stream.order.layers import (
    ENDLESS,
    Ints,
    OrderLayer,
    Permutation,
    Permutations,
    even_run,
    even_runs,
)

_BLOCKS_PER_WINDOW = 16  # that mix at least, where the memory of a window suffices
_ROW_BYTES = 1 << 10  # of rows of unknown size
_AT_ONCE = 1 << 16  # numbers are computed so many at a time, which takes less memory
_KNOWN_EPOCHS = 2  # orders that are kept: a repeated stream reads the end of one epoch and the beginning of the next


@dataclass(frozen=True, slots=True)
class _Turns:
    """Blocks in the order of an epoch.

    Attributes:
        numbers: numbers of the blocks.
        ends: the place after each block.
    """

    numbers: Ints
    ends: Ints

    @classmethod
    def of(cls, blocks: RowBlocks, seed: int, epoch: int) -> _Turns:
        """Return the order of an epoch."""
        count = len(blocks.rows)
        order = Permutation(count, "blocks", seed, epoch)
        numbers = np.empty(count, np.int64)
        for start in range(0, count, _AT_ONCE):
            stop = min(count, start + _AT_ONCE)
            numbers[start:stop] = order.at(np.arange(start, stop, dtype=np.int64))
        return cls(numbers, np.cumsum(blocks.rows[numbers]))

    def rows_at(self, places: Ints, blocks: RowBlocks) -> Ints:
        """Return the rows at these places, if the rows of each block keep their order."""
        which = np.searchsorted(self.ends, places, side="right")
        numbers = self.numbers[which]
        found: Ints = places - self.ends[which] + blocks.ends[numbers]
        return found


@dataclass(frozen=True, eq=False, slots=True)
class BlocksInTurn(OrderLayer):
    """The blocks below in a random order, each with its rows in their order.

    Args:
        blocks: the blocks of the rows below.
        seed: determines the order.

    >>> layer = BlocksInTurn(RowBlocks.of([2, 3, 1]), seed=1)
    >>> layer.below(np.arange(6), 0).tolist()
    [5, 0, 1, 2, 3, 4]
    """

    blocks: RowBlocks
    seed: int
    permutes = True
    _known: dict[int, _Turns] = field(default_factory=dict, repr=False)

    @property
    def num_rows(self) -> int:
        return self.blocks.num_rows

    def below(self, places: Ints, epoch: int) -> Ints:
        if not len(places):
            return places
        if epoch not in self._known:
            self._known.clear()
            self._known[epoch] = _Turns.of(self.blocks, self.seed, epoch)
        return self._known[epoch].rows_at(places, self.blocks)

    def structure(self, blocks: RowBlocks, epoch: int) -> RowBlocks | None:
        order = _Turns.of(self.blocks, self.seed, epoch).numbers
        return RowBlocks(blocks.rows[order], blocks.sizes[order], blocks.files[order], blocks.is_indexed)


@dataclass(frozen=True, slots=True)
class _Windows:
    """The order of an epoch.

    Attributes:
        turns: the blocks.
        begins: the places at which windows begin, and the place after the last; a block larger than a window counts as one
            window.
        numbers: the numbers of these windows, and one after them; a block that is cut into several windows has several numbers.
        orders: the permutations of the rows of the windows.
    """

    turns: _Turns
    begins: Ints
    numbers: Ints
    orders: Permutations

    def of(self, places: Ints) -> tuple[Ints, Ints, Ints]:
        """Return for each place the number of its window, the place where the window begins, and its number of rows."""
        which = np.searchsorted(self.begins, places, side="right") - 1
        number, first = self.numbers[which], self.begins[which]
        rows, parts = self.begins[which + 1] - first, self.numbers[which + 1] - number
        if int(parts.max()) == 1:
            return number, first, rows
        share, more = np.divmod(rows, parts)
        within = places - first
        longer = more * (share + 1)
        part = np.where(within < longer, within // (share + 1), more + (within - longer) // share)
        return number + part, first + part * share + np.minimum(part, more), share + (part < more)

    def starts(self) -> Ints:
        """Return the places at which windows begin, and the place after the last."""
        parts = np.diff(self.numbers)
        number = np.arange(self.numbers[-1]) - np.repeat(self.numbers[:-1], parts)
        share, more = (np.repeat(each, parts) for each in np.divmod(np.diff(self.begins), parts))
        found = np.repeat(self.begins[:-1], parts) + number * share + np.minimum(number, more)
        return np.append(found, self.begins[-1:])


@dataclass(frozen=True, eq=False, slots=True)
class ShuffledBlocks(OrderLayer):
    """The rows below in a random order in which consecutive rows come from few blocks.

    The blocks are permuted; in that order neighbours form windows, and the rows of a window are permuted among themselves.
    The position of a row is computed from the seed and the epoch, so any place can be read first; memory holds only some
    numbers for each block.  The first windows are small, so that the first rows come early: of 1, 2, 4… blocks.

    The shuffle is not uniform.  64 blocks of 500 rows, in windows of 16 blocks: after the first windows 256 consecutive rows
    come from all 16 blocks of their window, and two rows that were neighbours are 1,800 rows apart (median), compared with
    9,400 in a uniform shuffle of all 32,000 rows.  With lanes, the rows of a training step come from as many windows as there
    are lanes.

    Args:
        blocks: the blocks of the rows below.
        seed: seed of the order.
        buffer_rows: rows of a window, or those of 16 blocks if that is more; None: as many as its bytes allow.
        window_bytes: decoded bytes of the windows of all lanes together, exceeded by at most one row of each.  A block larger
            than a window is cut into several windows.
        lanes: number of equal runs of the result; the rows of two runs do not mix.
        reshuffles: True if each round of a repetition has its own order.

    >>> layer = ShuffledBlocks(RowBlocks.of([2, 3, 2]), seed=1)
    >>> layer.below(np.arange(7), 0).tolist()
    [6, 5, 1, 3, 2, 4, 0]
    """

    blocks: RowBlocks
    seed: int
    buffer_rows: int | None = 1000
    window_bytes: int = 64 << 20
    lanes: int = 1
    reshuffles: bool = False
    mixes = permutes = True
    _known: dict[int, _Windows] = field(default_factory=dict, repr=False)

    @property
    def num_rows(self) -> int:
        return self.blocks.num_rows

    def below(self, places: Ints, epoch: int) -> Ints:
        if not len(places):
            return places
        order = self._order(epoch)
        number, first, rows = order.of(places)
        return order.turns.rows_at(first + order.orders.at(number, rows, places - first), self.blocks)

    def structure(self, blocks: RowBlocks, epoch: int) -> RowBlocks | None:
        """See `OrderLayer.structure`: windows are the blocks of the result."""
        if self.reshuffles:
            return None
        rows = np.diff(self.window_starts(epoch))
        sizes, total = self._sizes(), self.num_rows
        return RowBlocks.of(rows, rows * (int(sizes.sum()) // max(1, total)), is_indexed=True)

    def largest_window_bytes(self) -> int:
        """See `OrderLayer.largest_window_bytes`: those of the first epoch."""
        rows = self.num_rows
        most = int(np.diff(self.window_starts(0)).max()) if rows else 0
        return most * int(self.blocks.sizes.sum()) // max(1, rows) * self.lanes

    def window_starts(self, epoch: int) -> Ints:
        """Return the places at which the windows of an epoch begin, and the place after the last."""
        return self._order(epoch).starts()

    def _order(self, epoch: int) -> _Windows:
        found = self._known.get(epoch)
        if found is None:
            while len(self._known) >= _KNOWN_EPOCHS:
                del self._known[next(iter(self._known))]
            turns = _Turns.of(self.blocks, self.seed, epoch)
            orders = Permutations("rows", self.seed, epoch)
            found = self._known[epoch] = _Windows(turns, *self._cut(turns), orders)
        return found

    def _sizes(self) -> Ints:
        """Return the bytes of each block; unknown ones are estimated from the others."""
        rows, sizes = self.blocks.rows, self.blocks.sizes
        known = sizes > 0
        if known.all():
            return sizes
        row_bytes = -(-int(sizes[known].sum()) // int(rows[known].sum())) if known.any() else _ROW_BYTES
        return np.where(known, sizes, rows * row_bytes)

    def _target(self, sizes: Ints) -> int:
        """Return the bytes of a window."""
        most = max(1, self.window_bytes // self.lanes)
        if self.buffer_rows is None:
            return most
        total = int(sizes.sum())
        wanted = max(-(-self.buffer_rows * total // self.num_rows), -(-_BLOCKS_PER_WINDOW * total // len(sizes)))
        return max(1, min(most, wanted))

    def _cut(self, turns: _Turns) -> tuple[Ints, Ints]:
        """Return the starts of windows, and their numbers; see `_Windows`."""
        sizes = self._sizes()
        if not len(sizes):
            return np.zeros(1, np.int64), np.zeros(1, np.int64)
        target, ends = self._target(sizes), turns.ends
        sizes = sizes[turns.numbers]
        borders = np.zeros(1, np.int64)
        if self.lanes > 1:  # blocks are cut at the end of a lane
            borders = np.array([run.start for run in even_runs(self.num_rows, self.lanes) if run], np.int64)
            cuts = np.union1d(ends, borders[1:])
            which = np.searchsorted(ends, cuts, side="left")
            rows, whole = np.diff(cuts, prepend=0), self.blocks.rows[turns.numbers][which]
            sizes = np.where(rows == whole, sizes[which], sizes[which] // whole * rows)
            ends = cuts
        begins = np.concatenate([np.zeros(1, np.int64), ends])
        shards = np.searchsorted(begins, np.append(borders, self.num_rows))
        total = np.cumsum(sizes)
        reach = np.searchsorted(total, total - sizes + target, side="right")
        chosen = np.frombuffer(array("q", _windows(reach.data, shards.tolist())), np.int64)
        parts = np.minimum(-(-sizes[chosen] // target), begins[chosen + 1] - begins[chosen])
        parts = np.where(reach[chosen] == chosen, parts, 1)  # one that fits is whole, also together with others
        numbers = np.concatenate([np.zeros(1, np.int64), np.cumsum(parts)])
        return np.append(begins[chosen], self.num_rows), numbers


def _windows(reach: memoryview, shards: list[int]) -> Iterator[int]:
    """Yield the first piece of each window: a window takes as many pieces as fit; the first windows of a lane have 1, 2, 4….

    Args:
        reach: for each piece, the one after the last that fits into the same window.
        shards: the first piece of each lane, and the one after the last.
    """
    for start, end in pairwise(shards):
        at, few = start, 1
        while at < end:
            yield at
            stop = max(at + 1, reach[at])
            if few:
                stop, few = (at + few, few * 2) if stop > at + few else (stop, 0)
            at = stop


# Logical shards of a stream: `LANES`, their number, and `ShardPositions`, the order of their rows.


LANES = 48
"""Default number of logical shards (lanes) of a stream; many numbers of ranks divide it."""
ENDS = ("keep", "drop", "pad")
"""Handling of logical shards that are longer than others."""


@dataclass(frozen=True)
class ShardPositions(OrderLayer):
    """Some logical shards (lanes) of an order; each is a run of its rows, and they yield one row each, round after round.

    Rows are ordered by their number in their lane, and rows with the same number by lane.  Lanes that are behind, since another
    reader read fewer of their rows, catch up first.  A lane that has ended is passed over.

    Attributes:
        own: the lanes read, ascending.
        starts: for each the place of its first row in the order.
        lengths: for each its number of rows there.
        limits: for each the number of rows it yields: more than its length if rows are repeated or pad it.
        given: for each the number of rows it yielded before.
        period: number of rows of the order, if it is repeated: each round begins that many positions after the one before.
        rounds: number of rounds; after them, the rows of the last round come again.
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
            ends: one of `ENDS`: lanes of different lengths keep all rows, drop the last one, or repeat rows up to the longest.
            times: number of repetitions of the rows; None: endless.

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
        """Return the rows that remain after each lane has yielded its number of rows in `given`."""
        return replace(self, given=tuple(map(min, given, self.limits)))

    def alone(self, shard: int) -> Self:
        """Return the rows of one lane."""
        number = self.own.index(shard)
        names = "own", "starts", "lengths", "limits", "given"
        kept: dict[str, Any] = {name: (getattr(self, name)[number],) for name in names}
        return replace(self, **kept)

    @property
    def num_rows(self) -> int:
        return sum(self.limits) - sum(self.given)

    def below(self, places: Ints, epoch: int) -> Ints:
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
        """Return the spans of rounds in which the same lanes yield rows."""
        given, limits = (np.array(each, np.int64) for each in (self.given, self.limits))
        borders = np.array(sorted({*self.given, *self.limits}), np.int64)
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
    """Spans of places with the same lanes: each span's end, start, number of lanes, first row and first lane."""

    ends: Ints
    begins: Ints
    sizes: Ints
    rows: Ints
    offsets: Ints
    lanes: Ints

"""The order of a stream by arithmetic: layers that say which rows below stand at which places."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from datasets_core.stream.permutation import Ints, Permutation

ENDLESS = 1 << 62
"""The number of rows of a stream that repeats without end."""
_BLOCKS_PER_WINDOW = 64  # blocks from anywhere that mix in a window: fewer mix less, more read more places


class Layer(Protocol):
    """Rows by place, made of rows by place of the layer below."""

    @property
    def num_rows(self) -> int:
        """How many places there are."""
        ...

    def below(self, places: Ints, epoch: int) -> Ints:
        """The places below, of rows at these places."""
        ...


@dataclass(frozen=True, slots=True)
class Cut:
    """Some rows of those below, as runs of them one after the other.

    >>> Cut((range(4, 6), range(0, 9, 4))).below(np.arange(5), 0).tolist()
    [4, 5, 0, 4, 8]
    """

    runs: tuple[range, ...]

    @property
    def num_rows(self) -> int:
        """See `Layer.num_rows`."""
        return sum(map(_length, self.runs))

    def below(self, places: Ints, epoch: int) -> Ints:
        """See `Layer.below`."""
        if len(self.runs) == 1:
            run = self.runs[0]
            return places * np.int64(run.step) + np.int64(run.start)
        ends = np.cumsum(np.array([_length(run) for run in self.runs], np.int64))
        which = np.searchsorted(ends, places, side="right")
        starts, steps = (np.array([getattr(run, what) for run in self.runs], np.int64) for what in ("start", "step"))
        first = ends - np.array([_length(run) for run in self.runs], np.int64)
        moved: Ints = starts[which] + (places - first[which]) * steps[which]
        return moved


def _length(run: range) -> int:
    """`len` for runs of any length."""
    return max(0, -(-(run.stop - run.start) // run.step))


@dataclass(frozen=True, slots=True)
class Repeated:
    """The rows below again and again.

    >>> Repeated(2, 2).below(np.arange(4), 0).tolist()
    [0, 1, 0, 1]
    """

    size: int
    times: int | None

    @property
    def num_rows(self) -> int:
        """See `Layer.num_rows`."""
        if not self.size:
            return 0
        return ENDLESS if self.times is None else min(ENDLESS, self.size * self.times)

    def below(self, places: Ints, epoch: int) -> Ints:
        """See `Layer.below`."""
        return places % np.int64(self.size)

    def turns(self, places: Ints, before: Ints | int) -> Ints:
        """For each place the number of its round, counted on where the rows were repeated so `before`.

        >>> Repeated(2, 3).turns(np.arange(6), 2).tolist()
        [6, 6, 7, 7, 8, 8]
        """
        return places // np.int64(self.size) + before * (self.times or 1)


@dataclass(frozen=True, slots=True)
class Shuffled:
    """The rows below in a random order that mixes far and needs no memory.

    Blocks of neighbours are permuted; in that order, rows are permuted within windows.  Where a row goes is computed from the
    seed and the epoch, so that any place can be read first.

    Args:
        size: how many rows there are.
        window: rows that mix as well as possible, of which most come from blocks far apart.
        seed: decides about the order.
        reshuffles: where the rows are repeated, each round has an order of its own.
    """

    size: int
    window: int
    seed: int
    reshuffles: bool = False
    _known: dict[tuple[int, int], Permutation] = field(default_factory=dict, compare=False, repr=False)

    @property
    def num_rows(self) -> int:
        """See `Layer.num_rows`."""
        return self.size

    @property
    def block(self) -> int:
        """Rows that stay neighbours until their window is mixed."""
        return max(1, self.window // _BLOCKS_PER_WINDOW)

    def below(self, places: Ints, epoch: int) -> Ints:
        """See `Layer.below`."""
        if not len(places):
            return places
        return self._unblocked(self._unmixed(places, epoch), epoch)

    def below_in_turns(self, places: Ints, turns: Ints | int) -> Ints:
        """The places below, of rows of which each comes in an epoch of its own.

        >>> layer = Shuffled(3, 3, seed=1, reshuffles=True)
        >>> layer.below_in_turns(np.array([0, 1, 0]), np.array([0, 0, 1])).tolist()[:2] == layer.below(np.arange(2), 0).tolist()
        True
        """
        if isinstance(turns, int):
            return self.below(places, turns)
        found = np.empty(len(places), np.int64)
        for turn in np.unique(turns).tolist():
            chosen = np.flatnonzero(turns == turn)
            found[chosen] = self.below(places[chosen], turn)
        return found

    def _unmixed(self, places: Ints, epoch: int) -> Ints:
        """Where rows stand before their window is mixed."""
        if self.window == 1:
            return places
        windows = places // self.window
        found = np.empty(len(places), np.int64)
        for window in np.unique(windows).tolist():
            chosen = np.flatnonzero(windows == window)
            start = window * self.window
            order = self._permutation(min(self.window, self.size - start), epoch, window)
            found[chosen] = order.at(places[chosen] - start) + start
        return found

    def _unblocked(self, places: Ints, epoch: int) -> Ints:
        """Which rows stand at places of permuted blocks; the last block, wherever it went, may be shorter."""
        block, count = self.block, -(-self.size // self.block)
        order = self._permutation(count, epoch, -1)
        short = block * count - self.size
        behind = (order.place_of(np.array([count - 1], np.int64)).item() + 1) * block - short
        places = np.where(places >= behind, places + short, places)
        rows: Ints = order.at(places // block) * block + places % block
        return rows

    def _permutation(self, size: int, epoch: int, window: int) -> Permutation:
        """That of the rows of a window, or (-1) of the blocks."""
        found = self._known.get((epoch, window))
        if found is None:
            if len(self._known) > 8:
                self._known.clear()
            found = self._known[epoch, window] = Permutation(size, "shuffle", self.seed, epoch, window)
        return found


@dataclass(frozen=True, slots=True)
class Grouped:
    """Lists of neighbours: `below` gives the rows of all lists, one list after the other.

    Args:
        size: how many rows there are.
        length: of a list.
        is_whole: leave out a last list that is shorter.

    >>> Grouped(5, 2, False).below(np.array([0, 2]), 0).tolist()
    [0, 1, 4]
    """

    size: int
    length: int
    is_whole: bool

    @property
    def num_rows(self) -> int:
        """See `Layer.num_rows`."""
        return self.size // self.length if self.is_whole else -(-self.size // self.length)

    def lengths(self, places: Ints) -> Ints:
        """How many rows each list has."""
        found: Ints = np.minimum(self.length, self.size - places * self.length)
        return found

    def below(self, places: Ints, epoch: int) -> Ints:
        """See `Layer.below`."""
        lengths = self.lengths(places)
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        within = np.arange(total, dtype=np.int64) - np.repeat(ends - lengths, lengths)
        return np.repeat(places * self.length, lengths) + within


def even_runs(size: int, parts: int, unit: int = 1) -> list[range]:
    """`size` rows in runs that differ by one unit at most, each beginning at a multiple of `unit`.

    >>> even_runs(10, 3), even_runs(10, 2, unit=4)
    ([range(0, 4), range(4, 7), range(7, 10)], [range(0, 8), range(8, 10)])
    """
    return [even_run(size, parts, part, unit) for part in range(parts)]


def even_run(size: int, parts: int, part: int, unit: int = 1) -> range:
    """One of `even_runs`.

    >>> even_run(10, 3, 2), even_run(10, 10**30, 10**29)
    (range(7, 10), range(10, 10))
    """
    share, more = divmod(-(-size // unit), parts)
    start, stop = (min(size, (cut * share + min(cut, more)) * unit) for cut in (part, part + 1))
    return range(start, stop)

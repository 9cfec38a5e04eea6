"""`Turns`: which files are read when, and in which order: those of one epoch, or of one epoch after the other without end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from datasets_core.stream.interleave import Interleave
from datasets_core.stream.permutation import Ints


@dataclass(frozen=True)
class Turns:
    """Files in some order, several of which are read in turn.

    Args:
        lengths: rows of each file.
        order: the numbers of the files, in the order in which they are opened.
        cycle, block: see `Interleave`.

    >>> files, rows = Turns(np.array([2, 3]), np.array([1, 0]), cycle=1, block=16).at(np.arange(5))
    >>> files.tolist(), rows.tolist()
    ([1, 1, 1, 0, 0], [0, 1, 2, 0, 1])
    """

    lengths: Ints
    order: Ints
    cycle: int
    block: int
    interleave: Interleave = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "interleave", Interleave(self.lengths[self.order], self.cycle, self.block))

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """For each place the file that is read there, and the row of it."""
        turns, rows = self.interleave.at(places)
        return self.order[turns], rows

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """The place at which each row of a file is read, the first time."""
        turns = np.empty(len(self.lengths), np.int64)
        turns[self.order[::-1]] = np.arange(
            len(self.order) - 1, -1, -1
        )  # of a file that comes again, the first is written last
        return self.interleave.places_of(turns[files], rows)

    def first_behind(self, place: int) -> int:
        """The next place behind this one at which another file is opened."""
        return self.interleave.first_behind(place)


class EndlessTurns:
    """The files of one epoch after the other, where those of the next epoch take the places that become free in the last.

    As many epochs are planned as the rows need that are asked for.

    Args:
        lengths: rows of each file; some have rows.
        order: of the files, by the number of the epoch, counted from the first.
        cycle, block: see `Interleave`.

    >>> turns = EndlessTurns(np.array([1, 2]), lambda epoch: np.array([0, 1]), cycle=2, block=1)
    >>> turns.at(np.arange(7))[0].tolist()
    [0, 1, 1, 0, 1, 0, 1]
    """

    def __init__(self, lengths: Ints, order: Callable[[int], Ints], cycle: int, block: int) -> None:
        self._lengths, self._order, self._cycle, self._block = lengths, order, cycle, block
        self._orders: list[Ints] = []
        self._plan(2)

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """See `Turns.at`."""
        if len(places):
            self._reach(int(places.max()))
        return self._turns.at(places)

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """See `Turns.places_of`."""
        return self._turns.places_of(files, rows)

    def first_behind(self, place: int) -> int:
        """See `Turns.first_behind`."""
        self._reach(place)
        return self._turns.first_behind(place)

    def _reach(self, place: int) -> None:
        while place >= self._known:
            rows = int(self._lengths.sum())
            self._plan(max(2 * len(self._orders), place // rows + 2))

    def _plan(self, epochs: int) -> None:
        self._orders += [self._order(epoch) for epoch in range(len(self._orders), epochs)]
        self._turns = Turns(self._lengths, np.concatenate(self._orders), self._cycle, self._block)
        # From the last opening on, further files would be opened that are not planned yet.
        self._known = self._turns.interleave.last_opening

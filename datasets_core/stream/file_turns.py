"""`Turns`: which files are read when, and in which order: those of one epoch, or of one epoch after the other without end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from datasets_core.stream.interleave import Interleave
from datasets_core.stream.permutation import Ints

_FILES_OF_STRETCH, _LEAST_EPOCHS = 1 << 14, 4  # of files without end: so many are planned in some ten milliseconds
_SHUFFLED_EPOCHS = 64  # ... as many as these, where each has an order of its own
_KNOWN_STRETCHES = 2


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

    So that any row can be computed without those before it, epochs are joined to *stretches*: a stretch is read to the end of
    its last file, and the next one begins like the first.  Of a stretch as many epochs are planned as the rows need that are
    asked for.

    Args:
        lengths: rows of each file; some have rows.
        order: of the files, by the number of the epoch, counted from the first.
        cycle, block: see `Interleave`.
        epochs: of a stretch; see `epochs_of_stretch`.

    >>> turns = EndlessTurns(np.array([1, 2]), lambda epoch: np.array([0, 1]), cycle=2, block=1, epochs=2)
    >>> turns.at(np.arange(9))[0].tolist()
    [0, 1, 1, 0, 1, 1, 0, 1, 1]
    """

    def __init__(self, lengths: Ints, order: Callable[[int], Ints], cycle: int, block: int, epochs: int) -> None:
        self._lengths, self._order, self._cycle, self._block = lengths, order, cycle, block
        self._epochs = epochs
        self._rows = int(lengths.sum()) * self._epochs
        self._known: dict[int, _Stretch] = {}

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """See `Turns.at`."""
        if not len(places):
            return places, places
        first, last = int(places.min()) // self._rows, int(places.max()) // self._rows
        if first == last:
            return self._stretch(first).at(places - first * self._rows)
        files, rows = np.empty_like(places), np.empty_like(places)
        stretches = places // self._rows
        for number in sorted(set(stretches.tolist())):
            chosen = np.flatnonzero(stretches == number)
            files[chosen], rows[chosen] = self._stretch(number).at(places[chosen] - number * self._rows)
        return files, rows

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """See `Turns.places_of`."""
        return self._stretch(0).places_of(files, rows)

    def first_behind(self, place: int) -> int:
        """See `Turns.first_behind`."""
        number, within = divmod(place, self._rows)
        return number * self._rows + self._stretch(number).first_behind(within)

    def _stretch(self, number: int) -> _Stretch:
        found = self._known.get(number)
        if found is None:
            while len(self._known) >= _KNOWN_STRETCHES:
                del self._known[next(iter(self._known))]
            first = number * self._epochs
            found = _Stretch(self._lengths, lambda epoch: self._order(first + epoch), self._cycle, self._block, self._epochs)
            self._known[number] = found
        return found


class _Stretch:
    """So many epochs, of which those are planned that are needed; see `EndlessTurns`."""

    def __init__(self, lengths: Ints, order: Callable[[int], Ints], cycle: int, block: int, epochs: int) -> None:
        self._lengths, self._order, self._cycle, self._block, self._epochs = lengths, order, cycle, block, epochs
        self._per_epoch = int(lengths.sum())
        self._orders: list[Ints] = []
        self._plan(2)

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """See `Turns.at`."""
        self._reach(int(places.max()))
        return self._turns.at(places)

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """See `Turns.places_of`; a row at which further files are open already may come later than it seems."""
        found = self._turns.places_of(files, rows)
        while len(found) and int(found.max()) >= self._known:
            self._plan(2 * len(self._orders))
            found = self._turns.places_of(files, rows)
        return found

    def first_behind(self, place: int) -> int:
        """See `Turns.first_behind`."""
        self._reach(place)
        return self._turns.first_behind(place)

    def _reach(self, place: int) -> None:
        while place >= self._known:
            self._plan(max(2 * len(self._orders), place // self._per_epoch + 2))

    def _plan(self, epochs: int) -> None:
        epochs = min(epochs, self._epochs)
        self._orders += [self._order(epoch) for epoch in range(len(self._orders), epochs)]
        self._turns = Turns(self._lengths, np.concatenate(self._orders), self._cycle, self._block)
        # From the last opening on, further files would be opened that are not planned yet.
        self._known = self._turns.interleave.last_opening if epochs < self._epochs else self._epochs * self._per_epoch


def epochs_of_stretch(num_files: int, *, changes: bool) -> int:
    """How many epochs are read before all files are read to their end.

    Args:
        num_files: of an epoch.
        changes: each epoch has its own order.

    >>> epochs_of_stretch(1000, changes=True), epochs_of_stretch(10, changes=False), epochs_of_stretch(10, changes=True)
    (17, 1639, 64)
    """
    found = max(_LEAST_EPOCHS, -(-_FILES_OF_STRETCH // num_files))
    return min(found, _SHUFFLED_EPOCHS) if changes else found

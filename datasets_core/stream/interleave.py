"""`Interleave`: which row of which file stands at which place, where several files are read in turn, by arithmetic.

A file of n rows is visited n // block + 1 times: at the last visit it gives what is left, also nothing, and from the next
visit of its slot on another file stands there.  So the visits are numbered, and each file has a run of every so many of
them; between two visits at which a file begins or ends, one round gives as many rows as the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapreplace

import numpy as np

from datasets_core.stream.permutation import Ints


@dataclass(frozen=True)
class Interleave:
    """The rows of files, `cycle` files at a time, `block` rows of each in turn.

    Args:
        lengths: rows that are read of each file.
        cycle: files that are open at a time.
        block: rows of a file at a visit.

    >>> files, rows = Interleave([5, 3, 4], cycle=2, block=2).at(np.arange(12))
    >>> files.tolist()
    [0, 0, 1, 1, 0, 0, 1, 0, 2, 2, 2, 2]
    >>> rows.tolist()
    [0, 1, 0, 1, 2, 3, 2, 4, 0, 1, 2, 3]
    """

    lengths: Ints | Sequence[int]
    cycle: int
    block: int
    num_rows: int = field(init=False)

    def __post_init__(self) -> None:
        lengths = np.asarray(self.lengths, np.int64)
        object.__setattr__(self, "lengths", lengths)
        object.__setattr__(self, "num_rows", int(lengths.sum()))

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """For each place the file that is read there, and the row of it."""
        if self._slots == 1:
            which: Ints = np.searchsorted(self._ends, places, side="right")
            return which, places - (self._ends - np.asarray(self.lengths))[which]
        return self._rounds.at(places)

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """Where rows of files are read: what `at` undoes.

        >>> Interleave([5, 3, 4], cycle=2, block=2).places_of(np.array([1, 2]), np.array([2, 0])).tolist()
        [6, 8]
        """
        if self._slots == 1:
            starts: Ints = self._ends - np.asarray(self.lengths)
            return starts[files] + rows
        return self._rounds.places_of(files, rows)

    def first_behind(self, place: int) -> int:
        """The next place behind this one at which a file is read that was not read before."""
        begun = self._openings
        found = int(begun.searchsorted(place, side="right"))
        return int(begun[found]) if found < len(begun) else self.num_rows

    @property
    def last_opening(self) -> int:
        """The place at which the last file begins that has rows."""
        return int(self._openings[-1])

    @property
    def _slots(self) -> int:
        return max(1, min(self.cycle, len(self.lengths)))

    @cached_property
    def _ends(self) -> Ints:
        """The row behind each file, where files are read one after the other."""
        return np.cumsum(np.asarray(self.lengths))

    @cached_property
    def _openings(self) -> Ints:
        """The place of the first row of each file that has rows, ascending."""
        lengths = np.asarray(self.lengths)
        if self._slots == 1:
            return np.compress(lengths > 0, self._ends - lengths)
        found: Ints = np.sort(self._rounds.first_places()[lengths > 0])
        return found

    @cached_property
    def _rounds(self) -> _Rounds:
        lengths = np.asarray(self.lengths)
        # All longer blocks are as good as one that no file fills, and may be no numbers of numpy.
        return _Rounds(lengths, self._slots, min(self.block, int(lengths.max()) + 1))


class _Rounds:
    """Files in slots, each from one round to another; in each round every slot is visited once.

    Args:
        lengths: rows of each file.
        slots: two or more, and not more than files.
        block: rows of a visit.
    """

    def __init__(self, lengths: Ints, slots: int, block: int) -> None:
        self._slots, self._block = slots, block
        visits = lengths // block + 1
        begun = np.array(_first_visits(visits.tolist(), slots), np.int64)
        self._first, self._slot = begun // slots, begun % slots
        self._last = self._first + visits - 1
        self._rest = lengths - block * (visits - 1)
        # Where the number of rows of a round changes: `_cuts`.  Between two cuts all rounds are alike.
        self._cuts, _ = _distinct(np.concatenate([self._first, self._last, self._last + 1]))
        changes = np.zeros(len(self._cuts), np.int64)
        for rounds, rows in ((self._first, block), (self._last, self._rest - block), (self._last + 1, -self._rest)):
            np.add.at(changes, np.searchsorted(self._cuts, rounds), rows)
        self._per_round = np.cumsum(changes)
        rows = self._per_round[:-1] * np.diff(self._cuts)
        self._starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(rows)])  # the place at which each cut begins
        # The files by slot and round, as one ascending number each.
        self._span = int(self._cuts[-1]) + 1
        keys = self._slot * self._span + self._first
        self._by_slot = np.argsort(keys)
        self._keys = keys[self._by_slot]
        self._known: tuple[int, Ints, Ints, Ints] | None = None  # the last cut that was read

    def at(self, places: Ints) -> tuple[Ints, Ints]:
        """See `Interleave.at`."""
        if not len(places):
            return places, places
        first, last = np.searchsorted(self._starts, [places.min(), places.max()], side="right").tolist()
        if first == last:
            return self._behind_cut(first - 1, places)
        cuts = np.searchsorted(self._starts, places, side="right") - 1
        rounds, within = np.divmod(places - self._starts[cuts], self._per_round[cuts])
        rounds += self._cuts[cuts]
        used, number = _distinct(cuts)
        files, ends = self._visited(used)
        # The slot: the first whose rows, added to those of the slots before it, reach behind the row.
        step = self._slots * self._block + 1
        flat = (ends + np.arange(len(used))[:, None] * step).ravel()
        slot = np.searchsorted(flat, within + number * step, side="right")
        file = files.ravel()[slot]
        before = np.where(slot % self._slots > 0, ends.ravel()[slot - 1], 0)
        return file, (rounds - self._first[file]) * self._block + within - before

    def _behind_cut(self, cut: int, places: Ints) -> tuple[Ints, Ints]:
        """See `Interleave.at`, of places behind one cut and before the next: the usual case, in half the time."""
        if self._known is None or self._known[0] != cut:
            visited, ended = self._visited(np.array([cut]))
            ends = ended[0]
            before = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
            done = (self._cuts[cut] - self._first[visited[0]]) * self._block - before
            self._known = cut, visited[0], ends, done
        _, files, ends, done = self._known
        rounds, within = np.divmod(places - self._starts[cut], self._per_round[cut])
        slot = np.searchsorted(ends, within, side="right")
        return files[slot], rounds * self._block + within + done[slot]

    def _visited(self, cuts: Ints) -> tuple[Ints, Ints]:
        """For the rounds behind these cuts and for each slot: the file in it, and the rows of it and of the slots before it."""
        rounds = self._cuts[cuts][:, None]
        keys = np.arange(self._slots) * self._span + rounds
        files = self._by_slot[np.searchsorted(self._keys, keys, side="right") - 1]
        last = self._last[files]
        rows = np.where(rounds < last, self._block, np.where(rounds == last, self._rest[files], 0))
        return files, np.cumsum(rows, axis=1)

    def places_of(self, files: Ints, rows: Ints) -> Ints:
        """See `Interleave.places_of`."""
        rounds, within = np.divmod(rows, self._block)
        rounds += self._first[files]
        cuts = np.searchsorted(self._cuts, rounds, side="right") - 1
        used, number = _distinct(cuts)
        _, ends = self._visited(used)
        slot = self._slot[files]
        before = np.where(slot > 0, ends[number, slot - 1], 0)
        found: Ints = self._starts[cuts] + (rounds - self._cuts[cuts]) * self._per_round[cuts] + before + within
        return found

    def first_places(self) -> Ints:
        """The place of the first row of each file."""
        cuts = np.searchsorted(self._cuts, self._first)
        found = np.empty(len(cuts), np.int64)
        for start in range(0, len(cuts), 1024):  # a table of all cuts and slots may be large
            part = slice(start, start + 1024)
            used, number = _distinct(cuts[part])
            _, ends = self._visited(used)
            slot = self._slot[part]
            found[part] = self._starts[cuts[part]] + np.where(slot > 0, ends[number, slot - 1], 0)
        return found


def _distinct(values: Ints) -> tuple[Ints, Ints]:
    """The different values, ascending, and for each value which of them it is.

    `np.unique` does the same, and imports `numpy.ma` for it: 25 ms.

    >>> [found.tolist() for found in _distinct(np.array([7, 3, 7]))]
    [[3, 7], [1, 0, 1]]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_new = np.ones(len(values), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_new[1:])
    numbers = np.empty(len(values), np.int64)
    numbers[order] = np.cumsum(is_new) - 1
    return ordered[is_new], numbers


def _first_visits(visits: list[int], slots: int) -> list[int]:
    """The number of the first visit of each file, all visits counted: it comes when the first slot is free.

    >>> _first_visits([2, 1, 1, 1], 2)
    [0, 1, 3, 4]
    """
    free = list(range(slots))  # a heap: the next visit of each slot without a file
    begun = []
    for count in visits:
        begun.append(free[0])
        heapreplace(free, free[0] + count * slots)
    return begun

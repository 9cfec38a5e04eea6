"""Where rows stand: the shard file of a build and the number in it, for every row of a table, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from datasets_core.store.pieces import BatchRows, Ints, counts_of


class Standing(NamedTuple):
    """Where the batches of a shard stand.

    Attributes:
        paths: shard files.
        names: what row ids call each of them.
        files: for each batch the number of its file in `paths`, -1 where it stands in none; None: all stand in the first.
        firsts: for each batch the number of its first row in that file.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    files: Ints | None
    firsts: Ints


class Stands(Protocol):
    """A shard, as far as it is asked where its rows stand."""

    def standing(self) -> Standing | None:
        """Where the batches stand; None where none of them stands in a shard file of a build."""
        ...


def standing_of_file(path: str, name: str, rows: Sequence[int]) -> Standing:
    """That of a shard file with batches of so many rows.

    >>> standing_of_file("/birds/a.arrow", "a.arrow", [3, 2]).firsts.tolist()
    [0, 3]
    """
    runs = rows.runs if isinstance(rows, BatchRows) else ()
    if len(runs) == 1 or (len(runs) == 2 and runs[1][1] == 1):  # as nearly all: batches of one size, but for the last
        return Standing((path,), (name,), None, np.arange(len(rows), dtype=np.int64) * runs[0][0])
    counts = counts_of(rows)
    return Standing((path,), (name,), None, np.cumsum(counts) - counts)


class Places:
    """Where the rows of a table stand.

    A row has a *key*: its number among all rows of all files, one file after the other; -1 where it stands in no file.

    Args:
        shards: those of the table.
        pieces: of the table (`store/pieces.py`).
        is_one_build: no two shards have the same name, so that only those are asked that have a piece.

    Attributes:
        paths: the files of all shards, also of those that have no piece: what a file is called does not depend on the slice.
        names: what row ids call each file, as far as no other file is called so.
        bases: for each file, the key of its first row.
    """

    def __init__(self, shards: Sequence[Stands], pieces: Ints, *, is_one_build: bool = False) -> None:
        numbers: dict[str, int] = {}
        names: list[str] = []
        self.files, self.firsts = np.full(len(pieces), -1, np.int64), np.zeros(len(pieces), np.int64)
        for shard, chosen in _by_shard(pieces[:, 0]):
            found = shards[shard].standing()
            if found is None:
                continue
            own = _numbered(numbers, names, found)
            batches = pieces[chosen, 1]
            if found.files is None:
                self.files[chosen] = own[0]
            else:
                self.files[chosen] = np.array([*own, -1], np.int64)[found.files[batches]]
            self.firsts[chosen] = found.firsts[batches] + pieces[chosen, 2]
        for number in () if is_one_build else sorted({*range(len(shards))}.difference(pieces[:, 0].tolist())):
            if found := shards[number].standing():
                _numbered(numbers, names, found)
        self.paths, self.names = tuple(numbers), tuple(names)
        self._rows = pieces[:, 3]
        ends = np.cumsum(self._rows)
        self._starts: Ints = ends - self._rows
        stands = self.files >= 0
        extents = np.zeros(len(numbers), np.int64)
        np.maximum.at(extents, self.files[stands], (self.firsts + self._rows)[stands])
        self.bases: Ints = np.cumsum(extents) - extents
        self._extents = extents
        self._lows = np.where(stands, self.bases[self.files] + self.firsts, -1) if len(numbers) else np.full(len(pieces), -1)

    @cached_property
    def _spans(self) -> tuple[Ints, Ints, Ints]:
        return _disjoint(self._lows, self._lows + self._rows)

    @property
    def is_disjoint(self) -> bool:
        """Whether no row of a file is in the table twice."""
        lows, highs, _ = self._spans
        return int((highs - lows).sum()) == int(self._rows[self._lows >= 0].sum())

    def keys(self, rows: Ints) -> Ints:
        """The keys of rows of the table."""
        pieces = np.searchsorted(self._starts, rows, side="right") - 1
        lows = self._lows[pieces]
        return np.where(lows < 0, -1, lows + (rows - self._starts[pieces]))

    def key(self, file: int, row: int) -> int:
        """The key of a row of a file; -1 where the table has no row there or behind it."""
        return int(self.bases[file]) + row if row < int(self._extents[file]) else -1

    def split(self, keys: Ints) -> tuple[Ints, Ints]:
        """The number of the file, and the number in it, for keys that are not -1."""
        order = np.flatnonzero(self._extents)  # a file without rows shares its base with the next one
        files = order[np.searchsorted(self.bases[order], keys, side="right") - 1]
        return files, keys - self.bases[files]

    def rows(self, keys: Ints) -> Ints:
        """The first row of the table that has each key; -1 where none has it."""
        lows, highs, pieces = self._spans
        if not len(lows):
            return np.full(len(keys), -1, np.int64)
        at = np.maximum(np.searchsorted(lows, keys, side="right") - 1, 0)
        owners = pieces[at]
        is_there = (keys >= lows[at]) & (keys < highs[at])
        return np.where(is_there, self._starts[owners] + keys - self._lows[owners], -1)

    def all_rows(self, key: int) -> Ints:
        """Every row of the table that has a key."""
        found = np.flatnonzero((self._lows >= 0) & (self._lows <= key) & (key < self._lows + self._rows))
        return self._starts[found] + key - self._lows[found]


def _numbered(numbers: dict[str, int], names: list[str], found: Standing) -> list[int]:
    """The numbers of files, which get one if they have none."""
    own = []
    for path, name in zip(found.paths, found.names, strict=True):
        own.append(numbers.setdefault(path, len(numbers)))
        if own[-1] == len(names):
            names.append(name)
    return own


def _by_shard(shards: Ints) -> Iterable[tuple[int, slice | Ints]]:
    """Each shard with its pieces: a slice where they follow each other."""
    borders = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), len(shards)] if len(shards) else [0]
    runs = [(int(shards[start]), slice(start, stop)) for start, stop in pairwise(borders)]
    if len({shard for shard, _ in runs}) == len(runs):
        return runs
    order = np.argsort(shards, kind="stable")
    ends = np.flatnonzero(np.diff(shards[order], append=-1)) + 1
    return [(int(shards[chosen[0]]), chosen) for chosen in np.split(order, ends[:-1])]


def _disjoint(lows: Ints, highs: Ints) -> tuple[Ints, Ints, Ints]:
    """Spans that share no key, in order, each with the first piece that has it; pieces at -1 stand nowhere."""
    stand = np.flatnonzero(lows >= 0)
    order = stand[np.argsort(lows[stand], kind="stable")]
    low, high = lows[order], highs[order]
    if (low[1:] >= high[:-1]).all():
        return low, high, order
    borders = np.sort(np.concatenate([low, high]))
    borders = borders[np.diff(borders, prepend=-1) > 0]
    owners = np.full(len(borders) - 1, -1, np.int64)
    firsts, lasts = np.searchsorted(borders, lows[stand]), np.searchsorted(borders, highs[stand])
    for piece, first, last in zip(stand[::-1].tolist(), firsts[::-1].tolist(), lasts[::-1].tolist(), strict=True):
        owners[first:last] = piece  # the first piece is painted last
    kept = owners >= 0
    return borders[:-1][kept], borders[1:][kept], owners[kept]

"""`Way`: where rows that are delivered stand in what they are read from; and how many of them are read at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from datasets_core.errors import DatasetsCoreError
from datasets_core.stream.block import ArrowBlock, Block
from datasets_core.stream.order import Grouped
from datasets_core.stream.permutation import Ints

BLOCK_BYTES = 8 << 20  # of rows that are read at once, about
_MOST_WIDE = 1 << 13  # rows from anywhere are read so many at a time


class Way(NamedTuple):
    """Where rows stand in a source.

    Attributes:
        numbers: of the rows among all.
        places: of what they are made of.
        turns: the epoch of the source that each is read in.
        above: the layers from the top down, each with the numbers of its rows.
    """

    numbers: Ints
    places: Ints
    turns: Ints | int
    above: list[tuple[Any, Ints]]

    def part(self, start: int, stop: int) -> Way:
        """The way of the rows from `start` to `stop`, counted in these."""
        if not start and stop == len(self.numbers):
            return self
        above: list[tuple[Any, Ints]] = []
        numbers = self.numbers[start:stop]
        for layer, below in self.above:
            above.append((layer, below[start:stop]))
            if isinstance(layer, Grouped):
                ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(layer.lengths(below))])
                start, stop = int(ends[start]), int(ends[stop])
        turns = self.turns if isinstance(self.turns, int) else self.turns[start:stop]
        return Way(numbers, self.places[start:stop], turns, above)


@dataclass(frozen=True, slots=True)
class Located:
    """Where some rows stand that are delivered next.

    Attributes:
        start: the first of them, counted in those that are delivered.
        way: of the rows.
    """

    start: int
    way: Way

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.way.numbers)

    @property
    def stop(self) -> int:
        """Behind the last."""
        return self.start + self.count

    def part(self, start: int, stop: int) -> Way:
        """The way of some of them."""
        return self.way.part(start - self.start, stop - self.start)


class Wide:
    """Reads more rows at once than are delivered, where they come from anywhere: each place is then looked at less often.

    Args:
        read: reads rows.
    """

    def __init__(self, read: Callable[[Way], Block]) -> None:
        self._read = read
        self._located: Located | None = None
        self._start = self._stop = 0
        self._held: Block | None = None

    def read(self, located: Located, start: int, way: Way, most: int) -> Block:
        """The rows of `way`, which begin at row `start`; those behind that are located, up to `most`, are read with them."""
        stop = start + len(way.numbers)
        if self._held is None or self._located is not located or not self._start <= start or not stop <= self._stop:
            self._held = self._more(located, start, way, most)
            self._located, self._start, self._stop = located, start, start + self._held.num_rows
        return self._held.slice(start - self._start, stop - self._start)

    def _more(self, located: Located, start: int, way: Way, most: int) -> Block:
        rows = len(way.numbers)
        if isinstance(self._held, ArrowBlock):
            most = min(most, BLOCK_BYTES * self._held.num_rows // max(1, self._held.batch.nbytes))
        wanted = min(most, _MOST_WIDE) // rows * rows
        if wanted > rows:
            try:
                return self._read(located.part(start, min(located.stop, start + wanted)))
            except DatasetsCoreError:  # of a row behind those that are wanted, perhaps: it is told when its turn comes
                pass
        return self._read(way)

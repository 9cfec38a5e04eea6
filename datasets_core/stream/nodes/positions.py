"""`Source`, `RowsByPlace`: sources of streams, also by position; `Positions`, `Origins`: positions and origins of rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.errors import DatasetsCoreError
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.stream.nodes.block import ArrowBlock, Block
from datasets_core.stream.order.layers import Ints, Layer

if TYPE_CHECKING:
    from datasets_core.store.table import RowTable
    from datasets_core.stream.nodes.jobs import RowJob
    from datasets_core.stream.nodes.node import Node
    from datasets_core.stream.plan import Plan
    from datasets_core.stream.sources.block_index import BlockIndex
    from datasets_core.stream.sources.tables import RowsOfFiles

# `Expectations`: rows that concurrent readers will read soon, reported to the source as one list.


Turns: TypeAlias = "Ints | int"
"""The epoch of all rows, or one epoch for each row."""

_MOST_PLACES, _LEAST_PLACES = 1 << 14, 1 << 8  # of all readers, and of each


class Expectations:
    """Rows that several readers will read soon: each reader adds its rows to the list, and does not remove those of others.

    Args:
        tell: receives the rows; see `RowsByPlace.expect`.

    >>> told = []
    >>> expected = Expectations(lambda places, turns: told.append(places.tolist()))
    >>> expected.say("a", np.array([0, 1, 2]), 0)
    >>> expected.say("b", np.array([7, 8, 9]), 0)
    >>> expected.passed("b", 1)
    >>> expected.say("a", np.array([3, 4]), 0)
    >>> told
    [[0, 1, 2], [0, 7, 1, 8, 2, 9], [8, 3, 9, 4]]
    """

    def __init__(self, tell: Callable[[Ints, Turns], None]) -> None:
        self._tell = tell
        self._readers: dict[Hashable, tuple[Ints, Turns]] = {}
        self._passed: dict[Hashable, int] = {}

    def say(self, reader: Hashable, places: Ints, turns: Turns) -> None:
        """Announce the rows that a reader will read, in this order; they replace its earlier announcement."""
        self._readers.pop(reader, None)
        self._readers[reader] = places, turns
        self._passed[reader] = 0
        if len(self._readers) == 1:
            self._tell(places, turns)
        else:
            self._tell(*_in_turn([self._left(each) for each in self._readers], len(self._readers)))

    def passed(self, reader: Hashable, count: int) -> None:
        """Record how many of its announced rows a reader has read."""
        self._passed[reader] = count

    def leave(self, reader: Hashable) -> None:
        """Remove a reader; without readers, no row is fetched ahead."""
        self._passed.pop(reader, None)
        if self._readers.pop(reader, None) is not None and not self._readers:
            self._tell(np.zeros(0, np.int64), 0)

    def _left(self, reader: Hashable) -> tuple[Ints, Turns]:
        places, turns = self._readers[reader]
        passed = self._passed[reader]
        return places[passed:], turns if isinstance(turns, int) else turns[passed:]


def _in_turn(parts: Iterable[tuple[Ints, Turns]], count: int) -> tuple[Ints, Turns]:
    """Return some of the places of each reader, ordered by when they are read."""
    most = max(_LEAST_PLACES, _MOST_PLACES // count)
    places: list[Ints] = []
    turns: list[Turns] = []
    distances: list[Ints] = []
    for each, when in parts:
        step = max(1, -(-len(each) // most))
        places.append(each[::step])
        turns.append(when if isinstance(when, int) else when[::step])
        distances.append(np.arange(len(places[-1]), dtype=np.int64) * step)
    order = np.argsort(np.concatenate(distances), kind="stable")
    first = turns[0]
    if isinstance(first, int) and all(isinstance(each, int) and each == first for each in turns):
        return np.concatenate(places)[order], first
    whole = [np.broadcast_to(when, len(each)) for each, when in zip(places, turns, strict=True)]
    return np.concatenate(places)[order], np.concatenate(whole)[order]


FORESEEING: ContextVar[bool] = ContextVar("FORESEEING", default=False)
"""Announces that rows up to a number will be read: a source returns the number of known rows, and fetches more meanwhile."""


@dataclass(frozen=True, slots=True)
class Origins:
    """Origins of rows: their files and row numbers.

    Attributes:
        names: the names of the files.
        files: for each row the index of its file in `names`.
        rows: for each row its number in its file.
    """

    names: Sequence[str]
    files: Ints
    rows: Ints

    def take(self, rows: Sequence[int] | Ints) -> Origins:
        """Return the origins of some of the rows.

        >>> Origins(["a", "b"], np.array([0, 1]), np.array([7, 8])).take([1]).rows.tolist()
        [8]
        """
        chosen = np.asarray(rows, np.int64)
        return Origins(self.names, self.files[chosen], self.rows[chosen])

    @property
    def first(self) -> str:
        """Description of the first row."""
        return f"row {self.rows[0]} of {self.names[self.files[0]]}"

    @classmethod
    def joined(cls, parts: Sequence[Origins | None]) -> Origins | None:
        """Return the origins of the rows of several parts; None if one is unknown."""
        names: list[str] = []
        files: list[Ints] = []
        rows: list[Ints] = []
        known: Sequence[str] | None = None
        for part in parts:
            if part is None:
                return None
            if part.names is not known:
                known, first = part.names, len(names)
                names.extend(part.names)
            files.append(part.files + first)
            rows.append(part.rows)
        return cls(names, np.concatenate(files), np.concatenate(rows)) if parts else None


class Source(ABC):
    """Source of a stream.

    Attributes:
        is_fetched: True if rows by position are fetched, by code of this library only, so that calls of `expect` help.
        projects: True if `projected` may return a source; otherwise the features are not read for it.
    """

    __slots__ = ()
    is_fetched: ClassVar[bool] = False
    projects: ClassVar[bool] = False

    if TYPE_CHECKING:  # fields of the subclasses, which a property here would hide

        @property
        @abstractmethod
        def features(self) -> Features | None:
            """Features of the columns; None if unknown before the rows are read."""

        @property
        @abstractmethod
        def paths(self) -> MediaPaths:
            """Paths in values that may be opened."""

    @abstractmethod
    def signed(self) -> list[Any]:
        """Return what identifies the rows: a text, a hash, and their parts, if any."""

    def known_features(self) -> Features | None:
        """Features, for which the first rows may be fetched; None if they are still unknown."""
        return self.features

    @property
    def changes_by_epoch(self) -> bool:
        """True if each epoch has its own order, so that each iteration is a new epoch."""
        return False

    @property
    def drawn_seed(self) -> int | None:
        """Seed of the order (see `changes_by_epoch`), if it was drawn at random: states contain it."""
        return None

    def with_seed(self, seed: int) -> Self:
        """Return the source with the order of a drawn seed."""
        return self

    def root(self, epoch: int) -> Node | None:
        """Return the node of an epoch; None if the rows are read by position."""
        return None

    def projected(self, names: Sequence[str]) -> Self | None:
        """Return the source with only these columns, in the order of `features`; None if that would not be cheaper."""
        return None

    def as_jobs(self) -> Source | None:
        """Return the source as `RowsOfJobs`, with a job for each file, if files are read from their beginning; else None."""
        return None

    def resharded(self) -> tuple[Source, int] | None:
        """Return the rows of several streams, each in more shards, and the resulting number of shards; None for one stream."""
        return None

    def labelled(self, label: str) -> Self:
        """Return the rows as those of one of several streams that are read as one: see `Plan.labelled`."""
        return self

    def indexes(self) -> list[BlockIndex]:
        """Return the indexes of the files with blocks, in order."""
        return []

    def file_names(self) -> Sequence[str] | None:
        """Return the files of the rows; None if there are none."""
        return None

    @property
    def by_place(self) -> RowsByPlace | None:
        """The source itself if its rows are read by position; otherwise None."""
        return None

    @property
    def by_file(self) -> RowsOfFiles | None:
        """The source itself, if its rows are identified by file and row number; otherwise None."""
        return None

    @property
    def row_jobs(self) -> tuple[RowJob, ...] | None:
        """The jobs that generate the rows; None if there are none."""
        return None

    def read_names(self) -> tuple[str, ...] | None:
        """Return the columns, found by reading one row of each of several streams; None for a single stream."""
        return None

    @property
    def streams(self) -> tuple[Plan, ...]:
        """The streams that are read as one; empty for a single stream."""
        return ()

    @property
    def dataset_table(self) -> RowTable | None:
        """The table of a dataset that contains the rows; None if there is none."""
        return None


class RowsByPlace(Source):
    """Rows that are read by position; the default methods suit rows in memory.

    The order of a shuffled or divided stream depends only on `blocks`, so that rows with the same structure come in the same
    order, wherever their bytes are stored.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # see `Source`

        @property
        @abstractmethod
        def num_rows(self) -> int:
            """Return the number of rows; may have to read the footers of all files: see `reach`."""

    @abstractmethod
    def read(self, places: Ints, epochs: Ints | int) -> pa.RecordBatch:
        """Return the rows at these places of these epochs, as they are stored."""

    @abstractmethod
    def near(self, place: int, epoch: int) -> int:
        """Return the first place after this one whose read has to open another file."""

    @property
    def by_place(self) -> RowsByPlace:
        return self

    def reach(self, count: int) -> int:
        """Return the smaller of `count` and the number of rows; reads only the footers that are needed for it."""
        return min(count, self.num_rows)

    @property
    def blocks(self) -> RowBlocks | None:
        """Return the blocks of the rows in their files; may read all footers; None: the rows are in memory."""
        return None

    def block_runs(self) -> list[tuple[BlockIndex, range]]:
        """Return the indexes of the files with blocks, in order, each with the run of its rows that is read."""
        return []

    @property
    def read_columns(self) -> tuple[str, ...] | None:
        """The columns that are read from files with blocks; None: all."""
        return None

    def features_of(self, schema: pa.Schema) -> Features | None:
        """Return the features of rows that were read if they are wider than the common features; None otherwise."""
        return None

    def expect(self, places: Ints, epochs: Ints | int) -> None:
        """Take a hint that these rows will be read soon, in this order; it replaces earlier hints."""
        return

    def origins(self, places: Ints, epochs: Ints | int) -> Origins | None:
        """Return the origins of the rows at these places; None without files."""
        return None


# `Positions`: positions of rows in their source, and how many of them are read at once.


BLOCK_BYTES = 8 << 20  # of rows that are read at once, about
_MOST_WIDE = 1 << 13  # rows from anywhere are read so many at a time


class Positions(NamedTuple):
    """Positions of rows in a source.

    Attributes:
        numbers: numbers of the rows in the stream.
        places: positions in the source of the rows they are made from.
        turns: the epoch of the source for each.
        above: the layers from the top down, each with the numbers of its rows.
    """

    numbers: Ints
    places: Ints
    turns: Ints | int
    above: list[tuple[Layer, Ints]]

    def part(self, start: int, stop: int) -> Positions:
        """Return the positions of the rows from `start` to `stop`, counted within these."""
        if not start and stop == len(self.numbers):
            return self
        above: list[tuple[Layer, Ints]] = []
        numbers = self.numbers[start:stop]
        for layer, below in self.above:
            above.append((layer, below[start:stop]))
            start, stop = layer.span_below(below, start, stop)
        turns = self.turns if isinstance(self.turns, int) else self.turns[start:stop]
        return Positions(numbers, self.places[start:stop], turns, above)


@dataclass(frozen=True, slots=True)
class NextPositions:
    """Positions of the next rows to deliver.

    Attributes:
        start: number of the first of them in the stream.
        positions: the positions of the rows.
    """

    start: int
    positions: Positions

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.positions.numbers)

    @property
    def stop(self) -> int:
        """Number after that of the last row."""
        return self.start + self.count

    def part(self, start: int, stop: int) -> Positions:
        """Return the positions of some of them."""
        return self.positions.part(start - self.start, stop - self.start)


class WidePositions:
    """Reads more rows at once than are delivered if they are far apart, so that each part is read less often.

    Args:
        read: reads rows.
    """

    def __init__(self, read: Callable[[Positions], Block]) -> None:
        self._read = read
        self._located: NextPositions | None = None
        self._start = self._stop = 0
        self._held: Block | None = None

    def read(self, located: NextPositions, start: int, positions: Positions, most: int) -> Block:
        """Return the rows of `positions`, starting at row `start`; up to `most` located rows after them are read with them."""
        stop = start + len(positions.numbers)
        if self._held is None or self._located is not located or not self._start <= start or not stop <= self._stop:
            self._held = self._more(located, start, positions, most)
            self._located, self._start, self._stop = located, start, start + self._held.num_rows
        return self._held.slice(start - self._start, stop - self._start)

    def _more(self, located: NextPositions, start: int, positions: Positions, most: int) -> Block:
        rows = len(positions.numbers)
        if isinstance(self._held, ArrowBlock):
            most = min(most, BLOCK_BYTES * self._held.num_rows // max(1, self._held.batch.nbytes))
        wanted = min(most, _MOST_WIDE) // rows * rows
        if wanted > rows:
            try:
                return self._read(located.part(start, min(located.stop, start + wanted)))
            except DatasetsCoreError:  # perhaps of a later row: it is raised when that row is read
                pass
        return self._read(positions)

"""`RowsOfFiles`: where a stream of files begins: the rows of some files, several of which are read in turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.features.base import Value
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_ids import row_id
from datasets_core.store.table import RowTable
from datasets_core.stream.file_order import FileRows, shuffled_files
from datasets_core.stream.file_turns import EndlessTurns, Turns, epochs_of_stretch
from datasets_core.stream.order import ENDLESS
from datasets_core.stream.permutation import Ints
from datasets_core.stream.rows_by_place import Placed
from datasets_core.stream.rows_of_table import joined_batches, one_batch

_ROWS_PER_RUN = 8  # neighbours are copied together, where there are so many on average
_ROWS_IN_PLACE = 24  # ... and from here on where they belong, instead of file by file
_KNOWN_EPOCHS = 3  # orders that are kept: a repeated stream reads the end of one epoch and the beginning of the next


@dataclass(frozen=True, slots=True)
class Order:
    """In which order files are read.

    Attributes:
        cycle: files that are open at a time.
        block: rows of a file at a visit.
        seed: of the order of the files; None: they are not shuffled.
        is_drawn: nobody gave the seed.
        reshuffles: each epoch has its own order.
        is_endless: the files of the next epoch follow, before all rows of the last are read.
    """

    cycle: int
    block: int
    seed: int | None = None
    is_drawn: bool = False
    reshuffles: bool = True
    is_endless: bool = False


@dataclass(frozen=True)
class RowsOfFiles(Placed):
    """Rows that are read by place, in the order of an epoch; see `RowsByPlace`.

    Attributes:
        table: the rows of the files, one after the other; a file is opened when a row of it is read.
        files: what is read of each.
        order: of the files.
        columns: of the files.
        paths: which paths among the values may be opened.
        identity: tells what is read and in which order, when somebody asks.
        id_columns: columns with the row's id that stand beside those of the files.
    """

    table: RowTable
    files: tuple[FileRows, ...]
    order: Order
    columns: Features
    paths: MediaPaths
    identity: Callable[[], list[Any]]
    id_columns: tuple[str, ...] = ()
    _known: dict[int, Turns | EndlessTurns] = field(default_factory=dict, compare=False, repr=False)

    @property
    def features(self) -> Features:
        """See `RowsByPlace.features`."""
        return Features({**self.columns, **dict.fromkeys(self.id_columns, Value("string"))})

    @property
    def num_rows(self) -> int:
        """See `RowsByPlace.num_rows`."""
        return ENDLESS if self.order.is_endless else self.table.num_rows

    @property
    def changes_by_epoch(self) -> bool:
        """See `RowsByPlace.changes_by_epoch`."""
        return self.order.seed is not None and self.order.reshuffles

    @property
    def drawn_seed(self) -> int | None:
        """See `RowsByPlace.drawn_seed`."""
        return self.order.seed if self.order.is_drawn else None

    def with_seed(self, seed: int) -> RowsOfFiles:
        """See `RowsByPlace.with_seed`."""
        return replace(self, order=replace(self.order, seed=seed), _known={})

    def near(self, place: int, epoch: int) -> int:
        """See `RowsByPlace.near`."""
        return self.in_epoch(epoch).first_behind(place)

    def signed(self) -> list[Any]:
        """See `RowsByPlace.signed`."""
        return self.identity()

    def read(self, places: Ints, epochs: Ints | int) -> pa.RecordBatch:
        """See `RowsByPlace.read`."""
        if isinstance(epochs, int) or not self.changes_by_epoch:
            files, rows = self.in_epoch(epochs if isinstance(epochs, int) else 0).at(places)
        else:
            files, rows = np.empty_like(places), np.empty_like(places)
            for epoch in np.unique(epochs).tolist():
                chosen = np.flatnonzero(epochs == epoch)
                files[chosen], rows[chosen] = self.in_epoch(epoch).at(places[chosen])
        return self.rows_at(files, rows)

    def rows_at(self, files: Ints, rows: Ints) -> pa.RecordBatch:
        """Rows of files: the numbers of the files, and of each row in what is read of its file."""
        batch = self._gathered(files, rows)
        return self._with_ids(batch, files, rows) if self.id_columns else batch

    @cached_property
    def numbers(self) -> dict[str, list[int]]:
        """The numbers of the files of each name: a union may read a file more than once."""
        found: dict[str, list[int]] = {}
        for number, file in enumerate(self.files):
            found.setdefault(file.name, []).append(number)
        return found

    def in_epoch(self, epoch: int) -> Turns | EndlessTurns:
        """The order of an epoch."""
        epoch = epoch if self.changes_by_epoch else 0
        found = self._known.get(epoch)
        if found is None:
            while len(self._known) >= _KNOWN_EPOCHS:
                del self._known[next(iter(self._known))]
            lengths, cycle, block = self._lengths, self.order.cycle, self.order.block
            if self.order.is_endless:
                epochs = epochs_of_stretch(len(lengths), changes=self.changes_by_epoch)
                found = EndlessTurns(lengths, lambda later: self._order_of(epoch + later), cycle, block, epochs)
            else:
                found = Turns(lengths, self._order_of(epoch), cycle, block)
            self._known[epoch] = found
        return found

    def _order_of(self, epoch: int) -> Ints:
        """The order of the files of an epoch."""
        if self.order.seed is None:
            return np.arange(len(self.files))
        return shuffled_files(len(self.files), self.order.seed, epoch if self.order.reshuffles else 0)

    @cached_property
    def _lengths(self) -> Ints:
        return np.array([file.rows for file in self.files], np.int64)

    @cached_property
    def _starts(self) -> Ints:
        """The row of the table at which each file begins."""
        starts: Ints = np.cumsum(self._lengths) - self._lengths
        return starts

    def _gathered(self, files: Ints, rows: Ints) -> pa.RecordBatch:
        """Rows of files: what is read of each file copied at once, and put into order; where few are neighbours, one by one."""
        numbers = self._starts[files] + rows
        if not len(numbers):
            return one_batch(self.table.take(numbers))
        runs = _runs(numbers)
        if len(runs) * _ROWS_IN_PLACE <= len(numbers) or len(runs) == 1:
            return self._copied(numbers, runs)
        order = np.argsort(files.astype(np.uint16) if len(self.files) <= 1 << 16 else files, kind="stable")
        by_file = numbers[order]
        runs = _runs(by_file)
        if len(runs) * _ROWS_PER_RUN > len(numbers):
            return one_batch(self.table.take(numbers))
        places = np.empty_like(order)
        places[order] = np.arange(len(order))
        try:
            return self._copied(by_file, runs).take(
                pa.Array.from_buffers(pa.int64(), len(places), [None, pa.py_buffer(places)])
            )
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # kinds that pyarrow does not take, and too much text at once
            return one_batch(self.table.take(numbers))

    def _copied(self, numbers: Ints, runs: list[int]) -> pa.RecordBatch:
        """Rows of the table, that are runs of neighbours which begin at these places."""
        batches: list[pa.RecordBatch] = []
        for begin, end in pairwise([*runs, len(numbers)]):
            first, count = int(numbers[begin]), end - begin
            k, offset = self.table.locate(first)
            piece = self.table.piece(k)
            if offset + count <= piece.num_rows:
                batches.append(piece.slice(offset, count))
            else:
                batches += self.table.batches(start=first, stop=first + count)
        return joined_batches(batches, self.table.schema)

    def _with_ids(self, batch: pa.RecordBatch, files: Ints, rows: Ints) -> pa.RecordBatch:
        named = zip(files.tolist(), (rows + self._skips[files]).tolist(), strict=True)
        names = self._names
        ids = pa.array([row_id(names[file], row) for file, row in named], pa.string())
        schema = self.table.schema
        for name in self.id_columns:
            schema = schema.append(pa.field(name, pa.string()))
        return pa.RecordBatch.from_arrays([*batch.columns, *[ids] * len(self.id_columns)], schema=schema)

    @cached_property
    def _names(self) -> list[str]:
        return [file.name for file in self.files]

    @cached_property
    def _skips(self) -> Ints:
        return np.array([file.skip for file in self.files], np.int64)

    def __getstate__(self) -> dict[str, Any]:
        kept = ("table", "files", "order", "columns", "paths", "identity", "id_columns")
        return {**{name: self.__dict__[name] for name in kept}, "_known": {}}


def _runs(numbers: Ints) -> list[int]:
    """The places at which runs of neighbours begin."""
    if int(numbers[-1]) - int(numbers[0]) == len(numbers) - 1 and bool((np.diff(numbers) == 1).all()):
        return [0]
    return [0, *(np.flatnonzero(numbers[1:] - numbers[:-1] != 1) + 1).tolist()]

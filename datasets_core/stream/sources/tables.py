"""`RowsOfTable`, `RowsOfFiles`, `GeneratorJob`: sources of a stream: a table, files read in turn, a generator."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, Self
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa

from datasets_core.errors import CellCastError, DatasetGenerationError, DatasetsCoreError, UnhashableError
from datasets_core.features.base import Value
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features, RowEncoder
from datasets_core.meta.row_blocks import RowBlocks, row_id
from datasets_core.store.chunks import Chunks
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.rows.create import (
    Recipe,
    check_callable,
    check_columns,
    divided,
    failed_at,
    named_arguments,
    renumbered,
)
from datasets_core.store.table import RowTable
from datasets_core.stream.nodes.jobs import JobOutput, JobRows, RowJob, RowsOfJobs
from datasets_core.stream.nodes.positions import Origins, RowsByPlace
from datasets_core.stream.order.files import EndlessFileTurns, FileRows, FileTurns, epochs_of_stretch, shuffled_files
from datasets_core.stream.order.layers import ENDLESS, Ints

# `RowsOfTable`: source of a stream of local rows: the rows of a table, in the order of an index.


_PROJECTIONS: WeakKeyDictionary[RowTable, dict[tuple[str, ...], RowTable]] = WeakKeyDictionary()  # which hold open files


@dataclass(frozen=True, slots=True)
class RowsOfTable(RowsByPlace):
    """Rows by number in a table; see `RowsByPlace`.

    Attributes:
        table: the table.
        index: the selected row numbers; None: all.
        features: features of the columns.
        paths: the paths in values that may be opened.
        identity: returns the content hash: equal for equal rows.
    """

    table: RowTable
    index: Ints | None
    features: Features
    paths: MediaPaths
    identity: Callable[[], str]
    projects = True

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self.table.num_rows if self.index is None else len(self.index)

    @property
    def dataset_table(self) -> RowTable:
        return self.table

    def near(self, place: int, epoch: int) -> int:
        return ENDLESS

    def signed(self) -> list[Any]:
        return [f"{self.num_rows} rows", Hasher.hash((self.identity(), self.features.to_dict()))]

    def projected(self, names: Sequence[str]) -> Self | None:
        kept = {name: feature for name, feature in self.features.items() if name in names}
        known = _PROJECTIONS.setdefault(self.table, {})
        if tuple(kept) not in known:
            known[tuple(kept)] = self.table.select(list(kept))
        return replace(self, table=known[tuple(kept)], features=Features(kept))

    def read(self, places: Ints, epochs: Ints | int = 0) -> pa.RecordBatch:
        rows = places if self.index is None else self.index[places]
        return one_batch(self.table.take(rows))


def one_batch(table: pa.Table) -> pa.RecordBatch:
    """Return a table of few rows as one batch."""
    return joined_batches(table.to_batches(), table.schema)


def joined_batches(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
    """Return batches of one schema as one batch."""
    if len(batches) == 1:
        return batches[0]
    if not batches:
        return pa.RecordBatch.from_arrays([pa.nulls(0, each.type) for each in schema], schema=schema)
    return pa.concat_batches(batches)


# `RowsOfBuilt`: source of a stream of built rows: a table with the structure of the files that it was built from.


_MOST_ROWS = 1024


@dataclass(frozen=True, slots=True)
class RowsOfBuilt(RowsOfTable):
    """Rows of a table whose block structure is known; see `RowsByPlace`.

    They come in the order of a stream of the files, even if shuffled or divided.
    """

    @property
    def blocks(self) -> RowBlocks | None:
        structure = self.table.structure
        return None if structure is None or self.index is not None else structure.blocks()

    def as_jobs(self) -> RowsOfJobs | None:
        blocks = self.blocks
        if blocks is None or blocks.is_indexed:
            return None
        rows = np.zeros(blocks.num_files, np.int64)
        np.add.at(rows, blocks.files, blocks.rows)
        ends = np.cumsum(rows)
        starts = ends - rows
        found = None if self.table.structure is None else self.table.structure.places()
        names, firsts = ("",) * len(rows), starts
        if found is not None:
            names, firsts = found.names, np.zeros(len(rows), np.int64)
            numbers, at = np.unique(found.files, return_index=True)
            firsts[numbers] = found.firsts[at]
        each = zip(starts.tolist(), ends.tolist(), names, firsts.tolist(), strict=True)
        jobs = tuple(TableJob(self.table, start, stop, (name, first)) for start, stop, name, first in each)
        return RowsOfJobs(jobs, self.features, self.paths, self.signed, names=partial(tuple, names))

    def origins(self, places: Ints, epochs: Ints | int = 0) -> Origins | None:
        found = self._files()
        return None if found is None else Origins(found.names, *found.of(places))

    def file_names(self) -> Sequence[str] | None:
        found = self._files()
        return None if found is None else found.names

    def _files(self) -> Any:
        structure = None if self.index is not None else self.table.structure
        return None if structure is None else structure.places()


@dataclass(frozen=True, slots=True)
class TableJob(RowJob):
    """Rows `start` to `stop` of a table, those of one file; see `RowJob`.

    Attributes:
        table: the table.
        start, stop: range of its rows.
        origin: the file, and the number of the first row in it.

    >>> job = TableJob(RowTable.from_table(pa.table({"a": range(9)})), 2, 7)
    >>> job.num_rows(), [batch["a"].to_pylist() for batch in job.batches(3, in_order=True)]
    (5, [[5, 6]])
    """

    table: RowTable
    start: int
    stop: int
    origin: tuple[str, int] = ("", 0)

    @property
    def is_independent(self) -> bool:
        return True

    def num_rows(self) -> int:
        """Return the number of rows."""
        return self.stop - self.start

    def batches(self, skip: int, *, in_order: bool, mark: Any = None) -> Generator[pa.RecordBatch]:
        """See `RowJob.batches`; skipped rows are not read."""
        if self.start + skip < self.stop:
            self.table.compare(self.table.locate(self.start + skip)[0])  # the rest, by their first rows
        yield from self.table.batches(_MOST_ROWS, self.start + skip, self.stop)


_ROWS_PER_RUN = 8  # neighbours are copied together, where there are so many on average
_ROWS_IN_PLACE = 24  # ... and from here on where they belong, instead of file by file
_KNOWN_EPOCHS = 3  # orders that are kept: a repeated stream reads the end of one epoch and the beginning of the next


@dataclass(frozen=True, slots=True)
class Order:
    """Read order of files.

    Attributes:
        cycle: files open at a time.
        block: rows of a file at a visit.
        seed: seed of the order of the files; None: not shuffled.
        is_drawn: True if the user gave no seed.
        reshuffles: True if each epoch has its own order.
        is_endless: True if files of the next epoch follow before all rows of the last are read.
    """

    cycle: int
    block: int
    seed: int | None = None
    is_drawn: bool = False
    reshuffles: bool = True
    is_endless: bool = False


@dataclass(frozen=True)
class RowsOfFiles(RowsByPlace):
    """Rows that are read by position, in the order of an epoch; see `RowsByPlace`.

    Attributes:
        table: the rows of the files, concatenated; a file is opened when a row of it is read.
        files: the rows read from each file.
        order: the order of the files.
        columns: the columns of the files.
        paths: the paths in values that may be opened.
        identity: returns a hash of content and order.
        id_columns: columns with row ids, added to those of the files.
    """

    table: RowTable
    files: tuple[FileRows, ...]
    order: Order
    columns: Features
    paths: MediaPaths
    identity: Callable[[], list[Any]]
    id_columns: tuple[str, ...] = ()
    _known: dict[int, FileTurns | EndlessFileTurns] = field(default_factory=dict, compare=False, repr=False)

    @property
    def features(self) -> Features:
        """See `Source.features`."""
        return Features({**self.columns, **dict.fromkeys(self.id_columns, Value("string"))})

    @property
    def num_rows(self) -> int:
        """See `RowsByPlace.num_rows`."""
        return ENDLESS if self.order.is_endless else self.table.num_rows

    @property
    def changes_by_epoch(self) -> bool:
        return self.order.seed is not None and self.order.reshuffles

    @property
    def by_file(self) -> RowsOfFiles:
        return self

    @property
    def drawn_seed(self) -> int | None:
        return self.order.seed if self.order.is_drawn else None

    def with_seed(self, seed: int) -> RowsOfFiles:
        return replace(self, order=replace(self.order, seed=seed), _known={})

    def near(self, place: int, epoch: int) -> int:
        return self.in_epoch(epoch).first_behind(place)

    def signed(self) -> list[Any]:
        return self.identity()

    def read(self, places: Ints, epochs: Ints | int) -> pa.RecordBatch:
        if isinstance(epochs, int) or not self.changes_by_epoch:
            files, rows = self.in_epoch(epochs if isinstance(epochs, int) else 0).at(places)
        else:
            files, rows = np.empty_like(places), np.empty_like(places)
            for epoch in sorted(set(epochs.tolist())):
                chosen = np.flatnonzero(epochs == epoch)
                files[chosen], rows[chosen] = self.in_epoch(epoch).at(places[chosen])
        return self.rows_at(files, rows)

    def rows_at(self, files: Ints, rows: Ints) -> pa.RecordBatch:
        """Return rows of files: the number of each file, and of the row within the rows read from it."""
        batch = self._gathered(files, rows)
        return self._with_ids(batch, files, rows) if self.id_columns else batch

    @cached_property
    def numbers(self) -> dict[str, list[int]]:
        """The numbers of the files with each name: a union may read a file more than once."""
        found: dict[str, list[int]] = {}
        for number, file in enumerate(self.files):
            found.setdefault(file.name, []).append(number)
        return found

    def in_epoch(self, epoch: int) -> FileTurns | EndlessFileTurns:
        """Return the order of an epoch."""
        epoch = epoch if self.changes_by_epoch else 0
        found = self._known.get(epoch)
        if found is None:
            while len(self._known) >= _KNOWN_EPOCHS:
                del self._known[next(iter(self._known))]
            lengths, cycle, block = self._lengths, self.order.cycle, self.order.block
            if self.order.is_endless:
                epochs = epochs_of_stretch(len(lengths), changes=self.changes_by_epoch)
                found = EndlessFileTurns(lengths, lambda later: self._order_of(epoch + later), cycle, block, epochs)
            else:
                found = FileTurns(lengths, self._order_of(epoch), cycle, block)
            self._known[epoch] = found
        return found

    def _order_of(self, epoch: int) -> Ints:
        """Return the order of the files of an epoch."""
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
        """Return rows of files: rows of one file are copied together and then ordered; if few are consecutive, rows are copied
        one by one.
        """
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
        """Return rows of the table, given as consecutive runs that begin at these places."""
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
    """Return the places at which runs of neighbours begin."""
    if int(numbers[-1]) - int(numbers[0]) == len(numbers) - 1 and bool((np.diff(numbers) == 1).all()):
        return [0]
    return [0, *(np.flatnonzero(numbers[1:] - numbers[:-1] != 1) + 1).tolist()]


# `GeneratorJob`: the rows of a user's generator, which is called again at each read.


_BATCH_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class GeneratorJob(RowJob):
    """One call of a generator; a job (see `RowJob`).

    Attributes:
        recipe: the generator and its arguments.
    """

    recipe: Recipe

    @property
    def is_independent(self) -> bool:
        """See `RowJob.is_independent`: the call has its own lists of arguments."""
        return True

    def batches(self, skip: int, *, in_order: bool, mark: Any = None) -> Generator[JobOutput]:
        """See `RowJob.batches`; without features, rows are delivered as they were yielded.

        Rows are delivered while others are generated.

        Raises:
            DatasetGenerationError: the generator fails, or yields a value that is not a dict; earlier rows are delivered.
            CellCastError: a value does not fit its feature.
        """
        features = self.recipe.features
        encoder = None if features is None else RowEncoder(features, extra_columns=self.recipe.extra_columns)
        # Each row is copied: the generator may fill one dict again and again, and the next row is made when this one is read.
        rows = Chunks(self._rows(skip), max_rows=_MOST_ROWS, max_bytes=_BATCH_BYTES, copies=True, are_rows=True, is_live=True)
        failure: DatasetsCoreError | None = None
        row = skip
        while failure is None:
            try:
                chunk = rows.take()
            except DatasetsCoreError as error:
                chunk, failure = rows.taken, error
            if not chunk and failure is None:
                return
            if chunk:
                try:
                    made: JobRows = chunk if encoder is None else encoder.encode(chunk)
                except CellCastError as error:
                    raise renumbered(error, row, self.recipe) from error
                row += len(chunk)
                rows.measured(0 if isinstance(made, list) else made.nbytes, len(chunk))
                yield made
        raise failure

    def _rows(self, skip: int) -> Iterator[Any]:
        row = -1
        try:
            for row, found in enumerate(self.recipe.started()):
                if not isinstance(found, Mapping):
                    raise DatasetGenerationError(
                        f"The generator yielded {type(found).__name__} as row {row}, which is not a dict. Yield dicts.",
                        row=row,
                    )
                if row >= skip:
                    yield dict(found)
        except DatasetsCoreError:
            raise
        except Exception as error:
            raise failed_at(row + 1, error) from error


def rows_of_generator(
    generator: Callable[..., Iterable[Mapping[str, Any]]],
    gen_kwargs: Mapping[str, Any] | None,
    features: Features | None,
    split: str,
    extra_columns: str,
) -> RowsOfJobs:
    """Return the rows of a generator; lists of the same length among its arguments divide them into jobs.

    Raises:
        ArgumentTypeError: the generator is not callable.
    """
    kwargs = named_arguments(gen_kwargs)
    check_callable(generator)
    check_columns(extra_columns)
    recipe = Recipe(generator, kwargs, features, split, extra_columns=extra_columns)
    lengths = {len(value) for value in kwargs.values() if isinstance(value, list)}
    parts = divided(kwargs, max(1, *lengths)) if len(lengths) == 1 else [kwargs]
    jobs = tuple(GeneratorJob(replace(recipe, kwargs=part)) for part in parts)
    return RowsOfJobs(jobs, features, MediaPaths(None), partial(_signed, recipe))


def _signed(recipe: Recipe) -> list[Any]:
    name = getattr(recipe.generator, "__qualname__", type(recipe.generator).__name__)
    try:
        options = [recipe.extra_columns] if recipe.extra_columns != "raise" else []  # which states of before do not name
        return [f"rows of {name}", Hasher.hash((recipe.generator, dict(recipe.kwargs))), *options]
    except UnhashableError:  # it is known by its name
        return [f"rows of {name}", ""]

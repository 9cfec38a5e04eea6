"""`RowTable`: an immutable sequence of rows over the record batches of shards.

A table is a list of *pieces*, each a range of rows of one record batch, kept as numpy arrays.  Slices, selections and
concatenations compute with pieces; a batch is opened when a row of it is read.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.arrow import taken
from datasets_core.meta.info import Deferred
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import kind_of
from datasets_core.store.pieces import BatchLocations, FileStructure, Places, cut, pieces_of, stacked, whole_ranges
from datasets_core.store.pieces import Ints as Ints
from datasets_core.store.shard import MAX_MAPPED, ColumnsShard, FileShard, MemoryShard, Shard, ShardCache, loaded

if TYPE_CHECKING:
    import numpy.typing as npt


# `LazyShards`: the shards of a table, each made on first use: of a hundred thousand files most are never
# touched.


class LazyShards(Sequence[Shard]):
    """Shards with known numbers of rows, made on first use.

    Args:
        rows: number of rows of each batch, for each shard.
        made: returns a shard, given its number.

    >>> from datasets_core.store.shard import MemoryShard
    >>> shards = LazyShards([[2], [1, 1]], lambda number: MemoryShard([], pa.schema([])))
    >>> len(shards), shards[1] is shards[-1]
    (2, True)
    """

    def __init__(self, rows: Sequence[Sequence[int]], made: Callable[[int], Shard]) -> None:
        self.rows, self._made = rows, made
        self._known: dict[int, Shard] = {}

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Shard: ...
    @overload
    def __getitem__(self, index: slice) -> list[Shard]: ...
    def __getitem__(self, index: int | slice) -> Shard | list[Shard]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        found = self._known.get(number := index if 0 <= index < len(self) else range(len(self))[index])
        if found is None:  # where two threads make it at once, that of the first stays
            found = self._known.setdefault(number, self._made(number))
        return found


_ROWS_PER_TAKE = 5  # a take costs as much as so many slices of one row
_ROWS_PER_RUN = 64  # from here on, runs of rows are read as slices
_ROWS_AT_FIRST, _GATHERED_BYTES = 1 << 10, 16 << 20  # of a gather that is written
_WHOLE_BYTES, _CHUNKED_BYTES = 32 << 20, 1 << 30  # up to here, pieces, or each of their columns, are gathered at once, ...
_WHOLE_PART = 8  # ... if one row in so many is wanted: a copy in order costs a twentieth of a gather, except for ...
_WIDE_BYTES = 1 << 10  # ... rows of so many bytes


class RowTable:
    """An immutable sequence of rows; see the constructors `from_table`, `from_batches`, `from_shards`, `from_file`.

    Attributes:
        num_rows: total number of rows.
        starts: the row at which each piece begins; ascending, one entry for each piece.
        structure: positions of the rows in the files that they were built from, if recorded.
    """

    def __init__(
        self, shards: Sequence[Shard], schema: pa.Schema | Deferred, pieces: Ints, structure: FileStructure | None = None
    ) -> None:
        """Make a table of pieces.

        Args:
            shards: shards of the batches.
            schema: schema of every batch.
            pieces: one row for each piece: shard, batch, first row in the batch, number of rows (above 0).
            structure: row ranges in the source files; None if unknown.
        """
        self.structure = structure
        if isinstance(schema, Deferred):
            self._deferred = schema
        else:
            self.schema = schema
        self._shards = shards if isinstance(shards, LazyShards) else tuple(shards)
        self._pieces = pieces
        self._holds = len(self._shards) <= MAX_MAPPED
        ends = np.cumsum(pieces[:, 3])
        self.num_rows = int(ends[-1]) if len(ends) else 0
        self.starts: Ints = ends - pieces[:, 3]
        self._start_list: list[int] | None = None
        self._places: Places | None = None
        self._opened: dict[int, pa.RecordBatch] = {}
        self._compared: set[int] = set()
        self._ended = 0, 0

    @cached_property
    def schema(self) -> pa.Schema:
        """The schema of every batch."""
        return self._deferred.value

    @property
    def has_schema(self) -> bool:
        """True if the schema is known already."""
        return "schema" in vars(self)

    # -- constructors --------------------------------------------------------------------------------------------------

    @classmethod
    def from_table(cls, table: pa.Table) -> RowTable:
        """The rows of a table in memory."""
        return cls.from_batches(table.to_batches(), table.schema)

    @classmethod
    def from_batches(cls, batches: Iterable[pa.RecordBatch], schema: pa.Schema | None = None) -> RowTable:
        """The rows of batches in memory, all of one schema."""
        held = list(batches)
        if schema is None:
            if not held:
                raise CastError("A table without batches needs a schema", advice="Give a schema")
            schema = held[0].schema
        return cls.from_shards([MemoryShard(held, schema)])

    @classmethod
    def from_shards(
        cls,
        shards: Sequence[Shard],
        ranges: Sequence[tuple[int, int, int]] | Ints | None = None,
        *,
        schema: pa.Schema | Deferred | None = None,
        structure: FileStructure | None = None,
    ) -> RowTable:
        """Rows of shards.

        Args:
            shards: the shards.
            ranges: (shard, first row, row after the last), in reading order; None: every row of every shard.
            schema: schema of the shards; None: that of the first.
            structure: positions of the rows in the files that they were built from.
        """
        rows = shards.rows if isinstance(shards, LazyShards) else [shard.batch_rows() for shard in shards]
        pieces = pieces_of(whole_ranges(rows) if ranges is None else ranges, rows)
        if schema is None:
            if not shards:
                raise CastError("A table without shards needs a schema", advice="Give a schema")
            schema = shards[0].schema
        return cls(shards, schema, pieces, structure)

    @classmethod
    def from_file(
        cls, path: str, *, validate: bool = True, in_memory: bool = False, storage_options: dict[str, Any] | None = None
    ) -> RowTable:
        """The rows of an Arrow file (file or stream format) or a Parquet file.

        Args:
            path: local path or URL.
            validate: True to check every value: files of others may have offsets that point outside the file.
            in_memory: True to read the file instead of mapping it.
            storage_options: options for fsspec.

        Raises:
            DamagedShardError: the file is truncated, damaged or of another kind.
        """
        shard = FileShard(
            path, kind_of(path, storage_options), ShardCache(), in_memory=in_memory, storage_options=storage_options
        )
        if validate:
            shard.validate()
        return cls.from_shards([loaded(shard) if in_memory else shard])

    @classmethod
    def concat(cls, tables: Sequence[RowTable]) -> RowTable:
        """The rows of several tables, one after the other.

        Raises:
            CastError: their columns or types differ.
        """
        if not tables:
            raise CastError("Nothing to concatenate", advice="Give at least one table")
        schema = tables[0].schema
        shards: list[Shard] = []
        places: dict[int, int] = {}  # a table that comes twice brings its shards once
        pieces = []
        for number, table in enumerate(tables):
            if not table.schema.equals(schema):
                raise CastError(
                    f"Table {number} has the columns {_columns(table.schema)}, but the first has {_columns(schema)}",
                    advice="Cast it first",
                )
            for shard in table._shards:
                if places.setdefault(id(shard), len(shards)) == len(shards):
                    shards.append(shard)
            moved = table._pieces.copy()
            if len(moved):
                moved[:, 0] = np.array([places[id(shard)] for shard in table._shards])[moved[:, 0]]
            pieces.append(moved)
        return cls(shards, schema, stacked(pieces))

    # -- properties -------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.num_rows

    @property
    def num_pieces(self) -> int:
        """Number of pieces."""
        return len(self._pieces)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    @property
    def files(self) -> list[str]:
        """The files of the rows, each once, in reading order; empty for rows in memory."""
        used = [self._shards[shard].paths for shard in dict.fromkeys(self._pieces[:, 0].tolist())]
        return list(dict.fromkeys(path for paths in used for path in paths))

    @property
    def is_all_mapped(self) -> bool:
        """True if holding any piece is free; see `is_mapped`."""
        return self._holds and all(shard.is_mapped for shard in self._shards)

    def whole_files(self) -> list[FileShard] | None:
        """The files, if the rows are all rows of local Arrow files in their order; None otherwise."""
        shards = [self._shards[shard] for shard in dict.fromkeys(self._pieces[:, 0].tolist())]
        held = [
            shard for shard in shards if isinstance(shard, FileShard) and shard.is_arrow and shard.schema.equals(self.schema)
        ]
        if not held or len(held) < len(shards):
            return None
        rows = [shard.batch_rows() for shard in held]
        whole = pieces_of(whole_ranges(rows), rows)
        numbers = {id(shard): number for number, shard in enumerate(self._shards)}
        whole[:, 0] = np.array([numbers[id(shard)] for shard in held], dtype=np.int64)[whole[:, 0]]
        return held if np.array_equal(whole, self._pieces) else None

    @property
    def num_bytes(self) -> int:
        """Bytes of the rows in Arrow's layout; opens every batch."""
        return sum(self.piece(k).nbytes for k in range(self.num_pieces))

    @property
    def _fingerprint(self) -> str:
        """The identity of the rows: the content of rows in memory, the identity of files, but not their location."""
        parts: list[Any] = []
        shards = self._pieces[:, 0]
        borders = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), len(shards)] if len(shards) else []
        in_memory: list[pa.RecordBatch] = []  # of neighbouring pieces: their content is one, however it is cut

        def settle() -> None:
            if in_memory:
                parts.append(pa.Table.from_batches(in_memory).replace_schema_metadata(None))
                in_memory.clear()

        for start, stop in itertools.pairwise(borders):
            shard = self._shards[int(shards[start])]
            if _is_in_memory(shard):
                in_memory.extend(self.piece(k) for k in range(start, stop))
            else:
                settle()
                parts += [shard.identity, self._pieces[start:stop, 1:]]
        settle()
        return Hasher.hash(("rows", self.schema.remove_metadata(), parts))

    def shard(self, number: int) -> Shard:
        """Return a shard by its number in the pieces."""
        return self._shards[number]

    def piece(self, k: int) -> pa.RecordBatch:
        """The rows of piece `k`: a view of a mapped file, opened at the first call.

        Raises:
            DamagedShardError: the file has changed since it was written.
        """
        found = self._opened.get(k)
        if found is not None:
            return found
        shard, batch, first, rows = self._pieces[k].tolist()
        opened = self._shards[shard].batch(batch)
        if first or rows != opened.num_rows:
            opened = opened.slice(first, rows)
        if self._holds and self._shards[shard].is_mapped:  # else the shard cache decides how long it is kept
            self._opened[k] = opened
        return opened

    def compare(self, k: int) -> None:
        """Compare the batch of piece `k`, which will be read whole, with its checksum (`Shard.compare`)."""
        if k not in self._compared:
            shard, batch = self._pieces[k, :2].tolist()
            if self._shards[shard].path is not None:
                self._shards[shard].compare(batch)
            self._compared.add(k)

    def passed(self, k: int, start: int, stop: int) -> None:
        """Compare piece `k` if rows `start` to `stop` begin with its first row, or follow the last run that was read."""
        if not start or self._ended == (k, start):
            self.compare(k)
        self._ended = k, stop

    def run(self, k: int, start: int, stop: int) -> pa.RecordBatch:
        """Return rows `start` to `stop` of piece `k` (see `passed`)."""
        self.passed(k, start, stop)
        piece = self.piece(k)
        return piece if not start and stop >= piece.num_rows else piece.slice(start, stop - start)

    def is_mapped(self, k: int) -> bool:
        """True if holding piece `k` is free: a decoded piece takes memory; of very many files, only few can be mapped."""
        return self._holds and self._shards[int(self._pieces[k, 0])].is_mapped

    @property
    def places(self) -> Places:
        """Locations of the rows in shard files of a build; opens nothing."""
        if self._places is None:
            self._places = Places(self._shards, self._pieces, is_one_build=isinstance(self._shards, LazyShards))
        return self._places

    def locate(self, row: int) -> tuple[int, int]:
        """The piece of a row, and the row within the piece; the row must exist."""
        starts = self._start_list
        if starts is None:
            starts = self._start_list = self.starts.tolist()
        k = bisect_right(starts, row) - 1
        return k, row - starts[k]

    def batches(self, max_rows: int | None = None, start: int = 0, stop: int | None = None) -> Iterator[pa.RecordBatch]:
        """The rows from `start` to `stop` in order, as views of pieces.

        Args:
            max_rows: maximum number of rows of a batch. A batch never extends beyond its piece, so it may be shorter.
            start, stop: the rows, as in a Python slice with bounds that are not negative.
        """
        stop = self.num_rows if stop is None else min(stop, self.num_rows)
        if start >= stop:
            return
        k, offset = self.locate(start)
        left = stop - start
        while left:
            piece = self.piece(k)
            end = min(piece.num_rows, offset + left)
            self.passed(k, offset, end)
            left -= end - offset
            step = max_rows or end - offset
            for at in range(offset, end, step):
                rows = min(step, end - at)
                yield piece if rows == piece.num_rows else piece.slice(at, rows)
            k, offset = k + 1, 0

    def to_table(self) -> pa.Table:
        """All rows as a table; views of mapped files stay views."""
        return pa.Table.from_batches(self._held(self.batches()), self.schema)

    def _held(self, batches: Iterable[pa.RecordBatch]) -> list[pa.RecordBatch]:
        """Return views of pieces that are held together; if they are from very many files, they are copied."""
        if self._holds:
            return list(batches)
        held: list[pa.RecordBatch] = []
        rest = iter(batches)
        while part := list(itertools.islice(rest, MAX_MAPPED)):
            held.append(pa.concat_batches(part) if len(part) > 1 else part[0])
        return held

    # -- other tables --------------------------------------------------------------------------------------------------

    def slice(self, start: int, stop: int) -> RowTable:
        """The rows from `start` to `stop`, clamped; opens nothing."""
        start, stop = max(start, 0), min(stop, self.num_rows)
        if (start, stop) == (0, self.num_rows):
            return self
        structure = None if self.structure is None else self.structure.cut(start, max(start, stop))
        return RowTable(self._shards, self.schema, cut(self._pieces, start, stop), structure)

    def select(self, names: Sequence[str]) -> RowTable:
        """Return the columns `names`, in that order; opens nothing.

        Raises:
            CastError: a column is unknown.
        """
        known = self.schema.names
        for name in names:
            if known.count(name) != 1:
                raise CastError(f"Unknown column {name!r}. Available columns: {', '.join(map(repr, known))}.", value=name)
        columns = [known.index(name) for name in names]
        return self._with_columns(columns, pa.schema([self.schema.field(column) for column in columns], self.schema.metadata))

    def rename(self, names: Sequence[str]) -> RowTable:
        """The same columns by other names; opens nothing.

        Raises:
            CastError: the number of names differs from the number of columns.
        """
        if len(names) != len(self.schema):
            raise CastError(f"{len(names)} names for {len(self.schema)} columns", advice="Give one name for each column")
        fields = [field.with_name(name) for field, name in zip(self.schema, names, strict=True)]
        return self._with_columns(list(range(len(names))), pa.schema(fields, self.schema.metadata))

    def with_metadata(self, metadata: dict[bytes, bytes] | None) -> RowTable:
        """The same rows with other schema metadata."""
        return self._with_columns(list(range(len(self.schema))), self.schema.with_metadata(metadata))

    def _with_columns(self, columns: list[int], schema: pa.Schema) -> RowTable:
        shards: list[Shard] = []
        for shard in self._shards:
            if isinstance(shard, ColumnsShard):
                shards.append(ColumnsShard(shard.inner, [shard.columns[column] for column in columns], schema))
            else:
                shards.append(ColumnsShard(shard, columns, schema))
        return RowTable(shards, schema, self._pieces, self.structure)

    # -- rows by number ------------------------------------------------------------------------------------------------

    def take(self, indices: npt.NDArray[np.integer[Any]]) -> pa.Table:
        """The rows at `indices`, in their order, with repetitions.

        They are read by one gather over their pieces; if these are large, by one gather for each piece and one that orders the
        rows; a few scattered rows, one by one.  Runs of consecutive rows are slices, without a copy.

        Args:
            indices: row numbers from 0, none negative.

        Raises:
            IndexError: a row does not exist.
        """
        rows: Ints = np.ascontiguousarray(indices, dtype=np.int64)
        if not len(rows):
            return self.schema.empty_table()
        low, high = int(rows.min()), int(rows.max())
        if low < 0 or high >= self.num_rows:
            raise IndexError(f"Row {low if low < 0 else high} is out of range: there are {self.num_rows} rows.")
        breaks = np.flatnonzero(rows[1:] - rows[:-1] != 1) + 1
        if (len(breaks) + 1) * _ROWS_PER_RUN <= len(rows) or not len(breaks):
            runs = itertools.pairwise([0, *breaks.tolist(), len(rows)])
            spans = [(int(rows[start]), int(rows[stop - 1]) + 1) for start, stop in runs]
            batches = (batch for start, stop in spans for batch in self.batches(start=start, stop=stop))
            return pa.Table.from_batches(self._held(batches), self.schema)
        if len(rows) == 1:
            k, offset = self.locate(low)
            return pa.Table.from_batches([self.piece(k).slice(offset, 1)], self.schema)
        return self._gather(rows, np.searchsorted(self.starts, rows, side="right") - 1)

    def batches_at(self, indices: Ints) -> Iterator[pa.RecordBatch]:
        """The rows at `indices` in their order, gathered some megabytes at a time, for writing.

        Args:
            indices: row numbers from 0, each existing.
        """
        start, step = 0, _ROWS_AT_FIRST
        while start < len(indices):
            found = self.take(indices[start : start + step])
            yield from found.to_batches()
            start += found.num_rows
            step = max(1, _GATHERED_BYTES * found.num_rows // max(1, found.nbytes))

    def _gather(self, rows: Ints, pieces: Ints) -> pa.Table:
        try:
            return self._gathered(rows, pieces)
        except pa.ArrowNotImplementedError:  # views of texts, and run-end encodings, which pyarrow slices but does not take
            return self._sliced(rows, pieces)
        except (pa.ArrowInvalid, pa.ArrowCapacityError):
            # More bytes of text, lists or binary than 32-bit offsets reach.
            if len(rows) == 1:
                raise
            half = len(rows) // 2
            return pa.concat_tables([self._gather(rows[:half], pieces[:half]), self._gather(rows[half:], pieces[half:])])

    def _gathered(self, rows: Ints, pieces: Ints) -> pa.Table:
        whole = self._whole_if_small(rows, pieces)
        if whole is not None:
            return whole
        in_order = bool((pieces[1:] >= pieces[:-1]).all())
        narrow = pieces.astype(np.uint16) if self.num_pieces <= 1 << 16 else pieces  # which numpy sorts six times as fast
        order = np.arange(len(rows)) if in_order else np.argsort(narrow, kind="stable")
        sorted_pieces = pieces[order]
        borders = [0, *(np.flatnonzero(np.diff(sorted_pieces)) + 1).tolist(), len(rows)]
        touched = sorted_pieces[borders[:-1]].tolist()
        if len(rows) <= _ROWS_PER_TAKE * len(touched) and all(map(self.is_mapped, touched)):
            return self._sliced(rows, pieces)
        batches = []
        for start, stop in itertools.pairwise(borders):
            k = int(sorted_pieces[start])
            if _WHOLE_PART * (stop - start) >= int(self._pieces[k, 3]):
                self.compare(k)
            batches.append(taken(self.piece(k), rows[order[start:stop]] - self.starts[k]))
        if in_order:
            return pa.Table.from_batches(batches, self.schema)
        places = np.empty_like(order)
        places[order] = np.arange(len(rows))
        return pa.Table.from_batches([taken(pa.concat_batches(batches), places)], self.schema)

    def _whole_if_small(self, rows: Ints, pieces: Ints) -> pa.Table | None:
        """The rows by one gather over a copy of their pieces; None if the copy would cost more."""
        touched = np.flatnonzero(np.bincount(pieces))
        num_rows = int(self._pieces[touched, 3].sum())
        if len(rows) * _WHOLE_PART < num_rows or len(touched) > MAX_MAPPED:
            return None
        num_bytes, batches = 0, []
        for k in touched.tolist():
            self.compare(k)
            batches.append(self.piece(k))
            num_bytes += batches[-1].nbytes
            if num_bytes > _CHUNKED_BYTES:
                return None
        if 2 * len(rows) < num_rows and num_bytes > _WIDE_BYTES * num_rows:
            return None
        moved = np.zeros(self.num_pieces, np.int64)
        moved[touched] = np.cumsum(self._pieces[touched, 3]) - self._pieces[touched, 3] - self.starts[touched]
        places = rows + moved[pieces]
        if num_bytes > _WHOLE_BYTES:
            return taken(pa.Table.from_batches(batches, self.schema), places).combine_chunks()
        whole = batches[0] if len(batches) == 1 else pa.concat_batches(batches)
        return pa.Table.from_batches([taken(whole, places)], self.schema)

    def _sliced(self, rows: Ints, pieces: Ints) -> pa.Table:
        """The rows, read one by one and concatenated."""
        found = zip(pieces.tolist(), (rows - self.starts[pieces]).tolist(), strict=True)
        single = [self.piece(k).slice(offset, 1) for k, offset in found]
        return pa.Table.from_batches([pa.concat_batches(single)], self.schema)

    # -- other processes -----------------------------------------------------------------------------------------------

    def __reduce__(self) -> tuple[Any, ...]:
        used, numbers = np.unique(self._pieces[:, 0], return_inverse=True)
        shards = [self._shards[index] for index in used.tolist()]
        pieces = self._pieces.copy()
        pieces[:, 0] = numbers.reshape(-1)
        in_memory = [index for index, shard in enumerate(shards) if shard.path is None]
        elsewhere = self._files_elsewhere(len(shards))
        if in_memory:  # only the rows that this table shows travel
            held = np.flatnonzero(np.isin(pieces[:, 0], in_memory))
            places = self.places
            known = places.paths, places.names, places.files[held], places.firsts[held]
            locations = BatchLocations(*known) if places.paths else None
            shards.append(MemoryShard([self.piece(k) for k in held.tolist()], self.schema, locations))
            pieces[held, 0], pieces[held, 1], pieces[held, 2] = len(shards) - 1, np.arange(len(held)), 0
            shards = [_NOTHING if index in in_memory else shard for index, shard in enumerate(shards)]
        return _restored, (shards + elsewhere, self.schema.serialize().to_pybytes(), pieces, self.structure)

    def _files_elsewhere(self, used: int) -> list[Shard]:
        """Return placeholders for dropped shards whose files share names with others, so that ids contain more of the path."""
        if used == len(self._shards) or isinstance(self._shards, LazyShards):
            return []
        places = self.places
        if len(set(places.names)) == len(places.names):
            return []
        return [MemoryShard([], self.schema, BatchLocations(places.paths, places.names, None, np.zeros(0, np.int64)))]


def _restored(shards: list[Shard], schema: bytes, pieces: Ints, structure: FileStructure | None = None) -> RowTable:
    return RowTable(shards, pa.ipc.read_schema(pa.py_buffer(schema)), pieces, structure)


_NOTHING = MemoryShard([], pa.schema([]))  # in place of a shard whose rows are elsewhere


def _is_in_memory(shard: Shard) -> bool:
    return isinstance(shard, MemoryShard) or (isinstance(shard, ColumnsShard) and _is_in_memory(shard.inner))


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)


# `DerivedShard`: base of shards over tables: their batches are made from a table's pieces when they are read.


class DerivedShard:
    """Batches made from the pieces of tables; subclasses implement `batch`.

    Args:
        kind: distinguishes it from other shards over the same tables.
        tables: the inputs.
        rows: number of rows of each batch.
        schema: schema of each batch.
        parts: further values that determine the rows.
    """

    def __init__(self, kind: str, tables: Sequence[RowTable], rows: Sequence[int], schema: pa.Schema, *parts: Any) -> None:
        self.schema = schema
        self._kind, self._tables, self._rows, self._parts = kind, tuple(tables), list(rows), parts

    @property
    def paths(self) -> tuple[str, ...]:
        return self._paths

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(path for table in self._tables for path in table.files))

    @property
    def path(self) -> str | None:
        return self.paths[0] if self.paths else None

    @property
    def is_mapped(self) -> bool:
        return all(table.is_all_mapped for table in self._tables)

    @property
    def identity(self) -> str:
        return Hasher.hash((self._kind, *self._tables, *self._parts))

    def batch_rows(self) -> list[int]:
        return list(self._rows)

    def batch(self, index: int) -> pa.RecordBatch:
        raise NotImplementedError

    def compare(self, index: int) -> None:
        """See `Shard`."""
        for table, pieces, _ in self._origins():
            table.compare(int(pieces[index]))

    def locations(self) -> BatchLocations | None:
        """See `Shard`: locations of the rows of the first table that has any."""
        for table, pieces, offsets in self._origins():
            places = table.places
            if places.paths:
                return BatchLocations(places.paths, places.names, places.files[pieces], places.firsts[pieces] + offsets)
        return None

    def _origins(self) -> Iterable[tuple[RowTable, Ints, Ints]]:
        """Tables whose rows are in the batches: for each batch the piece of the table, and the first row in that piece."""
        count = len(self._rows)
        return [(self._tables[0], np.arange(count), np.zeros(count, np.int64))]


def zipped(left: RowTable, right: RowTable) -> RowTable:
    """The columns of two tables with the same number of rows, those of `left` first; opens nothing and copies nothing.

    >>> zipped(RowTable.from_table(pa.table({"a": [1, 2]})), RowTable.from_table(pa.table({"b": [3, 4]}))).column_names
    ['a', 'b']

    Raises:
        CastError: the tables do not have the same number of rows, or share the name of a column.
    """
    if left.num_rows != right.num_rows:
        raise CastError(
            f"Columns of {left.num_rows} and {right.num_rows} rows cannot be combined", advice="Give one value for each row"
        )
    shared = [name for name in right.column_names if name in left.schema.names]
    if shared:
        raise CastError(f"Two columns would have the name {shared[0]!r}", advice="Rename one of them")
    merged = np.sort(np.concatenate([left.starts, right.starts]))
    starts = merged[np.diff(merged, prepend=-1) > 0]  # `np.union1d` would import numpy.ma: 15 ms
    rows = np.diff(np.append(starts, left.num_rows))
    spans = np.empty((len(starts), 5), dtype=np.int64)
    for place, table in ((0, left), (2, right)):
        spans[:, place] = np.searchsorted(table.starts, starts, side="right") - 1
        spans[:, place + 1] = starts - table.starts[spans[:, place]]
    spans[:, 4] = rows
    schema = pa.schema([*left.schema, *right.schema], left.schema.metadata)
    return RowTable.from_shards([ZippedShard(left, right, spans, schema)])


class ZippedShard(DerivedShard):
    """Rows of two tables, side by side.

    Args:
        left, right: the tables.
        spans: for each batch, the piece of `left` and its first row there, the same for `right`, and the number of rows.
        schema: schema of both together.
    """

    def __init__(self, left: RowTable, right: RowTable, spans: Ints, schema: pa.Schema) -> None:
        super().__init__("beside", (left, right), spans[:, 4].tolist(), schema)
        self._left, self._right, self._spans = left, right, spans

    def batch(self, index: int) -> pa.RecordBatch:
        k, first, other, other_first, rows = self._spans[index].tolist()
        left, right = self._left.piece(k).slice(first, rows), self._right.piece(other).slice(other_first, rows)
        if not len(self.schema):
            return left
        return pa.RecordBatch.from_arrays([*left.columns, *right.columns], schema=self.schema)

    def _origins(self) -> Iterable[tuple[RowTable, Ints, Ints]]:
        spans = self._spans
        return [(self._left, spans[:, 0], spans[:, 1]), (self._right, spans[:, 2], spans[:, 3])]

    def __reduce__(self) -> tuple[object, ...]:
        return _zipped_shard, (self._left, self._right, self._spans, self.schema.serialize().to_pybytes())


def _zipped_shard(left: RowTable, right: RowTable, spans: Ints, schema: bytes) -> ZippedShard:
    return ZippedShard(left, right, spans, pa.ipc.read_schema(pa.py_buffer(schema)))

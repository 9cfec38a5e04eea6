"""Tables and files of rows as `datasets.table`, `datasets.arrow_writer` and `datasets.arrow_reader` have them."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar, Self

import pyarrow as pa

from datasets_core import files
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, DatasetsCoreError
from datasets_core.features.base import FeatureType, Value, needs_decoding
from datasets_core.features.cast import cast_array, cast_table
from datasets_core.features.media.media import embed_table
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.table import RowTable


class Table:
    """An Arrow table; `table` is that of pyarrow, whose attributes and methods this class has too.

    >>> InMemoryTable.from_pydict({"a": [1, 2]}).slice(1).table.to_pydict()
    {'a': [2]}
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    @property
    def blocks(self) -> list[list[Table]]:
        """The tables that this one was put together from: rows of tables that lie side by side."""
        return [[self]]

    def __getattr__(self, name: str) -> Any:
        if name == "table" or name.startswith("__"):  # not there yet: it is being unpickled
            raise AttributeError(name)
        try:
            found = getattr(self.table, name)
        except AttributeError:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}") from None
        return partial(self._call, name, found) if callable(found) else found

    def _call(self, name: str, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        found = method(*args, **kwargs)
        return self._made(found, (name, args, kwargs)) if isinstance(found, pa.Table) else found

    def _made(self, table: pa.Table, replay: Replay) -> Table:
        """Return the result of a method of the table."""
        return InMemoryTable(table)

    def cast(self, *args: Any, **kwargs: Any) -> Table:
        """Return the table with the types of a schema, by the rules of features: fields of structs are found by name."""
        return self._made(_cast(self.table, *args, **kwargs), ("cast", args, kwargs))

    def __getitem__(self, key: Any) -> Any:
        return self.table[key]

    def __len__(self) -> int:
        return len(self.table)

    def __eq__(self, other: object) -> bool:
        return bool(self.table == getattr(other, "table", other))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.table).replace("pyarrow.Table", type(self).__name__)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self  # Arrow data do not change

    def equals(self, other: Any, check_metadata: bool = False) -> bool:
        """Return True if both tables have the same columns and values."""
        return bool(self.table.equals(getattr(other, "table", other), check_metadata=check_metadata))

    def fast_slice(self, offset: int = 0, length: int | None = None) -> pa.Table:
        """Return some rows, as a table of pyarrow."""
        return self.table.slice(offset, length)


class InMemoryTable(Table):
    """A table in memory."""

    @classmethod
    def from_file(cls, filename: str) -> Self:
        """Read an Arrow file, of either form."""
        with pa.OSFile(os.fspath(filename)) as source:
            return cls(_read(source))

    @classmethod
    def from_buffer(cls, buffer: pa.Buffer) -> Self:
        """Read the contents of an Arrow file."""
        return cls(_read(pa.BufferReader(buffer)))

    @classmethod
    def from_pandas(cls, *args: Any, **kwargs: Any) -> Self:
        """See `pyarrow.Table.from_pandas`."""
        return cls(pa.Table.from_pandas(*args, **kwargs))

    @classmethod
    def from_arrays(cls, *args: Any, **kwargs: Any) -> Self:
        """See `pyarrow.Table.from_arrays`."""
        return cls(pa.Table.from_arrays(*args, **kwargs))

    @classmethod
    def from_pydict(cls, *args: Any, **kwargs: Any) -> Self:
        """See `pyarrow.Table.from_pydict`."""
        return cls(pa.Table.from_pydict(*args, **kwargs))

    @classmethod
    def from_pylist(cls, mapping: Any, *args: Any, **kwargs: Any) -> Self:
        """See `pyarrow.Table.from_pylist`."""
        return cls(pa.Table.from_pylist(mapping, *args, **kwargs))

    @classmethod
    def from_batches(cls, *args: Any, **kwargs: Any) -> Self:
        """See `pyarrow.Table.from_batches`."""
        return cls(pa.Table.from_batches(*args, **kwargs))


class MemoryMappedTable(Table):
    """A table whose bytes are those of a file, and what was done to it since: its pickle holds both, and no rows.

    Args:
        table: the table.
        path: the file.
        replays: name, arguments and keyword arguments of each method that led from the file to the table.
    """

    def __init__(self, table: pa.Table, path: str, replays: Sequence[Replay] | None = None) -> None:
        super().__init__(table)
        self.path, self.replays = os.path.abspath(path), list(replays or ())

    @classmethod
    def from_file(cls, filename: str, replays: Sequence[Replay] | None = None) -> MemoryMappedTable:
        """Map an Arrow file, of either form, and call the methods that `replays` name."""
        made = cls(_read(pa.memory_map(os.fspath(filename))), filename)
        for name, args, kwargs in replays or ():
            made = getattr(made, name)(*args, **kwargs)
        return made

    def _made(self, table: pa.Table, replay: Replay) -> MemoryMappedTable:
        return MemoryMappedTable(table, self.path, [*self.replays, replay])

    def __reduce__(self) -> tuple[Any, ...]:
        return MemoryMappedTable.from_file, (self.path, self.replays)


class ConcatenationTable(Table):
    """Tables put together.

    Args:
        table: the rows of all of them.
        blocks: the tables: rows of tables that lie side by side.

    >>> upper, lower = InMemoryTable.from_pydict({"a": [1]}), InMemoryTable.from_pydict({"a": [2]})
    >>> ConcatenationTable.from_tables([upper, lower]).to_pydict()
    {'a': [1, 2]}
    """

    def __init__(self, table: pa.Table, blocks: list[list[Table]]) -> None:
        super().__init__(table)
        self._blocks = blocks

    @property
    def blocks(self) -> list[list[Table]]:
        """See `Table.blocks`."""
        return self._blocks

    @classmethod
    def from_blocks(cls, blocks: Any) -> ConcatenationTable:
        """Put tables together: a table, tables one below the other, or rows of tables side by side.

        Neighbours in memory become one table.
        """
        if isinstance(blocks, Table):
            blocks = [[blocks]]
        elif blocks and isinstance(blocks[0], Table):
            blocks = [[block] for block in blocks]
        return cls.from_tables([_beside(row) for row in blocks])

    @classmethod
    def from_tables(cls, tables: Sequence[Any], axis: int = 0) -> ConcatenationTable:
        """Join tables: rows below rows with `axis=0`, columns beside columns with `axis=1`."""
        held = [table if isinstance(table, Table) else InMemoryTable(table) for table in tables]
        if axis == 1:
            return _beside(held)
        rows: list[list[Table]] = []
        for row in (row for table in held for row in table.blocks):
            both = [*rows[-1], *row] if rows else []
            if len(both) == 2 and all(isinstance(each, InMemoryTable) for each in both):
                rows[-1] = [InMemoryTable(_below(both))]
            else:
                rows.append(list(row))
        return cls(_below(held), rows)

    def _made(self, table: pa.Table, replay: Replay) -> ConcatenationTable:
        name, args, kwargs = replay
        if name == "slice":
            return ConcatenationTable(table, _sliced(self.blocks, *args, **kwargs))
        return ConcatenationTable(table, [[InMemoryTable(table)]])

    def __reduce__(self) -> tuple[Any, ...]:
        return _joined, (self.blocks, self.table.schema)


Replay = tuple[str, tuple[Any, ...], dict[str, Any]]


def _joined(blocks: list[list[Table]], schema: pa.Schema) -> ConcatenationTable:
    table = _below([_beside(row) for row in blocks])
    return ConcatenationTable(_cast(table, schema), blocks)


def _below(tables: Sequence[Any]) -> pa.Table:
    return pa.concat_tables([_plain(table) for table in tables], promote_options="default")


def _beside(tables: Sequence[Table]) -> ConcatenationTable:
    """Tables side by side; where their blocks end at different rows, all are cut there."""
    joined = tables[0].table
    for field, column in (pair for each in tables[1:] for pair in zip(each.table.schema, each.table.columns, strict=True)):
        joined = joined.append_column(field, column)
    ends = sorted({end for table in tables for end in itertools.accumulate(len(row[0]) for row in table.blocks)})
    blocks: list[list[Table]] = []
    for start, stop in itertools.pairwise([0, *ends]):
        row: list[Table] = []
        for block in (block for table in tables for line in _sliced(table.blocks, start, stop - start) for block in line):
            if row and isinstance(block, InMemoryTable) and isinstance(row[-1], InMemoryTable):
                row[-1] = InMemoryTable(_beside([Table(row[-1].table), Table(block.table)]).table)
            else:
                row.append(block)
        blocks.append(row)
    return ConcatenationTable(joined, blocks)


def _sliced(blocks: list[list[Table]], offset: int = 0, length: int | None = None) -> list[list[Table]]:
    """Return the blocks of some rows."""
    stop = sum(len(row[0]) for row in blocks) if length is None else offset + length
    found, start = [], 0
    for row in blocks:
        first, last, start = max(offset - start, 0), min(stop - start, len(row[0])), start + len(row[0])
        if first == 0 and last == len(row[0]):
            found.append(row)
        elif first < last:
            found.append([block.slice(first, last - first) for block in row])
    return found


def data_table(table: pa.Table, rows: RowTable) -> Table:
    """Return the rows of a dataset as a table that knows its files."""
    if not rows.files:
        return InMemoryTable(table)
    blocks: list[list[Table]] = []
    start = 0
    for shard, pieces in itertools.groupby(rows._pieces.tolist(), itemgetter(0)):
        path, length = rows.shard(shard).path, sum(piece[3] for piece in pieces)
        part = table.slice(start, length)
        blocks.append([InMemoryTable(part) if path is None else _MappedRows(part, path)])
        start += length
    return blocks[0][0] if len(blocks) == 1 else ConcatenationTable(table, blocks)


class _MappedRows(MemoryMappedTable):
    """Rows of a file of a dataset; its pickle holds them."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _MappedRows, (self.table, self.path, self.replays)


def _read(source: Any) -> pa.Table:
    try:
        return pa.ipc.open_stream(source).read_all()
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_file(source).read_all()


def _plain(table: Any) -> pa.Table:
    return table.table if isinstance(table, Table) else table


def _cast(table: pa.Table, target_schema: pa.Schema, *_: Any, **__: Any) -> pa.Table:
    if table.schema == target_schema:
        return table.replace_schema_metadata(target_schema.metadata)
    return cast_table_to_schema(table, target_schema)


def concat_tables(tables: Sequence[Any], axis: int = 0) -> Table:
    """Join tables: rows below rows with `axis=0`, columns beside columns with `axis=1`."""
    if len(tables) == 1 and isinstance(tables[0], Table):
        return tables[0]
    return ConcatenationTable.from_tables(tables, axis)


def embed_table_storage(table: Any, token_per_repo_id: Any = None) -> pa.Table:
    """Return the table with the bytes of the files that its media name by path.

    Args:
        table: a table whose metadata say which columns hold media.
        token_per_repo_id: has no effect: the token of the settings is used.
    """
    table = _plain(table)
    return embed_table(table, Features.from_arrow_schema(table.schema))


def cast_table_to_features(table: Any, features: Features) -> pa.Table:
    """Return the table with the types of `features`.

    Raises:
        CastError: the columns differ, or a value does not fit.
    """
    return cast_table(_plain(table), features, fill_missing=False)


def cast_table_to_schema(table: Any, schema: pa.Schema) -> pa.Table:
    """Return the table with the types of `schema`; columns that it lacks are null.

    Raises:
        CastError: a column is not in the schema, or a value does not fit.
    """
    return cast_table(_plain(table), Features.from_arrow_schema(schema))


def cast_array_to_feature(array: pa.Array, feature: FeatureType, **_: bool) -> pa.Array:
    """Return the array with the type of a feature.

    Raises:
        CastError: a value does not fit.
    """
    return cast_array(array, feature)


def array_cast(array: pa.Array, pa_type: pa.DataType, **_: bool) -> pa.Array:
    """Return the array with another type."""
    return array.cast(pa_type)


def table_iter(table: Any, batch_size: int, drop_last_batch: bool = False) -> Iterator[pa.Table]:
    """Yield the rows in tables of `batch_size` rows."""
    table = _plain(table)
    stop = len(table) - len(table) % batch_size if drop_last_batch else len(table)
    for start in range(0, stop, batch_size):
        yield table.slice(start, min(batch_size, stop - start))


def table_flatten(table: Any) -> pa.Table:
    """Return the table with the fields of structs as columns of their own."""
    return _plain(table).flatten()


def read_schema_from_file(filename: str) -> pa.Schema:
    """Return the schema of an Arrow file, of either form."""
    with pa.memory_map(os.fspath(filename)) as source:
        return _read(source).schema


def require_decoding(feature: FeatureType, ignore_decode_attribute: bool = False) -> bool:
    """Return True if stored values of the feature are decoded when they are read."""
    return needs_decoding(feature)


class SchemaInferenceError(DatasetsCoreError, ValueError):
    """Nothing was written, and no features were given, so a file would have no columns."""


class TypedSequence:
    """Values that become an Arrow array of a type: `pa.array(TypedSequence(values, type=Value("int8")))`.

    Args:
        data: the values.
        type: the feature that they must have.
        try_type: a feature that they get where they fit; others have the inferred type.
        optimized_int_type: an integer type that they get where they are integers and fit.
        on_mixed_types: has no effect.

    >>> pa.array(TypedSequence([1, 2], type=Value("int8"))).type
    DataType(int8)
    """

    def __init__(
        self,
        data: Iterable[Any],
        type: FeatureType | None = None,
        try_type: FeatureType | None = None,
        optimized_int_type: FeatureType | None = None,
        on_mixed_types: str | None = None,
    ) -> None:
        if type is not None and try_type is not None:
            raise ArgumentTypeError("TypedSequence takes type= or try_type=, found both. Give one of them.")
        self.data, self.type, self.try_type, self.optimized_int_type = data, type, try_type, optimized_int_type
        self._inferred: FeatureType | None = None

    def get_inferred_type(self) -> FeatureType:
        """Return the feature of the array."""
        if self._inferred is None:
            self._inferred = Features.from_arrow_schema(pa.schema({"values": pa.array(self).type}))["values"]
        return self._inferred

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:
        if type is not None:
            raise ArgumentTypeError("Call pa.array(TypedSequence(...)) without a type. Give the feature by type=.")
        values = self.data if isinstance(self.data, list) else list(self.data)
        if self.type is not None:
            return self._encoded(values, self.type)
        for wanted in (self.try_type, self.optimized_int_type):
            if wanted is not None:
                try:
                    return self._encoded(values, wanted)
                except DatasetsCoreError:
                    continue
        return self._encoded(values, None)

    def _encoded(self, values: list[Any], feature: FeatureType | None) -> pa.Array:
        made = Dataset.from_dict({"values": values}, features=None if feature is None else Features({"values": feature}))
        self._inferred = made.features["values"]
        return made._table.to_table().column(0).combine_chunks()


_SMALL = {"attention_mask": "int8", "special_tokens_mask": "int8", "input_ids": "int32", "token_type_ids": "int8"}


class OptimizedTypedSequence(TypedSequence):
    """Values of the column `col`; those of tokenizers become small integers.

    >>> pa.array(OptimizedTypedSequence([[1, 0]], col="attention_mask")).type
    ListType(list<item: int8>)
    """

    def __init__(
        self,
        data: Iterable[Any],
        type: FeatureType | None = None,
        try_type: FeatureType | None = None,
        col: str | None = None,
        optimized_int_type: FeatureType | None = None,
        on_mixed_types: str | None = None,
    ) -> None:
        values = list(data)
        if type is None and try_type is None and col in _SMALL:
            first = next((value for value in values if value is not None), None)
            if isinstance(first, (list, tuple)):
                from datasets_core.features.base import List

                optimized_int_type = List(Value(_SMALL[col]))
            elif isinstance(first, int):
                optimized_int_type = Value(_SMALL[col])
        super().__init__(values, type, try_type, optimized_int_type, on_mixed_types)


class ArrowWriter:
    """Writes rows into an Arrow file.

    Args:
        schema: the Arrow schema of the rows; by default that of `features`, or of the first rows.
        features: the columns.
        path: the file to write, on this disk or a URL of fsspec.
        stream: an open Arrow sink, instead of `path`.
        fingerprint: of the rows, for their metadata.
        writer_batch_size: rows of one record batch; 1,000 by default.
        disable_nullable, update_features, on_mixed_types, with_metadata, unit, storage_options: as in `datasets`; types
            are taken from the first batch where none are given, and `with_metadata=False` leaves the features out of the file.
        embed_local_files: True to write the bytes of files that media name by path.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ArrowWriter(path=f"{folder}/a.arrow") as writer:
    ...         writer.write({"a": 1})
    ...         writer.write_batch({"a": [2, 3]})
    ...         writer.finalize()[0], Dataset.from_file(f"{folder}/a.arrow")["a"][:]
    (3, [1, 2, 3])
    """

    def __init__(
        self,
        schema: pa.Schema | None = None,
        features: Features | None = None,
        path: str | None = None,
        stream: Any = None,
        fingerprint: str | None = None,
        writer_batch_size: int | None = None,
        disable_nullable: bool = False,
        update_features: bool = False,
        on_mixed_types: str | None = "use_json",
        with_metadata: bool = True,
        unit: str = "examples",
        embed_local_files: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        if path is None and stream is None:
            raise ArgumentTypeError("ArrowWriter needs path= or stream=, found neither. Name the file to write.")
        self._features = features if features is not None else None if schema is None else Features.from_arrow_schema(schema)
        self._path, self._with_metadata, self._embeds = path, with_metadata, embed_local_files
        self.writer_batch_size = writer_batch_size or 1000
        self._closes = stream is None
        self.stream = stream if stream is not None else _sink(str(path), storage_options)
        self.pa_writer: pa.RecordBatchStreamWriter | None = None
        self.current_examples: list[tuple[dict[str, Any], Any]] = []
        self._num_examples = self._num_bytes = 0

    def __len__(self) -> int:
        return self._num_examples + len(self.current_examples)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; `finalize` also writes the rows that wait."""
        if self.pa_writer is not None:
            self.pa_writer.close()
            self.pa_writer = None
        if self._closes:
            self.stream.close()

    @property
    def schema(self) -> pa.Schema | None:
        """The schema of the file, once it is known."""
        return None if self._features is None else self._features.arrow_schema

    def write(self, example: Mapping[str, Any], writer_batch_size: int | None = None) -> None:
        """Write a row."""
        self.current_examples.append((dict(example), None))
        if len(self.current_examples) >= (writer_batch_size or self.writer_batch_size):
            self.write_examples_on_file()

    def write_examples_on_file(self) -> None:
        """Write the rows that wait."""
        if self.current_examples:
            rows, self.current_examples = [row for row, _ in self.current_examples], []
            names = self._features if self._features is not None else dict.fromkeys(name for row in rows for name in row)
            self._write({name: [row.get(name) for row in rows] for name in names})

    def write_batch(
        self, batch_examples: Mapping[str, Any], writer_batch_size: int | None = None, try_original_type: bool | None = True
    ) -> None:
        """Write the rows of a dict of columns."""
        self.write_examples_on_file()
        if batch_examples and len(next(iter(batch_examples.values()))):
            self._write({name: list(values) for name, values in batch_examples.items()})

    def write_row(self, row: pa.Table, writer_batch_size: int | None = None) -> None:
        """Write the one row of a table."""
        self.write_table(row, writer_batch_size)

    def write_rows_on_file(self) -> None:
        """Write the rows that wait."""
        self.write_examples_on_file()

    def write_table(self, pa_table: Any, writer_batch_size: int | None = None) -> None:
        """Write the rows of an Arrow table."""
        self.write_examples_on_file()
        table = _plain(pa_table)
        if self._features is None:
            self._features = Features.from_arrow_schema(table.schema)
        self._check_nulls(
            {name: len(table) - column.null_count for name, column in zip(table.schema.names, table.columns, strict=True)}
        )
        self._put(cast_table(table, self._features, fill_missing=False), writer_batch_size)

    def _write(self, columns: dict[str, list[Any]]) -> None:
        self._check_nulls({name: sum(value is not None for value in values) for name, values in columns.items()})
        made = Dataset.from_dict(columns, features=self._features)
        self._features = made.features
        self._put(made._table.to_table(), None)

    def _check_nulls(self, num_values: Mapping[str, int]) -> None:
        for name, feature in (self._features or {}).items():
            if feature == Value("null") and num_values.get(name):
                before = f"the first {self._num_examples} values written for it were all None, so that its type is null"
                raise ArgumentTypeError(
                    f"Column {name!r} cannot take a value: {before}. Set the type of {name!r} with features=."
                )

    def _put(self, table: pa.Table, writer_batch_size: int | None) -> None:
        assert self._features is not None
        if self._embeds:
            table = embed_table(table, self._features, remote_files=False)
        self._opened().write_table(table.cast(self._opened_schema()), writer_batch_size or self.writer_batch_size)
        self._num_examples += len(table)
        self._num_bytes += table.nbytes

    def _opened_schema(self) -> pa.Schema:
        assert self._features is not None
        schema = self._features.arrow_schema
        return schema if self._with_metadata else schema.remove_metadata()

    def _opened(self) -> pa.RecordBatchStreamWriter:
        if self.pa_writer is None:
            self.pa_writer = pa.RecordBatchStreamWriter(self.stream, self._opened_schema())
        return self.pa_writer

    def finalize(self, close_stream: bool = True) -> tuple[int, int]:
        """Write the rows that wait, and end the file.

        Returns:
            The numbers of rows and of bytes.

        Raises:
            SchemaInferenceError: there was no row, and no features were given.
        """
        self.write_examples_on_file()
        if self._features is None:
            self.close()
            raise SchemaInferenceError(f"{self._path or 'The stream'} got no rows and no features. Give features=, or a row.")
        self._opened().close()
        self.pa_writer = None
        if close_stream:
            self.stream.close()
        return self._num_examples, self._num_bytes


def _sink(path: str, storage_options: Mapping[str, Any] | None) -> Any:
    if files.is_url(path):
        system, inner = files.filesystem(path, dict(storage_options or {}))
        return system.open(inner, "wb")
    return pa.OSFile(path, "wb")


class ArrowReader:
    """Reads Arrow files below a folder.

    Args:
        path: the folder.
        info: of the dataset.
    """

    filetype_suffix: ClassVar[str] = "arrow"

    def __init__(self, path: str, info: DatasetInfo | None) -> None:
        self._path, self._info = path, info

    @staticmethod
    def read_table(filename: str, in_memory: bool = False) -> Table:
        """Return the table of a file, mapped or in memory."""
        return (InMemoryTable if in_memory else MemoryMappedTable).from_file(filename)

    def read_files(
        self, files: Sequence[Mapping[str, Any]], original_instructions: Any = None, in_memory: bool = False
    ) -> dict[str, Any]:
        """Return the arguments of `Dataset`: the rows of `files`, one after the other.

        Args:
            files: of each file its `filename` below the folder, and `skip` and `take`, numbers of rows.
            original_instructions: the split that the files are of.
            in_memory: True to read the files instead of mapping them.
        """
        parts = []
        for file in files:
            table = self.read_table(os.path.join(self._path, file["filename"]), in_memory).table
            skip, take = file.get("skip") or 0, file.get("take")
            parts.append(table.slice(skip) if take in (None, -1) else table.slice(skip, take))
        if not parts:
            raise ArgumentTypeError("ArrowReader.read_files got no files. Name one or more.")
        split = None if original_instructions is None else str(original_instructions)
        return {"arrow_table": pa.concat_tables(parts), "info": self._info, "split": split}

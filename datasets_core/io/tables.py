"""Rows as Arrow tables and as data frames of pandas and polars; `Table`; SQL tables; options of Parquet files."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import pairwise
from operator import itemgetter
from typing import IO, TYPE_CHECKING, Any, Self, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from datasets_core import files
from datasets_core._lazy import later
from datasets_core.engines import get_engine
from datasets_core.engines.deadline import SerialEngine
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    DatasetsCoreError,
    redact_text,
)
from datasets_core.features.cast import cast_table
from datasets_core.features.schema import Features, feature_from_arrow
from datasets_core.features.types import FixedShape, Json
from datasets_core.features.values import decode_value
from datasets_core.meta.info import DatasetInfo
from datasets_core.optional import needed
from datasets_core.progress import progress
from datasets_core.store.rows.indices import agreed, as_features, checked_batch_size
from datasets_core.store.rows.rows import Rows
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


# Common parts of all exports: rows as Arrow tables, and target files that appear when they are complete.


BATCH_ROWS = 1000
"""Default number of rows in a batch."""


def table_of(dataset: Rows, start: int, stop: int) -> pa.Table:
    """Return all columns of the rows from `start` to `stop`, with the features in the metadata.

    >>> table_of(Dataset.from_dict({"a": [1, 2, 3]}), 1, 3).num_rows
    2
    """
    if dataset._index is None:
        table = pa.Table.from_batches(dataset._table.batches(None, start, stop), dataset._table.schema)
    else:
        batches = dataset._table.batches_at(
            dataset._index[start:stop]
        )  # one call for all rows would need three times the memory
        table = pa.Table.from_batches(batches, dataset._table.schema)
    return dataset._described(table)


def spans(dataset: Rows, batch_size: int | None, default: int = BATCH_ROWS) -> list[tuple[int, int]]:
    """Return start and stop of each batch."""
    size = default if batch_size is None else checked_batch_size(batch_size)
    return list(pairwise([*range(0, dataset.num_rows, size), dataset.num_rows])) if dataset.num_rows else []


def tables(dataset: Rows, batch_size: int | None, default: int = BATCH_ROWS) -> Iterator[pa.Table]:
    """Yield the rows as tables of `batch_size` rows."""
    for start, stop in spans(dataset, batch_size, default):
        yield table_of(dataset, start, stop)


def rows_of_bytes(dataset: Rows, num_bytes: int, least: int = 1) -> int:
    """Return the number of rows that take `num_bytes` in Arrow's layout, estimated from the first ones.

    >>> rows_of_bytes(Dataset.from_dict({"a": [1, 2, 3]}), 80)
    10
    """
    sample = dataset._table.slice(0, 1000).to_table()
    return max(least, int(num_bytes * max(1, sample.num_rows) / max(1, sample.nbytes)))


def opened(target: Any, storage_options: dict[str, Any] | None) -> AbstractContextManager[IO[bytes]]:
    """Return a context with the target file: a path or URL, which appears when it is complete, or a file opened by the user.

    Raises:
        ArgumentTypeError: the target is neither a path nor a file.
    """
    if isinstance(target, (str, os.PathLike)):
        return files.new_file(os.fspath(target), storage_options)
    if not hasattr(target, "write"):
        raise ArgumentTypeError(
            f"{target!r} is not a path or file", advice="Pass a path, a URL, or a file opened in binary mode", value=target
        )
    return nullcontext(target)


T = TypeVar("T", bound=Rows)


def pandas_frame(dataset: Rows) -> pd.DataFrame:
    """Return all rows."""
    needed("pandas", "to_pandas()")
    return _frame(dataset, table_of(dataset, 0, dataset.num_rows))


def pandas_frames(dataset: Rows, batch_size: int | None) -> Iterator[pd.DataFrame]:
    """Return the rows as several frames."""
    needed("pandas", "to_pandas()")
    return (_frame(dataset, table) for table in tables(dataset, batch_size))


def _frame(dataset: Rows, table: pa.Table) -> pd.DataFrame:
    frame = table.to_pandas()
    for name, feature in dataset._features.items():
        if isinstance(feature, Json):  # stored as text
            texts = table.column(name).to_pylist()
            frame[name] = object_column(None if text is None else json.loads(text) for text in texts)
        elif isinstance(feature, FixedShape):
            from datasets_core.features.formats.pandas_arrays import array_column  # which needs pandas

            frame[name] = array_column(table.column(name), feature)
        elif "arrow.json" in str(table.schema.field(name).type):
            inner = feature_from_arrow(table.schema.field(name).type)
            values = table.column(name).to_pylist()
            frame[name] = object_column(None if value is None else decode_value(inner, value) for value in values)
    return frame


def object_column(values: Iterable[Any]) -> Any:
    """Return a pandas column of arbitrary Python values."""
    import numpy as np
    import pandas as pd

    listed = list(values)
    held = np.empty(len(listed), dtype=object)
    for row, value in enumerate(listed):  # a list on the right would be interpreted as rows of an array
        held[row] = value
    return pd.Series(held, dtype=object)


def polars_frame(dataset: Rows, options: dict[str, Any]) -> pl.DataFrame:
    """Return all rows."""
    polars = needed("polars", "to_polars()")
    frame: pl.DataFrame = polars.from_arrow(table_of(dataset, 0, dataset.num_rows), **options)
    return frame


def polars_frames(dataset: Rows, batch_size: int | None, options: dict[str, Any]) -> Iterator[pl.DataFrame]:
    """Return the rows as several frames."""
    polars = needed("polars", "to_polars()")
    return (polars.from_arrow(table, **options) for table in tables(dataset, batch_size))


def write_sql(dataset: Rows, name: str, con: Any, batch_size: int | None, options: dict[str, Any]) -> int:
    """Write the rows into a table of a database; return their number; see `Dataset.to_sql`."""
    parts = ((dataset, start, stop) for start, stop in spans(dataset, batch_size) or [(0, 0)])
    return write_sql_parts(parts, name, con, options, dataset.num_rows)


def write_sql_parts(
    parts: Iterable[tuple[Rows, int, int]], name: str, con: Any, options: dict[str, Any], num_rows: int | None
) -> int:
    """Write rows into a table of a database in batches; return their number; see `Dataset.to_sql`.

    Args:
        parts: datasets, each with start and stop of its rows; at least one.
        name: name of the table.
        con: the database.
        options: options for pandas.
        num_rows: number of rows, if known.
    """
    needed("pandas", "to_sql()")
    if not isinstance(con, str) and not any(hasattr(con, able) for able in ("cursor", "execute", "connect")):
        raise ArgumentTypeError(
            f"con={con!r} is not a connection", advice="Pass a connection of sqlite3 or SQLAlchemy, or a URI", value=con
        )
    options = {"index": False, **options}
    written = 0
    with contextlib.ExitStack() as stack, progress("Writing SQL", total=num_rows) as bar:
        stack.enter_context(_refusals(name))
        if isinstance(con, str):
            alchemy = needed("sqlalchemy", "A database named by a URI", "datasets_core[sql]")
            engine = alchemy.create_engine(con)
            stack.callback(engine.dispose)
            con = stack.enter_context(engine.begin())  # all rows, or none
        for dataset, start, stop in parts:
            _sql_frame(dataset, start, stop).to_sql(name, con, **options)
            options["if_exists"] = "append"
            written += stop - start
            bar.update(stop - start)
    return written


@contextlib.contextmanager
def _refusals(name: str) -> Iterator[None]:
    """Convert errors of pandas and the database to errors of the library."""
    try:
        yield
    except DatasetsCoreError:
        raise
    except Exception as error:  # each database has its own errors
        kind = ArgumentTypeError if isinstance(error, TypeError) else ConfigurationError
        said = redact_text(str(error)).strip().rstrip(".")
        advice = "Pass if_exists='append' or 'replace'" if "already exists" in said else "Check the connection and the options"
        raise kind(f"Writing to the table {name!r} failed: {said}. {advice}.") from error


def _sql_frame(dataset: Rows, start: int, stop: int) -> pd.DataFrame:
    """Return rows in types of databases: integers stay integers with nulls, nested values become JSON text."""
    import pandas as pd

    table = table_of(dataset, start, stop)
    for number, field in enumerate(table.schema):
        if field.type == pa.uint64():  # a type that pandas supports only for some databases
            with contextlib.suppress(pa.ArrowInvalid):
                table = table.set_column(number, field.name, table.column(number).cast(pa.int64()))
    whole = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")
    kept: dict[pa.DataType, Any] = {pa.type_for_alias(name.lower()): pd.api.types.pandas_dtype(name) for name in whole}
    kept[pa.bool_()] = pd.BooleanDtype()
    nested = [field.name for field in table.schema if _is_nested(field.type)]
    frame = table.drop_columns(nested).to_pandas(types_mapper=kept.get) if nested else table.to_pandas(types_mapper=kept.get)
    if nested:
        columns = dataset.with_format(None, columns=nested)._batch(range(start, stop))
        for name in nested:
            frame.insert(table.column_names.index(name), name, object_column(_json_texts(name, columns[name])))
    return frame


def _is_nested(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(getattr(kind, "storage_type", kind)))


def _json_texts(name: str, values: Iterable[Any]) -> list[str | None]:
    try:
        return [None if value is None else json.dumps(value, ensure_ascii=False, default=_json_value) for value in values]
    except (TypeError, ValueError) as error:
        advice = "Cast it to a type that JSON supports, or remove it"
        raise CastError(f"Column {name!r} cannot be written as JSON text ({error}). {advice}.") from error


def _json_value(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return value.tolist()
    if type(value).__name__ == "Decimal":
        return str(value)
    raise TypeError(f"a value is {type(value).__name__}")


# -- rows of frames ----------------------------------------------------------------------------------------------------


def hugging_face_table(hf: Any, table: pa.Table, rows: RowTable, features: Any) -> Any:
    """Return a table of the package `datasets`: mapped files stay files, so that its worker processes map them too.

    Args:
        hf: the package.
        table: the rows.
        rows: the same, by their files.
        features: features of the package.
    """
    schema = features.arrow_schema
    held = rows.whole_files()
    if held and held[0].schema.remove_metadata().equals(schema.remove_metadata()):
        with contextlib.suppress(pa.ArrowInvalid):  # a file that is no stream
            return hf.table.concat_tables([hf.table.MemoryMappedTable.from_file(shard.path) for shard in held])
    columns = [
        pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
        if isinstance(column.type, pa.BaseExtensionType)
        else column
        for column in table.columns
    ]
    plain = pa.Table.from_arrays(columns, names=table.column_names)
    return hf.table.InMemoryTable(hf.table.table_cast(plain, schema))


def rows_of_table(kind: type[T], table: pa.Table, features: Features | None, info: DatasetInfo | None, split: str | None) -> T:
    """Return the rows of a frame that was converted to a table.

    Raises:
        CastError: a column does not fit its feature.
    """
    info, features = agreed(info, as_features(features))
    if any(pa.types.is_dictionary(field.type) or field.type.num_fields for field in table.schema):
        from datasets_core.features.schema import plain_schema  # takes 2 ms; frames without categories do not need it

        table = table.cast(plain_schema(table.schema))  # categories become their values
    if features is not None:
        table = cast_table(table, features, what="The frame")
    return kind(table, info=info, split=split)


# -- rows of files -----------------------------------------------------------------------------------------------------


def rows_of_files(kind: str, **options: Any) -> Any:
    """Return the result of `load_dataset` for files of a format; a call of a higher layer, like those of `Looked`."""
    for name in _UNSAID.get(kind, ()):
        if options[name] is None or (name, options[name]) == ("on_bad_files", "error"):
            del options[name]
    return later("datasets_core.load", "load_dataset")(kind, **options)


_UNSAID = {
    "json": ("field",),
    "parquet": ("columns", "filters", "fragment_scan_options", "on_bad_files"),
    "tfrecord": ("columns", "spec"),
}
"""Return the options of `from_json` and others, without those that are None, and without `on_bad_files="error"`."""


# Datasets as Parquet files, with their features inside.


GROUP_BYTES = 32 << 20
"""Approximate size of a row group in Arrow's layout, in bytes."""
GROUP_ROWS = 1 << 20


def write_parquet(
    dataset: Rows, target: Any, batch_size: int | None, storage_options: dict[str, Any] | None, options: dict[str, Any]
) -> int:
    """Write the rows; return their size in Arrow's layout; see `Dataset.to_parquet`."""
    group = min(GROUP_ROWS, rows_of_bytes(dataset, GROUP_BYTES, least=100))
    with opened(target, storage_options) as out, progress("Writing Parquet", total=dataset.num_rows) as bar:
        writer = parquet_writer(out, table_of(dataset, 0, 0).schema, options)
        written = 0
        try:
            for table in _gathered(dataset, spans(dataset, batch_size, group)):
                writer.write_table(table, row_group_size=max(1, table.num_rows))
                written += table.nbytes
                bar.update(table.num_rows)
        finally:
            writer.close()
    return written


def _gathered(dataset: Rows, batches: list[tuple[int, int]]) -> Iterator[pa.Table]:
    engine = get_engine()
    if isinstance(engine, SerialEngine):
        return (table_of(dataset, *batch) for batch in batches)
    from datasets_core.store import module_state  # 3 ms that reading does without

    made = module_state.run(engine, partial(_table_of, dataset), batches, verb="to_parquet()", ordered=True)
    return (table for _, table in made)


def _table_of(dataset: Rows, batch: tuple[int, int]) -> pa.Table:
    return table_of(dataset, *batch)


def parquet_writer(out: IO[bytes], schema: pa.Schema, options: dict[str, Any]) -> pq.ParquetWriter:
    """Return a writer of rows of this schema as Parquet: with page indexes and content-defined pages by default.

    Raises:
        ConfigurationError: invalid options.
        CastError: Parquet does not support the type of a column.
    """
    from datasets_core.io.push_parquet import CHUNKS

    options = {"use_content_defined_chunking": True, "write_page_index": True, **options}
    if options["use_content_defined_chunking"] is True:
        options["use_content_defined_chunking"] = CHUNKS
    try:
        writer = pq.ParquetWriter(out, schema, **options)
        if options["use_content_defined_chunking"] is not False:
            writer.add_key_value_metadata({"content_defined_chunking": json.dumps(options["use_content_defined_chunking"])})
        return writer
    except TypeError as error:
        raise ConfigurationError(f"{error}", advice="Pass options of pyarrow.parquet.ParquetWriter") from error
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise CastError(f"Parquet does not support these columns: {error}", advice="Cast them, or use save_to_disk") from error
    except pa.ArrowException as error:
        raise ConfigurationError(f"{error}", advice="Pass options of pyarrow.parquet.ParquetWriter") from error


# `Table`, the type of `Dataset.data`: an Arrow table in memory, of a file, or of several tables.


class Table:
    """An Arrow table; `table` is a `pyarrow.Table`, whose attributes and methods are also available on this class.

    >>> InMemoryTable.from_pydict({"a": [1, 2]}).slice(1).table.to_pydict()
    {'a': [2]}
    """

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    @property
    def blocks(self) -> list[list[Table]]:
        """The tables that this table consists of: lists of tables side by side, one list below the other."""
        return [[self]]

    def __getattr__(self, name: str) -> Any:
        if name == "table" or name.startswith("__"):  # missing during unpickling
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
        """Return the table with the types of a schema; as in casts of features, fields of structs are matched by name."""
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
        return self  # Arrow data is immutable

    def equals(self, other: Any, check_metadata: bool = False) -> bool:
        """Return True if both tables have the same columns and values."""
        return bool(self.table.equals(getattr(other, "table", other), check_metadata=check_metadata))

    def fast_slice(self, offset: int = 0, length: int | None = None) -> pa.Table:
        """Return a range of rows as a `pyarrow.Table`."""
        return self.table.slice(offset, length)


class InMemoryTable(Table):
    """A table in memory."""

    @classmethod
    def from_file(cls, filename: str) -> Self:
        """Read an Arrow file in stream or file format."""
        with pa.OSFile(os.fspath(filename)) as source:
            return cls(read_ipc(source))

    @classmethod
    def from_buffer(cls, buffer: pa.Buffer) -> Self:
        """Read an Arrow file from its bytes."""
        return cls(read_ipc(pa.BufferReader(buffer)))

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
    """A memory-mapped table of a file; its pickle has the path and the later operations, but no rows.

    Args:
        table: the table.
        path: the file.
        replays: name, arguments and keyword arguments of each method that was applied to the table of the file.
    """

    def __init__(self, table: pa.Table, path: str, replays: Sequence[Replay] | None = None) -> None:
        super().__init__(table)
        self.path, self.replays = os.path.abspath(path), list(replays or ())

    @classmethod
    def from_file(cls, filename: str, replays: Sequence[Replay] | None = None) -> MemoryMappedTable:
        """Map an Arrow file in stream or file format, and apply the methods in `replays`."""
        made = cls(read_ipc(pa.memory_map(os.fspath(filename))), filename)
        for name, args, kwargs in replays or ():
            made = getattr(made, name)(*args, **kwargs)
        return made

    def _made(self, table: pa.Table, replay: Replay) -> MemoryMappedTable:
        return MemoryMappedTable(table, self.path, [*self.replays, replay])

    def __reduce__(self) -> tuple[Any, ...]:
        return MemoryMappedTable.from_file, (self.path, self.replays)


class ConcatenationTable(Table):
    """Several tables joined to one.

    Args:
        table: the joined table.
        blocks: the tables: lists of tables side by side, one list below the other.

    >>> upper, lower = InMemoryTable.from_pydict({"a": [1]}), InMemoryTable.from_pydict({"a": [2]})
    >>> ConcatenationTable.from_tables([upper, lower]).to_pydict()
    {'a': [1, 2]}
    """

    def __init__(self, table: pa.Table, blocks: list[list[Table]]) -> None:
        super().__init__(table)
        self._blocks = blocks

    @property
    def blocks(self) -> list[list[Table]]:
        return self._blocks

    @classmethod
    def from_blocks(cls, blocks: Any) -> ConcatenationTable:
        """Join tables.

        Args:
            blocks: a table, a list of tables one below the other, or a list of lists of tables side by side. Adjacent tables in
                memory are merged.
        """
        if isinstance(blocks, Table):
            blocks = [[blocks]]
        elif blocks and isinstance(blocks[0], Table):
            blocks = [[block] for block in blocks]
        return cls.from_tables([_beside(row) for row in blocks])

    @classmethod
    def from_tables(cls, tables: Sequence[Any], axis: int = 0) -> ConcatenationTable:
        """Join tables: `axis=0` appends rows, `axis=1` appends columns."""
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
    return pa.concat_tables([plain_table(table) for table in tables], promote_options="default")


def _beside(tables: Sequence[Table]) -> ConcatenationTable:
    """Join tables side by side; blocks are split at the rows where a block of any table ends."""
    joined = tables[0].table
    for field, column in (pair for each in tables[1:] for pair in zip(each.table.schema, each.table.columns, strict=True)):
        joined = joined.append_column(field, column)
    ends = sorted({end for table in tables for end in itertools.accumulate(len(row[0]) for row in table.blocks)})
    blocks: list[list[Table]] = []
    for start, stop in pairwise([0, *ends]):
        row: list[Table] = []
        for block in (block for table in tables for line in _sliced(table.blocks, start, stop - start) for block in line):
            if row and isinstance(block, InMemoryTable) and isinstance(row[-1], InMemoryTable):
                row[-1] = InMemoryTable(_beside([Table(row[-1].table), Table(block.table)]).table)
            else:
                row.append(block)
        blocks.append(row)
    return ConcatenationTable(joined, blocks)


def _sliced(blocks: list[list[Table]], offset: int = 0, length: int | None = None) -> list[list[Table]]:
    """Return the blocks of a range of rows."""
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
    """Return the rows of a dataset as a table with references to its files."""
    if not rows.files:
        whole = InMemoryTable(table)
        return whole if len(set(rows._pieces[:, 0].tolist())) < 2 else ConcatenationTable(table, [[whole]])
    blocks: list[list[Table]] = []
    start = 0
    for shard, pieces in itertools.groupby(rows._pieces.tolist(), itemgetter(0)):
        path, length = rows.shard(shard).path, sum(piece[3] for piece in pieces)
        part = table.slice(start, length)
        blocks.append([InMemoryTable(part) if path is None else _MappedRows(part, path)])
        start += length
    return blocks[0][0] if len(blocks) == 1 else ConcatenationTable(table, blocks)


class _MappedRows(MemoryMappedTable):
    """Rows of a file of a dataset; the pickle contains the rows."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _MappedRows, (self.table, self.path, self.replays)


def read_ipc(source: Any) -> pa.Table:
    """Return the table of an Arrow file in stream or file format."""
    try:
        return pa.ipc.open_stream(source).read_all()
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_file(source).read_all()


def plain_table(table: Any) -> pa.Table:
    """Return the `pyarrow.Table` of a `Table`; other tables unchanged."""
    return table.table if isinstance(table, Table) else table


def _cast(table: pa.Table, target_schema: pa.Schema, *_: Any, **__: Any) -> pa.Table:
    if table.schema == target_schema:
        return table.replace_schema_metadata(target_schema.metadata)
    return cast_table(table, Features.from_arrow_schema(target_schema))

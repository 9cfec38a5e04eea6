"""Rows as Arrow tables and as data frames of pandas and polars; SQL tables; options of Parquet files."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import IO, TYPE_CHECKING, Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from datasets_core import files
from datasets_core._lazy import later
from datasets_core.errors import (
    ArgumentTypeError,
    CastError,
    ConfigurationError,
    DatasetsCoreError,
    UnknownOptionError,
    redact_text,
)
from datasets_core.features.cast import cast_table
from datasets_core.features.schema import Features, feature_from_arrow
from datasets_core.features.types import Json
from datasets_core.features.values import decode_value
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.splits import Split
from datasets_core.optional import needed
from datasets_core.progress import progress
from datasets_core.store.rows.indices import agreed, as_features, checked_batch_size
from datasets_core.store.rows.rows import Rows

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


# Common to all exports: the rows as Arrow tables, and a target that appears when it is complete.


BATCH_ROWS = 1000
"""Default number of rows in a batch."""


def table_of(dataset: Rows, start: int, stop: int) -> pa.Table:
    """Return the rows from `start` to `stop`, all columns, features in the metadata.

    >>> table_of(Dataset.from_dict({"a": [1, 2, 3]}), 1, 3).num_rows
    2
    """
    if dataset._index is None:
        table = pa.Table.from_batches(dataset._table.batches(None, start, stop), dataset._table.schema)
    else:
        batches = dataset._table.batches_at(dataset._index[start:stop])  # all at once: three times the memory
        table = pa.Table.from_batches(batches, dataset._table.schema)
    return dataset._described(table)


def spans(dataset: Rows, batch_size: int | None, default: int = BATCH_ROWS) -> list[tuple[int, int]]:
    """Yield start and stop of each batch."""
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
    """A context with the target file: a path or URL that appears when it is complete, or a file opened by the user.

    Raises:
        ArgumentTypeError: neither a path nor a file.
    """
    if isinstance(target, (str, os.PathLike)):
        return files.new_file(os.fspath(target), storage_options)
    if not hasattr(target, "write"):
        raise ArgumentTypeError(f"{target!r} is not a path or file. Pass a path, a URL, or a file opened in binary mode.")
    return nullcontext(target)


T = TypeVar("T", bound=Rows)
_SPARK_OPTIONS = ("split", "features", "keep_in_memory", "cache_dir", "working_dir", "load_from_cache_file")


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
        options: for pandas.
        num_rows: number of rows, if known.
    """
    needed("pandas", "to_sql()")
    if not isinstance(con, str) and not any(hasattr(con, able) for able in ("cursor", "execute", "connect")):
        raise ArgumentTypeError(f"con={con!r} is not a connection. Pass a connection of sqlite3 or SQLAlchemy, or a URI.")
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


def check_spark_options(given: Mapping[str, Any]) -> None:
    """Check for arguments that `from_spark` does not have.

    Raises:
        UnknownOptionError: an argument is unknown.
    """
    for name in given:
        raise UnknownOptionError(name, builder="from_spark", known=_SPARK_OPTIONS)


def rows_of_spark(kind: type[T], df: Any, split: str | None, features: Features | None) -> T:
    """Return the rows of a Spark frame; see `Dataset.from_spark`."""
    needed("pyspark", "from_spark()", "pyspark")
    if not hasattr(df, "toPandas"):
        raise ArgumentTypeError(f"from_spark() takes a Spark DataFrame, found {type(df).__name__}.")
    if hasattr(df, "toArrow"):  # since Spark 4
        table = df.toArrow()
    else:
        table = pa.Table.from_pandas(df.toPandas(), preserve_index=False).replace_schema_metadata(None)
    return rows_of_table(kind, table, features, None, split or Split.TRAIN)


# -- rows of files -----------------------------------------------------------------------------------------------------


def rows_of_files(kind: str, **options: Any) -> Any:
    """Return the result of `load_dataset` for files of a format; the only upward call in the library."""
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
            for table in tables(dataset, batch_size, group):
                writer.write_table(table, row_group_size=max(1, table.num_rows))
                written += table.nbytes
                bar.update(table.num_rows)
        finally:
            writer.close()
    return written


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
        raise ConfigurationError(f"{error}. Pass options of pyarrow.parquet.ParquetWriter.") from error
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise CastError(f"Parquet does not support these columns: {error}. Cast them, or use save_to_disk.") from error
    except pa.ArrowException as error:
        raise ConfigurationError(f"{error}. Pass options of pyarrow.parquet.ParquetWriter.") from error

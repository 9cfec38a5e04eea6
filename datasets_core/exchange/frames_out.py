"""The rows as frames of pandas and polars, and through them in a table of a database."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, DatasetsCoreError
from datasets_core.exchange.rows_out import spans, table_of, tables
from datasets_core.features.dynamic import Json
from datasets_core.optional import needed
from datasets_core.progress import progress
from datasets_core.redact import redact_text
from datasets_core.rows.tabled import Tabled

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def pandas_frame(dataset: Tabled) -> pd.DataFrame:
    """All rows."""
    needed("pandas", "to_pandas()")
    return _frame(dataset, table_of(dataset, 0, dataset.num_rows))


def pandas_frames(dataset: Tabled, batch_size: int | None) -> Iterator[pd.DataFrame]:
    """The rows, some in each frame."""
    needed("pandas", "to_pandas()")
    return (_frame(dataset, table) for table in tables(dataset, batch_size))


def _frame(dataset: Tabled, table: pa.Table) -> pd.DataFrame:
    frame = table.to_pandas()
    for name, feature in dataset.features.items():
        if isinstance(feature, Json):  # stored as text
            texts = table.column(name).to_pylist()
            frame[name] = object_column(None if text is None else json.loads(text) for text in texts)
    return frame


def object_column(values: Iterable[Any]) -> Any:
    """A pandas column of any Python values, each as it is."""
    import numpy as np
    import pandas as pd

    listed = list(values)
    held = np.empty(len(listed), dtype=object)
    for row, value in enumerate(listed):  # a list on the right would be taken for rows of an array
        held[row] = value
    return pd.Series(held, dtype=object)


def polars_frame(dataset: Tabled, options: dict[str, Any]) -> pl.DataFrame:
    """All rows."""
    polars = needed("polars", "to_polars()")
    frame: pl.DataFrame = polars.from_arrow(table_of(dataset, 0, dataset.num_rows), **options)
    return frame


def polars_frames(dataset: Tabled, batch_size: int | None, options: dict[str, Any]) -> Iterator[pl.DataFrame]:
    """The rows, some in each frame."""
    polars = needed("polars", "to_polars()")
    return (polars.from_arrow(table, **options) for table in tables(dataset, batch_size))


def write_sql(dataset: Tabled, name: str, con: Any, batch_size: int | None, options: dict[str, Any]) -> int:
    """Write the rows into a table of a database: their number; see `Dataset.to_sql`."""
    parts = ((dataset, start, stop) for start, stop in spans(dataset, batch_size) or [(0, 0)])
    return write_sql_parts(parts, name, con, options, dataset.num_rows)


def write_sql_parts(
    parts: Iterable[tuple[Tabled, int, int]], name: str, con: Any, options: dict[str, Any], num_rows: int | None
) -> int:
    """Write rows into a table of a database, some at a time: their number; see `Dataset.to_sql`.

    Args:
        parts: datasets, each with the first row that is meant, and that behind the last one; one at least.
        name: of the table.
        con: the database.
        options: for pandas.
        num_rows: how many rows there are, where that is known.
    """
    needed("pandas", "to_sql()")
    if not isinstance(con, str) and not any(hasattr(con, able) for able in ("cursor", "execute", "connect")):
        raise ArgumentTypeError(f"con={con!r} is no database. Give a connection of sqlite3 or SQLAlchemy, or a URI.")
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
    """What pandas and the database say, as an error of the library."""
    try:
        yield
    except DatasetsCoreError:
        raise
    except Exception as error:  # each database has errors of its own
        kind = ArgumentTypeError if isinstance(error, TypeError) else ConfigurationError
        said = redact_text(str(error)).strip().rstrip(".")
        advice = "Give if_exists='append' or 'replace'" if "already exists" in said else "Check the connection and the options"
        raise kind(f"The rows were not written to the table {name!r}: {said}. {advice}.") from error


def _sql_frame(dataset: Tabled, start: int, stop: int) -> pd.DataFrame:
    """Some rows in types that databases have: whole numbers stay whole beside nulls, what is nested becomes JSON text."""
    import pandas as pd

    table = table_of(dataset, start, stop)
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
        advice = "Cast it to a type that JSON can hold, or leave it out"
        raise CastError(f"Column {name!r} cannot be written as JSON text ({error}). {advice}.") from error


def _json_value(value: Any) -> Any:
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return value.tolist()
    if type(value).__name__ == "Decimal":
        return str(value)
    raise TypeError(f"a value is {type(value).__name__}")

"""The rows as frames of pandas and polars, and through them in a table of a database."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core.errors import MissingDependencyError
from datasets_core.exchange.rows_out import table_of, tables
from datasets_core.features.dynamic import Json
from datasets_core.progress import progress
from datasets_core.rows.tabled import Tabled

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl


def needed(package: str, needed_for: str, install: str | None = None) -> ModuleType:
    """An optional package, imported.

    Raises:
        MissingDependencyError: it is not installed.

    >>> needed("json", "This line").__name__
    'json'
    """
    import importlib

    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package.partition(".")[0]:
            raise
        name = install or f"datasets_core[{package}]"
        raise MissingDependencyError(package, needed_for=needed_for, install=name) from error


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
    needed("pandas", "to_sql()")
    options = {"index": False, **options}
    written = 0
    with contextlib.ExitStack() as stack, progress("Writing SQL", total=dataset.num_rows) as bar:
        if isinstance(con, str):
            alchemy = needed("sqlalchemy", "A database named by a URI", "datasets_core[sql]")
            engine = alchemy.create_engine(con)
            stack.callback(engine.dispose)
            con = stack.enter_context(engine.begin())  # all rows, or none
        for table in tables(dataset, batch_size) if dataset.num_rows else iter([table_of(dataset, 0, 0)]):
            table.to_pandas().to_sql(name, con, **options)
            options["if_exists"] = "append"
            written += table.num_rows
            bar.update(table.num_rows)
    return written

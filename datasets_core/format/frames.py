"""Arrow tables as data frames of pandas and of polars."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from datasets_core.errors import MissingDependencyError
from datasets_core.features.base import FeatureType
from datasets_core.format.arrays import STORED, extractor, shapes_of
from datasets_core.format.row_reader import RowReader

Frame = Callable[[pa.Table], Any]


def framer(name: str, features: Mapping[str, FeatureType], reader: RowReader) -> Frame:
    """The function that makes a frame of a table: `name` is `"arrow"`, `"pandas"` or `"polars"`.

    Values that the user sees otherwise than they are stored (pictures) are decoded, except in Arrow tables.

    Raises:
        MissingDependencyError: the package is not installed.
    """
    if name == "arrow":
        return lambda table: table
    make = {"pandas": _pandas, "polars": _polars}[name]
    try:
        return make(features, reader)
    except ImportError as error:
        raise MissingDependencyError(name, needed_for=f"The format {name!r}", install=f"datasets_core[{name}]") from error


def _pandas(features: Mapping[str, FeatureType], reader: RowReader) -> Frame:
    import pandas as pd

    shapes = {column: shapes_of(feature) for column, feature in features.items()}

    def frame(table: pa.Table) -> Any:
        made = table.to_pandas()
        for column in table.column_names:
            if column in reader.decodes:
                made[column] = pd.Series(_decoded(table, column, reader), index=made.index, dtype=object)
            elif shapes[column] is not None:
                extract = extractor(table.schema.field(column).type, shapes[column], STORED)
                arrays = [row for chunk in table[column].chunks for row in extract(chunk)]
                made[column] = pd.Series(arrays, index=made.index, dtype=object)
        return made

    return frame


def _polars(features: Mapping[str, FeatureType], reader: RowReader) -> Frame:
    import polars as pl

    def frame(table: pa.Table) -> Any:
        columns = []
        for column in table.column_names:
            if column in reader.decodes:
                columns.append(pl.Series(column, _decoded(table, column, reader), dtype=pl.Object))
            else:
                made: Any = pl.from_arrow(table.select([column]))
                columns.append(made.to_series())
        return pl.DataFrame(columns)

    return frame


def _decoded(table: pa.Table, column: str, reader: RowReader) -> list[Any]:
    read = reader.column_reader(column)
    return [value for chunk in table[column].chunks for value in read(chunk)]

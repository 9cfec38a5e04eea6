"""What is added to a dataset: a column, and a row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError, CellCastError, ConfigurationError
from datasets_core.features.base import FeatureType, LargeList, List, Value, feature_to_arrow
from datasets_core.features.codec import RowEncoder, cast_table
from datasets_core.features.merge import merge_types
from datasets_core.features.nesting import bitmap
from datasets_core.features.schema import Features, feature_from_arrow
from datasets_core.rows.column import Column
from datasets_core.rows.create import columns_table
from datasets_core.store.beside import viewed
from datasets_core.store.table import Ints, RowTable

_NULL_ROWS = 1 << 16


def new_column(name: str, values: Any, feature: Any, num_rows: int, names: Iterable[str]) -> tuple[pa.Table, Features]:
    """A column as a table of its own, with its feature.

    Raises:
        ConfigurationError: the name is taken, or no name.
        CastError: not one value for each row, or values that share no type or do not fit the feature.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(f"{name!r} is no name for a column. Give a text.")
    if name in names:
        raise ConfigurationError(f"There is a column {name!r} already. Choose another name, or remove that column first.")
    features = None if feature is None else Features({name: feature})
    if isinstance(values, Column):
        values, found = values.to_arrow(), values.features
        features = features or (None if found is None else Features({name: found}))
    if isinstance(values, (pa.Array, pa.ChunkedArray)) and features is not None:
        table = cast_table(pa.table([values], names=[name]), features)
    else:
        table = columns_table({name: values}, features, None)
    if table.num_rows != num_rows:
        raise CastError(f"Column {name!r} has {table.num_rows} values, and the dataset {num_rows} rows. Give one for each row.")
    return table, features or Features.from_arrow_schema(table.schema)


def scattered(table: pa.Table, index: Ints, num_rows: int) -> pa.Table | None:
    """Rows of an index brought to where the index points, null elsewhere; None where it points twice to one row."""
    places = np.full(num_rows, -1, dtype=np.int64)
    places[index] = np.arange(len(index))
    if int((places >= 0).sum()) != len(index):
        return None
    return table.take(pa.Array.from_buffers(pa.int64(), num_rows, [bitmap(places >= 0), pa.py_buffer(places)]))


def item_features(item: Any, features: Features) -> Features:
    """The features of a dataset's columns once a row is added: those there are, wider where they know null only.

    Raises:
        ArgumentTypeError: the row is no dict.
    """
    if not isinstance(item, Mapping):
        raise ArgumentTypeError(f"add_item() takes a row as a dict, found {type(item).__name__}. Give one.")
    wide = Features(features)
    for name, value in item.items():
        if value is not None and (name not in features or _has_null(features[name])):
            found = Features.from_arrow_schema(columns_table({name: [value]}, None, None).schema)[name]
            wide[name] = found if name not in features else _joined(features[name], found)
    for name in item:
        wide.setdefault(name, Value("null"))
    return wide


def item_table(item: Mapping[str, Any], features: Features, row: int) -> pa.Table:
    """A row as a table; `row` is its number in messages.

    Raises:
        CastError: a value does not fit its column.
    """
    for name, value in item.items():
        _check_fields(features[name], value, name, row)
    try:
        return pa.Table.from_batches([RowEncoder(features).encode([dict(item)])], features.arrow_schema)
    except CellCastError as error:
        raise CellCastError(error.column, error.reason, row=row) from error


def _check_fields(feature: FeatureType, value: Any, path: str, row: int) -> None:
    """Complain about fields that the features lack: they would be lost."""
    if isinstance(feature, dict) and isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in feature:
                raise CellCastError(path, f"it has the field {name!r}, which the features lack", row=row)
            _check_fields(feature[name], inner, f"{path}.{name}", row)
    elif isinstance(feature, (List, LargeList)) and isinstance(value, (list, tuple)):
        for inner in value:
            _check_fields(feature.feature, inner, f"{path}[]", row)


def stored_as(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table under another schema of the same columns, whose types may store the values in another way."""
    arrays = []
    for column, field in zip(table.columns, schema, strict=True):
        chunk = column.combine_chunks()
        chunk = chunk.chunk(0) if isinstance(chunk, pa.ChunkedArray) else chunk
        is_encoded = pa.types.is_dictionary(field.type) or pa.types.is_run_end_encoded(field.type)
        arrays.append(chunk.cast(field.type) if is_encoded else viewed(chunk, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def null_table(features: Features, num_rows: int) -> RowTable:
    """Columns of nulls, which take no more memory for more rows."""
    schema = features.arrow_schema
    whole = pa.RecordBatch.from_arrays([pa.nulls(min(num_rows, _NULL_ROWS), kind) for kind in schema.types], schema=schema)
    rest = num_rows % _NULL_ROWS if num_rows > _NULL_ROWS else 0
    return RowTable.from_batches([whole] * max(1, num_rows // _NULL_ROWS) + [whole.slice(0, rest)] * bool(rest), schema)


def _has_null(feature: FeatureType) -> bool:
    if isinstance(feature, dict):
        return not feature or any(map(_has_null, feature.values()))
    if isinstance(feature, (List, LargeList)):
        return _has_null(feature.feature)
    return isinstance(feature, Value) and feature.dtype == "null"


def _joined(old: FeatureType, new: FeatureType) -> FeatureType:
    joined = merge_types(feature_to_arrow(old), feature_to_arrow(new))
    return old if joined is None else feature_from_arrow(joined)

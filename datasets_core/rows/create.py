"""Tables made of Python values: of columns, of rows, of a buffer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, DamagedShardError
from datasets_core.features.codec import RowEncoder, cast_table
from datasets_core.features.mixed import infer_or_json
from datasets_core.features.schema import Features
from datasets_core.features.values import is_tensor, tensor_array

_ARROW_MAGIC = b"ARROW1"
_DAMAGE = (pa.ArrowException, OSError, ValueError, KeyError, IndexError, OverflowError, MemoryError)


def columns_table(mapping: Mapping[str, Any], features: Features | None, on_mixed_types: str | None) -> pa.Table:
    """The table of columns; each a list or any iterable, a numpy array, or an Arrow array.

    Raises:
        CastError: columns of different lengths, or values that share no type or do not fit their feature.
    """
    if not isinstance(mapping, Mapping):
        raise ArgumentTypeError(f"from_dict() takes a dict of columns, found {type(mapping).__name__}. Use from_list for rows.")
    check_mixed(on_mixed_types)
    tables = {name: _column_table(name, values, features, on_mixed_types) for name, values in mapping.items()}
    lengths = {name: table.num_rows for name, table in tables.items()}
    if len(set(lengths.values())) > 1:
        first = next(iter(lengths))
        odd = next(name for name in lengths if lengths[name] != lengths[first])
        raise CastError(
            f"Column {odd!r} has {lengths[odd]} values, and column {first!r} has {lengths[first]}. "
            "Give columns of the same length."
        )
    schema = pa.schema([table.schema.field(0) for table in tables.values()])
    table = pa.Table.from_arrays([table.column(0) for table in tables.values()], schema=schema)
    if features is not None:
        return cast_table(table, features, what="The columns")
    kinds = Features()
    for each in tables.values():
        kinds.update(Features.from_arrow_schema(each.schema))
    return table.replace_schema_metadata(kinds.arrow_schema.metadata)


def _column_table(name: str, values: Any, features: Features | None, on_mixed_types: str | None) -> pa.Table:
    """One column as a table, since a feature is kept in a schema."""
    if features is not None and name not in features:
        raise CastError(f"Column {name!r} is not in the features. Add it there, or leave it out of the columns.")
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return pa.table([values], names=[name])
    if is_tensor(type(values)):
        values = tensor_array(values)
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biuf" and features is None:
        return pa.table([pa.array(values.copy())], names=[name])  # the caller may change the array later
    try:
        rows = [{name: value} for value in values]
    except TypeError:
        raise ArgumentTypeError(f"Column {name!r} is {values!r}, not a list of values. Give a list or an array.") from None
    kinds = None if features is None else Features({name: features[name]})
    if not rows and kinds is None:
        return pa.table([pa.nulls(0)], names=[name])
    if kinds is not None or on_mixed_types is None:
        return pa.Table.from_batches([RowEncoder(kinds).encode(rows)])
    return pa.table([infer_or_json([row[name] for row in rows])], names=[name])


def rows_table(rows: Iterable[Mapping[str, Any]], features: Features | None, on_mixed_types: str | None) -> pa.Table:
    """The table of rows; a key that a row lacks is null.

    Raises:
        CastError: values that share no type or do not fit their feature, with column and row.
    """
    if isinstance(rows, (str, bytes, Mapping)) or not isinstance(rows, Iterable):
        raise ArgumentTypeError(f"from_list() takes a list of dicts, found {type(rows).__name__}. Use from_dict for columns.")
    check_mixed(on_mixed_types)
    listed = list(rows)
    if features is None and on_mixed_types == "use_json" and all(isinstance(row, Mapping) for row in listed):
        names = list(dict.fromkeys(name for row in listed for name in row))
        return columns_table({name: [row.get(name) for row in listed] for name in names}, None, on_mixed_types)
    if features is None:
        return pa.Table.from_batches([RowEncoder(None).encode(listed)])
    return pa.Table.from_batches([RowEncoder(features).encode(listed)], features.arrow_schema)


def check_mixed(on_mixed_types: str | None) -> None:
    """Refuse what is no way to keep values that share no type.

    Raises:
        ConfigurationError: neither None nor 'use_json'.
    """
    if on_mixed_types not in (None, "use_json"):
        raise ConfigurationError(f"on_mixed_types={on_mixed_types!r} is unknown. Give None (an error) or 'use_json'.")


def buffer_table(buffer: Any) -> pa.Table:
    """The table of an Arrow file or stream in memory.

    Raises:
        DamagedShardError: the bytes are cut, damaged or something else.
    """
    try:
        data = pa.py_buffer(buffer)
        is_file = data.slice(0, len(_ARROW_MAGIC)).to_pybytes() == _ARROW_MAGIC if data.size > len(_ARROW_MAGIC) else False
        reader = pa.ipc.open_file(data) if is_file else pa.ipc.open_stream(data)
        table = reader.read_all()
        table.validate(full=True)
    except _DAMAGE as error:
        advice = "Give the bytes of an Arrow file or of an Arrow stream"
        raise DamagedShardError("The buffer", f"it holds no Arrow table ({error})", advice=advice) from error
    return table

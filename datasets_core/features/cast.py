"""`cast_table`, `cast_array`: lossless casts of Arrow data to features; errors name the row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, CellCastError
from datasets_core.features.arrow import (
    Misfit,
    list_array,
    list_parts,
    raw_values,
    rows_of,
    struct_array,
    struct_parts,
    validity,
)
from datasets_core.features.base import Feature, FeatureType, LargeList, List, feature_to_arrow
from datasets_core.features.encode import ARROW_ERRORS
from datasets_core.features.schema import Features
from datasets_core.features.values import is_dict_of_lists, shown

types = pa.types
Tabular = TypeVar("Tabular", pa.Table, pa.RecordBatch)


def cast_table(data: Tabular, features: Features, *, what: str = "the table", fill_missing: bool = True) -> Tabular:
    """`data` with the columns and types of `features`, in their order.

    Text becomes class labels, numbers become text, a list of dicts becomes the dict of lists of a `Sequence` and the other
    way round; data that has the right types already is not touched.

    >>> from datasets_core.features import ClassLabel, Value
    >>> table = pa.table({"b": ["x"], "a": [1]})
    >>> cast_table(table, Features({"a": Value("int8"), "b": ClassLabel(names=["x"])})).to_pylist()
    [{'a': 1, 'b': 0}]

    Args:
        data: a table or a record batch.
        features: the columns that are wanted.
        what: the data's name in messages.
        fill_missing: True makes columns that `data` lacks null; False makes them an error.

    Raises:
        CastError: `data` has another column, or lacks one.
        CellCastError: a value does not fit; it names column and row.
    """
    schema = features.arrow_schema
    if data.schema.equals(schema, check_metadata=True):
        return data
    _check_columns(data.schema, features, what, fill_missing)
    arrays = []
    for name, feature in features.items():
        index = data.schema.get_field_index(name)
        if index < 0:
            arrays.append(pa.nulls(data.num_rows, schema.field(name).type))
        else:
            arrays.append(_cast_column(data.column(index), feature, name, what))
    if not arrays:
        return data.replace_schema_metadata(schema.metadata)
    return type(data).from_arrays(arrays, schema=schema)


def _check_columns(schema: pa.Schema, features: Features, what: str, fill_missing: bool) -> None:
    names = schema.names
    unknown = [name for name in names if name not in features]
    missing = [] if fill_missing else [name for name in features if name not in set(names)]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) != len(names) else []
    place = f"{what[0].upper()}{what[1:]}"
    if twice:
        raise CastError(f"{place} has duplicate columns {twice}. Rename them.")
    if unknown or missing:
        facts = [f"unknown columns {unknown}"] * bool(unknown) + [f"missing columns {missing}"] * bool(missing)
        raise CastError(
            f"{place} has {' and '.join(facts)}; the features have {list(features)}. Change the columns or the features."
        )


def _cast_column(column: Any, feature: FeatureType, name: str, what: str) -> Any:
    target = feature_to_arrow(feature)
    if column.type == target and not _has_rules(feature):
        return column
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    done, start = [], 0
    for chunk in chunks:
        try:
            done.append(cast_array(chunk, feature))
        except Misfit as misfit:
            row = start + misfit.index
            raise CellCastError(f"{name}{misfit.path}", misfit.reason, row=row, what=what) from misfit.__cause__
        start += len(chunk)
    return pa.chunked_array(done, target) if isinstance(column, pa.ChunkedArray) else done[0]


def _has_rules(feature: FeatureType) -> bool:
    """Return True if data of the right type may still break a rule of the feature."""
    if isinstance(feature, dict):
        return any(_has_rules(inner) for inner in feature.values())
    if isinstance(feature, (List, LargeList)):
        return _has_rules(feature.feature)
    return feature.has_rules


def cast_array(array: pa.Array, feature: FeatureType) -> pa.Array:
    """Return an array with the type of a feature.

    Raises:
        Misfit: a value does not fit.
    """
    array = _unwrapped(array)
    target = feature_to_arrow(feature)
    if array.type == target and not _has_rules(feature):
        return array
    if array.null_count == len(array):
        return pa.nulls(len(array), target)
    while isinstance(feature, Feature):
        cast = feature.cast_array(array)
        if cast is not None:
            return cast
        if (storage := feature.storage) is feature:
            break
        feature = storage
    if isinstance(feature, dict):
        return _cast_struct(array, feature, target)
    if isinstance(feature, (List, LargeList)):
        return _cast_list(array, feature, target)
    return cast_leaf(array, target)


def _unwrapped(array: pa.Array) -> pa.Array:
    """Return the array without encodings and extension types, which only describe storage."""
    while True:
        if isinstance(array.type, pa.BaseExtensionType) and array.type.extension_name != "arrow.json":
            array = array.storage
        elif types.is_dictionary(array.type):
            array = array.dictionary_decode()
        elif types.is_run_end_encoded(array.type):
            array = pa.array(array.to_pylist(), array.type.value_type)
        else:
            return array


def _no_fit(array: pa.Array, wanted: object) -> Misfit:
    valid = validity(array)
    return Misfit(0 if valid is None else int(np.argmax(valid)), f"{array.type} does not fit {wanted}")


# -- structs and lists -------------------------------------------------------------------------------------------------


def _check_fields(fields: dict[str, pa.Array], feature: dict[str, FeatureType], index: int) -> None:
    unknown = [name for name in fields if name not in feature]
    if unknown:
        raise Misfit(index, f"it has the fields {unknown}, which are not in the features")


def _cast_fields(fields: dict[str, pa.Array], feature: dict[str, FeatureType], length: int) -> list[pa.Array]:
    _check_fields(fields, feature, 0)
    children = []
    for name, inner in feature.items():
        child = fields.get(name)
        try:
            children.append(pa.nulls(length, feature_to_arrow(inner)) if child is None else cast_array(child, inner))
        except Misfit as misfit:
            raise misfit.below(f".{name}") from misfit.__cause__
    return children


def _cast_struct(array: pa.Array, feature: dict[str, FeatureType], target: pa.DataType) -> pa.Array:
    if types.is_struct(array.type):
        valid, fields = struct_parts(array)
        _check_fields(fields, feature, 0 if valid is None else int(np.argmax(valid)))
        return struct_array(target, len(array), valid, _cast_fields(fields, feature, len(array)))
    if not (_is_list(array.type) and is_dict_of_lists(feature)):
        raise _no_fit(array, feature)
    lengths, valid, child = list_parts(array)
    child = _unwrapped(child)
    if not types.is_struct(child.type) and not types.is_null(child.type):
        raise _no_fit(array, feature)
    _, fields = struct_parts(child) if types.is_struct(child.type) else (None, {})
    elements: dict[str, Any] = {name: inner.feature for name, inner in feature.items() if isinstance(inner, (List, LargeList))}
    try:
        cast = _cast_fields(fields, elements, len(child))
    except Misfit as misfit:
        raise misfit.at(rows_of(lengths)) from misfit.__cause__
    columns = [list_array(field.type, lengths, valid, column) for field, column in zip(target, cast, strict=True)]
    return struct_array(target, len(array), valid, columns)


def _cast_list(array: pa.Array, feature: List | LargeList, target: pa.DataType) -> pa.Array:
    if _is_list(array.type):
        lengths, valid, child = list_parts(array)
        try:
            child = cast_array(child, feature.feature)
        except Misfit as misfit:
            raise misfit.at(rows_of(lengths), "[]") from misfit.__cause__
        return list_array(target, lengths, valid, child)
    if types.is_struct(array.type) and isinstance(feature.feature, dict):
        return _rows_from_lists(array, feature, target)
    raise _no_fit(array, feature)


def _rows_from_lists(array: pa.Array, feature: List | LargeList, target: pa.DataType) -> pa.Array:
    """Return a dict of lists as a list of dicts, where the lists of each row are equally long."""
    valid, fields = struct_parts(array)
    lengths: Any = None
    children: dict[str, pa.Array] = {}
    for name, column in fields.items():
        column = _unwrapped(column)
        if types.is_null(column.type):
            continue
        if not _is_list(column.type):
            raise _no_fit(array, feature)
        found, _, children[name] = list_parts(column)
        if lengths is not None and (wrong := found != lengths).any():
            raise Misfit(int(np.argmax(wrong)), f"its lists have different lengths and do not fit {feature!r}")
        lengths = found
    lengths = np.zeros(len(array), np.int64) if lengths is None else lengths
    total = int(lengths.sum())
    try:
        cast = _cast_fields(children, feature.feature, total)
    except Misfit as misfit:
        raise misfit.at(rows_of(lengths)) from misfit.__cause__
    return list_array(target, lengths, valid, struct_array(target.value_type, total, None, cast))


def _is_list(t: pa.DataType) -> bool:
    checks = (
        types.is_list,
        types.is_large_list,
        types.is_fixed_size_list,
        types.is_map,
        types.is_list_view,
        types.is_large_list_view,
    )
    return any(check(t) for check in checks)


# -- plain values ------------------------------------------------------------------------------------------------------


def is_text(t: pa.DataType) -> bool:
    """Return True if a type is one of text."""
    return bool(types.is_string(t) or types.is_large_string(t) or types.is_string_view(t))


def cast_leaf(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Return an array of plain values in another type without children."""
    if array.type == target:
        return array
    convert = _conversion(array.type, target)
    try:
        return convert(array, target)
    except pa.ArrowNotImplementedError as error:
        raise _no_fit(array, target) from error
    except ARROW_ERRORS as error:
        index = _first_failure(array, target, convert)
        value = array[index].as_py()
        raise Misfit(index, f"{shown(value)} ({array.type}) cannot be cast to {target} without loss") from error


_Conversion = Callable[[pa.Array, pa.DataType], pa.Array]


def _first_failure(array: pa.Array, target: pa.DataType, convert: _Conversion) -> int:
    """Return the first row whose conversion fails: halves, and halves of halves."""
    start, stop = 0, len(array)
    while stop - start > 1:
        middle = (start + stop) // 2
        try:
            convert(array.slice(start, middle - start), target)
        except ARROW_ERRORS:
            stop = middle
        else:
            start = middle
    return start


def _conversion(source: pa.DataType, target: pa.DataType) -> _Conversion:
    """Conversion of one plain type to another; pyarrow's own cast loses values silently in the cases named here."""
    if types.is_boolean(target) and (types.is_integer(source) or types.is_floating(source)):
        return _there_and_back
    if types.is_timestamp(source) and types.is_date(target):
        return _there_and_back
    if types.is_timestamp(source) and types.is_time(target):
        return _refused
    if types.is_floating(source) and types.is_floating(target) and target.bit_width < source.bit_width:
        return _narrower_float
    if types.is_decimal(target) and types.is_floating(source):
        return _through_text
    if types.is_decimal(target) and types.is_integer(source):
        return _integers_to_decimal
    if types.is_timestamp(target) and is_text(source):
        return _text_to_timestamp
    if types.is_time(target) and is_text(source):
        return _text_to_time
    return _plain_cast


def _plain_cast(array: pa.Array, target: pa.DataType) -> pa.Array:
    return array.cast(target)


def _refused(array: pa.Array, target: pa.DataType) -> pa.Array:
    raise pa.ArrowNotImplementedError(f"{array.type} to {target}")


def _there_and_back(array: pa.Array, target: pa.DataType) -> pa.Array:
    cast = array.cast(target)
    if not cast.cast(array.type).equals(array):
        raise pa.ArrowInvalid("the value would change")
    return cast


def _narrower_float(array: pa.Array, target: pa.DataType) -> pa.Array:
    cast = array.cast(target)
    after = raw_values(cast.buffers()[1], target.to_pandas_dtype(), cast)
    before = raw_values(array.buffers()[1], array.type.to_pandas_dtype(), array)
    overflow = np.isinf(after) & np.isfinite(before)
    valid = validity(array)
    if (overflow if valid is None else overflow & valid).any():
        raise pa.ArrowInvalid("the value is too large")
    return cast


def _through_text(array: pa.Array, target: pa.DataType) -> pa.Array:
    return array.cast(pa.string()).cast(target)


def _integers_to_decimal(array: pa.Array, target: pa.DataType) -> pa.Array:
    scale = max(target.scale, 0)
    return array.cast(pa.decimal256(20 + scale, scale)).cast(target)


def _text_to_time(array: pa.Array, target: pa.DataType) -> pa.Array:
    import pyarrow.compute as pc  # 5 ms that other columns do without

    moments = pc.binary_join_element_wise("1970-01-01T", array.cast(pa.string()), "")
    return moments.cast(pa.timestamp("ns")).cast(pa.time64("ns")).cast(target)


def _text_to_timestamp(array: pa.Array, target: pa.DataType) -> pa.Array:
    try:
        return array.cast(pa.timestamp(target.unit)).cast(target)
    except pa.ArrowInvalid:  # the text has offsets, which decide the instant
        return array.cast(pa.timestamp(target.unit, tz=target.tz or "UTC")).cast(target)

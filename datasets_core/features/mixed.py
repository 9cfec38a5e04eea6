"""Columns of mixed values: JSON as deep inside as can be, where values share no type or dicts have not the same keys.

What a column is does not depend on how its rows are cut into batches: values of several kinds are typed kind by kind, and
their arrays joined by the same functions that join the batches of a result.
"""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Collection
from itertools import chain
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.cast import cast_table
from datasets_core.features.columns import compile_column
from datasets_core.features.dtypes import MAX_DEPTH
from datasets_core.features.dynamic import Json
from datasets_core.features.inference import infer_column, is_media, kinds_apart
from datasets_core.features.merge import merge_types
from datasets_core.features.nesting import Misfit, list_array, struct_array
from datasets_core.features.schema import Features, feature_from_arrow
from datasets_core.features.values import decode_value

types = pa.types
Traits = frozenset[tuple[str, str]]
"""Places of a column, as ".a[]", and what integers there are: "negative", or "inexact" (beyond 2**53, as float64 rounds)."""
_EXACT = 1 << 53
_SIMPLE = frozenset({bool, float, str, bytes, datetime.date, datetime.time, datetime.timedelta})


def infer_or_json(values: list[Any]) -> pa.Array:
    """The Arrow array of some values, typed by themselves; what has no one type is JSON.

    >>> str(infer_or_json([{"a": 1, "b": [2]}, {"a": "x", "b": []}]).type)
    'struct<a: extension<arrow.json>, b: list<item: int64>>'
    >>> str(infer_or_json([{"a": 1}, {"b": 1}]).type)
    'extension<arrow.json>'
    """
    try:
        return _inferred(values, 0)
    except Misfit:
        return compile_column(Json())(values)


def _inferred(values: list[Any], depth: int) -> pa.Array:
    if depth > MAX_DEPTH:
        raise Misfit(0, f"a value is nested more than {MAX_DEPTH} levels deep")
    kinds = set(map(type, values))
    kinds.discard(NoneType)
    if not kinds or (len(kinds) == 1 and kinds <= _SIMPLE):
        return infer_column(values, depth)
    if kinds == {dict}:
        return _dicts(values, depth)
    if kinds <= {list, tuple}:
        return _lists(values, depth)
    if kinds == {int, float} and all(-_EXACT <= value <= _EXACT for value in values if type(value) is int):
        return infer_column(values, depth)
    if is_media(kinds, values):
        return infer_column(values, depth)
    groups = [] if _is_uniform(kinds, values) else kinds_apart(values)
    if len(groups) > 1:
        return _assembled([(rows, _inferred(members, depth)) for rows, members in groups], len(values))
    if groups and set(map(type, members := groups[0][1])) <= {dict, list, tuple} and not kinds <= {dict, list, tuple}:
        return _assembled([(groups[0][0], _inferred(members, depth))], len(values))
    try:
        return infer_column(values, depth)
    except Misfit:
        return compile_column(Json())(values)


def _is_uniform(kinds: set[type], values: list[Any]) -> bool:
    """Whether the values are of one kind for sure."""
    if len(kinds) > 1:
        return False
    (kind,) = kinds
    if kind is np.ndarray:
        shapes = {(value.dtype, value.ndim) for value in values if value is not None}
        return len(shapes) == 1 and all(dtype.kind in "biufUS" and ndim for dtype, ndim in shapes)
    return kind in {int, decimal.Decimal} or (issubclass(kind, np.generic) and kind not in {np.datetime64, np.timedelta64})


def _lists(values: list[Any], depth: int) -> pa.Array:
    lengths = np.fromiter((0 if value is None else len(value) for value in values), np.int64, len(values))
    child = _inferred(list(chain.from_iterable(value for value in values if value is not None)), depth + 1)
    valid = np.array([value is not None for value in values], bool)
    return list_array(pa.list_(child.type), lengths, None if valid.all() else valid, child)


def _dicts(values: list[Any], depth: int) -> pa.Array:
    present = [value for value in values if value is not None]
    names = list(dict.fromkeys(chain.from_iterable(present)))
    if not names or not all(isinstance(name, str) for name in names):
        return compile_column(Json())(values)
    if {len(value) for value in present} != {len(names)}:
        groups: dict[frozenset[str], list[int]] = {}
        for row, value in enumerate(values):
            if value is not None:
                groups.setdefault(frozenset(value), []).append(row)
        parts = [(rows, _inferred([values[row] for row in rows], depth)) for rows in groups.values()]
        return _assembled(parts, len(values))
    children = [_inferred([None if value is None else value[name] for value in values], depth + 1) for name in names]
    fields = [pa.field(name, child.type) for name, child in zip(names, children, strict=True)]
    valid = np.array([value is not None for value in values], bool)
    return struct_array(pa.struct(fields), len(values), None if valid.all() else valid, children)


def _assembled(parts: list[tuple[list[int], pa.Array]], length: int) -> pa.Array:
    """One array of several, each of which has the values of some rows; the other rows are null."""
    traits = frozenset(chain.from_iterable(integer_traits(array) for _, array in parts))
    arrow_type: pa.DataType = pa.null()
    for _, array in parts:
        arrow_type = joined_type(arrow_type, array.type, traits)
    if has_json(arrow_type):
        seen: list[Any] = [None] * length
        for rows, array in parts:
            for row, value in zip(rows, _decoded(array), strict=True):
                seen[row] = value
        return compile_column(feature_from_arrow(arrow_type))(seen)
    places: list[int | None] = [None] * length
    for place, row in enumerate(chain.from_iterable(rows for rows, _ in parts)):
        places[row] = place
    try:
        arrays = [widened_array(array, pa.field("", arrow_type)) for _, array in parts]
    except CastError as error:
        raise Misfit(0, str(error).removesuffix(".")) from error
    return pa.concat_arrays(arrays).take(pa.array(places, pa.int64()))


def _decoded(array: pa.Array) -> list[Any]:
    feature = feature_from_arrow(array.type)
    values = [None if value is None else decode_value(feature, value) for value in array.to_pylist()]
    return [_shortest(value) for value in values] if _has_decimal(array.type) else values


def _has_decimal(arrow_type: pa.DataType) -> bool:
    if types.is_nested(arrow_type):
        return any(_has_decimal(arrow_type.field(index).type) for index in range(arrow_type.num_fields))
    return bool(types.is_decimal(arrow_type))


def _shortest(value: Any) -> Any:
    """The value with decimals that do not tell the scale of the column that they stood in."""
    if isinstance(value, decimal.Decimal):
        text = format(value, "f")
        return decimal.Decimal(text.rstrip("0").rstrip(".") if "." in text else text)
    if isinstance(value, dict):
        return {name: _shortest(inner) for name, inner in value.items()}
    return [_shortest(inner) for inner in value] if isinstance(value, list) else value


# -- arrays of several types -------------------------------------------------------------------------------------------


def joined_type(a: pa.DataType, b: pa.DataType, traits: Collection[tuple[str, str]] = (), place: str = "") -> pa.DataType:
    """The type that holds both, with JSON where they share none, or are structs of different keys.

    Args:
        a: a type.
        b: another.
        traits: of the values of both; without, integers are taken as such that all types hold which may hold them.
        place: of the values, in `traits`.

    >>> str(joined_type(pa.struct({"k": pa.int64()}), pa.struct({"k": pa.string()})))
    'struct<k: extension<arrow.json>>'
    >>> str(joined_type(pa.struct({"k": pa.int64()}), pa.struct({"l": pa.int64()})))
    'extension<arrow.json>'
    >>> joined_type(pa.int64(), pa.uint64())
    DataType(uint64)
    """
    if a == b:
        return a
    if types.is_struct(a) and types.is_struct(b):
        ours, theirs = ({field.name: field.type for field in each} for each in (a, b))
        if ours.keys() != theirs.keys():
            return Json().arrow_type
        joined = {name: joined_type(found, theirs[name], traits, f"{place}.{name}") for name, found in ours.items()}
        return pa.struct([pa.field(name, found) for name, found in joined.items()])
    if types.is_list(a) and types.is_list(b):
        return pa.list_(joined_type(a.value_type, b.value_type, traits, f"{place}[]"))
    if types.is_uint64(a) != types.is_uint64(b) and types.is_integer(a) and types.is_integer(b):
        return Json().arrow_type if (place, "negative") in traits else pa.uint64()
    if types.is_floating(a) != types.is_floating(b) and (place, "inexact") in traits:
        return Json().arrow_type
    found = merge_types(a, b)
    return Json().arrow_type if found is None else found


def integer_traits(array: pa.Array, place: str = "") -> Traits:
    """What the integers of an array are, as far as it decides about the type that holds them and others.

    >>> sorted(integer_traits(pa.array([[1, -(2**53) - 1]])))
    [('[]', 'inexact'), ('[]', 'negative')]
    """
    arrow_type = array.type
    if types.is_signed_integer(arrow_type):
        import pyarrow.compute as pc  # 20 ms that reading does without

        least, most = pc.min_max(array).values()
        low, high = least.as_py(), most.as_py()
        if low is None:
            return frozenset()
        negative = {(place, "negative")} if low < 0 else set()
        inexact = {(place, "inexact")} if high > _EXACT or low < -_EXACT else set()
        return frozenset(negative | inexact)
    if types.is_struct(arrow_type):
        inner = zip(arrow_type, array.flatten(), strict=True)
        return frozenset(chain.from_iterable(integer_traits(child, f"{place}.{field.name}") for field, child in inner))
    return integer_traits(array.flatten(), f"{place}[]") if types.is_list(arrow_type) else frozenset()


def widened_array(column: pa.Array, field: pa.Field) -> pa.Array:
    """The array with the type of the field, which holds all of its values.

    >>> widened_array(pa.array([1, None]), pa.field("a", pa.json_())).storage.to_pylist()
    ['1', None]
    """
    if column.type == field.type:
        return column
    if has_json(field.type):
        return compile_column(feature_from_arrow(field.type))(_decoded(column))
    batch = pa.RecordBatch.from_arrays([column], [field.name])
    return cast_table(batch, Features.from_arrow_schema(pa.schema([field])), what="The rows").column(0)


def has_json(arrow_type: pa.DataType) -> bool:
    """Whether values of the type are JSON, or hold some."""
    if arrow_type == Json().arrow_type:
        return True
    return types.is_nested(arrow_type) and any(has_json(arrow_type.field(index).type) for index in range(arrow_type.num_fields))


def have_same_keys(values: list[Any], arrow_type: pa.DataType) -> bool:
    """Whether all dicts in one place have the keys of the others there, so that a type of structs says what they are.

    Args:
        values: of Python.
        arrow_type: that was inferred for them, so that a struct has the keys of all.

    >>> have_same_keys([{"a": 1}, {"a": 2, "b": 3}], pa.struct({"a": pa.int64(), "b": pa.int64()}))
    False
    """
    if not _has_struct(arrow_type):
        return True
    present = [value for value in values if value is not None]
    kinds = set(map(type, present))
    if types.is_struct(arrow_type) and kinds == {dict}:
        if set(map(len, present)) != {arrow_type.num_fields} or not arrow_type.num_fields:
            return False
        nested = [field for field in arrow_type if types.is_nested(field.type)]
        return all(have_same_keys([value[field.name] for value in present], field.type) for field in nested)
    if types.is_list(arrow_type) and kinds <= {list, tuple}:
        return have_same_keys(list(chain.from_iterable(present)), arrow_type.value_type)
    return True


def _has_struct(arrow_type: pa.DataType) -> bool:
    if types.is_struct(arrow_type):
        return True
    return types.is_nested(arrow_type) and any(_has_struct(arrow_type.field(k).type) for k in range(arrow_type.num_fields))

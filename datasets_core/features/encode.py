"""`compile_column`: Python values of one column to an Arrow array, by a function compiled once for each feature.

The set of the values' types decides: if Arrow converts all of them without loss, it gets the whole column; else each value
goes through `values`, one by one.  Arrow alone would cut 1.5 to 1 and "ab" to ["a", "b"].
"""

from __future__ import annotations

import datetime
import decimal
import math
import operator
from collections.abc import Callable
from functools import partial
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError
from datasets_core.features.arrow import Misfit, list_array, raw_values, rows_of, struct_array
from datasets_core.features.base import Feature, FeatureType, LargeList, List, feature_to_arrow, plain_array
from datasets_core.features.values import (
    as_elements,
    coercer,
    is_dict_of_lists,
    is_missing,
    lists_from_dicts,
    loose_coercer,
    loose_elements,
    shown,
)

if TYPE_CHECKING:
    import numpy.typing as npt

types = pa.types
Column = Callable[[list[Any]], pa.Array]
"""Makes the Arrow array of a column's values, or raises Misfit."""

ARROW_ERRORS = (pa.ArrowException, TypeError, ValueError, OverflowError)
_TYPE = operator.attrgetter("type")
INTEGERS = frozenset({int, *map(_TYPE, map(np.dtype, "bhilqBHILQ"))})
_UNSIGNED_64 = frozenset(map(_TYPE, map(np.dtype, "LQ")))
_FLOATS = frozenset({float, *map(_TYPE, map(np.dtype, "efd"))})


def compile_column(feature: FeatureType, *, is_loose: bool = False) -> Column:
    """Return the function that writes columns of one feature.

    Args:
        feature: the kind of the column.
        is_loose: values that do not fit are taken as `loose` says, even where that loses something.

    >>> from datasets_core.features import Json
    >>> compile_column(List({"a": Json()}))([[{"a": 1}], None]).to_pylist()
    [[{'a': '1'}], None]
    """
    if isinstance(feature, dict):
        return _struct_column(feature, is_loose=is_loose)
    if isinstance(feature, (List, LargeList)):
        return _list_column(feature, is_loose=is_loose)
    column = feature.column()
    if column is not None:
        return column
    if (storage := feature.storage) is not feature:
        column = compile_column(storage, is_loose=is_loose)
    else:
        column = leaf_column(feature.arrow_type, is_loose=is_loose and not feature.needs_encoding)
    return encoded(feature, column) if feature.needs_encoding else column


# -- plain values ------------------------------------------------------------------------------------------------------


def _safe_types(t: pa.DataType) -> frozenset[Any]:
    """Return the types of Python values that Arrow converts to `t` exactly, or refuses."""
    safe: frozenset[Any] = frozenset()
    if types.is_integer(t):
        safe = INTEGERS
    elif types.is_floating(t):
        safe = _FLOATS | INTEGERS - _UNSIGNED_64  # pyarrow turns uint64 into negative floats
    elif types.is_boolean(t):
        safe = frozenset({bool, np.bool_})
    elif types.is_string(t) or types.is_large_string(t) or types.is_string_view(t):
        safe = frozenset({str, np.str_})
    elif types.is_binary(t) or types.is_large_binary(t) or types.is_fixed_size_binary(t) or types.is_binary_view(t):
        safe = frozenset({bytes, bytearray, memoryview, np.bytes_})
    elif types.is_decimal(t):
        safe = frozenset({decimal.Decimal, int})
    elif types.is_date(t):
        safe = frozenset({datetime.date})
    elif types.is_timestamp(t):
        safe = frozenset({datetime.datetime}) if t.unit in ("us", "ns") else safe
    elif types.is_time64(t):
        safe = frozenset({datetime.time})
    elif types.is_duration(t):
        safe = frozenset({datetime.timedelta}) if t.unit in ("us", "ns") else safe
    return frozenset({*safe, NoneType})


def leaf_column(arrow_type: pa.DataType, *, is_loose: bool = False) -> Column:
    """Return the function that writes columns of plain values of one type."""
    safe = _safe_types(arrow_type)
    narrow = not is_loose and (types.is_float16(arrow_type) or types.is_float32(arrow_type))

    def write(values: list[Any]) -> pa.Array:
        if safe.issuperset(map(type, values)):
            try:
                array = plain_array(values, arrow_type)
            except ARROW_ERRORS:
                return one_by_one(values)
            if not narrow or not _overflowed(array, values):
                return array
        return one_by_one(values)

    def one_by_one(values: list[Any]) -> pa.Array:
        coerce = loose_coercer(arrow_type) if is_loose else coercer(arrow_type)
        is_none = _is_none if is_loose else is_missing
        stored: list[Any] = []
        for index, value in enumerate(values):
            try:
                stored.append(None if is_none(value) else coerce(value))
            except CastError as error:
                raise Misfit(index, without_stop(error)) from error
        return _array(stored, values, arrow_type)

    return write


def _is_none(value: Any) -> bool:
    return value is None


def _array(stored: list[Any], values: list[Any], arrow_type: pa.DataType) -> pa.Array:
    try:
        return plain_array(stored, arrow_type)
    except ARROW_ERRORS:
        for index, value in enumerate(stored):
            try:
                pa.array([value], arrow_type)
            except ARROW_ERRORS as error:
                kind = type(values[index]).__name__
                raise Misfit(index, f"{shown(values[index])} ({kind}) is not a valid {arrow_type}: {error}") from error
        raise


def without_stop(error: Exception) -> str:
    """Return the text of an error, as a part of another sentence."""
    return str(error).removesuffix(".")


def _overflowed(array: pa.Array, values: list[Any]) -> bool:
    stored = raw_values(array.buffers()[1], np.float16 if types.is_float16(array.type) else np.float32, array)
    return any(values[index] is not None and not math.isinf(values[index]) for index in np.flatnonzero(np.isinf(stored)))


# -- features with a form of their own ---------------------------------------------------------------------------------


def encoded(feature: Feature, column: Column) -> Column:
    """Return the function that writes columns of a feature whose values pass `encode_example`; `column` writes what is
    stored.
    """
    encode = feature.encode_example

    def write(values: list[Any]) -> pa.Array:
        stored: list[Any] = []
        for index, value in enumerate(values):
            try:
                stored.append(None if is_missing(value) else encode(value))
            except CastError as error:
                raise Misfit(index, without_stop(error)) from error
        return column(stored)

    return write


# -- structs and lists -------------------------------------------------------------------------------------------------


def _struct_column(feature: dict[str, FeatureType], *, is_loose: bool) -> Column:
    fields = [(name, compile_column(inner, is_loose=is_loose)) for name, inner in feature.items()]
    arrow_type = feature_to_arrow(feature)
    may_be_rows = is_dict_of_lists(feature)

    def write(values: list[Any]) -> pa.Array:
        kinds = set(map(type, values))
        is_plain = kinds <= {dict, NoneType}
        if not is_plain:
            values = [_as_dict(value, index) for index, value in enumerate(values)]
        has_null = NoneType in kinds or any(value is None for value in values)
        valid = np.array([value is not None for value in values], bool) if has_null else None
        children = []
        for name, column in fields:
            try:
                children.append(column(_field_values(values, name) if is_plain else [_field(value, name) for value in values]))
            except Misfit as misfit:
                raise misfit.below(f".{name}") from misfit
        return struct_array(arrow_type, len(values), valid, children)

    def _as_dict(value: Any, index: int) -> Any:
        if is_missing(value):
            return None
        if hasattr(value, "keys") and hasattr(value, "get"):
            return value
        try:
            if may_be_rows:
                return lists_from_dicts(as_elements(value), feature)
        except CastError as error:
            raise Misfit(index, without_stop(error)) from error
        raise Misfit(index, f"{shown(value)} ({type(value).__name__}) is not a dict")

    return write


def _field_values(values: list[Any], name: str) -> list[Any]:
    try:
        return [value[name] for value in values]
    except (KeyError, TypeError):
        return [_field(value, name) for value in values]


def _field(value: Any, name: str) -> Any:
    """Return a key's value; null where the key is missing, also in a dict that would make one of its own and keep it."""
    return None if value is None else value.get(name)


def _list_column(feature: List | LargeList, *, is_loose: bool) -> Column:
    item = compile_column(feature.feature, is_loose=is_loose)
    elements = loose_elements if is_loose else as_elements
    arrow_type = feature_to_arrow(feature)
    leaf, levels = _leaf_of(arrow_type)

    def write(values: list[Any]) -> pa.Array:
        kinds = set(map(type, values))
        if np.ndarray in kinds and leaf is not None:
            try:
                array = _from_ndarrays(values, arrow_type, leaf, levels)
            except Misfit:
                if not is_loose:
                    raise
                array = None
            if array is not None:
                return array
        valid = None
        if not kinds <= {list, tuple}:
            if not kinds <= {list, tuple, NoneType}:
                values = [_as_list(value, index) for index, value in enumerate(values)]
            valid = np.array([value is not None for value in values], bool)
            values = [() if value is None else value for value in values]
        lengths = np.fromiter(map(len, values), np.int64, len(values))
        try:
            child = item(list(chain.from_iterable(values)))
        except Misfit as misfit:
            raise misfit.at(rows_of(lengths), "[]") from misfit
        return list_array(arrow_type, lengths, valid, child)

    def _as_list(value: Any, index: int) -> Any:
        if is_missing(value):
            return None
        if isinstance(value, (bytes, bytearray)) and types.is_integer(arrow_type.value_type):
            return list(value)
        try:
            return elements(value)
        except CastError as error:
            raise Misfit(index, without_stop(error)) from error

    return write


# -- numpy arrays ------------------------------------------------------------------------------------------------------


def _leaf_of(arrow_type: pa.DataType) -> tuple[pa.DataType | None, int]:
    """Return the number type at the bottom of lists of lists, and how many lists are above it; None for another bottom."""
    levels = 0
    while types.is_list(arrow_type) or types.is_large_list(arrow_type) or types.is_fixed_size_list(arrow_type):
        arrow_type, levels = arrow_type.value_type, levels + 1
    is_number = types.is_integer(arrow_type) or types.is_floating(arrow_type) or types.is_boolean(arrow_type)
    return (arrow_type if is_number else None), levels


def _from_ndarrays(values: list[Any], arrow_type: pa.DataType, leaf: pa.DataType, levels: int) -> pa.Array | None:
    """Return the column where every value is an array of numbers with `levels` dimensions; None if one is not."""
    arrays = [value for value in values if value is not None]
    kinds = {value.dtype.kind if type(value) is np.ndarray and value.ndim == levels else "" for value in arrays}
    if not kinds <= set("biuf"):
        return None
    shapes = np.array([array.shape for array in arrays], np.int64).reshape(-1, levels)
    sizes = shapes.prod(axis=1)
    present = np.array([value is not None for value in values], bool)
    try:
        child = numbers_to_arrow(arrays, leaf)
    except Misfit as misfit:
        raise misfit.at(partial(_place, np.flatnonzero(present), rows_of(sizes)), "[]" * levels) from misfit
    level_types = [arrow_type]
    for _ in range(levels - 1):
        level_types.append(level_types[-1].value_type)
    for level in range(levels - 1, 0, -1):
        repeats = shapes[:, :level].prod(axis=1)
        above = partial(_place, np.flatnonzero(present), rows_of(repeats))
        try:
            child = list_array(level_types[level], np.repeat(shapes[:, level], repeats), None, child)
        except Misfit as misfit:
            raise misfit.at(above, "[]" * level) from misfit
    lengths = np.zeros(len(values), np.int64)
    lengths[present] = shapes[:, 0]
    return list_array(arrow_type, lengths, None if present.all() else present, child)


def _place(places: npt.NDArray[np.intp], row: Callable[[int], int], index: int) -> int:
    return int(places[row(index)])


def numbers_to_arrow(arrays: list[npt.NDArray[Any]], leaf: pa.DataType) -> pa.Array:
    """Return all elements of some numpy arrays as one Arrow array of a number type.

    Raises:
        Misfit: a number does not fit.
    """
    dtypes = {array.dtype for array in arrays}
    flat = np.concatenate([array.reshape(-1) for array in arrays]) if arrays else np.zeros(0)
    if len(dtypes) > 1 and flat.dtype.kind == "f" and any(dtype.kind in "iu" and dtype.itemsize == 8 for dtype in dtypes):
        flat = np.concatenate([array.reshape(-1).astype(object) for array in arrays])  # no detour over inexact floats
        return leaf_column(leaf)(flat.tolist())
    if types.is_boolean(leaf):
        fits = (flat == 0) | (flat == 1)
        _refuse_first(~fits, flat, leaf)
        return pa.Array.from_buffers(leaf, len(flat), [None, pa.py_buffer(np.packbits(flat.astype(bool), bitorder="little"))])
    target = np.dtype(leaf.to_pandas_dtype())
    if flat.dtype != target:
        with np.errstate(all="ignore"):
            stored = flat.astype(target)
            if target.kind == "f":
                _refuse_first(np.isinf(stored) & np.isfinite(flat), flat, leaf)
            else:
                back = stored.astype(flat.dtype)
                wrapped = (stored < 0) != (flat < 0) if flat.dtype.kind != "b" else np.zeros(len(flat), bool)
                _refuse_first((back != flat) | wrapped, flat, leaf)
        flat = stored
    return pa.Array.from_buffers(leaf, len(flat), [None, pa.py_buffer(np.ascontiguousarray(flat))])


def _refuse_first(wrong: npt.NDArray[np.bool_], flat: npt.NDArray[Any], leaf: pa.DataType) -> None:
    if wrong.any():
        index = int(np.argmax(wrong))
        raise Misfit(index, f"{shown(flat[index].item())} of an array of {flat.dtype} does not fit {leaf}")

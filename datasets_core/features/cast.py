"""`cast_table`, `cast_array`: lossless casts of Arrow data; `compile_column`: Python values to Arrow.  Errors name the row."""

from __future__ import annotations

import datetime
import decimal
import math
import operator
from collections.abc import Callable
from functools import partial
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

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
from datasets_core.features.base import Feature, FeatureType, LargeList, List, feature_to_arrow, plain_array
from datasets_core.features.schema import Features
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
Tabular = TypeVar("Tabular", pa.Table, pa.RecordBatch)


def cast_table(data: Tabular, features: Features, *, what: str = "the table", fill_missing: bool = True) -> Tabular:
    """Return `data` with the columns and types of `features`, in their order.

    For example, text becomes class labels, numbers become text, and a list of dicts becomes the dict of lists of a `Sequence`,
    or the reverse. Data that already has the right types is unchanged.

    >>> from datasets_core.features import ClassLabel, Value
    >>> table = pa.table({"b": ["x"], "a": [1]})
    >>> cast_table(table, Features({"a": Value("int8"), "b": ClassLabel(names=["x"])})).to_pylist()
    [{'a': 1, 'b': 0}]

    Args:
        data: a table or a record batch.
        features: the columns of the result.
        what: name of the data in messages.
        fill_missing: True fills columns that `data` lacks with nulls; False makes them an error.

    Raises:
        CastError: `data` has another column, or lacks one.
        CellCastError: a value does not fit; the error names column and row.
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
        raise CastError(f"{place} has duplicate columns {twice}", advice="Rename them")
    if unknown or missing:
        facts = [f"unknown columns {unknown}"] * bool(unknown) + [f"missing columns {missing}"] * bool(missing)
        raise CastError(
            f"{place} has {' and '.join(facts)}; the features have {list(features)}",
            advice="Change the columns or the features",
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
    """Return True if data of the right type may still violate a rule of the feature."""
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
    """Return a dict of lists as a list of dicts; the lists of each row must have the same length."""
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
    """Return True for text types."""
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
    """Return the first row whose conversion fails, by bisection."""
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


# Python values of one column to an Arrow array, by a function compiled once for each feature.


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
        feature: the type of the column.
        is_loose: True to convert values that do not fit as described in `loose`, even if information is lost.

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
    """Return the types of Python values that Arrow either converts to `t` exactly or rejects."""
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
    """Return the text of an error for use within another sentence."""
    return str(error).removesuffix(".")


def _overflowed(array: pa.Array, values: list[Any]) -> bool:
    stored = raw_values(array.buffers()[1], np.float16 if types.is_float16(array.type) else np.float32, array)
    return any(values[index] is not None and not math.isinf(values[index]) for index in np.flatnonzero(np.isinf(stored)))


# -- features with a form of their own ---------------------------------------------------------------------------------


def encoded(feature: Feature, column: Column) -> Column:
    """Return the function that writes columns of a feature whose values are converted by `encode_example`; `column` writes the
    stored values.
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
    """Return a key's value; null if the key is missing, even in a dict that would create and store a default."""
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
    """Return the innermost number type of nested lists, and the number of list levels; None for another innermost type."""
    levels = 0
    while types.is_list(arrow_type) or types.is_large_list(arrow_type) or types.is_fixed_size_list(arrow_type):
        arrow_type, levels = arrow_type.value_type, levels + 1
    is_number = types.is_integer(arrow_type) or types.is_floating(arrow_type) or types.is_boolean(arrow_type)
    return (arrow_type if is_number else None), levels


def _from_ndarrays(values: list[Any], arrow_type: pa.DataType, leaf: pa.DataType, levels: int) -> pa.Array | None:
    """Return the column if every value is an array of numbers with `levels` dimensions; None otherwise."""
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

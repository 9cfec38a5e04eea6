"""`infer_column`: Python values without a feature as an Arrow array of their common type."""

from __future__ import annotations

import datetime
import decimal
import json
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import chain
from types import NoneType
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.config import has_small_tokens
from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.arrow import (
    Misfit,
    inferred_dicts,
    inferred_lists,
    merge_types,
    struct_array,
    struct_parts,
)
from datasets_core.features.base import MAX_DEPTH, OBJECTS, Feature, plain_array
from datasets_core.features.cast import ARROW_ERRORS, cast_table, compile_column
from datasets_core.features.media.audio import Audio, Sound, is_audio_decoder
from datasets_core.features.media.media import MARK, Media
from datasets_core.features.media.types import Image, Pdf, Video, is_document, is_pillow_image, is_video_decoder
from datasets_core.features.schema import Features, feature_from_arrow
from datasets_core.features.serialization import feature_to_json
from datasets_core.features.types import Json
from datasets_core.features.values import as_elements, decode_value, is_missing, is_tensor, plain_scalar, shown, tensor_array

types = pa.types
_TOKENS = {
    "attention_mask": pa.int8(),
    "input_ids": pa.int32(),
    "special_tokens_mask": pa.int8(),
    "token_type_ids": pa.int8(),
}


def token_array(name: str, array: pa.Array) -> pa.Array:
    """Return integers of a tokenizer in the small type that their column has in `datasets`, if all fit into it.

    >>> token_array("input_ids", pa.array([[1, 2]])).type, token_array("input_ids", pa.array([1 << 40])).type
    (ListType(list<item: int32>), DataType(int64))
    """
    small = _TOKENS.get(name)
    if small is None or not has_small_tokens():
        return array
    wanted = _with_leaf(array.type, small)
    try:
        return array if wanted is None else array.cast(wanted)
    except pa.ArrowInvalid:
        return array


def _with_leaf(kind: pa.DataType, leaf: pa.DataType) -> pa.DataType | None:
    """Return an int64 type, or a list type of int64, with smaller integers; None for other types."""
    if not types.is_list(kind):
        return leaf if types.is_int64(kind) else None
    inner = _with_leaf(kind.value_type, leaf)
    return None if inner is None else pa.list_(kind.value_field.with_type(inner))


_BYTES = frozenset({bytes, bytearray, memoryview})


def infer_column(values: list[Any], depth: int = 0) -> pa.Array:
    """Return the Arrow array of some values, with an inferred type.

    Integers among floats become floats, missing keys of dicts become null, and a column of only None has the type null.

    >>> infer_column([{"a": 1}, {"a": 2.5, "b": None}]).type
    StructType(struct<a: double, b: null>)

    Raises:
        Misfit: the values share no type.
    """
    if depth > MAX_DEPTH:
        raise Misfit(0, f"a value is nested more than {MAX_DEPTH} levels deep")
    kinds = set(map(type, values))
    kinds.discard(NoneType)
    if not kinds:
        return pa.nulls(len(values))
    if kinds == {dict}:
        return inferred_dicts(values, lambda _, members: infer_column(members, depth + 1))
    if kinds <= {list, tuple}:
        return inferred_lists(values, lambda members: infer_column(members, depth + 1))
    if not kinds <= _KNOWN:
        if any(is_tensor(kind) and hasattr(kind, "detach") for kind in kinds):
            return infer_column([tensor_array(value) if is_tensor(type(value)) else value for value in values], depth)

        feature = feature_of(values)
        if feature is not None:
            return marked(compile_column(feature)(values), feature)
    arrow_type = _leaf_type(kinds, values)
    if arrow_type is not None:
        try:
            array = plain_array(values, None if arrow_type is _BY_ARROW else arrow_type)
            if arrow_type is not _BY_ARROW or array.type.scale >= 0:
                return array
            return compile_column(feature_from_arrow(_decimal_type(values)))(values)
        except ARROW_ERRORS:
            if kinds == {int}:
                return _infer_large_integers(values)
            if kinds == {int, float}:
                _check_exact(values)
            known = _decimal_type(values) if arrow_type is _BY_ARROW else arrow_type
            return compile_column(feature_from_arrow(known))(values)
    return _infer_mixed(values, depth)


_BY_ARROW = object()
_LEAVES: dict[type, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.string(),
    bytes: pa.binary(),
    bytearray: pa.binary(),
    memoryview: pa.binary(),
    datetime.date: pa.date32(),
    datetime.time: pa.time64("us"),
    datetime.timedelta: pa.duration("us"),
}


_KNOWN = frozenset({*_LEAVES, datetime.datetime, decimal.Decimal, dict, list, tuple, np.ndarray})


def _leaf_type(kinds: set[type], values: list[Any]) -> Any:
    """Return the type of values of one kind, or of compatible kinds; None if the values have to be inspected."""
    if len(kinds) == 1:
        kind = next(iter(kinds))
        if kind is datetime.datetime:
            return _timestamp_type(values)
        return _BY_ARROW if kind is decimal.Decimal else _LEAVES.get(kind)
    if kinds == {int, float}:
        return pa.float64()
    if kinds <= _BYTES | {str}:
        return pa.binary()
    return _BY_ARROW if kinds == {int, decimal.Decimal} else None


def _timestamp_type(values: list[Any]) -> pa.DataType | None:
    zones = {None if value.tzinfo is None else str(pa.infer_type([value]).tz) for value in values if value is not None}
    if len(zones) == 1:
        return pa.timestamp("us", tz=zones.pop())
    return None if None in zones else pa.timestamp("us", tz="UTC")


def _decimal_type(values: list[Any]) -> pa.DataType:
    """Return the type of decimals for which pyarrow finds no type: with more than 38 digits, or without digits."""
    whole = scale = 0
    for index, value in enumerate(values):
        if value is None:
            continue
        _, digits, exponent = decimal.Decimal(value).as_tuple()
        if isinstance(exponent, str):
            raise Misfit(index, f"{shown(value)} is not a decimal that Arrow can store")
        whole, scale = max(whole, len(digits) + exponent), max(scale, -exponent)
        if whole + scale > 76:
            raise Misfit(index, f"{shown(value)} needs a decimal of more than 76 digits")
    precision = max(whole + scale, 1)
    return pa.decimal128(precision, scale) if precision <= 38 else pa.decimal256(precision, scale)


def _check_exact(values: list[Any]) -> None:
    """Raise an error for the first integer that a float64 would round."""
    for index, value in enumerate(values):
        if isinstance(value, (int, np.integer)) and not _is_exact(int(value)):
            raise Misfit(index, f"{shown(value)} is among floats, and float64 would round it")


def _is_exact(number: int) -> bool:
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def _infer_large_integers(values: list[Any]) -> pa.Array:
    numbers = [value for value in values if value is not None]
    if min(numbers) >= 0 and max(numbers) < 1 << 64:
        return plain_array(values, pa.uint64())
    largest = max(numbers, key=abs)
    index = values.index(largest)
    if abs(largest) < 1 << 64 and (first := next((n for n in numbers if n < 0), None)) is not None and largest > 0:
        raise Misfit(index, f"{shown(largest)} needs uint64, which does not fit {shown(first)}", other=values.index(first))
    raise Misfit(index, f"{shown(largest)} is an integer of more than 64 bits")


def is_media(kinds: set[type], values: list[Any]) -> bool:
    """Return True if values of some kinds are media objects, such as images."""
    if kinds <= _KNOWN:
        return False

    return feature_of(values) is not None


def kinds_apart(values: list[Any]) -> list[tuple[list[int], list[Any]]]:
    """Return the values of each kind, in a form that Arrow supports, and their positions, without missing values.

    >>> kinds_apart([1, "a", None, 2])
    [([0, 3], [1, 2]), ([1], ['a'])]

    Raises:
        Misfit: a value has no Arrow type.
    """
    groups: dict[Any, tuple[list[int], list[Any]]] = {}
    for index, value in enumerate(values):
        if is_missing(value):
            continue
        try:
            plain = _plain(value)
        except CastError as error:
            raise Misfit(index, str(error).removesuffix(".")) from error
        if not is_missing(plain):
            rows, members = groups.setdefault(_group(plain), ([], []))
            rows.append(index)
            members.append(plain)
    return list(groups.values())


# -- values of several kinds -------------------------------------------------------------------------------------------


def _infer_mixed(values: list[Any], depth: int) -> pa.Array:
    """Return values that have to be converted, or are of several kinds whose types have to be joined first."""
    plain: list[Any] = []
    for index, value in enumerate(values):
        try:
            plain.append(None if is_missing(value) else _plain(value))
        except CastError as error:
            raise Misfit(index, str(error).removesuffix(".")) from error
    groups: dict[Any, list[int]] = {}
    for index, value in enumerate(plain):
        if value is not None:
            groups.setdefault(_group(value), []).append(index)
    if len(groups) <= 1 and all(isinstance(group, type) and group in _DIRECT for group in groups):
        return infer_column(plain, depth)
    joined: pa.DataType = pa.null()
    seen: list[tuple[int, pa.DataType]] = []
    for indices in groups.values():
        members = [plain[index] for index in indices]
        try:
            arrow_type = _type_of_group(members, depth)
        except Misfit as misfit:
            raise misfit.at(indices.__getitem__) from misfit
        wider = merge_types(joined, arrow_type)
        if wider is None:
            raise _conflict(values, indices[0], arrow_type, seen)
        seen.append((indices[0], arrow_type))
        joined = wider
    if types.is_float64(joined):
        _check_exact(plain)
    try:
        return compile_column(feature_from_arrow(joined))(plain)
    except ConfigurationError as error:
        raise Misfit(0, str(error).removesuffix(".")) from error


def _conflict(values: list[Any], index: int, arrow_type: pa.DataType, seen: list[tuple[int, pa.DataType]]) -> Misfit:
    before, type_before = next(((i, t) for i, t in seen if merge_types(t, arrow_type) is None), seen[0])
    a, b = values[before], values[index]
    return Misfit(
        index,
        f"{shown(b)} ({type(b).__name__}, {arrow_type}) does not fit {shown(a)} ({type(a).__name__}, {type_before})",
        other=before,
    )


_DIRECT: tuple[type, ...] = (dict, list, tuple, datetime.datetime, decimal.Decimal, *_LEAVES)


def _group(value: Any) -> Any:
    """Return the group of one value for inference, if it is known without inspecting the content."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.ndim
    if isinstance(value, np.generic):
        return value.dtype
    if isinstance(value, datetime.datetime):
        return datetime.datetime, value.tzinfo is None
    if _is_fine_time(value):
        return pa.time64("ns")
    return list if isinstance(value, (list, tuple)) else type(value)


def _is_fine_time(value: Any) -> bool:
    """Return True for a time of day with nanoseconds, which Python and numpy cannot represent."""
    return isinstance(value, pa.Time64Scalar) or (isinstance(value, datetime.time) and getattr(value, "nanosecond", 0) > 0)


def _type_of_group(members: list[Any], depth: int) -> pa.DataType:
    first = members[0]
    if isinstance(first, np.ndarray):
        arrow_type = _numpy_type(first.dtype)
        for _ in range(first.ndim):
            arrow_type = pa.list_(arrow_type)
        return arrow_type
    if isinstance(first, np.generic):
        return _numpy_type(first.dtype)
    if _is_fine_time(first):
        return pa.time64("ns")
    return infer_column(members, depth).type


def _numpy_type(dtype: np.dtype[Any]) -> pa.DataType:
    if dtype.kind in "US":
        return pa.string() if dtype.kind == "U" else pa.binary()
    if dtype.kind in "mM":
        return pa.array(np.zeros(0, dtype)).type
    return pa.from_numpy_dtype(dtype)


_CONVERSIONS: tuple[tuple[Any, Callable[[Any], Any]], ...] = (
    (bool, bool),
    (int, int),
    (float, float),
    (str, lambda value: str.__str__(value)),
    (bytes, bytes),
    (decimal.Decimal, decimal.Decimal),
    (os.PathLike, os.fspath),
    (Mapping, dict),
)


def _plain(value: Any) -> Any:
    """Return `value` as one of the kinds that Arrow supports."""
    if isinstance(value, (np.ndarray, np.generic)):
        return _plain_numpy(value)
    if type(value) in _DIRECT or _is_fine_time(value):
        return value
    for kind, convert in _CONVERSIONS:
        if isinstance(value, kind):
            return convert(value)
    if isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
        return _plain_moment(value)
    if isinstance(value, pa.Scalar):
        return _plain(plain_scalar(value))
    if is_tensor(type(value)) and hasattr(value, "detach"):
        return _plain(tensor_array(value))
    try:
        return list(as_elements(value))
    except CastError:
        raise CastError(f"{shown(value)} ({type(value).__name__}) has no Arrow type.") from None


def _plain_moment(value: Any) -> Any:
    """Return a date, time or duration of another class, such as those of pandas, as one that Arrow supports."""
    if hasattr(value, "to_timedelta64"):
        return value.to_timedelta64()
    if isinstance(value, datetime.timedelta):
        return datetime.timedelta(value.days, value.seconds, value.microseconds)
    if isinstance(value, datetime.time):
        return datetime.time(value.hour, value.minute, value.second, value.microsecond)
    if not isinstance(value, datetime.datetime):
        return datetime.date(value.year, value.month, value.day)
    to_datetime64 = getattr(value, "to_datetime64", None)  # what pandas calls it
    if to_datetime64 and value.tzinfo is None:
        return to_datetime64()
    if getattr(value, "nanosecond", 0):
        raise CastError(
            f"{shown(value)} has nanoseconds and a time zone", advice="Give the column a feature, Value('timestamp[ns, tz=…]')"
        )
    return datetime.datetime.combine(
        datetime.date(value.year, value.month, value.day),
        datetime.time(value.hour, value.minute, value.second, value.microsecond, value.tzinfo, fold=value.fold),
    )


def _plain_numpy(value: Any) -> Any:
    if isinstance(value, np.ma.MaskedArray):
        return value.tolist()
    if type(value) is np.ndarray and value.ndim == 0:
        return _plain(value[()])
    if isinstance(value, (np.str_, np.bytes_, np.bool_)):
        return plain_scalar(value)
    if value.dtype.kind in "biufUSmM":
        return value
    if value.dtype.kind == "O":
        return list(value)
    raise CastError(f"{shown(value)} ({value.dtype}) has no Arrow type.")


# Feature for an object of a media package: found by its class, without importing the package.


_KINDS: tuple[tuple[Callable[[Any], bool], Media], ...] = (
    (is_pillow_image, Image()),
    (lambda value: isinstance(value, Sound) or is_audio_decoder(value), Audio()),
    (is_video_decoder, Video()),
    (is_document, Pdf()),
)


def feature_of(values: Iterable[Any]) -> Feature | None:
    """Return the feature of the first object among some values that a kind stores automatically, such as an image; None if
    there is none.

    >>> feature_of([None, 1, "x.png"]) is None
    True
    """
    seen: set[type] = set()
    for value in values:
        if type(value) not in seen:
            seen.add(type(value))
            for matches, feature in _KINDS:
                if matches(value):
                    return feature
            for kind in type(value).__mro__ if OBJECTS else ():
                if (found := OBJECTS.get(f"{kind.__module__}.{kind.__qualname__}")) is not None:
                    return found()
    return None


def marked(array: pa.Array, feature: Feature) -> pa.Array:
    """Return a stored array of structs whose type records the feature, so that it is recognized wherever the type is nested."""
    valid, fields = struct_parts(array)
    first, *others = array.type
    first = first.with_metadata({MARK: json.dumps(feature_to_json(feature))})
    return struct_array(pa.struct([first, *others]), len(array), valid, [*fields.values()])


# Columns of mixed values: JSON at the innermost possible level, if values share no type or dicts have different keys.


Traits = frozenset[tuple[str, str]]
"""Places in a column, such as ".a[]", and the property of their integers: "negative", or "inexact" (beyond 2**53, rounded by
float64).
"""
_EXACT = 1 << 53
_SIMPLE = frozenset({bool, float, str, bytes, datetime.date, datetime.time, datetime.timedelta})


def infer_or_json(values: list[Any]) -> pa.Array:
    """Return the Arrow array of values with an inferred type; values without a common type become JSON.

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
        return inferred_lists(values, lambda members: _inferred(members, depth + 1))
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
    """Return True if the values are certainly of one kind."""
    if len(kinds) > 1:
        return False
    (kind,) = kinds
    if kind is np.ndarray:
        shapes = {(value.dtype, value.ndim) for value in values if value is not None}
        return len(shapes) == 1 and all(dtype.kind in "biufUS" and ndim for dtype, ndim in shapes)
    return kind in {int, decimal.Decimal} or (issubclass(kind, np.generic) and kind not in {np.datetime64, np.timedelta64})


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
    return inferred_dicts(values, lambda _, members: _inferred(members, depth + 1))


def _assembled(parts: list[tuple[list[int], pa.Array]], length: int) -> pa.Array:
    """Return one array from several, each with the values of some rows; the other rows are null."""
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
    """Return the value with decimals independent of the scale of their column."""
    if isinstance(value, decimal.Decimal):
        text = format(value, "f")
        return decimal.Decimal(text.rstrip("0").rstrip(".") if "." in text else text)
    if isinstance(value, dict):
        return {name: _shortest(inner) for name, inner in value.items()}
    return [_shortest(inner) for inner in value] if isinstance(value, list) else value


# -- arrays of several types -------------------------------------------------------------------------------------------


def joined_type(a: pa.DataType, b: pa.DataType, traits: Collection[tuple[str, str]] = (), place: str = "") -> pa.DataType:
    """Return the type that can hold both, with JSON if they share no type, or are structs with different keys.

    Args:
        a: a type.
        b: another type.
        traits: properties of the values of both; without them, integers are assumed to fit every candidate type.
        place: place of the values in `traits`.

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
    """Return properties of the integers of an array that affect the choice of a common type.

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
    """Return the array with the type of the field, which can hold all its values.

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
    """Return True if values of the type are JSON, or contain JSON."""
    if arrow_type == Json().arrow_type:
        return True
    return types.is_nested(arrow_type) and any(has_json(arrow_type.field(index).type) for index in range(arrow_type.num_fields))

"""The names of Arrow's types (`"int32"`, `"timestamp[us, tz=UTC]"`, …), in both directions."""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa

from datasets_core.errors import ConfigurationError

MAX_DEPTH = 60
"""Levels of nesting that a feature, a type or a value may have; Arrow files hold no more than 64."""

_PLAIN: dict[str, pa.DataType] = {
    "null": pa.null(),
    "bool": pa.bool_(),
    "bool_": pa.bool_(),
    **{f"{sign}int{bits}": getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)},
    "float16": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "string": pa.string(),
    "utf8": pa.string(),
    "large_string": pa.large_string(),
    "large_utf8": pa.large_string(),
    "string_view": pa.string_view(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
    "date32": pa.date32(),
    "date64": pa.date64(),
    "month_day_nano_interval": pa.month_day_nano_interval(),
}
_SAME = {"float": "float32", "double": "float64"}  # the only aliases that a feature replaces when it is made
_BRACKETS = re.compile(r"^(time32|time64|duration|fixed_size_binary)\[(\w+)\]$")
_TIMESTAMP = re.compile(r"^timestamp\[(s|ms|us|ns)(?:,\s*tz=([^\[\]\s]+))?\]$")
_DECIMAL = re.compile(r"^(decimal128|decimal256)\((\d+),\s*(-?\d+)\)$")
_UNITS = {"time32": ("s", "ms"), "time64": ("us", "ns"), "duration": ("s", "ms", "us", "ns")}
_MAKERS: dict[str, Callable[[str], pa.DataType]] = {"time32": pa.time32, "time64": pa.time64, "duration": pa.duration}


def canonical_name(dtype: str) -> str:
    """`dtype` as a feature keeps it: `"float"` is `"float32"`, `"double"` is `"float64"`, all else stays.

    >>> canonical_name("double")
    'float64'
    """
    return _SAME.get(dtype, dtype)


def type_from_name(dtype: str) -> pa.DataType:
    """The Arrow type that `dtype` names.

    >>> type_from_name("decimal128(10, 2)")
    Decimal128Type(decimal128(10, 2))
    >>> type_from_name("timestamp[us, tz=UTC]")
    TimestampType(timestamp[us, tz=UTC])

    Raises:
        ConfigurationError: `dtype` names no type.
    """
    if not isinstance(dtype, str):
        raise ConfigurationError(f"{dtype!r} is no dtype. Write its name, for example 'int64', 'string' or 'timestamp[us]'.")
    plain = _PLAIN.get(_SAME.get(dtype, dtype))
    if plain is not None:
        return plain
    if match := _BRACKETS.match(dtype):
        kind, inner = match.groups()
        if kind == "fixed_size_binary" and inner.isdecimal():
            return pa.binary(int(inner))
        if inner in _UNITS.get(kind, ()):
            return _MAKERS[kind](inner)
    if match := _TIMESTAMP.match(dtype):
        return pa.timestamp(match[1], tz=match[2])
    if match := _DECIMAL.match(dtype):
        try:
            return getattr(pa, match[1])(int(match[2]), int(match[3]))
        except ValueError as error:
            raise ConfigurationError(f"{dtype!r} is no dtype: {error}. Choose another precision.") from error
    raise ConfigurationError(f"{dtype!r} is no dtype. {_advice(dtype)}")


def _advice(dtype: str) -> str:
    meant = {"str": "string", "int": "int64", "bytes": "binary", "list": "List", "date": "date32", "datetime": "timestamp[us]"}
    if dtype in meant:
        return f"Write {meant[dtype]!r}."
    word = re.split(r"[\[(]", dtype)[0]
    if word == "timestamp":
        return "Write timestamp[unit] or timestamp[unit, tz=zone] with the unit s, ms, us or ns."
    if word in _UNITS:
        return f"Write {word}[unit] with the unit {', '.join(_UNITS[word])}."
    if word.startswith("decimal"):
        return "Write decimal128(precision, scale) or decimal256(precision, scale)."
    more = "float, double, time32[unit], time64[unit], timestamp[unit], duration[unit], decimal128(p, s)"
    return f"Known: {', '.join(_PLAIN)}, {more}."


def name_from_type(arrow_type: pa.DataType) -> str | None:
    """The name of a type without children, or None for a type that `Value` cannot hold.

    >>> name_from_type(pa.large_string()), name_from_type(pa.list_(pa.int8()))
    ('large_string', None)
    """
    name = _NAMES.get(arrow_type)
    if name is not None:
        return name
    types = pa.types
    if types.is_timestamp(arrow_type) or types.is_time(arrow_type) or types.is_duration(arrow_type):
        return str(arrow_type)
    if types.is_decimal128(arrow_type) or types.is_decimal256(arrow_type) or types.is_fixed_size_binary(arrow_type):
        return str(arrow_type)
    return None


_NAMES: dict[pa.DataType, str] = {arrow_type: name for name, arrow_type in reversed(_PLAIN.items())}

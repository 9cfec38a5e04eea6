"""Two arrays of different types as arrays of one, in which equal values are equal, and no others."""

from __future__ import annotations

import pyarrow as pa

types = pa.types
_UNITS = ("s", "ms", "us", "ns")


class IncomparableError(Exception):
    """Values of two types of which nobody can say whether they are equal; for who compares columns, and no one else."""


def in_one_type(old: pa.Array, new: pa.Array) -> tuple[pa.Array, pa.Array] | None:
    """Two arrays in one type; None where their values, as Python has them, can be compared and no type holds both.

    Args:
        old, new: arrays of plain values, neither of structs nor of lists.

    Raises:
        IncomparableError: their values have nothing to do with each other.

    >>> one, other = in_one_type(pa.array([1], pa.int32()), pa.array([1.5]))
    >>> one.type, other.type
    (DataType(double), DataType(double))
    """
    wanted = common_type(old.type, new.type)
    if wanted == old.type == new.type:
        return old, new  # unions, say, which nothing casts
    try:
        return None if wanted is None else (old.cast(wanted), new.cast(wanted))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        if _is_number(old.type) and _is_number(new.type):
            return None
        raise IncomparableError from error


def common_type(old: pa.DataType, new: pa.DataType) -> pa.DataType | None:
    """The type in which values of two are compared; None where only Python compares them.

    Raises:
        IncomparableError: there is none.

    >>> common_type(pa.timestamp("s"), pa.timestamp("us"))
    TimestampType(timestamp[us])
    """
    if old.equals(new):
        return wide_type(old) or old
    pair = (old, new)
    if all(map(_is_number, pair)):
        return _of_numbers(old, new)
    if all(_is_text(kind) or types.is_integer(kind) for kind in pair):
        return pa.large_string()
    if all(_is_text(kind) or _is_binary(kind) for kind in pair):
        return pa.large_string() if all(map(_is_text, pair)) else pa.large_binary()
    found = _of_times(old, new)
    if found is None:
        raise IncomparableError
    return found


def wide_type(kind: pa.DataType) -> pa.DataType | None:
    """The type in which texts, or bytes, of any width are compared."""
    return pa.large_string() if _is_text(kind) else pa.large_binary() if _is_bytes(kind) else None


def _of_numbers(old: pa.DataType, new: pa.DataType) -> pa.DataType | None:
    pair = (old, new)
    if all(map(types.is_unsigned_integer, pair)):
        return pa.uint64()
    if all(map(types.is_integer, pair)):
        return pa.int64()
    if all(types.is_integer(kind) or types.is_floating(kind) for kind in pair):
        return pa.float64()
    return None  # decimals and truth values


def _of_times(old: pa.DataType, new: pa.DataType) -> pa.DataType | None:
    pair = (old, new)
    if all(map(types.is_date, pair)):
        return pa.date64()
    if all(map(types.is_time, pair)):
        return pa.time64("ns")
    if all(map(types.is_duration, pair)):
        return pa.duration(_finer(old.unit, new.unit))
    if all(types.is_timestamp(kind) or types.is_date(kind) for kind in pair):
        zones = [kind.tz if types.is_timestamp(kind) else None for kind in pair]
        units = [kind.unit if types.is_timestamp(kind) else "ms" for kind in pair]
        return pa.timestamp(_finer(*units), zones[0]) if (zones[0] is None) == (zones[1] is None) else None
    return None


def _finer(one: str, other: str) -> str:
    return max(one, other, key=_UNITS.index)


def _is_number(kind: pa.DataType) -> bool:
    return any(asks(kind) for asks in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean))


def _is_text(kind: pa.DataType) -> bool:
    return any(asks(kind) for asks in (types.is_string, types.is_large_string, types.is_string_view))


def _is_bytes(kind: pa.DataType) -> bool:
    return any(asks(kind) for asks in (types.is_binary, types.is_large_binary, types.is_binary_view))


def _is_binary(kind: pa.DataType) -> bool:
    return _is_bytes(kind) or bool(types.is_fixed_size_binary(kind))

"""The JSON text of Arrow columns, each value as pandas writes it: floats with ten decimals, moments as milliseconds."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from itertools import chain, pairwise
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.errors import CastError

types = pa.types
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # in a second
_BINARY = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
_NUMBERS = re.compile(  # that JSON of Python writes otherwise, and the strings which they may stand in
    r'("(?:[^"\\]|\\.)*")|(-?(?:\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|Infinity)|NaN)|(-?\d{19,})'
)
_DELETE = re.compile(r"(?<!\\)((?:\\\\)*)\\u007f")
_LISTS = (types.is_list, types.is_large_list, types.is_fixed_size_list)
_TEXTS = (types.is_string, types.is_large_string, types.is_string_view)
_KNOWN = (
    *(*_BINARY, *_TEXTS, types.is_integer, types.is_floating, types.is_boolean, types.is_null, types.is_decimal),
    *(types.is_timestamp, types.is_duration, types.is_date, types.is_time),
)


def is_known(kind: pa.DataType) -> bool:
    """Whether values of this Arrow type are written here.

    >>> is_known(pa.list_(pa.struct({"a": pa.date32()}))), is_known(pa.month_day_nano_interval())
    (True, False)
    """
    if isinstance(kind, pa.JsonType):
        return True
    if _is_any(kind, _LISTS) or types.is_struct(kind):
        return all(is_known(kind.field(place).type) for place in range(kind.num_fields))
    return _is_any(kind, _KNOWN)


def objects(table: pa.Table, *, between: str = "\n", is_ascii: bool = True) -> bytes:
    """An object for each row, of its columns.

    Args:
        table: columns of types that are known.
        between: stands between two rows.
        is_ascii: other letters become escapes.

    Raises:
        CastError: bytes that are no text.

    >>> objects(pa.table({"a": [[0.1 + 0.2, None]], "b": ["x/y"]}))
    b'{"a":[0.3,null],"b":"x\\\\/y"}'
    """
    write = _Writer(encode_basestring_ascii if is_ascii else encode_basestring)
    columns: list[list[str]] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            columns.append(list(chain.from_iterable(map(write.texts, column.chunks))))
        except pa.ArrowInvalid as error:
            raise CastError(
                f"Column {name!r} holds bytes that are no UTF-8 text, which JSON cannot hold ({error}). "
                "Cast it to a type that JSON can hold, leave it out, or use to_parquet."
            ) from error
    form = write.object_of(table.column_names)
    text = between.join([form % row for row in zip(*columns, strict=True)])
    if is_ascii and "\\u007f" in text:  # which pandas leaves as it is
        text = _DELETE.sub("\\1\x7f", text)
    return text.replace("/", "\\/").encode("utf-8")  # a slash stands in texts and names only; pandas escapes it


class _Writer:
    """Writes the values of arrays.

    Args:
        quote: writes a text.
    """

    def __init__(self, quote: Callable[[str], str]) -> None:
        self._quote = quote

    def object_of(self, names: list[str]) -> str:
        """The form of an object with these keys, to be filled by the texts of their values."""
        return "{" + ",".join([self._quote(name).replace("%", "%%") + ":%s" for name in names]) + "}"

    def texts(self, array: pa.Array, holder: str = "") -> list[str]:
        """The text of each value.

        Args:
            array: of a type that is known.
            holder: "struct" for the values of a struct, "below" for those of lists within one: there, pandas counts moments
                otherwise.
        """
        kind = array.type
        if isinstance(kind, pa.JsonType):
            return self._json(array.storage)
        if types.is_struct(kind):
            return self._objects(array)
        if _is_any(kind, _LISTS):
            return self._lists(array, "below" if holder else "")
        if _is_any(kind, _BINARY):
            array = array.cast(pa.large_string() if types.is_large_binary(kind) else pa.string())
        numbers = _number_texts(array, holder)
        if numbers is not None:
            found: list[str] = numbers.to_pylist()
            return found
        if types.is_time(kind):
            array = array.cast(pa.time64("us"), safe=False)
        return self._quoted(array.to_pylist())

    def _quoted(self, values: list[Any]) -> list[str]:
        quote = self._quote
        return ["null" if value is None else quote(str(value)) for value in values]

    def _objects(self, array: pa.StructArray) -> list[str]:
        kind = array.type
        if not kind.num_fields:
            return _with_nulls(["{}"] * len(array), array)
        fields = [self.texts(array.field(place), "struct") for place in range(kind.num_fields)]
        form = self.object_of([kind.field(place).name for place in range(kind.num_fields)])
        return _with_nulls([form % row for row in zip(*fields, strict=True)], array)

    def _lists(self, array: pa.Array, holder: str) -> list[str]:
        if types.is_fixed_size_list(array.type):
            size = array.type.list_size
            borders = [*range(array.offset * size, (array.offset + len(array) + 1) * size, size)] if size else []
            borders = borders or [0] * (len(array) + 1)
        else:
            borders = array.offsets.to_pylist()
        first = borders[0]
        inner = array.values.slice(first, borders[-1] - first)
        numbers = _number_texts(inner, holder)
        if numbers is None:
            texts, joined = self.texts(inner, holder), ",".join
            found = [f"[{joined(texts[start - first : stop - first])}]" for start, stop in pairwise(borders)]
        else:
            offsets = pa.array(np.array(borders, dtype=np.int64) - first)
            lists = pc.binary_join(pa.LargeListArray.from_arrays(offsets, numbers), _text(","))
            found = pc.binary_join_element_wise(_text("["), lists, _text("]"), _text("")).to_pylist()
        return _with_nulls(found, array)

    def _json(self, stored: pa.Array) -> list[str]:
        """Values of any kind, which stand there as JSON: written anew, and numbers as pandas writes them."""
        write = json.JSONEncoder(separators=(",", ":"), ensure_ascii=self._quote is encode_basestring_ascii).encode
        text = "\n".join(["null" if value is None else write(json.loads(value)) for value in stored.to_pylist()])
        found = [float(number) for _, number, _ in _NUMBERS.findall(text) if number]
        floats: Iterator[str] = iter(float_texts(np.array(found, dtype=np.float64)).to_pylist())

        def written(match: re.Match[str]) -> str:
            string, number, whole = match.groups()
            if number:
                return next(floats)
            return string or (whole if -(1 << 63) <= int(whole) < 1 << 64 else f'"{whole}"')

        return _NUMBERS.sub(written, text).split("\n") if len(stored) else []


def _number_texts(array: pa.Array, holder: str) -> pa.Array | None:
    """The texts of values that Arrow turns into text without Python: numbers, booleans and moments; None of others."""
    kind = array.type
    if types.is_floating(kind):
        return float_texts(array.cast(pa.float64()).to_numpy(zero_copy_only=False))
    if types.is_timestamp(kind) or types.is_duration(kind) or types.is_date(kind):
        array = _milliseconds(array, holder)
    elif not (types.is_integer(kind) or types.is_boolean(kind) or types.is_null(kind)):
        return None
    return array.cast(pa.large_string()).fill_null("null")


def float_texts(values: np.ndarray[Any, Any]) -> pa.Array:
    """Floats as pandas writes them: ten decimals, or ten digits and an exponent.

    >>> float_texts(np.array([0.1 + 0.2, 1e20, 2.0, -0.5, float("nan")])).to_pylist()
    ['0.3', '1e+20', '2.0', '-0.5', 'null']
    """
    size = np.abs(values)
    is_usual = (size <= 1e16 - 1) & ((size >= 1e-15) | (size == 0))
    usual = np.where(is_usual, size, 0.0)
    whole = usual.astype(np.int64)
    part = (usual - whole) * 1e10
    decimals = part.astype(np.int64)
    rest = part - decimals
    decimals += (rest > 0.5) | ((rest == 0.5) & ((decimals == 0) | (decimals & 1 == 1)))
    over = decimals >= 10**10
    whole += over
    decimals[over] = 0
    digits = pc.ascii_rtrim(pc.ascii_lpad(pa.array(decimals).cast(pa.large_string()), 10, "0"), "0")
    digits = pc.if_else(pa.array(decimals == 0), _text("0"), digits)
    sign = pc.if_else(pa.array(values < 0), _text("-"), _text(""))
    units = pc.binary_join_element_wise(sign, pa.array(whole).cast(pa.large_string()), _text(""))
    texts = pc.binary_join_element_wise(units, digits, _text("."))
    if is_usual.all():
        return texts
    others = [f"{value:.10g}" if math.isfinite(value) else "null" for value in values[~is_usual].tolist()]
    return pc.replace_with_mask(texts, pa.array(~is_usual), pa.array(others, pa.large_string()))


def _milliseconds(array: pa.Array, holder: str) -> pa.Array:
    """Milliseconds since 1970, or of a span; as pandas: nanoseconds right in a struct are left as they are."""
    kind = array.type
    if types.is_date(kind):
        array = array.cast(pa.timestamp("ms"))
    unit = array.type.unit
    if unit == "ns" and holder == "struct":
        return array.cast(pa.int64())
    is_null = array.is_null().to_numpy(zero_copy_only=False)
    counts = array.cast(pa.int64()).fill_null(0).to_numpy()
    ticks = _TICKS[unit]
    if ticks <= 1000:
        return pa.array(counts * (1000 // ticks), mask=is_null)
    found = counts // (ticks // 1000)
    if holder == "struct" or (holder and unit == "us" and types.is_timestamp(kind)):  # towards 1970
        found += (counts < 0) & (counts % (ticks // 1000) != 0)
    return pa.array(found, mask=is_null)


def _text(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())


def _with_nulls(texts: list[str], array: pa.Array) -> list[str]:
    if array.null_count:
        for row in np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False)).tolist():
            texts[row] = "null"
    return texts


def _is_any(kind: pa.DataType, tests: tuple[Callable[[pa.DataType], bool], ...]) -> bool:
    return any(test(kind) for test in tests)

"""Common type of two Arrow types: the narrowest type that holds the values of both without loss; nested arrays.

The types form a semilattice: the result for several does not depend on their order, or there is none in any order.
Therefore `uint64` joins neither signed integers nor floats: the result with a third type would depend on the order.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import chain, compress
from types import NoneType
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core.errors import CastError, ConfigurationError, UnknownColumnError, bounded_json
from datasets_core.features.base import MAX_DEPTH, Mask, bitmap, members_of

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow.compute as pc

types = pa.types
_UNITS = ("s", "ms", "us", "ns")


def column_name(name: Any) -> str:
    """Return a name of a column or of a field, after checking it."""
    if not isinstance(name, str):
        raise ConfigurationError(
            f"{name!r} is not a valid column name. Names of columns and of fields are strings.", value=name
        )
    try:
        name.encode()
    except UnicodeEncodeError:
        text = f"{name!r} is not a valid column name: it holds half of a surrogate pair"
        raise ConfigurationError(text, advice="Rename the column", value=name) from None
    return name


def merge_types(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """Return the narrowest type that can hold the values of both, or None if there is none.

    Null yields to all other types; integers widen; an integer and a float give float64; structs unite their fields; a date and
    a timestamp give a timestamp; an encoded column counts as its values.

    >>> merge_types(pa.int8(), pa.uint8())
    DataType(int16)
    >>> merge_types(pa.struct({"a": pa.null()}), pa.struct({"a": pa.int64(), "b": pa.string()}))
    StructType(struct<a: int64, b: string>)
    >>> merge_types(pa.int64(), pa.string()) is None
    True
    """
    return _join(a, b, 0)


def merge_schemas(a: pa.Schema, b: pa.Schema, *, what: str = "The second schema") -> pa.Schema:
    """Return the schema with the columns of both, in order of first occurrence.

    Metadata of the first schema is kept if the second changes nothing. Otherwise only the recorded features are kept; readers
    use those that fit the types.

    >>> merge_schemas(pa.schema({"a": pa.int8()}), pa.schema({"b": pa.int8(), "a": pa.int16()})).types
    [DataType(int16), DataType(int8)]

    Raises:
        CastError: a column has two types without a common one.
    """
    if a.equals(b):
        return a
    fields: dict[str, pa.Field] = {field.name: field for field in a}
    if len(fields) != len(a) or len(set(b.names)) != len(b):
        twice = next(name for schema in (a, b) for name in schema.names if schema.names.count(name) > 1)
        raise CastError(f"Duplicate column {twice!r}", advice="Rename one of the two")
    for field in b:
        before = fields.get(field.name)
        joined = field if before is None else _join_fields(before, field, 0)
        if joined is None:
            raise CastError(
                f"{what} has {field.type} in column {field.name!r}, where the rows before it have {fields[field.name].type}",
                advice="Use one type in all files, or pass features= with one type for the column",
            )
        fields[field.name] = joined
    merged = [field.with_nullable(True) for field in fields.values()]
    unchanged = [field.type for field in merged] == a.types
    return pa.schema(merged, metadata=a.metadata if unchanged else _recorded_features(a, b))


def _recorded_features(*schemas: pa.Schema) -> dict[bytes, bytes] | None:
    """Return the metadata that records the features of several schemas, the first of each name; None if there are none."""
    forms: dict[str, Any] = {}
    for schema in schemas:
        try:
            recorded = json.loads(bounded_json((schema.metadata or {}).get(b"huggingface", b"{}")))["info"]["features"]
            forms = {**recorded, **forms}
        except (KeyError, TypeError, ValueError, RecursionError):
            continue
    return {b"huggingface": json.dumps({"info": {"features": forms}}).encode()} if forms else None


def _join(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType | None:
    if a == b:
        return a
    if depth > MAX_DEPTH:
        raise CastError(f"A column is nested more than {MAX_DEPTH} levels deep", advice="Keep it as JSON text, with Json()")
    if types.is_null(a) or types.is_null(b):
        return b if types.is_null(a) else a
    if _is_encoded(a) or _is_encoded(b):
        return _join(_decoded(a), _decoded(b), depth + 1)
    kind_a, kind_b = _kind(a), _kind(b)
    if kind_a is None or kind_b is None:
        return None
    if kind_a == kind_b:
        return _SAME_KIND[kind_a](a, b, depth)
    if kind_a > kind_b:
        a, b, kind_a, kind_b = b, a, kind_b, kind_a
    mixed = _MIXED.get((kind_a, kind_b))
    return None if mixed is None else mixed(a, b, depth)


def _is_encoded(t: pa.DataType) -> bool:
    return bool(types.is_dictionary(t) or types.is_run_end_encoded(t))


def _decoded(t: pa.DataType) -> pa.DataType:
    return t.value_type if _is_encoded(t) else t


_KINDS: tuple[tuple[str, Callable[[pa.DataType], bool]], ...] = (
    ("integer", types.is_integer),
    ("floating", types.is_floating),
    ("decimal", types.is_decimal),
    ("bytes", lambda t: _text_rank(t) is not None),
    ("timestamp", types.is_timestamp),
    ("date", types.is_date),
    ("duration", types.is_duration),
    ("time", types.is_time),
    ("struct", types.is_struct),
    ("map", types.is_map),
    ("list", lambda t: types.is_list(t) or types.is_large_list(t) or types.is_fixed_size_list(t) or _is_view(t)),
)


def _kind(t: pa.DataType) -> str | None:
    if isinstance(t, pa.BaseExtensionType):
        return None
    return next((kind for kind, matches in _KINDS if matches(t)), None)


# -- numbers -----------------------------------------------------------------------------------------------------------


def _integers(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType | None:
    signed_a, signed_b = types.is_signed_integer(a), types.is_signed_integer(b)
    if signed_a == signed_b:
        return a if a.bit_width > b.bit_width else b
    signed, unsigned = (a, b) if signed_a else (b, a)
    bits = max(signed.bit_width, 2 * unsigned.bit_width)
    return None if bits > 64 else getattr(pa, f"int{bits}")()


def _floats(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType:
    return a if a.bit_width > b.bit_width else b


def _float_and_integer(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType | None:
    return None if types.is_uint64(b) else pa.float64()


def _decimals(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType | None:
    scale = max(a.scale, b.scale)
    precision = max(a.precision - a.scale, b.precision - b.scale) + scale
    return _decimal(precision, scale, wide=types.is_decimal256(a) or types.is_decimal256(b))


def _decimal_and_integer(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType | None:
    if types.is_uint64(b):
        return None
    # 19 digits hold every integer: with fewer for int8, the order of int8, uint8 and a decimal would matter.
    scale = max(a.scale, 0)
    return _decimal(max(a.precision - a.scale, 19) + scale, scale, wide=types.is_decimal256(a))


def _decimal(precision: int, scale: int, *, wide: bool) -> pa.DataType | None:
    if precision > 76:
        return None
    return pa.decimal256(precision, scale) if wide or precision > 38 else pa.decimal128(precision, scale)


# -- text and bytes ----------------------------------------------------------------------------------------------------

_TEXTS = (pa.string_view(), pa.string(), pa.large_string())
_BYTES = (pa.binary_view(), pa.binary(), pa.large_binary())


def _text_rank(t: pa.DataType) -> int | None:
    if t in _TEXTS:
        return _TEXTS.index(t)
    if t in _BYTES:
        return _BYTES.index(t)
    return 1 if types.is_fixed_size_binary(t) else None


def _texts(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType:
    rank = max(_text_rank(a) or 0, _text_rank(b) or 0)
    return _TEXTS[rank] if a in _TEXTS and b in _TEXTS else _BYTES[rank]


# -- moments -----------------------------------------------------------------------------------------------------------


def _finer(a: pa.DataType, b: pa.DataType) -> str:
    return _UNITS[max(_UNITS.index(a.unit), _UNITS.index(b.unit))]


def _timestamps(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType | None:
    if (a.tz is None) != (b.tz is None):
        return None
    return pa.timestamp(_finer(a, b), tz=a.tz if a.tz == b.tz else "UTC")


def _dates(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType:
    return pa.date64()


def _date_and_timestamp(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType | None:
    return b if b.tz is None else None


def _durations(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType:
    return pa.duration(_finer(a, b))


def _times(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType:
    unit = _finer(a, b)
    return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)


# -- nested ------------------------------------------------------------------------------------------------------------


def _is_view(t: pa.DataType) -> bool:
    return bool(types.is_list_view(t) or types.is_large_list_view(t))


def _join_fields(a: pa.Field, b: pa.Field, depth: int) -> pa.Field | None:
    joined = _join(a.type, b.type, depth + 1)
    if joined is None:
        return None
    # Metadata contain the shape of the arrays of a column: it is kept only if both are equal.
    metadata = b.metadata if types.is_null(a.type) else a.metadata
    if a.metadata != b.metadata and not (types.is_null(a.type) or types.is_null(b.type)):
        metadata = None
    return pa.field(a.name, joined, metadata=metadata)


def _structs(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType | None:
    fields = {field.name: field for field in a}
    if len(fields) != a.num_fields or len({field.name for field in b}) != b.num_fields:
        return None
    for field in b:
        before = fields.get(field.name)
        joined = field if before is None else _join_fields(before, field, depth)
        if joined is None:
            return None
        fields[field.name] = joined
    return pa.struct([field.with_nullable(True) for field in fields.values()])  # a field that one side lacks is null there


def _lists(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType | None:
    item = _join_fields(a.value_field, b.value_field, depth)
    if item is None:
        return None
    if types.is_fixed_size_list(a) and types.is_fixed_size_list(b) and a.list_size == b.list_size:
        return pa.list_(item, a.list_size)
    if _is_view(a) and _is_view(b):
        large = types.is_large_list_view(a) or types.is_large_list_view(b)
        return pa.large_list_view(item) if large else pa.list_view(item)
    large = any(types.is_large_list(t) or types.is_large_list_view(t) for t in (a, b))
    return pa.large_list(item) if large else pa.list_(item)


def _maps(a: pa.DataType, b: pa.DataType, depth: int) -> pa.DataType | None:
    key, item = _join(a.key_type, b.key_type, depth + 1), _join(a.item_type, b.item_type, depth + 1)
    return None if key is None or item is None else pa.map_(key, item)


_Join = Callable[[pa.DataType, pa.DataType, int], "pa.DataType | None"]
_SAME_KIND: dict[str, _Join] = {
    "integer": _integers,
    "floating": _floats,
    "decimal": _decimals,
    "bytes": _texts,
    "timestamp": _timestamps,
    "date": _dates,
    "duration": _durations,
    "time": _times,
    "struct": _structs,
    "map": _maps,
    "list": _lists,
}
_MIXED: dict[tuple[str, str], _Join] = {  # the kinds in alphabetical order
    ("floating", "integer"): _float_and_integer,
    ("decimal", "integer"): _decimal_and_integer,
    ("date", "timestamp"): _date_and_timestamp,
}


def is_held(narrow: pa.DataType, wide: pa.DataType) -> bool:
    """Return True if values stay the same in a wider type.

    >>> is_held(pa.int32(), pa.int64()), is_held(pa.int32(), pa.string())
    (True, False)
    """
    if narrow.equals(wide) or types.is_null(narrow):
        return True
    numbers = [types.is_integer(kind) or types.is_floating(kind) for kind in (narrow, wide)]
    if all(numbers):
        return True
    if types.is_struct(narrow) and types.is_struct(wide):
        return all(is_held(field.type, wide.field(field.name).type) for field in narrow)
    lists = [types.is_list(kind) or types.is_large_list(kind) for kind in (narrow, wide)]
    return all(lists) and is_held(narrow.value_type, wide.value_type)


# Lists and structs of Arrow, built from lengths, masks and children, and divided into them again.


Lengths: TypeAlias = "npt.NDArray[np.int64]"


class Misfit(Exception):
    """A value that does not fit, at a position in the current values; each outer level converts it to its own position."""

    def __init__(self, index: int, reason: str, path: str = "", other: int | None = None) -> None:
        super().__init__(index, reason, path, other)
        self.index, self.path, self.other = index, path, other
        self._reason = reason

    @property
    def reason(self) -> str:
        """Description of the error; it ends with the other row if two values do not fit each other."""
        if self.other is None:
            return self._reason
        return f"{self._reason} in {'the same row' if self.other == self.index else f'row {self.other}'}"

    def at(self, place: Callable[[int], int], step: str = "") -> Misfit:
        """Return the same error one level above; `place` returns the position there for a position here."""
        return Misfit(place(self.index), self._reason, f"{step}{self.path}", None if self.other is None else place(self.other))

    def below(self, step: str) -> Misfit:
        """Return the same error one level above, with the same positions."""
        return Misfit(self.index, self._reason, f"{step}{self.path}", self.other)


def list_array(arrow_type: pa.DataType, lengths: Lengths, valid: Mask | None, child: pa.Array) -> pa.Array:
    """Return a list array of that type.

    Args:
        arrow_type: a list, a large list or a list of fixed size.
        lengths: number of elements of `child` in each row; 0 if the row is null.
        valid: False if a row is null; None if no row is null.
        child: the elements of all rows.

    Raises:
        Misfit: a row has another number of elements than the type allows.
    """
    if types.is_fixed_size_list(arrow_type):
        return _fixed_list_array(arrow_type, lengths, valid, child)
    large = types.is_large_list(arrow_type)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if not large and offsets[-1] > 2**31 - 1:
        raise Misfit(0, "the lists of one batch have more than 2**31 elements; use LargeList, or write smaller batches")
    buffer = pa.py_buffer(offsets if large else offsets.astype(np.int32))
    return pa.Array.from_buffers(arrow_type, len(lengths), [bitmap(valid), buffer], children=[child])


def _fixed_list_array(arrow_type: pa.DataType, lengths: Lengths, valid: Mask | None, child: pa.Array) -> pa.Array:
    size = arrow_type.list_size
    wrong = lengths != size if valid is None else valid & (lengths != size)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise Misfit(row, f"a list of {lengths[row]} elements does not fit {arrow_type}")
    if valid is not None and size:  # a null row has elements too, which are never seen
        slots = np.repeat(valid, size)
        places = np.where(slots, np.cumsum(slots) - 1, 0)
        indices = pa.Array.from_buffers(pa.int64(), len(places), [bitmap(slots), pa.py_buffer(places.astype(np.int64))])
        child = child.take(indices)
    return pa.Array.from_buffers(arrow_type, len(lengths), [bitmap(valid)], children=[child])


def struct_array(arrow_type: pa.DataType, length: int, valid: Mask | None, children: Sequence[pa.Array]) -> pa.Array:
    """Return a struct array of that type, with `length` rows."""
    return pa.Array.from_buffers(arrow_type, length, [bitmap(valid)], children=list(children))


def inferred_lists(values: list[Any], infer: Callable[[list[Any]], pa.Array]) -> pa.Array:
    """Return lists, or None, as an Arrow array; `infer` makes the array of all elements.

    Raises:
        Misfit: the elements share no type.
    """
    valid = _where_not_none(values)
    present = values if valid is None else list(compress(values, valid))
    lengths = np.zeros(len(values), np.int64)
    lengths[slice(None) if valid is None else valid] = np.fromiter(map(len, present), np.int64, len(present))
    try:
        child = infer(list(chain.from_iterable(present)))
    except Misfit as misfit:
        raise misfit.at(rows_of(lengths), "[]") from misfit
    return list_array(pa.list_(child.type), lengths, valid, child)


def inferred_dicts(values: list[Any], infer: Callable[[str, list[Any]], pa.Array]) -> pa.Array:
    """Return dicts, or None, as an Arrow array; `infer` makes the array of the values of a key, which are None if it is
    missing.

    Raises:
        Misfit: the values of a key have no common type, or a key is not a string.
    """
    fields, children = [], []
    valid = _where_not_none(values)
    names = dict.fromkeys(chain.from_iterable(values if valid is None else compress(values, valid)))
    members = members_of(values, names) if valid is None else None
    for position, name in enumerate(names):
        if not isinstance(name, str):
            index = next(index for index, value in enumerate(values) if value is not None and name in value)
            raise Misfit(index, f"the key {reprlib.repr(name)} ({type(name).__name__}) is not a string")
        try:
            child = infer(
                name,
                [None if value is None else value.get(name) for value in values] if members is None else members[position],
            )
        except Misfit as misfit:
            raise misfit.below(f".{name}") from misfit
        fields.append(pa.field(name, child.type))
        children.append(child)
    return struct_array(pa.struct(fields), len(values), valid, children)


def _where_not_none(values: list[Any]) -> Mask | None:
    if NoneType not in set(map(type, values)):
        return None
    return np.fromiter((value is not None for value in values), np.bool_, len(values))


def rows_of(lengths: Lengths) -> Callable[[int], int]:
    """Return the row of an element, if the rows have `lengths` elements.

    >>> rows_of(np.array([2, 0, 1]))(2)
    2
    """
    stops = np.cumsum(lengths)
    return lambda index: int(np.searchsorted(stops, index, side="right"))


def raw_values(buffer: pa.Buffer | None, dtype: Any, array: pa.Array) -> npt.NDArray[Any]:
    """Return the values of a primitive array as a numpy view of its buffer; values at nulls are undefined."""
    return np.frombuffer(buffer or b"", dtype=dtype)[array.offset : array.offset + len(array)]


def validity(array: pa.Array) -> Mask | None:
    """Return a mask of the values that are not null; None if there are no nulls."""
    if array.null_count == 0:
        return None
    if types.is_null(array.type):
        return np.zeros(len(array), bool)
    buffer = array.buffers()[0]
    if buffer is None:  # the null type has no bitmap
        return ~np.array(array.is_null().to_pylist(), bool)
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), count=array.offset + len(array), bitorder="little")
    return bits[array.offset :].astype(bool)


def validate(batch: pa.RecordBatch) -> None:
    """Raise an `ArrowInvalid` for the batches that `batch.validate(full=True)` refuses, in less time if columns hold text.

    >>> validate(pa.record_batch({"text": ["größe", None, ""]}))
    """
    batch.validate()
    for column in batch.columns:
        if not are_valid_texts(column):
            column.validate(full=True)


def are_valid_texts(column: pa.Array) -> bool:
    """Return True if a column is sure to hold valid texts: their bytes are looked at as one text, and where each begins.

    >>> are_valid_texts(pa.array(["größe", ""])), are_valid_texts(pa.array([1]))
    (True, False)
    """
    is_large = types.is_large_string(column.type)
    if not len(column) or not (is_large or types.is_string(column.type)):
        return False
    bitmap, ends, data = column.buffers()
    if bitmap is not None:
        valid = validity(column)
        if valid is None or np.count_nonzero(valid) != len(column) - column.null_count:
            return False
    places: npt.NDArray[Any] = np.frombuffer(ends, np.int64 if is_large else np.int32)
    offsets = places[column.offset : column.offset + len(column) + 1]
    first, stop = int(offsets[0]), int(offsets[-1])
    if data is None or not 0 <= first <= stop <= data.size or bool((offsets[1:] < offsets[:-1]).any()):
        return False
    codes = np.frombuffer(data, np.uint8)
    whole = stop - (stop - first) % 8
    high = int(np.bitwise_or.reduce(codes[first:whole].view(np.uint64))) & 0x8080808080808080
    if not high and int(codes[whole:stop].max(initial=0)) < 128:
        return True
    starts = offsets[: np.searchsorted(offsets, stop)]
    if bool(((codes[starts] & 0xC0) == 0x80).any()):  # a text that begins inside a character
        return False
    try:
        pa.LargeStringArray.from_buffers(1, pa.py_buffer(np.array([first, stop], np.int64)), data).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


Rows = TypeVar("Rows", pa.RecordBatch, pa.Table)


def taken(rows: Rows, places: npt.NDArray[np.integer[Any]]) -> Rows:
    """Return the rows with these numbers, as `rows.take` does; long lists of numbers take it ten times as long.

    >>> taken(pa.record_batch({"a": [[1, 2], None, [3]]}), np.array([2, 1, 0])).to_pydict()
    {'a': [[3], None, [1, 2]]}
    """
    held = pa.py_buffer(np.ascontiguousarray(places, np.int64))
    chosen = pa.Array.from_buffers(pa.int64(), len(places), [None, held])  # `pa.array` imports pandas if it is installed: 0.3 s
    if not any(map(_is_list_of_numbers, rows.schema.types)):
        return rows.take(chosen)
    columns = [_taken_lists(each, chosen) if _is_list_of_numbers(each.type) else each.take(chosen) for each in rows.columns]
    return type(rows).from_arrays(columns, schema=rows.schema)


@lru_cache(maxsize=1024)
def _is_list_of_numbers(kind: pa.DataType) -> bool:
    if not types.is_list(kind) and not types.is_large_list(kind):
        return False
    return bool(types.is_primitive(kind.value_type) and kind.value_type.bit_width % 8 == 0)


def _taken_lists(column: pa.Array | pa.ChunkedArray, places: pa.Array) -> pa.Array:
    """Return the lists at some places, each of which is copied as the bytes of one value."""
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    values = column.values
    if not len(column) or not len(places) or values.null_count:
        return column.take(places)
    kind, width = values.type, values.type.bit_width // 8
    bitmap, ends = column.buffers()[:2]
    stored: npt.NDArray[Any] = np.frombuffer(ends, np.int64 if types.is_large_list(column.type) else np.int32)
    offset = column.offset if column.null_count else 0
    borders = stored[column.offset - offset : column.offset + len(column) + 1].astype(np.int64) * width
    data = (values.buffers()[1] or pa.py_buffer(b"")).slice(values.offset * width)
    buffers = [bitmap if column.null_count else None, pa.py_buffer(borders), data]
    found = pa.Array.from_buffers(pa.large_binary(), len(column), buffers, offset=offset).take(places)
    bitmap, ends, data = found.buffers()
    borders = np.frombuffer(ends, np.int64)[: len(found) + 1] // width
    if borders[-1] > np.iinfo(stored.dtype).max:
        raise pa.ArrowCapacityError(f"Lists with {borders[-1]} items together exceed the offsets of {column.type}")
    items = pa.Array.from_buffers(kind, int(borders[-1]), [None, data])
    own = [bitmap, pa.py_buffer(borders.astype(stored.dtype))]
    return pa.Array.from_buffers(column.type, len(found), own, children=[items])


@lru_cache(maxsize=1)
def keep_freed_memory() -> None:
    """Let glibc keep up to 64 MB that blocks free for the next ones, as it does once a block of half that size was freed.

    New pages from the system for each block take a seventh of a csv build, and half of the first epoch of a stream of arrays.
    """
    bytes((32 << 20) - (64 << 10))  # of which no page is touched


def list_parts(array: pa.Array) -> tuple[Lengths, Mask | None, pa.Array]:
    """Return lengths, mask and elements of any list-like array, without elements at null rows."""
    if types.is_map(array.type):
        array = _map_as_list(array)
    valid = validity(array)
    if types.is_fixed_size_list(array.type):
        lengths = np.full(len(array), array.type.list_size, np.int64)
    elif types.is_list_view(array.type) or types.is_large_list_view(array.type):
        return _view_parts(array, valid)
    else:
        wide = types.is_large_list(array.type)
        offsets = np.frombuffer(array.buffers()[1] or b"", np.int64 if wide else np.int32)
        lengths = np.diff(offsets[array.offset : array.offset + len(array) + 1]).astype(np.int64)
        if not len(array):
            lengths = np.zeros(0, np.int64)
    if valid is not None:
        lengths = np.where(valid, lengths, 0)
    return lengths, valid, array.flatten()


def _view_parts(array: pa.Array, valid: Mask | None) -> tuple[Lengths, Mask | None, pa.Array]:
    # pyarrow 26 loses rows when it casts a list view with nulls to a list
    width = np.int64 if types.is_large_list_view(array.type) else np.int32
    lengths = raw_values(array.buffers()[2], width, array).astype(np.int64)
    return (lengths if valid is None else np.where(valid, lengths, 0)), valid, array.flatten()


def _map_as_list(array: pa.Array) -> pa.Array:
    """Return a map as the list of `{"key", "value"}` in which it is stored; the keys and items of a sliced map are those of
    the whole.
    """
    entries = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
    buffers = array.buffers()[:2]
    return pa.Array.from_buffers(pa.list_(entries.type), len(array), buffers, offset=array.offset, children=[entries])


def struct_parts(array: pa.Array) -> tuple[Mask | None, dict[str, pa.Array]]:
    """Return mask and fields of a struct array; a field is null if its struct is null."""
    return validity(array), dict(zip((field.name for field in array.type), array.flatten(), strict=True))


# Arrow expressions such as `pc.field("a") > 3`: the columns that they read, and their values.


def is_expression(given: object) -> bool:
    """Return True if a value is an Arrow expression; `pyarrow.compute`, 20 ms, is not imported for it."""
    return type(given).__name__ == "Expression" and type(given).__module__.startswith("pyarrow.")


def columns_of(expressions: Sequence[pc.Expression], names: Sequence[str]) -> list[str]:
    """Return the columns that expressions may refer to: those whose names are in their texts."""
    text = " ".join(map(str, expressions))
    return [*names] if "FieldPath(" in text else [name for name in names if name in text]


def computed(expressions: Mapping[str, pc.Expression], table: pa.Table, known: Sequence[str]) -> pa.Table:
    """Return the values of expressions for the rows of a table, in their order.

    Raises:
        UnknownColumnError: the table does not have a column.
        ConfigurationError: the expression is invalid, such as a text compared with a number, or fails for a value.
    """
    from pyarrow import acero

    source = acero.Declaration("table_source", acero.TableSourceNodeOptions(table))
    options = acero.ProjectNodeOptions([*expressions.values()], [*expressions])
    try:
        return acero.Declaration("project", options, [source]).to_table(use_threads=True)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowKeyError, pa.ArrowTypeError) as error:
        _refuse(expressions, error, known)


def _refuse(expressions: Mapping[str, pc.Expression], error: Exception, known: Sequence[str]) -> NoReturn:
    lacking = re.match(r"No match for FieldRef\.Name\((.*?)\) in ", str(error))
    if lacking is not None and lacking[1] not in known:
        raise UnknownColumnError(lacking[1], known=known) from None
    text, reason = ", ".join(map(str, expressions.values())), str(error).strip().rstrip(".")
    advice = _CAST if "not in range" in reason else "Change it, or the values of its columns"
    raise ConfigurationError(f"The expression {text} cannot be computed: {reason}. {advice}.") from error


_CAST = "Cast the column, for example pc.field('a').cast('float64')"


def check_precision(expressions: Mapping[str, pc.Expression], kinds: pa.Schema, used: pa.Schema) -> None:
    """Raise an error for float32 that was not requested: Arrow computes `int64 / 1000.0` in float32, since 1000.0 fits."""
    if any(pa.types.is_nested(field.type) or field.type in (pa.float32(), pa.float16()) for field in used):
        return
    for name, expression in expressions.items():
        if kinds.field(name).type == pa.float32() and "to_type=float" not in str(expression):
            raise ConfigurationError(
                f"Arrow computes {expression} in float32, because its constant fits into float32, which loses digits. {_CAST}."
            )


def no_rows(schema: pa.Schema) -> pa.Table:
    return pa.Table.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def truths(expression: pc.Expression, table: pa.Table, known: Sequence[str]) -> pa.ChunkedArray:
    """Return for each row of a table whether an expression is true; null if it is null.

    Raises:
        UnknownColumnError: the table does not have a column.
        ConfigurationError: the values of the expression are not booleans, or it cannot be computed.
    """
    found = computed({"keep": expression}, table, known).column(0)
    if not (types.is_boolean(found.type) or types.is_null(found.type)):
        reason = f"filter() takes a boolean expression, but {expression} has the type {found.type}"
        raise ConfigurationError(f"{reason}", advice="Compare it to a value")
    return found.cast(pa.bool_())

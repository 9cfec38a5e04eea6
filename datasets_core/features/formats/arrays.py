"""Arrow columns as numpy arrays, as views of the same memory where possible; timestamps and durations with nanoseconds."""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as pt

from datasets_core.errors import CastError
from datasets_core.features.base import FeatureType, LargeList, List
from datasets_core.features.formats.python import is_clock, reader
from datasets_core.features.types import FixedShape

Array: TypeAlias = "npt.NDArray[Any]"
Extract = Callable[[pa.Array], Array]
Shapes: TypeAlias = "tuple[Any, ...] | None"

_DTYPES: dict[pa.DataType, str] = {
    pa.int8(): "i1",
    pa.int16(): "i2",
    pa.int32(): "i4",
    pa.int64(): "i8",
    pa.uint8(): "u1",
    pa.uint16(): "u2",
    pa.uint32(): "u4",
    pa.uint64(): "u8",
    pa.float16(): "f2",
    pa.float32(): "f4",
    pa.float64(): "f8",
}


_MOST_TEXT = 16 << 20  # characters of a numpy array of texts, which are all as wide as the widest


class Casting(NamedTuple):
    """Names of the dtypes to which numbers are cast; None leaves them as stored.

    Attributes:
        integers, floats, booleans: the dtypes.
        has_clocks: True to convert dates, times and durations to numpy types; otherwise they stay Python objects.
        in_dicts: False to make single numbers in dicts int64 and float64 instead.
    """

    integers: str | None = None
    floats: str | None = None
    booleans: str | None = None
    has_clocks: bool = True
    in_dicts: bool = True


STORED = Casting()
DEFAULT = Casting("int64", "float32")
_SINGLE = Casting("int64", "float64")


def shapes_of(feature: FeatureType | None) -> Shapes:
    """Return the positions of fixed-shape arrays in a feature, for `extractor`; None if there are none."""
    if isinstance(feature, FixedShape):
        return ("array", feature.shape)
    if isinstance(feature, (List, LargeList)):
        inner = shapes_of(feature.feature)
        return None if inner is None else ("list", inner)
    if isinstance(feature, dict):
        fields = {name: shapes_of(field) for name, field in feature.items()}
        return ("struct", tuple(fields.items())) if any(fields.values()) else None
    return None


@lru_cache(maxsize=1024)
def extractor(type_: pa.DataType, shapes: Shapes = None, casting: Casting = STORED) -> Extract:
    """Return a function that makes a numpy array from an Arrow array of `type_`.

    Numbers, dates and fixed shapes without nulls are views of Arrow's memory unless they are cast.  Lists of one length
    become an array with one more dimension, others an array of arrays; nulls among numbers are NaN; types unknown to
    numpy, and texts, stay Python objects.

    >>> extractor(pa.list_(pa.int32()), None, DEFAULT)(pa.array([[1, 2], [3, 4]], pa.list_(pa.int32()))).shape
    (2, 2)
    """
    if shapes is not None and shapes[0] == "array":
        return _shaped(type_, shapes[1], casting)
    if isinstance(type_, pa.BaseExtensionType):
        inner = extractor(type_.storage_type, shapes, casting)
        return lambda array: inner(array.storage)
    if type_ in _DTYPES:
        return _numbers(np.dtype(_DTYPES[type_]), casting)
    if pt.is_boolean(type_):
        return _booleans(casting)
    if is_clock(type_) and casting.has_clocks and not pt.is_time(type_):
        return _clocks(type_)
    if pt.is_dictionary(type_):
        inner = extractor(type_.value_type, None, casting)
        return lambda array: inner(array.dictionary_decode())
    if is_list(type_):
        below = shapes[1] if shapes is not None and shapes[0] == "list" else None
        child = extractor(type_.value_type, below, casting)
        return _lists(type_, child, is_list(type_.value_type) and below is None)
    if pt.is_struct(type_):
        return _structs(type_, dict(shapes[1]) if shapes is not None else {}, casting)
    read = reader(type_)
    return lambda array: as_objects(read(array))


def is_list(type_: pa.DataType) -> bool:
    """Return True if the type is a list of any length or of a fixed one."""
    return bool(pt.is_list(type_) or pt.is_large_list(type_) or pt.is_fixed_size_list(type_))


def as_objects(values: list[Any]) -> Array:
    """Return a one-dimensional array of these objects."""
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        array[i] = value
    return array


def stacked(rows: list[Any]) -> Array:
    """Return one array if all rows are arrays of one shape and dtype; else an array of these arrays."""
    if rows and isinstance(rows[0], np.ndarray):
        shape, dtype = rows[0].shape, rows[0].dtype
        if all(isinstance(row, np.ndarray) and row.shape == shape and row.dtype == dtype for row in rows):
            return np.stack(rows)
    return as_objects(rows)


def validity(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows that are not null."""
    buffer = array.buffers()[0]
    return np.ones(len(array), bool) if buffer is None else _bits(buffer, array.offset, len(array))


def _bits(buffer: pa.Buffer, offset: int, length: int) -> npt.NDArray[np.bool_]:
    first, shift = offset >> 3, offset & 7
    packed = np.frombuffer(buffer, np.uint8, (shift + length + 7) >> 3, first)
    return np.unpackbits(packed, bitorder="little")[shift : shift + length].view(np.bool_)


def _view(array: pa.Array, dtype: np.dtype[Any]) -> Array:
    buffer = array.buffers()[1]
    if buffer is None or not len(array):
        return np.empty(0, dtype)
    values: Array = np.frombuffer(buffer, dtype, len(array), array.offset * dtype.itemsize)
    values.flags.writeable = False  # the memory of rows in memory could be written to, and that would change the dataset
    return values


# -- values ------------------------------------------------------------------------------------------------------------


def _numbers(stored: np.dtype[Any], casting: Casting) -> Extract:
    wanted = casting.floats if stored.kind == "f" else casting.integers
    target = stored if wanted is None else np.dtype(wanted)
    with_nulls = _floats_with_nulls if stored.kind == "f" else _integers_with_nulls

    def extract(array: pa.Array) -> Array:
        values = _view(array, stored)
        if array.null_count:
            return with_nulls(values, validity(array), casting)
        return values if target == stored else cast(values, target)

    return extract


def cast(values: Array, target: np.dtype[Any]) -> Array:
    """Return the values as `target`; uint64 values that int64 cannot hold are unchanged."""
    if values.dtype == np.uint64 and target == np.int64 and len(values) and values.max() > 2**63 - 1:
        return values
    return values.astype(target)


def _floats_with_nulls(values: Array, is_valid: npt.NDArray[np.bool_], casting: Casting) -> Array:
    made = values.astype(_nullable(casting.floats, values.dtype))
    made[~is_valid] = np.nan
    return made


def _integers_with_nulls(values: Array, is_valid: npt.NDArray[np.bool_], casting: Casting) -> Array:
    """Return floats with NaN in the requested dtype if it can hold every integer, else in 64 bits, else Python ints
    and None.
    """
    known = values[is_valid]
    largest = max(int(known.max()), -int(known.min())) if len(known) else 0
    for dtype in (_nullable(casting.floats, np.dtype("f8")), np.dtype("f8")):
        if largest <= 2 ** (np.finfo(dtype).nmant + 1):
            made = values.astype(dtype)
            made[~is_valid] = np.nan
            return made
    return as_objects([value if valid else None for value, valid in zip(values.tolist(), is_valid.tolist(), strict=True)])


def _nullable(wanted: str | None, stored: np.dtype[Any]) -> np.dtype[Any]:
    dtype = stored if wanted is None else np.dtype(wanted)
    if dtype.kind not in "fc":
        raise CastError(
            f"The column contains nulls, which dtype={dtype.name} cannot represent", advice="Fill them, or use a float dtype"
        )
    return dtype


def _booleans(casting: Casting) -> Extract:
    def extract(array: pa.Array) -> Array:
        buffer = array.buffers()[1]
        values = np.empty(0, bool) if buffer is None or not len(array) else _bits(buffer, array.offset, len(array))
        if casting.booleans is not None:
            values = values.astype(casting.booleans)
        if not array.null_count:
            return values
        is_valid = validity(array)
        if casting.booleans is not None:
            return _floats_with_nulls(values, is_valid, casting)
        return as_objects([value if valid else None for value, valid in zip(values.tolist(), is_valid.tolist(), strict=True)])

    return extract


def _clocks(type_: pa.DataType) -> Extract:
    if pt.is_date(type_):
        unit = "datetime64[D]" if pt.is_date32(type_) else "datetime64[ms]"
    else:
        unit = f"{'timedelta64' if pt.is_duration(type_) else 'datetime64'}[{type_.unit}]"
    dtype, narrow = np.dtype(unit), pt.is_date32(type_)

    def extract(array: pa.Array) -> Array:
        values = _view(array, np.dtype("i4")).astype("i8").view(dtype) if narrow else _view(array, dtype)
        if array.null_count:
            values = values.copy()
            values[~validity(array)] = np.array("NaT", dtype)
        return values

    return extract


def _structs(type_: pa.StructType, shapes: dict[str, Shapes], casting: Casting) -> Extract:
    names = [field.name for field in type_]
    single = casting if casting.in_dicts else _SINGLE
    fields = [cells(field.type, shapes.get(field.name), single if field.type in _DTYPES else casting, None) for field in type_]

    def extract(array: pa.Array) -> Array:
        columns = [read(array.field(k)) for k, read in enumerate(fields)]
        rows: list[Any] = [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]
        rows = rows or [{} for _ in range(len(array))]
        if array.null_count:
            rows = [row if valid else None for row, valid in zip(rows, validity(array).tolist(), strict=True)]
        return as_objects(rows)

    return extract


# -- lists -------------------------------------------------------------------------------------------------------------


def _lists(type_: pa.DataType, child: Extract, is_nested: bool) -> Extract:
    size = type_.list_size if pt.is_fixed_size_list(type_) else None

    def extract(array: pa.Array) -> Array:
        if array.null_count:
            return _around_nulls(array, extract)
        num_rows = len(array)
        if not num_rows and size is None:
            return np.empty(0, object)
        offsets = _offsets(array)
        first, last = int(offsets[0]), int(offsets[-1])
        items = child(array.values.slice(first, last - first))
        is_ragged = is_nested and items.dtype == object and items.ndim == 1 and len(items) > 0
        if not is_ragged and (size is not None or bool((np.diff(offsets) == offsets[1] - first).all())):
            return items.reshape(num_rows, int(offsets[1]) - first if num_rows else size or 0, *items.shape[1:])
        nothing = np.empty(0, object) if is_nested else None
        borders = (offsets - first).tolist()
        rows: list[Any] = []
        for start, stop in itertools.pairwise(borders):
            if start == stop and nothing is not None:
                rows.append(nothing)
            else:
                rows.append(stacked(list(items[start:stop])) if is_ragged else items[start:stop])
        return stacked(rows)

    return extract


def _offsets(array: pa.Array) -> Array:
    if pt.is_fixed_size_list(array.type):
        size: int = array.type.list_size
        fixed: Array = (np.arange(len(array) + 1) + array.offset) * size
        return fixed
    dtype = np.dtype("i8" if _is_large(array.type) else "i4")
    offsets: Array = np.frombuffer(array.buffers()[1], dtype, len(array) + 1, array.offset * dtype.itemsize)
    return offsets


def _is_large(type_: pa.DataType) -> bool:
    return bool(pt.is_large_list(type_) or pt.is_large_string(type_) or pt.is_large_binary(type_))


def is_text(type_: pa.DataType) -> bool:
    """Return True for text or bytes types with offsets."""
    return bool(pt.is_string(type_) or pt.is_binary(type_) or pt.is_large_string(type_) or pt.is_large_binary(type_))


def _around_nulls(array: pa.Array, extract: Extract) -> Array:
    """Return the rows, with None for those that are null."""
    is_valid = validity(array)
    rows = np.empty(len(array), object)
    for place, row in zip(np.flatnonzero(is_valid).tolist(), extract(_without_nulls(array, is_valid)), strict=True):
        rows[place] = row
    return rows


def _without_nulls(array: pa.Array, is_valid: npt.NDArray[np.bool_]) -> pa.Array:
    try:
        known: pa.Array = array.drop_null()
        return known
    except pa.ArrowNotImplementedError:  # views of texts, which pyarrow slices but does not filter
        single = [array.slice(i, 1) for i in np.flatnonzero(is_valid).tolist()]
        return pa.concat_arrays(single) if single else array.slice(0, 0)


def _shaped(type_: pa.DataType, shape: tuple[int | None, ...], casting: Casting) -> Extract:
    if not shape:
        return extractor(type_, None, casting)
    if shape[0] is None:
        return _lists(type_, _shaped(type_.value_type, shape[1:], casting), False)
    sizes = tuple(size or 0 for size in shape)
    leaf_type = type_
    for _ in sizes:
        leaf_type = leaf_type.value_type
    leaf, count, generic = extractor(leaf_type, None, casting), math.prod(sizes), extractor(type_, None, casting)

    def extract(array: pa.Array) -> Array:
        if array.null_count:
            return _shaped_nulls(array, extract(_without_nulls(array, validity(array))), sizes, casting)
        inner = array
        for _ in sizes:
            if not len(inner):
                break
            offsets = _offsets(inner)
            inner = inner.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
        if not count or not len(array):
            return np.empty((len(array), *sizes), leaf(pa.array([], leaf_type)).dtype)
        values = leaf(inner)
        return values.reshape(len(array), *sizes) if len(values) == len(array) * count else generic(array)

    return extract


def _shaped_nulls(array: pa.Array, known: Array, shape: tuple[int, ...], casting: Casting) -> Array:
    """Return arrays of NaN for null rows; None if the numbers have no exact type with NaN."""
    is_valid = validity(array)
    if known.dtype.kind in "iuf" and known.shape[1:] == shape:
        flat = known.reshape(-1)
        wide = np.zeros(len(flat) + 1, known.dtype)
        wide[:-1] = flat
        marks = np.ones(len(wide), bool)
        marks[-1] = False
        made = (_floats_with_nulls if known.dtype.kind == "f" else _integers_with_nulls)(wide, marks, casting)
        if made.dtype != object:
            rows = np.full((len(array), *shape), np.nan, made.dtype)
            rows[is_valid] = made[:-1].reshape(known.shape)
            return rows
    rows = np.empty(len(array), object)
    for place, row in zip(np.flatnonzero(is_valid).tolist(), known, strict=True):
        rows[place] = row
    return rows


def texts(array: pa.Array) -> Array:
    """Return texts or bytes as an array of fixed width; of objects if there are nulls, trailing zeros or a few long values."""
    values = reader(array.type)(array)
    if array.null_count or not values:
        return as_objects(values)
    offsets = _offsets(array)
    start, stop = int(offsets[0]), int(offsets[-1])
    buffer = array.buffers()[2]
    has_zeros = buffer is not None and b"\0" in memoryview(buffer[start:stop]).tobytes()
    is_wide = len(values) * int(np.diff(offsets).max()) > max(_MOST_TEXT, 4 * (stop - start))
    return as_objects(values) if has_zeros or is_wide else np.array(values)


# -- rows --------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def cells(type_: pa.DataType, shapes: Shapes, casting: Casting, missing: float | None) -> Callable[[pa.Array], list[Any]]:
    """Return a function that makes a list from an Arrow array, one value for each row, independent of other rows.

    Args:
        type_, shapes, casting: as for `extractor`.
        missing: value in place of a null number.
    """
    extract = extractor(type_, shapes, casting)
    if type_ in _DTYPES:
        stored = np.dtype(_DTYPES[type_])

        def numbers(array: pa.Array) -> list[Any]:
            if not array.null_count:
                return list(extract(array))
            is_valid = validity(array)
            floats = _nullable(casting.floats, stored if stored.kind == "f" else np.dtype("f8"))
            nothing = None if missing is None else floats.type(missing)
            known = iter(extract(array.drop_null()))
            return [next(known) if valid else nothing for valid in is_valid.tolist()]

        return numbers
    if not is_list(type_):
        return lambda array: list(extract(array))

    def lists(array: pa.Array) -> list[Any]:
        if not has_nulls(array):
            return list(extract(array))
        return [extract(array.slice(i, 1))[0] for i in range(len(array))]

    return lists


def has_nulls(array: pa.Array) -> bool:
    """Return True if an array, or the elements of its lists, have nulls."""
    while True:
        if array.null_count:
            return True
        if not is_list(array.type):
            return False
        array = array.values


@lru_cache(maxsize=1024)
def flat(type_: pa.DataType, shapes: Shapes) -> Callable[[pa.Array], Array | None] | None:
    """Return the function that makes a view of Arrow's memory, one entry for each row, or None if nulls forbid it.

    If columns of the type have no such view, the result is None instead of a function.
    """
    inner = type_
    is_shaped = shapes is not None and shapes[0] == "array" and None not in shapes[1]
    while pt.is_fixed_size_list(inner) or (is_shaped and is_list(inner)):
        inner = inner.value_type
    is_wide = inner in _DTYPES or (is_clock(inner) and not pt.is_time(inner) and not pt.is_date32(inner))
    if not is_wide or (shapes is not None and not is_shaped):
        return None
    extract = extractor(type_, shapes, STORED)

    def view(array: pa.Array) -> Array | None:
        if has_nulls(array):
            return None
        values = extract(array)
        return None if values.dtype == object or len(values) != len(array) else values

    return view


# Datetimes, times and durations with nanoseconds, for values too precise for the `datetime` module.


class _Fine:
    """Order, hash and pickling of a class with nanoseconds; the standard class follows it among the bases.

    Attributes:
        nanosecond: number of nanoseconds, from 0 to 999.
        standard: the class without nanoseconds.
        theirs: the name of the nanoseconds in the class of pandas.
    """

    nanosecond: int = 0
    standard: ClassVar[type[Any]]
    theirs: ClassVar[str] = "nanosecond"

    @classmethod
    def _made(cls, nanosecond: int, *parts: Any, **named: Any) -> Self:
        made = cls(*parts, **named)
        made.nanosecond = nanosecond
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}.of({self.whole()!r}, {self.nanosecond})"  # type: ignore[attr-defined]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, self.standard):
            return NotImplemented
        return super().__eq__(other) and bool(self.nanosecond == getattr(other, self.theirs, 0))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((super().__hash__(), self.nanosecond))

    def __lt__(self, other: Any) -> bool:
        is_less: bool = super().__lt__(other)  # type: ignore[misc]
        return is_less or (super().__eq__(other) and bool(self.nanosecond < getattr(other, self.theirs, 0)))

    def __le__(self, other: Any) -> bool:
        return bool(self < other or self == other)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self).of, (self.whole(), self.nanosecond)  # type: ignore[attr-defined]


class NanosecondDatetime(_Fine, dt.datetime):
    """A `datetime` with nanoseconds.

    >>> NanosecondDatetime.of(dt.datetime(2020, 1, 2, 3, 4, 5, 6), 789).isoformat()
    '2020-01-02T03:04:05.000006789'
    """

    standard = dt.datetime

    @classmethod
    def of(cls, whole: dt.datetime, nanosecond: int) -> Self:
        """Return `whole` plus `nanosecond`."""
        date = whole.year, whole.month, whole.day
        time = whole.hour, whole.minute, whole.second, whole.microsecond, whole.tzinfo
        return cls._made(nanosecond, *date, *time, fold=whole.fold)

    def whole(self) -> dt.datetime:
        """Return the value truncated to microseconds, as the standard class."""
        return dt.datetime.combine(self.date(), self.timetz())

    def to_datetime64(self) -> np.datetime64:
        """Return the timestamp for numpy, in UTC if it has a time zone; the method is named as in pandas."""
        whole = self.whole()
        plain = whole if whole.tzinfo is None else whole.astimezone(dt.UTC).replace(tzinfo=None)
        moment: np.datetime64 = np.datetime64(plain, "us").astype("datetime64[ns]") + np.timedelta64(self.nanosecond, "ns")
        return moment

    def replace(self, *args: Any, **kwargs: Any) -> Self:
        """Return the value with some parts changed and the nanoseconds kept."""
        return type(self).of(self.whole().replace(*args, **kwargs), self.nanosecond)

    def astimezone(self, tz: dt.tzinfo | None = None) -> Self:
        """Return the same time in another time zone."""
        return type(self).of(self.whole().astimezone(tz), self.nanosecond)

    def __add__(self, other: dt.timedelta) -> dt.datetime:  # type: ignore[override]
        return self.whole() + other

    __radd__ = __add__  # type: ignore[assignment]

    def __sub__(self, other: Any) -> Any:
        return self.whole() - (other.whole() if isinstance(other, NanosecondDatetime) else other)

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        """Return the ISO text, with nine digits after the second unless `timespec` asks for less."""
        if timespec != "auto":
            return super().isoformat(sep, timespec)
        text = self.whole().isoformat(sep, "microseconds")
        return f"{text[:26]}{self.nanosecond:03d}{text[26:]}"

    def __str__(self) -> str:
        return self.isoformat(" ")


class NanosecondTime(_Fine, dt.time):
    """A `time` with nanoseconds."""

    standard = dt.time

    @classmethod
    def of(cls, whole: dt.time, nanosecond: int) -> Self:
        """Return `whole` plus `nanosecond`."""
        parts = whole.hour, whole.minute, whole.second, whole.microsecond, whole.tzinfo
        return cls._made(nanosecond, *parts, fold=whole.fold)

    def whole(self) -> dt.time:
        """Return the value truncated to microseconds, as the standard class."""
        return dt.time(self.hour, self.minute, self.second, self.microsecond, self.tzinfo, fold=self.fold)

    def replace(self, *args: Any, **kwargs: Any) -> Self:
        """Return the value with some parts changed and the nanoseconds kept."""
        return type(self).of(self.whole().replace(*args, **kwargs), self.nanosecond)

    def isoformat(self, timespec: str = "auto") -> str:
        """Return the ISO text, with nine digits after the second unless `timespec` asks for less."""
        if timespec != "auto":
            return super().isoformat(timespec)
        text = self.whole().isoformat("microseconds")
        return f"{text[:15]}{self.nanosecond:03d}{text[15:]}"

    def __str__(self) -> str:
        return self.isoformat()


class NanosecondTimedelta(_Fine, dt.timedelta):
    """A `timedelta` with nanoseconds (`nanosecond`, 0 to 999, counts upwards from the rest, even below zero)."""

    standard, theirs = dt.timedelta, "nanoseconds"

    @classmethod
    def of(cls, whole: dt.timedelta, nanosecond: int) -> Self:
        """Return `whole` plus `nanosecond`."""
        return cls._made(nanosecond, whole.days, whole.seconds, whole.microseconds)

    @property
    def nanoseconds(self) -> int:
        """The name of `nanosecond` in pandas."""
        return self.nanosecond

    def whole(self) -> dt.timedelta:
        """Return the value rounded down to microseconds, as the standard class."""
        return dt.timedelta(self.days, self.seconds, self.microseconds)

    def to_timedelta64(self) -> np.timedelta64:
        """Return the duration for numpy; the method is named as in pandas."""
        fine: np.timedelta64 = np.timedelta64(self.whole(), "us").astype("timedelta64[ns]")
        return fine + np.timedelta64(self.nanosecond, "ns")

    def __str__(self) -> str:
        minutes, seconds = divmod(self.seconds, 60)
        hours, minutes = divmod(minutes, 60)
        head = f"{self.days} day{'' if abs(self.days) == 1 else 's'}, " if self.days else ""
        return f"{head}{hours}:{minutes:02d}:{seconds:02d}.{self.microseconds:06d}{self.nanosecond:03d}"

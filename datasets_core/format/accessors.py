"""Single values of an Arrow column by index, without an Arrow scalar between.

An accessor is made once for a column of a record batch; it reads the column's buffers through memoryviews.  Offsets,
validity bits, sliced arrays and absent buffers are honoured; types that are not read here go through `lists`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

from datasets_core.errors import CastError
from datasets_core.format.lists import is_clock, is_own, literal, reader, value_maker

Accessor = Callable[[int], Any]

_CODES = {
    pa.int8(): "b",
    pa.int16(): "h",
    pa.int32(): "i",
    pa.int64(): "q",
    pa.uint8(): "B",
    pa.uint16(): "H",
    pa.uint32(): "I",
    pa.uint64(): "Q",
    pa.float32(): "f",
    pa.float64(): "d",
}


@lru_cache(maxsize=1024)
def is_quick(type_: pa.DataType) -> bool:
    """Whether single values of the type are read from buffers, in well under a microsecond for flat types."""
    if type_ in _CODES or pt.is_boolean(type_) or pt.is_null(type_) or is_clock(type_) or _is_text(type_):
        return True
    if pt.is_dictionary(type_):
        return type_.index_type in _CODES and is_quick(type_.value_type)
    if pt.is_list(type_) or pt.is_large_list(type_) or pt.is_fixed_size_list(type_):
        return is_quick(type_.value_type)
    if pt.is_struct(type_):
        return type_.num_fields > 0 and all(is_quick(field.type) for field in type_)
    return False


def _is_text(type_: pa.DataType) -> bool:
    return bool(pt.is_string(type_) or pt.is_binary(type_) or pt.is_large_string(type_) or pt.is_large_binary(type_))


def accessor(array: pa.Array) -> Accessor:
    """The function index → Python value of `array`; the index must exist."""
    type_ = array.type
    if pt.is_null(type_):
        return lambda i: None
    if not len(array):
        return _of_nothing
    if not is_quick(type_):
        return _slow(array)
    get = _value(array)
    if array.null_count == 0:
        return get
    validity = array.buffers()[0]
    valid = memoryview(validity).cast("B")
    offset = array.offset
    return lambda i: get(i) if valid[(i + offset) >> 3] >> ((i + offset) & 7) & 1 else None


def _of_nothing(i: int) -> Any:
    raise IndexError(i)


def _slow(array: pa.Array) -> Accessor:
    if is_own(array.type):
        read = reader(array.type)
        return lambda i: read(array.slice(i, 1))[0]
    return lambda i: array[i].as_py()


def _value(array: pa.Array) -> Accessor:
    """The accessor of the values that are not null."""
    type_ = array.type
    if type_ in _CODES:
        getter: Accessor = _numbers(array, _CODES[type_]).__getitem__
        return getter
    if pt.is_boolean(type_):
        bits, offset = _view(array.buffers()[1]), array.offset
        return lambda i: bits[(i + offset) >> 3] >> ((i + offset) & 7) & 1 == 1
    if _is_text(type_):
        return _texts(array)
    if is_clock(type_):
        return _clock(array)
    if pt.is_dictionary(type_):
        known = accessor(array.dictionary)
        codes = _numbers(array.indices, _CODES[type_.index_type])
        return lambda i: known(codes[i])
    if pt.is_fixed_size_list(type_):
        size, first = type_.list_size, array.offset
        return _items(array.values, lambda i: ((first + i) * size, (first + i + 1) * size))
    if pt.is_struct(type_):
        return _struct(array)
    offsets = _offsets(array, "q" if pt.is_large_list(type_) else "i")
    return _items(array.values, lambda i: (offsets[i], offsets[i + 1]))


def _view(buffer: pa.Buffer | None) -> memoryview:
    return memoryview(b"") if buffer is None else memoryview(buffer).cast("B")


def _numbers(array: pa.Array, code: Any) -> memoryview[Any]:
    width = array.type.bit_width // 8
    return _view(array.buffers()[1])[array.offset * width : (array.offset + len(array)) * width].cast(code)


def _offsets(array: pa.Array, code: Any) -> memoryview[Any]:
    width = 8 if code == "q" else 4
    return _view(array.buffers()[1])[array.offset * width : (array.offset + len(array) + 1) * width].cast(code)


def _texts(array: pa.Array) -> Accessor:
    type_ = array.type
    large = pt.is_large_string(type_) or pt.is_large_binary(type_)
    offsets, data = _offsets(array, "q" if large else "i"), _view(array.buffers()[2])
    if pt.is_binary(type_) or pt.is_large_binary(type_):
        return lambda i: bytes(data[offsets[i] : offsets[i + 1]])
    return lambda i: str(data[offsets[i] : offsets[i + 1]], "utf8")


def _clock(array: pa.Array) -> Accessor:
    make, type_ = value_maker(array.type), array.type
    stored = _numbers(array, "i" if type_.bit_width == 32 else "q")

    def get(i: int) -> Any:
        try:
            return make(stored[i])
        except (OverflowError, ValueError) as error:
            raise CastError(
                f"A column of type {type_} holds a value beyond the years 1 to 9999 of Python's datetime. "
                "Read the column with with_format('arrow'), or cast it to int64."
            ) from error

    return get


def _items(values: pa.Array, bounds: Callable[[int], tuple[int, int]]) -> Accessor:
    """The accessor of lists whose items stand in `values` between `bounds`."""
    if values.type in _CODES and values.null_count == 0 and len(values):
        numbers = _numbers(values, _CODES[values.type])

        def flat(i: int) -> list[Any]:
            start, stop = bounds(i)
            return numbers[start:stop].tolist()

        return flat
    item = accessor(values)

    def nested(i: int) -> list[Any]:
        start, stop = bounds(i)
        return list(map(item, range(start, stop)))

    return nested


def _struct(array: pa.Array) -> Accessor:
    return row_maker(tuple(field.name for field in array.type))(
        [accessor(array.field(k)) for k in range(array.type.num_fields)]
    )


@lru_cache(maxsize=256)
def row_maker(names: tuple[str, ...]) -> Callable[[list[Accessor]], Callable[[int], dict[str, Any]]]:
    """The function that binds one accessor for each name into an accessor of whole rows as dicts."""
    getters = [f"g{k}" for k in range(len(names))]
    entries = ", ".join(f"{literal(name)}: {getter}(i)" for name, getter in zip(names, getters, strict=True))
    made: Callable[..., Callable[[int], dict[str, Any]]] = eval(f"lambda {', '.join(getters)}: lambda i: {{{entries}}}")
    return lambda accessors: made(*accessors)

"""Single values of an Arrow column by index, without an Arrow scalar between.

For a column of a record batch there is an expression over its buffers (as memoryviews), such as `a0[i]` for numbers or
`str(a1[a0[i]:a0[i + 1]], 'utf8')` for texts.  The expressions of all columns, put into one dict literal and compiled once
per schema, read a row in a single Python call.  Offsets, validity bits, sliced arrays and absent buffers are honoured; types
that are not read here go through `lists`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.types as pt

from datasets_core.format.lists import CODES, beyond, is_clock, is_own, literal, reader, value_maker

Accessor = Callable[[int], Any]


class Access(NamedTuple):
    """How a value is read.

    Attributes:
        expression: Python source over `i` (the row) and `{0}`, `{1}`, … (the bindings); it comes from this file alone.
        bindings: what the expression reads.
    """

    expression: str
    bindings: tuple[Any, ...]


@lru_cache(maxsize=1024)
def is_quick(type_: pa.DataType) -> bool:
    """Whether single values of the type are read from buffers, in well under a microsecond for flat types."""
    if type_ in CODES or pt.is_boolean(type_) or pt.is_null(type_) or is_clock(type_) or _is_text(type_):
        return True
    if pt.is_dictionary(type_):
        return type_.index_type in CODES and is_quick(type_.value_type)
    if pt.is_list(type_) or pt.is_large_list(type_) or pt.is_fixed_size_list(type_):
        return is_quick(type_.value_type)
    if pt.is_struct(type_):
        return type_.num_fields > 0 and all(is_quick(field.type) for field in type_)
    return False


@lru_cache(maxsize=1024)
def can_gather(type_: pa.DataType) -> bool:
    """Whether pyarrow has a `take` for the type: not for views of texts and bytes, and what holds them."""
    if pt.is_string_view(type_) or pt.is_binary_view(type_) or pt.is_run_end_encoded(type_):
        return False
    if isinstance(type_, pa.BaseExtensionType):
        return can_gather(type_.storage_type)
    return all(can_gather(type_.field(k).type) for k in range(type_.num_fields))


def _is_text(type_: pa.DataType) -> bool:
    return bool(pt.is_string(type_) or pt.is_binary(type_) or pt.is_large_string(type_) or pt.is_large_binary(type_))


def access(array: pa.Array) -> Access:
    """How a value of `array` at an existing index is read."""
    type_ = array.type
    if pt.is_null(type_):
        return Access("None", ())
    if not len(array) or not is_quick(type_):
        return Access("{0}(i)", (_slow(array),))
    found = _value(array)
    if array.null_count == 0:
        return found
    bits, shift = _bits(array.buffers()[0], array.offset)
    at = len(found.bindings)
    return Access(f"({found.expression} if {_bit(at, shift)} else None)", (*found.bindings, bits))


def accessor(array: pa.Array) -> Accessor:
    """The function index → Python value of `array`; the index must exist."""
    return _bound([access(array)], "%s")


def bound(accesses: list[Access], names: tuple[str, ...]) -> Callable[[int], dict[str, Any]]:
    """The function index → row as a dict of `names`."""
    return _bound(accesses, "{" + ", ".join(f"{literal(name)}: %s" for name in _escaped(names)) + "}")


def bound_values(accesses: list[Access]) -> Callable[[int], tuple[Any, ...]]:
    """The function index → row as a tuple."""
    return _bound(accesses, f"({'%s, ' * len(accesses)})")


def _escaped(names: tuple[str, ...]) -> Iterator[str]:
    return (name.replace("%", "%%") if type(name) is str else name for name in names)


def _bound(accesses: list[Access], form: str) -> Accessor:
    expressions = tuple(found.expression for found in accesses)
    counts = tuple(len(found.bindings) for found in accesses)
    return _compiled(form, expressions, counts)(*(value for found in accesses for value in found.bindings))


@lru_cache(maxsize=512)
def _compiled(form: str, expressions: tuple[str, ...], counts: tuple[int, ...]) -> Callable[..., Accessor]:
    """The function bindings → accessor, for a literal (`form`) whose parts are the expressions."""
    parts, first = [], 0
    for expression, count in zip(expressions, counts, strict=True):
        parts.append(expression.format(*(f"a{k}" for k in range(first, first + count))))
        first += count
    bindings = ", ".join(f"a{k}" for k in range(first))
    made: Callable[..., Accessor] = eval(f"lambda {bindings}: lambda i: {form % tuple(parts)}")
    return made


def _slow(array: pa.Array) -> Accessor:
    if is_own(array.type):
        read = reader(array.type)
        return lambda i: read(array.slice(i, 1))[0]
    return lambda i: array[i].as_py()


def _value(array: pa.Array) -> Access:
    """How the values that are not null are read."""
    type_ = array.type
    if type_ in CODES:
        return Access("{0}[i]", (_numbers(array, CODES[type_]),))
    if pt.is_boolean(type_):
        bits, shift = _bits(array.buffers()[1], array.offset)
        return Access(f"({_bit(0, shift)} == 1)", (bits,))
    if _is_text(type_):
        return _texts(array)
    if is_clock(type_):
        return Access("{0}({1}[i])", (_checked(value_maker(type_), type_), _stored(array)))
    if pt.is_dictionary(type_):
        return Access("{0}({1}[i])", (accessor(array.dictionary), _numbers(array.indices, CODES[type_.index_type])))
    if pt.is_fixed_size_list(type_):
        size, first = type_.list_size, array.offset
        return _items(array.values, f"(i + {first}) * {size}", f"(i + {first + 1}) * {size}", ())
    if pt.is_struct(type_):
        fields = [access(array.field(k)) for k in range(type_.num_fields)]
        return Access("{0}(i)", (bound(fields, tuple(field.name for field in type_)),))
    offsets = _offsets(array, "q" if pt.is_large_list(type_) else "i")
    return _items(array.values, "{0}[i]", "{0}[i + 1]", (offsets,))


def _view(buffer: pa.Buffer | None) -> memoryview:
    return memoryview(b"") if buffer is None else memoryview(buffer).cast("B")


def _numbers(array: pa.Array, code: Any) -> memoryview[Any]:
    width = array.type.bit_width // 8
    return _view(array.buffers()[1])[array.offset * width : (array.offset + len(array)) * width].cast(code)


def _stored(array: pa.Array) -> memoryview[Any]:
    """The integers of a column of dates or times."""
    return _numbers(array, "i" if array.type.bit_width == 32 else "q")


def _offsets(array: pa.Array, code: Any) -> memoryview[Any]:
    width = 8 if code == "q" else 4
    return _view(array.buffers()[1])[array.offset * width : (array.offset + len(array) + 1) * width].cast(code)


def _bits(buffer: pa.Buffer | None, offset: int) -> tuple[memoryview, int]:
    """The bytes from that of the first row on, and the place of its bit in there."""
    return _view(buffer)[offset >> 3 :], offset & 7


def _bit(binding: int, shift: int) -> str:
    row = f"(i + {shift})" if shift else "i"
    return f"{{{binding}}}[{row} >> 3] >> ({row} & 7) & 1"


def _texts(array: pa.Array) -> Access:
    type_ = array.type
    large = pt.is_large_string(type_) or pt.is_large_binary(type_)
    bindings = (_offsets(array, "q" if large else "i"), _view(array.buffers()[2]))
    if pt.is_binary(type_) or pt.is_large_binary(type_):
        return Access("bytes({1}[{0}[i]:{0}[i + 1]])", bindings)
    return Access("str({1}[{0}[i]:{0}[i + 1]], 'utf8')", bindings)


def _checked(make: Callable[[int], Any], type_: pa.DataType) -> Callable[[int], Any]:
    def checked(stored: int) -> Any:
        try:
            return make(stored)
        except (OverflowError, ValueError) as error:
            raise beyond(type_) from error

    return checked


def _items(values: pa.Array, start: str, stop: str, bindings: tuple[Any, ...]) -> Access:
    """How lists are read whose items stand in `values` from `start` to `stop`, two expressions over the bindings."""
    at = len(bindings)
    if values.type in CODES and values.null_count == 0:
        return Access(f"{{{at}}}[{start}:{stop}].tolist()", (*bindings, _numbers(values, CODES[values.type])))
    return Access(f"list(map({{{at}}}, range({start}, {stop})))", (*bindings, accessor(values)))

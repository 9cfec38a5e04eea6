"""Lists and structs of Arrow put together from lengths, masks and children, and taken apart again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    import numpy.typing as npt

types = pa.types
Mask: TypeAlias = "npt.NDArray[np.bool_]"
Lengths: TypeAlias = "npt.NDArray[np.int64]"


class Misfit(Exception):
    """A value that does not fit, at a position of the values at hand; each level above turns it into its own position."""

    def __init__(self, index: int, reason: str, path: str = "", other: int | None = None) -> None:
        super().__init__(index, reason, path, other)
        self.index, self.path, self.other = index, path, other
        self._reason = reason

    @property
    def reason(self) -> str:
        """What is wrong; it ends with the other row, where two values do not fit each other."""
        if self.other is None:
            return self._reason
        return f"{self._reason} of {'the same row' if self.other == self.index else f'row {self.other}'}"

    def at(self, place: Callable[[int], int], step: str = "") -> Misfit:
        """The same, seen from one level above, where `place` gives the position of what is here at a position."""
        return Misfit(place(self.index), self._reason, f"{step}{self.path}", None if self.other is None else place(self.other))

    def below(self, step: str) -> Misfit:
        """The same, seen from one level above that has the same positions."""
        return Misfit(self.index, self._reason, f"{step}{self.path}", self.other)


def bitmap(valid: Mask | None) -> pa.Buffer | None:
    """The validity buffer of a mask; None where nothing is null."""
    return None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))


def list_array(arrow_type: pa.DataType, lengths: Lengths, valid: Mask | None, child: pa.Array) -> pa.Array:
    """A list array of that type.

    Args:
        arrow_type: a list, a large list or a list of fixed size.
        lengths: how many elements of `child` each row takes; 0 where the row is null.
        valid: False where a row is null; None if no row is.
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
        raise Misfit(0, "the lists of one batch have more than 2**31 elements; make it a LargeList, or write smaller batches")
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
    """A struct array of that type, with `length` rows."""
    return pa.Array.from_buffers(arrow_type, length, [bitmap(valid)], children=list(children))


def rows_of(lengths: Lengths) -> Callable[[int], int]:
    """The row that holds an element, when each row takes `lengths` elements.

    >>> rows_of(np.array([2, 0, 1]))(2)
    2
    """
    stops = np.cumsum(lengths)
    return lambda index: int(np.searchsorted(stops, index, side="right"))


def raw_values(buffer: pa.Buffer | None, dtype: Any, array: pa.Array) -> npt.NDArray[Any]:
    """The values of a primitive array as numpy sees its buffer; what stands under nulls has no meaning."""
    return np.frombuffer(buffer or b"", dtype=dtype)[array.offset : array.offset + len(array)]


def validity(array: pa.Array) -> Mask | None:
    """False where an array is null; None if it is nowhere."""
    if array.null_count == 0:
        return None
    if types.is_null(array.type):
        return np.zeros(len(array), bool)
    buffer = array.buffers()[0]
    if buffer is None:  # a type whose nulls have no bitmap
        return ~np.array(array.is_null().to_pylist(), bool)
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), count=array.offset + len(array), bitorder="little")
    return bits[array.offset :].astype(bool)


def list_parts(array: pa.Array) -> tuple[Lengths, Mask | None, pa.Array]:
    """Lengths, mask and elements of any list-like array; elements that hide under nulls are left out."""
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
    starts, lengths = (raw_values(buffer, width, array).astype(np.int64) for buffer in array.buffers()[1:3])
    if valid is not None:
        lengths = np.where(valid, lengths, 0)
    stops = np.cumsum(lengths)
    places = np.arange(lengths.sum()) - np.repeat(stops - lengths, lengths) + np.repeat(starts, lengths)
    indices = pa.Array.from_buffers(pa.int64(), len(places), [None, pa.py_buffer(places.astype(np.int64))])
    return lengths, valid, array.values.take(indices)


def _map_as_list(array: pa.Array) -> pa.Array:
    """A map as the list of `{"key", "value"}` that it is stored as; keys and items know nothing of a slice."""
    entries = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
    buffers = array.buffers()[:2]
    return pa.Array.from_buffers(pa.list_(entries.type), len(array), buffers, offset=array.offset, children=[entries])


def struct_parts(array: pa.Array) -> tuple[Mask | None, dict[str, pa.Array]]:
    """Mask and fields of a struct array; a field is null where its struct is."""
    return validity(array), dict(zip((field.name for field in array.type), array.flatten(), strict=True))

"""The values of a column as the bytes that their features hold, and where each begins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.features.nesting import Mask, Misfit, list_parts, raw_values, rows_of, struct_parts, validity
from datasets_core.records.message_plan import ANY, MEDIA_BYTES, Leaf
from datasets_core.records.record_block import Ints
from datasets_core.records.varints import varints
from datasets_core.records.wire_values import offsets_of

types = pa.types
_MOST_INT = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of bytes, one behind the other.

    Attributes:
        data: all of them.
        bounds: where each begins, and where the last one ends.
    """

    data: pa.Buffer
    bounds: Ints

    def at(self, places: Ints) -> Pieces:
        """Fewer and longer pieces, which begin and end where these numbers of them do."""
        return Pieces(self.data, self.bounds[places])

    @property
    def sizes(self) -> Ints:
        """How many bytes each has."""
        return np.diff(self.bounds)

    def array(self) -> pa.LargeBinaryArray:
        """They, as Arrow has them."""
        return pa.Array.from_buffers(pa.large_binary(), len(self.bounds) - 1, [None, pa.py_buffer(self.bounds), self.data])


@dataclass(frozen=True, slots=True)
class LeafValues:
    """The values of a leaf in some rows.

    Attributes:
        valid: which rows have any; None: all.
        counts: how many lists or values there are in each row, then how many in each of these lists, and so on.
        values: all of them, none of which is null.
    """

    valid: Mask | None
    counts: tuple[Ints, ...]
    values: pa.Array

    def row(self, value: int) -> int:
        """The row of a value."""
        return _outer(value, self.counts)


def _outer(position: int, counts: Sequence[Ints]) -> int:
    for lengths in reversed(counts):
        position = rows_of(lengths)(position)
    return position


def leaf_values(column: pa.Array, leaf: Leaf) -> LeafValues:
    """The values of a leaf.

    Args:
        column: of the rows.
        leaf: which part of it.

    Raises:
        Misfit: a list holds None, or has another size than its feature says; or the bytes of a file are not there.
    """
    valid: Mask | None = None
    counts: list[Ints] = []
    array = column
    for step in leaf.steps[1:]:
        array = stored(array)
        if isinstance(step, str):
            array = _field(array, step, counts, is_media=leaf.is_media and step == MEDIA_BYTES)
            continue
        lengths, is_there, child = list_parts(array)
        if not counts:
            valid = is_there
        elif is_there is not None:
            raise _null(is_there, counts)
        if step != ANY:
            wrong = lengths != step if is_there is None else is_there & (lengths != step)
            if wrong.any():
                reason = f"a list or array of {lengths[wrong][0]} elements stands where its feature says {step}"
                raise Misfit(_outer(int(np.argmax(wrong)), counts), reason)
        counts.append(lengths)
        array = child
    array = stored(array)
    is_there = validity(array)
    if is_there is None:
        return LeafValues(valid, tuple(counts) or (np.ones(len(array), np.int64),), array)
    if counts:
        raise _null(is_there, counts)
    return LeafValues(is_there, (is_there.astype(np.int64),), array.drop_null())


def _field(array: pa.Array, name: str, counts: Sequence[Ints], *, is_media: bool) -> pa.Array:
    _, fields = struct_parts(array)
    if is_media:
        missing = pc.and_(fields[MEDIA_BYTES].is_null(), fields["path"].is_valid())
        if pc.any(missing).as_py():
            place = pc.index(missing, True).as_py()
            raise Misfit(_outer(place, counts), f"the bytes of {fields['path'][place].as_py()!r} are not in the rows")
    return fields[name]


def _null(is_there: Mask, counts: Sequence[Ints]) -> Misfit:
    return Misfit(_outer(int(np.argmin(is_there)), counts), "a list or array holds None, which TFRecord files have no form of")


def wire_ints(values: pa.Array) -> Pieces:
    """Whole numbers, booleans, moments and the like, as varints.

    Raises:
        Misfit: a number is beyond int64.
    """
    if types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    kind = f"{'u' if types.is_unsigned_integer(values.type) else ''}int{values.type.bit_width}"
    numbers = raw_values(values.buffers()[1], kind, values)
    if kind == "uint64" and len(numbers) and numbers.max() > _MOST_INT:
        place = int(np.argmax(numbers > _MOST_INT))
        raise Misfit(place, f"{numbers[place]} is beyond int64, which is what TFRecord files hold")
    data, widths = varints(numbers.astype(np.int64, copy=False))
    return Pieces(pa.py_buffer(data), offsets_of(widths))


def wire_floats(values: pa.Array) -> tuple[Pieces, int | None]:
    """Numbers as little-endian float32, and the first of them that is rounded.

    Raises:
        Misfit: a number is beyond float32.
    """
    width = values.type.bit_width // 8
    numbers = raw_values(values.buffers()[1], f"f{width}", values)
    with np.errstate(over="ignore"):
        floats = numbers.astype("<f4", copy=False)
    rounded: int | None = None
    if width == 8:
        differs = (floats != numbers) & ~np.isnan(numbers)
        if differs.any():
            beyond = differs & np.isinf(floats)
            if beyond.any():
                place = int(np.argmax(beyond))
                raise Misfit(place, f"{float(numbers[place])!r} is beyond float32, which is what TFRecord files hold")
            rounded = int(np.argmax(differs))
    return Pieces(pa.py_buffer(np.ascontiguousarray(floats)), np.arange(0, 4 * len(floats) + 1, 4, dtype=np.int64)), rounded


def wire_bytes(values: pa.Array) -> Pieces:
    """Texts and bytes as they are."""
    values = values.cast(pa.large_binary())
    _, places, data = values.buffers()
    if not len(values) or places is None:
        return Pieces(pa.py_buffer(b""), np.zeros(1, np.int64))
    bounds = np.frombuffer(places, np.int64, len(values) + 1, 8 * values.offset)
    return Pieces(pa.py_buffer(b"") if data is None else data, bounds)


def stored(values: pa.Array) -> pa.Array:
    """Values as Arrow stores those of their kind, without dictionaries, views and names of types."""
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if isinstance(values, pa.DictionaryArray):
        values = values.dictionary_decode()
    if types.is_string_view(values.type) or types.is_binary_view(values.type):  # of which Arrow drops no nulls
        values = values.cast(pa.large_binary())
    return values

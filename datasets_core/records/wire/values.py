"""Blocks of records, varints, and features of many messages as columns: `WireColumn` and `SequenceColumn`."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from sys import byteorder
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, ConfigurationError

# `RecordBlock`: consecutive records of a file in one piece of memory, with the bounds of each.


Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordBlock:
    """Consecutive records of one file; their bytes are not copied.

    Attributes:
        data: bytes that contain the records.
        starts, stops: the bounds of each payload in `data`; int64, ascending.
        first: the number of the first record in its file, from 0.
        name: the name of the file, for error messages.
        offset: the position of `data` in the decompressed file.

    Example:
        >>> block = RecordBlock.of([b"one", b"three"], name="a.tfrecord")
        >>> block, list(block), block[1:].first
        (RecordBlock(2 records of a.tfrecord from number 0 on, 8 bytes), [b'one', b'three'], 1)
    """

    data: bytes
    starts: Ints
    stops: Ints
    first: int = 0
    name: str = "records"
    offset: int = 0

    @classmethod
    def of(cls, records: Sequence[bytes], *, first: int = 0, name: str = "records") -> RecordBlock:
        """Return a block of records in memory.

        Args:
            records: their payloads.
            first: the number of the first record.
            name: the name for error messages.
        """
        stops = np.cumsum(np.fromiter(map(len, records), np.int64, len(records)), dtype=np.int64)
        starts = np.concatenate([np.zeros(1, np.int64), stops[:-1]]) if len(records) else stops
        return cls(b"".join(records), starts, stops, first, name)

    def __repr__(self) -> str:
        return f"RecordBlock({len(self):,} records of {self.name} from number {self.first:,} on, {self.num_bytes:,} bytes)"

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[bytes]:
        data = self.data
        return (data[start:stop] for start, stop in zip(self.starts.tolist(), self.stops.tolist(), strict=True))

    def __getitem__(self, rows: slice) -> RecordBlock:
        """Return some of the records, which share the memory.

        Raises:
            ConfigurationError: the step is not 1.
            ArgumentTypeError: `rows` is not a slice.
        """
        if not isinstance(rows, slice):
            raise ArgumentTypeError(f"records[{rows!r}] is not a slice", advice="Use records[start:stop], or list(records)")
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ConfigurationError(f"records[{rows}] has step {step}, but only step 1 is supported", advice="Omit the step")
        part = slice(start, max(start, stop))
        return RecordBlock(self.data, self.starts[part], self.stops[part], self.first + start, self.name, self.offset)

    @property
    def num_bytes(self) -> int:
        """The size of all payloads in bytes."""
        return int((self.stops - self.starts).sum())


# Varints, the encoding of integers in protobuf: of one number, or of an array at once.


_WORD_BITS = 56  # bits of a number whose varint fits into eight bytes
_CHUNK = 1 << 16  # numbers encoded at once: their words fit into the processor cache
_SHORT = [bytes([number]) for number in range(0x80)]
_SPREAD = ((28, 4), (14, 2), (7, 1))  # (size of groups in bits, distance by which pairs of them are moved apart)


def varint(number: int) -> bytes:
    """Return a non-negative number as a varint.

    >>> varint(300)
    b'\\xac\\x02'
    """
    if number < 0x80:
        return _SHORT[number]
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def varints(values: Ints) -> tuple[npt.NDArray[np.uint8], Ints]:
    """Return the concatenated varints of int64 values, and the size of each in bytes; negative numbers need ten.

    >>> data, widths = varints(np.array([1, 300, -1]))
    >>> data.tobytes().hex(), widths.tolist()
    ('01ac02ffffffffffffffffff01', [1, 2, 10])
    """
    bits = np.ascontiguousarray(values, np.int64).view(np.uint64)
    if not len(bits) or bits.max() < 0x80:
        return bits.astype(np.uint8), np.ones(len(bits), np.int64)
    parts = [_varints(bits[start : start + _CHUNK]) for start in range(0, len(bits), _CHUNK)]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([data for data, _ in parts]), np.concatenate([widths for _, widths in parts])


def _varints(bits: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint8], Ints]:
    most, least = int(bits.max()), int(bits.min())
    widths = np.ones(len(bits), np.int64)
    for groups in range(1, (most.bit_length() + 6) // 7):
        widths += bits >= np.uint64(1 << 7 * groups)
    size = np.dtype("<u4" if most < 1 << 28 else "<u8")
    table: npt.NDArray[np.uint8] = _words(bits, widths, size).view(np.uint8).reshape(len(bits), size.itemsize)
    if most >> _WORD_BITS:
        high: npt.NDArray[np.uint8] = (bits >> np.uint64(_WORD_BITS)).astype(np.uint8)
        ninth: npt.NDArray[np.uint8] = (high & np.uint8(0x7F)) | (widths > 9).astype(np.uint8) * np.uint8(0x80)
        table = np.concatenate([table, ninth[:, None], (high >> np.uint8(7))[:, None]], axis=1)
    if len(varint(least)) == len(varint(most)):
        return np.ascontiguousarray(table[:, : len(varint(most))]).reshape(-1), widths
    is_used = np.arange(table.shape[1]) < np.arange(11)[:, None]  # by width
    if table.shape[1] == size.itemsize:  # one word per row, which makes the lookup six times faster
        is_used = is_used.view(size)[:, 0]
    return np.compress(is_used[widths].view(np.bool_).reshape(-1), table.reshape(-1)), widths


def _words(bits: npt.NDArray[np.uint64], widths: Ints, size: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return the low 56 bits (28 for small numbers) in groups of seven, one byte each, with continuation bits."""
    most = 7 * size.itemsize
    marks = [sum(0x80 << 8 * place for place in range(min(width - 1, size.itemsize))) for width in range(11)]
    words = (bits & np.uint64((1 << most) - 1)).astype(size)
    for group, step in _SPREAD if size.itemsize == 8 else _SPREAD[1:]:
        low = sum(((1 << group) - 1) << lane for lane in range(0, 8 * size.itemsize, 2 * (group + step)))
        words = (words & size.type(low)) | ((words & size.type(low << group)) << size.type(step))
    found: npt.NDArray[Any] = (words | np.array(marks, size)[widths]).astype(size, copy=False)
    return found


# `RawFeature`, the result of parsing one message; the types of features; decoding of single varints.


Kind: TypeAlias = Literal["bytes", "float", "int64"]
Values: TypeAlias = list[bytes] | list[float] | list[int]

# A tag contains the number of a field and the wire type of its value.
FIRST, SECOND, FIRST_VARINT, FIRST_FIXED = 0x0A, 0x12, 0x08, 0x0D
KINDS: dict[int, Kind] = {0x0A: "bytes", 0x12: "float", 0x1A: "int64"}


class Malformed(ValueError):
    """Bytes that are not a valid message."""


RawFeature: TypeAlias = tuple[Kind | None, Any]
"""A parsed feature: its type, and a list of bytes or integers; floats remain undecoded bytes."""
NOTHING: RawFeature = (None, [])


def told_values(feature: RawFeature) -> tuple[Kind | None, Values]:
    """Return the type of a feature, and its values as Python objects.

    >>> told_values(("float", bytes(4)))
    ('float', [0.0])
    """
    kind, values = feature
    return kind, as_floats(values) if kind == "float" else list(values)


RawFeatures: TypeAlias = dict[bytes, RawFeature]
RawLists: TypeAlias = dict[bytes, list[RawFeature]]


def as_floats(raw: bytes | bytearray) -> list[float]:
    """Decode bytes as little-endian float32 values."""
    values = array("f", bytes(raw))
    if byteorder == "big":
        values.byteswap()
    return values.tolist()


def read_varint(data: bytes, at: int, end: int, longest: int = 10) -> tuple[int, int]:
    """Return the varint at a position of a message, and the position after it.

    Raises:
        Malformed: the varint is truncated or too long.

    >>> read_varint(b"\\xac\\x02", 0, 2)
    (300, 2)
    """
    value = 0
    for number in range(longest):
        if at >= end:
            raise Malformed(f"it ends within a number at byte {at:,}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            return value, at
    raise Malformed(f"the number before byte {at:,} has more than {longest} bytes")


def signed(value: int) -> int:
    """Return the low 64 bits of a number as a signed int64."""
    return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


Bools: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WireColumn:
    """One feature, of one type, in n records.

    Attributes:
        values: the concatenated values of all records: binary, large_binary, float32 or int64.
        offsets: the boundaries of the values of the records; int64, n + 1 of them.
        present: mask of the records with a list of this type, which may be empty.

    Example:
        >>> column = WireColumn(pa.array([1, 2, 3]), np.array([0, 2, 2, 3]), np.array([True, False, True]))
        >>> column.lists.to_pylist()
        [[1, 2], None, [3]]
    """

    values: pa.Array
    offsets: Ints
    present: Bools

    @property
    def lists(self) -> pa.LargeListArray:
        """The column as an Arrow array: a list for each record, null if the feature is missing."""
        return _lists(self.offsets, self.values, self.present)


@dataclass(frozen=True, slots=True)
class SequenceColumn:
    """One feature list, of one type, in n records.

    Attributes:
        values: the concatenated values of all steps of all records.
        value_offsets: the boundaries of the values of the steps; steps + 1 of them.
        step_offsets: the boundaries of the steps of the records; n + 1 of them.
        present: mask of the records that have the feature list.
        without_kind: mask of the steps without a list of this type: an empty feature, or (in a record with several types)
            one of another type. They have no values here.

    Example:
        >>> at = [np.array(places, np.int64) for places in ([0, 2, 3], [0, 2])]
        >>> which = np.array([True]), np.array([False, False])
        >>> SequenceColumn(pa.array([1, 2, 3]), *at, *which).lists.to_pylist()
        [[[1, 2], [3]]]
    """

    values: pa.Array
    value_offsets: Ints
    step_offsets: Ints
    present: Bools
    without_kind: Bools

    @property
    def lists(self) -> pa.LargeListArray:
        """The column as an Arrow array: lists of lists, null if the feature list is missing."""
        return _lists(self.step_offsets, _lists(self.value_offsets, self.values, None), self.present)


WireColumns: TypeAlias = dict[bytes, dict[Kind | None, WireColumn]]
SequenceColumns: TypeAlias = dict[bytes, dict[Kind | None, SequenceColumn]]


def _lists(offsets: Ints, values: pa.Array, present: Bools | None) -> pa.LargeListArray:
    mask = None if present is None or present.all() else pa.array(~present)
    return pa.LargeListArray.from_arrays(arrow_numbers(offsets), values, mask=mask)


def every(chosen: Bools) -> bool:
    """Return True if all elements are True; faster than `chosen.all()` for all sizes."""
    return int(np.count_nonzero(chosen)) == len(chosen)


def offsets_of(counts: npt.ArrayLike) -> Ints:
    """Return the boundaries of consecutive pieces of these lengths."""
    lengths = np.asarray(counts, np.int64)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def arrow_numbers(values: npt.NDArray[np.int64] | npt.NDArray[np.float32]) -> pa.Array:
    """Return numbers as an Arrow array that shares their memory; unlike `pa.array`, without importing pandas."""
    kind = pa.float32() if values.dtype == np.float32 else pa.int64()
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def arrow_strings(values: Sequence[bytes | memoryview]) -> pa.Array:
    """Return bytes values as an Arrow array."""
    offsets = offsets_of(np.fromiter(map(len, values), np.int64, len(values)))
    is_large = offsets[-1] >= 1 << 31
    offsets = offsets if is_large else offsets.astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.large_binary() if is_large else pa.binary(), len(values), buffers)


def walked_values(kind: Kind | None, features: Sequence[RawFeature | None]) -> tuple[pa.Array, Ints]:
    """Return the values of features of one type, and the number of each: 0 for features of another type, and for None."""
    if kind is None:
        return pa.nulls(0), np.zeros(len(features), np.int64)
    own = [feature[1] if feature is not None and feature[0] == kind else b"" for feature in features]
    counts = np.fromiter(map(len, own), np.int64, len(own))
    if kind == "float":
        return arrow_numbers(np.frombuffer(b"".join(own), "<f4").astype(np.float32, copy=False)), counts // 4
    values: list[Any] = [value for each in own for value in each]
    return arrow_numbers(np.array(values, np.int64)) if kind == "int64" else arrow_strings(values), counts


def spliced(values: pa.Array, counts: Ints, others: pa.Array, of_others: Ints) -> pa.Array:
    """Return an interleaving of two arrays: `counts[0]` values, `of_others[0]` others, and so on.

    Args:
        values: the values.
        counts: number of values in each turn.
        others: the other values.
        of_others: number of others in each turn, after the values.
    """
    if not len(others):
        return values
    is_other = np.repeat(np.tile([False, True], len(counts)), np.stack([counts, of_others], axis=1).reshape(-1))
    order = np.empty(len(is_other), np.int64)
    order[~is_other] = np.arange(len(values))
    order[is_other] = np.arange(len(values), len(values) + len(others))
    both = [values, others]
    if values.type != others.type or values.nbytes + others.nbytes >= 1 << 31:
        both = [array.cast(pa.large_binary()) if pa.types.is_binary(array.type) else array for array in both]
    return pa.concat_arrays(both).take(arrow_numbers(order))


def scattered(counts: Ints, which: Ints, size: int) -> Ints:
    """Return an array of `size` counts: `counts` at the positions `which`, and 0 elsewhere."""
    if len(which) == size:
        return counts
    of_all = np.zeros(size, np.int64)
    of_all[which] = counts
    return of_all


def told(which: Ints, size: int) -> Bools:
    """Return a mask of `size` elements that is True at the positions `which`."""
    among = np.zeros(size, np.bool_)
    among[which] = True
    return among

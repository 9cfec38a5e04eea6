"""The features of many messages as columns, `WireColumn` and `SequenceColumn`, and the values of messages that were walked."""

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

# `RecordBlock`: some consecutive records of a file as one piece of memory, with where each begins and ends.


Ints: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordBlock:
    """Consecutive records of one file, without copies of their bytes.

    Attributes:
        data: bytes that contain the records.
        starts, stops: the bounds of the payload of each in `data`; int64, ascending.
        first: the number of the first record in its file, from 0.
        name: the name of the file, for error messages.
        offset: the position of `data` in the decompressed file.

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
        """Return the block of some records that are in memory.

        Args:
            records: their payloads.
            first: the number of the first.
            name: what messages name them.
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
            ConfigurationError: a step other than 1.
            ArgumentTypeError: no slice.
        """
        if not isinstance(rows, slice):
            raise ArgumentTypeError(f"records[{rows!r}] is not a slice. Take records[start:stop], or list(records).")
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise ConfigurationError(f"records[{rows}] takes steps of {step}. Leave the step out.")
        part = slice(start, max(start, stop))
        return RecordBlock(self.data, self.starts[part], self.stops[part], self.first + start, self.name, self.offset)

    @property
    def num_bytes(self) -> int:
        """The bytes of the payloads."""
        return int((self.stops - self.starts).sum())


# Varints, as protobuf writes whole numbers: one, or those of an array at once.


_WORD_BITS = 56  # of a number whose varint fits into eight bytes
_CHUNK = 1 << 16  # numbers at once: their words stay in the cache of the processor
_SHORT = [bytes([number]) for number in range(0x80)]
_SPREAD = ((28, 4), (14, 2), (7, 1))  # pairs of groups of so many bits are moved apart by so many


def varint(number: int) -> bytes:
    """Return a number from 0 on, as a varint.

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
    """Return the varints of some int64, one after the other, and how many bytes each takes; negative numbers take ten.

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
    is_used = np.arange(table.shape[1]) < np.arange(11)[:, None]  # by the width
    if table.shape[1] == size.itemsize:  # a word for each of its rows: looked up six times as fast
        is_used = is_used.view(size)[:, 0]
    return np.compress(is_used[widths].view(np.bool_).reshape(-1), table.reshape(-1)), widths


def _words(bits: npt.NDArray[np.uint64], widths: Ints, size: np.dtype[Any]) -> npt.NDArray[Any]:
    """The last 56 bits of each number (28, of small ones) in groups of seven, a byte each, with the marks that more follow."""
    most = 7 * size.itemsize
    marks = [sum(0x80 << 8 * place for place in range(min(width - 1, size.itemsize))) for width in range(11)]
    words = (bits & np.uint64((1 << most) - 1)).astype(size)
    for group, step in _SPREAD if size.itemsize == 8 else _SPREAD[1:]:
        low = sum(((1 << group) - 1) << lane for lane in range(0, 8 * size.itemsize, 2 * (group + step)))
        words = (words & size.type(low)) | ((words & size.type(low << group)) << size.type(step))
    found: npt.NDArray[Any] = (words | np.array(marks, size)[widths]).astype(size, copy=False)
    return found


# What walking a message fills: `RawFeature`, the kinds of features, and how a number is read from the wire.


Kind: TypeAlias = Literal["bytes", "float", "int64"]
Values: TypeAlias = list[bytes] | list[float] | list[int]

# A tag is the number of a field, and the wire type of its value.
FIRST, SECOND, FIRST_VARINT, FIRST_FIXED = 0x0A, 0x12, 0x08, 0x0D
KINDS: dict[int, Kind] = {0x0A: "bytes", 0x12: "float", 0x1A: "int64"}


class Malformed(ValueError):
    """Bytes that are not a valid message."""


RawFeature: TypeAlias = tuple[Kind | None, Any]
"""A feature as it was read: a list of bytes or of whole numbers; floats are still the bytes that they were."""
NOTHING: RawFeature = (None, [])


def told_values(feature: RawFeature) -> tuple[Kind | None, Values]:
    """Return the kind of a feature, and its values as Python has them.

    >>> told_values(("float", bytes(4)))
    ('float', [0.0])
    """
    kind, values = feature
    return kind, as_floats(values) if kind == "float" else list(values)


RawFeatures: TypeAlias = dict[bytes, RawFeature]
RawLists: TypeAlias = dict[bytes, list[RawFeature]]


def as_floats(raw: bytes | bytearray) -> list[float]:
    """Return the little-endian float32 values that some bytes are."""
    values = array("f", bytes(raw))
    if byteorder == "big":
        values.byteswap()
    return values.tolist()


def read_varint(data: bytes, at: int, end: int, longest: int = 10) -> tuple[int, int]:
    """Return the number at a place of a message, and where it ends.

    Raises:
        Malformed: it is cut, or of too many bytes.

    >>> read_varint(b"\\xac\\x02", 0, 2)
    (300, 2)
    """
    value = 0
    for number in range(longest):
        if at >= end:
            raise Malformed(f"it is cut in a number at byte {at:,}")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << (7 * number)
        if byte < 0x80:
            return value, at
    raise Malformed(f"there is a number of more than {longest} bytes before byte {at:,}")


def signed(value: int) -> int:
    """Return the int64 that the last 64 bits of a number are."""
    return ((value + (1 << 63)) & ((1 << 64) - 1)) - (1 << 63)


Bools: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class WireColumn:
    """One feature, of one kind, in n records.

    Attributes:
        values: all values of all records, one after the other: binary, large_binary, float32 or int64.
        offsets: the boundaries of the values of the records; int64, n + 1 of them.
        present: the records that name the feature with a list of this kind, be it an empty one.

    >>> column = WireColumn(pa.array([1, 2, 3]), np.array([0, 2, 2, 3]), np.array([True, False, True]))
    >>> column.lists.to_pylist()
    [[1, 2], None, [3]]
    """

    values: pa.Array
    offsets: Ints
    present: Bools

    @property
    def lists(self) -> pa.LargeListArray:
        """The column as an Arrow array: a list for each record, null where the feature is not there."""
        return _lists(self.offsets, self.values, self.present)


@dataclass(frozen=True, slots=True)
class SequenceColumn:
    """One feature list, of one type, in n records.

    Attributes:
        values: all values of all steps of all records, in order.
        value_offsets: the boundaries of the values of the steps; steps + 1 of them.
        step_offsets: the boundaries of the steps of the records; n + 1 of them.
        present: the records that have the feature list.
        without_kind: the steps that have no list of this type: an empty feature, or (in a record with several types)
            one of another type. They have no values here.

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
        """The column as an Arrow array: lists of lists, null where the feature list is not there."""
        return _lists(self.step_offsets, _lists(self.value_offsets, self.values, None), self.present)


WireColumns: TypeAlias = dict[bytes, dict[Kind | None, WireColumn]]
SequenceColumns: TypeAlias = dict[bytes, dict[Kind | None, SequenceColumn]]


def _lists(offsets: Ints, values: pa.Array, present: Bools | None) -> pa.LargeListArray:
    mask = None if present is None or present.all() else pa.array(~present)
    return pa.LargeListArray.from_arrays(arrow_numbers(offsets), values, mask=mask)


def every(chosen: Bools) -> bool:
    """Return True if all are chosen; faster than `chosen.all()` for arrays of any size."""
    return int(np.count_nonzero(chosen)) == len(chosen)


def offsets_of(counts: npt.ArrayLike) -> Ints:
    """Return the boundaries of consecutive pieces of these lengths."""
    lengths = np.asarray(counts, np.int64)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def arrow_numbers(values: npt.NDArray[np.int64] | npt.NDArray[np.float32]) -> pa.Array:
    """Return numbers as an Arrow array of the same memory; `pa.array` would import pandas first, if it is installed."""
    kind = pa.float32() if values.dtype == np.float32 else pa.int64()
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(np.ascontiguousarray(values))])


def arrow_strings(values: Sequence[bytes | memoryview]) -> pa.Array:
    """Values of bytes as an Arrow array."""
    offsets = offsets_of(np.fromiter(map(len, values), np.int64, len(values)))
    is_large = offsets[-1] >= 1 << 31
    offsets = offsets if is_large else offsets.astype(np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(values))]
    return pa.Array.from_buffers(pa.large_binary() if is_large else pa.binary(), len(values), buffers)


def walked_values(kind: Kind | None, features: Sequence[RawFeature | None]) -> tuple[pa.Array, Ints]:
    """Return the values of features of one kind, and how many each has: none where it is of another kind, or None."""
    if kind is None:
        return pa.nulls(0), np.zeros(len(features), np.int64)
    own = [feature[1] if feature is not None and feature[0] == kind else b"" for feature in features]
    counts = np.fromiter(map(len, own), np.int64, len(own))
    if kind == "float":
        return arrow_numbers(np.frombuffer(b"".join(own), "<f4").astype(np.float32, copy=False)), counts // 4
    values: list[Any] = [value for each in own for value in each]
    return arrow_numbers(np.array(values, np.int64)) if kind == "int64" else arrow_strings(values), counts


def spliced(values: pa.Array, counts: Ints, others: pa.Array, of_others: Ints) -> pa.Array:
    """Values and others in one order: so many of the values, so many of the others, and so on.

    Args:
        values: the values, one after the other.
        counts: how many of them come each time.
        others: what comes between.
        of_others: how many of the others come each time, behind the values.
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
    """Return the counts that some of several things have, and 0 for the others."""
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

"""Many places of the wire at once: `WireBytes` gathers what stands at them, and functions read the varints there."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.records.record_block import Ints, RecordBlock
from datasets_core.records.wire_values import Bools, arrow_numbers, arrow_strings, every

Words: TypeAlias = npt.NDArray[np.uint64]
Octets: TypeAlias = npt.NDArray[np.uint8]

_BEHIND = 16  # how far behind the end a place may be: not as far as the longest head of a field
_NARROW = 256  # bytes of a piece up to which a gathered row is cheaper than a piece that Arrow takes
_WIDE = 1 << 12  # bytes of a piece from which on one after the other is cheaper: Arrow does not know how much it will take
_STRETCH = 1 << 17  # bytes of varints that are read at once
_MORE = np.uint64(0x8080808080808080)  # the bit of a byte of a varint that says that another follows
_MORE_OF_LENGTH = np.uint64(0x80808080)
_BYTE = np.uint64(0x7F)
_ONE = np.uint64(1)
# By the number of bytes of a varint, up to 8 in a word: its bits, and the marks that all but the last byte have.
KEPT = np.array([(1 << 8 * width) - 1 for width in range(9)], np.uint64)
_MARKS = np.array([0, *((1 << 8 * width) // 255 * 0x80 for width in range(8))], np.uint64)


class WireBytes:
    """The bytes of a block, and what stands at many places of them; behind their end are zeros.

    Args:
        block: the records; their bytes are not copied.

    >>> wire = WireBytes(RecordBlock.of([b"one", b"three"]))
    >>> wire.strings(wire.starts, wire.stops).to_pylist()
    [b'one', b'three']
    """

    def __init__(self, block: RecordBlock) -> None:
        self.octets: Octets = np.frombuffer(block.data, np.uint8)
        self.starts, self.stops = block.starts, block.stops
        self._is_large = len(self.octets) >= 1 << 31

    def words(self, at: Ints) -> Words:
        """The 8 bytes at each place, the first of them lowest."""
        return gathered(self.octets, at, 8).view("<u8")

    def rows(self, at: Ints, width: int) -> npt.NDArray[np.uint64]:
        """As many words at each place as hold `width` bytes; a row for each place."""
        count = (width + 7) // 8
        return gathered(self.octets, at, 8 * count).view("<u8").reshape(len(at), count)

    def strings(self, starts: Ints, stops: Ints) -> pa.Array:
        """The pieces from place to place, which ascend, as binary values."""
        count, width = len(starts), equal_width(starts, stops)
        if width is not None and width <= _NARROW and count * width < 1 << 31:
            values = pa.py_buffer(gathered(self.octets, starts, width))
            offsets = np.arange(count + 1, dtype=np.int32) * np.int32(width)
            return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), values])
        if not count or int((stops - starts).sum()) >= count * _WIDE:
            view = self.octets.data
            return arrow_strings([view[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)])
        ends = np.empty(2 * count, np.int64 if self._is_large else np.int32)
        ends[0::2], ends[1::2] = starts, stops
        kind = pa.large_binary() if self._is_large else pa.binary()
        pieces = pa.Array.from_buffers(kind, 2 * count - 1, [None, pa.py_buffer(ends), pa.py_buffer(self.octets)])
        return pieces.take(arrow_numbers(np.arange(0, 2 * count - 1, 2)))

    def flat(self, starts: Ints, stops: Ints) -> Octets:
        """The bytes of the pieces from place to place, one after the other."""
        width = equal_width(starts, stops)
        if width is not None:
            return gathered(self.octets, starts, width).view(np.uint8)
        values = self.strings(starts, stops)
        return np.frombuffer(values.buffers()[2], np.uint8, int((stops - starts).sum()))


def gathered(octets: Octets, at: Ints, width: int) -> npt.NDArray[np.void]:
    """The `width` bytes at each place; zeros for those behind the end."""
    if not width or not len(at):
        return np.zeros(0, np.dtype((np.void, max(width, 1))))
    limit = len(octets) - width
    if at.max() > limit:
        tail = max(limit, 0)
        is_late = at > limit
        rows = np.zeros(len(at), np.dtype((np.void, width)))
        rows[~is_late] = gathered(octets, at[~is_late], width)
        padded = np.concatenate([octets[tail:], np.zeros(width + _BEHIND, np.uint8)])
        rows[is_late] = gathered(padded, at[is_late] - tail, width)
        return rows
    # The rows of this view overlap: numpy copies the chosen ones, and never makes the view itself.
    overlapping = np.ndarray((limit + 1,), np.dtype((np.void, width)), octets, 0, (1,))
    return overlapping[at]


def equal_width(starts: Ints, stops: Ints) -> int | None:
    """The length of all pieces; None where they differ, or where there are none."""
    if not len(starts):
        return None
    widths = stops - starts
    return int(widths[0]) if every(widths == widths[0]) else None


def read_lengths(words: Words) -> tuple[Ints, Ints | int, Bools | None]:
    """The varints of up to 4 bytes at the head of words: their values, the bytes they take, and which are longer, if any."""
    if not np.count_nonzero(words & np.uint64(0x80)):
        return (words & _BYTE).view(np.int64), 1, None
    stops = ~words & _MORE_OF_LENGTH
    last = stops & (~stops + _ONE)
    bits = words & (last - _ONE)
    values = bits & _BYTE
    for place in (1, 2, 3):
        values |= (bits >> np.uint64(place)) & (_BYTE << np.uint64(7 * place))
    widths = 1 + (last > np.uint64(1 << 7)) + (last > np.uint64(1 << 15)).astype(np.int64) + (last > np.uint64(1 << 23))
    longer = last == 0
    return values.view(np.int64), widths, longer if np.count_nonzero(longer) else None


def joined(bits: Words) -> Ints:
    """The numbers that the last seven bits of each byte of words make."""
    bits = bits & ~_MORE
    bits = (bits & np.uint64(0x007F007F007F007F)) | ((bits & np.uint64(0x7F007F007F007F00)) >> _ONE)
    bits = (bits & np.uint64(0x00003FFF00003FFF)) | ((bits & np.uint64(0x3FFF00003FFF0000)) >> np.uint64(2))
    bits = (bits & np.uint64(0x000000000FFFFFFF)) | ((bits & np.uint64(0x0FFFFFFF00000000)) >> np.uint64(4))
    return bits.view(np.int64)


def read_single(wire: WireBytes, starts: Ints, stops: Ints) -> Ints | None:
    """The varints that the pieces from place to place are; None where one of them is not a single one of up to 8 bytes."""
    widths = stops - starts
    if len(widths) and (widths.max() > 8 or widths.min() < 1):
        return None
    bits = wire.words(starts) & KEPT[widths]
    return joined(bits) if every((bits & _MORE) == _MARKS[widths]) else None


def read_many(octets: Octets) -> tuple[Ints, Ints]:
    """The varints that fill some bytes, and the places where those of more than 10 bytes begin."""
    ends_there = octets < 0x80
    count = int(np.count_nonzero(ends_there))
    if count == len(octets):
        return octets.astype(np.int64), np.zeros(0, np.int64)
    values = np.empty(count, np.int64)
    longer: list[Ints] = []
    begin = number = 0
    while begin < len(octets):
        ends = begin + np.flatnonzero(ends_there[begin : begin + _STRETCH])
        if not len(ends):  # a varint longer than a stretch
            ends = begin + _STRETCH + np.flatnonzero(ends_there[begin + _STRETCH :])[:1]
        starts = np.concatenate([[begin], ends[:-1] + 1])
        widths = ends + 1 - starts
        bits = joined(gathered(octets, starts, 8).view("<u8") & KEPT[np.minimum(widths, 8)])
        for place in (8, 9):
            more = np.flatnonzero(widths > place)
            if len(more):
                bits[more] |= (octets[starts[more] + place] & np.uint8(0x7F)).astype(np.int64) << (7 * place)
        longer.append(starts[widths > 10])
        values[number : number + len(ends)] = bits
        begin, number = int(ends[-1]) + 1, number + len(ends)
    return values, np.concatenate(longer)

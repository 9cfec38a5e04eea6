"""Records as they stand in a TFRecord file, with their heads and tails: one, or many at once."""

from __future__ import annotations

import struct
from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from google_crc32c import value as crc32c

from datasets_core.errors import ArgumentTypeError
from datasets_core.records.wire.values import Ints, RecordBlock, arrow_numbers

# CRC-32C, masked as TFRecord files have it.


Words = npt.NDArray[np.uint32]

_ONES = 0xFFFFFFFF
_MASK_DELTA = 0xA282EAD8
_POLYNOMIAL = 0x82F63B78
_DIGIT_BITS = 4  # by which counts of zeros are taken apart: 16 tables of 4 KB are a digit's


def masked_crc32c(data: bytes) -> int:
    """The masked CRC-32C of some bytes: one that stood in the file as it is would upset the CRC of data that hold CRCs.

    >>> hex(masked_crc32c(b"123456789"))
    '0xc78ab0e5'
    """
    crc: int = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ONES


def masked_crcs(data: bytes, starts: Ints, stops: Ints) -> Words:
    """The masked CRC-32C of each of some ranges of bytes.

    Args:
        data: the bytes.
        starts, stops: where the ranges begin and end.

    >>> masked_crcs(b"..123456789", np.array([2, 0]), np.array([11, 0])).tolist()
    [3347755237, 2726488792]
    """
    ranges = zip(starts.tolist(), stops.tolist(), strict=True)
    return _masked(np.fromiter([crc32c(data[start:stop]) for start, stop in ranges], np.uint32, len(starts)))


def masked_length_crcs(lengths: npt.NDArray[np.uint64]) -> Words:
    """The masked CRC-32C of lengths, each as the eight bytes that stand in the file.

    >>> masked_length_crcs(np.array([9], np.uint64))[0] == masked_crc32c((9).to_bytes(8, "little"))
    np.True_
    """
    low, high = (lengths & np.uint64(_ONES)).astype(np.uint32), (lengths >> np.uint64(32)).astype(np.uint32)
    crc = following(low ^ np.uint32(_ONES), high)
    return _masked(crc ^ np.uint32(_ONES))


def following(first: Words, second: Words) -> Words:
    """The states after eight bytes, as two words each, the first of which has the state before in it.

    >>> int(following(np.array([0x34333231 ^ 0xFFFFFFFF]), np.array([0x38373635]))[0]) ^ 0xFFFFFFFF == crc32c(b"12345678")
    True
    """
    t0, t1, t2, t3 = _word_tables()
    found: Words = t3[first & 0xFFFF] ^ t2[first >> 16] ^ t1[second & 0xFFFF] ^ t0[second >> 16]
    return found


def unmasked(crcs: Words) -> Words:
    """CRCs as they are, of such as stand in the file.

    >>> hex(unmasked(np.array([0xC78AB0E5], np.uint32))[0])
    '0xe3069283'
    """
    crcs = crcs - np.uint32(_MASK_DELTA)
    return crcs << np.uint32(15) | crcs >> np.uint32(17)


def _masked(crcs: Words) -> Words:
    return (crcs >> np.uint32(15) | crcs << np.uint32(17)) + np.uint32(_MASK_DELTA)


@cache
def _byte_table() -> tuple[int, ...]:
    """What the state becomes by a byte, for each value of its lowest eight bits."""
    found = []
    for crc in range(256):
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
        found.append(crc)
    return tuple(found)


@cache
def _word_tables() -> tuple[Words, Words, Words, Words]:
    """What two bytes come to when they are followed by none, two, four and six others, for each of their 65,536 values."""
    table = np.array(_byte_table(), np.uint32)
    state = np.arange(1 << 16, dtype=np.uint32)
    found = []
    for _ in range(8):
        state = table[state & 255] ^ state >> np.uint32(8)
        found.append(state)
    return found[1], found[3], found[5], found[7]


def moved(states: Words, counts: Ints) -> Words:
    """The states after so many bytes of zeros each.

    >>> int(moved(np.array([crc32c(b"one")], np.uint32), np.array([3]))[0]) ^ crc32c(b"two") == crc32c(b"onetwo")
    True
    """
    place, most = 0, int(counts.max(initial=0))
    while most >> _DIGIT_BITS * place:
        states = _by_table(_digit_table(place), states, (counts >> _DIGIT_BITS * place & 15) << 10)
        place += 1
    return states


def _by_table(table: Words, states: Words, first: Ints | int = 0) -> Words:
    """What states become by a table of what each value of each of their four bytes becomes; `first`: where it begins."""
    wide = states.astype(np.int64)
    found: Words = table[first + (wide & 255)] ^ table[first + 256 + (wide >> 8 & 255)]
    found ^= table[first + 512 + (wide >> 16 & 255)] ^ table[first + 768 + (wide >> 24)]
    return found


@cache
def _digit_table(place: int) -> Words:
    """What each value of each byte of a state becomes by `digit << 4 * place` bytes of zeros, digit after digit."""
    shifts = 8 * np.arange(4, dtype=np.uint32)
    tables = [(np.arange(256, dtype=np.uint32) << shifts[:, None]).reshape(-1)]  # no bytes change nothing
    if place:
        before = _digit_table(place - 1)
        one = _by_table(before, before[15 << 10 :], 1 << 10)
    else:
        one = np.array(_byte_table(), np.uint32)[tables[0] & 255] ^ tables[0] >> np.uint32(8)
    for _ in range(15):
        tables.append(_by_table(one, tables[-1]))
    return np.concatenate(tables)


HEAD_BYTES = 12
TAIL_BYTES = 4
FRAME_BYTES = HEAD_BYTES + TAIL_BYTES
LENGTH = struct.Struct("<Q")
CRC = struct.Struct("<I")


def frame(record: bytes) -> bytes:
    """A record with its head and its tail.

    >>> len(frame(b"")), frame(b"one")[:12].hex()
    (16, '0300000000000000b099490e')
    """
    head = LENGTH.pack(len(record))
    return b"".join((head, CRC.pack(masked_crc32c(head)), record, CRC.pack(masked_crc32c(record))))


def framed(block: RecordBlock) -> pa.Buffer:
    """The frames of many records, as they stand in a file.

    >>> framed(RecordBlock.of([b"one", b"two"])).to_pybytes() == frame(b"one") + frame(b"two")
    True
    """
    count, lengths = len(block), (block.stops - block.starts).astype("<u8")
    heads = np.zeros(count, np.dtype([("length", "<u8"), ("crc", "<u4")]))
    heads["length"], heads["crc"] = lengths, masked_length_crcs(lengths)
    tails = masked_crcs(block.data, block.starts, block.stops).astype("<u4")
    parts = [_every(heads.tobytes(), HEAD_BYTES), record_array(block), _every(tails.tobytes(), TAIL_BYTES)]
    whole = pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.large_binary()))
    buffers = whole.buffers()
    return buffers[2] if count and buffers[2] is not None else pa.py_buffer(b"")


def record_array(block: RecordBlock) -> pa.Array:
    """The records of a block as an Arrow array of binary values.

    >>> record_array(RecordBlock.of([b"a", b"", b"bc"])).to_pylist()
    [b'a', b'', b'bc']
    """
    borders = np.stack([block.starts, block.stops], axis=1).ravel()
    return _binary(borders, pa.py_buffer(block.data)).take(arrow_numbers(np.arange(0, len(borders), 2)))


def _binary(bounds: npt.NDArray[np.int64], data: pa.Buffer) -> pa.Array:
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), max(0, len(bounds) - 1), [None, pa.py_buffer(bounds), data])


def _every(data: bytes, width: int) -> pa.Array:
    return _binary(np.arange(0, len(data) + 1, width, dtype=np.int64), pa.py_buffer(data))


def block_of_array(array: pa.Array, *, name: str = "records") -> RecordBlock:
    """The records of an Arrow array of binary values.

    Raises:
        ArgumentTypeError: it is no such array, or has nulls.

    >>> list(block_of_array(pa.array([b"one", b"two"])))
    [b'one', b'two']
    """
    if not isinstance(array, pa.BinaryArray | pa.LargeBinaryArray) or array.null_count:
        found = "nulls in it" if getattr(array, "null_count", 0) else str(getattr(array, "type", type(array).__name__))
        raise ArgumentTypeError(f"Records are taken from an Arrow array of binary, and this has {found}. Cast it, or fill it.")
    array = array.cast(pa.large_binary())
    _, places, data = array.buffers()
    bounds = np.frombuffer(places, np.int64, len(array) + 1, 8 * array.offset) if len(array) else np.zeros(1, np.int64)
    low, high = int(bounds[0]), int(bounds[-1])
    held = b"" if data is None else data.slice(low, high - low).to_pybytes()
    return RecordBlock(held, bounds[:-1] - low, bounds[1:] - low, name=name)


# The CRCs of many frames, compared at once: that of all their bytes with the one that follows from what stands in them.


_LEAST = 256  # frames; fewer are compared one by one
_MOST_BYTES = 1 << 10  # of a payload on the average: of longer ones the calls no longer count
_ONES32 = np.uint32(0xFFFFFFFF)


def is_worth_while(starts: Ints, stops: Ints) -> bool:
    """Whether there are so many frames, and so short ones, that comparing them at once is faster."""
    return len(starts) >= _LEAST and int(stops[-1] - starts[0]) <= _MOST_BYTES * len(starts)


def all_true(data: bytes, starts: Ints, stops: Ints, claimed: Words) -> bool:
    """Whether the payloads of frames that follow one another have the CRCs that are claimed.

    Args:
        data: the bytes.
        starts, stops: where the payloads begin and end.
        claimed: their masked CRCs, as they stand in the file.

    >>> from datasets_core.records.framing import frame
    >>> data = frame(b"one") + frame(b"four")
    >>> starts, stops = np.array([12, 31]), np.array([15, 35])
    >>> claimed = np.array([int.from_bytes(data[stop : stop + 4], "little") for stop in (15, 35)], np.uint32)
    >>> all_true(data, starts, stops, claimed), all_true(data.replace(b"one", b"two"), starts, stops, claimed)
    (True, False)
    """
    lengths = stops - starts
    crcs = unmasked(claimed)
    if len(crcs) > 1:
        between = np.ndarray((len(data) - FRAME_BYTES + 1,), np.dtype((np.void, FRAME_BYTES)), data, 0, (1,))
        words = between[stops[:-1]].view("<u4").reshape(-1, 4)
        state = following(words[:, 0] ^ _ONES32, words[:, 1])
        gaps = following(state ^ words[:, 2], words[:, 3]) ^ _ONES32
        crcs[:-1] = moved(crcs[:-1], np.full(len(gaps), FRAME_BYTES, np.int64)) ^ gaps
        lengths[:-1] += FRAME_BYTES
    return bool(_joined(crcs, lengths) == crc32c(data[starts[0] : stops[-1]]))


def _joined(crcs: Words, lengths: Ints) -> int:
    """The CRC of pieces one after the other."""
    while len(crcs) > 1:
        if len(crcs) % 2:  # no bytes before the first change nothing
            crcs, lengths = np.append(np.zeros(1, np.uint32), crcs), np.append(np.zeros(1, np.int64), lengths)
        crcs = moved(crcs[0::2], lengths[1::2]) ^ crcs[1::2]
        lengths = lengths[0::2] + lengths[1::2]
    return int(crcs[0])

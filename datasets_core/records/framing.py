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
    tables, crcs = _length_tables(), np.full(len(lengths), crc32c(bytes(8)), np.uint32)
    for place in range((int(lengths.max(initial=0)).bit_length() + 7) // 8):
        crcs ^= tables[place][(lengths >> np.uint64(8 * place)).astype(np.uint8)]
    return _masked(crcs)


@cache
def _length_tables() -> Words:
    """What each value of each byte of a length changes in its CRC: these changes are independent of each other."""
    none = crc32c(bytes(8))
    values = [[crc32c(LENGTH.pack(byte << 8 * place)) ^ none for byte in range(256)] for place in range(8)]
    return np.array(values, np.uint32)


def _masked(crcs: Words) -> Words:
    return (crcs >> np.uint32(15) | crcs << np.uint32(17)) + np.uint32(_MASK_DELTA)


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

"""Records as they stand in a TFRecord file, with their heads and tails: one, or many at once."""

from __future__ import annotations

import struct

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.errors import ArgumentTypeError
from datasets_core.records.crc32c import masked_crc32c, masked_crcs, masked_length_crcs
from datasets_core.records.record_block import RecordBlock
from datasets_core.records.wire_values import arrow_numbers

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

"""The frames of a TFRecord file, which are a length, its CRC, the payload and its CRC: found, checked and made."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.errors import ArgumentTypeError, DamagedRecordError
from datasets_core.fetch.sniff import is_lfs_pointer, kind_of, looks_like_html
from datasets_core.records.crc32c import masked_crc32c, masked_crcs, masked_length_crcs
from datasets_core.records.record_block import Ints, RecordBlock

HEAD_BYTES = 12
TAIL_BYTES = 4
FRAME_BYTES = HEAD_BYTES + TAIL_BYTES
BLOCK_BYTES = 2 << 20
"""Bytes of a file that are read and looked at together, where nobody says otherwise."""

_MOST_UNCHECKED = 2 << 30  # bytes of a record whose length nothing vouches for; no message can be larger
_PIECE_BYTES = 16 << 20
_LENGTH = struct.Struct("<Q")
_CRC = struct.Struct("<I")
_HEAD = struct.Struct("<QI")


class Bytes(Protocol):
    """What can be read: no bytes mean the end."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with a frame: one of the names that `DamagedRecordError` lists, and what was found."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Frames:
    """The whole and good frames at the beginning of some bytes.

    Attributes:
        starts, stops: where their payloads begin and end.
        end: where the first frame begins that is not one of them.
        needs: bytes that the frame there takes, as far as that is known.
        damage: what is wrong with it; None where it may only lack bytes that come later.
    """

    starts: Ints
    stops: Ints
    end: int
    needs: int
    damage: Damage | None


def scan(data: bytes, *, verify: bool = True, heads_only: bool = False) -> Frames:
    """Find the frames in bytes that begin with one.

    Args:
        data: the bytes.
        verify: compare the CRCs; without, lengths are believed.
        heads_only: compare those of the lengths only.

    >>> found = scan(frame(b"one") + frame(b"two")[:9])
    >>> found.starts.tolist(), found.stops.tolist(), found.end
    ([12], [15], 19)
    """
    size, at = len(data), 0
    begins: list[int] = []
    unpack, add, last = _LENGTH.unpack_from, begins.append, size - FRAME_BYTES
    while at <= last:
        add(at)
        at += unpack(data, at)[0] + FRAME_BYTES
    ends = np.array(begins[1:], np.int64)  # of all but the last, which may not be whole
    if begins and at <= size:
        ends = np.append(ends, at)
    starts, stops = np.array(begins[: len(ends)], np.int64) + HEAD_BYTES, ends - TAIL_BYTES
    damage = None
    if verify and len(starts):
        starts, stops, damage = _checked(data, starts, stops, heads_only)
    end = int(stops[-1]) + TAIL_BYTES if len(stops) else 0
    needs = FRAME_BYTES
    if damage is None and size - end >= HEAD_BYTES:
        length, crc = _HEAD.unpack_from(data, end)
        needs += length
        if verify or length > _MOST_UNCHECKED:
            damage = _length_damage(length, crc)
    return Frames(starts, stops, end, needs, damage)


def _checked(data: bytes, starts: Ints, stops: Ints, heads_only: bool) -> tuple[Ints, Ints, Damage | None]:
    """The frames before the first one that is damaged, and its damage."""
    source = np.frombuffer(data, np.uint8)
    lengths = (stops - starts).astype(np.uint64)
    wrong = np.flatnonzero(masked_length_crcs(lengths) != _words_at(source, starts - TAIL_BYTES))
    count = int(wrong[0]) if len(wrong) else len(starts)
    good = 0 if heads_only else count
    bad = np.flatnonzero(masked_crcs(data, starts[:good], stops[:good]) != _words_at(source, stops[:good]))
    damage = None
    if len(bad):
        count = int(bad[0])
        payload = data[starts[count] : stops[count]]
        damage = _crc_damage("data CRC", "its data", masked_crc32c(payload), _CRC.unpack_from(data, stops[count])[0])
    elif len(wrong):
        damage = _length_damage(*_HEAD.unpack_from(data, starts[count] - HEAD_BYTES))
    return starts[:count], stops[:count], damage


def _words_at(source: npt.NDArray[np.uint8], places: Ints) -> npt.NDArray[np.uint32]:
    if not len(places):
        return np.zeros(0, np.uint32)
    windows = np.lib.stride_tricks.sliding_window_view(source, 4)
    return windows[places].view("<u4")[:, 0].astype(np.uint32, copy=False)


def _length_damage(length: int, crc: int) -> Damage | None:
    found = masked_crc32c(_LENGTH.pack(length))
    return None if found == crc else _crc_damage("length CRC", f"its length, {length:,},", found, crc)


def _crc_damage(name: str, what: str, found: int, stored: int) -> Damage:
    return Damage(name, f"{what} has the CRC {found:#010x}, and {stored:#010x} is on record")


def frame_offsets(block: RecordBlock) -> Ints:
    """The bytes of the file, once it is decompressed, at which the frames of a block that was read begin.

    >>> import io
    >>> [frame_offsets(block).tolist() for block in blocks_of(io.BytesIO(frame(b"one") * 2), name="a.tfrecord")]
    [[0, 19]]
    """
    return block.starts + (block.offset - HEAD_BYTES)


def length_fits(data: bytes, at: int, length: int) -> bool:
    """Whether the frame that begins at a place is of so many bytes of data: its length says so, or the CRC of its length."""
    if len(data) - at < HEAD_BYTES:
        return False
    found, crc = _HEAD.unpack_from(data, at)
    return bool(found == length or masked_crc32c(_LENGTH.pack(length)) == crc)


# -- reading -----------------------------------------------------------------------------------------------------------


def blocks_of(
    stream: Bytes,
    *,
    name: str,
    first: int = 0,
    offset: int = 0,
    verify: bool = True,
    block_bytes: int = BLOCK_BYTES,
    size: int | None = None,
) -> Iterator[RecordBlock]:
    """The records of a stream, block by block; memory holds one block, or one record where that is larger.

    Args:
        stream: what is read, plain (see `inflated`), from the beginning of a frame on; it is not closed.
        name: the file, as messages name it.
        first: the number of the first record.
        offset: the byte of the file, decompressed, at which the stream stands.
        verify: compare the CRCs.
        block_bytes: bytes that are read at a time.
        size: bytes that there are from here on, where that is known: a length beyond them is told without reading them.

    Raises:
        DamagedRecordError: after the good records before it were given.

    >>> import io
    >>> data = frame(b"one") + frame(b"two")
    >>> [list(block) for block in blocks_of(io.BytesIO(data), name="a.tfrecord")]
    [[b'one', b'two']]
    """
    rest, wanted, is_open = b"", block_bytes, True
    while is_open or rest:
        data, failure = _read(stream, wanted - len(rest), name)
        size = None if size is None else size - len(data)
        is_open = failure is None and len(rest) + len(data) >= wanted
        data = rest + data if rest else data
        found = scan(data, verify=verify)
        if len(found.starts):
            yield RecordBlock(data, found.starts, found.stops, first, name, offset)
        first, offset, rest = first + len(found.starts), offset + found.end, data[found.end :]
        damage = found.damage
        if damage is None and size is not None and found.needs > len(rest) + size and len(rest) >= HEAD_BYTES:
            damage = cut(rest, found.needs, len(rest) + size)
        if damage is not None:
            raise damaged(name, damage, first, offset, rest)
        if isinstance(failure, DamagedRecordError):  # of the compression, which knows no records
            raise DamagedRecordError(name, failure.damage, record=first, offset=offset, reason=failure.reason) from failure
        if failure is not None:
            raise failure
        if rest and not is_open:
            raise damaged(name, cut(rest, found.needs, len(rest)), first, offset, rest)
        wanted = max(block_bytes, found.needs)


def _read(stream: Bytes, count: int, name: str) -> tuple[bytes, Exception | None]:
    """So many bytes, or all up to the end; or up to a failure, which is given with them: what came before it is good."""
    parts: list[bytes] = []
    failure: Exception | None = None
    while count > 0:
        try:
            part = read_some(stream, min(count, _PIECE_BYTES), name)
        except Exception as error:
            failure = error
            break
        if not part:
            break
        parts.append(part)
        count -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts), failure


def read_some(stream: Bytes, count: int, name: str) -> bytes:
    """Some bytes of a stream, at most so many; none at its end.

    Raises:
        ArgumentTypeError: it gives text, or nothing at all.
    """
    found: object = stream.read(count)
    if isinstance(found, bytes):
        return found
    if isinstance(found, bytearray | memoryview):
        return bytes(found)
    raise ArgumentTypeError(f"{name} gives {type(found).__name__} where bytes are read. Open it with mode 'rb'.")


def cut(rest: bytes, needs: int, there: int) -> Damage:
    """What is wrong with a frame that is not whole.

    Args:
        rest: what can be read of it.
        needs: its bytes.
        there: how many of them are there.
    """
    if len(rest) < HEAD_BYTES:
        return Damage("cut in header", f"the file ends behind {len(rest)} bytes of the {HEAD_BYTES} of its head")
    reason = f"its length says {needs - FRAME_BYTES:,} bytes of data, and with their CRC {there - HEAD_BYTES:,} bytes are there"
    return Damage("cut in data", reason)


def damaged(
    name: str, damage: Damage, record: int | None, offset: int, data: bytes, *, advice: str | None = None
) -> DamagedRecordError:
    """The error that tells of a damage.

    Args:
        name: the file, as messages name it.
        damage: what is wrong.
        record: number of the record.
        offset: the byte at which its frame begins.
        data: what stands there: of what is no TFRecord file at all, it shows what it is.
        advice: one thing to do.
    """
    reason = damage.reason
    if record == offset == 0 and damage.name in ("length CRC", "cut in header") and (kind := _foreign(data)):
        reason, advice = f"{reason}; it begins as {kind} does", "Give a TFRecord file"
    return DamagedRecordError(name, damage.name, record=record, offset=offset, reason=reason, advice=advice)


def _foreign(data: bytes) -> str | None:
    if looks_like_html(data):
        return "a web page"
    if is_lfs_pointer(data):
        return "the text that Git-LFS keeps in the place of a file"
    kind = kind_of(data[:1024])
    return kind and f"a file of the kind {kind}"


# -- writing -----------------------------------------------------------------------------------------------------------


def frame(record: bytes) -> bytes:
    """A record with its head and its tail.

    >>> len(frame(b"")), frame(b"one")[:12].hex()
    (16, '0300000000000000b099490e')
    """
    head = _LENGTH.pack(len(record))
    return b"".join((head, _CRC.pack(masked_crc32c(head)), record, _CRC.pack(masked_crc32c(record))))


def framed(block: RecordBlock) -> pa.Buffer:
    """The frames of many records, as they stand in a file.

    >>> framed(RecordBlock.of([b"one", b"two"])).to_pybytes() == frame(b"one") + frame(b"two")
    True
    """
    count, lengths = len(block), (block.stops - block.starts).astype("<u8")
    heads = np.zeros(count, np.dtype([("length", "<u8"), ("crc", "<u4")]))
    heads["length"], heads["crc"] = lengths, masked_length_crcs(lengths)
    tails = masked_crcs(block.data, block.starts, block.stops).astype("<u4")
    bounds = np.stack([block.starts, block.stops], axis=1).ravel()
    payloads = _binary(bounds, pa.py_buffer(block.data)).take(pa.array(np.arange(0, 2 * count, 2)))
    parts = [_every(heads.tobytes(), HEAD_BYTES), payloads, _every(tails.tobytes(), TAIL_BYTES)]
    whole = pc.binary_join_element_wise(*parts, pa.scalar(b"", pa.large_binary()))
    buffers = whole.buffers()
    return buffers[2] if count and buffers[2] is not None else pa.py_buffer(b"")


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

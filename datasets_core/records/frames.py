"""The frames of a TFRecord file: encoding records, scanning bytes, checking CRCs, reading blocks, reporting damage."""

from __future__ import annotations

import re
import struct
import zlib
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from google_crc32c import value as crc32c

from datasets_core.errors import ArgumentTypeError, ConfigurationError, DamagedRecordError
from datasets_core.files import is_lfs_pointer, kind_of, looks_like_html
from datasets_core.records.wire.maps import gathered
from datasets_core.records.wire.values import Ints, RecordBlock, arrow_numbers

Crcs: TypeAlias = npt.NDArray[np.uint32]

HEAD_BYTES = 12
TAIL_BYTES = 4
FRAME_BYTES = HEAD_BYTES + TAIL_BYTES
LENGTH = struct.Struct("<Q")
CRC = struct.Struct("<I")
BLOCK_BYTES = 4 << 20
"""Default number of bytes that are read and scanned together."""

_MOST_UNCHECKED = 2 << 30  # limit of an unverified record length in bytes; no message can be larger
_PIECE_BYTES = 16 << 20
_SNIFFED_BYTES = 1024
_FEWEST_OF_TEXT = 4
_NOT_IN_TEXT = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]")
_FEW = 64  # up to this number of frames, checking one by one is faster than numpy
_HEAD = struct.Struct("<QI")
_MASK_DELTA = 0xA282EAD8
_DIGIT_BITS = 4  # bits of a digit of a byte count; each digit has 16 tables of 4 KB
_FEWEST_JOINED, _MOST_JOINED_BYTES = 256, 1 << 10  # least number of records, and most mean bytes, for joint CRCs
_MOST_SIZE = 1 << 12  # up to this record size, CRCs of all lengths are computed, which is faster than sorting lengths


# Masked CRC-32C, as in TFRecord files.


def masked_crc32c(data: bytes) -> int:
    """Return the masked CRC-32C of some bytes. Masking avoids problems with CRCs of data that contain CRCs.

    >>> hex(masked_crc32c(b"123456789"))
    '0xc78ab0e5'
    """
    crc: int = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def masked_crcs(data: bytes, starts: Ints, stops: Ints) -> Crcs:
    """Return the masked CRC-32C of each range of bytes.

    Args:
        data: the bytes.
        starts, stops: where the ranges begin and end.

    >>> masked_crcs(b"..123456789", np.array([2, 0]), np.array([11, 0])).tolist()
    [3347755237, 2726488792]
    """
    ranges = zip(starts.tolist(), stops.tolist(), strict=True)
    crcs = np.fromiter([crc32c(data[start:stop]) for start, stop in ranges], np.uint32, len(starts))
    return (crcs >> np.uint32(15) | crcs << np.uint32(17)) + np.uint32(_MASK_DELTA)


def masked_length_crcs(lengths: npt.NDArray[np.uint64]) -> Crcs:
    """Return the masked CRC-32C of lengths, each encoded as eight bytes as in the file.

    >>> masked_length_crcs(np.array([9], np.uint64))[0] == masked_crc32c((9).to_bytes(8, "little"))
    np.True_
    """
    if not len(lengths) or lengths.max() >= _MOST_SIZE:
        different, places = np.unique(lengths, return_inverse=True)
    else:
        places = lengths.view(np.int64)
        different = np.arange(int(places.min()), int(places.max()) + 1, dtype=np.uint64)
        places = places - int(different[0])
    starts = np.arange(0, 8 * len(different), 8)
    return masked_crcs(different.astype("<u8").tobytes(), starts, starts + 8)[places]


# CRCs of many records, compared at once: a CRC is linear over GF(2), so the CRC of concatenated records can be computed
# from theirs, as `crc32_combine` of zlib does.  One damaged record is always detected; several are missed as rarely as one
# is missed by its own CRC.


def _are_true(block: RecordBlock, claimed: Crcs) -> bool:
    """Return True if all records have the claimed masked CRCs; also False if comparing one by one is faster."""
    if len(block) < _FEWEST_JOINED or block.num_bytes > _MOST_JOINED_BYTES * len(block):
        return False
    crcs = claimed - np.uint32(_MASK_DELTA)
    crcs = crcs << np.uint32(15) | crcs >> np.uint32(17)
    # The tails are included: otherwise errors of neighbours would cancel each other if a record is empty.
    crcs = _by_table(_zeros_table(0), ~(crcs ^ claimed), TAIL_BYTES << 10) ^ ~np.uint32(0)
    whole = RecordBlock(block.data, block.starts, block.stops + TAIL_BYTES)
    lengths = whole.stops - whole.starts
    while len(crcs) > 1:  # all pairs at once
        if len(crcs) % 2:  # an empty piece before the first has no effect
            crcs, lengths = np.append(np.zeros(1, np.uint32), crcs), np.append(np.zeros(1, np.int64), lengths)
        crcs = _moved(crcs[0::2], lengths[1::2]) ^ crcs[1::2]
        lengths = lengths[0::2] + lengths[1::2]
    return bool(crcs[0] == crc32c(record_array(whole).buffers()[2]))


def _moved(crcs: Crcs, counts: Ints) -> Crcs:
    """Return the contribution of CRCs that are followed by the given numbers of bytes.

    >>> one = _moved(np.array([crc32c(b"one")], np.uint32), np.array([3]))
    >>> int(one[0]) ^ crc32c(b"two") == crc32c(b"onetwo")
    True
    """
    digit, most = 0, int(counts.max(initial=0))
    while most >> _DIGIT_BITS * digit:
        crcs = _by_table(_zeros_table(digit), crcs, (counts >> _DIGIT_BITS * digit & 15) << 10)
        digit += 1
    return crcs


def _by_table(table: Crcs, crcs: Crcs, first: Ints | int = 0) -> Crcs:
    """Return CRCs transformed by a table that has, from index `first`, a value for each value of each of their four bytes."""
    wide = crcs.astype(np.int64)
    found: Crcs = table[first + (wide & 255)] ^ table[first + 256 + (wide >> 8 & 255)]
    found ^= table[first + 512 + (wide >> 16 & 255)] ^ table[first + 768 + (wide >> 24)]
    return found


@cache
def _zeros_table(digit: int) -> Crcs:
    """Return the table of how `number << 4 * digit` zero bytes change each byte of a CRC, for the numbers 0 to 15."""
    shifts = 8 * np.arange(4, dtype=np.uint32)
    tables = [(np.arange(256, dtype=np.uint32) << shifts[:, None]).reshape(-1)]
    if digit:
        before = _zeros_table(digit - 1)
        one = _by_table(before, before[15 << 10 :], 1 << 10)
    else:
        by_byte = np.array([crc32c(bytes([value ^ 255])) ^ 0xFF000000 for value in range(256)], np.uint32)
        one = by_byte[tables[0] & 255] ^ tables[0] >> np.uint32(8)
    for _ in range(15):
        tables.append(_by_table(one, tables[-1]))
    return np.concatenate(tables)


# Framing: records with their headers and footers.


def frame(record: bytes) -> bytes:
    """Return a record with its header and its footer.

    >>> len(frame(b"")), frame(b"one")[:12].hex()
    (16, '0300000000000000b099490e')
    """
    head = LENGTH.pack(len(record))
    return b"".join((head, CRC.pack(masked_crc32c(head)), record, CRC.pack(masked_crc32c(record))))


def framed(block: RecordBlock) -> pa.Buffer:
    """Return the frames of many records as the bytes of a file.

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
    """Return the records of a block as an Arrow array of binary values.

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
    """Return the records of an Arrow array of binary values.

    Raises:
        ArgumentTypeError: the array has another type, or contains nulls.

    >>> list(block_of_array(pa.array([b"one", b"two"])))
    [b'one', b'two']
    """
    if not isinstance(array, pa.BinaryArray | pa.LargeBinaryArray) or array.null_count:
        found = "one with nulls" if getattr(array, "null_count", 0) else str(getattr(array, "type", type(array).__name__))
        raise ArgumentTypeError(f"Records must be an Arrow array of type binary without nulls, not {found}", advice="Cast it")
    array = array.cast(pa.large_binary())
    _, places, data = array.buffers()
    bounds = np.frombuffer(places, np.int64, len(array) + 1, 8 * array.offset) if len(array) else np.zeros(1, np.int64)
    low, high = int(bounds[0]), int(bounds[-1])
    held = b"" if data is None else data.slice(low, high - low).to_pybytes()
    return RecordBlock(held, bounds[:-1] - low, bounds[1:] - low, name=name)


# Frames in bytes.


class Bytes(Protocol):
    """A readable source of bytes; an empty result means the end."""

    def read(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Damage:
    """The damage of a frame: a name listed in `DamagedRecordError`, and details."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Frames:
    """The complete, undamaged frames at the beginning of some bytes.

    Attributes:
        starts, stops: the bounds of their payloads.
        end: the position after the last of them, where the next frame begins.
        needs: size of the next frame in bytes, if known.
        damage: the damage of the next frame; None if it may only be incomplete.
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
        verify: True to compare the CRCs; False to trust the lengths.
        heads_only: True to compare only the CRCs of the lengths.

    >>> found = scan(frame(b"one") + frame(b"two")[:9])
    >>> found.starts.tolist(), found.stops.tolist(), found.end
    ([12], [15], 19)
    """
    begins: list[int] = []
    at, last, unpack = 0, len(data) - FRAME_BYTES, LENGTH.unpack_from
    while at <= last:  # follow the lengths
        begins.append(at)
        at += unpack(data, at)[0] + FRAME_BYTES
    places = np.array(array("q", begins), np.int64)  # conversion from a list takes three times as long
    is_last_whole = bool(begins) and at <= len(data)
    del begins  # frees memory for the CRCs
    ends = np.append(places[1:], at) if is_last_whole else places[1:]
    starts, stops = places[: len(ends)] + HEAD_BYTES, ends - TAIL_BYTES
    damage = None
    if verify and len(starts):
        starts, stops, damage = _checked(data, starts, stops, heads_only)
    end = int(stops[-1]) + TAIL_BYTES if len(stops) else 0
    needs = FRAME_BYTES
    if damage is None:
        needs, damage = _head_at(data, end, verify)
    return Frames(starts, stops, end, needs, damage)


def first_frame(data: bytes, *, verify: bool = True) -> tuple[int, Damage | None]:
    """Return the size in bytes of the frame at the beginning of some bytes, and its damage, as far as they can be read.

    >>> first_frame(frame(b"one") + b"more"), first_frame(frame(b"one")[:12])
    ((19, None), (19, None))
    """
    needs, damage = _head_at(data, 0, verify)
    if damage is None and verify and HEAD_BYTES < needs <= len(data):
        damage = _data_damage(data[HEAD_BYTES : needs - TAIL_BYTES], *CRC.unpack_from(data, needs - TAIL_BYTES))
    return needs, damage


def _head_at(data: bytes, at: int, verify: bool) -> tuple[int, Damage | None]:
    if len(data) - at < HEAD_BYTES:
        return FRAME_BYTES, None
    length, crc = _HEAD.unpack_from(data, at)
    is_checked = verify or length > _MOST_UNCHECKED
    return FRAME_BYTES + length, _length_damage(length, crc) if is_checked else None


def _checked(data: bytes, starts: Ints, stops: Ints, heads_only: bool) -> tuple[Ints, Ints, Damage | None]:
    """Return the frames before the first one that is damaged, and its damage."""
    if len(starts) <= _FEW:
        return _checked_singly(data, starts, stops, heads_only)
    source = np.frombuffer(data, np.uint8)
    lengths = (stops - starts).astype(np.uint64)
    wrong = np.flatnonzero(masked_length_crcs(lengths) != gathered(source, starts - TAIL_BYTES, TAIL_BYTES).view("<u4"))
    count = int(wrong[0]) if len(wrong) else len(starts)
    upto = 0 if heads_only else count
    payloads = RecordBlock(data, starts[:upto], stops[:upto])
    claimed = gathered(source, payloads.stops, TAIL_BYTES).view("<u4")
    if _are_true(payloads, claimed):
        bad = np.zeros(0, np.int64)
    else:
        bad = np.flatnonzero(masked_crcs(data, payloads.starts, payloads.stops) != claimed)
    damage = None
    if len(bad):
        count = int(bad[0])
        damage = _data_damage(data[starts[count] : stops[count]], *CRC.unpack_from(data, stops[count]))
    elif len(wrong):
        damage = _length_damage(*_HEAD.unpack_from(data, starts[count] - HEAD_BYTES))
    return starts[:count], stops[:count], damage


def _checked_singly(data: bytes, starts: Ints, stops: Ints, heads_only: bool) -> tuple[Ints, Ints, Damage | None]:
    for number, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        damage = _length_damage(*_HEAD.unpack_from(data, start - HEAD_BYTES))
        if damage is None and not heads_only:
            damage = _data_damage(data[start:stop], *CRC.unpack_from(data, stop))
        if damage is not None:
            return starts[:number], stops[:number], damage
    return starts, stops, None


def _length_damage(length: int, crc: int) -> Damage | None:
    found = masked_crc32c(LENGTH.pack(length))
    return None if found == crc else _crc_damage("length CRC", f"its length, {length:,},", found, crc)


def _data_damage(payload: bytes, crc: int) -> Damage | None:
    found = masked_crc32c(payload)
    return None if found == crc else _crc_damage("data CRC", "its data", found, crc)


def _crc_damage(name: str, what: str, found: int, stored: int) -> Damage:
    return Damage(name, f"{what} has the CRC {found:#010x}, but {stored:#010x} is recorded")


def frame_offsets(block: RecordBlock) -> Ints:
    """Return the positions in the decompressed file at which the frames of a block begin.

    >>> import io
    >>> [frame_offsets(block).tolist() for block in blocks_of(io.BytesIO(frame(b"one") * 2), name="a.tfrecord")]
    [[0, 19]]
    """
    return block.starts + (block.offset - HEAD_BYTES)


def length_fits(data: bytes, at: int, length: int) -> bool:
    """Return True if the frame at a position has `length` bytes of data: by its length field, or by the CRC of that field."""
    if len(data) - at < HEAD_BYTES:
        return False
    found, crc = _HEAD.unpack_from(data, at)
    return bool(found == length or masked_crc32c(LENGTH.pack(length)) == crc)


# -- reading -----------------------------------------------------------------------------------------------------------


def blocks_of(
    stream: Bytes,
    *,
    name: str,
    first: int = 0,
    offset: int = 0,
    verify: bool = True,
    block_bytes: int = BLOCK_BYTES,
    later_bytes: int | None = None,
    size: int | None = None,
) -> Iterator[RecordBlock]:
    """Yield the records of a stream in blocks. One block is held in memory, or one record if that is larger.

    Args:
        stream: the bytes, uncompressed (see `inflated`), from the beginning of a frame; it is not closed.
        name: the name of the file, for error messages.
        first: the number of the first record.
        offset: position of the stream in the decompressed file.
        verify: True to compare the CRCs.
        block_bytes: number of bytes to read at a time.
        later_bytes: number of bytes to read at a time after the first block of the file; None: `block_bytes`.
        size: number of remaining bytes, if known: a longer length is reported without reading them.

    Raises:
        DamagedRecordError: a record is damaged; raised after the undamaged records before it.

    Example:
        >>> import io
        >>> data = frame(b"one") + frame(b"two")
        >>> [list(block) for block in blocks_of(io.BytesIO(data), name="a.tfrecord")]
        [[b'one', b'two']]
    """
    later = block_bytes if later_bytes is None else later_bytes
    rest, wanted, is_open = b"", later if offset else block_bytes, True
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
        if isinstance(failure, DamagedRecordError):  # raised by decompression, without the record number
            raise DamagedRecordError(name, failure.damage, record=first, offset=offset, reason=failure.reason) from failure
        if failure is not None:
            raise failure
        if rest and not is_open:
            raise damaged(name, cut(rest, found.needs, len(rest)), first, offset, rest)
        wanted = max(later, found.needs)


def _read(stream: Bytes, count: int, name: str) -> tuple[bytes, Exception | None]:
    """Return `count` bytes, or all up to the end; after a failure, the bytes before it and the error."""
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


def read_all(stream: Bytes, count: int, name: str) -> bytes:
    """Return `count` bytes of a stream, or all up to its end."""
    data, failure = _read(stream, count, name)
    if failure is not None:
        raise failure
    return data


def read_some(stream: Bytes, count: int, name: str) -> bytes:
    """Return at most `count` bytes of a stream; empty at its end.

    Raises:
        ArgumentTypeError: the stream returns text or None.
    """
    try:
        found: object = stream.read(count)
    except UnicodeError:  # opened in text mode
        found = ""
    if isinstance(found, bytes):
        return found
    if isinstance(found, bytearray | memoryview):
        return bytes(found)
    raise ArgumentTypeError(f"{name} returned {type(found).__name__} instead of bytes", advice="Open it with mode 'rb'")


def cut(rest: bytes, needs: int, there: int) -> Damage:
    """Return the damage of an incomplete frame.

    Args:
        rest: the readable bytes of the frame.
        needs: its size in bytes.
        there: the number of bytes present in the file.
    """
    if len(rest) < HEAD_BYTES:
        return Damage("cut in header", f"the file ends after {len(rest)} of {HEAD_BYTES} bytes of its header")
    reason = f"its length is {needs - FRAME_BYTES:,} bytes, but only {there - HEAD_BYTES:,} bytes follow, including the CRC"
    return Damage("cut in data", reason)


def damaged(
    name: str, damage: Damage, record: int | None, offset: int, data: bytes, *, advice: str | None = None
) -> DamagedRecordError:
    """Return the error for damage.

    Args:
        name: the name of the file, for error messages.
        damage: the damage.
        record: number of the record.
        offset: the byte position at which its frame begins.
        data: the bytes at that position; used to recognize files of other formats.
        advice: what to do.
    """
    reason = damage.reason
    if record == offset == 0 and damage.name in ("length CRC", "cut in header") and (kind := _foreign(data)):
        reason, advice = f"{reason}; the file begins like {kind}", "Pass a TFRecord file"
    return DamagedRecordError(name, damage.name, record=record, offset=offset, reason=reason, advice=advice)


def _foreign(data: bytes) -> str | None:
    if looks_like_html(data):
        return "a web page"
    if is_lfs_pointer(data):
        return "a Git LFS pointer"
    kind = kind_of(data[:_SNIFFED_BYTES])
    if kind:
        return f"a file of the kind {kind}"
    return "a text" if _is_text(data[:_SNIFFED_BYTES]) else None


def _is_text(data: bytes) -> bool:
    """Return True if some bytes are text; a length field contains zeros unless it is truncated."""
    return len(data) >= _FEWEST_OF_TEXT and not _NOT_IN_TEXT.search(data)


# Decompression of TFRecord files that are gzip or zlib as a whole, detected by their first bytes.


_INPUT_BYTES = 1 << 16
WINDOW_BITS = {"GZIP": 31, "ZLIB": 15}
_GZIP = b"\x1f\x8b\x08"


def checked_compression(compression: str | None) -> str | None:
    """Return the TensorFlow name of a compression: "GZIP", "ZLIB", "" for none; None to detect it from the file.

    Raises:
        ConfigurationError: the compression is unknown.

    >>> checked_compression("gzip")
    'GZIP'
    """
    known = compression.upper() if isinstance(compression, str) else compression
    if known is None or known in ("", "GZIP", "ZLIB"):
        return known
    raise ConfigurationError(
        f"compression={compression!r} is not supported",
        advice="Pass 'GZIP', 'ZLIB', '' for none, or None to detect it",
        value=compression,
    )


def compression_of(head: bytes) -> str:
    """Detect the compression from the first bytes of a file: "GZIP", "ZLIB", or "".

    A length may look like the beginning of a compressed file (376 looks like zlib), so a valid frame header means
    uncompressed.

    Args:
        head: the first 12 bytes, or all if there are fewer.

    >>> compression_of(zlib.compress(b"some records")), compression_of((376).to_bytes(8, "little"))
    ('ZLIB', '')
    """
    if len(head) >= HEAD_BYTES and struct.unpack_from("<I", head, 8)[0] == masked_crc32c(head[:8]):
        return ""
    if len(head) >= 2 and head.startswith(_GZIP[: len(head)]):
        return "GZIP"
    is_zlib = len(head) >= 2 and head[0] == 0x78 and int.from_bytes(head[:2], "big") % 31 == 0 and not head[1] & 0x20
    return "ZLIB" if is_zlib and head[4:8] != bytes(4) else ""


def inflated(stream: Bytes, *, name: str, compression: str | None = None) -> Bytes:
    """Return the uncompressed bytes of a file that may be compressed with gzip or zlib.

    Args:
        stream: its bytes from the beginning; it is not closed.
        name: the name of the file, for error messages.
        compression: see `checked_compression`.

    Raises:
        DamagedRecordError: (while reading) the compressed data is truncated or damaged; `offset` is the number of readable
            bytes.

    >>> import gzip, io
    >>> inflated(io.BytesIO(gzip.compress(b"plain")), name="a.gz").read(1)
    b'p'
    """
    compression = checked_compression(compression)
    if compression is None:
        head = _first(stream, HEAD_BYTES, name)
        compression, stream = compression_of(head), _HeadedStream(head, stream)
    return Inflated(stream, compression, name) if compression else stream


def _first(stream: Bytes, count: int, name: str) -> bytes:
    head = b""
    while len(head) < count and (more := read_some(stream, count - len(head), name)):
        head += more
    return head


class _HeadedStream:
    """A stream with bytes prepended."""

    def __init__(self, head: bytes, stream: Bytes) -> None:
        self._head, self._stream = head, stream

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; empty at the end."""
        if self._head:
            part, self._head = self._head[:size], self._head[size:]
            return part
        return self._stream.read(size)


class Inflated:
    """See `inflated`.

    Args:
        stream: the compressed bytes.
        compression: "GZIP" or "ZLIB".
        name: the name of the file, for error messages.
    """

    def __init__(self, stream: Bytes, compression: str, name: str) -> None:
        self._stream, self._compression, self._name = stream, compression, name
        self._object, self._input = self._begun(), b""
        self._has_begun = self._is_first_done = self._is_done = False
        self._given = 0
        self._failure: DamagedRecordError | None = None

    def _begun(self) -> Any:
        return zlib.decompressobj(wbits=WINDOW_BITS[self._compression])

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; empty at the end."""
        out = b""
        while size > 0 and not out and not self._is_done:
            if self._failure is not None:
                raise self._failure
            out = self._some(size)
        self._given += len(out)
        return out

    def _some(self, size: int) -> bytes:
        if self._object.eof:
            self._next()
        if not self._input:
            self._input = read_some(self._stream, _INPUT_BYTES, self._name)
        if not self._input:
            return self._at_end(size)
        before = self._object.copy()
        try:
            out: bytes = self._object.decompress(self._input, size)
        except zlib.error as error:
            return self._up_to_error(before, size, error)
        self._has_begun = True
        self._input = self._object.unused_data if self._object.eof else self._object.unconsumed_tail
        return out

    def _next(self) -> None:
        """Start with the next compressed stream, if one follows, possibly after zero bytes."""
        self._object, self._has_begun, self._is_first_done = self._begun(), False, True
        self._input = self._input.lstrip(b"\0")
        while not self._input and (more := read_some(self._stream, _INPUT_BYTES, self._name)):
            self._input = more.lstrip(b"\0")

    def _up_to_error(self, state: Any, size: int, error: zlib.error) -> bytes:
        """Return the bytes before the damage, decompressed byte by byte: zlib drops the output of the call that fails."""
        parts, count = [], 0
        for place in range(len(self._input)):
            try:
                part = state.decompress(self._input[place : place + 1], size - count)
            except zlib.error:
                break
            parts.append(part)
            count += len(part)
            if count == size:  # the next call continues at this byte, which may give more
                self._object, self._input = state, state.unconsumed_tail + self._input[place + 1 :]
                self._has_begun = True
                return b"".join(parts)
        kind = self._compression.lower()
        reason = f"the {kind} data is damaged ({error})"
        if not self._has_begun and not count:
            reason = f"other bytes follow the {kind} data" if self._is_first_done else f"it does not begin like {kind} data"
        self._failure = self._fault(f"damaged {kind}", reason)
        return b"".join(parts)

    def _at_end(self, size: int) -> bytes:
        out: bytes = self._object.decompress(b"", size) if self._has_begun else b""
        if not out and not self._has_begun:
            self._is_done = True
        elif not out:
            kind = self._compression.lower()
            self._failure = self._fault(f"cut {kind}", f"the {kind} data is truncated")
        return out

    def _fault(self, damage: str, reason: str) -> DamagedRecordError:
        return DamagedRecordError(self._name, damage, record=None, offset=self._given, reason=reason)

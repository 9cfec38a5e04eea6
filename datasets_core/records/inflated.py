"""The plain bytes of a TFRecord file that is gzip or zlib as a whole, told by its first bytes.

What comes before a damage is given, to the last byte that can be had; then the damage is told.  Several streams in a row are
one file, and zero bytes after the last are padding, as for other compressed files.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

from datasets_core.errors import ConfigurationError, DamagedRecordError
from datasets_core.records.crc32c import masked_crc32c
from datasets_core.records.framing import HEAD_BYTES
from datasets_core.records.record_frames import Bytes, read_some

_INPUT_BYTES = 1 << 16
WINDOW_BITS = {"GZIP": 31, "ZLIB": 15}
_GZIP = b"\x1f\x8b\x08"


def checked_compression(compression: str | None) -> str | None:
    """A compression as TensorFlow names them: "GZIP", "ZLIB", "" for none; None for what the file's first bytes tell.

    Raises:
        ConfigurationError: another one.

    >>> checked_compression("gzip")
    'GZIP'
    """
    known = compression.upper() if isinstance(compression, str) else compression
    if known is None or known in ("", "GZIP", "ZLIB"):
        return known
    raise ConfigurationError(
        f"compression={compression!r} is none of TFRecord files. Give 'GZIP', 'ZLIB', '' for none, or None: the file tells."
    )


def compression_of(head: bytes) -> str:
    """The compression that the first bytes of a file tell of: "GZIP", "ZLIB", or "".

    A length may look like the beginning of a compressed file (376 bytes as that of zlib): what is the head of a frame is plain.

    Args:
        head: the first 12 bytes, or all where there are fewer.

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
    """The plain bytes of a file, whatever of gzip, zlib and neither it is.

    Args:
        stream: its bytes, from the first on; it is not closed.
        name: the file, as messages name it.
        compression: see `checked_compression`.

    Raises:
        DamagedRecordError: (while reading) what is compressed is cut or damaged; `offset` is how far it can be read.

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
    """A stream, and bytes before it."""

    def __init__(self, head: bytes, stream: Bytes) -> None:
        self._head, self._stream = head, stream

    def read(self, size: int, /) -> bytes:
        """Some bytes, at most so many; none at the end."""
        if self._head:
            part, self._head = self._head[:size], self._head[size:]
            return part
        return self._stream.read(size)


class Inflated:
    """See `inflated`.

    Args:
        stream: the compressed bytes.
        compression: "GZIP" or "ZLIB".
        name: the file, as messages name it.
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
        """Some bytes, at most so many; none at the end."""
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
        """Begin with the next stream, if one follows, behind zeros or without."""
        self._object, self._has_begun, self._is_first_done = self._begun(), False, True
        self._input = self._input.lstrip(b"\0")
        while not self._input and (more := read_some(self._stream, _INPUT_BYTES, self._name)):
            self._input = more.lstrip(b"\0")

    def _up_to_error(self, state: Any, size: int, error: zlib.error) -> bytes:
        """What comes before a damage: zlib drops what it made in the call that finds one, so it is fed byte by byte."""
        parts, count = [], 0
        for place in range(len(self._input)):
            try:
                part = state.decompress(self._input[place : place + 1], size - count)
            except zlib.error:
                break
            parts.append(part)
            count += len(part)
            if count == size:  # and perhaps more of this byte: the next call goes on here
                self._object, self._input = state, state.unconsumed_tail + self._input[place + 1 :]
                self._has_begun = True
                return b"".join(parts)
        kind = self._compression.lower()
        reason = f"the {kind} data are damaged ({error})"
        if not self._has_begun and not count:
            reason = f"bytes that are no {kind} follow its end" if self._is_first_done else f"it does not begin as {kind} does"
        self._failure = self._fault(f"damaged {kind}", reason)
        return b"".join(parts)

    def _at_end(self, size: int) -> bytes:
        out: bytes = self._object.decompress(b"", size) if self._has_begun else b""
        if not out and not self._has_begun:
            self._is_done = True
        elif not out:
            kind = self._compression.lower()
            self._failure = self._fault(f"cut {kind}", f"the {kind} data stop before their end")
        return out

    def _fault(self, damage: str, reason: str) -> DamagedRecordError:
        return DamagedRecordError(self._name, damage, record=None, offset=self._given, reason=reason)

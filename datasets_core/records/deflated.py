"""`DeflatedFile`: bytes into a file as one stream of gzip or zlib, which can be gone on with after a crash."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Any, Protocol

# The first bytes that zlib itself writes; without a time, so that the same bytes become the same file.
_HEADS = {"GZIP": b"\x1f\x8b\x08\0\0\0\0\0\0\x03", "ZLIB": b"\x78\x9c"}
_RAW = -15


class ByteSink(Protocol):
    """What takes bytes."""

    def write(self, data: Any, /) -> object: ...


class DeflatedFile:
    """Compresses what it is given.

    Args:
        out: takes the compressed bytes.
        compression: "GZIP", "ZLIB", or "" for none.
        point: what `settle` gave, where a stream is gone on with.

    >>> import io
    >>> out = io.BytesIO()
    >>> begun = DeflatedFile(out, "GZIP")
    >>> begun.write(b"one ")
    >>> point = begun.settle()
    >>> later = DeflatedFile(out, "GZIP", point)
    >>> later.write(b"two")
    >>> later.end()
    >>> zlib.decompress(out.getvalue(), 31)
    b'one two'
    """

    def __init__(self, out: ByteSink, compression: str, point: Mapping[str, int] | None = None) -> None:
        self._out, self._compression = out, compression
        self.num_bytes = 0 if point is None else point["plain"]
        self._check = int(compression == "ZLIB") if point is None else point["check"]
        self._begin()
        if point is None and compression:
            self._out.write(_HEADS[compression])

    def _begin(self) -> None:
        self._packer = zlib.compressobj(wbits=_RAW) if self._compression else None

    def write(self, data: Any) -> None:
        """Write some bytes behind those that there are."""
        self.num_bytes += len(data)
        if self._packer is None:
            self._out.write(data)
            return
        self._check = (zlib.crc32 if self._compression == "GZIP" else zlib.adler32)(data, self._check)
        if packed := self._packer.compress(data):
            self._out.write(packed)

    def settle(self) -> dict[str, int]:
        """Write what waits: what it takes to go on behind it.  What comes then does not depend on whether one does."""
        if self._packer is not None:
            self._out.write(self._packer.flush(zlib.Z_FULL_FLUSH))
            self._begin()
        return {"plain": self.num_bytes, "check": self._check}

    def end(self) -> None:
        """Write what waits, and the end of the stream."""
        if self._packer is None:
            return
        tail = struct.pack("<II", self._check, self.num_bytes & 0xFFFFFFFF)
        self._out.write(self._packer.flush() + (tail if self._compression == "GZIP" else struct.pack(">I", self._check)))
        self._packer = None

"""Compressed files as streams of plain bytes, checked to their very end.

One rule holds for every kind: a stream that stops early, a wrong check sum and foreign bytes after the end are errors;
several streams in a row are one file; zero bytes after the end of gz, bz2 and xz are padding.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Callable
from typing import Any, BinaryIO, Protocol, cast

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import ArchiveError, DatasetsCoreError
from datasets_core.fetch.members import Budget
from datasets_core.fetch.sniff import COMPRESSIONS, HEAD_BYTES, kind_of
from datasets_core.redact import redact

_INPUT_BYTES = 1 << 18
_OUTPUT_BYTES = 1 << 20
_DAMAGED = "Fetch the file again, or ask who made it"
_SUFFIX = re.compile(r"\.(gz|gzip|bz2|xz|zst|zstd|lz4)$", re.IGNORECASE)
_LONGEST_NAME = 100


def plain_name(path: str) -> str:
    """The name of what is inside a compressed file, in harmless characters.

    >>> plain_name("data/train set.csv.gz")
    'train_set.csv'
    """
    name = _SUFFIX.sub("", os.path.basename(path.rstrip("/")))
    return re.sub(r"[^\w.-]+", "_", name).lstrip(".")[-_LONGEST_NAME:] or "data"


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gunzip:
    """zlib's object for gzip, with the manners of those of bz2 and lzma."""

    def __init__(self) -> None:
        import zlib  # here and below: 1 ms that plain files do without

        self._object = zlib.decompressobj(wbits=31)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._object.eof

    @property
    def unused_data(self) -> bytes:
        return self._object.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = self._object.decompress(self._object.unconsumed_tail + data, max_length)
        self.needs_input = len(out) < max_length and not self._object.unconsumed_tail
        return out


def _bunzip2() -> _Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _unxz() -> _Decompressor:
    import lzma

    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ)


_MAKERS: dict[str, Callable[[], _Decompressor]] = {"gz": _Gunzip, "bz2": _bunzip2, "xz": _unxz}
_ARROW_NAMES = {"zst": "zstd", "lz4": "lz4"}


class _Streams(io.RawIOBase):
    """The plain bytes of one or more gz, bz2 or xz streams in a row."""

    def __init__(self, source: BinaryIO, kind: str, path: str, budget: Budget | None) -> None:
        import lzma
        import zlib

        self._source, self._kind, self._path, self._budget = source, kind, path, budget
        self._read = getattr(source, "read1", source.read)  # what is at hand, and no waiting for more
        self._errors = (zlib.error, lzma.LZMAError, EOFError, OSError, ValueError)
        self._make = _MAKERS[kind]
        self._current = self._make()
        self._pending = b""
        self._done = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        if not len(view):
            return 0
        while not self._done:
            data = self._pending
            self._pending = b""
            if not data and self._current.needs_input:
                data = self._read(_INPUT_BYTES)
                if not data:
                    raise ArchiveError(self._path, f"the {self._kind} stream stops before its end", advice=_DAMAGED)
            try:
                out = self._current.decompress(data, len(view))
            except self._errors as error:
                raise ArchiveError(self._path, f"damaged {self._kind} data ({error})", advice=_DAMAGED) from error
            if self._current.eof:
                self._next_stream()
            if out:
                if self._budget is not None:
                    self._budget.take_bytes(len(out))
                view[: len(out)] = out
                return len(out)
        return 0

    def _next_stream(self) -> None:
        rest = self._current.unused_data.lstrip(b"\0")
        while not rest:
            more = self._source.read(_INPUT_BYTES)
            if not more:
                self._done = True
                return
            rest = more.lstrip(b"\0")
        while len(rest) < HEAD_BYTES and (more := self._source.read(HEAD_BYTES)):
            rest += more
        if kind_of(rest) != self._kind:
            raise ArchiveError(self._path, f"foreign bytes follow the end of the {self._kind} stream", advice=_DAMAGED)
        self._current, self._pending = self._make(), rest

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


class _Frames(io.RawIOBase):
    """The plain bytes of zstd or lz4 frames, by the codecs that pyarrow carries."""

    def __init__(self, source: BinaryIO, kind: str, path: str, budget: Budget | None) -> None:
        import pyarrow as pa  # 0.1 s that the other kinds do without

        self._source, self._kind, self._path, self._budget = source, kind, path, budget
        self._errors = (OSError, pa.ArrowException)
        self._frames = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), _ARROW_NAMES[kind])

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        try:
            data = self._frames.read(len(view))
        except DatasetsCoreError:
            raise
        except self._errors as error:
            raise ArchiveError(self._path, f"damaged or cut {self._kind} data ({error})", advice=_DAMAGED) from error
        if self._budget is not None:
            self._budget.take_bytes(len(data))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._source.close()
        super().close()


def decompressed(source: BinaryIO, *, path: str, budget: Budget | None = None) -> BinaryIO:
    """The plain bytes of an open file, whatever of gz, bz2, xz, zst and lz4 it is; a file that is none comes as it is.

    Args:
        source: open for reading at its beginning; closed along with the result.
        path: its name for messages.
        budget: is told of the plain bytes, and refuses too many.

    Raises:
        ArchiveError: (while reading) the data is cut, damaged, or followed by foreign bytes.
    """
    peeking = source if hasattr(source, "peek") else cast(BinaryIO, io.BufferedReader(cast(io.RawIOBase, source), _INPUT_BYTES))
    head = _peek(peeking)
    kind = kind_of(head)
    if kind not in COMPRESSIONS:
        return peeking
    raw = (_Streams if kind in _MAKERS else _Frames)(peeking, kind, redact(path), budget)
    return io.BufferedReader(raw, _OUTPUT_BYTES)


def _peek(source: Any) -> bytes:
    head: bytes = source.peek(HEAD_BYTES)
    if len(head) < HEAD_BYTES and source.seekable():  # a file object may peek less than there is
        start = source.tell()
        head = source.read(HEAD_BYTES)
        source.seek(start)
    return head[:HEAD_BYTES]


def open_decompressed(path: str, storage_options: dict[str, Any] | None = None, *, name: str | None = None) -> BinaryIO:
    """A local file or fsspec URL, open for reading plain bytes: gz, bz2, xz, zst and lz4 (by magic number) are undone.

    Args:
        path: of the file.
        storage_options: for the file system of a URL.
        name: by which the user knows it; by default the path.

    Raises:
        UnsafeArchiveError: (while reading) it unpacks to more than the settings allow of an archive.
        ArchiveError: (while reading) the data is cut, damaged, or followed by foreign bytes.
    """
    handle = cast(BinaryIO, files.open_binary(path, storage_options))
    size = handle.seek(0, io.SEEK_END) if handle.seekable() else None
    if size is not None:
        handle.seek(0)
    known = name or path
    return decompressed(handle, path=known, budget=Budget(redact(known), size, settings()))

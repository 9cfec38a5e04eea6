"""`TFRecordWriter`: writes records to a TFRecord file, which appears when it is complete."""

from __future__ import annotations

import os
import struct
import sys
import warnings
import zlib
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import IO, Any, Protocol, Self, cast

import pyarrow as pa

from datasets_core import files
from datasets_core.errors import ArgumentTypeError, ConfigurationError, redact
from datasets_core.records.frames import FRAME_BYTES, WINDOW_BITS, block_of_array, checked_compression, frame, framed
from datasets_core.records.wire.values import RecordBlock

# `DeflatedFile`: writes bytes as one gzip or zlib stream that can be continued after a crash.


# The header that zlib writes; without a time, so that equal content gives equal files.
_HEADS = {"GZIP": b"\x1f\x8b\x08\0\0\0\0\0\0\x03", "ZLIB": b"\x78\x9c"}
_RAW = -15


class ByteSink(Protocol):
    """A writable object."""

    def write(self, data: Any, /) -> object: ...


class DeflatedFile:
    """Compresses the bytes written to it.

    Args:
        out: the target of the compressed bytes.
        compression: "GZIP", "ZLIB", or "" for none.
        point: the result of `settle`, to continue a stream.

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
        """Append some bytes."""
        self.num_bytes += len(data)
        if self._packer is None:
            self._out.write(data)
            return
        self._check = (zlib.crc32 if self._compression == "GZIP" else zlib.adler32)(data, self._check)
        if packed := self._packer.compress(data):
            self._out.write(packed)

    def settle(self) -> dict[str, int]:
        """Flush, and return a point to continue from. Continuing writes the same bytes as not interrupting."""
        if self._packer is not None:
            self._out.write(self._packer.flush(zlib.Z_FULL_FLUSH))
            self._begin()
        return {"plain": self.num_bytes, "check": self._check}

    def end(self) -> None:
        """Write the buffered bytes, and the end of the stream."""
        if self._packer is None:
            return
        tail = struct.pack("<II", self._check, self.num_bytes & 0xFFFFFFFF)
        self._out.write(self._packer.flush() + (tail if self._compression == "GZIP" else struct.pack(">I", self._check)))
        self._packer = None


_HELD_BYTES = 1 << 20  # buffer size: single records are framed and written together


class TFRecordWriter:
    """Writes a TFRecord file in the format of TensorFlow.

    The file, or the object of a store, appears when the writer is closed; until then, and if the `with` block fails, an
    existing file stays unchanged.

    Args:
        path: a local path, an fsspec URL, or a file object open for writing bytes, which is written directly and left open.
        compression: "GZIP" or "ZLIB" to compress the file as a whole; None or "" for none.
        compression_level: from 0 to 9; -1 is the default of zlib.

    Raises:
        ConfigurationError: the compression is unknown, or the level invalid.
        DatasetDiskError: the disk is full, read-only or forbidden.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/a.tfrecord"
        ...     with TFRecordWriter(path) as writer:
        ...         writer.write(b"one")
        ...         writer.write_all([b"two", b""])
        ...     os.path.getsize(path)
        54
    """

    def __init__(
        self, path: str | os.PathLike[str] | IO[bytes], compression: str | None = None, *, compression_level: int = -1
    ) -> None:
        kind = checked_compression(compression or "")
        if not -1 <= compression_level <= 9:
            raise ConfigurationError(f"compression_level={compression_level} is not valid", advice="Pass 0 to 9, or -1")
        self._packer: Any = zlib.compressobj(compression_level, wbits=WINDOW_BITS[kind]) if kind else None
        self._held: list[bytes] = []
        self._held_bytes, self._count = 0, 0
        self._stack = ExitStack()
        self._is_closed = True  # until everything succeeded
        if isinstance(path, str | os.PathLike):
            text = os.fspath(path)
            self._name = redact(text)
            self._out = self._stack.enter_context(files.new_file(text))
        elif callable(getattr(path, "write", None)):
            self._name, self._out = str(getattr(path, "name", "the file")), path
        else:
            raise ArgumentTypeError(
                f"A {type(path).__name__} is not a valid target", advice="Pass a path, a URL or an open file"
            )
        self._is_closed = False

    def __len__(self) -> int:
        """Return the number of records written."""
        return self._count

    def write(self, record: bytes | bytearray | memoryview) -> None:
        """Write a record.

        Args:
            record: the bytes of the record.

        Raises:
            ArgumentTypeError: the record is not bytes.
            ConfigurationError: the writer is closed.
        """
        self._check_open()
        if type(record) is not bytes:
            if not isinstance(record, bytes | bytearray | memoryview):
                raise ArgumentTypeError(
                    f"{self._name}: a record must be bytes, found {type(record).__name__}", advice="Encode it first"
                )
            record = bytes(record)
        self._held.append(record)
        self._held_bytes += len(record) + FRAME_BYTES
        self._count += 1
        if self._held_bytes >= _HELD_BYTES:
            self._write_held()

    def write_all(self, records: RecordBlock | pa.Array | pa.ChunkedArray | Iterable[bytes]) -> None:
        """Write many records. Those of a block, or of an Arrow array of binary values, are written together.

        Args:
            records: the records, in order.

        Raises:
            ArgumentTypeError: an element is not bytes.
            ConfigurationError: the writer is closed.
        """
        self._check_open()
        if isinstance(records, pa.ChunkedArray):
            for chunk in cast(Any, records).chunks:
                self.write_all(chunk)
        elif isinstance(records, RecordBlock | pa.Array):
            block = records if isinstance(records, RecordBlock) else block_of_array(records, name=self._name)
            made = framed(block)
            self._write_held()
            self._write(made)
            self._count += len(block)
        elif isinstance(records, str | bytes | bytearray | memoryview):
            raise ArgumentTypeError(f"{self._name}: write_all expects several records, not one", advice="Use write()")
        else:
            for record in records:
                self.write(record)

    def flush(self) -> None:
        """Flush to the operating system; a compressed file is flushed in whole blocks, so that everything written so far can
        be read.
        """
        self._check_open()
        self._write_held()
        if self._packer is not None:
            self._out.write(self._packer.flush(zlib.Z_SYNC_FLUSH))
        if (flush := getattr(self._out, "flush", None)) is not None:
            flush()

    def close(self) -> None:
        """Finish the file, and move it to its path; closing again does nothing."""
        if not self._is_closed:
            try:
                self._write_held()
                if self._packer is not None:
                    self._out.write(self._packer.flush())
            except BaseException:
                self._give_up(*sys.exc_info())
                raise
            self._is_closed = True
            self._stack.close()

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        if kind is None:
            self.close()
        elif not self._is_closed:
            self._give_up(kind, error, traceback)

    def __del__(self) -> None:
        if not getattr(self, "_is_closed", True):
            warnings.warn(f"{self._name} was not closed, so it was not written", ResourceWarning, source=self, stacklevel=2)
            error = ConfigurationError(f"{self._name} was not closed", advice="Close the writer, or use it in a with block")
            self._give_up(ConfigurationError, error, None)

    def _give_up(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Discard what was written, as after an error in the `with` block."""
        self._is_closed = True
        self._held.clear()
        try:
            self._stack.__exit__(kind, error, traceback)
        except BaseException as raised:
            if raised is not error:
                raise

    def _check_open(self) -> None:
        if self._is_closed:
            raise ConfigurationError(f"{self._name} is closed", advice="Open another writer")

    def _write_held(self) -> None:
        if self._held:
            made = framed(RecordBlock.of(self._held)) if len(self._held) > 1 else frame(self._held[0])
            self._held.clear()
            self._held_bytes = 0
            self._write(made)

    def _write(self, data: bytes | pa.Buffer) -> None:
        if self._packer is not None:
            data = self._packer.compress(data)
        if len(data):
            self._out.write(data)

"""Arrow streams on disk: written from batches, or copied byte by byte out of Arrow files, which hold a stream each."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator

import pyarrow as pa

from datasets_core import files

END = b"\xff\xff\xff\xff\0\0\0\0"
"""What a stream ends with."""

_START = b"\xff\xff\xff\xff"
_MAGIC = b"ARROW1\0\0"
_SMALL_BYTES, _JOINED_BYTES = 1 << 18, 4 << 20  # batches below the first are joined up to the second
_BLOCK = 1 << 18


def write_stream(path: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> tuple[int, list[int]]:
    """Write a new stream: (bytes, rows of each batch).

    Args:
        path: the file.
        schema: of every batch, but for its metadata.
        batches: the rows; small batches are joined.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    rows: list[int] = []
    with files.disk_errors(path):
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
            for batch in joined(batches):
                if batch.num_rows:
                    writer.write_batch(batch if batch.schema.metadata == schema.metadata else _as(batch, schema))
                    rows.append(batch.num_rows)
        return os.stat(path).st_size, rows


def joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches in order, small neighbours put together.

    >>> [batch.num_rows for batch in joined([pa.record_batch({"a": [1]}), pa.record_batch({"a": [2, 3]})])]
    [3]
    """
    small: list[pa.RecordBatch] = []
    held = 0
    for batch in batches:
        size = batch.nbytes
        if small and held + size > _JOINED_BYTES:
            yield _one(small)
            small, held = [], 0
        if size >= _SMALL_BYTES and not small:
            yield batch
            continue
        small.append(batch)
        held += size
    if small:
        yield _one(small)


def copy_stream(source: str, path: str, *, is_file: bool) -> int | None:
    """Copy the stream that an Arrow file (`is_file`) holds, or that a file is: its bytes.

    Returns:
        None, and nothing is left, if the source is not laid out so that its bytes are a stream.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    with files.disk_errors(path), contextlib.ExitStack() as opened:
        given = os.open(source, os.O_RDONLY)
        opened.callback(os.close, given)
        span = _span(given, is_file)
        if span is None:
            return None
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)
        opened.callback(os.close, made)
        _copy(given, made, *span)
        return span[1] - span[0]


def _span(source: int, is_file: bool) -> tuple[int, int] | None:
    size = os.fstat(source).st_size
    start, stop = 0, size
    if is_file:
        tail = os.pread(source, 10, max(size - 10, 0))
        start, stop = len(_MAGIC), size - 10 - int.from_bytes(tail[:4], "little", signed=True)
        if os.pread(source, len(_MAGIC), 0) != _MAGIC or not start < stop < size:
            return None
    if stop - start < len(END) or os.pread(source, 4, start) != _START or os.pread(source, len(END), stop - len(END)) != END:
        return None
    return start, stop


def _copy(source: int, target: int, start: int, stop: int) -> None:
    # `copy_file_range` takes half as long again here: a stream begins 8 bytes into its file, so no page is copied as one
    block = memoryview(bytearray(min(_BLOCK, stop - start)))
    while start < stop:
        found = os.preadv(source, [block[: min(_BLOCK, stop - start)]], start)
        if not found:
            raise OSError(errno.EIO, "a file became shorter while it was copied")
        start += found
        rest = block[:found]
        while rest:
            rest = rest[os.write(target, rest) :]


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def _as(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema) if len(schema) else batch

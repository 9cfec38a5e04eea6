"""`ShardWriter`: writes record batches into shards of limited size and hashes them meanwhile; Arrow streams.

The content of a shard depends only on the batches, never on time or on the number of workers. A shard has a temporary name
until it is complete and on the disk; one rename gives it its final name.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import threading
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.schema import plain_schema, plain_type
from datasets_core.store.manifest import EXTENSIONS, ShardRecord, runs, temporary_path
from datasets_core.store.pieces import crc32c_extend

if TYPE_CHECKING:
    from datasets_core.engines.threads import Job

# A new file whose sha256 is computed while it is written.


_HASH_BLOCK = 1 << 20
_WRITE_BYTES = 1 << 18  # of one system call: larger ones fill large pages, which are dear where the machine is virtual
_INLINE_BYTES = 2 << 20  # a file no larger than this is hashed at the end, which is faster than a thread


class PartSummer:
    """Computes the text of `PartSums` while a file is written from start to end.

    >>> from datasets_core.store.pieces import PartSums
    >>> summer = PartSummer()
    >>> summer.update(b"he")
    >>> summer.cut(4)
    >>> summer.update(b"ad1234")
    >>> PartSums(text := summer.text(8)).are_true(1, b"1234"), text
    (True, '4:ea7c97e8 4:f63af4ee')
    """

    def __init__(self) -> None:
        self._extend = crc32c_extend()
        self._ends: list[int] = []
        self._crcs: list[int] = []
        self._at = self._crc = 0

    def cut(self, end: int) -> None:
        """End a part at the position after its last byte, before the next byte is written."""
        self._ends.append(end)

    def update(self, data: Any) -> None:
        """Add the next bytes that are written."""
        if self._extend is None:
            return
        rest = pa.py_buffer(data)
        while len(self._crcs) < len(self._ends) and (ahead := self._ends[len(self._crcs)] - self._at) < rest.size:
            self._crcs.append(self._extend(self._crc, rest.slice(0, ahead)))
            rest, self._crc, self._at = rest.slice(ahead), 0, self._at + ahead
        self._crc = self._extend(self._crc, rest)
        self._at += rest.size

    def text(self, size: int) -> str:
        """Return the sums of the written file, whose size is `size`; "" if computing them would be slow."""
        if self._extend is None:
            return ""
        self.cut(size)
        self._crcs += [self._crc, *[0] * (len(self._ends) - len(self._crcs) - 1)]
        starts = [0, *self._ends]
        return " ".join(f"{end - start:x}:{crc:08x}" for start, end, crc in zip(starts, self._ends, self._crcs, strict=False))


class HashedFile:
    """A new file, written from start to end and hashed meanwhile.

    It has the methods of a Python file that pyarrow needs: `write`, `flush`, `close`, `closed`.

    Args:
        path: the file.
        is_hashed: False to skip the hash, which takes longer than writing.
        summer: gets all bytes, in order.
    """

    def __init__(self, path: str, *, is_hashed: bool = True, summer: PartSummer | None = None) -> None:
        self.path, self.is_hashed, self._summer = path, is_hashed, summer
        self.closed = False
        self.position = 0
        self._discarding = False
        self._sha256 = hashlib.sha256()
        self._hashed = 0
        self._announced = 0
        self._ended = False
        self._change = threading.Condition()
        self._hashing: Job[None] | None = None
        self._descriptor = _new_file(path, os.O_RDWR)

    def write(self, data: Any) -> int:
        """Append all of the bytes, or raise an `OSError`."""
        rest = memoryview(data)
        total = rest.nbytes
        if self._discarding:
            return total
        while rest.nbytes:
            rest = rest[os.write(self._descriptor, rest[:_WRITE_BYTES]) :]
        if self._summer is not None:
            self._summer.update(data)
        self.position += total
        if self.is_hashed and self.position - self._announced >= _HASH_BLOCK:
            self._announce()
        return total

    def flush(self) -> None:
        """Do nothing: `write` does not buffer."""

    def close(self) -> None:
        """Mark the end of writing; `finish` or `discard` closes the file."""
        self.closed = True

    def finish(self) -> tuple[int, str]:
        """Synchronize the file to the disk and close it; return (bytes, sha256 in hex, or "" if it was left out)."""
        os.fsync(self._descriptor)
        if (hashing := self._ended_hashing()) is not None:
            hashing.result()
        if self.is_hashed:
            self._hash_up_to(self.position)
        os.close(self._descriptor)
        self.closed = True
        return self.position, self._sha256.hexdigest() if self.is_hashed else ""

    def discard(self) -> None:
        """Close and remove the file; later writes are ignored."""
        if self._discarding:
            return
        self._discarding = True
        self._ended_hashing()
        with contextlib.suppress(OSError):
            os.close(self._descriptor)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)

    def _announce(self) -> None:
        if self._hashing is None:
            if not hasattr(os, "preadv"):  # reading would move the place that is written to: all is hashed at the end
                return
            if self.position < _INLINE_BYTES:
                return
            from datasets_core.engines.threads import in_thread  # 2 ms that small files do without

            self._hashing = in_thread(self._follow, "datasets_core-hash")
        with self._change:
            self._announced = self.position
            self._change.notify()

    def _ended_hashing(self) -> Job[None] | None:
        hashing, self._hashing = self._hashing, None
        if hashing is not None:
            with self._change:
                self._ended = True
                self._change.notify()
            hashing.join()
        return hashing

    def _follow(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._ended or self._announced > self._hashed)
                if self._ended:
                    return
                goal = self._announced
            self._hash_up_to(goal)

    def _hash_up_to(self, goal: int) -> None:
        block = memoryview(bytearray(min(_HASH_BLOCK, max(goal - self._hashed, 1))))
        while self._hashed < goal:
            wanted = block[: min(_HASH_BLOCK, goal - self._hashed)]
            found = _read_into(self._descriptor, wanted, self._hashed)
            if found == 0:
                raise OSError(f"{self.path} became shorter while it was written")
            self._sha256.update(wanted[:found])
            self._hashed += found


def is_stored_as_it_is(schema: pa.Schema, file_format: str = "arrow") -> bool:
    """Return True if shards have exactly this schema, so that none has to be opened for it: Arrow files of plain columns."""
    return (
        file_format == "arrow"
        and schema.metadata is None
        and all(field.metadata is None and _is_flat(field.type) for field in schema)
    )


def _is_flat(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind))


# Arrow streams on disk: written from batches, or copied byte by byte from Arrow files, each of which contains a stream.


END = b"\xff\xff\xff\xff\0\0\0\0"
"""Bytes at the end of a stream."""

_START = b"\xff\xff\xff\xff"
_MAGIC = b"ARROW1\0\0"
_SMALL_BYTES = 1 << 18  # batches below this are joined, so that many small files do not make many small batches
_STREAM_JOINED_BYTES = 4 << 20
_BLOCK = 1 << 18


def write_stream(path: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> tuple[int, list[int], str]:
    """Write a new stream; return its bytes, the rows of each batch, and the text of its `PartSums`.

    Args:
        path: the file.
        schema: schema of every batch, without its metadata.
        batches: the rows; small batches are joined.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    rows: list[int] = []
    summer = PartSummer()
    with files.disk_errors(path):
        file = HashedFile(path, is_hashed=False, summer=summer)
        try:
            sink = pa.BufferedOutputStream(pa.PythonFile(file, mode="w"), _BUFFER)
            with sink, pa.ipc.new_stream(sink, schema) as writer:
                summer.cut(schema.serialize().size)
                for batch in joined(batches):
                    if batch.num_rows:
                        writer.write_batch(batch if batch.schema.metadata == schema.metadata else _as(batch, schema))
                        rows.append(batch.num_rows)
                        summer.cut(sink.tell())
            size, _ = file.finish()
        except BaseException:
            file.discard()
            raise
    return size, rows, summer.text(size)


def joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches in order, small consecutive ones joined.

    >>> [batch.num_rows for batch in joined([pa.record_batch({"a": [1]}), pa.record_batch({"a": [2, 3]})])]
    [3]
    """
    small: list[pa.RecordBatch] = []
    held, rows, most = 0, 0, settings().batch_rows
    for batch in batches:
        size = batch.nbytes
        if small and (held + size > _STREAM_JOINED_BYTES or rows + batch.num_rows > most):
            yield _one(small)
            small, held, rows = [], 0, 0
        if size >= _SMALL_BYTES and not small:
            yield batch
            continue
        small.append(batch)
        held, rows = held + size, rows + batch.num_rows
    if small:
        yield _one(small)


def copy_stream(source: str, path: str, *, is_file: bool) -> int | None:
    """Copy the bytes of the stream in an Arrow file (`is_file`), or of a stream file.

    Returns: None, leaving no file, if the layout of the source does not contain a stream.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    with files.disk_errors(path), contextlib.ExitStack() as opened:
        given = os.open(source, os.O_RDONLY)
        opened.callback(os.close, given)
        span = _span(given, is_file)
        if span is None:
            return None
        made = _new_file(path, os.O_WRONLY)
        opened.callback(os.close, made)
        _copy(given, made, *span)
        return span[1] - span[0]


def _new_file(path: str, flags: int) -> int:
    """Return the descriptor of a new file; it replaces the file of a killed worker, whose job is run again."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    return os.open(path, flags | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o666)


def _read_at(descriptor: int, size: int, start: int) -> bytes:
    """Return bytes from a position; on Windows, the position of the descriptor moves."""
    if hasattr(os, "pread"):
        return os.pread(descriptor, size, start)
    os.lseek(descriptor, start, os.SEEK_SET)
    return os.read(descriptor, size)


def _read_into(descriptor: int, buffer: memoryview, start: int) -> int:
    if hasattr(os, "preadv"):
        return os.preadv(descriptor, [buffer], start)
    found = _read_at(descriptor, len(buffer), start)
    buffer[: len(found)] = found
    return len(found)


def _span(source: int, is_file: bool) -> tuple[int, int] | None:
    size = os.fstat(source).st_size
    start, stop = 0, size
    if is_file:
        tail = _read_at(source, 10, max(size - 10, 0))
        start, stop = len(_MAGIC), size - 10 - int.from_bytes(tail[:4], "little", signed=True)
        if _read_at(source, len(_MAGIC), 0) != _MAGIC or not start < stop < size:
            return None
    if stop - start < len(END) or _read_at(source, 4, start) != _START or _read_at(source, len(END), stop - len(END)) != END:
        return None
    return start, stop


def _copy(source: int, target: int, start: int, stop: int) -> None:
    # `copy_file_range` takes half as long again here: a stream begins 8 bytes into its file, so no page is copied as one
    block = memoryview(bytearray(min(_BLOCK, stop - start)))
    while start < stop:
        found = _read_into(source, block[: min(_BLOCK, stop - start)], start)
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


_BUFFER = 1 << 18  # writes below this are joined; those above go to the system without a copy
_JOINED_BYTES = 1 << 20
_BATCHES_PER_ROW_GROUP = 8


class ShardWriter:
    """Writes record batches into the shards `{stem}-00000.arrow`, `{stem}-00001.arrow`, … of a folder.

    As a context manager, it closes at the end of the block, and removes all files if the block fails.  Dictionary-encoded
    columns are stored plain, since an Arrow file can hold one dictionary only.

    Args:
        folder: an existing local folder.
        stem: prefix of the file names.
        split: the split that the rows belong to.
        schema: the schema of every batch.
        file_format: "arrow" (IPC file) or "parquet".
        max_shard_bytes: bytes of rows (in Arrow's layout) after which a new shard begins.
        batch_bytes, batch_rows: bounds of one record batch; larger ones are divided, down to one row. None: the settings.
        is_hashed: False leaves out the sha256, for rows that can be generated again.
        divides: False to let a batch within its bounds exceed `max_shard_bytes`, instead of dividing it.
    """

    def __init__(
        self,
        folder: str,
        stem: str,
        *,
        split: str,
        schema: pa.Schema,
        file_format: str = "arrow",
        max_shard_bytes: int | None = None,
        batch_bytes: int | None = None,
        batch_rows: int | None = None,
        is_hashed: bool = True,
        divides: bool = True,
    ) -> None:
        if file_format not in EXTENSIONS:
            raise ConfigurationError(
                f"Unknown shard format {file_format!r}. Available formats: {', '.join(map(repr, EXTENSIONS))}.",
                value=file_format,
            )
        defaults = settings()
        self.folder, self.stem, self.split, self.file_format = folder, stem, split, file_format
        self.schema = plain_schema(schema)
        self._max_shard_bytes = defaults.max_shard_bytes if max_shard_bytes is None else max_shard_bytes
        self._batch_bytes = defaults.batch_bytes if batch_bytes is None else batch_bytes
        self._joined_bytes = min(self._batch_bytes, self._max_shard_bytes)
        self._batch_bytes = self._joined_bytes if divides else self._batch_bytes
        self._batch_rows = defaults.batch_rows if batch_rows is None else batch_rows
        if min(self._max_shard_bytes, self._batch_bytes, self._batch_rows) < 1:
            raise ConfigurationError("Shards and batches must hold at least one byte and one row", advice="Give larger limits")
        self._small: list[pa.RecordBatch] = []
        self._small_bytes = self._small_rows = 0
        self._records: list[ShardRecord] = []
        self._shard: _OpenShard | None = None
        self._closed = False
        self._is_hashed = is_hashed

    def write(self, data: pa.RecordBatch | pa.Table) -> None:
        """Append the rows of a batch or table.

        Raises:
            CastError: the columns or types are not those of the schema.
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        for batch in data.to_batches() if isinstance(data, pa.Table) else (data,):
            if batch.num_rows:
                self._add(self._conform(batch))

    def close(self) -> list[ShardRecord]:
        """Finish the shards, on the disk and with their final names; further calls return the same records."""
        if not self._closed:
            self._flush()
            if self._shard is None and not self._records:
                self._open()  # no rows still make a shard: it holds the schema
            self._finish()
            self._closed = True
        return list(self._records)

    def abort(self) -> None:
        """Remove everything that was written."""
        self._closed = True
        self._small.clear()
        if self._shard is not None:
            self._shard.discard()
            self._shard = None
        for record in self._records:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self.folder, record.name))
        self._records.clear()

    def __enter__(self) -> ShardWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            self.abort()
            return
        try:
            self.close()
        except BaseException:
            self.abort()
            raise

    # -- batches -------------------------------------------------------------------------------------------------------

    def _conform(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if batch.schema.equals(self.schema):
            return batch
        if batch.schema.names != self.schema.names:
            raise CastError(
                f"A batch has the columns {batch.schema.names}, but the shard {self.stem} has {self.schema.names}",
                advice="Cast the batch before writing it",
            )
        columns = []
        for column, field in zip(batch.columns, self.schema, strict=True):
            if column.type != field.type and plain_type(column.type) != field.type:
                raise CastError(
                    f"Column {field.name!r} of a batch is {column.type}, but in the shard {self.stem} it is {field.type}",
                    advice="Cast the batch before writing it",
                )
            columns.append(column if column.type == field.type else column.cast(field.type))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _add(self, batch: pa.RecordBatch) -> None:
        num_bytes = batch.nbytes
        if num_bytes >= min(_SMALL_BYTES, self._joined_bytes) or batch.num_rows >= self._batch_rows:
            self._flush()
            for part in _divide(batch, self._batch_bytes, self._batch_rows):
                self._put(part)
            return
        if (
            self._small_bytes + num_bytes > min(_JOINED_BYTES, self._joined_bytes)
            or self._small_rows + batch.num_rows > self._batch_rows
        ):
            self._flush()
        self._small.append(batch)
        self._small_bytes += num_bytes
        self._small_rows += batch.num_rows

    def _flush(self) -> None:
        if not self._small:
            return
        batch = self._small[0] if len(self._small) == 1 else pa.concat_batches(self._small)
        self._small = []
        self._small_bytes = self._small_rows = 0
        self._put(batch)

    def _put(self, batch: pa.RecordBatch) -> None:
        num_bytes = batch.nbytes
        if self._shard is not None and self._shard.rows and self._shard.num_bytes + num_bytes > self._max_shard_bytes:
            self._finish()
        shard = self._shard or self._open()
        with files.disk_errors(shard.path, needed=num_bytes):
            shard.write(batch, num_bytes)

    # -- shards --------------------------------------------------------------------------------------------------------

    def _open(self) -> _OpenShard:
        path = os.path.join(self.folder, f"{self.stem}-{len(self._records):05d}.{EXTENSIONS[self.file_format]}")
        with files.disk_errors(path):
            if self.file_format == "parquet":
                row_group_bytes = self._batch_bytes * _BATCHES_PER_ROW_GROUP
                self._shard = _ParquetShard(path, self.schema, row_group_bytes, is_hashed=self._is_hashed)
            else:
                self._shard = _ArrowShard(path, self.schema, is_hashed=self._is_hashed)
        return self._shard

    def _finish(self) -> None:
        shard = self._shard
        if shard is None:
            return
        with files.disk_errors(shard.path):
            size, sha256 = shard.finish()
        self._shard = None
        self._records.append(
            ShardRecord(
                os.path.basename(shard.path),
                self.split,
                shard.rows,
                size,
                shard.num_bytes,
                sha256,
                runs(shard.batch_rows),
                shard.summer.text(size) if shard.summer is not None else "",
            )
        )


def _divide(batch: pa.RecordBatch, max_bytes: int, max_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the batch in parts within the bounds, without a copy; one row is never cut."""
    num_bytes = batch.nbytes
    parts = min(max(-(-num_bytes // max_bytes), -(-batch.num_rows // max_rows)), batch.num_rows)
    if parts <= 1:
        yield batch
        return
    step = -(-batch.num_rows // parts)
    for start in range(0, batch.num_rows, step):
        yield from _divide(batch.slice(start, step), max_bytes, max_rows)  # again, for rows that differ in size


# -- one open shard ----------------------------------------------------------------------------------------------------


class _OpenShard:
    """A shard that is being written, under a temporary name."""

    def __init__(self, path: str, *, is_hashed: bool, summer: PartSummer | None = None) -> None:
        self.path, self.summer = path, summer
        self.rows = self.num_bytes = 0
        self.batch_rows: list[int] = []
        self.file = HashedFile(temporary_path(path), is_hashed=is_hashed, summer=summer)
        self.sink = pa.BufferedOutputStream(pa.PythonFile(self.file, mode="w"), _BUFFER)

    def write(self, batch: pa.RecordBatch, num_bytes: int) -> None:
        """Append a batch."""
        self.rows += batch.num_rows
        self.num_bytes += num_bytes

    def finish(self) -> tuple[int, str]:
        """Write the end, synchronize, and rename to the final name; return the bytes and the sha256."""
        try:
            self.end()
            self.sink.close()
            done = self.file.finish()
            os.replace(self.file.path, self.path)
        except BaseException:
            self.discard()
            raise
        return done

    def end(self) -> None:
        """Write the end of the format."""
        raise NotImplementedError

    def discard(self) -> None:
        """Remove what was written."""
        self.file.discard()
        with contextlib.suppress(pa.ArrowException, OSError, ValueError):
            self.end()  # into nothing: the file drops it; pyarrow would complain of a stream that is left open
        self.sink.close()


class _ArrowShard(_OpenShard):
    def __init__(self, path: str, schema: pa.Schema, *, is_hashed: bool) -> None:
        self._parts = PartSummer()
        super().__init__(path, is_hashed=is_hashed, summer=self._parts)
        try:
            self._writer = pa.ipc.new_file(self.sink, schema)
        except BaseException:
            self.file.discard()
            raise
        self._parts.cut(len(_MAGIC) + schema.serialize().size)

    def write(self, batch: pa.RecordBatch, num_bytes: int) -> None:
        super().write(batch, num_bytes)
        self.batch_rows.append(batch.num_rows)
        self._writer.write_batch(batch)
        self._parts.cut(self.sink.tell())

    def end(self) -> None:
        self._writer.close()


class _ParquetShard(_OpenShard):
    def __init__(self, path: str, schema: pa.Schema, row_group_bytes: int, *, is_hashed: bool) -> None:
        import pyarrow.parquet as pq  # 12 ms that shards in Arrow's own format do without

        super().__init__(path, is_hashed=is_hashed)
        self._schema, self._row_group_bytes = schema, row_group_bytes
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_bytes = 0
        try:
            self._writer = pq.ParquetWriter(self.sink, schema, write_page_checksum=True)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
            self.file.discard()
            raise CastError(
                f"Parquet cannot store these columns: {error}", advice="Use file_format='arrow', or cast them"
            ) from error
        except BaseException:
            self.file.discard()
            raise

    def write(self, batch: pa.RecordBatch, num_bytes: int) -> None:
        if self._waiting and self._waiting_bytes + num_bytes > self._row_group_bytes:
            self._write_row_group()
        super().write(batch, num_bytes)
        self._waiting.append(batch)
        self._waiting_bytes += num_bytes

    def end(self) -> None:
        self._write_row_group()
        self._writer.close()

    def _write_row_group(self) -> None:
        if not self._waiting:
            return
        table = pa.Table.from_batches(self._waiting, self._schema)
        self._waiting = []
        self._waiting_bytes = 0
        self.batch_rows.append(table.num_rows)
        self._writer.write_table(table, row_group_size=max(table.num_rows, 1))


def sums_of_stream(text: str, path: str) -> str:
    """Return the sums of the stream in an Arrow file: its parts without the magic bytes before it and the footer after it.

    Args:
        text: the sums of the file.
        path: a copy of the stream.
    """
    extend = crc32c_extend()
    if not text or extend is None:
        return ""
    first, *batches, _ = text.split(" ")
    with open(path, "rb") as handle:
        head = handle.read(int(first.partition(":")[0], 16) - 8)
    end = b"\xff\xff\xff\xff\0\0\0\0"
    return " ".join([f"{len(head):x}:{extend(0, head):08x}", *batches, f"{len(end):x}:{extend(0, end):08x}"])

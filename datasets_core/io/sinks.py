"""`Sink`: growing files for the rows of a stream (text, Parquet, Arrow) that can be resumed after a crash."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any, Protocol

import pyarrow as pa

from datasets_core.io.push_parquet import num_bits, rows_that_fit
from datasets_core.io.tables import GROUP_BYTES, GROUP_ROWS, parquet_writer
from datasets_core.io.text import TextForm
from datasets_core.store.rows.rows import Rows

_PACKED_BYTES = 32 << 20  # bytes of text in one compressed member, after which a write can be resumed
_CHUNK = 1 << 20


def one_batch(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return batches as one batch."""
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


class Sink(Protocol):
    """A file that rows are written to.

    Attributes:
        is_settled: True if all added rows are in the file, or will be after `settle`.
    """

    @property
    def is_settled(self) -> bool: ...

    @property
    def num_bytes(self) -> int:
        """Number of bytes written: of text, or of rows in Arrow's layout."""
        ...

    def add(self, batch: pa.RecordBatch, *, ends_batch: bool) -> None:
        """Write rows. `ends_batch` is True if they end a batch; batches end at the same rows in each run."""
        ...

    def settle(self) -> dict[str, Any]:
        """Flush everything to the disk; return the point from which the write can be resumed."""
        ...

    def end(self) -> dict[str, Any]:
        """Finish the file, and return its record."""
        ...

    def close(self) -> None:
        """Close the file without finishing it."""
        ...


class HashedFile:
    """A file that counts and hashes appended bytes."""

    def __init__(self, out: IO[bytes], size: int = 0) -> None:
        self._out, self.size = out, size
        self._digest = hashlib.sha256()
        self.closed = False
        for start in range(0, size, _CHUNK):
            self._digest.update(out.read(min(_CHUNK, size - start)))
        if size:
            out.seek(size)
            out.truncate()

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._out.write(view)
        self._digest.update(view)
        self.size += len(view)
        return len(view)

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        self._out.flush()

    def close(self) -> None:
        self.closed = True

    def writable(self) -> bool:
        return True

    def settled(self) -> dict[str, Any]:
        """Return its size and hash after a flush to disk."""
        self._out.flush()
        with contextlib.suppress(AttributeError, OSError):  # a user's file object may have no file descriptor
            os.fsync(self._out.fileno())
        return {"bytes": self.size, "sha256": self._digest.hexdigest()}


class TextSink:
    """Writes rows as text.

    Args:
        out: a file; also open for reading if it is resumed.
        form: conversion of rows to text.
        tabled: converts a batch to a dataset.
        packer: compressor.
        point: result of `settle` to resume from.
    """

    def __init__(
        self,
        out: IO[bytes],
        form: TextForm,
        tabled: Callable[[pa.RecordBatch], Rows],
        packer: Callable[[IO[bytes]], Any] | None = None,
        point: Mapping[str, Any] | None = None,
    ) -> None:
        self._out = HashedFile(out, 0 if point is None else point["bytes"])
        self._form, self._tabled, self._packer = form, tabled, packer
        self._packed: Any = None
        self._member = 0
        self._waiting: list[pa.RecordBatch] = []
        self._ends_batch = True
        self.num_bytes: int = 0 if point is None else point["text"]
        self._is_begun = point is not None and point["is_begun"]
        if point is None:
            self._write(form.head)

    @property
    def is_settled(self) -> bool:
        """See `Sink.is_settled`; compressed files must end their members at the same positions in each run."""
        if self._waiting:
            return False
        return self._packer is None or (self._ends_batch and self._member >= _PACKED_BYTES)

    def _write(self, text: bytes) -> None:
        self.num_bytes += len(text)
        self._member += len(text)
        if self._packer is None:
            self._out.write(text)
            return
        if self._packed is None:
            self._packed = self._packer(self._out)  # type: ignore[arg-type]
        self._packed.write(text)

    def add(self, batch: pa.RecordBatch, *, ends_batch: bool) -> None:
        """See `Sink.add`."""
        self._waiting.append(batch)
        self._ends_batch = ends_batch
        if ends_batch or self._form.is_by_row:
            self._write_waiting()

    def _write_waiting(self) -> None:
        if not self._waiting:
            return
        rows = one_batch(self._waiting)
        if self._is_begun:
            self._write(self._form.between)
        self._write(self._form.rows(self._tabled(rows), (0, rows.num_rows)))
        self._is_begun, self._waiting = True, []

    def settle(self) -> dict[str, Any]:
        """See `Sink.settle`."""
        self._end_member()
        return {**self._out.settled(), "text": self.num_bytes, "is_begun": self._is_begun}

    def _end_member(self) -> None:
        if self._packed is not None:
            self._packed.close()
        self._packed, self._member = None, 0

    def end(self) -> dict[str, Any]:
        """See `Sink.end`."""
        self._write_waiting()
        self._write(self._form.tail)
        return self.settle()

    def close(self) -> None:
        """See `Sink.close`."""
        if self._packed is not None:
            self._packed.close()


class ParquetSink:
    """Writes rows as Parquet; since Parquet files cannot be appended to, rows are stored next to the file until the end.

    Args:
        out: a new file.
        schema: schema of the rows, with the features in its metadata.
        options: options of `pyarrow.parquet.ParquetWriter`.
        group_rows: number of rows in a row group; None: some megabytes of rows.
        spool: returns the path of the n-th temporary file of rows; None if the file cannot be resumed.
        points: results of `settle`, in order.
    """

    def __init__(
        self,
        out: IO[bytes],
        schema: pa.Schema,
        options: Mapping[str, Any],
        group_rows: int | None,
        spool: Callable[[int], str] | None = None,
        points: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self._out = HashedFile(out)
        self._schema, self._group_rows, self._spool = schema, group_rows, spool
        self._writer = parquet_writer(self._out, schema, dict(options))  # type: ignore[arg-type]
        self._waiting: list[pa.RecordBatch] = []
        self._rows = self._bits = 0
        self._spooled: list[pa.RecordBatch] = []
        self._files = self._written_bits = 0
        for point in points:
            with pa.OSFile(str(spool(point["file"]))) as file:  # type: ignore[misc]
                for batch in pa.ipc.open_stream(file):
                    self.add(batch, ends_batch=False)
            self._files, self._spooled = point["file"] + 1, []

    @property
    def is_settled(self) -> bool:
        """See `Sink.is_settled`."""
        return self._spool is not None

    @property
    def num_bytes(self) -> int:
        """See `Sink.num_bytes`."""
        return (self._written_bits + self._bits) // 8

    def add(self, batch: pa.RecordBatch, *, ends_batch: bool) -> None:
        """See `Sink.add`."""
        batch = pa.RecordBatch.from_arrays(batch.columns, schema=self._schema)
        if self._spool is not None:
            self._spooled.append(batch)
        while batch.num_rows:
            fits = self._room_for(batch)
            self._waiting.append(batch.slice(0, fits))
            self._rows += fits
            self._bits += num_bits(batch.slice(0, fits))
            batch = batch.slice(fits)
            if batch.num_rows or self._rows == self._group_rows:
                self._write_group()

    def _room_for(self, batch: pa.RecordBatch) -> int:
        """Return the number of rows for the current group, independent of the batches."""
        if self._group_rows is not None:
            return min(int(batch.num_rows), self._group_rows - self._rows)
        fits = rows_that_fit(batch, 8 * GROUP_BYTES - self._bits, num_bits(batch))
        return min(fits, GROUP_ROWS - self._rows) or int(not self._waiting)  # a larger row has its own group

    def _write_group(self) -> None:
        table = pa.Table.from_batches(self._waiting, self._schema).combine_chunks()  # pages also end where chunks do
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self._written_bits += self._bits
        self._waiting, self._rows, self._bits = [], 0, 0

    def settle(self) -> dict[str, Any]:
        """See `Sink.settle`."""
        assert self._spool is not None
        path, number = self._spool(self._files), self._files
        with open(path, "wb") as file:
            out = HashedFile(file)
            with pa.ipc.new_stream(out, self._schema) as writer:
                for batch in self._spooled:
                    writer.write_batch(batch)
            point = out.settled()
        self._files, self._spooled = number + 1, []
        return {**point, "file": number}

    def end(self) -> dict[str, Any]:
        """See `Sink.end`."""
        if self._waiting:
            self._write_group()
        self._writer.close()
        return self._out.settled()

    def close(self) -> None:
        """See `Sink.close`."""
        with contextlib.suppress(Exception):  # the written rows are discarded
            self._writer.close()


class ArrowSink:
    """Writes rows as an Arrow stream.

    Args:
        out: a new file.
        schema: schema of the rows.
    """

    is_settled = False

    def __init__(self, out: IO[bytes], schema: pa.Schema) -> None:
        self._out = HashedFile(out)
        self._schema = schema
        self._writer = pa.ipc.new_stream(self._out, schema)
        self._batches: list[int] = []
        self._waiting: list[pa.RecordBatch] = []
        self.num_bytes = 0

    def add(self, batch: pa.RecordBatch, *, ends_batch: bool) -> None:
        """See `Sink.add`."""
        if not batch.schema.equals(self._schema):
            (batch,) = pa.Table.from_batches([batch]).cast(self._schema).combine_chunks().to_batches()
        self._waiting.append(batch)
        self.num_bytes += num_bits(batch) // 8
        if ends_batch:
            self._write_waiting()

    def _write_waiting(self) -> None:
        if not self._waiting:
            return
        batch, self._waiting = one_batch(self._waiting), []
        self._writer.write_batch(batch)
        self._batches.append(batch.num_rows)

    def settle(self) -> dict[str, Any]:
        """See `Sink.settle`: only whole files can be resumed."""
        raise AssertionError("Arrow streams are resumed shard by shard")

    def end(self) -> dict[str, Any]:
        """See `Sink.end`."""
        self._write_waiting()
        self._writer.close()
        return {**self._out.settled(), "batches": self._batches}

    def close(self) -> None:
        """See `Sink.close`."""
        self._writer.close()

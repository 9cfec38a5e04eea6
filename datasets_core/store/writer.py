"""Rows into shards: record batches in order, files that roll by size, hashed while they are written.

What a shard holds depends on the batches alone, never on time or on the number of workers.  A shard has a temporary name
until it is whole and on the disk; one rename gives it its own.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import TracebackType

import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import CastError, ConfigurationError
from datasets_core.store.hashing import HashedFile
from datasets_core.store.layout import EXTENSIONS, temporary_path
from datasets_core.store.manifest import ShardRecord, runs
from datasets_core.store.plain_types import plain_schema as plain_schema
from datasets_core.store.plain_types import plain_type as plain_type

_BUFFER = 1 << 18  # writes below this are joined; those above go to the system without a copy
_SMALL_BYTES = 1 << 18  # batches below this are joined, so that many small files do not make many small batches
_JOINED_BYTES = 1 << 20
_BATCHES_PER_ROW_GROUP = 8


class ShardWriter:
    """Writes record batches into the shards `{stem}-00000.arrow`, `{stem}-00001.arrow`, … of a folder.

    As a context manager it closes at the end of the block, and removes everything if the block fails.  Dictionary-encoded
    columns are stored plain, since an Arrow file can hold one dictionary only.

    Args:
        folder: an existing local folder.
        stem: what the file names begin with.
        split: the split that the rows belong to.
        schema: the schema of every batch.
        file_format: "arrow" (IPC file) or "parquet".
        max_shard_bytes: bytes of rows (in Arrow's layout) at which a new shard is begun.
        batch_bytes, batch_rows: bounds of one record batch; larger ones are cut, down to one row.  Settings, where None.
        is_hashed: False leaves the sha256 out, for rows that can be made again.
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
    ) -> None:
        if file_format not in EXTENSIONS:
            raise ConfigurationError(
                f"{file_format!r} is no file format for shards. Formats: {', '.join(map(repr, EXTENSIONS))}."
            )
        defaults = settings()
        self.folder, self.stem, self.split, self.file_format = folder, stem, split, file_format
        self.schema = plain_schema(schema)
        self._max_shard_bytes = defaults.max_shard_bytes if max_shard_bytes is None else max_shard_bytes
        self._batch_bytes = min(defaults.batch_bytes if batch_bytes is None else batch_bytes, self._max_shard_bytes)
        self._batch_rows = defaults.batch_rows if batch_rows is None else batch_rows
        if min(self._max_shard_bytes, self._batch_bytes, self._batch_rows) < 1:
            raise ConfigurationError("Shards and batches hold at least one byte and one row. Give larger bounds.")
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
        """Finish the shards, on the disk and by name; the same records again when called again."""
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
                f"A batch has the columns {batch.schema.names}, and the shard {self.stem} has {self.schema.names}. "
                "Cast the batch before it is written."
            )
        columns = []
        for column, field in zip(batch.columns, self.schema, strict=True):
            if column.type != field.type and plain_type(column.type) != field.type:
                raise CastError(
                    f"Column {field.name!r} of a batch is {column.type}, and in the shard {self.stem} it is {field.type}. "
                    "Cast the batch before it is written."
                )
            columns.append(column if column.type == field.type else column.cast(field.type))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)

    def _add(self, batch: pa.RecordBatch) -> None:
        num_bytes = batch.nbytes
        if num_bytes >= min(_SMALL_BYTES, self._batch_bytes) or batch.num_rows >= self._batch_rows:
            self._flush()
            for part in _divide(batch, self._batch_bytes, self._batch_rows):
                self._put(part)
            return
        if (
            self._small_bytes + num_bytes > min(_JOINED_BYTES, self._batch_bytes)
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
                os.path.basename(shard.path), self.split, shard.rows, size, shard.num_bytes, sha256, runs(shard.batch_rows)
            )
        )


def _divide(batch: pa.RecordBatch, max_bytes: int, max_rows: int) -> Iterator[pa.RecordBatch]:
    """The batch in parts within the bounds, without a copy; one row is never cut."""
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

    def __init__(self, path: str, *, is_hashed: bool) -> None:
        self.path = path
        self.rows = self.num_bytes = 0
        self.batch_rows: list[int] = []
        self.file = HashedFile(temporary_path(path), is_hashed=is_hashed)
        self.sink = pa.BufferedOutputStream(pa.PythonFile(self.file, mode="w"), _BUFFER)

    def write(self, batch: pa.RecordBatch, num_bytes: int) -> None:
        """Append a batch."""
        self.rows += batch.num_rows
        self.num_bytes += num_bytes

    def finish(self) -> tuple[int, str]:
        """Write the end, have it on the disk under the final name: (bytes, sha256)."""
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
        """Write what closes the format."""
        raise NotImplementedError

    def discard(self) -> None:
        """Remove what was written."""
        self.file.discard()
        with contextlib.suppress(pa.ArrowException, OSError, ValueError):
            self.end()  # into nothing: the file drops it; pyarrow would complain of a stream that is left open
        self.sink.close()


class _ArrowShard(_OpenShard):
    def __init__(self, path: str, schema: pa.Schema, *, is_hashed: bool) -> None:
        super().__init__(path, is_hashed=is_hashed)
        try:
            self._writer = pa.ipc.new_file(self.sink, schema)
        except BaseException:
            self.file.discard()
            raise

    def write(self, batch: pa.RecordBatch, num_bytes: int) -> None:
        super().write(batch, num_bytes)
        self.batch_rows.append(batch.num_rows)
        self._writer.write_batch(batch)

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
            raise CastError(f"Parquet cannot hold these columns: {error}. Use file_format='arrow', or cast them.") from error
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

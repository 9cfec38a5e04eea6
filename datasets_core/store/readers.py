"""What reads an open file: the batches of an Arrow file, an Arrow stream or a Parquet file, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import pyarrow as pa


class Reader(Protocol):
    """An open file."""

    schema: pa.Schema

    def batch_rows(self) -> list[int]:
        """Rows of each batch."""
        ...

    def batch(self, index: int) -> pa.RecordBatch:
        """One batch."""
        ...

    def is_decoded(self, batch: pa.RecordBatch) -> bool:
        """Whether a batch is memory of its own, and no view of the file."""
        ...

    def restore(self, schema: pa.Schema) -> bool:
        """Give batches of `schema` from now on, if it is what this file was written from; else False."""
        ...


class _ArrowReader:
    def __init__(self, source: Any) -> None:
        self._reader = pa.ipc.open_file(source)
        self._span = _span(source)
        self.schema = self._reader.schema

    def batch_rows(self) -> list[int]:
        return [self.batch(index).num_rows for index in range(self._reader.num_record_batches)]

    def batch(self, index: int) -> pa.RecordBatch:
        return self._reader.get_batch(index)

    def is_decoded(self, batch: pa.RecordBatch) -> bool:
        return not _lies_in(batch, self._span)

    def restore(self, schema: pa.Schema) -> bool:
        return False


class _StreamReader:
    def __init__(self, source: Any) -> None:
        with pa.ipc.open_stream(source) as reader:
            self.schema = reader.schema
            self._batches = list(reader)
        self._span = _span(source)

    def batch_rows(self) -> list[int]:
        return [batch.num_rows for batch in self._batches]

    def batch(self, index: int) -> pa.RecordBatch:
        return self._batches[index]

    def is_decoded(self, batch: pa.RecordBatch) -> bool:
        return False  # all of them are held by the reader anyway

    def restore(self, schema: pa.Schema) -> bool:
        return False


class _ParquetReader:
    def __init__(self, source: Any) -> None:
        import pyarrow.parquet as pq  # 12 ms that shards in Arrow's own format do without

        self._file = pq.ParquetFile(source, page_checksum_verification=True)
        self.schema = self._file_schema = self._file.schema_arrow

    def batch_rows(self) -> list[int]:
        metadata = self._file.metadata
        return [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]

    def batch(self, index: int) -> pa.RecordBatch:
        table = self._file.read_row_group(index)
        if self.schema is not self._file_schema:
            table = table.cast(self.schema)
        return pa.concat_batches(table.to_batches()) if table.num_rows else empty_batch(self.schema)

    def is_decoded(self, batch: pa.RecordBatch) -> bool:
        return True

    def restore(self, schema: pa.Schema) -> bool:
        if not parquet_schema(schema).equals(self._file_schema):
            return False
        self.schema = schema
        return True


READERS: dict[str, Callable[[Any], Reader]] = {"arrow": _ArrowReader, "stream": _StreamReader, "parquet": _ParquetReader}


def check_names(fields: Iterable[pa.Field]) -> None:
    """Read every name: pyarrow finds out only then that a damaged one is no text."""
    for field in fields:
        _ = field.name
        if pa.types.is_nested(field.type):
            check_names([field.type.field(index) for index in range(field.type.num_fields)])


def _span(source: Any) -> tuple[int, int]:
    """Where in memory a mapped file or a buffer lies; (0, 0) for a file that is read."""
    if isinstance(source, pa.Buffer):
        return source.address, source.address + source.size
    if isinstance(source, pa.MemoryMappedFile):
        source.seek(0)
        start = source.read_buffer(1).address
        return start, start + source.size()
    return 0, 0


def _lies_in(batch: pa.RecordBatch, span: tuple[int, int]) -> bool:
    start, stop = span
    for column in batch.columns:
        for buffer in column.buffers():
            if buffer is not None and buffer.size:
                return bool(start <= buffer.address < stop)
    return True


def parquet_schema(schema: pa.Schema) -> pa.Schema:
    """What becomes of a schema in a Parquet file, which has no seconds and no `date64`.

    >>> parquet_schema(pa.schema({"at": pa.timestamp("s")})).field("at").type
    TimestampType(timestamp[ms])
    """
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(schema.empty_table(), sink)
    return pq.read_schema(pa.BufferReader(sink.getvalue()))


def empty_batch(schema: pa.Schema) -> pa.RecordBatch:
    """No rows of a schema."""
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)

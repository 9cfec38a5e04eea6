"""The Parquet files of a push: the same bytes for the same rows, however these are stored and whoever writes them.

Row groups hold as many rows as take a hundred megabytes, which only the rows decide about.  Pages end where the content says
(content-defined chunking), so that a store that knows pages keeps those that did not change; they are indexed, and carry
checksums.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Self

import pyarrow as pa
import pyarrow.parquet as pq

from datasets_core import files
from datasets_core.errors import CastError
from datasets_core.features.embed import has_media
from datasets_core.features.schema import Features
from datasets_core.publish.arrow_size import num_bits
from datasets_core.store.plain_types import plain_schema

GROUP_BYTES = 100_000_000
"""Bytes of a row group in Arrow's layout: what the viewer of the Hub reads at once, and what other tools write."""
GROUP_ROWS = 1 << 20
_CHUNKS = {"min_chunk_size": 256 << 10, "max_chunk_size": 1 << 20, "norm_level": 0}  # those of Hugging Face `datasets`


class ShardFile:
    """One Parquet file that is written row group by row group.

    Args:
        path: of the new file.
        features: of the columns; the file carries them.
        group_bytes: of a row group, in Arrow's layout.

    Attributes:
        num_rows: the rows that it was given.
        num_bits: what they take in Arrow's layout.

    Raises:
        CastError: Parquet has no such type.
        DatasetDiskError: the disk is full, read-only or forbidden.
    """

    def __init__(self, path: str, features: Features, *, group_bytes: int = GROUP_BYTES) -> None:
        self.path, self.num_rows, self.num_bits = path, 0, 0
        self._schema = plain_schema(features.arrow_schema)
        self._group_bits = 8 * group_bytes
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_rows = self._waiting_bits = 0
        with files.disk_errors(path):
            self._out = open(path, "wb")  # noqa: SIM115 - closed by `close`
        try:
            self._writer = _writer(self._out, self._schema, features)
        except BaseException:
            self._out.close()
            raise

    def add(self, batch: pa.RecordBatch) -> None:
        """Write rows behind those that are there."""
        batch = self._plain(batch)
        while batch.num_rows:
            size = num_bits(batch)
            fits = rows_that_fit(batch, self._group_bits - self._waiting_bits, size)
            fits = min(fits, GROUP_ROWS - self._waiting_rows) or int(not self._waiting)  # a row that is larger has its own
            self._wait(batch.slice(0, fits), size if fits == batch.num_rows else None)
            if fits < batch.num_rows:
                self._write_group()
            batch = batch.slice(fits)

    def _wait(self, batch: pa.RecordBatch, size: int | None) -> None:
        if not batch.num_rows:
            return
        size = num_bits(batch) if size is None else size
        self._waiting.append(batch)
        self._waiting_rows += batch.num_rows
        self._waiting_bits += size
        self.num_rows += batch.num_rows
        self.num_bits += size

    def _plain(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        if batch.schema.types == self._schema.types:
            return pa.RecordBatch.from_arrays(batch.columns, schema=self._schema) if len(self._schema) else batch
        table = pa.Table.from_batches([batch]).cast(self._schema).combine_chunks()
        return table.to_batches()[0] if table.num_rows else batch.slice(0, 0)

    def _write_group(self) -> None:
        # One array for each column: where pages end must not depend on how the rows were cut before.
        group = pa.Table.from_batches(self._waiting, self._schema).combine_chunks()
        self._waiting, self._waiting_rows, self._waiting_bits = [], 0, 0
        with files.disk_errors(self.path):
            self._writer.write_table(group, row_group_size=max(1, group.num_rows))

    def close(self) -> None:
        """Write what waits, and the end of the file."""
        try:
            if self._waiting:
                self._write_group()
            self._writer.add_key_value_metadata({"content_defined_chunking": json.dumps(_CHUNKS)})
            with files.disk_errors(self.path):
                self._writer.close()
                self._out.close()
        except BaseException as error:
            self.__exit__(type(error), error, None)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is None:
            self.close()
            return
        self._writer.is_open = False  # given up: pyarrow would write the end of the file, whenever the object goes
        with contextlib.suppress(OSError):  # of bytes that wait: the disk that is full is told already
            self._out.close()


def write_shards(
    batches: Iterable[pa.RecordBatch], features: Features, name: Callable[[int], str], max_bytes: int | None
) -> Iterator[ShardFile]:
    """Write rows into one file after the other: each file when it is whole; one at least, of no rows if there are none.

    Args:
        batches: the rows.
        features: of their columns.
        name: the path of the file of a number.
        max_bytes: bytes of a file in Arrow's layout; a row that is larger has a file of its own.  None: one file.
    """
    limit = None if max_bytes is None else 8 * max_bytes
    number = 0
    shard = ShardFile(name(number), features)
    try:
        for batch in batches:
            while batch.num_rows:
                fits = batch.num_rows if limit is None else rows_that_fit(batch, limit - shard.num_bits, num_bits(batch))
                fits = fits or int(not shard.num_rows)
                shard.add(batch.slice(0, fits))
                batch = batch.slice(fits)
                if batch.num_rows:
                    shard.close()
                    yield shard
                    number += 1
                    shard = ShardFile(name(number), features)
    except BaseException as error:
        shard.__exit__(type(error), error, None)
        raise
    shard.close()
    yield shard


def rows_that_fit(batch: pa.RecordBatch, bits: int, size: int) -> int:
    """How many rows of the batch, from its first on, take no more than so many bits.

    >>> rows_that_fit(pa.record_batch({"a": pa.array([1, 2, 3])}), 128, 192)
    2
    """
    if size <= bits:
        return int(batch.num_rows)
    low, high = 0, int(batch.num_rows)  # `low` rows fit, `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if num_bits(batch.slice(0, middle)) <= bits else (low, middle)
    return low


def _writer(out: Any, schema: pa.Schema, features: Features) -> pq.ParquetWriter:
    leaves = _leaves(schema)
    media = {name for name, feature in features.items() if has_media(feature)}
    stored = [leaf for column, leaf in leaves if column in media]  # compressed by themselves, and none is there twice
    options: dict[str, Any] = {  # which pyarrow takes by column, and its stubs do not
        "compression": {leaf: "none" if leaf in stored else "snappy" for _, leaf in leaves} or "snappy",
        "use_dictionary": [leaf for _, leaf in leaves if leaf not in stored],
        "column_encoding": dict.fromkeys(stored, "PLAIN"),
        "use_content_defined_chunking": _CHUNKS,
    }
    try:
        return pq.ParquetWriter(out, schema, write_page_index=True, write_page_checksum=True, **options)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise CastError(f"Parquet cannot hold these columns: {error}. Cast them before the push.") from error


def _leaves(schema: pa.Schema) -> list[tuple[str, str]]:
    """For each column of numbers or bytes that Parquet writes, the column of the dataset and the path in the file."""
    out = pa.BufferOutputStream()
    try:
        with pq.ParquetWriter(out, schema):
            pass
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise CastError(f"Parquet cannot hold these columns: {error}. Cast them before the push.") from error
    written = pq.read_metadata(pa.BufferReader(out.getvalue())).schema
    paths = [written.column(number).path for number in range(len(written))]
    owners = [field.name for field in schema for _ in range(_num_leaves(field.type))]
    return list(zip(owners, paths, strict=True))


def _num_leaves(kind: pa.DataType) -> int:
    if isinstance(kind, pa.BaseExtensionType):
        return _num_leaves(kind.storage_type)
    if kind.num_fields == 0:
        return 1
    return sum(_num_leaves(kind.field(number).type) for number in range(kind.num_fields))

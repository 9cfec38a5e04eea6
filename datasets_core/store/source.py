"""From a manifest and row ranges to rows: the shards that are needed are checked, and opened when they are touched."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.errors import DamagedShardError
from datasets_core.meta.rows import RowRange
from datasets_core.store.layout import located
from datasets_core.store.manifest import Manifest, ShardRecord
from datasets_core.store.shard import (
    ARROW_MAGIC,
    PARQUET_MAGIC,
    FileShard,
    Shard,
    Shelf,
    check_tail,
    loaded,
    parquet_schema,
)
from datasets_core.store.table import RowTable


def open_rows(
    folder: str,
    manifest: Manifest,
    ranges: Sequence[RowRange],
    *,
    in_memory: bool = False,
    storage_options: dict[str, Any] | None = None,
) -> RowTable:
    """The rows of `ranges`, in their order.

    Only the shards in `ranges` are looked at.  Each is checked for its size and footer before it is mapped.

    Args:
        folder: the dataset, local or remote.
        manifest: what it contains.
        ranges: the rows, as `row_ranges` gives them.
        in_memory: read the shards instead of mapping them.
        storage_options: for fsspec.

    Raises:
        DamagedShardError: a shard is missing, cut or altered.
    """
    folder = located(folder)
    by_split = manifest.split_shards()
    records: dict[tuple[str, int], ShardRecord] = {}
    for found in ranges:
        records.setdefault((found.split, found.shard), by_split[found.split][found.shard])
    schema = None
    if not records:
        if not manifest.shards:
            return RowTable.from_shards([], schema=_described_schema(manifest))
        records[manifest.shards[0].split, -1] = manifest.shards[0]  # holds the schema, whatever the split
    shelf = Shelf()
    numbers: dict[tuple[str, int], int] = {}
    shards: list[FileShard] = []

    def opened(record: ShardRecord, schema: pa.Schema | None) -> FileShard:
        return FileShard(
            files.join(folder, record.name),
            manifest.file_format,
            shelf,
            rows=_batch_rows(record),
            schema=schema,
            in_memory=in_memory,
            storage_options=storage_options,
            identity=record.sha256,
        )

    for key, record in records.items():
        check_shard(files.join(folder, record.name), record, manifest.file_format, storage_options)
        numbers[key] = len(shards)
        shards.append(opened(record, schema))
        if schema is None:
            schema = shards[0].schema
            if manifest.file_format == "parquet" and (written := _written_schema(manifest, schema)) != schema:
                schema, shards = written, [opened(record, written)]
    held: list[Shard] = [loaded(shard) if in_memory else shard for shard in shards]
    return RowTable.from_shards(held, [(numbers[r.split, r.shard], r.start, r.stop) for r in ranges], schema=schema)


def check_shard(path: str, record: ShardRecord, file_format: str, storage_options: dict[str, Any] | None = None) -> None:
    """Check a shard against its record without reading its rows: size, first and last bytes, footer.

    Of a remote shard only the size is asked for; its footer is checked when it is opened.

    Raises:
        DamagedShardError: it is missing, cut or altered.
    """
    if files.is_url(path):
        found = files.entry(path, storage_options)
        _check_size(path, record, None if found is None else found.size)
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        _check_size(path, record, None)
        return
    try:
        size = os.fstat(descriptor).st_size
        _check_size(path, record, size)
        magic = PARQUET_MAGIC if file_format == "parquet" else ARROW_MAGIC
        head = os.pread(descriptor, len(magic), 0)
        tail = os.pread(descriptor, 10, max(size - 10, 0))
    finally:
        os.close(descriptor)
    if head != magic:
        raise DamagedShardError(path, f"it begins with {head!r} where {magic!r} belongs: the file is overwritten")
    check_tail(path, file_format, size, tail)


def _check_size(path: str, record: ShardRecord, size: int | None) -> None:
    if size is None:
        raise DamagedShardError(path, f"the shard is missing ({record.rows:,} rows of split {record.split!r})")
    if size != record.size:
        raise DamagedShardError(path, f"the shard has {size:,} bytes where {record.size:,} are on record")


def _batch_rows(record: ShardRecord) -> Sequence[int]:
    counts = np.array(record.batches, dtype=np.int64).reshape(-1, 2)
    rows: Sequence[int] = counts[:, 0].repeat(counts[:, 1]).tolist()
    return rows


def _written_schema(manifest: Manifest, stored: pa.Schema) -> pa.Schema:
    """The schema of the rows that a Parquet shard was written from, where it holds them with other types (`parquet_schema`)."""
    described = _described_schema(manifest)
    if set(described.names) != set(stored.names) or all(described.field(field.name).type == field.type for field in stored):
        return stored
    lowered = parquet_schema(described)
    fields = [
        field.with_type(described.field(field.name).type) if lowered.field(field.name).type == field.type else field
        for field in stored
    ]
    return pa.schema(fields, stored.metadata)


def _described_schema(manifest: Manifest) -> pa.Schema:
    features = manifest.info.features
    schema: pa.Schema = features.arrow_schema if features is not None else pa.schema([])
    return schema

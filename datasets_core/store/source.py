"""From a manifest and row ranges to rows: nothing is opened before it is read, but for what looks altered."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from datasets_core import files
from datasets_core.errors import DamagedShardError
from datasets_core.meta.rows import RowRange
from datasets_core.meta.split import ReadInstruction
from datasets_core.store.file_structure import FileStructure, Span
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.layout import MANIFEST_NAME, located
from datasets_core.store.lazy_shards import LazyShards
from datasets_core.store.manifest import Manifest, ShardRecord
from datasets_core.store.pieces import BatchRows
from datasets_core.store.plain_types import plain_schema
from datasets_core.store.readers import parquet_schema
from datasets_core.store.shard import FileShard, Shard, Shelf, check_ends, check_size, loaded
from datasets_core.store.table import RowTable


def open_rows(
    folder: str,
    manifest: Manifest,
    ranges: Sequence[RowRange],
    *,
    in_memory: bool = False,
    storage_options: dict[str, Any] | None = None,
    has_ids: bool = True,
    is_asked: bool = True,
    is_read: bool = False,
    structure: FileStructure | None = None,
) -> RowTable:
    """The rows of `ranges`, in their order.

    Of the shards in `ranges` the disk is asked for the sizes (`check_shards`), and each is opened, and checked again, when a
    row of it is read; of the others nothing is asked.

    Args:
        folder: the dataset, local or remote.
        manifest: what it contains.
        ranges: the rows, as `row_ranges` gives them.
        in_memory: read the shards instead of mapping them.
        storage_options: for fsspec.
        has_ids: its rows have ids, which call a shard what the manifest calls it; not those of a cache, whose files have names
            that no one else knows.
        is_asked: False leaves the disk alone: what is missing is found when it is read.
        is_read: read batch by batch instead of mapping, and keep nothing: for one who goes through all rows in bounded memory.
        structure: of these rows: see `structure_of`.

    Raises:
        DamagedShardError: a shard is missing, cut or altered.
    """
    folder = located(folder)
    own: RowTable | None = manifest.own_rows(
        folder, ranges, in_memory=in_memory, storage_options=storage_options, structure=structure
    )
    if own is not None:
        return own
    by_split = manifest.split_shards()
    numbers: dict[tuple[str, int], int] = {}
    for found in ranges:
        numbers.setdefault((found.split, found.shard), len(numbers))
    records = [by_split[split][shard] for split, shard in numbers]
    if is_asked:
        check_shards(folder, records, manifest.file_format, storage_options)
    shelf, located_in = Shelf(max_bytes=0) if is_read else Shelf(), _paths_in(folder)

    def opened(record: ShardRecord, schema: pa.Schema | None) -> FileShard:
        return FileShard(
            located_in(record.name),
            manifest.file_format,
            shelf,
            rows=BatchRows(record.batches),
            schema=schema,
            in_memory=in_memory,
            storage_options=storage_options,
            identity=record.sha256,
            size=record.size,
            id_name=record.name if has_ids else None,
            is_read=is_read,
        )

    schema = _schema_on_record(manifest)
    if schema is None:
        first = (records or list(manifest.shards))[:1]  # any of them holds it, whatever the split
        check_shards(folder, first, manifest.file_format, storage_options)
        schema = _stored_schema(manifest, opened(first[0], None)) if first else _described_schema(manifest)
    rows = [BatchRows(record.batches) for record in records]
    shards = LazyShards(rows, lambda number: opened(records[number], schema))
    held: Sequence[Shard] = [loaded(shard) for shard in shards] if in_memory else shards
    runs = [(numbers[r.split, r.shard], r.start, r.stop) for r in ranges]
    return RowTable.from_shards(held, runs, schema=schema, structure=structure)


def structure_of(manifest: Manifest, split: str | ReadInstruction) -> FileStructure | None:
    """How the rows of a split expression lie in the files that they were built from; None where that is not on record.

    Raises:
        SplitSyntaxError, UnknownSplitError: as `row_ranges`.
    """
    if not manifest.blocks:
        return None
    instruction = split if isinstance(split, ReadInstruction) else ReadInstruction.from_spec(str(split))
    lengths = manifest.split_lengths()
    spans: list[Span] = []
    for part in instruction.parts:
        for name, start, stop in ReadInstruction.from_parts((part,)).to_absolute(lengths):
            if name not in manifest.blocks:
                return None
            spans.append(Span(manifest.blocks[name], start, max(start, stop), manifest.files.get(name, "")))
    return FileStructure(tuple(spans))


# -- the files ---------------------------------------------------------------------------------------------------------


def check_shards(
    folder: str, records: Iterable[ShardRecord], file_format: str, storage_options: dict[str, Any] | None = None
) -> None:
    """Check shards against their records by what their disk or store says of them: that they are there, and their sizes.

    A local shard that was written after the manifest is looked into as well: its first and last bytes are checked.  All are,
    when they are opened.

    Raises:
        DamagedShardError: one is missing, cut or altered.
    """
    located_in = _paths_in(folder)
    if files.is_url(folder):
        for record in records:
            found = files.entry(path := located_in(record.name), storage_options)
            check_size(path, record.size, _missing(path, record) if found is None else found.size)
        return
    committed = -1
    with contextlib.suppress(OSError):
        committed = os.stat(os.path.join(folder, MANIFEST_NAME)).st_mtime_ns
    for record in records:
        path = located_in(record.name)
        try:
            status = os.stat(path)
            if status.st_size != record.size or status.st_mtime_ns >= committed:
                check_ends(path, file_format, record.size)
        except FileNotFoundError:
            _missing(path, record)


def _paths_in(folder: str) -> Callable[[str], str]:
    """What makes the name of a file in a folder its path: `files.join` takes longer than the disk, for a thousand files."""
    if files.is_url(folder):
        return lambda name: files.join(folder, name)
    before = os.path.join(folder, "")
    return lambda name: before + name


def _missing(path: str, record: ShardRecord) -> int:
    raise DamagedShardError(path, f"the shard is missing ({record.rows:,} rows of split {record.split!r})")


# -- the schema --------------------------------------------------------------------------------------------------------


def _schema_on_record(manifest: Manifest) -> pa.Schema | None:
    """The schema of all shards as far as the manifest tells it: that of its features, if they were written with it."""
    if not manifest.schema:
        return None
    schema = plain_schema(_described_schema(manifest))
    return schema if Hasher.hash(schema) == manifest.schema else None


def with_schema(manifest: Manifest, folder: str) -> Manifest:
    """The manifest with the hash of the schema of its shards, which stand in a local folder."""
    if not manifest.shards:
        return manifest
    shard = FileShard(os.path.join(folder, manifest.shards[0].name), manifest.file_format, Shelf())
    return replace(manifest, schema=Hasher.hash(_stored_schema(manifest, shard)))


def _stored_schema(manifest: Manifest, shard: FileShard) -> pa.Schema:
    return _written_schema(manifest, shard.schema) if manifest.file_format == "parquet" else shard.schema


def _written_schema(manifest: Manifest, stored: pa.Schema) -> pa.Schema:
    """The schema of the rows that a Parquet shard was written from, where it holds them with other types (`parquet_schema`)."""
    described = plain_schema(_described_schema(manifest))
    if set(described.names) != set(stored.names):
        return stored
    is_lowered = any(described.field(field.name).type != field.type for field in stored)
    lowered = parquet_schema(described) if is_lowered else described
    fields = [
        described.field(field.name).with_nullable(field.nullable) if lowered.field(field.name).type == field.type else field
        for field in stored
    ]
    return pa.schema(fields, stored.metadata)


def _described_schema(manifest: Manifest) -> pa.Schema:
    features = manifest.info.features
    schema: pa.Schema = features.arrow_schema if features is not None else pa.schema([])
    return schema

"""`push_to_hub` of streams: rows as Parquet files, written while they are read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.engines import get_engine
from datasets_core.engines.deadline import SerialEngine
from datasets_core.errors import CellCastError, ConfigurationError, MediaError
from datasets_core.features.base import Value
from datasets_core.features.cast import cast_table
from datasets_core.features.media.media import embed_table, has_media
from datasets_core.features.schema import Features
from datasets_core.io.push_parquet import GROUP_BYTES, ShardFile, num_bits, write_shards
from datasets_core.io.push_target import LocalShard, ShardLimits, WorkerUploads
from datasets_core.progress import progress
from datasets_core.store import module_state
from datasets_core.stream.nodes.block import ArrowBlock, Block, Kinds, encoded, joined, of_dicts
from datasets_core.stream.order.layers import ENDLESS
from datasets_core.stream.plan import Plan

# Streams pushed to the Hub: written and uploaded file by file while their rows are read.


_HEAD_ROWS, _MOST_HEAD_ROWS = 1000, 10_000  # for the types of columns: more where the first are all null
_HEAD_BYTES, _MOST_HEAD_BYTES = 32 << 20, 256 << 20  # or fewer rows, that take so much
_DEALT_BYTES = 512 << 20  # of rows that wait in memory where several files are written at once
_EMBEDDED_ROWS, _EMBEDDED_BYTES = 100, 32 << 20
_GIVE_TYPES = "The types were inferred from the first rows; give features with map(features=…) or cast(…)"


@dataclass(frozen=True, slots=True)
class StreamRows:
    """Rows of a stream that are to be written.

    Attributes:
        plan: source of the rows.
        epoch: epoch of the stream.
        features: features of the columns.
        split: name of the split.
        embeds: True if the content of media files is stored in the rows.
        is_told: True if the features come from the stream instead of its first rows.
    """

    plan: Plan
    epoch: int
    features: Features
    split: str
    embeds: bool
    is_told: bool = True

    @classmethod
    def of(cls, plan: Plan, epoch: int, split: str, *, embeds: bool, features: Features | None = None) -> StreamRows:
        """Return the rows of a plan; unknown column types are inferred from the first rows.

        Args:
            plan: source of the rows.
            epoch: epoch of the stream.
            split: name of the split.
            embeds: True to store the content of media files in the rows.
            features: features of the columns, if the plan does not have them.

        Raises:
            ConfigurationError: the stream is endless, or has no rows to infer types from.
        """
        count = plan.num_rows
        if count is not None and count >= ENDLESS:
            raise ConfigurationError(f"Split {split!r} is infinite", advice="Limit it with take(n)")
        told = plan.features or features
        found = told or _features_of_head(plan, epoch, split)
        return cls(plan, epoch, found, split, embeds and any(map(has_media, found.values())), told is not None)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, with the bytes of their files.

        Raises:
            CellCastError: a value is of a different type than its column; the error names split, row and column.
        """
        kinds = Kinds(self.features, self.plan.source.paths)
        row = 0
        with _naming(self.split):
            for block in _blocks(self.plan, self.epoch):
                for batch in self._in_parts(self.encoded(block, kinds, row), row, kinds):
                    yield batch
                    row += batch.num_rows

    def encoded(self, block: Block, kinds: Kinds, row: int) -> pa.RecordBatch:
        """Return the rows of a block in the types of the features; the first row has the number `row`.

        Raises:
            CellCastError: a value is of a different type than its column; the error names split, row and column.
        """
        try:
            if not isinstance(block, ArrowBlock):
                return encoded(block.rows(), kinds).batch
            if block.kinds.features == self.features:
                return block.batch
            return cast_table(block.batch, self.features, what=f"Split {self.split!r}")
        except CellCastError as error:
            number = row + (error.row or 0)
            advice = error.advice if self.is_told else _GIVE_TYPES
            what = f"Split {self.split!r}"
            raise CellCastError(error.column, error.reason, row=number, what=what, advice=advice) from error

    def _in_parts(self, batch: pa.RecordBatch, row: int, kinds: Kinds) -> Iterator[pa.RecordBatch]:
        """Yield the rows in blocks, either unchanged or with the bytes of their files."""
        step = 1
        while self.embeds and batch.num_rows:
            table = pa.Table.from_batches([batch.slice(0, step)])
            try:
                table = embed_table(table, self.features, paths=kinds.paths)
            except MediaError as error:
                raise error.at(row=row + (error.row or 0)) from error.__cause__
            yield from table.to_batches()
            batch, row = batch.slice(step), row + table.num_rows
            size = max(1, num_bits(table) // 8)
            step = max(1, min(_EMBEDDED_ROWS, 2 * step, _EMBEDDED_BYTES * table.num_rows // size))
        if not self.embeds:
            yield batch


def _features_of_head(plan: Plan, epoch: int, split: str) -> Features:
    """Return the types that the first rows have."""
    blocks: list[Block] = []
    rows = size = 0
    enough = 1  # twice as many each time
    with _naming(split):
        for block in _blocks(plan, epoch):
            blocks.append(block)
            rows, size = rows + block.num_rows, size + _size(block)
            if rows >= enough * _HEAD_ROWS or size >= enough * _HEAD_BYTES:
                found = _features_of(blocks)
                if rows >= _MOST_HEAD_ROWS or size >= _MOST_HEAD_BYTES or Value("null") not in found.values():
                    return found
                enough *= 2
        if rows:
            return _features_of(blocks)
    raise ConfigurationError(
        f"Split {split!r} has no rows, so its column types are unknown", advice="Give features, or remove the split"
    )


def _size(block: Block) -> int:
    """Return the approximate bytes of the rows in memory."""
    if isinstance(block, ArrowBlock):
        return int(block.batch.nbytes)
    return sum(map(_value_size, (value for row in block.rows() for value in row.values())))


def _value_size(value: object) -> int:
    if isinstance(value, (bytes, str)):
        return len(value)
    if isinstance(value, dict):  # of media, with their bytes
        return sum(map(_value_size, value.values()))
    if isinstance(value, (list, tuple)):
        return len(value) * _value_size(value[0]) if value else 0
    return int(getattr(value, "nbytes", 8))


def _blocks(plan: Plan, epoch: int) -> Iterator[Block]:
    node = plan.node(epoch)
    for delivery in node.blocks(node.start):
        yield delivery.block


@contextmanager
def _naming(split: str) -> Iterator[None]:
    """Add the name of the split to every error in the block."""
    try:
        yield
    except Exception as error:
        error.add_note(f"The error occurred in split {split!r}.")
        raise


def _features_of(blocks: list[Block]) -> Features:
    block = joined(blocks)
    return (block if isinstance(block, ArrowBlock) else of_dicts(block.rows())).kinds.features


# -- files -------------------------------------------------------------------------------------------------------------


def shards_of_stream(rows: StreamRows, limits: ShardLimits) -> Callable[[str], Iterator[LocalShard]]:
    """Return a function that writes the rows into files, one after the other, in a given folder.

    Each shard of the stream becomes one file, or more if it is large.  With several processes, each process writes the files of
    one shard at a time.

    Args:
        rows: the rows of one split.
        limits: limits of the files.
    """
    return partial(_written, rows, limits)


def _written(rows: StreamRows, limits: ShardLimits, folder: str) -> Iterator[LocalShard]:
    with progress(f"Writing {rows.split} as Parquet", total=rows.plan.num_rows) as bar:
        for shard in _files(rows, limits, folder):
            bar.update(shard.num_rows)
            yield shard


def _files(rows: StreamRows, limits: ShardLimits, folder: str) -> Iterator[LocalShard]:
    count = limits.num_shards or (rows.plan.num_shards if limits.max_bytes is None or limits.num_proc else 1)
    if not rows.plan.divides(count):
        if limits.num_shards is not None:
            yield from _dealt(rows, limits.num_shards, folder)
            return
        count = 1
    size = None if limits.num_shards else limits.shard_bytes
    parts = [replace(rows, plan=rows.plan.sharded(count, part, is_contiguous=True)) for part in range(count)]
    parts = parts if count > 1 else [rows]
    engine = get_engine(num_proc=limits.num_proc)
    if isinstance(engine, SerialEngine):
        for number, part in enumerate(parts):
            yield from _of_part(folder, size, (number, part))
        return
    uploads = limits.uploads
    options: Any = {"verb": "push_to_hub()", "folder": folder if uploads is None else None, "ordered": True}
    work = partial(_all_of_part, folder, size) if uploads is None else partial(_send_part, uploads, size)
    for _, made in module_state.run(engine, work, list(enumerate(parts)), rows.plan, **options):
        yield from made


def _all_of_part(folder: str, max_bytes: int | None, job: tuple[int, StreamRows]) -> list[LocalShard]:
    return list(_of_part(folder, max_bytes, job))


def _send_part(uploads: WorkerUploads, max_bytes: int | None, job: tuple[int, StreamRows]) -> list[LocalShard]:
    return uploads.sent(lambda folder: _of_part(folder, max_bytes, job))


def _of_part(folder: str, max_bytes: int | None, job: tuple[int, StreamRows]) -> Iterator[LocalShard]:
    number, rows = job
    name = partial(_name, folder, rows.split, number, token=f"-{os.urandom(4).hex()}")  # of this attempt
    for shard in write_shards(rows.batches(), rows.features, name, max_bytes):
        yield _local(shard, rows.split)


def _name(folder: str, split: str, part: int, number: int, token: str = "") -> str:
    return os.path.join(folder, f"{split}-{part:05d}-{number:05d}{token}.parquet")


def _local(shard: ShardFile, split: str) -> LocalShard:
    return LocalShard(shard.path, split, shard.num_rows, shard.num_bits // 8)


def _dealt(rows: StreamRows, count: int, folder: str) -> Iterator[LocalShard]:
    """Yield the rows, assigned to several files in turn: if their number is unknown, they cannot be cut into runs."""
    group = max(1 << 20, min(GROUP_BYTES, _DEALT_BYTES // count))
    names = (_name(folder, rows.split, 0, number) for number in range(count))
    with ExitStack() as opened:
        shards = [opened.enter_context(ShardFile(name, rows.features, group_bytes=group)) for name in names]
        seen = 0
        for batch in rows.batches():
            for number, shard in enumerate(shards):
                places = np.arange((number - seen) % count, batch.num_rows, count)
                if len(places):
                    shard.add(batch.take(pa.array(places)))
            seen += batch.num_rows
    for shard in shards:
        yield _local(shard, rows.split)

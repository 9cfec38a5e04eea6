"""`Pushing`: a dataset as Parquet files of a push: rows of each file, reproducible bytes, parallel writers."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.engines import get_engine
from datasets_core.errors import CastError, DatasetsCoreError, MediaError
from datasets_core.features.base import FeatureType, LargeList, List
from datasets_core.features.media.media import Media, MediaPaths, embed_table, has_media
from datasets_core.features.schema import Features
from datasets_core.io.split_mapping import Pushable
from datasets_core.progress import progress
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.rows import Rows
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    import pyarrow.parquet as pq

    from datasets_core.io.push_target import LocalShard, ShardLimits, Shards, WorkerUploads


# The size of rows in Arrow's layout, computed from their values, independent of batches.


types = pa.types


def num_bits(rows: pa.RecordBatch | pa.Table) -> int:
    """Return the size of the rows in bits; it is additive over parts of the rows.

    Counts values, offsets and lengths, but not validity bits, dictionaries and padding, which depend on the batches.
    Hugging Face `datasets` counts the bytes of the batches in memory, including validity bits, so that the card of
    unchanged rows may change with the batches.

    >>> num_bits(pa.table({"a": [1, 2, 3], "b": ["x", "yz", None]})) // 8
    39
    """
    return sum(_bits(column) for column in rows.columns)


def _bits(column: pa.Array | pa.ChunkedArray) -> int:
    if isinstance(column, pa.ChunkedArray):
        return sum(map(_array_bits, column.chunks))
    return _array_bits(column)


def _array_bits(array: pa.Array) -> int:
    kind, length = array.type, len(array)
    if not length or types.is_null(kind):
        return 0
    if isinstance(array, pa.ExtensionArray):
        return _array_bits(array.storage)
    if types.is_string(kind) or types.is_binary(kind):
        return 8 * (4 * length + _span(array, 4))
    if types.is_large_string(kind) or types.is_large_binary(kind):
        return 8 * (8 * length + _span(array, 8))
    if types.is_struct(kind):
        return sum(_array_bits(child) for child in array.flatten())
    if types.is_map(kind):
        return 32 * length + _array_bits(_shown(array.keys, array)) + _array_bits(_shown(array.items, array))
    if types.is_list(kind) or types.is_large_list(kind):
        return (32 if types.is_list(kind) else 64) * length + _array_bits(_shown(array.values, array))
    if types.is_fixed_size_list(kind):
        return _array_bits(array.values.slice(array.offset * kind.list_size, length * kind.list_size))
    try:
        return length * int(kind.bit_width)
    except ValueError:  # views and other types without a fixed width
        return 8 * int(array.nbytes)


def _span(array: pa.Array, width: int) -> int:
    """Return the size of the values, from the first and last offset."""
    offsets: Any = memoryview(array.buffers()[1]).cast("i" if width == 4 else "q")
    return int(offsets[array.offset + len(array)] - offsets[array.offset])


def _shown(values: pa.Array, array: pa.Array) -> pa.Array:
    """Return the child values in the lists of a slice."""
    offsets = array.offsets
    first, last = offsets[0].as_py(), offsets[len(offsets) - 1].as_py()
    return values.slice(first, last - first)


# The Parquet files of a push: equal rows give equal bytes, independent of their storage.


GROUP_BYTES = 100_000_000
"""Bytes of a row group in Arrow's layout: the unit that the viewer of the Hub reads, and that other tools write."""
GROUP_ROWS = 1 << 20
CHUNKS = {"min_chunk_size": 256 << 10, "max_chunk_size": 1 << 20, "norm_level": 0}
"""Content-defined page sizes, so that stores such as Xet detect shared content; the same as in Hugging Face `datasets`."""


class ShardFile:
    """One Parquet file, written row group by row group.

    Args:
        path: path of the new file.
        features: features of the columns; stored in the file.
        group_bytes: size of a row group in Arrow's layout, in bytes.

    Attributes:
        num_rows: number of rows written.
        num_bits: their size in Arrow's layout.

    Raises:
        CastError: Parquet does not support the type of a column.
        DatasetDiskError: the disk is full, read-only or forbidden.
    """

    def __init__(self, path: str, features: Features, *, group_bytes: int = GROUP_BYTES) -> None:
        from datasets_core.features.schema import plain_schema

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
        """Append rows."""
        batch = self._plain(batch)
        while batch.num_rows:
            size = num_bits(batch)
            fits = rows_that_fit(batch, self._group_bits - self._waiting_bits, size)
            fits = min(fits, GROUP_ROWS - self._waiting_rows) or int(not self._waiting)  # a larger row has its own group
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
        # One array for each column: page ends must not depend on the batches.
        group = pa.Table.from_batches(self._waiting, self._schema).combine_chunks()
        self._waiting, self._waiting_rows, self._waiting_bits = [], 0, 0
        with files.disk_errors(self.path):
            self._writer.write_table(group, row_group_size=max(1, group.num_rows))

    def close(self) -> None:
        """Write the buffered rows, and the footer."""
        try:
            if self._waiting:
                self._write_group()
            self._writer.add_key_value_metadata({"content_defined_chunking": json.dumps(CHUNKS)})
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
        self._writer.is_open = False  # aborted: pyarrow would write the footer when the object is deleted
        with contextlib.suppress(OSError):  # closing flushes buffers: the full disk was reported before
            self._out.close()


def write_shards(
    batches: Iterable[pa.RecordBatch], features: Features, name: Callable[[int], str], max_bytes: int | None
) -> Iterator[ShardFile]:
    """Write rows into a sequence of files; yield each when it is complete, at least one, possibly without rows.

    Args:
        batches: the rows.
        features: features of their columns.
        name: returns the path of a file by its number.
        max_bytes: size of a file in Arrow's layout in bytes; a larger row has its own file.  None: one file.
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
    """Return the number of rows, from the first, that take at most a number of bits.

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
    import pyarrow.parquet as pq

    leaves = _leaves(schema)
    media = {name for name, feature in features.items() if has_media(feature)}
    stored = [leaf for column, leaf in leaves if column in media]  # compressed inside the format, and without repeated content
    options: dict[str, Any] = {  # set per column in pyarrow, which its stubs do not allow
        "compression": {leaf: "none" if leaf in stored else "snappy" for _, leaf in leaves} or "snappy",
        "use_dictionary": [leaf for _, leaf in leaves if leaf not in stored],
        "column_encoding": dict.fromkeys(stored, "PLAIN"),
        "use_content_defined_chunking": CHUNKS,
    }
    try:
        return pq.ParquetWriter(out, schema, write_page_index=True, write_page_checksum=True, **options)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise CastError(f"Parquet does not support these columns: {error}", advice="Cast them before the push") from error


def _leaves(schema: pa.Schema) -> list[tuple[str, str]]:
    """Return the dataset column and the path in the file for each column of numbers or bytes that Parquet writes."""
    import pyarrow.parquet as pq

    out = pa.BufferOutputStream()
    try:
        with pq.ParquetWriter(out, schema):
            pass
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise CastError(f"Parquet does not support these columns: {error}", advice="Cast them before the push") from error
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


_MOST_PIECES = 2000  # limit of rows that are measured, evenly spaced in larger tables
_SAMPLE_ROWS = 1000
_EMBEDDED_ROWS, _EMBEDDED_BYTES = 100, 32 << 20  # approximate bytes of media files read at a time


@dataclass(frozen=True, slots=True)
class PushedRows:
    """Rows to write; can be sent to another process.

    Attributes:
        table: the table of the rows.
        index: the selected row numbers; None means all.
        features: features of the columns.
        paths: the paths in values that are allowed to be opened.
        split: name of the split.
        embeds: True to store the content of media files in the rows.
        first: number of the first row in the split.
    """

    table: RowTable
    index: Ints | None
    features: Features
    paths: MediaPaths
    split: str
    embeds: bool
    first: int = 0

    @classmethod
    def of(cls, dataset: Rows, split: str, *, embeds: bool) -> PushedRows:
        """Return the rows of a dataset, independent of its format.

        Args:
            dataset: the dataset.
            split: the name of its split.
            embeds: True to store the content of media files in the rows.
        """
        embeds = embeds and any(map(has_media, dataset._features.values()))
        return cls(dataset._table, dataset._index, dataset._features, dataset._media_paths().settled(), split, embeds)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return self.table.num_rows if self.index is None else len(self.index)

    def part(self, start: int, stop: int) -> PushedRows:
        """Return the rows from `start` to `stop`."""
        if self.index is None:
            return replace(self, table=self.table.slice(start, stop), first=self.first + start)
        return replace(self, index=self.index[start:stop], first=self.first + start)

    def gathered(self) -> PushedRows:
        """Return the same rows, without other rows of the table in memory."""
        if self.index is None or self.table.files:
            return self
        return replace(self, table=RowTable.from_batches(self.table.batches_at(self.index), self.table.schema), index=None)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, with the content of their media files."""
        row, step = self.first, 1 if self.embeds else None
        for batch in self.table.batches() if self.index is None else self.table.batches_at(self.index):
            if step is None:
                yield batch
                continue
            at = 0
            while at < batch.num_rows:
                table = self._embedded(batch.slice(at, step), row)
                yield from table.to_batches()
                at, row = at + table.num_rows, row + table.num_rows
                size = max(1, num_bits(table) // 8)
                step = max(1, min(_EMBEDDED_ROWS, 2 * step, _EMBEDDED_BYTES * table.num_rows // size))

    def _embedded(self, batch: pa.RecordBatch, row: int) -> pa.Table:
        try:
            return embed_table(pa.Table.from_batches([batch]), self.features, paths=self.paths)
        except MediaError as error:
            error.add_note(f"The error occurred in split {self.split!r}.")
            raise error.at(row=row + (error.row or 0)) from error.__cause__

    # -- sizes ---------------------------------------------------------------------------------------------------------

    def num_bytes(self) -> int:
        """Return the bytes of the rows in Arrow's layout, with embedded files: exact for few rows, otherwise estimated."""
        if self.index is None:
            size = self._stored_bytes()
        else:
            sample = self._sample()
            size = num_bits(sample) // 8 * self.num_rows // max(1, sample.num_rows)
        return size + (self._named_bytes() if self.embeds else 0)

    def _stored_bytes(self) -> int:
        table = self.table
        count = min(table.num_pieces, _MOST_PIECES)
        picked = np.linspace(0, table.num_pieces - 1, num=count).astype(int).tolist()  # all differ
        rows = bits = 0
        for number in picked:
            piece = table.piece(number)
            rows, bits = rows + piece.num_rows, bits + num_bits(piece)
        return bits * table.num_rows // rows // 8 if rows else 0

    def _sample(self) -> pa.Table:
        """Return a sample of the rows."""
        count = min(self.num_rows, _SAMPLE_ROWS)
        places = np.linspace(0, self.num_rows - 1, num=count).astype(np.int64)
        return self.table.take(places if self.index is None else self.index[places])

    def _named_bytes(self) -> int:
        """Return the sizes of media files, estimated from a sample."""
        sample = self._sample()
        found = 0
        for name, feature in self.features.items():
            for chunk in sample.column(name).chunks:
                for media in _media(chunk, feature):
                    found += sum(map(self._file_bytes, media.to_pylist()))
        return int(found * self.num_rows // max(1, sample.num_rows))

    def _file_bytes(self, value: dict[str, Any] | None) -> int:
        if value is None or value["bytes"] is not None or value["path"] is None or files.is_url(value["path"]):
            return 0
        with contextlib.suppress(OSError, DatasetsCoreError):  # reported with its row number when the row is written
            return int(os.path.getsize(self.paths.locate(value["path"])))
        return 0


def _media(array: pa.Array, feature: FeatureType) -> Iterator[pa.Array]:
    """Yield the arrays of media in a column."""
    if isinstance(feature, Media):
        yield array
    elif isinstance(feature, dict):
        for name, inner in feature.items():
            yield from _media(array.field(name), inner)
    elif isinstance(feature, (List, LargeList)):
        yield from _media(array.flatten(), feature.feature)


# -- files -------------------------------------------------------------------------------------------------------------


def shards_of(rows: PushedRows, limits: ShardLimits) -> Callable[[str], Iterator[LocalShard]]:
    """Return a function that writes the rows into files, one after the other, in a given folder.

    Args:
        rows: the rows of one split.
        limits: limits of the files; each process writes one file at a time.
    """
    return partial(_written, rows, limits)


def _written(rows: PushedRows, limits: ShardLimits, folder: str) -> Iterator[LocalShard]:
    from datasets_core.store import module_state  # 3 ms that reading does without

    parts = _Parts(rows, limits.count(0 if limits.num_shards else rows.num_bytes(), rows.num_rows))
    engine = get_engine(num_proc=min(limits.num_proc or 1, len(parts)))
    uploads = limits.uploads
    options: Any = {"verb": "push_to_hub()", "folder": folder if uploads is None else None, "ordered": True}
    work = partial(_write, folder) if uploads is None else partial(_write_and_send, uploads)
    with progress(f"Writing {rows.split} as Parquet", total=rows.num_rows) as bar:
        for _, shard in module_state.run(engine, work, parts, **options):
            bar.update(shard.num_rows)
            yield shard


def _write(folder: str, job: tuple[int, PushedRows]) -> LocalShard:
    from datasets_core.io.push_target import LocalShard

    number, rows = job
    name = f"{rows.split}-{number:05d}-{os.urandom(4).hex()}.parquet"  # of this attempt: an engine may run a job twice
    with ShardFile(os.path.join(folder, name), rows.features) as shard:
        for batch in rows.batches():
            shard.add(batch)
    return LocalShard(shard.path, rows.split, shard.num_rows, shard.num_bits // 8)


def _write_and_send(uploads: WorkerUploads, job: tuple[int, PushedRows]) -> LocalShard:
    (shard,) = uploads.sent(lambda folder: [_write(folder, job)])
    return shard


class _Parts(Sequence[tuple[int, PushedRows]]):
    """The rows of each file; their numbers of rows differ by at most one."""

    def __init__(self, rows: PushedRows, count: int) -> None:
        least, more = divmod(rows.num_rows, count)
        borders = [least * number + min(number, more) for number in range(count + 1)]
        self._rows, self._borders = rows, list(pairwise(borders))

    def __len__(self) -> int:
        return len(self._borders)

    @overload
    def __getitem__(self, number: int) -> tuple[int, PushedRows]: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[tuple[int, PushedRows]]: ...
    def __getitem__(self, number: int | slice) -> Any:
        if isinstance(number, slice):
            return [self[place] for place in range(*number.indices(len(self)))]
        part = self._rows.part(*self._borders[number])
        return number, part if len(self) == 1 else part.gathered()


# Pushes of datasets to the Hub as Parquet files.


class Pushing(Rows, Pushable):
    """A dataset that can be pushed to a repository."""

    @staticmethod
    def _pushed(
        splits: Mapping[str, Rows], limits: Mapping[str, ShardLimits], *, embeds: bool
    ) -> tuple[Features, Shards, bool]:
        """Return the common features of the splits, their shards, and whether their number is known.

        Args:
            splits: the rows by split.
            limits: limits of the shards of each split.
            embeds: True to store the content of media files in the rows.
        """
        from datasets_core.io.push_target import same_features  # takes 5 ms; reading does not need it

        empty = [name for name, dataset in splits.items() if not dataset.num_rows]
        features = same_features({name: dataset._features for name, dataset in splits.items()}, empty)
        rows = {name: PushedRows.of(dataset, name, embeds=embeds) for name, dataset in splits.items()}
        rows |= {name: replace(rows[name], features=features) for name in empty}
        return features, {name: shards_of(each, limits[name]) for name, each in rows.items()}, False

"""A folder prepared by TensorFlow Datasets, read in place: its records are the shards of a manifest."""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.building.tfds_folders.columns import TfdsReader, array_records
from datasets_core.building.tfds_folders.description import FEATURES_NAME, METADATA_NAME, TfdsDescription, TfdsSplit, content
from datasets_core.building.tfds_folders.layout import Fields, layout_of, untold_strings
from datasets_core.engines.threads import renewed_after_fork
from datasets_core.errors import DamagedShardError, DatasetsCoreError, ExampleError, FileFormatError, ManifestError, logger_of
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.records.frames import HEAD_BYTES, blocks_of, compression_of, frame_offsets, inflated
from datasets_core.records.reader import TFRecordReader
from datasets_core.records.wire.columns import decode_examples
from datasets_core.records.wire.values import RecordBlock
from datasets_core.store.manifest import MANIFEST_NAME, Manifest, ShardRecord, located
from datasets_core.store.pieces import (
    BatchLocations,
    BatchRows,
    FileStructure,
    RowRange,
    counts_of,
    locations_of_file,
    stored_blocks,
    stored_names,
)
from datasets_core.store.shard import Shard, ShardCache, loaded
from datasets_core.store.table import LazyShards, RowTable

# `RecordManifest`: a dataset whose shards are files of records that TensorFlow Datasets wrote: known, before any is
# read.


@dataclass(frozen=True, slots=True)
class RecordManifest(Manifest):
    """Content of a folder of records; a split may have no files."""

    def split_lengths(self) -> dict[str, list[int]]:
        return {name: [shard.rows for shard in shards] for name, shards in self.split_shards().items()}

    def split_shards(self) -> dict[str, list[ShardRecord]]:
        found: dict[str, list[ShardRecord]] = {name: [] for name in self.info.splits or ()}
        for shard in self.shards:
            found[shard.split].append(shard)
        return found


def check_there(folder: str, manifest: RecordManifest) -> None:
    """Check that at least one file of a dataset with rows exists.

    Raises:
        DamagedShardError: no file exists.
    """
    if any(shard.rows for shard in manifest.shards) and not any(shard.size for shard in manifest.shards):
        path = files.join(folder, manifest.shards[0].name)
        raise DamagedShardError(path, "this file and all others are missing", advice="Copy the files into the folder")


logger = logger_of(__name__)

_READ = ("tfrecord", "parquet")
_DECODED_BYTES = 1 << 20
_MOST_DECODED_ROWS = 4096
_MOST_BATCHES = 1 << 12  # of a dataset that is not large: rows before a damaged one are given but for those of its batch
_MOST_CLAIMED = 1 << 20  # batches of a file, of whose rows a stranger may claim any number
_MOST_MISSING_ROWS = 1 << 28  # of a file that is cut or missing
_MOST_RECORDS_PER_BYTE = 1032 // 16 + 1  # an empty record takes 16 bytes, and deflate makes 1,032 bytes of one at most
_FIRST_ROWS = 256  # that are looked at where features.json leaves something open
_MOST_LABEL_BYTES = 64 << 20
_LABELS = ".labels.txt"


@dataclass(frozen=True, slots=True)
class TfdsManifest(RecordManifest):
    """Content of a folder prepared by TensorFlow Datasets.

    Attributes:
        layout: layout of the rows in the records.
    """

    layout: Fields | None = None

    def own_rows(self, folder: str, ranges: Sequence[RowRange], **how: Any) -> RowTable:
        return record_rows(folder, self, ranges, **how)


def manifest_of(
    folder: str,
    description: TfdsDescription,
    storage_options: dict[str, Any] | None = None,
    *,
    file_format: str | None = None,
) -> TfdsManifest:
    """Return the manifest of a folder.

    Args:
        folder: local, or at a URL.
        description: content of its `dataset_info.json`.
        storage_options: options for the URL.
        file_format: the format to read, if the rows are stored in several.

    Raises:
        ManifestError: its metadata is invalid.
        FileFormatError: its rows are in files of an unsupported format.
    """
    features_path = files.join(folder, FEATURES_NAME)
    features = content(features_path, storage_options)
    if features is None:
        advice = "Prepare the dataset again with tensorflow-datasets 4.0 or newer"
        raise ManifestError(features_path, "is missing, and the content of the records is unknown without it", advice=advice)
    kind = _format(description, folder, file_format, storage_options)
    digest = hashlib.sha256(json.dumps(description.stored).encode() + features)

    def labels(name: str) -> list[str] | None:
        path = files.join(folder, f"{name}{_LABELS}")
        text = content(path, storage_options, most_bytes=_MOST_LABEL_BYTES)
        if text is None:
            return None
        digest.update(text)
        return text.decode("utf-8", "replace").split("\n")

    form = _parsed(features, features_path)
    layout = layout_of(form, labels, path=features_path)
    _check_claimed(description, folder, kind, storage_options)
    splits = [_counted(split, folder, kind, storage_options) for split in description.splits(kind)]
    sizes = _sizes(folder, splits, storage_options)
    _check_lengths(description, splits, sizes, kind)
    each = max(1, -(-sum(map(sum, (split.lengths or () for split in splits))) // _MOST_BATCHES))
    stands = next((name for split in splits for name in split.files if sizes.get(name)), None)
    if stands is not None and (bytes_keys := _bytes_keys(layout, files.join(folder, stands), kind, storage_options)):
        layout = layout_of(form, labels, path=features_path, bytes_keys=bytes_keys)
    metadata = content(files.join(folder, METADATA_NAME), storage_options)
    told = None if metadata is None else _parsed(metadata, files.join(folder, METADATA_NAME))
    info = description.info(TfdsReader(layout).features, splits, told)
    shards = tuple(
        _record(split, number, sizes.get(name, 0), each) for split in splits for number, name in enumerate(split.files)
    )
    digest.update(repr([(shard.name, shard.size) for shard in shards]).encode())
    is_local = not files.is_url(folder)
    blocks = {split.name: _blocks([shard for shard in shards if shard.split == split.name], is_local) for split in splits}
    return TfdsManifest(
        info,
        shards,
        kind,
        identity=digest.hexdigest(),
        write_order="key" if description.disable_shuffling else "hash",
        disable_shuffling=description.disable_shuffling,
        blocks=blocks,
        files={split.name: stored_names([files.join(folder, name) for name in split.files]) for split in splits},
        layout=layout,
    )


def record_rows(
    folder: str,
    manifest: TfdsManifest,
    ranges: Sequence[RowRange],
    *,
    in_memory: bool = False,
    storage_options: dict[str, Any] | None = None,
    structure: FileStructure | None = None,
) -> RowTable:
    """Return the rows of `ranges`, in their order, decoded when they are read. For the arguments, see `open_rows`."""
    folder = located(folder)
    by_split = manifest.split_shards()
    numbers: dict[tuple[str, int], int] = {}
    for found in ranges:
        numbers.setdefault((found.split, found.shard), len(numbers))
    records = [by_split[split][shard] for split, shard in numbers]
    shard_cache, reader = ShardCache(), reader_of(manifest)
    shards = LazyShards(
        [BatchRows(record.batches) for record in records],
        lambda number: record_shard(folder, manifest, records[number], reader, shard_cache, storage_options),
    )
    held: Sequence[Shard] = [loaded(shard) for shard in shards] if in_memory else shards
    runs = [(numbers[each.split, each.shard], each.start, each.stop) for each in ranges]
    return RowTable.from_shards(held, runs, schema=reader.schema, structure=structure)


def reader_of(manifest: TfdsManifest) -> TfdsReader:
    """Return the reader of the records of a folder."""
    assert manifest.layout is not None
    return TfdsReader(manifest.layout)


def record_shard(
    folder: str,
    manifest: TfdsManifest,
    record: ShardRecord,
    reader: TfdsReader,
    shard_cache: ShardCache,
    storage_options: dict[str, Any] | None = None,
) -> RecordShard:
    """Return one of the files as a shard."""
    return RecordShard(
        files.join(folder, record.name),
        manifest.file_format,
        reader,
        BatchRows(record.batches),
        shard_cache,
        together=_together(record),
        name=record.name,
        identity=f"{manifest.identity}/{record.name}",
        storage_options=storage_options,
    )


def damaged_records(
    folder: str, manifest: TfdsManifest, on_progress: Callable[[int], object] | None = None
) -> list[DatasetsCoreError]:
    """Read all rows of a folder; return the error of each file that is damaged.

    Args:
        folder: local folder.
        manifest: its manifest.
        on_progress: called after each file with its number of bytes.
    """
    found: list[DatasetsCoreError] = []
    reader = reader_of(manifest)
    for record in manifest.shards:
        try:
            for _ in record_shard(located(folder), manifest, record, reader, ShardCache()).batches():
                pass
        except DatasetsCoreError as error:
            found.append(error)
        if on_progress is not None:
            on_progress(record.size)
    return found


def _together(record: ShardRecord) -> int:
    """Return the number of batches of a file decoded together."""
    each = record.batches[0][0] if record.batches else 1
    return max(1, _decoded_rows(record.rows, record.size) // each)


def _decoded_rows(rows: int, size: int) -> int:
    """Return the number of rows decoded together, for a file of this many bytes."""
    return max(1, min(_MOST_DECODED_ROWS, _DECODED_BYTES * rows // size)) if size else _MOST_DECODED_ROWS


# -- recorded metadata --------------------------------------------------------------------------------------------------


def _parsed(data: bytes, path: str) -> Any:
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ManifestError(path, f"not valid JSON ({error})", advice="Copy or prepare the dataset again") from error


def _format(description: TfdsDescription, folder: str, asked: str | None, storage_options: dict[str, Any] | None) -> str:
    """Return the format of the files to read.

    Raises:
        FileFormatError: there are no files of a supported format, or none of the requested one.
    """
    standing = (description.file_format, *description.other_formats)
    if asked is not None and asked not in standing:
        raise FileFormatError(
            description.path,
            f"it has no files of the format {asked!r}. Available formats: {', '.join(standing)}",
            advice="Omit file_format=",
        )
    wanted = standing if asked is None else (asked,)
    has_package = importlib.util.find_spec("array_record") is not None
    for kind in wanted:
        if (kind in _READ or (kind == "array_record" and has_package)) and (
            kind == description.file_format or _stands(description, kind, folder, storage_options)
        ):
            return kind
    lacks = wanted[0] == "array_record" and not has_package
    raise FileFormatError(
        description.path,
        f"its files have the format {wanted[0]!r}, which is not supported{' without its package' if lacks else ''}",
        advice=("Run: pip install 'datasets_core[array_record]', or convert" if lacks else "Convert")
        + " them where TensorFlow Datasets is installed: "
        + f"tfds convert_format --dataset_dir={folder} --out_file_format=tfrecord --out_path=<another folder>",
    )


def _stands(description: TfdsDescription, kind: str, folder: str, storage_options: dict[str, Any] | None) -> bool:
    names = [name for ends in description.ends(kind) for name in ends[:1]]
    return any(files.entry(files.join(folder, name), storage_options) is not None for name in names)


def _check_claimed(description: TfdsDescription, folder: str, kind: str, storage_options: dict[str, Any] | None) -> None:
    """Check that the last file of a split with numbered files exists, before all of them are looked for.

    Raises:
        DamagedShardError: it does not exist.
    """
    for form, ends in zip(description.stored["splits"], description.ends(kind), strict=True):
        if form.get("shardLengths") is not None:
            continue
        for name in ends:
            path = files.join(folder, name)
            if files.entry(path, storage_options) is None:
                reason = f"the file is missing, and its number of rows is not recorded in {description.path}"
                raise DamagedShardError(path, reason, advice="Copy it into the folder")


def _check_lengths(description: TfdsDescription, splits: Sequence[TfdsSplit], sizes: dict[str, int], kind: str) -> None:
    """Refuse files with billions of recorded rows that their bytes cannot hold, before memory is allocated for them.

    Raises:
        ManifestError: a file has such a record.
    """
    for split in splits:
        for name, rows in zip(split.files, split.lengths or (), strict=True):
            size = sizes.get(name, 0)
            most = size * _MOST_RECORDS_PER_BYTE if kind == "tfrecord" or not size else rows
            if rows > max(most, _MOST_MISSING_ROWS):
                reason = f"shardLengths of split {split.name!r} has {rows:,} rows for {name}, which has {size:,} bytes"
                raise ManifestError(description.path, reason, advice="Copy or prepare the dataset again")


def _counted(split: TfdsSplit, folder: str, kind: str, storage_options: dict[str, Any] | None) -> TfdsSplit:
    """Return a split with the number of rows of each file. Old versions did not record it, so the rows are counted."""
    if split.lengths is not None:
        return split
    if kind != "tfrecord" or files.is_url(folder):
        reason = f"the numbers of rows of the files of split {split.name!r} are not recorded"
        raise ManifestError(files.join(folder, MANIFEST_NAME), reason, advice="Prepare the dataset again")
    lengths = []
    for name in split.files:
        path = files.join(folder, name)
        if files.entry(path) is None:
            raise DamagedShardError(
                path, "the file is missing, and its number of rows is not recorded", advice="Copy it into the folder"
            )
        with TFRecordReader(path) as reader:
            lengths.append(reader.num_records())
    return replace(split, lengths=tuple(lengths))


def _bytes_keys(layout: Fields, path: str, kind: str, storage_options: dict[str, Any] | None) -> set[str]:
    """Return the strings whose first records are bytes and not text; the metadata do not distinguish them."""
    keys = untold_strings(layout)
    if not keys:
        return set()
    try:
        with files.open_binary(path, storage_options) as data:
            cursor = RecordCursor(path, kind, data, total=_FIRST_ROWS)
            block = next(cursor.take(_FIRST_ROWS), None)
            columns = {} if block is None else decode_examples(block, {wire.encode() for wire in keys.values()})
    except (DatasetsCoreError, OSError):  # raised again when the rows are read
        return set()
    found = set()
    for key, wire in keys.items():
        column = columns.get(wire.encode(), {}).get("bytes")
        try:
            if column is not None:
                column.values.cast(pa.string())
        except pa.ArrowInvalid:
            found.add(key)
    return found


def _sizes(folder: str, splits: Sequence[TfdsSplit], storage_options: dict[str, Any] | None) -> dict[str, int]:
    """Return the bytes of each file that exists."""
    names = [name for split in splits for name in split.files]
    if not files.is_url(folder):
        found = {}
        for name in names:
            try:
                found[name] = os.stat(os.path.join(folder, name)).st_size
            except (FileNotFoundError, NotADirectoryError):
                continue
        return found
    entries = ((name, files.entry(files.join(folder, name), storage_options)) for name in names)
    return {name: entry.size for name, entry in entries if entry is not None}


def _record(split: TfdsSplit, number: int, size: int, each: int) -> ShardRecord:
    rows = (split.lengths or ())[number]
    each = max(1, min(each, _decoded_rows(rows, size)), -(-rows // _MOST_CLAIMED))
    whole, rest = divmod(rows, each)
    batches = tuple(run for run in ((each, whole), (rest, 1)) if run[0] and run[1])
    return ShardRecord(split.files[number], split.name, rows, size, size, "", batches)


def _blocks(shards: Sequence[ShardRecord], is_indexed: bool) -> str:
    rows, sizes, owners = [], [], []
    for number, shard in enumerate(shards):
        each = max(_together(shard) * (shard.batches[0][0] if shard.batches else 1), shard.rows >> 16)
        for first in range(0, shard.rows, each):
            rows.append(min(each, shard.rows - first))
            sizes.append(shard.size * rows[-1] // shard.rows)
            owners.append(number)
    return stored_blocks(RowBlocks.of(rows, sizes, owners, is_indexed=is_indexed, file_count=len(shards)))


# Shards of such a folder: files of Examples, decoded on use.


# `RecordCursor`: the records of an open file, taken in blocks: a TFRecord file, or a column of a Parquet file.


_BLOCK_BYTES = 1 << 20
_COLUMN = "data"
_ADVICE = "Copy the file again, or prepare the dataset again"


class RecordCursor:
    """Forward reader of a file.

    Args:
        path: name of the file in messages.
        kind: "tfrecord", "parquet" or "array_record".
        data: the file, which is closed with the cursor.
        number: the first record to read.
        place: the byte at which that record begins.
        total: recorded number of records.

    Attributes:
        number: the next record.
        is_plain: True for an uncompressed file, so that a later cursor may begin at `place`.

    Raises:
        DamagedShardError: the file is not a Parquet file with a column of records.
    """

    def __init__(self, path: str, kind: str, data: IO[bytes], *, number: int = 0, place: int = 0, total: int) -> None:
        self._path, self._data, self._total = path, data, total
        self.number, self.is_plain = number, False
        self._pending: RecordBlock | None = None
        self._place = place
        if kind != "tfrecord":
            self._blocks = self._of_parquet() if kind == "parquet" else array_records(path, number)
            return
        head = data.read(HEAD_BYTES) if place == 0 else b""
        self.is_plain = place > 0 or not compression_of(head)
        data.seek(place)
        plain = data if self.is_plain else inflated(data, name=path)
        self._blocks = blocks_of(plain, name=path, first=number, offset=place, block_bytes=_BLOCK_BYTES)

    @property
    def place(self) -> int:
        """The byte at which the next record begins, in an uncompressed file of records."""
        block = self._pending
        return self._place if block is None else int(frame_offsets(block)[0])

    def take(self, count: int) -> Iterator[RecordBlock]:
        """Yield the next `count` records in blocks; a block is only valid until the next one is read.

        Raises:
            DamagedShardError: the file has fewer records.
            DamagedRecordError: one of them is damaged.
        """
        while count:
            block = self._next()
            if block is None:
                found, total = self.number, self._total
                raise DamagedShardError(
                    self._path, f"the file has {found:,} records, but {total:,} are recorded", advice=_ADVICE
                )
            part = block[:count]
            rest = block[len(part) :]
            self._place = int(part.stops[-1]) + 4 + block.offset
            self._pending = rest if len(rest) else None
            self.number += len(part)
            count -= len(part)
            yield part

    def skip(self, count: int) -> None:
        """Skip records."""
        for _ in self.take(count):
            pass

    def check_end(self) -> None:
        """Check that no record follows.

        Raises:
            DamagedShardError: a record follows.
        """
        if self._next() is not None:
            reason = f"the file has more than the {self._total:,} recorded records"
            raise DamagedShardError(self._path, reason, advice=_ADVICE)

    def close(self) -> None:
        """Close the file."""
        self._blocks = iter(())
        self._pending = None
        self._data.close()

    def __del__(self) -> None:
        self._data.close()  # of who stops in the middle

    def _next(self) -> RecordBlock | None:
        if self._pending is None:
            self._pending = next(self._blocks, None)
        return self._pending

    def _of_parquet(self) -> Iterator[RecordBlock]:
        import pyarrow.parquet as pq  # takes 20 ms; files of records do not need it

        try:
            file = pq.ParquetFile(self._data)
            field = file.schema_arrow.field(_COLUMN)
            if not pa.types.is_binary(field.type):
                raise ValueError(f"its column {_COLUMN!r} is {field.type}")
            number = 0
            for batch in file.iter_batches(1024, columns=[_COLUMN]):
                if batch.column(0).null_count:
                    raise ValueError(f"its column {_COLUMN!r} has nulls")
                yield RecordBlock.of(batch.column(0).to_pylist(), first=number, name=self._path)
                number += batch.num_rows
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            reason = f"cannot be read as Parquet with a column of records ({' '.join(str(error).split())})"
            raise DamagedShardError(self._path, reason, advice=_ADVICE) from error


_MISSING_ADVICE = "Copy the file into the folder, or prepare the dataset again"


class RecordShard:
    """A file of records; see `Shard`.

    Records are decoded some batches at a time, and reading goes forward in the file, or back to the last known position;
    decoded batches are kept in the shard cache.  Batches before a damaged record can be read.

    Args:
        path: the file.
        kind: "tfrecord", "parquet" or "array_record".
        reader: converts its records to rows.
        rows: number of rows of each batch.
        shard_cache: cache shared by the shards of one dataset.
        together: number of batches decoded together.
        name: its name in row ids; None: its rows have none.
        identity: identity of its rows.
        storage_options: options for fsspec.
    """

    is_mapped = False

    def __init__(
        self,
        path: str,
        kind: str,
        reader: TfdsReader,
        rows: BatchRows,
        shard_cache: ShardCache,
        *,
        together: int = 1,
        name: str | None = None,
        identity: str = "",
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        self.path, self.paths, self.identity, self.schema = path, (path,), identity, reader.schema
        self._kind, self._reader, self._rows, self._shard_cache = kind, reader, rows, shard_cache
        self._name, self._storage_options, self._together = name, storage_options, together
        self._ends = np.cumsum(np.concatenate([np.zeros(1, np.int64), counts_of(rows)]))
        self._token = shard_cache.token()
        self._places = {0: 0}  # the byte at which a stretch of batches begins, as far as it is known
        self._failures: dict[int, DatasetsCoreError] = {}  # of stretches whose end cannot be read
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Create the lock and the state of the open file for this process."""
        self._lock = threading.RLock()
        self._cursor: RecordCursor | None = None

    def batch_rows(self) -> Sequence[int]:
        return self._rows

    def locations(self) -> BatchLocations | None:
        return None if self._name is None else locations_of_file(self.path, self._name, self._rows)

    def batch(self, index: int) -> pa.RecordBatch:
        """See `Shard`.

        Raises:
            DamagedShardError: the file is missing, or has another number of records than recorded.
            DamagedRecordError, ExampleError: a record is damaged, or does not fit the features.
        """
        number = index // self._together
        with self._lock:
            found = self._shard_cache.decoded(self._token, number)
            if found is None:
                found = self._decoded(number)
                self._shard_cache.keep(self._token, number, found)
            failure = self._failures.get(number)
        begin, start, stop = (int(self._ends[at]) for at in (number * self._together, index, index + 1))
        if failure is not None and (stop - begin > found.num_rows or index + 1 == len(self._rows)):
            raise copy.copy(failure)
        return found.slice(start - begin, stop - start)

    def compare(self, index: int) -> None:
        """See `Shard`: each record has its own checksums, which are compared when it is decoded."""

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield all rows, in batches of any size; none is kept.

        Raises:
            DamagedShardError, DamagedRecordError, ExampleError: as `batch`.
        """
        for number in range(-(-len(self._rows) // self._together)):
            with self._lock:
                batch = self._decoded(number)
            if batch.num_rows:
                yield batch
            if number in self._failures:
                raise copy.copy(self._failures[number])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            cursor, self._cursor = self._cursor, None
            if cursor is not None:
                cursor.close()

    def _decoded(self, number: int) -> pa.RecordBatch:
        """Return the rows of a stretch of batches, as far as they can be read; `_failures` has the error for the rest."""
        first, stop = number * self._together, min((number + 1) * self._together, len(self._rows))
        parts: list[pa.RecordBatch] = []
        self._failures.pop(number, None)
        try:
            cursor = self._at(number)
            for block in cursor.take(int(self._ends[stop] - self._ends[first])):
                parts += self._read(block)
            if stop == len(self._rows):
                cursor.check_end()
                self.close()
            elif cursor.is_plain:
                self._places[number + 1] = cursor.place
        except (FileFormatError, DamagedShardError) as error:
            self._failures[number] = error
            self.close()
        except BaseException:
            self.close()
            raise
        if len(parts) == 1:
            return parts[0]
        return pa.concat_batches(parts) if parts else pa.RecordBatch.from_pylist([], self.schema)

    def _read(self, block: RecordBlock) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a block; if a record cannot be read, yield the rows before it, and then raise its error."""
        try:
            yield self._reader.read(block)
        except ExampleError as error:
            if error.record is not None and error.record > block.first:
                yield self._reader.read(block[: error.record - block.first])
            raise

    def _at(self, number: int) -> RecordCursor:
        """Return a cursor at the first record of a stretch."""
        first = int(self._ends[number * self._together])
        if self._cursor is None or self._cursor.number > first:
            self.close()
            near = max(known for known in self._places if known <= number)
            self._cursor = self._opened(int(self._ends[near * self._together]), self._places[near])
        self._cursor.skip(first - self._cursor.number)
        return self._cursor

    def _opened(self, number: int, place: int) -> RecordCursor:
        try:
            data = files.open_binary(self.path, self._storage_options)
        except (FileNotFoundError, NotADirectoryError) as error:
            reason = f"the file is missing ({self._ends[-1]:,} rows)"
            raise DamagedShardError(self.path, reason, advice=_MISSING_ADVICE) from error
        except OSError as error:
            raise DamagedShardError(
                self.path, f"cannot be opened ({error.strerror or error})", advice=_MISSING_ADVICE
            ) from error
        try:
            return RecordCursor(self.path, self._kind, data, number=number, place=place, total=int(self._ends[-1]))
        except BaseException:
            data.close()
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        told: dict[str, Any] = {"together": self._together, "name": self._name, "identity": self.identity}
        told["storage_options"] = self._storage_options
        return _record_shard, (self.path, self._kind, self._reader, self._rows, self._shard_cache, told)


def _record_shard(
    path: str, kind: str, reader: TfdsReader, rows: BatchRows, shard_cache: ShardCache, told: dict[str, Any]
) -> RecordShard:
    return RecordShard(path, kind, reader, rows, shard_cache, **told)

"""A folder prepared by TensorFlow Datasets, read in place: its records are the shards of a manifest."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from datasets_core import files
from datasets_core.building.tfds_folders.columns import TfdsReader
from datasets_core.building.tfds_folders.description import FEATURES_NAME, METADATA_NAME, TfdsDescription, TfdsSplit
from datasets_core.building.tfds_folders.layout import Fields, layout_of, untold_strings
from datasets_core.building.tfds_folders.shards import RecordCursor, RecordShard
from datasets_core.errors import DamagedShardError, DatasetsCoreError, FileFormatError, ManifestError
from datasets_core.meta.listings import UnfitFileError, small_bytes
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.meta.splits import RowRange
from datasets_core.records.reader import TFRecordReader
from datasets_core.records.wire.columns import decode_examples
from datasets_core.store.manifest import MANIFEST_NAME, Manifest, ShardRecord, located
from datasets_core.store.pieces import BatchRows, FileStructure, stored_blocks, stored_names
from datasets_core.store.shard import Shard, ShardCache, loaded
from datasets_core.store.table import LazyShards, RowTable

# `RecordManifest`: a dataset whose shards are files of records that TensorFlow Datasets wrote: known, before any is
# read.


MOST_JSON_BYTES = 256 << 20


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
    """See that some file of a dataset that has rows is there.

    Raises:
        DamagedShardError: none is.
    """
    if any(shard.rows for shard in manifest.shards) and not any(shard.size for shard in manifest.shards):
        path = files.join(folder, manifest.shards[0].name)
        raise DamagedShardError(path, "this file and all others are missing", advice="Copy the files into the folder")


def content(path: str, storage_options: dict[str, Any] | None = None, *, most_bytes: int = MOST_JSON_BYTES) -> bytes | None:
    """Return a small file that a stranger may have laid there; None if there is none.

    Args:
        path: local, or a URL.
        storage_options: for the URL.
        most_bytes: the largest that is read.

    Raises:
        ManifestError: it cannot be read, is larger, or no regular file.
    """
    try:
        if not files.is_url(path):
            return small_bytes(files.local_path(path), most_bytes=most_bytes)
        with files.open_binary(path, storage_options) as handle:
            data: bytes = handle.read(most_bytes + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnfitFileError as error:
        raise ManifestError(path, str(error)) from error
    except OSError as error:
        raise ManifestError(path, f"cannot be read ({error.strerror or error})") from error
    if len(data) > most_bytes:
        raise ManifestError(path, f"more than {most_bytes:,} bytes")
    return data


logger = logging.getLogger(__name__)

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
        storage_options: for the URL.
        file_format: the format to read, if the rows are stored in several.

    Raises:
        ManifestError: its metadata cannot be understood.
        FileFormatError: its rows are in files of an unsupported format.
    """
    features_path = files.join(folder, FEATURES_NAME)
    features = content(features_path, storage_options)
    if features is None:
        advice = "Prepare the dataset again with tensorflow-datasets 4.0 or newer"
        raise ManifestError(features_path, "is missing, so that nothing tells what its records hold", advice=advice)
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
    """Return the rows of `ranges`, in their order, decoded when they are read. Args: `open_rows`."""
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
    """Return the reader of its records."""
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
    """Return one of the files."""
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


# -- what is recorded --------------------------------------------------------------------------------------------------


def _parsed(data: bytes, path: str) -> Any:
    try:
        return json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ManifestError(path, f"not valid JSON ({error})", advice="Copy or prepare the dataset again") from error


def _format(description: TfdsDescription, folder: str, asked: str | None, storage_options: dict[str, Any] | None) -> str:
    """Return the format of the files to read.

    Raises:
        FileFormatError: no supported format, or not the requested one.
    """
    standing = (description.file_format, *description.other_formats)
    if asked is not None and asked not in standing:
        raise FileFormatError(
            description.path,
            f"it has no files of the format {asked!r}. Available formats: {', '.join(standing)}",
            advice="Leave file_format= out",
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
                reason = f"the file is missing, and its rows are not on record in {description.path}"
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
                reason = f"shardLengths of split {split.name!r} tell of {rows:,} rows in {name}, which has {size:,} bytes"
                raise ManifestError(description.path, reason, advice="Copy or prepare the dataset again")


def _counted(split: TfdsSplit, folder: str, kind: str, storage_options: dict[str, Any] | None) -> TfdsSplit:
    """Return a split with the rows of each file, which old versions did not record: they are counted."""
    if split.lengths is not None:
        return split
    if kind != "tfrecord" or files.is_url(folder):
        reason = f"the rows of the files of split {split.name!r} are not on record"
        raise ManifestError(files.join(folder, MANIFEST_NAME), reason, advice="Prepare the dataset again")
    lengths = []
    for name in split.files:
        path = files.join(folder, name)
        if files.entry(path) is None:
            raise DamagedShardError(
                path, "the file is missing, and its rows are not on record", advice="Copy it into the folder"
            )
        with TFRecordReader(path) as reader:
            lengths.append(reader.num_records())
    return replace(split, lengths=tuple(lengths))


def _bytes_keys(layout: Fields, path: str, kind: str, storage_options: dict[str, Any] | None) -> set[str]:
    """Return the strings whose first records are bytes and not text; this is recorded nowhere."""
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
    """Return the bytes of each file that is there."""
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

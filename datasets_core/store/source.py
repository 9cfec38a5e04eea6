"""`open_rows`: row ranges of a manifest as a table, opened on use; checks of shards; `verify_folder`."""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, overload

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import DamagedShardError, DatasetDiskError, DatasetsCoreError, ManifestError
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import plain_schema
from datasets_core.meta.info import Deferred
from datasets_core.meta.splits import ReadInstruction
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import (
    MANIFEST_NAME,
    MAX_BELIEVED,
    MAX_IN_JSON,
    Manifest,
    ShardRecord,
    check_ends,
    check_size,
    is_shard_name,
    located,
    read_manifest,
)
from datasets_core.store.pieces import BatchRows, BatchRowsOf, FileStructure, Ints, RowRange, RowRanges, Span
from datasets_core.store.shard import FileShard, Shard, ShardCache, loaded, parquet_schema
from datasets_core.store.table import LazyShards, RowTable

# The files of the rows, and the consequences for paths in rows: which may be opened, and how URLs are fetched.


def paths_of_files(paths: Iterable[str]) -> MediaPaths:
    """Return the paths that rows of some files may open: those below the folders of these files; all paths if there are no
    files.

    >>> paths_of_files(["/data/birds/train.parquet", "zip://a.json::/data/owls.zip"]).roots
    ('/data/birds', '/data')
    """
    named = list(paths)
    return paths_below(folder_of(path) for path in named) if named else MediaPaths(None, fetch)


def paths_below(folders: Iterable[str]) -> MediaPaths:
    """Return the paths below some folders that their rows may open; the root of the disk is excluded."""
    named = (folder if files.is_url(folder) else os.path.abspath(files.local_path(folder)) for folder in folders)
    return MediaPaths(tuple(dict.fromkeys(folder for folder in named if folder.strip(os.sep))), fetch)


def dataset_folder(cache_dir: str, dataset: str, config_id: str, version: str, key: str) -> str:
    """Return the folder of a dataset in the cache; `owner/name` becomes `owner___name`.

    >>> dataset_folder("/c", "acme/reviews", "default", "1.0.0", "ab12")
    '/c/acme___reviews/default/1.0.0/ab12'
    """
    return os.path.join(cache_dir, dataset.replace("/", "___"), config_id, version, key)


def folder_of(path: str) -> str:
    """Return the folder of a file; for a member of an archive, the folder of the archive."""
    source = path.rpartition("::")[2]
    if files.is_url(source):
        return source.rpartition("/")[0]
    return os.path.dirname(os.path.abspath(files.local_path(source)))


def fetch(url: str) -> str:
    """Return the local copy of the file at a URL, in the download cache.

    Raises:
        DownloadError: it cannot be fetched.
        OfflineError: offline mode is on.
    """
    from datasets_core.fetch.checksums import DownloadConfig
    from datasets_core.fetch.downloads import DownloadManager  # 60 ms that local files do without

    place: str = DownloadManager(download_config=DownloadConfig(disable_tqdm=True)).download(url)
    return place


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
    is_lazy: bool = False,
    is_foreign: bool = False,
    structure: FileStructure | None = None,
) -> RowTable:
    """Return the rows of `ranges`, in their order.

    The sizes of the shards in `ranges` are checked on the disk (`check_shards`). Each shard is opened, and checked again, when
    a row of it is read; other shards are not accessed.

    Args:
        folder: the dataset, local or remote.
        manifest: manifest of the dataset.
        ranges: the rows, as `row_ranges` gives them.
        in_memory: True to read the shards instead of mapping them.
        storage_options: options for fsspec.
        has_ids: True if its rows have ids, with the shard names of the manifest; not for a cache, whose file names
            are private.
        is_asked: False to skip the check of the disk: missing files are found when they are read.
        is_read: True to read batch by batch instead of mapping, without caching: for one pass in bounded memory.
        is_foreign: True for a folder that others may have written: its values are checked before they are used.
        is_lazy: True to make the schema, and raise its errors, on first use, if the columns are plain values.
        structure: structure of these rows: see `structure_of`.

    Raises:
        DamagedShardError: a shard is missing, truncated or altered.
    """
    folder = located(folder)
    own: RowTable | None = manifest.own_rows(
        folder, ranges, in_memory=in_memory, storage_options=storage_options, structure=structure
    )
    if own is not None:
        return own
    verify_reads = settings().verify_reads
    found = RowRanges.of(ranges)
    pairs, numbers = _distinct(found.array[:, :2])
    records, rows = _records_of(manifest, found.splits, pairs)
    if is_asked and len(records) <= MAX_IN_JSON:
        check_shards(folder, records, manifest.file_format, storage_options)
    caches: list[ShardCache] = []  # one, made with the first shard
    located_in = _paths_in(folder)

    def opened(record: ShardRecord, schema: pa.Schema | None) -> FileShard:
        if not caches:
            caches.append(ShardCache(max_bytes=0) if is_read else ShardCache())
        return FileShard(
            located_in(record.name),
            manifest.file_format,
            caches[0],
            rows=BatchRows(record.batches),
            schema=schema,
            in_memory=in_memory,
            storage_options=storage_options,
            identity=record.sha256,
            size=record.size,
            id_name=record.name if has_ids else None,
            is_read=is_read,
            sums=record.crc32c,
            verify_reads=verify_reads,
            is_foreign=is_foreign,
        )

    def schema_of_shards() -> pa.Schema:
        schema = _schema_on_record(manifest)
        if schema is not None:
            return schema
        first = (records or manifest.shards)[:1]  # any of them holds it, whatever the split
        check_shards(folder, first, manifest.file_format, storage_options)
        return _stored_schema(manifest, opened(first[0], None)) if first else _described_schema(manifest)

    deferred = Deferred(schema_of_shards)
    is_lazy = is_lazy and bool(manifest.schema) and type(vars(manifest.info)["features"]) is Deferred
    if is_foreign:
        _check_counts(records, rows, lambda record: opened(record, None))
    shards = LazyShards(rows, lambda number: opened(records[number], deferred.value))
    held: Sequence[Shard] = [loaded(shard) for shard in shards] if in_memory else shards
    runs = np.column_stack([numbers, found.array[:, 2:]])
    return RowTable.from_shards(held, runs, schema=deferred if is_lazy else deferred.value, structure=structure)


def _distinct(pairs: Ints) -> tuple[Ints, Ints]:
    """Return the distinct pairs of split and shard, in the order of their first range, and the number of each range's pair."""
    if (pairs[1:, 0] == pairs[:-1, 0]).all() and (pairs[1:, 1] > pairs[:-1, 1]).all():
        return pairs, np.arange(len(pairs))
    keys = (pairs[:, 0] << 40) + pairs[:, 1]
    order = np.argsort(keys, kind="stable")
    is_first = np.diff(keys[order], prepend=-1) > 0
    firsts = order[is_first]
    ranks = np.empty(len(firsts), np.int64)
    ranks[np.argsort(firsts)] = np.arange(len(firsts))
    numbers = np.empty(len(keys), np.int64)
    numbers[order] = ranks[np.cumsum(is_first) - 1]
    return pairs[np.sort(firsts)], numbers


def _records_of(
    manifest: Manifest, splits: Sequence[str], pairs: Ints
) -> tuple[Sequence[ShardRecord], Sequence[Sequence[int]]]:
    """Return the records of shards, and the rows of their batches."""
    if (index := manifest.index) is not None:
        chosen = index.numbers(splits, pairs)
        return Chosen(manifest.shards, chosen), BatchRowsOf(index.runs, chosen)
    by_split = manifest.split_shards()
    numbers: list[list[int]] = pairs.tolist()
    records = [by_split[splits[split]][shard] for split, shard in numbers]
    return records, [BatchRows(record.batches) for record in records]


class Chosen(Sequence[ShardRecord]):
    """Some shards of an index, by their numbers."""

    def __init__(self, shards: Sequence[ShardRecord], numbers: Ints) -> None:
        self._shards, self._numbers = shards, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> ShardRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Chosen: ...
    def __getitem__(self, index: int | slice) -> ShardRecord | Chosen:
        found = self._numbers[index]
        return Chosen(self._shards, found) if isinstance(index, slice) else self._shards[int(found)]


def _check_counts(
    records: Sequence[ShardRecord], rows: Sequence[Sequence[int]], opened: Callable[[ShardRecord], FileShard]
) -> None:
    """Compare recorded numbers of batches with the files if there are very many; for an index, only for its largest shards."""
    if not isinstance(rows, BatchRowsOf):
        counts = np.fromiter(map(len, rows), np.int64, len(rows))
        doubtful = list(range(len(rows))) if counts.sum() > MAX_BELIEVED else []
    else:
        num_runs, flat = rows.coded(np.arange(len(rows)))
        ends = np.concatenate([[0], np.cumsum(flat[:, 1])])[np.concatenate([[0], np.cumsum(num_runs)])]
        doubtful = np.flatnonzero(np.diff(ends) > MAX_BELIEVED // max(1, len(rows)) + MAX_IN_JSON).tolist()
    for number in doubtful:
        opened(records[number]).check_count()


# Damage that a reader found: the next load compares the shards of the folder, and makes the damaged ones again.


_DAMAGED = ".damaged"


def note_damage(path: str) -> None:
    """Note in the folder of a built dataset that a reader found damage in a shard; a read-only folder stays as it is.

    Saved datasets and results of `map` have no note, since the next load does not build them again.

    Args:
        path: the shard.
    """
    folder = os.path.dirname(path)
    is_other = os.path.basename(folder).startswith("cache-") or os.path.exists(os.path.join(folder, "state.json"))
    if not files.is_url(path) and not is_other and os.path.exists(os.path.join(folder, MANIFEST_NAME)):
        with contextlib.suppress(OSError):
            open(os.path.join(folder, _DAMAGED), "ab").close()


def has_damage(folder: str) -> bool:
    """Return True if a reader has found damage in a folder."""
    return not files.is_url(folder) and os.path.exists(os.path.join(folder, _DAMAGED))


def clear_damage(folder: str) -> None:
    """Remove the note of damage, if there is one."""
    with contextlib.suppress(FileNotFoundError), files.disk_errors(folder):
        os.unlink(os.path.join(folder, _DAMAGED))


def structure_of(manifest: Manifest, split: str | ReadInstruction) -> FileStructure | None:
    """Return the row ranges of a split expression in the files that it was built from; None if they were not recorded.

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
    """Check that shards exist with their recorded sizes, as reported by their disk or store.

    The first and last bytes of a local shard that was written after the manifest are checked as well; those of other shards are
    checked when they are opened.

    Raises:
        DamagedShardError: one is missing, truncated or altered.
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
        except OSError as error:
            if isinstance(error, DatasetsCoreError):
                raise
            raise DatasetDiskError.of(error, path, action="read") from error


def _paths_in(folder: str) -> Callable[[str], str]:
    """Return a function from file names to paths in a folder: `files.join` is too slow for a thousand files."""
    if files.is_url(folder):
        return lambda name: files.join(folder, name)
    before = os.path.join(folder, "")
    return lambda name: before + name


def _missing(path: str, record: ShardRecord) -> int:
    raise DamagedShardError(path, f"the shard is missing ({record.rows:,} rows of split {record.split!r})")


# -- the schema --------------------------------------------------------------------------------------------------------


def _schema_on_record(manifest: Manifest) -> pa.Schema | None:
    """Return the schema of all shards from the manifest: that of its features, if the shards were written with it."""

    if not manifest.schema:
        return None
    schema = plain_schema(_described_schema(manifest))
    return schema if Hasher.hash(schema) == manifest.schema else None


def with_schema(manifest: Manifest, folder: str) -> Manifest:
    """Return the manifest with the schema hash of its shards, which are in a local folder."""
    if not manifest.shards:
        return manifest
    shard = FileShard(os.path.join(folder, manifest.shards[0].name), manifest.file_format, ShardCache())
    return replace(manifest, schema=Hasher.hash(_stored_schema(manifest, shard)))


def _stored_schema(manifest: Manifest, shard: FileShard) -> pa.Schema:
    return _written_schema(manifest, shard.schema) if manifest.file_format == "parquet" else shard.schema


def _written_schema(manifest: Manifest, stored: pa.Schema) -> pa.Schema:
    """Return the schema of the rows that a Parquet shard was written from, if it stores them with other types
    (`parquet_schema`).
    """

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


# Verification: every shard of a finished dataset is hashed again and compared with the manifest.


_BLOCK = 1 << 20
_THREADS = 4


class Problem(NamedTuple):
    """One problem.

    Attributes:
        path: the file.
        kind: "manifest" (missing or invalid), "missing", "size", "sha256", "crc32c" (of a record batch, where no sha256 is on
            record), "unreadable" or "extra" (a shard that the manifest does not name).
        detail: what was found and what was expected.
    """

    path: str
    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.path}: {self.detail}"


def verify_folder(
    path: str,
    on_progress: Callable[[int], object] | None = None,
    *,
    storage_options: dict[str, Any] | None = None,
) -> list[Problem]:
    """Hash every shard of the dataset in `path`, local or remote; return the problems.

    Args:
        path: the folder of one finished dataset.
        on_progress: called for every block with its number of bytes; by one thread at a time.
        storage_options: options for fsspec.

    Returns:
        Problems, in the order of the shards; empty if there are none.
    """
    from datasets_core.engines.pool import ThreadEngine

    path = located(path)
    try:
        manifest = read_manifest(path, storage_options)
    except ManifestError as error:
        return [Problem(error.path, "manifest", error.reason)]
    if manifest is None:
        return [Problem(path, "manifest", "there is no finished dataset here: the manifest is missing")]
    try:
        names = manifest.file_names()
    except ManifestError as error:
        return [Problem(error.path, "manifest", error.reason)]
    lock = threading.Lock()

    def told(num_bytes: int) -> None:
        if on_progress is not None:
            with lock:
                on_progress(num_bytes)

    engine = ThreadEngine(min(_THREADS, os.cpu_count() or 1))
    checks = engine.run(lambda shard: _problem(path, shard, told, storage_options), manifest.shards, ordered=True)
    problems = [problem for _, problem in checks if problem is not None]
    for entry in files.list_files(path, storage_options):
        name = entry.path.replace(os.sep, "/").rpartition("/")[2]
        if is_shard_name(name) and name not in names:
            problems.append(Problem(entry.path, "extra", "a shard that is not in the manifest; `cache gc` removes it"))
    return problems


def _problem(
    folder: str, shard: ShardRecord, told: Callable[[int], object], storage_options: dict[str, Any] | None
) -> Problem | None:
    path = files.join(folder, shard.name)
    sha256 = hashlib.sha256()
    size = 0
    try:
        with files.open_binary(path, storage_options) as handle:
            while block := handle.read(_BLOCK):
                sha256.update(block)
                size += len(block)
                told(len(block))
    except FileNotFoundError:
        return Problem(path, "missing", f"the shard is missing ({shard.rows:,} rows of split {shard.split!r})")
    except OSError as error:
        return Problem(path, "unreadable", f"the shard cannot be read ({error})")
    if size != shard.size:
        return Problem(path, "size", f"the shard has {size:,} bytes, expected {shard.size:,}")
    if shard.sha256 and sha256.hexdigest() != shard.sha256:
        place = _damage(path, shard, storage_options)
        reason = f"the shard has sha256 {sha256.hexdigest()}, expected {shard.sha256}"
        return Problem(path, "sha256", f"{reason}; {place}" if place else reason)
    if not shard.sha256 and (place := _damage(path, shard, storage_options)):
        return Problem(path, "crc32c", place)
    return None


def _damage(path: str, record: ShardRecord, storage_options: dict[str, Any] | None) -> str:
    """Describe the first batch of a shard that differs from its checksum; "" if none does or no checksums were recorded."""
    if not record.crc32c:
        return ""
    rows = BatchRows(record.batches)
    shard = FileShard(
        path, "arrow", ShardCache(max_bytes=0), rows=rows, storage_options=storage_options, is_read=True, sums=record.crc32c
    )
    try:
        for index in range(len(rows)):
            shard.batch(index)
    except DamagedShardError as error:
        return error.reason
    return ""

"""Rows of a folder of records as Arrow files in the cache: a split is converted once, when it is first read by row number."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

import pyarrow as pa

from datasets_core import files
from datasets_core.building.builder import ArrowBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.record_manifest import Conversion, RecordManifest
from datasets_core.building.tfds_folder import TfdsManifest, reader_of, record_shard
from datasets_core.config import settings
from datasets_core.fetch.download_config import DownloadMode
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.rows import RowRange, absolute
from datasets_core.meta.shard_lengths import ShardLengths
from datasets_core.meta.split import ReadInstruction
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import Manifest, ShardRecord, read_manifest
from datasets_core.store.shard import Shelf
from datasets_core.store.source import open_rows, structure_of
from datasets_core.store.table import RowTable

_NAME = "tfds_folder"


class ConvertedRecords(ArrowBasedBuilder):
    """One split of a folder of records, as a dataset of the cache.

    Args:
        folder: where the records stand.
        manifest: what they are.
        split: which.
        storage_options: for the folder.
        cache_dir: the cache.
    """

    yields: ClassVar[Literal["rows", "tables"]] = "tables"

    def __init__(
        self,
        folder: str,
        manifest: TfdsManifest,
        split: str,
        storage_options: dict[str, Any] | None = None,
        cache_dir: str | None = None,
    ) -> None:
        self._folder, self._records, self._split = folder, manifest, split
        self._folder_options = storage_options
        info = manifest.info
        told = [part for part in (info.dataset_name, info.config_name, split) if part]
        super().__init__(
            cache_dir=cache_dir,
            dataset_name=_NAME,
            hash=Hasher.hash(["converted records", folder, manifest.identity, self._times()]),
            config_id="-".join(told),
            version=None,
        )

    @classmethod
    def class_name(cls) -> str:
        """See `DatasetBuilder.class_name`."""
        return _NAME

    @property
    def label(self) -> str:
        """The dataset as messages name it."""
        return self._records.info.full_name or self._folder

    def _shards(self) -> list[ShardRecord]:
        return self._records.split_shards().get(self._split, [])

    def _times(self) -> list[int | None]:
        """When the local files were written."""
        paths = [] if files.is_url(self._folder) else [os.path.join(self._folder, shard.name) for shard in self._shards()]
        return [os.stat(path).st_mtime_ns if os.path.exists(path) else None for path in paths]

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=self._records.info.features)

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator(self._split, {"numbers": list(range(len(self._shards())))})]

    def _generate_tables(self, numbers: Sequence[int]) -> Iterator[tuple[tuple[int, int], pa.RecordBatch]]:
        shards, reader, shelf = self._shards(), reader_of(self._records), Shelf(max_bytes=0)
        for number in numbers:
            shard = record_shard(self._folder, self._records, shards[number], reader, shelf, self._folder_options)
            for index, batch in enumerate(shard.batches()):
                yield (number, index), batch


def converted_rows(
    folder: str,
    manifest: RecordManifest,
    split: str | ReadInstruction,
    how: Conversion,
    *,
    in_memory: bool | None = None,
    storage_options: dict[str, Any] | None = None,
) -> tuple[RowTable, list[tuple[str, str]]]:
    """The rows of a split expression, and the digests of the files that they stand in.

    Args:
        folder: where the records stand.
        manifest: what they are.
        split: which rows.
        how: they are converted.
        in_memory: read the rows instead of mapping them.
        storage_options: for the folder.

    Raises:
        SplitSyntaxError, UnknownSplitError: as `row_ranges`.
        DamagedShardError, DamagedRecordError, ExampleError: a file cannot be converted.
    """
    assert isinstance(manifest, TfdsManifest)
    schema = reader_of(manifest).schema
    parts: list[RowTable] = []
    digests: list[tuple[str, str]] = []
    built: dict[str, tuple[str, Manifest]] = {}
    for name, start, stop in absolute(split, manifest.split_lengths()):
        if start >= stop:
            continue
        if name not in built:
            built[name] = _converted(folder, manifest, name, how, storage_options)
            digests += [(name, shard.sha256) for shard in built[name][1].shards]
        place, own = built[name]
        lengths = ShardLengths.of(shard.rows for shard in own.shards)
        ranges = [RowRange(name, *piece) for piece in lengths.pieces(start, stop)]
        parts.append(open_rows(place, own, ranges, in_memory=_in_memory(own, in_memory), has_ids=False))
    found = parts[0] if len(parts) == 1 else RowTable.concat(parts) if parts else RowTable.from_shards([], [], schema=schema)
    found.structure = structure_of(manifest, split)
    return found, digests


def _converted(
    folder: str, manifest: TfdsManifest, split: str, how: Conversion, storage_options: dict[str, Any] | None
) -> tuple[str, Manifest]:
    """The folder in the cache, and what it contains."""
    builder = ConvertedRecords(folder, manifest, split, storage_options, how.cache_dir)
    mode = DownloadMode.FORCE_REDOWNLOAD if how.is_forced else DownloadMode.REUSE_DATASET_IF_EXISTS
    builder.download_and_prepare(download_mode=mode, num_proc=how.num_proc)
    found = read_manifest(builder.cache_dir)
    assert found is not None
    return builder.cache_dir, found


def _in_memory(manifest: Manifest, asked: bool | None) -> bool:
    return 0 < (manifest.info.dataset_size or 0) < settings().max_memory_bytes if asked is None else asked

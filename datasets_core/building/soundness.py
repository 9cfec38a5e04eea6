"""Whether what stands prepared in a folder can be read to its end: looked at as deep as it takes to choose among several."""

from __future__ import annotations

import dataclasses
import os

import pyarrow as pa

from datasets_core import files
from datasets_core.building import checks
from datasets_core.building.builder_config import check_name
from datasets_core.building.record_manifest import RecordManifest, check_there
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError, DamagedShardError, ManifestError
from datasets_core.meta.rows import row_ranges
from datasets_core.store.layout import MANIFEST_NAME
from datasets_core.store.manifest import Manifest, ShardRecord
from datasets_core.store.source import check_shards, open_rows
from datasets_core.store.table import RowTable

_HASHED_BYTES = 64 << 20  # of a dataset: a larger one is hashed as far as it was written after its manifest
_ADVICE = "Build the dataset again, or delete that folder"


def check_whole(folder: str, manifest: Manifest) -> None:
    """See that the config has a name, and that every shard is there, with its size and its ends.

    Remote shards are checked when they are opened.

    Raises:
        ConfigurationError: no config can have that name.
        DamagedShardError: a shard is missing, cut or altered.
    """
    if manifest.info.config_name is not None:
        check_name(manifest.info.config_name)
    if isinstance(manifest, RecordManifest):  # whose missing files are told when they are read: others can be
        check_there(folder, manifest)
    elif not files.is_url(folder):
        check_shards(folder, manifest.shards, manifest.file_format)


def check_sound(folder: str, manifest: Manifest, storage_options: dict[str, object] | None = None) -> None:
    """See that every row can be read, and has the described columns: for datasets of which another can take the place.

    Shards are hashed: all of a small dataset, of a large one those that were written after its manifest.  Of every local shard
    in Arrow's own format each batch is opened and checked.

    Raises:
        ConfigurationError, DamagedShardError: as `check_whole`, or a shard has other bytes or other batches.
        DamagedRecordError, ExampleError: a record cannot be read.
        ManifestError: the features do not fit the shards.
    """
    check_whole(folder, manifest)
    if isinstance(manifest, RecordManifest):
        for _ in _all_rows(folder, manifest, storage_options).batches():
            pass  # to decode a record is to check it
        return
    check_shards(folder, manifest.shards, manifest.file_format, storage_options)
    rows = _all_rows(folder, manifest, storage_options)
    try:
        Dataset(rows, info=manifest.info)
    except CastError as error:
        raise ManifestError(files.join(folder, MANIFEST_NAME), f"its features do not fit: {error}", advice=_ADVICE) from error
    hashed = tuple(shard for shard in _doubtful(folder, manifest) if shard.sha256)
    checks.check_shards(folder, dataclasses.replace(manifest, shards=hashed), storage_options=storage_options)
    if files.is_url(folder) or manifest.file_format != "arrow":
        return  # to open a batch there is to read it
    try:
        for batch in rows.batches():
            batch.validate()
    except pa.ArrowException as error:
        raise DamagedShardError(folder, f"a batch is no valid Arrow data ({error})", advice=_ADVICE) from error


def _all_rows(folder: str, manifest: Manifest, storage_options: dict[str, object] | None) -> RowTable:
    lengths = manifest.split_lengths()
    ranges = [found for split in lengths for found in row_ranges(split, lengths)]
    return open_rows(folder, manifest, ranges, storage_options=storage_options)


def _doubtful(folder: str, manifest: Manifest) -> tuple[ShardRecord, ...]:
    """The shards whose bytes are worth a look."""
    if sum(shard.size for shard in manifest.shards) <= _HASHED_BYTES:
        return manifest.shards
    if files.is_url(folder):
        return ()
    written = {shard: os.stat(os.path.join(folder, shard.name)).st_mtime_ns for shard in manifest.shards}
    committed = os.stat(os.path.join(folder, MANIFEST_NAME)).st_mtime_ns
    return tuple(shard for shard, when in written.items() if when >= committed)

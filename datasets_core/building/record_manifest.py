"""`RecordManifest`: a dataset whose shards are files of records that TensorFlow Datasets wrote: known, before any is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from datasets_core import files
from datasets_core.errors import DamagedShardError, ManifestError
from datasets_core.meta.small_files import UnfitFileError, small_bytes
from datasets_core.store.manifest import Manifest, ShardRecord

MOST_JSON_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class RecordManifest(Manifest):
    """What a folder of records contains; a split may have no files."""

    def split_lengths(self) -> dict[str, list[int]]:
        """See `Manifest.split_lengths`."""
        return {name: [shard.rows for shard in shards] for name, shards in self.split_shards().items()}

    def split_shards(self) -> dict[str, list[ShardRecord]]:
        """See `Manifest.split_shards`."""
        found: dict[str, list[ShardRecord]] = {name: [] for name in self.info.splits or ()}
        for shard in self.shards:
            found[shard.split].append(shard)
        return found


@dataclass(frozen=True, slots=True)
class Conversion:
    """How records are converted.

    Attributes:
        cache_dir: the cache; None for that of the settings.
        num_proc: worker processes.
        is_forced: what was converted before is made anew.
    """

    cache_dir: str | None = None
    num_proc: int | None = None
    is_forced: bool = False


def check_there(folder: str, manifest: RecordManifest) -> None:
    """See that some file of a dataset that has rows is there.

    Raises:
        DamagedShardError: none is.
    """
    if any(shard.rows for shard in manifest.shards) and not any(shard.size for shard in manifest.shards):
        path = files.join(folder, manifest.shards[0].name)
        raise DamagedShardError(path, "this file and all others are missing", advice="Copy the files into the folder")


def content(path: str, storage_options: dict[str, Any] | None = None, *, most_bytes: int = MOST_JSON_BYTES) -> bytes | None:
    """A small file that a stranger may have laid there; None where there is none.

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

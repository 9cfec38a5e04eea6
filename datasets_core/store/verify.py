"""Every shard of a finished dataset hashed again and compared with the manifest."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from datasets_core import files
from datasets_core.errors import ManifestError
from datasets_core.store.layout import is_shard_name, located
from datasets_core.store.manifest import ShardRecord, read_manifest

_BLOCK = 1 << 20
_THREADS = 4


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is bad.

    Attributes:
        path: the file.
        kind: "manifest" (none, or broken), "missing", "size", "sha256", "unreadable" or "extra" (a shard that the manifest
            does not name).
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
    """Hash every shard of the dataset in `path`, local or remote.

    Args:
        path: the folder of one finished dataset.
        on_progress: is told of every block how many bytes it had; by one thread at a time.
        storage_options: for fsspec.

    Returns:
        What is bad, in the order of the shards; nothing if all is well.
    """
    path = located(path)
    try:
        manifest = read_manifest(path, storage_options)
    except ManifestError as error:
        return [Problem(error.path, "manifest", error.reason)]
    if manifest is None:
        return [Problem(path, "manifest", "no dataset is finished here: there is no manifest")]
    names = {shard.name for shard in manifest.shards}
    lock = threading.Lock()

    def told(num_bytes: int) -> None:
        if on_progress is not None:
            with lock:
                on_progress(num_bytes)

    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        checks = [pool.submit(_problem, path, shard, told, storage_options) for shard in manifest.shards]
        problems = [problem for check in checks if (problem := check.result()) is not None]
    for entry in files.list_files(path, storage_options):
        name = entry.path.replace(os.sep, "/").rpartition("/")[2]
        if is_shard_name(name) and name not in names:
            problems.append(Problem(entry.path, "extra", "a shard that the manifest does not name; `cache gc` removes it"))
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
        return Problem(path, "size", f"the shard has {size:,} bytes where {shard.size:,} are on record")
    if shard.sha256 and sha256.hexdigest() != shard.sha256:
        return Problem(path, "sha256", f"the shard has sha256 {sha256.hexdigest()} where {shard.sha256} is on record")
    return None

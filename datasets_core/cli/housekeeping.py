"""`verify` and `cache`: what stands on disk, whether it is sound, and what can go."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DatasetNotFoundError, ManifestError
from datasets_core.files import disk_errors, is_url, locked
from datasets_core.progress import progress
from datasets_core.store.garbage import find_garbage, remove_garbage
from datasets_core.store.layout import MANIFEST_NAME, lock_path, parse_staging
from datasets_core.store.manifest import Manifest, read_manifest
from datasets_core.store.verify import verify_folder


@dataclass(frozen=True, slots=True)
class _Finished:
    """One finished dataset; `manifest` is None where it cannot be read."""

    folder: str
    manifest: Manifest | None
    reason: str = ""

    @property
    def size(self) -> int:
        return sum(shard.size for shard in self.manifest.shards) if self.manifest else 0


def verify(path: str) -> int:
    """Hash every shard below `path`; 0 if all is sound, 1 if anything is bad."""
    found = [_Finished(path, read_manifest(path))] if is_url(path) else list(_finished(path))
    if not found:
        raise DatasetNotFoundError(
            f"{path} holds no finished dataset ({MANIFEST_NAME}). Give the folder that `cache ls` prints."
        )
    bad = 0
    with progress("Verifying", total=sum(dataset.size for dataset in found), unit="B") as bar:
        for dataset in found:
            problems = verify_folder(dataset.folder, bar.update)
            bad += len(problems)
            for problem in problems:
                print(f"BAD  {problem}")
            if not problems and dataset.manifest:
                rows = sum(shard.rows for shard in dataset.manifest.shards)
                print(f"good {dataset.folder}: {len(dataset.manifest.shards)} shards, {rows:,} rows, {_bytes(dataset.size)}")
    if bad:
        print(f"{bad} bad. Build the dataset again with download_mode='force_redownload'.", file=sys.stderr)
    return 1 if bad else 0


def list_cache() -> int:
    """Print every finished dataset of the cache, and what they take together."""
    total = 0
    for dataset in _finished(settings().cache_dir):
        total += dataset.size
        print(f"{_name(dataset.folder)}  {_facts(dataset)}")
    garbage = find_garbage(settings().cache_dir)
    print(f"{_bytes(total)} in {settings().cache_dir}")
    if garbage:
        print(f"{_bytes(sum(found.size for found in garbage))} can go: datasets-core cache gc")
    return 0


def remove(name: str, *, sure: bool) -> int:
    """Remove the finished datasets whose name is `name` or begins with `name/`."""
    wanted = name.strip("/")
    found = [
        dataset
        for dataset in _finished(settings().cache_dir)
        if _name(dataset.folder) == wanted or _name(dataset.folder).startswith(f"{wanted}/")
    ]
    if not wanted or not found:
        raise DatasetNotFoundError(f"{name!r} is no dataset in {settings().cache_dir}. `datasets-core cache ls` lists them.")
    for dataset in found:
        print(f"{_name(dataset.folder)}  {_facts(dataset)}")
    if not sure and not _agreed(f"Remove {len(found)} ({_bytes(sum(dataset.size for dataset in found))})?"):
        return 1
    for dataset in found:
        with locked(lock_path(dataset.folder)), disk_errors(dataset.folder):
            os.unlink(os.path.join(dataset.folder, MANIFEST_NAME))  # from here on nothing loads: no half dataset is ever seen
            shutil.rmtree(dataset.folder)
    return 0


def collect(*, dry_run: bool) -> int:
    """Remove what dead processes left and shards that no manifest names."""
    found = find_garbage(settings().cache_dir)
    for garbage in found:
        print(f"{garbage.kind:9} {_bytes(garbage.size):>10}  {garbage.path}")
    freed = sum(garbage.size for garbage in found) if dry_run else remove_garbage(found)
    print(f"{_bytes(freed)} {'would come' if dry_run else 'came'} free")
    return 0


def _finished(root: str) -> Iterator[_Finished]:
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if parse_staging(os.path.join(folder, name)) is None)
        if MANIFEST_NAME in names:
            try:
                manifest = read_manifest(folder)
            except ManifestError as error:
                yield _Finished(folder, None, error.reason)
            else:
                if manifest is not None:
                    yield _Finished(folder, manifest)


def _name(folder: str) -> str:
    return os.path.relpath(folder, settings().cache_dir).replace(os.sep, "/")


def _facts(dataset: _Finished) -> str:
    if dataset.manifest is None:
        return f"broken: {dataset.reason}"
    splits = ", ".join(f"{split} {sum(lengths):,}" for split, lengths in dataset.manifest.split_lengths().items())
    days = (time.time() - os.stat(os.path.join(dataset.folder, MANIFEST_NAME)).st_mtime) / 86_400
    return f"{splits or 'no rows'}  {_bytes(dataset.size)}  {days:.0f} days old"


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigurationError(f"{question} Nobody is there to answer: pass --yes.")
    return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}

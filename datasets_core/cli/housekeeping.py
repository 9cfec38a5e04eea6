"""`verify` and `cache`: what stands on disk, whether it is sound, and what can go."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

from datasets_core.cli.wording import counted, in_flags, say
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DatasetNotFoundError, ManifestError
from datasets_core.fetch import temporaries
from datasets_core.files import disk_errors, is_url, locked
from datasets_core.progress import progress
from datasets_core.results.passing import dead_folders
from datasets_core.store.garbage import find_garbage, remove_garbage
from datasets_core.store.index_cache import IndexCache
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
    """Hash every shard below `path`, a place or a name in the cache; 0 if all is sound, 1 if anything is bad."""
    if is_url(path):
        found = [_Finished(path, read_manifest(path))]
    else:
        found = list(_finished(path)) or _named(path)
    if not found:
        raise DatasetNotFoundError(
            f"{path} holds no finished dataset ({MANIFEST_NAME}). Give a folder, or a name that `cache ls` prints."
        )
    bad = 0
    with progress("Verifying", total=sum(dataset.size for dataset in found), unit="B") as bar:
        for dataset in found:
            problems = verify_folder(dataset.folder, bar.update)
            bad += len(problems)
            for problem in problems:
                say(f"BAD  {in_flags(str(problem))}")
            if not problems and dataset.manifest:
                rows = sum(shard.rows for shard in dataset.manifest.shards)
                shards = counted(len(dataset.manifest.shards), "shard")
                say(f"good {dataset.folder}: {shards}, {counted(rows, 'row')}, {_bytes(dataset.size)}")
    if bad:
        say(f"{bad} bad. Build the dataset again: datasets-core build … --force", file=sys.stderr)
    return 1 if bad else 0


def list_cache() -> int:
    """Print every finished dataset of the cache, and what they take together."""
    total = 0
    for dataset in _finished(settings().cache_dir):
        total += dataset.size
        say(f"{_name(dataset.folder)}  {_facts(dataset)}")
    garbage = find_garbage(settings().cache_dir)
    say(f"{_bytes(total)} in {settings().cache_dir}")
    dead = _dead_downloads()
    if garbage or dead:
        freed = sum(found.size for found in garbage) + sum(dead.values())
        say(f"{_bytes(freed)} can go: datasets-core cache gc")
    return 0


def remove(name: str, *, sure: bool) -> int:
    """Remove the finished datasets whose name is `name` or begins with `name/`."""
    found = _named(name)
    if not found:
        raise DatasetNotFoundError(f"{name!r} is no dataset in {settings().cache_dir}. `datasets-core cache ls` lists them.")
    for dataset in found:
        say(f"{_name(dataset.folder)}  {_facts(dataset)}")
    if not sure and not _agreed(f"{counted(len(found), 'dataset')} ({_bytes(sum(dataset.size for dataset in found))})"):
        return 1
    for dataset in found:
        with locked(lock_path(dataset.folder)), disk_errors(dataset.folder):
            os.unlink(os.path.join(dataset.folder, MANIFEST_NAME))  # from here on nothing loads: no half dataset is ever seen
            shutil.rmtree(dataset.folder)
    return 0


def collect(*, dry_run: bool) -> int:
    """Remove what dead processes left, downloads that did not end among it, stray shards, and results that nobody used."""
    found, dead = find_garbage(settings().cache_dir), _dead_downloads()
    for garbage in found:
        say(f"{garbage.kind:9} {_bytes(garbage.size):>10}  {garbage.path}")
    for path, size in dead.items():
        kind = "index" if path.startswith(IndexCache.of_settings().folder) else "download"
        say(f"{kind:9} {_bytes(size):>10}  {path}")
    _remove_passing(dry_run=dry_run)
    if dry_run:
        freed = sum(garbage.size for garbage in found) + sum(dead.values())
    else:
        freed = remove_garbage(found) + sum(dead.values())
        for path in dead:
            with disk_errors(path):
                temporaries.remove(path)
    say(f"{_bytes(freed)} {'would come' if dry_run else 'came'} free")
    return 0


def _dead_downloads() -> dict[str, int]:
    """What downloads and extractions left that did not end, indexes that nobody uses; the bytes of each."""
    now = settings()
    folders = dict.fromkeys(temporaries.download_folders(now.downloads_dir, now.extracted_dir))
    found = {path: temporaries.size_of(path) for folder in folders for path in temporaries.litter(folder)}
    return found | IndexCache.of_settings().stale()


def _remove_passing(*, dry_run: bool) -> None:
    """Remove the folders in which killed processes had results that they did not want to keep."""
    for path in dead_folders():
        say(f"{'temporary':9} {'':>10}  {path}")
        if not dry_run:
            shutil.rmtree(path, ignore_errors=True)


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


def _named(name: str) -> list[_Finished]:
    """The finished datasets of the cache whose name is `name` or begins with `name/`; of the Hub, `org/name` as it is there."""
    wanted = tuple(f"{each}/" for each in (name.strip("/"), name.strip("/").replace("/", "___", 1)) if each)
    return [dataset for dataset in _finished(settings().cache_dir) if f"{_name(dataset.folder)}/".startswith(wanted)]


def named_folders(name: str) -> list[str]:
    """The folders of the finished datasets of the cache whose name is `name` or begins with `name/`."""
    return [dataset.folder for dataset in _named(name)]


def _name(folder: str) -> str:
    return os.path.relpath(folder, settings().cache_dir).replace(os.sep, "/")


def _facts(dataset: _Finished) -> str:
    if dataset.manifest is None:
        return f"broken: {dataset.reason}"
    splits = ", ".join(f"{split} {sum(lengths):,}" for split, lengths in dataset.manifest.split_lengths().items())
    age = _age(time.time() - os.stat(os.path.join(dataset.folder, MANIFEST_NAME)).st_mtime)
    sources = [source.path for source in dataset.manifest.sources]
    origin = f"  from {sources[0]}" if sources else ""
    more = f" (+ {len(sources) - 1:,} more)" if len(sources) > 1 else ""
    return f"{splits or 'no rows'}  {_bytes(dataset.size)}  {age} old{origin}{more}"


def _age(seconds: float) -> str:
    """A time in its largest unit of which there is at least one.

    >>> _age(59), _age(3600), _age(200_000)
    ('0 minutes', '1 hour', '2 days')
    """
    for unit, length in (("day", 86_400), ("hour", 3_600)):
        if seconds >= length:
            return counted(int(seconds // length), unit)
    return counted(max(0, int(seconds // 60)), "minute")


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if abs(count) < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _agreed(what: str) -> bool:
    if not sys.stdin.isatty():
        raise ConfigurationError(f"Removing {what} needs a yes. Pass --yes.")
    return input(f"Remove {what}? [y/N] ").strip().lower() in {"y", "yes"}

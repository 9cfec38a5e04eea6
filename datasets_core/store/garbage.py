"""What dead processes left in a cache, and shards that no manifest names any more."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from datasets_core import files
from datasets_core.errors import ManifestError
from datasets_core.store.layout import MANIFEST_NAME, is_shard_name, parse_staging, temporary_owner
from datasets_core.store.manifest import read_manifest

_MIN_AGE_SECONDS = 3600.0
_UNUSED_SECONDS = 30 * 86_400.0


@dataclass(frozen=True, slots=True)
class Garbage:
    """One file or folder that can go.

    Attributes:
        path: where it is.
        size: bytes.
        kind: "staging" (an unfinished build), "temporary" (an unfinished file) or "orphan" (a shard of a replaced dataset),
            or "unused" (a result of a transform in `<cache>/transforms` that nobody used for 30 days).
    """

    path: str
    size: int
    kind: str


def find_garbage(folder: str, *, min_age_seconds: float = _MIN_AGE_SECONDS) -> list[Garbage]:
    """Everything below `folder` that no living process can want.

    Temporaries count when their process is gone, their lock is free and nothing in them changed for `min_age_seconds`;
    shards when their dataset was replaced that long ago.
    """
    latest = time.time() - min_age_seconds
    unused = list(_unused(os.path.join(folder, "transforms"), time.time() - _UNUSED_SECONDS))
    gone = {garbage.path for garbage in unused}
    others = (garbage for garbage in _found(folder, latest) if os.path.dirname(garbage.path) not in gone)
    return sorted([*unused, *others], key=lambda garbage: garbage.path)


def _unused(folder: str, latest: float) -> Iterator[Garbage]:
    """Results of transforms: folders with a manifest, and indices, whose last use is long ago."""
    for group in _version_folders(folder, 1):
        for path in [group, *(os.path.join(group, name) for name in os.listdir(group))]:
            with contextlib.suppress(FileNotFoundError):
                if not os.path.isdir(path):
                    if path.endswith(".arrow") and not os.path.exists(os.path.join(group, MANIFEST_NAME)):
                        yield from _aged(path, latest, "unused")
                    continue
                is_result = os.path.exists(os.path.join(path, MANIFEST_NAME)) and parse_staging(path) is None
                if is_result and os.stat(path).st_mtime < latest and not _is_locked(f"{path}.lock"):
                    yield Garbage(path, _size_and_change(path)[0], "unused")


def dead_work(cache_dir: str, *, min_age_seconds: float = _MIN_AGE_SECONDS) -> list[Garbage]:
    """Unfinished builds and files in a cache that no living process can want, by a look at the folders of datasets alone."""
    latest = time.time() - min_age_seconds
    return [found for folder in _version_folders(cache_dir, 3) for found in _dead_work(folder, latest)]


def remove_garbage(found: Iterable[Garbage]) -> int:
    """Remove it; the bytes that came free.

    Raises:
        DatasetDiskError: the disk is read-only or forbidden.
    """
    freed = 0
    for garbage in found:
        with files.disk_errors(garbage.path):
            try:
                if os.path.isdir(garbage.path):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(os.path.join(garbage.path, MANIFEST_NAME))  # first: nobody finds half a result
                    shutil.rmtree(garbage.path)
                else:
                    os.unlink(garbage.path)
            except FileNotFoundError:
                continue  # another process was faster
        freed += garbage.size
    return freed


def _found(folder: str, latest: float) -> Iterator[Garbage]:
    for here, subfolders, names in os.walk(folder):
        for name in list(subfolders):
            path = os.path.join(here, name)
            if parse_staging(path) is None:
                continue
            subfolders.remove(name)  # what is in it goes with it, or stays with it
            yield from _staging(path, latest)
        yield from _temporaries(here, names, latest)
        if MANIFEST_NAME in names:
            yield from _orphans(here, names, latest)


def _version_folders(folder: str, depth: int) -> Iterator[str]:
    if not depth:
        yield folder
        return
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _version_folders(entry.path, depth - 1)


def _dead_work(folder: str, latest: float) -> Iterator[Garbage]:
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                continue
            if parse_staging(entry.path) is not None:
                yield from _staging(entry.path, latest)
                continue
            with contextlib.suppress(FileNotFoundError, PermissionError):
                yield from _temporaries(entry.path, os.listdir(entry.path), latest)


def _temporaries(folder: str, names: Iterable[str], latest: float) -> Iterator[Garbage]:
    for name in names:
        owner = temporary_owner(name)
        if owner is not None and not files.is_alive(owner):
            yield from _aged(os.path.join(folder, name), latest, "temporary")


def _staging(path: str, latest: float) -> Iterator[Garbage]:
    staging = parse_staging(path)
    with contextlib.suppress(FileNotFoundError):
        size, changed = _size_and_change(path)
        if staging and changed < latest and not files.is_alive(staging.pid) and not _is_locked(f"{staging.target}.lock"):
            yield Garbage(path, size, "staging")


def _orphans(folder: str, names: list[str], latest: float) -> Iterator[Garbage]:
    try:
        manifest = read_manifest(folder)
    except ManifestError:
        return  # what a broken manifest names is not known
    if manifest is None or os.stat(os.path.join(folder, MANIFEST_NAME)).st_mtime >= latest or _is_locked(f"{folder}.lock"):
        return
    named = {shard.name for shard in manifest.shards}
    for name in names:
        if is_shard_name(name) and name not in named:
            yield from _aged(os.path.join(folder, name), latest, "orphan")


def _aged(path: str, latest: float, kind: str) -> Iterator[Garbage]:
    with contextlib.suppress(FileNotFoundError):
        status = os.stat(path)
        if status.st_mtime < latest:
            yield Garbage(path, status.st_size, kind)


def _size_and_change(folder: str) -> tuple[int, float]:
    size, changed = 0, os.stat(folder).st_mtime
    for here, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                status = os.stat(os.path.join(here, name))
                size, changed = size + status.st_size, max(changed, status.st_mtime)
    return size, changed


def _is_locked(path: str) -> bool:
    """Whether a process holds the lock file; where locks cannot be asked, its lease, age and owner decide."""
    if _is_leased(path):
        return True
    try:
        import fcntl  # not on every system
    except ImportError:
        return False
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def _is_leased(path: str) -> bool:
    try:
        return os.stat(files.lease_path(path)).st_mtime > time.time() - files.LEASE_SECONDS
    except OSError:
        return False

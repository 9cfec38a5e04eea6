"""From a staging folder to a finished dataset, so that a reader or a crash sees the old one or the new one.

In a fresh place the staging folder gets everything under its final name, the manifest last, and becomes the dataset by one
rename.  Over an existing dataset, and in a store that has no rename, shards are put under names that carry their hash, so
that none of the old ones changes; the manifest, replaced last, is the commit.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import DamagedShardError, DownloadError
from datasets_core.meta.naming import shard_file_name
from datasets_core.store.layout import (
    EXTENSIONS,
    JOURNAL_NAME,
    MANIFEST_NAME,
    is_shard_name,
    located,
    staging_base,
    staging_folders,
    staging_path,
    temporary_owner,
    temporary_path,
)
from datasets_core.store.manifest import Manifest, ShardRecord, manifest_bytes
from datasets_core.store.source import with_schema

logger = logging.getLogger(__name__)

_HASH_DIGITS = 16  # of a sha256 in a file name


@dataclass(frozen=True, slots=True)
class Staging:
    """A local folder in which the shards of `target` are gathered until they are committed.

    Every method wants the lock of the target (`layout.lock_path`) to be held.
    """

    target: str
    folder: str

    @classmethod
    def adopt_or_create(cls, target: str) -> Staging:
        """The staging folder that a dead owner left, with its journal and finished shards, else a new one.

        Since the lock is held here, whoever owned a staging folder is dead or has given up.  The folder gets a new name, so
        that a worker which outlived its parent cannot write into it.  Surplus ones are removed, and so is what a killed
        commit left in the target.

        Raises:
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        target = located(target)
        base = staging_base(target)
        mine = staging_path(target)
        with files.disk_errors(base):
            os.makedirs(os.path.dirname(base), exist_ok=True)
            _sweep(base)
            found = sorted((name.path for name in staging_folders(target)), key=_journal_size)
            for surplus in found[:-1]:
                shutil.rmtree(surplus)
            if found:
                os.rename(found[-1], mine)
                for name in os.listdir(mine):
                    if temporary_owner(name) is not None:
                        os.unlink(os.path.join(mine, name))
            else:
                os.mkdir(mine)
        return cls(target, mine)

    @property
    def journal(self) -> str:
        """The journal file of the build."""
        return os.path.join(self.folder, JOURNAL_NAME)

    def discard(self) -> None:
        """Remove the folder and what is in it."""
        with files.disk_errors(self.folder), contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.folder)

    def commit(self, manifest: Manifest, *, storage_options: dict[str, Any] | None = None) -> Manifest:
        """Make the staged shards that `manifest` names the dataset at `target`; the staging folder is gone afterwards.

        A commit that fails leaves the target as it was and the staging folder ready for another try.

        Args:
            manifest: its shards by their staged names, in reading order.
            storage_options: for fsspec, where the target is a URL.

        Returns:
            The manifest as it stands in the target, with final names.

        Raises:
            DamagedShardError: a staged shard is missing or of another size.
            DatasetDiskError: the disk is full, read-only or forbidden.
            DownloadError: a remote store refused an object.
        """
        for shard in manifest.shards:
            self._check(shard)
        manifest = with_schema(manifest, self.folder)
        if files.is_url(self.target):
            final = _named(manifest, by_content=True)
            self._commit_remote(manifest, final, storage_options)
            self._clean_up()
            return final
        base = staging_base(self.target)
        with files.disk_errors(base):
            if os.path.isdir(base) and os.listdir(base):
                final = _named(manifest, by_content=True)
                self._commit_into(base, manifest, final)
                self._clean_up()
            else:
                final = _named(manifest, by_content=False)
                self._commit_whole(base, manifest, final)
        return final

    def _check(self, shard: ShardRecord) -> None:
        path = os.path.join(self.folder, shard.name)
        try:
            size = os.stat(path).st_size
        except FileNotFoundError:
            raise DamagedShardError(path, "a finished shard vanished before the commit", advice="Run the build again") from None
        if size != shard.size:
            reason = f"a finished shard has {size:,} bytes where {shard.size:,} are on record"
            raise DamagedShardError(path, reason, advice="Run the build again")

    def _commit_whole(self, base: str, staged: Manifest, final: Manifest) -> None:
        with _undone_on_failure() as placed:
            for old, new in zip(staged.shards, final.shards, strict=True):
                _place(os.path.join(self.folder, old.name), os.path.join(self.folder, new.name), placed)
            manifest = os.path.join(self.folder, MANIFEST_NAME)
            placed.append(manifest)
            files.write_atomically(manifest, manifest_bytes(final))
        kept = {MANIFEST_NAME, *(shard.name for shard in final.shards)}
        for name in sorted(set(os.listdir(self.folder)) - kept, key=lambda name: name == JOURNAL_NAME):
            files.remove(os.path.join(self.folder, name))
        files.sync_folder(self.folder)
        os.rename(self.folder, base)  # over nothing, or over an empty folder
        files.sync_folder(os.path.dirname(base))

    def _commit_into(self, base: str, staged: Manifest, final: Manifest) -> None:
        path, content = os.path.join(base, MANIFEST_NAME), manifest_bytes(final)
        with _undone_on_failure(unless=lambda: _holds(path, content)) as placed:
            for old, new in zip(staged.shards, final.shards, strict=True):
                _place(os.path.join(self.folder, old.name), os.path.join(base, new.name), placed)
            files.sync_folder(base)
            files.write_atomically(path, content)

    def _commit_remote(self, staged: Manifest, final: Manifest, storage_options: dict[str, Any] | None) -> None:
        store, root = files.filesystem(self.target, storage_options)
        again_on_failure(self.target, lambda: store.makedirs(root, exist_ok=True))
        for old, new in zip(staged.shards, final.shards, strict=True):
            local, remote = os.path.join(self.folder, old.name), f"{root.rstrip('/')}/{new.name}"
            if not _is_there(store, remote, new.size):  # its name holds its hash: what is there is the same
                again_on_failure(files.join(self.target, new.name), partial(put_file, store, local, remote, new.size))
        content = manifest_bytes(final)
        path = f"{root.rstrip('/')}/{MANIFEST_NAME}"
        again_on_failure(files.join(self.target, MANIFEST_NAME), lambda: store.pipe_file(path, content))

    def _clean_up(self) -> None:
        try:
            shutil.rmtree(self.folder)
        except OSError as error:  # the dataset is committed; the next build here removes the folder
            logger.warning("Could not remove the staging folder %s: %s", self.folder, error)


def _named(manifest: Manifest, *, by_content: bool) -> Manifest:
    """The manifest with final names, in its splits too."""
    info = manifest.info.copy()
    shards: list[ShardRecord] = []
    for split, records in manifest.split_shards().items():
        named = []
        for index, record in enumerate(records):
            name = shard_file_name(info.dataset_name or "dataset", split, index, len(records), EXTENSIONS[manifest.file_format])
            if by_content:
                stem, dot, extension = name.rpartition(".")
                name = f"{stem}-{record.sha256[:_HASH_DIGITS] or os.urandom(_HASH_DIGITS // 2).hex()}{dot}{extension}"
            named.append(replace(record, name=name))
        shards += named
        if info.splits is not None and split in info.splits:
            info.splits[split].shard_names = [record.name for record in named]
            info.splits[split].shard_lengths = [record.rows for record in named]
    return replace(manifest, info=info, shards=tuple(shards))


# -- local -------------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _undone_on_failure(unless: Callable[[], bool] = lambda: False) -> Iterator[list[str]]:
    """A list of paths, which are removed if the block fails; unless it failed when all was done."""
    placed: list[str] = []
    try:
        yield placed
    except BaseException:
        if not unless():
            for path in placed:
                with contextlib.suppress(OSError):  # the first failure is the one to tell
                    os.unlink(path)
        raise


def _holds(path: str, content: bytes) -> bool:
    try:
        with open(path, "rb") as handle:
            return handle.read() == content
    except FileNotFoundError:
        return False


def _place(staged: str, final: str, placed: list[str]) -> None:
    """Give a shard its final name.  It keeps the staged one, so that a commit that fails can be tried again."""
    if staged == final:
        return
    if os.path.exists(final):
        if os.path.samefile(staged, final):
            return
        temporary = temporary_path(final)
        placed.append(temporary)
        _link(staged, temporary)
        os.replace(temporary, final)  # equal names mean equal content here, or what a killed commit left
        return
    placed.append(final)
    _link(staged, final)


def _link(staged: str, path: str) -> None:
    try:
        os.link(staged, path)
        return
    except OSError as error:
        if error.errno not in {errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}:
            raise
    shutil.copyfile(staged, path)  # a file system without hard links, or another one
    files.sync_file(path)


def _journal_size(folder: str) -> int:
    try:
        return os.stat(os.path.join(folder, JOURNAL_NAME)).st_size
    except OSError:
        return -1


def _sweep(target: str) -> None:
    """Remove the temporaries of the store in a dataset's folder; all of them are dead, since they are made under the lock."""
    if not os.path.isdir(target):
        return
    for name in os.listdir(target):
        owned = name.rpartition(".tmp-")[0]
        if temporary_owner(name) is not None and (owned == MANIFEST_NAME or is_shard_name(owned)):
            os.unlink(os.path.join(target, name))


# -- remote ------------------------------------------------------------------------------------------------------------


def _is_there(store: Any, path: str, size: int) -> bool:
    try:
        return int(store.info(path)["size"]) == size
    except FileNotFoundError:
        return False


def put_file(store: Any, local: str, remote: str, size: int) -> None:
    """Send a file to a store, and see that it has come.

    Raises:
        OSError: the store refuses it, or has another size of it.
    """
    store.put_file(local, remote)
    store.invalidate_cache()
    if not _is_there(store, remote, size):
        raise OSError(f"the object has not the {size:,} bytes that were sent")


def again_on_failure(url: str, act: Any) -> None:
    """Call `act`, and again with growing pauses while the store fails.

    Raises:
        DownloadError: it failed as often as the settings allow.
    """
    limits = settings()
    for attempt in range(limits.max_retries):
        try:
            act()
            return
        except PermissionError as error:
            advice = "Give the key the right to write there, or choose another output_dir"
            raise DownloadError(url, f"could not be written ({error})", advice=advice) from error
        except Exception as error:  # each store has errors of its own, not all of them an OSError
            if attempt + 1 == limits.max_retries:
                advice = "Run again; finished shards are kept"
                raise DownloadError(url, f"could not be written ({error})", advice=advice) from error
            pause = min(0.1 * 2**attempt, limits.max_retry_wait_seconds) * random.uniform(0.5, 1.5)
            logger.warning("Writing %s failed (%s); trying again in %.1f s.", url, error, pause)
            time.sleep(pause)

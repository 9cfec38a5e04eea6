"""Commit of a staging folder as a finished dataset: readers and crashes see the old dataset or the new one.

In a new place the staging folder gets all files under their final names, the manifest last, and becomes the dataset by
one rename.  Over an existing dataset, and in a store without rename, shards get names with their hash, so that none of the old
shards changes; the manifest, replaced last, is the commit.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import methodcaller
from typing import IO, Any, Generic, Self, TypeVar

from datasets_core import files
from datasets_core.config import has_alias, settings
from datasets_core.errors import DamagedShardError, DownloadError, ManifestError, logger_of
from datasets_core.meta.split_info import shard_file_name
from datasets_core.store.manifest import (
    EXTENSIONS,
    JOURNAL_NAME,
    MANIFEST_NAME,
    Manifest,
    ShardRecord,
    is_shard_name,
    is_temporary,
    located,
    manifest_files,
    parse_staging,
    read_manifest,
    staging_base,
    staging_folders,
    staging_path,
    temporary_path,
)
from datasets_core.store.source import with_schema

# `Journal`: finished parts of a piece of work, line by line in a file, so that the same work resumes there after a crash.

logger = logger_of(__name__)

FORM_KEY = "journal"  # of a header; a header without a form has the first
_CHUNK = 1 << 20
_TRANSFERS = 32  # shards of a store that are sent or copied at once: they wait for its answers
_LAZY_ENTRIES, _LAZY_SECONDS = 1000, 30.0

E = TypeVar("E")


class Journal(Generic[E]):
    """Finished parts of a build or of a write, one JSON line for each; first read, then entered as a context manager, which
    opens it for appending.

    The first line describes the work; each further line describes data on the disk, and is synchronized to the disk before
    anything else is written.  A journal of other work is not used; a damaged one is used up to its last complete line.

    Args:
        path: local path.
        header: description of the work: plain JSON.
        encode: converts an entry to plain JSON.
        decode: converts such a line to an entry; an exception in it ends the reading.
        is_lazy: True to synchronize entries to the disk every 1,000 or 30 seconds, and at the end: a process that is killed
            loses none, but a machine that is switched off may lose the last ones.

    Attributes:
        entries: entries of the file, and those added since.
    """

    def __init__(
        self,
        path: str,
        header: Mapping[str, Any],
        encode: Callable[[E], Any],
        decode: Callable[[dict[str, Any]], E],
        *,
        is_lazy: bool = False,
    ) -> None:
        self._is_lazy, self._num_added, self._synced_at = is_lazy, 0, time.monotonic()
        self._path, self._header = path, json.loads(json.dumps(header))
        self._encode, self._decode = encode, decode
        self.entries: list[E] = []
        self._out: IO[bytes] | None = None

    def read(self) -> bool:
        """Read the entries of the file; return False if it describes other work."""
        self.entries = []
        lines = whole_lines(self._path)
        header = next(lines, None)
        if header is None:
            return True
        if not isinstance(header, dict) or {FORM_KEY: 1, **header} != {FORM_KEY: 1, **self._header}:
            return False
        for line in lines:
            try:
                self.entries.append(self._decode(line))
            except Exception as error:  # what follows was written after a crash of the system: not to be trusted
                logger.info("%s is damaged; the lines after the damage are ignored: %s", self._path, error)
                break
        return True

    def __enter__(self) -> Self:
        self.keep(self.entries)
        return self

    def keep(self, entries: Sequence[E]) -> None:
        """Keep only these entries: the data of the others are not on the disk."""
        if self._out is not None and len(entries) == len(self.entries):
            return
        self.entries = list(entries)
        self.close()
        text = b"".join(json.dumps(line).encode() + b"\n" for line in (self._header, *map(self._encode, entries)))
        files.write_atomically(self._path, text)
        with files.disk_errors(self._path):
            self._out = open(self._path, "ab", buffering=0)  # noqa: SIM115 - closed with the journal

    def add(self, entry: E) -> bool:
        """Append an entry about data on the disk; return True if all entries are synchronized to the disk."""
        assert self._out is not None
        line = memoryview(json.dumps(self._encode(entry)).encode() + b"\n")
        with files.disk_errors(self._path):
            while line:  # a disk that is nearly full takes a part
                line = line[self._out.write(line) :]
            self._num_added += 1
            is_due = self._num_added >= _LAZY_ENTRIES or time.monotonic() >= self._synced_at + _LAZY_SECONDS
            if is_due or not self._is_lazy:
                os.fsync(self._out.fileno())
                self._num_added, self._synced_at = 0, time.monotonic()
        self.entries.append(entry)
        return not self._num_added

    def close(self) -> None:
        """Close the file."""
        if self._out is not None and not self._out.closed:
            with files.disk_errors(self._path), self._out:
                if self._num_added:
                    os.fsync(self._out.fileno())

    def __exit__(self, *_: object) -> None:
        self.close()


def whole_lines(path: str) -> Iterator[Any]:
    """Yield the lines of a journal, up to the first that was cut."""
    with contextlib.suppress(FileNotFoundError, ValueError), files.disk_errors(path, action="read"), open(path, "rb") as lines:
        for line in lines:
            if line.endswith(b"\n"):
                yield json.loads(line)


_HASH_DIGITS = 16  # of a sha256 in a file name


@dataclass(frozen=True, slots=True)
class Staging:
    """A local folder in which the shards of `target` are gathered until they are committed.

    Every method requires the lock of the target (`layout.lock_path`) to be held.
    """

    target: str
    folder: str

    @classmethod
    def adopt_or_create(cls, target: str) -> Staging:
        """Return the staging folder of a dead owner, with its journal and finished shards, or else a new one.

        The caller holds the lock, so the owner of any staging folder is dead or has given up.  The folder gets a new name, so
        that a worker that outlived its parent cannot write into it.  Surplus folders are removed, and so are leftovers of a
        commit in the target.

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
                    if is_temporary(name):
                        os.unlink(os.path.join(mine, name))
            else:
                os.mkdir(mine)
        return cls(target, mine)

    @property
    def journal(self) -> str:
        """The journal file of the build."""
        return os.path.join(self.folder, JOURNAL_NAME)

    def discard(self) -> None:
        """Remove the folder and its content."""
        with files.disk_errors(self.folder), contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self.folder)

    def discard_as_far_as_possible(self) -> None:
        """Like `discard`, after a failure, which is the error to report: the next build here removes what cannot be removed
        now.
        """
        try:
            self.discard()
        except OSError as error:
            logger.warning("Could not remove the staging folder %s: %s", self.folder, error)

    def commit(
        self,
        manifest: Manifest,
        *,
        storage_options: dict[str, Any] | None = None,
        has_schema: bool = False,
        sent_to: str | None = None,
    ) -> Manifest:
        """Commit the staged shards of `manifest` as the dataset at `target`; the staging folder is then removed.

        A failed commit leaves the target unchanged and the staging folder ready for another try.

        Args:
            manifest: its shards by their staged names, in reading order.
            storage_options: options for fsspec, if the target is a URL.
            has_schema: True if the manifest has the schema hash of these shards, so that no shard is opened to compute it.
            sent_to: the URL of a folder in the same store that has those shards that are not staged here; it is removed.

        Returns:
            The manifest in the target, with final names.

        Raises:
            DamagedShardError: a staged shard is missing or of another size.
            DatasetDiskError: the disk is full, read-only or forbidden.
            DownloadError: a remote store refused an object.
        """
        with files.disk_errors(self.folder):
            for shard in manifest.shards:
                if sent_to is None or os.path.exists(os.path.join(self.folder, shard.name)):
                    self._check(shard)
            manifest = manifest if has_schema else with_schema(manifest, self.folder)
        if files.is_url(self.target):
            final = _named(manifest, by_content=True)
            self._commit_remote(manifest, final, storage_options, sent_to)
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

    def replace_shard(self, staged: str, name: str) -> None:
        """Replace a damaged shard of the local dataset at `target` by a staged one: readers that have the old one keep it."""
        with files.disk_errors(final := os.path.join(staging_base(self.target), name)):
            _link(os.path.join(self.folder, staged), temporary := temporary_path(final))
            os.replace(temporary, final)
            files.sync_folder(os.path.dirname(final))

    def _check(self, shard: ShardRecord) -> None:
        try:
            size = os.stat(path := os.path.join(self.folder, shard.name)).st_size
        except FileNotFoundError:
            raise DamagedShardError(path, "a shard disappeared before the commit", advice="Run the build again") from None
        if size != shard.size:
            reason = f"a finished shard has {size:,} bytes, expected {shard.size:,}"
            raise DamagedShardError(path, reason, advice="Run the build again")

    def _commit_whole(self, base: str, staged: Manifest, final: Manifest) -> None:
        with _undone_on_failure() as placed:
            for old, new in zip(staged.shards, final.shards, strict=True):
                _place(os.path.join(self.folder, old.name), os.path.join(self.folder, new.name), placed)
            for name, content in (written := manifest_files(final)).items():
                placed.append(path := os.path.join(self.folder, name))
                files.write_atomically(path, content)
        kept = {*written, *(shard.name for shard in final.shards)}
        for name in sorted(set(os.listdir(self.folder)) - kept, key=lambda name: name == JOURNAL_NAME):
            files.remove(os.path.join(self.folder, name))
        files.sync_folder(self.folder)
        os.rename(self.folder, base)  # over nothing, or over an empty folder
        files.sync_folder(os.path.dirname(base))

    def _commit_into(self, base: str, staged: Manifest, final: Manifest) -> None:
        *indexes, (_, content) = manifest_files(final).items()
        path = os.path.join(base, MANIFEST_NAME)
        with _undone_on_failure(unless=lambda: _holds(path, content)) as placed:
            for old, new in zip(staged.shards, final.shards, strict=True):
                _place(os.path.join(self.folder, old.name), os.path.join(base, new.name), placed)
            for index, records in indexes:
                placed += [own] if not os.path.exists(own := os.path.join(base, index)) else []
                files.write_atomically(own, records)
            files.sync_folder(base)
            files.write_atomically(path, content)

    def _commit_remote(self, staged: Manifest, final: Manifest, options: dict[str, Any] | None, sent_to: str | None) -> None:
        from datasets_core.engines.pool import ThreadEngine  # 3 ms that local datasets do without

        store, root = files.filesystem(self.target, options)
        again_on_failure(self.target, lambda: store.makedirs(root, exist_ok=True))
        sent = "" if sent_to is None else files.filesystem(sent_to, options)[1]

        def place(names: tuple[ShardRecord, ShardRecord]) -> None:
            old, new = names
            local, remote = os.path.join(self.folder, old.name), f"{root.rstrip('/')}/{new.name}"
            if not _is_there(store, remote, new.size):  # else the same: its name holds its hash
                is_sent = sent_to is not None and not os.path.exists(local)
                act = partial(_copy, store, files.join(sent, old.name)) if is_sent else partial(put_file, store, local)
                again_on_failure(files.join(self.target, new.name), partial(act, remote, new.size))

        pairs = list(zip(staged.shards, final.shards, strict=True))
        list(map(place, pairs[:1]))  # alone: a store that refuses all is asked once
        for _ in ThreadEngine(_TRANSFERS).run(place, pairs[1:]):
            pass
        for name, content in manifest_files(final).items():
            put = methodcaller("pipe_file", f"{root.rstrip('/')}/{name}", content)
            again_on_failure(files.join(self.target, name), partial(put, store))
        if sent_to is not None:
            try:
                store.rm(sent, recursive=True)
            except Exception as error:  # of a kind of the store; the dataset is committed, and the next build removes it
                logger.warning("Could not remove %s: %s", sent_to, error)

    def _clean_up(self) -> None:
        try:
            shutil.rmtree(self.folder)
        except OSError as error:  # the dataset is committed; the next build here removes the folder
            logger.warning("Could not remove the staging folder %s: %s", self.folder, error)


def _named(manifest: Manifest, *, by_content: bool) -> Manifest:
    """Return the manifest with final names, also in its splits."""
    info = manifest.info.copy()
    shards: list[ShardRecord] = []
    for split, records in manifest.split_shards().items():
        named = []
        for index, record in enumerate(records):
            parts = info.dataset_name or "dataset", split, index, len(records), EXTENSIONS[manifest.file_format]
            name = shard_file_name(*parts, is_numbered=by_content or len(records) > 1 or not has_alias())
            if by_content:
                stem, dot, extension = name.rpartition(".")
                name = f"{stem}-{record.sha256[:_HASH_DIGITS] or os.urandom(_HASH_DIGITS // 2).hex()}{dot}{extension}"
            named.append(record._replace(name=name))
        shards += named
        if info.splits is not None and split in info.splits:
            info.splits[split].shard_names = [record.name for record in named]
            info.splits[split].shard_lengths = [record.rows for record in named]
    return replace(manifest, info=info, shards=tuple(shards))


@contextlib.contextmanager
def _undone_on_failure(unless: Callable[[], bool] = lambda: False) -> Iterator[list[str]]:
    """A list of paths that are removed if the block fails before its work is done."""
    placed: list[str] = []
    try:
        yield placed
    except BaseException:
        if not unless():
            for path in placed:
                with contextlib.suppress(OSError):  # the first failure is the one to report
                    os.unlink(path)
        raise


def _holds(path: str, content: bytes) -> bool:
    with contextlib.suppress(FileNotFoundError), open(path, "rb") as handle:
        return handle.read() == content
    return False


def _place(staged: str, final: str, placed: list[str]) -> None:
    """Give a shard its final name.  It keeps the staged name too, so that a failed commit can be tried again."""
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
    with contextlib.suppress(OSError):
        return os.stat(os.path.join(folder, JOURNAL_NAME)).st_size
    return -1


def _sweep(target: str) -> None:
    """Remove the temporaries of the store in a dataset's folder; no process uses them, since they are made under the lock."""
    if not os.path.isdir(target):
        return
    for name in os.listdir(target):
        owned = name.rpartition(".tmp-")[0]
        if is_temporary(name) and (owned == MANIFEST_NAME or is_shard_name(owned)):
            os.unlink(os.path.join(target, name))


# -- remote ------------------------------------------------------------------------------------------------------------


def _is_there(store: Any, path: str, size: int) -> bool:
    try:
        return int(store.info(path)["size"]) == size
    except FileNotFoundError:
        return False


def put_file(store: Any, local: str, remote: str, size: int) -> None:
    """Send a file to a store, and check that it is complete."""
    store.put_file(local, remote)
    store.invalidate_cache()
    if not _is_there(store, remote, size):
        raise OSError(f"the object does not have the {size:,} bytes that were sent")


def _copy(store: Any, source: str, target: str, size: int) -> None:
    """Copy an object within a store, and check that the copy is complete."""
    store.copy(source, target)
    store.invalidate_cache()
    if not _is_there(store, target, size):
        raise OSError(f"the object does not have the {size:,} bytes that were copied")


def again_on_failure(url: str, act: Any) -> None:
    """Call `act`; while the store fails, call it again after growing pauses.

    Raises:
        DownloadError: it failed as often as the settings allow.
    """
    from datasets_core.engines.threads import RetryPolicy
    from datasets_core.fetch.http import Attempts, TransientError  # 9 ms that a local folder does without

    def once() -> None:
        try:
            act()
        except PermissionError as error:
            advice = "Grant the key write access, or choose another output_dir"
            raise DownloadError(url, f"could not be written ({error})", advice=advice) from error
        except Exception as error:  # each store has its own errors, and not all are OSErrors
            raise TransientError(str(error)) from error

    limits = settings()

    def given_up(error: TransientError, failures: int) -> DownloadError | None:
        reason, advice = f"could not be written ({error})", "Run again; finished shards are kept"
        return DownloadError(url, reason, advice=advice) if failures >= limits.max_retries else None

    policy = RetryPolicy(limits.max_retries, limits.max_retry_wait_seconds)
    Attempts(policy, url, given_up=given_up).call(once)


# Files that dead processes left in a cache, and shards that no manifest names any more.

_MIN_AGE_SECONDS = 3600.0
_UNUSED_SECONDS = 30 * 86_400.0


@dataclass(frozen=True, slots=True)
class Garbage:
    """A file or folder that can be removed.

    Attributes:
        path: its path.
        size: bytes.
        kind: "staging" (an unfinished build), "temporary" (an unfinished file), "orphan" (a shard of a replaced dataset),
            or "unused" (a result of a transform in `<cache>/transforms` not used for 30 days).
    """

    path: str
    size: int
    kind: str


def find_garbage(folder: str, *, min_age_seconds: float = _MIN_AGE_SECONDS) -> list[Garbage]:
    """Return everything below `folder` that no running process uses.

    Temporaries count when their process has ended, their lock is free and nothing in them changed for `min_age_seconds`;
    shards when their dataset was replaced that long ago.
    """
    latest = time.time() - min_age_seconds
    with files.disk_errors(folder, action="read"):
        unused = list(_unused(os.path.join(folder, "transforms"), time.time() - _UNUSED_SECONDS))
        gone = {garbage.path for garbage in unused}
        others = [garbage for garbage in _found(folder, latest) if os.path.dirname(garbage.path) not in gone]
    return sorted([*unused, *others], key=lambda garbage: garbage.path)


def _unused(folder: str, latest: float) -> Iterator[Garbage]:
    """Return the results of transforms that were last used long ago: folders with a manifest, and indices."""
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


def find_temporaries(folder: str, *, min_age_seconds: float = _MIN_AGE_SECONDS) -> list[Garbage]:
    """Return unfinished files of ended processes below a folder that other programs use too, such as the hub cache."""
    latest = time.time() - min_age_seconds
    with files.disk_errors(folder, action="read"):
        return [found for here, _, names in os.walk(folder) for found in _temporaries(here, names, latest)]


def dead_work(cache_dir: str, *, min_age_seconds: float = _MIN_AGE_SECONDS) -> list[Garbage]:
    """Return unfinished builds and files in a cache that no running process uses; only folders of datasets are inspected."""
    latest = time.time() - min_age_seconds
    return [found for depth in (2, 3) for folder in _version_folders(cache_dir, depth) for found in _dead_work(folder, latest)]


def remove_garbage(found: Iterable[Garbage]) -> int:
    """Remove the file or folder; return the number of bytes freed.

    Raises:
        DatasetDiskError: the disk is read-only or forbidden.
    """
    freed = 0
    for garbage in found:
        with files.disk_errors(garbage.path):
            try:
                if os.path.isdir(garbage.path):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(os.path.join(garbage.path, MANIFEST_NAME))  # first: no reader finds half a result
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
        path = os.path.join(folder, name)
        if is_temporary(name) and files.owner_is_alive(path) is False:
            yield from _aged(path, latest, "temporary")


def _staging(path: str, latest: float) -> Iterator[Garbage]:
    staging = parse_staging(path)
    with contextlib.suppress(FileNotFoundError):
        size, changed = _size_and_change(path)
        is_dead = staging is not None and changed < latest and files.owner_is_alive(path) is False
        if staging is not None and is_dead and not _is_locked(f"{staging.target}.lock"):
            yield Garbage(path, size, "staging")


def _orphans(folder: str, names: list[str], latest: float) -> Iterator[Garbage]:
    try:
        manifest = read_manifest(folder)
    except ManifestError:
        return  # what a broken manifest names is not known
    if manifest is None or os.stat(os.path.join(folder, MANIFEST_NAME)).st_mtime >= latest or _is_locked(f"{folder}.lock"):
        return
    named = manifest.file_names()
    name_of, dataset = partial(shard_file_name, is_numbered=False), manifest.info.dataset_name or "dataset"
    alone = {name_of(dataset, split, 0, 1, end) for split in manifest.info.splits or () for end in EXTENSIONS}
    for name in names:
        if (is_shard_name(name) or name in alone) and name not in named:
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
    """Return True if a process holds the lock file. If locks cannot be tested, its lease, age and owner decide."""
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


@contextlib.contextmanager
def locked_once(path: str) -> Iterator[None]:
    """Like `files.locked`, but removes the lock file afterwards, since each of many results has its own."""
    try:
        with files.locked(path):
            try:
                yield
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(path)  # while it is held: who waits for it looks at the path again
    except KeyboardInterrupt:  # which may come between its making and its going
        unlink_unheld(path)
        raise


def unlink_unheld(path: str) -> None:
    """Remove a lock file that is not held."""
    with contextlib.suppress(ImportError, OSError):  # there is none, it is held, or the system locks in another way
        import fcntl

        with open(path, "rb+") as data:
            fcntl.flock(data, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(data.fileno()), os.stat(path)):
                os.unlink(path)

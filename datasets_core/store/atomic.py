"""Atomic replacement of local folders and files: content is staged next to the target and renamed into place.

The owner of a staging folder holds a system lock on the folder itself, which is freed when the owner dies: so dead owners
are recognised, and no lock file is left next to what users save.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterable, Iterator

import pyarrow as pa

from datasets_core import files
from datasets_core.errors import ConfigurationError, DatasetDiskError, logger_of
from datasets_core.store.manifest import staging_folders, staging_path, temporary_path

logger = logger_of(__name__)

_INSIDE = "saved"  # prefix of the name of a folder that is filled inside the target
_CANNOT_SWAP = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EXDEV, errno.EBUSY, errno.EPERM}
_LINUX_EXCHANGE, _MAC_SWAP, _HERE = 2, 2, -100


def discard(folder: str) -> None:
    """Remove a folder that is no longer read, as far as possible now; the next clean-up removes the rest."""
    with contextlib.suppress(OSError):  # `ignore_errors` passes over no folder that cannot be closed
        shutil.rmtree(folder, ignore_errors=True)


class StagedFolder:
    """Context manager: a new folder for `target` that is removed at the end of the block, unless it was put in place.

    Args:
        target: a local folder, which need not exist.

    Attributes:
        path: the new folder, within the block.
        is_beside: True if it is next to the target, False if it is inside.

    Raises:
        DatasetDiskError: the folder cannot be made.
    """

    path: str
    is_beside: bool

    def __init__(self, target: str) -> None:
        self.target = os.path.realpath(files.local_path(target))
        self._lock: int | None = None

    def __enter__(self) -> StagedFolder:
        with files.disk_errors(self.target):
            parent = os.path.dirname(self.target)
            _make_folder(parent)
            self.is_beside = not os.path.ismount(self.target) and os.access(parent, os.W_OK | os.X_OK)
            if not self.is_beside:
                _make_folder(self.target)
            base = self.target if self.is_beside else os.path.join(self.target, _INSIDE)
            for dead in _dead(base):
                discard(dead)
            self.path = staging_path(base)
            try:
                os.mkdir(self.path)
                self._lock = _locked(self.path)
            except BaseException:  # Ctrl-C, too
                self._remove()
                raise
        return self

    def __exit__(self, *error: object) -> None:
        try:
            self._remove()
        except KeyboardInterrupt:
            self._remove()
            raise

    def _remove(self) -> None:
        """Remove the folder, which after a swap is the old one. The next `StagedFolder` removes what cannot be removed now."""
        if self._lock is not None:
            lock, self._lock = self._lock, None
            os.close(lock)
        discard(self.path)

    def take_place(self) -> bool:
        """Move to `target` by one rename; return False, and do nothing, if the system cannot do that.

        An existing folder at `target` is removed with its content.

        Raises:
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        if not self.is_beside or _is_here(self.target):
            return False
        with files.disk_errors(self.target):
            try:
                os.rename(self.path, self.target)  # over nothing, or over an empty folder
                return True
            except OSError as error:
                if error.errno not in {errno.ENOTEMPTY, errno.EEXIST, errno.EBUSY}:
                    raise
            self.sync()
            if not exchange(self.path, self.target):
                return False
            files.sync_folder(os.path.dirname(self.target))
        return True

    def sync(self) -> None:
        """Synchronize all files to the disk before they replace others.

        If there is nothing to replace, this is left to the system, as for any copy, since it takes as long as the copy."""
        with files.disk_errors(self.target):
            for folder, _, names in os.walk(self.path):
                for name in names:
                    files.sync_file(os.path.join(folder, name))
                files.sync_folder(folder)


def exchange(one: str, other: str) -> bool:
    """Swap two folders of one file system in one step; return False if the system or the file system cannot do that.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     one, other = os.path.join(folder, "one"), os.path.join(folder, "other")
    ...     os.mkdir(one), os.makedirs(os.path.join(other, "x"))
    ...     done = exchange(one, other)
    ...     os.path.isdir(os.path.join(one, "x")) is done
    (None, None)
    True
    """
    import ctypes  # 3 ms that only the replacement of a folder needs

    system = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "darwin":
            failed = system.renamex_np(first, second, _MAC_SWAP)
        else:
            failed = system.renameat2(_HERE, first, _HERE, second, _LINUX_EXCHANGE)
    except AttributeError:  # a system without that call
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT_SWAP:
        return False
    raise OSError(number, os.strerror(number), other)


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError as error:  # also where the folder could not be inspected
        with files.disk_errors(path):
            if not stat.S_ISDIR(os.stat(error.filename).st_mode):
                raise DatasetDiskError(path, f"{error.filename} is not a folder") from error


def _is_here(folder: str) -> bool:
    """Return True if the working directory of this process is in the folder, which is about to be removed."""
    try:
        here = os.path.realpath(os.getcwd())
    except FileNotFoundError:
        return False
    return here == folder or here.startswith(folder + os.sep)


# -- who lives ---------------------------------------------------------------------------------------------------------


def _locked(folder: str) -> int | None:
    """Return the descriptor that holds the lock on a folder; None if the system cannot lock folders."""
    try:
        import fcntl  # not on every system

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _dead(base: str) -> Iterator[str]:
    """Yield the staging folders for `base` whose owner is dead."""
    for name in staging_folders(base):
        if files.owner_is_alive(name.path) is not False:
            continue
        with contextlib.suppress(OSError):
            lock = _locked(name.path)
            if lock is not None:
                os.close(lock)
                yield name.path


# One Arrow file on disk, replaced atomically: a reader, or a crash, sees the old file or the new one.


FINGERPRINT_KEY = b"datasets_core.fingerprint"
"""Key in the schema of a cached result: its inputs; it also marks the file as ours."""


def check_replaceable(path: str, *, sources: Iterable[str] = ()) -> None:
    """Check that a result may replace `path`: nothing, an empty file, or a cache of rows or row numbers.

    Args:
        path: target of the result.
        sources: files of the input rows; only cached results among them may be replaced.

    Raises:
        ConfigurationError: another file exists there.

    >>> check_replaceable("/no/such/file.arrow")
    """
    if not os.path.isfile(path) or not os.path.getsize(path):
        return
    schema = _schema_at(path)
    known = (schema.metadata or {}) if schema is not None else {}
    if FINGERPRINT_KEY in known:
        return
    is_cache = schema is not None and (schema.names == ["indices"] or _has_fingerprint(known.get(b"huggingface")))
    if not is_cache or path in sources:
        raise ConfigurationError(
            f"{path} is not a cache file and is not overwritten",
            advice="Name another file, or remove this one first",
            file=path,
        )


def _schema_at(path: str) -> pa.Schema | None:
    with contextlib.suppress(pa.ArrowException, OSError, EOFError), pa.OSFile(path, "rb") as source:
        opened = pa.ipc.open_file if source.read(6) == b"ARROW1" else pa.ipc.open_stream
        source.seek(0)
        return opened(source).schema
    return None


def _has_fingerprint(described: bytes | None) -> bool:
    """Return True if another library wrote the file as the cached result of a transform (its schema has a fingerprint)."""
    try:
        return "fingerprint" in json.loads(described or b"{}")
    except ValueError:
        return False


def write_whole(
    path: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch], *, as_stream: bool = False, needed: int | None = None
) -> None:
    """Write batches to a local file; make its folder if necessary.

    Args:
        path: the target.
        schema: schema of the batches, whose metadata may differ from it.
        batches: the rows.
        as_stream: True to write Arrow's stream format instead of its file format.
        needed: bytes, where known, for the error of a full disk.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden; an existing file stays unchanged.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "new", "a.arrow")
    ...     write_whole(path, pa.schema({"a": pa.int8()}), [pa.record_batch({"a": pa.array([1, 2], pa.int8())})])
    ...     Dataset.from_file(path)["a"][:]
    [1, 2]
    """
    temporary, opened = temporary_path(path), pa.ipc.new_stream if as_stream else pa.ipc.new_file
    try:
        with files.disk_errors(path, needed=needed):
            _make_folder(os.path.dirname(path))
            files.remove_dead_temporaries(path)
            with pa.OSFile(temporary, "wb") as sink, opened(sink, schema) as writer:
                for batch in batches:
                    writer.write_batch(batch if batch.schema.equals(schema, check_metadata=True) else batch.cast(schema))
            files.sync_file(temporary)
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(temporary)
        raise


# A folder for results that are removed when their process ends, and the folders that killed processes left.

_NAME = r"datasets_core-(?P<pid>\d+)-.+"
_ALIVE = "alive"  # locked as long as the owner lives; works across containers, where process numbers differ
_made_folders: list[tuple[int, str, int]] = []


def temporary_folder_made() -> str | None:
    """Return the temporary folder of this process, if it has one."""
    return next((path for pid, path, _ in _made_folders if pid == os.getpid()), None)


def temporary_folder() -> str:
    """Return the folder of this process, which is removed when the process ends. Folders of killed processes are
    removed first.
    """
    import tempfile  # 2 ms that few need

    path = temporary_folder_made()
    if path is None:
        for dead in dead_folders():
            with contextlib.suppress(OSError):  # see `discard`
                shutil.rmtree(dead, ignore_errors=True)
        path = tempfile.mkdtemp(prefix=f"datasets_core-{os.getpid()}-")
        descriptor = os.open(os.path.join(path, _ALIVE), os.O_RDWR | os.O_CREAT, 0o600)
        _is_free(descriptor)
        _made_folders.append((os.getpid(), path, descriptor))
        atexit.register(_remove, os.getpid(), path)
    return path


def dead_folders() -> list[str]:
    """Return the folders that ended processes left."""
    import tempfile

    root = tempfile.gettempdir()
    with os.scandir(root) as entries:
        found = [(entry.path, re.fullmatch(_NAME, entry.name)) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted(path for path, name in found if name and files.owner_is_alive(path) is False and _is_abandoned(path))


def _is_abandoned(path: str) -> bool:
    try:
        descriptor = os.open(os.path.join(path, _ALIVE), os.O_RDWR)
    except OSError:
        return False  # another user's, or not one of ours
    try:
        return _is_free(descriptor)
    finally:
        os.close(descriptor)


def _is_free(descriptor: int) -> bool:
    """Try to take the lock; return True if it was free, and the caller now holds it."""
    with contextlib.suppress(ImportError):  # not on every system
        import fcntl

        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    return True


def _remove(pid: int, path: str) -> None:
    if os.getpid() == pid:  # a forked child ends with the same list
        with contextlib.suppress(OSError):
            shutil.rmtree(path, ignore_errors=True)

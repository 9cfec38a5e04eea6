"""Local and remote files: open, list, glob, join; write-then-rename; the lock between processes.

Local paths never touch fsspec, so that a plain build does not import it.  `http(s)` is fetched (`fetch/download.py`).
"""

from __future__ import annotations

import contextlib
import contextvars
import errno
import os
import posixpath
import stat
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any, Literal, NamedTuple, TypeVar

from datasets_core.errors import (
    DatasetDiskError,
    DatasetsCoreError,
    DownloadError,
    FileInPlaceError,
    FileNotFoundDatasetsError,
    MissingDependencyError,
    logger_of,
    redact,
    redact_text,
)
from datasets_core.errors.loading import disk_usage as disk_usage

# The deadline of work, which ends when its time is over, even while it waits for bytes, a lock or the next try.

T = TypeVar("T")


class Overdue(BaseException):
    """The deadline has passed; retries do not treat it as an error of the work."""


class Due(NamedTuple):
    """The deadline of work, by `time.monotonic`, and whether a caller still waits for the work."""

    at: float
    is_called_off: threading.Event


due: contextvars.ContextVar[Due | None] = contextvars.ContextVar("datasets_core_due", default=None)


def check() -> None:
    """Check the deadline; long work calls it regularly.

    Raises:
        Overdue: the deadline has passed, or the caller has stopped waiting.
    """
    now = due.get()
    if now is not None and (now.is_called_off.is_set() or time.monotonic() >= now.at):
        raise Overdue


def at_most(seconds: float) -> float:
    """Return the smaller of `seconds` and the time left.

    >>> at_most(5.0)
    5.0
    """
    now = due.get()
    return seconds if now is None else max(0.0, min(seconds, now.at - time.monotonic()))


# Kind of a file from its first bytes: archives, compression, web pages, Git-LFS pointers.


Kind = Literal["zip", "tar", "gz", "bz2", "xz", "zst", "lz4", "rar", "7z"]

HEAD_BYTES = 1024
"""Number of bytes from the beginning of a file that is sufficient for all checks of this module."""

COMPRESSIONS = frozenset({"gz", "bz2", "xz", "zst", "lz4"})
"""Kinds that hold one stream of bytes (which may be a tar)."""

_MAGIC: tuple[tuple[bytes, Kind], ...] = (
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),  # no member at all
    (b"PK\x07\x08", "zip"),  # once spanned over disks
    (b"\x1f\x8b", "gz"),
    (b"BZh", "bz2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zst"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"Rar!\x1a\x07", "rar"),
    (b"7z\xbc\xaf\x27\x1c", "7z"),
)
_BLOCK = 512
_CHECKSUM = slice(148, 156)


def kind_of(head: bytes) -> Kind | None:
    """Return the kind of archive or compression whose magic number `head` begins with, or None.

    >>> kind_of(b"PK\\x03\\x04..."), kind_of(b"a,b\\n1,2\\n")
    ('zip', None)
    """
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            if kind == "bz2" and not head[3:4].isdigit():
                return None
            return kind
    if _is_skippable_frame(head):
        return kind_of(head[8 + int.from_bytes(head[4:8], "little") :])
    return "tar" if is_tar(head) else None


def _is_skippable_frame(head: bytes) -> bool:
    # Both zstd and lz4 may begin with such a frame (pzstd writes one); the bytes after it decide.
    return len(head) >= 8 and head[1:4] == b"\x2a\x4d\x18" and 0x50 <= head[0] <= 0x5F


def is_tar(head: bytes) -> bool:
    """Return True if `head` is the header block of a tar: by its own checksum, which even the oldest kind has."""
    block = head[:_BLOCK]
    if len(block) < _BLOCK or not block[0]:
        return False
    digits = block[_CHECKSUM].strip(b" \x00")
    if not digits or any(digit not in b"01234567" for digit in digits):
        return False
    plain = sum(block) - sum(block[_CHECKSUM]) + 8 * ord(" ")
    return int(digits, 8) == plain


def is_empty_tar(head: bytes) -> bool:
    """Return True if `head` could begin a tar without members: only zero bytes (as in many files that are not a tar)."""
    return len(head) >= 2 * _BLOCK and not any(head)


def looks_like_html(head: bytes) -> bool:
    """Return True if `head` begins a web page, which servers send instead of data to users who are not logged in.

    >>> looks_like_html(b"\\n<!DOCTYPE html><title>Log in"), looks_like_html(b"<a>,<b>")
    (True, False)
    """
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:HEAD_BYTES].lower()
    while start.startswith(b"<!--"):
        _, closed, rest = start.partition(b"-->")
        if not closed:
            return False
        start = rest.lstrip()
    if start.startswith(b"<?xml"):
        start = start.partition(b"?>")[2].lstrip()
    return start.startswith((b"<!doctype html", b"<html", b"<head>", b"<head ", b"<body>", b"<body "))


def is_lfs_pointer(head: bytes) -> bool:
    """Return True if `head` is the text that Git stores in place of a large file.

    >>> is_lfs_pointer(b"version https://git-lfs.github.com/spec/v1\\noid sha256:00\\nsize 1\\n")
    True
    """
    return head.startswith((b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/"))


logger = logger_of(__name__)

_DISK_ERRORS = {
    errno.ENOSPC,
    errno.EFBIG,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.EDQUOT,
    errno.ENOTDIR,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.EISDIR,
    *(errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR, errno.ENOLCK, errno.ENOTEMPTY, errno.EBADF),
}
_NO_LOCKS = {errno.ENOSYS, errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL, errno.ESTALE}
_MAX_SWEPT = 100  # folders of a lock file that others removed, one after the other
LEASE_SECONDS = 60.0
_PACKAGES = {  # protocol -> the package that fsspec needs for it, and its name for pip
    **dict.fromkeys(("s3", "s3a"), ("s3fs", "datasets_core[s3]")),
    **dict.fromkeys(("gs", "gcs"), ("gcsfs", "gcsfs")),
    **dict.fromkeys(("az", "abfs", "adl"), ("adlfs", "adlfs")),
    **dict.fromkeys(("sftp", "ssh"), ("paramiko", "paramiko")),
}


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a listing.

    Attributes:
        path: full path or URL, with its protocol.
        size: bytes, or -1 if the store does not report it.
        identity: a text that changes with the content: mtime in ns, ETag or checksum; "" if the store reports none.
        link: the first link, to this file or a folder above it, that the listing followed; "" if no link was followed.
    """

    path: str
    size: int
    identity: str
    link: str = field(default="", compare=False)


def is_url(path: str) -> bool:
    """Return True if `path` names a file by protocol (`s3://…`, `zip://a::b.zip`) and not a local path.

    >>> is_url("s3://bucket/a.csv"), is_url("data/a.csv"), is_url("C://x")
    (True, False, False)
    """
    if "://" not in path:  # called for every file of a folder
        return "::" in path
    head = path.partition("://")[0]
    return "::" in path or (len(head) > 1 and head.replace("+", "").replace("-", "").isalnum())


def is_http(path: str) -> bool:
    """Return True if `path` is an `http` or `https` URL."""
    return path[:8].lower().startswith(("http://", "https://"))


def is_local_path(path: str) -> bool:
    """Return True if `path` is an absolute local path without a protocol, like most of possibly thousands of files.

    >>> is_local_path("/data/a.csv"), is_local_path("a.csv"), is_local_path("file:///data/a.csv")
    (True, False, False)
    """
    return path[:1] == "/" and "://" not in path and "::" not in path


def local_path(path: str | os.PathLike[str]) -> str:
    """Return a local path as text: with `~` expanded and without `file://`, otherwise unchanged."""
    text = os.fspath(path).removeprefix("file://")
    return os.path.expanduser(text) if text.startswith("~") else text


def join(base: str, *parts: str) -> str:
    """Return `base` and `parts` as one path, with `/` between the parts of a URL.

    >>> join("s3://bucket/data", "a.csv")
    's3://bucket/data/a.csv'
    """
    if is_url(base):
        head, chain, rest = base.partition("::")
        return posixpath.join(head, *parts) + chain + rest
    return os.path.join(base, *parts)


def filesystem(path: str, storage_options: dict[str, Any] | None = None) -> tuple[Any, str]:
    """Return the fsspec file system of a URL, and the path inside it.

    Raises:
        MissingDependencyError: the protocol needs a package that is not installed.
        DownloadError: the protocol does not exist.
    """
    import fsspec  # 60 ms that local paths do without

    packed = {".tgz": "gzip", ".tbz2": "bz2", ".txz": "xz"}.get(path[path.rfind(".") :].lower())  # unknown to fsspec
    told: dict[str, Any] = {"tar": {"compression": packed}} if packed and path.startswith("tar://") else {}
    try:
        fs, inner = fsspec.core.url_to_fs(path, **(told | (storage_options or {})))
    except ImportError as error:
        raise _missing_package(path, error) from error
    except ValueError as error:
        advice = "Use a local path, http(s)://, or a protocol that fsspec supports"
        raise DownloadError(redact(path), redact_text(str(error)), advice=advice) from error
    return fs, inner


def _missing_package(path: str, error: ImportError) -> MissingDependencyError:
    """Return the error for a missing package, never named after a protocol (`s3`): a stranger's package may have that name."""
    from fsspec.registry import known_implementations

    protocols, said = [part.partition("://")[0] for part in path.split("::")], str(error)
    protocol = next((name for name in protocols if known_implementations.get(name, {}).get("err") == said), protocols[0])
    package, install = _PACKAGES.get(protocol, (None, None))
    return MissingDependencyError(package, needed_for=f"Reading {protocol}:// URLs", install=install, said=said)


def compressed_files(protocol: str) -> Any:
    """Return the class, registered with fsspec, of file systems `protocol://name::path` of one file, unpacked from `path`."""
    import fsspec
    from fsspec.archive import AbstractArchiveFileSystem

    class Unpacked(AbstractArchiveFileSystem):  # type: ignore[misc]
        root_marker = ""

        def __init__(
            self, fo: str = "", target_protocol: str | None = None, target_options: Any = None, **options: Any
        ) -> None:
            super().__init__(**options)
            how = {"protocol": target_protocol, "compression": protocol, **(target_options or {})}
            self._packed: Any = fsspec.open(fo, "rb", **how)
            name = os.path.splitext(os.path.basename(str(fo).partition("::")[0]))[0]
            self.dir_cache = {name: {**self._packed.fs.info(self._packed.path), "name": name, "size": None, "type": "file"}}

        def _get_dirs(self) -> None:
            """Do nothing: the file is known."""

        def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
            if mode != "rb" or path not in self.dir_cache:
                raise FileNotFoundError(errno.ENOENT, f"Nothing to open in mode {mode!r}", path)
            return self._packed.open()

    Unpacked.protocol = protocol
    fsspec.register_implementation(protocol, Unpacked, clobber=True)
    return Unpacked


def open_binary(path: str, storage_options: dict[str, Any] | None = None) -> IO[bytes]:
    """Return a local file or any fsspec URL, open for reading bytes."""
    if not is_url(path):
        return open(local_path(path), "rb")
    fs, inner = filesystem(path, storage_options)
    handle: IO[bytes] = fs.open(inner, "rb")
    vars(handle)["filesystem"] = fs  # an archive's file system closes the archive when it is collected
    return handle


def entry(path: str, storage_options: dict[str, Any] | None = None) -> FileEntry | None:
    """Return the entry of one file in its store; None without one (or for a folder)."""
    if not is_url(path):
        local = local_path(path)
        try:
            found = os.stat(local)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return FileEntry(path, found.st_size, str(found.st_mtime_ns)) if stat.S_ISREG(found.st_mode) else None
    fs, inner = filesystem(path, storage_options)
    try:
        info = fs.info(inner)
    except FileNotFoundError:
        return None
    return None if info.get("type") == "directory" else _remote_entry(path, info)


def list_files(
    folder: str,
    storage_options: dict[str, Any] | None = None,
    *,
    max_depth: int | None = None,
    skip_hidden: bool = False,
    every_kind: bool = False,
) -> list[FileEntry]:
    """Return every file below `folder`, sorted by path.

    Links to folders are followed once, so that circular links end.

    Args:
        folder: local folder or URL.
        storage_options: options of the file system of a URL.
        max_depth: number of levels; 1 for the folder alone, None for all. Stores are always listed completely.
        skip_hidden: True to skip hidden folders. Stores are always listed completely.
        every_kind: True to include, with size -1, entries that are not regular files: broken links, pipes, devices.
    """
    if not is_url(folder):
        found = _walk(local_path(folder), max_depth, skip_hidden, every_kind, frozenset())
        return sorted(found, key=lambda entry: entry.path)
    fs, inner = filesystem(folder, storage_options)
    listed = fs.find(inner, detail=True)
    return [_remote_entry(fs.unstrip_protocol(name), info) for name, info in sorted(listed.items())]


def _walk(
    folder: str, depth: int | None, skip_hidden: bool, every_kind: bool, above: frozenset[tuple[int, int]], link: str = ""
) -> Iterator[FileEntry]:
    here = os.stat(folder)
    mark = (here.st_dev, here.st_ino)
    if mark in above:
        return
    with os.scandir(folder) as entries:
        for found in entries:
            first = link or (found.path if found.is_symlink() else "")
            if found.is_dir():
                if (depth is None or depth > 1) and not (skip_hidden and found.name.startswith(".")):
                    yield from _walk(found.path, depth and depth - 1, skip_hidden, every_kind, above | {mark}, first)
            elif found.is_file():
                status = found.stat()
                yield FileEntry(found.path, status.st_size, str(status.st_mtime_ns), first)
            elif every_kind:
                yield FileEntry(found.path, -1, "")


def _remote_entry(path: str, info: dict[str, Any]) -> FileEntry:
    size = int(info["size"]) if info.get("size") is not None else -1
    for key in ("ETag", "etag", "sha256", "md5", "checksum", "LastModified", "last_modified", "mtime", "created"):
        if info.get(key):
            return FileEntry(path, size, str(info[key]).strip('"'))
    return FileEntry(path, size, "")


# -- writing -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def disk_errors(path: str, *, needed: int | None = None, action: str = "write") -> Iterator[None]:
    """Convert system errors (full, read-only, too many files) to `DatasetDiskError`; `path` is used if they name no path."""
    try:
        yield
    except DatasetsCoreError:
        raise  # some are errors of the system too, and say what they are
    except OSError as error:
        if error.errno not in _DISK_ERRORS and os.strerror(errno.ENOMEM) not in str(error):  # pyarrow has no number for it
            raise
        if error.errno == errno.EBADF and isinstance(error.__context__, OSError):
            error = error.__context__  # `shutil` closes once more what could not be closed
        named = str(error.filename) if os.sep in str(error.filename or "") else path  # `shutil` names what is in an open folder
        raise DatasetDiskError.of(error, named, needed=needed, free=free_bytes(named), action=action) from error


def free_bytes(path: str) -> int | None:
    """Return the bytes available on the disk of `path` (or of its nearest existing parent); None if unknown."""
    return None if is_url(path) else (disk_usage(path) or (0, 0, None))[2]


def remove(path: str) -> None:
    """Remove a local file, a link, or a folder with its content."""
    if os.path.isdir(path) and not os.path.islink(path):
        import shutil  # 4 ms that reading does without

        shutil.rmtree(path)
    else:
        os.unlink(path)


def write_atomically(path: str, data: bytes) -> None:
    """Write a local file atomically: readers see either the old or the new content, also after a crash.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden; the old content is kept.
    """
    temporary = f"{path}.tmp-{os.getpid()}-{os.urandom(4).hex()}"
    with disk_errors(path, needed=len(data)):
        try:
            with open(temporary, "wb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            os.replace(temporary, path)
            sync_folder(os.path.dirname(path) or ".")
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary)
            raise


def remove_dead_temporaries(path: str) -> None:
    """Remove the temporary files that killed processes left next to `path`."""
    folder, name = os.path.split(path)
    for found in os.listdir(folder or "."):
        if found.startswith(f"{name}.tmp-") and owner_is_alive(place := os.path.join(folder, found)) is False:
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                os.unlink(place)


def check_writable(path: str) -> None:
    """Check that a local file can be created or replaced, before the work whose result it will contain.

    Raises:
        FileNotFoundDatasetsError: the folder of the file does not exist.
        DatasetDiskError: the folder is read-only, forbidden, or one in which no file can be created.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        reason = f"{path} cannot be written: there is no folder {folder}"
        raise FileNotFoundDatasetsError(reason, advice="Create it first", file=path)
    trial = f"{path}.tmp-{os.getpid()}-{os.urandom(4).hex()}"
    with disk_errors(path):
        try:
            os.close(os.open(trial, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileNotFoundError as error:  # as below /proc
            raise DatasetDiskError(path, "no file can be created there") from error
        os.unlink(trial)


@contextlib.contextmanager
def new_file(path: str, storage_options: dict[str, Any] | None = None) -> Iterator[IO[bytes]]:
    """Open a new file for writing; it replaces `path` if the block succeeds; otherwise the old file is kept.

    Missing parent folders are created.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden.
        FileInPlaceError: the path of a parent folder is a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with new_file(join(folder, "a.txt")) as out:
    ...         _ = out.write(b"text")
    ...     os.path.getsize(join(folder, "a.txt"))
    4
    """
    if is_url(path):
        with _new_object(path, storage_options) as handle:
            yield handle
        return
    path = os.path.realpath(local_path(path))  # a link stays a link
    temporary = f"{path}.tmp-{os.getpid()}-{os.urandom(4).hex()}"
    with disk_errors(path):
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        except FileExistsError as error:
            raise FileInPlaceError(os.path.dirname(path)) from error
        remove_dead_temporaries(path)
        try:
            with open(temporary, "wb") as out:
                yield out
            if os.path.exists(path):  # the old content goes when the new one is on the disk
                sync_file(temporary)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(temporary)
            raise


@contextlib.contextmanager
def _new_object(url: str, storage_options: dict[str, Any] | None) -> Iterator[IO[bytes]]:
    # an instance of its own: the files of a transaction belong to the instance, which threads would share
    store, inner = filesystem(url, {**(storage_options or {}), "skip_instance_cache": True})
    parent = inner.rpartition("/")[0]
    if parent:
        store.makedirs(parent, exist_ok=True)
    with store.transaction, store.open(inner, "wb") as handle:  # an object when it is committed, else dropped
        yield handle


def sync_file(path: str) -> None:
    """Synchronize the content of a local file to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: str) -> None:
    """Synchronize the names in a local folder to the disk (nothing to do on Windows, which opens no folders)."""
    if sys.platform != "win32":
        sync_file(path)


@contextlib.contextmanager
def locked(path: str, *, log_after_seconds: float = 10.0) -> Iterator[None]:
    """Hold the lock file `path` against other processes and threads; wait as long as necessary, and log the wait.

    The system's `flock` is released when its holder dies.  If the file system has none, a lease replaces it: a file that its
    holder renews, and that another process takes if it was not renewed for some time.

    Raises:
        DatasetDiskError: the lock file cannot be created.
    """
    import filelock

    with disk_errors(path):
        try:
            _make_folder(os.path.dirname(path) or ".")
        except FileExistsError as error:
            raise DatasetDiskError(path, f"{error.filename} is not a folder") from error
        except FileNotFoundError as error:  # as below /proc, where folders cannot be created
            raise DatasetDiskError(path, f"the folder {error.filename} cannot be created") from error
        lock: filelock.BaseFileLock = filelock.FileLock(path, fallback_to_soft=False)
        try:
            _acquire(lock, path, log_after_seconds)
        except (NotImplementedError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in _NO_LOCKS:
                raise
            logger.info("%s: the file system does not support locks (%s); a lease file is used instead.", path, error)
            lock = filelock.SoftFileLease(lease_path(path), lease_duration=LEASE_SECONDS)
            _acquire(lock, path, log_after_seconds)
    try:
        yield
    finally:
        try:
            lock.release()
        except OSError:  # it is held still; who waits for it would do so until this process ends
            with disk_errors(path):
                lock.release(force=True)


@contextlib.contextmanager
def locked_and_swept(path: str) -> Iterator[None]:
    """Like `locked`; if the block fails, folders that were made for the lock file and contain nothing else are removed.

    Raises:
        DatasetDiskError: the lock file cannot be created.
    """
    made: list[str] = []
    above = os.path.dirname(os.path.abspath(path))
    while not os.path.lexists(above):
        made.append(above)
        above = os.path.dirname(above)
    try:
        with locked(path):
            try:
                yield
            except BaseException:
                with contextlib.suppress(OSError):
                    if made and os.listdir(made[0]) == [os.path.basename(path)]:
                        os.unlink(path)  # while it is held: who waits for it looks at the path again
                raise
    except BaseException:
        with contextlib.suppress(OSError):  # a folder filled meanwhile stays
            for folder in made:
                os.rmdir(folder)
        raise


def is_alive(pid: int) -> bool:
    """Return True if a process of this machine, of any user, has the number `pid`."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it lives, as another user
        return True
    return True


def ownership() -> dict[str, Any]:
    """Return the identity of this process, for the note next to an unfinished file or folder (see `owner_is_alive`)."""
    import socket

    return {"pid": os.getpid(), "host": socket.gethostname(), "started": _started(os.getpid())}


def owner_is_alive(path: str) -> bool | None:
    """Return True if the process that writes an unfinished file or folder is alive; None if no process of this machine is
    named.

    The note at `path` + ".json" has number, host and start of the process; without a note, the name has its number
    (`….incomplete-<pid>-…`, `….tmp-<pid>-…`, `datasets_core-<pid>-…`).
    """
    import json
    import re
    import socket

    note: Any = None
    with contextlib.suppress(OSError, ValueError), open(f"{path}.json", "rb") as source:
        note = json.load(source)
    if not isinstance(note, dict):
        found = re.fullmatch(r"(?:.*\.(?:incomplete|tmp)|datasets_core)-(\d+)-.+", os.path.basename(path), re.DOTALL)
        note = {"pid": int(found[1])} if found else {}
    pid, host = note.get("pid"), socket.gethostname()
    if not isinstance(pid, int) or note.get("host", host) != host:
        return None
    started = note.get("started")
    return is_alive(pid) and (started is None or _started(pid) in (None, started))  # else its number is another's by now


def _started(pid: int) -> int | None:
    """Return when a process was started, in ticks since the start of this machine; None if the system does not report it."""
    with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat", "rb") as source:
        return int(source.read().rpartition(b")")[2].split()[19])
    return None


def lease_path(path: str) -> str:
    """Return the lease file for the lock `path`, for file systems without locks."""
    return f"{path}.lease"


def _make_folder(folder: str) -> None:
    """Create a folder and its parents, even while other processes remove empty folders."""
    for tries in range(_MAX_SWEPT):
        try:
            os.makedirs(folder, exist_ok=True)
            return
        except FileExistsError as error:
            if os.path.lexists(error.filename) and not os.path.isdir(error.filename):
                raise
        except FileNotFoundError:
            if tries == _MAX_SWEPT - 1:
                raise


def _acquire(lock: Any, path: str, log_after_seconds: float) -> None:
    import filelock

    begun = time.monotonic()
    swept = 0
    while True:
        try:
            lock.acquire(timeout=at_most(log_after_seconds))
            return
        except (FileNotFoundError, FileExistsError):
            swept += 1
            if swept > _MAX_SWEPT:
                raise
            _make_folder(os.path.dirname(path) or ".")  # who held the lock swept its folder, which held nothing else
        except filelock.Timeout:
            if not os.path.exists(lock.lock_file):
                raise DatasetDiskError(path, "no file can be created there") from None
            check()
            logger.warning("Waiting for another process that holds %s (%.0f s so far).", path, time.monotonic() - begun)

"""`DiskCache`: values by key on disk, files made by one process while others wait, and unfinished downloads.

Values are added by rename and removed by unlink, least recently used first, so that no process waits for another; a
reader keeps its open file.  If the disk cannot be written to, nothing is cached.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import re
import shutil
import socket
import threading
import time
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import blake2b
from typing import Any, BinaryIO, ClassVar, Self, TypeAlias, TypeVar

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines.threads import renewed_after_fork
from datasets_core.errors import logger_of

Bytes: TypeAlias = "bytes | memoryview"
T = TypeVar("T")

logger = logger_of(__name__)

_TOUCHED_SECONDS = 60.0  # minimum interval between updates of the access time
_LITTER_SECONDS = 3600.0
_FULL = 0.95  # part of the limit at which to trim, since other processes also write
_SHARE = 0.9  # part of the limit that remains after trimming
_OTHERS = 8  # assumed number of writing processes
_CHECK = 16  # bytes of the digest before the data
_HALVES = re.compile(r".*(\.part|\.tmp-\d+-[0-9a-f]+)")
INDEX_BYTES = 256 << 20


class DiskCache:
    """Values by key, each in its own complete file, and files and folders that are made once.

    Args:
        folder: the folder; created with the first value.
        most_bytes: limit of the total size in bytes; None for no limit.
        locks: folder of the locks held while something is made; default: the same folder.

    Attributes:
        form: prefix of each value; a digest follows.
        check: bytes of the digest.
        suffix: end of the name of a value.
        is_packed: True if values are compressed.
        unused_seconds: age after which unused values may be removed.
        unseen: part of the limit that a process writes before it checks what others wrote.
        level: log level of the message, logged once, about a disk that cannot be written to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = DiskCache(folder)
    ...     cache.make("key", lambda is_held: None, os.path.basename)
    'key.part'
    """

    form: ClassVar[bytes] = b""
    check: ClassVar[int] = _CHECK
    suffix: ClassVar[str] = ""
    is_packed: ClassVar[bool] = False
    unused_seconds: ClassVar[float] = math.inf
    unseen: ClassVar[int] = 320
    level: ClassVar[int] = logging.WARNING
    _made: ClassVar[dict[tuple[type, str, int], Any]] = {}  # one for each folder, whose bytes it counts

    def __init__(self, folder: str, most_bytes: int | None = None, *, locks: str | None = None) -> None:
        self.folder, self.most_bytes, self._locks = folder, most_bytes, locks or folder
        self._left = 0  # bytes that this process may write before it measures the cache again
        self._is_told = self._is_swept = False
        self.forked()
        renewed_after_fork(self)

    @classmethod
    def at(cls, folder: str, most_bytes: int) -> Self:
        """Return the cache in a folder, one object for the whole process."""
        key = cls, folder, most_bytes
        made: Self = cls._made.get(key) or cls._made.setdefault(key, cls(folder, most_bytes))
        return made

    def forked(self) -> None:
        """Create new locks after a fork."""
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        if self.most_bytes is None:
            return type(self), (self.folder,)
        return type(self).at, (self.folder, self.most_bytes)

    def make(self, key: str, find: Callable[[bool], T | None], write: Callable[[str], T]) -> T:
        """Return the entry of a key, or make it: one process makes it while others wait.

        Args:
            key: name of a file or folder.
            find: returns the existing entry, or None; called with whether the lock is held.
            write: makes the entry at a temporary path in this folder, renames it, and returns it.

        Raises:
            DatasetDiskError: the folder or the lock cannot be created.
        """
        found = find(False)
        if found is not None:
            return found
        with self.locked(key):
            found = find(True)
            if found is not None:
                return found
            with files.disk_errors(self.folder):
                os.makedirs(self.folder, exist_ok=True)
                if not self._is_swept:
                    sweep(self.folder)
                    self._is_swept = True
            return write(temporary_of(os.path.join(self.folder, key)))

    def locked(self, key: str) -> AbstractContextManager[None]:
        """Return the lock of a key."""
        return files.locked(os.path.join(self._locks, key + ".lock"))

    def get(self, key: str) -> bytes | None:
        """Return the value of a key; None if it is missing or incomplete."""
        path, head = self._path(key), len(self.form) + self.check
        try:
            with open(path, "rb") as source:
                is_touched = time.time() - os.fstat(source.fileno()).st_mtime < _TOUCHED_SECONDS
                known, value = source.read(head), source.read()
        except OSError:
            return None
        if known != self.form + self._digest(value):
            self._drop(path)
            return None
        if not is_touched and self.most_bytes is not None:
            with contextlib.suppress(OSError):  # removed, or not a value of this library
                os.utime(path)
        return zlib.decompress(value) if self.is_packed else value

    def put(self, key: str, value: Bytes) -> None:
        """Store a value, replacing an earlier one; if the disk cannot be written to, nothing is stored."""
        packed = zlib.compress(value, 1) if self.is_packed else value
        size = len(self.form) + self.check + len(packed)
        if self.most_bytes is not None and size > self.most_bytes:
            return
        path = self._path(key)
        temporary = f"{path}.tmp-{os.getpid()}-{os.urandom(4).hex()}"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._make_room(size)
            with open(temporary, "xb") as out:
                out.write(self.form + self._digest(packed))
                out.write(packed)
            os.replace(temporary, path)
        except OSError as error:
            self._drop(temporary)
            if not self._is_told:
                self._is_told = True
                free = files.free_bytes(self.folder)
                told = f"{free:,}" if free is not None else "?"
                reason = error.strerror or error
                message = "%s cannot cache fetched data (%s; %s bytes free): it will be fetched again."
                logger.log(self.level, message, self.folder, reason, told)

    def drop(self, key: str) -> None:
        """Remove the value of a key."""
        self._drop(self._path(key))

    def stale(self) -> dict[str, int]:
        """Return the files to remove, with their sizes: incomplete, long unused, and the oldest if the cache is too large."""
        return self._stale(0)[0]

    def _stale(self, added: int) -> tuple[dict[str, int], int]:
        """Return the result of `stale` before a number of bytes is added, and the bytes of all other files."""
        found, stale, total = self._listed()
        most, now = math.inf if self.most_bytes is None else self.most_bytes, time.time()
        is_full = total + added > most * _FULL
        for used, size, path in sorted(found):
            if not (is_full and total + added > most * _SHARE) and now - used <= self.unused_seconds:
                break
            stale[path] = size
            total -= size
        return stale, total

    def _listed(self) -> tuple[list[tuple[float, int, str]], dict[str, int], int]:
        """Return time, size and path of each file, old incomplete files, and the bytes of all others."""
        found, left, total = [], {}, 0
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.stat(path)
                except OSError:  # another process removed it
                    continue
                is_half = _HALVES.fullmatch(name) is not None
                if is_half and time.time() - status.st_mtime > _LITTER_SECONDS:
                    left[path] = status.st_size
                    continue
                total += status.st_size
                if not is_half:  # a file that is being written
                    found.append((status.st_mtime, status.st_size, path))
        return found, left, total

    def _make_room(self, added: int) -> None:
        """Enforce the size limit; the folder is scanned after this process has written its share of the free space."""
        if self.most_bytes is None:
            return
        with self._lock:
            if added <= self._left:
                self._left -= added
                return
            stale, total = self._stale(added)
            for path in stale:
                self._drop(path)
            self._left = max(0, min((self.most_bytes - total - added) // _OTHERS, self.most_bytes // self.unseen))

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, key + self.suffix)

    def _digest(self, data: Bytes) -> bytes:
        return blake2b(data, digest_size=self.check).digest() if self.check else b""

    @staticmethod
    def _drop(path: str) -> None:
        with contextlib.suppress(OSError):  # another process was faster
            os.unlink(path)


class RangeCache(DiskCache):
    """Byte ranges that streams fetched, by version and position; entries never change.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = RangeCache(folder, 1_000)
    ...     key = cache.key("https://example.org/a", '"v1"', 0, 5)
    ...     cache.put(key, b"bytes")
    ...     cache.get(key), cache.get(cache.key("https://example.org/a", '"v2"', 0, 5))
    (b'bytes', None)
    """

    @classmethod
    def of_settings(cls) -> RangeCache | None:
        """Return the cache of the settings; None if it is switched off."""
        now = settings()
        if not now.stream_cache_bytes:
            return None
        return cls.at(os.path.expanduser(now.stream_cache_dir) or os.path.join(now.cache_dir, "ranges"), now.stream_cache_bytes)

    @staticmethod
    def key(url: str, tag: str, start: int, stop: int) -> str:
        """Return the name of the entry of a range."""
        return blake2b(f"{tag}\n{url}\n{start}\n{stop}".encode(), digest_size=20).hexdigest()

    def _path(self, key: str) -> str:
        return os.path.join(self.folder, key[:2], key)


class IndexCache(DiskCache):
    """Positions of rows in remote files, kept for later processes; keys are any text, only their hashes are stored.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = IndexCache(folder)
    ...     cache.put("footer of https://example.org/a", b"...")
    ...     cache.get("footer of https://example.org/a"), cache.get("another")
    (b'...', None)
    """

    form = b"rows1\n"
    is_packed = True
    unused_seconds = 90 * 86_400.0
    unseen = 64
    level = logging.DEBUG

    def __init__(self, folder: str, most_bytes: int = INDEX_BYTES) -> None:
        super().__init__(folder, most_bytes)

    @classmethod
    def of_settings(cls) -> IndexCache:
        """Return the cache in the folder of finished datasets."""
        return cls.at(os.path.join(settings().cache_dir, "row_indexes"), INDEX_BYTES)

    def _path(self, key: str) -> str:
        name = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return os.path.join(self.folder, name[:2], name[2:])


# Unfinished files and folders next to finished ones: their owners, and when they are leftovers.


SUFFIX = ".part"
CONFINED = "confined"
"""The sub-folder of downloads with a folder for each sandboxed script."""
_PLAIN = ".plain"
_LITTER_AFTER_SECONDS = 3600.0
_FOREIGN_LITTER_AFTER_SECONDS = 24 * 3600.0  # whether a process of another machine is alive cannot be checked


def temporary_of(path: str) -> str:
    """Return the path of the temporary file or folder that becomes `path`."""
    return path + SUFFIX


def plain_of(temporary: str) -> str:
    """Return the path to which `temporary` is decompressed."""
    return temporary + _PLAIN


def write_all(out: BinaryIO, data: bytes) -> None:
    """Write all to a file without a buffer: a disk that is nearly full takes only a part at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[out.write(rest) :]


def claim(temporary: str, **facts: Any) -> None:
    """Record this process as the owner of `temporary`, with facts about it."""
    files.write_atomically(temporary + ".json", json.dumps({**files.ownership(), **facts}).encode())


def facts_of(temporary: str) -> dict[str, Any]:
    """Return the facts recorded by the owner of `temporary`; empty if none can be read."""
    return read_json(temporary + ".json") or {}


def read_json(path: str) -> dict[str, Any] | None:
    """Return a JSON object from a local file; None if the file does not exist or has no complete object."""
    try:
        with open(path, "rb") as source:
            found = json.load(source)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def discard(path: str) -> None:
    """Remove a temporary (or any file or folder) and its owner's note; missing files are ignored."""
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError:
        return  # its note stays: it is swept when its owner has ended
    with contextlib.suppress(OSError):
        os.unlink(path + ".json")


def sweep(folder: str) -> None:
    """Remove leftovers in `folder`."""
    for temporary in litter(folder):
        remove(temporary)


def download_folders(downloads: str, extracted: str) -> list[str]:
    """Return the folders of downloads and extractions, including those of sandboxed scripts.

    Args:
        downloads: the folder of downloads.
        extracted: the folder of extracted files.
    """
    folders = [downloads, extracted]
    with contextlib.suppress(OSError), os.scandir(os.path.join(downloads, CONFINED)) as entries:
        for entry in entries:
            files_of_script = os.path.join(entry.path, "files")
            folders += [files_of_script, os.path.join(files_of_script, "extracted")]
    return folders


def litter(folder: str) -> list[str]:
    """Return the temporaries in `folder` whose owners have ended, and that were not modified for an hour."""
    try:
        with os.scandir(folder) as entries:
            found = {path for entry in entries if (path := entry.path.removesuffix(".json")).endswith(SUFFIX)}  # or its note
    except FileNotFoundError:
        return []
    return sorted(filter(_is_litter, found))


def remove(temporary: str) -> None:
    """Remove a temporary with all its files."""
    discard(temporary)
    discard(plain_of(temporary))


def size_of(temporary: str) -> int:
    """Return bytes of the files of a temporary, including its decompressed copy."""
    size = 0
    for path in (temporary, plain_of(temporary)):
        inner = [os.path.join(here, name) for here, _, names in os.walk(path) for name in names]
        for file in inner or [path]:
            with contextlib.suppress(FileNotFoundError, IsADirectoryError):
                size += os.lstat(file).st_size
    return size


def _is_litter(temporary: str) -> bool:
    try:
        age = time.time() - max(os.stat(path).st_mtime for path in (temporary, temporary + ".json") if os.path.exists(path))
    except (FileNotFoundError, ValueError):
        return False
    if files.owner_is_alive(temporary):
        return False
    is_foreign = facts_of(temporary).get("host", socket.gethostname()) != socket.gethostname()
    return age > (_FOREIGN_LITTER_AFTER_SECONDS if is_foreign else _LITTER_AFTER_SECONDS)

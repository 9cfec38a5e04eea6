"""`RangeCache`: what streams fetched, on the disk, as files of their own that are never changed.

The name of a file tells the version and the place of its bytes.  Files come by a rename and go by being unlinked, the one least
lately used first, so that no process waits for another; a reader keeps what it has open.  Where the disk refuses, there is no
cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
import socket
import threading
import time
import zlib
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, TypeAlias

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines.threads import renewed_after_fork

Bytes: TypeAlias = "bytes | memoryview"

logger = logging.getLogger(__name__)

_TOUCHED_SECONDS = 60.0  # a file that was used since then is not marked again
_LITTER_SECONDS = 3600.0
_FULL = 0.95  # of the ceiling: so many bytes are too many, since others write meanwhile
_SHARE = 0.9  # of the ceiling that is left after the oldest files went
_OTHERS = 8  # processes that may write at the same time
_MOST_UNSEEN = 320  # a process writes this part of the ceiling at most before it looks what others wrote
_CHECK = 16  # bytes of the digest that stands before the data
_PART = ".part"


class RangeCache:
    """Bytes by keys, in a folder of at most so many bytes.

    Args:
        folder: where.
        most_bytes: how many there may be.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = RangeCache(folder, 1_000)
    ...     key = cache.key("https://example.org/a", '"v1"', 0, 5)
    ...     cache.put(key, b"bytes")
    ...     cache.get(key, 5), cache.get(cache.key("https://example.org/a", '"v2"', 0, 5), 5)
    (b'bytes', None)
    """

    _of_settings: dict[tuple[str, int], RangeCache] = {}  # noqa: RUF012 - one for each folder, whose bytes it counts

    def __init__(self, folder: str, most_bytes: int) -> None:
        self._folder, self._most_bytes = folder, most_bytes
        self._unseen = 0  # how many bytes this process may write before it looks again how many there are
        self._is_told = False
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have locks of this process: those who held them are in the one that it was forked from."""
        self._lock = threading.Lock()

    @classmethod
    def of_settings(cls) -> RangeCache | None:
        """That which the settings ask for, if they do."""
        now = settings()
        if not now.stream_cache_bytes:
            return None
        folder = os.path.expanduser(now.stream_cache_dir) or os.path.join(now.cache_dir, "ranges")
        key = folder, now.stream_cache_bytes
        return cls._of_settings.setdefault(key, cls(*key))

    @staticmethod
    def key(url: str, tag: str, start: int, stop: int) -> str:
        """The name of the bytes of a range."""
        return blake2b(f"{tag}\n{url}\n{start}\n{stop}".encode(), digest_size=20).hexdigest()

    def get(self, key: str, num_bytes: int) -> bytes | None:
        """The bytes by that name, where they are here and sound."""
        path = self._path(key)
        try:
            with open(path, "rb") as data:
                status = os.fstat(data.fileno())
                if status.st_size != num_bytes + _CHECK:
                    return None
                check, found = data.read(_CHECK), data.read()
        except OSError:
            return None
        if _digest(found) != check:
            self._drop(path)
            return None
        if time.time() - status.st_mtime > _TOUCHED_SECONDS:
            with contextlib.suppress(OSError):  # gone, or not ours
                os.utime(path)
        return found

    def put(self, key: str, data: Bytes) -> None:
        """Keep some bytes."""
        if len(data) + _CHECK > self._most_bytes:
            return
        path = self._path(key)
        temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}{_PART}"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._make_room(len(data) + _CHECK)
            with open(temporary, "xb") as out:
                out.write(_digest(data))
                out.write(data)
            os.replace(temporary, path)
        except OSError as error:
            self._drop(temporary)
            if not self._is_told:
                self._is_told = True
                free = files.free_bytes(self._folder)
                logger.warning(
                    "%s cannot keep what streams fetch (%s; %s bytes are free there): it is fetched again.",
                    self._folder,
                    error.strerror or error,
                    f"{free:,}" if free is not None else "?",
                )

    def _path(self, key: str) -> str:
        return os.path.join(self._folder, key[:2], key)

    def _make_room(self, added: int) -> None:
        """Have no more bytes than may be; the folder is walked when this process has written its share of what is free."""
        with self._lock:
            if added <= self._unseen:
                self._unseen -= added
                return
            listed, total = self._listed()
            if total + added > self._most_bytes * _FULL:
                for _, size, path in sorted(listed):
                    if total + added <= self._most_bytes * _SHARE:
                        break
                    self._drop(path)
                    total -= size
            self._unseen = max(0, min((self._most_bytes - total - added) // _OTHERS, self._most_bytes // _MOST_UNSEEN))

    def _listed(self) -> tuple[list[tuple[float, int, str]], int]:
        """Time, size and path of each file, and the bytes of all; what others left half-written long ago is removed."""
        found, total = [], 0
        for folder, _, names in os.walk(self._folder):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.stat(path)
                except OSError:  # another process removed it
                    continue
                if name.endswith(_PART) and time.time() - status.st_mtime > _LITTER_SECONDS:
                    self._drop(path)
                    continue
                total += status.st_size
                if not name.endswith(_PART):  # that is being written
                    found.append((status.st_mtime, status.st_size, path))
        return found, total

    @staticmethod
    def _drop(path: str) -> None:
        with contextlib.suppress(OSError):  # another process was faster
            os.unlink(path)


def _digest(data: Bytes) -> bytes:
    return blake2b(data, digest_size=_CHECK).digest()


# Unfinished files and folders beside finished ones: who makes them, and when they are litter.


SUFFIX = ".part"
CONFINED = "confined"
"""The folder in that of downloads which holds one for each confined script."""
_PLAIN = ".plain"
_LITTER_AFTER_SECONDS = 3600.0
_FOREIGN_LITTER_AFTER_SECONDS = 24 * 3600.0  # whether a process of another machine lives cannot be seen


def temporary_of(path: str) -> str:
    """The temporary that becomes `path`."""
    return path + SUFFIX


def plain_of(temporary: str) -> str:
    """Where `temporary` is written to once more, decompressed."""
    return temporary + _PLAIN


def claim(temporary: str, **facts: Any) -> None:
    """Say that this process makes `temporary`, and what it knows of it."""
    files.write_atomically(temporary + ".json", json.dumps({**files.ownership(), **facts}).encode())


def facts_of(temporary: str) -> dict[str, Any]:
    """What the owner of `temporary` said of it; empty where nothing readable is there."""
    return read_json(temporary + ".json") or {}


def read_json(path: str) -> dict[str, Any] | None:
    """A JSON object from a local file; None where there is no file, or no whole object in it."""
    try:
        with open(path, "rb") as source:
            found = json.load(source)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def discard(path: str) -> None:
    """Remove a temporary (or any file or folder) and its owner's note; nothing there is fine."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path + ".json")


def sweep(folder: str) -> None:
    """Remove the litter in `folder`."""
    for temporary in litter(folder):
        remove(temporary)


def download_folders(downloads: str, extracted: str) -> list[str]:
    """The folders in which downloads and extractions stand, those of confined scripts among them.

    Args:
        downloads: the folder of downloads.
        extracted: the folder of what is unpacked of them.
    """
    folders = [downloads, extracted]
    with contextlib.suppress(OSError), os.scandir(os.path.join(downloads, CONFINED)) as entries:
        for entry in entries:
            files_of_script = os.path.join(entry.path, "files")
            folders += [files_of_script, os.path.join(files_of_script, "extracted")]
    return folders


def litter(folder: str) -> list[str]:
    """The temporaries in `folder` whose owners are gone and that nobody touched for an hour."""
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry in entries if entry.name.endswith(SUFFIX)]
    except FileNotFoundError:
        return []
    return sorted(filter(_is_litter, found))


def remove(temporary: str) -> None:
    """Remove a temporary with all that belongs to it."""
    discard(temporary)
    discard(plain_of(temporary))


def size_of(temporary: str) -> int:
    """Bytes of the files of a temporary, its decompressed copy included."""
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


# `IndexCache`: what was learned of how rows lie in files elsewhere, kept on the disk for the next process.


_FORM = b"rows1\n"
_DIGEST = 16
_MOST_BYTES = 256 << 20
_WALKED_SHARE = 64  # the folder is walked again after this part of the ceiling was written
_INDEX_TOUCHED_SECONDS = 3600.0  # a file that was used since then is not marked again
_UNUSED_SECONDS = 90 * 86_400.0
_HALF = ".tmp-"

_unseen: dict[str, int] = {}  # folder -> bytes that this process may write before it is walked again


@dataclass(frozen=True, slots=True)
class IndexCache:
    """Small values by key, each in a file of its own; what is damaged is missing, and a disk that is full keeps nothing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = IndexCache(folder)
    ...     cache.put("footer of https://example.org/a", b"...")
    ...     cache.get("footer of https://example.org/a"), cache.get("another")
    (b'...', None)

    Args:
        folder: where they are kept.
        most_bytes: how many there may be.
    """

    folder: str
    most_bytes: int = _MOST_BYTES

    @classmethod
    def of_settings(cls) -> IndexCache:
        """That in the folder of finished datasets."""
        return cls(os.path.join(settings().cache_dir, "row_indexes"))

    def get(self, key: str) -> bytes | None:
        """What was kept under a key; None where there is nothing, or nothing whole."""
        try:
            with open(path := self._path(key), "rb") as source:
                is_touched = time.time() - os.fstat(source.fileno()).st_mtime < _INDEX_TOUCHED_SECONDS
                kept = source.read()
        except OSError:
            return None
        head = len(_FORM) + _DIGEST
        if not kept.startswith(_FORM) or _index_digest(kept[head:]) != kept[len(_FORM) : head]:
            return None
        if not is_touched:
            with contextlib.suppress(OSError):  # gone, or not ours
                os.utime(path)
        try:
            return zlib.decompress(kept[head:])
        except zlib.error:
            return None

    def put(self, key: str, value: bytes) -> None:
        """Keep a value in place of the one before; where the disk does not take it, nothing is kept.

        Args:
            key: a text of any length; it is not written down.
            value: some bytes.
        """
        packed = zlib.compress(value, 1)
        path = self._path(key)
        temporary = f"{path}{_HALF}{os.getpid()}-{os.urandom(4).hex()}"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(temporary, "xb") as out:
                out.write(_FORM + _index_digest(packed) + packed)
            os.replace(temporary, path)
            self._sweep(len(packed))
        except OSError as error:
            logger.debug("An index of rows is not kept (%s).", error)
            with contextlib.suppress(OSError):
                os.unlink(temporary)

    def drop(self, key: str) -> None:
        """Keep nothing under a key."""
        with contextlib.suppress(OSError):
            os.unlink(self._path(key))

    def stale(self) -> dict[str, int]:
        """The files that may go, and the bytes of each: halves, what nobody used for months, the oldest of too many."""
        now, found, stale = time.time(), [], {}
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.stat(path)
                except OSError:  # another process removed it
                    continue
                if _HALF not in name:
                    found.append((status.st_mtime, status.st_size, path))
                elif now - status.st_mtime > _LITTER_SECONDS:
                    stale[path] = status.st_size
        total = sum(size for _, size, _ in found)
        limit = self.most_bytes if total <= self.most_bytes else int(self.most_bytes * _SHARE)
        for used, size, path in sorted(found):
            if total <= limit and now - used <= _UNUSED_SECONDS:
                break
            stale[path] = size
            total -= size
        return stale

    def _sweep(self, added: int) -> None:
        left = _unseen.get(self.folder, 0) - added
        if left < 0:
            for path in self.stale():
                with contextlib.suppress(OSError):  # another process was faster
                    os.unlink(path)
            left = self.most_bytes // _WALKED_SHARE
        _unseen[self.folder] = left

    def _path(self, key: str) -> str:
        name = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return os.path.join(self.folder, name[:2], name[2:])


def _index_digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()

"""`RangeCache`: what streams fetched, on the disk, as files of their own that are never changed.

The name of a file tells the version and the place of its bytes.  Files come by a rename and go by being unlinked, the one least
lately used first, so that no process waits for another; a reader keeps what it has open.  Where the disk refuses, there is no
cache.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from hashlib import blake2b

from datasets_core import files
from datasets_core.config import settings
from datasets_core.fetch.after_fork import renewed_after_fork
from datasets_core.fetch.range_file import Bytes

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

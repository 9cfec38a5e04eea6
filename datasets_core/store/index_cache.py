"""`IndexCache`: what was learned of how rows lie in files elsewhere, kept on the disk for the next process.

There are never many more bytes than may be: what was not used for the longest time goes.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import time
import zlib
from dataclasses import dataclass

from datasets_core.config import settings

logger = logging.getLogger(__name__)

_FORM = b"rows1\n"
_DIGEST = 16
_MOST_BYTES = 256 << 20
_SHARE = 0.9  # of the ceiling that is left after the oldest files went
_WALKED_SHARE = 64  # the folder is walked again after this part of the ceiling was written
_TOUCHED_SECONDS = 3600.0  # a file that was used since then is not marked again
_LITTER_SECONDS = 3600.0
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
                is_touched = time.time() - os.fstat(source.fileno()).st_mtime < _TOUCHED_SECONDS
                kept = source.read()
        except OSError:
            return None
        head = len(_FORM) + _DIGEST
        if not kept.startswith(_FORM) or _digest(kept[head:]) != kept[len(_FORM) : head]:
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
                out.write(_FORM + _digest(packed) + packed)
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


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()

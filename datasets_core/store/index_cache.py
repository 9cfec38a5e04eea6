"""`IndexCache`: what was learned of how rows lie in files elsewhere, kept on the disk for the next process."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import zlib
from dataclasses import dataclass

from datasets_core.config import settings

logger = logging.getLogger(__name__)

_FORM = b"rows1\n"
_DIGEST = 16


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
    """

    folder: str

    @classmethod
    def of_settings(cls) -> IndexCache:
        """That in the folder of finished datasets."""
        return cls(os.path.join(settings().cache_dir, "row_indexes"))

    def get(self, key: str) -> bytes | None:
        """What was kept under a key; None where there is nothing, or nothing whole."""
        try:
            with open(self._path(key), "rb") as source:
                kept = source.read()
        except OSError:
            return None
        head = len(_FORM) + _DIGEST
        if not kept.startswith(_FORM) or _digest(kept[head:]) != kept[len(_FORM) : head]:
            return None
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
        temporary = f"{path}.tmp-{os.getpid()}-{os.urandom(4).hex()}"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(temporary, "xb") as out:
                out.write(_FORM + _digest(packed) + packed)
            os.replace(temporary, path)
        except OSError as error:
            logger.debug("An index of rows is not kept (%s).", error)
            with contextlib.suppress(OSError):
                os.unlink(temporary)

    def drop(self, key: str) -> None:
        """Keep nothing under a key."""
        with contextlib.suppress(OSError):
            os.unlink(self._path(key))

    def _path(self, key: str) -> str:
        name = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
        return os.path.join(self.folder, name[:2], name[2:])


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST).digest()

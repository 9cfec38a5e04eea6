"""The identity of values and of transforms: a hash that is the same in every process, on every run.

What has no identity that lasts gets a random one, and a warning says that nothing can be reused, and because of what.
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from typing import Any

from datasets_core.errors import UnhashableError
from datasets_core.store.identity import ValueWriter

_PACKAGE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_DIGEST_BYTES = 8  # sixteen digits, as other tools' cache names have


class Hasher:
    """Hashes Python values.

    >>> Hasher.hash({"b", "a"}) == Hasher.hash({"a", "b"})
    True
    >>> Hasher.hash(lambda row: row) == Hasher.hash(lambda row: row)
    True
    """

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)

    @classmethod
    def hash(cls, value: Any) -> str:
        """The hash of one value, in sixteen hexadecimal digits.

        Raises:
            UnhashableError: the value, or something in it, has no lasting identity.
        """
        hasher = cls()
        hasher.update(value)
        return hasher.hexdigest()

    @classmethod
    def hash_bytes(cls, value: bytes | list[bytes]) -> str:
        """The hash of bytes, or of a list of them one after the other."""
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        for part in [value] if isinstance(value, bytes) else value:
            digest.update(part)
        return digest.hexdigest()

    def update(self, value: Any) -> None:
        """Add a value."""
        ValueWriter(self._digest.update).write(value)

    def hexdigest(self) -> str:
        """The hash of all that was added."""
        return self._digest.hexdigest()


def random_fingerprint() -> str:
    """A fingerprint that no other has."""
    return os.urandom(_DIGEST_BYTES).hex()


def fingerprint(*parts: Any, what: str = "This transform") -> str:
    """The identity that `parts` have together; a random one, and a warning, where a part has none.

    Args:
        parts: for a transform: the fingerprint before it, its name, its arguments.
        what: the subject of the warning.
    """
    try:
        return Hasher.hash(parts)
    except UnhashableError as error:
        warnings.warn(
            f"{what} cannot be reused in another run: {error}. "
            "Pass new_fingerprint=, or use functions and values whose content can be hashed.",
            stacklevel=_users_level(),
        )
        return random_fingerprint()


def _users_level() -> int:
    """Of the caller, how many calls above it is the line outside of this library."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    return level

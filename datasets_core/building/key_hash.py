"""The hash of a key, by which rows are ordered on the disk: md5 of the split's name and the key, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import DatasetGenerationError, InvalidKeyError

try:  # CPython's own, on which hashlib falls back: short keys take half the time of OpenSSL's
    from _md5 import md5  # type: ignore[import-not-found]  # pyright: ignore[reportMissingImports]
except ImportError:
    from hashlib import md5

Words = npt.NDArray[np.uint64]

_WORD = 1 << 64
_HALF = 1 << 63


def key_bytes(key: Any) -> bytes:
    r"""What is hashed of a key: bytes, a text with `\` as `/`, an integer in decimal; an array of one value is that value.

    >>> key_bytes("data\\7.jpg"), key_bytes(7), key_bytes(np.array([7]))
    (b'data/7.jpg', b'7', b'7')

    Raises:
        TypeError: a key of another kind, numpy's own integers among them.
    """
    if isinstance(key, bytes):
        return key
    if isinstance(key, str):
        return key.replace("\\", "/").encode("utf-8", "surrogatepass")
    if isinstance(key, int):
        return str(key).encode()
    if isinstance(key, np.ndarray) and key.size == 1:
        return key_bytes(key.item())
    raise TypeError(f"{key!r} ({type(key).__name__}) is no key to order rows by. Give an int, a str or bytes.")


def key_hash(key: Any, salt: str | bytes) -> bytes:
    """The 16 bytes by which a row is ordered.

    Args:
        key: an int, a str, bytes, or an array of one of them.
        salt: the name of the split.

    Raises:
        TypeError: a key of another kind.

    >>> key_hash(10, "train").hex()
    '7a3ae0953e558aa1051f217b6dcf0493'
    """
    salt = salt.encode() if isinstance(salt, str) else salt
    return bytes(md5(salt + key_bytes(key), usedforsecurity=False).digest())


def bucket_of(hashed: bytes, buckets: int) -> int:
    """Which of so many equal ranges of all hashes this one is in.

    >>> bucket_of(key_hash(10, "train"), 1000)
    477
    """
    return int.from_bytes(hashed, "big") * buckets >> 128


def hash_words(keys: Sequence[Any], split: str, *, first_row: int = 0) -> Words:
    """The hashes of the keys of a split as two lines of words, the high ones first.

    Raises:
        InvalidKeyError: a key that is no int, str or bytes.
    """
    salt = split.encode()
    kinds = set(map(type, keys))
    if kinds == {int}:
        parts = [b"%d" % key for key in keys]
    elif kinds == {str}:
        parts = [key.replace("\\", "/").encode("utf-8", "surrogatepass") for key in keys]
    else:
        parts = []
        for nth, key in enumerate(keys):
            try:
                parts.append(key_bytes(key))
            except TypeError:
                raise InvalidKeyError(key, row=first_row + nth, split=split, is_sorted=True) from None
    digests = b"".join([md5(salt + part, usedforsecurity=False).digest() for part in parts])
    return np.frombuffer(digests, ">u8").reshape(-1, 2).T.astype(np.uint64)


def row_words(start: int, stop: int, split: str) -> Words:
    """The hashes of rows without a key: their numbers in the split are their keys."""
    return hash_words(range(start, stop), split)


def position_words(start: int, stop: int) -> Words:
    """Words that keep rows in the order of their numbers."""
    words = np.zeros((2, stop - start), np.uint64)
    words[0] = np.arange(start, stop, dtype=np.uint64)
    return words


def integer_words(keys: Sequence[Any], *, first_row: int = 0) -> Words | None:
    """Words in the order of integer keys; None where a key is no integer.

    The high word is the key, as far as 64 bits hold it; the low word is what goes beyond.

    Raises:
        DatasetGenerationError: an integer that two words do not hold.
    """
    if not all(issubclass(kind, int) for kind in set(map(type, keys))):
        return None
    words = np.zeros((2, len(keys)), np.uint64)
    try:
        words[0] = np.array(keys, np.int64).view(np.uint64) + np.uint64(_HALF)
    except OverflowError:
        for nth, key in enumerate(keys):
            words[:, nth] = _two_words(int(key), first_row + nth)
    return words


def _two_words(key: int, row: int) -> tuple[int, int]:
    if not -_HALF - _WORD < key < _HALF + _WORD - 1:
        raise DatasetGenerationError(
            f"The key of row {row} is {key}, which is too large to order rows by. Yield a smaller integer, or a text.", row=row
        )
    if key >= _HALF:
        return _WORD - 1, key - _HALF + 1
    if key < -_HALF:
        return 0, key + _HALF + _WORD - 1
    return key + _HALF, _WORD - 1 if key == -_HALF else 0


def sorted_order(words: Words) -> npt.NDArray[np.int64] | None:
    """Which columns of `words` come first, second, …; None where they stand in order already."""
    high = words[0]
    if len(high) < 2 or bool((high[1:] > high[:-1]).all()):
        return None
    order = np.argsort(high, kind="stable")
    ordered = high[order]
    if bool((ordered[1:] == ordered[:-1]).any()):
        order = np.lexsort((words[1], high))
    return order

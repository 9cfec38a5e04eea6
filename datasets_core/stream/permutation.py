"""`Permutation`: the numbers below n in an order that a key decides, computed for any of them without the others.

A Feistel network over the next even number of bits, walked until it falls below n.  The order is part of every state that is
saved, so these numbers never change; `tests/stream/test_permutation.py` holds them.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
_Words = npt.NDArray[np.uint64]
_ROUNDS = 6
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)  # of splitmix64


class Permutation:
    """A bijection on `range(size)`.

    Args:
        size: how many numbers there are.
        key: what decides about the order; by its text.

    >>> order = Permutation(5, "key")
    >>> sorted(order.at(np.arange(5)).tolist())
    [0, 1, 2, 3, 4]
    >>> order.place_of(order.at(np.arange(5))).tolist()
    [0, 1, 2, 3, 4]
    """

    __slots__ = ("_half", "_keys", "_mask", "size")

    def __init__(self, size: int, *key: int | str) -> None:
        self.size = size
        half = max(1, ((size - 1).bit_length() + 1) // 2)
        self._half, self._mask = np.uint64(half), np.uint64((1 << half) - 1)
        digest = hashlib.blake2b("/".join(map(str, key)).encode(), digest_size=8 * _ROUNDS).digest()
        self._keys = [np.uint64(int.from_bytes(digest[8 * i : 8 * i + 8], "little")) for i in range(_ROUNDS)]

    def at(self, places: Ints) -> Ints:
        """The numbers that stand at these places."""
        return self._walked(places, forwards=True)

    def place_of(self, numbers: Ints) -> Ints:
        """The places at which these numbers stand."""
        return self._walked(numbers, forwards=False)

    def _walked(self, values: Ints, *, forwards: bool) -> Ints:
        step = self._forwards if forwards else self._backwards
        found = step(np.asarray(values, np.int64).astype(np.uint64))
        limit = np.uint64(self.size)
        while len(outside := np.flatnonzero(found >= limit)):
            found[outside] = step(found[outside])
        return found.astype(np.int64)

    def _forwards(self, values: _Words) -> _Words:
        left, right = values >> self._half, values & self._mask
        for key in self._keys:
            left, right = right, left ^ self._mixed(right, key)
        return (left << self._half) | right

    def _backwards(self, values: _Words) -> _Words:
        left, right = values >> self._half, values & self._mask
        for key in reversed(self._keys):
            left, right = right ^ self._mixed(left, key), left
        return (left << self._half) | right

    def _mixed(self, half: _Words, key: np.uint64) -> _Words:
        words = half ^ key
        words = (words ^ (words >> np.uint64(30))) * _MIX_1
        words = (words ^ (words >> np.uint64(27))) * _MIX_2
        return (words ^ (words >> np.uint64(31))) & self._mask

"""`Permutation`: the numbers below n in an order that a key decides, computed for any of them without the others.

A Feistel network over the next even number of bits, walked until it falls below n; `Permutations` has one of its own for each
of many n, over the next number of bits, and computes numbers of all of them at once.  The order is part of every state that is
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
_STEP, _ONE = np.uint64(0x9E3779B97F4A7C15), np.uint64(1)


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
        self._keys = _words_of(key, _ROUNDS)

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
        return _hashed(half ^ key) & self._mask


class Permutations:
    """Bijections by number, each on a `range` of a size of its own; the same for the same key, number and size.

    Args:
        key: what decides about the orders; by its text.

    >>> orders = Permutations("key")
    >>> which, sizes, places = np.array([0, 0, 0, 1, 1]), np.array([3, 3, 3, 2, 2]), np.array([0, 1, 2, 0, 1])
    >>> found = orders.at(which, sizes, places).tolist()
    >>> sorted(found[:3]), sorted(found[3:])
    ([0, 1, 2], [0, 1])
    """

    __slots__ = ("_keys", "_tweak")

    def __init__(self, *key: int | str) -> None:
        self._tweak, *self._keys = _words_of(key, _ROUNDS + 1)

    def at(self, which: Ints, sizes: Ints, places: Ints) -> Ints:
        """The numbers that stand at these places.

        Args:
            which: for each place the number of its bijection.
            sizes: for each place how many numbers that bijection has: 2**53 at most.
            places: of them.
        """
        limits = np.asarray(sizes, np.int64).astype(np.uint64)
        bits = np.frexp((limits - np.uint64(1)).astype(np.float64))[1].astype(np.uint64)
        low = bits >> np.uint64(1)
        masks = (_ONE << (bits - low)) - _ONE, (_ONE << low) - _ONE
        tweaks = _hashed(np.asarray(which, np.int64).astype(np.uint64) * _STEP ^ self._tweak)
        found = self._stepped(np.asarray(places, np.int64).astype(np.uint64), low, masks, tweaks)
        outside = np.flatnonzero(found >= limits)
        while len(outside):
            chosen = masks[0][outside], masks[1][outside]
            moved = found[outside] = self._stepped(found[outside], low[outside], chosen, tweaks[outside])
            outside = outside[moved >= limits[outside]]
        return found.astype(np.int64)

    def _stepped(self, values: _Words, low: _Words, masks: tuple[_Words, _Words], tweaks: _Words) -> _Words:
        """One step within as many bits as each bijection has: the upper ones and the lower ones change by turns."""
        upper, lower = values >> low, values & masks[1]
        for number, key in enumerate(self._keys):
            if number % 2:
                upper = upper ^ (_hashed(lower ^ key ^ tweaks) & masks[0])
            else:
                lower = lower ^ (_hashed(upper ^ key ^ tweaks) & masks[1])
        return (upper << low) | lower


def _words_of(key: tuple[int | str, ...], count: int) -> list[np.uint64]:
    """What decides about an order, as numbers."""
    digest = hashlib.blake2b("/".join(map(str, key)).encode(), digest_size=8 * count).digest()
    return [np.uint64(int.from_bytes(digest[8 * i : 8 * i + 8], "little")) for i in range(count)]


def _hashed(words: _Words) -> _Words:
    """The numbers, each mixed well, as splitmix64 does."""
    words = (words ^ (words >> np.uint64(30))) * _MIX_1
    words = (words ^ (words >> np.uint64(27))) * _MIX_2
    return words ^ (words >> np.uint64(31))

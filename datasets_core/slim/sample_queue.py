"""`RandomQueue`: samples shuffled as they pass a bounded queue, in an order that follows from a seed, and not from time."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError
from datasets_core.slim.whole_numbers import whole_number

T = TypeVar("T")
Words64 = npt.NDArray[np.uint64]

_GOLDEN = 0x9E3779B97F4A7C15
_MASK = (1 << 64) - 1
DRAWS, FILES = 1, 2  # what numbers are drawn for: those of one kind tell nothing of the others


class Arrivals(Protocol[T]):
    """Where a queue gets its samples from."""

    def take(self, least: int, most: int) -> list[T]:
        """The next samples: those that are there, at most `most`; `least` are waited for.

        Fewer than `least` are the last ones.
        """
        ...


def numbers_of(seed: int, kind: int, first: int, count: int) -> Words64:
    """Random numbers of 64 bits, each of which depends on the seed, on what it is for, and on its place: splitmix64.

    Args:
        seed: any whole number.
        kind: what they are for.
        first: the place of the first.
        count: how many.

    >>> bool((numbers_of(7, DRAWS, 0, 5)[3:] == numbers_of(7, DRAWS, 3, 2)).all())
    True
    """
    key = _mixed(np.array([(seed * _GOLDEN + kind) & _MASK], np.uint64))
    places = np.arange(count, dtype=np.uint64) + np.uint64(first & _MASK)
    return _mixed(_mixed(places * np.uint64(_GOLDEN) + key) + key)


def _mixed(words: Words64) -> Words64:
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def shuffled_places(seed: int, epoch: int, count: int) -> list[int]:
    """The numbers below `count` in an order that a seed and an epoch tell.

    >>> sorted(shuffled_places(1, 0, 5)), shuffled_places(1, 0, 5) == shuffled_places(1, 1, 5)
    ([0, 1, 2, 3, 4], False)
    """
    of_epoch = int(numbers_of(seed, FILES, epoch, 1)[0])
    order: list[int] = np.argsort(numbers_of(of_epoch, FILES, 0, count), kind="stable").tolist()
    return order


class FirstInFirstOut(Generic[T]):
    """The queue of samples that are not shuffled: they come as they arrive.

    >>> class Numbers:
    ...     def take(self, least, most):
    ...         return list(range(most))
    >>> FirstInFirstOut().deliver(Numbers(), 2)
    [0, 1]
    """

    drawn = 0
    entries: tuple[T, ...] = ()

    def deliver(self, arrivals: Arrivals[T], most: int) -> list[T]:
        """See `RandomQueue.deliver`."""
        return arrivals.take(1, most)

    def load(self, entries: Iterable[T], drawn: int) -> None:
        """See `RandomQueue.load`; there is nothing to load."""


class RandomQueue(Generic[T]):
    """A queue that gives a sample by chance, and only while more than `minimum` are in it, or no more come.

    The first sample is given when `minimum + 1` are there; from then on two arrive for each one that is given until the
    queue is full, then one.  So which sample is given when follows from the samples, the seed and the sizes alone, however
    many are asked for at a time, and however fast they come.

    Args:
        capacity: samples that it holds at most.
        minimum: samples that stay in it while more may come; below the capacity.
        seed: of the order.

    Raises:
        ConfigurationError: sizes that have no meaning.

    >>> class Letters:
    ...     rest = list("abcdefgh")
    ...     def take(self, least, most):
    ...         taken, self.rest = self.rest[:most], self.rest[most:]
    ...         return taken
    >>> queue, letters = RandomQueue(4, 2, seed=1), Letters()
    >>> given = queue.deliver(letters, 3)
    >>> len(given), len(queue)
    (3, 3)
    >>> while more := queue.deliver(letters, 3):
    ...     given += more
    >>> "".join(sorted(given))
    'abcdefgh'
    """

    def __init__(self, capacity: int, minimum: int, seed: int) -> None:
        self.capacity, self.minimum = checked_sizes(capacity, minimum)
        self.seed = seed
        self.entries: list[T] = []
        self.drawn = 0

    def __len__(self) -> int:
        return len(self.entries)

    def load(self, entries: Iterable[T], drawn: int) -> None:
        """Hold what another queue of the same seed and sizes held.

        Args:
            entries: what was in it, in its order.
            drawn: how many it had given.
        """
        self.entries, self.drawn = list(entries), drawn

    def deliver(self, arrivals: Arrivals[T], most: int) -> list[T]:
        """The next samples: at least one, unless there are no more.

        Args:
            arrivals: where samples come from; waited for where the next one could not be told without.
            most: how many are given at most.
        """
        entries, given = self.entries, []
        held = np.minimum(self.capacity, self.minimum + 1 + self.drawn + np.arange(most, dtype=np.int64))
        needs = held + np.arange(most, dtype=np.int64) - len(entries)  # arrivals before each draw
        least = int(needs[0])
        arrived = arrivals.take(least, int(needs[-1]))
        if len(arrived) < least:
            entries.extend(arrived)
            return self._drained(min(most, len(entries)))
        count = int(np.searchsorted(needs, len(arrived), "right"))
        picks = self._picks(held[:count])
        growing = min(count - 1, max(0, self.capacity - int(held[0])))  # draws behind which two arrive
        entries += arrived[:least]
        at = least
        for pick in picks[:growing]:
            given.append(_pulled(entries, pick))
            entries += arrived[at : at + 2]
            at += 2
        for pick, new in zip(picks[growing:-1], arrived[at:], strict=False):
            given.append(_pulled(entries, pick))
            entries.append(new)
        given.append(_pulled(entries, picks[-1]))
        entries += arrived[at + count - 1 - growing :]
        self.drawn += count
        return given

    def _drained(self, count: int) -> list[T]:
        picks = self._picks(len(self.entries) - np.arange(count, dtype=np.int64))
        self.drawn += count
        return [_pulled(self.entries, pick) for pick in picks]

    def _picks(self, sizes: npt.NDArray[np.int64]) -> list[int]:
        """For each of the next draws its place among so many samples."""
        words = numbers_of(self.seed, DRAWS, self.drawn, len(sizes)) >> np.uint64(32)
        picks: list[int] = ((words * sizes.astype(np.uint64)) >> np.uint64(32)).tolist()
        return picks


def _pulled(entries: list[T], place: int) -> T:
    """The sample at a place, which the last one takes."""
    last = entries.pop()
    if place == len(entries):
        return last
    found, entries[place] = entries[place], last
    return found


def checked_sizes(capacity: Any, minimum: Any) -> tuple[int, int]:
    """The sizes of a queue that shuffles, if it can have them.

    Raises:
        ConfigurationError: it cannot.

    >>> checked_sizes(4, 4)
    Traceback (most recent call last):
      ...
    datasets_core.errors.ConfigurationError: A queue of 4 samples cannot keep 4 in it. Let the minimum be below the capacity.
    """
    most, least = checked_capacity(capacity), whole_number("The minimum of a queue", minimum, 0)
    if least >= most:
        raise ConfigurationError(
            f"A queue of {most:,} samples cannot keep {least:,} in it. Let the minimum be below the capacity."
        )
    return most, least


def checked_capacity(capacity: Any) -> int:
    """The capacity of a queue, if it can be so large.

    Raises:
        ConfigurationError: it cannot.
    """
    most = whole_number("The capacity of a queue", capacity, 1)
    if most >= 1 << 32:  # of which a draw could not reach them all
        raise ConfigurationError(f"A queue cannot have a capacity of {most:,}. Give one below {1 << 32:,}.")
    return most


def checked_seed(seed: Any) -> int:
    """The seed, or one that is drawn where there is none.

    Raises:
        ConfigurationError: it is no whole number.

    >>> checked_seed(7)
    7
    """
    if seed is None:
        return int.from_bytes(os.urandom(6), "little")
    return whole_number("seed", seed, advice="Give one, or None for one that is drawn")

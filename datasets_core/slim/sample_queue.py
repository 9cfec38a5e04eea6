"""`RandomQueue`: samples shuffled as they pass a bounded queue, in an order that follows from a seed, and not from time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError

T = TypeVar("T")
Words = npt.NDArray[np.uint64]

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


def numbers_of(seed: int, kind: int, first: int, count: int) -> Words:
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


def _mixed(words: Words) -> Words:
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

    >>> FirstInFirstOut().deliver(arrivals_of([1, 2, 3]), 2)
    [1, 2]
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

    >>> queue = RandomQueue(4, 2, seed=1)
    >>> arrivals = arrivals_of(range(8))
    >>> given = queue.deliver(arrivals, 3)
    >>> len(given), len(queue)
    (3, 3)
    >>> while more := queue.deliver(arrivals, 3):
    ...     given += more
    >>> sorted(given)
    [0, 1, 2, 3, 4, 5, 6, 7]
    """

    def __init__(self, capacity: int, minimum: int, seed: int) -> None:
        check_sizes(capacity, minimum)
        self.capacity, self.minimum, self.seed = capacity, minimum, seed
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


def check_sizes(capacity: Any, minimum: Any) -> None:
    """See that a queue that shuffles can have these sizes.

    Raises:
        ConfigurationError: it cannot.

    >>> check_sizes(4, 4)
    Traceback (most recent call last):
      ...
    datasets_core.errors.ConfigurationError: A queue of 4 samples cannot keep 4 in it. Let the minimum be below the capacity.
    """
    check_capacity(capacity)
    if not _is_whole(minimum) or minimum < 0:
        raise ConfigurationError(f"The minimum of a queue is a whole number from 0 on, not {minimum!r}. Give one.")
    if minimum >= capacity:
        raise ConfigurationError(
            f"A queue of {capacity:,} samples cannot keep {minimum:,} in it. Let the minimum be below the capacity."
        )


def check_capacity(capacity: Any) -> None:
    """See that a queue can be so large.

    Raises:
        ConfigurationError: it cannot.
    """
    if not _is_whole(capacity) or not 0 < capacity < 1 << 32:
        raise ConfigurationError(f"The capacity of a queue is a whole number from 1 on, not {capacity!r}. Give one.")


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


class _Listed(Generic[T]):
    def __init__(self, samples: Iterable[T]) -> None:
        self._samples, self._at = list(samples), 0

    def take(self, least: int, most: int) -> list[T]:
        found = self._samples[self._at : self._at + max(least, most)]
        self._at += len(found)
        return found


def arrivals_of(samples: Iterable[T]) -> Arrivals[T]:
    """Samples that are all there.

    >>> arrivals_of("abc").take(1, 2)
    ['a', 'b']
    """
    return _Listed(samples)

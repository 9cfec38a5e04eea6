"""`MixtureSchedule`: the source of each row of a mixture, by arithmetic: in turn, or by weights.

The picks are in blocks. The counts of the sources in a block depend only on its number, and the order within the block only on
a key, so that any place can be read first.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.stream.order.layers import ENDLESS, Ints, Permutation

# `fair_picks`: the order in which sources are picked within a block: random, and always less than one pick from their
# share.


_FINE = 1 << 20  # range of random numbers
_MOST_BY_ONE = 2048  # picks that are drawn one by one; more of them cost more for each


def fair_picks(counts: Sequence[int], *key: int | str) -> Ints:
    """Return sources by number, source i `counts[i]` times, in an order that a key determines.

    Before any row, the number of picks of each source differs by less than one from its share of the picks so far
    (approximately, in blocks of more than 2048 picks).

    >>> fair_picks([2, 1, 1], "key").tolist()
    [1, 0, 0, 2]
    """
    size = sum(counts)
    if not size:
        return np.zeros(0, np.int64)
    chances = Permutation(_FINE, *key).at(np.arange(size, dtype=np.int64) % _FINE) / _FINE
    if size > _MOST_BY_ONE:
        return _strewn(counts, chances)
    return np.array(_drawn(list(counts), size, chances.tolist()), np.int64)


def _strewn(counts: Sequence[int], chances: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Ints:
    """Place pick number j of n of a source somewhere between j/n and (j+1)/n of the block."""
    numbers = np.asarray(counts, np.int64)
    sources = np.repeat(np.arange(len(numbers)), numbers)
    within = np.arange(len(sources)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    found: Ints = sources[np.argsort((within + chances) / numbers[sources], kind="stable")]
    return found


def _drawn(counts: list[int], size: int, chances: list[float]) -> list[int]:
    """Return picks drawn one by one: pick j of a source comes within a window of places, and all windows can be kept together.

    The window of pick j of n in a block of s begins at place j s // n, and ends at (j+1) s / n, or the next whole number: a
    source that is picked once in each of its windows is always less than one pick from its share (proportionate fairness). A
    pick is possible once its window has begun, and impossible while all places up to some place are needed by picks whose
    windows end there.
    """
    due = [-(-size // count) if count else size + 1 for count in counts]
    picked = [0] * len(counts)
    # room[d]: the places up to d that are not needed by picks which must come before d
    needed = np.zeros(size + 1, np.int64)
    for count in counts:
        if count:
            ends = -(-(np.arange(1, count + 1) * size) // count)
            np.add.at(needed, ends, 1)
    room = np.arange(size + 1) - np.cumsum(needed)
    found = []
    sources = [source for source, count in enumerate(counts) if count]
    for place in range(size):
        tight = place + 1 + int((room[place + 1 :] == 0).argmax())  # the last place is always full
        ready = [s for s in sources if picked[s] < counts[s] and picked[s] * size // counts[s] <= place and due[s] <= tight]
        chosen = _by_weight(ready, counts, chances[place])
        room[place + 1 : due[chosen]] -= 1
        picked[chosen] += 1
        due[chosen] = -(-(picked[chosen] + 1) * size // counts[chosen])
        found.append(chosen)
    return found


def _by_weight(sources: list[int], counts: list[int], chance: float) -> int:
    """Return one of some sources, with probabilities proportional to their picks."""
    left = chance * sum(counts[source] for source in sources)
    for source in sources:
        left -= counts[source]
        if left < 0:
            return source
    return sources[-1]


Key: TypeAlias = tuple[int, ...]

_WHOLE = 1 << 62
"""Weights are whole numbers of so many."""
_LEAST_BLOCK, _MOST_BLOCK = 64, 1 << 20
_MOST_EXACT = 1000  # weights that are so many parts of a whole give blocks without a rest
_ORDERS = 16  # random orders of a block with the same counts
_KEPT_ORDERS = 256


class Stopping(StrEnum):
    """Rule for the end of a mixture: of datasets, of streams, or of their sources."""

    FIRST_EXHAUSTED = "first_exhausted"
    """With the source that ends first."""
    ALL_EXHAUSTED = "all_exhausted"
    """End when every row was read; sources that end earlier start again."""
    ALL_EXHAUSTED_WITHOUT_REPLACEMENT = "all_exhausted_without_replacement"
    """End when every row was read; sources that end earlier are passed over."""

    @classmethod
    def of(cls, given: str) -> Stopping:
        """Return the strategy with a name.

        Raises:
            ConfigurationError: the name is unknown.

        >>> Stopping.of("all_exhausted").replaces
        True
        """
        found = next((each for each in cls if each == given), None)
        if found is None:
            names = ", ".join(repr(each.value) for each in cls)
            raise ConfigurationError(f"Unknown stopping_strategy={given!r}. Available strategies: {names}.", value=given)
        return found

    @property
    def replaces(self) -> bool:
        """True if sources that have ended begin again."""
        return self is not Stopping.ALL_EXHAUSTED_WITHOUT_REPLACEMENT


class MixtureSchedule(Protocol):
    """The sequence of sources from which the rows of a mixture come."""

    @property
    def num_sources(self) -> int:
        """Number of sources."""
        ...

    def picks(self, start: int, stop: int) -> Ints:
        """Return the sources of the picks from `start` to `stop`."""
        ...

    def counts(self, place: int) -> list[int]:
        """Return how often each source was picked before this pick."""
        ...

    def in_shard(self, shard: int, shards: int) -> MixtureSchedule:
        """Return the schedule of one logical shard; neighbouring shards start with different sources."""
        ...

    def mixed(self, seed: int, epoch: int) -> MixtureSchedule:
        """Return a schedule of random turns with the same shares."""
        ...


@dataclass(frozen=True, slots=True)
class InTurn:
    """The sources in turn, repeatedly.

    Attributes:
        num_sources: number of sources.
        first: the source of the first row.

    >>> InTurn(3).picks(2, 7).tolist(), InTurn(3).counts(4)
    ([2, 0, 1, 2, 0], [2, 1, 1])
    """

    num_sources: int
    first: int = 0

    def picks(self, start: int, stop: int) -> Ints:
        """See `MixtureSchedule.picks`."""
        found: Ints = (np.arange(stop - start, dtype=np.int64) + (start + self.first) % self.num_sources) % self.num_sources
        return found

    def counts(self, place: int) -> list[int]:
        """See `MixtureSchedule.counts`."""
        number = self.num_sources
        return [-(-max(0, place - (source - self.first) % number) // number) for source in range(number)]

    def in_shard(self, shard: int, shards: int) -> InTurn:
        """See `MixtureSchedule.in_shard`."""
        return replace(self, first=(self.first + shard) % self.num_sources)

    def mixed(self, seed: int, epoch: int) -> Weighted:
        """See `MixtureSchedule.mixed`."""
        return Weighted.of([1] * self.num_sources, (seed, epoch))


@dataclass(frozen=True, slots=True)
class Weighted:
    """A schedule in which each source comes as often as its weight requires.

    If the weights are fractions with a denominator of at most a thousand, such as percentages, each block has exactly these
    counts, and before any row each source is less than one pick away from its share. Otherwise this is true between blocks.

    Attributes:
        shares: cumulative weights, as parts of `_WHOLE`.
        block: picks of a block.
        key: seed of the orders of blocks.
        lanes: selects the blocks of one logical shard.

    >>> turns = Weighted.of([0.75, 0.25], (7,))
    >>> turns.counts(4000)
    [3000, 1000]
    """

    shares: tuple[int, ...]
    block: int
    key: Key
    lanes: Key = ()
    _orders: dict[tuple[int, ...], Ints] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, weights: Sequence[float], key: Key) -> Self:
        """Return turns by weights, which are divided by their sum.

        Raises:
            ConfigurationError: a weight is below one in a million.
        """
        exact = [Fraction(weight) for weight in weights]
        total = sum(exact)
        parts = _parts_of_a_whole([weight / total for weight in exact])
        if parts is not None:
            exact, total = [Fraction(part) for part in parts], Fraction(sum(parts))
            block = sum(parts) * -(-_LEAST_BLOCK // sum(parts))
        else:
            least = min(weight / total for weight in exact if weight)
            block = 4 * _LEAST_BLOCK
            while block * least < 1:
                block *= 2
            if block > _MOST_BLOCK:
                place = next(place for place, weight in enumerate(exact) if weight and _MOST_BLOCK * weight < total)
                raise ConfigurationError(
                    f"Dataset {place} has probability {float(weights[place])}, less than one row in {_MOST_BLOCK}",
                    advice="Remove it, or give it a larger probability",
                )
        shares = [round(Fraction(_WHOLE) * found / total) for found in accumulate(exact)]
        return cls(tuple(shares), block, key)

    @property
    def num_sources(self) -> int:
        """See `MixtureSchedule.num_sources`."""
        return len(self.shares)

    def picks(self, start: int, stop: int) -> Ints:
        """See `MixtureSchedule.picks`."""
        first, last = start // self.block, -(-stop // self.block)
        if first >= last:
            return np.zeros(0, np.int64)
        blocks = [self._order(block) for block in range(first, last)]
        found: Ints = np.concatenate(blocks)[start - first * self.block : stop - first * self.block]
        return found

    def counts(self, place: int) -> list[int]:
        """See `MixtureSchedule.counts`."""
        block, rest = divmod(place, self.block)
        before = self._before(block)
        if not rest:
            return before
        within = np.bincount(self._order(block)[:rest], minlength=self.num_sources).tolist()
        return [count + more for count, more in zip(before, within, strict=True)]

    def in_shard(self, shard: int, shards: int) -> Self:
        """See `MixtureSchedule.in_shard`."""
        return replace(self, lanes=(*self.lanes, shard, shards))

    def mixed(self, seed: int, epoch: int) -> Self:
        """See `MixtureSchedule.mixed`."""
        return replace(self, key=(*self.key, seed, epoch), _orders={})

    def _before(self, block: int) -> list[int]:
        """Return how often each source was picked before a block; the counts are rounded so that their sum is exact."""
        place = block * self.block
        sums = [(2 * place * share + _WHOLE) // (2 * _WHOLE) for share in self.shares]
        return [one - other for other, one in pairwise([0, *sums])]

    def _order(self, block: int) -> Ints:
        before, behind = self._before(block), self._before(block + 1)
        counts = tuple(one - other for one, other in zip(behind, before, strict=True))
        digest = hashlib.blake2b("/".join(map(str, ("mix", *self.key, *self.lanes, block))).encode(), digest_size=8).digest()
        number = int.from_bytes(digest, "little") % _ORDERS
        found = self._orders.get((*counts, number))
        if found is None:
            if len(self._orders) >= _KEPT_ORDERS:
                self._orders.clear()
            found = self._orders[(*counts, number)] = fair_picks(counts, "order", *self.key, number)
        return found

    def __getstate__(self) -> Any:
        return self.shares, self.block, self.key, self.lanes

    def __setstate__(self, state: Any) -> None:
        for name, value in zip(("shares", "block", "key", "lanes", "_orders"), (*state, {}), strict=True):
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class Staged:
    """A schedule whose weights change at some rows.

    Attributes:
        stages: for each stage, the row at which it begins, ascending from 0, and its turns.

    >>> turns = Staged(((0, Weighted.of([1, 0], (0,))), (100, Weighted.of([1, 1], (0,)))))
    >>> turns.counts(200)
    [150, 50]
    """

    stages: tuple[tuple[int, Weighted], ...]

    @property
    def num_sources(self) -> int:
        """See `MixtureSchedule.num_sources`."""
        return self.stages[0][1].num_sources

    def picks(self, start: int, stop: int) -> Ints:
        """See `MixtureSchedule.picks`."""
        parts = [
            turns.picks(max(start, begin) - begin, min(stop, end) - begin)
            for begin, end, turns in self._spans()
            if begin < stop and start < end
        ]
        return np.concatenate(parts) if parts else np.zeros(0, np.int64)

    def counts(self, place: int) -> list[int]:
        """See `MixtureSchedule.counts`."""
        parts = [turns.counts(min(place, end) - begin) for begin, end, turns in self._spans() if begin < place or not begin]
        return [sum(each) for each in zip(*parts, strict=True)]

    def in_shard(self, shard: int, shards: int) -> Staged:
        """See `MixtureSchedule.in_shard`."""
        return Staged(tuple((begin // shards, turns.in_shard(shard, shards)) for begin, turns in self.stages))

    def mixed(self, seed: int, epoch: int) -> Staged:
        """See `MixtureSchedule.mixed`."""
        return Staged(tuple((begin, turns.mixed(seed, epoch)) for begin, turns in self.stages))

    def _spans(self) -> list[tuple[int, int, Weighted]]:
        ends = [*(begin for begin, _ in self.stages[1:]), ENDLESS]
        return [(begin, end, turns) for (begin, turns), end in zip(self.stages, ends, strict=True)]


Weights: TypeAlias = "Sequence[float] | Mapping[int, Sequence[float]]"
"""Weights of the sources; if they change, by the first row of each stage."""


def mixture_schedule(weights: Weights | None, num_sources: int, seed: int, epoch: int) -> MixtureSchedule:
    """Return the schedule of a mixture whose weights were checked by `checked_weights`."""
    if weights is None:
        return InTurn(num_sources)
    if isinstance(weights, Mapping):
        return Staged(tuple((row, Weighted.of(each, (seed, epoch, row))) for row, each in sorted(weights.items())))
    return Weighted.of(weights, (seed, epoch))


def checked_weights(weights: Any, num_sources: int, stopping: Stopping) -> Weights | None:
    """Check the probabilities that a user gave, and return them as plain numbers.

    >>> checked_weights({0: [1, 0], 1000: [0.5, 0.5]}, 2, Stopping.FIRST_EXHAUSTED)
    {0: (1.0, 0.0), 1000: (0.5, 0.5)}

    Raises:
        ArgumentTypeError: the probabilities are not numbers.
        ConfigurationError: there is not one for each source, one is below 0, they do not sum to 1, or a dataset would never be
            exhausted.
    """
    if weights is None:
        return None
    if not isinstance(weights, Mapping):
        found = _checked(weights, num_sources)
        last = found
    else:
        if 0 not in weights:
            raise ConfigurationError("probabilities= by row must start with row 0", advice="Add an entry for row 0")
        for row in weights:
            if not isinstance(row, (int, np.integer)) or row < 0:
                raise ConfigurationError(
                    f"probabilities= by row has the key {row!r}, which is not a row number", advice="Use non-negative ints"
                )
        stages = {int(row): _checked(weights[row], num_sources) for row in sorted(weights)}
        last = stages[max(stages)]
    if stopping is not Stopping.FIRST_EXHAUSTED and not all(last):
        raise ConfigurationError(
            f"Dataset {last.index(0.0)} has probability 0, so it is never exhausted",
            advice="Remove it, or use 'first_exhausted'",
        )
    return stages if isinstance(weights, Mapping) else found


def _checked(weights: Any, num_sources: int) -> tuple[float, ...]:
    try:
        shares = tuple(float(weight) for weight in weights)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"probabilities={weights!r} are not numbers", advice="Give one for each dataset", value=weights
        ) from None
    if len(shares) != num_sources:
        raise ConfigurationError(
            f"There are {len(shares)} probabilities for {num_sources} datasets", advice="Give one for each dataset"
        )
    if not all(share >= 0 for share in shares):
        raise ConfigurationError(
            f"probabilities={list(shares)} contains a number outside 0 to 1", advice="Give numbers from 0 to 1"
        )
    if not math.isclose(math.fsum(shares), 1, abs_tol=1e-8):
        raise ConfigurationError(f"probabilities={list(shares)} sum up to {math.fsum(shares)}. They must sum up to 1.")
    return shares


def _parts_of_a_whole(weights: Sequence[Fraction]) -> list[int] | None:
    """Return the weights as the smallest integers with the same proportions, such as [7, 2, 1] for [0.7, 0.2, 0.1]; None if
    their sum is too large.
    """
    wholes = np.arange(1, _MOST_EXACT + 1)[:, None]
    products = wholes * np.array([float(weight) for weight in weights])
    parts = np.rint(products)
    fits = (np.abs(products - parts) <= 1e-12 * wholes).all(axis=1) & (parts.sum(axis=1) == wholes[:, 0])
    return parts[int(fits.argmax())].astype(np.int64).tolist() if fits.any() else None


def num_of_rows(turns: MixtureSchedule, lengths: Sequence[int], stopping: Stopping) -> int:
    """Return the number of rows of a mixture of sources with this many rows; `ENDLESS` if it never ends.

    >>> [num_of_rows(InTurn(2), [2, 5], stopping) for stopping in Stopping]
    [3, 10, 7]
    """
    if not stopping.replaces:
        return min(ENDLESS, sum(lengths))
    lasts = [_pick_of(turns, source, length) for source, length in enumerate(lengths)]
    if stopping is Stopping.FIRST_EXHAUSTED:  # a node without rows ends them when it is drawn first
        return min(last if length else last - 1 for last, length in zip(lasts, lengths, strict=True))
    counts = turns.counts(max(lasts))
    return min(ENDLESS, sum(count for count, length in zip(counts, lengths, strict=True) if length))


def _pick_of(turns: MixtureSchedule, source: int, row: int) -> int:
    """Return the number of picks up to and including the one that gives a row of a source, counted from 1; 0 counts as 1."""
    low, high = 0, 1
    while turns.counts(high)[source] < max(1, row):
        low, high = high, 2 * high
        if high > ENDLESS:
            return ENDLESS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turns.counts(middle)[source] >= max(1, row) else (middle, high)
    return high

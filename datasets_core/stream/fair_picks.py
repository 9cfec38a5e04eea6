"""`fair_picks`: the order in which sources are picked within a block: by chance, and never a whole pick from their share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from datasets_core.stream.permutation import Ints, Permutation

_FINE = 1 << 20  # numbers of which chance takes one
_MOST_BY_ONE = 2048  # picks that are drawn one by one; more of them cost more for each


def fair_picks(counts: Sequence[int], *key: int | str) -> Ints:
    """Sources by number, source i `counts[i]` times, in an order that a key decides.

    Before any row, each source was picked less than once more or less often than its share of the picks so far.  (In blocks of
    more than 2048 picks, about so.)

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
    """Pick number j of n of a source comes somewhere between j/n and (j+1)/n of the block."""
    numbers = np.asarray(counts, np.int64)
    sources = np.repeat(np.arange(len(numbers)), numbers)
    within = np.arange(len(sources)) - np.repeat(np.cumsum(numbers) - numbers, numbers)
    found: Ints = sources[np.argsort((within + chances) / numbers[sources], kind="stable")]
    return found


def _drawn(counts: list[int], size: int, chances: list[float]) -> list[int]:
    """Picks one by one: pick j of a source comes in a window of places, and all windows together can be kept.

    The window of pick j of n in a block of s begins at place j s // n, and ends at (j+1) s / n, or the next whole number: a
    source that is picked once in each of its windows is never a whole pick from its share (proportionate fairness).  A pick may
    come when its window has begun; and no later one may, when all places up to some place are needed by those whose windows end
    there.
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
    """One of some sources, each as likely as it has picks."""
    left = chance * sum(counts[source] for source in sources)
    for source in sources:
        left -= counts[source]
        if left < 0:
            return source
    return sources[-1]

"""`Expectations`: what those expect who read the same rows side by side, told to the rows as one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeAlias

import numpy as np

from datasets_core.stream.permutation import Ints

Turns: TypeAlias = "Ints | int"
"""The epoch of all rows, or that of each."""

_MOST_PLACES, _LEAST_PLACES = 1 << 14, 1 << 8  # of all readers, and of each


class Expectations:
    """What several readers will read soon: what one says takes nothing back that another said.

    Args:
        tell: what learns of it, see `RowsByPlace.expect`.

    >>> told = []
    >>> expected = Expectations(lambda places, turns: told.append(places.tolist()))
    >>> expected.say("a", np.array([0, 1, 2]), 0)
    >>> expected.say("b", np.array([7, 8, 9]), 0)
    >>> expected.passed("b", 1)
    >>> expected.say("a", np.array([3, 4]), 0)
    >>> told
    [[0, 1, 2], [0, 7, 1, 8, 2, 9], [8, 3, 9, 4]]
    """

    def __init__(self, tell: Callable[[Ints, Turns], None]) -> None:
        self._tell = tell
        self._readers: dict[Hashable, tuple[Ints, Turns]] = {}
        self._passed: dict[Hashable, int] = {}

    def say(self, reader: Hashable, places: Ints, turns: Turns) -> None:
        """A reader will read these rows, in this order, and no others that it spoke of."""
        self._readers.pop(reader, None)
        self._readers[reader] = places, turns
        self._passed[reader] = 0
        if len(self._readers) == 1:
            self._tell(places, turns)
        else:
            self._tell(*_in_turn([self._left(each) for each in self._readers], len(self._readers)))

    def passed(self, reader: Hashable, count: int) -> None:
        """A reader has read so many of the rows that it spoke of."""
        self._passed[reader] = count

    def leave(self, reader: Hashable) -> None:
        """A reader reads no further; behind the last one nothing is fetched ahead."""
        self._passed.pop(reader, None)
        if self._readers.pop(reader, None) is not None and not self._readers:
            self._tell(np.zeros(0, np.int64), 0)

    def _left(self, reader: Hashable) -> tuple[Ints, Turns]:
        places, turns = self._readers[reader]
        passed = self._passed[reader]
        return places[passed:], turns if isinstance(turns, int) else turns[passed:]


def _in_turn(parts: Iterable[tuple[Ints, Turns]], count: int) -> tuple[Ints, Turns]:
    """Some of the places of each, those first that come first."""
    most = max(_LEAST_PLACES, _MOST_PLACES // count)
    places: list[Ints] = []
    turns: list[Turns] = []
    distances: list[Ints] = []
    for each, when in parts:
        step = max(1, -(-len(each) // most))
        places.append(each[::step])
        turns.append(when if isinstance(when, int) else when[::step])
        distances.append(np.arange(len(places[-1]), dtype=np.int64) * step)
    order = np.argsort(np.concatenate(distances), kind="stable")
    first = turns[0]
    if isinstance(first, int) and all(isinstance(each, int) and each == first for each in turns):
        return np.concatenate(places)[order], first
    whole = [np.broadcast_to(when, len(each)) for each, when in zip(places, turns, strict=True)]
    return np.concatenate(places)[order], np.concatenate(whole)[order]

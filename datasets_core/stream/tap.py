"""`Tap`: one of several streams that are read together: the rows that were fetched and not yet given, and where it stands."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from datasets_core.stream.node import Delivery, Node, part
from datasets_core.stream.nodes import in_turn


class Tap:
    """One stream, read as far as it is drawn.

    Args:
        node: its rows.
        stood: what `stands` gave: the state before the next row, the number of times that it was begun again, and whether it
            ended once (1) and whether it is unknown if a row follows the last one that was given (2).
        turn: the first turn of its rows, see `in_turn`.
    """

    __slots__ = ("_blocks", "_clock", "_state", "_turn", "_waiting", "has_ended", "is_unsure", "node", "num_waiting", "rounds")

    def __init__(self, node: Node, stood: list[Any], turn: int) -> None:
        self._state, self.rounds, flags = stood
        self.has_ended, self.is_unsure = bool(flags & 1), bool(flags & 2)
        self._clock = Clock()
        self.node, self._turn = timed(node, self._clock), turn
        self._blocks: Iterator[Delivery] | None = None
        self._waiting: list[Delivery] = []
        self.num_waiting = 0

    @staticmethod
    def begun(node: Node) -> list[Any]:
        """Where a tap stands before its first row."""
        return [node.start, 0, 0]

    @staticmethod
    def places_of(nodes: Sequence[Node], stood: Any) -> list[tuple[Node, Any]] | None:
        """The state of each node, where taps stand as is said; None where that is nothing that they say."""
        if not isinstance(stood, (list, tuple)) or len(stood) != len(nodes):
            return None
        for each in stood:
            if not isinstance(each, (list, tuple)) or len(each) != 3 or not is_count(each[1]) or each[2] not in (0, 1, 2, 3):
                return None
        return [(node, each[0]) for node, each in zip(nodes, stood, strict=True)]

    @property
    def stands(self) -> list[Any]:
        """Where it stands: behind the rows that were given."""
        state = self._waiting[0].before if self._waiting else self._state
        return [state, self.rounds, self.has_ended + 2 * (self.is_unsure and not self._waiting)]

    def pull(self) -> bool:
        """Have rows wait, if there are any more; whether there are."""
        if self._blocks is None:
            node = timed(in_turn(self.node, self._turn + self.rounds), self._clock) if self.rounds else self.node
            self._blocks = iter(node.blocks(self._state))
        with self._clock:
            delivery = next(self._blocks, None)
        self.is_unsure = False
        if delivery is None:
            return False
        self._waiting.append(delivery)
        self.num_waiting += delivery.block.num_rows
        return True

    def given(self, count: int) -> list[Delivery]:
        """The next rows, of those that wait."""
        found: list[Delivery] = []
        self.num_waiting -= count
        while count:
            first = self._waiting.pop(0)
            rows = first.block.num_rows
            if rows > count:
                self._waiting.insert(0, part(first, count, rows))
                first = part(first, 0, count)
            found.append(first)
            count -= first.block.num_rows
        if found:
            self._state = found[-1].after(found[-1].block.num_rows - 1)
            self.is_unsure = not self._waiting
        return found

    def end(self, *, begins_again: bool) -> None:
        """Note that no row follows; it may begin again."""
        self.has_ended = True
        self.close()
        if begins_again:
            self._state, self.rounds = self.node.start, self.rounds + 1

    def close(self) -> None:
        """Let go of what reads the rows."""
        if isinstance(self._blocks, Generator):
            self._blocks.close()
        self._blocks = None


class Clock:
    """Seconds that were spent in it: it stands while others are read.

    Args:
        now: the time.
    """

    __slots__ = ("_begun", "_now", "_spent")

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now, self._spent = now, 0.0
        self._begun: float | None = None

    def __enter__(self) -> None:
        self._begun = self._now()

    def __exit__(self, *_: object) -> None:
        assert self._begun is not None
        self._spent += self._now() - self._begun
        self._begun = None

    def __call__(self) -> float:
        """How many until now."""
        return self._spent if self._begun is None else self._spent + self._now() - self._begun


def timed(node: Node, clock: Callable[[], float]) -> Node:
    """The rows in blocks that are as large as this clock allows."""
    own = getattr(node, "timed_by", None)
    if own is not None:
        found: Node = own(clock)
        return found
    below = getattr(node, "below", None)
    if below is None:
        return node
    step: Any = node
    with_clock: Node = replace(step, below=timed(below, clock))
    return with_clock


def is_count(given: Any) -> bool:
    """Whether JSON holds a number of rows or picks here."""
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0

"""Where nodes stand behind so many rows, and how many they have, where arithmetic tells: rows are skipped without reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from datasets_core.stream.chained import Chained
from datasets_core.stream.first_requests import reach_together
from datasets_core.stream.lanes import PlacedLanes
from datasets_core.stream.mixed_nodes import Mixed, num_of_rows
from datasets_core.stream.node import Delivery, Node, Ordered, State
from datasets_core.stream.nodes import Changed, Counted, Rounds, in_turn
from datasets_core.stream.order import ENDLESS


@dataclass(frozen=True, slots=True)
class Begun:
    """The rows of a node from a state on; a node (see `Node`)."""

    below: Node
    start: State

    def in_turn(self, turn: int) -> Begun:
        """The rows where all are repeated: see `nodes.in_turn`."""
        return replace(self, below=in_turn(self.below, turn))

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        return self.below.blocks(state)


def keeps_rows(node: Node) -> TypeGuard[Changed | Counted]:
    """Whether there is a row of each row below, whatever functions say."""
    return isinstance(node, Counted) or (isinstance(node, Changed) and node.guard is None)


def num_rows_of(node: Node) -> int | None:
    """How many rows a node has, `ENDLESS` at most; None where that shows when they are read."""
    if isinstance(node, Ordered):
        return node.num_rows
    if _is_row_of_row(node):
        return num_rows_of(node.below)
    if isinstance(node, Begun):
        return None
    if isinstance(node, Rounds):
        rows = num_rows_of(node.below)
        return None if rows is None else min(ENDLESS, rows * (ENDLESS if node.times is None else node.times))
    if not isinstance(node, (Mixed, Chained)):
        return None
    lengths = [num_rows_of(each) for each in node.nodes]
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return None
    return min(ENDLESS, sum(known)) if isinstance(node, Chained) else num_of_rows(node.turns, known, node.strategy)


def _is_row_of_row(node: Node) -> TypeGuard[Changed | Counted]:
    """Whether a node has as many rows as that below; where rows may fail, only they tell."""
    if isinstance(node, (Counted, Changed)):
        return getattr(node, "guard", None) is None
    return getattr(node, "is_row_by_row", False)


def reach_of(node: Node, count: int) -> int | None:
    """`count`, or the number of rows if that is less; None where that shows when they are read."""
    if isinstance(node, Ordered):
        return min(count, node.num_rows)
    if _is_row_of_row(node):
        return reach_of(node.below, count)
    if isinstance(node, Mixed) and _all_have(node, node.turns.counts(count)):
        return count
    rows = num_rows_of(node)
    return None if rows is None else min(count, rows)


def state_behind(node: Node, count: int) -> State | None:
    """The state behind so many rows, or behind the last one; None where that shows when they are read."""
    if isinstance(node, Ordered):
        return reach_of(node, count)
    if not isinstance(node, Counted) and _is_row_of_row(node):
        return state_behind(node.below, count)
    if isinstance(node, Counted):
        below, rows = state_behind(node.below, count), reach_of(node.below, count)
        return None if below is None else [below, rows]
    if isinstance(node, PlacedLanes):
        return node.state_behind(count)
    if isinstance(node, Rounds):
        return _behind_rounds(node, count)
    if isinstance(node, Chained):
        return _behind_chain(node, count)
    return _behind_picks(node, count) if isinstance(node, Mixed) else None


def _behind_rounds(node: Rounds, count: int) -> State | None:
    rows = num_rows_of(node.below)
    if not rows:
        return None
    turns, left = divmod(count, rows)
    if node.times is not None and turns >= node.times:
        return [node.below.start, node.times]
    below = state_behind(node.below, left)
    return None if below is None else [below, turns]


def _behind_chain(node: Chained, count: int) -> State | None:
    left, last = count, len(node.nodes) - 1
    for number, each in enumerate(node.nodes):
        rows = reach_of(each, left + 1)
        if rows is None:
            return None
        if rows > left or number == last:
            inner = state_behind(each, left)
            return None if inner is None else [number, inner]
        left -= rows
    return None


def _all_have(node: Mixed, counts: list[int]) -> bool:
    """Whether each node has a further row behind so many."""
    for each, count in zip(node.nodes, counts, strict=True):
        if count and (reach_of(each, count + 1) or 0) <= count:
            return False
    return True


def _behind_picks(node: Mixed, count: int) -> State | None:
    counts = node.turns.counts(count)
    reach_together([(each, rows + 1) for each, rows in zip(node.nodes, counts, strict=True) if rows])
    if _all_have(node, counts):
        found: list[Any] = [[state_behind(each, rows), 0, 0] for each, rows in zip(node.nodes, counts, strict=True)]
        return None if any(state is None for state, _, _ in found) else [count, found]
    lengths = [num_rows_of(each) for each in node.nodes]
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return None
    pick = _pick_behind(node, known, min(count, num_of_rows(node.turns, known, node.strategy)))
    found = []
    for each, rows, drawn in zip(node.nodes, known, node.turns.counts(pick), strict=True):
        stood = _stood(each, rows, drawn, replaces=node.replaces)
        if stood is None:
            return None
        found.append(stood)
    return [pick, found]


def _pick_behind(node: Mixed, lengths: list[int], count: int) -> int:
    """The first pick behind so many rows."""

    def given(pick: int) -> int:
        counts = zip(node.turns.counts(pick), lengths, strict=True)
        if node.replaces:
            return sum(drawn for drawn, rows in counts if rows)
        return sum(min(drawn, rows) for drawn, rows in counts)

    low, high = -1, max(1, count)
    while given(high) < count:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if given(middle) >= count else (middle, high)
    return high


def _stood(node: Node, rows: int, drawn: int, *, replaces: bool) -> list[Any] | None:
    """Where a node stands that was drawn so often: see `Tap`."""
    if not rows:
        return [node.start, int(drawn > 0), int(drawn > 0)]
    if not replaces and drawn >= rows:
        rounds, left = 0, rows
    else:
        rounds, left = divmod(drawn, rows)
        if drawn and not left:  # its last row was given, and nobody looked what follows
            rounds, left = rounds - 1, rows
    state = state_behind(node, left)
    return None if state is None else [state, rounds, int(rounds > 0) + 2 * (left == rows)]

"""Rows of a list as a node, in blocks of any size, for tests of what reads several nodes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from datasets_core.stream.nodes.block import DictBlock
from datasets_core.stream.nodes.node import Delivery, Node, State
from datasets_core.stream.nodes.ordered import SharedCursor


@dataclass(frozen=True)
class ListedRows(Node):
    """So many rows, each with the name and its number."""

    name: int
    count: int
    size: int = 3
    column: str = "row"
    start = 0

    num_rows = most_rows = None
    num_parts = 1

    def state_after(self, count: int) -> State | None:
        """Rows that must be read to be counted."""
        return None

    def check_state(self, at: Any) -> None:
        """Any state is one of these rows."""

    def in_turn(self, turn: int) -> ListedRows:
        """The same rows in every turn."""
        return self

    def shuffle_parts(self, seed: int, epoch: int) -> Node | None:
        """They have no parts."""
        return None

    def shard(self, index: int, count: int) -> Node | None:
        """All rows have to be seen."""
        return None

    def shard_jobs(self, index: int, count: int, *, is_contiguous: bool) -> Node | None:
        """There are no jobs."""
        return None

    def timed_by(self, clock: Callable[[], float]) -> Node:
        """Blocks are as large as they are."""
        return self

    def sharing(self, cursor: SharedCursor, state: State, clock: Callable[[], float] | None = None) -> Node:
        """They are read alone."""
        return self

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        for first in range(state, self.count, self.size):
            rows = [{self.column: 1000 * self.name + row} for row in range(first, min(self.count, first + self.size))]
            yield Delivery(DictBlock(rows), None, first, (first + 1).__add__)


def read(node: Node, state: State, limit: int = 200) -> tuple[list[Any], list[State]]:
    """The rows behind a state, each as its values, and the state behind each as JSON gives it back."""
    rows: list[Any] = []
    states: list[State] = []
    for delivery in node.blocks(json.loads(json.dumps(state))):
        for number, row in enumerate(delivery.block.rows()):
            rows.append(next(iter(row.values())) if len(row) == 1 else tuple(row.values()))
            states.append(delivery.after(number))
            if len(rows) == limit:
                return rows, states
    return rows, states

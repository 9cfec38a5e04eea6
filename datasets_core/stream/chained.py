"""`Chained`: the rows of several nodes, one node after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from datasets_core.stream.node import Delivery, Node, State
from datasets_core.stream.nodes import in_turn


@dataclass(frozen=True, slots=True)
class Chained:
    """Rows of one node after those of another; a node (see `Node`).

    A state is the number of the node, and where it stands.

    Attributes:
        nodes: the rows.
    """

    nodes: tuple[Node, ...]

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [0, self.nodes[0].start]

    def in_turn(self, turn: int) -> Chained:
        """The rows where all are repeated: see `nodes.in_turn`."""
        return replace(self, nodes=tuple(in_turn(node, turn) for node in self.nodes))

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        number, inner = state
        while number < len(self.nodes):
            for delivery in self.nodes[number].blocks(inner):
                yield _in_chain(delivery, number)
            number += 1
            if number < len(self.nodes):
                inner = self.nodes[number].start


def _in_chain(delivery: Delivery, number: int) -> Delivery:
    after = delivery.after
    return replace(delivery, numbers=None, before=[number, delivery.before], after=lambda row: [number, after(row)])

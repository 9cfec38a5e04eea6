"""`Chained`: the rows of several nodes, one node after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from datasets_core.stream.lanes import reading_with
from datasets_core.stream.mixed_nodes import Mixed
from datasets_core.stream.mixture import Weighted
from datasets_core.stream.node import Delivery, Node, State
from datasets_core.stream.nodes import in_turn
from datasets_core.stream.several import in_random_order, lane_of, sizes_of
from datasets_core.stream.shared_reading import SharedReading
from datasets_core.stream.tap import is_count

_MOST_APART = 4096


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

    def lane(self, lane: int, lanes: int) -> Chained:
        """One of `lanes` parts of the rows: a lane of each node, one after the other."""
        return replace(self, nodes=tuple(lane_of(node, lane, lanes) for node in self.nodes))

    def shared_by(self, reading: SharedReading, state: State) -> Chained:
        """The rows with what reads for others, too: see `lanes.reading_with`."""
        number, inner = state
        nodes = [
            reading_with(node, reading.part(place), inner if place == number else node.start)
            for place, node in enumerate(self.nodes)
        ]
        return replace(self, nodes=tuple(nodes))

    def shuffled(self, seed: int, epoch: int) -> Mixed:
        """The rows of all mixed, each node in an order that a seed decides, as far as it can be read so."""
        nodes = [in_random_order(node, seed, number, epoch, len(self.nodes)) for number, node in enumerate(self.nodes)]
        sizes = sizes_of(self.nodes)
        kept = [place for place, size in enumerate(sizes) if size] or [0]
        least = max(sizes) / _MOST_APART  # a node that is smaller is drawn more often, and ends early
        weights = [max(sizes[place], least, 1) for place in kept]
        turns = Weighted.of(weights, (seed, epoch))
        return Mixed(tuple(nodes[place] for place in kept), turns, "all_exhausted_without_replacement", epoch)

    def places_of(self, at: Any) -> list[tuple[Node, Any]] | None:
        """Where the node stands that is read, as a state says; None where it is none."""
        if not isinstance(at, (list, tuple)) or len(at) != 2 or not is_count(at[0]) or at[0] >= len(self.nodes):
            return None
        return [(self.nodes[at[0]], at[1])]

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

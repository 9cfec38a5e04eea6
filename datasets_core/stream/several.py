"""What is done to each of several nodes that are read as one: divided into lanes, and put in a random order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from datasets_core.stream.lanes import Dealt, in_lane
from datasets_core.stream.made_rows import MadeRows
from datasets_core.stream.node import Node, Ordered
from datasets_core.stream.nodes import in_turns
from datasets_core.stream.order import Layer, Shuffled
from datasets_core.stream.shuffled_blocks import BlocksInTurn, ShuffledBlocks

_WINDOW = 1000  # rows that are mixed at least
_WINDOW_BYTES = 64 << 20  # ... and bytes of all nodes at most, where rows lie in blocks


def lane_of(node: Node, lane: int, lanes: int) -> Node:
    """A lane of a node, by which all rows are read where nothing else tells the lanes apart."""
    return in_lane(node, lane, lanes) or Dealt(node, lane, lanes)


def is_several(node: Node) -> bool:
    """Whether the rows at the bottom are those of several nodes."""
    while (below := getattr(node, "below", None)) is not None:
        node = below
    return hasattr(node, "nodes")


def in_random_order(node: Node, seed: int, number: int, epoch: int, count: int = 1) -> Node:
    """The rows of one of several nodes in an order that a seed and its number decide; as they are, where it must be.

    Args:
        node: the rows.
        seed: decides about the order.
        number: of the node.
        epoch: of the order.
        count: how many nodes there are, which share what may be kept in memory.
    """
    digest = hashlib.blake2b(f"{seed}/{number}".encode(), digest_size=7).digest()
    own = int.from_bytes(digest, "little")
    if isinstance(node, Ordered):
        if (in_rounds := node.under_repeat(lambda once: _order(once, own, count, reshuffles=True))) is not None:
            return in_rounds
        return node if node.is_endless else node.shared(_order(node, own, count, reshuffles=False))
    return in_turns(node, own, epoch) or node


def _order(node: Ordered, seed: int, count: int, *, reshuffles: bool) -> Layer:
    blocks = node.structure()
    if blocks is None:
        return Shuffled(node.num_rows, _WINDOW, seed, reshuffles)
    if not blocks.is_indexed:
        return BlocksInTurn(blocks, seed)
    return ShuffledBlocks(blocks, seed, _WINDOW, _WINDOW_BYTES // count, 1, reshuffles)


def sizes_of(nodes: Sequence[Node]) -> list[int]:
    """How large nodes are, compared to one another: in rows where all tell these, else in files and the like."""
    rows = [_num_rows(node) for node in nodes]
    known = [count for count in rows if count is not None]
    return known if len(known) == len(nodes) else [_num_parts(node) for node in nodes]


def _num_rows(node: Node) -> int | None:
    if isinstance(node, Ordered):
        return node.num_rows
    parts = getattr(node, "nodes", None)
    if parts is not None:
        counts = [_num_rows(each) for each in parts]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None
    below = getattr(node, "below", None)
    return None if below is None else _num_rows(below)


def _num_parts(node: Node) -> int:
    if isinstance(node, Ordered):
        blocks = node.structure()
        return max(1, blocks.num_files) if blocks is not None else 1
    if isinstance(node, MadeRows):
        return len(node.order)
    parts = getattr(node, "nodes", None)
    if parts is not None:
        return sum(map(_num_parts, parts))
    below = getattr(node, "below", None)
    return 1 if below is None else _num_parts(below)

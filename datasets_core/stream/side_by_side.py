"""`SideBySide`: the columns of several nodes in one row each: the first row of all, then the second of all, and so on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import or_
from typing import Any

import pyarrow as pa

from datasets_core.errors import ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.stream.block import ArrowBlock, Block, DictBlock, Kinds, joined
from datasets_core.stream.node import Delivery, Node, State
from datasets_core.stream.nodes import in_turn
from datasets_core.stream.tap import Tap


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Rows of several nodes as one row each; a node (see `Node`).  Behind the end of one node its columns are None.

    Attributes:
        nodes: the rows.
        epoch: of the order.
    """

    nodes: tuple[Node, ...]
    epoch: int = 0

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [Tap.begun(node) for node in self.nodes]

    def in_turn(self, turn: int) -> SideBySide:
        """The rows where all are repeated: see `nodes.in_turn`."""
        return replace(self, nodes=tuple(in_turn(node, turn) for node in self.nodes), epoch=turn)

    def places_of(self, at: Any) -> list[tuple[Node, Any]] | None:
        """Where each node stands, as a state says; None where it is none."""
        return Tap.places_of(self.nodes, at)

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        taps = [Tap(node, each, self.epoch) for node, each in zip(self.nodes, state, strict=True)]
        kept: dict[Any, Kinds] = {}
        try:
            while True:
                for tap in taps:
                    if not tap.has_ended and not tap.num_waiting and not tap.pull():
                        tap.end(begins_again=False)
                alive = [tap.num_waiting for tap in taps if tap.num_waiting]
                if not alive:
                    return
                rows, before = min(alive), [tap.stands for tap in taps]
                parts = [tap.given(rows) if tap.num_waiting else [] for tap in taps]
                blocks = [joined([each.block for each in part]) if part else None for part in parts]
                merged = _merged(blocks, rows, kept)
                yield Delivery(merged, None, before, _Behind(before, parts, [tap.stands for tap in taps]))
        finally:
            for tap in taps:
                tap.close()


@dataclass(frozen=True, slots=True)
class _Behind:
    """The state behind a row of a block, of which each node that has not ended gave as many rows."""

    stood: list[list[Any]]
    parts: list[list[Delivery]]
    stands: list[list[Any]]

    def __call__(self, row: int) -> State:
        found = []
        for stood, parts, stands in zip(self.stood, self.parts, self.stands, strict=True):
            left = row
            for delivery in parts:
                if left < delivery.block.num_rows:
                    is_last = delivery is parts[-1] and left + 1 == delivery.block.num_rows
                    found.append(stands if is_last else [delivery.after(left), stood[1], stood[2] & 1])
                    break
                left -= delivery.block.num_rows
            else:
                found.append(stands)
        return found


def _merged(blocks: Sequence[Block | None], rows: int, kept: dict[Any, Kinds]) -> Block:
    """The columns of all blocks together; those of a node that has ended are missing."""
    homes: dict[str, int] = {}
    for place, block in enumerate(blocks):
        for name in [] if block is None else block.names:
            if homes.setdefault(name, place) != place:
                raise ConfigurationError(
                    f"Column {name!r} is in dataset {homes[name]} and in dataset {place}. Rename one of them."
                )
    found = [block for block in blocks if block is not None]
    arrow = [block for block in found if isinstance(block, ArrowBlock)]
    if len(arrow) < len(found):
        merged: list[dict[str, Any]] = [{} for _ in range(rows)]
        for block in found:
            for row, more in zip(merged, block.rows(), strict=True):
                row.update(more)
        return DictBlock(merged)
    features = Features({name: feature for block in arrow for name, feature in block.kinds.features.items()})
    paths = reduce(or_, [block.kinds.paths for block in arrow])
    kinds = kept.get("kinds")
    if kinds is None or kinds.features != features or kinds.paths != paths:
        kinds = kept["kinds"] = Kinds(features, paths)
    columns = [column for block in arrow for column in block.batch.columns]
    return ArrowBlock(pa.RecordBatch.from_arrays(columns, schema=kinds.schema), kinds)

"""`audit`: whether the ranks of a training delivered every row exactly once, by their states; else which rows it is about."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from datasets_core.errors import StreamStateError
from datasets_core.stream.lanes import LanesInTurn, PlacedLanes
from datasets_core.stream.merged_states import check_alike, stream_states
from datasets_core.stream.node import Delivery, Node
from datasets_core.stream.rank_lanes import RankLanes
from datasets_core.stream.rows_by_place import Origins
from datasets_core.stream.source_places import check_place
from datasets_core.stream.state import check_plan, lane_entries

if TYPE_CHECKING:
    from datasets_core.stream.streamed import Streamed

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class LaneRows:
    """Some rows of a lane.

    Attributes:
        lane: of the stream.
        start: the number of the first row in its lane.
        stop: the number behind the last; None: up to the end of the lane, which only reading tells.
        first: where the first of them stands, as far as that is known: a file and the row in it, or the row of the dataset.
    """

    lane: int
    start: int
    stop: int | None
    first: str = ""

    def __str__(self) -> str:
        rows = f"from row {self.start} on" if self.stop is None else f"rows {self.start} to {self.stop - 1}"
        return f"lane {self.lane}, {rows}" + (f" (the first: {self.first})" if self.first else "")


@dataclass(frozen=True, slots=True)
class Audit:
    """What was delivered of an epoch, by the states of all ranks.

    Attributes:
        delivered: how many rows were, those that came twice counted once.
        missing: the rows that were not.
        doubled: the rows that several ranks delivered.
    """

    delivered: int
    missing: tuple[LaneRows, ...] = ()
    doubled: tuple[LaneRows, ...] = ()

    @property
    def is_exactly_once(self) -> bool:
        """Whether every row was delivered, and none twice."""
        return not self.missing and not self.doubled

    def __str__(self) -> str:
        if self.is_exactly_once:
            return f"All {self.delivered} rows were delivered exactly once."
        told = [f"{self.delivered} rows were delivered."]
        for what, rows in (("Missing", self.missing), ("More than once", self.doubled)):
            if rows:
                more = f"; and {len(rows) - _SHOWN} lanes more" if len(rows) > _SHOWN else ""
                told.append(f"{what}: {'; '.join(map(str, rows[:_SHOWN]))}{more}.")
        return " ".join(told)


def audit(states: Iterable[Any], stream: Streamed) -> Audit:
    """Whether the ranks and workers whose states these are delivered every row of an epoch exactly once, all together.

    Each state says how many rows each of its lanes gave, so that nothing is read where rows are counted by arithmetic; behind
    filters and the like it is looked up whether a further row follows.  Before the end of an epoch the rows that are still to
    come count as missing.

    Args:
        states: of all ranks and workers, see `merge_states`.
        stream: of any rank, divided by `split_dataset_by_node` as those were.

    >>> from datasets_core.distributed import split_dataset_by_node
    >>> stream = Dataset.from_dict({"a": range(100)}).to_iterable_dataset()
    >>> ranks = [split_dataset_by_node(stream, rank, 2) for rank in range(2)]
    >>> rows = [list(part) for part in ranks]
    >>> print(audit([part.state_dict() for part in ranks], ranks[0]))
    All 100 rows were delivered exactly once.
    >>> print(audit([ranks[0].state_dict()], ranks[0]).missing[0])
    lane 1, rows 0 to 2 (the first: row 3)

    Raises:
        StreamStateError: they are no states of this stream, or of different epochs, or its parts are no lanes.
    """
    found = list(stream_states(states))
    plan = stream._plan
    split = plan.split
    if not found or split is None or not plan.is_elastic:
        raise StreamStateError(
            "There are no states of lanes to audit. Give what state_dict() of all ranks returned, and a stream that "
            "split_dataset_by_node() divided."
        )
    check_alike(found)
    check_plan(found[0]["plan"], plan.signature())
    if found[0].get("seed") is not None:
        plan = plan.with_seed(found[0]["seed"])
    node: Any = plan.in_all_lanes().node(found[0]["epoch"])
    while not isinstance(node, (PlacedLanes, LanesInTurn)):
        node = node.below
    lanes = _given(found, split)
    for entries in zip_longest(*lanes.values()):
        check_place(node, [entry for entry in entries if entry is not None])
    return _of_placed(node, lanes) if isinstance(node, PlacedLanes) else _of_read(node, lanes)


def _given(states: list[dict[str, Any]], split: RankLanes) -> dict[int, list[list[Any]]]:
    """What the states say of each lane, that which gave most rows first."""
    found: dict[int, list[list[Any]]] = {lane: [] for lane in range(split.lanes)}
    for state in states:
        for entry in lane_entries(state):
            found[entry[0]].append(entry)
    return {lane: sorted(entries, key=lambda entry: entry[1], reverse=True) for lane, entries in found.items()}


def _of_placed(node: PlacedLanes, lanes: dict[int, list[list[Any]]]) -> Audit:
    missing: list[LaneRows] = []
    doubled: list[LaneRows] = []
    delivered = 0
    for lane, limit in zip(node.places.own, node.places.limits, strict=True):
        given, again, *_ = [*(entry[1] for entry in lanes[lane]), 0, 0]
        delivered += given
        if given < limit:
            where = _where(node, lane, given) if len(missing) < _SHOWN else ""
            missing.append(LaneRows(lane, given, limit, where))
        if again:
            where = _where(node, lane, 0) if len(doubled) < _SHOWN else ""
            doubled.append(LaneRows(lane, 0, again, where))
    return Audit(delivered, tuple(missing), tuple(doubled))


def _where(node: PlacedLanes, lane: int, row: int) -> str:
    """Where a row of a lane stands."""
    rows = node.rows.shared(node.places.alone(lane))
    place = rows.places(np.array([row], np.int64))
    found = rows.source.origins(place, 0)
    return f"row {place[0]}" if found is None else _named(found)


def _of_read(node: LanesInTurn, lanes: dict[int, list[list[Any]]]) -> Audit:
    missing: list[LaneRows] = []
    doubled: list[LaneRows] = []
    delivered = 0
    for lane in node.own:
        entry, again = [*lanes[lane], [lane, 0, node.lane_node(lane).start], [lane, 0]][:2]
        delivered += entry[1]
        left = None if len(entry) > 3 else _first(node.lane_node(lane), entry[2])  # a lane that was filled up has ended
        if left is not None:
            missing.append(LaneRows(lane, entry[1], None, _name_of(left)))
        if again[1]:
            first = _first(node.lane_node(lane), node.lane_node(lane).start)
            doubled.append(LaneRows(lane, 0, again[1], "" if first is None else _name_of(first)))
    return Audit(delivered, tuple(missing), tuple(doubled))


def _first(node: Node, state: Any) -> Delivery | None:
    """The rows behind a state, of which one block is looked at."""
    blocks: Any = node.blocks(state)
    found: Delivery | None = next(blocks, None)
    blocks.close()
    return found


def _name_of(delivery: Delivery) -> str:
    origins = delivery.origins()
    return "" if origins is None else _named(origins)


def _named(origins: Origins) -> str:
    return f"row {origins.rows[0]} of {origins.names[origins.files[0]]}"

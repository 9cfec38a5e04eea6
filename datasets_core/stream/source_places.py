"""Whether a place that a state says is one of the rows that it is loaded into."""

from __future__ import annotations

from typing import Any

from datasets_core.errors import StreamStateError
from datasets_core.stream.error_policy import without_counts
from datasets_core.stream.lanes import LanesInTurn, PlacedLanes, in_turn_entry
from datasets_core.stream.made_rows import MadeRows
from datasets_core.stream.node import Node, Ordered
from datasets_core.stream.state import check_at


def check_place(node: Node, at: Any) -> None:
    """Compare a place with what is to give the rows behind it.

    Raises:
        StreamStateError: it has another form, or is behind the last row.
    """
    at = without_counts(at)
    if isinstance(node, PlacedLanes):
        limits = dict(zip(node.places.own, node.places.limits, strict=True))
        for lane, *given in at:
            if len(given) != 1 or not 0 <= given[0] <= limits[lane]:
                raise StreamStateError(_behind_lane(lane, given, limits[lane]))
        return
    if isinstance(node, LanesInTurn):
        for lane, given, *stood in (in_turn_entry(node.lane_node(entry[0]), entry) for entry in at):
            if given < 0 or len(stood) not in (1, 3):
                raise StreamStateError(_behind_lane(lane, [given, *stood], None))
            check_place(node.lane_node(lane), stood[0])
        return
    found: Any = node
    stood = at
    while not isinstance(found, (Ordered, MadeRows)) and hasattr(found, "below"):
        if found.start != found.below.start and isinstance(stood, (list, tuple)) and stood:
            stood = stood[0]
        found = found.below
    if isinstance(found, (PlacedLanes, LanesInTurn)):
        return
    places_of: Any = getattr(found, "places_of", None)
    if places_of is not None:  # several nodes as one
        places = places_of(stood)
        if places is None:
            check_at(stood, found.start)
            raise StreamStateError(f"The state says that it stands at {at!r}, where this stream has no place.")
        for inner, place in places:
            check_place(inner, place)
        return
    check_at(at, node.start)
    inner = at
    while isinstance(inner, (list, tuple)):
        inner = inner[0]
    if isinstance(found, MadeRows):
        _check_reach(inner, len(found.order), "part")
    elif isinstance(found, Ordered):
        _check_reach(inner, found.reach(inner), "row")


def _check_reach(at: int, reach: int, what: str) -> None:
    if at > reach:
        raise StreamStateError(
            f"The state stands behind {what} {at}, and there are {reach} {what}s. Give what state_dict() returned, unaltered."
        )


def _behind_lane(lane: int, given: list[Any], limit: int | None) -> str:
    has = "" if limit is None else f", and it has {limit} rows"
    return f"The state says that lane {lane} stands at {given}{has}. Give what state_dict() returned, unaltered."

"""`RankLanes`: the step that divides a stream among ranks by lanes, and what gives the rows of those of a rank or a worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

from datasets_core.stream.lane_places import LanePlaces
from datasets_core.stream.lanes import Dealt, LanesInTurn, PlacedLanes, in_lane, of_lane
from datasets_core.stream.node import Node, Ordered
from datasets_core.stream.order import Cut
from datasets_core.stream.steps import Batch, Limit, Part, PlainStep, Repeat, Shuffle, Step, is_row_by_row


@dataclass(frozen=True, slots=True)
class RankLanes(PlainStep):
    """The lanes of one rank: of `lanes` equal parts of the rows every `world_size`-th.

    Attributes:
        lanes: how many there are.
        rank: whose lanes these are.
        world_size: how many ranks there are.
        ends: what becomes of lanes that are longer than others, one of `ENDS`.
    """

    lanes: int
    rank: int
    world_size: int
    ends: str = "keep"

    @property
    def text(self) -> str:
        """See `Step.text`."""
        return f"split_dataset_by_node(lanes={self.lanes}, ends={self.ends!r})"

    @property
    def parts(self) -> tuple[Any, ...]:
        """See `Step.parts`: ranks may change."""
        return self.lanes, self.ends

    def own(self, worker: int = 0, num_workers: int = 1) -> tuple[int, ...]:
        """The lanes of a worker of the rank.

        >>> RankLanes(8, 1, 2).own(), RankLanes(8, 1, 2).own(1, 3)
        ((1, 3, 5, 7), (3,))
        """
        return tuple(range(self.rank + worker * self.world_size, self.lanes, num_workers * self.world_size))

    def within(self, rank: int, world_size: int) -> RankLanes:
        """The lanes of one of `world_size` ranks that divide these."""
        return replace(self, rank=self.rank + rank * self.world_size, world_size=self.world_size * world_size)

    def on(self, node: Node, epoch: int, lanes: int = 1) -> Node:
        """See `Step.on`: of any rows."""
        return lanes_of(node, (), (), self, epoch, self.own())

    def reads(self) -> tuple[str, ...] | None:
        """See `Step.reads`."""
        return ()


def works_in_lanes(step: Step) -> bool:
    """Whether a step can be done in each lane by itself."""
    if isinstance(step, (Part, RankLanes)):
        return False
    return step.is_local or isinstance(step, (Repeat, Shuffle)) or (isinstance(step, Batch) and bool(step.by))


def divided_steps(behind: Sequence[Step]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """The steps behind the call that are done in each lane, and the others, which see the rows of the rank."""
    place = 0
    while place < len(behind) and works_in_lanes(behind[place]) and not _is_list(behind[place]):
        place += 1
    return tuple(behind[:place]), tuple(behind[place:])


def keeps_lanes(step: Step) -> bool:
    """Whether behind a step on the rows of a rank each lane still stands behind some of its own rows."""
    return is_row_by_row(step) or _is_list(step)


def _is_list(step: Step) -> bool:
    return isinstance(step, Batch) and not step.by and step.size is not None


def lanes_of(
    root: Node, before: Sequence[Step], inside: Sequence[Step], split: RankLanes, epoch: int, own: tuple[int, ...]
) -> PlacedLanes | LanesInTurn:
    """What gives the rows of some lanes.

    Lanes are cut behind the last step that must see all rows, and the steps behind it are done in each lane by itself.

    Args:
        root: the rows at the bottom.
        before: the steps before the call.
        inside: steps behind the call that are done in each lane.
        split: the call.
        epoch: of the order.
        own: the lanes.
    """
    place = len(before)
    while place and works_in_lanes(before[place - 1]) and not isinstance(before[place - 1], Shuffle):
        place -= 1
    head = root
    for number, step in enumerate(before[:place]):
        is_last = number == place - 1 and isinstance(step, Shuffle)
        head = step.on(head, epoch, split.lanes) if is_last else step.on(head, epoch)
    rest = (*before[place:], *inside)
    return _placed(head, rest, split, epoch, own) or _in_turn(head, rest, split, epoch, own)


def _placed(head: Node, rest: Sequence[Step], split: RankLanes, epoch: int, own: tuple[int, ...]) -> PlacedLanes | None:
    """The lanes by arithmetic, where all steps in them change rows one by one, and one may repeat them."""
    if not isinstance(head, Ordered) or head.is_endless or sum(isinstance(step, Repeat) for step in rest) > 1:
        return None
    size, times = head.num_rows, [1]
    node = head
    for step in rest:
        if isinstance(step, Repeat):
            times = [step.times]  # type: ignore[list-item]
        elif isinstance(step, (Batch, Shuffle, Limit, Part)):
            return None
        found = step.on(node, epoch)
        if not isinstance(found, Ordered):
            return None
        node = found
    return PlacedLanes(node, LanePlaces.of(size, split.lanes, own, split.ends, times[0]))


def _in_turn(head: Node, rest: Sequence[Step], split: RankLanes, epoch: int, own: tuple[int, ...]) -> LanesInTurn:
    made = partial(_lane, head, tuple(_for_lane(step, split.lanes) for step in rest), split.lanes, epoch)
    return LanesInTurn(own, lru_cache(maxsize=None)(made), split.ends)


def _lane(head: Node, rest: Sequence[Step], lanes: int, epoch: int, lane: int) -> Node:
    if isinstance(head, Ordered) and head.is_endless:  # the later part of its rows would never come: lanes take turns
        node: Node = head.shared(Cut((range(lane, head.num_rows, lanes),)))
    else:
        node = in_lane(head, lane, lanes) or Dealt(head, lane, lanes)
    for step in rest:
        seeded = replace(step, seed=step.seed + (lane << 40)) if isinstance(step, Shuffle) else step
        node = _numbered(seeded.on(node, epoch), lane, lanes)
    return node


def _numbered(node: Node, lane: int, lanes: int) -> Node:
    """A step that was put on a lane: it has counted the rows of the lane, if it counts."""
    made = of_lane(node, lane, lanes)
    below = getattr(made, "below", None)
    if below is None:
        return made
    counted = of_lane(below, lane, lanes)
    step: Any = made
    return made if counted is below else replace(step, below=counted)


def _for_lane(step: Step, lanes: int) -> Step:
    """A step as it is done in each lane: what it keeps in memory is shared by all."""
    for_lanes = getattr(step, "for_lanes", None)
    if for_lanes is not None:
        own: Step = for_lanes(lanes)
        return own
    if not isinstance(step, Shuffle):
        return step
    found = replace(step, size=max(1, step.size // lanes))
    budget = getattr(step, "window_bytes", None)
    return found if budget is None else replace(found, window_bytes=max(1, budget // lanes))

"""Lanes of a stream as nodes: some of its equal parts, each read by itself, give a row each, round after round."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from datasets_core.stream.block import joined
from datasets_core.stream.error_policy import uncounted, without_counts
from datasets_core.stream.lane_places import LanePlaces
from datasets_core.stream.node import Delivery, Node, Ordered, State, chosen, taken
from datasets_core.stream.nodes import (
    Changed,
    Counted,
    Filtered,
    FilteredByBatch,
    Lists,
    MappedByBatch,
    Rounds,
    Windows,
    in_turn,
)
from datasets_core.stream.rows_by_place import Origins
from datasets_core.stream.shared_reading import Piece, SharedReading
from datasets_core.stream.tap import Tap

_MOST_ROWS = 1024
_SLOW_SECONDS = 0.02
_LOCAL: tuple[type[Any], ...] = (Changed, Counted, Filtered, FilteredByBatch, Lists, MappedByBatch, Rounds, Windows)


@dataclass(frozen=True)
class PlacedLanes:
    """Lanes whose rows are known by arithmetic; a node (see `Node`).

    A state has `[lane, rows that it gave]` for each lane.

    Attributes:
        rows: all rows.
        places: of those that the lanes give.
    """

    rows: Ordered
    places: LanePlaces

    @property
    def num_rows(self) -> int:
        """How many rows the lanes give."""
        return self.places.num_rows

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [[lane, 0] for lane in self.places.own]

    def in_turn(self, turn: int) -> PlacedLanes:
        """See `nodes.in_turn`."""
        return replace(self, rows=self.rows.in_turn(turn))

    def blocks(self, state: State, size: int | None = None) -> Iterator[Delivery]:
        """See `Node.blocks`; blocks of `size` rows but for the last, where it is given."""
        places = self.places.behind(tuple(given for _, given in state))
        for delivery in self.rows.shared(places).blocks(0, size):
            before, after = self._at(places, delivery.before), partial(self._after, places, delivery.after)
            yield Delivery(delivery.block, None, before, after, delivery.origins)

    def _after(self, places: LanePlaces, after: Callable[[int], State], row: int) -> State:
        return self._at(places, after(row))

    def _at(self, places: LanePlaces, place: int) -> State:
        return [[lane, given] for lane, given in zip(self.places.own, places.given_at(place), strict=True)]

    def state_behind(self, count: int) -> State:
        """The state behind so many rows, or behind the last."""
        return self._at(self.places, self.places.reach(count))


@dataclass(frozen=True)
class LanesInTurn:
    """Lanes of which only the rows tell how many they give; a node (see `Node`).

    A state has `[lane, rows that it gave, where it stands]` for each lane, and of a lane that was filled up how often it began
    again.  The next row is that of the lane that gave fewest, of several the first: lanes that stand behind catch up.

    Attributes:
        own: the lanes that are read, ascending.
        lane_node: what gives the rows of a lane.
        ends: one of `ENDS`: lanes that end are passed over, or end all, or begin again until all have ended.
    """

    own: tuple[int, ...]
    lane_node: Callable[[int], Node] = field(compare=False)
    ends: str = "keep"

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [[lane, 0, self.lane_node(lane).start] for lane in self.own]

    def in_turn(self, turn: int) -> LanesInTurn:
        """See `nodes.in_turn`."""
        return replace(self, lane_node=lambda lane: in_turn(self.lane_node(lane), turn))

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        reading = SharedReading()
        lanes = [_Lane.at(self.lane_node(entry[0]), entry, reading) for entry in state]
        want = 1
        try:
            while group := self._next(lanes):
                begun = time.perf_counter()
                most = min((lane.given for lane in lanes if lane.given > group[0].given and not lane.is_over), default=None)
                want = min(want, max(1, _MOST_ROWS // len(group)))
                rounds = min(lane.ready(want) for lane in group)
                if most is not None:
                    rounds = min(rounds, most - group[0].given)
                delivery = _round(lanes, group, min(rounds, max(1, _MOST_ROWS // len(group))))
                want = want * 4 if time.perf_counter() - begun < _SLOW_SECONDS else max(1, want // 2)
                yield delivery
        finally:
            for lane in lanes:
                lane.tap.close()
            reading.close()

    def _next(self, lanes: Sequence[_Lane]) -> list[_Lane]:
        """The lanes that give the next row, each of which has one."""
        while left := [lane for lane in lanes if not lane.is_over]:
            if self.ends == "pad" and all(lane.tap.has_ended for lane in left):
                return []
            least = min(lane.given for lane in left)
            group = [lane for lane in left if lane.given == least]
            empty = [lane for lane in group if not lane.ready(1)]
            if not empty:
                return group
            if self.ends == "drop":
                return []
            for lane in empty:
                is_filled = self.ends == "pad" and lane.given > 0
                lane.tap.end(begins_again=is_filled)
                lane.is_over = not is_filled
        return []


class _Clock:
    """Runs while its lane is read, and stands while others are: a lane reads as much at once as it alone allows."""

    __slots__ = ("begun", "total")

    def __init__(self) -> None:
        self.begun, self.total = 0.0, 0.0

    def __call__(self) -> float:
        return self.total + time.perf_counter() - self.begun


class _Lane:
    """A lane that is read.

    Args:
        number: of it.
        given: how many rows it gave.
        tap: gives more.
        clock: runs while it does.
    """

    __slots__ = ("clock", "given", "is_over", "number", "tap")

    def __init__(self, number: int, given: int, tap: Tap, clock: _Clock) -> None:
        self.number, self.given, self.tap, self.clock, self.is_over = number, given, tap, clock, False

    @classmethod
    def at(cls, node: Node, entry: Sequence[Any], reading: SharedReading) -> _Lane:
        """A lane where its state says."""
        number, given, stood, *more = in_turn_entry(node, entry)
        rounds, ended = more or (0, 0)
        clock = _Clock()
        shared = reading_with(node, reading, without_counts(stood), clock)
        return cls(number, given, Tap(shared, [stood, rounds, ended], 0), clock)

    @property
    def entry(self) -> list[Any]:
        """What a state has for it."""
        stood, rounds, flags = self.tap.stands
        return _entry(self.number, self.given, stood, rounds, flags & 1)

    def ready(self, want: int) -> int:
        """How many rows wait, up to so many if there are."""
        clock, begun = self.clock, time.perf_counter()
        clock.begun = begun
        while self.tap.num_waiting < want and self.tap.pull():
            pass
        clock.total += time.perf_counter() - begun
        return self.tap.num_waiting


def in_turn_entry(node: Node, entry: Sequence[Any]) -> Sequence[Any]:
    """What a state has for a lane of which only the rows tell, also if arithmetic told when it was saved: no row might fail."""
    return [*entry, entry[1]] if len(entry) == 2 and node.start == 0 and _may_fail(node) else entry


def _may_fail(node: Node | None) -> bool:
    """Whether rows may fail that come to a lane by arithmetic."""
    while node is not None and getattr(node, "guard", None) is None:
        node = getattr(node, "below", None)
    return node is not None


def _entry(number: int, given: int, stood: State, rounds: int, ended: int) -> list[Any]:
    return [number, given, stood, rounds, ended] if rounds or ended else [number, given, stood]


def _round(lanes: Sequence[_Lane], group: Sequence[_Lane], rounds: int) -> Delivery:
    """The next rows of some lanes, so many of each, in turn."""
    before = [lane.entry for lane in lanes]
    parts = [lane.tap.given(rounds) for lane in group]
    deliveries = [delivery for part in parts for delivery in part]
    block = joined([delivery.block for delivery in deliveries])
    order = np.arange(block.num_rows, dtype=np.int64).reshape(len(group), rounds).T.ravel()
    if len(group) > 1 and rounds > 1:
        block = block.take(order)

    def origins() -> Origins | None:
        return taken(Origins.joined([delivery.origins() for delivery in deliveries]), order)

    places = {id(lane): place for place, lane in enumerate(lanes)}
    behind = _Behind(before, [places[id(lane)] for lane in group], parts)
    for lane in group:
        lane.given += rounds
    return Delivery(block, None, before, behind, origins)


@dataclass(frozen=True, slots=True)
class _Behind:
    """The state behind a row of several lanes.

    Attributes:
        before: the state before the first row.
        group: the places in the state of the lanes that give a row each.
        parts: the rows of each of these.
    """

    before: list[list[Any]]
    group: list[int]
    parts: list[list[Delivery]]

    def __call__(self, row: int) -> State:
        found = list(self.before)
        rounds, last = divmod(row, len(self.group))
        for turn, (place, part) in enumerate(zip(self.group, self.parts, strict=True)):
            count = left = rounds + (turn <= last)
            if not count:
                continue
            for delivery in part:
                if left <= delivery.block.num_rows:
                    break
                left -= delivery.block.num_rows
            number, given, _, *more = found[place]
            found[place] = [number, given + count, delivery.after(left - 1), *more]
        return found


@dataclass(frozen=True, slots=True)
class Dealt:
    """Every so many of the rows of a node, one of its lanes, where these cannot be told before; a node (see `Node`).

    A state is that of the node, and how many of its rows came.
    """

    below: Node
    lane: int
    lanes: int
    reading: SharedReading | None = field(default=None, compare=False)

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [self.below.start, 0]

    def in_turn(self, turn: int) -> Dealt:
        """See `nodes.in_turn`."""
        return replace(self, below=in_turn(self.below, turn))

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        inner, seen = state
        if self.reading is None:
            pieces = self._pieces(seen, inner)
        else:
            pieces = self.reading.pieces("dealt", self.lane, seen, inner, self._pieces)
        with closing(pieces):
            for start, stop, delivery, _, _ in pieces:
                first = max(seen, start)
                first += (self.lane - first) % self.lanes
                if first < stop:
                    counted = _counted(delivery, start)
                    before = counted.after(seen - start - 1) if seen > start else counted.before
                    yield replace(chosen(counted, range(first - start, stop - start, self.lanes)), before=before)
                seen = stop

    def _pieces(self, seen: int, inner: State) -> Generator[Piece]:
        for delivery in self.below.blocks(inner):
            rows = delivery.block.num_rows
            batch = getattr(delivery.block, "batch", None)
            num_bytes = 1024 * rows if batch is None else batch.nbytes
            yield Piece(seen, seen + rows, delivery, delivery.after(rows - 1), num_bytes)
            seen += rows

    def shared_by(self, reading: SharedReading, state: State) -> Dealt:
        """The lane with what reads for others, too, told where this one will begin."""
        inner, seen = state
        reading.expect("dealt", self.lane, seen, inner)
        return replace(self, reading=reading)


def _counted(delivery: Delivery, seen: int) -> Delivery:
    after = delivery.after
    return replace(delivery, numbers=None, before=[delivery.before, seen], after=lambda row: [after(row), seen + row + 1])


def in_lane(node: Node, lane: int, lanes: int) -> Node | None:
    """A lane of the rows of a node: what is done to rows and batches is done in each; None: something has to see all rows."""
    own: Callable[[int, int], Node | None] | None = getattr(node, "lane", None)
    if own is not None:
        return own(lane, lanes)
    if not isinstance(node, _LOCAL) and not getattr(node, "works_in_lanes", False):
        return None
    step: Any = node
    below = in_lane(step.below, lane, lanes)
    return None if below is None else of_lane(replace(step, below=below), lane, lanes)


def of_lane(node: Node, lane: int, lanes: int) -> Node:
    """A step of a lane, that has numbers and an order of its own."""
    if isinstance(node, Counted):
        return replace(node, first=lane, every=lanes)
    return replace(node, seed=node.seed + (lane << 40)) if isinstance(node, Windows) else node


def reading_with(node: Node, reading: SharedReading, state: State, clock: Callable[[], float] | None = None) -> Node:
    """A lane that reads with others what they have in common, by a clock of its own, and will begin at a state."""
    if isinstance(node, Ordered):
        return node if clock is None else node.timed_by(clock)
    shared_by = getattr(node, "shared_by", None)
    if shared_by is not None:
        found: Node = shared_by(reading, state)
        return found
    below = getattr(node, "below", None)
    if below is None:
        return node
    step: Any = node
    stood, _ = uncounted(state)
    inner = stood if step.start == below.start else stood[0]
    with_reading: Node = replace(step, below=reading_with(below, reading, inner, clock))
    return with_reading

"""`Mixed`: rows of several streams that take turns, in one order, with an exact state of each behind every row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from datasets_core.stream.block import joined
from datasets_core.stream.first_requests import fetch_first_rows
from datasets_core.stream.lanes import reading_with
from datasets_core.stream.mixture import Turns
from datasets_core.stream.node import Delivery, Node, State, taken
from datasets_core.stream.nodes import in_turn
from datasets_core.stream.order import ENDLESS
from datasets_core.stream.permutation import Ints
from datasets_core.stream.rows_by_place import Origins
from datasets_core.stream.several import in_random_order, lane_of
from datasets_core.stream.shared_reading import SharedReading
from datasets_core.stream.tap import Tap, is_count

STRATEGIES = ("first_exhausted", "all_exhausted", "all_exhausted_without_replacement")
_FIRST_PICKS, _MOST_PICKS = 4, 1024
_SOON = 64  # picks whose nodes are begun together
_MOST_PASSED = 1 << 16
_SLOW_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Mixed:
    """Rows of several nodes; a node (see `Node`).

    A state is the number of picks, and where each of the nodes stands: see `Tap`.  Whether a node has ended is looked up before
    the pick behind its last row, as whoever reads the rows one by one would find out.

    Attributes:
        nodes: the rows.
        turns: whose row is next.
        strategy: one of `STRATEGIES`: the rows end when the first node has ended, or when all have, where those that ended
            before begin again, or are passed over.
        epoch: of the order.
    """

    nodes: tuple[Node, ...]
    turns: Turns
    strategy: str
    epoch: int = 0
    clock: Callable[[], float] = field(default=time.perf_counter, compare=False)

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [0, [Tap.begun(node) for node in self.nodes]]

    @property
    def replaces(self) -> bool:
        """Whether nodes that ended begin again."""
        return self.strategy != "all_exhausted_without_replacement"

    def in_turn(self, turn: int) -> Mixed:
        """The rows where all are repeated: see `nodes.in_turn`."""
        return replace(self, nodes=tuple(in_turn(node, turn) for node in self.nodes), epoch=turn)

    def timed_by(self, clock: Callable[[], float]) -> Mixed:
        """See `Ordered.timed_by`."""
        return replace(self, clock=clock)

    def lane(self, lane: int, lanes: int) -> Mixed:
        """One of `lanes` parts of the rows: a lane of each node, which take turns by themselves."""
        nodes = tuple(lane_of(node, lane, lanes) for node in self.nodes)
        return replace(self, nodes=nodes, turns=self.turns.in_lane(lane, lanes))

    def shared_by(self, reading: SharedReading, state: State) -> Mixed:
        """The rows with what reads for others, too: see `lanes.reading_with`."""
        nodes = [
            reading_with(node, reading.part(number), stood[0])
            for number, (node, stood) in enumerate(zip(self.nodes, state[1], strict=True))
        ]
        return replace(self, nodes=tuple(nodes))

    def shuffled(self, seed: int, epoch: int) -> Mixed:
        """The rows of each node in an order that a seed decides, as far as they can be read so; turns are by chance."""
        nodes = tuple(in_random_order(node, seed, number, epoch, len(self.nodes)) for number, node in enumerate(self.nodes))
        return replace(self, nodes=nodes, turns=self.turns.mixed(seed, epoch))

    def places_of(self, at: Any) -> list[tuple[Node, Any]] | None:
        """Where each node stands, as a state says; None where it is none."""
        if not isinstance(at, (list, tuple)) or len(at) != 2 or not is_count(at[0]):
            return None
        return Tap.places_of(self.nodes, at[1])

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        place, stood = state
        taps = [Tap(node, each, self.epoch) for node, each in zip(self.nodes, stood, strict=True)]
        size = _FIRST_PICKS
        first = {tap for tap in taps if tap.is_unsure} | {
            taps[source] for source in self.turns.picks(place, place + _SOON).tolist()
        }
        fetch_first_rows([(tap.node, tap.stands[0]) for tap in taps if tap in first])
        try:
            while True:
                for tap in taps:
                    if tap.is_unsure and not tap.num_waiting and not tap.pull():
                        tap.end(begins_again=self.replaces)
                if self._is_over(taps):
                    return
                begun = self.clock()
                picks, places = self._picks(place, place + size, taps)
                count, empty = _reached(picks, taps)
                if count:
                    yield self._given(place, taps, picks[:count], places[:count])
                if empty is not None:
                    taps[empty].end(begins_again=self.replaces)
                    place = int(places[count]) + 1
                elif count < len(picks):
                    place = int(places[count - 1]) + 1
                else:
                    place += size
                if not len(picks):
                    size = min(4 * size, _MOST_PASSED)
                else:  # a slow function behind is not kept waiting for many rows: see `Ordered`
                    is_slow = self.clock() - begun > _SLOW_SECONDS
                    size = max(1, count // 2) if is_slow else min(4 * max(count, _FIRST_PICKS), _MOST_PICKS)
        finally:
            for tap in taps:
                tap.close()

    def _is_over(self, taps: Sequence[Tap]) -> bool:
        ended = (tap.has_ended for tap in taps)
        return any(ended) if self.strategy == "first_exhausted" else all(ended)

    def _picks(self, start: int, stop: int, taps: Sequence[Tap]) -> tuple[Ints, Ints]:
        """The picks from `start` to `stop` that give rows, and the place of each."""
        picks, places = self.turns.picks(start, stop), np.arange(start, stop)
        if self.replaces or not any(tap.has_ended for tap in taps):
            return picks, places
        lasts = ~np.array([tap.has_ended for tap in taps])[picks]
        return picks[lasts], places[lasts]

    def _given(self, place: int, taps: Sequence[Tap], picks: Ints, places: Ints) -> Delivery:
        stood = [tap.stands for tap in taps]
        counts = np.bincount(picks, minlength=len(taps)).tolist()
        parts = {source: taps[source].given(count) for source, count in enumerate(counts) if count}
        deliveries = [delivery for source in parts for delivery in parts[source]]
        block = joined([delivery.block for delivery in deliveries])
        at = np.empty(len(picks), np.int64)
        at[np.argsort(picks, kind="stable")] = np.arange(len(picks))
        if len(parts) > 1:
            block = block.take(at)
        unsure = {source for source in parts if taps[source].is_unsure}
        behind = _Behind(stood, picks, places, parts, frozenset(unsure))

        def origins() -> Origins | None:
            return taken(Origins.joined([delivery.origins() for delivery in deliveries]), at)

        return Delivery(block, None, [place, stood], behind, origins)


@dataclass(frozen=True, slots=True)
class _Behind:
    """The state behind a row of a block.

    Attributes:
        stood: where each node stood before the block.
        picks: the node of each row.
        places: the pick of each row.
        parts: the rows of each node.
        unsure: nodes of which no further rows wait.
    """

    stood: list[list[Any]]
    picks: Ints
    places: Ints
    parts: dict[int, list[Delivery]]
    unsure: frozenset[int]

    def __call__(self, row: int) -> State:
        found = list(self.stood)
        counts = np.bincount(self.picks[: row + 1], minlength=len(found)).tolist()
        for source, deliveries in self.parts.items():
            count = counts[source]
            if not count:
                continue
            is_last = count == sum(delivery.block.num_rows for delivery in deliveries)
            for delivery in deliveries:
                if count <= delivery.block.num_rows:
                    break
                count -= delivery.block.num_rows
            _, rounds, flags = found[source]
            found[source] = [delivery.after(count - 1), rounds, flags & 1 | 2 * (is_last and source in self.unsure)]
        return [int(self.places[row]) + 1, found]


def _reached(picks: Ints, taps: Sequence[Tap]) -> tuple[int, int | None]:
    """How many picks can be given of the rows that wait; and the node that has none at all at the pick behind, if that is why.

    Rows of a node are fetched when it is drawn and none waits.
    """
    count = len(picks)
    sources, firsts = np.unique(picks, return_index=True)
    for first, source in sorted(zip(firsts.tolist(), sources.tolist(), strict=True)):
        if first >= count:
            break
        tap = taps[source]
        if not tap.num_waiting and not tap.pull():
            return first, source
        own = np.flatnonzero(picks[:count] == source)
        if len(own) >= tap.num_waiting:
            count = int(own[tap.num_waiting - 1]) + 1
    return count, None


def num_of_rows(turns: Turns, lengths: Sequence[int], strategy: str) -> int:
    """How many rows a mixture of so many rows each has; `ENDLESS` for those that never end.

    >>> from datasets_core.stream.mixture import InTurn
    >>> [num_of_rows(InTurn(2), [2, 5], strategy) for strategy in STRATEGIES]
    [3, 10, 7]
    """
    if strategy == "all_exhausted_without_replacement":
        return min(ENDLESS, sum(lengths))
    lasts = [_pick_of(turns, source, length) for source, length in enumerate(lengths)]
    if strategy == "first_exhausted":  # a node without rows ends them when it is drawn first
        return min(last if length else last - 1 for last, length in zip(lasts, lengths, strict=True))
    counts = turns.counts(max(lasts))
    return min(ENDLESS, sum(count for count, length in zip(counts, lengths, strict=True) if length))


def _pick_of(turns: Turns, source: int, row: int) -> int:
    """The pick behind the one that gives a row of a source, rows counted from 1; 0 counts as 1."""
    low, high = 0, 1
    while turns.counts(high)[source] < max(1, row):
        low, high = high, 2 * high
        if high > ENDLESS:
            return ENDLESS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if turns.counts(middle)[source] >= max(1, row) else (middle, high)
    return high

"""`Mixed`, `Concat`, `Zip`: nodes that combine rows of several nodes, with an exact state of each after every row."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any, Self

import numpy as np
import pyarrow as pa

from datasets_core.errors import ConfigurationError
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import ArrowBlock, Block, DictBlock, Kinds, joined
from datasets_core.stream.nodes.jobs import fetch_first_rows, reach_together
from datasets_core.stream.nodes.node import Delivery, Node, State, is_count, is_listed, no_place, taken
from datasets_core.stream.nodes.ordered import SharedCursor
from datasets_core.stream.nodes.positions import Origins
from datasets_core.stream.nodes.shard import Lookahead, shard_of
from datasets_core.stream.order.layers import ENDLESS, Ints
from datasets_core.stream.order.mixture import MixtureSchedule, Stopping, Weighted, num_of_rows

# `Combination`: base of nodes made from several nodes, each with its own state.


class Combination(Node):
    """The rows of several nodes.

    Attributes:
        nodes: the rows.
    """

    __slots__ = ()
    nodes: tuple[Node, ...]

    @abstractmethod
    def places_of(self, at: Any) -> list[tuple[Node, Any]] | None:
        """Return each node with its part of a state; None if it is not a state of this node."""

    def check_state(self, at: Any) -> None:
        places = self.places_of(at)
        if places is None:
            raise no_place(at, self.start)
        for node, inner in places:
            node.check_state(inner)

    def _with(self, nodes: Sequence[Node], **changes: Any) -> Self:
        own: Any = self
        found: Self = replace(own, nodes=tuple(nodes), **changes)
        return found

    @property
    def is_combination(self) -> bool:
        return True

    @property
    def most_rows(self) -> int | None:
        return summed([node.most_rows for node in self.nodes])

    @property
    def num_parts(self) -> int:
        return sum(node.num_parts for node in self.nodes)

    def shard_jobs(self, index: int, count: int, *, is_contiguous: bool) -> Node | None:
        return None

    def timed_by(self, clock: Callable[[], float]) -> Node:
        return self

    def _shuffled(self, seed: int, epoch: int) -> list[Node]:
        """Return the nodes, each shuffled in its own order."""
        count = len(self.nodes)
        return [node.shuffle_among(count, seed, number, epoch) for number, node in enumerate(self.nodes)]

    def _sharing(self, cursor: SharedCursor, states: Sequence[State]) -> Self:
        """Return each node with the cursor that other logical shards share."""
        together = enumerate(zip(self.nodes, states, strict=True))
        return self._with([node.sharing(cursor.part(number), state) for number, (node, state) in together])


def summed(counts: Sequence[int | None]) -> int | None:
    """Return the sum of numbers; None if one is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def sizes_of(nodes: Sequence[Node]) -> list[int]:
    """Return the relative sizes of nodes: in rows if all numbers of rows are known, else in files or jobs."""
    rows = [node.most_rows for node in nodes]
    known = [count for count in rows if count is not None]
    return known if len(known) == len(nodes) else [node.num_parts for node in nodes]


_FIRST_PICKS, _MOST_PICKS = 4, 1024
_SOON = 64  # picks whose nodes are begun together
_MOST_PASSED = 1 << 16
_SLOW_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Mixed(Combination):
    """Rows of several nodes that take turns.

    A state is `[number of picks, [the state of the Lookahead of each node]]`.  Whether a node has ended is checked before the
    pick that follows its last row, as a reader of single rows would do.

    Attributes:
        nodes: the rows.
        turns: determines whose row is next.
        stopping: the rule for when the rows end.
        epoch: epoch of the order.
        clock: measures how long rows take.
    """

    nodes: tuple[Node, ...]
    turns: MixtureSchedule
    stopping: Stopping
    epoch: int = 0
    clock: Callable[[], float] = field(default=time.perf_counter, compare=False)

    @property
    def start(self) -> State:
        return [0, [Lookahead.begun(node) for node in self.nodes]]

    # -- counting and skipping -----------------------------------------------------------------------------------------

    @property
    def num_rows(self) -> int | None:
        lengths = self._lengths()
        return None if lengths is None else num_of_rows(self.turns, lengths, self.stopping)

    def reach(self, count: int) -> int | None:
        """See `Node.reach`: a node does not count all its rows if it has as many as are picked."""
        return count if self._have(self.turns.counts(count)) else Node.reach(self, count)

    def state_after(self, count: int) -> State | None:
        counts = self.turns.counts(count)
        reach_together([(node, rows + 1) for node, rows in zip(self.nodes, counts, strict=True) if rows])
        if self._have(counts):
            found: list[Any] = [[node.state_after(rows), 0, 0] for node, rows in zip(self.nodes, counts, strict=True)]
            return None if any(state is None for state, _, _ in found) else [count, found]
        lengths = self._lengths()
        if lengths is None:
            return None
        pick = self._pick_behind(lengths, min(count, num_of_rows(self.turns, lengths, self.stopping)))
        drawn = zip(self.nodes, lengths, self.turns.counts(pick), strict=True)
        stood = [_stood(node, rows, times, replaces=self.stopping.replaces) for node, rows, times in drawn]
        return None if any(each is None for each in stood) else [pick, stood]

    def _lengths(self) -> list[int] | None:
        """Return the number of rows of each node, if all are known."""
        lengths = [node.num_rows for node in self.nodes]
        known = [length for length in lengths if length is not None]
        return known if len(known) == len(lengths) else None

    def _have(self, counts: list[int]) -> bool:
        """Return True if each node has a row after the given number."""
        for node, count in zip(self.nodes, counts, strict=True):
            if count and (node.reach(count + 1) or 0) <= count:
                return False
        return True

    def _pick_behind(self, lengths: list[int], count: int) -> int:
        """Return the first pick after this many rows."""

        def given(pick: int) -> int:
            counts = zip(self.turns.counts(pick), lengths, strict=True)
            if self.stopping.replaces:
                return sum(drawn for drawn, rows in counts if rows)
            return sum(min(drawn, rows) for drawn, rows in counts)

        low, high = -1, max(1, count)
        while given(high) < count:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if given(middle) >= count else (middle, high)
        return high

    def places_of(self, at: Any) -> list[tuple[Node, Any]] | None:
        return Lookahead.places_of(self.nodes, at[1]) if is_listed(at, 2) and is_count(at[0]) else None

    # -- other orders, and parts ---------------------------------------------------------------------------------------

    def in_turn(self, turn: int) -> Mixed:
        return self._with([node.in_turn(turn) for node in self.nodes], epoch=turn)

    def timed_by(self, clock: Callable[[], float]) -> Mixed:
        return replace(self, clock=clock)

    def shard(self, index: int, count: int) -> Mixed:
        """See `Node.shard`: a logical shard of each node; these take turns."""
        return self._with([shard_of(node, index, count) for node in self.nodes], turns=self.turns.in_shard(index, count))

    def sharing(self, cursor: SharedCursor, state: State, clock: Callable[[], float] | None = None) -> Mixed:
        return self._sharing(cursor, [stood[0] for stood in state[1]])

    def shuffle_parts(self, seed: int, epoch: int) -> Mixed:
        """See `Node.shuffle_parts`: each node has its own order, and turns are random."""
        return self._with(self._shuffled(seed, epoch), turns=self.turns.mixed(seed, epoch))

    # -- rows ----------------------------------------------------------------------------------------------------------

    def blocks(self, state: State) -> Iterator[Delivery]:
        place, stood = state
        taps = [Lookahead(node, each, self.epoch) for node, each in zip(self.nodes, stood, strict=True)]
        size = _FIRST_PICKS
        first = {tap for tap in taps if tap.is_unsure} | {
            taps[source] for source in self.turns.picks(place, place + _SOON).tolist()
        }
        fetch_first_rows([(tap.node, tap.stands[0]) for tap in taps if tap in first])
        try:
            while True:
                for tap in taps:
                    if tap.is_unsure and not tap.num_waiting and not tap.pull():
                        tap.end(begins_again=self.stopping.replaces)
                if self._is_over(taps):
                    return
                begun = self.clock()
                picks, places = self._picks(place, place + size, taps)
                count, empty = _reached(picks, taps)
                if count:
                    yield self._given(place, taps, picks[:count], places[:count])
                if empty is not None:
                    taps[empty].end(begins_again=self.stopping.replaces)
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

    def _is_over(self, taps: Sequence[Lookahead]) -> bool:
        ended = (tap.has_ended for tap in taps)
        return any(ended) if self.stopping is Stopping.FIRST_EXHAUSTED else all(ended)

    def _picks(self, start: int, stop: int, taps: Sequence[Lookahead]) -> tuple[Ints, Ints]:
        """Return the picks from `start` to `stop` that yield rows, and the place of each."""
        picks, places = self.turns.picks(start, stop), np.arange(start, stop)
        if self.stopping.replaces or not any(tap.has_ended for tap in taps):
            return picks, places
        lasts = ~np.array([tap.has_ended for tap in taps])[picks]
        return picks[lasts], places[lasts]

    def _given(self, place: int, taps: Sequence[Lookahead], picks: Ints, places: Ints) -> Delivery:
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
        behind = _BehindMix(stood, picks, places, parts, frozenset(unsure))

        def origins() -> Origins | None:
            return taken(Origins.joined([delivery.origins() for delivery in deliveries]), at)

        return Delivery(block, None, [place, stood], behind, origins)


@dataclass(frozen=True, slots=True)
class _BehindMix:
    """State after a row of a block.

    Attributes:
        stood: the state of each node before the block.
        picks: the node of each row.
        places: the pick of each row.
        parts: the rows of each node.
        unsure: nodes without a further row in the buffer.
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


def _reached(picks: Ints, taps: Sequence[Lookahead]) -> tuple[int, int | None]:
    """Return the number of picks whose rows are buffered, and the node without a row at the next pick, if that is the limit.

    Rows of a node are fetched when it is drawn and its buffer is empty.
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


def _stood(node: Node, rows: int, drawn: int, *, replaces: bool) -> list[Any] | None:
    """Return the state of the `Lookahead` of a node after a number of draws."""
    if not rows:
        return [node.start, int(drawn > 0), int(drawn > 0)]
    if not replaces and drawn >= rows:
        rounds, left = 0, rows
    else:
        rounds, left = divmod(drawn, rows)
        if drawn and not left:  # its last row was given, and no reader looked what follows
            rounds, left = rounds - 1, rows
    state = node.state_after(left)
    return None if state is None else [state, rounds, int(rounds > 0) + 2 * (left == rows)]


# `Concat`: the rows of several nodes, one node after the other.


_MOST_APART = 4096


@dataclass(frozen=True, slots=True)
class Concat(Combination):
    """Rows of one node after those of another.

    A state is `[number of the node that is read, its state]`.

    Attributes:
        nodes: the rows.
    """

    nodes: tuple[Node, ...]

    @property
    def start(self) -> State:
        return [0, self.nodes[0].start]

    @property
    def num_rows(self) -> int | None:
        rows = summed([node.num_rows for node in self.nodes])
        return None if rows is None else min(ENDLESS, rows)

    def state_after(self, count: int) -> State | None:
        left, last = count, len(self.nodes) - 1
        for number, node in enumerate(self.nodes):
            rows = node.reach(left + 1)
            if rows is None:
                return None
            if rows > left or number == last:
                inner = node.state_after(left)
                return None if inner is None else [number, inner]
            left -= rows
        return None

    def in_turn(self, turn: int) -> Concat:
        return self._with([node.in_turn(turn) for node in self.nodes])

    def shard(self, index: int, count: int) -> Concat:
        """See `Node.shard`: a logical shard of each node, one after the other."""
        return self._with([shard_of(node, index, count) for node in self.nodes])

    def sharing(self, cursor: SharedCursor, state: State, clock: Callable[[], float] | None = None) -> Concat:
        number, inner = state
        return self._sharing(cursor, [inner if place == number else node.start for place, node in enumerate(self.nodes)])

    def shuffle_parts(self, seed: int, epoch: int) -> Mixed:
        """See `Node.shuffle_parts`: the rows of all nodes are mixed, each node in its own order."""
        nodes, sizes = self._shuffled(seed, epoch), sizes_of(self.nodes)
        kept = [place for place, size in enumerate(sizes) if size] or [0]
        least = max(sizes) / _MOST_APART  # a node that is smaller is drawn more often, and ends early
        weights = [max(sizes[place], least, 1) for place in kept]
        turns = Weighted.of(weights, (seed, epoch))
        return Mixed(tuple(nodes[place] for place in kept), turns, Stopping.ALL_EXHAUSTED_WITHOUT_REPLACEMENT, epoch)

    def places_of(self, at: Any) -> list[tuple[Node, Any]] | None:
        if not is_listed(at, 2) or not is_count(at[0]) or at[0] >= len(self.nodes):
            return None
        return [(self.nodes[at[0]], at[1])]

    def blocks(self, state: State) -> Iterator[Delivery]:
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


# `Zip`: rows with the columns of several nodes: the first row of all, then the second of all, and so on.


@dataclass(frozen=True, slots=True)
class Zip(Combination):
    """Rows of several nodes combined column by column.  After the end of one node its columns are None.

    A state has the state of the `Lookahead` of each node.

    Attributes:
        nodes: the rows.
        epoch: epoch of the order.
    """

    nodes: tuple[Node, ...]
    epoch: int = 0

    @property
    def start(self) -> State:
        return [Lookahead.begun(node) for node in self.nodes]

    @property
    def num_rows(self) -> int | None:
        return None

    def state_after(self, count: int) -> State | None:
        return None

    def in_turn(self, turn: int) -> Zip:
        return self._with([node.in_turn(turn) for node in self.nodes], epoch=turn)

    def shuffle_parts(self, seed: int, epoch: int) -> Node | None:
        """See `Node.shuffle_parts`: rows that are combined to one row stay together."""
        return None

    def shard(self, index: int, count: int) -> Node | None:
        """See `Node.shard`: all rows are read, so that rows that are combined to one row stay together."""
        return None

    def sharing(self, cursor: SharedCursor, state: State, clock: Callable[[], float] | None = None) -> Node:
        return self

    def places_of(self, at: Any) -> list[tuple[Node, Any]] | None:
        return Lookahead.places_of(self.nodes, at)

    def blocks(self, state: State) -> Iterator[Delivery]:
        taps = [Lookahead(node, each, self.epoch) for node, each in zip(self.nodes, state, strict=True)]
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
                yield Delivery(merged, None, before, _BehindZip(before, parts, [tap.stands for tap in taps]))
        finally:
            for tap in taps:
                tap.close()


@dataclass(frozen=True, slots=True)
class _BehindZip:
    """State after a row of a block; each node that has not ended yielded the same number of rows."""

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
    """Return the columns of all blocks; those of a node that has ended are missing."""
    homes: dict[str, int] = {}
    for place, block in enumerate(blocks):
        for name in [] if block is None else block.names:
            if homes.setdefault(name, place) != place:
                raise ConfigurationError(
                    f"Column {name!r} is duplicated: it is in dataset {homes[name]} and in dataset {place}",
                    advice="Rename one of them",
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

"""Logical shards of a stream as nodes: equal parts, read separately, that yield one row each, round after round."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from datasets_core.errors import StreamStateError
from datasets_core.stream.nodes.block import joined
from datasets_core.stream.nodes.map_filter import numbered_from
from datasets_core.stream.nodes.node import (
    ADVICE,
    Delivery,
    Locality,
    Node,
    State,
    Unmeasured,
    chosen,
    is_count,
    is_listed,
    is_whole,
    no_place,
    part,
    taken,
    without_counts,
)
from datasets_core.stream.nodes.ordered import Ordered, Piece, SharedCursor
from datasets_core.stream.nodes.positions import Origins
from datasets_core.stream.order.shuffle import ShardPositions

# `Lookahead`: one of several streams that are read together, with the rows that were fetched and not yet delivered.


class Lookahead:
    """A stream with a buffer of read rows that were not drawn yet.

    Args:
        node: the node that yields the rows.
        stood: result of `stands`: the state before the next row, the number of restarts, and flags: 1 if it ended once, 2 if it
            is unknown whether a row follows the last one given.
        turn: the first turn of its rows, see `in_turn`.
    """

    __slots__ = ("_blocks", "_clock", "_state", "_turn", "_waiting", "has_ended", "is_unsure", "node", "num_waiting", "rounds")

    def __init__(self, node: Node, stood: list[Any], turn: int) -> None:
        self._state, self.rounds, flags = stood
        self.has_ended, self.is_unsure = bool(flags & 1), bool(flags & 2)
        self._clock = Clock()
        self.node, self._turn = node.timed_by(self._clock), turn
        self._blocks: Iterator[Delivery] | None = None
        self._waiting: list[Delivery] = []
        self.num_waiting = 0

    @staticmethod
    def begun(node: Node) -> list[Any]:
        """Return the state before the first row."""
        return [node.start, 0, 0]

    @staticmethod
    def places_of(nodes: Sequence[Node], stood: Any) -> list[tuple[Node, Any]] | None:
        """Return each node with its state; None if `stood` is not a list of states."""
        if not is_listed(stood, len(nodes)):
            return None
        for each in stood:
            if not is_listed(each, 3) or not is_count(each[1]) or each[2] not in (0, 1, 2, 3):
                return None
        return [(node, each[0]) for node, each in zip(nodes, stood, strict=True)]

    @property
    def stands(self) -> list[Any]:
        """Return the state: after the rows that were drawn."""
        state = self._waiting[0].before if self._waiting else self._state
        return [state, self.rounds, self.has_ended + 2 * (self.is_unsure and not self._waiting)]

    def pull(self) -> bool:
        """Fill the buffer if it is empty; return whether it has rows."""
        if self._blocks is None:
            node = self.node.in_turn(self._turn + self.rounds).timed_by(self._clock) if self.rounds else self.node
            self._blocks = iter(node.blocks(self._state))
        with self._clock:
            delivery = next(self._blocks, None)
        self.is_unsure = False
        if delivery is None:
            return False
        self._waiting.append(delivery)
        self.num_waiting += delivery.block.num_rows
        return True

    def given(self, count: int) -> list[Delivery]:
        """Return the next rows from the buffer."""
        found: list[Delivery] = []
        self.num_waiting -= count
        while count:
            first = self._waiting.pop(0)
            rows = first.block.num_rows
            if rows > count:
                self._waiting.insert(0, part(first, count, rows))
                first = part(first, 0, count)
            found.append(first)
            count -= first.block.num_rows
        if found:
            self._state = found[-1].after(found[-1].block.num_rows - 1)
            self.is_unsure = not self._waiting
        return found

    def end(self, *, begins_again: bool) -> None:
        """Record that no row follows; reading may start again."""
        self.has_ended = True
        self.close()
        if begins_again:
            self._state, self.rounds = self.node.start, self.rounds + 1

    def close(self) -> None:
        """Release the reader of the rows."""
        if isinstance(self._blocks, Generator):
            self._blocks.close()
        self._blocks = None


class Clock:
    """Clock of the seconds spent in one reader: it stops while others are read.

    Args:
        now: the time.
    """

    __slots__ = ("_begun", "_now", "_spent")

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now, self._spent = now, 0.0
        self._begun: float | None = None

    def __enter__(self) -> None:
        self._begun = self._now()

    def __exit__(self, *_: object) -> None:
        assert self._begun is not None
        self._spent += self._now() - self._begun
        self._begun = None

    def __call__(self) -> float:
        """Return the seconds until now."""
        return self._spent if self._begun is None else self._spent + self._now() - self._begun


_MOST_ROWS = 1024
_SLOW_SECONDS = 0.02


class Shards(Node):
    """Some logical shards of a stream; a state has a list for each, which begins with its number and the number of rows that it
    gave.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def own(self) -> tuple[int, ...]:
        """The logical shards that are read, ascending."""

    @abstractmethod
    def limit(self, shard: int) -> int | None:
        """Return the number of rows of one shard; None if unknown before the rows are read."""

    @abstractmethod
    def next_row(self, entry: Sequence[Any]) -> str | None:
        """Return the origin of the next row after the state of one shard, "" if the row has no origin; None if no row
        follows.
        """

    @property
    def shards(self) -> Shards:
        return self

    @property
    def most_rows(self) -> int | None:
        return None

    @property
    def num_parts(self) -> int:
        return 1

    @property
    def num_rows(self) -> int | None:
        """See `Node.num_rows`: steps after logical shards count the rows that they see."""
        return None

    def shard(self, index: int, count: int) -> Node | None:
        return None

    def shard_jobs(self, index: int, count: int, *, is_contiguous: bool) -> Node | None:
        return None

    def shuffle_parts(self, seed: int, epoch: int) -> Node | None:
        return None

    def timed_by(self, clock: Callable[[], float]) -> Node:
        """See `Node.timed_by`: each logical shard has its own clock."""
        return self

    def sharing(self, cursor: SharedCursor, state: State, clock: Callable[[], float] | None = None) -> Node:
        """See `Node.sharing`: the logical shards share their reads among themselves."""
        return self

    def _entries(self, at: Any) -> list[Sequence[Any]]:
        is_form = isinstance(at, (list, tuple)) and all(isinstance(entry, (list, tuple)) and len(entry) > 1 for entry in at)
        if not is_form or not all(is_count(entry[0]) and entry[0] in self.own and is_whole(entry[1]) for entry in at):
            raise no_place(at, self.start)
        return list(at)


@dataclass(frozen=True)
class PlacedShards(Shards):
    """Logical shards whose rows are known by arithmetic.

    A state has `[shard, rows that it gave]` for each logical shard.

    Attributes:
        rows: all rows.
        places: positions of the rows that the logical shards give.
    """

    rows: Ordered
    places: ShardPositions

    @property
    def own(self) -> tuple[int, ...]:
        return self.places.own

    @property
    def length(self) -> int:
        """See `Node.length`: the number of rows that the logical shards give."""
        return self.places.num_rows

    @property
    def start(self) -> State:
        return [[shard, 0] for shard in self.own]

    def in_turn(self, turn: int) -> PlacedShards:
        return replace(self, rows=self.rows.in_turn(turn))

    def blocks(self, state: State, size: int | None = None) -> Iterator[Delivery]:
        """See `Node.blocks`; blocks of `size` rows except the last, if it is given."""
        places = self.places.behind(tuple(given for _, given in state))
        for delivery in self.rows.shared(places).blocks(0, size):
            before, after = self._at(places, delivery.before), partial(self._after, places, delivery.after)
            yield Delivery(delivery.block, None, before, after, delivery.origins)

    def _after(self, places: ShardPositions, after: Callable[[int], State], row: int) -> State:
        return self._at(places, after(row))

    def _at(self, places: ShardPositions, place: int) -> State:
        return [[shard, given] for shard, given in zip(self.own, places.given_at(place), strict=True)]

    def state_after(self, count: int) -> State:
        return self._at(self.places, self.places.reach(count))

    def limit(self, shard: int) -> int:
        return self.places.limits[self.own.index(shard)]

    def next_row(self, entry: Sequence[Any]) -> str | None:
        shard, given = entry[:2]
        if given >= self.limit(shard):
            return None
        rows = self.rows.shared(self.places.alone(shard))
        place = rows.places(np.array([given], np.int64))
        found = rows.source.origins(place, 0)
        return f"row {place[0]}" if found is None else found.first

    def check_state(self, at: Any) -> None:
        for shard, *given in self._entries(at):
            limit = self.limit(shard)
            if len(given) != 1 or not 0 <= given[0] <= limit:
                raise _behind_shard(shard, given, limit)


@dataclass(frozen=True, slots=True)
class ShardsInTurn(Shards):
    """Logical shards whose number of rows is only known by reading.

    A state has `[shard, rows given, state of its node]` for each; for one that is padded also the number of restarts and
    whether it ended.  The next row comes from the shard that gave the fewest rows (the first of these): shards that are behind
    catch up.

    Attributes:
        own: the logical shards read, ascending.
        shard_node: returns the node of a shard.
        ends: one of `ENDS`: shards that end are passed over, or end all, or restart until all have ended.
    """

    numbers: tuple[int, ...]
    shard_node: Callable[[int], Node] = field(compare=False)
    ends: str = "keep"

    @property
    def own(self) -> tuple[int, ...]:
        return self.numbers

    @property
    def start(self) -> State:
        return [[shard, 0, self.shard_node(shard).start] for shard in self.own]

    def in_turn(self, turn: int) -> ShardsInTurn:
        return replace(self, shard_node=lambda shard: self.shard_node(shard).in_turn(turn))

    def state_after(self, count: int) -> State | None:
        return None

    def limit(self, shard: int) -> None:
        """See `Shards.limit`."""

    def next_row(self, entry: Sequence[Any]) -> str | None:
        """See `Shards.next_row`; one block is read for it."""
        shard, _, *stood = entry
        if len(stood) > 1:  # it was filled up: it has ended
            return None
        node = self.shard_node(shard)
        blocks: Any = node.blocks(stood[0] if stood else node.start)
        found: Delivery | None = next(blocks, None)
        blocks.close()
        origins = None if found is None else found.origins()
        return None if found is None else "" if origins is None else origins.first

    def check_state(self, at: Any) -> None:
        for shard, given, *stood in (in_turn_entry(self.shard_node(entry[0]), entry) for entry in self._entries(at)):
            if given < 0 or len(stood) not in (1, 3):
                raise _behind_shard(shard, [given, *stood], None)
            self.shard_node(shard).check_state(stood[0])

    def blocks(self, state: State) -> Iterator[Delivery]:
        cursor = SharedCursor()
        shards = [_Shard.at(self.shard_node(entry[0]), entry, cursor) for entry in state]
        want = 1
        try:
            while group := self._next(shards):
                begun = time.perf_counter()
                given = group[0].given
                most = min((shard.given for shard in shards if shard.given > given and not shard.is_over), default=None)
                want = min(want, max(1, _MOST_ROWS // len(group)))
                rounds = min(shard.ready(want) for shard in group)
                if most is not None:
                    rounds = min(rounds, most - given)
                delivery = _round(shards, group, min(rounds, max(1, _MOST_ROWS // len(group))))
                want = want * 4 if time.perf_counter() - begun < _SLOW_SECONDS else max(1, want // 2)
                yield delivery
        finally:
            for shard in shards:
                shard.rows.close()
            cursor.close()

    def _next(self, shards: Sequence[_Shard]) -> list[_Shard]:
        """Return the logical shards that give the next rows, one row each."""
        while left := [shard for shard in shards if not shard.is_over]:
            if self.ends == "pad" and all(shard.rows.has_ended for shard in left):
                return []
            least = min(shard.given for shard in left)
            group = [shard for shard in left if shard.given == least]
            empty = [shard for shard in group if not shard.ready(1)]
            if not empty:
                return group
            if self.ends == "drop":
                return []
            for shard in empty:
                is_filled = self.ends == "pad" and shard.given > 0
                shard.rows.end(begins_again=is_filled)
                shard.is_over = not is_filled
        return []


def _behind_shard(shard: int, given: list[Any], limit: int | None) -> StreamStateError:
    has = "" if limit is None else f", but the lane has {limit} rows"
    return StreamStateError(f"The state has the invalid position {given} for lane {shard}{has}. {ADVICE}")


class _Clock:
    """Runs while its logical shard is read, and stops while others are read, so that the block size of each depends on it
    alone.
    """

    __slots__ = ("begun", "total")

    def __init__(self) -> None:
        self.begun, self.total = 0.0, 0.0

    def __call__(self) -> float:
        return self.total + time.perf_counter() - self.begun


class _Shard:
    """A logical shard that is read.

    Args:
        number: number of the logical shard.
        given: number of rows that it gave.
        rows: yields its next rows.
        clock: runs while they are read.
    """

    __slots__ = ("clock", "given", "is_over", "number", "rows")

    def __init__(self, number: int, given: int, rows: Lookahead, clock: _Clock) -> None:
        self.number, self.given, self.rows, self.clock, self.is_over = number, given, rows, clock, False

    @classmethod
    def at(cls, node: Node, entry: Sequence[Any], cursor: SharedCursor) -> _Shard:
        """Return a logical shard at the position that its state contains."""
        number, given, stood, *more = in_turn_entry(node, entry)
        rounds, ended = more or (0, 0)
        clock = _Clock()
        shared = node.sharing(cursor, without_counts(stood), clock)
        return cls(number, given, Lookahead(shared, [stood, rounds, ended], 0), clock)

    @property
    def entry(self) -> list[Any]:
        """Return the entry of the shard in a state."""
        stood, rounds, flags = self.rows.stands
        return _entry(self.number, self.given, stood, rounds, flags & 1)

    def ready(self, want: int) -> int:
        """Return the number of buffered rows, after reading until there are `want` or the rows end."""
        clock, begun = self.clock, time.perf_counter()
        clock.begun = begun
        while self.rows.num_waiting < want and self.rows.pull():
            pass
        clock.total += time.perf_counter() - begun
        return self.rows.num_waiting


def in_turn_entry(node: Node, entry: Sequence[Any]) -> Sequence[Any]:
    """Return the state entry of a logical shard that must be read, even if it was saved for computed positions: then no row had
    failed.
    """
    return [*entry, entry[1]] if len(entry) == 2 and node.may_fail and node.start == 0 else entry


def _entry(number: int, given: int, stood: State, rounds: int, ended: int) -> list[Any]:
    return [number, given, stood, rounds, ended] if rounds or ended else [number, given, stood]


def _round(shards: Sequence[_Shard], group: Sequence[_Shard], rounds: int) -> Delivery:
    """Return the next rows of some logical shards, the given number of each, in turn."""
    before = [shard.entry for shard in shards]
    parts = [shard.rows.given(rounds) for shard in group]
    deliveries = [delivery for part in parts for delivery in part]
    block = joined([delivery.block for delivery in deliveries])
    order = np.arange(block.num_rows, dtype=np.int64).reshape(len(group), rounds).T.ravel()
    if len(group) > 1 and rounds > 1:
        block = block.take(order)

    def origins() -> Origins | None:
        return taken(Origins.joined([delivery.origins() for delivery in deliveries]), order)

    places = {id(shard): place for place, shard in enumerate(shards)}
    behind = _Behind(before, [places[id(shard)] for shard in group], parts)
    for shard in group:
        shard.given += rounds
    return Delivery(block, None, before, behind, origins)


@dataclass(frozen=True, slots=True)
class _Behind:
    """The state after a row of several logical shards.

    Attributes:
        before: the state before the first row.
        group: the places in the state of the logical shards that give a row each.
        parts: the rows of each of these.
    """

    before: list[list[Any]]
    group: list[int]
    parts: list[list[Delivery]]

    def __call__(self, row: int) -> State:
        found = list(self.before)
        rounds, last = divmod(row, len(self.group))
        for turn, (place, deliveries) in enumerate(zip(self.group, self.parts, strict=True)):
            count = left = rounds + (turn <= last)
            if not count:
                continue
            for delivery in deliveries:
                if left <= delivery.block.num_rows:
                    break
                left -= delivery.block.num_rows
            number, given, _, *more = found[place]
            found[place] = [number, given + count, delivery.after(left - 1), *more]
        return found


@dataclass(frozen=True, slots=True)
class EveryNth(Unmeasured):
    """Every n-th row of a node: one of its logical shards, if it cannot be divided otherwise.

    A state is `[state of the node below, rows read]`.

    Attributes:
        index: number of the logical shard.
        count: number of logical shards.
        cursor: reads rows for all shards.
    """

    below: Node
    index: int
    count: int
    cursor: SharedCursor | None = field(default=None, compare=False)
    own_numbers: ClassVar[int] = 1
    locality: ClassVar[Locality] = Locality.ALL

    def blocks(self, state: State) -> Iterator[Delivery]:
        inner, seen = state
        pieces = self._pieces(seen, inner)
        if self.cursor is not None:
            pieces = self.cursor.pieces("dealt", self.index, seen, inner, self._pieces)
        with closing(pieces):
            for start, stop, delivery, _, _ in pieces:
                first = max(seen, start)
                first += (self.index - first) % self.count
                if first < stop:
                    found = replace(numbered_from(delivery, start), numbers=None)
                    before = found.after(seen - start - 1) if seen > start else found.before
                    yield replace(chosen(found, range(first - start, stop - start, self.count)), before=before)
                seen = stop

    def _pieces(self, seen: int, inner: State) -> Generator[Piece]:
        for delivery in self.below.blocks(inner):
            rows = delivery.block.num_rows
            yield Piece(seen, seen + rows, delivery, delivery.after(rows - 1), delivery.block.num_bytes)
            seen += rows

    def sharing(self, cursor: SharedCursor, state: State, clock: Callable[[], float] | None = None) -> EveryNth:
        inner, seen = state
        cursor.expect("dealt", self.index, seen, inner)
        return replace(self, cursor=cursor)


def shard_of(node: Node, index: int, count: int) -> Node:
    """Return a logical shard of a node; all rows are read for it if they cannot be divided before."""
    return node.shard(index, count) or EveryNth(node, index, count)

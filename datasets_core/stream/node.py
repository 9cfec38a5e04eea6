"""What a stream runs on: `Node`, rows in blocks from any state on, and `Ordered`, rows whose places are known by arithmetic."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from datasets_core.engines.in_order import Pace, ahead_of, in_order
from datasets_core.engines.worker_pool import WorkerPool
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.stream.block import ArrowBlock, Block, Kinds, joined
from datasets_core.stream.order import ENDLESS, Cut, Grouped, Layer, Repeated, even_run, run_of
from datasets_core.stream.permutation import Ints
from datasets_core.stream.rows_by_place import Origins, Placed, RowsByPlace

State: TypeAlias = Any
"""Where a node stands behind a row: what JSON has, and small."""
Numbers: TypeAlias = "Sequence[int] | Ints | None"
"""The number of each row among all rows that come to a step; None where they must be counted."""

_FIRST_ROWS, _MOST_ROWS, _BLOCK_BYTES = 4, 1024, 8 << 20
_MOST_COUNTED = 1 << 40
_MOST_LOCATED = 1 << 14  # rows are located so many at a time
_MOST_AHEAD, _SAMPLED = 1 << 20, 1 << 11  # ... and of so many behind them some, for what is fetched ahead
_EARLY_ROWS = 20
_MOST_WIDE = 1 << 13  # rows from anywhere are read so many at a time
_SLOW_SECONDS = 0.02  # a block that takes longer makes the next one smaller, so that rows do not wait for those behind them


def nowhere() -> None:
    """Where rows stand that come from no file."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Some rows, and where the node stands before them and behind each.

    Attributes:
        block: the rows.
        numbers: of the rows.
        before: the state before the first row.
        after: gives the state behind a row, by its number in the block.
        origins: says where the rows stand in their files; None where they come from none, or each from several rows.
    """

    block: Block
    numbers: Numbers
    before: State
    after: Callable[[int], State]
    origins: Callable[[], Origins | None] = nowhere


class Node(Protocol):
    """Rows one after the other, from any state on that it gave before: nothing is kept between two calls."""

    @property
    def start(self) -> State:
        """The state before the first row."""
        ...

    def blocks(self, state: State) -> Iterator[Delivery]:
        """The rows behind a state, in blocks of which none is empty."""
        ...


class Source(Protocol):
    """Where a stream begins whose rows are not read by place (see `RowsByPlace`)."""

    @property
    def features(self) -> Features | None:
        """Of the columns; None where only the rows tell."""
        ...

    @property
    def paths(self) -> MediaPaths:
        """Which paths among the values may be opened."""
        ...

    def told_features(self) -> Features | None:
        """The features, for which the first rows may be fetched; None where only the rows will tell all the same."""
        ...

    @property
    def changes_by_epoch(self) -> bool:
        """See `RowsByPlace.changes_by_epoch`."""
        ...

    @property
    def drawn_seed(self) -> int | None:
        """See `RowsByPlace.drawn_seed`."""
        ...

    def with_seed(self, seed: int) -> Self:
        """See `RowsByPlace.with_seed`."""
        ...

    def signed(self) -> list[Any]:
        """See `RowsByPlace.signed`."""
        ...

    def root(self, epoch: int) -> Node:
        """What gives the rows of an epoch."""
        ...


class RowChange(Protocol):
    """Makes one row of each row, whatever stands around it."""

    @property
    def needs_numbers(self) -> bool:
        """Whether it has to know the numbers of rows."""
        ...

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """The rows, changed."""
        ...


class Ordered:
    """Rows whose places are known: they are read where the layers of the order say, and changed one by one.

    The state is the number of rows that were delivered.  Rows are counted only as far as something needs it.

    Args:
        source: the rows at the bottom.
        layers: from the bottom up: where rows stand, and what is made of each.
        epoch: for the layers.
        shares: the part of the rows that is delivered, where others deliver the rest; a part of a part.
        turn: the epoch of the source; None: the same.
    """

    def __init__(
        self,
        source: RowsByPlace,
        layers: tuple[Layer | RowChange, ...] = (),
        epoch: int = 0,
        shares: tuple[Layer, ...] = (),
        turn: int | None = None,
    ) -> None:
        self._source, self._layers, self._epoch, self._shares = source, layers, epoch, shares
        self._turn = epoch if turn is None else turn
        self._kinds = Kinds(source.features, source.paths)
        orders = [layer for layer in (*layers, *shares) if not _is_change(layer)]
        self._top: Layer | RowsByPlace = orders[-1] if orders else source  # type: ignore[assignment]
        kind: Any = type(source)
        self._is_told = kind.expect is not Placed.expect
        self._features_of = getattr(source, "features_of", None)  # of rows whose types are wider than those of all
        self._mixes = any(layer.mixes for layer in orders)  # type: ignore[union-attr]

    @property
    def num_rows(self) -> int:
        """How many rows there are, which may take longer to say than `reach`."""
        return self._top.num_rows

    def reach(self, count: int) -> int:
        """`count`, or the number of rows if that is less: what lies behind is not asked for."""
        return self._top.reach(count)

    @property
    def is_shared(self) -> bool:
        """Whether others deliver rows of it, too."""
        return bool(self._shares)

    @property
    def is_endless(self) -> bool:
        """Whether the rows of the source have no end, so that those far behind cost more than those in front."""
        return self.reach(_MOST_COUNTED + 1) > _MOST_COUNTED and self._source.num_rows >= ENDLESS

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return 0

    @property
    def source(self) -> RowsByPlace:
        """The rows at the bottom."""
        return self._source

    def places(self, numbers: Ints) -> Ints:
        """Where the rows stand in the source that are delivered at these places."""
        return self._way(self._numbers(numbers)).places

    @property
    def orders(self) -> tuple[Layer, ...]:
        """The layers that say where rows stand, from the bottom up."""
        return tuple(layer for layer in (*self._layers, *self._shares) if not _is_change(layer))  # type: ignore[misc]

    def structure(self, blocks: RowBlocks | None = None) -> RowBlocks | None:
        """How the rows lie in blocks; None where they lie anywhere.

        Args:
            blocks: of the source, where somebody asked for them already.
        """
        blocks = self._source.blocks if blocks is None else blocks
        for layer in (*self._layers, *self._shares):
            if blocks is not None and not _is_change(layer):
                blocks = layer.structure(blocks, self._epoch)  # type: ignore[union-attr]
        return blocks

    def under(self, layer: Layer | RowChange) -> Ordered:
        """The rows with one layer more."""
        return Ordered(self._source, (*self._layers, *self._shares, layer), self._epoch, (), self._turn)

    def under_repeat(self, layer: Callable[[Ordered], Layer | None]) -> Ordered | None:
        """Where the rows are repeated, and nothing behind counts them: a layer more in each round, by itself; else None."""
        place = next((k for k in reversed(range(len(self._layers))) if not _is_change(self._layers[k])), None)
        if place is None or self._shares or any(each.needs_numbers for each in self._layers[place + 1 :]):  # type: ignore[union-attr]
            return None
        repeated = self._layers[place]
        if not isinstance(repeated, Repeated):
            return None
        layers = (*self._layers[:place], *self._layers[place + 1 :])
        once = Ordered(self._source, layers, self._epoch, (), self._turn)
        made = layer(once)
        if made is None:
            return None
        mixed = once.under(made)
        return mixed.under(replace(repeated, size=mixed))

    def shared(self, share: Layer) -> Ordered:
        """A part of the rows, or all of them in another order, which keep their numbers."""
        return Ordered(self._source, self._layers, self._epoch, (*self._shares, share), self._turn)

    def lane(self, lane: int, lanes: int) -> Ordered:
        """One of `lanes` equal runs of the rows, which keep their numbers; of lists a run of the rows that they are made of."""
        place = len(self._layers)
        while place and not self._shares and _is_made_in_lanes(self._layers[place - 1]):
            place -= 1
        grouped = next((k for k in range(place, len(self._layers)) if isinstance(self._layers[k], Grouped)), None)
        if grouped is None:
            return self.shared(Cut((even_run(self.num_rows, lanes, lane),)))
        below = Ordered(self._source, self._layers[:grouped], self._epoch, (), self._turn)
        node = below.under(Cut((even_run(below.num_rows, lanes, lane),)))
        for layer in self._layers[grouped:]:
            node = node.under(replace(layer, size=node) if isinstance(layer, Grouped) else layer)
        return node

    def in_turn(self, turn: int) -> Ordered:
        """The rows with the source in another epoch."""
        return Ordered(self._source, self._layers, self._epoch, self._shares, turn)

    @property
    def pool(self) -> WorkerPool | None:
        """Who makes rows of what is read; None: whoever reads."""
        pools = [pool for layer in self._layers if (pool := getattr(layer, "pool", None)) is not None]
        return max(pools, key=lambda pool: (pool.engine == "processes", pool.count), default=None)

    def blocks(self, state: State, size: int | None = None) -> Iterator[Delivery]:
        """See `Node.blocks`; blocks of `size` rows but for the last, where it is given."""
        pool = self.pool
        if pool is None:
            for delivery, _ in self._read(state, size, self._made):
                yield delivery
            return
        pace = Pace()

        def made(piece: tuple[Delivery, _Way]) -> Block:
            return pace.timed(len(piece[1].numbers), lambda each: self._made(each[0].block, each[1]), piece)

        pieces = self._pieces(self._read(state, size, lambda block, _: block), pace)
        for (delivery, _), block in in_order(pieces, made, pool, ahead_of(pool, 1)):
            yield replace(delivery, block=block)

    def _pieces(self, found: Iterator[tuple[Delivery, _Way]], pace: Pace) -> Iterator[tuple[Delivery, _Way]]:
        """What was read in pieces for workers, each with the rows of the source."""
        for delivery, way in found:
            start = place = 0
            while start < len(way.numbers):
                piece = way.part(start, min(len(way.numbers), start + pace.rows))
                block = delivery.block.slice(place, place + len(piece.places))
                first = delivery.before + start
                yield Delivery(block, piece.numbers, first, (first + 1).__add__, partial(self._origins, piece)), piece
                start, place = start + len(piece.numbers), place + len(piece.places)

    def _read(self, state: State, size: int | None, made: _Making) -> Iterator[tuple[Delivery, _Way]]:
        try:
            yield from self._walk(state, size, made)
        finally:
            if self._is_told:  # nothing is fetched for who reads no further
                self._source.expect(run_of(0, 0), self._turn)

    def _walk(self, state: State, size: int | None, made: _Making) -> Iterator[tuple[Delivery, _Way]]:
        start, step = int(state), size or _FIRST_ROWS
        is_whole = size is not None
        is_wide = self._mixes and not any(isinstance(layer, Grouped) for layer in self._layers)
        wide = _Wide(self._raw)
        located, begin = self._located(start, start, step, is_whole=is_whole), start
        while located.count:
            begun = time.perf_counter()
            stop = start + step
            if located.stop < stop and (size is not None or located.stop == start):
                located = self._located(begin, start, step, is_whole=is_whole)
            if located.stop == start:
                return
            way = located.part(start, min(stop, located.stop))
            if size is None and (rows := self._at_hand(way)) < len(way.numbers):
                way = way.part(0, rows)
            raw = wide.read(located, start, way, 4 * (start - begin)) if is_wide else self._raw(way)
            block = made(raw, way)
            yield Delivery(block, way.numbers, start, (start + 1).__add__, partial(self._origins, way)), way
            if size is None:
                step = self._next_step(step, block, time.perf_counter() - begun)
            start += len(way.numbers)

    def _located(self, begin: int, start: int, step: int, *, is_whole: bool) -> _Located:
        """Where rows from `start` on stand: more of them the more were delivered; the source learns what comes behind, too.

        Rows that cannot be had, since a file is broken, spoil none of those before them.

        Args:
            begin: where the delivery of rows began.
            start: the first row.
            step: rows that are delivered at once.
            is_whole: not fewer of them.
        """
        ahead = max(step, 4 * (start - begin))
        if start == begin and self._is_told and not is_whole:  # the first row waits for no other
            ahead, step = 0, 1
        stop = self._reached(start, max(step, min(_MOST_LOCATED, ahead)), step if is_whole else 1)
        located = _Located(start, self._way(self._numbers(run_of(start, max(start, stop)))))
        if located.count and self._is_told:
            is_early = start - begin < _EARLY_ROWS  # somebody may look at the first rows only
            self._expect(located, stop if is_early else self._reached(stop, min(_MOST_AHEAD, ahead), 0))
        return located

    def _reached(self, start: int, count: int, least: int) -> int:
        """`reach` of `count` rows behind `start`, or of fewer, but not fewer than `least`, where those behind cannot be had."""
        while True:
            try:
                return self.reach(start + count)
            except DatasetsCoreError:
                if count <= least:
                    raise
                if count == 1:
                    return start
                count = max(least, count // 2)

    def _expect(self, located: _Located, stop: int) -> None:
        """Tell the source what is read next, and some rows of those behind it, up to `stop`."""
        places, turns = located.way.places, located.way.turns
        step = -(-(stop - located.stop) // _SAMPLED)
        if step > 0:
            later = self._way(self._numbers(np.arange(located.stop, stop, step, dtype=np.int64)))
            if not isinstance(turns, int) or not isinstance(later.turns, int):
                turns = np.concatenate([np.broadcast_to(way.turns, len(way.places)) for way in (located.way, later)])
            places = np.concatenate([places, later.places])
        self._source.expect(places, turns)

    def _numbers(self, numbers: Ints) -> Ints:
        """The numbers among all rows, of rows of the share."""
        for share in reversed(self._shares):
            numbers = share.below(numbers, self._epoch)
        return numbers

    def _at_hand(self, way: _Way) -> int:
        """How many rows follow, one at least, before one for which the source would open a further file: it waits for that row.

        Rows that a shuffle brings from anywhere are read together.
        """
        rows = len(way.numbers)
        if rows < 2 or self._mixes:
            return rows
        turns, first = way.turns, int(way.places[0])
        near = self._source.near(first, turns if isinstance(turns, int) else int(turns[0]))
        behind = (way.places < first) | (way.places >= near)
        if not isinstance(turns, int):
            behind |= turns != turns[0]
        if not behind.any():
            return rows
        found = int(behind.argmax())
        for layer, numbers in reversed(way.above):
            if isinstance(layer, Grouped):
                found = int(np.searchsorted(np.cumsum(layer.lengths(numbers)), found, side="right"))
        return max(1, found)

    def _next_step(self, step: int, block: Block, seconds: float) -> int:
        step = step * 4 if seconds < _SLOW_SECONDS else step // 2
        if isinstance(block, ArrowBlock):
            step = min(step, _BLOCK_BYTES * block.num_rows // max(1, block.batch.nbytes))
        return max(1, min(step, _MOST_ROWS))

    def _way(self, numbers: Ints) -> _Way:
        """Where rows with these numbers stand in the source."""
        above: list[tuple[Layer | RowChange, Ints]] = []
        turns: Ints | int = self._turn
        places = numbers
        for layer in reversed(self._layers):
            above.append((layer, places))
            if isinstance(layer, Repeated):
                turns = layer.turns(places, turns)
            elif isinstance(layer, Grouped) and not isinstance(turns, int):
                turns = np.repeat(turns, layer.lengths(places))
            if getattr(layer, "reshuffles", False):
                places = layer.below_in_turns(places, turns)  # type: ignore[union-attr]
            elif not _is_change(layer):
                places = layer.below(places, self._epoch)  # type: ignore[union-attr]
        return _Way(numbers, places, turns, above)

    def _origins(self, way: _Way) -> Origins | None:
        if any(isinstance(layer, Grouped) for layer in self._layers):
            return None  # each row is made of several
        return self._origins_below(way)

    def _origins_below(self, way: _Way) -> Origins:
        """Where the rows of the source stand; those of no file are numbered by their places."""
        found = self._source.origins(way.places, way.turns)
        return Origins(("",), np.zeros_like(way.places), way.places) if found is None else found

    def _raw(self, way: _Way) -> Block:
        batch = self._source.read(way.places, way.turns)
        found = None if self._features_of is None else self._features_of(batch.schema)
        kinds = self._kinds if found is None else self._kinds.kept.setdefault(("of", id(found)), self._kinds.of(found))
        return ArrowBlock(batch, kinds)

    def _made(self, block: Block, way: _Way) -> Block:
        """The rows that are made of those of the source."""
        for layer, numbers in reversed(way.above):
            if hasattr(layer, "with_origins"):
                block = layer.with_origins(block, self._origins_below(way))
            elif _is_change(layer):
                block = layer.changed(block, numbers)  # type: ignore[union-attr]
            elif isinstance(layer, Grouped):
                block = block.grouped(layer.lengths(numbers))
        return block


class _Way(NamedTuple):
    """Where rows stand in a source.

    Attributes:
        numbers: of the rows among all.
        places: of what they are made of.
        turns: the epoch of the source that each is read in.
        above: the layers from the top down, each with the numbers of its rows.
    """

    numbers: Ints
    places: Ints
    turns: Ints | int
    above: list[tuple[Layer | RowChange, Ints]]

    def part(self, start: int, stop: int) -> _Way:
        """The way of the rows from `start` to `stop`, counted in these."""
        if not start and stop == len(self.numbers):
            return self
        above: list[tuple[Layer | RowChange, Ints]] = []
        numbers = self.numbers[start:stop]
        for layer, below in self.above:
            above.append((layer, below[start:stop]))
            if isinstance(layer, Grouped):
                ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(layer.lengths(below))])
                start, stop = int(ends[start]), int(ends[stop])
        turns = self.turns if isinstance(self.turns, int) else self.turns[start:stop]
        return _Way(numbers, self.places[start:stop], turns, above)


@dataclass(frozen=True, slots=True)
class _Located:
    """Where some rows stand that are delivered next.

    Attributes:
        start: the first of them, counted in those that are delivered.
        way: of the rows.
    """

    start: int
    way: _Way

    @property
    def count(self) -> int:
        """How many they are."""
        return len(self.way.numbers)

    @property
    def stop(self) -> int:
        """Behind the last."""
        return self.start + self.count

    def part(self, start: int, stop: int) -> _Way:
        """The way of some of them."""
        return self.way.part(start - self.start, stop - self.start)


_Making: TypeAlias = Callable[[Block, _Way], Block]


class _Wide:
    """Reads more rows at once than are delivered, where they come from anywhere: each place is then looked at less often.

    Args:
        read: reads rows.
    """

    def __init__(self, read: Callable[[_Way], Block]) -> None:
        self._read = read
        self._located: _Located | None = None
        self._start = self._stop = 0
        self._held: Block | None = None

    def read(self, located: _Located, start: int, way: _Way, most: int) -> Block:
        """The rows of `way`, which begin at row `start`; those behind that are located, up to `most`, are read with them."""
        stop = start + len(way.numbers)
        if self._held is None or self._located is not located or not self._start <= start or not stop <= self._stop:
            self._located, self._start = located, start
            self._held = self._more(located, start, way, most)
            self._stop = start + self._held.num_rows
        return self._held.slice(start - self._start, stop - self._start)

    def _more(self, located: _Located, start: int, way: _Way, most: int) -> Block:
        rows = len(way.numbers)
        if isinstance(self._held, ArrowBlock):
            most = min(most, _BLOCK_BYTES * self._held.num_rows // max(1, self._held.batch.nbytes))
        wanted = min(most, _MOST_WIDE) // rows * rows
        if wanted > rows:
            try:
                return self._read(located.part(start, min(located.stop, start + wanted)))
            except DatasetsCoreError:  # of a row behind those that are wanted, perhaps
                pass
        return self._read(way)


def _is_change(layer: Layer | RowChange) -> bool:
    return hasattr(layer, "changed")


def _is_made_in_lanes(layer: Layer | RowChange) -> bool:
    """Whether lanes are cut below it: it makes rows of one or of neighbours."""
    return _is_change(layer) or isinstance(layer, Grouped)


def batches(node: Node, state: State, size: int | None) -> Iterator[Delivery]:
    """The rows behind a state in blocks of `size` rows (None: all), but for the last."""
    if isinstance(node, Ordered) and size is not None and node.pool is None:
        yield from node.blocks(state, size)
        return
    waiting: list[Delivery] = []
    count = 0
    for delivery in node.blocks(state):
        waiting.append(delivery)
        count += delivery.block.num_rows
        while size is not None and count >= size:
            whole, rest = _divided(waiting, size)
            yield together(whole)
            waiting, count = rest, count - size
    if waiting:
        yield together(waiting)


def part(delivery: Delivery, start: int, stop: int) -> Delivery:
    """The rows of a delivery from `start` to `stop`."""
    if not start and stop == delivery.block.num_rows:
        return delivery
    after, origins = delivery.after, delivery.origins
    return Delivery(
        delivery.block.slice(start, stop),
        None if delivery.numbers is None else delivery.numbers[start:stop],
        after(start - 1) if start else delivery.before,
        lambda row: after(row + start),
        origins if origins is nowhere else lambda: taken(origins(), range(start, stop)),
    )


def chosen(delivery: Delivery, rows: Sequence[int]) -> Delivery:
    """Some rows of a delivery, in order."""
    after, origins = delivery.after, delivery.origins
    return replace(
        delivery,
        block=delivery.block.take(rows),
        numbers=None,
        after=lambda row: after(rows[row]),
        origins=origins if origins is nowhere else lambda: taken(origins(), rows),
    )


def taken(origins: Origins | None, rows: Sequence[int] | Ints) -> Origins | None:
    """Where some of the rows stand."""
    return None if origins is None else origins.take(rows)


def _divided(waiting: list[Delivery], size: int) -> tuple[list[Delivery], list[Delivery]]:
    """The first `size` rows, and the others; only the last delivery reaches across."""
    *whole, last = waiting
    needed = size - sum(delivery.block.num_rows for delivery in whole)
    rows = last.block.num_rows
    return [*whole, part(last, 0, needed)], [part(last, needed, rows)] if needed < rows else []


def together(deliveries: Sequence[Delivery]) -> Delivery:
    """The rows of several deliveries, of which there is one at least, as those of one."""
    if len(deliveries) == 1:
        return deliveries[0]
    ends = np.cumsum([delivery.block.num_rows for delivery in deliveries])

    def after(row: int) -> State:
        which = int(np.searchsorted(ends, row, side="right"))
        delivery = deliveries[which]
        return delivery.after(row - int(ends[which]) + delivery.block.num_rows)

    numbers = [delivery.numbers for delivery in deliveries]
    known = None if any(each is None for each in numbers) else np.concatenate([np.asarray(each) for each in numbers])

    def origins() -> Origins | None:
        return Origins.joined([delivery.origins() for delivery in deliveries])

    return Delivery(joined([delivery.block for delivery in deliveries]), known, deliveries[0].before, after, origins)

"""What a stream runs on: `Node`, rows in blocks from any state on, and `Ordered`, rows whose places are known by arithmetic."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self, TypeAlias

import numpy as np

from datasets_core.engines.in_order import Pace, ahead_of, in_order
from datasets_core.engines.worker_pool import WorkerPool
from datasets_core.errors import DatasetGenerationCastError, DatasetsCoreError, FileFormatError
from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.redact import redact
from datasets_core.stream.block import ArrowBlock, Block, Failures, Kinds, joined
from datasets_core.stream.expectations import Expectations
from datasets_core.stream.order import ENDLESS, Cut, Grouped, Layer, Repeated, even_run, run_of
from datasets_core.stream.permutation import Ints
from datasets_core.stream.rows_by_place import FORESEEING, Origins, Placed, RowsByPlace
from datasets_core.stream.ways import BLOCK_BYTES, Located, Way, Wide

State: TypeAlias = Any
"""Where a node stands behind a row: what JSON has, and small."""
Numbers: TypeAlias = "Sequence[int] | Ints | None"
"""The number of each row among all rows that come to a step; None where they must be counted."""

_FIRST_ROWS, _MOST_ROWS = 4, 1024
_MOST_COUNTED = 1 << 40
_MOST_LOCATED = 1 << 14  # rows are located so many at a time
_MOST_AHEAD, _SAMPLED = 1 << 20, 1 << 11  # ... and of so many behind them some, for what is fetched ahead
_EARLY_ROWS = 20
_SLOW_SECONDS = 0.02  # a block that takes longer makes the next one smaller, so that rows do not wait for those behind them
Making: TypeAlias = Callable[[Block, Way], Block]
"""Makes rows of those of a source."""


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
        expected: what all who read these rows expect.
        label: tells the source from the others of a stream; the origin of rows that come from no file.
    """

    _clock: Callable[[], float] = staticmethod(time.perf_counter)

    def __init__(
        self,
        source: RowsByPlace,
        layers: tuple[Layer | RowChange, ...] = (),
        epoch: int = 0,
        shares: tuple[Layer, ...] = (),
        turn: int | None = None,
        expected: Expectations | None = None,
        label: str = "",
    ) -> None:
        self._label = label
        self._source, self._layers, self._epoch, self._shares = source, layers, epoch, shares
        self._turn = epoch if turn is None else turn
        self._kinds = Kinds(source.features, source.paths)
        orders = [layer for layer in (*layers, *shares) if not _is_change(layer)]
        self._top: Layer | RowsByPlace = orders[-1] if orders else source  # type: ignore[assignment]
        kind: Any = type(source)
        if expected is None and kind.expect is not Placed.expect:
            expected = Expectations(source.expect)
        self._expected = expected
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
        return self._with((*self._layers, *self._shares, layer))

    def under_repeat(self, layer: Callable[[Ordered], Layer | None]) -> Ordered | None:
        """Where the rows are repeated, and nothing behind counts them: a layer more in each round, by itself; else None."""
        place = next((k for k in reversed(range(len(self._layers))) if not _is_change(self._layers[k])), None)
        if place is None or self._shares or any(each.needs_numbers for each in self._layers[place + 1 :]):  # type: ignore[union-attr]
            return None
        repeated = self._layers[place]
        if not isinstance(repeated, Repeated):
            return None
        layers = (*self._layers[:place], *self._layers[place + 1 :])
        once = self._with(layers)
        made = layer(once)
        if made is None:
            return None
        mixed = once.under(made)
        return mixed.under(replace(repeated, size=mixed))

    def shared(self, share: Layer) -> Ordered:
        """A part of the rows, or all of them in another order, which keep their numbers."""
        return self._with(self._layers, (*self._shares, share))

    def _with(self, layers: tuple[Layer | RowChange, ...], shares: tuple[Layer, ...] = ()) -> Ordered:
        return Ordered(self._source, layers, self._epoch, shares, self._turn, self._expected, self._label)

    def lane(self, lane: int, lanes: int) -> Ordered:
        """One of `lanes` equal runs of the rows, which keep their numbers; of lists a run of the rows that they are made of."""
        place = len(self._layers)
        while place and not self._shares and _is_made_in_lanes(self._layers[place - 1]):
            place -= 1
        grouped = next((k for k in range(place, len(self._layers)) if isinstance(self._layers[k], Grouped)), None)
        if grouped is None:
            return self.shared(Cut((even_run(self.num_rows, lanes, lane),)))
        below = self._with(self._layers[:grouped])
        node = below.under(Cut((even_run(below.num_rows, lanes, lane),)))
        for layer in self._layers[grouped:]:
            node = node.under(replace(layer, size=node) if isinstance(layer, Grouped) else layer)
        return node

    def timed_by(self, clock: Callable[[], float]) -> Ordered:
        """The rows, in blocks that are as large as this clock allows: it may stand while others are read in turn."""
        found = copy.copy(self)
        found._clock = clock
        return found

    def in_turn(self, turn: int) -> Ordered:
        """The rows with the source in another epoch."""
        return Ordered(self._source, self._layers, self._epoch, self._shares, turn, self._expected, self._label)

    def labelled(self, label: str) -> Ordered:
        """The rows of a source that is one of several: see `Plan.labelled`."""
        found = copy.copy(self)
        found._label = label
        return found

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

        def made(piece: tuple[Delivery, Way]) -> Block:
            return pace.timed(len(piece[1].numbers), lambda each: self._made(each[0].block, each[1]), piece)

        pieces = self._pieces(self._read(state, size, lambda block, _: block), pace)
        for (delivery, _), block in in_order(pieces, made, pool, ahead_of(pool, 1)):
            yield replace(delivery, block=block)

    def _pieces(self, found: Iterator[tuple[Delivery, Way]], pace: Pace) -> Iterator[tuple[Delivery, Way]]:
        """What was read in pieces for workers, each with the rows of the source."""
        for delivery, way in found:
            start = place = 0
            while start < len(way.numbers):
                piece = way.part(start, min(len(way.numbers), start + pace.rows))
                block = delivery.block.slice(place, place + len(piece.places))
                first = delivery.before + start
                yield Delivery(block, piece.numbers, first, (first + 1).__add__, partial(self._origins, piece)), piece
                start, place = start + len(piece.numbers), place + len(piece.places)

    def _read(self, state: State, size: int | None, made: Making) -> Iterator[tuple[Delivery, Way]]:
        reader = object()
        try:
            yield from self._walk(state, size, made, reader)
        finally:
            if self._expected is not None:  # nothing is fetched for who reads no further
                self._expected.leave(reader)

    def _walk(self, state: State, size: int | None, made: Making, reader: object) -> Iterator[tuple[Delivery, Way]]:
        start, step = int(state), size or _FIRST_ROWS
        is_whole = size is not None
        is_wide = self._mixes and not any(isinstance(layer, Grouped) for layer in self._layers)
        wide, passed = Wide(self._raw), 0
        located, begin = self._located(start, start, step, reader, is_whole=is_whole), start
        while located.count:
            begun = self._clock()
            stop = start + step
            if located.stop < stop and (size is not None or located.stop == start):
                located, passed = self._located(begin, start, step, reader, is_whole=is_whole), 0
            if located.stop == start:
                return
            way = located.part(start, min(stop, located.stop))
            if size is None and (rows := self._at_hand(way)) < len(way.numbers):
                way = way.part(0, rows)
            try:
                raw = wide.read(located, start, way, 4 * (start - begin)) if is_wide else self._raw(way)
            except (FileFormatError, DatasetGenerationCastError):  # in one of these rows, which spoils none of those before it
                if size is not None or len(way.numbers) == 1:
                    raise
                step = len(way.numbers) // 2
                continue
            block = made(raw, way)
            yield Delivery(block, way.numbers, start, (start + 1).__add__, partial(self._origins, way)), way
            if size is None:
                step = self._next_step(step, block, self._clock() - begun)
            start += len(way.numbers)
            passed += len(way.places)
            if self._expected is not None:
                self._expected.passed(reader, passed)

    def _located(self, begin: int, start: int, step: int, reader: object, *, is_whole: bool) -> Located:
        """Where rows from `start` on stand: more of them the more were delivered; the source learns what comes behind, too.

        Rows that cannot be had, since a file is broken, spoil none of those before them.

        Args:
            begin: where the delivery of rows began.
            start: the first row.
            step: rows that are delivered at once.
            reader: who reads.
            is_whole: not fewer of them.
        """
        ahead = max(step, 4 * (start - begin))
        if start == begin and self._expected is not None and not is_whole:  # the first row waits for no other
            ahead, step = 0, 1
        stop = self._reached(start, max(step, min(_MOST_LOCATED, ahead)), step if is_whole else 1)
        located = Located(start, self._way(self._numbers(run_of(start, max(start, stop)))))
        if located.count and self._expected is not None:
            is_early = start - begin < _EARLY_ROWS  # somebody may look at the first rows only
            last = stop if is_early else self._foreseen(stop, min(_MOST_AHEAD, 16 * ahead))
            self._expected.say(reader, *self._soon(located, last))
        return located

    def _foreseen(self, start: int, count: int) -> int:
        """`reach` of `count` rows behind `start`, as far as that is known without waiting."""
        token = FORESEEING.set(True)
        try:
            return max(start, self._reached(start, count, 0))
        finally:
            FORESEEING.reset(token)

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

    def _soon(self, located: Located, stop: int) -> tuple[Ints, Ints | int]:
        """What is read next, and some rows of those behind it, up to `stop`: places, and their turns."""
        places, turns = located.way.places, located.way.turns
        step = -(-(stop - located.stop) // _SAMPLED)
        if step > 0:
            later = self._way(self._numbers(np.arange(located.stop, stop, step, dtype=np.int64)))
            if not isinstance(turns, int) or not isinstance(later.turns, int):
                turns = np.concatenate([np.broadcast_to(way.turns, len(way.places)) for way in (located.way, later)])
            places = np.concatenate([places, later.places])
        return places, turns

    def _numbers(self, numbers: Ints) -> Ints:
        """The numbers among all rows, of rows of the share."""
        for share in reversed(self._shares):
            numbers = share.below(numbers, self._epoch)
        return numbers

    def _at_hand(self, way: Way) -> int:
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
            step = min(step, BLOCK_BYTES * block.num_rows // max(1, block.batch.nbytes))
        return max(1, min(step, _MOST_ROWS))

    def _way(self, numbers: Ints) -> Way:
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
        return Way(numbers, places, turns, above)

    def _origins(self, way: Way) -> Origins | None:
        if any(isinstance(layer, Grouped) for layer in self._layers):
            return None  # each row is made of several
        return self._origins_below(way)

    def _origins_below(self, way: Way) -> Origins:
        """Where the rows of the source stand; those of no file are numbered by their places."""
        found = self._source.origins(way.places, way.turns)
        return Origins((self._label,), np.zeros_like(way.places), way.places) if found is None else found

    def _raw(self, way: Way) -> Block:
        batch = self._source.read(way.places, way.turns)
        found = None if self._features_of is None else self._features_of(batch.schema)
        kinds = self._kinds if found is None else self._kinds.kept.setdefault(("of", id(found)), self._kinds.of(found))
        return ArrowBlock(batch, kinds)

    def _made(self, block: Block, way: Way) -> Block:
        """The rows that are made of those of the source."""
        for layer, numbers in reversed(way.above):
            if hasattr(layer, "with_origins"):
                block = layer.with_origins(block, self._origins_below(way))
            elif _is_change(layer):
                block = self._changed(block, layer, numbers, way)
            elif isinstance(layer, Grouped):
                block = block.grouped(layer.lengths(numbers))
        return block

    def _changed(self, block: Block, layer: Any, numbers: Ints, way: Way) -> Block:
        failures = Failures()
        told = (failures,) if hasattr(layer, "function") else ()
        try:
            changed: Block = layer.changed(block, numbers, *told)
        except Exception as error:
            if block.num_rows == len(way.places):
                note_origin(error, self._origins_below(way), next(iter(failures.rows), None))
            raise
        return changed


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


def note_origin(error: Exception, origins: Origins | None, row: int | None) -> None:
    """Add to an error where the row stands that it came of, or the rows of a batch."""
    if origins is None or not len(origins.rows) or not any(origins.names):
        return
    first, last = (0, len(origins.rows) - 1) if row is None else (row, row)
    texts = [f"row {origins.rows[each]} of {redact(origins.names[int(origins.files[each])])}" for each in (first, last)]
    error.add_note(f"That is {texts[0]}." if first == last else f"These are {texts[0]} to {texts[1]}.")

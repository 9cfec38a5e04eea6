"""What a stream runs on: `Node`, rows in blocks from any state on, and `Ordered`, rows whose places are known by arithmetic."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.stream.block import ArrowBlock, Block, Kinds, joined
from datasets_core.stream.order import ENDLESS, Cut, Grouped, Layer, Repeated, Shuffled
from datasets_core.stream.permutation import Ints
from datasets_core.stream.rows_by_place import RowsByPlace
from datasets_core.stream.rows_of_table import run_of

State: TypeAlias = Any
"""Where a node stands behind a row: what JSON has, and small."""
Numbers: TypeAlias = "Sequence[int] | Ints | None"
"""The number of each row among all rows that come to a step; None where they must be counted."""

_FIRST_ROWS, _MOST_ROWS, _BLOCK_BYTES = 4, 1024, 8 << 20
_MOST_COUNTED = 1 << 40
_SLOW_SECONDS = 0.02  # a block that takes longer makes the next one smaller, so that rows do not wait for those behind them


@dataclass(frozen=True, slots=True)
class Delivery:
    """Some rows, and where the node stands before them and behind each.

    Attributes:
        block: the rows.
        numbers: of the rows.
        before: the state before the first row.
        after: gives the state behind a row, by its number in the block.
    """

    block: Block
    numbers: Numbers
    before: State
    after: Callable[[int], State]


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

    The state is the number of rows that were delivered.

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
        shares: tuple[Cut, ...] = (),
        turn: int | None = None,
    ) -> None:
        self._source, self._layers, self._epoch, self._shares = source, layers, epoch, shares
        self._turn = epoch if turn is None else turn
        self._kinds = Kinds(source.features, source.paths)
        last = next((layer for layer in reversed(layers) if not _is_change(layer)), None)
        self._all_rows: int = source.num_rows if last is None else last.num_rows  # type: ignore[union-attr]
        self.num_rows = shares[-1].num_rows if shares else self._all_rows

    @property
    def is_shared(self) -> bool:
        """Whether others deliver rows of it, too."""
        return bool(self._shares)

    @property
    def is_endless(self) -> bool:
        """Whether the rows of the source have no end, so that those far behind cost more than those in front."""
        return self._source.num_rows >= ENDLESS and self.num_rows > _MOST_COUNTED

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return 0

    def under(self, layer: Layer | RowChange) -> Ordered:
        """The rows with one layer more."""
        assert not self._shares
        return Ordered(self._source, (*self._layers, layer), self._epoch, (), self._turn)

    def shared(self, share: Cut) -> Ordered:
        """A part of the rows, which keep their numbers."""
        return Ordered(self._source, self._layers, self._epoch, (*self._shares, share), self._turn)

    def in_turn(self, turn: int) -> Ordered:
        """The rows with the source in another epoch."""
        return Ordered(self._source, self._layers, self._epoch, self._shares, turn)

    def blocks(self, state: State, size: int | None = None) -> Iterator[Delivery]:
        """See `Node.blocks`; blocks of `size` rows but for the last, where it is given."""
        start, step, end = int(state), size or _FIRST_ROWS, self.num_rows
        while start < end:
            begun = time.perf_counter()
            numbers = self._numbers(start, min(end, start + step))
            way = self._way(numbers)
            if size is None and (rows := self._at_hand(way)) < len(numbers):
                numbers = numbers[:rows]
                way = self._way(numbers)
            block = self._block(way)
            yield Delivery(block, numbers, start, (start + 1).__add__)
            if size is None:
                step = self._next_step(step, block, time.perf_counter() - begun)
            start += len(numbers)

    def _numbers(self, start: int, stop: int) -> Ints:
        """The numbers among all rows, of rows of the share."""
        numbers = run_of(start, stop)
        for share in reversed(self._shares):
            numbers = share.below(numbers, self._epoch)
        return numbers

    def _at_hand(self, way: _Way) -> int:
        """How many rows follow, one at least, before one for which the source would open a further file: it waits for that row.

        Rows that a shuffle brings from anywhere are read together.
        """
        rows = len(way.above[0][1]) if way.above else len(way.places)
        if rows < 2 or any(isinstance(layer, Shuffled) for layer in self._layers):
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

    def _way(self, places: Ints) -> _Way:
        """Where rows with these numbers stand in the source."""
        above: list[tuple[Layer | RowChange, Ints]] = []
        turns: Ints | int = self._turn
        for layer in reversed(self._layers):
            above.append((layer, places))
            if isinstance(layer, Repeated):
                turns = layer.turns(places, turns)
            elif isinstance(layer, Grouped) and not isinstance(turns, int):
                turns = np.repeat(turns, layer.lengths(places))
            if isinstance(layer, Shuffled) and layer.reshuffles:
                places = layer.below_in_turns(places, turns)
            elif not _is_change(layer):
                places = layer.below(places, self._epoch)  # type: ignore[union-attr]
        return _Way(places, turns, above)

    def _block(self, way: _Way) -> Block:
        block: Block = ArrowBlock(self._source.read(way.places, way.turns), self._kinds)
        for layer, numbers in reversed(way.above):
            if _is_change(layer):
                block = layer.changed(block, numbers)  # type: ignore[union-attr]
            elif isinstance(layer, Grouped):
                block = block.grouped(layer.lengths(numbers))
        return block


class _Way(NamedTuple):
    """Where rows stand in a source.

    Attributes:
        places: of them.
        turns: the epoch of the source that each is read in.
        above: the layers from the top down, each with the numbers of its rows.
    """

    places: Ints
    turns: Ints | int
    above: list[tuple[Layer | RowChange, Ints]]


def _is_change(layer: Layer | RowChange) -> bool:
    return hasattr(layer, "changed")


def batches(node: Node, state: State, size: int | None) -> Iterator[Delivery]:
    """The rows behind a state in blocks of `size` rows (None: all), but for the last."""
    if isinstance(node, Ordered) and size is not None:
        yield from node.blocks(state, size)
        return
    waiting: list[Delivery] = []
    count = 0
    for delivery in node.blocks(state):
        waiting.append(delivery)
        count += delivery.block.num_rows
        while size is not None and count >= size:
            whole, rest = _divided(waiting, size)
            yield _together(whole)
            waiting, count = rest, count - size
    if waiting:
        yield _together(waiting)


def part(delivery: Delivery, start: int, stop: int) -> Delivery:
    """The rows of a delivery from `start` to `stop`."""
    if not start and stop == delivery.block.num_rows:
        return delivery
    after = delivery.after
    return Delivery(
        delivery.block.slice(start, stop),
        None if delivery.numbers is None else delivery.numbers[start:stop],
        after(start - 1) if start else delivery.before,
        lambda row: after(row + start),
    )


def chosen(delivery: Delivery, rows: Sequence[int]) -> Delivery:
    """Some rows of a delivery, in order."""
    after = delivery.after
    return replace(delivery, block=delivery.block.take(rows), numbers=None, after=lambda row: after(rows[row]))


def _divided(waiting: list[Delivery], size: int) -> tuple[list[Delivery], list[Delivery]]:
    """The first `size` rows, and the others; only the last delivery reaches across."""
    *whole, last = waiting
    needed = size - sum(delivery.block.num_rows for delivery in whole)
    rows = last.block.num_rows
    return [*whole, part(last, 0, needed)], [part(last, needed, rows)] if needed < rows else []


def _together(deliveries: Sequence[Delivery]) -> Delivery:
    if len(deliveries) == 1:
        return deliveries[0]
    ends = np.cumsum([delivery.block.num_rows for delivery in deliveries])

    def after(row: int) -> State:
        which = int(np.searchsorted(ends, row, side="right"))
        delivery = deliveries[which]
        return delivery.after(row - int(ends[which]) + delivery.block.num_rows)

    numbers = [delivery.numbers for delivery in deliveries]
    known = None if any(each is None for each in numbers) else np.concatenate([np.asarray(each) for each in numbers])
    return Delivery(joined([delivery.block for delivery in deliveries]), known, deliveries[0].before, after)

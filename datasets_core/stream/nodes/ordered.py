"""`Ordered`: rows with computed positions, read in the order that the layers define; shared cursors of readers."""

from __future__ import annotations

import copy
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from datasets_core.engines.pool import Pace, WorkerPool, ahead_of, in_order
from datasets_core.errors import DatasetGenerationCastError, DatasetsCoreError, FileFormatError
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.stream.nodes.block import ArrowBlock, Block, Kinds
from datasets_core.stream.nodes.node import (
    Delivery,
    Node,
    State,
    check_reach,
    is_count,
    no_place,
    seed_of,
)
from datasets_core.stream.nodes.positions import (
    BLOCK_BYTES,
    FORESEEING,
    Expectations,
    NextPositions,
    Origins,
    Positions,
    RowsByPlace,
    WidePositions,
)
from datasets_core.stream.order.layers import ENDLESS, Cut, Ints, Layer, OrderLayer, Shuffled, even_run, run_of
from datasets_core.stream.order.shuffle import BlocksInTurn, ShuffledBlocks

T = TypeVar("T")

_FIRST_ROWS, _MOST_ROWS = 4, 1024
_MOST_COUNTED = 1 << 40
_MOST_LOCATED = 1 << 14  # rows are located so many at a time
_MOST_AHEAD, _SAMPLED = 1 << 20, 1 << 11  # ... and of so many behind them some, for what is fetched ahead
_EARLY_ROWS = 20
_SLOW_SECONDS = 0.02  # a block that takes longer makes the next one smaller, so that rows do not wait for those behind them
_WINDOW = 1000  # rows of one of several streams that are mixed at least
_WINDOW_BYTES = 64 << 20  # ... and bytes of all of them at most, where rows lie in blocks
Making: TypeAlias = Callable[[Block, Positions], Block]
"""Converts rows of a source."""


class Ordered(Node):
    """Rows with known positions: read at the positions that the layers of the order determine, and changed one by one.

    The state is the number of rows delivered.  Rows are counted only as far as needed.

    Args:
        source: the rows below all layers.
        layers: orders of rows and changes of rows, from the lowest layer up.
        epoch: the epoch of the layers.
        shares: the part of the rows that is delivered, if other readers deliver the rest; several if a part was divided again.
        turn: the epoch of the source; None: the same epoch.
        expected: expectations of all readers of these rows.
        label: name of the source in a combined stream; the origin of rows without a file.

    Attributes:
        orders: the layers that define the order, from the bottom up.
    """

    _clock: Callable[[], float] = staticmethod(time.perf_counter)

    def __init__(
        self,
        source: RowsByPlace,
        layers: tuple[Layer, ...] = (),
        epoch: int = 0,
        shares: tuple[OrderLayer, ...] = (),
        turn: int | None = None,
        expected: Expectations | None = None,
        label: str = "",
    ) -> None:
        self._label = label
        self.source, self._layers, self._epoch, self._shares = source, layers, epoch, shares
        self._turn = epoch if turn is None else turn
        features: Any = source.features  # known once a row is read
        self._kinds = Kinds(features, source.paths)
        self.orders = tuple(order for layer in (*layers, *shares) if (order := layer.order) is not None)
        self._top: OrderLayer | RowsByPlace = self.orders[-1] if self.orders else source
        if expected is None and source.is_fetched:
            expected = Expectations(source.expect)
        self._expected = expected
        self._mixes = any(layer.mixes for layer in self.orders)
        self._makes_lists = any(layer.makes_lists for layer in layers)

    @property
    def num_rows(self) -> int:
        """Return the number of rows; may take longer than `reach`."""
        return self._top.num_rows

    @property
    def length(self) -> int | None:
        return None if self.is_shared else self.num_rows

    def reach(self, count: int) -> int:
        """Return the smaller of `count` and the number of rows, without counting beyond `count`."""
        return self._top.reach(count)

    def state_after(self, count: int) -> State:
        return self.reach(count)

    def check_state(self, at: Any) -> None:
        if not is_count(at):
            raise no_place(at, self.start)
        check_reach(at, self.reach(at), "row")

    @property
    def most_rows(self) -> int | None:
        return self.num_rows

    @property
    def num_parts(self) -> int:
        blocks = self.structure()
        return 1 if blocks is None else max(1, blocks.num_files)

    @property
    def placed(self) -> Ordered:
        return self

    def first_place(self, state: State) -> tuple[Ordered, int]:
        return self, int(state)

    @property
    def is_shared(self) -> bool:
        """True if other readers deliver other rows of the source."""
        return bool(self._shares)

    @property
    def is_endless(self) -> bool:
        """True if the rows of the source have no end, so that distant rows cost more than near ones."""
        return self.reach(_MOST_COUNTED + 1) > _MOST_COUNTED and self.source.num_rows >= ENDLESS

    @property
    def start(self) -> State:
        return 0

    def places(self, numbers: Ints) -> Ints:
        """Return the positions in the source of the rows delivered at these places."""
        return self._positions(self._numbers(numbers)).places

    def structure(self, blocks: RowBlocks | None = None) -> RowBlocks | None:
        """Return the rows as blocks; None if they are not in blocks.

        Args:
            blocks: blocks of the source, if known.
        """
        blocks = self.source.blocks if blocks is None else blocks
        for layer in self.orders:
            if blocks is not None:
                blocks = layer.structure(blocks, self._epoch)
        return blocks

    def under(self, layer: Layer) -> Ordered:
        """Return the rows with one more layer."""
        return self._with((*self._layers, *self._shares, layer))

    def under_repeat(self, layer: Callable[[Ordered], OrderLayer | None]) -> Ordered | None:
        """Return the rows with a layer added in each round, if they are repeated and no later layer counts them; else None."""
        place = next((k for k in reversed(range(len(self._layers))) if self._layers[k].order is not None), None)
        if place is None or self._shares or any(each.needs_numbers for each in self._layers[place + 1 :]):
            return None
        repeated = self._layers[place]
        if not repeated.repeats:
            return None
        layers = (*self._layers[:place], *self._layers[place + 1 :])
        once = self._with(layers)
        made = layer(once)
        if made is None:
            return None
        mixed = once.under(made)
        return mixed.under(repeated.over(mixed))

    def shared(self, share: OrderLayer) -> Ordered:
        """Return a part of the rows, or all rows in another order; rows keep their numbers."""
        return self._with(self._layers, (*self._shares, share))

    def _with(self, layers: tuple[Layer, ...], shares: tuple[OrderLayer, ...] = ()) -> Ordered:
        return Ordered(self.source, layers, self._epoch, shares, self._turn, self._expected, self._label)

    def shard(self, index: int, count: int) -> Ordered:
        """Return one of `count` equal runs of the rows, which keep their numbers; for lists, a run of the rows in the lists."""
        place = len(self._layers)
        while place and not self._shares and (self._layers[place - 1].order is None or self._layers[place - 1].makes_lists):
            place -= 1  # logical shards are cut below what makes rows of one or of neighbours
        grouped = next((k for k in range(place, len(self._layers)) if self._layers[k].makes_lists), None)
        if grouped is None:
            return self.shared(Cut((even_run(self.num_rows, count, index),)))
        below = self._with(self._layers[:grouped])
        node = below.under(Cut((even_run(below.num_rows, count, index),)))
        for layer in self._layers[grouped:]:
            node = node.under(layer.over(node))
        return node

    def shard_jobs(self, index: int, count: int, *, is_contiguous: bool) -> Node | None:
        """See `Node.shard_jobs`: there are no jobs."""
        return None

    def shuffle_parts(self, seed: int, epoch: int) -> Ordered | None:
        """See `Node.shuffle_parts`: blocks are shuffled, and their rows keep their numbers."""
        blocks = self.structure()
        return None if blocks is None else self.shared(BlocksInTurn(blocks, seed))

    def shuffle_among(self, others: int, seed: int, number: int, epoch: int) -> Ordered:
        """See `Node.shuffle_among`: repeated rows are mixed within each round."""
        own = seed_of(seed, number)
        in_rounds = self.under_repeat(lambda once: once._mixed(own, others, reshuffles=True))
        if in_rounds is not None:
            return in_rounds
        return self if self.is_endless else self.shared(self._mixed(own, others, reshuffles=False))

    def _mixed(self, seed: int, others: int, *, reshuffles: bool) -> OrderLayer:
        blocks = self.structure()
        if blocks is None:
            return Shuffled(self.num_rows, _WINDOW, seed, reshuffles)
        if not blocks.is_indexed:
            return BlocksInTurn(blocks, seed)
        return ShuffledBlocks(blocks, seed, _WINDOW, _WINDOW_BYTES // others, 1, reshuffles)

    def timed_by(self, clock: Callable[[], float]) -> Ordered:
        found = copy.copy(self)
        found._clock = clock
        return found

    def sharing(self, cursor: SharedCursor, state: State, clock: Callable[[], float] | None = None) -> Ordered:
        """See `Node.sharing`: rows that are read by position share no reads."""
        return self if clock is None else self.timed_by(clock)

    def in_turn(self, turn: int) -> Ordered:
        """See `Node.in_turn`: the source is read in another epoch."""
        return Ordered(self.source, self._layers, self._epoch, self._shares, turn, self._expected, self._label)

    def labelled(self, label: str) -> Ordered:
        """Return the rows of a source that is one of several: see `Plan.labelled`."""
        found = copy.copy(self)
        found._label = label
        return found

    @property
    def pool(self) -> WorkerPool | None:
        """Pool that changes the rows; None: the reading thread."""
        pools = [pool for layer in self._layers if (pool := layer.pool) is not None]
        return max(pools, key=lambda pool: (pool.engine == "processes", pool.count), default=None)

    def blocks(self, state: State, size: int | None = None) -> Iterator[Delivery]:
        """See `Node.blocks`; blocks of `size` rows except the last, if it is given."""
        pool = self.pool
        return self._walk(state, size, self._made, self._delivery) if pool is None else self._worked(state, size, pool)

    def batches(self, state: State, size: int | None) -> Iterator[Delivery]:
        return super().batches(state, size) if size is None or self.pool is not None else self.blocks(state, size)

    def _worked(self, state: State, size: int | None, pool: WorkerPool) -> Iterator[Delivery]:
        """Yield the rows that workers make from the rows that are read."""
        pace = Pace()

        def made(piece: tuple[Delivery, Positions]) -> Block:
            return pace.timed(len(piece[1].numbers), lambda each: self._made(each[0].block, each[1]), piece)

        raw = self._walk(state, size, lambda block, _: block, lambda *found: found)
        pieces = self._pieces(raw, pace)
        for (delivery, _), block in in_order(pieces, made, pool, ahead_of(pool, 1)):
            yield replace(delivery, block=block)

    def _pieces(self, found: Iterator[tuple[Block, Positions, int]], pace: Pace) -> Iterator[tuple[Delivery, Positions]]:
        """Yield the rows in pieces for workers, each with its positions."""
        for raw, positions, first in found:
            start = place = 0
            while start < len(positions.numbers):
                piece = positions.part(start, min(len(positions.numbers), start + pace.rows))
                block = raw.slice(place, place + len(piece.places))
                yield self._delivery(block, piece, first + start), piece
                start, place = start + len(piece.numbers), place + len(piece.places)

    def _delivery(self, block: Block, positions: Positions, start: int) -> Delivery:
        return Delivery(block, positions.numbers, start, (start + 1).__add__, partial(self._origins, positions))

    def _walk(self, state: State, size: int | None, made: Making, given: Callable[[Block, Positions, int], T]) -> Iterator[T]:
        """Yield the rows after a state.

        Args:
            state: the number of rows that were delivered.
            size: rows of a block; None: as many as can be made quickly.
            made: converts rows of the source.
            given: returns what is delivered of these, given the number of the first row.
        """
        reader = object()
        start, step = int(state), size or _FIRST_ROWS
        is_whole = size is not None
        is_wide = self._mixes and not self._makes_lists
        wide, passed = WidePositions(self._raw), 0
        try:
            located, begin = self._located(start, start, step, reader, is_whole=is_whole), start
            while located.count:
                begun = self._clock()
                stop = start + step
                if located.stop < stop and (size is not None or located.stop == start):
                    located, passed = self._located(begin, start, step, reader, is_whole=is_whole), 0
                if located.stop == start:
                    return
                positions = located.part(start, min(stop, located.stop))
                if size is None and (rows := self._at_hand(positions)) < len(positions.numbers):
                    positions = positions.part(0, rows)
                try:
                    raw = wide.read(located, start, positions, 4 * (start - begin)) if is_wide else self._raw(positions)
                except (FileFormatError, DatasetGenerationCastError):  # in one of these rows: those before it are right
                    if size is not None or len(positions.numbers) == 1:
                        raise
                    step = len(positions.numbers) // 2
                    continue
                block = made(raw, positions)
                yield given(block, positions, start)
                if size is None:
                    step = self._next_step(step, block, self._clock() - begun)
                start += len(positions.numbers)
                passed += len(positions.places)
                if self._expected is not None:
                    self._expected.passed(reader, passed)
        finally:
            if self._expected is not None:  # nothing is fetched for a reader that reads no further
                self._expected.leave(reader)

    def _located(self, begin: int, start: int, step: int, reader: object, *, is_whole: bool) -> NextPositions:
        """Return the positions of rows from `start` on, more of them as more rows are delivered; informs the source of later
        rows.

        Rows that cannot be read, since a file is damaged, do not affect earlier rows.

        Args:
            begin: first row of the delivery.
            start: the first row.
            step: rows delivered at once.
            reader: identity of the reader.
            is_whole: True for at least `step` rows.
        """
        ahead = max(step, 4 * (start - begin))
        if start == begin and self._expected is not None and not is_whole:  # the first row waits for no other
            ahead, step = 0, 1
        stop = self._reached(start, max(step, min(_MOST_LOCATED, ahead)), step if is_whole else 1)
        located = NextPositions(start, self._positions(self._numbers(run_of(start, max(start, stop)))))
        if located.count and self._expected is not None:
            is_early = start - begin < _EARLY_ROWS  # the reader may need the first rows only
            last = stop if is_early else self._foreseen(stop, min(_MOST_AHEAD, 16 * ahead))
            self._expected.say(reader, *self._soon(located, last))
        return located

    def _foreseen(self, start: int, count: int) -> int:
        """Return `reach` for `count` rows after `start`, as far as this is known without waiting."""
        token = FORESEEING.set(True)
        try:
            return max(start, self._reached(start, count, 0))
        finally:
            FORESEEING.reset(token)

    def _reached(self, start: int, count: int, least: int) -> int:
        """Return `reach` for `count` rows after `start`, or for fewer (at least `least`) if later rows are not available."""
        while True:
            try:
                return self.reach(start + count)
            except DatasetsCoreError:
                if count <= least:
                    raise
                if count == 1:
                    return start
                count = max(least, count // 2)

    def _soon(self, located: NextPositions, stop: int) -> tuple[Ints, Ints | int]:
        """Return the positions and epochs of the next rows, and of some rows after them, up to `stop`."""
        places, turns = located.positions.places, located.positions.turns
        step = -(-(stop - located.stop) // _SAMPLED)
        if step > 0:
            later = self._positions(self._numbers(np.arange(located.stop, stop, step, dtype=np.int64)))
            if not isinstance(turns, int) or not isinstance(later.turns, int):
                turns = np.concatenate(
                    [np.broadcast_to(positions.turns, len(positions.places)) for positions in (located.positions, later)]
                )
            places = np.concatenate([places, later.places])
        return places, turns

    def _numbers(self, numbers: Ints) -> Ints:
        """Return the numbers of rows of the share among all rows."""
        for share in reversed(self._shares):
            numbers = share.below(numbers, self._epoch)
        return numbers

    def _at_hand(self, positions: Positions) -> int:
        """Return the number of rows, at least one, before the next row for which the source has to open another file.

        Rows in the random order of a shuffle are read together.
        """
        rows = len(positions.numbers)
        if rows < 2 or self._mixes:
            return rows
        turns, first = positions.turns, int(positions.places[0])
        near = self.source.near(first, turns if isinstance(turns, int) else int(turns[0]))
        behind = (positions.places < first) | (positions.places >= near)
        if not isinstance(turns, int):
            behind |= turns != turns[0]
        if not behind.any():
            return rows
        found = int(behind.argmax())
        for layer, numbers in reversed(positions.above):
            found = layer.row_above(numbers, found)
        return max(1, found)

    def _next_step(self, step: int, block: Block, seconds: float) -> int:
        step = step * 4 if seconds < _SLOW_SECONDS else step // 2
        if isinstance(block, ArrowBlock):
            step = min(step, BLOCK_BYTES * block.num_rows // max(1, block.batch.nbytes))
        return max(1, min(step, _MOST_ROWS))

    def _positions(self, numbers: Ints) -> Positions:
        """Return the positions of rows with these numbers in the source."""
        above: list[tuple[Layer, Ints]] = []
        turns: Ints | int = self._turn
        places = numbers
        for layer in reversed(self._layers):
            above.append((layer, places))
            turns = layer.turns_below(places, turns)
            places = layer.places_below(places, turns, self._epoch)
        return Positions(numbers, places, turns, above)

    def _origins(self, positions: Positions) -> Origins | None:
        return None if self._makes_lists else self._origins_below(positions)  # of lists each is made from several rows

    def _origins_below(self, positions: Positions) -> Origins:
        """Return the origins of the rows of the source; without files they are numbered by position."""
        found = self.source.origins(positions.places, positions.turns)
        return Origins((self._label,), np.zeros_like(positions.places), positions.places) if found is None else found

    def _raw(self, positions: Positions) -> Block:
        batch = self.source.read(positions.places, positions.turns)
        found = self.source.features_of(batch.schema)
        kinds = self._kinds if found is None else self._kinds.kept.setdefault(("of", id(found)), self._kinds.of(found))
        return ArrowBlock(batch, kinds)

    def _made(self, block: Block, positions: Positions) -> Block:
        """Return the rows made from rows of the source."""
        origins = partial(self._origins_below, positions)
        for layer, numbers in reversed(positions.above):
            block = layer.made(block, numbers, origins)
        return block


# `SharedCursor`: rows that several readers need are read once while the readers are close to each other.


_SHARED_ROWS, _MOST_BYTES = 1 << 17, 64 << 20


class Piece(NamedTuple):
    """Some rows.

    Attributes:
        start: the number of the first one.
        stop: the number after the last one.
        held: the rows.
        behind: the argument with which reading continues after them.
        num_bytes: size of the rows in memory.
    """

    start: int
    stop: int
    held: Any
    behind: Any
    num_bytes: int = 0


Opened: TypeAlias = Callable[[int, Any], Generator[Piece]]
"""Reads rows, given the argument to begin at a row."""


class SharedCursor:
    """Reads rows for several readers that advance together, in one walk and one process.

    Pieces are kept until the last reader has passed them, as far as memory allows; a reader that falls further behind reads
    separately.
    """

    def __init__(self) -> None:
        self._readings: dict[Hashable, _Reading] = {}
        self._parts: dict[int, SharedCursor] = {}

    def expect(self, key: Hashable, reader: int, row: int, begin: Any) -> None:
        """Announce that a reader will read these rows, starting at this row."""
        self._reading(key).expect(reader, row, begin)

    def pieces(self, key: Hashable, reader: int, row: int, begin: Any, opened: Opened) -> Generator[Piece]:
        """Yield the rows starting at `row`; the first piece may contain rows before it.

        Args:
            key: identity of the rows.
            reader: identity of the reader.
            row: the first row needed.
            begin: argument of `opened` to start at this row.
            opened: opens the rows.
        """
        reading = self._reading(key)
        reading.expect(reader, row, begin)
        try:
            while (piece := reading.at(row, opened)) is not None:
                yield piece
                row, begin = piece.stop, piece.behind
                reading.passed(reader, row)
            if reading.has_ended(row):
                return
        finally:
            reading.leave(reader)
        yield from opened(row, begin)

    def part(self, number: int) -> SharedCursor:
        """Return the cursor of one of several sources read as one: the same for all readers."""
        return self._parts.setdefault(number, SharedCursor())

    def close(self) -> None:
        """Cancel work in progress."""
        for part in self._parts.values():
            part.close()
        for reading in self._readings.values():
            reading.close()
        self._readings.clear()

    def _reading(self, key: Hashable) -> _Reading:
        return self._readings.setdefault(key, _Reading())


class _Reading:
    """The rows of one key."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}
        self._first: tuple[int, Any] | None = None
        self._pieces: deque[Piece] = deque()
        self.source: Generator[Piece] | None = None
        self._stop, self._ended = 0, False
        self._failure: Exception | None = None
        self._lock = threading.Lock()

    def expect(self, reader: int, row: int, begin: Any) -> None:
        with self._lock:
            self._rows[reader] = row
            if self._first is None or row < self._first[0]:
                self._first = row, begin

    def passed(self, reader: int, row: int) -> None:
        with self._lock:
            self._rows[reader] = row

    def leave(self, reader: int) -> None:
        with self._lock:
            self._rows.pop(reader, None)

    def has_ended(self, row: int) -> bool:
        return self._ended and row >= self._stop

    def at(self, row: int, opened: Opened) -> Piece | None:
        """Return the piece with this row; None if it was dropped, or if the row is after the last one."""
        with self._lock:
            if self.source is None:
                assert self._first is not None
                self._stop = self._first[0]
                self.source = opened(*self._first)
            if self._failure is not None and row >= self._stop:
                raise self._failure
            while row >= self._stop and not self._ended:
                try:
                    piece = next(self.source, None)
                except Exception as error:
                    self._failure = error
                    raise
                if piece is None:
                    self._ended = True
                else:
                    self._stop = piece.stop
                    self._pieces.append(piece)
                    self._drop(piece)
            return next((piece for piece in self._pieces if piece.start <= row < piece.stop), None)

    def _drop(self, newest: Piece) -> None:
        """Drop the pieces that all readers have passed, and those beyond the memory limit."""
        least = min(self._rows.values(), default=self._stop)
        pieces = self._pieces
        while pieces[0] is not newest and (
            pieces[0].stop <= least
            or self._stop - pieces[0].start > _SHARED_ROWS
            or sum(piece.num_bytes for piece in pieces) > _MOST_BYTES
        ):
            pieces.popleft()

    def close(self) -> None:
        if self.source is not None:
            self.source.close()

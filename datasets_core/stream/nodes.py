"""The steps of a stream that must see rows to know how many come of them: filtered, mapped in batches, and all that follows.

Each state holds the state of the node below and a small number: what was kept behind is computed again, never saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from datasets_core.stream.block import Block, joined
from datasets_core.stream.functions import Function, RowsMade
from datasets_core.stream.made_rows import MadeRows
from datasets_core.stream.node import Delivery, Node, Ordered, RowChange, State, batches, chosen, part
from datasets_core.stream.permutation import Permutation
from datasets_core.stream.shuffled_blocks import BlocksInTurn


@dataclass(frozen=True, slots=True)
class Counted:
    """The rows of a node, numbered as they come.

    Attributes:
        first: the number of the first one.
        every: how much further the number of the next one is.
    """

    below: Node
    first: int = 0
    every: int = 1

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [self.below.start, 0]

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        inner, seen = state
        for delivery in self.below.blocks(inner):
            counted, start = _counted(delivery, seen), self.first + seen * self.every
            seen += delivery.block.num_rows
            yield replace(counted, numbers=range(start, self.first + seen * self.every, self.every))


def _counted(delivery: Delivery, seen: int) -> Delivery:
    rows, after = range(seen, seen + delivery.block.num_rows), delivery.after
    return Delivery(delivery.block, rows, [delivery.before, seen], lambda row: [after(row), seen + row + 1])


def numbered(node: Node, is_needed: bool) -> Node:
    """The node, with numbers of its rows if they are needed."""
    return Counted(node) if is_needed and not isinstance(node, Ordered) else node


@dataclass(frozen=True, slots=True)
class Changed:
    """Each row changed on its own; `below` numbers the rows, if the change needs that."""

    below: Node
    change: RowChange

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return self.below.start

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        for delivery in self.below.blocks(state):
            yield replace(delivery, block=self.change.changed(delivery.block, delivery.numbers), numbers=None)


@dataclass(frozen=True, slots=True)
class Filtered:
    """The rows for which a function says something true of each."""

    below: Node
    function: Function

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return self.below.start

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        for delivery in self.below.blocks(state):
            rows = self.function.kept_rows(delivery.block, delivery.numbers, is_batched=False)
            if rows:
                yield chosen(delivery, rows)


class _Batchwise:
    """What makes rows of batches of rows; the state is that before a batch, and how many rows of its result were delivered."""

    below: Node
    size: int | None

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [self.below.start, 0, 0]

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        inner, done, count = state
        for delivery in batches(self.below, inner, self.size):
            block = self._made(delivery, count)
            if done < block.num_rows:
                yield _rest(delivery, block, done, count)
            done, count = 0, count + 1

    def _made(self, delivery: Delivery, count: int) -> Block:
        """The rows that batch number `count` becomes."""
        raise NotImplementedError


def _rest(delivery: Delivery, made: Block, done: int, count: int) -> Delivery:
    """The rows that were made of a delivery, but for the first `done`."""
    rows = made.num_rows
    end = [delivery.after(delivery.block.num_rows - 1), 0, count + 1]

    def after(row: int) -> State:
        return end if done + row + 1 == rows else [delivery.before, done + row + 1, count]

    return Delivery(made.slice(done, rows) if done else made, None, [delivery.before, done, count], after)


@dataclass(frozen=True, slots=True)
class FilteredByBatch(_Batchwise):
    """The rows for which a function says something true, asked about `size` rows at once."""

    below: Node
    size: int | None
    function: Function

    def _made(self, delivery: Delivery, count: int) -> Block:
        return delivery.block.take(self.function.kept_rows(delivery.block, delivery.numbers, is_batched=True))


@dataclass(frozen=True, slots=True)
class MappedByBatch(_Batchwise):
    """What a function makes of `size` rows at once."""

    below: Node
    size: int | None
    made: RowsMade
    is_whole: bool

    def _made(self, delivery: Delivery, count: int) -> Block:
        if self.is_whole and self.size is not None and delivery.block.num_rows < self.size:
            return delivery.block.slice(0, 0)
        return self.made.on_batch(delivery.block, delivery.numbers)


@dataclass(frozen=True, slots=True)
class Windows(_Batchwise):
    """Rows shuffled within windows of `size` rows; with `reshuffles`, anew in each round of a repetition."""

    below: Node
    size: int | None
    seed: int
    epoch: int
    reshuffles: bool = False

    def _made(self, delivery: Delivery, count: int) -> Block:
        rows = delivery.block.num_rows
        order = Permutation(rows, "window", self.seed, self.epoch, count)
        return delivery.block.take(order.at(np.arange(rows, dtype=np.int64)))


@dataclass(frozen=True, slots=True)
class Chosen:
    """The rows that stand at some places among all: the first, all but the first, or every so many."""

    below: Node
    places: range

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [self.below.start, 0]

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        inner, seen = state
        places = self.places
        if seen >= places.stop:
            return
        for delivery in self.below.blocks(inner):
            counted, rows = _counted(delivery, seen), delivery.block.num_rows
            first = max(places.start, seen + (places.start - seen) % places.step)
            wanted = range(first - seen, min(rows, places.stop - seen), places.step)
            if wanted:
                yield part(counted, wanted[0], wanted[-1] + 1) if places.step == 1 else chosen(counted, wanted)
            seen += rows
            if seen >= places.stop:
                return


@dataclass(frozen=True, slots=True)
class Rounds:
    """The rows again and again.

    Attributes:
        turn: the number of times that rows were repeated so before.
    """

    below: Node
    times: int | None
    turn: int = 0

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [self.below.start, 0]

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        inner, done = state
        while self.times is None or done < self.times:
            is_empty = inner == self.below.start
            for delivery in in_turn(self.below, self.turn * (self.times or 1) + done).blocks(inner):
                is_empty = False
                yield _in_round(delivery, done)
            if is_empty:
                return
            inner, done = self.below.start, done + 1


def in_turn(node: Node, turn: int) -> Node:
    """A node whose rows, where their order changes by epoch, stand in that of this turn."""
    if isinstance(node, Ordered):
        return node.in_turn(turn)
    if isinstance(node, MadeRows):
        return node
    if isinstance(node, Rounds):
        return replace(node, turn=turn)
    if isinstance(node, Windows) and node.reshuffles:
        return replace(node, below=in_turn(node.below, turn), epoch=turn)
    return replace(node, below=in_turn(node.below, turn))  # type: ignore[type-var, attr-defined]


def bottom(node: Node) -> Ordered | MadeRows:
    """The rows that a node is made of, as far as their places are known, or what makes them."""
    while not isinstance(node, (Ordered, MadeRows)):
        node = node.below  # type: ignore[attr-defined]
    return node


def on_jobs(node: Node, act: Callable[[MadeRows], MadeRows], *, is_share: bool = False) -> Node | None:
    """The node with other jobs at its bottom; None where there are none, or where steps behind them count rows.

    Args:
        node: what is read.
        act: gives the other jobs.
        is_share: they are a part of the jobs, and what steps do in windows, lists and rounds is done in each part by itself.
    """
    return _on_bottom(node, lambda found: act(found) if isinstance(found, MadeRows) else None, is_share=is_share)


def in_turns(node: Node, seed: int, epoch: int) -> Node | None:
    """The node with the blocks at its bottom, or the jobs, in an order that a seed decides; None where there are none.

    Rows whose places are known keep their numbers.
    """

    def act(found: Any) -> Node | None:
        if not isinstance(found, Ordered):
            mixed: Node = found.shuffled(seed, epoch)
            return mixed
        blocks = found.structure()
        return None if blocks is None else found.shared(BlocksInTurn(blocks, seed))

    return _on_bottom(node, act, is_share=False)


def _on_bottom(node: Node, act: Callable[[Any], Node | None], *, is_share: bool) -> Node | None:
    if isinstance(node, Ordered) or hasattr(node, "shuffled"):  # MadeRows, and several nodes as one
        return act(node)
    passes: tuple[type[Any], ...] = (Changed, Filtered, FilteredByBatch, MappedByBatch)
    if is_share:
        passes = (*passes, Windows, Rounds, *([] if isinstance(node, Lists) and node.by else [Lists]))
    if not isinstance(node, passes):
        return None
    step: Any = node
    below = _on_bottom(step.below, act, is_share=is_share)
    return None if below is None else replace(step, below=below)


def _in_round(delivery: Delivery, done: int) -> Delivery:
    after = delivery.after
    return replace(delivery, numbers=None, before=[delivery.before, done], after=lambda row: [after(row), done])


@dataclass(frozen=True, slots=True)
class Lists:
    """Rows put together: each row holds the lists of `size` rows, or of rows that follow one another and share values.

    Attributes:
        size: rows of a list; None: all.
        by: the columns whose values are shared; then there is no size.
        is_whole: leave out a last list that is shorter, or that ends with the rows.
    """

    below: Node
    size: int | None
    by: tuple[str, ...]
    is_whole: bool

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return self.below.start

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        if self.by:
            yield from self._runs(state)
            return
        for delivery in batches(self.below, state, self.size):
            if not self.is_whole or delivery.block.num_rows == self.size:
                yield _as_list([delivery])

    def _runs(self, state: State) -> Iterator[Delivery]:
        waiting: list[Delivery] = []
        last: Any = None
        for delivery in self.below.blocks(state):
            columns = delivery.block.columns()
            keys = list(zip(*(columns[name] for name in self.by), strict=True))
            start = 0
            for row, key in enumerate(keys):
                if key != last and (waiting or row > start):
                    yield _as_list([*waiting, *([part(delivery, start, row)] if row > start else [])])
                    waiting, start = [], row
                last = key
            waiting.append(part(delivery, start, len(keys)))
        if waiting and not self.is_whole:
            yield _as_list(waiting)


def _as_list(deliveries: Sequence[Delivery]) -> Delivery:
    block = joined([delivery.block for delivery in deliveries])
    last = deliveries[-1]
    end = last.after(last.block.num_rows - 1)
    made: Callable[[int], State] = lambda _: end  # noqa: E731
    return Delivery(block.grouped(np.array([block.num_rows], np.int64)), None, deliveries[0].before, made)

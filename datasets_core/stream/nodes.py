"""The steps of a stream that must see rows to know how many come of them: filtered, mapped in batches, and all that follows.

Each state holds the state of the node below and a small number: what was kept behind is computed again, never saved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from datasets_core.engines.in_order import in_order
from datasets_core.engines.worker_pool import WorkerPool
from datasets_core.errors import WorkerDiedError
from datasets_core.stream.block import Failures, joined
from datasets_core.stream.error_policy import Guard, Outcome, counted, isolated, tolerantly, uncounted
from datasets_core.stream.functions import Function, RowsMade
from datasets_core.stream.made_rows import MadeRows
from datasets_core.stream.node import Delivery, Node, Ordered, RowChange, State, batches, chosen, note_origin, part, taken
from datasets_core.stream.permutation import Permutation
from datasets_core.stream.pooled import worked
from datasets_core.stream.rows_by_place import Origins
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
    return replace(delivery, numbers=rows, before=[delivery.before, seen], after=lambda row: [after(row), seen + row + 1])


def numbered(node: Node, is_needed: bool) -> Node:
    """The node, with numbers of its rows if they are needed."""
    return Counted(node) if is_needed and not isinstance(node, Ordered) else node


class _RowByRow:
    """What makes of each row one or none; the state is that of the node below, and how many rows failed where any did."""

    __slots__ = ()
    works_in_lanes = True
    below: Node
    guard: Guard | None
    ahead: int

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return self.below.start

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        inner, count = (state, 0) if self.guard is None else uncounted(state)
        outcomes = worked(self.below.blocks(inner), self._outcome, self._pool, self.ahead, self._label)
        if self.guard is not None:
            yield from self.guard.deliveries(outcomes, count)
            return
        for delivery, outcome in outcomes:
            if outcome.rows is None:
                yield replace(delivery, block=outcome.block, numbers=None)
            elif outcome.rows:
                yield chosen(delivery, outcome.rows)

    def _outcome(self, delivery: Delivery) -> Outcome:
        failures = Failures(self.guard is not None)
        try:
            return self._made(delivery, failures)
        except Exception as error:
            note_origin(error, delivery.origins(), next(iter(failures.rows), None))
            raise

    @property
    def _pool(self) -> WorkerPool | None:
        """Who works; None: whoever reads."""
        raise NotImplementedError

    @property
    def _label(self) -> str:
        """What is done, for the log."""
        raise NotImplementedError

    def _made(self, delivery: Delivery, failures: Failures) -> Outcome:
        """What becomes of some rows."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Changed(_RowByRow):
    """Each row changed on its own; `below` numbers the rows, if the change needs that.

    Attributes:
        guard: what is done about rows that fail; None: the first one ends all.
        ahead: how many pieces workers have in work.
    """

    below: Node
    change: RowChange
    guard: Guard | None = None
    ahead: int = 0

    @property
    def _pool(self) -> WorkerPool | None:
        return getattr(self.change, "pool", None)

    @property
    def _label(self) -> str:
        return self.change.function.name if isinstance(self.change, RowsMade) else type(self.change).__name__.lower()

    def _made(self, delivery: Delivery, failures: Failures) -> Outcome:
        if isinstance(self.change, RowsMade):
            block = self.change.changed(delivery.block, delivery.numbers, failures)
        elif failures.are_tolerated:
            block = tolerantly(self.change, delivery.block, delivery.numbers, failures)
        else:
            block = self.change.changed(delivery.block, delivery.numbers)
        return Outcome(block, None, failures.rows)


class _Asked:
    """What steps have in common that ask a function which rows stay."""

    __slots__ = ()
    function: Function

    @property
    def _pool(self) -> WorkerPool | None:
        return self.function.pool

    @property
    def _label(self) -> str:
        return self.function.name


@dataclass(frozen=True, slots=True)
class Filtered(_Asked, _RowByRow):
    """The rows for which a function says something true of each.

    Attributes:
        guard, ahead: see `Changed`.
    """

    below: Node
    function: Function
    guard: Guard | None = None
    ahead: int = 0

    def _made(self, delivery: Delivery, failures: Failures) -> Outcome:
        rows = self.function.kept_rows(delivery.block, delivery.numbers, failures, is_batched=False)
        return Outcome(delivery.block if self.guard is None else delivery.block.take(rows), rows, failures.rows)


class Batchwise:
    """What makes rows of batches of rows; the state is that before a batch, and how many rows of its result were delivered."""

    __slots__ = ()
    below: Node
    size: int | None
    guard: Guard | None = None
    ahead: int = 0

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [self.below.start, 0, 0]

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        (inner, done, first), failed = (state, 0) if self.guard is None else uncounted(state)
        tally = None if self.guard is None else self.guard.ledger.begun(failed)
        for (delivery, count), outcome in self._outcomes(enumerate(self._batches(inner, first), first)):
            before = 0 if tally is None else tally.count
            error = None
            if outcome.failed and tally is not None and self.guard is not None:
                _, error = self.guard.checked(delivery, outcome.failed, tally)
            if error is not None:
                raise error
            if done < outcome.block.num_rows:
                yield _rest(delivery, outcome, done, count, before, 0 if tally is None else tally.count)
            done = 0
        if tally is not None:
            tally.ledger.end(tally)

    def _batches(self, inner: State, count: int) -> Iterator[Delivery]:
        """The batches behind a state of the node below, of which the first is number `count`."""
        return batches(self.below, inner, self.size)

    def _outcomes(self, found: Iterator[tuple[int, Delivery]]) -> Iterator[tuple[tuple[Delivery, int], Outcome]]:
        jobs = ((delivery, count) for count, delivery in found)
        if self._pool is None:
            for job in jobs:
                yield job, self._outcome(job)
        else:
            yield from in_order(jobs, self._outcome, self._pool, self.ahead, self._label)

    def _outcome(self, job: tuple[Delivery, int]) -> Outcome:
        delivery, count = job
        try:
            return self._made(delivery, count)
        except Exception as error:
            if self.guard is None or isinstance(error, WorkerDiedError):
                note_origin(error, delivery.origins(), None)
                raise
            return isolated(delivery, error, self._called, self.guard.null if self.guard.makes_nulls else None)

    @property
    def _pool(self) -> WorkerPool | None:
        """Who works; None: whoever reads."""
        return None

    @property
    def _label(self) -> str:
        """What is done, for the log."""
        return type(self).__name__.lower()

    def _made(self, delivery: Delivery, count: int) -> Outcome:
        """What batch number `count` becomes."""
        return self._called(delivery)

    def _called(self, delivery: Delivery) -> Outcome:
        """What a function makes of some rows of a batch."""
        raise NotImplementedError


def _rest(delivery: Delivery, outcome: Outcome, done: int, count: int, failed: int, failed_behind: int) -> Delivery:
    """The rows that were made of a delivery, but for the first `done`.

    Args:
        delivery: a batch.
        outcome: what was made of it.
        done: rows of that which were delivered.
        count: the number of the batch.
        failed: how many rows failed before the batch.
        failed_behind: and how many behind it.
    """
    made, rows = outcome.block, outcome.block.num_rows
    end = counted([delivery.after(delivery.block.num_rows - 1), 0, count + 1], failed_behind)

    def after(row: int) -> State:
        return end if done + row + 1 == rows else counted([delivery.before, done + row + 1, count], failed)

    def origins() -> Origins | None:
        return None if outcome.rows is None else taken(delivery.origins(), outcome.rows[done:])

    before = counted([delivery.before, done, count], failed)
    return Delivery(made.slice(done, rows) if done else made, None, before, after, origins)


@dataclass(frozen=True, slots=True)
class FilteredByBatch(_Asked, Batchwise):
    """The rows for which a function says something true, asked about `size` rows at once."""

    below: Node
    size: int | None
    function: Function
    guard: Guard | None = None
    ahead: int = 0

    def _called(self, delivery: Delivery) -> Outcome:
        rows = self.function.kept_rows(delivery.block, delivery.numbers, is_batched=True)
        return Outcome(delivery.block.take(rows), rows)


@dataclass(frozen=True, slots=True)
class MappedByBatch(Batchwise):
    """What a function makes of `size` rows at once."""

    below: Node
    size: int | None
    made: RowsMade
    is_whole: bool
    guard: Guard | None = None
    ahead: int = 0

    @property
    def _pool(self) -> WorkerPool | None:
        return self.made.pool

    @property
    def _label(self) -> str:
        return self.made.function.name

    def _made(self, delivery: Delivery, count: int) -> Outcome:
        if self.is_whole and self.size is not None and delivery.block.num_rows < self.size:
            return Outcome(delivery.block.slice(0, 0))
        return self._called(delivery)

    def _called(self, delivery: Delivery) -> Outcome:
        return Outcome(self.made.on_batch(delivery.block, delivery.numbers))


@dataclass(frozen=True, slots=True)
class Windows(Batchwise):
    """Rows shuffled within windows of `size` rows; with `reshuffles`, anew in each round of a repetition."""

    below: Node
    size: int | None
    seed: int
    epoch: int
    reshuffles: bool = False

    def _made(self, delivery: Delivery, count: int) -> Outcome:
        rows = delivery.block.num_rows
        order = Permutation(rows, "window", self.seed, self.epoch, count).at(np.arange(rows, dtype=np.int64))
        return Outcome(delivery.block.take(order), order.tolist())


def skipped(node: Node, state: State, count: int) -> tuple[State, int]:
    """The state behind as many of the next rows, of `count`, as need not be made to be skipped, and how many these are."""
    if isinstance(node, Changed) and node.guard is None:
        return skipped(node.below, state, count)
    skip: Any = getattr(node, "skipped", None)
    return (state, 0) if skip is None else skip(state, count)


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
        if seen < places.start and places.step == 1:
            inner, done = skipped(self.below, inner, places.start - seen)
            seen += done
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
    own: Callable[[int], Node] | None = getattr(node, "in_turn", None)
    if own is not None:  # Ordered, and several nodes as one
        return own(turn)
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
    if not isinstance(node, passes) and not getattr(node, "works_in_lanes" if is_share else "is_row_by_row", False):
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

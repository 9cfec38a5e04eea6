"""Stream steps whose number of rows is only known by reading: filter, batched map, and the steps after them.

A state contains the state of the node below and a small number: rows in buffers are computed again, never saved.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count as counter
from typing import Any, ClassVar, TypeVar

import numpy as np

from datasets_core.engines.pool import Pace, WorkerPool, in_order
from datasets_core.errors import WorkerDiedError
from datasets_core.stream.nodes.block import Failures, joined
from datasets_core.stream.nodes.errors import Guard, Outcome, isolated
from datasets_core.stream.nodes.functions import Function, RowsMade
from datasets_core.stream.nodes.node import (
    Delivery,
    Locality,
    Node,
    Over,
    RowChange,
    State,
    Unmeasured,
    chosen,
    counted,
    note_origin,
    part,
    taken,
    uncounted,
)
from datasets_core.stream.nodes.positions import Origins
from datasets_core.stream.order.layers import ENDLESS, Permutation

# Work on rows by a pool of workers: some is done ahead, and all results come in the order of the rows.


R = TypeVar("R")


def pieces(deliveries: Iterator[Delivery], pace: Pace) -> Iterator[Delivery]:
    """Yield the deliveries in pieces for workers."""
    for delivery in deliveries:
        start, rows = 0, delivery.block.num_rows
        while start < rows:
            stop = min(rows, start + pace.rows)
            yield part(delivery, start, stop)
            start = stop


def worked(
    deliveries: Iterator[Delivery], work: Callable[[Delivery], R], pool: WorkerPool | None, ahead: int, label: str
) -> Iterator[tuple[Delivery, R]]:
    """Yield each piece of the deliveries with the result of some row-by-row work; without a pool one piece for each delivery.

    Args:
        deliveries: the rows.
        work: does the work on some rows; pieces for workers are smaller.
        pool: does the work.
        ahead: number of pieces worked on ahead of the reader.
        label: description of the work, for the log.
    """

    def done(delivery: Delivery) -> tuple[Delivery, R]:
        return delivery, work(delivery)

    if pool is None:
        return map(done, deliveries)
    pace = Pace()

    def timed(delivery: Delivery) -> R:
        return pace.timed(delivery.block.num_rows, work, delivery)

    return in_order(pieces(deliveries, pace), timed, pool, ahead, label)


@dataclass(frozen=True, slots=True)
class Counted(Over):
    """The rows of a node, numbered in their order.

    A state is `[state of the node below, rows read]`.

    Attributes:
        first: the number of the first row.
        every: the difference of the numbers of consecutive rows.
    """

    below: Node
    first: int = 0
    every: int = 1
    own_numbers: ClassVar[int] = 1
    locality: ClassVar[Locality] = Locality.SHARD

    @property
    def num_rows(self) -> int | None:
        return self.below.num_rows

    def reach(self, count: int) -> int | None:
        return self.below.reach(count)

    def state_after(self, count: int) -> State | None:
        below, rows = self.below.state_after(count), self.below.reach(count)
        return None if below is None else [below, rows]

    def of_shard(self, index: int, count: int) -> Counted:
        return replace(self, first=index, every=count)

    def blocks(self, state: State) -> Iterator[Delivery]:
        inner, seen = state
        for delivery in self.below.blocks(inner):
            found, start = numbered_from(delivery, seen), self.first + seen * self.every
            seen += delivery.block.num_rows
            yield replace(found, numbers=range(start, self.first + seen * self.every, self.every))


def numbered_from(delivery: Delivery, seen: int) -> Delivery:
    """Return the delivery that follows `came` rows, with states that count these."""
    rows, after = range(seen, seen + delivery.block.num_rows), delivery.after
    return replace(delivery, numbers=rows, before=[delivery.before, seen], after=lambda row: [after(row), seen + row + 1])


def numbered(node: Node, is_needed: bool) -> Node:
    """Return the node, with numbers of its rows if they are needed."""
    return Counted(node) if is_needed and node.placed is None else node


class _RowByRow(Over):
    """Base of steps that return one row or none for each row; the state is that of the node below, and the failure count."""

    __slots__ = ()
    own_numbers: ClassVar[int] = 0
    locality: ClassVar[Locality] = Locality.ROW
    guard: Guard | None
    ahead: int

    @property
    def may_fail(self) -> bool:
        return self.guard is not None or self.below.may_fail

    def blocks(self, state: State) -> Iterator[Delivery]:
        guard = self.guard
        inner, count = (state, 0) if guard is None else uncounted(state)
        tally = None if guard is None else guard.ledger.begun(count)
        for delivery, outcome in worked(self.below.blocks(inner), self._outcome, self._pool, self.ahead, self._label):
            if guard is not None and tally is not None:
                found, error = guard.delivered(delivery, outcome, tally)
                if found is not None:
                    yield found
                if error is not None:
                    raise error
            elif outcome.rows is None:
                yield replace(delivery, block=outcome.block, numbers=None)
            elif outcome.rows:
                yield chosen(delivery, outcome.rows)
        if guard is not None and tally is not None:
            guard.ledger.end(tally)

    def _outcome(self, delivery: Delivery) -> Outcome:
        failures = Failures(self.guard is not None)
        try:
            return self._made(delivery, failures)
        except Exception as error:
            note_origin(error, delivery.origins(), next(iter(failures.rows), None))
            raise

    @property
    @abstractmethod
    def _pool(self) -> WorkerPool | None:
        """Pool of the step; None: the reading thread."""

    @property
    @abstractmethod
    def _label(self) -> str:
        """Name of the work in the log."""

    @abstractmethod
    def _made(self, delivery: Delivery, failures: Failures) -> Outcome:
        """Return the result of the step on some rows."""


@dataclass(frozen=True, slots=True)
class Changed(_RowByRow):
    """Rows that are changed one by one; `below` numbers the rows, if the change needs that.

    Attributes:
        guard: handling of rows that fail; None: the first error is raised.
        ahead: number of pieces that workers process ahead.
    """

    below: Node
    change: RowChange
    guard: Guard | None = None
    ahead: int = 0

    @property
    def num_rows(self) -> int | None:
        """See `Node.num_rows`: one row for each row below, unless some fail."""
        return self.below.num_rows if self.guard is None else None

    def reach(self, count: int) -> int | None:
        return self.below.reach(count) if self.guard is None else None

    def state_after(self, count: int) -> State | None:
        return self.below.state_after(count) if self.guard is None else None

    def skip(self, state: State, count: int) -> tuple[State, int]:
        return self.below.skip(state, count) if self.guard is None else (state, 0)

    @property
    def _pool(self) -> WorkerPool | None:
        return self.change.pool

    @property
    def _label(self) -> str:
        return self.change.label

    def _made(self, delivery: Delivery, failures: Failures) -> Outcome:
        return Outcome(self.change.attempted(delivery.block, delivery.numbers, failures), None, failures.rows)


def row_by_row(node: Node, change: RowChange, guard: Guard | None = None, ahead: int = 0) -> Node:
    """Return the rows of `node`, each changed separately. If positions are computed and no row may fail, they are still
    computed.
    """
    placed = node.placed
    if placed is not None and not placed.is_shared and guard is None:
        return placed.under(change)
    return Changed(numbered(node, change.needs_numbers), change, guard, ahead)


class _Filtering:
    """Base of steps that keep the rows selected by a function."""

    __slots__ = ()
    function: Function

    @property
    def _pool(self) -> WorkerPool | None:
        return self.function.pool

    @property
    def _label(self) -> str:
        return self.function.name


@dataclass(frozen=True, slots=True)
class Filtered(_Filtering, _RowByRow, Unmeasured):
    """The rows for which a function of one row returns a true value.

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


class Batchwise(Unmeasured):
    """Base of steps that turn batches of rows into rows.

    A state is `[state before a batch, rows of its result delivered, number of the batch]`.
    """

    __slots__ = ()
    own_numbers: ClassVar[int] = 2
    locality: ClassVar[Locality] = Locality.ROW
    size: int | None
    guard: Guard | None = None
    ahead: int = 0

    @property
    def may_fail(self) -> bool:
        return self.guard is not None or self.below.may_fail

    def blocks(self, state: State) -> Iterator[Delivery]:
        guard = self.guard
        (inner, done, first), failed = (state, 0) if guard is None else uncounted(state)
        tally = None if guard is None else guard.ledger.begun(failed)
        for (delivery, count), outcome in self._outcomes(zip(self._batches(inner, first), counter(first))):
            before = behind = failed if tally is None else tally.count
            error = None
            if guard is not None and tally is not None and outcome.failed:
                _, error = guard.checked(delivery, outcome.failed, tally)
                behind = tally.count
            if error is not None:
                raise error
            if done < outcome.block.num_rows:
                yield _rest(delivery, outcome, done, count, before, behind)
            done = 0
        if guard is not None and tally is not None:
            guard.ledger.end(tally)

    def _batches(self, inner: State, count: int) -> Iterator[Delivery]:
        """Yield the batches after a state of the node below, the first with number `count`."""
        return self.below.batches(inner, self.size)

    def _outcomes(self, jobs: Iterator[tuple[Delivery, int]]) -> Iterator[tuple[tuple[Delivery, int], Outcome]]:
        def done(job: tuple[Delivery, int]) -> tuple[tuple[Delivery, int], Outcome]:
            return job, self._outcome(job)

        if self._pool is None:
            return map(done, jobs)
        return in_order(jobs, self._outcome, self._pool, self.ahead, self._label)

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
        """Pool of the step; None: the reading thread."""
        return None

    @property
    def _label(self) -> str:
        """Name of the work in the log."""
        return type(self).__name__.lower()

    def _made(self, delivery: Delivery, count: int) -> Outcome:
        """Return the result for batch number `count`."""
        return self._called(delivery)

    def _called(self, delivery: Delivery) -> Outcome:
        """Return the result of the function for some rows of a batch."""
        raise NotImplementedError


def _rest(delivery: Delivery, outcome: Outcome, done: int, count: int, failed: int, failed_behind: int) -> Delivery:
    """Return the delivery of a batch without its first `done` rows.

    Args:
        delivery: a batch.
        outcome: the result for it.
        done: number of its rows delivered.
        count: the number of the batch.
        failed: number of rows that failed before the batch.
        failed_behind: number of rows that failed up to its end.
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
class FilteredByBatch(_Filtering, Batchwise):
    """The rows for which a function returns a true value, called with `size` rows at once."""

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
    """Rows that a function returns for batches of `size` rows."""

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
    """Rows shuffled within windows of `size` rows; with `reshuffles`, again in each round of a repetition."""

    below: Node
    size: int | None
    seed: int
    epoch: int
    reshuffles: bool = False
    locality = Locality.PART

    def in_turn(self, turn: int) -> Windows:
        below = self.below.in_turn(turn)
        return replace(self, below=below, epoch=turn) if self.reshuffles else replace(self, below=below)

    def of_shard(self, index: int, count: int) -> Windows:
        return replace(self, seed=self.seed + (index << 40))

    def _made(self, delivery: Delivery, count: int) -> Outcome:
        rows = delivery.block.num_rows
        order = Permutation(rows, "window", self.seed, self.epoch, count).at(np.arange(rows, dtype=np.int64))
        return Outcome(delivery.block.take(order), order.tolist())


@dataclass(frozen=True, slots=True)
class SelectedRows(Unmeasured):
    """The rows at some positions: the first rows, all but the first rows, or every n-th row.

    A state is `[state of the node below, rows read]`.
    """

    below: Node
    places: range
    own_numbers: ClassVar[int] = 1
    locality: ClassVar[Locality] = Locality.ALL

    def blocks(self, state: State) -> Iterator[Delivery]:
        inner, seen = state
        places = self.places
        if seen >= places.stop:
            return
        if seen < places.start and places.step == 1:
            inner, done = self.below.skip(inner, places.start - seen)
            seen += done
        for delivery in self.below.blocks(inner):
            found, rows = numbered_from(delivery, seen), delivery.block.num_rows
            first = max(places.start, seen + (places.start - seen) % places.step)
            wanted = range(first - seen, min(rows, places.stop - seen), places.step)
            if wanted:
                yield part(found, wanted[0], wanted[-1] + 1) if places.step == 1 else chosen(found, wanted)
            seen += rows
            if seen >= places.stop:
                return


@dataclass(frozen=True, slots=True)
class Resumed(Unmeasured):
    """The rows of a node from a state on."""

    below: Node
    begin: State
    own_numbers: ClassVar[int] = 0
    locality: ClassVar[Locality] = Locality.ALL

    @property
    def start(self) -> State:
        return self.begin

    def blocks(self, state: State) -> Iterator[Delivery]:
        return self.below.blocks(state)


@dataclass(frozen=True, slots=True)
class Rounds(Over):
    """The rows, repeated.

    A state is `[state of the node below, rounds that ended]`.

    Attributes:
        times: number of rounds; None: endless.
        turn: number of the first round, if the repetition is itself repeated.
    """

    below: Node
    times: int | None
    turn: int = 0
    own_numbers: ClassVar[int] = 1
    locality: ClassVar[Locality] = Locality.PART

    @property
    def num_rows(self) -> int | None:
        rows = self.below.num_rows
        return None if rows is None else min(ENDLESS, rows * (ENDLESS if self.times is None else self.times))

    def state_after(self, count: int) -> State | None:
        rows = self.below.num_rows
        if not rows:
            return None
        turns, left = divmod(count, rows)
        if self.times is not None and turns >= self.times:
            return [self.below.start, self.times]
        below = self.below.state_after(left)
        return None if below is None else [below, turns]

    def in_turn(self, turn: int) -> Rounds:
        return replace(self, turn=turn)

    def blocks(self, state: State) -> Iterator[Delivery]:
        inner, done = state
        while self.times is None or done < self.times:
            is_empty = inner == self.below.start
            for delivery in self.below.in_turn(self.turn * (self.times or 1) + done).blocks(inner):
                is_empty = False
                yield _in_round(delivery, done)
            if is_empty:
                return
            inner, done = self.below.start, done + 1


def _in_round(delivery: Delivery, done: int) -> Delivery:
    after = delivery.after
    return replace(delivery, numbers=None, before=[delivery.before, done], after=lambda row: [after(row), done])


@dataclass(frozen=True, slots=True)
class Lists(Unmeasured):
    """Rows collected into lists: each row holds lists of `size` rows, or of consecutive rows with equal values.

    Attributes:
        size: rows of a list; None: all rows.
        by: columns with equal values; `size` is not used then.
        is_whole: True to drop the last list if it is shorter, or if only the end of the rows ended it.
    """

    below: Node
    size: int | None
    by: tuple[str, ...]
    is_whole: bool
    own_numbers: ClassVar[int] = 0

    @property
    def locality(self) -> Locality:
        """See `Over.locality`: rows with equal values may be in two parts."""
        return Locality.SHARD if self.by else Locality.PART

    def blocks(self, state: State) -> Iterator[Delivery]:
        if self.by:
            yield from self._runs(state)
            return
        for delivery in self.below.batches(state, self.size):
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

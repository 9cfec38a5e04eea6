"""`Node`: rows in blocks from any state on, with the methods of a stream; `Over`: a node above one other node.

A node is a value without mutable state.  Everything a stream needs from a kind of node is an abstract method: a subclass
that lacks one cannot be instantiated.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from datasets_core.errors import StreamStateError, redact
from datasets_core.stream.nodes.block import Block, Failures, joined
from datasets_core.stream.nodes.positions import Origins
from datasets_core.stream.order.layers import Ints, Layer

if TYPE_CHECKING:
    from datasets_core.stream.nodes.ordered import Ordered, SharedCursor
    from datasets_core.stream.nodes.shard import Shards

State: TypeAlias = Any
"""Position of a node after a row: small, plain JSON."""
Numbers: TypeAlias = "Sequence[int] | Ints | None"
"""The number of each row among the rows before a step; None if they must be counted."""
ADVICE = "Pass the unmodified result of state_dict()."


def nowhere() -> None:
    """The origin of rows that do not come from a file."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Some rows, with the state of the node before them and after each.

    Attributes:
        block: the rows.
        numbers: the numbers of the rows.
        before: the state before the first row.
        after: returns the state after a row, by its number in the block.
        origins: returns the origins of the rows in their files; None without files, or for rows made from several.
    """

    block: Block
    numbers: Numbers
    before: State
    after: Callable[[int], State]
    origins: Callable[[], Origins | None] = nowhere


class Node(ABC):
    """Rows in order, from any state on that the node returned.

    Methods return None if the result is unknown before the rows are read.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def start(self) -> State:
        """The state before the first row."""

    @abstractmethod
    def blocks(self, state: State) -> Iterator[Delivery]:
        """Yield the rows after a state, in non-empty blocks."""

    def batches(self, state: State, size: int | None) -> Iterator[Delivery]:
        """Return the rows after a state in blocks of `size` rows (None: all); the last block may be smaller."""
        return batched(self.blocks(state), size)

    # -- counting and skipping -----------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def num_rows(self) -> int | None:
        """Return the number of rows, `ENDLESS` at most, if known by arithmetic."""

    @property
    def length(self) -> int | None:
        """The number of rows that a stream of this node reports: only those of its part, whereas `num_rows` counts all."""
        return self.num_rows

    def reach(self, count: int) -> int | None:
        """Return the smaller of `count` and the number of rows, if known by arithmetic."""
        rows = self.num_rows
        return None if rows is None else min(count, rows)

    @abstractmethod
    def state_after(self, count: int) -> State | None:
        """Return the state after this many rows, or after the last row, if it can be computed."""

    def skip(self, state: State, count: int) -> tuple[State, int]:
        """Skip those of the next `count` rows that can be skipped without making them; return the state after them, and their
        number.
        """
        return state, 0

    @abstractmethod
    def check_state(self, at: Any) -> None:
        """Check an untrusted state, without counts of failed rows, against the rows.

        Raises:
            StreamStateError: the state has another form, or is after the last row.
        """

    # -- sizes, compared to those of other nodes -----------------------------------------------------------------------

    @property
    @abstractmethod
    def most_rows(self) -> int | None:
        """Return the maximum number of rows, not counting repetitions."""

    @property
    @abstractmethod
    def num_parts(self) -> int:
        """Return the number of files or jobs of the rows."""

    # -- other orders, and parts ---------------------------------------------------------------------------------------

    @abstractmethod
    def in_turn(self, turn: int) -> Node:
        """Return the rows of one round of a repetition: an order that changes by epoch is the order of `turn`."""

    @abstractmethod
    def shuffle_parts(self, seed: int, epoch: int) -> Node | None:
        """Return the rows with the source's blocks, jobs or streams in an order determined by a seed; None if that is
        impossible.
        """

    def shuffle_among(self, others: int, seed: int, number: int, epoch: int) -> Node:
        """Return the rows of one of several streams in an order determined by a seed and its number, as far as the rows can be
        reordered.

        Args:
            others: number of streams that share the memory limit, including this one.
            seed: determines the order.
            number: number of the stream.
            epoch: epoch of the order.
        """
        return self.shuffle_parts(seed_of(seed, number), epoch) or self

    @abstractmethod
    def shard(self, index: int, count: int) -> Node | None:
        """Return one of `count` logical shards of the rows; None if a step has to see all rows before they are divided."""

    @abstractmethod
    def shard_jobs(self, index: int, count: int, *, is_contiguous: bool) -> Node | None:
        """Return the rows of one of `count` parts of the source's jobs; None if it has no jobs, or if steps count rows."""

    def of_shard(self, index: int, count: int) -> Node:
        """Return the step, which now applies to a logical shard, with numbers and an order of its own."""
        return self

    def as_shard(self, index: int, count: int) -> Node:
        """Return the step and its counter of rows, for a logical shard, with numbers and an order of their own."""
        return self.of_shard(index, count)

    def labelled(self, label: str) -> Node:
        """Return the rows of a source that is one of several: see `Plan.labelled`."""
        return self

    # -- reading in turn with other nodes ----------------------------------------------------------------------------------

    @abstractmethod
    def timed_by(self, clock: Callable[[], float]) -> Node:
        """Return the node with blocks sized by this clock, which stops while other nodes are read in turn."""

    @abstractmethod
    def sharing(self, cursor: SharedCursor, state: State, clock: Callable[[], float] | None = None) -> Node:
        """Return the rows of a logical shard that shares its reads with others.

        Args:
            cursor: reads for all of them.
            state: the state at which this one will begin.
            clock: see `timed_by`.
        """

    # -- structure ---------------------------------------------------------------------------------------------------------

    @property
    def placed(self) -> Ordered | None:
        """The node itself if the positions of its rows can be computed; otherwise None."""
        return None

    @property
    def bottom(self) -> Node:
        """The node below all steps."""
        return self

    @property
    def shards(self) -> Shards | None:
        """The logical shards of the rows."""
        return None

    @property
    def is_combination(self) -> bool:
        """True if the node below all steps combines several nodes."""
        return False

    @property
    def may_fail(self) -> bool:
        """True if a row may fail in a step without ending the stream."""
        return False

    def first_place(self, state: State) -> tuple[Ordered, int] | None:
        """Return the node below all steps, if its positions are known, and the number of its first row that is read after a
        state.
        """
        return None


class Locality(IntEnum):
    """The rows below that a step needs to see together; a step of one level also works at the levels before it."""

    ALL = 0
    """All rows, in order."""
    SHARD = 1
    """The rows of a logical shard: the step works in each separately."""
    PART = 2
    """All rows of one part of the jobs."""
    ROW = 3
    """One row or one batch, wherever it is: jobs and blocks may come in any order."""


class Over(Node):
    """A node that makes its rows from those of one node below.

    A state is `[state of the node below, *own numbers]`, or that of the node below if there are none.
    """

    __slots__ = ()
    below: Node

    @property
    @abstractmethod
    def own_numbers(self) -> int:
        """How many numbers the state has in addition to the state of the node below."""

    @property
    @abstractmethod
    def locality(self) -> Locality:
        """Locality of the step."""

    @property
    def start(self) -> State:
        return [self.below.start, *[0] * self.own_numbers] if self.own_numbers else self.below.start

    def inner(self, state: State) -> State:
        """Return the state of the node below."""
        state, _ = uncounted(state)
        return state[0] if self.own_numbers else state

    def _over(self, below: Node) -> Self:
        step: Any = self
        found: Self = replace(step, below=below)
        return found

    def check_state(self, at: Any) -> None:
        if self.own_numbers and not (is_listed(at, 1 + self.own_numbers) and all(map(is_count, at[1:]))):
            raise no_place(at, self.start)
        self.below.check_state(at[0] if self.own_numbers else at)

    @property
    def most_rows(self) -> int | None:
        return self.below.most_rows

    @property
    def num_parts(self) -> int:
        return self.below.num_parts

    def in_turn(self, turn: int) -> Node:
        return self._over(self.below.in_turn(turn))

    def shuffle_parts(self, seed: int, epoch: int) -> Node | None:
        below = self.below.shuffle_parts(seed, epoch) if self.locality >= Locality.ROW else None
        return None if below is None else self._over(below)

    def shard(self, index: int, count: int) -> Node | None:
        below = self.below.shard(index, count) if self.locality >= Locality.SHARD else None
        return None if below is None else self._over(below).of_shard(index, count)

    def shard_jobs(self, index: int, count: int, *, is_contiguous: bool) -> Node | None:
        if self.locality < Locality.PART:
            return None
        below = self.below.shard_jobs(index, count, is_contiguous=is_contiguous)
        return None if below is None else self._over(below)

    def as_shard(self, index: int, count: int) -> Node:
        below = self.below.of_shard(index, count)
        own = self.of_shard(index, count)
        return own if below is self.below else replace(own, below=below)  # type: ignore[type-var]

    def timed_by(self, clock: Callable[[], float]) -> Node:
        return self._over(self.below.timed_by(clock))

    def sharing(self, cursor: SharedCursor, state: State, clock: Callable[[], float] | None = None) -> Node:
        return self._over(self.below.sharing(cursor, self.inner(state), clock))

    @property
    def bottom(self) -> Node:
        return self.below.bottom

    @property
    def shards(self) -> Shards | None:
        return self.below.shards

    @property
    def is_combination(self) -> bool:
        return self.below.is_combination

    @property
    def may_fail(self) -> bool:
        return self.below.may_fail

    def first_place(self, state: State) -> tuple[Ordered, int] | None:
        return self.below.first_place(self.inner(state))


class Unmeasured(Over):
    """Base of nodes that read rows to count them."""

    __slots__ = ()

    @property
    def num_rows(self) -> int | None:
        return None

    def state_after(self, count: int) -> State | None:
        return None


class RowChange(Layer):
    """A function of one row, independent of other rows."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """Name of the work in the log."""
        return type(self).__name__.lower()

    @abstractmethod
    def changed(self, block: Block, numbers: Numbers) -> Block:
        """Return the rows, changed."""

    def attempted(self, block: Block, numbers: Numbers, failures: Failures) -> Block:
        """Like `changed`, but failed rows are recorded, and left out if that is allowed; after a failure, rows are tried one
        by one.
        """
        try:
            return self.changed(block, numbers)
        except Exception as error:
            if not failures.are_tolerated:
                raise
            first = error
        made = []
        for row in range(block.num_rows):
            try:
                made.append(self.changed(block.slice(row, row + 1), None if numbers is None else numbers[row : row + 1]))
            except Exception as error:
                failures.rows[row] = error
        if not failures.rows:
            raise first
        return joined(made) if made else block.slice(0, 0)

    def made(self, block: Block, numbers: Ints, origins: Callable[[], Origins]) -> Block:
        """See `Layer.made`: the first failed row raises its error, with a note of its origin."""
        failures = Failures()
        try:
            return self.attempted(block, numbers, failures)
        except Exception as error:
            found = origins()
            if len(found.rows) == block.num_rows:
                note_origin(error, found, next(iter(failures.rows), None))
            raise


def batched(deliveries: Iterator[Delivery], size: int | None) -> Iterator[Delivery]:
    """Yield the rows in batches of `size` rows (None: all); the last batch may be smaller."""
    return chain.from_iterable(map(_Waiting(size).add, chain(deliveries, (None,))))


class _Waiting:
    """Deliveries that wait until they make a batch.

    Args:
        size: rows of a batch; None: all rows.
    """

    __slots__ = ("_count", "_size", "_waiting")

    def __init__(self, size: int | None) -> None:
        self._size, self._count = size, 0
        self._waiting: list[Delivery] = []

    def add(self, delivery: Delivery | None) -> list[Delivery]:
        """Return the batches that a delivery completes; after the last delivery (None), the batch of the remaining rows."""
        if delivery is None:
            return [together(self._waiting)] if self._waiting else []
        self._waiting.append(delivery)
        self._count += delivery.block.num_rows
        size, full = self._size, []
        while size is not None and self._count >= size:
            whole, self._waiting = _divided(self._waiting, size)
            full.append(together(whole))
            self._count -= size
        return full


def part(delivery: Delivery, start: int, stop: int) -> Delivery:
    """Return the rows of a delivery from `start` to `stop`."""
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
    """Return some rows of a delivery, in order."""
    after, origins = delivery.after, delivery.origins
    return replace(
        delivery,
        block=delivery.block.take(rows),
        numbers=None,
        after=lambda row: after(rows[row]),
        origins=origins if origins is nowhere else lambda: taken(origins(), rows),
    )


def taken(origins: Origins | None, rows: Sequence[int] | Ints) -> Origins | None:
    """Return the origins of some of the rows."""
    return None if origins is None else origins.take(rows)


def _divided(waiting: list[Delivery], size: int) -> tuple[list[Delivery], list[Delivery]]:
    """Return the first `size` rows and the remaining ones; only the last delivery is divided."""
    *whole, last = waiting
    needed = size - sum(delivery.block.num_rows for delivery in whole)
    rows = last.block.num_rows
    return [*whole, part(last, 0, needed)], [part(last, needed, rows)] if needed < rows else []


def together(deliveries: Sequence[Delivery]) -> Delivery:
    """Return the rows of one or more deliveries as one."""
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
    """Add to an error the origin of its row, or of the rows of its batch."""
    if origins is None or not len(origins.rows) or not any(origins.names):
        return
    first, last = (0, len(origins.rows) - 1) if row is None else (row, row)
    texts = [f"row {origins.rows[each]} of {redact(origins.names[int(origins.files[each])])}" for each in (first, last)]
    error.add_note(f"The row is {texts[0]}." if first == last else f"The rows are {texts[0]} to {texts[1]}.")


def counted(state: State, count: int) -> State:
    """Return the state of a node below with the number of failed rows; the same state if no row failed.

    >>> counted(7, 0), counted(7, 2), counted({"at": 7, "errors": 2}, 0)
    (7, {'at': 7, 'errors': 2}, {'at': {'at': 7, 'errors': 2}, 'errors': 0})
    """
    return {"at": state, "errors": count} if count or isinstance(state, Mapping) else state


def uncounted(state: State) -> tuple[State, int]:
    """Return the state of the node below, and the number of rows that failed."""
    return (state["at"], int(state["errors"])) if isinstance(state, Mapping) else (state, 0)


def without_counts(state: State) -> State:
    """Return a state without the numbers of failed rows; unchanged if no row may fail.

    >>> without_counts([{"at": [{"at": 7, "errors": 2}, 1], "errors": 0}, 5])
    [[7, 1], 5]
    """
    if isinstance(state, Mapping) and set(state) == {"at", "errors"} and isinstance(state["errors"], int):
        return without_counts(state["at"])
    return [without_counts(each) for each in state] if isinstance(state, (list, tuple)) else state


def is_count(given: Any) -> bool:
    """Return True if the JSON value is a number of rows or picks."""
    return is_whole(given) and given >= 0


def is_whole(given: Any) -> bool:
    """Return True if the JSON value is an integer."""
    return isinstance(given, int) and not isinstance(given, bool)


def is_listed(given: Any, count: int) -> bool:
    """Return True if the JSON value is a list of `count` values."""
    return isinstance(given, (list, tuple)) and len(given) == count


def no_place(at: Any, start: State) -> StreamStateError:
    """Return the error for a state of another form."""
    return StreamStateError(f"The state has the invalid position {at!r}; positions start at {start!r}. {ADVICE}")


def check_reach(at: int, reach: int, what: str) -> None:
    """Raise an error if a state is after the last row or pick.

    Raises:
        StreamStateError: there are fewer rows or picks.
    """
    if at > reach:
        raise StreamStateError(f"The state has the position {what} {at}, but there are only {reach} {what}s. {ADVICE}")


def seed_of(seed: int, number: int) -> int:
    """Return the seed of one of several streams."""
    return int.from_bytes(hashlib.blake2b(f"{seed}/{number}".encode(), digest_size=7).digest(), "little")

"""`ErrorPolicy`: what becomes of rows at which a step fails, how many may, and where they are written."""

from __future__ import annotations

import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from datasets_core.errors import TooManyErrorsError
from datasets_core.stream.block import Block, Failures, joined
from datasets_core.stream.node import Delivery, Numbers, RowChange, State, chosen, part
from datasets_core.stream.quarantine import Quarantine

T = TypeVar("T")

ACTIONS = ("raise", "skip", "null")


@dataclass(frozen=True)
class ErrorPolicy:
    """What becomes of rows at which a step fails.

    Attributes:
        action: one of `ACTIONS`.
        max_errors: how many rows may; None: all.
        quarantine: the file that they are written to.
    """

    action: str = "raise"
    max_errors: int | None = None
    quarantine: str | None = None
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return ErrorPolicy, (self.action, self.max_errors, self.quarantine)

    @property
    def acts(self) -> bool:
        """Whether anything else is done than to raise what fails."""
        return self.action != "raise" or self.quarantine is not None

    def check(self) -> None:
        """Complain about a file of no known kind.

        Raises:
            ConfigurationError: it is named so.
        """
        if self.file is not None:
            self.file.check()

    @property
    def file(self) -> Quarantine | None:
        """Where bad rows are written."""
        if self.quarantine is None:
            return None
        return self._kept.setdefault("file", Quarantine(self.quarantine))  # type: ignore[no-any-return]


class Ledger:
    """The rows that failed in one reading of a stream, in all of its steps and lanes.

    Args:
        policy: of the stream.
    """

    def __init__(self, policy: ErrorPolicy) -> None:
        self.policy = policy
        self._done = 0
        self._running: weakref.WeakKeyDictionary[Tally, int] = weakref.WeakKeyDictionary()
        self._kinds: Counter[str] = Counter()

    def __reduce__(self) -> tuple[Any, ...]:
        return Ledger, (self.policy,)

    def begun(self, count: int) -> Tally:
        """What counts on from the rows that failed before, as a state says."""
        tally = Tally(self, count)
        self._running[tally] = count
        return tally

    def note(self, tally: Tally, stage: str, error: Exception) -> None:
        """Note a row that failed."""
        self._running[tally] = tally.count
        self._kinds[f"{type(error).__name__} in {stage}"] += 1

    def end(self, tally: Tally) -> None:
        """Keep the count of what was read to its end."""
        self._done += self._running.pop(tally, 0)

    def forget(self) -> None:
        """Count anew: the rows are read once more."""
        self._done = 0

    @property
    def total(self) -> int:
        """How many failed."""
        return self._done + sum(self._running.values())

    @property
    def excess(self) -> TooManyErrorsError | None:
        """The error that is due when more failed than may."""
        most = self.policy.max_errors
        if most is None or self.total <= most:
            return None
        return TooManyErrorsError(self.total, most, dict(self._kinds.most_common(5)), self.policy.quarantine)


class Tally:
    """How many rows failed in one walk over the rows of a node."""

    __slots__ = ("__weakref__", "count", "ledger")

    def __init__(self, ledger: Ledger, count: int) -> None:
        self.ledger, self.count = ledger, count

    def add(self, stage: str, error: Exception) -> None:
        """One more."""
        self.count += 1
        self.ledger.note(self, stage, error)


class Outcome(NamedTuple):
    """What a step made of some rows.

    Attributes:
        block: what came of those that did not fail.
        rows: for each row of it the row that it was made of; None: one of each, in order.
        failed: the error of each row that failed.
    """

    block: Block
    rows: Sequence[int] | None = None
    failed: Mapping[int, Exception] = {}


@dataclass(frozen=True, slots=True)
class Guard:
    """What a node does about rows that fail.

    Attributes:
        ledger: of the reading.
        action: one of `ACTIONS`.
        stage: what the step is called.
        null: makes the row that stands for one that failed; None: there is none.
    """

    ledger: Ledger
    action: str
    stage: str
    null: Callable[[Delivery, int], Block] | None = None

    @classmethod
    def of(
        cls, ledger: Ledger | None, action: str | None, stage: str, null: Callable[[Delivery, int], Block] | None = None
    ) -> Guard | None:
        """What a step does; None: it raises what fails, and nothing else.

        Args:
            ledger: of the stream, if it has a policy.
            action: of the step; None: that of the stream.
            stage, null: see `Guard`.
        """
        if action is None and (ledger is None or not ledger.policy.acts):
            return None
        used = Ledger(ErrorPolicy()) if ledger is None else ledger
        chosen_action = used.policy.action if action is None else action
        if chosen_action == "raise" and used.policy.quarantine is None:
            return None
        return cls(used, chosen_action, stage, null)

    @property
    def makes_nulls(self) -> bool:
        """Whether a row stands for one that failed."""
        return self.action == "null" and self.null is not None

    def deliveries(self, outcomes: Iterator[tuple[Delivery, Outcome]], count: int) -> Iterator[Delivery]:
        """What is delivered of outcomes of a step that works row by row.

        Args:
            outcomes: each with the rows that the step was given.
            count: how many rows failed before.
        """
        tally = self.ledger.begun(count)
        for delivery, outcome in outcomes:
            before = tally.count
            bad, error = self.checked(delivery, outcome.failed, tally)
            block, rows = self._with_nulls(delivery, outcome, bad)
            if error is not None:
                ok = [place for place, row in enumerate(rows) if row < bad[-1]]
                block, rows = block.take(ok), [rows[place] for place in ok]
            if rows:
                yield guarded(delivery, block, rows, before, bad)
            if error is not None:
                raise error
        self.ledger.end(tally)

    def checked(self, delivery: Delivery, failed: Mapping[int, Exception], tally: Tally) -> tuple[list[int], Exception | None]:
        """Note rows that failed; those that are noted, and what has to be raised at the last of them."""
        bad: list[int] = []
        error: Exception | None = None
        for row in sorted(failed):
            bad.append(row)
            tally.add(self.stage, failed[row])
            error = None if self.action == "raise" else self.ledger.excess
            if error is not None:
                error.__cause__ = failed[row]
            elif self.action == "raise":
                error = failed[row]
            if error is not None:
                break
        file = self.ledger.policy.file
        if bad and file is not None:
            file.write(delivery, {row: failed[row] for row in bad}, self.stage)
        return bad, error

    def _with_nulls(self, delivery: Delivery, outcome: Outcome, bad: Sequence[int]) -> tuple[Block, list[int]]:
        failed = outcome.failed
        rows = list(outcome.rows) if outcome.rows is not None else []
        if outcome.rows is None:
            rows = [row for row in range(delivery.block.num_rows) if row not in failed]
        if self.null is None or not self.makes_nulls or not bad:
            return outcome.block, rows
        return with_nulls(delivery, outcome.block, rows, bad, self.null)


def with_nulls(
    delivery: Delivery, block: Block, rows: list[int], bad: Sequence[int], null: Callable[[Delivery, int], Block]
) -> tuple[Block, list[int]]:
    """Rows, with one that stands for each that failed, at its place; and the row that each was made of."""
    nulls = [null(delivery, row) for row in bad]
    every = [*rows, *bad]
    order = sorted(range(len(every)), key=every.__getitem__)
    found = joined([block, *nulls] if rows else nulls)
    return found.take(np.array(order, np.int64)), [every[place] for place in order]


def tolerantly(change: RowChange, block: Block, numbers: Numbers, failures: Failures) -> Block:
    """The rows changed; where that fails each by itself, so that only those are left out that do fail."""
    try:
        return change.changed(block, numbers)
    except Exception as error:
        first = error
    made = []
    for row in range(block.num_rows):
        try:
            made.append(change.changed(block.slice(row, row + 1), None if numbers is None else numbers[row : row + 1]))
        except Exception as error:
            failures.rows[row] = error
    if not failures.rows:
        raise first
    return joined(made) if made else block.slice(0, 0)


def isolated(
    delivery: Delivery,
    error: Exception,
    call: Callable[[Delivery], Outcome],
    null: Callable[[Delivery, int], Block] | None,
) -> Outcome:
    """What is made of a batch at which a function failed: rows at which it fails alone are left out, the others go together.

    Args:
        delivery: the batch.
        error: of the function.
        call: the function.
        null: makes the row that stands for one that failed, where the function gives a row of each row.
    """
    count = delivery.block.num_rows
    failed: dict[int, Exception] = {}
    for row in range(count) if count > 1 else ():
        try:
            call(part(delivery, row, row + 1))
        except Exception as alone:
            failed[row] = alone
    others = [row for row in range(count) if row not in failed]
    if failed and others:
        numbers = None if delivery.numbers is None else np.asarray(delivery.numbers)[others]
        try:
            outcome = call(replace(chosen(delivery, others), numbers=numbers))
        except Exception as together:
            failed.update(dict.fromkeys(others, together))
        else:
            rows = None if outcome.rows is None else [others[row] for row in outcome.rows]
            block = outcome.block
            if null is not None and block.num_rows == len(others):
                block, rows = with_nulls(delivery, block, list(others), sorted(failed), null)
            return Outcome(block, rows, failed)
    elif not failed:
        failed = dict.fromkeys(range(count), error)
    if null is None:
        return Outcome(delivery.block.slice(0, 0), (), failed)
    nulls = [null(delivery, row) for row in range(count)]
    return Outcome(joined(nulls), list(range(count)), failed)


def guarded(delivery: Delivery, block: Block, rows: Sequence[int], count: int, bad: Sequence[int]) -> Delivery:
    """What came of some rows of a delivery, with states that count the rows that failed before."""
    after, origins = delivery.after, delivery.origins

    def behind(place: int) -> State:
        row = rows[place]
        return counted(after(row), count + bisect_right(bad, row))

    def taken() -> Any:
        found = origins()
        return None if found is None else found.take(rows)

    return Delivery(block, None, counted(delivery.before, count), behind, taken)


def counted(state: State, count: int) -> State:
    """The state of a node below, with the number of rows that failed; the same state where none did.

    >>> counted(7, 0), counted(7, 2), counted({"at": 7, "errors": 2}, 0)
    (7, {'at': 7, 'errors': 2}, {'at': {'at': 7, 'errors': 2}, 'errors': 0})
    """
    return {"at": state, "errors": count} if count or isinstance(state, Mapping) else state


def uncounted(state: State) -> tuple[State, int]:
    """The state of the node below, and the number of rows that failed."""
    return (state["at"], int(state["errors"])) if isinstance(state, Mapping) else (state, 0)


def without_counts(state: State) -> State:
    """A state without the numbers of rows that failed: as it is where no row may.

    >>> without_counts([{"at": [{"at": 7, "errors": 2}, 1], "errors": 0}, 5])
    [[7, 1], 5]
    """
    if isinstance(state, Mapping) and set(state) == {"at", "errors"} and isinstance(state["errors"], int):
        return without_counts(state["at"])
    return [without_counts(each) for each in state] if isinstance(state, (list, tuple)) else state


def for_reading(steps: Sequence[T]) -> tuple[T, ...]:
    """Steps that count together the rows that fail while they are read once."""
    ledgers = [ledger for step in steps if (ledger := getattr(step, "errors", None)) is not None]
    if not ledgers:
        return tuple(steps)
    fresh = Ledger(ledgers[-1].policy)
    return tuple(under_policy(step, fresh) for step in steps)


def under_policy(step: T, ledger: Ledger | None) -> T:
    """A step with what is done about rows that fail in it, if any may."""
    if not hasattr(step, "errors"):
        return step
    known: Any = step
    found: T = replace(known, errors=ledger)
    return found

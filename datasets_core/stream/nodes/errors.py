"""`ErrorPolicy`: handling of rows at which a step fails: action, limit, and quarantine file."""

from __future__ import annotations

import json
import os
import threading
import weakref
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core import errors
from datasets_core.errors import ConfigurationError, TooManyErrorsError, logger_of, redact, redact_text
from datasets_core.files import disk_errors, is_url, local_path, locked, write_atomically
from datasets_core.stream.nodes.block import ArrowBlock, Block, joined
from datasets_core.stream.nodes.node import Delivery, State, chosen, counted, part

if TYPE_CHECKING:
    from datasets_core.stream.nodes.node import Delivery


# `Quarantine`: the file of rows at which a step failed: file and row, step and error, and its
# values.


logger = logger_of(__name__)

_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("row", pa.int64()),
        ("at", pa.string()),
        ("step", pa.string()),
        ("error", pa.string()),
        ("message", pa.string()),
        ("values", pa.string()),
    ]
)
_MOST_TEXT = 10_000
_BEGIN = b'{"source": '
MOST_IN_PARQUET = 5000
"""Approximate number of rows that a Parquet file takes."""
MOST_KNOWN = 1_000_000
"""Number of failures that are remembered, some 90 bytes each."""


class Quarantine:
    """Bad rows, as JSON lines or (`.parquet`) as a Parquet file.

    Each block with bad rows rewrites a whole Parquet file, so it holds a few thousand rows at most; further rows become
    JSON lines in a file next to it, with the same name and `.jsonl` appended.  A process remembers a million failures; later
    ones may be written twice if rows are read again.

    Args:
        path: path of the file.
    """

    def __init__(self, path: str) -> None:
        self.path = path if is_url(path) else os.path.abspath(local_path(path))
        self._lock = threading.Lock()
        self._known: set[int] = set()
        self._stamp: tuple[int, int] = (0, 0)
        self._rest: Quarantine | None = None

    def check(self) -> None:
        """Raise an error if rows cannot be written to the file.

        Raises:
            ConfigurationError: the file is of another kind, or is not on this machine.
        """
        if is_url(self.path):
            raise ConfigurationError(
                f"quarantine={redact(self.path)!r} is not a local file", advice="Give the path of a local file"
            )
        if not self.path.endswith((".jsonl", ".json", ".ndjson", ".parquet")):
            raise ConfigurationError(
                f"quarantine={self.path!r} has an unknown extension", advice="Give a .jsonl or a .parquet file", value=self.path
            )

    def write(self, delivery: Delivery, failed: Mapping[int, Exception], step: str) -> None:
        """Write rows that failed, except those in the file already.

        Raises:
            ConfigurationError: the path belongs to another kind of file, which stays unchanged.
            DatasetDiskError: the file cannot be written.
        """
        origins = delivery.origins()
        records = []
        for row, error in failed.items():
            name = None if origins is None else redact(origins.names[int(origins.files[row])]) or None
            number = None if origins is None else int(origins.rows[row])
            at = json.dumps(delivery.after(row - 1) if row else delivery.before) if origins is None else None
            record = {"source": name, "row": number, "at": at, "step": step}
            text = redact_text(str(error))[:_MOST_TEXT]
            records.append({**record, "error": _kind(error), "message": text, "values": values_of(delivery.block, row)})
        with self._lock, locked(f"{self.path}.lock"), disk_errors(self.path):
            (self._add_to_parquet if self.path.endswith(".parquet") else self._add_lines)(records)

    def _new(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [record for record in records if self._is_new(_key(record))]

    def _is_new(self, key: int) -> bool:
        """Return True if the row is not among those remembered as written, and remember it."""
        if key in self._known:
            return False
        if len(self._known) < MOST_KNOWN:
            self._known.add(key)
        return True

    def _add_lines(self, records: list[dict[str, Any]]) -> None:
        with open(self.path, "ab+") as file:
            known, inode = self._stamp
            status = os.fstat(file.fileno())
            if status.st_ino != inode or status.st_size < known:
                known, self._known = 0, set()
            file.seek(known)
            for number, line in enumerate(file):
                if line.endswith(b"\n"):
                    self._is_new(_key(self._record(line, number)))
                    known += len(line)
                    continue
                if line[: len(_BEGIN)] != _BEGIN[: len(line)]:
                    raise self._foreign(f"its last line begins with {_shown(line)}")
                file.truncate(known)  # the process that wrote the last line was killed in the middle of it
            file.seek(known)
            file.write("".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in self._new(records)).encode())
            file.flush()
            self._stamp = file.tell(), status.st_ino

    def _record(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict) or not set(_SCHEMA.names) <= set(found):
            raise self._foreign(f"it has {_shown(line)}" if number else f"it begins with {_shown(line)}")
        return found

    def _foreign(self, what: str) -> ConfigurationError:
        return ConfigurationError(
            f"quarantine={self.path!r} already exists and does not contain failed rows: {what}",
            advice="Give the path of a new file",
            value=self.path,
        )

    def _add_to_parquet(self, records: list[dict[str, Any]]) -> None:
        from pyarrow import parquet  # 20 ms that only this needs

        tables = []
        if os.path.exists(self.path):
            status = os.stat(self.path)
            try:
                names, count = (about := parquet.read_metadata(self.path)).schema.names, about.num_rows
            except pa.ArrowInvalid:
                raise self._foreign("it is not a Parquet file") from None
            if names != _SCHEMA.names:
                raise self._foreign(f"it has the columns {', '.join(map(repr, names[:9]))}")
            if (status.st_mtime_ns, status.st_ino) != self._stamp:
                keys = parquet.read_table(self.path, columns=["source", "row", "at", "step"])
                self._known = {_key(record) for record in keys.to_pylist()}
                self._stamp = status.st_mtime_ns, status.st_ino
        else:
            self._known, count = set(), 0
        new = [{**record, "values": json.dumps(record["values"], ensure_ascii=False)} for record in self._new(records)]
        if not new:
            return
        if count >= MOST_IN_PARQUET:  # each time such a file is written again as a whole
            if self._rest is None:
                self._rest = Quarantine(f"{self.path}.jsonl")
                logger.warning("%s already has %d rows; further rows are written to %s.", self.path, count, self._rest.path)
            self._rest._add_lines([{**record, "values": json.loads(record["values"])} for record in new])
            return
        if count:
            tables.append(parquet.read_table(self.path, schema=_SCHEMA))
        sink = pa.BufferOutputStream()
        parquet.write_table(pa.concat_tables([*tables, pa.Table.from_pylist(new, _SCHEMA)]), sink)
        write_atomically(self.path, sink.getvalue().to_pybytes())
        status = os.stat(self.path)
        self._stamp = status.st_mtime_ns, status.st_ino


def _key(record: Mapping[str, Any]) -> int:
    """Return a small number that identifies a failure."""
    told = json.dumps([record.get(name) for name in ("source", "row", "at", "step")])
    return int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "little")


def _shown(line: bytes) -> str:
    return repr(line[:40].decode("utf-8", "replace").strip())


def _kind(error: Exception) -> str:
    kind = type(error)
    is_known = kind.__module__ == "builtins" or getattr(errors, kind.__name__, None) is kind
    return kind.__qualname__ if is_known else f"{kind.__module__}.{kind.__qualname__}"


def values_of(block: Block, row: int) -> dict[str, Any]:
    """Return the values of a row as JSON; values without a JSON form as text.

    >>> from datasets_core.stream.nodes.block import DictBlock
    >>> values_of(DictBlock([{"a": 1, "b": b"xyz"}]), 0)
    {'a': 1, 'b': '<3 bytes>'}
    """
    one = block.slice(row, row + 1)
    found = one.batch.to_pylist() if isinstance(one, ArrowBlock) else one.rows()
    values: dict[str, Any] = _plain(found[0]) if found else {}
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_MOST_TEXT]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else repr(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"<{len(value)} bytes>"
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value[:_MOST_TEXT]]
    return repr(value)[:_MOST_TEXT]


T = TypeVar("T")

ACTIONS = ("raise", "skip", "null")


@dataclass(frozen=True)
class ErrorPolicy:
    """Handling of rows at which a step fails.

    Attributes:
        action: one of `ACTIONS`.
        max_errors: maximum number of such rows; None: no limit.
        quarantine: the file for the rows.
    """

    action: str = "raise"
    max_errors: int | None = None
    quarantine: str | None = None
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return ErrorPolicy, (self.action, self.max_errors, self.quarantine)

    @property
    def acts(self) -> bool:
        """True unless every failure is raised."""
        return self.action != "raise" or self.quarantine is not None

    def check(self) -> None:
        """Raise an error for a quarantine file of unknown kind.

        Raises:
            ConfigurationError: the name of the file has an unknown extension.
        """
        if self.file is not None:
            self.file.check()

    @property
    def file(self) -> Quarantine | None:
        """File for bad rows."""
        if self.quarantine is None:
            return None
        return self._kept.setdefault("file", Quarantine(self.quarantine))  # type: ignore[no-any-return]


class Ledger:
    """Counts of the rows that failed in one iteration of a stream, in all of its steps and lanes.

    Args:
        policy: error policy of the stream.
    """

    def __init__(self, policy: ErrorPolicy) -> None:
        self.policy = policy
        self._done = 0
        self._running: weakref.WeakKeyDictionary[Tally, int] = weakref.WeakKeyDictionary()
        self._kinds: Counter[str] = Counter()

    def __reduce__(self) -> tuple[Any, ...]:
        return Ledger, (self.policy,)

    def begun(self, count: int) -> Tally:
        """Return a tally that continues after the failures recorded in a state."""
        tally = Tally(self, count)
        self._running[tally] = count
        return tally

    def note(self, tally: Tally, stage: str, error: Exception) -> None:
        """Record a failed row."""
        self._running[tally] = tally.count
        self._kinds[f"{type(error).__name__} in {stage}"] += 1

    def end(self, tally: Tally) -> None:
        """Record the count of a node that was read to its end."""
        self._done += self._running.pop(tally, 0)

    def forget(self) -> None:
        """Reset the count: the rows are read again."""
        self._done = 0

    @property
    def total(self) -> int:
        """Number of rows that failed."""
        return self._done + sum(self._running.values())

    @property
    def excess(self) -> TooManyErrorsError | None:
        """Return the error to raise when more rows failed than allowed."""
        most = self.policy.max_errors
        if most is None or self.total <= most:
            return None
        return TooManyErrorsError(self.total, most, dict(self._kinds.most_common(5)), self.policy.quarantine)


class Tally:
    """Number of failed rows in one pass over the rows of a node."""

    __slots__ = ("__weakref__", "count", "ledger")

    def __init__(self, ledger: Ledger, count: int) -> None:
        self.ledger, self.count = ledger, count

    def add(self, stage: str, error: Exception) -> None:
        """Count one more failed row."""
        self.count += 1
        self.ledger.note(self, stage, error)


class Outcome(NamedTuple):
    """Result of a step on some rows.

    Attributes:
        block: the rows that the step returned.
        rows: for each of them the number of its input row; None: one for each, in order.
        failed: the error of each failed row.
    """

    block: Block
    rows: Sequence[int] | None = None
    failed: Mapping[int, Exception] = {}


@dataclass(frozen=True, slots=True)
class Guard:
    """Handling of failed rows in a node.

    Attributes:
        ledger: the ledger of the iteration.
        action: one of `ACTIONS`.
        stage: name of the step.
        null: makes the replacement of a failed row; None: failed rows are not replaced.
    """

    ledger: Ledger
    action: str
    stage: str
    null: Callable[[Delivery, int], Block] | None = None

    @classmethod
    def of(
        cls, ledger: Ledger | None, action: str | None, stage: str, null: Callable[[Delivery, int], Block] | None = None
    ) -> Guard | None:
        """Return the guard of a step; None: errors are raised.

        Args:
            ledger: ledger of the stream, if it has a policy.
            action: action of the step; None: that of the stream.
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
        """True if a failed row is replaced by a row of None."""
        return self.action == "null" and self.null is not None

    def delivered(self, delivery: Delivery, outcome: Outcome, tally: Tally) -> tuple[Delivery | None, Exception | None]:
        """Return the rows to deliver from the outcome of a row-by-row step, and the error to raise after them.

        Args:
            delivery: the input rows.
            outcome: the result of the step.
            tally: counts the failed rows.
        """
        before = tally.count
        bad, error = self.checked(delivery, outcome.failed, tally)
        block, rows = self._with_nulls(delivery, outcome, bad)
        if error is not None:
            ok = [place for place, row in enumerate(rows) if row < bad[-1]]
            block, rows = block.take(ok), [rows[place] for place in ok]
        return guarded(delivery, block, rows, before, bad) if rows else None, error

    def checked(self, delivery: Delivery, failed: Mapping[int, Exception], tally: Tally) -> tuple[list[int], Exception | None]:
        """Record failed rows; return the recorded ones, and the error to raise at the last of these."""
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
    """Return the rows with a replacement for each failed row, and the input row of each."""
    nulls = [null(delivery, row) for row in bad]
    every = [*rows, *bad]
    order = sorted(range(len(every)), key=every.__getitem__)
    found = joined([block, *nulls] if rows else nulls)
    return found.take(np.array(order, np.int64)), [every[place] for place in order]


def isolated(
    delivery: Delivery,
    error: Exception,
    call: Callable[[Delivery], Outcome],
    null: Callable[[Delivery, int], Block] | None,
) -> Outcome:
    """Return the result for a batch at which a function failed: drop each row at which it fails alone, and call it with the
    rest.

    Args:
        delivery: the batch.
        error: the error of the function.
        call: the function.
        null: makes the replacement of a failed row, if the function returns one row for each row.
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
    """Return the delivery made from another one, with states that include the rows that failed before."""
    after, origins = delivery.after, delivery.origins

    def behind(place: int) -> State:
        row = rows[place]
        return counted(after(row), count + bisect_right(bad, row))

    def taken() -> Any:
        found = origins()
        return None if found is None else found.take(rows)

    return Delivery(block, None, counted(delivery.before, count), behind, taken)

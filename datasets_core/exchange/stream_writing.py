"""`StreamWrite`: rows of a stream into the files of a journal's folder, from wherever an earlier run of the write came to."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa

from datasets_core import files
from datasets_core.errors import CellCastError, ConfigurationError, MediaError
from datasets_core.exchange.stream_batches import StreamBatches
from datasets_core.exchange.stream_sinks import Sink
from datasets_core.exchange.write_journal import WriteJournal, holds
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.streamed import at_least_one

_SETTLED_BYTES, _SETTLED_SECONDS = 32 << 20, 2.0  # after which the journal notes where a growing file stands
_Opener = Callable[[IO[bytes], Callable[[int], str] | None, Sequence[Mapping[str, Any]]], Sink]


@dataclass(frozen=True, slots=True)
class Shard:
    """A finished file.

    Attributes:
        number: of it.
        name: in the folder of the journal.
        num_bytes: as its form counts them.
        facts: what else is known of it.
    """

    number: int
    name: str
    num_bytes: int
    facts: Mapping[str, Any]


def parts_of(stream: IterableDataset, whole: StreamBatches, count: int) -> list[StreamBatches]:
    """The rows in so many parts, each a run of them.

    Raises:
        ConfigurationError: how many rows there are is not known, nor are there parts.
    """
    number = at_least_one("num_shards", count)
    plan = stream._plan
    if not plan.divides(number):
        raise ConfigurationError(
            f"num_shards={number} parts cannot be cut before the rows are counted. Give max_shard_size= instead, or a stream "
            "whose rows are known: before filter() and the like."
        )
    if number == 1:
        return [whole]
    return [whole.like(stream.shard(number, index)) for index in range(number)]


@contextlib.contextmanager
def numbered(first: int) -> Iterator[None]:
    """Have errors of a value name its row in the stream.

    Args:
        first: the number of the row from which the errors count.
    """
    try:
        yield
    except CellCastError as error:
        row = first + (error.row or 0)
        raise CellCastError(error.column, error.reason, row=row, what=error.what, advice=error.advice) from error.__cause__
    except MediaError as error:
        raise error.at(row=first + (error.row or 0)) from error.__cause__


class StreamWrite:
    """One write.

    Args:
        journal: of it, and the folder of the files.
        opened: opens a file of its form; see `FileForm.sink`.
        tell: is told how many rows were written.
        is_growing: a file that was begun is gone on with where it was noted last; else parts beside it hold its rows.
        has_parts: a file is gone on with at all; else it is written anew.
    """

    def __init__(
        self, journal: WriteJournal, opened: _Opener, tell: Callable[[int], object], *, is_growing: bool, has_parts: bool
    ) -> None:
        self._journal, self._opened, self._tell = journal, opened, tell
        self._is_growing, self._has_parts = is_growing, has_parts

    def resume(self, place: Callable[[int], str]) -> bool:
        """Keep of the journal what stands on the disk; whether it was begun.

        Args:
            place: where the file of a number is to be in the end.
        """
        entries, kept = self._journal.entries, 0
        was_begun = bool(entries)
        while kept < len(entries) and (whole := self._whole_behind(entries, kept)) is not None:
            entry = entries[whole]
            local = entry["is_placed"] or holds(self._journal.path(shard_name(entry["shard"])), entry["bytes"], entry["sha256"])
            if not local and not holds(place(entry["shard"]), entry["bytes"], entry["sha256"]):
                break
            kept = whole + 1
        self._journal.keep(self._standing_points(kept))
        return was_begun

    @staticmethod
    def _whole_behind(entries: Sequence[Mapping[str, Any]], start: int) -> int | None:
        """The entry that says that the next file is finished."""
        return next((number for number in range(start, len(entries)) if entries[number]["is_whole"]), None)

    def _standing_points(self, start: int) -> int:
        """How many entries stand, with those of the file that was begun last."""
        points = self._journal.entries[start:]
        if not self._has_parts:
            return start
        if not points or points[0]["is_whole"]:
            return start
        open_ends = next((number for number, point in enumerate(points) if point["is_whole"]), len(points))
        points = points[:open_ends]
        if self._is_growing:
            standing = (count for count in range(len(points), 0, -1) if self._stands(points[count - 1]))
            return start + next(standing, 0)
        return start + next((count for count, point in enumerate(points) if not self._stands(point)), len(points))

    def _stands(self, point: Mapping[str, Any]) -> bool:
        name = shard_name(point["shard"]) if self._is_growing else _part(point["shard"], point["file"])
        return holds(self._journal.path(name), point["bytes"], point["sha256"])

    def run(
        self, parts: Sequence[StreamBatches], limit: int | None, put: Callable[[str, int], None] | None = None
    ) -> list[Shard]:
        """Write all rows that are not written: the files, in order.

        Args:
            parts: of the rows; each begins a file.
            limit: bytes of a file, about; None: a file for each part.
            put: takes each file away when it is finished; None: they stay in the folder.

        Raises:
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        done = self._journal.entries
        self._tell(sum(entry["rows"] for entry in done))
        number = sum(entry["is_whole"] for entry in done)
        first = done[-1]["part"] + (done[-1]["is_last"]) if done else 0
        for part in range(first, len(parts)):
            state = done[-1]["state"] if done and done[-1]["part"] == part else None
            row = sum(entry["rows"] for entry in done if entry["part"] == part)
            before = sum(other.num_rows or 0 for other in parts[:part])
            number = self._write_part(part, parts[part], state, row, before, number, limit, put)
        return [_shard(entry) for entry in self._journal.entries if entry["is_whole"]]

    def _write_part(
        self,
        part: int,
        rows: StreamBatches,
        state: dict[str, Any] | None,
        row: int,
        before: int,
        number: int,
        limit: int | None,
        put: Callable[[str, int], None] | None,
    ) -> int:
        """Write the rows of a part behind a state, with so many rows in the parts before; the number of the next file."""
        points = [entry for entry in self._journal.entries if entry["shard"] == number and not entry["is_whole"]]
        file = _File(self, part, number, points)
        try:
            for batch, state_behind in rows.behind(state, row):
                if limit is not None and row % rows.size == 0 and file.sink.num_bytes >= limit:
                    with numbered(before + row):
                        file.finish(state, put, is_last=False)
                    file = _File(self, part, file.number + 1, ())
                row += batch.num_rows
                with numbered(before + row - batch.num_rows):
                    file.add(batch, ends_batch=row % rows.size == 0)
                self._tell(batch.num_rows)
                state = state_behind()
                if file.is_due:
                    with numbered(before + row):
                        file.note(state)
            with numbered(before + row):
                file.finish(state, put, is_last=True)
        except BaseException:
            file.close()
            raise
        return file.number + 1


class _File:
    """A file that is being written."""

    def __init__(self, write: StreamWrite, part: int, number: int, points: Sequence[Mapping[str, Any]]) -> None:
        self._journal, self.number, self._part = write._journal, number, part
        path = self._path = write._journal.path(shard_name(number))
        spool = (lambda count: write._journal.path(_part(number, count))) if write._has_parts else None
        is_kept = bool(points) and write._is_growing
        with files.disk_errors(path):
            self._out = open(path, "r+b" if is_kept else "w+b")  # noqa: SIM115 - closed by `close`
        try:
            self.sink = write._opened(self._out, None if write._is_growing else spool, points)
        except BaseException:
            self._out.close()
            raise
        self._goes_on = write._has_parts
        self._rows, self._noted, self._noted_at = 0, self.sink.num_bytes, time.monotonic()

    @property
    def is_due(self) -> bool:
        """Whether the journal is to note where the file stands."""
        since = self.sink.num_bytes - self._noted
        is_time = since >= _SETTLED_BYTES or (since > 0 and time.monotonic() - self._noted_at >= _SETTLED_SECONDS)
        return self._goes_on and is_time and self.sink.is_settled

    def add(self, batch: pa.RecordBatch, *, ends_batch: bool) -> None:
        with files.disk_errors(self._path):
            self.sink.add(batch, ends_batch=ends_batch)
        self._rows += batch.num_rows

    def note(self, state: Any) -> None:
        with files.disk_errors(self._path):
            self._note(self.sink.settle(), state)
        self._noted, self._noted_at = self.sink.num_bytes, time.monotonic()

    def finish(self, state: Any, put: Callable[[str, int], None] | None, *, is_last: bool) -> None:
        """End the file; `is_last`: of its part."""
        with files.disk_errors(self._path):
            facts = self.sink.end()
            self._out.close()
        if put is not None:
            put(self._path, self.number)
        told = {"is_whole": True, "is_placed": put is not None, "is_last": is_last, "num_bytes": self.sink.num_bytes}
        self._note({**facts, **told}, state)

    def _note(self, facts: Mapping[str, Any], state: Any) -> None:
        plain = {"is_whole": False, "is_last": False}
        self._journal.add({**plain, **facts, "part": self._part, "shard": self.number, "rows": self._rows, "state": state})
        self._rows = 0

    def close(self) -> None:
        """Leave the file as it stands."""
        if not self._out.closed:
            with contextlib.suppress(ValueError, OSError, pa.ArrowException):  # what is raised is the first failure
                self.sink.close()
            self._out.close()


def _shard(entry: Mapping[str, Any]) -> Shard:
    return Shard(entry["shard"], shard_name(entry["shard"]), entry["num_bytes"], entry)


def shard_name(number: int) -> str:
    """The name of a file in the folder of its journal."""
    return f"{number:05d}"


def _part(number: int, count: int) -> str:
    return os.extsep.join((shard_name(number), f"{count:05d}", "arrow"))

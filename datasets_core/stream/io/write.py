"""`StreamWrite`: writes rows of a stream into files, with a journal, and resumes where an earlier run stopped."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import itertools
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import IO, Any, Self

import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines import Engine, get_engine
from datasets_core.engines.deadline import SerialEngine
from datasets_core.errors import CellCastError, ConfigurationError, FileInPlaceError, MediaError, logger_of
from datasets_core.features.media.media import embed_table, has_media
from datasets_core.features.schema import Features
from datasets_core.io.sinks import Sink
from datasets_core.meta.info import DatasetInfo
from datasets_core.store import module_state
from datasets_core.store.atomic import discard
from datasets_core.store.commit import FORM_KEY, Journal, whole_lines
from datasets_core.store.manifest import JOURNAL_NAME
from datasets_core.store.rows.indices import at_least_one
from datasets_core.store.rows.rows import Rows
from datasets_core.stream.io.push import StreamRows
from datasets_core.stream.iteration import Streamed
from datasets_core.stream.nodes.block import Block, Kinds
from datasets_core.stream.nodes.node import Delivery, Node, State, part

# `StreamBatches`: the rows of a stream as record batches of one schema, with the state of the stream behind each.


_ROWS, _MEDIA_ROWS = 1000, 100


class StreamBatches:
    """The rows of a stream in batches: the same batches at every read, even one that starts at a state.

    Args:
        stream: the stream; its position does not change.
        batch_size: rows of a batch; None: a thousand, or a hundred if rows contain media.
        embeds: True to store the bytes of local media files in the rows.
        told: the `signature` of an earlier read: for the same rows it contains the features, so that no row is read to infer
            them.

    Raises:
        ConfigurationError: the stream is endless, or has no rows to infer types from.
    """

    def __init__(self, stream: Streamed, batch_size: int | None = None, *, embeds: bool = False, told: Any = None) -> None:
        self._stream = copy.copy(stream)
        split = str(stream.split or "train")
        features = stream.features or _with_known_features(stream, told)
        self._rows = StreamRows.of(stream._plan, stream.epoch, split, embeds=False, features=features)
        self._kinds = Kinds(self._rows.features, stream._plan.source.paths)
        has_files = any(map(has_media, self._rows.features.values()))
        self._embeds = embeds and has_files
        self.size = (_MEDIA_ROWS if has_files else _ROWS) if batch_size is None else batch_size

    def like(self, stream: Streamed) -> StreamBatches:
        """Return the rows of a part of the stream, in batches of the same size, with the same features."""
        other = copy.copy(self)
        other._stream = copy.copy(stream)
        other._rows = replace(self._rows, plan=stream._plan)
        return other

    @property
    def features(self) -> Features:
        """Features of the columns; inferred from the first rows if the stream does not have them."""
        return self._rows.features

    @property
    def num_rows(self) -> int | None:
        """Number of rows, if known."""
        return self._stream._plan.num_rows

    @property
    def sample(self) -> Rows:
        """A table of the columns without rows."""
        return self.tabled(pa.RecordBatch.from_pylist([], schema=self.features.arrow_schema))

    def tabled(self, batch: pa.RecordBatch) -> Rows:
        """Return rows as `Rows` with the features of the stream."""
        return Rows(batch, DatasetInfo(features=self.features))

    def signature(self) -> list[Any]:
        """Return plain JSON that identifies these rows: the plan, the start position, and their columns.

        Rows of a function without a lasting identity never count as the same.
        """
        state = self._stream.state_dict()
        is_known = all(step[1] for step in state["plan"])
        return [state, self.size, self.features.to_dict(), *([] if is_known else [os.urandom(8).hex()])]

    def behind(self, state: dict[str, Any] | None, row: int) -> Iterator[tuple[pa.RecordBatch, Callable[[], dict[str, Any]]]]:
        """Yield the rows after a state in batches, each with a function that returns the state after the batch.

        The size of a batch depends on the time it takes; a batch ends at each multiple of `size` in every run.

        Args:
            state: a state of this stream; None: its current position.
            row: the number of the first row.

        Raises:
            CellCastError: a value is of a different type than its column; the error names split, row and column.
        """
        stream = copy.copy(self._stream)
        if state is not None:
            stream.load_state_dict(state)
        blocks = stream._begin(_shows_blocks, partial(_pieces, self.size, row))
        for block in blocks:
            batch = self._rows.encoded(block, self._kinds, row)
            if self._embeds:
                table = pa.Table.from_batches([batch])
                table = embed_table(table, self.features, paths=self._kinds.paths, remote_files=False)
                (batch,) = table.combine_chunks().to_batches()
            yield batch, blocks.state_dict
            row += batch.num_rows


def _with_known_features(stream: Streamed, told: Any) -> Features | None:
    if not isinstance(told, list) or len(told) != 3 or told[0] != stream.state_dict():
        return None
    return Features.from_dict(told[2])


def _pieces(size: int, row: int, node: Node, state: State) -> Iterator[Delivery]:
    """Yield deliveries that end at each multiple of `size`; the first row has the number `row`."""
    for delivery in node.blocks(state):
        begin, rows = 0, delivery.block.num_rows
        while begin < rows:
            end = min(rows, begin + size - row % size)
            yield part(delivery, begin, end)
            begin, row = end, row + end - begin


def _shows_blocks() -> Callable[[Delivery], tuple[list[Block], Callable[[int], State]]]:
    return lambda delivery: ([delivery.block], partial(_always, delivery.after(delivery.block.num_rows - 1)))


def _always(state: State, _: int) -> State:
    return state


_SETTLED_BYTES, _SETTLED_SECONDS = 32 << 20, 2.0  # after which the journal records the position in a growing file
_Opener = Callable[[IO[bytes], Callable[[int], str] | None, Sequence[Mapping[str, Any]]], Sink]


@dataclass(frozen=True, slots=True)
class Shard:
    """A finished file.

    Attributes:
        number: number of the file.
        name: its name in the folder of the journal.
        num_bytes: its size, as the format counts it.
        facts: further facts about it.
    """

    number: int
    name: str
    num_bytes: int
    facts: Mapping[str, Any]


def parts_of(stream: Streamed, whole: StreamBatches, count: int) -> list[StreamBatches]:
    """Return the rows in `count` parts; each is a contiguous run of rows.

    Raises:
        ConfigurationError: the number of rows is unknown, so they cannot be divided.
    """
    number = at_least_one("num_shards", count)
    plan = stream._plan
    if not plan.divides(number):
        raise ConfigurationError(
            f"num_shards={number} needs the number of rows, which is unknown",
            advice="Use max_shard_size= instead, or a stream whose number of rows is known, without filter() and similar steps",
        )
    if number == 1:
        return [whole]
    return [whole.like(stream._like(plan.sharded(number, index, is_contiguous=True))) for index in range(number)]


@contextlib.contextmanager
def numbered(first: int) -> Iterator[None]:
    """Number the row in errors about a value as in the stream.

    Args:
        first: the number of the row that the errors count as row 0.
    """
    try:
        yield
    except CellCastError as error:
        row = first + (error.row or 0)
        raise CellCastError(error.column, error.reason, row=row, what=error.what, advice=error.advice) from error.__cause__
    except MediaError as error:
        raise error.at(row=first + (error.row or 0)) from error.__cause__


class StreamWrite:
    """One write of a stream.

    Args:
        journal: the journal of the write, with the folder of its files.
        opened: opens a file of its format; see `FileForm.sink`.
        tell: called with the number of rows written.
        is_growing: True if a file is appended to from its last recorded position; else its rows are stored in parts next to it.
        has_parts: True if a file can be resumed; else it is written again from its beginning.
    """

    def __init__(
        self, journal: WriteJournal, opened: _Opener, tell: Callable[[int], object], *, is_growing: bool, has_parts: bool
    ) -> None:
        self._journal, self._opened, self._tell = journal, opened, tell
        self._is_growing, self._has_parts = is_growing, has_parts

    def resume(self, place: Callable[[int], str]) -> bool:
        """Drop the journal entries whose files are not on the disk; return True if the write was begun before.

        Args:
            place: returns the final path of a file by its number.
        """
        entries, kept = self._journal.entries, 0
        was_begun = bool(entries)
        while kept < len(entries) and (whole := self._whole_behind(entries, kept)) is not None:
            entry = entries[whole]
            local = entry["is_placed"] or holds(self._journal.path(shard_name(entry["shard"])), entry["bytes"], entry["sha256"])
            if not local and not holds(place(entry["shard"]), entry["bytes"], entry["sha256"]):
                break
            kept = whole + 1
        self._journal.keep(entries[: self._saved_points(kept)])
        return was_begun

    @staticmethod
    def _whole_behind(entries: Sequence[Mapping[str, Any]], start: int) -> int | None:
        """Return the entry that says that the next file is finished."""
        return next((number for number in range(start, len(entries)) if entries[number]["is_whole"]), None)

    def _saved_points(self, start: int) -> int:
        """Return the number of valid entries, including those of the file written last."""
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
        """Write all rows that are not written yet; return the finished files, in order.

        Args:
            parts: parts of the rows; each begins a new file.
            limit: approximate bytes of a file; None: one file for each part.
            put: moves each file to its target when it is finished; None: they stay in the folder.

        Raises:
            DatasetDiskError: the disk is full, read-only or forbidden.
        """
        done = self._journal.entries
        self._tell(sum(entry["rows"] for entry in done))
        number = sum(entry["is_whole"] for entry in done)
        first = done[-1]["part"] + (done[-1]["is_last"]) if done else 0
        engine = get_engine()
        if limit is None and not self._has_parts and len(parts) - first > 1 and not isinstance(engine, SerialEngine):
            self._run_by(engine, parts, first, put)
            first = len(parts)
        for index in range(first, len(parts)):
            state = done[-1]["state"] if done and done[-1]["part"] == index else None
            row = sum(entry["rows"] for entry in done if entry["part"] == index)
            before = sum(other.num_rows or 0 for other in parts[:index])
            number = self._write_part(index, parts[index], state, row, before, number, limit, put)
        return [_shard(entry) for entry in self._journal.entries if entry["is_whole"]]

    def _run_by(
        self, engine: Engine, parts: Sequence[StreamBatches], first: int, put: Callable[[str, int], None] | None
    ) -> None:
        """Write the parts from `first` on with workers, each part into one file."""
        folder = self._journal.folder
        befores = itertools.accumulate((part.num_rows or 0 for part in parts), initial=0)
        jobs = [(index, part, before) for index, (part, before) in enumerate(zip(parts, befores, strict=False))][first:]
        options: Any = {"verb": "The export", "folder": folder, "ordered": True}
        work = partial(_by_worker, folder, self._opened)
        for _, (written, entry) in module_state.run(engine, work, jobs, **options):
            path = self._journal.path(shard_name(entry["shard"]))
            os.replace(written, path)
            if put is not None:
                put(path, entry["shard"])
            self._journal.add({**entry, "is_placed": put is not None})
            self._tell(entry["rows"])
        for name in os.listdir(folder):  # of jobs that ran twice
            if _ATTEMPT.fullmatch(name):
                os.unlink(self._journal.path(name))

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
        """Write the rows of a part after a state; `row` rows are in earlier parts. Return the number of the next file."""
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
            with contextlib.suppress(OSError):  # a full disk refuses what is left, too: the first failure is the one to report
                file.close()
            raise
        return file.number + 1


_ATTEMPT = re.compile(r"\d{5,}-[0-9a-f]{8}")


class _Attempt:
    """Replaces the journal in a worker that writes a part; its files have unique names, since a job may run twice."""

    def __init__(self, folder: str) -> None:
        self._folder, self._token = folder, os.urandom(4).hex()
        self.entries: list[dict[str, Any]] = []

    def path(self, name: str) -> str:
        return os.path.join(self._folder, f"{name}-{self._token}")

    def add(self, entry: dict[str, Any]) -> None:
        self.entries.append(entry)


def _by_worker(folder: str, opened: _Opener, job: tuple[int, StreamBatches, int]) -> tuple[str, dict[str, Any]]:
    """Write a part; return the path of its file and its entry for the journal."""
    index, rows, before = job
    journal: Any = _Attempt(folder)
    write = StreamWrite(journal, opened, lambda rows: None, is_growing=False, has_parts=False)
    write._write_part(index, rows, None, 0, before, index, None, None)
    return journal.path(shard_name(index)), journal.entries[-1]


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
        """True if the journal should record the position in the file."""
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
        """Finish the file; `is_last` is True for the last file of its part."""
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
        """Close the file without finishing it."""
        if not self._out.closed:
            with contextlib.suppress(ValueError, OSError, pa.ArrowException):  # what is raised is the first failure
                self.sink.close()
            self._out.close()


def _shard(entry: Mapping[str, Any]) -> Shard:
    return Shard(entry["shard"], shard_name(entry["shard"]), entry["num_bytes"], entry)


def shard_name(number: int) -> str:
    """Return the name of a file in the folder of its journal."""
    return f"{number:05d}"


def _part(number: int, count: int) -> str:
    return os.extsep.join((shard_name(number), f"{count:05d}", "arrow"))


# `WriteJournal`: the folder from which a write resumes after a crash.

logger = logger_of(__name__)

_FORM, _LOCK, _CHUNK = 1, "lock", 1 << 20


class WriteJournal(Journal[dict[str, Any]]):
    """Folder and journal of a write; a context manager that holds its lock.

    If the recorded header differs, the write starts again, and this is logged.

    Args:
        folder: a local folder, which `finish` removes.
        header: description of the write: plain JSON.
        label: name of the target, for messages.

    Raises:
        DatasetDiskError: (entering) the disk is full, read-only or forbidden.
        FileInPlaceError: (entering) the path of the folder is a file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with WriteJournal(files.join(place, "a"), {"of": "rows"}, "a.csv") as journal:
    ...         _ = journal.add({"rows": 5})
    ...     with WriteJournal(files.join(place, "a"), {"of": "rows"}, "a.csv") as journal:
    ...         journal.entries
    [{'rows': 5}]
    """

    def __init__(self, folder: str, header: Mapping[str, Any], label: str) -> None:
        self.folder, self._label = folder, label
        self._held = contextlib.ExitStack()
        super().__init__(self.path(JOURNAL_NAME), {**header, FORM_KEY: _FORM}, dict, dict)

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as held, files.disk_errors(self.folder):
            try:
                os.makedirs(self.folder, exist_ok=True)
            except (FileExistsError, NotADirectoryError) as error:
                raise FileInPlaceError(self.folder) from error
            held.enter_context(files.locked(self.path(_LOCK)))
            os.makedirs(self.folder, exist_ok=True)  # the previous owner of the lock may have finished
            if not self.read():
                logger.warning(
                    "%s: an earlier write with other rows or options is discarded; everything is written again.", self._label
                )
            if not self.entries:
                for name in set(os.listdir(self.folder)) - {_LOCK}:
                    os.unlink(self.path(name))
            self._held = held.pop_all()
        return super().__enter__()

    def path(self, name: str) -> str:
        """Return a file in the folder."""
        return os.path.join(self.folder, name)

    def finish(self) -> None:
        """Remove the folder; all files are in their final places."""
        self.close()
        with contextlib.suppress(OSError):
            discard(self.folder)

    def __exit__(self, *_: object) -> None:
        self.close()
        self._held.close()


def header_of(folder: str) -> dict[str, Any]:
    """Return the header of the journal in a folder; an empty value if there is none."""
    header = next(whole_lines(os.path.join(folder, JOURNAL_NAME)), None)
    return header if isinstance(header, dict) else {}


def writing_folder(target: str) -> str:
    """Return the folder of files while they are written: hidden, next to a local path; for a URL in the cache.

    >>> writing_folder("/data/rows.csv")
    '/data/.rows.csv.writing'
    """
    if files.is_url(target):
        return os.path.join(settings().cache_dir, "writes", hashlib.sha256(target.encode()).hexdigest()[:32])
    head, tail = os.path.split(os.path.abspath(target))
    return os.path.join(head, f".{tail}.writing")


def holds(path: str, size: int, sha256: str) -> bool:
    """Return True if the first `size` bytes of a file are those with this sha256."""
    digest, missing = hashlib.sha256(), size
    if not os.path.exists(path) or os.stat(path).st_size < size:
        return False
    with open(path, "rb") as file:
        while missing and (chunk := file.read(min(_CHUNK, missing))):
            digest.update(chunk)
            missing -= len(chunk)
    return not missing and digest.hexdigest() == sha256

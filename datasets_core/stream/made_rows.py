"""`MadeRows`: rows that jobs make while they are read, one after the other; how many a job makes is known behind its last.

A state is the number of the job and that of the row in it; going on there means that the job makes its rows again, and leaves
those before out, unless it told by a mark where to begin.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.stream.block import ArrowBlock, Block, DictBlock, Kinds, joined
from datasets_core.stream.node import Delivery, State
from datasets_core.stream.order import even_run
from datasets_core.stream.permutation import Permutation
from datasets_core.stream.rows_by_place import Origins
from datasets_core.stream.shared_reading import Piece, SharedReading

_ROW_BYTES = 1024  # of rows that are dicts, about
_PIECE_ROWS, _PIECE_BYTES, _SLOW_SECONDS = 1 << 14, 4 << 20, 0.02

Rows: TypeAlias = "pa.RecordBatch | list[dict[str, Any]]"
"""Some rows: columns with types, or values as they are."""


class Marked(NamedTuple):
    """Some rows, and where they begin, so that their job can begin there again.

    Attributes:
        rows: the rows.
        mark: what the job needs to make these rows first: plain JSON of some hundred bytes at most.
    """

    rows: Rows
    mark: Any


Made: TypeAlias = "Rows | Marked"
"""What a job gives: some rows, with a mark or without."""


class RowJob(Protocol):
    """Makes rows.

    More that it may have: `num_rows()`, how many rows it makes, or None where that would have to be found out by making them;
    `least_rows()`, how many it makes at least, as far as that is known; and `batches(skip, *, in_order, mark)`, where it gives
    `Marked` rows.  A mark is handed back as `[row, mark]`: the number of the first row of those that were marked, which is no
    more than `skip`, and what the job said.
    """

    @property
    def stands_alone(self) -> bool:
        """Whether it gives the same rows by itself as in the order of all."""
        ...

    def batches(self, skip: int, *, in_order: bool) -> Generator[Made]:
        """The rows behind the first `skip`, as they are made; each time from the beginning.

        Args:
            skip: rows to leave out.
            in_order: all jobs are read, in their order: one may give what belongs to those behind it, which then give nothing.
        """
        ...


class Jobs(Protocol):
    """What makes the rows: `RowsOfJobs`."""

    @property
    def jobs(self) -> tuple[RowJob, ...]:
        """The jobs, in order."""
        ...

    def file_names(self) -> Sequence[str] | None:
        """The file of each job; None where they come from none."""
        ...

    def kinds(self, schema: pa.Schema) -> Kinds:
        """What the columns of a batch are."""
        ...


@dataclass(frozen=True, slots=True)
class MadeRows:
    """The rows of jobs, in an order of the jobs; a node (see `Node`).

    A state is `[job, row]`, or `[job, row, [row of the mark, mark]]` behind rows that were marked.

    Attributes:
        source: the jobs.
        order: the numbers of those that are read.
        every: where more lanes than jobs are read, into how many lanes the rows of the one job divide: every so many are read.
        first: which of them.
        reading: what reads for several lanes.
        label: tells the source from the others of a stream; it begins the origin of rows that come from no file.
    """

    source: Jobs
    order: tuple[int, ...]
    every: int = 1
    first: int = 0
    reading: SharedReading | None = field(default=None, compare=False)
    label: str = ""

    @classmethod
    def of(cls, source: Jobs) -> MadeRows:
        """The rows of all jobs, in order."""
        return cls(source, tuple(range(len(source.jobs))))

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [0, 0]

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        place, row, *marks = state
        mark = marks[0] if marks else None
        while place < len(self.order):
            pieces = self._pieces(self.order[place], row, mark)
            with closing(pieces):
                for start, stop, (block, mark), _, _ in pieces:
                    first = max(row, start)
                    first += (self.first - first) % self.every
                    if first < stop:
                        rows = range(first - start, stop - start, self.every)
                        after = _Behind(place, first, self.every, mark)
                        whole = len(rows) == block.num_rows
                        origins = partial(self._origins, self.order[place], first, len(rows))
                        yield Delivery(block if whole else _taken(block, rows), None, after.before(row), after, origins)
                    row = stop
            place, row, mark = place + 1, 0, None

    def _origins(self, number: int, first: int, count: int) -> Origins:
        """Where some rows of a job stand: in its file, if it has one, else among the rows that it makes."""
        names = self.source.file_names()
        name, before = getattr(self.source.jobs[number], "origin", None) or (f"{self.label} part {number}".strip(), 0)
        rows = before + first + self.every * np.arange(count, dtype=np.int64)
        if names is not None and names[number]:
            return Origins(names, np.full_like(rows, number), rows)
        return Origins((name or self.label,), np.zeros_like(rows), rows)

    def labelled(self, label: str) -> MadeRows:
        """The rows of a source that is one of several: see `Plan.labelled`."""
        return replace(self, label=label)

    def _pieces(self, job: int, row: int, mark: Any) -> Generator[Piece]:
        if self.reading is None or self.every == 1:
            return self._made(job, row, mark)
        opened = partial(self._together, job)
        return self.reading.pieces((id(self.source), job), self.first, row, mark, opened)

    def _made(self, job: int, row: int, mark: Any) -> Generator[Piece]:
        """The rows of a job from a row on; a piece tells the last mark before its end."""
        in_order = self.order == tuple(range(len(self.source.jobs)))
        with closing(begun(self.source.jobs[job], row, mark, in_order=in_order)) as batches:
            for made in batches:
                rows, mark = (made.rows, [row, made.mark]) if isinstance(made, Marked) else (made, mark)
                is_listed = isinstance(rows, list)
                block = DictBlock(rows) if isinstance(rows, list) else ArrowBlock(rows, self.source.kinds(rows.schema))
                if block.num_rows:
                    num_bytes = _ROW_BYTES * block.num_rows if is_listed else rows.nbytes  # type: ignore[union-attr]
                    yield Piece(row, row + block.num_rows, (block, mark), mark, num_bytes)
                    row += block.num_rows

    def _together(self, job: int, row: int, mark: Any) -> Generator[Piece]:
        """Larger and larger pieces for several lanes, each of which takes few rows of one; none waits for slow rows."""
        waiting: list[Piece] = []
        want = rows = num_bytes = 0
        with closing(self._made(job, row, mark)) as pieces:
            while True:
                begun = time.perf_counter()
                piece = next(pieces, None)
                seconds = time.perf_counter() - begun
                if waiting and (piece is None or not _is_alike(waiting[0], piece)):
                    yield _one_piece(waiting, num_bytes)
                    waiting, rows, num_bytes = [], 0, 0
                if piece is None:
                    return
                waiting.append(piece)
                rows, num_bytes = rows + piece.stop - piece.start, num_bytes + piece.num_bytes
                if rows >= want or num_bytes >= _PIECE_BYTES or seconds > _SLOW_SECONDS:
                    yield _one_piece(waiting, num_bytes)
                    want = 0 if seconds > _SLOW_SECONDS else min(4 * rows, _PIECE_ROWS)
                    waiting, rows, num_bytes = [], 0, 0

    def skipped(self, state: State, count: int) -> tuple[State, int]:
        """The state behind as many of the next rows, of `count`, as need not be made to be skipped, and how many these are.

        These are those of jobs that say how many rows they make, and of the job behind them, which leaves rows out itself.
        """
        if self.every > 1:
            return state, 0
        place, row, *marks = state
        done = 0
        while done < count and place < len(self.order):
            rows = rows_of(self.source.jobs[self.order[place]])
            is_last = place == len(self.order) - 1
            least = _least_rows_of(self.source.jobs[self.order[place]]) if rows is None else rows
            if (rows is None and is_last) or least - row > count - done:
                return [place, row + count - done, *marks], count
            if rows is None:
                break
            done += max(0, rows - row)
            place, row, marks = place + 1, 0, []
        return [place, row, *marks], done

    def lane(self, lane: int, lanes: int) -> MadeRows:
        """One of `lanes` parts: every so many of the jobs, or where these are fewer, every so many of the rows of one.

        >>> [[part.order, part.first, part.every] for part in (MadeRows(None, (7, 8)).lane(lane, 5) for lane in range(5))]
        [[(7,), 0, 3], [(8,), 0, 2], [(7,), 1, 3], [(8,), 1, 2], [(7,), 2, 3]]
        """
        jobs = len(self.order)
        if jobs >= lanes or not jobs:
            return replace(self, order=self.order[lane::lanes])
        number = lane % jobs
        return replace(self, order=(self.order[number],), every=len(range(number, lanes, jobs)), first=lane // jobs)

    def shared_by(self, shared: SharedReading, state: State) -> MadeRows:
        """The lane with what reads for others, too, told where this one will begin."""
        if self.every == 1:
            return self
        place, row, *marks = state
        if place < len(self.order):
            shared.expect((id(self.source), self.order[place]), self.first, row, marks[0] if marks else None)
        return replace(self, reading=shared)

    def shuffled(self, seed: int, epoch: int) -> MadeRows:
        """The jobs in an order that a seed decides, another one in each epoch."""
        places = Permutation(len(self.order), "jobs", seed, epoch).at(np.arange(len(self.order), dtype=np.int64))
        return replace(self, order=tuple(self.order[place] for place in places.tolist()))

    def shared(self, index: int, count: int, *, is_contiguous: bool) -> MadeRows:
        """One of `count` parts of the jobs."""
        chosen = even_run(len(self.order), count, index) if is_contiguous else range(index, len(self.order), count)
        return replace(self, order=tuple(self.order[place] for place in chosen))


def rows_of(job: RowJob) -> int | None:
    """How many rows a job makes, if it says."""
    told = getattr(job, "num_rows", None)
    return None if told is None else told()


def _least_rows_of(job: RowJob) -> int:
    told = getattr(job, "least_rows", None)
    return 0 if told is None else int(told())


def begun(job: RowJob, skip: int, mark: Any, *, in_order: bool) -> Generator[Made]:
    """The rows of a job behind the first `skip`; only a job that gave a mark is told one."""
    if mark is None:
        return job.batches(skip, in_order=in_order)
    batches: Any = job.batches
    found: Generator[Made] = batches(skip, in_order=in_order, mark=mark)
    return found


@dataclass(frozen=True, slots=True)
class _Behind:
    """The state behind a row of a block: a job, the number of the first row in it, and how many lie between two rows."""

    place: int
    first: int
    every: int
    mark: Any

    def __call__(self, row: int) -> State:
        return self.before(self.first + row * self.every + 1)

    def before(self, row: int) -> State:
        """The state before a row of the job."""
        return [self.place, row] if self.mark is None else [self.place, row, self.mark]


def _is_alike(one: Piece, other: Piece) -> bool:
    """Whether the rows of two pieces can be one block as they are."""
    first, second = one.held[0], other.held[0]
    return type(first) is type(second) and getattr(first, "kinds", None) is getattr(second, "kinds", None)


def _one_piece(pieces: Sequence[Piece], num_bytes: int) -> Piece:
    """Pieces as one; a state in it has the mark before the first, and what is read on begins at that of the last."""
    if len(pieces) == 1:
        return pieces[0]
    first, last = pieces[0], pieces[-1]
    return Piece(first.start, last.stop, (joined([piece.held[0] for piece in pieces]), first.held[1]), last.behind, num_bytes)


def _taken(block: Block, rows: range) -> Block:
    return block.slice(rows.start, rows[-1] + 1) if rows.step == 1 else block.take(rows)

"""`GeneratedRows`: rows that jobs generate while they are read, one job after the other.

A state is the number of the job and of the row in it.  To resume, the job generates its rows again, and earlier rows are
dropped, unless a mark records where it can start.
"""

from __future__ import annotations

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.errors import DatasetsCoreError
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import ArrowBlock, Block, DictBlock, Kinds, joined
from datasets_core.stream.nodes.node import Delivery, Node, State, check_reach, is_count, is_listed, is_whole, no_place
from datasets_core.stream.nodes.ordered import Ordered, Piece, SharedCursor
from datasets_core.stream.nodes.positions import Origins, Source
from datasets_core.stream.order.layers import Permutation, even_run

# First requests of several streams, sent at the same time: one round trip instead of one for each.


_MOST = 16  # threads at a time


def ask_together(calls: Sequence[Callable[[], object]]) -> None:
    """Make several calls at the same time; failures are not raised here, but by the next call for the value."""
    if len(calls) > 1:
        from datasets_core.engines.pool import ThreadEngine

        list(ThreadEngine(_MOST).run(_made, calls))


def _made(call: Callable[[], object]) -> None:
    with contextlib.suppress(DatasetsCoreError):
        call()


def fetch_first_rows(places: Sequence[tuple[Node, State]]) -> None:
    """Fetch the next row of each node, which its source keeps; no function of the user is called."""
    found = [first for node, state in places if (first := node.first_place(state)) is not None]
    ask_together([partial(_read, rows, place) for rows, place in found if rows.source.is_fetched])


def reach_together(counts: Sequence[tuple[Node, int]]) -> None:
    """Find out for each node whether it has this many rows."""
    found = [(first[0], count) for node, count in counts if (first := node.first_place(node.start)) is not None]
    ask_together([partial(rows.reach, count) for rows, count in found if rows.source.is_fetched])


def _read(rows: Ordered, place: int) -> None:
    if rows.reach(place + 1) > place:
        rows.source.read(rows.places(np.array([place], np.int64)), 0)


_PIECE_ROWS, _PIECE_BYTES, _SLOW_SECONDS = 1 << 14, 4 << 20, 0.02

JobRows: TypeAlias = "pa.RecordBatch | list[dict[str, Any]]"
"""Rows: columns with types, or values as they were yielded."""


class Marked(NamedTuple):
    """Rows, and the position at which their job can start again to make them.

    Attributes:
        rows: the rows.
        mark: what the job needs to make these rows first: plain JSON of a few hundred bytes at most.
    """

    rows: JobRows
    mark: Any


JobOutput: TypeAlias = "JobRows | Marked"
"""Output of a job: some rows, with or without a mark."""


class RowJob(ABC):
    """Makes rows."""

    __slots__ = ()

    @property
    @abstractmethod
    def is_independent(self) -> bool:
        """True if the job yields the same rows when it is read separately from the others."""

    @abstractmethod
    def batches(self, skip: int, *, in_order: bool, mark: Any = None) -> Generator[JobOutput]:
        """Return the rows after the first `skip`, as they are made; each call starts at the beginning, or at a mark.

        Args:
            skip: rows to leave out.
            in_order: True if all jobs are read in their order: a job may yield rows of later jobs, which then yield none.
            mark: `[row, mark]` of a `Marked` row that it yielded: the number of its first row, at most `skip`,
                and the mark of the job; None: no mark.
        """

    def num_rows(self) -> int | None:
        """Return the number of rows; None if unknown before the rows are generated."""
        return None

    def least_rows(self) -> int:
        """Return a lower bound of the number of rows."""
        return 0

    @property
    def origin(self) -> tuple[str, int] | None:
        """The name of its file, and the number of its first row in the file; None: rows are numbered within the job."""
        return None


@dataclass(frozen=True, slots=True)
class GeneratedRows(Node):
    """The rows of jobs, in an order of the jobs.

    A state is `[job, row]`, or `[job, row, [row of the mark, mark]]` after rows with a mark.

    Attributes:
        source: the jobs.
        order: numbers of the jobs to read.
        every: with more logical shards than jobs, the number of shards of the one job: every `every`-th row is read.
        first: the first of these rows.
        cursor: reads rows for two or more logical shards.
        label: name of the source in a combined stream; it begins the origin of rows without a file.
    """

    source: RowsOfJobs
    order: tuple[int, ...]
    every: int = 1
    first: int = 0
    cursor: SharedCursor | None = field(default=None, compare=False)
    label: str = ""

    @classmethod
    def of(cls, source: RowsOfJobs) -> GeneratedRows:
        """Return the rows of all jobs, in order."""
        return cls(source, tuple(range(len(source.jobs))))

    @property
    def start(self) -> State:
        return [0, 0]

    @property
    def num_rows(self) -> int | None:
        return None

    def state_after(self, count: int) -> State | None:
        return None

    def check_state(self, at: Any) -> None:
        if not isinstance(at, (list, tuple)) or len(at) not in (2, 3) or not all(map(is_count, at[:2])):
            raise no_place(at, self.start)
        if len(at) == 3 and not (is_listed(at[2], 2) and is_whole(at[2][0])):
            raise no_place(at, self.start)
        check_reach(at[0], len(self.order), "part")

    def blocks(self, state: State) -> Iterator[Delivery]:
        place, row, *marks = state
        mark = marks[0] if marks else None
        while place < len(self.order):
            job = self.order[place]
            if self.cursor is not None and self.every > 1:
                pieces = self.cursor.pieces((id(self.source), job), self.first, row, mark, partial(self._together, job))
                with closing(pieces):
                    for start, stop, (block, mark), _, _ in pieces:
                        if (found := self._delivery(place, row, start, block, mark)) is not None:
                            yield found
                        row = stop
            else:
                start = row
                with closing(self._begun(job, row, mark)) as batches:
                    for made in batches:
                        block, mark = self._block(made, start, mark)
                        if (found := self._delivery(place, row, start, block, mark)) is not None:
                            yield found
                        row = start = start + block.num_rows
            place, row, mark = place + 1, 0, None

    def _delivery(self, place: int, row: int, start: int, block: Block, mark: Any) -> Delivery | None:
        """Return the rows of a block that belong to this node, from row `row` of the job on; None if it has no such rows.

        Args:
            place: place of the job in the order.
            row: the first row that was not delivered.
            start: the number of the first row of the block.
            block: some rows of the job.
            mark: the last one before their end.
        """
        stop = start + block.num_rows
        first = max(row, start)
        first += (self.first - first) % self.every
        if first >= stop:
            return None
        rows = range(first - start, stop - start, self.every)
        after = _Behind(place, first, self.every, mark)
        found = block if len(rows) == block.num_rows else _taken(block, rows)
        return Delivery(found, None, after.before(row), after, partial(self._origins, self.order[place], first, len(rows)))

    def _begun(self, job: int, row: int, mark: Any) -> Generator[JobOutput]:
        """Yield the output of a job from a row on."""
        in_order = self.order == tuple(range(len(self.source.jobs)))
        return self.source.jobs[job].batches(row, in_order=in_order, mark=mark)

    def _block(self, made: JobOutput, row: int, mark: Any) -> tuple[Block, Any]:
        """Return rows that begin with number `row` of a job, and the last mark before their end."""
        rows, mark = (made.rows, [row, made.mark]) if isinstance(made, Marked) else (made, mark)
        return DictBlock(rows) if isinstance(rows, list) else ArrowBlock(rows, self.source.kinds(rows.schema)), mark

    def _origins(self, number: int, first: int, count: int) -> Origins:
        """Return the origins of some rows of a job: in its file if it has one, else numbered within the job."""
        names = self.source.file_names()
        name, before = self.source.jobs[number].origin or (f"{self.label} part {number}".strip(), 0)
        rows = before + first + self.every * np.arange(count, dtype=np.int64)
        if names is not None and names[number]:
            return Origins(names, np.full_like(rows, number), rows)
        return Origins((name or self.label,), np.zeros_like(rows), rows)

    def labelled(self, label: str) -> GeneratedRows:
        """Return the rows of a source that is one of several: see `Plan.labelled`."""
        return replace(self, label=label)

    def _pieces(self, job: int, row: int, mark: Any) -> Generator[Piece]:
        """Yield the rows of a job from a row on; a piece has the last mark before its end."""
        with closing(self._begun(job, row, mark)) as batches:
            for made in batches:
                block, mark = self._block(made, row, mark)
                if block.num_rows:
                    yield Piece(row, row + block.num_rows, (block, mark), mark, block.num_bytes)
                    row += block.num_rows

    def _together(self, job: int, row: int, mark: Any) -> Generator[Piece]:
        """Yield growing pieces for logical shards, each of which takes few rows of a piece; slow rows delay no other rows."""
        waiting: list[Piece] = []
        want = rows = num_bytes = 0
        with closing(self._pieces(job, row, mark)) as pieces:
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

    def skip(self, state: State, count: int) -> tuple[State, int]:
        """See `Node.skip`.

        Rows that need not be generated are those of jobs with a known number of rows, and of the job after them, which skips
        rows itself.
        """
        if self.every > 1:
            return state, 0
        place, row, *marks = state
        done = 0
        while done < count and place < len(self.order):
            job = self.source.jobs[self.order[place]]
            rows = job.num_rows()
            is_last = place == len(self.order) - 1
            least = job.least_rows() if rows is None else rows
            if (rows is None and is_last) or least - row > count - done:
                return [place, row + count - done, *marks], count
            if rows is None:
                break
            done += max(0, rows - row)
            place, row, marks = place + 1, 0, []
        return [place, row, *marks], done

    @property
    def most_rows(self) -> int | None:
        return None

    @property
    def num_parts(self) -> int:
        return len(self.order)

    def in_turn(self, turn: int) -> GeneratedRows:
        return self

    def timed_by(self, clock: Callable[[], float]) -> GeneratedRows:
        """See `Node.timed_by`: jobs decide themselves how many rows they yield at once."""
        return self

    def shard(self, index: int, count: int) -> GeneratedRows:
        """See `Node.shard`: every `count`-th job, or if there are fewer jobs, every n-th row of one.

        >>> [[each.order, each.first, each.every] for each in (GeneratedRows(None, (7, 8)).shard(i, 5) for i in range(5))]
        [[(7,), 0, 3], [(8,), 0, 2], [(7,), 1, 3], [(8,), 1, 2], [(7,), 2, 3]]
        """
        jobs = len(self.order)
        if jobs >= count or not jobs:
            return replace(self, order=self.order[index::count])
        number = index % jobs
        return replace(self, order=(self.order[number],), every=len(range(number, count, jobs)), first=index // jobs)

    def shard_jobs(self, index: int, count: int, *, is_contiguous: bool) -> GeneratedRows:
        chosen = even_run(len(self.order), count, index) if is_contiguous else range(index, len(self.order), count)
        return replace(self, order=tuple(self.order[place] for place in chosen))

    def sharing(self, cursor: SharedCursor, state: State, clock: Callable[[], float] | None = None) -> GeneratedRows:
        if self.every == 1:
            return self
        place, row, *marks = state
        if place < len(self.order):
            cursor.expect((id(self.source), self.order[place]), self.first, row, marks[0] if marks else None)
        return replace(self, cursor=cursor)

    def shuffle_parts(self, seed: int, epoch: int) -> GeneratedRows:
        """See `Node.shuffle_parts`: the jobs, in another order in each epoch."""
        places = Permutation(len(self.order), "jobs", seed, epoch).at(np.arange(len(self.order), dtype=np.int64))
        return replace(self, order=tuple(self.order[place] for place in places.tolist()))


@dataclass(frozen=True)
class RowsOfJobs(Source):
    """Source of rows that jobs generate one after the other.

    Attributes:
        jobs: the jobs, in order.
        features: features of the columns; None if unknown before the rows are read.
        paths: the paths in values that may be opened.
        identity: returns a text and a hash of the content.
        first_schema: returns the schema of the first rows, which it may fetch; None if that is not possible.
        names: returns the file of each job; None if not all jobs have one.
    """

    jobs: tuple[RowJob, ...]
    features: Features | None
    paths: MediaPaths
    identity: Callable[[], list[Any]]
    first_schema: Callable[[], pa.Schema | None] | None = field(default=None, compare=False)
    names: Callable[[], Sequence[str]] | None = field(default=None, compare=False)
    _told: list[Features | None] = field(default_factory=list, compare=False, repr=False)
    _kinds: list[Kinds] = field(default_factory=list, compare=False, repr=False)
    _names: list[Sequence[str]] = field(default_factory=list, compare=False, repr=False)

    @property
    def row_jobs(self) -> tuple[RowJob, ...]:
        return self.jobs

    def signed(self) -> list[Any]:
        """Return what identifies the rows: a text and a hash."""
        return self.identity()

    def known_features(self) -> Features | None:
        """Features; if they are unknown before the rows are read, those of the first rows, if these may be fetched."""
        if self.features is not None or self.first_schema is None:
            return self.features
        if not self._told:
            schema = self.first_schema()
            self._told.append(None if schema is None else Features.from_arrow_schema(schema))
        return self._told[0]

    def root(self, epoch: int) -> Node:
        """See `Source.root`: the rows of all jobs, in order."""
        return GeneratedRows.of(self)

    def file_names(self) -> Sequence[str] | None:
        """Return the file of each job; None if there are no files."""
        if not self._names and self.names is not None:
            self._names.append(self.names())
        return self._names[0] if self._names else None

    def kinds(self, schema: pa.Schema) -> Kinds:
        """Return the kinds of the columns of a batch."""
        last = self._kinds[-1] if self._kinds else None
        if last is not None and (self.features is not None or last.schema.equals(schema)):
            return last
        found = Kinds(Features.from_arrow_schema(schema) if self.features is None else self.features, self.paths)
        self._kinds[:] = [found]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kinds": []}


@dataclass(frozen=True, slots=True)
class _Behind:
    """The state after a row of a block: a job, the number of its first row, and the distance between two rows in it."""

    place: int
    first: int
    every: int
    mark: Any

    def __call__(self, row: int) -> State:
        return self.before(self.first + row * self.every + 1)

    def before(self, row: int) -> State:
        """Return the state before a row of the job."""
        return [self.place, row] if self.mark is None else [self.place, row, self.mark]


def _is_alike(one: Piece, other: Piece) -> bool:
    """Return True if the rows of two pieces can be joined to one block unchanged."""
    first, second = one.held[0], other.held[0]
    return type(first) is type(second) and getattr(first, "kinds", None) is getattr(second, "kinds", None)


def _one_piece(pieces: Sequence[Piece], num_bytes: int) -> Piece:
    """Return pieces as one; a state within it has the mark before the first piece, and reading continues from the mark of the
    last.
    """
    if len(pieces) == 1:
        return pieces[0]
    first, last = pieces[0], pieces[-1]
    return Piece(first.start, last.stop, (joined([piece.held[0] for piece in pieces]), first.held[1]), last.behind, num_bytes)


def _taken(block: Block, rows: range) -> Block:
    return block.slice(rows.start, rows[-1] + 1) if rows.step == 1 else block.take(rows)

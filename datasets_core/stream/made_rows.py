"""`MadeRows`: rows that jobs make while they are read, one after the other; how many a job makes is known behind its last.

A state is the number of the job and that of the row in it; going on there means that the job makes its rows again, and leaves
those before out, unless it told by a mark where to begin.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.stream.block import ArrowBlock, DictBlock, Kinds
from datasets_core.stream.node import Delivery, State
from datasets_core.stream.order import even_run
from datasets_core.stream.permutation import Permutation

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

    Two more things it may have: `num_rows()`, how many rows it makes, or None where that would have to be found out by making
    them; and `batches(skip, *, in_order, mark)`, where it gives `Marked` rows.  A mark is handed back as `[row, mark]`: the
    number of the first row of those that were marked, which is no more than `skip`, and what the job said.
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
    """

    source: Jobs
    order: tuple[int, ...]

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
        in_order = self.order == tuple(range(len(self.source.jobs)))
        while place < len(self.order):
            with closing(begun(self.source.jobs[self.order[place]], row, mark, in_order=in_order)) as batches:
                for made in batches:
                    rows, mark = (made.rows, [row, made.mark]) if isinstance(made, Marked) else (made, mark)
                    block = DictBlock(rows) if isinstance(rows, list) else ArrowBlock(rows, self.source.kinds(rows.schema))
                    if block.num_rows:
                        after = _Behind(place, row, mark)
                        yield Delivery(block, None, after(-1), after)
                        row += block.num_rows
            place, row, mark = place + 1, 0, None

    def shuffled(self, seed: int, epoch: int) -> MadeRows:
        """The jobs in an order that a seed decides, another one in each epoch."""
        places = Permutation(len(self.order), "jobs", seed, epoch).at(np.arange(len(self.order), dtype=np.int64))
        return replace(self, order=tuple(self.order[place] for place in places.tolist()))

    def shared(self, index: int, count: int, *, is_contiguous: bool) -> MadeRows:
        """One of `count` parts of the jobs."""
        chosen = even_run(len(self.order), count, index) if is_contiguous else range(index, len(self.order), count)
        return replace(self, order=tuple(self.order[place] for place in chosen))


def begun(job: RowJob, skip: int, mark: Any, *, in_order: bool) -> Generator[Made]:
    """The rows of a job behind the first `skip`; only a job that gave a mark is told one."""
    if mark is None:
        return job.batches(skip, in_order=in_order)
    batches: Any = job.batches
    found: Generator[Made] = batches(skip, in_order=in_order, mark=mark)
    return found


@dataclass(frozen=True, slots=True)
class _Behind:
    """The state behind a row of a block."""

    place: int
    first: int
    mark: Any

    def __call__(self, row: int) -> State:
        at = [self.place, self.first + row + 1]
        return at if self.mark is None else [*at, self.mark]

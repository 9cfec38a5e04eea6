"""`RowsOfJobs`: where a stream of rows begins that are made while they are read: jobs, each of which makes its rows in order.

How many rows a job makes is known behind its last one only.  A state is the number of the job and that of the row in it; going
on there means that the job makes its rows again, and leaves those before out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.features.media_paths import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.stream.block import ArrowBlock, DictBlock, Kinds
from datasets_core.stream.node import Delivery, State
from datasets_core.stream.order import even_run
from datasets_core.stream.permutation import Permutation
from datasets_core.stream.rows_by_place import OneOrder

Made: TypeAlias = "pa.RecordBatch | list[dict[str, Any]]"
"""Some rows: columns with types, or values as they are."""


class RowJob(Protocol):
    """Makes rows."""

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


@dataclass(frozen=True)
class RowsOfJobs(OneOrder):
    """Rows that are made one after the other.

    Attributes:
        jobs: what makes them, in order.
        features: of the columns; None where only the rows tell.
        paths: which paths among the values may be opened.
        identity: tells what is made, when somebody asks: a text and a hash.
        first_schema: of the first rows, which may have to be fetched for it; None where they are not made to be asked.
    """

    jobs: tuple[RowJob, ...]
    features: Features | None
    paths: MediaPaths
    identity: Callable[[], list[Any]]
    first_schema: Callable[[], pa.Schema | None] | None = field(default=None, compare=False)
    _told: list[Features | None] = field(default_factory=list, compare=False, repr=False)
    _kinds: list[Kinds] = field(default_factory=list, compare=False, repr=False)

    def signed(self) -> list[Any]:
        """What tells the rows from others: a text and a hash."""
        return self.identity()

    def told_features(self) -> Features | None:
        """The features; where only the rows tell, those of the first ones, if they may be asked."""
        if self.features is not None or self.first_schema is None:
            return self.features
        if not self._told:
            schema = self.first_schema()
            self._told.append(None if schema is None else Features.from_arrow_schema(schema))
        return self._told[0]

    def kinds(self, schema: pa.Schema) -> Kinds:
        """What the columns of a batch are."""
        last = self._kinds[-1] if self._kinds else None
        if last is not None and (self.features is not None or last.schema.equals(schema)):
            return last
        found = Kinds(Features.from_arrow_schema(schema) if self.features is None else self.features, self.paths)
        self._kinds[:] = [found]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kinds": []}


@dataclass(frozen=True, slots=True)
class MadeRows:
    """The rows of jobs, in an order of the jobs; a node (see `Node`).

    Attributes:
        source: the jobs.
        order: the numbers of those that are read.
    """

    source: RowsOfJobs
    order: tuple[int, ...]

    @classmethod
    def of(cls, source: RowsOfJobs) -> MadeRows:
        """The rows of all jobs, in order."""
        return cls(source, tuple(range(len(source.jobs))))

    @property
    def start(self) -> State:
        """See `Node.start`."""
        return [0, 0]

    def blocks(self, state: State) -> Iterator[Delivery]:
        """See `Node.blocks`."""
        place, row = state
        in_order = self.order == tuple(range(len(self.source.jobs)))
        while place < len(self.order):
            with closing(self.source.jobs[self.order[place]].batches(row, in_order=in_order)) as batches:
                for made in batches:
                    block = DictBlock(made) if isinstance(made, list) else ArrowBlock(made, self.source.kinds(made.schema))
                    if block.num_rows:
                        yield Delivery(block, None, [place, row], _Behind(place, row))
                        row += block.num_rows
            place, row = place + 1, 0

    def shuffled(self, seed: int, epoch: int) -> MadeRows:
        """The jobs in an order that a seed decides, another one in each epoch."""
        places = Permutation(len(self.order), "jobs", seed, epoch).at(np.arange(len(self.order), dtype=np.int64))
        return replace(self, order=tuple(self.order[place] for place in places.tolist()))

    def shared(self, index: int, count: int, *, is_contiguous: bool) -> MadeRows:
        """One of `count` parts of the jobs."""
        chosen = even_run(len(self.order), count, index) if is_contiguous else range(index, len(self.order), count)
        return replace(self, order=tuple(self.order[place] for place in chosen))


@dataclass(frozen=True, slots=True)
class _Behind:
    """The state behind a row of a block."""

    place: int
    first: int

    def __call__(self, row: int) -> State:
        return [self.place, self.first + row + 1]

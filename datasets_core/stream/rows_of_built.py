"""`RowsOfBuilt`: where a stream of built rows begins: rows of a table that lie as in the files that they came from."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.meta.row_blocks import Ints, RowBlocks
from datasets_core.store.table import RowTable
from datasets_core.stream.rows_by_place import Origins
from datasets_core.stream.rows_of_jobs import RowsOfJobs
from datasets_core.stream.rows_of_table import RowsOfTable

_MOST_ROWS = 1024


@dataclass(frozen=True, slots=True)
class RowsOfBuilt(RowsOfTable):
    """Rows of a table that knows its structure; see `RowsByPlace`.

    They come in the order in which a stream of the files would give them, shuffled or divided, too.
    """

    @property
    def blocks(self) -> RowBlocks | None:
        """See `RowsByPlace.blocks`."""
        structure = self.table.structure
        return None if structure is None or self.index is not None else structure.blocks()

    def as_jobs(self) -> RowsOfJobs | None:
        """See `RowsByPlace.as_jobs`."""
        blocks = self.blocks
        if blocks is None or blocks.is_indexed:
            return None
        rows = np.zeros(blocks.num_files, np.int64)
        np.add.at(rows, blocks.files, blocks.rows)
        ends = np.cumsum(rows)
        starts = ends - rows
        found = None if self.table.structure is None else self.table.structure.places()
        names, firsts = ("",) * len(rows), starts
        if found is not None:
            names, firsts = found.names, np.zeros(len(rows), np.int64)
            numbers, at = np.unique(found.files, return_index=True)
            firsts[numbers] = found.firsts[at]
        each = zip(starts.tolist(), ends.tolist(), names, firsts.tolist(), strict=True)
        jobs = tuple(TableJob(self.table, start, stop, (name, first)) for start, stop, name, first in each)
        return RowsOfJobs(jobs, self.features, self.paths, self.signed, names=partial(tuple, names))

    def origins(self, places: Ints, epochs: Ints | int = 0) -> Origins | None:
        """See `RowsByPlace.origins`."""
        found = self._files()
        return None if found is None else Origins(found.names, *found.of(places))

    def file_names(self) -> Sequence[str] | None:
        """See `RowsByPlace.file_names`."""
        found = self._files()
        return None if found is None else found.names

    def _files(self) -> Any:
        structure = None if self.index is not None else self.table.structure
        return None if structure is None else structure.places()


@dataclass(frozen=True, slots=True)
class TableJob:
    """Rows `start` to `stop` of a table, those of one file; see `RowJob`.

    Attributes:
        table: what they stand in.
        start, stop: which of its rows they are.
        origin: the file, and the number in it of the first row.

    >>> job = TableJob(RowTable.from_table(pa.table({"a": range(9)})), 2, 7)
    >>> job.num_rows(), [batch["a"].to_pylist() for batch in job.batches(3, in_order=True)]
    (5, [[5, 6]])
    """

    table: RowTable
    start: int
    stop: int
    origin: tuple[str, int] = ("", 0)

    @property
    def stands_alone(self) -> bool:
        """See `RowJob.stands_alone`."""
        return True

    def num_rows(self) -> int:
        """How many rows it gives."""
        return self.stop - self.start

    def batches(self, skip: int, *, in_order: bool, mark: Any = None) -> Generator[pa.RecordBatch]:
        """See `RowJob.batches`; what is left out is not read."""
        yield from self.table.batches(_MOST_ROWS, self.start + skip, self.stop)

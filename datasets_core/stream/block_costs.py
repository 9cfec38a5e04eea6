"""`BlockCosts`: what the blocks of rows cost that are read: requests, bytes, memory, as footers tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from datasets_core.fetch.range_plan import merged
from datasets_core.meta.row_blocks import Ints, RowBlocks
from datasets_core.stream.explanation import LargeBlock, Reading, counted
from datasets_core.stream.rows_of_blocks import RowsOfBlocks
from datasets_core.stream.rows_of_table import RowsOfTable

_MOST_BLOCKS = 512  # whose footers are looked at
_MOST_LARGE = 100


@dataclass(frozen=True)
class BlockCosts:
    """What blocks cost.

    Attributes:
        source: the rows.
        blocks: in which they lie; None: anywhere in memory.
        runs: for each part of a source of files its index, its first block, and how many there are.
    """

    source: Any
    blocks: RowBlocks | None
    runs: tuple[tuple[Any, int, int], ...] = ()

    @classmethod
    def of(cls, source: Any, blocks: RowBlocks | None) -> BlockCosts:
        """That of some rows."""
        runs = []
        for part in source.parts if isinstance(source, RowsOfBlocks) else ():
            run = part.run()
            first, last = np.searchsorted(part.index.ends, [run.start, run.stop - 1], side="right").tolist()
            runs.append((part.index, first, last + 1 - first if len(run) else 0))
        return cls(source, blocks, tuple(runs))

    @property
    def is_local(self) -> bool:
        """Whether nothing is fetched."""
        return all(file.is_local for index, _, _ in self.runs for file in index.files[:1])

    @property
    def num_files(self) -> int | None:
        """How many files there are."""
        return None if self.blocks is None else self.blocks.num_files

    @property
    def num_blocks(self) -> int | None:
        """How many blocks there are that are read alone."""
        return len(self.blocks.rows) if self.blocks is not None and self.blocks.is_indexed else None

    @property
    def text(self) -> str:
        """What it is, in words."""
        if self.runs:
            return f"A stream of {counted(self.blocks.num_files if self.blocks else 0, 'file')}" + (
                ", here" if self.is_local else ", elsewhere"
            )
        if isinstance(self.source, RowsOfTable):
            files = len(self.source.table.files)
            return "A stream of a dataset " + (f"in {counted(files, 'file')} on this disk" if files else "in memory")
        return "A stream of files on this disk"

    def owners(self, places: Ints) -> Ints:
        """The numbers of the blocks in which rows lie, each once, in the order in which they are needed."""
        if self.blocks is None or not len(self.blocks.rows):
            return np.zeros(0, np.int64)
        found = np.searchsorted(self.blocks.ends, places, side="right")
        numbers, firsts = np.unique(found, return_index=True)
        ordered: Ints = numbers[np.argsort(firsts)]
        return ordered

    def reading(self, numbers: Ints) -> Reading:
        """What reading some blocks takes."""
        blocks = self.blocks
        if blocks is None:
            return self._of_table()
        rows, sizes = blocks.rows[numbers], blocks.sizes[numbers]
        if not self.runs or not len(numbers):
            size = int(sizes.sum())
            known = size if (sizes > 0).all() else None
            return Reading(int(rows.sum()), len(numbers), 0, known, known)
        some = numbers[np.linspace(0, len(numbers) - 1, min(len(numbers), _MOST_BLOCKS)).astype(np.int64)]
        costs = np.array([self._cost(number) for number in some.tolist()], np.float64)
        scale = float(sizes.sum()) / max(1.0, float(blocks.sizes[some].sum()))
        requests, read, whole = (round(each) for each in (costs.sum(axis=0) * scale).tolist())
        decoded = int(int(sizes.sum()) * (read / whole if whole else 1))
        return Reading(int(rows.sum()), len(numbers), 0 if self.is_local else requests, read, decoded)

    def _of_table(self) -> Reading:
        if not isinstance(self.source, RowsOfTable):
            return Reading(requests=0)
        table, rows = self.source.table, self.source.num_rows
        size = table.num_bytes if table.is_all_mapped else None
        known = None if size is None else size * rows // max(1, table.num_rows)
        return Reading(rows, None, 0, known, known)

    def _cost(self, number: int) -> tuple[int, int, int]:
        """Requests and bytes of a block, and its bytes with all columns."""
        index, block = self._placed(number)
        file, inside = index.file_of(block), index.number_of(block)
        wanted = self.source.columns
        every = file.needed(inside, None)
        names = None if wanted is None else [name for name in index.schema_of(block).names if name in wanted]
        needed = every if names is None else file.needed(inside, names)
        return len(merged(needed)), _length(needed), _length(every)

    def _placed(self, number: int) -> tuple[Any, int]:
        for index, first, count in self.runs:
            if number < count:
                return index, first + number
            number -= count
        raise IndexError(number)

    def large(self, budget: int) -> Iterator[LargeBlock]:
        """The blocks that are larger than the memory of a stream."""
        if self.blocks is None or not self.runs:
            return
        for number in np.flatnonzero(self.blocks.sizes > budget)[:_MOST_LARGE].tolist():
            index, block = self._placed(number)
            rows, size = index.size_of(block)
            yield LargeBlock(index.file_of(block).name, index.number_of(block), rows, size)

    def largest(self) -> int:
        """Decoded bytes of the largest block."""
        return int(self.blocks.sizes.max()) if self.num_blocks and self.blocks is not None else 0

    def mean_bytes(self) -> int:
        """Decoded bytes of a block in the mean."""
        return int(self.blocks.sizes.sum()) // len(self.blocks.rows) if self.num_blocks and self.blocks is not None else 0


def _length(ranges: Sequence[tuple[int, int]]) -> int:
    return sum(stop - start for start, stop in ranges)

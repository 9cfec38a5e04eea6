"""`Explanation`: cost of reading a stream: requests, bytes, memory, time; `BlockCosts`: its computation from footers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from datasets_core.fetch.ranges.file import merged
from datasets_core.meta.row_blocks import Ints, RowBlocks
from datasets_core.stream.nodes.positions import RowsByPlace

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ReadCost:
    """Estimated cost of reading some rows; None if unknown.

    Attributes:
        rows: number of source rows read.
        blocks: number of decoded blocks: row groups, record batches.
        requests: upper bound of requests to servers; neighbouring ranges share a request, footers are not counted.
        num_bytes: bytes fetched, or read from the disk.
        decoded_bytes: bytes of the blocks in memory, decoded.
        seconds: until the last byte has arrived.
    """

    rows: int | None = None
    blocks: int | None = None
    requests: int | None = None
    num_bytes: int | None = None
    decoded_bytes: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class LargeBlock:
    """A block that does not fit into the memory of a stream.

    Attributes:
        file: the name of its file, for output.
        block: its number in the file.
        rows: number of rows of the block.
        decoded_bytes: bytes of the block, decoded.
    """

    file: str
    block: int
    rows: int
    decoded_bytes: int


@dataclass(frozen=True, slots=True)
class RankCost:
    """Cost of the rows that one rank reads.

    Attributes:
        rank: number of the rank.
        reading: cost of its rows.
    """

    rank: int
    reading: ReadCost


@dataclass(frozen=True)
class Explanation:
    """Facts about a stream before it is read; `print` shows them.

    Attributes:
        source: description of the source.
        steps: description of the steps.
        num_files: number of files.
        num_blocks: number of blocks: row groups, record batches.
        num_rows: number of rows of the stream; None if unknown before the rows are read.
        is_local: True if no file is fetched.
        footers: cost of reading the footers for this report.
        all: cost of all rows.
        first: cost of the first `batch_size` rows.
        batch_size: rows of a batch.
        window_bytes: upper bound of the decoded bytes in the window of a shuffle; 0 without one.
        memory_bytes: estimated upper bound of decoded bytes in memory.
        memory_budget: the setting `stream_memory_bytes`.
        latency: measured seconds of a small request; None if none was sent.
        bandwidth: bytes a second assumed in the estimates of seconds.
        large_blocks: blocks that do not fit into the memory of a stream.
        ranks: cost of each of `world_size` ranks.
        imbalance: excess of the rank that reads most over the mean, as a share of the mean; None with one rank, or if unknown.
        unknown: descriptions of what is not known.
        advice: recommendations.
    """

    source: str
    steps: tuple[str, ...] = ()
    num_files: int | None = None
    num_blocks: int | None = None
    num_rows: int | None = None
    is_local: bool = True
    footers: ReadCost = ReadCost()
    all: ReadCost = ReadCost()
    first: ReadCost = ReadCost()
    batch_size: int = 1
    window_bytes: int | None = 0
    memory_bytes: int | None = None
    memory_budget: int = 0
    latency: float | None = None
    bandwidth: float | None = None
    large_blocks: tuple[LargeBlock, ...] = ()
    ranks: tuple[RankCost, ...] = ()
    imbalance: float | None = None
    unknown: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [self.source]
        if self.steps:
            lines.append(f"  steps         {' → '.join(self.steps)}")
        rows = "number of rows unknown before reading" if self.num_rows is None else counted(self.num_rows, "row")
        blocks = [] if self.num_blocks is None else [counted(self.num_blocks, "block")]
        files = [] if not self.num_files else [counted(self.num_files, "file")]
        lines.append(f"  contents      {', '.join([rows, *files, *blocks])}")
        if self.footers.requests:
            lines.append(f"  footers       {_shown(self.footers)}")
        lines.append(f"  all           {_shown(self.all)}")
        lines.append(f"  first batch   {_shown(self.first)}  ({counted(self.batch_size, 'row')})")
        lines.append(f"  memory        {self._memory()}")
        if self.latency is not None or self.bandwidth is not None:
            measured = "" if self.latency is None else f"{self.latency * 1000:.0f} ms a request as measured"
            assumed = "" if self.bandwidth is None else f"at {sized(self.bandwidth)}/s"
            lines.append(f"  estimated     {', '.join(filter(None, [measured, assumed]))}")
        lines += [f"  rank {each.rank:<8} {_shown(each.reading)}" for each in self.ranks[:_SHOWN]]
        if len(self.ranks) > _SHOWN:
            lines.append(f"  … {len(self.ranks)} ranks in all")
        if self.imbalance is not None:
            lines.append(f"  imbalance     the rank with the most data reads {self.imbalance:.0%} more than the mean")
        lines += [f"  unknown       {text}" for text in self.unknown]
        lines += [f"  advice        {text}" for text in self.advice]
        return "\n".join(lines)

    def _memory(self) -> str:
        budget = f"of {sized(self.memory_budget)} for data read ahead and kept"
        if self.memory_bytes is None:
            return f"unknown, {budget}"
        window = f", {sized(self.window_bytes)} in a shuffle window" if self.window_bytes else ""
        return f"{sized(self.memory_bytes)} decoded{window}, {budget}"


def _shown(reading: ReadCost) -> str:
    parts = [
        None if reading.rows is None else counted(reading.rows, "row"),
        None if reading.requests is None else counted(reading.requests, "request"),
        None if reading.num_bytes is None else sized(reading.num_bytes),
        None if reading.decoded_bytes is None else f"{sized(reading.decoded_bytes)} decoded",
        None if reading.seconds is None else f"about {_lasting(reading.seconds)}",
    ]
    return ", ".join(filter(None, parts)) or "not known"


def _lasting(seconds: float) -> str:
    if seconds < 1:
        return f"{max(1, round(seconds * 1000))} ms"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def counted(number: int, what: str) -> str:
    """Return a count and its noun as text.

    >>> counted(1, "file"), counted(20000, "row")
    ('1 file', '20,000 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def sized(num_bytes: float) -> str:
    """Return a number of bytes as text, in a suitable unit.

    >>> sized(999), sized(64 << 20), sized(3.2e9)
    ('999 B', '67.1 MB', '3.2 GB')
    """
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if num_bytes < 1000 or unit == "TB":
            return f"{num_bytes:.0f} {unit}" if unit == "B" or num_bytes >= 100 else f"{num_bytes:.1f} {unit}"
        num_bytes /= 1000
    raise AssertionError


# `BlockCosts`: cost of the blocks of some rows: requests, bytes, memory, from file footers.


_MOST_BLOCKS = 512  # whose footers are read
_MOST_LARGE = 100


@dataclass(frozen=True)
class BlockCosts:
    """Cost model of blocks, from file footers.

    Attributes:
        source: the rows.
        blocks: the blocks of the rows; None: the rows are in memory.
        runs: for each part of a source of files: its index, its first block, and the number of its blocks.
    """

    source: RowsByPlace
    blocks: RowBlocks | None
    runs: tuple[tuple[Any, int, int], ...] = ()

    @classmethod
    def of(cls, source: RowsByPlace, blocks: RowBlocks | None) -> BlockCosts:
        """Return the cost model of the rows of a source."""
        runs = []
        for index, run in source.block_runs():
            first, last = np.searchsorted(index.ends, [run.start, run.stop - 1], side="right").tolist()
            runs.append((index, first, last + 1 - first if len(run) else 0))
        return cls(source, blocks, tuple(runs))

    @property
    def is_local(self) -> bool:
        """True if no file is fetched."""
        return all(file.is_local for index, _, _ in self.runs for file in index.files[:1])

    @property
    def num_files(self) -> int | None:
        """Number of files."""
        return None if self.blocks is None else self.blocks.num_files

    @property
    def num_blocks(self) -> int | None:
        """Number of blocks that can be read separately."""
        return len(self.blocks.rows) if self.blocks is not None and self.blocks.is_indexed else None

    @property
    def text(self) -> str:
        """Short description."""
        if self.runs:
            return f"A stream of {counted(self.blocks.num_files if self.blocks else 0, 'file')}" + (
                ", here" if self.is_local else ", elsewhere"
            )
        if (table := self.source.dataset_table) is not None:
            files = len(table.files)
            return "A stream of a dataset " + (f"in {counted(files, 'file')} on this disk" if files else "in memory")
        return "A stream of files on this disk"

    def owners(self, places: Ints) -> Ints:
        """Return the numbers of the blocks that contain the rows, each once, in the order in which they are needed."""
        if self.blocks is None or not len(self.blocks.rows):
            return np.zeros(0, np.int64)
        found = np.searchsorted(self.blocks.ends, places, side="right")
        numbers, firsts = np.unique(found, return_index=True)
        ordered: Ints = numbers[np.argsort(firsts)]
        return ordered

    def reading(self, numbers: Ints) -> ReadCost:
        """Return the cost of reading some blocks."""
        blocks = self.blocks
        if blocks is None:
            return self._of_table()
        rows, sizes = blocks.rows[numbers], blocks.sizes[numbers]
        if not self.runs or not len(numbers):
            size = int(sizes.sum())
            known = size if (sizes > 0).all() else None
            return ReadCost(int(rows.sum()), len(numbers), 0, known, known)
        some = numbers[np.linspace(0, len(numbers) - 1, min(len(numbers), _MOST_BLOCKS)).astype(np.int64)]
        costs = np.array([self._cost(number) for number in some.tolist()], np.float64)
        scale = float(sizes.sum()) / max(1.0, float(blocks.sizes[some].sum()))
        requests, read, whole = (round(each) for each in (costs.sum(axis=0) * scale).tolist())
        decoded = int(int(sizes.sum()) * (read / whole if whole else 1))
        return ReadCost(int(rows.sum()), len(numbers), 0 if self.is_local else requests, read, decoded)

    def _of_table(self) -> ReadCost:
        table = self.source.dataset_table
        if table is None:
            return ReadCost(requests=0)
        rows = self.source.num_rows
        size = table.num_bytes if table.is_all_mapped else None
        known = None if size is None else size * rows // max(1, table.num_rows)
        return ReadCost(rows, None, 0, known, known)

    def _cost(self, number: int) -> tuple[int, int, int]:
        """Return the requests and bytes of a block, and its bytes with all columns."""
        index, block = self._placed(number)
        file, inside = index.file_of(block), index.number_of(block)
        wanted, every = self.source.read_columns, file.needed(inside, None)
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
        """Yield the blocks that are larger than the memory of a stream."""
        if self.blocks is None or not self.runs:
            return
        for number in np.flatnonzero(self.blocks.sizes > budget)[:_MOST_LARGE].tolist():
            index, block = self._placed(number)
            rows, size = index.size_of(block)
            yield LargeBlock(index.file_of(block).name, index.number_of(block), rows, size)

    def largest(self) -> int:
        """Number of bytes of the largest block, decoded."""
        return int(self.blocks.sizes.max()) if self.num_blocks and self.blocks is not None else 0

    def mean_bytes(self) -> int:
        """Mean number of bytes of a decoded block."""
        return int(self.blocks.sizes.sum()) // len(self.blocks.rows) if self.num_blocks and self.blocks is not None else 0


def _length(ranges: Sequence[tuple[int, int]]) -> int:
    return sum(stop - start for start, stop in ranges)

"""`ShardJob`: the unit of work of a build, one part of a split; `ShardResult`: its outcome."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import Hooks, divide, names_of_parts
from datasets_core.building.write.row_keys import KeyRecord, compare, compare_heads
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import redact
from datasets_core.features.unordered import Facts
from datasets_core.files import is_local_path
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.pieces import stored_names

if TYPE_CHECKING:
    from datasets_core.building.write.runs import Run


@dataclasses.dataclass(frozen=True, slots=True)
class ShardJob:
    """A part of a split, to be written as shards of its own.

    Attributes:
        builder: whose hooks make the rows.
        split: the split.
        gen_kwargs: the arguments of this part.
        index, count: which part, of how many.
        folder: where the shards go.
        stem: how their names begin.
        schema: read and write with this schema; None lets the rows decide.
        file_format: "arrow" or "parquet".
        max_shard_bytes: size at which a new shard is begun; None for the settings' own.
        batch_rows: rows of a batch at most; None for the settings' own.
        compare_keys: keys must be unique.
        keep_keys: the keys are wanted for a comparison with other jobs.
        order: what the rows of the split are put in order by, later: the "hash" of their keys, the "key" itself where all are
            integers, or nothing ("source").
        max_rows: rows to make at most; None for all.
        deadline: when the author's code is to be done; None where it may take as long as it does.
    """

    builder: Hooks
    split: str
    gen_kwargs: dict[str, Any]
    index: int
    count: int
    folder: str
    stem: str
    schema: pa.Schema | None
    file_format: str
    max_shard_bytes: int | None
    batch_rows: int | None
    compare_keys: bool
    keep_keys: bool
    order: Literal["source", "hash", "key"] = "source"
    max_rows: int | None = None
    deadline: Deadline | None = None

    @property
    def name(self) -> str:
        """Name in the journal."""
        return self.stem

    @property
    def sorts(self) -> bool:
        """True if rows are written into sorted runs at once: their order and their schema are known."""
        return self.order == "hash" and self.builder.yields == "rows" and self.builder.info.features is not None

    @property
    def skip(self) -> int:
        """See `Part.skip`."""
        return 0

    @property
    def is_live(self) -> bool:
        """See `Part.is_live`: rows are read after all are written."""
        return False

    @property
    def is_order_free(self) -> bool:
        """True if rows decide about columns and types, and in whatever order they come for the same."""
        return self.order != "source" and self.builder.yields == "rows" and self.schema is None


@dataclasses.dataclass(frozen=True, slots=True)
class ShardResult:
    """Outcome of a job.

    Attributes:
        name: of the job.
        shards: the shards with rows, in order.
        schema: of the shards; None without rows and tables.
        keys: the keys of the rows; None if not compared.
        runs: the sorted runs in the shards; empty if the shards are in the order of the source.
        words: the file of the sort words of the rows; None without one.
        facts: further facts for the schema of all jobs; None if features or the first rows decide.
        denied: descriptions of accesses denied so far to a sandboxed script.
        blocks: row ranges in the source files, if known.
    """

    name: str
    shards: tuple[ShardRecord, ...]
    schema: pa.Schema | None
    keys: KeyRecord | None = None
    runs: tuple[Run, ...] = ()
    words: str | None = None
    facts: Facts | None = None
    denied: tuple[str, ...] = ()
    blocks: RowBlocks | None = dataclasses.field(default=None, compare=False)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(shard.rows for shard in self.shards)


# The keys of jobs, compared as the jobs are done, so that a key that two of them share is found before all are.


_THOROUGH_ROWS = 1 << 18  # below this, all keys are compared whenever a job is done


class Arrivals:
    """Called whenever a job is done, with the results so far.

    The first keys of each job are compared with all keys of the others when it arrives.  Where rows are sorted (`is_thorough`),
    all keys are, as soon as half as many more have come as at the last time: the work stays in proportion to the rows.

    Args:
        folder: where the keys of the jobs are.
        is_thorough: whether all keys are compared on the way, and not only the first ones.
    """

    def __init__(self, folder: str, *, is_thorough: bool) -> None:
        self._folder, self._is_thorough = folder, is_thorough
        self._due = 0

    def __call__(self, results: dict[int, ShardResult], latest: int) -> None:
        """Compare the keys of the job at `latest` with those that came before.

        Raises:
            Clash: two rows share a key.
        """
        order = sorted(index for index, result in results.items() if result.keys is not None)
        records = [result.keys for index in order if (result := results[index]).keys is not None]
        if latest in order:
            compare_heads(records, order.index(latest), self._folder)
        rows = sum(record.rows for record in records)
        if self._is_thorough and len(records) > 1 and rows >= self._due:
            compare(records, self._folder)
            self._due = rows + rows // 2 if rows > _THOROUGH_ROWS else 0


# `FileCounts`: number of rows of each file of a job, counted while its tables pass; and names of the files.


class FileCounts:
    """Rows and bytes of each file of a job.

    What counts as a file is what a stream makes a job of.  The key of a table says which it is of: `(number of the file, …)`;
    tables of several files that were read as one have the key `(number of the first, number of the table, rows of each file)`.

    Args:
        builder: whose tables.
        gen_kwargs: the arguments of the job.
    """

    def __init__(self, builder: Hooks, gen_kwargs: dict[str, Any]) -> None:
        self._builder, self._gen_kwargs = builder, gen_kwargs
        count = len(divide(gen_kwargs, group_bytes=0)) if builder.reads_in_order else 0
        self._rows, self._sizes = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._last = 0

    def add(self, key: Any, table: pa.Table | pa.RecordBatch) -> None:
        """Count a table.

        Args:
            key: that it was yielded with.
            table: its rows.
        """
        count = len(self._rows)
        if not count:
            return
        parts = (0,) if count == 1 else key if isinstance(key, tuple) else ()
        number = parts[0] if parts and isinstance(parts[0], int) else -1
        rows = parts[2] if len(parts) == 3 and isinstance(parts[2], tuple) else (table.num_rows,)
        if not self._last <= number <= count - len(rows):  # rows that do not come file after file
            self._rows = self._rows[:0]
            return
        self._last = number
        files = slice(number, number + len(rows))
        if len(rows) == 1 or (len(parts) > 1 and parts[1] == 0):
            self._rows[files] += rows
        shares = np.array(rows, np.int64)
        self._sizes[files] += table.nbytes * shares // max(1, int(shares.sum()))

    def blocks(self) -> RowBlocks | None:
        """Row ranges in the files; None if unknown."""
        count = len(self._rows)
        if not count:
            return None
        counted = RowBlocks.of(self._rows, self._sizes[:count], np.arange(count), is_indexed=False, file_count=count)
        found = self._builder.file_blocks(self._gen_kwargs)
        if found is None or not np.array_equal(
            np.bincount(found.files, found.rows, minlength=count).astype(np.int64), self._rows
        ):
            return counted
        return found


def counted_files(builder: Hooks, splits: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    """The names of the files of splits as text, without secrets; none where rows were left out, so that their numbers differ.

    Args:
        builder: whose rows.
        splits: the arguments of each split whose rows were counted by file.
    """
    if getattr(builder, "block_steps", tuple)():
        return {}
    named = {split: names_of_parts(split, asked) for split, asked in splits.items()}
    return {
        split: stored_names(name if is_local_path(name) else redact(name) for name in names) for split, names in named.items()
    }

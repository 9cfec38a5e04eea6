"""`FileCounts`: how many rows came of each file of a job, counted while its tables pass; and what the files are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import Hooks
from datasets_core.building.jobs import divide, names_of_parts
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.redact import redact
from datasets_core.store.file_structure import stored_names


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
        """How the rows lie in the files; None where that is not known."""
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
    return {split: stored_names(map(redact, names_of_parts(split, asked))) for split, asked in splits.items()}

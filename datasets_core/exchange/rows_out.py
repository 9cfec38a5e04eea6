"""What every export does: the rows as Arrow tables of some rows each, and a place that is filled as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import IO, Any

import pyarrow as pa

from datasets_core import files
from datasets_core.errors import ArgumentTypeError
from datasets_core.rows.arguments import checked_batch_size
from datasets_core.rows.tabled import Tabled

BATCH_ROWS = 1000
"""Rows of a batch where the user does not say."""


def table_of(dataset: Tabled, start: int, stop: int) -> pa.Table:
    """The rows from `start` to `stop`, all columns, features in the metadata.

    >>> table_of(Dataset.from_dict({"a": [1, 2, 3]}), 1, 3).num_rows
    2
    """
    if dataset._index is None:
        table = pa.Table.from_batches(dataset._table.batches(None, start, stop), dataset._table.schema)
    else:
        batches = dataset._table.batches_at(dataset._index[start:stop])  # a gather of all at once takes three times as much
        table = pa.Table.from_batches(batches, dataset._table.schema)
    return dataset._described(table)


def spans(dataset: Tabled, batch_size: int | None, default: int = BATCH_ROWS) -> list[tuple[int, int]]:
    """The first row and the row behind the last one, of each batch."""
    size = default if batch_size is None else checked_batch_size(batch_size)
    return list(pairwise([*range(0, dataset.num_rows, size), dataset.num_rows])) if dataset.num_rows else []


def tables(dataset: Tabled, batch_size: int | None, default: int = BATCH_ROWS) -> Iterator[pa.Table]:
    """The rows as tables of `batch_size` rows."""
    for start, stop in spans(dataset, batch_size, default):
        yield table_of(dataset, start, stop)


def rows_of_bytes(dataset: Tabled, num_bytes: int, least: int = 1) -> int:
    """How many rows take `num_bytes` in Arrow's layout, by the first of them.

    >>> rows_of_bytes(Dataset.from_dict({"a": [1, 2, 3]}), 80)
    10
    """
    sample = dataset._table.slice(0, 1000).to_table()
    return max(least, int(num_bytes * max(1, sample.num_rows) / max(1, sample.nbytes)))


def opened(target: Any, storage_options: dict[str, Any] | None) -> AbstractContextManager[IO[bytes]]:
    """The place to write into: a path or URL that is there when all is written, or a file that the user opened.

    Raises:
        ArgumentTypeError: neither a path nor a file.
    """
    if isinstance(target, (str, os.PathLike)):
        return files.new_file(os.fspath(target), storage_options)
    if not hasattr(target, "write"):
        raise ArgumentTypeError(f"{target!r} is neither a path nor a file. Give a path, a URL, or a file open for bytes.")
    return nullcontext(target)

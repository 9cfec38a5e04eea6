"""`sorted_rows`: row numbers sorted by columns: in memory, or by sorted runs merged from disk.

Only the sort columns and row numbers are read, never whole rows.
"""

from __future__ import annotations

import itertools
import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import ArgumentTypeError
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.indices import ints_of
from datasets_core.store.table import RowTable

_BLOCKS_PER_RUN = 16
_PARTS = 4  # of the memory: keys, their order, the sorted copy, and room for what Arrow holds meanwhile
_LEAST_ROWS = 1024  # of a run, so that tiny limits do not make a file of every row
_ROW = "row"


@dataclass(frozen=True, slots=True)
class SortKeys:
    """Sort keys of rows.

    Args:
        columns: the columns, most significant first.
        descending: for each column, True to put its largest value first.
        nulls_first: True to put nulls first instead of last.
    """

    columns: tuple[str, ...]
    descending: tuple[bool, ...]
    nulls_first: bool

    def order(self, keys: pa.Table) -> Ints:
        """Return the rows of `keys` (the columns, in order) sorted; rows that are equal stay in their order."""
        import pyarrow.compute as pc  # 15 ms that reading does without

        placement = "at_start" if self.nulls_first else "at_end"
        names = [str(place) for place in range(len(self.columns))]
        given = [(name, "descending" if is_down else "ascending") for name, is_down in zip(names, self.descending, strict=True)]
        keys = keys.rename_columns(names)
        if _PLACED_BY_KEY:
            placed: Any = [(*key, placement) for key in given]
            found = pc.sort_indices(keys, sort_keys=placed)
        else:
            found = pc.sort_indices(keys, sort_keys=given, null_placement=placement)
        return np.frombuffer(found.buffers()[1] or b"", np.int64)[found.offset : found.offset + len(found)]


_PLACED_BY_KEY = int(pa.__version__.partition(".")[0]) >= 25


def sorted_rows(table: RowTable, index: Ints | None, keys: SortKeys) -> Ints:
    """Return the numbers of the rows in `index` (None: every row of the table), sorted.

    Raises:
        ArgumentTypeError: a column of values without an order.
        DatasetDiskError: the disk has no space for the runs of a table that is too large for the memory.
    """
    _check_kinds(table.schema, keys)
    columns = table.select(list(dict.fromkeys(keys.columns)))
    rows = table.num_rows if index is None else len(index)
    limit = settings().sort_bytes
    row_bytes = bytes_per_row(columns)
    if rows * row_bytes <= limit:
        return keys.order(_keys(columns, index, 0, rows, keys))
    step = max(_LEAST_ROWS, int(limit / _PARTS / (row_bytes + 8)))
    folder = settings().cache_dir
    with files.disk_errors(folder, needed=int(rows * (row_bytes + 8))):
        os.makedirs(folder, exist_ok=True)
        runs = [
            _Run(_spilled(_keys(columns, index, start, min(start + step, rows), keys), start, keys, folder))
            for start in range(0, rows, step)
        ]
        return _merged(runs, rows, keys, limit, folder)


def _check_kinds(schema: pa.Schema, keys: SortKeys) -> None:
    for name in keys.columns:
        kind = _plain(schema.field(name).type)
        try:
            SortKeys((name,), (False,), False).order(pa.table([pa.nulls(1, kind)], names=[name]))
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid, TypeError):
            raise ArgumentTypeError(
                f"Column {name!r} is {kind}, which cannot be sorted. Sort by a column of numbers, texts, bytes or times."
            ) from None


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def bytes_per_row(table: RowTable) -> float:
    """Return the average number of bytes of the keys of a row, from a few pieces; mapped files are not read."""
    looked = range(0, table.num_pieces, max(1, table.num_pieces // 16))
    pieces = [table.piece(k) for k in looked]
    num_bytes: int = sum(piece.nbytes for piece in pieces)
    num_rows: int = sum(piece.num_rows for piece in pieces)
    return num_bytes / max(1, num_rows)


def _keys(table: RowTable, index: Ints | None, start: int, stop: int, keys: SortKeys) -> pa.Table:
    """Return the columns that decide, of the rows from `start` to `stop`, each in one piece."""
    found = (
        pa.Table.from_batches(table.batches(start=start, stop=stop), table.schema)
        if index is None
        else table.take(index[start:stop])
    )
    columns = [found.column(name) for name in keys.columns]
    columns = [column.cast(_plain(column.type)) if pa.types.is_dictionary(column.type) else column for column in columns]
    whole = pa.Table.from_arrays(columns, names=[str(place) for place in range(len(columns))])
    return whole.combine_chunks()  # one chunk sorts up to eight times as fast as several


# -- runs on the disk --------------------------------------------------------------------------------------------------


def _spilled(keys: pa.Table, first: int, order: SortKeys, folder: str) -> pa.ipc.RecordBatchFileReader:
    """Return a sorted run in a file without a name, which is gone with the process; its last column is the row."""
    rows = order.order(keys)
    numbers = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows)])
    run = keys.take(numbers)
    run = run.append_column(_ROW, pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows + first)]))
    with nameless_file(folder) as handle:
        with pa.ipc.new_file(pa.PythonFile(handle, mode="w"), run.schema) as writer:
            writer.write_table(run, max_chunksize=max(1, -(-run.num_rows // _BLOCKS_PER_RUN)))
        return pa.ipc.open_file(pa.BufferReader(pa.py_buffer(mapped_file(handle))))


def nameless_file(folder: str) -> IO[bytes]:
    from tempfile import TemporaryFile  # 5 ms that tables which fit into the memory do without

    return TemporaryFile(dir=folder)


def _reserve(handle: IO[bytes], size: int) -> None:
    """Have the file that large, with its place on the disk: else the process dies where a full disk is written by memory."""
    if hasattr(os, "posix_fallocate"):  # not on every system
        os.posix_fallocate(handle.fileno(), 0, size)
    else:
        handle.truncate(size)


def mapped_file(handle: IO[bytes]) -> mmap.mmap:
    handle.flush()
    return mmap.mmap(handle.fileno(), 0)


class _Run:
    """A sorted run that is read block by block."""

    def __init__(self, reader: pa.ipc.RecordBatchFileReader) -> None:
        self._reader, self._next = reader, 1
        self.block: pa.RecordBatch = reader.get_batch(0)

    @property
    def is_last(self) -> bool:
        """True if no block comes after this one."""
        return self._next >= int(self._reader.num_record_batches)

    def advance(self, rows: int) -> bool:
        """Leave `rows` after; False when nothing is left."""
        self.block = self.block.slice(rows)
        if not self.block.num_rows and not self.is_last:
            self.block = self._reader.get_batch(self._next)
            self._next += 1
        return bool(self.block.num_rows)


def _merged(runs: list[_Run], rows: int, keys: SortKeys, limit: int, folder: str) -> Ints:
    """Return the rows of all runs in order; in a file without a name where the numbers alone are more than the memory."""
    if rows * 8 <= limit:
        merged: Ints = np.empty(rows, np.int64)
    else:
        with nameless_file(folder) as handle:
            _reserve(handle, rows * 8)
            merged = np.frombuffer(mapped_file(handle), np.int64)
    done = 0
    for numbers in _merging(runs, keys):
        merged[done : done + len(numbers)] = numbers
        done += len(numbers)
    return merged


def _merging(runs: list[_Run], keys: SortKeys) -> Iterator[Ints]:
    """Row numbers in order.  Equal keys stay in the order of the runs, which is that of the rows.

    Of the blocks at hand, everything up to the first of their last rows is settled: what is still unread comes after it.
    """
    while runs:
        bound, taking = _bound(runs, keys)
        settled = _settled(runs, taking, bound, keys)
        whole = pa.Table.from_batches([runs[number].block.slice(0, rows) for number, rows in zip(taking, settled, strict=True)])
        order = keys.order(whole.drop_columns([_ROW]).combine_chunks())
        yield ints_of(whole.column(_ROW))[order]
        ended = {number for number, rows in zip(taking, settled, strict=True) if not runs[number].advance(rows)}
        runs = [run for number, run in enumerate(runs) if number not in ended]


def _settled(runs: Sequence[_Run], taking: Sequence[int], bound: int | None, keys: SortKeys) -> list[int]:
    """For each run how many rows of its block come before the end of the block that ends first: by halving, all at once."""
    sizes = {number: int(runs[number].block.num_rows) for number in taking}
    if bound is None:
        return list(sizes.values())
    low, high = {**dict.fromkeys(taking, 0), bound: sizes[bound]}, dict(sizes)
    while open_runs := [number for number in taking if low[number] < high[number] or number == bound]:
        if open_runs == [bound]:
            break
        probes = [sizes[bound] - 1 if number == bound else (low[number] + high[number]) // 2 for number in open_runs]
        rows = [runs[number].block.slice(at, 1) for number, at in zip(open_runs, probes, strict=True)]
        order = keys.order(pa.Table.from_batches(rows).drop_columns([_ROW]).combine_chunks()).tolist()
        is_behind = False  # the end of the bound's block; equal rows keep the order of their runs
        for place in order:
            number = open_runs[place]
            if number == bound:
                is_behind = True
            elif is_behind:
                high[number] = probes[place]
            else:
                low[number] = probes[place] + 1
    return [low[number] for number in taking]


def _bound(runs: Sequence[_Run], keys: SortKeys) -> tuple[int | None, list[int]]:
    """Return the run whose block ends first (None if every run is at its last block), and the runs with rows before that
    end.
    """
    edges = [(number, at) for number, run in enumerate(runs) for at in ((0,) if run.is_last else (0, run.block.num_rows - 1))]
    table = pa.Table.from_batches([runs[number].block.slice(at, 1) for number, at in edges]).drop_columns([_ROW])
    ends = [at_end for _, run in enumerate(runs) for at_end in ((False,) if run.is_last else (False, True))]
    order = keys.order(table.combine_chunks()).tolist()
    before = list(itertools.takewhile(lambda place: not ends[place], order))
    if len(before) == len(order):
        return None, list(range(len(runs)))
    return edges[order[len(before)]][0], sorted(edges[place][0] for place in before)

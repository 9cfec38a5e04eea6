"""Sorted runs: as many rows as memory holds, in the order of their words, in an Arrow file, with words and sizes beside it.

Words are two 64-bit numbers for each row, by which rows are ordered: the hash of a key, an integer key, or a position.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.building.key_hash import Words, sorted_order
from datasets_core.building.row_bytes import row_bytes
from datasets_core.config import settings
from datasets_core.files import disk_errors
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.writer import ShardWriter

ENDLESS = 1 << 62  # bytes of a shard that never rolls
WORDS_BYTES = 16
_LINES = 3
_ASIDE_BYTES = 32  # of a row that waits: its words, its size, and its place in the order


@dataclass(frozen=True, slots=True)
class Run:
    """Sorted rows.

    Attributes:
        data: the Arrow file that holds them.
        order: the file of their words and sizes.
        rows: how many there are.
        num_bytes: their bytes, as `row_bytes` counts.
    """

    data: str
    order: str
    rows: int
    num_bytes: int

    @property
    def order_bytes(self) -> int:
        """Bytes of the file of words and sizes."""
        return self.rows * _LINES * 8


def run_bytes() -> int:
    """How much one run may hold: what is sorted stands in memory as it came, in one piece, and in order."""
    return max(1, settings().sort_bytes // 8)


class RunWriter:
    """Writes batches, whose words were told before, into sorted runs `{stem}-run00000`, ….

    Args:
        folder: an existing local folder.
        stem: what file names begin with.
        split: the split of the rows.
        schema: of every batch.
    """

    def __init__(self, folder: str, stem: str, *, split: str, schema: pa.Schema) -> None:
        self._folder, self._stem, self._split, self._schema = folder, stem, split, schema
        self._limit = run_bytes()
        self._told: list[Words] = []
        self._batches: list[pa.RecordBatch] = []
        self._words: list[Words] = []
        self._held = 0
        self._records: list[ShardRecord] = []
        self.runs: list[Run] = []

    def tell(self, words: Words) -> None:
        """The words of the rows that are written next."""
        self._told.append(words)

    def write(self, data: pa.RecordBatch | pa.Table) -> None:
        """Take rows whose words were told."""
        for batch in data.to_batches() if isinstance(data, pa.Table) else (data,):
            if batch.num_rows:
                self._add(batch)

    def close(self) -> list[ShardRecord]:
        """Write what is left; the records of the Arrow files."""
        self._spill()
        return list(self._records)

    def abort(self) -> None:
        """Remove everything that was written."""
        for name in [record.name for record in self._records] + [run.order for run in self.runs]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self._folder, name))
        self._records, self.runs, self._batches, self._words = [], [], [], []

    def _add(self, batch: pa.RecordBatch) -> None:
        num_bytes = batch.nbytes + batch.num_rows * _ASIDE_BYTES
        if self._held and self._held + num_bytes > self._limit:
            self._spill()
        self._batches.append(batch)
        self._words.append(self._next_words(batch.num_rows))
        self._held += num_bytes

    def _next_words(self, rows: int) -> Words:
        told = self._told[0] if len(self._told) == 1 else np.concatenate(self._told, axis=1)
        self._told = [told[:, rows:]] if told.shape[1] > rows else []
        return told[:, :rows]

    def _spill(self) -> None:
        if not self._batches:
            return
        words = np.concatenate(self._words, axis=1)
        rows = pa.concat_batches(self._batches)
        self._batches, self._words, self._held = [], [], 0
        order = sorted_order(words)
        if order is not None:
            rows, words = rows.take(pa.array(order)), words[:, order]
        stem = f"{self._stem}-run{len(self.runs):05d}"
        with ShardWriter(self._folder, stem, split=self._split, schema=self._schema, max_shard_bytes=ENDLESS) as writer:
            writer.write(rows)
            (record,) = writer.close()
        self._records.append(record)
        sizes = row_bytes(rows)
        name = f"{stem}.order"
        with order_file(self._folder, name) as append:
            append(np.concatenate([words, sizes.view(np.uint64)[None]]))
        self.runs.append(Run(record.name, name, rows.num_rows, int(sizes.sum())))


@contextlib.contextmanager
def order_file(folder: str, name: str) -> Iterator[Any]:
    """A function that appends numbers to a new file, which is on the disk when the block ends."""
    path = os.path.join(folder, name)
    with disk_errors(path), open(path, "wb") as out:
        yield lambda numbers: out.write(np.ascontiguousarray(numbers).data)
        out.flush()
        os.fsync(out.fileno())  # the journal will name it


def sidecar(folder: str, shard: ShardRecord, words: Words) -> Run:
    """The run that a shard is whose rows stand in the order of `words` already."""
    slices = run_slices(os.path.join(folder, shard.name), 0, shard.rows)
    sizes = np.concatenate([row_bytes(batch) for batch in slices])
    name = f"{shard.name}.order"
    with order_file(folder, name) as append:
        append(np.concatenate([words, sizes.view(np.uint64)[None]]))
    return Run(shard.name, name, shard.rows, int(sizes.sum()))


def order_line(folder: str, run: Run, line: int, start: int, stop: int) -> Words:
    """Numbers `start` to `stop` of a run: high words (line 0), low words (1) or sizes (2).  Read, not mapped."""
    found = np.empty(stop - start, np.uint64)
    with open(os.path.join(folder, run.order), "rb") as handle:
        handle.seek((line * run.rows + start) * 8)
        handle.readinto(found.data)
    return found


def high_words(folder: str, run: Run) -> Words:
    """The high words of a run, mapped: for a search, or a look at some of them."""
    lines: Words = np.memmap(os.path.join(folder, run.order), np.uint64, "r", shape=(_LINES, run.rows))
    high: Words = lines[0]
    return high


def run_slices(path: str, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Rows of an Arrow file, mapped as long as they are held; the file itself is closed at once."""
    with pa.memory_map(path) as mapped:
        reader = pa.ipc.open_file(mapped)
        first = 0
        for index in range(reader.num_record_batches):
            if first >= stop:
                return
            batch = reader.get_batch(index)
            last = first + batch.num_rows
            if last > start:
                begin = max(start - first, 0)
                yield batch.slice(begin, min(stop, last) - first - begin)
            first = last


def read_words(folder: str, name: str, start: int, stop: int) -> Words:
    """The words of rows `start` to `stop` of a file of words, which holds them row by row."""
    found = np.fromfile(os.path.join(folder, name), np.uint64, 2 * (stop - start), offset=start * WORDS_BYTES)
    return np.ascontiguousarray(found.reshape(-1, 2).T)


def batches_of(records: Sequence[ShardRecord], folder: str) -> Iterator[pa.RecordBatch]:
    """All rows of several Arrow files, one after the other."""
    for record in records:
        yield from run_slices(os.path.join(folder, record.name), 0, record.rows)

"""Sorted runs: as many rows as memory holds, sorted by their words, in an Arrow file, with words and sizes next to it.

Words are two 64-bit numbers for each row, by which rows are ordered: the hash of a key, an integer key, or a position.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.building.write.row_keys import Words, sorted_order
from datasets_core.config import settings
from datasets_core.files import disk_errors
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.writer import ShardWriter

# The bytes of each row, independent of other rows and of batches.


Sizes = npt.NDArray[np.int64]


def row_bytes(batch: pa.RecordBatch) -> Sizes:
    """Return the bytes of each row of a batch.

    >>> row_bytes(pa.RecordBatch.from_pydict({"number": [1, None], "text": ["abc", None]})).tolist()
    [11, 8]
    """
    sizes = np.zeros(batch.num_rows, np.int64)
    for column in batch.columns:
        sizes += _sizes(column)
    return sizes


def _sizes(array: Any) -> Any:
    """Return the bytes of each value, or one number where all have the same."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _sizes(array.storage)
    if pa.types.is_null(kind):
        return 0
    if _is_text(kind):
        import pyarrow.compute as pc  # takes 15 ms; builds in the order of the source do not need it

        is_view = pa.types.is_string_view(kind) or pa.types.is_binary_view(kind)
        return _filled(pc.binary_length(array.cast(pa.large_binary()) if is_view else array))
    if pa.types.is_struct(kind):
        members = sum(_sizes(array.field(place)) for place in range(kind.num_fields))  # of the slice, without its own nulls
        return _of_present(array, members)
    if pa.types.is_fixed_size_list(kind):
        flat = array.values.slice(array.offset * kind.list_size, len(array) * kind.list_size)
        members = _sizes(flat)
        if isinstance(members, np.ndarray):
            members = members.reshape(len(array), kind.list_size).sum(axis=1)
        else:
            members = members * kind.list_size
        return _of_present(array, members)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind):
        return _of_present(array, _in_lists(array))
    try:
        return max(1, kind.bit_width // 8)
    except ValueError:  # a kind of unknown layout: its rows count alike, by whatever they hold
        return 8


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_binary_view(kind)
    )


def _in_lists(array: Any) -> Any:
    offsets = array.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    first, last = (int(offsets[0]), int(offsets[-1])) if len(offsets) else (0, 0)
    if pa.types.is_map(array.type):
        parts = [array.keys.slice(first, last - first), array.items.slice(first, last - first)]
        members = sum(_sizes(part) for part in parts)
    else:
        members = _sizes(array.values.slice(first, last - first))
    if not isinstance(members, np.ndarray):
        return np.diff(offsets) * members
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(members)])
    return np.diff(before[offsets - first])


def _filled(lengths: Any) -> Sizes:
    found: Sizes = lengths.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _of_present(array: Any, sizes: Any) -> Any:
    if not array.null_count:
        return sizes
    present = array.is_valid().to_numpy(zero_copy_only=False)
    return np.where(present, sizes, 0)


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
        rows: number of rows.
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
    """Return the size limit of one run: unsorted rows, one contiguous copy and the sorted rows are in memory together."""
    return max(1, settings().sort_bytes // 8)


class RunWriter:
    """Writes batches with known words into sorted runs `{stem}-run00000`, ….

    Args:
        folder: an existing local folder.
        stem: prefix of the file names.
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
        """Set the words of the rows that are written next."""
        self._told.append(words)

    def write(self, data: pa.RecordBatch | pa.Table) -> None:
        """Add rows whose words are known."""
        for batch in data.to_batches() if isinstance(data, pa.Table) else (data,):
            if batch.num_rows:
                self._add(batch)

    def close(self) -> list[ShardRecord]:
        """Write the remaining rows; return the records of the Arrow files."""
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
    """Yield a function that appends numbers to a new file; the file is synchronized to the disk when the block ends."""
    path = os.path.join(folder, name)
    with disk_errors(path), open(path, "wb") as out:
        yield lambda numbers: out.write(np.ascontiguousarray(numbers).data)
        out.flush()
        os.fsync(out.fileno())  # the journal will name it


def sidecar(folder: str, shard: ShardRecord, words: Words, *, stem: str) -> Run:
    """Return the run of a shard whose rows are in the order of `words` already; its file name begins with `stem`."""
    slices = run_slices(os.path.join(folder, shard.name), 0, shard.rows)
    sizes = np.concatenate([row_bytes(batch) for batch in slices])
    name = f"{stem}.order"
    with order_file(folder, name) as append:
        append(np.concatenate([words, sizes.view(np.uint64)[None]]))
    return Run(shard.name, name, shard.rows, int(sizes.sum()))


def order_line(folder: str, run: Run, line: int, start: int, stop: int) -> Words:
    """Return numbers `start` to `stop` of a run: high words (line 0), low words (1) or sizes (2). Read, not mapped."""
    found = np.empty(stop - start, np.uint64)
    with open(os.path.join(folder, run.order), "rb") as handle:
        handle.seek((line * run.rows + start) * 8)
        handle.readinto(found.data)
    return found


def high_words(folder: str, run: Run) -> Words:
    """Return the high words of a run, mapped: for a search, or to read some of them."""
    lines: Words = np.memmap(os.path.join(folder, run.order), np.uint64, "r", shape=(_LINES, run.rows))
    high: Words = lines[0]
    return high


def run_slices(path: str, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Yield rows of an Arrow file, mapped as long as they are held; the file itself is closed immediately."""
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
    """Return the words of rows `start` to `stop` of a file of words, which contains them row by row."""
    found = np.fromfile(os.path.join(folder, name), np.uint64, 2 * (stop - start), offset=start * WORDS_BYTES)
    return np.ascontiguousarray(found.reshape(-1, 2).T)


def batches_of(records: Sequence[ShardRecord], folder: str) -> Iterator[pa.RecordBatch]:
    """Yield all rows of several Arrow files, one after the other."""
    for record in records:
        yield from run_slices(os.path.join(folder, record.name), 0, record.rows)


# The run of each row of a split, by rank: the words of all runs are merged once, in bounded memory, into a
# file.


PLAN_TYPE = np.dtype([("run", "<u4"), ("bytes", "<u4")])
_PIECE_ROWS = 1 << 20  # words, sizes, runs and their order: 60 MB
_LARGEST = np.uint64((1 << 32) - 1)

Counts = npt.NDArray[np.int64]


class EqualWords(Exception):
    """Two rows have the same words."""


@dataclass(frozen=True, slots=True)
class MergePlan:
    """Source of the rows of every rank in the merged order.

    Attributes:
        name: the file, in the folder of the runs.
        starts: for each shard and each run, the number of rows of the run before the shard.
    """

    name: str
    starts: tuple[tuple[int, ...], ...]


def merge_plan(
    folder: str, name: str, runs: Sequence[Run], boundaries: Sequence[int], *, piece_rows: int = _PIECE_ROWS
) -> MergePlan:
    """Write the merge plan of a split.

    Args:
        folder: of the runs.
        name: the file to write.
        runs: all runs of the split.
        boundaries: the ranks at which shards end.
        piece_rows: approximate number of rows to hold at once.

    Raises:
        EqualWords: two rows have equal words.
    """
    before = np.zeros(len(runs), np.int64)
    starts, rank = [before], 0
    ends = list(boundaries[:-1])
    with order_file(folder, name) as append:
        for words, sizes, owners in _pieces(folder, runs, piece_rows):
            order = sorted_order(words)
            if order is not None:
                words, sizes, owners = words[:, order], sizes[order], owners[order]
            if bool(((words[0, 1:] == words[0, :-1]) & (words[1, 1:] == words[1, :-1])).any()):
                raise EqualWords
            rows = np.empty(len(owners), PLAN_TYPE)
            rows["run"], rows["bytes"] = owners, np.minimum(sizes, _LARGEST)
            append(rows)
            while ends and ends[0] <= rank + len(rows):
                starts.append(before + _counts(owners[: ends.pop(0) - rank], len(runs)))
            before = before + _counts(owners, len(runs))
            rank += len(rows)
    return MergePlan(name, tuple(tuple(found.tolist()) for found in starts))


def read_plan(folder: str, plan: str, start: int, stop: int) -> npt.NDArray[np.void]:
    """Return runs and sizes of the rows of ranks `start` to `stop`."""
    return np.fromfile(os.path.join(folder, plan), PLAN_TYPE, stop - start, offset=start * PLAN_TYPE.itemsize)


def _counts(owners: npt.NDArray[np.uint32], runs: int) -> Counts:
    return np.bincount(owners, minlength=runs).astype(np.int64)


def _pieces(folder: str, runs: Sequence[Run], piece_rows: int) -> Iterator[tuple[Words, Words, npt.NDArray[np.uint32]]]:
    """Words, sizes and runs of all rows, by ranges of the high word, unsorted within a range."""
    done = [0] * len(runs)
    for edge in _edges(folder, runs, piece_rows):
        found: list[tuple[Words, Words, npt.NDArray[np.uint32]]] = []
        for number, run in enumerate(runs):
            start = done[number]
            stop = run.rows if edge is None else start + int(np.searchsorted(high_words(folder, run)[start:], edge))
            if stop > start:
                words = np.stack([order_line(folder, run, line, start, stop) for line in (0, 1)])
                found.append((words, order_line(folder, run, 2, start, stop), np.full(stop - start, number, np.uint32)))
                done[number] = stop
        if found:
            yield (
                np.concatenate([words for words, _, _ in found], axis=1),
                np.concatenate([sizes for _, sizes, _ in found]),
                np.concatenate([owners for _, _, owners in found]),
            )


def _edges(folder: str, runs: Sequence[Run], piece_rows: int) -> list[np.uint64 | None]:
    """Return high words that end pieces of about this many rows, estimated from some rows of each run; None ends the last
    piece.
    """
    if sum(run.rows for run in runs) <= piece_rows:
        return [None]
    step = max(1, piece_rows // len(runs))
    looked = np.sort(np.concatenate([high_words(folder, run)[step - 1 :: step] for run in runs]))
    every = max(1, piece_rows // step)
    return [*np.unique(looked[every - 1 :: every]), None]

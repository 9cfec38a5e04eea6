"""Sorted runs: as many rows as memory holds, sorted by their words, in an Arrow file, with words and sizes next to it.

Words are two 64-bit numbers for each row, by which rows are ordered: the hash of a key, an integer key, or a position.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.building.write.row_keys import Words, sorted_order
from datasets_core.config import settings
from datasets_core.errors import DatasetDiskError
from datasets_core.features.arrow import taken
from datasets_core.fetch.checksums import digest_of
from datasets_core.files import disk_errors
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.pieces import PartSums, crc32c_extend
from datasets_core.store.writer import ShardWriter

# The bytes of each row, independent of other rows and of batches.


_LARGEST = np.uint64((1 << 32) - 1)

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
        return _text_sizes(array)
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


def _text_sizes(array: Any) -> Sizes:
    kind = array.type
    is_view = pa.types.is_string_view(kind) or pa.types.is_binary_view(kind)
    if is_view or array.null_count or not len(array):
        import pyarrow.compute as pc  # takes 15 ms; text without nulls does not need it

        return _filled(pc.binary_length(array.cast(pa.large_binary()) if is_view else array))
    is_large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind)
    offsets = np.frombuffer(array.buffers()[1], np.int64 if is_large else np.int32)
    return np.diff(offsets[array.offset : array.offset + len(array) + 1]).astype(np.int64)


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
    """Return the size limit of rows that are in memory together three times: as read, joined and in another order."""
    return max(1, settings().sort_bytes // 8)


_PIECE_BYTES = 4 << 20  # smaller batches are joined up to this, so that there are few of them
_LARGE_ROW_BYTES = 4 << 10  # rows from here on are joined one by one: that is one copy, and taking them from batches is two


def next_batch(sizes: npt.NDArray[Any], batch_bytes: int) -> int:
    """Return how many of the next rows are one record batch of a final shard: it depends on nothing but their sizes."""
    reached = np.cumsum(np.minimum(sizes, _LARGEST), dtype=np.int64)
    return max(1, int(np.searchsorted(reached, batch_bytes, side="right")))


def canonical(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the batch as it would be in a file: equal rows have equal bytes, and the same size, regardless of their origin."""
    if all(map(_is_canonical, batch.columns)):
        return batch
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema)


def _is_canonical(array: Any) -> bool:
    """Return True if a file would hold exactly the buffers of an array; False also for types that are not looked into."""
    kind = array.type
    if array.offset or isinstance(kind, pa.BaseExtensionType):
        return False
    buffers = array.buffers()
    if buffers[0] is not None and not array.null_count:
        return False
    if pa.types.is_primitive(kind) and not pa.types.is_boolean(kind):
        return True
    if pa.types.is_struct(kind):
        return all(len(member) == len(array) and _is_canonical(member) for member in map(array.field, range(kind.num_fields)))
    is_large = pa.types.is_large_string(kind) or pa.types.is_large_binary(kind) or pa.types.is_large_list(kind)
    if not (is_large or pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_list(kind)):
        return False
    if not len(array):
        return False
    offsets = np.frombuffer(buffers[1], np.int64 if is_large else np.int32, len(array) + 1)
    if offsets[0]:
        return False
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return len(array.values) == offsets[-1] and _is_canonical(array.values)
    return buffers[2] is not None and buffers[2].size == offsets[-1]


class _Rows:
    """Rows in memory that are taken in any order, with their words and sizes."""

    def __init__(self) -> None:
        self.num_bytes = 0
        self._pieces: list[pa.RecordBatch] = []
        self._small: list[pa.RecordBatch] = []
        self._small_bytes = 0
        self._words: list[Words] = []

    def add(self, batch: pa.RecordBatch, words: Words) -> None:
        num_bytes = batch.nbytes
        self.num_bytes += num_bytes + batch.num_rows * _ASIDE_BYTES
        self._words.append(words)
        self._small.append(batch)
        self._small_bytes += num_bytes
        if self._small_bytes >= _PIECE_BYTES:
            self._join()

    def sort(self) -> tuple[Words, Sizes]:
        """Return words and sizes of all rows, in their order."""
        self._join()
        words = np.concatenate(self._words, axis=1)
        sizes = np.concatenate([row_bytes(piece) for piece in self._pieces])
        self._starts = np.cumsum([0, *(piece.num_rows for piece in self._pieces[:-1])])
        self._order = sorted_order(words)
        return (words, sizes) if self._order is None else (words[:, self._order], sizes[self._order])

    def batches(self, sizes: Sizes, start: int, stop: int) -> Iterator[pa.RecordBatch]:
        """Yield rows `start` to `stop` of the order as the record batches of a final shard."""
        limits = settings()
        while start < stop:
            end = start + next_batch(sizes[start : min(stop, start + limits.batch_rows)], limits.batch_bytes)
            wanted = np.arange(start, end) if self._order is None else self._order[start:end]
            yield canonical(taken_rows(self._pieces, wanted, int(sizes[start:end].sum()), starts=self._starts))
            start = end

    def _join(self) -> None:
        if self._small:
            self._pieces.append(_one(self._small))
            self._small, self._small_bytes = [], 0


def taken_rows(
    pieces: Sequence[pa.RecordBatch], wanted: npt.NDArray[np.int64], num_bytes: int, *, starts: Any
) -> pa.RecordBatch:
    """Return rows of several batches as one batch, in any order.

    Args:
        pieces: the batches.
        wanted: the numbers of the rows, counted over all batches.
        num_bytes: bytes of these rows.
        starts: the number of the first row of each batch.
    """
    owners = np.searchsorted(starts, wanted, side="right") - 1
    places = wanted - starts[owners]
    if num_bytes >= len(wanted) * _LARGE_ROW_BYTES:
        breaks = np.flatnonzero((np.diff(wanted) != 1) | (np.diff(owners) != 0)) + 1
        firsts, ends = np.concatenate([[0], breaks]).tolist(), np.concatenate([breaks, [len(wanted)]]).tolist()
        spans = [(pieces[int(owners[first])], int(places[first]), end - first) for first, end in zip(firsts, ends, strict=True)]
        return _one([piece.slice(place, rows) for piece, place, rows in spans])
    if len(pieces) == 1:
        return taken(pieces[0], places)
    by_owner = np.argsort(owners, kind="stable")
    back = np.empty(len(wanted), np.int64)
    back[by_owner] = np.arange(len(wanted))
    ends = np.cumsum(np.bincount(owners, minlength=len(pieces)))[:-1]
    parts = zip(pieces, np.split(places[by_owner], ends), strict=True)
    found = [taken(piece, part) for piece, part in parts if len(part)]
    return taken(pa.concat_batches(found), back)


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


class RunWriter:
    """Writes batches with known words into sorted runs `{stem}-run00000`, …: each as many rows as half of `sort_bytes` holds.

    The only job of a split holds as many as `sort_bytes`, so that its rows are written once.

    Args:
        folder: an existing local folder.
        stem: prefix of the file names.
        split: the split of the rows.
        schema: schema of every batch.
        file_format: format of the final shards.
        ends: returns the rows at which the final shards of the split end, for the bytes and number of its rows; None if there
            are other jobs with rows of the split. Rows that are all in memory at the end are written into final shards.

    Attributes:
        runs: the runs.
        is_final: the files are final shards, and not runs.
    """

    def __init__(
        self,
        folder: str,
        stem: str,
        *,
        split: str,
        schema: pa.Schema,
        file_format: str = "arrow",
        ends: Callable[[int, int], Sequence[int]] | None = None,
    ) -> None:
        self._folder, self._stem, self._split, self._schema = folder, stem, split, schema
        self._file_format, self._ends = file_format, ends
        self._limit = max(1, settings().sort_bytes // (2 if ends is None else 1))
        self._told: list[Words] = []
        self._rows = _Rows()
        self._records: list[ShardRecord] = []
        self.runs: list[Run] = []
        self.is_final = False

    def tell(self, words: Words) -> None:
        """Set the words of the rows that are written next."""
        self._told.append(words)

    def write(self, data: pa.RecordBatch | pa.Table) -> None:
        """Add rows whose words are known."""
        for batch in data.to_batches() if isinstance(data, pa.Table) else (data,):
            if batch.num_rows:
                self._add(batch)

    def close(self) -> list[ShardRecord]:
        """Write the remaining rows; return the records of the files."""
        if self._rows.num_bytes:
            words, sizes = self._rows.sort()
            ends = None if self.runs or self._ends is None or _has_equal(words) else self._ends(int(sizes.sum()), len(sizes))
            if ends:
                self._write_shards(sizes, ends)
            else:
                self._write_run(words, sizes)
        return list(self._records)

    def abort(self) -> None:
        """Remove everything that was written."""
        for name in [record.name for record in self._records] + [run.order for run in self.runs]:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self._folder, name))
        self._records, self.runs, self._rows = [], [], _Rows()

    def _add(self, batch: pa.RecordBatch) -> None:
        held = self._rows.num_bytes
        if held and held + batch.nbytes + batch.num_rows * _ASIDE_BYTES > self._limit:
            self._write_run(*self._rows.sort())
        self._rows.add(batch, self._next_words(batch.num_rows))

    def _next_words(self, rows: int) -> Words:
        told = self._told[0] if len(self._told) == 1 else np.concatenate(self._told, axis=1)
        self._told = [told[:, rows:]] if told.shape[1] > rows else []
        return told[:, :rows]

    def _write_run(self, words: Words, sizes: Sizes) -> None:
        stem = f"{self._stem}-run{len(self.runs):05d}"
        record = self._write_file(stem, "arrow", sizes, 0, len(sizes), is_hashed=crc32c_extend() is None)
        name = f"{stem}.order"
        with order_file(self._folder, name) as append:
            append(np.concatenate([words, sizes.view(np.uint64)[None]]))
        self.runs.append(Run(record.name, name, len(sizes), int(sizes.sum())))
        self._rows = _Rows()

    def _write_shards(self, sizes: Sizes, ends: Sequence[int]) -> None:
        start = 0
        for number, end in enumerate(ends):
            self._write_file(f"{self._stem}-final{number:05d}of{len(ends)}", self._file_format, sizes, start, end)
            start = end
        self.is_final = True
        self._rows = _Rows()

    def _write_file(
        self, stem: str, file_format: str, sizes: Sizes, start: int, stop: int, *, is_hashed: bool = True
    ) -> ShardRecord:
        how: Any = {"split": self._split, "schema": self._schema, "file_format": file_format, "is_hashed": is_hashed}
        with final_writer(self._folder, stem, **how) as writer:
            for batch in self._rows.batches(sizes, start, stop):
                writer.write(batch)
            (record,) = writer.close()
        self._records.append(record)
        return record


def final_writer(
    folder: str, stem: str, *, split: str, schema: pa.Schema, file_format: str, is_hashed: bool = True
) -> ShardWriter:
    """Return the writer of one final shard; it has no size limit."""
    return ShardWriter(
        folder,
        stem,
        split=split,
        schema=schema,
        file_format=file_format,
        max_shard_bytes=ENDLESS,
        batch_bytes=settings().batch_bytes,
        is_hashed=is_hashed,
    )


def _has_equal(words: Words) -> bool:
    return bool(((words[0, 1:] == words[0, :-1]) & (words[1, 1:] == words[1, :-1])).any())


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
    try:
        mapped = pa.memory_map(path)
        try:
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
        finally:
            with contextlib.suppress(OSError):  # it was only read: a failure to close loses nothing
                mapped.close()
    except OSError as error:  # those of pyarrow have no number, and name no file
        raise DatasetDiskError.of(error, path, action="read") from error


def read_words(folder: str, name: str, start: int, stop: int) -> Words:
    """Return the words of rows `start` to `stop` of a file of words, which contains them row by row."""
    found = np.fromfile(os.path.join(folder, name), np.uint64, 2 * (stop - start), offset=start * WORDS_BYTES)
    return np.ascontiguousarray(found.reshape(-1, 2).T)


def is_as_written(path: str, record: ShardRecord) -> bool:
    """Compare a file with its sha256; a sorted run without one with the checksums of its parts."""
    if record.sha256:
        return digest_of(path).hexdigest() == record.sha256
    sums = PartSums(record.crc32c)
    spans = [sums.span(part) for part in range(len(sums) + 2)]
    with open(path, "rb") as handle:
        return all(sums.are_true(part, handle.read(stop - start)) for part, (start, stop) in enumerate(spans))


def batches_of(records: Sequence[ShardRecord], folder: str) -> Iterator[pa.RecordBatch]:
    """Yield all rows of several Arrow files, one after the other."""
    for record in records:
        yield from run_slices(os.path.join(folder, record.name), 0, record.rows)


# The run of each row of a split, by rank: the words of all runs are merged once, in bounded memory, into a
# file.


PLAN_TYPE = np.dtype([("run", "<u4"), ("bytes", "<u4")])
_PIECE_ROWS = 1 << 20  # words, sizes, runs and their order: 60 MB

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
        folder: folder of the runs.
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
            if _has_equal(words):
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

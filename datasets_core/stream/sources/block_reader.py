"""`BlockReader`: rows of blocks, fetched ahead, decoded on use, and cached within a memory limit."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.config import settings
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.arrow import taken
from datasets_core.fetch.ranges.reader import ReadAhead
from datasets_core.meta.row_blocks import Ints

# `BlockFile`: a local or remote file whose rows are in blocks that can be read separately.


@dataclass(frozen=True, slots=True)
class FileIndex:
    """Blocks of the rows of one file.

    Attributes:
        schema: schema of the selected columns; None for a file that is left out.
        rows: number of rows of each non-empty block.
        sizes: bytes of each decoded block, all columns counted.
        numbers: numbers of the blocks in the file.
        firsts: for each block the number in the file of its first row.
        version: identity of the file's content: its size, and an ETag or the like.
    """

    schema: pa.Schema | None
    rows: Ints
    sizes: Ints
    numbers: Ints
    firsts: Ints
    version: tuple[int, str]

    @classmethod
    def of(cls, schema: pa.Schema | None, rows: Ints, sizes: Ints, version: tuple[int, str]) -> FileIndex:
        """Return the index of all blocks of a file; empty blocks are dropped.

        >>> FileIndex.of(pa.schema([]), np.array([2, 0, 3]), np.array([8, 0, 9]), (99, "")).firsts.tolist()
        [0, 2]
        """
        is_full = rows > 0
        numbers = np.flatnonzero(is_full).astype(np.int64)
        return cls(schema, rows[is_full], sizes[is_full], numbers, (np.cumsum(rows) - rows)[is_full], version)

    def chosen(self, numbers: Iterable[int]) -> FileIndex:
        """Return the index with some of the blocks only."""
        is_kept = np.isin(self.numbers, np.fromiter(numbers, np.int64))
        rows, sizes, numbers_kept, firsts = (each[is_kept] for each in (self.rows, self.sizes, self.numbers, self.firsts))
        return FileIndex(self.schema, rows, sizes, numbers_kept, firsts, self.version)

    @property
    def num_rows(self) -> int:
        """Number of rows of the file."""
        return int(self.rows.sum())


class BlockFile(Protocol):
    """A file that is read block by block.  It can be pickled; what it keeps open belongs to one process."""

    @property
    def name(self) -> str:
        """The path or URL that messages name, without secrets."""
        ...

    @property
    def identity(self) -> str:
        """Identity of the file in any process: its path or URL."""
        ...

    @property
    def saved_as(self) -> str | None:
        """Name of its saved index, shared with other files; None: not saved."""
        ...

    @property
    def is_local(self) -> bool:
        """True if its bytes are on this disk, so that fetching them ahead has no benefit."""
        ...

    def index(self) -> FileIndex:
        """Return the index: one request for a remote file, none if it is known.

        Raises:
            FileFormatError: the file is not of the format, or is truncated.
            DownloadError: the file cannot be fetched.
        """
        ...

    def expect(self, version: tuple[int, str]) -> None:
        """Require a known version of the file: reading another one raises an error."""
        ...

    def needed(self, block: int, columns: Sequence[str] | None) -> list[tuple[int, int]]:
        """Return the byte ranges of a block: of all selected columns, or of some of them."""
        ...

    def num_bytes(self, block: int, columns: Sequence[str] | None) -> int | None:
        """Return the number of bytes of `needed`; None if that would need a request."""
        ...

    def fetch(self, blocks: Sequence[int], columns: Sequence[str] | None) -> list[Any]:
        """Return the bytes of some blocks, for `read`, with as few requests as possible; may be called in another thread.

        Raises:
            DownloadError: the blocks cannot be fetched.
            FileChangedError: the file has changed.
        """
        ...

    def read(self, block: int, columns: Sequence[str] | None, fetched: Any = None) -> Generator[pa.RecordBatch]:
        """Check the rows of a block, and yield them in pieces of bounded size, decoded one by one.

        Args:
            block: number of the block.
            columns: the columns to read, in this order; None: all selected ones.
            fetched: the result of `fetch`; None reads while rows are decoded.

        Raises:
            FileFormatError: the block is damaged; the error names the row.
        """
        ...

    @property
    def is_remembered(self) -> bool:
        """True if the required version is known from an earlier process."""
        ...

    def probe(self) -> float:
        """Send a small request; return the seconds that it takes."""
        ...

    def forget(self) -> None:
        """Remove cached data of the file from the disk, since the file has changed."""
        ...

    def renew(self) -> None:
        """Stop requiring a version."""
        ...

    def release(self) -> None:
        """Close the file and drop its cached data; reading opens it again."""
        ...


# `BlockFetches`: the bytes of blocks that will be read soon, fetched ahead: neighbours together, within a budget.


Key: TypeAlias = tuple[int, int]
"""The number of a list of files, and that of a block in it."""

_FIRST_BYTES = 8 << 20  # that are fetched ahead at first
_TOGETHER_BYTES = 2 << 20  # of blocks that are fetched by one request


class BlockRequest(NamedTuple):
    """A block to be read.

    Attributes:
        file: file of the block.
        number: number of the block in the file.
        columns: columns to read; None: all.
        num_rows: number of rows of the block.
        num_bytes: bytes to fetch, if known.
        pieces: yields its rows, decoded from the fetched bytes or (None) while reading.
    """

    file: BlockFile
    number: int
    columns: tuple[str, ...] | None
    num_rows: int
    num_bytes: int
    pieces: Callable[[Any], Iterator[pa.RecordBatch]]


class BlockFetches:
    """Fetches blocks ahead.

    Args:
        wanted: returns the request for a block.
        budget_bytes: limit of bytes fetched ahead.
        largest: size in bytes above which a block is not fetched completely.
    """

    def __init__(self, wanted: Callable[[Key], BlockRequest], budget_bytes: int, largest: int) -> None:
        self._wanted, self._budget, self._largest = wanted, budget_bytes, largest
        self._ahead: ReadAhead[dict[Key, Any]] = ReadAhead(budget_bytes, settings().stream_threads)
        self._groups: dict[Key, _Group] = {}
        self._expected: set[Key] = set()
        self._taken_bytes = 0
        self._beside: dict[Key, Any] = {}  # what came along with a block that was taken

    def expect(self, keys: Iterable[Key]) -> None:
        """Fetch these blocks, in this order; blocks that were expected before and are not among them are dropped."""
        asked = list(self._asked(keys))
        self._beside = {key: data for key, data in self._beside.items() if key in self._expected}
        self._ahead.want(asked)

    def _asked(self, keys: Iterable[Key]) -> Iterator[tuple[Key, int, Callable[[], dict[Key, Any]]]]:
        before, self._groups = self._groups, {}
        self._expected = set()
        most = min(self._budget, _FIRST_BYTES + self._taken_bytes // 2)  # the more was read the more is fetched ahead
        groups: list[_Group] = []
        last: _Group | None = None  # that may be added to
        size = 0
        for key in keys:
            self._expected.add(key)
            if key in self._beside or key in self._groups:
                continue
            if (begun := before.get(key)) is not None:
                self._groups.update(dict.fromkeys(begun.keys, begun))
                groups.append(begun)
                size, last = size + begun.num_bytes, None
                continue
            try:
                wanted = self._wanted(key)
            except DatasetsCoreError:  # raised when its rows are read: earlier rows come first
                break
            if wanted.file.is_local or wanted.num_bytes > self._largest:
                last = None
                continue
            if last is None or not last.takes(wanted):
                last = _Group(wanted)
                groups.append(last)
            last.add(key, wanted)
            self._groups[key] = last
            size += wanted.num_bytes
            if size > most:
                break
        for group in groups:
            yield group.keys[0], group.num_bytes, group.fetch

    def take(self, key: Key, wanted: BlockRequest) -> Any:
        """Wait for the bytes of a block and return them.

        Raises:
            DatasetsCoreError: the bytes cannot be fetched.
        """
        self._taken_bytes += wanted.num_bytes
        if key in self._beside:
            return self._beside.pop(key)
        group = self._groups.get(key)
        if group is None:
            return wanted.file.fetch([wanted.number], wanted.columns)[0]
        for each in group.keys:
            self._groups.pop(each, None)
        found = self._ahead.take(group.keys[0], group.fetch)
        data = found.pop(key)
        self._beside.update(found)
        return data

    def close(self) -> None:
        """Stop fetching, and drop all blocks."""
        self._ahead.close()
        self._groups, self._beside = {}, {}


class _Group:
    """Neighbouring blocks of a file that are fetched together."""

    __slots__ = ("_columns", "_file", "_numbers", "keys", "num_bytes")

    def __init__(self, wanted: BlockRequest) -> None:
        self._file, self._columns = wanted.file, wanted.columns
        self._numbers: list[int] = []
        self.keys: list[Key] = []
        self.num_bytes = 0

    def takes(self, wanted: BlockRequest) -> bool:
        """Return True if a block can be fetched together with the blocks of the group."""
        is_near = wanted.file is self._file and wanted.number == self._numbers[-1] + 1 and wanted.columns == self._columns
        return is_near and self.num_bytes + wanted.num_bytes <= _TOGETHER_BYTES

    def add(self, key: Key, wanted: BlockRequest) -> None:
        """Add a block to fetch."""
        self.keys.append(key)
        self._numbers.append(wanted.number)
        self.num_bytes += wanted.num_bytes

    def fetch(self) -> dict[Key, Any]:
        """Return the bytes of all of them."""
        return dict(zip(self.keys, self._file.fetch(self._numbers, self._columns), strict=True))


_DECODED_SHARE = 0.75  # of the memory; the rest is for what is fetched ahead
_KEPT_SHARE = 0.125  # of the memory, for blocks that are behind what is read
_LOCAL_BYTES = 16 << 20  # of a block on this disk that is read at once; larger ones are read as they are decoded
_LARGEST_SHARE = 0.125  # of the memory, that one block elsewhere may take which is fetched at once


class _Decoded:
    """The decoded part of a block."""

    __slots__ = ("ends", "fetched_bytes", "iterator", "nbytes", "next", "num_rows", "pieces", "turn")

    def __init__(self) -> None:
        self.pieces: dict[int, pa.RecordBatch] = {}
        self.ends: list[int] = []  # the row behind each piece that was ever decoded
        self.iterator: Iterator[pa.RecordBatch] | None = None
        self.next = 0  # the piece that the iterator gives next
        self.fetched_bytes = self.nbytes = self.num_rows = self.turn = 0

    @property
    def size(self) -> int:
        """Bytes of its decoded rows."""
        return self.nbytes + self.fetched_bytes

    def stop(self) -> None:
        """Stop decoding."""
        iterator, self.iterator, self.fetched_bytes = self.iterator, None, 0
        if iterator is not None:
            iterator.close()  # type: ignore[attr-defined]

    def decode(self, piece: pa.RecordBatch) -> None:
        """Decode the next piece."""
        if self.next == len(self.ends):
            self.ends.append(piece.num_rows + (self.ends[-1] if self.ends else 0))
        if self.next not in self.pieces:
            self.pieces[self.next] = piece
            self.nbytes += piece.nbytes
        self.next += 1


class BlockReader:
    """Reads blocks in bounded memory; belongs to one process.

    Args:
        wanted: returns the request for a block.
    """

    def __init__(self, wanted: Callable[[Key], BlockRequest]) -> None:
        self._wanted = wanted
        budget = settings().stream_memory_bytes
        self._most_decoded, self._largest = int(budget * _DECODED_SHARE), int(budget * _LARGEST_SHARE)
        self._held: OrderedDict[Key, _Decoded] = OrderedDict()
        self._size = 0  # of all that is held
        self._kept = int(budget * _KEPT_SHARE)
        self._turn = 0
        self._fetches = BlockFetches(wanted, budget - self._most_decoded, self._largest)
        self._lock = threading.RLock()
        self.pid = os.getpid()

    def close(self) -> None:
        """Stop fetching, and drop everything."""
        self._fetches.close()
        for held in self._held.values():
            held.stop()
        self._held.clear()
        self._size = 0

    def expect(self, keys: Collection[Key], far: Iterable[Key] = ()) -> None:
        """Set the blocks that are read next; older blocks that are not among them may be dropped.

        Args:
            keys: the blocks.
            far: the blocks among them that are fetched ahead, in this order.
        """
        with self._lock:
            self._turn += 1
            self._fetches.expect(key for key in far if key not in self._held)
            if self._size > self._kept:
                wanted = set(keys)
                passed = [key for key, held in self._held.items() if held.turn < self._turn - 2 and key not in wanted]
                for key in passed:
                    held = self._held.pop(key)
                    self._size -= held.size
                    held.stop()

    def rows(self, key: Key, rows: Ints) -> pa.RecordBatch:
        """Return some rows of a block, in the order of `rows`.

        Raises:
            DatasetsCoreError: the rows cannot be read; the error names the file, and the row if known.
        """
        with self._lock:
            held = self._held.get(key)
            if held is None:
                held = self._held[key] = _Decoded()
            self._held.move_to_end(key)
            held.turn = self._turn
            first, last = (int(rows[0]), int(rows[-1])) if len(rows) < 2 else (int(rows.min()), int(rows.max()))
            pieces = self._pieces(key, held, first, last)
            self._make_room(key, set(pieces))
        if len(pieces) == 1:
            ((number, piece),) = pieces.items()
            return chosen(piece, rows - (held.ends[number - 1] if number else 0))
        ends = np.array(held.ends, np.int64)
        which = np.searchsorted(ends, rows, side="right")
        starts = np.concatenate([np.zeros(1, np.int64), ends])
        return gathered(which, rows - starts[which], lambda number, inside: chosen(pieces[number], inside))

    def _pieces(self, key: Key, held: _Decoded, first: int, last: int) -> dict[int, pa.RecordBatch]:
        """Return the pieces of a block that hold the rows from `first` to `last`."""
        found: dict[int, pa.RecordBatch] = {}
        number = int(np.searchsorted(held.ends, first, side="right"))
        while True:
            if number == len(held.ends) or number not in held.pieces:
                self._decode(key, held, number)
                if number == len(held.ends):
                    raise AssertionError(f"row {last} is after the end of the block")
            begin = held.ends[number - 1] if number else 0
            if first < held.ends[number] and last >= begin:
                found[number] = held.pieces[number]
            if last < held.ends[number]:
                return found
            number += 1

    def _decode(self, key: Key, held: _Decoded, number: int) -> None:
        """Decode the next piece, which has this number, if there is one."""
        before = held.size
        try:
            if held.iterator is None or held.next > number:
                held.stop()
                held.iterator, held.next = self._begun(key, held), 0
            while held.next <= number:
                piece = next(held.iterator, None)
                if piece is None:
                    break
                held.decode(piece)
                self._size, before = self._size + held.size - before, held.size
                self._make_room(key, {held.next - 1})
                before = held.size
            if held.next == len(held.ends) and held.ends and held.ends[-1] >= held.num_rows:
                next(held.iterator, None)  # checks that there are no more rows than these
                held.stop()
        except BaseException:
            self._held.pop(key, None)
            self._size -= before
            held.stop()
            raise
        self._size += held.size - before

    def _begun(self, key: Key, held: _Decoded) -> Iterator[pa.RecordBatch]:
        wanted = self._wanted(key)
        held.num_rows = wanted.num_rows
        if wanted.num_bytes > (_LOCAL_BYTES if wanted.file.is_local else self._largest):
            return wanted.pieces(None)
        data = self._fetches.take(key, wanted)
        held.fetched_bytes = wanted.num_bytes
        return wanted.pieces(data)

    def _make_room(self, used: Key, needed: set[int]) -> None:
        """Release the least recently used data: whole blocks, then earlier pieces of the block that is being read."""
        while self._size > self._most_decoded and len(self._held) > 1:
            key, held = next(iter(self._held.items()))
            if key == used:
                self._held.move_to_end(key)
                continue
            del self._held[key]
            self._size -= held.size
            held.stop()
        if self._size > self._most_decoded:
            held = self._held[used]
            self._size -= held.size
            for number in sorted(set(held.pieces) - needed):
                held.nbytes -= held.pieces.pop(number).nbytes
            self._size += held.size


def chosen(batch: pa.RecordBatch, rows: Ints) -> pa.RecordBatch:
    """Return some rows of a batch; a slice if they are consecutive.

    >>> chosen(pa.record_batch({"a": [1, 2, 3]}), np.array([2, 0])).to_pydict()
    {'a': [3, 1]}
    """
    count = len(rows)
    first = int(rows[0]) if count else 0
    if not count or (int(rows[-1]) - first == count - 1 and (count < 3 or bool((np.diff(rows) == 1).all()))):
        return batch.slice(first, count)
    if not batch.num_columns:
        return pa.RecordBatch.from_struct_array(pa.nulls(count, pa.struct([])))
    return taken(batch, rows)


def joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Return batches of the same columns as one."""
    if len(batches) == 1:
        return batches[0]
    if not batches[0].num_columns:
        return pa.RecordBatch.from_struct_array(pa.nulls(sum(batch.num_rows for batch in batches), pa.struct([])))
    return pa.concat_batches(batches)


def gathered(
    groups: Ints,
    rows: Ints,
    get: Callable[[int, Ints], pa.RecordBatch],
    join: Callable[[Sequence[pa.RecordBatch]], pa.RecordBatch] = joined,
) -> pa.RecordBatch:
    """Return rows of several groups, in order: each group is read once.

    Args:
        groups: for each row (at least one), its group.
        rows: for each row its number there.
        get: returns rows of a group.
        join: concatenates batches.
    """
    if len(groups) == 1 or bool((groups == groups[0]).all()):
        return get(int(groups[0]), rows)
    is_sorted = bool((np.diff(groups) >= 0).all())
    order = None if is_sorted else np.argsort(groups, kind="stable")
    sorted_groups = groups if order is None else groups[order]
    sorted_rows = rows if order is None else rows[order]
    cuts = np.flatnonzero(np.diff(sorted_groups)) + 1
    starts = [0, *cuts.tolist(), len(groups)]
    found = [get(int(sorted_groups[start]), sorted_rows[start:stop]) for start, stop in pairwise(starts)]
    batch = join(found)
    if order is None:
        return batch
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return chosen(batch, back)

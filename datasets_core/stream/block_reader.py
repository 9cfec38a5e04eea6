"""`BlockReader`: rows of blocks, fetched before they are needed, decoded when they are, and kept as long as memory allows."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from datasets_core.config import settings
from datasets_core.meta.row_blocks import Ints
from datasets_core.stream.block_fetches import BlockFetches, Key, Wanted

_DECODED_SHARE = 0.75  # of the memory; the rest is for what is fetched ahead
_KEPT_SHARE = 0.125  # of the memory, for blocks that are behind what is read
_LOCAL_BYTES = 16 << 20  # of a block on this disk that is read at once; larger ones are read as they are decoded
_LARGEST_SHARE = 0.125  # of the memory, that one block elsewhere may take which is fetched at once


class _Decoded:
    """A block, as far as it is decoded."""

    __slots__ = ("ends", "fetched_bytes", "iterator", "nbytes", "next", "num_rows", "pieces", "turn")

    def __init__(self) -> None:
        self.pieces: dict[int, pa.RecordBatch] = {}
        self.ends: list[int] = []  # the row behind each piece that was ever decoded
        self.iterator: Iterator[pa.RecordBatch] | None = None
        self.next = 0  # the piece that the iterator gives next
        self.fetched_bytes = self.nbytes = self.num_rows = self.turn = 0

    @property
    def size(self) -> int:
        """Bytes that it holds."""
        return self.nbytes + self.fetched_bytes

    def stop(self) -> None:
        """Decode no further."""
        iterator, self.iterator, self.fetched_bytes = self.iterator, None, 0
        if iterator is not None:
            iterator.close()  # type: ignore[attr-defined]

    def decode(self, piece: pa.RecordBatch) -> None:
        """Take the next piece."""
        if self.next == len(self.ends):
            self.ends.append(piece.num_rows + (self.ends[-1] if self.ends else 0))
        if self.next not in self.pieces:
            self.pieces[self.next] = piece
            self.nbytes += piece.nbytes
        self.next += 1


class BlockReader:
    """Reads blocks, in bounded memory; belongs to one process.

    Args:
        wanted: tells how a block is read.
    """

    def __init__(self, wanted: Callable[[Key], Wanted]) -> None:
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
        """Fetch and keep nothing more."""
        self._fetches.close()
        for held in self._held.values():
            held.stop()
        self._held.clear()
        self._size = 0

    def expect(self, keys: Collection[Key], far: Iterable[Key] = ()) -> None:
        """Say which blocks are read next; those that were read some time ago, and are none of them, may go.

        Args:
            keys: the blocks.
            far: those of them that are fetched before they are read, in this order.
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
        """Some rows of a block, in the order in which they are asked for.

        Raises:
            DatasetsCoreError: they cannot be had; it names the file, and the row where that is known.
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
        """The pieces of a block that hold the rows from `first` to `last`."""
        found: dict[int, pa.RecordBatch] = {}
        number = int(np.searchsorted(held.ends, first, side="right"))
        while True:
            if number == len(held.ends) or number not in held.pieces:
                self._decode(key, held, number)
                if number == len(held.ends):
                    raise AssertionError(f"row {last} of a block that ends before")
            begin = held.ends[number - 1] if number else 0
            if first < held.ends[number] and last >= begin:
                found[number] = held.pieces[number]
            if last < held.ends[number]:
                return found
            number += 1

    def _decode(self, key: Key, held: _Decoded, number: int) -> None:
        """Have one piece more: that with this number, if there are so many."""
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
                next(held.iterator, None)  # which sees that there are no more rows than these
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
        """Let go of what was not used for the longest time: whole blocks, then what lies before in the block that is read."""
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
    """Some rows of a batch; a slice of it where they are neighbours.

    >>> chosen(pa.record_batch({"a": [1, 2, 3]}), np.array([2, 0])).to_pydict()
    {'a': [3, 1]}
    """
    count = len(rows)
    first = int(rows[0]) if count else 0
    if not count or (int(rows[-1]) - first == count - 1 and (count < 3 or bool((np.diff(rows) == 1).all()))):
        return batch.slice(first, count)
    if not batch.num_columns:
        return pa.RecordBatch.from_struct_array(pa.nulls(count, pa.struct([])))
    return batch.take(pa.array(rows))


def joined(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches of the same columns as one."""
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
    """Rows from several groups, in their order: each group is asked once.

    Args:
        groups: for each row, of which there is one at least, its group.
        rows: for each row its number there.
        get: gives rows of a group.
        join: makes one batch of several.
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

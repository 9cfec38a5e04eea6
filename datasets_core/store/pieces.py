"""`RowRange`: rows of one shard; pieces: rows of record batches, as arrays; source file ranges; locations of rows for ids."""

from __future__ import annotations

import ctypes
import json
import mmap
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, overload

import numpy as np

from datasets_core.meta.splits import ReadInstruction, ShardLengths, absolute

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

    from datasets_core.meta.row_blocks import RowBlocks


# A split expression and shard lengths, to row ranges of shards.


class RowRange(NamedTuple):
    """Rows `start` to `stop` of shard `shard` (counted within its split); a named tuple, since thousands are made."""

    split: str
    shard: int
    start: int
    stop: int


class RowRanges(Sequence[RowRange]):
    """Row ranges as an array: of a million shards, a slice is found without a step for each.

    Args:
        splits: names of splits.
        array: one line for each range: number of the split in `splits`, shard, first row, row after the last.

    >>> ranges = row_ranges("train[3:6]", {"train": [4, 4]})
    >>> ranges.splits, ranges.array.tolist()
    (('train',), [[0, 0, 3, 4], [0, 1, 0, 2]])
    """

    def __init__(self, splits: Sequence[str], array: Ints) -> None:
        self.splits, self.array = tuple(splits), array

    @classmethod
    def of(cls, ranges: Sequence[RowRange]) -> RowRanges:
        """Return ranges in this form; unchanged if they have it."""
        if isinstance(ranges, cls):
            return ranges
        splits = {split: number for number, split in enumerate(dict.fromkeys(found.split for found in ranges))}
        lines = [(splits[split], shard, start, stop) for split, shard, start, stop in ranges]
        return cls(tuple(splits), np.array(lines, np.int64).reshape(-1, 4))

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> RowRange: ...
    @overload
    def __getitem__(self, index: slice) -> RowRanges: ...
    def __getitem__(self, index: int | slice) -> RowRange | RowRanges:
        if isinstance(index, slice):
            return RowRanges(self.splits, self.array[index])
        split, *rows = self.array[index].tolist()
        return RowRange(self.splits[split], *rows)

    def __iter__(self) -> Iterator[RowRange]:
        for split, shard, start, stop in self.array.tolist():
            yield RowRange(self.splits[split], shard, start, stop)

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(list(self))


def row_ranges(split: str | ReadInstruction, shard_lengths: Mapping[str, Sequence[int]]) -> RowRanges:
    """Cut `split` at shard borders, in reading order; ranges without rows are left out.

    Args:
        split: a split expression or its value.
        shard_lengths: rows of each shard by split name, in the order of the splits; as `ShardLengths` they are summed up once.

    Raises:
        SplitSyntaxError: `split` does not parse, or its rounding does not fit the number of rows.
        UnknownSplitError: `split` names a split that is not in `shard_lengths`.

    >>> row_ranges("train[3:6]", {"train": [4, 4]})
    [RowRange(split='train', shard=0, start=3, stop=4), RowRange(split='train', shard=1, start=0, stop=2)]
    """
    shards = {name: ShardLengths.of(lengths) for name, lengths in shard_lengths.items()}
    names = tuple(shards)
    parts = [np.zeros((0, 4), np.int64)]
    for name, first, last in absolute(split, shards):
        pieces = shards[name].cut(first, last)
        parts.append(np.column_stack([np.full(len(pieces), names.index(name)), pieces]))
    return RowRanges(names, parts[1] if len(parts) == 2 else np.concatenate(parts))


# `FileStructure`: position of the rows of a table in the files that they were built from, as recorded in a manifest.


class Span(NamedTuple):
    """Rows `start` to `stop` of a split.

    Attributes:
        stored: the blocks of the split, as text: most readers do not need them.
        start, stop: the rows.
        names: names of the files of the split, as text; "" if they were not recorded.
    """

    stored: str
    start: int
    stop: int
    names: str = ""


class FilePlaces(NamedTuple):
    """Positions of rows in their source files, as runs of one file each.

    Attributes:
        names: names of the files.
        ends: the number of the row after each run.
        files: the number of the file of each run, ascending.
        firsts: for each run, the number of its first row in the file.
    """

    names: tuple[str, ...]
    ends: Ints
    files: Ints
    firsts: Ints

    def of(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return for each row the number of its file, and the number of the row in that file."""
        runs = np.searchsorted(self.ends, rows, side="right")
        starts = np.concatenate([[0], self.ends[:-1]]) if len(self.ends) else self.ends
        return self.files[runs], self.firsts[runs] + (rows - starts[runs])


class FileStructure(NamedTuple):
    """Some ranges of rows of splits, one after the other.

    Attributes:
        spans: the runs.

    >>> from datasets_core.meta.row_blocks import RowBlocks
    >>> text = stored_blocks(RowBlocks.of([4, 4, 2], files=[0, 0, 1]))
    >>> FileStructure((Span(text, 0, 10),)).cut(3, 9).blocks().rows.tolist()
    [1, 4, 1]
    """

    spans: tuple[Span, ...]

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return sum(span.stop - span.start for span in self.spans)

    def cut(self, start: int, stop: int) -> FileStructure:
        """Return the rows from `start` to `stop`; both must be in range."""
        if (start, stop) == (0, self.num_rows):
            return self
        found, before = [], 0
        for span in self.spans:
            first, last = max(start - before, 0) + span.start, min(stop - before, span.stop - span.start) + span.start
            if first < last:
                found.append(span._replace(start=first, stop=last))
            before += span.stop - span.start
        return FileStructure(tuple(found))

    def blocks(self) -> RowBlocks | None:
        """Return the blocks, with the files of the whole splits.

        None if the stored text is invalid: then the order of shuffled rows is different, and no row is lost.
        """
        return _blocks(self.spans)

    def places(self) -> FilePlaces | None:
        """Positions of the rows in their files, numbered as in `blocks`; None if the file names are unknown.

        >>> from datasets_core.meta.row_blocks import RowBlocks
        >>> text, names = stored_blocks(RowBlocks.of([4, 4, 2], files=[0, 0, 1])), stored_names(["a.csv", "b.csv"])
        >>> places = FileStructure((Span(text, 0, 10, names),)).cut(3, 9).places()
        >>> [each.tolist() for each in places.of(np.array([0, 4, 5]))]
        [[0, 0, 1], [3, 7, 0]]
        """
        return _places(self.spans)


@lru_cache(8)
def _blocks(spans: Sequence[Span]) -> RowBlocks | None:
    from datasets_core.meta.row_blocks import RowBlocks  # 2 ms that few readers ask for

    parts = []
    for span in spans:
        try:
            whole = RowBlocks.from_json(json.loads(span.stored))
        except ValueError:
            return None
        if span.stop > whole.num_rows:
            return None
        is_all = (span.start, span.stop) == (0, whole.num_rows)
        parts.append(whole if is_all else whole.cut([range(span.start, span.stop)]))
    return RowBlocks.joined(parts) if parts else None


@lru_cache(8)
def _places(spans: Sequence[Span]) -> FilePlaces | None:
    from datasets_core.meta.row_blocks import RowBlocks

    names: list[str] = []
    runs: list[list[Ints]] = [[], [], []]
    before = 0
    for span in spans:
        try:
            whole, found = RowBlocks.from_json(json.loads(span.stored)), _names(span.names)
        except ValueError:
            return None
        if len(found) != whole.num_files or span.stop > whole.num_rows:
            return None
        starts = whole.ends - whole.rows
        of_files = starts[np.searchsorted(whole.files, whole.files)]
        kept = slice(np.searchsorted(whole.ends, span.start, side="right"), np.searchsorted(starts, span.stop))
        runs[0].append(np.minimum(whole.ends[kept], span.stop) - span.start + before)
        runs[1].append(whole.files[kept] + len(names))
        runs[2].append(np.maximum(starts[kept], span.start) - of_files[kept])
        before += span.stop - span.start
        names += found
    ends, files, firsts = (np.concatenate([np.zeros(0, np.int64), *each]) for each in runs)
    return FilePlaces(tuple(names), ends, files, firsts)


def stored_blocks(blocks: RowBlocks) -> str:
    """Return the blocks as text."""
    return json.dumps(blocks.to_json(), separators=(",", ":"))


def stored_names(names: Iterable[str]) -> str:
    """Return names of files as text: for each, the length of the prefix that it shares with the one before, and the rest.

    >>> stored_names(["data/train-0.csv", "data/train-1.csv"])
    '[[0,"data/train-0.csv"],[11,"1.csv"]]'
    """
    listed = ["", *names]
    shared = [_shared(*pair) for pair in pairwise(listed)]
    return json.dumps([[each, name[each:]] for each, name in zip(shared, listed[1:], strict=True)], separators=(",", ":"))


def _shared(name: str, other: str) -> int:
    """Return the length of the common prefix."""
    count = next((at for at, (one, two) in enumerate(zip(name, other, strict=False)) if one != two), None)
    return min(len(name), len(other)) if count is None else count


def _names(stored: str) -> list[str]:
    """Return the names from the text that `stored_names` returns.

    Raises:
        ValueError: the text is invalid.
    """
    found: list[str] = []
    last = ""
    try:
        for shared, rest in json.loads(stored):
            last = last[: int(shared)] + str(rest)
            found.append(last)
    except (TypeError, ValueError) as error:
        raise ValueError(f"invalid file names: {error}") from error
    return found


Ints: TypeAlias = "npt.NDArray[np.int64]"
Runs: TypeAlias = Sequence[tuple[int, int]]


class BatchRows(Sequence[int]):
    """The number of rows of each batch of a shard, run-length coded as a manifest has it.

    Args:
        runs: (rows of a batch, number of consecutive batches with as many rows), in order.

    >>> rows = BatchRows([(1000, 2), (7, 1)])
    >>> list(rows), rows[-1], len(rows)
    ([1000, 1000, 7], 7, 3)
    """

    __slots__ = ("runs",)

    def __init__(self, runs: Runs) -> None:
        self.runs = tuple(runs)

    def __len__(self) -> int:
        return sum(count for _, count in self.runs)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return list(self)[index]
        left = index if index >= 0 else index + len(self)
        if left >= 0:
            for rows, count in self.runs:
                if left < count:
                    return rows
                left -= count
        raise IndexError(f"Batch {index} is out of range: there are {len(self)} batches.")

    def __iter__(self) -> Iterator[int]:
        for rows, count in self.runs:
            for _ in range(count):
                yield rows

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(self.runs)

    def __reduce__(self) -> tuple[Any, ...]:
        return BatchRows, (self.runs,)


class BatchRowsOf(Sequence[BatchRows]):
    """`BatchRows` of some shards of an index of very many, found when they are used.

    Args:
        runs: returns for numbers of shards how many runs each has, and all runs.
        numbers: numbers of the shards in the index.
    """

    def __init__(self, runs: Callable[[Ints], tuple[Ints, Ints]], numbers: Ints) -> None:
        self._runs, self._numbers = runs, numbers

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> BatchRows: ...
    @overload
    def __getitem__(self, index: slice) -> BatchRowsOf: ...
    def __getitem__(self, index: int | slice) -> BatchRows | BatchRowsOf:
        if isinstance(index, slice):
            return BatchRowsOf(self._runs, self._numbers[index])
        number = int(self._numbers[index])
        return BatchRows([(rows, count) for rows, count in self._runs(np.array([number]))[1].tolist()])

    def coded(self, shards: Ints) -> tuple[Ints, Ints]:
        """Return the runs of shards: how many each has, and all of them."""
        return self._runs(self._numbers[shards])


def counts_of(rows: Sequence[int]) -> Ints:
    """Return the number of rows of each batch as an array.

    >>> counts_of(BatchRows([(3, 2), (1, 1)]))
    array([3, 3, 1])
    """
    if not isinstance(rows, BatchRows):
        return np.array(rows, dtype=np.int64)
    coded = np.array(rows.runs, dtype=np.int64).reshape(-1, 2)
    return coded[:, 0].repeat(coded[:, 1])


def pieces_of(ranges: Iterable[tuple[int, int, int]] | Ints, rows: Sequence[Sequence[int]]) -> Ints:
    """Return the pieces of row ranges of shards, in their order: one row of the array for each: shard, batch, first row in the
    batch, number of rows.

    All ranges are computed at once: a thousand shards of a hundred batches take some milliseconds.

    Args:
        ranges: (shard, first row, row after the last), also as an array; all of them exist.
        rows: number of rows of each batch, for each shard.

    >>> pieces_of([(0, 5, 8), (1, 0, 2)], [[4, 4], BatchRows([(2, 1)])]).tolist()
    [[0, 1, 1, 3], [1, 0, 0, 2]]
    """
    given = np.array(ranges if isinstance(ranges, np.ndarray) else list(ranges), dtype=np.int64).reshape(-1, 3)
    shards, starts, stops = given[given[:, 1] < given[:, 2]].T
    if isinstance(rows, BatchRowsOf):
        num_runs, flat = rows.coded(shards)
    else:
        coded = [_runs(rows[shard]) for shard in shards.tolist()]
        num_runs = np.fromiter(map(len, coded), np.int64, len(coded))
        flat = np.array([run for runs in coded for run in runs], dtype=np.int64).reshape(-1, 2)
    counts = flat[:, 0].repeat(flat[:, 1])  # rows of every batch of every range
    run_ends = np.cumsum(num_runs)
    behind = np.concatenate([[0], np.cumsum(flat[:, 1])])[np.concatenate([[0], run_ends])]  # the batches before each range
    num_batches = np.diff(behind)
    ends = np.cumsum(counts)
    before = np.concatenate([[0], ends])[behind[:-1]]  # the rows before each range
    pieces = np.empty((len(counts), 4), dtype=np.int64)
    pieces[:, 0] = shards.repeat(num_batches)
    pieces[:, 1] = np.arange(len(counts)) - behind[:-1].repeat(num_batches)
    first = ends - counts - (before + starts).repeat(num_batches)  # counted from the beginning of the range
    np.minimum(first + counts, (stops - starts).repeat(num_batches), out=counts)
    pieces[:, 2] = np.maximum(-first, 0)
    np.maximum(first, 0, out=first)
    pieces[:, 3] = counts - first
    kept = pieces[:, 3] > 0
    return pieces if kept.all() else pieces[kept]


def _runs(rows: Sequence[int]) -> Runs:
    return rows.runs if isinstance(rows, BatchRows) else [(int(count), 1) for count in rows]


def whole_ranges(rows: Sequence[Sequence[int]]) -> list[tuple[int, int, int]]:
    """Return all rows of every shard, as ranges."""
    return [(shard, 0, sum(count * times for count, times in _runs(each))) for shard, each in enumerate(rows)]


def cut(pieces: Ints, start: int, stop: int) -> Ints:
    """Return the pieces of the rows from `start` to `stop`, both in range.

    >>> cut(np.array([[0, 0, 0, 4], [0, 1, 0, 4]]), 3, 6).tolist()
    [[0, 0, 3, 1], [0, 1, 0, 2]]
    """
    if start >= stop:
        return pieces[:0]
    ends = pieces[:, 3].cumsum()
    if start == 0 and stop == int(ends[-1]):
        return pieces
    first, last = int(ends.searchsorted(start, side="right")), int(ends.searchsorted(stop, side="left"))
    found = pieces[first : last + 1].copy()
    found[-1, 3] -= int(ends[last]) - stop
    skipped = start - (int(ends[first]) - int(pieces[first, 3]))
    found[0, 2] += skipped
    found[0, 3] -= skipped
    return found


def stacked(pieces: Sequence[Ints]) -> Ints:
    """Return several lists of pieces as one list."""
    if len(pieces) == 1:
        return pieces[0]
    return np.concatenate(pieces) if pieces else np.zeros((0, 4), dtype=np.int64)


# Location of rows: the shard file of a build and the row number in it, for every row of a table, and the inverse.


class BatchLocations(NamedTuple):
    """Locations of the batches of a shard in shard files.

    Attributes:
        paths: shard files.
        names: names of these in row ids.
        files: for each batch the index of its file in `paths`, -1 without a file; None: all batches are in the first file.
        firsts: for each batch the number of its first row in that file.
    """

    paths: tuple[str, ...]
    names: tuple[str, ...]
    files: Ints | None
    firsts: Ints


class HasLocations(Protocol):
    """A shard with the locations of its batches."""

    def locations(self) -> BatchLocations | None:
        """Return the locations of the batches; None if no batch is in a shard file of a build."""
        ...


def locations_of_file(path: str, name: str, rows: Sequence[int]) -> BatchLocations:
    """Return the locations of the batches of one shard file.

    >>> locations_of_file("/birds/a.arrow", "a.arrow", [3, 2]).firsts.tolist()
    [0, 3]
    """
    runs = rows.runs if isinstance(rows, BatchRows) else ()
    if len(runs) == 1 or (len(runs) == 2 and runs[1][1] == 1):  # as in nearly all files: all batches but the last have one size
        return BatchLocations((path,), (name,), None, np.arange(len(rows), dtype=np.int64) * runs[0][0])
    counts = counts_of(rows)
    return BatchLocations((path,), (name,), None, np.cumsum(counts) - counts)


class Places:
    """Locations of the rows of a table in shard files.

    A row has a *key*: its number among all rows of all files, one file after the other; -1 without a file.

    Args:
        shards: shards of the table.
        pieces: pieces of the table (`store/pieces.py`).
        is_one_build: True if no two shards have the same name, so that only shards with a piece are read.

    Attributes:
        paths: the files of all shards, also of those without a piece: the names in ids do not depend on the slice.
        names: name of each file in row ids, extended until it is unique.
        bases: for each file, the key of its first row.
    """

    def __init__(self, shards: Sequence[HasLocations], pieces: Ints, *, is_one_build: bool = False) -> None:
        numbers: dict[str, int] = {}
        names: list[str] = []
        self.files, self.firsts = np.full(len(pieces), -1, np.int64), np.zeros(len(pieces), np.int64)
        for shard, chosen in _by_shard(pieces[:, 0]):
            found = shards[shard].locations()
            if found is None:
                continue
            own = _numbered(numbers, names, found)
            batches = pieces[chosen, 1]
            if found.files is None:
                self.files[chosen] = own[0]
            else:
                self.files[chosen] = np.array([*own, -1], np.int64)[found.files[batches]]
            self.firsts[chosen] = found.firsts[batches] + pieces[chosen, 2]
        for number in () if is_one_build else sorted({*range(len(shards))}.difference(pieces[:, 0].tolist())):
            if found := shards[number].locations():
                _numbered(numbers, names, found)
        self.paths, self.names = tuple(numbers), tuple(names)
        self._rows = pieces[:, 3]
        ends = np.cumsum(self._rows)
        self._starts: Ints = ends - self._rows
        stands = self.files >= 0
        extents = np.zeros(len(numbers), np.int64)
        np.maximum.at(extents, self.files[stands], (self.firsts + self._rows)[stands])
        self.bases: Ints = np.cumsum(extents) - extents
        self._extents = extents
        self._lows = np.where(stands, self.bases[self.files] + self.firsts, -1) if len(numbers) else np.full(len(pieces), -1)

    @cached_property
    def _spans(self) -> tuple[Ints, Ints, Ints]:
        return _disjoint(self._lows, self._lows + self._rows)

    @property
    def is_disjoint(self) -> bool:
        """True if the table contains no row of a file twice."""
        lows, highs, _ = self._spans
        return int((highs - lows).sum()) == int(self._rows[self._lows >= 0].sum())

    def keys(self, rows: Ints) -> Ints:
        """Return the keys of rows of the table."""
        pieces = np.searchsorted(self._starts, rows, side="right") - 1
        lows = self._lows[pieces]
        return np.where(lows < 0, -1, lows + (rows - self._starts[pieces]))

    def key(self, file: int, row: int) -> int:
        """Return the key of a row of a file; -1 if the table has neither this row nor a later row of the file."""
        return int(self.bases[file]) + row if row < int(self._extents[file]) else -1

    def split(self, keys: Ints) -> tuple[Ints, Ints]:
        """Return the number of the file, and the row number in it, for keys that are not -1."""
        order = np.flatnonzero(self._extents)  # a file without rows shares its base with the next one
        files = order[np.searchsorted(self.bases[order], keys, side="right") - 1]
        return files, keys - self.bases[files]

    def rows(self, keys: Ints) -> Ints:
        """Return for each key the first row of the table that has it; -1 if no row has it."""
        lows, highs, pieces = self._spans
        if not len(lows):
            return np.full(len(keys), -1, np.int64)
        at = np.maximum(np.searchsorted(lows, keys, side="right") - 1, 0)
        owners = pieces[at]
        is_there = (keys >= lows[at]) & (keys < highs[at])
        return np.where(is_there, self._starts[owners] + keys - self._lows[owners], -1)

    def all_rows(self, key: int) -> Ints:
        """Return every row of the table that has a key."""
        found = np.flatnonzero((self._lows >= 0) & (self._lows <= key) & (key < self._lows + self._rows))
        return self._starts[found] + key - self._lows[found]


def _numbered(numbers: dict[str, int], names: list[str], found: BatchLocations) -> list[int]:
    """Return the numbers of files; a file without a number gets one."""
    own = []
    for path, name in zip(found.paths, found.names, strict=True):
        own.append(numbers.setdefault(path, len(numbers)))
        if own[-1] == len(names):
            names.append(name)
    return own


def _by_shard(shards: Ints) -> Iterable[tuple[int, slice | Ints]]:
    """Return each shard with its pieces: as a slice if they are consecutive."""
    borders = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), len(shards)] if len(shards) else [0]
    runs = [(int(shards[start]), slice(start, stop)) for start, stop in pairwise(borders)]
    if len({shard for shard, _ in runs}) == len(runs):
        return runs
    order = np.argsort(shards, kind="stable")
    ends = np.flatnonzero(np.diff(shards[order], append=-1)) + 1
    return [(int(shards[chosen[0]]), chosen) for chosen in np.split(order, ends[:-1])]


def _disjoint(lows: Ints, highs: Ints) -> tuple[Ints, Ints, Ints]:
    """Return disjoint spans of keys, in order, each with the first piece that contains it. Pieces at -1 have no key."""
    stand = np.flatnonzero(lows >= 0)
    order = stand[np.argsort(lows[stand], kind="stable")]
    low, high = lows[order], highs[order]
    if (low[1:] >= high[:-1]).all():
        return low, high, order
    borders = np.sort(np.concatenate([low, high]))
    borders = borders[np.diff(borders, prepend=-1) > 0]
    owners = np.full(len(borders) - 1, -1, np.int64)
    firsts, lasts = np.searchsorted(borders, lows[stand]), np.searchsorted(borders, highs[stand])
    for piece, first, last in zip(stand[::-1].tolist(), firsts[::-1].tolist(), lasts[::-1].tolist(), strict=True):
        owners[first:last] = piece  # the first piece is painted last
    kept = owners >= 0
    return borders[:-1][kept], borders[1:][kept], owners[kept]


def crc32c_extend() -> Callable[[int, Any], int] | None:
    """Return a function that extends a CRC-32C by bytes, with instructions of the processor; None if only Python code could do
    it.
    """
    import google_crc32c  # 2 ms that a use of built rows does without until a batch is compared

    return google_crc32c.extend if google_crc32c.implementation == "c" else None


class PartSums:
    """Size and CRC-32C of the parts of an Arrow file: the bytes before the batches, each batch, and the bytes after them.

    Args:
        text: `size:crc` of each part in order, in hex, as in a manifest.

    Raises:
        ValueError: the text is something else.

    >>> sums = PartSums("8:0a0b0c0d 10:01020304 8:00000000")
    >>> len(sums), sums.span(1), sums.size
    (1, (8, 24), 32)
    """

    __slots__ = ("_crcs", "_ends")

    def __init__(self, text: str) -> None:
        parts = [part.split(":") for part in text.split(" ")]
        if len(parts) < 2 or any(len(part) != 2 for part in parts):
            raise ValueError("the checksums of the batches are not valid")
        self._crcs = [int(crc, 16) for _, crc in parts]
        sizes = [int(size, 16) for size, _ in parts]
        if min(sizes) < 0:
            raise ValueError("the checksums of the batches are not valid")
        self._ends = list(accumulate(sizes))

    def __len__(self) -> int:
        return len(self._crcs) - 2

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._ends[-1]

    def span(self, part: int) -> tuple[int, int]:
        """Return the first byte of a part and the byte after it. Part 0 is before the batches, part -1 after them."""
        part = range(len(self._ends))[part]
        return self._ends[part - 1] if part else 0, self._ends[part]

    def are_true(self, part: int, data: Any) -> bool:
        """Compare the bytes of a part with its checksum; also return True if the comparison would be slow."""
        extend = crc32c_extend()
        return extend is None or extend(0, data) == self._crcs[part]


def check_names(fields: Iterable[pa.Field]) -> None:
    """Read every name, since only then pyarrow detects a damaged name that is not text."""
    for field in fields:
        _ = field.name
        if field.type.num_fields:
            check_names([field.type.field(index) for index in range(field.type.num_fields)])


# Which bytes of a mapped file are in memory: to compare them costs no reading of the disk.


_MOST_COMPARED = 16 << 20  # bytes that a first read of a single row may compare: a millisecond


def is_resident(data: pa.Buffer) -> bool:
    """Return True if the page cache has all bytes of a mapped file; False for many bytes, and where the system does not report
    it.

    Args:
        data: a view of the mapped file.
    """
    if sys.platform != "linux" or not 0 < data.size <= _MOST_COMPARED:
        return False
    page = mmap.PAGESIZE
    start = data.address // page * page
    pages = (ctypes.c_ubyte * -(-(data.address + data.size - start) // page))()
    if ctypes.pythonapi.mincore(ctypes.c_void_p(start), ctypes.c_size_t(len(pages) * page), pages):  # a new `CDLL` takes 40 us
        return False
    return 0 not in bytes(pages)

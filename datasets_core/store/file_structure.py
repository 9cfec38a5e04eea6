"""`FileStructure`: how the rows of a table lie in the files that they were built from, as a manifest has it on record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from datasets_core.meta.row_blocks import Ints, RowBlocks


class Span(NamedTuple):
    """Rows `start` to `stop` of a split.

    Attributes:
        stored: the blocks of the split, as text: most readers never ask for them.
        start, stop: the rows.
        names: of the files of the split, as text; "" where they are not on record.
    """

    stored: str
    start: int
    stop: int
    names: str = ""


@dataclass(frozen=True, slots=True)
class FilePlaces:
    """Where rows stand in their files: in runs, each of a file.

    Attributes:
        names: of the files.
        ends: the row behind each run.
        files: the number of the file of each run, ascending.
        firsts: the number, in its file, of the first row of each run.
    """

    names: tuple[str, ...]
    ends: Ints
    files: Ints
    firsts: Ints

    def of(self, rows: Ints) -> tuple[Ints, Ints]:
        """For each row the number of its file, and its number in that."""
        runs = np.searchsorted(self.ends, rows, side="right")
        starts = np.concatenate([[0], self.ends[:-1]]) if len(self.ends) else self.ends
        return self.files[runs], self.firsts[runs] + (rows - starts[runs])


@dataclass(frozen=True, slots=True)
class FileStructure:
    """Some runs of rows of splits, one after the other.

    Attributes:
        spans: the runs.

    >>> text = stored_blocks(RowBlocks.of([4, 4, 2], files=[0, 0, 1]))
    >>> FileStructure((Span(text, 0, 10),)).cut(3, 9).blocks().rows.tolist()
    [1, 4, 1]
    """

    spans: tuple[Span, ...]

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return sum(span.stop - span.start for span in self.spans)

    def cut(self, start: int, stop: int) -> FileStructure:
        """The rows from `start` to `stop`, both among them."""
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
        """The blocks, with the files of the whole splits.

        None where what is stored cannot be understood: the order of shuffled rows is another one then, and no row is lost.
        """
        return _blocks(self.spans)

    def places(self) -> FilePlaces | None:
        """Where the rows stand in their files, numbered as `blocks` does; None where the names of these are not known.

        >>> text, names = stored_blocks(RowBlocks.of([4, 4, 2], files=[0, 0, 1])), stored_names(["a.csv", "b.csv"])
        >>> places = FileStructure((Span(text, 0, 10, names),)).cut(3, 9).places()
        >>> [each.tolist() for each in places.of(np.array([0, 4, 5]))]
        [[0, 0, 1], [3, 7, 0]]
        """
        return _places(self.spans)


@lru_cache(8)
def _blocks(spans: Sequence[Span]) -> RowBlocks | None:
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
    """The blocks as text."""
    return json.dumps(blocks.to_json(), separators=(",", ":"))


def stored_names(names: Iterable[str]) -> str:
    """Names of files as text: of each the number of characters that it begins with as the one before, and the others.

    >>> stored_names(["data/train-0.csv", "data/train-1.csv"])
    '[[0,"data/train-0.csv"],[11,"1.csv"]]'
    """
    listed = ["", *names]
    shared = [_shared(*pair) for pair in pairwise(listed)]
    return json.dumps([[each, name[each:]] for each, name in zip(shared, listed[1:], strict=True)], separators=(",", ":"))


def _shared(name: str, other: str) -> int:
    """With how many characters both begin."""
    count = next((at for at, (one, two) in enumerate(zip(name, other, strict=False)) if one != two), None)
    return min(len(name), len(other)) if count is None else count


def _names(stored: str) -> list[str]:
    """What `stored_names` was told.

    Raises:
        ValueError: it gives no such text.
    """
    found: list[str] = []
    last = ""
    try:
        for shared, rest in json.loads(stored):
            last = last[: int(shared)] + str(rest)
            found.append(last)
    except (TypeError, ValueError) as error:
        raise ValueError(f"no names of files: {error}") from error
    return found

"""`RowBlocks`: blocks of the rows of a split in its files, and whether they can be read separately; `even_splits`; row ids.

The order of a shuffled or divided stream follows from these numbers, and not from where its bytes come from: a build records
them, so that rows which were built come in the order in which they would have been streamed.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError, RankError, RowIdError
from datasets_core.meta.splits import EvenCut, ReadInstruction, parse_split

# `even_splits`: a split divided among n readers before its length is known.


def even_splits(split: Any, n: int, drop_remainder: bool = False) -> list[Any]:
    """Return `n` disjoint splits that cover `split`, with sizes that differ by at most one.

    Each is a `ReadInstruction`, usable like any split, which can be added and divided again, and is written as
    text: `train(even3[1])` is `even_splits("train", 3)[1]`, `train(even3_dropremainder[1])` the same without remainder.
    Each part of a sum, and each split of `all`, is divided separately; the first splits get the remaining rows.

    Args:
        split: `"train"`, `"train[75%:]+test"`, a `ReadInstruction`; or a list, tuple or dict of them, then each of the
            `n` results is such a list, tuple or dict.
        n: number of splits.
        drop_remainder: True to drop the remaining rows, for equal sizes.

    Raises:
        ConfigurationError: `n` is not an integer of at least 1, or `split` is not a split.
        SplitSyntaxError: a text does not parse.

    Example:
        >>> [part.to_absolute({"train": 11})[0][1:] for part in even_splits("train", 3)]
        [(0, 4), (4, 8), (8, 11)]
        >>> even_splits("train[75%:]+test", 2)[1]
        ReadInstruction('train[75%:](even2[1])+test(even2[1])')
    """
    count, nest = _count("n", n), parse_split(split)
    return [_cut(nest, EvenCut(count, index, bool(drop_remainder))) for index in range(count)]


def even_part(split: Any, index: int, n: int, drop_remainder: bool = False) -> Any:
    """Return `even_splits(split, n, drop_remainder)[index]`, without making the others.

    Raises:
        RankError: `index` is not from 0 to n - 1.
        ConfigurationError, SplitSyntaxError: as with `even_splits`.
    """
    count, nest = _count("world_size", n), parse_split(split)
    try:
        rank = operator.index(index)
    except TypeError:
        rank = -1
    if isinstance(index, bool) or not 0 <= rank < count:
        raise RankError(index, world_size=count)
    return _cut(nest, EvenCut(count, rank, bool(drop_remainder)))


def _count(name: str, value: Any) -> int:
    try:
        count = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        count = 0
    if count < 1:
        raise ConfigurationError(f"Invalid {name}={value!r}", advice="Give a whole number, 1 or more", value=value)
    return count


def _cut(nest: Any, cut: EvenCut) -> Any:
    if isinstance(nest, ReadInstruction):
        if cut.n == 1:
            return nest
        return ReadInstruction.from_parts([replace(part, cuts=(*part.cuts, cut)) for part in nest.parts])
    if isinstance(nest, Mapping):
        return {name: _cut(inner, cut) for name, inner in nest.items()}
    return type(nest)(_cut(inner, cut) for inner in nest)


Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """Blocks of rows, in order; none is empty.

    Attributes:
        rows: number of rows of each block.
        sizes: bytes of each decoded block, all columns counted; 0 if unknown.
        files: for each block the number of its file, ascending.
        is_indexed: True if any block can be read alone, as row groups of Parquet and record batches of Arrow files;
            else each file is one block, read from its beginning.
        file_count: number of files if the last ones have no rows; None: as many as are numbered.

    >>> blocks = RowBlocks.of([4, 4, 2], files=[0, 0, 1])
    >>> blocks.num_rows, blocks.ends.tolist()
    (10, [4, 8, 10])
    """

    rows: Ints
    sizes: Ints
    files: Ints
    is_indexed: bool = True
    file_count: int | None = None

    @classmethod
    def of(
        cls,
        rows: Sequence[int] | Ints,
        sizes: Sequence[int] | Ints | None = None,
        files: Sequence[int] | Ints | None = None,
        *,
        is_indexed: bool = True,
        file_count: int | None = None,
    ) -> RowBlocks:
        """Blocks with these numbers of rows, without empty blocks."""
        counts = np.asarray(rows, np.int64)
        is_full = counts > 0
        given = [np.zeros(len(counts), np.int64) if each is None else np.asarray(each, np.int64) for each in (sizes, files)]
        return cls(counts[is_full], given[0][is_full], given[1][is_full], is_indexed, file_count)

    @classmethod
    def joined(cls, parts: Sequence[RowBlocks]) -> RowBlocks:
        """Return the blocks of several lists of files, one after the other.

        >>> joined = RowBlocks.joined([RowBlocks.of([4, 2]), RowBlocks.of([3])])
        >>> joined.rows.tolist(), joined.files.tolist()
        ([4, 2, 3], [0, 0, 1])
        """
        if len(parts) == 1:
            return parts[0]
        firsts = np.cumsum([0, *(part.num_files for part in parts)])
        files = [part.files + first for part, first in zip(parts, firsts.tolist(), strict=False)]
        lists = [[part.rows for part in parts], [part.sizes for part in parts], files]
        nothing = np.zeros(0, np.int64)
        rows, sizes, numbers = (np.concatenate([nothing, *each]) for each in lists)
        return cls(rows, sizes, numbers, all(part.is_indexed for part in parts), int(firsts[-1]))

    @property
    def num_files(self) -> int:
        """Number of files, including those without rows."""
        numbered = int(self.files[-1]) + 1 if len(self.files) else 0
        return numbered if self.file_count is None else max(self.file_count, numbered)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return int(self.ends[-1]) if len(self.rows) else 0

    @cached_property
    def ends(self) -> Ints:
        """The row after each block."""
        return np.cumsum(self.rows)

    def cut(self, runs: Iterable[range]) -> RowBlocks:
        """Return the blocks of consecutive ranges of rows: blocks are cut where a range begins or ends, and their bytes in
        proportion.

        >>> RowBlocks.of([4, 4, 2]).cut([range(3, 9)]).rows.tolist()
        [1, 4, 1]

        Args:
            runs: runs of neighbouring rows, each with step 1.
        """
        starts = self.ends - self.rows
        parts: list[tuple[Ints, Ints, Ints]] = []
        for run in runs:
            if not len(run):
                continue
            assert run.step == 1
            first = int(np.searchsorted(self.ends, run.start, side="right"))
            last = int(np.searchsorted(starts, run.stop, side="left"))
            rows = np.minimum(self.ends[first:last], run.stop) - np.maximum(starts[first:last], run.start)
            whole = self.rows[first:last]
            sizes = self.sizes[first:last]
            sizes = np.where(rows == whole, sizes, sizes // np.maximum(whole, 1) * rows)  # no product that overflows
            parts.append((rows, sizes, self.files[first:last]))
        if not parts:
            nothing = np.zeros(0, np.int64)
            return RowBlocks(nothing, nothing, nothing, self.is_indexed, self.num_files)
        joined = [np.concatenate(each) for each in zip(*parts, strict=True)]
        return RowBlocks(joined[0], joined[1], joined[2], self.is_indexed, self.num_files)

    def to_json(self) -> dict[str, Any]:
        """Return the blocks as plain JSON: each list of numbers as runs `[number, count]`."""
        return {
            "rows": _coded(self.rows),
            "sizes": _coded(self.sizes),
            "files": _coded(self.files),
            "is_indexed": self.is_indexed,
            "num_files": self.num_files,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RowBlocks:
        """Return the blocks from the result of `to_json`.

        >>> RowBlocks.from_json(RowBlocks.of([4, 4, 2]).to_json()).rows.tolist()
        [4, 4, 2]

        Raises:
            ValueError: it is not a result of `to_json`.
        """
        try:
            rows, sizes, files = (_decoded(stored[name]) for name in ("rows", "sizes", "files"))
            is_indexed, count = bool(stored["is_indexed"]), int(stored.get("num_files", 0))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"invalid row blocks: {error}") from error
        if not len(rows) == len(sizes) == len(files) or (rows <= 0).any():
            raise ValueError("invalid row blocks: the lists have different lengths")
        return cls(rows, sizes, files, is_indexed, count)


def _coded(numbers: Ints) -> list[list[int]]:
    """Return numbers as runs of the same one."""
    if not len(numbers):
        return []
    begins = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
    counts = np.diff(np.concatenate([begins, [len(numbers)]]))
    return [[number, count] for number, count in zip(numbers[begins].tolist(), counts.tolist(), strict=True)]


def _decoded(runs: Any) -> Ints:
    pairs = np.asarray(runs, np.int64).reshape(-1, 2)
    return np.repeat(pairs[:, 0], pairs[:, 1])


# Row ids: `<file name of the shard>__<index in it>`, the name of a row in every slice and order.


_SHARD_NUMBER = re.compile(r"-([0-9]{1,18})-of-[0-9]+(?:\.[^/]*)?$")
_MOST_NAMED = 5
_INDEX = re.compile(r"0|[1-9][0-9]{0,18}")


def row_id(name: str, index: int) -> str:
    """Return the id of row `index` of the shard file `name`.

    >>> row_id("reviews-train-00003-of-00012.arrow", 32)
    'reviews-train-00003-of-00012.arrow__32'
    """
    return f"{name}__{index}"


def parse_row_id(id: str | bytes) -> tuple[str, int]:
    """Return the shard file of a row id, and the row's index in it; an id given as bytes is UTF-8.

    Raises:
        RowIdError: it is not a row id.

    >>> parse_row_id("reviews-train-00003-of-00012.arrow__32")
    ('reviews-train-00003-of-00012.arrow', 32)
    """
    text = id.decode("utf-8", "replace") if isinstance(id, bytes) else id
    name, mark, index = text.rpartition("__") if isinstance(text, str) else ("", "", "")
    if not (name and mark and _INDEX.fullmatch(index)):
        raise RowIdError(id, "it does not have the form '<file name>__<index>'")
    return str(name), int(index)


def shard_number(name: str, total: int, file_name: Callable[[int], str]) -> int | None:
    """Return the number of the shard called `name` among `total`; None for other names.

    >>> shard_number("reviews-train-00003-of-00012.arrow", 12, "reviews-train-{:05d}-of-00012.arrow".format)
    3
    """
    found = _SHARD_NUMBER.search(name)
    shard = int(found[1]) if found else total
    return shard if shard < total and file_name(shard) == name else None


def alike_names(name: str, known: Iterable[str]) -> str:
    """Return the files of joined folders whose names end in `name`, as part of a message; empty if there are none.

    >>> alike_names("a.arrow", ["x/a.arrow", "y/a.arrow", "y/b.arrow"])
    ", but 'x/a.arrow', 'y/a.arrow' are"
    """
    alike = [own for own in known if own.endswith(f"/{name}")][:_MOST_NAMED]
    return f", but {', '.join(map(repr, alike))} {'is' if len(alike) == 1 else 'are'}" if alike else ""

"""`RowBlocks`: how the rows of a split lie in its files: the blocks that are read as one, and whether each can be read alone.

The order of a shuffled or divided stream follows from these numbers, and not from where its bytes come from: a build records
them, so that rows which were built come in the order in which they would have been streamed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RowBlocks:
    """Blocks of rows, in order; none is empty.

    Attributes:
        rows: of each block.
        sizes: bytes of each block when it is decoded, all columns counted; 0 where unknown.
        files: for each block the number of its file, ascending.
        is_indexed: any block can be read without those before it, as row groups of Parquet and record batches of Arrow files
            can; else each file is one block, which is read from its beginning.
        file_count: how many files there are where the last ones have no rows; None: as many as are numbered.

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
        """Blocks with these numbers of rows; those without rows are left out."""
        counts = np.asarray(rows, np.int64)
        is_full = counts > 0
        given = [np.zeros(len(counts), np.int64) if each is None else np.asarray(each, np.int64) for each in (sizes, files)]
        return cls(counts[is_full], given[0][is_full], given[1][is_full], is_indexed, file_count)

    @classmethod
    def joined(cls, parts: Sequence[RowBlocks]) -> RowBlocks:
        """The blocks of several lists of files, one after the other.

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
        """How many files there are, those without rows too."""
        numbered = int(self.files[-1]) + 1 if len(self.files) else 0
        return numbered if self.file_count is None else max(self.file_count, numbered)

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return int(self.ends[-1]) if len(self.rows) else 0

    @cached_property
    def ends(self) -> Ints:
        """The row behind each block."""
        return np.cumsum(self.rows)

    def cut(self, runs: Iterable[range]) -> RowBlocks:
        """The blocks of some runs of rows, one run after the other: cut where a run begins or ends, bytes in proportion.

        >>> RowBlocks.of([4, 4, 2]).cut([range(3, 9)]).rows.tolist()
        [1, 4, 1]

        Args:
            runs: of neighbouring rows, each with step 1.
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
        """The blocks as plain JSON: each list of numbers as runs `[number, how many in a row]`."""
        return {
            "rows": _coded(self.rows),
            "sizes": _coded(self.sizes),
            "files": _coded(self.files),
            "is_indexed": self.is_indexed,
            "num_files": self.num_files,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> RowBlocks:
        """What `to_json` gave.

        >>> RowBlocks.from_json(RowBlocks.of([4, 4, 2]).to_json()).rows.tolist()
        [4, 4, 2]

        Raises:
            ValueError: it is nothing that `to_json` gives.
        """
        try:
            rows, sizes, files = (_decoded(stored[name]) for name in ("rows", "sizes", "files"))
            is_indexed, count = bool(stored["is_indexed"]), int(stored.get("num_files", 0))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"no row blocks: {error}") from error
        if not len(rows) == len(sizes) == len(files) or (rows <= 0).any():
            raise ValueError("no row blocks: the lists do not fit")
        return cls(rows, sizes, files, is_indexed, count)


def _coded(numbers: Ints) -> list[list[int]]:
    """Numbers as runs of the same one."""
    if not len(numbers):
        return []
    begins = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1]]))
    counts = np.diff(np.concatenate([begins, [len(numbers)]]))
    return [[number, count] for number, count in zip(numbers[begins].tolist(), counts.tolist(), strict=True)]


def _decoded(runs: Any) -> Ints:
    pairs = np.asarray(runs, np.int64).reshape(-1, 2)
    return np.repeat(pairs[:, 0], pairs[:, 1])

"""`SubSplitInfo`: what is known of a slice or a sum of splits: its rows, its files, and what to read of each."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Protocol

from datasets_core.errors import RowIdError, RowIndexError
from datasets_core.meta.file_instruction import FileInstruction
from datasets_core.meta.row_ids import parse_row_id, row_id
from datasets_core.meta.shard_lengths import ShardLengths
from datasets_core.meta.split import AbsoluteRange


class _Shards(Protocol):
    """The shards of one split: a `SplitInfo`."""

    @property
    def shards(self) -> ShardLengths: ...

    def file_name(self, shard: int) -> str: ...


def file_instructions(ranges: Iterable[AbsoluteRange], splits: Mapping[str, _Shards]) -> list[FileInstruction]:
    """What to read of each file for these rows of the splits, in order."""
    found = []
    for name, first, last in ranges:
        split = splits[name]
        lengths = split.shards
        for shard, start, stop in lengths.pieces(first, last):
            found.append(FileInstruction.of_rows(split.file_name(shard), start, stop, lengths[shard]))
    return found


class SubSplitInfo:
    """A slice or a sum of splits.

    Args:
        instructions: what to read, in order.
        num_bytes: size of the rows where it is known: the slice is made of whole splits.
        dataset: name of the dataset, for messages.

    >>> from datasets_core import SplitDict
    >>> splits = SplitDict.from_split_dict([{"name": "train", "num_examples": 5, "shard_lengths": [3, 2]}], "birds")
    >>> half = splits["train[2:4]"]
    >>> half.num_examples, half.num_shards
    (2, 2)
    >>> half.file_instructions[0]
    FileInstruction(filename='birds-train-00000-of-00002.arrow', skip=2, take=-1, num_examples=1)
    >>> half.row_id(1), half.locate("birds-train-00001-of-00002.arrow__0")
    ('birds-train-00001-of-00002.arrow__0', 1)
    """

    def __init__(
        self, instructions: Iterable[FileInstruction] = (), num_bytes: int | None = None, dataset: str | None = None
    ) -> None:
        self.num_bytes, self.dataset = num_bytes, dataset
        self._ranges: Sequence[AbsoluteRange] = ()
        self._splits: Mapping[str, _Shards] = {}
        self.instructions = list(instructions)

    @classmethod
    def of_ranges(
        cls, ranges: Sequence[AbsoluteRange], splits: Mapping[str, _Shards], num_bytes: int | None, dataset: str | None
    ) -> SubSplitInfo:
        """That of rows of splits; the files are looked up when they are asked for."""
        made = cls((), num_bytes, dataset)
        del made.instructions
        made._ranges, made._splits = tuple(ranges), {name: splits[name] for name, _, _ in ranges}
        return made

    @cached_property
    def instructions(self) -> list[FileInstruction]:
        """What to read, in order."""
        return file_instructions(self._ranges, self._splits)

    @property
    def file_instructions(self) -> list[FileInstruction]:
        """What to read, in order."""
        return self.instructions

    @property
    def num_examples(self) -> int:
        """Rows of the slice; rows that the expression names twice count twice."""
        if self._ranges:
            return sum(last - first for _, first, last in self._ranges)
        return self._borders[-1]

    @property
    def filenames(self) -> list[str]:
        """The files that hold the slice, sorted."""
        return sorted({instruction.filename for instruction in self.instructions})

    @property
    def num_shards(self) -> int:
        """Number of files that hold the slice."""
        return len({instruction.filename for instruction in self.instructions})

    @cached_property
    def _borders(self) -> list[int]:
        return list(accumulate((instruction.num_examples or 0 for instruction in self.instructions), initial=0))

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for place, instruction in enumerate(self.instructions):
            places.setdefault(instruction.filename, []).append(place)
        return places

    def row_id(self, index: int) -> str:
        """The id of row `index` of the slice; negative ones count from the end.

        Raises:
            RowIndexError: there is no such row.
        """
        size = self._borders[-1]
        row = index + size if index < 0 else index
        if not 0 <= row < size:
            raise RowIndexError(index, size=size)
        place = bisect_right(self._borders, row) - 1
        instruction = self.instructions[place]
        return row_id(instruction.filename, instruction.skip + row - self._borders[place])

    def locate(self, id: str | bytes) -> int:
        """The number in the slice of the row with this id; of a row that is there twice, the first.

        Raises:
            RowIdError: no row of the slice has it.
        """
        name, index = parse_row_id(id)
        for place in self._places.get(name, ()):
            instruction = self.instructions[place]
            row = index - instruction.skip
            if 0 <= row < (instruction.num_examples or 0):
                return self._borders[place] + row
        raise RowIdError(id, "the slice does not hold it", dataset=self.dataset)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SubSplitInfo):
            return NotImplemented
        return (self.instructions, self.num_bytes) == (other.instructions, other.num_bytes)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"SubSplitInfo(num_examples={self.num_examples}, num_shards={self.num_shards}, num_bytes={self.num_bytes})"

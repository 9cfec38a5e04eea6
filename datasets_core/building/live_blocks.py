"""The rows of a split expression by the blocks of its files, where the format has such: what is not asked is not read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from datasets_core.errors import UnknownSplitError
from datasets_core.meta.split import ALL, ReadInstruction, SplitPart
from datasets_core.stream.block_index import BlockIndex
from datasets_core.stream.rows_of_blocks import BlockPart
from datasets_core.stream.steps import Step


@dataclass(frozen=True, slots=True)
class SplitBlocks:
    """The files of all splits of a dataset.

    Attributes:
        indexes: those of each split, in the order of the splits.
        recorded: how many rows splits have, as far as that is on record.
        label: the dataset as messages name it.
        steps: what is done to the rows of the files, before they are those of the dataset.
    """

    indexes: Mapping[str, BlockIndex]
    recorded: Mapping[str, int]
    label: str
    steps: tuple[Step, ...] = ()

    def parts(self, instruction: ReadInstruction) -> tuple[BlockPart, ...]:
        """The rows of a split expression.

        Raises:
            UnknownSplitError: no such split.
        """
        return tuple(found for part in instruction.parts for found in self._parts(part))

    def _parts(self, part: SplitPart) -> Iterator[BlockPart]:
        if part.split not in self.indexes and part.split != ALL:
            raise UnknownSplitError(part.split, known=list(self.indexes), dataset=self.label)
        names = list(self.indexes) if part.split == ALL else [part.split]
        is_plain = part.start is None and part.stop is None and not part.cuts
        for name in names:
            if is_plain:
                yield BlockPart(self.indexes[name])
            elif part.split != ALL and part.unit == "abs" and not part.cuts and min(part.start or 0, part.stop or 0) >= 0:
                start, stop = int(part.start or 0), None if part.stop is None else int(part.stop)
                yield BlockPart(self.indexes[name], Fixed(start, stop if stop is None else max(start, stop)))
            else:
                yield BlockPart(self.indexes[name], Bounds(self, part, name))


@dataclass(frozen=True, slots=True)
class Fixed:
    """Rows that are told by their numbers."""

    start: int
    stop: int | None

    def __call__(self) -> tuple[int, int | None]:
        return self.start, self.stop


@dataclass(frozen=True)
class Bounds:
    """Rows that are told by percent, from the end, by shards or as an even part: the files are asked, where no record tells.

    Attributes:
        splits: what there is.
        part: what is wanted.
        name: of which split.
    """

    splits: SplitBlocks
    part: SplitPart
    name: str

    def __call__(self) -> tuple[int, int | None]:
        known = self.__dict__.get("known")
        if known is None:
            found = ReadInstruction.from_parts((self.part,)).to_absolute(self._lengths())
            known = next(((start, stop) for name, start, stop in found if name == self.name), (0, 0))
            self.__dict__["known"] = known
        return known

    def _lengths(self) -> dict[str, Any]:
        """Rows of each split that takes part; of each file, where shards are counted."""
        splits, names = self.splits, list(self.splits.indexes)
        asked = names if self.part.split == ALL else [self.name]
        lengths: dict[str, Any] = {}
        for name in asked:
            if self.part.unit == "shard":
                lengths[name] = splits.indexes[name].file_rows()
            else:
                known = splits.recorded.get(name)
                lengths[name] = splits.indexes[name].whole() if known is None else known
        return lengths


def split_blocks(builder: Any, asked: Mapping[str, Mapping[str, Any]], recorded: Mapping[str, int]) -> SplitBlocks | None:
    """The files of all splits by their blocks; None where one of them has no such.

    Args:
        builder: of a format.
        asked: what it makes the rows of each split from.
        recorded: how many rows splits have, as far as that is on record.
    """
    indexes: dict[str, BlockIndex] = {}
    if not hasattr(builder, "block_files"):  # not all formats are of files alone
        return None
    for split, found in asked.items():
        files = builder.block_files(found)
        if files is None:
            return None
        indexes[split] = BlockIndex(files)
    return SplitBlocks(indexes, recorded, str(builder.label), builder.block_steps()) if indexes else None

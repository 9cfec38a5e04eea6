"""A split expression and shard lengths, to row ranges per shard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from datasets_core.meta.shard_lengths import ShardLengths
from datasets_core.meta.split import AbsoluteRange, ReadInstruction


class RowRange(NamedTuple):
    """Rows `start` to `stop` of shard `shard` (counted within its split); a named tuple, being made by the thousand."""

    split: str
    shard: int
    start: int
    stop: int


def absolute(split: str | ReadInstruction, shard_lengths: Mapping[str, Sequence[int]]) -> list[AbsoluteRange]:
    """The rows of each part of `split`, counted within the part's split.

    >>> absolute("train[-50%:]+test", {"train": [4, 4], "test": [3]})
    [AbsoluteRange(splitname='train', from_=4, to=8), AbsoluteRange(splitname='test', from_=0, to=3)]

    Raises:
        SplitSyntaxError: `split` does not parse, or its rounding does not fit the number of rows.
        UnknownSplitError: `split` names a split that is not in `shard_lengths`.
    """
    instruction = split if isinstance(split, ReadInstruction) else ReadInstruction.from_spec(str(split))
    return instruction.to_absolute(shard_lengths)


def row_ranges(split: str | ReadInstruction, shard_lengths: Mapping[str, Sequence[int]]) -> list[RowRange]:
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
    return [
        RowRange(name, *piece) for name, first, last in absolute(split, shards) for piece in shards[name].pieces(first, last)
    ]

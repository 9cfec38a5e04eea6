"""`even_splits`: a split divided among n readers, before its length is known."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from datasets_core.errors import ConfigurationError, RankError
from datasets_core.meta.split import ReadInstruction, parse_split
from datasets_core.meta.split_part import EvenCut


def even_splits(split: Any, n: int, drop_remainder: bool = False) -> list[Any]:
    """`n` splits that divide `split` evenly: together all of its rows, none twice, their sizes differing by at most one.

    Each is a `ReadInstruction` that goes wherever a split goes, may be added to others and divided again, and is written as
    text: `train(even3[1])` is `even_splits("train", 3)[1]`, `train(even3_dropremainder[1])` the same without remainder.
    Each part of a sum, and each split of `all`, is divided by itself; the first splits have the rows that remain.

    Args:
        split: `"train"`, `"train[75%:]+test"`, a `ReadInstruction`; or a list, tuple or dict of them, and then each of the
            `n` is such a list, tuple or dict.
        n: how many.
        drop_remainder: leave out the rows that remain, so that all are of one size.

    Raises:
        ConfigurationError: `n` is no whole number from 1, or `split` is none.
        SplitSyntaxError: a text that does not parse.

    >>> [part.to_absolute({"train": 11})[0][1:] for part in even_splits("train", 3)]
    [(0, 4), (4, 8), (8, 11)]
    >>> even_splits("train[75%:]+test", 2)[1]
    ReadInstruction('train[75%:](even2[1])+test(even2[1])')
    """
    count, nest = _count("n", n), parse_split(split)
    return [_cut(nest, EvenCut(count, index, bool(drop_remainder))) for index in range(count)]


def even_part(split: Any, index: int, n: int, drop_remainder: bool = False) -> Any:
    """`even_splits(split, n, drop_remainder)[index]`, of which it makes that one alone.

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
        raise ConfigurationError(f"A split cannot be divided among {name}={value!r}. Give a whole number from 1.")
    return count


def _cut(nest: Any, cut: EvenCut) -> Any:
    if isinstance(nest, ReadInstruction):
        if cut.n == 1:
            return nest
        return ReadInstruction.from_parts([replace(part, cuts=(*part.cuts, cut)) for part in nest.parts])
    if isinstance(nest, Mapping):
        return {name: _cut(inner, cut) for name, inner in nest.items()}
    return type(nest)(_cut(inner, cut) for inner in nest)

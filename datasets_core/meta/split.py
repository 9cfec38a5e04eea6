"""The split algebra: `train[10%:]+test` as a value.

A `ReadInstruction` is a sum of parts; a part is a split name with two bounds in one unit.  Bounds follow Python's slices:
they clamp, negatives count from the end, and a reversed pair is empty.  `all` is the union of the splits in their order, and
a slice of `all` counts rows, percents or shards over that union.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple, NoReturn, Protocol, TypeAlias

from datasets_core.errors import ConfigurationError, UnknownSplitError
from datasets_core.meta.shard_lengths import ShardLengths
from datasets_core.meta.split_part import SplitPart as SplitPart
from datasets_core.meta.split_part import checked_part, parse_part
from datasets_core.meta.split_part import is_split_name as is_split_name


class _Recorded(Protocol):
    """What is known of a split: a `SplitInfo`, say."""

    @property
    def shards(self) -> ShardLengths: ...


Lengths: TypeAlias = Mapping[str, int | Sequence[int]] | Mapping[str, _Recorded]
"""Rows by split name: one number, one number for each shard, or a `SplitInfo`."""

ALL = "all"


class AbsoluteRange(NamedTuple):
    """Rows `from_` to `to` of one split."""

    splitname: str
    from_: int
    to: int


class ReadInstruction:
    """Which rows of which splits to read: a sum of slices.

    Args:
        split_name: name of the split; the union of all is the text `all`.
        rounding: with unit `%`, `closest` (default) or `pct1_dropremainder`; other units round nothing.
        from_, to: bounds as in a Python slice; None is an open end.
        unit: `abs` (rows, the default), `%` or `shard`.

    By position the arguments come in this order, that of Hugging Face `datasets`: `ReadInstruction("train", None, 20)` is
    `train[20:]`.  Those in TFDS's order, `(split_name, from_, to, unit, rounding)`, are understood only where a number stands
    in the place of the rounding, or a text in that of `to`; `tfds.core.ReadInstruction` always has TFDS's order.

    Raises:
        SplitSyntaxError: a name, bound, unit or rounding that means nothing.
        ConfigurationError: `all`, which is no split.

    >>> half = ReadInstruction("train", to=50, unit="%") + "test"
    >>> half
    ReadInstruction('train[:50%]+test')
    >>> half.to_absolute({"train": 10, "test": 4})
    [AbsoluteRange(splitname='train', from_=0, to=5), AbsoluteRange(splitname='test', from_=0, to=4)]
    """

    __slots__ = ("parts",)
    parts: tuple[SplitPart, ...]

    def __init__(
        self,
        split_name: str,
        rounding: str | None = None,
        from_: float | None = None,
        to: float | None = None,
        unit: str | None = None,
    ) -> None:
        rounding, from_, to, unit = _in_our_order(rounding, from_, to, unit)
        _set_parts(self, (slice_part(split_name, from_=from_, to=to, unit=unit, rounding=rounding),))

    @classmethod
    def from_spec(cls, spec: str) -> ReadInstruction:
        """The instruction that a text such as `train[10%:]+test` stands for.

        Raises:
            SplitSyntaxError: the text does not parse.
        """
        return cls.from_parts(tuple(parse_part(piece, spec) for piece in re.split(r"\s*\+\s*", spec)))

    @classmethod
    def from_parts(cls, parts: Sequence[SplitPart]) -> ReadInstruction:
        """The sum of `parts`, which are taken as they are."""
        made = object.__new__(cls)
        _set_parts(made, tuple(parts))
        return made

    def to_spec(self) -> str:
        """The shortest text for this instruction; `from_spec` of it is equal to this."""
        return "+".join(map(str, self.parts))

    def to_absolute(self, name2len: Lengths) -> list[AbsoluteRange]:
        """The rows of each part, given the length of each split in the order of the splits.

        Raises:
            UnknownSplitError: a split that `name2len` does not have.
        """
        return [found for part in self.parts for found in _absolute(part, name2len)]

    def __add__(self, other: object) -> ReadInstruction:
        if isinstance(other, str):
            other = ReadInstruction.from_spec(other)
        if not isinstance(other, ReadInstruction):
            return NotImplemented
        return ReadInstruction.from_parts(self.parts + other.parts)

    def __radd__(self, other: object) -> ReadInstruction:
        return ReadInstruction.from_spec(other) + self if isinstance(other, str) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return self.parts == other.parts if isinstance(other, ReadInstruction) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.parts)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a ReadInstruction cannot be changed, so {name!r} cannot be set; add instructions with +")

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadInstruction.from_parts, (self.parts,)

    def __str__(self) -> str:
        return self.to_spec()

    def __repr__(self) -> str:
        return f"ReadInstruction({self.to_spec()!r})"


def slice_part(split_name: str, *, from_: float | None, to: float | None, unit: str | None, rounding: str | None) -> SplitPart:
    """The one term of `ReadInstruction(split_name, …)`, checked.

    Raises:
        SplitSyntaxError: a name, bound, unit or rounding that means nothing.
        ConfigurationError: `all`, which is no split.
    """
    unit = "abs" if unit is None else unit
    if split_name == ALL:
        raise ConfigurationError(
            "ReadInstruction('all') names the union of the splits, and not one of them. Write it as text: "
            "split='all', or ReadInstruction.from_spec('all[:10%]')."
        )
    part = SplitPart(str(split_name), from_, to, unit, rounding)
    return checked_part(part, f"{split_name}[{from_}:{to}] by {unit}")


def _in_our_order(rounding: Any, from_: Any, to: Any, unit: Any) -> tuple[Any, Any, Any, Any]:
    """The arguments of `ReadInstruction`, also where they came by position as (from_, to, unit, rounding)."""
    if isinstance(to, str) and not isinstance(rounding, str):
        return unit, rounding, from_, to
    if not isinstance(rounding, str | None) and (from_ is None or to is None):
        return None, rounding, to if from_ is None else from_, unit
    return rounding, from_, to, unit


def _set_parts(instruction: ReadInstruction, parts: tuple[SplitPart, ...]) -> None:
    object.__setattr__(instruction, "parts", parts)


def _absolute(part: SplitPart, name2len: Lengths) -> Iterator[AbsoluteRange]:
    for name, start, stop in _uncut(part, name2len):
        yield AbsoluteRange(name, *part.cut(start, stop))


def _uncut(part: SplitPart, name2len: Lengths) -> Iterator[AbsoluteRange]:
    if part.split in name2len:
        total, shards = _sizes(name2len[part.split])
        yield AbsoluteRange(part.split, *part.bounds(total, shards))
        return
    if part.split != ALL:
        raise UnknownSplitError(part.split, known=name2len)
    sizes = {name: _sizes(lengths) for name, lengths in name2len.items()}
    if part.start is None and part.stop is None:
        yield from (AbsoluteRange(name, 0, total) for name, (total, _) in sizes.items())
        return
    known = [shards for _, shards in sizes.values() if shards is not None]
    everything = ShardLengths(chain.from_iterable(known)) if len(known) == len(sizes) else None
    start, stop = part.bounds(sum(total for total, _ in sizes.values()), everything)
    for name, (total, _) in sizes.items():
        first, last = max(start, 0), min(stop, total)
        if first < last:
            yield AbsoluteRange(name, first, last)
        start, stop = start - total, stop - total


def _sizes(lengths: Any) -> tuple[int, ShardLengths | None]:
    """Rows of a split, and those of its shards where they are told."""
    lengths = getattr(lengths, "shards", lengths)
    if hasattr(lengths, "__index__"):
        return int(lengths), None
    shards = ShardLengths.of(lengths)
    return shards.total, shards


class NamedSplit(str):
    """The name of a split, or a split expression; a string that adds up to a `ReadInstruction`.

    Raises:
        SplitSyntaxError: the text is neither.

    >>> Split.TRAIN == "train", Split.TRAIN + "test[:10%]"
    (True, ReadInstruction('train+test[:10%]'))
    """

    __slots__ = ()

    def __new__(cls, name: str) -> NamedSplit:
        if not is_split_name(name):
            ReadInstruction.from_spec(name)
        return str.__new__(cls, name)

    def __add__(self, other: str | ReadInstruction) -> ReadInstruction:  # type: ignore[override]
        return ReadInstruction.from_spec(str(self)) + other

    def __str__(self) -> str:
        return str.__str__(self)

    @property
    def _name(self) -> str:  # which published scripts read
        return str.__str__(self)

    def __repr__(self) -> str:
        return f"NamedSplit({str.__repr__(self)})"

    def get_read_instruction(self, split_dict: Mapping[str, object] | None = None) -> ReadInstruction:
        """This split as a `ReadInstruction`; with `split_dict`, its splits must be there.

        Raises:
            UnknownSplitError: a split that `split_dict` does not have.
        """
        instruction = ReadInstruction.from_spec(str(self))
        if split_dict is not None:
            instruction.to_absolute(dict.fromkeys(split_dict, 0))
        return instruction

    def subsplit(
        self, arg: Any = None, k: int | None = None, percent: slice | None = None, weighted: Sequence[float] | None = None
    ) -> ReadInstruction | tuple[ReadInstruction, ...]:
        """Slices of this split by percent, in the old spelling of `train[:50%]`.

        Args:
            arg: any of the three that follow, told apart by its type.
            k: number of equal slices.
            percent: one slice.
            weighted: weights of consecutive slices.

        Raises:
            ConfigurationError: not exactly one of them is given, or it means nothing.
        """
        if isinstance(arg, int):
            k = arg
        elif isinstance(arg, slice):
            percent = arg
        elif arg is not None:
            weighted = list(arg)
        if [k, percent, weighted].count(None) != 2:
            raise ConfigurationError(
                "subsplit takes exactly one of k, percent and weighted. Write for example 'train[:50%]' instead."
            )
        if percent is not None:
            return self._percents(percent.start, percent.stop)
        weights = [1.0] * k if k is not None else list(weighted or ())
        if not weights or min(weights) <= 0:
            raise ConfigurationError(
                f"subsplit cannot make slices of {k if weighted is None else weighted!r}. Give positive numbers."
            )
        borders = [int(100 * part / sum(weights)) for part in accumulate(weights, initial=0)]
        return tuple(self._percents(start, stop) for start, stop in pairwise(borders))

    def _percents(self, start: float | None, stop: float | None) -> ReadInstruction:
        part = checked_part(SplitPart(str(self), start, stop, "%"), f"{self}[{start}:{stop}] by %")
        return ReadInstruction.from_parts((part,))


class Split:
    """The usual splits; `Split("name")` is the `NamedSplit` of any other name.

    >>> Split.TRAIN, Split("dev"), Split.TRAIN + Split("dev")
    (NamedSplit('train'), NamedSplit('dev'), ReadInstruction('train+dev'))
    """

    TRAIN = NamedSplit("train")
    TEST = NamedSplit("test")
    VALIDATION = NamedSplit("validation")
    ALL = NamedSplit(ALL)

    def __new__(cls, name: str) -> NamedSplit:  # type: ignore[misc]
        return NamedSplit(name)


def parse_split(value: Any) -> Any:
    """The same nest as `value` (str, instruction, list, tuple, dict) with a `ReadInstruction` for each leaf.

    >>> parse_split({"fit": "train[:90%]", "check": ["train[90%:]", Split.TEST]})
    {'fit': ReadInstruction('train[:90%]'), 'check': [ReadInstruction('train[90%:]'), ReadInstruction('test')]}

    Raises:
        SplitSyntaxError: a text that does not parse.
        ConfigurationError: a leaf of another type.
    """
    if isinstance(value, ReadInstruction):
        return value
    if isinstance(value, str):
        return ReadInstruction.from_spec(str(value))
    if isinstance(value, (list, tuple)):
        found = [parse_split(inner) for inner in value]
        return found if isinstance(value, list) else tuple(found)
    if isinstance(value, Mapping):
        return {name: parse_split(inner) for name, inner in value.items()}
    raise ConfigurationError(
        f"split={value!r} ({type(value).__name__}) is no split expression. "
        "Give a text such as 'train[:10%]', or a list or dict of them."
    )

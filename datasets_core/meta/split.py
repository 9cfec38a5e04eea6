"""The split algebra: `train[10%:]+test` as a value.

A `ReadInstruction` is a sum of parts; a part is a split name with two bounds in one unit.  Bounds follow Python's slices:
they clamp, negatives count from the end, and a reversed pair is empty.  `all` is the union of the splits in their order, and
a slice of `all` counts rows, percents or shards over that union.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Any, NamedTuple, NoReturn, TypeAlias

from datasets_core.errors import ConfigurationError, SplitSyntaxError, UnknownSplitError

Lengths: TypeAlias = Mapping[str, int | Sequence[int]]
"""Rows by split name: one number, or one number for each shard."""

ALL = "all"
_UNITS = ("abs", "%", "shard")
_ROUNDINGS = ("closest", "pct1_dropremainder")
_NAME_TEXT = r"(?=[-.]*\w)[\w-]+(?:\.[\w-]+)*"
_NAME = re.compile(_NAME_TEXT)
_PIECE = re.compile(rf"(?P<name>{_NAME_TEXT})(?:\[(?P<selector>[^\[\]]*)\])?(?:\((?P<rounding>\w+)\))?")
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_BOUND = re.compile(rf"(?P<number>-?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS}))(?P<unit>%|shard)?")
_MAX_DIGITS = 40  # int() refuses, and float() drowns in, thousands of digits


def is_split_name(name: object) -> bool:
    """Whether `name` can be the name of a split: words of letters, digits, `_` and `-`, with dots between them.

    >>> is_split_name("train.clean-100"), is_split_name("../train")
    (True, False)
    """
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


class AbsoluteRange(NamedTuple):
    """Rows `from_` to `to` of one split."""

    splitname: str
    from_: int
    to: int


@dataclass(frozen=True, slots=True)
class SplitPart:
    """One term of a split expression.

    Attributes:
        split: name of the split, or `all`.
        start, stop: the bounds; None is an open end.
        unit: `abs` (rows), `%` or `shard`.
        rounding: with `%`, `closest` or `pct1_dropremainder`; else None.
    """

    split: str
    start: int | float | None = None
    stop: int | float | None = None
    unit: str = "abs"
    rounding: str | None = None

    def __str__(self) -> str:
        if self.start is None and self.stop is None:
            return self.split
        sign = "" if self.unit == "abs" else self.unit
        bounds = ":".join("" if bound is None else _plain(bound) + sign for bound in (self.start, self.stop))
        return f"{self.split}[{bounds}]" + (f"({self.rounding})" if self.rounding == "pct1_dropremainder" else "")

    def bounds(self, total: int, shards: Sequence[int] | None) -> tuple[int, int]:
        """First row and the row behind the last, in a split of `total` rows.

        Raises:
            SplitSyntaxError: `pct1_dropremainder` on fewer than 100 rows.
            ConfigurationError: shards are counted, and their lengths are not known.
        """
        if self.start is None and self.stop is None:
            return 0, total
        if self.unit == "shard":
            if shards is None:
                raise ConfigurationError(
                    f"{str(self)!r} counts shards, and no shard lengths are known here. Slice by rows or percent."
                )
            first, last, _ = slice(self.start, self.stop).indices(len(shards))
            offsets = list(accumulate(shards, initial=0))
            return offsets[first], offsets[max(first, last)]
        start, stop = self.start, self.stop
        if self.unit == "%":
            start = 0 if start is None else self._row(start, total)
            stop = total if stop is None else self._row(stop, total)
        first, last, _ = slice(start, stop).indices(total)
        return first, max(first, last)

    def _row(self, percent: float, total: int) -> int:
        """The row at `percent`; a negative one counts from the end, also where it rounds to no row at all."""
        if self.rounding == "pct1_dropremainder":
            if total < 100:
                raise SplitSyntaxError(str(self), f"pct1_dropremainder needs 100 rows, and {self.split!r} has {total}")
            row = int(abs(percent)) * (total // 100)
        else:
            row = round(abs(percent) * total / 100)
        return row if percent >= 0 else total - row


def _plain(number: float) -> str:
    return str(number) if isinstance(number, int) else format(Decimal(repr(number)), "f")


class ReadInstruction:
    """Which rows of which splits to read: a sum of slices.

    Args:
        split_name: name of the split, or `all`.
        rounding: with unit `%`, `closest` (default) or `pct1_dropremainder`.
        from_, to: bounds as in a Python slice; None is an open end.
        unit: `abs` (rows, the default), `%` or `shard`.

    Raises:
        SplitSyntaxError: a name, bound, unit or rounding that means nothing.

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
        part = SplitPart(str(split_name), from_, to, unit or "abs", rounding)
        _set_parts(self, (_checked(part, f"{split_name}[{from_}:{to}] by {unit or 'abs'}"),))

    @classmethod
    def from_spec(cls, spec: str) -> ReadInstruction:
        """The instruction that a text such as `train[10%:]+test` stands for.

        Raises:
            SplitSyntaxError: the text does not parse.
        """
        return cls.from_parts(tuple(_parse(piece, spec) for piece in re.split(r" *\+ *", spec)))

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


def _set_parts(instruction: ReadInstruction, parts: tuple[SplitPart, ...]) -> None:
    object.__setattr__(instruction, "parts", parts)


def _absolute(part: SplitPart, name2len: Lengths) -> list[AbsoluteRange]:
    if part.split in name2len:
        lengths = name2len[part.split]
        single = isinstance(lengths, int)
        start, stop = part.bounds(lengths if single else sum(lengths), None if single else lengths)  # type: ignore[arg-type]
        return [AbsoluteRange(part.split, start, stop)]
    if part.split != ALL:
        raise UnknownSplitError(part.split, known=name2len)
    totals = {name: lengths if isinstance(lengths, int) else sum(lengths) for name, lengths in name2len.items()}
    if part.start is None and part.stop is None:
        return [AbsoluteRange(name, 0, total) for name, total in totals.items()]
    shards = [length for lengths in name2len.values() if not isinstance(lengths, int) for length in lengths]
    counted = all(not isinstance(lengths, int) for lengths in name2len.values())
    start, stop = part.bounds(sum(totals.values()), shards if counted else None)
    found = []
    for name, total in totals.items():
        first, last = max(start, 0), min(stop, total)
        if first < last:
            found.append(AbsoluteRange(name, first, last))
        start, stop = start - total, stop - total
    return found


def _parse(piece: str, spec: str) -> SplitPart:
    found = _PIECE.fullmatch(piece)
    if found is None:
        raise SplitSyntaxError(
            spec, f"{piece!r} is no split name with an optional [from:to]" if piece else "a split name is missing"
        )
    name, selector, rounding = found.group("name", "selector", "rounding")
    if selector is None:
        return _checked(SplitPart(name, rounding=rounding), spec)
    texts = selector.split(":")
    if len(texts) > 2:
        raise SplitSyntaxError(spec, "a slice has no step")
    bounds = [_parse_bound(text, spec) for text in texts]
    # A bare 0 is the same row in every unit, so it takes the unit of the other bound.
    units = {unit for value, unit in bounds if value is not None and (value, unit) != (0, "abs")} or {"abs"}
    if len(units) > 1:
        raise SplitSyntaxError(spec, f"the bounds in [{selector}] have different units")
    (unit,) = units
    if len(bounds) == 2:
        return _checked(SplitPart(name, bounds[0][0], bounds[1][0], unit, rounding), spec)
    index, unit = bounds[0]
    if index is None or unit != "shard":
        raise SplitSyntaxError(spec, f"[{selector}] is no slice; a single number must count shards, as in [4shard]")
    return _checked(SplitPart(name, index, None if index == -1 else index + 1, unit, rounding), spec)


def _parse_bound(text: str, spec: str) -> tuple[int | float | None, str]:
    if not text:
        return None, "abs"
    found = _BOUND.fullmatch(text)
    if found is None or len(text) > _MAX_DIGITS:
        raise SplitSyntaxError(
            spec, f"{text[:_MAX_DIGITS]!r} is no bound, which is a whole number, a percentage like 12.5% or 3shard"
        )
    number, unit = found.group("number", "unit")
    if unit == "%" and "." in number:
        return float(number), unit
    if "." in number:
        raise SplitSyntaxError(spec, f"{text!r} is not a whole number")
    return int(number), unit or "abs"


def _checked(part: SplitPart, spec: str) -> SplitPart:
    """`part` with whole numbers as int and the default rounding, or the error that says what is wrong with it."""
    if not is_split_name(part.split):
        raise SplitSyntaxError(spec, f"{part.split!r} is no split name, which is made of letters, digits, '_', '-' and '.'")
    if part.unit not in _UNITS:
        raise SplitSyntaxError(spec, f"the unit is {part.unit!r}, and should be one of {', '.join(map(repr, _UNITS))}")
    rounding = part.rounding
    if rounding is not None and rounding not in _ROUNDINGS:
        raise SplitSyntaxError(spec, f"the rounding is {rounding!r}, and should be 'closest' or 'pct1_dropremainder'")
    if rounding is not None and part.unit != "%":
        raise SplitSyntaxError(spec, f"the rounding {rounding!r} only goes with percent bounds")
    start, stop = (_number(bound, part.unit, rounding, spec) for bound in (part.start, part.stop))
    if start is None and stop is None:
        return SplitPart(part.split)
    return SplitPart(part.split, start, stop, part.unit, (rounding or "closest") if part.unit == "%" else None)


def _number(bound: Any, unit: str, rounding: str | None, spec: str) -> int | float | None:
    if bound is None:
        return None
    if isinstance(bound, float):
        number: int | float = int(bound) if bound.is_integer() else bound
    else:
        try:
            number = operator.index(bound)
        except TypeError:
            raise SplitSyntaxError(spec, f"the bound {bound!r} is not a number") from None
    if unit == "%":
        if not -100 <= number <= 100:
            raise SplitSyntaxError(spec, f"the bound {bound}% is not between -100% and 100%")
        if rounding == "pct1_dropremainder" and isinstance(number, float):
            raise SplitSyntaxError(spec, f"pct1_dropremainder counts whole percents, and {bound}% is none")
    elif isinstance(number, float):
        raise SplitSyntaxError(spec, f"the bound {bound} is not a whole number")
    return number


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
            return ReadInstruction(self, from_=percent.start, to=percent.stop, unit="%")
        weights = [1.0] * k if k is not None else list(weighted or ())
        if not weights or min(weights) <= 0:
            raise ConfigurationError(
                f"subsplit cannot make slices of {k if weighted is None else weighted!r}. Give positive numbers."
            )
        borders = [int(100 * part / sum(weights)) for part in accumulate(weights, initial=0)]
        return tuple(ReadInstruction(self, from_=start, to=stop, unit="%") for start, stop in pairwise(borders))


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

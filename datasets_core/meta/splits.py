"""`ReadInstruction`: split expressions such as `train[10%:]+test` as values; rows of each shard.

A `ReadInstruction` is a sum of parts; a part is a split name with two bounds in one unit.  Bounds follow Python's slices:
they clamp, negatives count from the end, and a reversed pair is empty.  `all` is the union of the splits in their order, and
a slice of `all` counts rows, percents or shards over that union.
"""

from __future__ import annotations

import operator
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, TypeAlias, overload

from datasets_core.errors import ConfigurationError, SplitSyntaxError, UnknownSplitError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Ints: TypeAlias = npt.NDArray[np.int64]

# `ShardLengths`: number of rows of each shard of one split, and the shard of each row.


class ShardLengths(Sequence[int]):
    """Rows of each shard of a split, in order; the running totals are computed once, and a row is found by bisection.

    Args:
        lengths: the rows of each shard; an array of a million is kept as it is.

    >>> lengths = ShardLengths([4, 0, 6])
    >>> lengths.total, lengths.place(4), list(lengths.pieces(3, 6))
    (10, (2, 0), [(0, 3, 4), (2, 0, 2)])
    """

    def __init__(self, lengths: Iterable[int] | Ints = ()) -> None:
        self._lengths: Any = lengths if hasattr(lengths, "cumsum") else tuple(lengths)

    @classmethod
    def of(cls, lengths: Iterable[int]) -> ShardLengths:
        """Return `lengths` as `ShardLengths`; unchanged if they have their totals already."""
        return lengths if isinstance(lengths, cls) else cls(lengths)

    def __len__(self) -> int:
        return len(self._lengths)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        return list(map(int, self._lengths[index])) if isinstance(index, slice) else int(self._lengths[index])

    def __iter__(self) -> Iterator[int]:
        return iter(self._lengths if isinstance(self._lengths, tuple) else self._lengths.tolist())

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"ShardLengths({list(self)})"

    @cached_property
    def borders(self) -> Sequence[int]:
        """The first row of each shard, and the row after the last."""
        if isinstance(self._lengths, tuple):
            return list(accumulate(self._lengths, initial=0))
        import numpy as np

        ends: Any = np.concatenate([[0], self._lengths.cumsum()])
        return ends  # type: ignore[no-any-return]

    @property
    def total(self) -> int:
        """Rows of all shards."""
        return int(self.borders[-1])

    def place(self, row: int) -> tuple[int, int]:
        """Return the shard of a row from 0 to `total`, and the row's number in it."""
        shard = bisect_right(self.borders, row) - 1
        return shard, row - int(self.borders[shard])

    def pieces(self, first: int, last: int) -> Iterator[tuple[int, int, int]]:
        """Yield rows `first` to `last` as shard, first row in it and the row after the last; shards without rows are left
        out.
        """
        return map(tuple, self.cut(first, last).tolist())

    def cut(self, first: int, last: int) -> Ints:
        """Return the pieces of rows `first` to `last` as an array, one line for each: shard, first row, row after the last."""
        import numpy as np  # 40 ms that a description without rows does without

        if first >= last:
            return np.zeros((0, 3), np.int64)
        low, high = bisect_right(self.borders, first) - 1, bisect_left(self.borders, last)
        borders = np.asarray(self.borders[low : high + 1], np.int64)
        pieces = np.empty((high - low, 3), np.int64)
        pieces[:, 0] = np.arange(low, high)
        pieces[:, 1] = np.maximum(borders[:-1], first) - borders[:-1]
        pieces[:, 2] = np.minimum(borders[1:], last) - borders[:-1]
        kept = pieces[:, 1] < pieces[:, 2]
        return pieces if kept.all() else pieces[kept]


# One term of a split expression: its text, its bounds, and its even cuts.


_UNITS = ("abs", "%", "shard")
_ROUNDINGS = ("closest", "pct1_dropremainder")
_NAME = r"(?=[-.]*\w)[\w-]+(?:\.[\w-]+)*"
_PIECE = rf"(?P<name>{_NAME})(?:\[(?P<selector>[^\[\]]*)\])?(?P<suffixes>(?:\([^()]*\))*)"
_SUFFIX = r"\(([^()]*)\)"
_EVEN = r"even(?P<n>[0-9]{1,18})(?P<drop>_dropremainder)?\[(?P<index>[0-9]{1,18})\]"
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_BOUND = rf"(?P<number>-?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS}))(?P<unit>%|shard)?"
_MAX_DIGITS = 40  # int() refuses, and float() drowns in, thousands of digits


def is_split_name(name: object) -> bool:
    """Return True if `name` can be the name of a split: words of letters, digits, `_` and `-`, with dots between them.

    >>> is_split_name("train.clean-100"), is_split_name("../train")
    (True, False)
    """
    return isinstance(name, str) and re.fullmatch(_NAME, name) is not None


@dataclass(frozen=True, slots=True)
class EvenCut:
    """Part `index` of `n` even parts; its text `(even3[1])` is that of `even_splits(..., 3)[1]`.

    The first parts have one row more if the rows do not divide evenly, unless the remainder is dropped.
    """

    n: int
    index: int
    drop_remainder: bool = False

    def __str__(self) -> str:
        return f"(even{self.n}{'_dropremainder' if self.drop_remainder else ''}[{self.index}])"

    def of(self, first: int, last: int) -> tuple[int, int]:
        """Return this part of the rows `first` to `last`."""
        size, rest = divmod(last - first, self.n)
        if self.drop_remainder:
            rest = 0
        begin = first + size * self.index + min(self.index, rest)
        return begin, begin + size + (self.index < rest)


@dataclass(frozen=True, slots=True)
class SplitPart:
    """One term of a split expression.

    Attributes:
        split: name of the split, or `all`.
        start, stop: the bounds; None is an open end.
        unit: `abs` (rows), `%` or `shard`.
        rounding: with `%`, `closest` or `pct1_dropremainder`; else None.
        cuts: even parts, each of the result of the one before.
    """

    split: str
    start: int | float | None = None
    stop: int | float | None = None
    unit: str = "abs"
    rounding: str | None = None
    cuts: tuple[EvenCut, ...] = ()

    def __str__(self) -> str:
        return self._slice_text() + "".join(map(str, self.cuts))

    def _slice_text(self) -> str:
        if self.start is None and self.stop is None:
            return self.split
        sign = "" if self.unit == "abs" else self.unit
        bounds = ":".join("" if bound is None else _plain(bound) + sign for bound in (self.start, self.stop))
        return f"{self.split}[{bounds}]" + (f"({self.rounding})" if self.rounding == "pct1_dropremainder" else "")

    def bounds(self, total: int, shards: Sequence[int] | None) -> tuple[int, int]:
        """Return the first row and the row after the last, before the cuts, in a split of `total` rows.

        Raises:
            SplitSyntaxError: `pct1_dropremainder` on fewer than 100 rows.
            ConfigurationError: shards are counted, and their lengths are not known.
        """
        if self.start is None and self.stop is None:
            return 0, total
        if self.unit == "shard":
            if shards is None:
                raise ConfigurationError(
                    f"{str(self)!r} counts shards, but the shard lengths are unknown", advice="Slice by rows or percent"
                )
            first, last, _ = slice(self.start, self.stop).indices(len(shards))
            borders = ShardLengths.of(shards).borders
            return borders[first], borders[max(first, last)]
        start, stop = self.start, self.stop
        if self.unit == "%":
            start = 0 if start is None else self._row(start, total)
            stop = total if stop is None else self._row(stop, total)
        first, last, _ = slice(start, stop).indices(total)
        return first, max(first, last)

    def cut(self, first: int, last: int) -> tuple[int, int]:
        """Return the rest of rows `first` to `last` after the even cuts."""
        for cut in self.cuts:
            first, last = cut.of(first, last)
        return first, last

    def _row(self, percent: float, total: int) -> int:
        """Return the row at `percent`; a negative one counts from the end, even if it rounds to no row."""
        if self.rounding == "pct1_dropremainder":
            if total < 100:
                raise SplitSyntaxError(str(self), f"pct1_dropremainder needs at least 100 rows, but {self.split!r} has {total}")
            row = int(abs(percent)) * (total // 100)
        else:
            row = round(abs(percent) * total / 100)
        return row if percent >= 0 else total - row


def _plain(number: float) -> str:
    return str(number) if isinstance(number, int) else format(Decimal(repr(number)), "f")


def parse_part(piece: str, spec: str) -> SplitPart:
    """Return the term for `piece` of the expression `spec`.

    Raises:
        SplitSyntaxError: invalid syntax.
    """
    found = re.fullmatch(_PIECE, piece)
    if found is None:
        raise SplitSyntaxError(
            spec, f"{piece!r} is not a valid split name with an optional [from:to]" if piece else "a split name is missing"
        )
    name, selector = found.group("name", "selector")
    rounding, cuts = _parse_suffixes(re.findall(_SUFFIX, found["suffixes"]), spec)
    start, stop, unit = (None, None, "abs") if selector is None else _parse_selector(selector, spec)
    if rounding in _ROUNDINGS and unit != "%":
        raise SplitSyntaxError(spec, f"the rounding {rounding!r} is only allowed with percent bounds")
    return checked_part(SplitPart(name, start, stop, unit, rounding, cuts), spec)


def _parse_suffixes(suffixes: list[str], spec: str) -> tuple[str | None, tuple[EvenCut, ...]]:
    rounding, cuts = None, []
    for position, suffix in enumerate(suffixes):
        found = re.fullmatch(_EVEN, suffix)
        if found is not None:
            cut = EvenCut(int(found["n"]), int(found["index"]), found["drop"] is not None)
            if cut.index >= cut.n:
                raise SplitSyntaxError(spec, f"{cut} is not one of the {cut.n} even parts, which are counted from 0")
            cuts.append(cut)
        elif position == 0:
            rounding = suffix
        else:
            raise SplitSyntaxError(spec, f"({suffix}) is not an even part such as (even3[0])")
    return rounding, tuple(cuts)


def _parse_selector(selector: str, spec: str) -> tuple[int | float | None, int | float | None, str]:
    texts = selector.split(":")
    if len(texts) > 2:
        raise SplitSyntaxError(spec, "a slice cannot have a step")
    bounds = [_parse_bound(text, spec) for text in texts]
    # A bare 0 is the same row in every unit, so it takes the unit of the other bound.
    units = {unit for value, unit in bounds if value is not None and (value, unit) != (0, "abs")} or {"abs"}
    if len(units) > 1:
        raise SplitSyntaxError(spec, f"the bounds in [{selector}] have different units")
    (unit,) = units
    if len(bounds) == 2:
        return bounds[0][0], bounds[1][0], unit
    index, unit = bounds[0]
    if index is None or unit != "shard":
        raise SplitSyntaxError(spec, f"[{selector}] is not a valid slice; a single number must count shards, as in [4shard]")
    return index, None if index == -1 else index + 1, unit


def _parse_bound(text: str, spec: str) -> tuple[int | float | None, str]:
    if not text:
        return None, "abs"
    found = re.fullmatch(_BOUND, text)
    if found is None or len(text) > _MAX_DIGITS:
        raise SplitSyntaxError(
            spec, f"{text[:_MAX_DIGITS]!r} is not a valid bound; use a whole number, a percentage like 12.5%, or 3shard"
        )
    number, unit = found.group("number", "unit")
    if unit == "%" and "." in number:
        return float(number), unit
    if "." in number:
        raise SplitSyntaxError(spec, f"{text!r} is not a whole number")
    return int(number), unit or "abs"


def checked_part(part: SplitPart, spec: str) -> SplitPart:
    """Return `part` with integers as bounds, the rounding of its unit, and without cuts into one part.

    Raises:
        SplitSyntaxError: an invalid name, bound, unit or rounding.
    """
    if not is_split_name(part.split):
        raise SplitSyntaxError(spec, f"{part.split!r} is not a valid split name; use letters, digits, '_', '-' and '.'")
    if part.unit not in _UNITS:
        raise SplitSyntaxError(spec, f"the unit is {part.unit!r}, expected one of {', '.join(map(repr, _UNITS))}")
    rounding = part.rounding
    if rounding is not None and rounding not in _ROUNDINGS:
        raise SplitSyntaxError(spec, f"the rounding is {rounding!r}, expected 'closest' or 'pct1_dropremainder'")
    start, stop = (_number(bound, part.unit, rounding, spec) for bound in (part.start, part.stop))
    cuts = tuple(cut for cut in part.cuts if cut.n > 1)
    if start is None and stop is None:
        return SplitPart(part.split, cuts=cuts)
    return SplitPart(part.split, start, stop, part.unit, (rounding or "closest") if part.unit == "%" else None, cuts)


def _number(bound: Any, unit: str, rounding: str | None, spec: str) -> int | float | None:
    if bound is None:
        return None
    if isinstance(bound, float):
        number: int | float = int(bound) if bound.is_integer() else float(bound)
    else:
        try:
            number = operator.index(bound)
        except TypeError:
            raise SplitSyntaxError(spec, f"the bound {bound!r} is not a number") from None
    if unit == "%":
        if not -100 <= number <= 100:
            raise SplitSyntaxError(spec, f"the bound {bound}% is not between -100% and 100%")
        if rounding == "pct1_dropremainder" and isinstance(number, float):
            raise SplitSyntaxError(spec, f"pct1_dropremainder needs whole percents, found {bound}%")
    elif isinstance(number, float):
        raise SplitSyntaxError(spec, f"the bound {bound} is not a whole number")
    return number


class _Recorded(Protocol):
    """Recorded facts of a split, as in `SplitInfo`."""

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
    """A split expression: rows of splits, as a sum of slices.

    By position the arguments come in this order, that of Hugging Face `datasets`: `ReadInstruction("train", None, 20)` is
    `train[20:]`.  TFDS's order, `(split_name, from_, to, unit, rounding)`, is recognised only by a number in the place
    of the rounding, or a text in that of `to`; `tfds.core.ReadInstruction` always has TFDS's order.

    Args:
        split_name: name of the split; the union of all is the text `all`.
        rounding: with unit `%`, `closest` (default) or `pct1_dropremainder`; other units need no rounding.
        from_, to: bounds as in a Python slice; None is an open end.
        unit: `abs` (rows, the default), `%` or `shard`.

    Raises:
        SplitSyntaxError: an invalid name, bound, unit or rounding.
        ConfigurationError: `all`, which is not a split.

    Example:
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
        """Return the instruction for a text such as `train[10%:]+test`.

        Args:
            spec: the text.

        Raises:
            SplitSyntaxError: invalid syntax.
        """
        return cls.from_parts(tuple(parse_part(piece, spec) for piece in re.split(r"\s*\+\s*", spec)))

    @classmethod
    def from_parts(cls, parts: Sequence[SplitPart]) -> ReadInstruction:
        """Return the sum of parts, unchanged.

        Args:
            parts: the parts, in their order.
        """
        made = object.__new__(cls)
        _set_parts(made, tuple(parts))
        return made

    def to_spec(self) -> str:
        """Return the shortest text for this instruction; `from_spec` of it equals this."""
        return "+".join(map(str, self.parts))

    def to_absolute(self, name2len: Lengths) -> list[AbsoluteRange]:
        """Return the row range of each part.

        Args:
            name2len: number of rows of each split, in the order of the splits.

        Raises:
            UnknownSplitError: `name2len` lacks a split.
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
        raise AttributeError(f"a ReadInstruction is immutable, so {name!r} cannot be set; combine instructions with +")

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadInstruction.from_parts, (self.parts,)

    def __str__(self) -> str:
        return self.to_spec()

    def __repr__(self) -> str:
        return f"ReadInstruction({self.to_spec()!r})"


def slice_part(split_name: str, *, from_: float | None, to: float | None, unit: str | None, rounding: str | None) -> SplitPart:
    """Return the one term of `ReadInstruction(split_name, …)`, checked.

    Raises:
        SplitSyntaxError: an invalid name, bound, unit or rounding.
        ConfigurationError: `all`, which is not a split.
    """
    unit = "abs" if unit is None else unit
    if split_name == ALL:
        raise ConfigurationError(
            "ReadInstruction('all') refers to the union of the splits, not to one of them",
            advice="Write it as a string: split='all', or ReadInstruction.from_spec('all[:10%]')",
        )
    part = SplitPart(str(split_name), from_, to, unit, rounding)
    return checked_part(part, f"{split_name}[{from_}:{to}] by {unit}")


def _in_our_order(rounding: Any, from_: Any, to: Any, unit: Any) -> tuple[Any, Any, Any, Any]:
    """Return the arguments of `ReadInstruction`, also if they were passed by position as (from_, to, unit, rounding)."""
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
    """Return the rows of a split, and those of its shards if known."""
    lengths = getattr(lengths, "shards", lengths)
    if hasattr(lengths, "__index__"):
        return int(lengths), None
    shards = ShardLengths.of(lengths)
    return shards.total, shards


class NamedSplit(str):
    """The name of a split, or a split expression: a string that can be added to others to form a `ReadInstruction`.

    Args:
        name: the name or expression.

    Raises:
        SplitSyntaxError: the text is neither a name nor an expression.

    Example:
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
        """Return this split as a `ReadInstruction`.

        Args:
            split_dict: the splits of the dataset, to check that those of the instruction exist; None does not check.

        Raises:
            UnknownSplitError: a split does not exist.
        """
        instruction = ReadInstruction.from_spec(str(self))
        if split_dict is not None:
            instruction.to_absolute(dict.fromkeys(split_dict, 0))
        return instruction

    def subsplit(
        self, arg: Any = None, k: int | None = None, percent: slice | None = None, weighted: Sequence[float] | None = None
    ) -> ReadInstruction | tuple[ReadInstruction, ...]:
        """Return slices of this split by percent, in the old spelling of `train[:50%]`.

        Args:
            arg: one of the three arguments below, recognised by its type.
            k: number of equal slices.
            percent: one slice.
            weighted: weights of consecutive slices.

        Raises:
            ConfigurationError: not exactly one of them is given, or it is invalid.
        """
        if isinstance(arg, int):
            k = arg
        elif isinstance(arg, slice):
            percent = arg
        elif arg is not None:
            weighted = list(arg)
        if [k, percent, weighted].count(None) != 2:
            raise ConfigurationError(
                "subsplit takes exactly one of k, percent and weighted", advice="Write for example 'train[:50%]' instead"
            )
        if percent is not None:
            return self._percents(percent.start, percent.stop)
        weights = [1.0] * k if k is not None else list(weighted or ())
        if not weights or min(weights) <= 0:
            raise ConfigurationError(
                f"subsplit cannot make slices of {k if weighted is None else weighted!r}", advice="Give positive numbers"
            )
        borders = [int(100 * part / sum(weights)) for part in accumulate(weights, initial=0)]
        return tuple(self._percents(start, stop) for start, stop in pairwise(borders))

    def _percents(self, start: float | None, stop: float | None) -> ReadInstruction:
        part = checked_part(SplitPart(str(self), start, stop, "%"), f"{self}[{start}:{stop}] by %")
        return ReadInstruction.from_parts((part,))


class Split:
    """The usual splits. `Split("name")` is the `NamedSplit` of any other name.

    Args:
        name: name of the split.

    Example:
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
    """Return the nesting of `value` (str, instruction, list, tuple, dict) with a `ReadInstruction` for each leaf.

    >>> parse_split({"fit": "train[:90%]", "check": ["train[90%:]", Split.TEST]})
    {'fit': ReadInstruction('train[:90%]'), 'check': [ReadInstruction('train[90%:]'), ReadInstruction('test')]}

    Raises:
        SplitSyntaxError: a text does not parse.
        ConfigurationError: a leaf has another type.
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
        f"split={value!r} ({type(value).__name__}) is not a valid split expression",
        advice="Give a string such as 'train[:10%]', or a list or dict of them",
        value=value,
    )


# A split expression and shard lengths, to row ranges per shard.


def nested(split: Any, one: Callable[[Any], Any], every: Callable[[], Any]) -> Any:
    """Return the result of `one` for each split in nested lists, tuples and dicts, in the same nesting; for None, that of
    `every()`.
    """
    if split is None:
        return every()
    if isinstance(split, Mapping):
        return {name: nested(part, one, every) for name, part in split.items()}
    if isinstance(split, (list, tuple)):
        found = [nested(part, one, every) for part in split]
        return found if isinstance(split, list) else tuple(found)
    return one(split)


def absolute(split: str | ReadInstruction, shard_lengths: Mapping[str, Sequence[int]]) -> list[AbsoluteRange]:
    """Return the rows of each part of `split`, counted within the part's split.

    >>> absolute("train[-50%:]+test", {"train": [4, 4], "test": [3]})
    [AbsoluteRange(splitname='train', from_=4, to=8), AbsoluteRange(splitname='test', from_=0, to=3)]

    Raises:
        SplitSyntaxError: `split` does not parse, or its rounding does not fit the number of rows.
        UnknownSplitError: `split` names a split that is not in `shard_lengths`.
    """
    instruction = split if isinstance(split, ReadInstruction) else ReadInstruction.from_spec(str(split))
    return instruction.to_absolute(shard_lengths)

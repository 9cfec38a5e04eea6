"""One term of a split expression: its text, its bounds, and its even cuts."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from datasets_core.errors import ConfigurationError, SplitSyntaxError
from datasets_core.meta.shard_lengths import ShardLengths

_UNITS = ("abs", "%", "shard")
_ROUNDINGS = ("closest", "pct1_dropremainder")
_NAME_TEXT = r"(?=[-.]*\w)[\w-]+(?:\.[\w-]+)*"
_NAME = re.compile(_NAME_TEXT)
_PIECE = re.compile(rf"(?P<name>{_NAME_TEXT})(?:\[(?P<selector>[^\[\]]*)\])?(?P<suffixes>(?:\([^()]*\))*)")
_SUFFIX = re.compile(r"\(([^()]*)\)")
_EVEN = re.compile(r"even(?P<n>[0-9]{1,18})(?P<drop>_dropremainder)?\[(?P<index>[0-9]{1,18})\]")
_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_BOUND = re.compile(rf"(?P<number>-?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS}))(?P<unit>%|shard)?")
_MAX_DIGITS = 40  # int() refuses, and float() drowns in, thousands of digits


def is_split_name(name: object) -> bool:
    """Whether `name` can be the name of a split: words of letters, digits, `_` and `-`, with dots between them.

    >>> is_split_name("train.clean-100"), is_split_name("../train")
    (True, False)
    """
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class EvenCut:
    """Part `index` of `n` even parts; its text `(even3[1])` is that of `even_splits(..., 3)[1]`.

    The first parts have one row more where the rows do not divide, unless the remainder is dropped.
    """

    n: int
    index: int
    drop_remainder: bool = False

    def __str__(self) -> str:
        return f"(even{self.n}{'_dropremainder' if self.drop_remainder else ''}[{self.index}])"

    def of(self, first: int, last: int) -> tuple[int, int]:
        """This part of the rows `first` to `last`."""
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
        cuts: even parts, each of what the one before it leaves.
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
        """First row and the row behind the last, before the cuts, in a split of `total` rows.

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
            borders = ShardLengths.of(shards).borders
            return borders[first], borders[max(first, last)]
        start, stop = self.start, self.stop
        if self.unit == "%":
            start = 0 if start is None else self._row(start, total)
            stop = total if stop is None else self._row(stop, total)
        first, last, _ = slice(start, stop).indices(total)
        return first, max(first, last)

    def cut(self, first: int, last: int) -> tuple[int, int]:
        """What the even cuts leave of rows `first` to `last`."""
        for cut in self.cuts:
            first, last = cut.of(first, last)
        return first, last

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


def parse_part(piece: str, spec: str) -> SplitPart:
    """The term that `piece` of the expression `spec` stands for.

    Raises:
        SplitSyntaxError: it does not parse.
    """
    found = _PIECE.fullmatch(piece)
    if found is None:
        raise SplitSyntaxError(
            spec, f"{piece!r} is no split name with an optional [from:to]" if piece else "a split name is missing"
        )
    name, selector = found.group("name", "selector")
    rounding, cuts = _parse_suffixes(_SUFFIX.findall(found["suffixes"]), spec)
    start, stop, unit = (None, None, "abs") if selector is None else _parse_selector(selector, spec)
    if rounding in _ROUNDINGS and unit != "%":
        raise SplitSyntaxError(spec, f"the rounding {rounding!r} only goes with percent bounds")
    return checked_part(SplitPart(name, start, stop, unit, rounding, cuts), spec)


def _parse_suffixes(suffixes: list[str], spec: str) -> tuple[str | None, tuple[EvenCut, ...]]:
    rounding, cuts = None, []
    for position, suffix in enumerate(suffixes):
        found = _EVEN.fullmatch(suffix)
        if found is not None:
            cut = EvenCut(int(found["n"]), int(found["index"]), found["drop"] is not None)
            if cut.index >= cut.n:
                raise SplitSyntaxError(spec, f"{cut} is none of the {cut.n} even parts, which are counted from 0")
            cuts.append(cut)
        elif position == 0:
            rounding = suffix
        else:
            raise SplitSyntaxError(spec, f"({suffix}) is no even part such as (even3[0])")
    return rounding, tuple(cuts)


def _parse_selector(selector: str, spec: str) -> tuple[int | float | None, int | float | None, str]:
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
        return bounds[0][0], bounds[1][0], unit
    index, unit = bounds[0]
    if index is None or unit != "shard":
        raise SplitSyntaxError(spec, f"[{selector}] is no slice; a single number must count shards, as in [4shard]")
    return index, None if index == -1 else index + 1, unit


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


def checked_part(part: SplitPart, spec: str) -> SplitPart:
    """`part` with whole numbers as int, the rounding of its unit, and no cut into one, or the error that says what is wrong.

    Raises:
        SplitSyntaxError: a name, bound, unit or rounding that means nothing.
    """
    if not is_split_name(part.split):
        raise SplitSyntaxError(spec, f"{part.split!r} is no split name, which is made of letters, digits, '_', '-' and '.'")
    if part.unit not in _UNITS:
        raise SplitSyntaxError(spec, f"the unit is {part.unit!r}, and should be one of {', '.join(map(repr, _UNITS))}")
    rounding = part.rounding
    if rounding is not None and rounding not in _ROUNDINGS:
        raise SplitSyntaxError(spec, f"the rounding is {rounding!r}, and should be 'closest' or 'pct1_dropremainder'")
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
            raise SplitSyntaxError(spec, f"pct1_dropremainder counts whole percents, and {bound}% is none")
    elif isinstance(number, float):
        raise SplitSyntaxError(spec, f"the bound {bound} is not a whole number")
    return number

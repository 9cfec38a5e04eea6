"""The type of a csv column, by the rules of `pandas.read_csv`, and how types of blocks widen to that of the file.

pyarrow infers nearly the same.  Where it differs (dates, hexadecimal, integers past 64 bits, `NAN`, `+5`, spellings of
booleans) the column is read again as text and judged here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.building.hooks import Reread

DEFAULT_NULLS = (
    "",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "-1.#IND",
    "-1.#QNAN",
    "-NaN",
    "-nan",
    "1.#IND",
    "1.#QNAN",
    "<NA>",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "None",
    "n/a",
    "nan",
    "null",
)
"""What pandas reads as null."""

TRUE_VALUES = ("True", "TRUE", "true")
FALSE_VALUES = ("False", "FALSE", "false")

_INT = r"^[ \t\r\n]*[+-]?[0-9]+[ \t\r\n]*$"
_FLOAT = r"(?i)^[ \t\r\n]*(?:[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?[ \t\r\n]*|[+-]?inf(?:inity)?)$"
_EXACT_INTS = float(1 << 63)
_KINDS = (pa.null(), pa.bool_(), pa.int64(), pa.uint64(), pa.float64(), pa.string())
_LETTERS = "nbiufs"  # of these kinds


@dataclass(frozen=True)
class TextRules:
    """How text becomes values.

    Attributes:
        decimal: the decimal point.
        thousands: what may stand between groups of digits, or None.
        true_values: words for true, beside pandas' own.
        false_values: words for false, beside pandas' own.
    """

    decimal: str = "."
    thousands: str | None = None
    true_values: tuple[str, ...] = ()
    false_values: tuple[str, ...] = ()

    def looks_typed(self, value: str) -> bool:
        """Whether a text could be a number or a boolean to pandas."""
        number = value.replace(self.thousands, "") if self.thousands else value
        return bool(re.match(_INT, number) or re.match(self._float, number)) or self._truth(value) is not None

    @property
    def _float(self) -> str:
        """The pattern of floats: with another decimal point, `1.5` is text."""
        return _FLOAT if self.decimal == "." else _FLOAT.replace(r"\.", re.escape(self.decimal))

    def _truth(self, value: str) -> bool | None:
        if value in self.true_values or value.lower() == "true":
            return True
        if value in self.false_values or value.lower() == "false":
            return False
        return None

    def typed(self, column: pa.Array) -> pa.Array:
        """A column of text as null, bool, int64, uint64, float64 or, where none fits all values, as it stands."""
        first = first_value(column)
        if first is None:
            return pa.nulls(len(column)) if column.null_count == len(column) else column
        if not self.looks_typed(first):
            return column
        if self._truth(first) is not None:
            return self._booleans(column)
        plain = column
        if self.thousands:
            plain = pc.replace_substring(plain, pattern=self.thousands, replacement="")
        whole = pc.match_substring_regex(plain, pattern=_INT)
        if _all(whole):
            return _integers(column, plain)
        if not _all(pc.match_substring_regex(plain, pattern=self._float)):
            return column
        if _any(whole) and _is_past_64_bits(plain.filter(whole)):
            return column  # as where these integers stand in a block of their own
        if self.decimal != ".":
            plain = pc.replace_substring(plain, pattern=self.decimal, replacement=".")
        return _trimmed(plain).cast(pa.float64())

    def _booleans(self, column: pa.Array) -> pa.Array:
        words = column.unique().to_pylist()
        truth = {word: self._truth(word) for word in words if word is not None}
        if None in truth.values():
            return column
        encoded = column.dictionary_encode()
        values = [truth[word] for word in encoded.dictionary.to_pylist()]
        bits = pa.py_buffer(
            bytes([sum(1 << i for i, value in enumerate(values[at : at + 8]) if value) for at in range(0, len(values), 8)])
        )
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits]).take(encoded.indices)


def first_value(column: pa.Array) -> str | None:
    """The first value that is not null."""
    if column.null_count == len(column):
        return None
    value: str = (column.drop_null() if column.null_count else column)[0].as_py()
    return value


def may_have_hexadecimals(block: bytes) -> bool:
    """Whether `0x` or `0X` stands anywhere: by pairs of bytes, as `in` is slow where `0` is frequent."""
    for begin in (0, 1):
        pairs = np.frombuffer(block, "<u2", (len(block) - begin) // 2, begin)
        if any(bool((pairs == int.from_bytes(pair, "little")).any()) for pair in (b"0x", b"0X")):
            return True
    return False


def is_suspicious(column: pa.Array, block: bytes, rules: TextRules, *, hexadecimal: bool) -> bool:
    """Whether pandas might type a column otherwise than pyarrow did, so that its text is needed.

    Args:
        column: as pyarrow inferred it from `block`.
        block: the bytes that it came from, to rule things out cheaply.
        rules: the options in force.
        hexadecimal: whether the block may have hexadecimal numbers, which pyarrow reads as integers.
    """
    kind = column.type
    if pa.types.is_int64(kind):
        return hexadecimal
    if pa.types.is_float64(kind):
        bounds = pc.min_max(column).as_py()
        if bounds["min"] is None or max(-bounds["min"], bounds["max"]) >= _EXACT_INTS or _any(pc.is_nan(column)):
            return True
        return b"+" in block and _all(pc.equal(pc.floor(column), column))
    if pa.types.is_string(kind):
        first = first_value(column)
        return first is not None and rules.looks_typed(first)
    return not (pa.types.is_null(kind) or pa.types.is_boolean(kind))  # dates and times stay text


def widened(known: pa.DataType, found: pa.DataType) -> pa.DataType:
    """The type that holds both: null gives way, numbers become wider numbers, everything else text.

    >>> widened(pa.int64(), pa.float64()), widened(pa.bool_(), pa.int64())
    (DataType(double), DataType(string))
    """
    if known == found or pa.types.is_null(found):
        return known
    if pa.types.is_null(known):
        return found
    numbers = [pa.int64(), pa.uint64(), pa.float64()]
    if known in numbers and found in numbers:
        return max(known, found, key=numbers.index)
    return pa.string()


def fitted(column: pa.Array, known: pa.DataType) -> pa.Array | None:
    """`column` as `known` where its own values suffice for that; None where its text is needed."""
    if column.type == known:
        return column
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), known)
    if pa.types.is_float64(known) and pa.types.is_integer(column.type):
        return column.cast(known, safe=False)
    if pa.types.is_uint64(known) and pa.types.is_int64(column.type) and (pc.min_max(column).as_py()["min"] or 0) >= 0:
        return column.cast(known)
    return None


class Settled:
    """What is known of the columns' types, and whether rows given out already had narrower ones.

    Args:
        schema: types known from before.
        as_text: columns that stay text.
        null_numbers: the numbers that are null in a column.
        is_live: rows given out are seen, and not given again: numbers may become wider ones behind them, and whatever else
            does not fit is told at once.
        may_change: rows behind others may have other types.
    """

    def __init__(
        self,
        schema: pa.Schema | None,
        as_text: Sequence[str] = (),
        null_numbers: Callable[[str], Sequence[float]] | None = None,
        *,
        is_live: bool = False,
        may_change: bool = False,
    ) -> None:
        self._is_live, self._may_change = is_live, may_change
        self.types: dict[str, pa.DataType] = {}
        self._null_numbers = null_numbers
        self.conflict = False
        for known in schema or ():
            kind = pa.string() if pa.types.is_large_string(known.type) else known.type
            if kind in _KINDS:
                self.types[known.name] = kind
        self._as_text = frozenset(as_text)

    def is_text(self, name: str) -> bool:
        """Whether a column is read as text, whatever it holds."""
        return name in self._as_text or self.types.get(name) == pa.string()

    def batch(self, columns: dict[str, pa.Array]) -> pa.RecordBatch:
        """The block's columns in the types known so far, which widen as need be."""
        arrays = []
        for name, column in columns.items():
            known = self.types.get(name)
            if known is None or pa.types.is_null(known):
                self.types[name] = column.type
            elif (fitting := fitted(column, known)) is not None:
                column = fitting
            else:
                wider = widened(known, column.type)
                self.types[name] = pa.string() if wider == known else wider  # negative numbers beside such past 63 bits
                is_wider = self._is_live and pa.types.is_floating(self.types[name])
                self.conflict |= not (is_wider or self._may_change)
            if self._null_numbers is not None and pa.types.is_float64(column.type) and (numbers := self._null_numbers(name)):
                column = pc.if_else(pc.is_in(column, value_set=pa.array(numbers, pa.float64())), None, column)
            arrays.append(column)
        return pa.RecordBatch.from_arrays(arrays, list(columns))

    def to_text(self, names: Sequence[str]) -> str:
        """The types of some columns as a letter each: what `from_text` reads."""
        return "".join(_LETTERS[_KINDS.index(kind)] if (kind := self.types.get(name)) is not None else "-" for name in names)

    def from_text(self, names: Sequence[str], letters: str) -> None:
        """Know the types that `to_text` gave.

        Raises:
            ValueError: they are none.
        """
        if len(letters) != len(names):
            raise ValueError(f"{len(letters)} types for {len(names)} columns")
        for name, letter in zip(names, letters, strict=True):
            if letter != "-":
                self.types[name] = _KINDS[_LETTERS.index(letter)]

    def pass_on(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches up to the first that widens a type; the others are only looked through, and `Reread` is raised."""
        for batch in batches:
            if not self.conflict:
                yield batch
            elif self._is_live:
                break
        if self.conflict:
            raise Reread(pa.schema(list(self.types.items())))


def _integers(column: pa.Array, plain: pa.Array) -> pa.Array:
    digits = _trimmed(plain)
    for kind in (pa.int64(), pa.uint64()):
        try:
            return digits.cast(kind)
        except pa.ArrowInvalid:
            continue
    return column  # past 64 bits: only text holds them all


def _is_past_64_bits(plain: pa.Array) -> bool:
    """Whether one of several integers fits neither int64 nor uint64."""
    digits = _trimmed(plain)
    negative = pc.starts_with(digits, "-")
    try:
        digits.filter(negative).cast(pa.int64())
        digits.filter(pc.invert(negative)).cast(pa.uint64())
    except pa.ArrowInvalid:
        return True
    return False


def _trimmed(column: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(pc.ascii_trim_whitespace(column), pattern=r"^\+", replacement="")


def _all(mask: pa.Array) -> bool:
    return pc.all(mask).as_py() is not False


def _any(mask: pa.Array) -> bool:
    return pc.any(mask).as_py() is True

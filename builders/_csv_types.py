"""Layout and column types of csv files by the rules of `pandas.read_csv`; common types of blocks; record boundaries.

pyarrow infers nearly the same.  Where it differs (dates, hexadecimal, integers past 64 bits, `NAN`, `+5`, spellings of
booleans) the column is read again as text and typed here.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Callable, Collection, Container, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.building.hooks import Replay
from datasets_core.errors import FileFormatError

if TYPE_CHECKING:
    from ._source import Grid, TextBytes

# Where a csv record ends: blocks of bytes cut at borders that no quoted field crosses.


_MAX_RECORD_BYTES = 256 << 20
_COUNTED_BYTES = 1 << 18  # they stay in the cache of the processor


@dataclass(frozen=True)
class Grammar:
    """Syntax of fields and records.

    Attributes:
        delimiter: one byte between fields.
        quote: the quote character, or None.
        escape: the escape character, or None.
        double_quote: True if two quotes inside a quoted field mean one quote.
        skip_space: True to skip blanks after a delimiter, so that a quote may follow them.
    """

    delimiter: bytes = b","
    quote: bytes | None = b'"'
    escape: bytes | None = None
    double_quote: bool = True
    skip_space: bool = False

    @cached_property
    def record(self) -> re.Pattern[bytes]:
        """One record with its line end."""
        delimiter = re.escape(self.delimiter)
        escape = re.escape(self.escape) if self.escape else None
        plain = rb"[^\r\n%s%s]" % (delimiter, escape or b"")
        if escape:
            plain = rb"(?:%s|%s.)" % (plain, escape)
        field = rb"%s*+" % plain
        if self.quote:
            quote = re.escape(self.quote)
            inside = [rb"[^%s%s]" % (quote, escape or b"")]
            if escape:
                inside.append(rb"%s." % escape)
            if self.double_quote:
                inside.append(quote * 2)
            field = rb"(?:%s(?:%s)*+%s)?+%s" % (quote, b"|".join(inside), quote, field)
            # An opening quote that is never closed must not be read as a plain character.
            field = rb"(?!%s(?:%s)*+\Z)%s" % (quote, b"|".join(inside), field)
            if self.skip_space:
                field = b" *+" + field
        return re.compile(rb"%s(?:%s%s)*+(?:\r\n|\r|\n)" % (field, delimiter, field), re.DOTALL)

    def border(self, data: bytes) -> tuple[int, bool]:
        """Return the end of the last complete record in `data`, and whether a quoted field is open after it.

        `data` begins where a record does.
        """
        if (self.escape is not None and self.escape in data) or (
            self.skip_space and self.quote is not None and self.quote in data
        ):
            return self._walked(data)
        if self.quote is None or self.quote not in data:
            return _last_newline(data, len(data)), False
        codes = np.frombuffer(data, np.uint8)
        quotes = np.flatnonzero(codes == self.quote[0])
        openers = quotes[::2]
        before = codes[np.maximum(openers - 1, 0)]
        fits = (before == self.delimiter[0]) | (before == 10) | (before == 13) | (openers == 0)
        if self.double_quote:
            doubled = np.zeros(len(openers), np.bool_)
            doubled[1:] = openers[1:] == quotes[1::2][: len(openers) - 1] + 1
            fits |= doubled
        if not fits.all():
            return self._walked(data)
        end = len(data)
        while end := _last_newline(data, end):
            inside = int(np.searchsorted(quotes, end - 1))
            if inside % 2 == 0:
                return end, len(quotes) % 2 == 1
            end = int(quotes[inside - 1])
        return 0, len(quotes) % 2 == 1

    def _walked(self, data: bytes) -> tuple[int, bool]:
        end = max(self.ends(data), default=0)
        rest = data[end:]
        return end, bool(rest) and self.record.match(rest + b"\n") is None

    def ends(self, data: bytes) -> Iterator[int]:
        """Yield the end of each complete record of `data`, which begins where a record does."""
        at = 0
        while found := self.record.match(data, at):
            at = found.end()
            yield at


def _last_newline(data: bytes, end: int) -> int:
    border = data.rfind(b"\n", 0, end) + 1
    if not border and b"\n" not in data:  # old Mac files; the last \r may be half of \r\n
        border = data.rfind(b"\r", 0, min(end, len(data) - 1)) + 1
    return border


class RecordBlocks:
    """Blocks of whole records of one text file, with the place where each begins.

    Attributes:
        offset: position in the text of the last returned block.
        to: position up to which the text was read for that block, if it is read by a grid.
        grid: positions up to which the text is read; None reads blocks of about `block_bytes`.
        guesses: True to end blocks at their last newline, quoted or not; the parser then says by
            `refuse` that a block ended within a record, and gets it again as whole records.
        is_guess: whether the last returned block ends like that.
    """

    def __init__(
        self,
        text: TextBytes,
        grammar: Grammar,
        block_bytes: int,
        *,
        encoding: str | None,
        errors: str | None,
        grid: Grid | None = None,
    ) -> None:
        self.text, self.grammar, self.block_bytes, self.grid = text, grammar, block_bytes, grid
        self._encoding, self._errors = encoding, errors
        self.offset, self.to, self.guesses, self.is_guess = text.at, 0, False, False

    def refuse(self) -> None:
        """Return the last returned block again, and all later ones, as whole records."""
        self.guesses = self.is_guess = False

    def are_records(self, block: bytes, rows: int) -> bool:
        """Return True if a block that was parsed to this many rows has one record in each line, so none is cut at its end."""
        codes = np.frombuffer(block, np.uint8)
        lines = sum(int(np.count_nonzero(codes[at : at + _COUNTED_BYTES] == 10)) for at in range(0, len(codes), _COUNTED_BYTES))
        if rows != lines or (b"\r" in block and block.count(b"\r\n") != block.count(b"\r")):
            return False
        last = self.grammar.record.match(block, block.rfind(b"\n", 0, len(block) - 1) + 1)
        return last is not None and last.end() == len(block)

    def __iter__(self) -> Iterator[bytes]:
        return self._blocks() if self.grid is None else self._on_grid(self.grid)

    def _on_grid(self, grid: Grid) -> Iterator[bytes]:
        rest, begin = b"", self.offset
        while True:
            rest += self.text.read_to(grid.to)
            has_ended = self.text.at < grid.to
            end, is_open = (len(rest), False) if has_ended else self.grammar.border(rest)
            if end or has_ended:
                self.offset, self.to = begin, grid.to
            if has_ended:
                if rest:
                    yield self._last(rest)
                return
            if end:
                yield rest if end == len(rest) else rest[:end]
                begin, rest = begin + end, rest[end:]
            elif len(rest) > _MAX_RECORD_BYTES:
                self.offset = begin
                raise self._endless(rest, is_open)
            grid.advance(0 if end else len(rest))

    def _blocks(self) -> Iterator[bytes]:
        rest = b""
        begin = 0
        wanted = self.block_bytes
        data = self.text.read(wanted)
        while data:
            ahead = None if self.guesses and len(data) >= wanted else self.text.read(wanted)  # a short read may be the last
            if self.guesses and (cut := len(data) if ahead == b"" else data.rfind(b"\n") + 1):
                self.offset, self.is_guess = begin, True
                block = rest + data if cut == len(data) else b"".join((rest, memoryview(data)[:cut]))
                begin, rest, data = begin + len(block), data[cut:], b""  # few blocks at a time: new memory costs time
                yield block if block.endswith(b"\n") else block + b"\n"
                if self.is_guess:
                    wanted = self.block_bytes
                    data = self.text.read(wanted) if ahead is None else ahead
                    continue
                begin, data, rest = begin - len(block), block + rest, b""
            self.is_guess = False
            if ahead is None:
                ahead = self.text.read(wanted)
            rest += data
            data = ahead
            if not data:
                self.offset = begin
                yield self._last(rest)
                return
            end, is_open = self.grammar.border(rest)
            if end:
                self.offset = begin
                yield rest if end == len(rest) else rest[:end]
                begin, rest, wanted = begin + end, rest[end:], self.block_bytes
            elif len(rest) > _MAX_RECORD_BYTES:
                self.offset = begin
                raise self._endless(rest, is_open)
            else:
                wanted = max(len(rest), self.block_bytes)  # doubling keeps the search linear
        if rest:  # the file is as long as whole blocks, and its last line has no end
            self.offset = begin
            yield self._last(rest)

    def _last(self, rest: bytes) -> bytes:
        """Return the end of the file, whose last line may lack its newline."""
        end, is_open = self.grammar.border(rest)
        if is_open or (end < len(rest) and self.grammar.record.match(rest[end:] + b"\n") is None):
            raise self.fault(
                "a quoted field that begins here is never closed",
                at=end + max(self._open_quote(rest[end:]), 0),
                advice="Close the quote, or pass quoting=3 if quotes are plain characters",
            )
        return rest if rest.endswith((b"\n", b"\r")) else rest + b"\n"

    def _open_quote(self, record: bytes) -> int:
        """Return the position of the quote that is not closed in `record`."""
        quote = re.escape(self.grammar.quote or b'"')
        opened = [
            found.start()
            for found in re.finditer(rb"(?:^|(?<=[\r\n%s]))%s" % (re.escape(self.grammar.delimiter), quote), record)
        ]
        for start in opened:
            if (
                self.grammar.record.match(record[start:] + b"\n") is None
                and record.count(self.grammar.quote or b'"', start) % 2
            ):
                return start
        return opened[-1] if opened else 0

    def _endless(self, rest: bytes, is_open: bool) -> FileFormatError:
        size = _MAX_RECORD_BYTES >> 20
        if is_open:
            return self.fault(
                f"a quoted field that begins here is not closed within {size} MB",
                at=max(self._open_quote(rest[:1_000_000]), 0),
                advice="Close the quote, or pass quoting=3 if quotes are plain characters",
            )
        return self.fault(f"a row is longer than {size} MB", at=0, advice="Check the line ends; wide data fits Parquet better")

    def fault(self, reason: str, *, at: int | None, advice: str | None = None) -> FileFormatError:
        """Return an error about byte `at` of the last returned block, with its line."""
        return self.text.source.fault(reason, line=None if at is None else self.line(at), advice=advice)

    def line(self, at: int) -> int:
        """Return the number of the line of byte `at` of the last returned block."""
        from ._source import line_at

        return line_at(self.text.source, self.offset + at, encoding=self._encoding, errors=self._errors)


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
"""Strings that pandas reads as null."""

TRUE_VALUES = ("True", "TRUE", "true")
FALSE_VALUES = ("False", "FALSE", "false")

_INT = r"^[ \t\r\n]*[+-]?[0-9]+[ \t\r\n]*$"
_FLOAT = r"(?i)^[ \t\r\n]*(?:[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?[ \t\r\n]*|[+-]?inf(?:inity)?)$"
_EXACT_INTS = float(1 << 63)
_KINDS = (pa.null(), pa.bool_(), pa.int64(), pa.uint64(), pa.float64(), pa.string())
_LETTERS = "nbiufs"  # of these kinds


@dataclass(frozen=True)
class TextRules:
    """Conversion of text to values.

    Attributes:
        decimal: the decimal point.
        thousands: the separator of groups of digits, or None.
        true_values: words for true, besides pandas' own.
        false_values: words for false, besides pandas' own.
    """

    decimal: str = "."
    thousands: str | None = None
    true_values: tuple[str, ...] = ()
    false_values: tuple[str, ...] = ()

    def looks_typed(self, value: str) -> bool:
        """Return True if a text could be a number or a boolean to pandas."""
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
        """Return a column of text as null, bool, int64, uint64, float64 or, if none fits all values, unchanged."""
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
            return column  # as for these integers in a block of their own
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
    """Return the first value that is not null."""
    if column.null_count == len(column):
        return None
    value: str = (column.drop_null() if column.null_count else column)[0].as_py()
    return value


def is_suspicious(column: pa.Array, block: bytes, rules: TextRules, *, hexadecimal: bool) -> bool:
    """Return True if pandas might infer a different type than pyarrow, so that the text is needed.

    Args:
        column: the column as pyarrow inferred it from `block`.
        block: the bytes of the column, for cheap checks.
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
    """Return the type that holds both: null takes the other type, numbers widen, everything else becomes text.

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
    """Return `column` with type `known` if its own values suffice; None if its text is needed."""
    if column.type == known:
        return column
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), known)
    if pa.types.is_float64(known) and pa.types.is_integer(column.type):
        return column.cast(known, safe=False)
    if pa.types.is_uint64(known) and pa.types.is_int64(column.type) and (pc.min_max(column).as_py()["min"] or 0) >= 0:
        return column.cast(known)
    return None


class _Every(tuple[str, ...]):
    """A collection that contains every name."""

    __slots__ = ()

    def __contains__(self, name: object) -> bool:
        return True


EVERY = _Every()


class ColumnTypes:
    """Known types of the columns, and whether delivered rows had narrower ones.

    Args:
        schema: types known before.
        as_text: columns that are always text; `EVERY` for all.
        null_numbers: numbers that mean null, by column.
        is_live: True for a streaming build: delivered rows are final; later numbers may be wider, and other misfits are
            errors at once.
        may_change: True if later rows may have other types.
    """

    def __init__(
        self,
        schema: pa.Schema | None,
        as_text: Collection[str] = (),
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
        self._as_text: Container[str] = as_text if as_text is EVERY else frozenset(as_text)

    def is_text(self, name: str) -> bool:
        """Return True if a column is always read as text."""
        return name in self._as_text or self.types.get(name) == pa.string()

    def batch(self, columns: dict[str, pa.Array]) -> pa.RecordBatch:
        """Return the block's columns with the types known so far, which are widened as needed."""
        arrays = []
        for name, column in columns.items():
            known = self.types.get(name)
            if known is None or pa.types.is_null(known):
                self.types[name] = column.type
            elif (fitting := fitted(column, known)) is not None:
                column = fitting
            else:
                wider = widened(known, column.type)
                self.types[name] = pa.string() if wider == known else wider  # negative numbers and ones past 63 bits
                is_wider = self._is_live and pa.types.is_floating(self.types[name])
                self.conflict |= not (is_wider or self._may_change)
            if self._null_numbers is not None and pa.types.is_float64(column.type) and (numbers := self._null_numbers(name)):
                column = pc.if_else(pc.is_in(column, value_set=pa.array(numbers, pa.float64())), None, column)
            arrays.append(column)
        return pa.RecordBatch.from_arrays(arrays, list(columns))

    def to_text(self, names: Sequence[str]) -> str:
        """Return the types of columns as one letter each, for `from_text`."""
        return "".join(_LETTERS[_KINDS.index(kind)] if (kind := self.types.get(name)) is not None else "-" for name in names)

    def from_text(self, names: Sequence[str], letters: str) -> None:
        """Set the types from a result of `to_text`.

        Raises:
            ValueError: the text is invalid.
        """
        if len(letters) != len(names):
            raise ValueError(f"{len(letters)} types for {len(names)} columns")
        for name, letter in zip(names, letters, strict=True):
            if letter != "-":
                self.types[name] = _KINDS[_LETTERS.index(letter)]

    def pass_on(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the batches up to the first that widens a type; the others are only scanned, and `Replay` is raised."""
        for batch in batches:
            if not self.conflict:
                yield batch
            elif self._is_live:
                break
        if self.conflict:
            raise Replay(pa.schema(list(self.types.items())))


def _integers(column: pa.Array, plain: pa.Array) -> pa.Array:
    digits = _trimmed(plain)
    for kind in (pa.int64(), pa.uint64()):
        try:
            return digits.cast(kind)
        except pa.ArrowInvalid:
            continue
    return column  # integers past 64 bits fit only text


def _is_past_64_bits(plain: pa.Array) -> bool:
    """Return True if one of several integers fits neither int64 nor uint64."""
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


# The layout of csv files: the resolved options, and the columns of one file.


@dataclass(frozen=True)
class CsvForm:
    """Layout of a csv file: the parsed options.

    Attributes:
        header: index of the record that names the columns, or None.
        names: names given by the user, or None.
        prefix: prefix of the numbers of unnamed columns.
        keep_columns: the columns to keep, as a function of all names; None keeps all.
        index: names or numbers of columns that go to the end; False drops surplus fields.
        skip_records: number of records, or which ones, to skip at the beginning.
        num_rows: maximum number of rows of each file, or None.
        nulls: texts that mean null; a dict by column.
        null_numbers: numbers that mean null in a column of floats, likewise.
        bad_rows: action for a row of the wrong length: "error", "warn" or "skip".
        fills_short_rows: True if a row that is too short ends with nulls, for any value of `bad_rows`.
        by_python: True if Python's csv module splits the fields, for options unknown to pyarrow's parser.
    """

    grammar: Grammar = field(default_factory=Grammar)
    rules: TextRules = field(default_factory=TextRules)
    delimiter: str = ","
    quote: str | None = '"'
    escape: str | None = None
    header: int | None = 0
    names: tuple[str, ...] | None = None
    prefix: str = ""
    keep_columns: Any = None
    index: tuple[int | str, ...] | bool | None = None
    skip_records: Any = 0
    skip_initial_space: bool = False
    skip_blank: bool = True
    num_rows: int | None = None
    nulls: tuple[str, ...] | dict[str, tuple[str, ...]] = ()
    null_numbers: tuple[float, ...] | dict[str, tuple[float, ...]] = ()
    bad_rows: str = "error"
    fills_short_rows: bool = False
    encoding: str | None = None
    encoding_errors: str = "strict"
    by_python: bool = False

    def split(self, text: str) -> Any:
        """Return the records of `text`, each a list of fields; a blank line is an empty list."""
        limit = csv.field_size_limit()  # this limit is global to the process, so it is not changed here
        if len(text) > limit:
            ends = [0, *self.grammar.ends(text.encode())]
            if len(ends) == 1 or max(end - begin for begin, end in itertools.pairwise(ends)) > limit:
                return WideRecords(self, text)
        return csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.delimiter,
            quotechar=self.quote,
            escapechar=self.escape,
            doublequote=self.grammar.double_quote,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            skipinitialspace=self.skip_initial_space,
        )

    def null_numbers_of(self, column: str) -> list[float]:
        """Return the numbers that mean null in `column`, in any spelling."""
        return list(self.null_numbers.get(column, ()) if isinstance(self.null_numbers, dict) else self.null_numbers)

    def nulls_of(self, column: str) -> frozenset[str]:
        """Return the strings that mean null in `column`."""
        return frozenset(self.nulls.get(column, self.nulls[""]) if isinstance(self.nulls, dict) else self.nulls)


class WideRecords:
    """The records of a text split like `csv.reader`, with fields of any size.

    Attributes:
        line_num: number of lines read so far.
    """

    def __init__(self, form: CsvForm, text: str) -> None:
        self.line_num = 0
        self._text, self._delimiter, self._at = text, form.delimiter, 0
        quote, escape = (re.escape(mark) if mark else None for mark in (form.quote, form.escape))
        self._escaped = re.compile(f"{escape}(.)", re.DOTALL) if escape else None
        self._doubled = form.quote * 2 if form.quote and form.grammar.double_quote else None
        inside = [f"[^{quote}{escape or ''}]", f"{quote}{quote}" if self._doubled else "", f"{escape}." if escape else ""]
        quoted = f"{quote}((?:{'|'.join(filter(None, inside))})*+){quote}" if quote else "((?!))"
        plain = f"[^\r\n{re.escape(form.delimiter)}{escape or ''}]" + (f"|{escape}." if escape else "")
        blanks = " *+" if form.skip_initial_space else ""
        self._field = re.compile(f"{blanks}(?:{quoted})?+((?:{plain})*+)(\r\n|\r|\n)?+", re.DOTALL)

    def __iter__(self) -> WideRecords:
        return self

    def __next__(self) -> list[str]:
        if self._at >= len(self._text):
            raise StopIteration
        fields: list[str] = []
        begin = self._at
        while found := self._field.match(self._text, self._at):
            self._at = found.end()
            inside, after, line_end = found.groups()
            if inside and self._doubled:
                inside = inside.replace(self._doubled, self._doubled[0])
            fields.append(self._plain(inside or "") + self._plain(after))
            if line_end or not self._text.startswith(self._delimiter, self._at):
                break
            self._at += len(self._delimiter)
        record = self._text[begin : self._at]
        self.line_num += len(re.findall("\r\n|\r|\n", record)) or 1
        return fields if record.strip("\r\n") else []

    def _plain(self, part: str) -> str:
        return self._escaped.sub(r"\1", part) if self._escaped else part


def index_names(count: int, taken: Collection[str]) -> list[str]:
    """Return names for columns without one, as `reset_index` of pandas gives them.

    >>> index_names(1, ["a"]), index_names(2, ["a"])
    (['index'], ['level_0', 'level_1'])
    """
    return ["index"] if count == 1 and "index" not in taken else [f"level_{number}" for number in range(count)]


def mangled(header: list[str]) -> list[str]:
    """Return names as pandas makes them: `Unnamed: 3` for an empty one, `a.1` for the second `a`."""
    names: list[str] = []
    taken = {name for name in header if name}
    counts: dict[str, int] = {}
    seen: set[str] = set()
    for number, given in enumerate(header):
        name = unique = given or f"Unnamed: {number}"
        while unique in seen or (unique != given and unique in taken):
            counts[name] = counts.get(name, 0) + 1
            unique = f"{name}.{counts[name]}"
        seen.add(unique)
        names.append(unique)
    return names

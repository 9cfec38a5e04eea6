"""Where a csv record ends: blocks of bytes cut at borders that no quoted field crosses.

A newline inside quotes is data.  Quotes are found by numpy; where they alternate in the plain way (each opens at the beginning
of a field or doubles the one before it), a newline with an even number of quotes before it is a border.  Anything else, such as
`5" pipe` or escapes, is walked by a regular expression that knows the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from datasets_core.errors import FileFormatError

from ._grid import Grid
from ._source import TextBytes, line_at

_MAX_RECORD_BYTES = 256 << 20


@dataclass(frozen=True)
class Grammar:
    """How fields and records are told apart.

    Attributes:
        delimiter: one byte between fields.
        quote: the byte that fields may stand in, or None.
        escape: the byte that takes the meaning of the next, or None.
        double_quote: whether two quotes inside a quoted field are one quote.
        skip_space: whether blanks after a delimiter are left out, so that a quote may follow them.
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
            # A field that opens a quote and never closes it must not be taken for a plain one.
            field = rb"(?!%s(?:%s)*+\Z)%s" % (quote, b"|".join(inside), field)
            if self.skip_space:
                field = b" *+" + field
        return re.compile(rb"%s(?:%s%s)*+(?:\r\n|\r|\n)" % (field, delimiter, field), re.DOTALL)

    def border(self, data: bytes) -> tuple[int, bool]:
        """The end of the last complete record in `data`, and whether a quoted field is open after it.

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
        """The end of each complete record of `data`, which begins where a record does."""
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
        offset: byte of the text at which the block that was given out last begins.
        to: byte up to which the text was read for that block, where it is read by a grid.
        grid: up to which places the text is read; None: in blocks of about `block_bytes`.
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
        self.offset, self.to = text.at, 0

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
            rest += data
            data = self.text.read(wanted)
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

    def _last(self, rest: bytes) -> bytes:
        """The end of the file, whose last line may lack its newline."""
        end, is_open = self.grammar.border(rest)
        if is_open or (end < len(rest) and self.grammar.record.match(rest[end:] + b"\n") is None):
            raise self.fault(
                "a quoted field that begins here is never closed",
                at=end + max(self._open_quote(rest[end:]), 0),
                advice="Close the quote, or pass quoting=3 if quotes are plain characters",
            )
        return rest if rest.endswith((b"\n", b"\r")) else rest + b"\n"

    def _open_quote(self, record: bytes) -> int:
        """Where the field that is not closed opens in `record`."""
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
        """An error about byte `at` of the block that was given out last, with its line."""
        return self.text.source.fault(reason, line=None if at is None else self.line(at), advice=advice)

    def line(self, at: int) -> int:
        """The number of the line that holds byte `at` of the block that was given out last."""
        return line_at(self.text.source, self.offset + at, encoding=self._encoding, errors=self._errors)

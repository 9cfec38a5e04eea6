"""The layout of csv files: the options, settled, and the columns that follow from them in one file."""

from __future__ import annotations

import csv
import io
import itertools
import re
from dataclasses import dataclass, field
from typing import Any

from ._csv_records import Grammar
from ._csv_types import TextRules


@dataclass(frozen=True)
class CsvForm:
    """How a csv file is laid out and read: the options, settled.

    Attributes:
        header: index of the record that names the columns, or None.
        names: names that the user gives, or None.
        prefix: what stands before the numbers of columns without names.
        keep_columns: the columns to keep, as a function of all names; None keeps all.
        index: names or numbers of columns that go to the end; False cuts surplus fields off.
        skip_records: how many records, or which, are left out at the beginning.
        num_rows: rows to read of each file, or None.
        nulls: texts that are null; by column where it is a dict.
        null_numbers: numbers that are null in a column of floats, likewise.
        bad_rows: what to do with a row of the wrong length: "error", "warn" or "skip".
        by_python: whether Python's csv module splits the fields, for what pyarrow's parser cannot.
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
    encoding: str | None = None
    encoding_errors: str = "strict"
    by_python: bool = False

    def split(self, text: str) -> Any:
        """The records of `text`, each a list of fields; a blank line is an empty list."""
        limit = csv.field_size_limit()  # of the whole process, so not ours to raise
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
        """The numbers that are null in `column`, however they are spelled there."""
        return list(self.null_numbers.get(column, ()) if isinstance(self.null_numbers, dict) else self.null_numbers)

    def nulls_of(self, column: str) -> frozenset[str]:
        """The texts that are null in `column`."""
        return frozenset(self.nulls.get(column, self.nulls[""]) if isinstance(self.nulls, dict) else self.nulls)


class WideRecords:
    """The records of a text as `csv.reader` splits them, with fields of any size.

    Attributes:
        line_num: how many lines have been read.
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


@dataclass(frozen=True)
class Columns:
    """The columns of one file.

    Attributes:
        fields: a name for each field of a record.
        output: the columns to give out, in order; those that are not among `fields` are null.
        must_be_empty: a field that stands after a trailing delimiter.
    """

    fields: tuple[str, ...]
    output: tuple[str, ...]
    must_be_empty: str | None = None

    @property
    def read(self) -> list[str]:
        """The fields that are parsed into columns."""
        wanted = set(self.output)
        return [name for name in self.fields if name in wanted or name == self.must_be_empty]


def mangled(header: list[str]) -> list[str]:
    """Names as pandas makes them: `Unnamed: 3` for an empty one, `a.1` for the second `a`."""
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

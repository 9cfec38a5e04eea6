"""The layout of csv files: the options, settled, and the columns that follow from them in one file."""

from __future__ import annotations

import csv
import io
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
    bad_rows: str = "error"
    encoding: str | None = None
    encoding_errors: str = "strict"
    by_python: bool = False

    def split(self, text: str) -> Any:
        """The records of `text`, each a list of fields; a blank line is an empty list."""
        return csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.delimiter,
            quotechar=self.quote,
            escapechar=self.escape,
            doublequote=self.grammar.double_quote,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            skipinitialspace=self.skip_initial_space,
        )

    def nulls_of(self, column: str) -> frozenset[str]:
        """The texts that are null in `column`."""
        return frozenset(self.nulls.get(column, self.nulls[""]) if isinstance(self.nulls, dict) else self.nulls)


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
    for number, name in enumerate(header):
        name = name or f"Unnamed: {number}"
        unique = name
        while unique in seen or (unique != name and unique in taken):
            counts[name] = counts.get(name, 0) + 1
            unique = f"{name}.{counts[name]}"
        seen.add(unique)
        names.append(unique)
    return names

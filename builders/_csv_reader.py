"""`read_csv`: one csv file as record batches, parsed by pyarrow block by block, with the semantics of `pandas.read_csv`.

Each block of whole records is parsed separately; its types are then compared with the known types of the columns.  If a
column needs a wider type than rows already delivered had, the rest of the file is scanned and `Replay` requests a
second pass.
"""

from __future__ import annotations

import codecs
import csv
import itertools
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from datasets_core.building.marks import Mark
from datasets_core.config import FEW_COLUMNS, check_columns
from datasets_core.errors import FileFormatError

from ._csv_types import (
    FALSE_VALUES,
    TRUE_VALUES,
    ColumnTypes,
    CsvForm,
    RecordBlocks,
    index_names,
    is_suspicious,
    mangled,
)
from ._source import Grid, Source, invalid_utf8, text_reader

_BLOCK_BYTES = 4 << 20
_WIDEST_BLOCK_BYTES = 64 << 20
_WIDEST_STEP_BYTES = 8 << 20
_PROBED_RECORDS = 200
_LINE = re.compile("[^\r\n]*(?:\r\n|\r|\n|$)")
_BLANK_LINE = re.compile(rb"(?:^|[\r\n])[ \t]+(?:[\r\n]|$)")


@dataclass(frozen=True)
class Columns:
    """The columns of one file.

    Attributes:
        fields: a name for each field of a record.
        output: the columns to return, in order; those missing in `fields` are null.
        must_be_empty: a field after a trailing delimiter.
    """

    fields: tuple[str, ...]
    output: tuple[str, ...]
    must_be_empty: str | None = None

    @property
    def read(self) -> list[str]:
        """The fields that are parsed into columns."""
        wanted = set(self.output)
        return [name for name in self.fields if name in wanted or name == self.must_be_empty]


def read_csv(
    source: Source,
    form: CsvForm,
    schema: pa.Schema | None,
    *,
    as_text: Collection[str] = (),
    if_empty: Sequence[str] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a csv file; at least one batch, possibly empty.

    Args:
        source: the file.
        form: its layout.
        schema: types known from other files or from an earlier pass.
        as_text: columns that stay text as requested by the features.
        if_empty: the columns of an empty file; None refuses such a file.

    Raises:
        FileFormatError: the csv is invalid; the error names the line.
        Replay: a column needs a wider type than delivered rows had.
    """
    settled = ColumnTypes(schema, as_text, form.null_numbers_of if form.null_numbers else None)
    return settled.pass_on(_Reader(source, form, settled, if_empty).batches())


def csv_blocks(
    source: Source,
    form: CsvForm,
    schema: pa.Schema | None,
    mark: Mark | None,
    *,
    as_text: Collection[str] = (),
    if_empty: Sequence[str] | None = None,
    has_features: bool = False,
    first_bytes: int,
) -> Iterator[tuple[pa.RecordBatch, Mark | None]]:
    """Yield the rows of a csv file while it is read, each batch with the mark of its start, if a block starts there.

    Args:
        source, form, schema, as_text, if_empty: see `read_csv`.
        mark: the position to start at.
        has_features: True if the types of the rows are given: a cast reports values that do not fit.
        first_bytes: size of the first block, which determines the types.

    Raises:
        FileFormatError: the csv is invalid; the error names the line.
        Replay: rows from here on have different types than delivered ones.
        ValueError: not a mark of a csv file.
    """
    null_numbers = form.null_numbers_of if form.null_numbers else None
    settled = ColumnTypes(schema, as_text, null_numbers, is_live=True, may_change=has_features)
    reader = _Reader(source, form, settled, if_empty, first_bytes, mark)
    for batch in settled.pass_on(reader.batches()):
        yield batch, reader.mark


class _Reader:
    def __init__(
        self,
        source: Source,
        form: CsvForm,
        settled: ColumnTypes,
        if_empty: Sequence[str] | None,
        first_bytes: int | None = None,
        begins: Mark | None = None,
    ) -> None:
        self._source, self._form, self._settled, self._if_empty = source, form, settled, if_empty
        self._first_bytes, self._begins = first_bytes, begins
        self.mark: Mark | None = None  # row in the last returned batch, if it begins a block
        self._at = 0  # offset of the data in the current block
        self._record = 0  # records read
        self._skipped = 0  # records skipped at the beginning
        self._left = form.num_rows
        self._has_begun = self._begins_block = False

    def batches(self) -> Iterator[pa.RecordBatch]:
        form, begins = self._form, self._begins
        how: dict[str, Any] = {"encoding": form.encoding, "errors": form.encoding_errors}
        wanted = 0 if self._first_bytes is None else max(self._first_bytes, Grid.STEP_BYTES)
        with text_reader(self._source, "csv", **how, mark=begins, first_bytes=wanted) as text:
            grid = None if self._first_bytes is None else Grid.of(text, begins, first_bytes=wanted)
            self._blocks = RecordBlocks(text, form.grammar, _BLOCK_BYTES, **how, grid=grid)
            self._blocks.guesses = grid is None and form.num_rows is None and form.escape is None and not form.by_python
            blocks = iter(self._blocks)
            if begins is not None and begins.at:
                self._go_on(begins.reader)
            else:
                first = self._begin(blocks)
                if self._if_empty is not None and _is_blank(first):
                    yield self._settled.batch({name: pa.nulls(0) for name in self._if_empty})
                    return
                start, header = self._header(first)
                self._at = start
                self._columns = self._plan(header, first[start:])
                self._blocks.block_bytes = max(_BLOCK_BYTES, min(_WIDEST_BLOCK_BYTES, 100 * start))
                if grid is not None:
                    grid.step = max(grid.step, min(_WIDEST_STEP_BYTES, 20 * start))
                blocks = itertools.chain([first], blocks)
            any_rows = begins is not None and begins.at > 0
            for batch in self._batches(self._limited(blocks)):
                any_rows = True
                yield batch
            if not any_rows:
                output = self._columns.output
                kinds = [self._settled.types.get(name, pa.null()) for name in output]
                yield pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in kinds], list(output))

    def _batches(self, blocks: Iterator[bytes]) -> Iterator[pa.RecordBatch]:
        told: Mark | None = None
        for block in blocks:
            if self._blocks.grid is not None and self._begins_block:
                told = self._mark()
            found = self._rows(block)
            if found is None:  # no rows, or the block comes again
                continue
            output = self._columns.output
            batch = self._settled.batch({name: found.get(name, pa.nulls(_length(found))) for name in output})
            if batch.num_rows:
                self._left = None if self._left is None else self._left - batch.num_rows
                self.mark, told = told, None
                yield batch

    def _mark(self) -> Mark | None:
        """Return the mark of the current block, with the state of the reader before it."""
        if self._blocks.text.file is None:
            return None
        at = self._blocks.offset if self._has_begun else 0
        self._has_begun = True
        columns, grid = self._columns, self._blocks.grid
        known: dict[str, Any] = {"fields": columns.fields, "types": self._settled.to_text(columns.output)}
        more = {
            "output": None if columns.output == columns.fields else columns.output,
            "must_be_empty": columns.must_be_empty,
            "record": self._record or None,
            "left": self._left,
            "step": None if grid is None or grid.step == Grid.STEP_BYTES else grid.step,
        }
        known.update({name: value for name, value in more.items() if value is not None})
        return Mark(at, self._blocks.to, known if at else None, self._blocks.text.file)

    def _go_on(self, known: Any) -> None:
        """Restore the state stored in a mark."""
        try:
            fields, left, record = tuple(known["fields"]), known.get("left"), known.get("record", 0)
            self._columns = Columns(fields, tuple(known.get("output", fields)), known.get("must_be_empty"))
            self._settled.from_text(self._columns.output, known["types"])
            self._left, self._record = None if left is None else int(left), int(record)
            if self._blocks.grid is not None:
                self._blocks.grid.step = int(known.get("step", Grid.STEP_BYTES))
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"invalid mark of a csv file: {error!r}") from error
        self._has_begun = True

    def _limited(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the data of each block, up to the requested number of rows: later rows must not affect the types."""
        for block in blocks:
            begin, is_guess, self._begins_block = self._at, self._blocks.is_guess, True
            while self._left != 0:
                data = block[self._at :] if self._at else block
                end = len(data) if self._left is None else self._end_of_rows(data, self._left)
                yield data if end == len(data) else data[:end]
                self._at += end
                self._begins_block = False
                if end == len(data):
                    break
            if self._left == 0:
                return
            self._at = begin if is_guess and not self._blocks.is_guess else 0  # refused: the block comes again

    def _end_of_rows(self, data: bytes, count: int) -> int:
        """Return the end of the first `count` records of `data` that may be rows."""
        at = 0
        for number, end in enumerate(self._form.grammar.ends(data), self._record):
            count -= not (self._is_blank_record(data[at:end]) or _skips(self._form.skip_records, number))
            at = end
            if not count:
                return at
        return len(data)

    # -- the header ----------------------------------------------------------------------------------------------------

    def _begin(self, blocks: Iterator[bytes]) -> bytes:
        """Return the block with the header, and a record after it if there is one; skipped records may exceed the block."""
        form = self._form
        to_skip = form.skip_records if isinstance(form.skip_records, int) else 0
        wanted = 1 + (0 if form.header is None else form.header + 1)
        first, offset, number = b"", 0, 0
        for block in blocks:
            offset = offset if first else self._blocks.offset
            first += block
            self._blocks.offset = offset
            at = found = 0
            for number, end in enumerate(form.grammar.ends(first), self._skipped):
                if number >= to_skip:
                    found += not (self._is_blank_record(first[at:end]) or _skips(form.skip_records, number))
                at = end
                if found == wanted:
                    return first
            if self._blocks.is_guess:
                self._blocks.refuse()
                first = first[: -len(block)]
            elif number + 1 <= to_skip:
                self._skipped, first = number + 1, b""
        return first

    def _header(self, first: bytes) -> tuple[int, list[str] | None]:
        """Return the byte at which the data begin in the first block, and the fields of the header record."""
        form = self._form
        ends = form.grammar.ends(first)
        start = 0
        self._record = self._skipped
        if isinstance(form.skip_records, int):
            for end in itertools.islice(ends, form.skip_records - self._skipped):
                start = end
                self._record += 1
        if form.header is None:
            return start, None
        seen = 0
        for end in ends:
            begin, start = start, end
            record = first[begin:end]
            number, self._record = self._record, self._record + 1
            if self._is_blank_record(record) or _skips(form.skip_records, number):
                continue
            if seen == form.header:
                return start, next(form.split(self._decode(record, skipped=begin)), [])
            seen += 1
        if form.names is not None:
            return start, None
        what = "is empty" if not first.strip() else f"has no line {form.header + 1} with the column names"
        raise self._source.fault(
            f"{what}, so its columns have no names",
            advice="Add a header line, pass names=, or remove the file from data_files",
        )

    def _plan(self, header: list[str] | None, data: bytes) -> Columns:
        form = self._form
        probe = self._probe(data)
        width = len(probe[0]) if probe else None
        if form.names is not None:
            names = list(form.names)
        elif header is not None:
            names = mangled(header)
        else:
            if width is None:
                raise self._source.fault(
                    "is empty, so its columns are unknown", advice="Pass names=, or remove the file from data_files"
                )
            names = [f"{form.prefix}{number}" for number in range(width)]
        names = self._by_position(names, width)
        if len(names) > FEW_COLUMNS:
            check_columns(len(names), self._source.name)
        surplus = 0 if width is None else width - len(names)
        fields, must_be_empty = names, None
        keep = form.keep_columns  # with as many names as fields, pandas uses no field as index
        cuts = form.index is False or (keep is not None and not callable(keep) and len(keep) == len(names))
        if surplus > 0 and (cuts or (surplus == 1 and all(not row[-1] for row in probe if len(row) == width))):
            cut = [f"\0{number}" for number in range(surplus)]
            fields = names + cut
            must_be_empty = None if cuts else cut[0]
            output = names
        elif surplus > 0:
            index = index_names(surplus, names)
            fields, output = index + names, names + index
        else:
            output = names
            if surplus < 0 and form.names is not None:
                fields = names[:width]
        output = self._kept(output)
        return Columns(tuple(fields), tuple(self._indexed(output)), must_be_empty)

    def _by_position(self, names: list[str], width: int | None) -> list[str]:
        """Return a name for each field if `names=` only names the fields selected by number in `usecols=`."""
        keep = self._form.keep_columns
        if self._form.names is None or keep is None or callable(keep) or len(names) != len(set(keep)):
            return names
        if not all(isinstance(which, int) for which in keep) or width is None or max(keep, default=0) >= width:
            return names
        named = dict(zip(sorted(keep), names, strict=True))
        return [named.get(number, f"\0unnamed {number}") for number in range(max(keep, default=-1) + 1)]

    def _kept(self, names: list[str]) -> list[str]:
        keep = self._form.keep_columns
        if keep is None:
            return names
        if callable(keep):
            return [name for name in names if keep(name)]
        missing = [name for name in keep if (name not in names if isinstance(name, str) else not -1 < name < len(names))]
        if missing:
            raise self._source.fault(
                f"has no column {missing[0]!r}", advice=f"Choose usecols= among {', '.join(map(repr, names[:20]))}"
            )
        return [name for number, name in enumerate(names) if name in keep or number in keep]

    def _indexed(self, names: list[str]) -> list[str]:
        if not isinstance(self._form.index, tuple):
            return names
        try:
            index = [names[which] if isinstance(which, int) else names[names.index(which)] for which in self._form.index]
        except (ValueError, IndexError):
            raise self._source.fault(
                f"has no column {self._form.index!r}", advice=f"Choose index_col= among {', '.join(map(repr, names[:20]))}"
            ) from None
        return [name for name in names if name not in index] + index

    def _probe(self, data: bytes) -> list[list[str]]:
        """Return the fields of the first records that are not blank."""
        parts: list[bytes] = []
        at = 0
        for number, end in enumerate(self._form.grammar.ends(data), self._record):
            if not _is_blank(data[at:end]) and not _skips(self._form.skip_records, number):
                parts.append(data[at:end])
            at = end
            if len(parts) == _PROBED_RECORDS:
                break
        try:
            text = b"".join(parts).decode()
        except UnicodeDecodeError:
            self._decode(data[:at])
            raise
        found = list(self._form.split(text))
        if len(found) == len(parts):
            return found
        return [next(self._form.split(part.decode()), []) for part in parts]

    def _is_blank_record(self, record: bytes) -> bool:
        return self._form.skip_blank and _is_blank(record)

    # -- blocks --------------------------------------------------------------------------------------------------------

    def _rows(self, block: bytes) -> dict[str, pa.Array] | None:
        """Return the typed columns of a block; None without rows."""
        if b"\0" in block:
            raise self._blocks.fault(
                "holds a NUL byte: it is binary, or UTF-16 without a byte order mark",
                at=self._at + block.index(b"\0"),
                advice="Pass encoding='utf-16-le' if it is text, otherwise fix the file",
            )
        columns = self._columns
        found = self._by_python(block) if self._form.by_python else self._by_arrow(block)
        if found is None:
            return None
        if columns.must_be_empty is not None and any(found.pop(columns.must_be_empty).unique().drop_null().to_pylist()):
            raise self._blocks.fault(
                f"rows have {len(columns.fields)} fields, but the header has {len(columns.fields) - 1}",
                at=None,
                advice="Fix the header, or pass index_col=False to drop the surplus field",
            )
        return found

    def _by_arrow(self, block: bytes) -> dict[str, pa.Array] | None:
        if not block or block.isspace():
            return None
        whole = block
        if len(self._columns.fields) == 1 and _BLANK_LINE.search(block):
            block = self._without_blanks(block)  # pyarrow reads such a line as a value
        odd: list[Any] = []
        rules = self._form.rules
        names = self._columns.read
        text = {name: pa.string() for name in names if rules.thousands is not None or self._settled.is_text(name)}
        try:
            table = self._parse(block, names, text, odd)
        except FileFormatError:
            if not self._blocks.is_guess:
                raise
            self._blocks.refuse()
            return None
        if self._blocks.is_guess and (odd or not self._blocks.are_records(block, table.num_rows)):
            self._blocks.refuse()
            return None
        if any(row.text.strip(" \t") for row in odd):
            return self._by_python(whole)
        if not table.num_rows:
            return None
        found = dict(zip(table.column_names, map(_one_chunk, table.columns), strict=True))
        hexadecimal = any(pa.types.is_int64(column.type) for column in found.values()) and _may_have_hexadecimals(block)
        doubtful = [
            name
            for name, column in found.items()
            if not self._settled.is_text(name) and is_suspicious(column, block, rules, hexadecimal=hexadecimal)
        ]
        again = [name for name in doubtful if name not in text and not pa.types.is_string(found[name].type)]
        if again:
            table = self._parse(block, again, {name: pa.string() for name in again}, [])
            found.update(zip(table.column_names, map(_one_chunk, table.columns), strict=True))
        for name in doubtful:
            found[name] = rules.typed(found[name])
        return found

    def _without_blanks(self, block: bytes) -> bytes:
        """Return a block whose blank records are reduced to their line ends."""
        parts, at = [], 0
        for end in self._form.grammar.ends(block):
            parts.append(b"\n" * (end - at) if _is_blank(block[at:end]) else block[at:end])
            at = end
        return b"".join([*parts, block[at:]])

    def _parse(self, block: bytes, names: list[str], kinds: dict[str, pa.DataType], odd: list[Any]) -> pa.Table:
        form = self._form

        if block.startswith(codecs.BOM_UTF8):
            block = b"\n" + block  # pyarrow removes a byte order mark, which only the start of a file may have

        def on_odd_row(row: Any) -> str:
            odd.append(row)
            return "skip"

        try:
            table = pacsv.read_csv(
                pa.BufferReader(block),
                read_options=pacsv.ReadOptions(column_names=self._columns.fields, block_size=len(block) + 1, use_threads=False),
                parse_options=pacsv.ParseOptions(
                    delimiter=form.delimiter,
                    quote_char=form.quote or False,
                    double_quote=form.grammar.double_quote,
                    escape_char=form.escape or False,
                    newlines_in_values=False,
                    ignore_empty_lines=True,
                    invalid_row_handler=on_odd_row,
                ),
                convert_options=pacsv.ConvertOptions(
                    null_values=form.nulls,
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=True,
                    true_values=[*TRUE_VALUES, *form.rules.true_values],
                    false_values=[*FALSE_VALUES, *form.rules.false_values],
                    decimal_point=form.rules.decimal,
                    include_columns=names,
                    column_types=kinds,
                ),
            )
        except pa.ArrowInvalid as error:
            self._decode(block)  # the usual cause, and the only one with a line number
            raise self._blocks.fault(f"cannot be read as csv ({' '.join(str(error).split())[:300]})", at=None) from error
        if any(pa.types.is_binary(kind) for kind in table.schema.types):
            self._decode(block)
        return table

    def _by_python(self, block: bytes) -> dict[str, pa.Array] | None:
        """Return the columns of a block split by Python's csv module: slower, but with all options and line numbers."""
        form, width = self._form, len(self._columns.fields)
        rows = []
        text = self._decode(block)
        reader = form.split(text)
        lines: list[str] | None = None
        line = 0
        try:
            for row in reader:
                number, self._record = self._record, self._record + 1
                begin, line = line, reader.line_num
                if _skips(form.skip_records, number):
                    continue
                if form.skip_blank and len(row) <= 1 and not "".join(row).strip(" \t"):
                    lines = lines or _LINE.findall(text)  # a quoted field of blanks is a value
                    if not lines[begin].strip(" \t\r\n"):
                        continue
                if len(row) != width and (row or form.skip_blank):
                    self._odd_row(len(row), begin)
                    if len(row) > width:
                        continue
                rows.append(row + [""] * (width - len(row)))
        except csv.Error as error:
            raise self._fault_at_line(f"cannot be split into fields ({error})", line, advice=None) from error
        if not rows:
            return None
        columns: dict[str, pa.Array] = {}
        wanted = set(self._columns.read)
        for name, values in zip(self._columns.fields, zip(*rows, strict=True), strict=True):
            if name in wanted:
                nulls = form.nulls_of(name)
                column = pa.array([None if value in nulls else value for value in values], pa.string())
                columns[name] = column if self._settled.is_text(name) else form.rules.typed(column)
        return columns

    def _odd_row(self, found: int, line: int) -> None:
        """Raise or warn about a row of the wrong length, `line` lines into the block."""
        width = len(self._columns.fields)
        is_short = found < width
        if self._form.bad_rows == "skip" or (is_short and self._form.fills_short_rows):
            return
        error = self._fault_at_line(
            f"has {found} field{'s' * (found != 1)} where {width} {'are' if width != 1 else 'is'} expected",
            line,
            advice="Fix the line, or pass on_short_lines='fill' to fill short rows with nulls, as pandas does"
            if is_short
            else "Fix the line, or pass on_bad_lines='skip' to drop longer rows and fill shorter ones with nulls",
        )
        if self._form.bad_rows == "error":
            raise error
        warnings.warn(str(error), stacklevel=2)

    def _fault_at_line(self, reason: str, line: int, *, advice: str | None) -> FileFormatError:
        first = self._blocks.line(self._at)
        return self._source.fault(reason, line=first + line, advice=advice)

    def _decode(self, data: bytes, *, skipped: int = 0) -> str:
        """Return `data` as text; it begins `skipped` bytes after the start of the block."""
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise invalid_utf8(
                self._source, self._blocks.offset + self._at + skipped + error.start, data[error.start]
            ) from error


def _is_blank(record: bytes) -> bool:
    return not record.strip(b" \t\r\n")


def _skips(which: Any, number: int) -> bool:
    if isinstance(which, int):
        return False
    return bool(which(number)) if callable(which) else number in which


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    return column.combine_chunks() if column.num_chunks else pa.nulls(0, column.type)


def _length(columns: dict[str, pa.Array]) -> int:
    return next((len(column) for column in columns.values()), 0)


def _may_have_hexadecimals(block: bytes) -> bool:
    """Return True if `0x` or `0X` occurs anywhere: by pairs of bytes, as `in` is slow where `0` is frequent."""
    for begin in (0, 1):
        pairs = np.frombuffer(block, "<u2", (len(block) - begin) // 2, begin)
        if any(bool((pairs == int.from_bytes(pair, "little")).any()) for pair in (b"0x", b"0X")):
            return True
    return False

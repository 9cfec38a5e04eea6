"""JSON: lines of objects, one array, pretty-printed or concatenated objects, or the rows under one key.

pyarrow's parser reads blocks of whole objects.  Types are merged over all files of a split, independent of the order of rows;
if types or keys of objects differ at one place, its values are stored as JSON text and returned unchanged (`Json`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from typing import Any, Literal

import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig, Replay
from datasets_core.building.marks import Mark, TextFile, packed, unpacked
from datasets_core.config import check_columns, check_schema, settings
from datasets_core.errors import ConfigurationError, FileFormatError, logger_of

from ._json_blocks import BLOCK_BYTES, MAX_DEPTH, LineBlock, Scanner, line_blocks, many_keys, too_deep
from ._json_values import (
    BrokenRow,
    Path,
    has_inexact_integers,
    is_json,
    is_text,
    is_utf8,
    joined,
    keys_of,
    loses_digits,
    may_lack_keys,
    meet_as_floats,
    mixed_paths,
    parsed_rows,
    paths_of,
    read_lines,
    shortest,
    spelled,
    typed_as_json,
    with_text,
)
from ._source import Grid, Source, line_at, text_reader
from ._tables import FileBuilder

EXTENSIONS: dict[str, dict[str, Any]] = {
    ".json": {},
    ".jsonl": {},
    ".ndjson": {},
    ".jsonlines": {},
    ".geojson": {"field": "features"},
}

logger = logger_of(__name__)

_HEAD_BYTES = 1 << 20  # bytes of a stream that determine the types
_PACKED_HEAD_BYTES = 3 << 18  # the same for a compressed file, which may yield more bytes than needed
_SMALL_FILE_BYTES = 64 << 10
_GROUP_BYTES = 1 << 20


@dataclass(eq=False)
class JsonConfig(BuilderConfig):
    """Options of `load_dataset("json", ...)`.

    Args:
        features: target types of the columns.
        encoding: encoding of the files.
        encoding_errors: action for invalid bytes, as in `open(errors=)`; None refuses them.
        field: the key of the rows, for a file that is one object.
        use_threads: ignored; accepted for old calls.
        block_size: the old name of `chunksize`.
        chunksize: ignored; accepted for old calls.
        newlines_in_values: ignored: they are always allowed.
        on_mixed_types: "use_json" stores values of mixed types, and objects with different keys, as JSON;
            None refuses mixed types, and gives every object all keys.  With `field`, every object has all keys, too.
        parse_agent_traces: ignored; accepted for calls written for 5.x.
    """

    features: Any = None
    encoding: str = "utf-8"
    encoding_errors: str | None = None
    field: str | None = None
    use_threads: bool = True
    block_size: int | None = None
    chunksize: int = 10 << 20
    newlines_in_values: bool | None = None
    on_mixed_types: Literal["use_json"] | None = "use_json"
    parse_agent_traces: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.on_mixed_types not in (None, "use_json"):
            raise ConfigurationError(f"on_mixed_types={self.on_mixed_types!r} is unknown. Use 'use_json' or None.")
        if self.block_size is not None:
            self.chunksize = self.block_size

    @property
    def same_keys(self) -> bool:
        """True if objects at one place must have the same keys to not become JSON."""
        return self.on_mixed_types is not None and self.field is None and self.features is None


class Json(FileBuilder):
    """JSON files."""

    is_format = True
    name = "json"
    cache_version = "b386d1f8e0906c79ecc7ea2080ed1c26"
    BUILDER_CONFIG_CLASS = JsonConfig
    streams = True
    rereads = True
    merge_columns = True
    has_marks = True

    @property
    def is_native(self) -> bool:
        return True

    def join_types(self, a: pa.DataType, b: pa.DataType) -> pa.DataType:
        """See `FileBuilder.join_types`: mixed types become JSON where they occur."""
        return joined(a, b, same_keys=self.config.same_keys)[0]

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        return read_json(source, self.config, schema, as_json=self._as_json())

    def read_live(
        self, source: Source, schema: pa.Schema | None, mark: Mark | None
    ) -> Iterator[tuple[pa.RecordBatch, Mark | None]]:
        has_head = schema is None and (mark is None or not mark.at)  # only it shows whether keys differ
        reader = JsonReader(self.config, schema, as_json=self._as_json(), same_keys=has_head)
        known = self.wanted is not None
        first_bytes = 0 if known else _PACKED_HEAD_BYTES if source.is_packed else _HEAD_BYTES
        return reader.marked_batches(source, mark, first_bytes=first_bytes, has_features=known)

    def _generate_tables(
        self, files: Sequence[str | os.PathLike[str]], names: Sequence[str], dl_manager: Any = None
    ) -> Iterator[tuple[tuple[Any, ...], pa.RecordBatch]]:
        reader = JsonReader(self.config, self.known_schema, as_json=self._as_json())
        number = 0
        while number < len(files):
            rows, batches = self._grouped(reader, files[number:], names[number:])
            if batches is None:
                found = self._reached(files[number], names[number], dl_manager)
                batches = (batch for each in found for batch in reader.batches(each))
            for index, batch in enumerate(batches):
                yield ((number, index, rows) if rows else (number, index)), batch
            number += len(rows) or 1
        reader.finish()

    def _grouped(
        self, reader: JsonReader, files: Sequence[str | os.PathLike[str]], names: Sequence[str]
    ) -> tuple[tuple[int, ...], Iterator[pa.RecordBatch] | None]:
        """Return the rows of the first files together, and the number of rows of each; None if the first is read alone."""
        if self.wanted is None and self.config.field is None and not self.config.encoding_errors:
            here = takewhile(lambda pair: isinstance(pair[0], str), zip(files, names, strict=True))
            parts = small_files((Source(str(path), name) for path, name in here), self.config.encoding)
            if len(parts) > 1:
                parsed = reader.try_block(b"".join(parts), Source(str(files[0]), names[0]), sum(rows := line_counts(parts)))
                if parsed is not None:
                    return rows, iter(parsed)
        return (), None

    def _as_json(self) -> pa.Schema | None:
        return None if self.wanted is None else self.wanted.arrow_schema


_MANY_KEYS = 1000


def _say_that_field_may_be_meant(source: Source, table: pa.Table) -> None:
    """Log that a file which is one object may have its rows under one of its keys."""
    nested = [
        field.name for field in table.schema if pa.types.is_list(field.type) and pa.types.is_struct(field.type.value_type)
    ]
    if table.num_rows != 1 or not (table.num_columns > _MANY_KEYS or nested):
        return
    advice = f"field={nested[0]!r}" if nested else "field= with that key"
    said = "%s is one object with %s keys, which is read as one row. If its rows are under one key, pass %s."
    logger.warning(said, source.name, f"{table.num_columns:,}", advice)


def read_json(
    source: Source, options: JsonConfig, schema: pa.Schema | None, *, as_json: pa.Schema | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one JSON file.

    Raises:
        FileFormatError: the JSON is invalid; the error names the line.
        Replay: a column needs a type that can only be read from its text.
    """
    reader = JsonReader(options, schema, as_json=as_json)
    yield from reader.batches(source)
    reader.finish()


class JsonReader:
    """Reads JSON files in order, and keeps the types seen so far.

    Args:
        options: the config.
        schema: types known from other files or from an earlier pass.
        as_json: the schema of the user's features, whose JSON and text columns are read as such.
        same_keys: True to store objects with different keys as JSON, if the config and the features allow it.
    """

    def __init__(
        self, options: JsonConfig, schema: pa.Schema | None, *, as_json: pa.Schema | None = None, same_keys: bool = True
    ) -> None:
        self._options = options
        self._types: dict[str, pa.DataType] = {known.name: known.type for known in schema or ()}
        asked = {field.name: field.type for field in as_json or ()}
        wanted = asked | self._types
        self._forced: set[Path] = {path for name, kind in wanted.items() for path in paths_of(is_json, kind, (name,))}
        self._texts: set[Path] = {path for name, kind in asked.items() for path in paths_of(is_text, kind, (name,))}
        self._spelled = [_spelled_types(asked | self._types), _spelled_types(asked, floats=False), None]
        self._inexact: set[str] = set()  # columns with integers that a float would round
        self._conflict = False
        self._same_keys = same_keys and options.same_keys and as_json is None

    def batches(self, source: Source) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a file; none after a `Replay` became necessary."""
        by_brackets = False
        tables: list[pa.Table] = []  # the first two
        for number, block in enumerate(self._blocks(source, by_brackets=False)):
            if block.lines.isspace():
                continue
            try:
                table = self._parse(block, source)
            except FileFormatError as error:
                if number or error.line is None or not self._spans_lines(source, error.line):
                    raise
                by_brackets = True
                break
            yield from self._passed_on(table)
            tables = [*tables, *([table] * (1 if block.elements is None else 2))][:2]  # an array is no object
        if by_brackets:
            tables = []
            for block in self._blocks(source, by_brackets=True):
                table = self._parse(block, source)
                yield from self._passed_on(table)
                tables = [*tables, table][:2]
        if len(tables) == 1 and self._options.field is None and not self._conflict:
            _say_that_field_may_be_meant(source, tables[0])

    def marked_batches(
        self, source: Source, mark: Mark | None, *, first_bytes: int, has_features: bool = False
    ) -> Iterator[tuple[pa.RecordBatch, Mark | None]]:
        """Yield the rows of a file while it is read, each batch with the mark of its start, if a block starts there.

        Args:
            source: the file.
            mark: the position to start at.
            first_bytes: size of the first block, which determines the types.
            has_features: True if the types of the rows are given: a cast reports values that do not fit.

        Raises:
            FileFormatError: the JSON is invalid; the error names the line.
            Replay: rows from here on have different types than delivered ones.
            ValueError: not a mark of a JSON file.
        """
        has_begun, by_brackets = mark is not None and mark.at > 0, False
        if mark is not None and mark.at:
            self._go_on(mark)
        while True:
            try:
                for block, file in self._marked_blocks(source, mark, first_bytes, by_brackets=by_brackets):
                    if block.lines.isspace():
                        continue
                    told = None if file is None else self._mark(block, file, is_first=not has_begun)
                    table = self._parse(block, source)
                    has_begun = True
                    batches, self._same_keys = self._see(table), False
                    self._force_known()
                    for batch in batches:
                        if not has_features:
                            self.finish()
                        yield batch, told
                        told = None
                return
            except FileFormatError as error:
                if has_begun or by_brackets or error.line is None or not self._spans_lines(source, error.line):
                    raise
                by_brackets = True

    def _force_known(self) -> None:
        """Restore the paths that were JSON before."""
        self._forced |= {path for name, kind in self._types.items() for path in paths_of(is_json, kind, (name,))}

    def _mark(self, block: LineBlock, file: TextFile, *, is_first: bool) -> Mark | None:
        """Return the mark of a block, with the known types before it."""
        if is_first:
            return Mark(0, block.to, None, file)
        if not block.form:
            return None
        known = {"form": block.form, "types": packed(self._schema), "inexact": sorted(self._inexact) or None}
        return Mark(block.offset, block.to, {name: value for name, value in known.items() if value is not None}, file)

    @property
    def _schema(self) -> pa.Schema:
        """The types so far."""
        return pa.schema(list(self._types.items()))

    def _go_on(self, mark: Mark) -> None:
        """Restore the state stored in a mark."""
        try:
            self._types = {known.name: known.type for known in unpacked(mark.reader.get("types")) or ()}
            self._inexact = set(map(str, mark.reader.get("inexact") or ()))
            str(mark.reader["form"])
            self._force_known()
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"invalid mark of a JSON file: {error!r}") from error

    def _marked_blocks(
        self, source: Source, mark: Mark | None, first_bytes: int, *, by_brackets: bool
    ) -> Iterator[tuple[LineBlock, TextFile | None]]:
        options = self._options
        form = mark.reader["form"] if mark is not None and mark.at else None
        how: dict[str, Any] = {"encoding": options.encoding, "errors": options.encoding_errors, "mark": mark}
        with text_reader(source, "json", **how, first_bytes=max(first_bytes, Grid.STEP_BYTES)) as text:
            grid = Grid.of(text, mark, first_bytes=first_bytes)
            for block in line_blocks(text, field=options.field, by_brackets=by_brackets, grid=grid, form=form):
                yield block, text.file

    def _blocks(self, source: Source, *, by_brackets: bool) -> Iterator[LineBlock]:
        options = self._options
        with text_reader(source, "json", encoding=options.encoding, errors=options.encoding_errors) as text:
            yield from line_blocks(text, field=options.field, by_brackets=by_brackets)

    def _spans_lines(self, source: Source, line: int) -> bool:
        """Return True if a file with the invalid line `line` is valid, at least up to there, as objects that span lines."""
        if self._options.field is not None:
            return False
        try:
            block = next(self._blocks(source, by_brackets=True))
            places = list(parsed_rows(block.lines))
        except (FileFormatError, BrokenRow):
            return False
        end = block.offset + len(block.lines)
        return len(places) == block.elements and line < self._line(source, end)

    def _passed_on(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        for batch in self._see(table):
            if not self._conflict:
                yield batch

    def try_block(self, lines: bytes, source: Source, rows: int) -> list[pa.RecordBatch] | None:
        """Return the rows of several files, concatenated in `lines`; None if they have to be read one by one."""
        try:
            found = self._parse(LineBlock(lines, 0), source)
        except FileFormatError:
            return None
        if found.num_rows != rows:  # with several objects per line, rows could not be assigned to files
            return None
        return [batch for batch in self._see(found) if not self._conflict]

    def finish(self) -> None:
        """Request another pass if one is necessary.

        Raises:
            Replay: a pass with the types seen so far is necessary.
        """
        if self._conflict:
            raise Replay(pa.schema(list(self._types.items())))

    def _see(self, table: pa.Table) -> list[pa.RecordBatch]:
        for found, column in zip(table.schema, table.columns, strict=True):
            if has_inexact_integers(column):
                self._inexact.add(found.name)
            known = self._types.get(found.name)
            if known is None:
                self._types[found.name] = found.type
            elif known != found.type:
                self._types[found.name], again = joined(known, found.type, same_keys=self._same_keys)
                self._conflict |= again or (found.name in self._inexact and meet_as_floats(known, found.type))
        batches: list[pa.RecordBatch] = table.to_batches()
        return batches

    def _parse(self, block: LineBlock, source: Source) -> pa.Table:
        """Return the rows of a block with their own types.

        Raises:
            FileFormatError: a row is invalid or nested too deeply, or types are mixed and that is not allowed.
        """
        lines = block.lines
        if too_deep(lines):
            raise self._too_deep(block, source)
        if count := many_keys(lines, settings().max_columns):
            check_columns(count, source.name)
            raise source.fault(
                f"its objects have {count:,} different keys, and each would have a value for each of them",
                line=self._line(source, block.offset),
                advice="Store keys and values as lists",
            )
        if not self._forced:
            try:
                table = self._read(lines, source, as_asked=bool(self._texts))
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError) as error:
                return self._mixed(block, source, error)
            if (
                (block.elements is None or table.num_rows == block.elements)
                and not loses_digits(table)
                and is_utf8(lines)
                and not (self._same_keys and may_lack_keys(table, lines))
            ):
                return table
        return self._mixed(block, source, None)

    def _read(self, lines: bytes, source: Source, *, as_asked: bool = False) -> pa.Table:
        """Return the lines with their known types; with fewer types if values do not fit, unless `as_asked`."""
        schemas = [known for known in dict.fromkeys(self._spelled) if known is not None or not as_asked]
        if not schemas:
            raise pa.ArrowNotImplementedError("the reader does not support these types")
        for known in schemas[:-1]:
            try:
                return self._in_order(read_lines(lines, known), source)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
        return self._in_order(read_lines(lines, schemas[-1]), source)

    def _in_order(self, table: pa.Table, source: Source) -> pa.Table:
        """Return the table with columns in order of first appearance: pyarrow puts columns with given types first."""
        check_schema(table.schema, source.name)
        names = table.column_names
        check_columns(len(self._types.keys() | names), source.name)
        order = [*(name for name in self._types if name in names), *(name for name in names if name not in self._types)]
        return table if order == names else table.select(order)

    def _mixed(self, block: LineBlock, source: Source, error: Exception | None) -> pa.Table:
        """Return a block that pyarrow refuses or would round: rows parsed by Python, with mixed types as JSON text."""
        try:
            places = list(parsed_rows(block.lines))
        except BrokenRow as broken:
            raise self._fault(block, source, broken.at, broken.reason) from error
        if block.elements is not None and len(places) != block.elements:
            reason = "an element of the array is missing: there is a double or trailing comma"
            raise self._fault(block, source, _missing(block.lines), reason)
        places = [(at, spelled(row, self._texts)) for at, row in places]
        rows = [row for _, row in places]
        check_columns(len(set().union(*(row for row in rows if isinstance(row, dict)))), source.name)
        keys = [keys_of(kind, (name,)) for name, kind in self._types.items()] if self._same_keys else None
        paths = mixed_paths(rows, None if keys is None else dict(chain.from_iterable(each.items() for each in keys)))
        paths |= self._forced
        mixed = paths - self._forced
        if mixed and self._options.on_mixed_types is None:
            name = _path_name(min(mixed, key=repr))
            raise self._fault(
                block, source, 0, f"values of {name} have several types from here on, or are integers past 64 bits"
            )
        paths = shortest(paths)
        try:
            table = self._read(with_text(rows, paths) if paths or self._texts else block.lines, source)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError) as failure:
            at, reason = self._first_refused(places, paths, failure, source)
            raise self._fault(block, source, at, reason) from failure
        for number, name in enumerate(table.column_names):
            below = {path[1:] for path in paths if path[0] == name}
            if below:
                column = typed_as_json(_one_chunk(table.column(number)), below)
                table = table.set_column(number, pa.field(name, column.type), column)
        return table

    def _first_refused(
        self, places: list[tuple[int, Any]], paths: set[Path], failure: Exception, source: Source
    ) -> tuple[int, str]:
        """Return position and cause of the first row that pyarrow refuses on its own."""
        for at, row in places:
            try:
                self._read(with_text([row], paths), source)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeError) as error:
                return at, _cause(error)
        return 0, _cause(failure)

    def _fault(self, block: LineBlock, source: Source, at: int, reason: str) -> FileFormatError:
        return source.fault(reason, line=self._line(source, block.offset + at))

    def _line(self, source: Source, at: int) -> int:
        return line_at(source, at, encoding=self._options.encoding, errors=self._options.encoding_errors)

    def _too_deep(self, block: LineBlock, source: Source) -> FileFormatError:
        places, depths = Scanner().scan(block.lines)
        at = int(places[int((depths > MAX_DEPTH).argmax())])
        line = self._line(source, block.offset + at)
        return source.fault(
            f"values are nested {int(depths.max())} levels deep; the limit is {MAX_DEPTH}",
            line=line,
            advice="Store such values as text",
        )


def small_files(sources: Iterable[Source], encoding: str) -> list[bytes]:
    """Return the first of `sources` that are small and hold one object per line."""
    parts: list[bytes] = []
    held = 0
    if encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
        return parts
    for source in sources:
        if held > _GROUP_BYTES:
            break
        handle = os.open(source.path, os.O_RDONLY)  # takes half the time of open(), which checks the kind of file
        try:
            data = os.read(handle, _SMALL_FILE_BYTES + 1)
        finally:
            os.close(handle)
        if not data.startswith(b"{") or len(data) > _SMALL_FILE_BYTES or not data.partition(b"\n")[0].rstrip().endswith(b"}"):
            break
        parts.append(data if data.endswith(b"\n") else data + b"\n")
        held += len(data)
    return parts


def line_counts(parts: Sequence[bytes]) -> tuple[int, ...]:
    """Return the number of non-blank lines of each text.

    >>> line_counts([b'{"a": 1}\\n\\n{"a": 2}', b'{}\\n'])
    (2, 1)
    """
    return tuple(map(_line_count, parts))


def _line_count(part: bytes) -> int:
    ends = part.count(b"\n")
    if part.endswith(b"\n") and ends == part.count(b"\n{") + 1:  # each line begins with an object
        return ends
    return sum(1 for line in part.splitlines() if line.strip())


def _spelled_types(types: dict[str, pa.DataType], *, floats: bool = True) -> pa.Schema | None:
    """Return text and floats of a schema, so that pyarrow does not read dates as times, and reads integers as floats."""
    fields = [(name, part) for name, whole in types.items() if (part := _spelled_part(whole, floats)) is not None]
    return pa.schema(fields) if fields else None


def _spelled_part(kind: pa.DataType, floats: bool) -> pa.DataType | None:
    if is_text(kind) or is_json(kind):
        return pa.string()
    if pa.types.is_float64(kind) and floats:
        return kind
    if pa.types.is_struct(kind):
        fields = [(inner.name, part) for inner in kind if (part := _spelled_part(inner.type, floats)) is not None]
        return pa.struct(fields) if fields else None
    if pa.types.is_list(kind):
        part = _spelled_part(kind.value_type, floats)
        return None if part is None else pa.list_(part)
    return None


def _missing(lines: bytes) -> int:
    """Return the position of the first line without an element."""
    at = 0
    for line in lines.split(b"\n"):
        if not line.strip():
            break
        at += len(line) + 1
    return min(at + len(line), len(lines) - 1)


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    return combined.chunk(0) if isinstance(combined, pa.ChunkedArray) else combined


def _path_name(path: Path) -> str:
    return repr(".".join("[]" if step is None else step for step in path))


def _cause(error: Exception) -> str:
    return re.sub(r" in row \d+$", "", " ".join(str(error).split()).removeprefix("JSON parse error: ")).rstrip(".")[:300]


__all__ = ["BLOCK_BYTES", "EXTENSIONS", "Json", "JsonConfig", "JsonReader", "read_json"]

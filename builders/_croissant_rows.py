"""`ResourceRows`: the rows of one file or file set of a Croissant description, as columns of its fields."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasets_core.building.hooks import Replay
from datasets_core.errors import FileFormatError
from datasets_core.meta.croissant_nodes import (
    FieldNode,
    Step,
    ValueSource,
    found_at,
    is_media,
    is_read_as_text,
    parse_json_path,
)

from ._blocks import read_arrow
from ._croissant_files import FoundFile
from ._croissant_values import ValueFault, array_of, at_path, only_values, transformed
from ._parquet_blocks import read_parquet
from .csv import CsvConfig
from .json import JsonConfig, read_json
from .parquet import ParquetConfig
from .text import TextConfig, read_text

# Files of a Croissant description that are read whole: JSON documents, and groups of small files.


_MAX_JSON_BYTES = 2 << 30
_GROUP_BYTES, _GROUP_FILES = 32 << 20, 1000


def json_document(file: FoundFile) -> Any:
    """Return the content of a JSON file, read completely.

    Raises:
        FileFormatError: the file is not JSON, or larger than 2 GB.
    """
    if os.path.getsize(file.path) > _MAX_JSON_BYTES:
        raise file.source.fault("is a JSON document of more than 2 GB whose rows are not in one top-level list")
    handle = file.source.open()
    try:
        parts = []
        while part := handle.read(1 << 22):
            parts.append(part)
        return json.loads(b"".join(parts))
    except (ValueError, RecursionError) as error:
        raise file.source.fault(f"is not valid JSON ({error})") from error
    finally:
        handle.close()


def groups(files: Sequence[FoundFile]) -> Iterator[Sequence[FoundFile]]:
    """Yield groups of files of a bounded total size."""
    begin = size = 0
    for number, file in enumerate(files):
        size += os.path.getsize(file.path)
        if size > _GROUP_BYTES or number - begin == _GROUP_FILES:
            if number > begin:
                yield files[begin:number]
            begin, size = number, os.path.getsize(file.path)
    if files[begin:]:
        yield files[begin:]


def common_rows(paths: Sequence[tuple[Step, ...]]) -> tuple[Step, ...]:
    """Return the steps that all paths share, up to the last list among them."""
    shared: tuple[Step, ...] = paths[0]
    for path in paths[1:]:
        same = next(
            (at for at, (one, other) in enumerate(zip(shared, path, strict=False)) if one != other), min(len(shared), len(path))
        )
        shared = shared[:same]
    last = max((at for at, step in enumerate(shared) if step is None), default=-1)
    return shared[: last + 1]


# Tables of a Croissant description, read by the readers of their formats: only the columns that are requested
# are read.


TABLE_KINDS = ("csv", "tsv", "json", "jsonl", "parquet", "arrow")


def table_batches(
    file: FoundFile,
    names: Sequence[str],
    *,
    as_text: Sequence[str] = (),
    key: str | None = None,
    there: dict[str, None] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a table, with at least the existing columns of `names`.

    Args:
        file: file of a kind among `TABLE_KINDS`.
        names: the columns.
        as_text: columns taken literally, if the file is text.
        key: key of the rows in a JSON document that is one object.
        there: receives the names of all columns seen.

    Raises:
        FileFormatError: the file does not have the described format.
    """
    if file.kind in ("csv", "tsv"):
        from ._csv_reader import read_csv  # 25 ms, by pyarrow.compute, not needed for an existing dataset

        seen: dict[str, None] = {} if there is None else there

        def is_asked(name: str) -> bool:
            seen[name] = None
            return name in names

        form = CsvConfig(sep="\t" if file.kind == "tsv" else ",", usecols=is_asked).form()
        yield from _again(file, lambda schema: read_csv(file.source, form, schema, as_text=as_text))
    elif file.kind in ("json", "jsonl"):
        yield from _json_batches(file, names, as_text, JsonConfig(field=key))
    elif file.kind == "parquet":
        yield from read_parquet(file.source, ParquetConfig(columns=list(names)))
    else:
        yield from read_arrow(file.source)


def parquet_columns(file: FoundFile) -> list[str] | None:
    """Return the columns of a Parquet file; None if it cannot be read; its reader reports the error."""
    import pyarrow.parquet as pq  # 12 ms, not needed for an existing dataset

    try:
        return list(pq.read_schema(file.path).names)
    except (pa.ArrowException, OSError):
        return None


def _json_batches(
    file: FoundFile, names: Sequence[str], as_text: Sequence[str], options: JsonConfig
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a JSON file, with text that looks like a timestamp kept as text."""
    asked: dict[str, pa.DataType] = {name: pa.string() for name in as_text}

    def read(schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        for batch in read_json(file.source, options, schema, as_json=pa.schema(list(asked.items()))):
            moments = {field.name: _spelled(field.type) for field in batch.schema if field.name in names}
            changed = {name: kind for name, kind in moments.items() if kind != batch.schema.field(name).type}
            if changed:
                asked.update(changed)
                raise Replay(pa.schema([(name, kind) for name, kind in asked.items() if name not in as_text]))
            yield batch

    yield from _again(file, read)


def _spelled(kind: pa.DataType) -> pa.DataType:
    """Return a type with text for times, for which JSON has no type."""
    if pa.types.is_temporal(kind):
        return pa.string()
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(inner.name, _spelled(inner.type)) for inner in kind])
    return pa.list_(_spelled(kind.value_type)) if pa.types.is_list(kind) else kind


def _again(file: FoundFile, read: Callable[[pa.Schema | None], Iterator[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a reader that may ask for another pass, each row once."""
    schema: pa.Schema | None = None
    given = 0
    while True:
        passed = 0
        try:
            for batch in read(schema):
                rest = batch.slice(max(given - passed, 0))
                passed += batch.num_rows
                if rest.num_rows or not given:
                    given += rest.num_rows
                    yield rest
            return
        except Replay as wider:
            if wider.schema == schema:
                raise file.source.fault("has columns whose values have no type in common") from wider
            schema = wider.schema


_OF_FILES = ("filename", "filepath", "fullpath", "content")
_OBJECTS = ("json", "jsonl")  # objects may lack some keys


@dataclass(frozen=True, slots=True)
class Columns:
    """Rows: the values of each requested field, by its identifier.

    Attributes:
        arrays: the columns.
        num_rows: number of rows.
        is_typed: True if the file has types of its own.
        file: the file of the rows.
        row: number of the first row in the file.
        files: the files of the rows, if each is a file.
    """

    arrays: Mapping[str, pa.Array]
    num_rows: int
    is_typed: bool
    file: FoundFile
    row: int
    files: Sequence[FoundFile] = ()

    def place(self, row: int | None) -> tuple[FoundFile, int | None]:
        """Return the file of a row, and its number there."""
        if row is None or not self.files:
            return self.file, None if row is None else self.row + row
        return self.files[row], None


class ResourceRows:
    """Reads the rows of a resource.

    Args:
        fields: those without sub-fields, with their sources in this resource.
        fault: makes the error about a node: its identifier, what is wrong, file and row.
        single: fields that are not lists and not inside lists.
        is_only_file: True if the resource is one file.
    """

    def __init__(
        self,
        fields: Sequence[FieldNode],
        fault: Callable[..., FileFormatError],
        *,
        single: Collection[str] = (),
        is_only_file: bool = True,
    ) -> None:
        self._single, self._is_only_file = single, is_only_file
        self._sources: dict[str, ValueSource] = {field.id: field.source for field in fields if field.source is not None}
        self._types = {field.id: field.data_types for field in fields}
        self._fault = fault

    def batches(self, files: Sequence[FoundFile]) -> Iterator[Columns]:
        """Yield the rows of some files, one file after the other.

        Raises:
            FileFormatError: a file is not of the described format, or lacks the source of a field.
        """
        asked = {self._kind_of(node, source) for node, source in self._sources.items()}
        if asked == {"file"}:
            for some in groups(files):
                yield self._whole_files(some)
            return
        for file in files:
            yield from self._of_file_rows(file, asked)

    def _of_file_rows(self, file: FoundFile, asked: Collection[str]) -> Iterator[Columns]:
        if "table" in asked and "lines" in asked:
            node = next(node for node, source in self._sources.items() if self._kind_of(node, source) == "lines")
            raise self._fault(node, "asks for lines of a file, but other fields ask for its columns")
        if "lines" in asked:
            yield from self._lines(file)
        elif "path" in asked and file.kind != "jsonl":
            yield from self._json(file)
        elif "table" in asked or "path" in asked:
            yield from self._table(file)
        else:  # only line numbers are requested
            yield from self._lines(file)

    def _kind_of(self, node: str, source: ValueSource) -> str:
        if source.column is not None:
            return "table"
        if source.json_path is not None:
            return "path"
        if source.file_property in ("lines", "lineNumbers"):
            return "lines" if source.file_property == "lines" else "number"
        if source.file_property in _OF_FILES:
            return "file"
        if source.file_property is not None:
            raise self._fault(node, f"asks for the fileProperty {source.file_property!r}, which is not supported")
        raise self._fault(node, "has no column, jsonPath or fileProperty to extract")

    # -- tables --------------------------------------------------------------------------------------------------------

    def _table(self, file: FoundFile) -> Iterator[Columns]:
        """Yield rows of a table: each field is a column, or a path into one."""
        paths: dict[str, tuple[str, tuple[Step, ...]]] = {}
        for node, source in self._sources.items():
            if source.column is not None:
                paths[node] = (source.column, ())
            elif source.json_path is not None:
                steps = self._steps(node, source.json_path)
                if not steps or not isinstance(steps[0], str):
                    raise self._fault(node, f"has the jsonPath {source.json_path!r}, which is not the path of a value")
                paths[node] = (steps[0], steps[1:])
        yield from self._of_columns(file, paths, None)

    def _of_columns(
        self, file: FoundFile, paths: Mapping[str, tuple[str, tuple[Step, ...]]], key: str | None
    ) -> Iterator[Columns]:
        seen: set[str] = set()
        row = 0
        there: dict[str, None] = {}  # all columns of a csv file; only the requested ones are read
        for batch in self._read(file, paths, key, there):
            seen.update(batch.schema.names)
            found = {}
            for node, (name, steps) in paths.items():
                index = batch.schema.get_field_index(name)
                if file.kind not in _OBJECTS:
                    self._see_column(node, name, batch.schema.names, file, there)
                column = pa.nulls(batch.num_rows) if index < 0 else batch.column(index)
                found[node] = self._at(node, column, steps, file, row)
            yield self._columns(file, found, batch.num_rows, row, is_typed=file.kind in ("parquet", "arrow"))
            row += batch.num_rows
        is_told = row and self._is_only_file  # a column may be missing in some of several files
        missing = next((node for node, (name, _) in paths.items() if name not in seen), None) if is_told else None
        if missing is not None:
            raise self._fault(missing, f"asks for {paths[missing][0]!r}, which no row has", file=file)

    def _at(self, node: str, column: pa.Array, steps: Sequence[Step], file: FoundFile, row: int) -> pa.Array:
        try:
            found = at_path(column, steps, is_loose=file.kind in _OBJECTS)
            return only_values(found) if None in steps and node in self._single else found
        except ValueFault as fault:
            raise self._fault(node, fault.reason, file=file, row=row + (fault.row or 0)) from fault

    def _read(
        self,
        file: FoundFile,
        paths: Mapping[str, tuple[str, tuple[Step, ...]]],
        key: str | None,
        there: dict[str, None],
    ) -> Iterator[pa.RecordBatch]:
        if file.kind not in TABLE_KINDS:
            raise self._fault(
                next(iter(paths)), f"asks for a column, but the file is not one of {', '.join(TABLE_KINDS)}", file=file
            )
        if file.kind == "parquet" and (columns := parquet_columns(file)) is not None:
            for node, (name, _) in paths.items():
                self._see_column(node, name, columns, file)
        names = list(dict.fromkeys(name for name, _ in paths.values()))
        as_text = [name for node, (name, steps) in paths.items() if not steps and self._is_text(node)]
        yield from table_batches(file, names, as_text=as_text, key=key, there=there)

    def _see_column(self, node: str, name: str, there: Sequence[str], file: FoundFile, others: Collection[str] = ()) -> None:
        if name not in there:
            listed = ", ".join(map(repr, [*(others or there)][:20])) or "none"
            raise self._fault(node, f"asks for the column {name!r}; available columns: {listed}", file=file)

    def _is_text(self, node: str) -> bool:
        source = self._sources[node]
        if node.endswith("\0whole"):
            return False
        return any(name in ("regex", "separator", "format") for name, _ in source.transforms) or is_read_as_text(
            self._types[node]
        )

    # -- JSON ----------------------------------------------------------------------------------------------------------

    def _steps(self, node: str, path: str) -> tuple[Step, ...]:
        try:
            return parse_json_path(path)
        except ValueError as error:
            raise self._fault(node, f"has a jsonPath that is not supported: {error}") from error

    def _json(self, file: FoundFile) -> Iterator[Columns]:
        """Return rows of a JSON document: the elements of the innermost list that all paths share."""
        steps = {
            node: self._steps(node, source.json_path) for node, source in self._sources.items() if source.json_path is not None
        }
        if (node := next((node for node, source in self._sources.items() if source.column is not None), None)) is not None:
            raise self._fault(node, "asks for a column of a file, but other fields ask for JSON paths")
        rows = common_rows(list(steps.values()))
        is_listed = [None in path for path in steps.values()]
        if any(is_listed) and not all(is_listed):
            node = next(node for node, path in steps.items() if None not in path)
            raise self._fault(node, "has a jsonPath to one value, but other fields of its record set have paths to many")
        below = {node: path[len(rows) :] for node, path in steps.items()}
        key = rows[0] if len(rows) == 2 and isinstance(rows[0], str) else None
        if rows in ((None,), (key, None)) and all(path and isinstance(path[0], str) for path in below.values()):
            yield from self._of_columns(file, {node: (str(path[0]), path[1:]) for node, path in below.items()}, key)
            return
        document = json_document(file)
        elements = found_at(document, rows)
        found = {node: self._found(node, elements, path, file) for node, path in below.items()}
        yield self._columns(file, found, len(elements), 0, is_typed=False)

    def _found(self, node: str, elements: Sequence[Any], steps: Sequence[Step], file: FoundFile) -> pa.Array:
        """Return the values at a path below each element, as lists if the path enters one."""
        values = []
        for element in elements:
            matches = found_at(element, steps)
            values.append(matches if None in steps else matches[0] if matches else None)
        try:
            found = array_of(values)
            return only_values(found) if None in steps and node in self._single else found
        except ValueFault as fault:
            raise self._fault(node, fault.reason, file=file, row=fault.row) from fault

    # -- lines, and whole files ----------------------------------------------------------------------------------------

    def _lines(self, file: FoundFile) -> Iterator[Columns]:
        row = 0
        for batch in read_text(file.source, TextConfig()):
            lines = {node: batch.column(0) for node, source in self._sources.items() if source.file_property == "lines"}
            yield self._columns(file, lines, batch.num_rows, row, is_typed=False)
            row += batch.num_rows

    def _whole_files(self, files: Sequence[FoundFile]) -> Columns:
        """Return a row for each file."""
        arrays = {}
        for node, source in self._sources.items():
            column = pa.array([self._value_of(node, source.file_property, file) for file in files])
            try:
                arrays[node] = transformed(column, source)
            except ValueFault as fault:
                raise self._fault(node, fault.reason, file=files[fault.row or 0]) from fault
        return Columns(arrays, len(files), False, files[0], 0, files)

    def _value_of(self, node: str, asked: str | None, file: FoundFile) -> Any:
        if asked == "content":
            return self._content(node, file)
        return file.inner.rpartition("/")[2] if asked == "filename" else self.full_path(node, file)

    def _content(self, node: str, file: FoundFile) -> Any:
        with open(file.path, "rb") as handle:
            data = handle.read()
        if is_media(self._types[node]):
            return {"bytes": data, "path": file.inner.rpartition("/")[2]}
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return data

    def _columns(self, file: FoundFile, found: Mapping[str, pa.Array], num_rows: int, row: int, *, is_typed: bool) -> Columns:
        """Return the columns, including properties of the file, with all transforms applied."""
        arrays = {}
        for node, source in self._sources.items():
            column = found[node] if node in found else self._of_file(node, source.file_property, file, num_rows, row)
            if self._is_stored_media(node, column.type):
                arrays[node] = column
                continue
            try:
                arrays[node] = transformed(column, source, is_loose=file.kind in _OBJECTS)
            except ValueFault as fault:
                at = None if fault.row is None else row + fault.row
                raise self._fault(node, fault.reason, file=file, row=at) from fault
        return Columns(arrays, num_rows, is_typed, file, row)

    def _is_stored_media(self, node: str, kind: pa.DataType) -> bool:
        """Return True if values are media with bytes and paths, and the field asks only for the bytes."""
        if self._sources[node].transforms != (("jsonPath", "bytes"),) or not is_media(self._types[node]):
            return False
        while pa.types.is_list(kind) or pa.types.is_large_list(kind):
            kind = kind.value_type
        return bool(pa.types.is_struct(kind)) and {field.name for field in kind} == {"bytes", "path"}

    def _of_file(self, node: str, asked: str | None, file: FoundFile, num_rows: int, row: int) -> pa.Array:
        if asked == "lineNumbers":
            return pa.array(range(row, row + num_rows), pa.int64())
        array = pa.array([self._value_of(node, asked, file)])
        return array if num_rows == 1 else array.take(pa.array([0] * num_rows, pa.int64()))

    def full_path(self, node: str, file: FoundFile) -> str:
        """Return the path of a file in its archive, prefixed by the name of the archive if an expression needs that."""
        source = self._sources[node]
        if file.outer and source.transforms and source.transforms[0][0] == "regex":
            try:
                transformed(pa.array([file.inner]), source)
            except ValueFault:
                return f"{file.outer}/{file.inner}"
        return file.inner

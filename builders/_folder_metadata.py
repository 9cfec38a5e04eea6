"""Metadata of folder formats (`metadata.csv`, `.jsonl`, `.parquet`): their table, and the fields that name files.

A field `file_name` becomes the medium's own column, `mask_file_name` a column `mask`, `file_names` and `frame_file_names`
columns of lists; so they do inside structs and lists.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import Replay
from datasets_core.errors import FileFormatError
from datasets_core.features.arrow import list_array, list_parts, merge_schemas, struct_array, struct_parts
from datasets_core.features.base import bitmap, plain_array
from datasets_core.features.cast import cast_table
from datasets_core.features.media.media import refuse_stray_link
from datasets_core.features.schema import Features
from datasets_core.files import is_url

from ._source import Source

# The files of a media folder by their paths: those that metadata may refer to, and the folders that are labels.


_DRIVE = re.compile(r"[A-Za-z]:")
_ARCHIVE_SUFFIX = re.compile(r"\.(zip|tar|tgz|tbz2|txz|tar\.\w+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Member:
    """One file of the dataset.

    Attributes:
        path: the local file.
        inner: its path for metadata: within its archive, or as the user named it.
        archive: the name of the archive that holds it; "" for a file outside archives.
        is_medium: True if its extension belongs to the format.
    """

    path: str
    inner: str
    archive: str = ""
    is_medium: bool = False

    @property
    def name(self) -> str:
        """Name in errors."""
        return f"{self.inner} in {self.archive}" if self.archive else self.inner

    @property
    def folder(self) -> str:
        """The folder that contains it, within its archive."""
        return self.inner.rpartition("/")[0]

    @property
    def label(self) -> str:
        """The name of the folder that contains it; for a file at the top of an archive, the name of the archive."""
        return self.folder.rpartition("/")[2] or _ARCHIVE_SUFFIX.sub("", posixpath.basename(self.archive))

    @property
    def depth(self) -> int:
        """Number of folders above it."""
        return self.inner.count("/")


class FolderFiles:
    """The files of one split, looked up by their names in metadata.

    Args:
        members: the files.
        fetch: adds a file that only metadata refer to as a source of the build, and returns its local path.
        root_of: returns the folder of the dataset that contains a folder.
    """

    def __init__(self, members: Iterable[Member], fetch: Callable[[str], Any], root_of: Callable[[str], str]) -> None:
        self.members = list(members)
        self._fetch, self._root_of = fetch, root_of
        self._known = {(member.archive, member.inner): member for member in self.members}
        self._archives = sorted({member.archive for member in self.members if member.archive})

    def find(self, metadata: Member, name: str, *, row: int) -> Member | None:
        """Return the file that row `row` of `metadata` calls `name`; None if there is none.

        Hidden files are refused, both for storing and for reading by path: a name that begins with a dot (`.git/config`,
        `.env`) belongs to the user or a program, is not part of the dataset, and appears in no listing.

        Raises:
            FileFormatError: `name` is outside the folder of the metadata, or a hidden file.
            UntrustedPathError: the file is a link out of the dataset.
        """
        below = _below(metadata, name, row)
        inner = posixpath.join(metadata.folder, below)
        found = self._known.get((metadata.archive, inner)) or self._in_archive_beside(metadata, below)
        if found is None and not metadata.archive:
            found = self._beside(metadata, inner)
        return found

    def knows(self, metadata: Member, name: str) -> bool:
        """Return True if the file that `metadata` calls `name` exists."""
        inner = posixpath.normpath(posixpath.join(metadata.folder, name))
        return (metadata.archive, inner) in self._known or self._in_archive_beside(metadata, name) is not None

    def _in_archive_beside(self, metadata: Member, below: str) -> Member | None:
        if metadata.archive:
            return None
        inside = (self._known.get((archive, below)) for archive in self._archives if _lies_in(archive, metadata.folder))
        found = [member for member in inside if member is not None]
        return found[0] if len(found) == 1 else None

    def _beside(self, metadata: Member, inner: str) -> Member | None:
        """Return a file in the folder of its metadata whose extension is unknown."""
        if is_url(inner) or not os.path.isfile(inner):
            return None
        refuse_stray_link(inner, self._root_of(metadata.folder))
        member = self._known[("", inner)] = Member(os.fspath(self._fetch(inner)), inner)
        return member


def _lies_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/") if folder else True


def _below(metadata: Member, name: str, row: int) -> str:
    path = posixpath.normpath(name.replace("\\", "/"))
    leaves = path == ".." or path.startswith(("../", "/")) or _DRIVE.match(path) or "\0" in name
    if leaves or is_url(name) or "::" in name:
        advice = "Write paths that are relative to the metadata file and stay in its folder"
        raise _fault(metadata, f"refers to {name!r}, which is outside its folder and is not opened", row, advice)
    if (path.startswith(".") and path != ".") or "/." in path:
        advice = "Rename the file if it belongs to the dataset, or remove the row"
        raise _fault(metadata, f"refers to the hidden file {name!r}, which is not opened", row, advice)
    return posixpath.normpath(name)


def _fault(metadata: Member, reason: str, row: int, advice: str) -> FileFormatError:
    return Source(metadata.path, metadata.name).fault(reason, row=row, advice=advice)


METADATA_FILENAMES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
# A file in a planned row: its local path, and the path that is stored with its bytes.
PLACE = pa.struct([("local", pa.string()), ("stored", pa.string())])

_ADVICE = "Name the files in a column file_name, mask_file_name, file_names or the like"


def read_metadata(metadata: Member) -> pa.Table:
    """Return all rows of a metadata file.

    Raises:
        FileFormatError: it is damaged, or its format is not supported for metadata.
    """
    source = Source(metadata.path, metadata.name)
    table = _table(source, [])
    numbers = [field.name for field in table.schema if _target(field.name, "x") and not _is_text(field.type)]
    if numbers and _format(source) == "csv":
        table = _table(source, numbers)  # names such as 001 are text too
    return table


def _format(source: Source) -> str:
    name = source.name.lower().partition(" in ")[0]
    for ending, kind in ((".csv", "csv"), (".tsv", "csv"), (".jsonl", "json"), (".json", "json"), (".ndjson", "json")):
        if name.endswith(ending):
            return kind
    if name.endswith(".parquet"):
        return "parquet"
    raise source.fault("has an extension that is not supported for metadata", advice="Use .csv, .jsonl or .parquet")


def _table(source: Source, as_text: list[str]) -> pa.Table:
    schema: pa.Schema | None = None
    while True:
        try:
            batches = list(_batches(source, schema, as_text))
            break
        except Replay as request:
            schema = request.schema
    merged = batches[0].schema
    for batch in batches[1:]:
        if not batch.schema.equals(merged):
            merged = merge_schemas(merged, batch.schema)
    features = Features.from_arrow_schema(merged)
    return pa.Table.from_batches([cast_table(batch, features, what=source.name) for batch in batches])


def _batches(source: Source, schema: pa.Schema | None, as_text: list[str]) -> Iterator[pa.RecordBatch]:
    # Each of these takes milliseconds to import, and a folder without metadata needs none.
    kind = _format(source)
    if kind == "csv":
        from ._csv_reader import read_csv
        from .csv import CsvConfig

        form = CsvConfig(sep="\t" if source.name.lower().endswith(".tsv") else ",").form()
        yield from read_csv(source, form, schema, as_text=as_text)
    elif kind == "json":
        from .json import JsonConfig, read_json

        yield from read_json(source, JsonConfig(), schema)
    else:
        from ._parquet_blocks import read_parquet
        from .parquet import ParquetConfig

        yield from read_parquet(source, ParquetConfig())


def _target(name: str, medium: str) -> str | None:
    """Return the column that a field of file names becomes; None for any other field.

    >>> [_target(name, "image") for name in ("file_name", "mask_file_name", "file_names", "text")]
    ['image', 'mask', 'images', None]
    """
    if name in ("file_name", "file_names"):
        return medium if name == "file_name" else f"{medium}s"
    for ending in ("_file_name", "_file_names"):
        if name.endswith(ending) and name != ending:
            return name.removesuffix(ending)
    return None


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _is_text(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_null(kind))


class Locator:
    """Replaces file names in metadata by the paths of the files.

    Args:
        metadata: the metadata file.
        files: files of the split.
        medium: the column for a plain `file_name`.
        stored: the path that is stored with a file's bytes.
    """

    def __init__(self, metadata: Member, files: FolderFiles, medium: str, stored: Callable[[Member], str]) -> None:
        self._metadata, self._files, self._medium, self._stored = metadata, files, medium, stored
        self.missing: list[tuple[int, str]] = []
        self.found: dict[str, Member] = {}

    def locate(self, table: pa.Table) -> dict[str, pa.Array]:
        """Return the columns, with paths in place of the names of files.

        Raises:
            FileFormatError: a name is outside the folder; two columns would have the same name; no column has names of files.
        """
        arrays = {name: _one(table.column(name)) for name in table.column_names}
        columns = self._fields(arrays)
        if not any(column is not arrays.get(name) for name, column in columns.items()):
            raise self._fault("has no column with names of files", advice=_ADVICE)
        return columns

    def _fields(self, arrays: dict[str, pa.Array]) -> dict[str, pa.Array]:
        columns: dict[str, pa.Array] = {}
        for name, array in arrays.items():
            target = _target(name, self._medium)
            if target is not None and _is_text(array.type):
                column = self._leaf(array)
            else:
                target, column = name, self._nested(array)
            if target in columns or (target != name and target in arrays):
                raise self._fault(f"has a column {name!r} and another column named {target!r}", advice="Rename one of the two")
            columns[target] = column
        return columns

    def _nested(self, array: pa.Array) -> pa.Array:
        if pa.types.is_struct(array.type):
            valid, fields = struct_parts(array)
            columns = self._fields(fields)
            if all(column is fields.get(name) for name, column in columns.items()):
                return array
            made = pa.struct([(name, column.type) for name, column in columns.items()])
            return struct_array(made, len(array), valid, list(columns.values()))
        if (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)) and pa.types.is_nested(array.type.value_type):
            lengths, valid, child = list_parts(array)
            column = self._nested(child)
            return array if column is child else list_array(pa.list_(column.type), lengths, valid, column)
        return array

    def _leaf(self, array: pa.Array) -> pa.Array:
        if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
            lengths, valid, child = list_parts(array)
            column = self._leaf(child)
            return list_array(pa.list_(column.type), lengths, valid, column)
        members = [None if name is None else self._member(name, row) for row, name in enumerate(array.to_pylist())]
        return places(members, self._stored)

    def _member(self, name: str, row: int) -> Member | None:
        member = self._files.find(self._metadata, name, row=row)
        if member is None:
            self.missing.append((row, name))
        else:
            self.found[member.path] = member
        return member

    def _fault(self, reason: str, *, advice: str) -> FileFormatError:
        return Source(self._metadata.path, self._metadata.name).fault(reason, advice=advice)


def first_names(table: pa.Table) -> list[str | None]:
    """Return the first file that each row names in the first column of file names; None if it names none."""
    for name in table.column_names:
        column = table.column(name)
        if _target(name, "x") and _is_text(column.type):
            values = column.to_pylist()
            return [
                value[0] if isinstance(value, list) and value else None if isinstance(value, list) else value
                for value in values
            ]
    return [None] * table.num_rows


def places(members: Iterable[Member | None], stored: Callable[[Member], str]) -> pa.Array:
    """Return the paths of files, as a column of a planned table.

    Raises:
        FileFormatError: a name is not text, and cannot be stored.
    """
    listed = list(members)
    try:
        local = plain_array([None if member is None else member.path for member in listed], pa.string())
    except UnicodeEncodeError as error:
        name = str(error.object).encode("utf-8", "backslashreplace").decode()
        raise Source(name, name).fault("has a name that is not UTF-8", advice="Rename the file") from error
    paths = plain_array([None if member is None else stored(member) for member in listed], pa.string())
    valid = None
    if None in listed:
        valid = np.array([member is not None for member in listed], bool)
    return struct_array(PLACE, len(listed), valid, [local, paths])


def _one(column: pa.ChunkedArray) -> pa.Array:
    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        return combined.chunk(0) if combined.num_chunks else pa.nulls(0, column.type)
    return combined


# The bytes of many small files as one column, read straight into its buffer.


_MOST_BYTES = (1 << 31) - (1 << 16)  # limit of the offsets of one Arrow array
_POINTER = b"version https://git-lfs"


def gathered(paths: Sequence[str | None], names: Sequence[str | None], most_bytes: int) -> pa.Array:
    """Return a column of bytes, a file in each row; null without a path.

    Args:
        paths: the local files.
        names: their names in errors.
        most_bytes: their total size in bytes, as far as known; more fits.

    Raises:
        FileFormatError: a file is larger than a value can be, or a Git-LFS pointer.
    """
    buffer = np.empty(most_bytes + 1, np.uint8)  # one more byte, to detect the end of the last file
    view = buffer.data
    offsets = np.zeros(len(paths) + 1, np.int64)
    at = 0
    for number, path in enumerate(paths):
        if path is not None:
            begun = at
            handle = os.open(path, os.O_RDONLY)
            try:
                while count := os.readv(handle, [view[at:]]):
                    at += count
                    if at == len(view):
                        if at >= _MOST_BYTES:
                            name = names[number] or path
                            raise Source(path, name).fault(
                                "is larger than 2 GB, and cannot be stored", advice="Pass embed_files=False"
                            )
                        buffer = np.concatenate([buffer, np.empty(min(len(buffer), _MOST_BYTES - at) + (1 << 16), np.uint8)])
                        view = buffer.data
            finally:
                os.close(handle)
            if buffer[begun : begun + len(_POINTER)].tobytes() == _POINTER:
                raise Source(path, path).fault(
                    "is a Git LFS pointer, not the file itself",
                    advice="Run 'git lfs pull' in its repository, or fetch the file by its URL",
                )
        offsets[number + 1] = at
    valid = np.array([path is not None for path in paths], bool)
    buffers = [None if valid.all() else bitmap(valid), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(buffer[:at])]
    return pa.Array.from_buffers(pa.binary(), len(paths), buffers)

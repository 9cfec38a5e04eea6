"""WebDataset: tar archives; consecutive members with the same name up to the first dot are the fields of one row.

Each tar is read once, from front to back, in bounded memory.  Pickled members (`.pkl`, `.pth`, `.pyd`, …) are kept as bytes,
never loaded.
"""

from __future__ import annotations

import json
import os
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig
from datasets_core.config import settings
from datasets_core.errors import CastError, CellCastError
from datasets_core.features.schema import Features, RowEncoder
from datasets_core.fetch.members import Member

from ._source import Source
from ._tables import FileBuilder

EXTENSIONS: dict[str, dict[str, Any]] = {".tar": {}}

_FIELD = re.compile(r"((?:.*/)?[^./][^./]*)\.([^/]*)", re.DOTALL)
_BATCH_ROWS = 4096
_FIRST_BYTES, _FIRST_ROWS = 1 << 20, 5  # size of the first batch of a remote file, which determines the types
_MOST_BYTES = (1 << 31) - (1 << 16)
_TABLES = frozenset(("csv", "tsv", "json", "jsonl", "ndjson", "parquet", "arrow", "txt"))
_ADVICE = "Store the files of each row consecutively, with the same name up to the first dot"


def claims(members: Sequence[str]) -> bool:
    """Return True if a tar with these first members is read as WebDataset by default.

    That is the case if consecutive members share a name, or if single files other than tables are in one folder.

    >>> claims(["1.jpg", "1.txt"]), claims(["cat/1.jpg", "dog/2.jpg"]), claims(["train.csv"])
    (True, False, False)
    """
    keys = [found.groups() for member in members if (found := _FIELD.fullmatch(member)) is not None]
    if any(one[0] == next_one[0] for one, next_one in pairwise(keys)):
        return True
    kinds = {field.rpartition(".")[2].lower() for _, field in keys}
    return bool(keys) and not kinds & _TABLES and len({posixpath.dirname(key) for key, _ in keys}) == 1


@dataclass(eq=False)
class WebDatasetConfig(BuilderConfig):
    """Options of `load_dataset("webdataset", ...)`.

    Args:
        features: types that the columns are cast to.
    """

    features: Any = None


class WebDataset(FileBuilder):
    """Tar archives of rows; columns that some rows lack are null there."""

    is_format = True
    name = "webdataset"
    cache_version = "a878b179635aa4f5e76eb355a67d519a"
    BUILDER_CONFIG_CLASS = WebDatasetConfig
    streams = True
    merge_columns = True

    def _unpacked(
        self, name: str, path: str | os.PathLike[str], dl_manager: Any
    ) -> Iterator[tuple[str | os.PathLike[str], str]]:
        yield path, name

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        return read_webdataset(source)


def read_webdataset(source: Source) -> Iterator[pa.RecordBatch]:
    """Yield the rows of one tar.

    Raises:
        FileFormatError: the file is not a tar, is truncated or has no rows; a key is repeated, or a field does not match its
            name.
    """
    limits = settings()
    encode = _Encoder(source)
    held: list[dict[str, Any]] = []
    held_bytes = 0
    empty = True
    most_bytes = limits.batch_bytes if source.remote is None else min(_FIRST_BYTES, limits.batch_bytes)
    for row, size in _rows(source):
        held.append(row)
        held_bytes += size
        is_enough = held_bytes >= most_bytes and (not empty or len(held) >= _FIRST_ROWS or source.remote is None)
        if is_enough or held_bytes >= limits.batch_bytes or len(held) >= min(_BATCH_ROWS, limits.batch_rows):
            yield encode(held)
            held, held_bytes, empty = [], 0, False
            most_bytes = min(2 * most_bytes, limits.batch_bytes)
    if held:
        yield encode(held)
    elif empty:
        raise source.fault("holds no rows", advice=_ADVICE)


def _rows(source: Source) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the rows, each with the bytes of its members."""
    from datasets_core.fetch.archive import walk  # takes 6 ms; other formats do not need it

    if source.remote is None:
        yield from _rows_of(source, walk(source.path, known_as=source.name))
        return
    with source.remote.open("rb") as data:
        yield from _rows_of(source, walk(cast(BinaryIO, data), known_as=source.name))


def _rows_of(source: Source, walked: Iterator[tuple[Member, Callable[[], BinaryIO]]]) -> Iterator[tuple[dict[str, Any], int]]:
    key: str | None = None
    row: dict[str, Any] = {}
    size = 0
    finished: set[str] = set()
    for member, opener in walked:
        found = _FIELD.fullmatch(member.path) if member.kind == "file" else None
        if found is None:
            continue
        member_key, field = found.groups()
        if member_key != key:
            if key is not None:
                yield {**row, "__key__": key, "__url__": source.name}, size
                finished.add(key)
            if member_key in finished:
                raise source.fault(f"has the row {member_key!r} in two places", advice=_ADVICE)
            key, row, size = member_key, {}, 0
        if field in row:
            raise source.fault(f"contains {member.path!r} twice", advice=_ADVICE)
        row[field] = _value(source, member, field, opener)
        size += member.size
    if key is not None:
        yield {**row, "__key__": key, "__url__": source.name}, size


def _value(source: Source, member: Member, field: str, opener: Callable[[], BinaryIO]) -> Any:
    if member.size > _MOST_BYTES:
        raise source.fault(
            f"contains {member.path!r}, which has more than 2 GB", advice="Split the file, or extract the archive"
        )
    with opener() as handle:
        data = handle.read()
    kind = field.rpartition(".")[2].lower()
    if kind in _media():
        return {"bytes": data, "path": member.path}
    decode = _DECODERS.get(kind)
    if decode is None:
        return data
    try:
        return decode(data)
    except (ValueError, RecursionError) as error:
        raise source.fault(
            f"contains {member.path!r}, which cannot be read as {_KINDS[kind]} ({error})",
            advice="Fix the member, or rename it with another extension",
        ) from error


def _array(data: bytes) -> np.ndarray[Any, Any]:
    """Return the array of a `.npy` file; arrays of objects are refused, since they are pickled."""
    handle = BytesIO(data)
    version = np.lib.format.read_magic(handle)
    if version == (1, 0):
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(handle)
    elif version == (2, 0):
        shape, by_column, dtype = np.lib.format.read_array_header_2_0(handle)
    else:
        raise ValueError(f"version {version} of the format is not supported")
    if dtype.hasobject:
        raise ValueError("it contains pickled objects, which are not loaded")
    count = int(np.prod(shape, dtype=object))
    if count * dtype.itemsize != len(data) - handle.tell():
        raise ValueError(f"{len(data) - handle.tell()} bytes follow a header that declares {count * dtype.itemsize}")
    return np.frombuffer(data, dtype, count, handle.tell()).reshape(shape, order="F" if by_column else "C")


def _text(data: bytes) -> str:
    return data.decode("utf-8")


_KINDS = {
    **dict.fromkeys(("json", "jsn"), "JSON"),
    **dict.fromkeys(("cls", "cls2", "class", "count", "index", "inx", "id"), "integer"),
    **dict.fromkeys(("txt", "text", "transcript"), "UTF-8 text"),
    "npy": "numpy array",
}
_BY_KIND: dict[str, Callable[[bytes], Any]] = {
    "JSON": json.loads,
    "integer": int,
    "UTF-8 text": _text,
    "numpy array": _array,
}
_DECODERS = {extension: _BY_KIND[kind] for extension, kind in _KINDS.items()}


def _media() -> dict[str, Any]:
    """Return the feature of each extension of a medium."""
    if not _found_media:
        from datasets_core.features.media.audio import Audio
        from datasets_core.features.media.types import Image, Video

        from . import audiofolder, imagefolder, videofolder

        for module, feature in ((videofolder, Video()), (audiofolder, Audio()), (imagefolder, Image())):
            _found_media.update({extension[1:]: feature for extension in module.EXTENSIONS})
    return _found_media


_found_media: dict[str, Any] = {}


class _Encoder:
    """Encodes rows as record batches; media features are derived from the names of the fields."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._plain = RowEncoder(None)
        self._row = 0

    def __call__(self, rows: list[dict[str, Any]]) -> pa.RecordBatch:
        from datasets_core.features.media.media import media_array

        names = list(dict.fromkeys(name for row in rows for name in row))
        names = [name for name in names if not name.startswith("__")] + ["__key__", "__url__"]
        media = {name: feature for name in names if (feature := _media().get(name.rpartition(".")[2].lower())) is not None}
        try:
            plain = self._plain.encode([{name: value for name, value in row.items() if name not in media} for row in rows])
        except CellCastError as error:
            raise self._source.fault(f"column {error.column!r}: {error.reason}", row=self._row + (error.row or 0)) from error
        except CastError as error:
            raise self._source.fault(str(error), row=self._row) from error
        inferred = Features.from_arrow_schema(plain.schema)
        self._row += len(rows)
        features = Features({name: media.get(name) or inferred[name] for name in names})
        columns = [media_array([row.get(name) for row in rows]) if name in media else plain.column(name) for name in names]
        return pa.RecordBatch.from_arrays(columns, schema=features.arrow_schema)

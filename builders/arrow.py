"""Arrow IPC files, of the file and of the stream format, distinguished by their first bytes.

Every batch is validated in full: offsets that point outside their buffer would read foreign memory.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig
from datasets_core.errors import DatasetsCoreError
from datasets_core.fetch.ranges.file import LocalRanges, RangeFile
from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.streaming import ranges_of
from datasets_core.meta.row_blocks import Ints
from datasets_core.stream.sources.block_reader import FileIndex

from ._blocks import TAIL_BYTES, BlockSource, Sparse
from ._source import Source, refuse_foreign
from ._tables import FileBuilder, empty_batch, look_at_names, repeated

if TYPE_CHECKING:
    from datasets_core.stream.sources.block_reader import BlockFile


# `ArrowBlocks`: an Arrow file that has a footer, wherever it is, by its record batches: a block each.


_MAGIC = b"ARROW1"
_END_BYTES = 4 + len(_MAGIC)
_CONTINUATION = 0xFFFFFFFF


class ArrowBlocks(BlockSource["_Footer"]):
    """The record batches of an Arrow file; see `BlockFile`."""

    kind = "Arrow"

    def is_indexed(self) -> bool:
        """True if the file has a footer, which streams lack; reads the last bytes of a remote file."""
        try:
            ranges = ranges_of(self._path)
            if isinstance(self._path, RemoteFile) and not self._path.comes and not isinstance(ranges, LocalRanges):
                return False  # it is fetched whole when its rows are read
            tail = bytes(ranges.tail(TAIL_BYTES))
        except DatasetsCoreError:  # raised again when its rows are read
            return False
        self._ranges, self._tail = ranges, (ranges.version().size - len(tail), tail)
        return tail.endswith(_MAGIC)

    # -- the footer ----------------------------------------------------------------------------------------------------

    def index(self) -> FileIndex:
        """See `BlockFile.index`."""
        footer = self._read_footer()
        with self._faults():
            look_at_names(footer.schema)
            if (twice := repeated(footer.schema.names)) is not None:
                raise ValueError(f"two of its columns are named {twice!r}")
        return FileIndex.of(footer.schema, footer.rows, footer.sizes, self._version())

    def _footer_bytes(self, ranges: RangeFile, tail: bytes, size: int) -> bytes:
        """Return the number of rows of the batches, from the batches themselves, and the footer with its mark."""
        if not tail.endswith(_MAGIC) or size < 2 * _END_BYTES:
            head = bytes(ranges.read([(0, min(4096, size))])[0])
            if head.startswith(_MAGIC):
                raise self._unreadable("its end is missing: it holds no footer")
            if not head.startswith(b"\xff\xff\xff\xff"):
                refuse_foreign(self._source, head, "an Arrow file")
                raise self._unreadable("neither its first nor its last bytes are those of an Arrow file")
            advice = "Leave streaming=True out, or load it apart from those"
            raise self._source.fault("is an Arrow stream, without the footer that the first of the files has", advice=advice)
        count = int.from_bytes(tail[-_END_BYTES : -len(_MAGIC)], "little", signed=True)
        data = self._last(max(0, count) + _END_BYTES, ranges, tail, size)
        with self._faults():
            batches = _batches(data[:-_END_BYTES])
            asked = self._checked([(each.start, each.start + each.head) for each in batches])
            rows = [_rows(bytes(head)) for head in self._bytes(asked)]
        return struct.pack(f"<q{len(rows)}q", len(rows), *rows) + data

    def _parsed(self, data: bytes) -> _Footer:
        with self._faults():
            (count,) = struct.unpack_from("<q", data)
            rows = np.array(struct.unpack_from(f"<{count}q", data, 8), np.int64)
            footer = data[8 + 8 * count :]
            batches = _batches(footer[:-_END_BYTES])
            if len(batches) != count or (rows < 0).any():
                raise ValueError("its footer does not have its record batches")
            schema = pa.ipc.open_file(_Ended(footer)).schema
            return _Footer(schema, rows, np.array([each.body for each in batches], np.int64), batches, footer)

    # -- the record batches --------------------------------------------------------------------------------------------

    def needed(self, block: int, columns: Sequence[str] | None) -> list[tuple[int, int]]:
        """See `BlockFile.needed`: all columns, as they lie together."""
        found = self._read_footer().batches[block]
        return self._checked([(found.start, found.start + found.head + found.body)])

    def read(self, block: int, columns: Sequence[str] | None, fetched: Any = None) -> Generator[pa.RecordBatch]:
        """See `BlockFile.read`."""
        footer = self._read_footer()
        first = int(footer.rows[:block].sum())
        with self._faults(lambda: first):
            ranges = self._opened()
            sparse = Sparse(ranges)
            size = ranges.version().size
            tail = [] if self._tail is None else [self._tail]
            with sparse.holding([*(fetched or []), *tail, (size - len(footer.data), footer.data)]):
                batch = pa.ipc.open_file(sparse).get_batch(block)
            batch.validate(full=True)
            if batch.num_rows != footer.rows[block]:
                raise ValueError(f"its record batch {block} has {batch.num_rows} of {footer.rows[block]} rows")
        yield batch if columns is None else batch.select(list(columns))


class _Footer(NamedTuple):
    """Content of a footer, with the batches."""

    schema: pa.Schema
    rows: Ints
    sizes: Ints
    batches: list[_Batch]
    data: bytes


class _Batch(NamedTuple):
    """Position of a record batch.

    Attributes:
        start: its first byte.
        head: its metadata: rows and buffers.
        body: the bytes after it, with the values.
    """

    start: int
    head: int
    body: int


class _Ended(Sparse):
    """A file of which only the end is in memory."""

    def __init__(self, end: bytes) -> None:
        self._data = _MAGIC + b"\0\0" + end
        self._at, self._size = 0, len(self._data)

    def read(self, size: int = -1, /) -> Any:
        """See `io.RawIOBase.read`."""
        start = self._at
        self._at = self._size if size < 0 else min(self._size, start + size)
        return self._data[start : self._at]


def _batches(footer: bytes) -> list[_Batch]:
    """Return the positions of the record batches from the footer, a flatbuffer."""
    place = _field(footer, _table(footer), 3)
    if place is None:
        return []
    place += _unsigned(footer, place)
    found = struct.iter_unpack("<qi4xq", footer[place + 4 : place + 4 + 24 * _unsigned(footer, place)])
    return [_Batch(*each) for each in found]


def _rows(head: bytes) -> int:
    """The rows of a record batch, as the message before its values says."""
    message = head[8:] if _unsigned(head, 0) == _CONTINUATION else head[4:]
    place = _field(message, _table(message), 2)
    if place is None:
        raise ValueError("a record batch has no head")
    length = _field(message, place + _unsigned(message, place), 0)
    return 0 if length is None else int(struct.unpack_from("<q", message, length)[0])


def _table(data: bytes) -> int:
    return _unsigned(data, 0)


def _field(data: bytes, table: int, number: int) -> int | None:
    """Return the offset of a field of a flatbuffer table; None: it has its default."""
    try:
        vtable = table - struct.unpack_from("<i", data, table)[0]
        size = struct.unpack_from("<H", data, vtable)[0]
        offset = struct.unpack_from("<H", data, vtable + 4 + 2 * number)[0] if 4 + 2 * number < size else 0
    except struct.error as error:
        raise ValueError(f"its footer leads nowhere ({error})") from error
    return table + offset if offset else None


def _unsigned(data: bytes, place: int) -> int:
    if not 0 <= place <= len(data) - 4:
        raise ValueError("its footer leads nowhere")
    return int.from_bytes(data[place : place + 4], "little")


EXTENSIONS: dict[str, dict[str, Any]] = {".arrow": {}}

_FILE_MAGIC = b"ARROW1"
_CONTINUATION_BYTES = b"\xff\xff\xff\xff"
_END_MARK = _CONTINUATION_BYTES + b"\0\0\0\0"
_ADVICE = "Write or fetch the file again"


@dataclass(eq=False)
class ArrowConfig(BuilderConfig):
    """Options of `load_dataset("arrow", ...)`.

    Args:
        features: what the columns are cast to; None takes what the files say.
    """

    features: Any = None


class Arrow(FileBuilder):
    """Arrow files; features that Hugging Face `datasets` left in their metadata are kept."""

    is_format = True
    name = "arrow"
    cache_version = "eb2be05b957d83e2f563964f4990b24a"
    BUILDER_CONFIG_CLASS = ArrowConfig
    seeks = True

    def block_files(self, asked: Mapping[str, Any]) -> list[BlockFile] | None:
        """See `FileBuilder.block_files`: for files with a footer; decided by the first one."""
        found = super().block_files(asked)
        return found if found and cast("ArrowBlocks", found[0]).is_indexed() else None

    def block_file(self, path: str | os.PathLike[str], name: str) -> BlockFile | None:
        """See `FileBuilder.block_file`."""

        return ArrowBlocks(path, name)

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        """See `FileBuilder.read`."""
        return read_arrow(source)


def read_arrow(source: Source) -> Iterator[pa.RecordBatch]:
    """The batches of an Arrow file, validated; at least one, if an empty one.

    Raises:
        FileFormatError: the file is cut, altered, or no Arrow file.
    """
    with open(source.path, "rb") as first:
        head = first.read(4096)
    if not head:
        raise source.fault("is empty: it holds no Arrow schema", advice=_ADVICE)
    try:
        handle = pa.OSFile(source.path)  # not mapped: a mapped file that is cut while it is read kills the process
        if head.startswith(_FILE_MAGIC):
            reader = pa.ipc.open_file(handle)
            schema, batches = reader.schema, (reader.get_batch(index) for index in range(reader.num_record_batches))
        else:
            reader = pa.ipc.open_stream(handle)
            schema, batches = reader.schema, iter(reader)
        look_at_names(schema)
        if (twice := repeated(schema.names)) is not None:
            raise ValueError(f"two of its columns are named {twice!r}")
    except (pa.ArrowException, OSError, ValueError) as error:
        if not head.startswith(_FILE_MAGIC):
            refuse_foreign(source, head, "an Arrow file")
        raise source.fault(f"is no readable Arrow file ({error})", advice=_ADVICE) from error
    row = 0
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                if not head.startswith(_FILE_MAGIC) and not _ends(handle, head):
                    raise ValueError("the stream stops without its end mark: it is cut, or its writer was never closed")
                break
            batch.validate(full=True)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise source.fault(f"is damaged ({error})", row=row, advice=_ADVICE) from error
        row += batch.num_rows
        yield batch
    if not row:
        yield empty_batch(schema)


def _ends(stream: pa.NativeFile, head: bytes) -> bool:
    """True if a stream that has been read to its end closes with the mark of the end, and was not cut between two batches."""
    mark = _END_MARK if head.startswith(_CONTINUATION_BYTES) else _END_MARK[4:]  # before Arrow 0.15
    end: int = stream.tell()
    return bool(end >= len(mark) and stream.read_at(len(mark), end - len(mark)) == mark)

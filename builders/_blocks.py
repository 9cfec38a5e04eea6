"""Formats read block by block (`BlockSource`): open file, pinned version, cached footer, seekable views; `ArrowBlocks`."""

from __future__ import annotations

import contextlib
import os
import struct
import time
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core.config import check_schema
from datasets_core.errors import DatasetsCoreError, FileFormatError
from datasets_core.features.arrow import validate
from datasets_core.fetch.ranges.file import FileVersion, LocalRanges, RangeFile, SeekableFile
from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.streaming import ranges_of
from datasets_core.meta.row_blocks import Ints
from datasets_core.stream.sources.block_reader import FileIndex

from ._source import Source, refuse_foreign
from ._tables import empty_batch, look_at_names, repeated

if TYPE_CHECKING:
    pass


Footer = TypeVar("Footer")

ADVICE = "Write or fetch the file again"
TAIL_BYTES = 64 << 10  # size that holds most footers
_SMALL_BYTES = 2 * TAIL_BYTES


class BlockSource(Generic[Footer]):
    """One file; see `BlockFile`.

    A format defines its footer (`_footer_bytes`, `_parsed`) and the bytes that a block needs (`needed`).

    Args:
        path: the file.
        name: name used in messages.
    """

    kind: ClassVar[str]
    """The format, as in "Parquet"."""

    def __init__(self, path: str | os.PathLike[str], name: str) -> None:
        self._path, self._name = path, name
        self._expected: FileVersion | None = None
        self._is_remembered = False
        self._begin()

    def _begin(self) -> None:
        self._ranges: RangeFile | None = None
        self._footer: Footer | None = None
        self._tail: tuple[int, bytes] | None = None

    def __getstate__(self) -> dict[str, Any]:
        kept = dict(self.__dict__)
        return {name: value for name, value in kept.items() if name not in ("_ranges", "_footer", "_tail", "_reader")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    # -- the file ------------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """See `BlockFile.name`."""
        return self._name

    @property
    def identity(self) -> str:
        """See `BlockFile.identity`."""
        return str(self._path) if isinstance(self._path, RemoteFile) else os.path.abspath(self._path)

    @property
    def is_local(self) -> bool:
        """See `BlockFile.is_local`."""
        return not isinstance(self._path, RemoteFile) or isinstance(self._ranges, LocalRanges)

    @property
    def saved_as(self) -> str | None:
        """See `BlockFile.saved_as`."""
        return f"{self.kind}\n{self.identity}" if isinstance(self._path, RemoteFile) else None

    def expect(self, version: tuple[int, str]) -> None:
        """See `BlockFile.expect`."""
        self._expected, self._is_remembered = FileVersion(*version), True
        self._ranges = None

    @property
    def is_remembered(self) -> bool:
        """See `BlockFile.is_remembered`."""
        return self._is_remembered

    def forget(self) -> None:
        """See `BlockFile.forget`."""
        from datasets_core.fetch.disk_cache import IndexCache

        if isinstance(self._path, RemoteFile):
            IndexCache.of_settings().drop(self._key)

    def renew(self) -> None:
        """See `BlockFile.renew`."""
        self._expected, self._is_remembered = None, False
        self.release()

    def release(self) -> None:
        """See `BlockFile.release`."""
        ranges = self._ranges
        self._begin()
        if ranges is not None:
            ranges.close()

    def probe(self) -> float:
        """See `BlockFile.probe`."""
        ranges = self._opened()
        ranges.version()
        begun = time.perf_counter()
        ranges.read([(0, 4)])
        return time.perf_counter() - begun

    def _opened(self) -> RangeFile:
        found = self._ranges
        if found is None:
            found = _opened(self._path)
            if self._expected is not None:
                is_here = isinstance(found, LocalRanges) and isinstance(self._path, RemoteFile)  # its date is not meaningful
                found.hold(FileVersion(self._expected.size, "") if is_here else self._expected)
            self._ranges = found
        return found

    def _version(self) -> tuple[int, str]:
        """Return size and tag of the file; "" if the tag is only valid in this process."""
        version = self._opened().version()
        return version.size, version.tag if isinstance(self._path, RemoteFile) and not self.is_local else ""

    # -- errors --------------------------------------------------------------------------------------------------------

    @property
    def _source(self) -> Source:
        return Source("", self._name)

    def _unreadable(self, reason: str, row: int | None = None, advice: str = ADVICE) -> FileFormatError:
        """Return the error for a damaged file, or one of another format."""
        return self._source.fault(f"cannot be read as {self.kind} ({reason})", row=row, advice=advice)

    @contextlib.contextmanager
    def _faults(self, row: Callable[[], int] | None = None, advice: str = ADVICE) -> Iterator[None]:
        """Convert errors of pyarrow into an error with the name of the file."""
        try:
            yield
        except DatasetsCoreError:
            raise
        except (pa.ArrowException, OSError, ValueError, TypeError, EOFError) as error:
            at = None if row is None else row() or None
            raise self._unreadable(" ".join(str(error).split()), at, advice) from error

    # -- the footer ----------------------------------------------------------------------------------------------------

    def _footer_bytes(self, ranges: RangeFile, tail: bytes, size: int) -> bytes:
        """Return the part of a file to cache, from its end, and parse it."""
        raise NotImplementedError

    def _parsed(self, data: bytes) -> Footer:
        """Return the parsed footer."""
        raise NotImplementedError

    @property
    def _key(self) -> str:
        return f"{self.kind} footer\n{self.identity}"

    def _read_footer(self) -> Footer:
        from datasets_core.fetch.disk_cache import IndexCache

        found = self._footer
        if found is not None:
            return found
        ranges = self._opened()
        cache = None if isinstance(ranges, LocalRanges) else IndexCache.of_settings()
        kept = None if cache is None else _unpacked(cache.get(self._key))
        if kept is not None and (self._expected is None or self._expected == kept[0]):
            ranges.hold(kept[0])
            self._expected, self._is_remembered = kept[0], True
            with contextlib.suppress(FileFormatError):
                self._footer = found = self._parsed(kept[1])
                return found
        data = self._learned(ranges)
        version = ranges.version()
        self._footer = found = self._parsed(data)
        self._expected = version  # the version that is required when the file is opened again
        if cache is not None and version.tag:
            cache.put(self._key, _packed(version, data))
        return found

    def _learned(self, ranges: RangeFile) -> bytes:
        """Return the part of the file to cache, and parse it; in most formats it is at the end."""
        tail = bytes(ranges.tail(TAIL_BYTES)) if self._tail is None else self._tail[1]
        size = ranges.version().size
        if not tail:
            raise self._source.fault(f"is empty, so it has no {self.kind} footer", advice=ADVICE)
        self._tail = size - len(tail), tail
        return self._footer_bytes(ranges, tail, size)

    def _last(self, count: int, ranges: RangeFile, tail: bytes, size: int) -> bytes:
        """Return the last bytes of the file; the tail may contain only some of them."""
        if count > size:
            raise self._unreadable(f"its footer should have {count:,} bytes, but the file has only {size:,}")
        if count > len(tail):
            (before,) = ranges.read([(size - count, size - len(tail))])
            tail = bytes(before) + tail
        return tail[-count:]

    # -- blocks --------------------------------------------------------------------------------------------------------

    def needed(self, block: int, columns: Sequence[str] | None) -> list[tuple[int, int]]:
        """See `BlockFile.needed`."""
        raise NotImplementedError

    def _checked(self, ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
        size = self._opened().version().size
        for start, stop in ranges:
            if not 0 <= start <= stop <= size:
                raise self._unreadable(f"its footer refers to bytes {start:,} to {stop:,}, but the file has only {size:,}")
        return ranges

    def num_bytes(self, block: int, columns: Sequence[str] | None) -> int | None:
        """See `BlockFile.num_bytes`."""
        if self._footer is None and not self.is_local:
            return None
        return sum(stop - start for start, stop in self.needed(block, columns))

    def fetch(self, blocks: Sequence[int], columns: Sequence[str] | None) -> list[list[tuple[int, Any]]]:
        """See `BlockFile.fetch`; returns pairs of position and bytes for each block."""
        needed = [self.needed(block, columns) for block in blocks]
        data = iter(self._bytes([each for ranges in needed for each in ranges]))
        return [[(start, next(data)) for start, _ in ranges] for ranges in needed]

    def _bytes(self, asked: Sequence[tuple[int, int]]) -> list[Any]:
        """Return some bytes of the file; bytes that came with the footer are not fetched again."""
        tail = self._tail
        if tail is None:
            return list(self._opened().read(asked)) if asked else []
        begin, end = tail[0], memoryview(tail[1])
        missing = [each for each in asked if each[0] < begin]
        fetched = iter(self._opened().read(missing) if missing else [])
        return [next(fetched) if start < begin else end[start - begin : stop - begin] for start, stop in asked]


def _opened(path: str | os.PathLike[str]) -> RangeFile:
    """Return random access to a file; a small file of the Hub is fetched whole, verified by its hash, and cached."""
    found = ranges_of(path)
    is_kept = isinstance(path, RemoteFile) and not isinstance(found, LocalRanges) and not path.comes
    return LocalRanges(os.fspath(path), name=found.name) if is_kept and found.version().size <= _SMALL_BYTES else found


def _packed(version: FileVersion, data: bytes) -> bytes:
    tag = version.tag.encode("utf-8", "surrogatepass")
    return version.size.to_bytes(8, "little") + len(tag).to_bytes(4, "little") + tag + data


def _unpacked(kept: bytes | None) -> tuple[FileVersion, bytes] | None:
    if kept is None or len(kept) < 12:
        return None
    behind = 12 + int.from_bytes(kept[8:12], "little")
    tag = kept[12:behind].decode("utf-8", "surrogatepass")
    return FileVersion(int.from_bytes(kept[:8], "little"), tag), kept[behind:]


# `Window`: a remote file of which one range at a time is fetched, and then read in any order.


class Window(SeekableFile):
    """A remote file as a seekable file object.

    Args:
        source: the file.
    """

    def __init__(self, source: Source) -> None:
        assert source.remote is not None
        self._data: Any = source.remote.open("rb")
        self._size = self._data.seek(0, os.SEEK_END)
        self._start, self._held = 0, memoryview(b"")

    def load(self, start: int, stop: int) -> None:
        """Load the bytes from `start` to `stop`, replacing the bytes loaded before."""
        self._held = memoryview(b"")
        self._data.seek(start)
        self._start, self._held = start, memoryview(self._data.read(max(0, stop - start)))

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        begin = self._at - self._start
        if 0 <= begin <= len(self._held) - len(view):
            data = self._held[begin : begin + len(view)]
        else:
            self._data.seek(self._at)
            data = self._data.read(len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._data.close()
            self._held = memoryview(b"")
        super().close()


# `Sparse`: a remote file with some parts in memory; others are fetched on use.


_MOST_STRETCHES = 4096


class Sparse(SeekableFile):
    """A remote file as a seekable file.

    Args:
        ranges: the file.
        stretch: size of the parts that are fetched; 0 fetches only what is read.
        ends: positions at which such a part ends, if the read ends before.
    """

    def __init__(self, ranges: RangeFile, stretch: int = 0, ends: Sequence[int] = ()) -> None:
        self._ranges, self._stretch, self._ends = ranges, stretch, sorted(ends)
        self._size = ranges.version().size
        self._held: list[tuple[int, memoryview]] = []

    @contextmanager
    def holding(self, parts: Sequence[tuple[int, Any]]) -> Iterator[None]:
        """Add parts to memory, as pairs of position and bytes."""
        given = [(start, memoryview(data)) for start, data in parts]
        self._held = [*given, *self._held]
        try:
            yield
        finally:
            ours = {id(view) for _, view in given}
            self._held = [each for each in self._held if id(each[1]) not in ours]

    def read(self, size: int = -1, /) -> Any:
        """Return the next bytes, without a copy if they are in memory."""
        stop = self._size if size < 0 else min(self._size, self._at + size)
        start, self._at = self._at, max(self._at, stop)
        found = self._part(start, stop)
        if found is not None or start >= stop:
            return found or b""
        if not self._stretch:
            return self._ranges.read([(start, stop)])[0]
        first, held = next(((at, view) for at, view in self._held if at <= start < at + len(view)), (start, memoryview(b"")))
        begin = first + len(held)  # bytes before this position are in memory
        data = memoryview(self._ranges.read([(begin, self._end(begin, stop))])[0])
        self._keep(begin, data)
        return b"".join([held[start - first :], data[: stop - begin]]) if begin > start else data[: stop - begin]

    def _end(self, begin: int, stop: int) -> int:
        """Return the end of the part fetched from `begin` on."""
        number = bisect_left(self._ends, stop)
        last = self._ends[number] if number < len(self._ends) else self._size
        return max(stop, min(last, begin + self._stretch))

    def _part(self, start: int, stop: int) -> memoryview | None:
        for first, view in self._held:
            if first <= start and stop <= first + len(view):
                return view[start - first : stop - first]
        return None

    def _keep(self, start: int, data: memoryview) -> None:
        """Replace the previous range by the one that follows it."""
        if start not in self._ends:
            self._held = [each for each in self._held if each[0] + len(each[1]) != start]
        self._held = self._held[-_MOST_STRETCHES:]
        self._held.append((start, data))

    def readinto(self, buffer: Any) -> int:
        """See `io.RawIOBase.readinto`."""
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)


# -- Arrow files: record batches, read and validated from the beginning, or by place through the footer


_FILE_MAGIC = b"ARROW1"
_CONTINUATION_BYTES = b"\xff\xff\xff\xff"
_END_MARK = _CONTINUATION_BYTES + b"\0\0\0\0"
_ADVICE = "Write or fetch the file again"


_MAGIC = b"ARROW1"
_END_BYTES = 4 + len(_MAGIC)
_CONTINUATION = 0xFFFFFFFF


class ArrowBlocks(BlockSource["_Footer"]):
    """The record batches of an Arrow file; see `BlockFile`."""

    kind = "Arrow"

    def is_indexed(self) -> bool:
        """Return True if the file has a footer (streams have none); for a remote file its last bytes are requested."""
        try:
            ranges = _opened(self._path)
            tail = bytes(ranges.tail(TAIL_BYTES))
        except DatasetsCoreError:  # raised when the rows are requested
            return False
        self._ranges, self._tail = ranges, (ranges.version().size - len(tail), tail)
        return tail.endswith(_MAGIC)

    # -- the footer ----------------------------------------------------------------------------------------------------

    def index(self) -> FileIndex:
        """See `BlockFile.index`."""
        footer = self._read_footer()
        with self._faults():
            check_schema(footer.schema, self._source.name)
            look_at_names(footer.schema)
            if (twice := repeated(footer.schema.names)) is not None:
                raise ValueError(f"two of its columns are named {twice!r}")
        return FileIndex.of(footer.schema, footer.rows, footer.sizes, self._version())

    def _footer_bytes(self, ranges: RangeFile, tail: bytes, size: int) -> bytes:
        """Return the numbers of rows, which only the batches contain, and the footer with its end mark."""
        if not tail.endswith(_MAGIC) or size < 2 * _END_BYTES:
            head = bytes(ranges.read([(0, min(4096, size))])[0])
            if head.startswith(_MAGIC):
                raise self._unreadable("its end is missing, so it has no footer")
            if not head.startswith(b"\xff\xff\xff\xff"):
                refuse_foreign(self._source, head, "an Arrow file")
                raise self._unreadable("it does not begin or end like an Arrow file")
            advice = "Omit streaming=True, or load it separately"
            raise self._source.fault("is an Arrow stream without a footer, unlike the first file", advice=advice)
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
                raise ValueError("its footer does not match its record batches")
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
            validate(batch)
            if batch.num_rows != footer.rows[block]:
                raise ValueError(f"its record batch {block} has {batch.num_rows} of {footer.rows[block]} rows")
        yield batch if columns is None else batch.select(list(columns))


class _Footer(NamedTuple):
    """The content of a footer: schema and batches."""

    schema: pa.Schema
    rows: Ints
    sizes: Ints
    batches: list[_Batch]
    data: bytes


class _Batch(NamedTuple):
    """Position of a record batch.

    Attributes:
        start: position of its first byte.
        head: size in bytes of its metadata (rows and buffers).
        body: size in bytes of its values, which follow.
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
        start = self._at
        self._at = self._size if size < 0 else min(self._size, start + size)
        return self._data[start : self._at]


def _batches(footer: bytes) -> list[_Batch]:
    """Where the record batches are, according to the footer (a flatbuffer)."""
    place = _field(footer, _table(footer), 3)
    if place is None:
        return []
    place += _unsigned(footer, place)
    found = struct.iter_unpack("<qi4xq", footer[place + 4 : place + 4 + 24 * _unsigned(footer, place)])
    return [_Batch(*each) for each in found]


def _rows(head: bytes) -> int:
    """Return the number of rows of a record batch, from the message before its values."""
    message = head[8:] if _unsigned(head, 0) == _CONTINUATION else head[4:]
    place = _field(message, _table(message), 2)
    if place is None:
        raise ValueError("a record batch has no head")
    length = _field(message, place + _unsigned(message, place), 0)
    return 0 if length is None else int(struct.unpack_from("<q", message, length)[0])


def _table(data: bytes) -> int:
    return _unsigned(data, 0)


def _field(data: bytes, table: int, number: int) -> int | None:
    """Return the position of a field in a table of a flatbuffer; None if it has its default value."""
    try:
        vtable = table - struct.unpack_from("<i", data, table)[0]
        size = struct.unpack_from("<H", data, vtable)[0]
        offset = struct.unpack_from("<H", data, vtable + 4 + 2 * number)[0] if 4 + 2 * number < size else 0
    except struct.error as error:
        raise ValueError(f"its footer has an invalid offset ({error})") from error
    return table + offset if offset else None


def _unsigned(data: bytes, place: int) -> int:
    if not 0 <= place <= len(data) - 4:
        raise ValueError("its footer has an invalid offset")
    return int.from_bytes(data[place : place + 4], "little")


_FEATHER_1 = b"FEA1"


def _feather_1(source: Source) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Feather file of version 1, from before Arrow files."""
    import warnings

    from pyarrow import feather

    try:
        with warnings.catch_warnings():  # pyarrow tells whoever reads one that the format is old
            warnings.simplefilter("ignore", DeprecationWarning)
            table = feather.read_table(source.path, memory_map=False)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError) as error:
        reason = f"cannot be read as Feather of version 1 ({error})"
        raise source.fault(
            reason, advice="Write it again with pyarrow.feather.write_feather, which writes Arrow files"
        ) from error
    yield from table.to_batches() or [empty_batch(table.schema)]


def read_arrow(source: Source) -> Iterator[pa.RecordBatch]:
    """Yield the batches of an Arrow file or a Feather file of version 1, validated; at least one, possibly empty.

    Raises:
        FileFormatError: the file is truncated, altered, or not an Arrow file.
    """
    with open(source.path, "rb") as first:
        head = first.read(4096)
    if not head:
        raise source.fault("is empty, so it has no Arrow schema", advice=_ADVICE)
    if head.startswith(_FEATHER_1):
        yield from _feather_1(source)
        return
    try:
        handle = pa.OSFile(source.path)  # not memory-mapped: truncating a mapped file while it is read kills the process
        if head.startswith(_FILE_MAGIC):
            reader = pa.ipc.open_file(handle)
            schema, batches = reader.schema, (reader.get_batch(index) for index in range(reader.num_record_batches))
        else:
            reader = pa.ipc.open_stream(handle)
            schema, batches = reader.schema, iter(reader)
        check_schema(schema, source.name)
        look_at_names(schema)
        if (twice := repeated(schema.names)) is not None:
            raise ValueError(f"two of its columns are named {twice!r}")
    except DatasetsCoreError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        if not head.startswith(_FILE_MAGIC):
            refuse_foreign(source, head, "an Arrow file")
        raise source.fault(f"is not a readable Arrow file ({error})", advice=_ADVICE) from error
    row = 0
    while True:
        try:
            batch = next(batches, None)
            if batch is None:
                if not head.startswith(_FILE_MAGIC) and not _ends(handle, head):
                    raise ValueError("the stream has no end mark: it is truncated, or its writer was not closed")
                break
            validate(batch)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise source.fault(f"is damaged ({error})", row=row, advice=_ADVICE) from error
        row += batch.num_rows
        yield batch
    if not row:
        yield empty_batch(schema)


def _ends(stream: pa.NativeFile, head: bytes) -> bool:
    """Return True if a stream that was read to its end has an end mark, so that it was not truncated between two batches."""
    mark = _END_MARK if head.startswith(_CONTINUATION_BYTES) else _END_MARK[4:]  # before Arrow 0.15
    end: int = stream.tell()
    return bool(end >= len(mark) and stream.read_at(len(mark), end - len(mark)) == mark)

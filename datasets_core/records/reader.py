"""`TFRecordReader`: reads the records of a TFRecord file in order, in blocks, or by number."""

from __future__ import annotations

import io
import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from operator import index as integer
from types import TracebackType
from typing import IO, Any, Self, cast

import numpy as np

from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DataFilesNotFoundError,
    DownloadError,
    FileFormatError,
    redact,
)
from datasets_core.fetch.ranges.file import FileVersion, LocalRanges, RangeFile, check_same
from datasets_core.fetch.ranges.sequential import PartedBytes
from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.streaming import place_of
from datasets_core.records.frames import (
    BLOCK_BYTES,
    FRAME_BYTES,
    HEAD_BYTES,
    TAIL_BYTES,
    Bytes,
    blocks_of,
    checked_compression,
    compression_of,
    cut,
    damaged,
    first_frame,
    frame_offsets,
    inflated,
    length_fits,
    read_all,
    scan,
)
from datasets_core.records.record_index import (
    INDEX_ADVICE,
    RecordIndex,
    check_current,
    compressed,
    index_beside,
    index_name,
    index_of,
    place_beside,
    writable,
)
from datasets_core.records.wire.values import RecordBlock

# A local or remote file of records: sequential and random access to the bytes of one version of the file.


class RecordFile(ABC):
    """A file that can be read from its beginning, and possibly at any position.

    Attributes:
        name: the name of the file, for error messages.
    """

    name: str

    @abstractmethod
    def opened(self) -> Any:
        """Return a context with the bytes from the beginning, and their number; None if the number is unknown."""

    @abstractmethod
    def version(self) -> FileVersion:
        """Return the size of the file, and what distinguishes this version from others."""

    @abstractmethod
    def at(self, start: int, stop: int) -> bytes:
        """Return the bytes from `start` to `stop`, or up to the end of the file."""

    def close(self) -> None:  # noqa: B027
        """Close what is open for `at`; by default, nothing is."""


def record_file(path: str | os.PathLike[str] | IO[bytes]) -> RecordFile:
    """Return the file for a path, a URL or an open file.

    Args:
        path: a local path, a URL, a `RemoteFile`, or a file object open for reading bytes.

    Raises:
        ArgumentTypeError: the argument has another type.

    >>> record_file(io.BytesIO(b"abcdef")).at(2, 4)
    b'cd'
    """
    if isinstance(path, str | os.PathLike):
        place = place_of(path)
        return RemoteRecords(place) if isinstance(place, RemoteFile) else LocalRecords(place)
    if callable(getattr(path, "read", None)):
        return GivenRecords(path)
    raise ArgumentTypeError(f"A {type(path).__name__} is not a file of records", advice="Pass a path, a URL or an open file")


class LocalRecords(RecordFile):
    """A local file."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._version: FileVersion | None = None

    @contextmanager
    def opened(self) -> Iterator[tuple[Bytes, int | None]]:
        with self._opened() as data:
            yield cast(Bytes, data), data.size

    def _opened(self) -> _OneVersion:
        try:
            return _OneVersion(self.name)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DataFilesNotFoundError(f"{self.name} does not exist", advice="Check the path", file=self.name) from error
        except IsADirectoryError as error:
            raise FileFormatError(self.name, "is a folder", advice="Pass one of its files") from error
        except OSError as error:
            raise DownloadError(self.name, error.strerror or str(error), advice="Check its permissions") from error

    @contextmanager
    def _held(self) -> Iterator[tuple[_OneVersion, FileVersion]]:
        """Return a context with the file, if its version has not changed, and that version."""
        with self._opened() as data:
            if data.version is None:
                raise DownloadError(self.name, "does not support reading parts of it", advice="Pass the path of a regular file")
            self._version = check_same(self.name, self._version, data.version)
            yield data, self._version

    def version(self) -> FileVersion:
        with self._held() as (_, version):
            return version

    def ranges(self) -> LocalRanges:
        """Return random access to the version of the file that was opened first."""
        found = LocalRanges(self.name)
        if self._version is not None:
            found.hold(self._version)
        return found

    def at(self, start: int, stop: int) -> bytes:
        with self._held() as (data, version):
            data.seek(min(start, version.size))
            return read_all(data, max(0, min(stop, version.size) - start), self.name)


class _OneVersion(io.FileIO):
    """A local file whose reads raise an error if the file changes meanwhile; pipes have no version."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "rb")
        self.version = self._told()

    @property
    def size(self) -> int | None:
        return None if self.version is None else self.version.size

    def _told(self) -> FileVersion | None:
        found = os.fstat(self.fileno())
        return FileVersion(found.st_size, str(found.st_mtime_ns)) if stat.S_ISREG(found.st_mode) else None

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(-1 if size is None else size)
        found = self._told()
        if found is not None:
            check_same(str(self.name), self.version, found)
        return data or b""


class RemoteRecords(RecordFile):
    """A remote file."""

    def __init__(self, remote: RemoteFile) -> None:
        self.name = redact(str(remote))
        self._remote = remote
        self._ranges: RangeFile | None = None

    @contextmanager
    def opened(self) -> Iterator[tuple[Bytes, int | None]]:
        with self._remote.open("rb") as data:
            raw = getattr(data, "raw", None)
            yield data, raw.declared_size() if isinstance(raw, PartedBytes) else None

    def version(self) -> FileVersion:
        return self._known().version()

    def at(self, start: int, stop: int) -> bytes:
        return _at(self._known(), start, stop)

    def close(self) -> None:
        if self._ranges is not None:
            self._ranges.close()

    def _known(self) -> RangeFile:
        if self._ranges is None:
            self._ranges = self._remote.ranges()
        return self._ranges


def _at(ranges: RangeFile, start: int, stop: int) -> bytes:
    stop = min(stop, ranges.version().size)
    return bytes(ranges.read([(start, stop)])[0]) if start < stop else b""


class GivenRecords(RecordFile):
    """A file object from the user, read from its current position; it is not closed."""

    def __init__(self, data: IO[bytes]) -> None:
        self.name = redact(str(getattr(data, "name", "the file")))
        self._data = data
        self._start = data.tell() if self._is_seekable() else None
        self._was_opened = False

    def _is_seekable(self) -> bool:
        seekable = getattr(self._data, "seekable", None)
        return bool(seekable is not None and seekable())

    def _place(self) -> int:
        if self._start is None:
            raise ConfigurationError(f"{self.name} can only be read once, from its beginning", advice="Pass a path instead")
        return self._start

    @contextmanager
    def opened(self) -> Iterator[tuple[Bytes, int | None]]:
        if self._was_opened:
            self._data.seek(self._place())
        self._was_opened = True
        yield self._data, None

    def version(self) -> FileVersion:
        """See `RecordFile.version`; only its size is known."""
        start, here = self._place(), self._data.tell()
        end = self._data.seek(0, os.SEEK_END)
        self._data.seek(here)
        return FileVersion(end - start, "")

    def at(self, start: int, stop: int) -> bytes:
        begin, here = self._place(), self._data.tell()
        self._data.seek(begin + start)
        found = read_all(self._data, stop - start, self.name)
        self._data.seek(here)
        return found


_AT_ADVICE = "Pass the offset of a frame from the index, or download or write the file again"
_FIRST_BYTES = 1 << 14  # bytes read first of a record at an offset; most records are shorter


class TFRecordReader:
    """Reads a TFRecord file.

    Iterating yields the payload of each record.  Records before the damage are yielded first, then a `DamagedRecordError`
    reports its position and kind.  Each iteration opens the file again and starts at the beginning.

    Args:
        path: a local path, a URL, a `RemoteFile`, or a file object open for reading bytes.
        compression: "GZIP" or "ZLIB" for a file compressed as a whole, "" for none; None to detect it from the first bytes.
        verify: True to compare the CRCs of lengths and data.
        index: positions of the records, for `records` and `num_records`: a `RecordIndex` or the path of one; None: the
            file `<file>.idx`, or else an index made by reading the file.
        block_bytes: number of bytes to read at a time.

    Raises:
        ConfigurationError: the compression is unknown, or `block_bytes` is below 1.

    Example:
        >>> import tempfile
        >>> from datasets_core.records import TFRecordWriter
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with TFRecordWriter(f"{folder}/a.tfrecord") as writer:
        ...         writer.write_all([b"one", b"two", b"three"])
        ...     with TFRecordReader(f"{folder}/a.tfrecord") as reader:
        ...         list(reader), reader.read_at(19), list(reader.records(1, 3))
        ([b'one', b'two', b'three'], b'two', [b'two', b'three'])
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | IO[bytes],
        *,
        compression: str | None = None,
        verify: bool = True,
        index: RecordIndex | str | os.PathLike[str] | None = None,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        if block_bytes < 1:
            raise ConfigurationError(f"block_bytes={block_bytes} is not valid", advice="Pass 1 or more")
        self._path, self._file = path, record_file(path)
        self._compression, self._verify, self._block_bytes = checked_compression(compression), verify, block_bytes
        if not isinstance(index, RecordIndex | str | os.PathLike | None):
            raise ArgumentTypeError(
                f"index={index!r} is not an index", advice="Pass a RecordIndex, or the path of one", value=index
            )
        self._given_index = index
        self._index: RecordIndex | None = None
        self._is_closed = False

    @property
    def name(self) -> str:
        """The name of the file, for error messages."""
        return self._file.name

    # -- from the beginning --------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[bytes]:
        return chain.from_iterable(self.blocks())

    def iterate_with_offsets(self) -> Iterator[tuple[int, bytes]]:
        """Yield the position of each frame in the decompressed file, and the record."""
        for block in self.blocks():
            yield from zip(frame_offsets(block).tolist(), block, strict=True)

    def blocks(self) -> Iterator[RecordBlock]:
        """Yield the records in blocks, as fast as possible.

        Raises:
            DamagedRecordError: a record is damaged; raised after the undamaged records before it.
            FileChangedError: the file has changed since it was opened.
        """
        self._check_open()
        with self._file.opened() as (stream, size):
            plain = inflated(stream, name=self.name, compression=self._compression)
            known = size if plain is stream else None
            for block in blocks_of(plain, name=self.name, verify=self._verify, block_bytes=self._block_bytes, size=known):
                yield block
                self._check_open()

    # -- records by number ---------------------------------------------------------------------------------------------

    def num_records(self) -> int:
        """Return the number of records, from the index.

        Raises:
            FileFormatError: the index does not fit the file.
            DamagedRecordError: no index exists, and the file is damaged.
        """
        return len(self.index)

    @property
    def index(self) -> RecordIndex:
        """The positions of the records.

        Raises:
            FileFormatError: the given index, or the one at `<file>.idx`, does not fit the file.
            DamagedRecordError: no index exists, and the file is damaged.
        """
        self._check_open()
        if self._index is None:
            found = self._known_index()
            if self.is_compressed and found.is_plain:
                reason = f"{self.name} is compressed, so an index cannot be used"
                raise FileFormatError(found.name, reason, advice="Omit index=, or decompress the file")
            if found.is_plain:
                found.check(self._file.version().size, self.name)
            self._compare(found)
            self._index = found
        return self._index

    def _known_index(self) -> RecordIndex:
        given = self._given_index
        if isinstance(given, RecordIndex):
            return given
        if given is not None:
            return RecordIndex.load(given)
        beside = None
        if isinstance(self._path, str | os.PathLike) and not self.is_compressed:
            beside = index_beside(self._path)
        return self.new_index() if beside is None else beside

    def _compare(self, found: RecordIndex) -> None:
        """Check that an index of the right size belongs to the current version of this file."""
        if not isinstance(self._file, LocalRecords):
            return
        if found.version is None or found.name != index_name(self.name):
            check_current(found, self._file.ranges())
        elif found.version != self._file.version():
            raise FileFormatError(found.name, f"{self.name} was rewritten after the index was made", advice=INDEX_ADVICE)

    def new_index(self) -> RecordIndex:
        """Return an index made from the file itself; see `index`.

        Raises:
            DamagedRecordError: the file is damaged; a partial index is not returned.
        """
        is_plain = not self.is_compressed
        if is_plain and isinstance(self._file, LocalRecords):
            return index_of(self._file.ranges(), self.name)
        places, lengths = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for block in self.blocks():
            places.append(frame_offsets(block))
            lengths.append(block.stops - block.starts + FRAME_BYTES)
        return RecordIndex(np.concatenate(places), np.concatenate(lengths), index_name(self.name), is_plain=is_plain)

    def records(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Yield the records `start` to `stop` (exclusive). Other records are read only if the file is compressed.

        Raises:
            FileFormatError: the index does not fit the file.
            DamagedRecordError: a record is damaged; raised after the undamaged records before it.
        """
        for block in self.blocks_between(start, stop):
            yield from block

    def blocks_between(self, start: int = 0, stop: int | None = None) -> Iterator[RecordBlock]:
        """Yield the records `start` to `stop` (exclusive) in blocks; see `records`.

        Raises:
            FileFormatError: the index does not fit the file.
            DamagedRecordError: a record is damaged; raised after the undamaged records before it.
        """
        if self.is_compressed:
            yield from self._passed(start, stop)
            return
        index = self.index
        first, end, _ = slice(start, stop).indices(len(index))
        for begin, upto in index.parts(first, end, self._block_bytes):
            self._check_open()
            yield from self._part(index, begin, upto)

    def _part(self, index: RecordIndex, begin: int, upto: int) -> Iterator[RecordBlock]:
        """Yield the records from `begin` to `upto`, each compared with the index."""
        low, high = index.bytes_of(begin, upto)
        data = self._file.at(low, high)
        found = scan(data, verify=self._verify)
        places, lengths = index.offsets[begin:upto] - low, index.lengths[begin:upto]
        count = min(len(found.starts), upto - begin)
        is_right = (found.starts[:count] - HEAD_BYTES == places[:count]) & (
            found.stops[:count] - found.starts[:count] + FRAME_BYTES == lengths[:count]
        )
        good = count if is_right.all() else int(is_right.argmin())
        if good:
            yield RecordBlock(data, found.starts[:good], found.stops[:good], begin, self.name, low)
        if good == upto - begin:
            return
        at = int(places[good])
        if found.damage is not None and good == count and length_fits(data, at, int(lengths[good]) - FRAME_BYTES):
            raise damaged(self.name, found.damage, begin + good, low + at, data[at:])
        place = f"bytes {low + at:,} to {low + at + int(lengths[good]):,}"
        reason = f"it has record {begin + good:,} of {self.name} takes {place}"
        raise FileFormatError(index.name, f"{reason}, which does not match the file", advice=INDEX_ADVICE)

    def _passed(self, start: int, stop: int | None) -> Iterator[RecordBlock]:
        """Yield records of a compressed file, which is read from the beginning to the last of them."""
        if start < 0 or (stop is not None and stop < 0):
            start, stop, _ = slice(start, stop).indices(len(self.index))
        for block in self.blocks():
            upto = len(block) if stop is None else max(0, stop - block.first)
            part = block[max(0, start - block.first) : upto]
            if len(part):
                yield part
            if upto <= len(block) and stop is not None:
                return

    def read_at(self, offset: int) -> bytes:
        """Return the record whose frame begins at an offset in the decompressed file; a compressed file is read up to there.

        Args:
            offset: position of the frame, in bytes.

        Raises:
            DamagedRecordError: the record is damaged, or the offset is not the beginning of a frame.
            ConfigurationError: the offset is outside the file.
        """
        self._check_open()
        place = integer(offset)
        if self.is_compressed:
            return self._passed_to(place)
        data = self._file.at(place, place + _FIRST_BYTES) if place >= 0 else b""
        if not data:
            raise self._missing(place)
        needs, damage = first_frame(data, verify=self._verify)
        if damage is None and needs > len(data) >= HEAD_BYTES:
            data += self._file.at(place + len(data), place + needs)
            needs, damage = first_frame(data, verify=self._verify)
        if damage is None and needs > len(data):
            damage = cut(data, needs, len(data))
        if damage is not None:
            raise damaged(self.name, damage, self._number(place), place, data, advice=_AT_ADVICE)
        return data[HEAD_BYTES : needs - TAIL_BYTES]

    def _passed_to(self, place: int) -> bytes:
        for block in self.blocks():
            places = frame_offsets(block)
            if place <= places[-1]:
                row = int(np.searchsorted(places, place))
                if places[row] == place:
                    return block.data[block.starts[row] : block.stops[row]]
                break
        raise self._missing(place)

    def _missing(self, place: int) -> ConfigurationError:
        return ConfigurationError(
            f"{self.name} has no record that begins at byte {place:,}", advice="Pass the offset of a frame"
        )

    def _number(self, place: int) -> int | None:
        """Return the number of the record that begins at an offset, if the index is loaded."""
        if self._index is None:
            return None
        row = int(np.searchsorted(self._index.offsets, place))
        return row if row < len(self._index) and self._index.offsets[row] == place else None

    # -- the file ------------------------------------------------------------------------------------------------------

    @property
    def is_compressed(self) -> bool:
        """True if the file is compressed as a whole."""
        if self._compression is None:
            self._compression = compression_of(self._file.at(0, HEAD_BYTES))
        return bool(self._compression)

    def _check_open(self) -> None:
        if self._is_closed:
            raise ConfigurationError(f"{self.name} is closed", advice="Open another reader")

    def close(self) -> None:
        """Close the reader; an iteration in progress raises an error at its next step."""
        self._is_closed = True
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


def read(path: str | os.PathLike[str] | IO[bytes], *, compression: str | None = None, verify: bool = True) -> TFRecordReader:
    """Return a reader of a TFRecord file, to iterate over its records.

    Args:
        path, compression, verify: see `TFRecordReader`.

    Example:
        >>> import io
        >>> from datasets_core.records.frames import frame
        >>> list(read(io.BytesIO(frame(b"one"))))
        [b'one']
    """
    return TFRecordReader(path, compression=compression, verify=verify)


def index(
    path: str | os.PathLike[str] | IO[bytes], *, save: bool | str | os.PathLike[str] = False, compression: str | None = None
) -> RecordIndex:
    """Return an index of the records of a TFRecord file.

    For local files the CRCs of the lengths are compared, for others all CRCs.

    Args:
        path: see `TFRecordReader`.
        save: True to write the index to `<file>.idx`, where readers find it; or the path of the index.
        compression: see `TFRecordReader`.

    Raises:
        DamagedRecordError: the file is damaged; a partial index is not returned.
        ConfigurationError: `save` is given, and the file is compressed or not local.

    Example:
        >>> import io
        >>> from datasets_core.records.frames import frame
        >>> index(io.BytesIO(frame(b"one") + frame(b""))).offsets
        array([ 0, 19])
    """
    with TFRecordReader(path, compression=compression) as reader:
        if save is False:
            return reader.new_index()
        if save is True:
            if not isinstance(path, str | os.PathLike):
                raise ConfigurationError(f"{reader.name} is an open file", advice="Pass the path for its index as save=")
            save = place_beside(path)
        place = writable(save)
        if reader.is_compressed:
            raise compressed(place)
        found = reader.new_index()
    found.save(place)
    return found

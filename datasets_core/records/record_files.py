"""A file of records, wherever it is: its bytes in order, all of one version, or any of them."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Protocol, cast

from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DataFilesNotFoundError,
    DownloadError,
    FileFormatError,
)
from datasets_core.fetch.range_file import FileVersion, LocalRanges, check_same
from datasets_core.fetch.ranges import RangeFile, place_of
from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.remote_bytes import PartedBytes
from datasets_core.records.record_frames import Bytes, read_all
from datasets_core.redact import redact


class RecordFile(Protocol):
    """A file that can be read from its beginning, and perhaps at any place."""

    @property
    def name(self) -> str:
        """The file, for messages."""
        ...

    def opened(self) -> Any:
        """A context with the bytes from the beginning on, and how many there are; None where that is not known."""
        ...

    def version(self) -> FileVersion:
        """How many bytes there are, and what tells this version of the file from others."""
        ...

    def at(self, start: int, stop: int) -> bytes:
        """The bytes from `start` to `stop`, as far as there are any."""
        ...

    def close(self) -> None:
        """Give back what is held open for `at`."""
        ...


def record_file(path: str | os.PathLike[str] | IO[bytes]) -> RecordFile:
    """The file that somebody names.

    Args:
        path: a local path, a URL, a `RemoteFile`, or a file object open for reading bytes.

    Raises:
        ArgumentTypeError: it is nothing of that.

    >>> record_file(io.BytesIO(b"abcdef")).at(2, 4)
    b'cd'
    """
    if isinstance(path, str | os.PathLike):
        place = place_of(path)
        return RemoteRecords(place) if isinstance(place, RemoteFile) else LocalRecords(place)
    if callable(getattr(path, "read", None)):
        return GivenRecords(path)
    raise ArgumentTypeError(f"A {type(path).__name__} is no file of records. Give a path, a URL or an open file.")


class LocalRecords:
    """A file of this disk."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._version: FileVersion | None = None

    @contextmanager
    def opened(self) -> Iterator[tuple[Bytes, int | None]]:
        """See `RecordFile.opened`."""
        with self._opened() as data:
            yield cast(Bytes, data), data.size

    def _opened(self) -> _OneVersion:
        try:
            return _OneVersion(self.name)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DataFilesNotFoundError(f"{self.name} does not exist. Check the path.") from error
        except IsADirectoryError as error:
            raise FileFormatError(self.name, "is a folder", advice="Give one of its files") from error
        except OSError as error:
            raise DownloadError(self.name, error.strerror or str(error), advice="See that it can be read") from error

    @contextmanager
    def _held(self) -> Iterator[tuple[_OneVersion, FileVersion]]:
        """The file, if it is of the version that was seen first, and that version."""
        with self._opened() as data:
            if data.version is None:
                raise DownloadError(self.name, "is no file of which parts can be read", advice="Give the path of a plain file")
            self._version = check_same(self.name, self._version, data.version)
            yield data, self._version

    def version(self) -> FileVersion:
        """See `RecordFile.version`."""
        with self._held() as (_, version):
            return version

    def ranges(self) -> LocalRanges:
        """Any bytes of it, of the version that was seen first."""
        found = LocalRanges(self.name)
        if self._version is not None:
            found.hold(self._version)
        return found

    def at(self, start: int, stop: int) -> bytes:
        """See `RecordFile.at`."""
        with self._held() as (data, version):
            data.seek(min(start, version.size))
            return read_all(data, max(0, min(stop, version.size) - start), self.name)

    def close(self) -> None:
        """See `RecordFile.close`; nothing is held open."""


class _OneVersion(io.FileIO):
    """A local file, of which every byte is of the version that was opened; a pipe has none."""

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


class RemoteRecords:
    """A file elsewhere."""

    def __init__(self, remote: RemoteFile) -> None:
        self.name = redact(str(remote))
        self._remote = remote
        self._ranges: RangeFile | None = None

    @contextmanager
    def opened(self) -> Iterator[tuple[Bytes, int | None]]:
        """See `RecordFile.opened`."""
        with self._remote.open("rb") as data:
            raw = getattr(data, "raw", None)
            yield data, raw.declared_size() if isinstance(raw, PartedBytes) else None

    def version(self) -> FileVersion:
        """See `RecordFile.version`."""
        return self._known().version()

    def at(self, start: int, stop: int) -> bytes:
        """See `RecordFile.at`."""
        return _at(self._known(), start, stop)

    def close(self) -> None:
        """See `RecordFile.close`."""
        if self._ranges is not None:
            self._ranges.close()

    def _known(self) -> RangeFile:
        if self._ranges is None:
            self._ranges = self._remote.ranges()
        return self._ranges


def _at(ranges: RangeFile, start: int, stop: int) -> bytes:
    stop = min(stop, ranges.version().size)
    return bytes(ranges.read([(start, stop)])[0]) if start < stop else b""


class GivenRecords:
    """A file object of somebody else, from the place on where it stands; it is not closed."""

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
            raise ConfigurationError(f"{self.name} can be read once, from its beginning. Give a path for more.")
        return self._start

    @contextmanager
    def opened(self) -> Iterator[tuple[Bytes, int | None]]:
        """See `RecordFile.opened`."""
        if self._was_opened:
            self._data.seek(self._place())
        self._was_opened = True
        yield self._data, None

    def version(self) -> FileVersion:
        """See `RecordFile.version`; nothing but its size is known."""
        start, here = self._place(), self._data.tell()
        end = self._data.seek(0, os.SEEK_END)
        self._data.seek(here)
        return FileVersion(end - start, "")

    def at(self, start: int, stop: int) -> bytes:
        """See `RecordFile.at`."""
        begin, here = self._place(), self._data.tell()
        self._data.seek(begin + start)
        found = read_all(self._data, stop - start, self.name)
        self._data.seek(here)
        return found

    def close(self) -> None:
        """See `RecordFile.close`; it belongs to somebody else."""

"""`RangeFile`: a file, wherever it is, of which any bytes can be read, all of them of one version."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, TypeAlias

from datasets_core.errors import DataFilesNotFoundError, DownloadError, FileChangedError

Range: TypeAlias = tuple[int, int]
Bytes: TypeAlias = "bytes | memoryview"

WITNESS_BYTES = 1 << 10  # that come twice where nothing tells the version of a file


@dataclass(frozen=True, slots=True)
class FileVersion:
    """What tells a file from what stands at its place at another time.

    Attributes:
        size: its bytes.
        tag: what changes with its content: an ETag, else a date; "" where its place says neither.

    >>> FileVersion(8, '"v1"') == FileVersion(8, '"v2"')
    False
    """

    size: int
    tag: str


class RangeFile(Protocol):
    """A file of which any bytes can be read; from several threads at the same time, too.

    The first answer settles the version, or `hold` does: every later one is of that version, or a `FileChangedError`.
    """

    @property
    def name(self) -> str:
        """The file, for messages: a path, or a URL without secrets."""
        ...

    def version(self) -> FileVersion:
        """Size and tag of the version that is read; asks for them where nothing was read before."""
        ...

    def hold(self, version: FileVersion) -> None:
        """Read no other version than one that is known from before, which saves asking for it."""
        ...

    def tail(self, count: int) -> Bytes:
        """The last bytes, at most `count`; one request, which tells the version too."""
        ...

    def read(self, ranges: Sequence[Range]) -> list[Bytes]:
        """The bytes of each range, as `(start, stop)`.

        Raises:
            FileChangedError: another version is there now.
            DownloadError: they cannot be had, or the file has no such bytes.
        """
        ...

    def close(self) -> None:
        """Give back what is held open; reading opens it again."""
        ...


def check_ranges(name: str, ranges: Sequence[Range], size: int) -> None:
    """See that a file has the bytes that are asked for.

    Raises:
        DownloadError: it has not: it is cut short, or something in it tells a wrong place.
    """
    for start, stop in ranges:
        if not 0 <= start <= stop <= size:
            reason = f"it has {size:,} bytes, and bytes {start:,} to {stop:,} are looked for"
            raise DownloadError(name, reason, advice="It is damaged or cut short; get a whole copy of it")


def check_same(name: str, held: FileVersion | None, found: FileVersion) -> FileVersion:
    """The version that was found, if it is the one that is held.

    Raises:
        FileChangedError: it is another one.
    """
    if held is not None and held.size != found.size:
        raise FileChangedError(name, f"it changed while it was read: it had {held.size:,} bytes, and has {found.size:,} now")
    if held is not None and held.tag != found.tag and held.tag and found.tag:
        raise FileChangedError(name)
    return found if held is None or not held.tag else held


class LocalRanges:
    """A file of this disk; its size and the time of its last change tell its version.

    Args:
        path: where it is.
        name: for messages, where that is another one.
    """

    def __init__(self, path: str, *, name: str | None = None) -> None:
        self._path, self._name = path, name or path
        self._held: FileVersion | None = None

    @property
    def name(self) -> str:
        """See `RangeFile.name`."""
        return self._name

    @property
    def path(self) -> str:
        """Where it is."""
        return self._path

    def version(self) -> FileVersion:
        """See `RangeFile.version`."""
        with self._opened() as data:
            return self._checked(data)

    def hold(self, version: FileVersion) -> None:
        """See `RangeFile.hold`."""
        self._held = version

    def tail(self, count: int) -> Bytes:
        """See `RangeFile.tail`."""
        with self._opened() as data:
            size = self._checked(data).size
            return self._at(data, max(0, size - count), size)

    def read(self, ranges: Sequence[Range]) -> list[Bytes]:
        """See `RangeFile.read`."""
        with self._opened() as data:
            check_ranges(self._name, ranges, self._checked(data).size)
            return [self._at(data, start, stop) for start, stop in ranges]

    def close(self) -> None:
        """See `RangeFile.close`; nothing is held open."""

    def _opened(self) -> BinaryIO:
        try:
            return open(self._path, "rb", buffering=0)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DataFilesNotFoundError(f"{self._name} does not exist. Check the path.") from error
        except OSError as error:
            raise DownloadError(self._name, error.strerror or str(error), advice="See that it can be read") from error

    def _checked(self, data: BinaryIO) -> FileVersion:
        found = os.fstat(data.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise DownloadError(self._name, "is no file of which parts can be read", advice="Give the path of a plain file")
        self._held = check_same(self._name, self._held, FileVersion(found.st_size, str(found.st_mtime_ns)))
        return self._held

    def _at(self, data: BinaryIO, start: int, stop: int) -> bytes:
        parts, place = [], start
        while place < stop:
            part = os.pread(data.fileno(), min(stop - place, 1 << 30), place)
            if not part:
                raise FileChangedError(self._name, f"it was cut to {place:,} bytes while it was read")
            parts.append(part)
            place += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)


class OpenedRanges:
    """A file that something else opens: each part is sought in it.

    Args:
        name: for messages.
        opener: opens it, for reading bytes.
    """

    def __init__(self, name: str, opener: Any) -> None:
        self._name, self._opener = name, opener
        self._held: FileVersion | None = None

    @property
    def name(self) -> str:
        """See `RangeFile.name`."""
        return self._name

    def version(self) -> FileVersion:
        """See `RangeFile.version`."""
        with self._opener() as data:
            return self._checked(data)

    def hold(self, version: FileVersion) -> None:
        """See `RangeFile.hold`."""
        self._held = version

    def tail(self, count: int) -> Bytes:
        """See `RangeFile.tail`."""
        with self._opener() as data:
            size = self._checked(data).size
            data.seek(max(0, size - count))
            return bytes(data.read())

    def read(self, ranges: Sequence[Range]) -> list[Bytes]:
        """See `RangeFile.read`."""
        found: list[Bytes] = []
        with self._opener() as data:
            check_ranges(self._name, ranges, self._checked(data).size)
            for start, stop in ranges:
                data.seek(start)
                part = bytes(data.read(stop - start))
                if len(part) != stop - start:
                    raise FileChangedError(self._name, f"it was cut to {start + len(part):,} bytes while it was read")
                found.append(part)
        return found

    def close(self) -> None:
        """See `RangeFile.close`; nothing is held open."""

    def _checked(self, data: BinaryIO) -> FileVersion:
        raw = getattr(data, "raw", data)
        size = data.seek(0, os.SEEK_END)
        self._held = check_same(self._name, self._held, FileVersion(size, str(getattr(raw, "version", ""))))
        return self._held

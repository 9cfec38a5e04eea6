"""`RangeFile`: a file, wherever it is, of which any bytes can be read, all of them of one version."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol, TypeAlias

from datasets_core.engines.threads import StallTimeout
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
            raise DownloadError(self._name, "does not support reading parts of it", advice="Give the path of a plain file")
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


# Which ranges of a file are asked for together: near ones in one request, so long as little comes that nobody wants.


MOST_GAP = 1 << 16
_MOST_SHARE = 10  # one byte of so many may be one that nobody wants
_ALWAYS = 128  # such a gap costs less than the head of a request
MOST_BYTES = 32 << 20  # of one request


@dataclass(slots=True)
class Merged:
    """One request, and which of the wanted ranges it holds.

    Attributes:
        start, stop: what is asked for.
        ranges: the wanted ones, as (number, start, stop).
        num_unwanted: bytes between them.
    """

    start: int
    stop: int
    ranges: list[tuple[int, int, int]] = field(default_factory=list)
    num_unwanted: int = 0


def merged(ranges: Iterable[Range]) -> list[Merged]:
    """The requests for some ranges, in the order of their places; empty ranges need none.

    >>> [(each.start, each.stop) for each in merged([(0, 90_000), (100_000, 190_000), (10_000_000, 10_000_010)])]
    [(0, 190000), (10000000, 10000010)]
    >>> [(each.start, each.stop) for each in merged([(0, 1_000), (2_000, 3_000)])]
    [(0, 1000), (2000, 3000)]
    """
    found: list[Merged] = []
    for start, stop, number in sorted((start, stop, number) for number, (start, stop) in enumerate(ranges) if stop > start):
        last = found[-1] if found else None
        if last is None or not _joins(last, start, stop):
            last = Merged(start, start)
            found.append(last)
        last.num_unwanted += max(0, start - last.stop)
        last.stop = max(last.stop, stop)
        last.ranges.append((number, start, stop))
    return found


def _joins(last: Merged, start: int, stop: int) -> bool:
    gap = max(0, start - last.stop)
    if start < last.stop:
        return True  # the same bytes do not come twice
    if gap > MOST_GAP or stop - last.start > MOST_BYTES:
        return False
    return gap <= _ALWAYS or (last.num_unwanted + gap) * _MOST_SHARE <= stop - last.start


def cut(start: int, stop: int) -> Iterator[Range]:
    """A long range in equal parts, none of which is too long for one request.

    >>> list(cut(0, 10))
    [(0, 10)]
    """
    count = max(1, -(-(stop - start) // MOST_BYTES))
    for number in range(count):
        yield start + (stop - start) * number // count, start + (stop - start) * (number + 1) // count


# `Transport`: how the bytes of one file come, in three calls, and the failures that those who read by it know of.


class NoRangesError(Exception):
    """A server that gives nothing but all of a file.

    Args:
        version: of the file, as far as the server says.
    """

    def __init__(self, version: FileVersion | None) -> None:
        self.version = version
        super().__init__("the server gives no parts of the file")


class Transport(Protocol):
    """The way to one file.  All of it is called in threads, and may go to another process."""

    @property
    def name(self) -> str:
        """The file, for messages, without secrets."""
        ...

    @property
    def url(self) -> str:
        """The file, which tells it from others."""
        ...

    @property
    def takes_many(self) -> bool:
        """Whether many ranges are best asked for by one call."""
        ...

    def stat(self, stall_timeout: StallTimeout) -> FileVersion:
        """Size and tag of what is there."""
        ...

    def get_ranges(
        self, ranges: Sequence[Range], held: FileVersion | None, stall_timeout: StallTimeout
    ) -> tuple[list[Bytes], FileVersion]:
        """The bytes of some ranges, and of which version they are.

        Args:
            ranges: none of them empty; one that begins below 0 is the end of the file: `(-8, 0)` are its last 8 bytes.
            held: the version that they have to be of; None for any.
            patience: is told of bytes as they come.

        Raises:
            FileChangedError: another version is there.
            NoRangesError: only all of it is to be had.
        """
        ...

    def put(self, data: bytes) -> None:
        """Have all of the file be these bytes.

        Raises:
            DownloadError: it cannot be written.
        """
        ...

    def close(self) -> None:
        """Give connections back."""
        ...

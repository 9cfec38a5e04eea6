"""`RangeFile`: random access to the bytes of a local or remote file, all from one version."""

from __future__ import annotations

import io
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeAlias, TypeVar

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import DataFilesNotFoundError, DownloadError, FileChangedError, logger_of
from datasets_core.files import disk_errors

if TYPE_CHECKING:
    from datasets_core.engines.threads import Daemons, Job

logger = logger_of(__name__)

Range: TypeAlias = tuple[int, int]
Bytes: TypeAlias = "bytes | memoryview"

WITNESS_BYTES = 1 << 10  # read twice if nothing else shows the version of a file


@dataclass(frozen=True, slots=True)
class FileVersion:
    """The version of a file.

    Attributes:
        size: its size in bytes.
        tag: a text that changes with its content: an ETag, else a date; "" if neither is known.

    >>> FileVersion(8, '"v1"') == FileVersion(8, '"v2"')
    False
    """

    size: int
    tag: str


class SeekableFile(io.RawIOBase):
    """Base class of files with a known size and a read position."""

    _size: int
    _at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at


class RangeFile(Protocol):
    """A file with random access to its bytes; usable from several threads.

    The first answer determines the version, or `hold` does; an answer of another version raises `FileChangedError`.
    """

    @property
    def name(self) -> str:
        """The name of the file for messages: a path, or a URL without secrets."""
        ...

    def version(self) -> FileVersion:
        """Return size and tag of the version that is read; requests them before the first read."""
        ...

    def hold(self, version: FileVersion) -> None:
        """Set the required version, which saves a request."""
        ...

    def tail(self, count: int) -> Bytes:
        """Return the last bytes, at most `count`; one request, which also returns the version."""
        ...

    def read(self, ranges: Sequence[Range]) -> list[Bytes]:
        """Return the bytes of each range, given as `(start, stop)`.

        Raises:
            FileChangedError: the file has another version now.
            DownloadError: the bytes cannot be read, or the file is shorter.
        """
        ...

    def close(self) -> None:
        """Release open resources; reading opens them again."""
        ...


def check_ranges(name: str, ranges: Sequence[Range], size: int) -> None:
    """Check that a file has the requested bytes.

    Raises:
        DownloadError: the file is truncated, or a stored position is wrong.
    """
    for start, stop in ranges:
        if not 0 <= start <= stop <= size:
            reason = f"it has {size:,} bytes, but bytes {start:,} to {stop:,} were requested"
            raise DownloadError(name, reason, advice="The file is damaged or truncated; get a complete copy")


def check_same(name: str, held: FileVersion | None, found: FileVersion) -> FileVersion:
    """Return the found version, if it is the required one.

    Raises:
        FileChangedError: the version differs.
    """
    if held is not None and held.size != found.size:
        raise FileChangedError(name, f"it changed while it was read: it had {held.size:,} bytes, and now has {found.size:,}")
    if held is not None and held.tag != found.tag and held.tag and found.tag:
        raise FileChangedError(name)
    return found if held is None or not held.tag else held


class _SoughtRanges:
    """A file that is opened for each read, which seeks in it.

    Args:
        name: name for messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._held: FileVersion | None = None

    def version(self) -> FileVersion:
        with disk_errors(self.name, action="read"), self._opened() as data:
            return self._checked(data)

    def hold(self, version: FileVersion) -> None:
        self._held = version

    def tail(self, count: int) -> Bytes:
        with disk_errors(self.name, action="read"), self._opened() as data:
            size = self._checked(data).size
            return self._at(data, max(0, size - count), size)

    def read(self, ranges: Sequence[Range]) -> list[Bytes]:
        with disk_errors(self.name, action="read"), self._opened() as data:
            check_ranges(self.name, ranges, self._checked(data).size)
            return [self._at(data, start, stop) for start, stop in ranges]

    def close(self) -> None:
        """See `RangeFile.close`; nothing is held open."""

    def _opened(self) -> BinaryIO:
        raise NotImplementedError

    def _checked(self, data: BinaryIO) -> FileVersion:
        self._held = check_same(self.name, self._held, self._version(data))
        return self._held

    def _version(self, data: BinaryIO) -> FileVersion:
        raise NotImplementedError

    def _at(self, data: BinaryIO, start: int, stop: int) -> bytes:
        parts, place = [], start
        while place < stop:
            part = self._part(data, place, min(stop - place, 1 << 30))
            if not part:
                raise FileChangedError(self.name, f"it was truncated to {place:,} bytes while it was read")
            parts.append(part)
            place += len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _part(self, data: BinaryIO, start: int, count: int) -> bytes:
        raise NotImplementedError


class LocalRanges(_SoughtRanges):
    """A local file; its version is its size and modification time.

    Args:
        path: its path.
        name: its name in error messages, if other than the path.
    """

    def __init__(self, path: str, *, name: str | None = None) -> None:
        super().__init__(name or path)
        self.path = path

    def _opened(self) -> BinaryIO:
        try:
            return open(self.path, "rb", buffering=0)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise DataFilesNotFoundError(f"{self.name} does not exist", advice="Check the path", file=self.name) from error
        except OSError as error:
            raise DownloadError(self.name, error.strerror or str(error), advice="Check its permissions") from error

    def _version(self, data: BinaryIO) -> FileVersion:
        found = os.fstat(data.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise DownloadError(self.name, "is not a regular file", advice="Pass the path of a regular file")
        return FileVersion(found.st_size, str(found.st_mtime_ns))

    def _part(self, data: BinaryIO, start: int, count: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(data.fileno(), count, start)
        with open(data.name, "rb") as own:  # on Windows, where threads share the place of a file
            own.seek(start)
            return own.read(count)


class OpenedRanges(_SoughtRanges):
    """A file opened by a function; parts are read by seeking.

    Args:
        name: name for messages.
        opener: opens it, for reading bytes.
    """

    def __init__(self, name: str, opener: Callable[[], BinaryIO]) -> None:
        super().__init__(name)
        self._opened = opener  # type: ignore[method-assign]

    def _version(self, data: BinaryIO) -> FileVersion:
        raw = getattr(data, "raw", data)
        return FileVersion(data.seek(0, os.SEEK_END), str(getattr(raw, "version", "")))

    def _part(self, data: BinaryIO, start: int, count: int) -> bytes:
        data.seek(start)
        return bytes(data.read(count))


# Merging of ranges: close ones are read in one request, if few other bytes are between them.


MOST_GAP = 1 << 16
_MOST_SHARE = 10  # one byte of so many may be unneeded
_ALWAYS = 128  # such a gap costs less than the head of a request
MOST_BYTES = 32 << 20  # of one request


@dataclass(slots=True)
class Merged:
    """One request, and the ranges that it covers.

    Attributes:
        start, stop: the requested bytes.
        ranges: the covered ranges, as (number, start, stop).
        num_unwanted: bytes between them.
    """

    start: int
    stop: int
    ranges: list[tuple[int, int, int]] = field(default_factory=list)
    num_unwanted: int = 0


def merged(ranges: Iterable[Range]) -> list[Merged]:
    """Return the requests for some ranges, in the order of their positions; empty ranges need none.

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
    """Yield equal parts of a long range, each short enough for one request.

    >>> list(cut(0, 10))
    [(0, 10)]
    """
    count = max(1, -(-(stop - start) // MOST_BYTES))
    for number in range(count):
        yield start + (stop - start) * number // count, start + (stop - start) * (number + 1) // count


# `StallTimeout`: how long a reader waits for bytes.

_LOG_SECONDS = 10.0
_PROGRESS = 1 << 16  # bytes that count as such

T = TypeVar("T")


class StoppedError(Exception):
    """Bytes that are no longer needed."""


class StallTimeout:
    """Time limit on waiting for bytes: it starts again when bytes arrive.

    Args:
        name: name of the file.
        wanted: number of bytes to wait for.
        seconds: maximum time without bytes; default: the setting `stream_timeout_seconds`.

    >>> from datasets_core.engines.threads import Daemons
    >>> stall_timeout = StallTimeout("https://example.org/a", 8, seconds=60)
    >>> stall_timeout.told(8)
    >>> stall_timeout.waited_for(Daemons("example", lambda: 1).submit(lambda: b"the bytes"))
    b'the bytes'
    """

    def __init__(self, name: str, wanted: int, *, seconds: float | None = None) -> None:
        from datasets_core.engines.threads import ended_at_exit  # 3 ms that local files do without

        self._name, self._wanted = name, wanted
        self._seconds = settings().stream_timeout_seconds if seconds is None else seconds
        self._came = self._marked = 0
        self._since = self._begun = self._spoken = self._left = time.monotonic()
        self._why = ""
        self._aborts: list[Callable[[], object]] = []
        self.stop = threading.Event()
        ended_at_exit(self)

    def told(self, count: int) -> None:
        """Record that `count` more bytes arrived.

        Raises:
            StoppedError: the bytes are no longer needed.
        """
        if self.stop.is_set():
            raise StoppedError
        self._came += count
        if self._came >= self._marked + _PROGRESS:
            self._marked, self._since = self._came, time.monotonic()

    def pauses(self, seconds: float, why: str) -> None:
        """Record a pause before a retry, which does not count as waiting."""
        self._since += seconds
        self._why = f" ({why})"

    def on_stop(self, abort: Callable[[], object]) -> None:
        """Register a function that is called if waiting ends before the bytes arrive."""
        self._aborts.append(abort)
        if self.stop.is_set():
            abort()

    def end(self) -> None:
        """Stop waiting."""
        self.stop.set()
        for abort in self._aborts:
            abort()

    def waited_for(self, job: Job[T], pool: Daemons | None = None) -> T:
        """Return the result of a piece of work; a long wait is logged.

        Args:
            job: the work; it reports its bytes to this object.
            pool: the threads that run it.

        Raises:
            DownloadError: almost no bytes arrived for too long.
        """
        asked = queued = time.monotonic()
        self._begun += asked - self._left
        self._leave_out(self._left, asked)
        try:
            while not job.wait(self._until_next_look()):
                files.check()
                now = time.monotonic()
                queued = self._leave_out(
                    queued, now if job.begun_at is None else job.begun_at
                )  # those before it are waited for
                if job.begun_at is None and pool is not None and now >= asked + self._seconds:
                    pool.urge(job)
                self._look()
            return job.result()
        finally:
            self._left = time.monotonic()
            if not job.done():
                self.end()
                if pool is not None:
                    pool.leave(job)

    def _leave_out(self, start: float, stop: float) -> float:
        """Do not count a period as silence of the server, since no reader waited or no request was sent; return its end."""
        if stop <= start:
            return start
        self._since = self._since + stop - start if self._since <= start else max(self._since, stop)
        return stop

    def _until_next_look(self) -> float:
        now = time.monotonic()
        return max(0.001, files.at_most(min(self._since + self._seconds, self._spoken + _LOG_SECONDS) - now))

    def _look(self) -> None:
        now = time.monotonic()
        if now >= self._since + self._seconds:
            reason = f"{self._came:,} of {self._wanted:,} bytes arrived in {now - self._begun:.0f} seconds{self._why}"
            advice = "Run again, or raise stream_timeout_seconds with datasets_core.config.using"
            raise DownloadError(self._name, reason, advice=advice)
        if now >= self._spoken + _LOG_SECONDS:
            self._spoken = now
            if now >= self._since + _LOG_SECONDS:
                logger.warning(
                    "Waiting for %s: %s of %s bytes arrived in %.0f seconds%s.",
                    self._name,
                    f"{self._came:,}",
                    f"{self._wanted:,}",
                    now - self._begun,
                    self._why,
                )


# `Transport`: access to the bytes of one file, in three calls, and the errors that its users handle.


class NoRangesError(Exception):
    """A server that only returns whole files.

    Args:
        version: version of the file, if the server gave one.
    """

    def __init__(self, version: FileVersion | None) -> None:
        self.version = version
        super().__init__("the server does not support ranges")


class Transport(Protocol):
    """Access to one file.  Its methods are called in threads, and it can be sent to other processes."""

    @property
    def name(self) -> str:
        """The file, for messages, without secrets."""
        ...

    @property
    def url(self) -> str:
        """The URL of the file."""
        ...

    @property
    def takes_many(self) -> bool:
        """True if many ranges should be requested in one call."""
        ...

    def stat(self, stall_timeout: StallTimeout) -> FileVersion:
        """Return size and tag of the current version."""
        ...

    def get_ranges(
        self, ranges: Sequence[Range], held: FileVersion | None, stall_timeout: StallTimeout
    ) -> tuple[list[Bytes], FileVersion]:
        """Return the bytes of some ranges, and their version.

        Args:
            ranges: none of them empty; a negative start counts from the end of the file: `(-8, 0)` are its last 8 bytes.
            held: the required version; None for any.
            stall_timeout: receives the progress.

        Raises:
            FileChangedError: the file has another version.
            NoRangesError: the server only returns the whole file.
        """
        ...

    def put(self, data: bytes) -> None:
        """Replace the content of the file by these bytes.

        Raises:
            DownloadError: the file cannot be written.
        """
        ...

    def close(self) -> None:
        """Release connections."""
        ...

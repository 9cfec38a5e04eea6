"""`BlockSource`: what the formats share whose files are read block by block: opened, held to a version, their footers kept."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Generic, TypeVar

import pyarrow as pa

from datasets_core.errors import DatasetsCoreError, FileFormatError
from datasets_core.fetch.range_file import FileVersion, LocalRanges, RangeFile
from datasets_core.fetch.ranges import ranges_of
from datasets_core.fetch.remote import RemoteFile
from datasets_core.store.index_cache import IndexCache

from ._source import Source

Footer = TypeVar("Footer")

ADVICE = "Write or fetch the file again"
TAIL_BYTES = 64 << 10  # what a footer mostly fits in
_SMALL_BYTES = 1 << 20


class BlockSource(Generic[Footer]):
    """One file; see `BlockFile`.

    A format says what its footer is (`_footer_bytes`, `_parsed`) and which bytes a block takes (`needed`).

    Args:
        path: the file.
        name: what messages name it.
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
        """Seconds that a small request takes."""
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
                is_here = isinstance(found, LocalRanges) and isinstance(self._path, RemoteFile)  # its date tells nothing
                found.hold(FileVersion(self._expected.size, "") if is_here else self._expected)
            self._ranges = found
        return found

    def _version(self) -> tuple[int, str]:
        """Size and tag of the file; "" for a tag that tells nothing to another process."""
        version = self._opened().version()
        return version.size, version.tag if isinstance(self._path, RemoteFile) and not self.is_local else ""

    # -- errors --------------------------------------------------------------------------------------------------------

    @property
    def _source(self) -> Source:
        return Source("", self._name)

    def _unreadable(self, reason: str, row: int | None = None, advice: str = ADVICE) -> FileFormatError:
        """The error for a file that is none of the format, or a damaged one."""
        return self._source.fault(f"cannot be read as {self.kind} ({reason})", row=row, advice=advice)

    @contextlib.contextmanager
    def _faults(self, row: Callable[[], int] | None = None, advice: str = ADVICE) -> Iterator[None]:
        """Turn what pyarrow says of the file into an error that names it."""
        try:
            yield
        except DatasetsCoreError:
            raise
        except (pa.ArrowException, OSError, ValueError, TypeError, EOFError) as error:
            at = None if row is None else row() or None
            raise self._unreadable(" ".join(str(error).split()), at, advice) from error

    # -- the footer ----------------------------------------------------------------------------------------------------

    def _footer_bytes(self, ranges: RangeFile, tail: bytes, size: int) -> bytes:
        """What is kept of a file that ends so, and parsed."""
        raise NotImplementedError

    def _parsed(self, data: bytes) -> Footer:
        """What the footer says."""
        raise NotImplementedError

    @property
    def _key(self) -> str:
        return f"{self.kind} footer\n{self.identity}"

    def _read_footer(self) -> Footer:
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
        self._expected = version  # which it is held to when it is opened again
        if cache is not None and version.tag:
            cache.put(self._key, _packed(version, data))
        return found

    def _learned(self, ranges: RangeFile) -> bytes:
        """What is kept of the file, and parsed: most formats have it at the end."""
        tail = bytes(ranges.tail(TAIL_BYTES)) if self._tail is None else self._tail[1]
        size = ranges.version().size
        if not tail:
            raise self._source.fault(f"is empty: it holds no {self.kind} footer", advice=ADVICE)
        self._tail = size - len(tail), tail
        return self._footer_bytes(ranges, tail, size)

    def _last(self, count: int, ranges: RangeFile, tail: bytes, size: int) -> bytes:
        """The last bytes of the file, of which the tail may have some only."""
        if count > size:
            raise self._unreadable(f"its footer is to have {count:,} bytes, and the file has {size:,}")
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
                raise self._unreadable(f"its footer tells of bytes {start:,} to {stop:,}, and it has {size:,}")
        return ranges

    def num_bytes(self, block: int, columns: Sequence[str] | None) -> int | None:
        """See `BlockFile.num_bytes`."""
        if self._footer is None and not self.is_local:
            return None
        return sum(stop - start for start, stop in self.needed(block, columns))

    def fetch(self, blocks: Sequence[int], columns: Sequence[str] | None) -> list[list[tuple[int, Any]]]:
        """See `BlockFile.fetch`: of each block pairs of the place of some bytes in the file, and these."""
        needed = [self.needed(block, columns) for block in blocks]
        data = iter(self._bytes([each for ranges in needed for each in ranges]))
        return [[(start, next(data)) for start, _ in ranges] for ranges in needed]

    def _bytes(self, asked: Sequence[tuple[int, int]]) -> list[Any]:
        """Some bytes of the file, which are not fetched again where they came with the footer."""
        tail = self._tail
        if tail is None:
            return list(self._opened().read(asked)) if asked else []
        begin, end = tail[0], memoryview(tail[1])
        missing = [each for each in asked if each[0] < begin]
        fetched = iter(self._opened().read(missing) if missing else [])
        return [next(fetched) if start < begin else end[start - begin : stop - begin] for start, stop in asked]


def _opened(path: str | os.PathLike[str]) -> RangeFile:
    """Any bytes of a file; one of the Hub that is small is had whole, compared with its hash, and kept for the next time."""
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

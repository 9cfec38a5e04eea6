"""`RecordIndex`: positions of the records of a TFRecord file, in memory or in an index file in the format of DALI."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from datasets_core import files
from datasets_core.errors import (
    ConfigurationError,
    DamagedRecordError,
    DownloadError,
    FileFormatError,
    FileNotFoundDatasetsError,
    OfflineError,
    redact,
)
from datasets_core.fetch.ranges.file import FileVersion, LocalRanges, RangeFile
from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.streaming import place_of, ranges_of
from datasets_core.meta.listings import RECORD_INDEX
from datasets_core.records.frames import FRAME_BYTES, HEAD_BYTES, Damage, damaged, scan
from datasets_core.records.wire.values import Ints

INDEX_ADVICE = "Recreate it with records.index(path, save=True)"
_AT_ONCE_BYTES = 1 << 18
_WINDOW_BYTES = 1 << 20
_HEADS_BYTES = 1 << 12
_SOME = 8  # with fewer records in a window, only headers are read next
_REFUSED = (401, 403)
_REFUSALS = frozenset({"PermissionError", "PermissionDeniedError", "UnauthenticatedError"})  # error classes of object stores


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordIndex:
    """Positions of the records of a file.

    Attributes:
        offsets: position of the frame of each record in the decompressed file; int64.
        lengths: size of each whole frame in bytes; int64.
        name: the name of the index, for error messages.
        is_plain: True if the file is not compressed, so that the offsets are those of the file itself.
        version: version of the local file that it was made from; not stored in index files.

    Example:
        >>> index = RecordIndex(np.array([0, 19]), np.array([19, 16]))
        >>> index, len(index), index.bytes_of(1, 2)
        (RecordIndex(2 records, 35 bytes), 2, (19, 35))
    """

    offsets: Ints
    lengths: Ints
    name: str = "the index"
    is_plain: bool = field(default=True, kw_only=True)
    version: FileVersion | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        return f"RecordIndex({len(self):,} records, {self.num_bytes:,} bytes)"

    def __len__(self) -> int:
        return len(self.offsets)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordIndex):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.lengths, other.lengths)

    __hash__ = None  # type: ignore[assignment]

    @property
    def num_bytes(self) -> int:
        """The size of the decompressed file in bytes."""
        return int(self.offsets[-1] + self.lengths[-1]) if len(self) else 0

    def bytes_of(self, start: int, stop: int) -> tuple[int, int]:
        """Return the byte range of the frames of records `start` to `stop` (exclusive)."""
        if start >= stop:
            return 0, 0
        return int(self.offsets[start]), int(self.offsets[stop - 1] + self.lengths[stop - 1])

    def parts(self, start: int, stop: int, block_bytes: int) -> Iterator[tuple[int, int]]:
        """Yield ranges of the records `start` to `stop` of limited size, each with at least one record.

        Args:
            start, stop: the range of record numbers; `stop` is excluded.
            block_bytes: maximum size of a range, in bytes.
        """
        while start < stop:
            limit = self.offsets[start] + block_bytes
            reach = len(self) if limit >= self.num_bytes else int(np.searchsorted(self.offsets, limit, side="right")) - 1
            upto = min(max(reach, start + 1), stop)
            yield start, upto
            start = upto

    def check(self, size: int, name: str) -> None:
        """Check that the index belongs to a file of a given size.

        Args:
            size: size of the file, in bytes.
            name: name of the file, for the message.

        Raises:
            FileFormatError: the file has another size.
        """
        if self.is_plain and size != self.num_bytes:
            reason = f"it is for a file of {self.num_bytes:,} bytes, but {name} has {size:,}"
            raise FileFormatError(self.name, reason, advice=INDEX_ADVICE)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the index as text, one line for each record: position and size of its frame, in bytes.

        Args:
            path: a local path.

        Raises:
            ConfigurationError: the file is compressed, so the index would be useless; or the path is a URL.
        """
        if not self.is_plain:
            raise compressed(os.fspath(path))
        text = writable(path)
        lines = (f"{offset} {length}\n" for offset, length in zip(self.offsets.tolist(), self.lengths.tolist(), strict=True))
        files.write_atomically(text, "".join(lines).encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RecordIndex:
        """Read an index written by `save` or by `tfrecord2idx` of DALI.

        Args:
            path: a local path, a URL, or a `RemoteFile`.

        Returns:
            The index.

        Raises:
            FileFormatError: the file is not an index, or the index has gaps.
            DataFilesNotFoundError: the file does not exist.
        """
        ranges = ranges_of(path)
        try:
            data = bytes(ranges.tail(_AT_ONCE_BYTES))  # one request, which also returns the size
            if missing := ranges.version().size - len(data):
                data = bytes(ranges.read([(0, missing)])[0]) + data
        finally:
            ranges.close()
        return cls._parsed(data, ranges.name)

    @classmethod
    def _parsed(cls, data: bytes, name: str) -> RecordIndex:
        try:
            numbers = np.array(data.split(), dtype=np.int64)
        except (ValueError, OverflowError) as error:
            raise FileFormatError(name, "it is not an index: each line must have two integers", advice=INDEX_ADVICE) from error
        if len(numbers) != 2 * data.count(b"\n") + (2 if data and not data.endswith(b"\n") else 0):
            raise FileFormatError(name, "it is not an index: each line must have two integers", advice=INDEX_ADVICE)
        offsets, lengths = np.ascontiguousarray(numbers[::2]), np.ascontiguousarray(numbers[1::2])
        ends = np.concatenate([np.zeros(1, np.int64), offsets + lengths])
        wrong = np.flatnonzero((offsets != ends[:-1]) | (lengths < FRAME_BYTES))
        if len(wrong):
            line = int(wrong[0]) + 1
            reason = f"record {line - 1:,} does not begin where the previous one ends, or is shorter than a frame"
            raise FileFormatError(name, reason, line=line, advice=INDEX_ADVICE)
        return cls(offsets, lengths, name)


def place_beside(path: str | os.PathLike[str]) -> str | RemoteFile:
    """Return the path of the index of a file: the path of the file with `.idx` added.

    Args:
        path: see `ranges_of`.

    >>> str(place_beside("https://example.org/a.tfrecord?token=x"))
    'https://example.org/a.tfrecord.idx?token=x'
    """
    place = place_of(path)
    if isinstance(place, RemoteFile) and place.is_plain and files.is_http(place.url):
        end = re.search(r"[?#]|$", place.url).start()  # type: ignore[union-attr]
        return place.replace(place.url, f"{place.url[:end]}{RECORD_INDEX}{place.url[end:]}")
    return place + RECORD_INDEX


def index_beside(path: str | os.PathLike[str]) -> RecordIndex | None:
    """Return the index at `<file>.idx`, or None without one.

    None is also returned if the server denies access, as stores without listing permission do, or cannot be reached in
    offline mode.  A server that does not answer is an error, since the order of rows depends on the index.

    Raises:
        FileFormatError: the file is not an index.
        DownloadError: the index cannot be fetched, or its existence cannot be determined.
    """
    beside = place_beside(path)
    try:
        return RecordIndex.load(beside)
    except (FileNotFoundDatasetsError, DownloadError) as error:
        if _tells_of_none(error, beside):
            return None
        raise


def has_index_beside(path: str | os.PathLike[str]) -> bool:
    """Return True if `index_beside` finds an index; only its existence is checked.

    Raises:
        DownloadError: the existence of the index cannot be determined.
    """
    beside = place_beside(path)
    if isinstance(beside, str):
        return os.path.isfile(beside)
    try:
        with closing(ranges_of(beside)) as ranges:
            ranges.version()
    except (FileNotFoundDatasetsError, DownloadError) as error:
        if _tells_of_none(error, beside):
            return False
        raise
    return True


def check_current(index: RecordIndex, ranges: RangeFile) -> None:
    """Check an index that is older than its file against the headers of the current records.

    A damaged file is compared up to the damage.

    Args:
        index: an index of the right size.
        ranges: the file; only the dates of local files are compared.

    Raises:
        FileFormatError: the index does not match the records.
    """
    if not isinstance(ranges, LocalRanges) or not _is_older(index.name, ranges.path):
        return
    try:
        is_current = index == index_of(ranges, ranges.name)
    except DamagedRecordError as error:
        is_current = error.record is not None and error.offset in index.offsets[error.record : error.record + 1]
    if not is_current:
        raise FileFormatError(
            index.name, f"it is older than {ranges.name}, and does not match its records", advice=INDEX_ADVICE
        )


def _is_older(path: str, other: str) -> bool:
    try:
        return os.stat(path).st_mtime_ns < os.stat(other).st_mtime_ns
    except OSError:  # not a local file
        return False


def _tells_of_none(error: FileNotFoundDatasetsError | DownloadError, beside: str | RemoteFile) -> bool:
    """Return True if an error means that the index does not exist."""
    if isinstance(error, (FileNotFoundDatasetsError, OfflineError)):
        return True
    is_refused = error.status in _REFUSED or type(error.__cause__).__name__ in _REFUSALS
    return is_refused and not isinstance(beside, str)


def writable(path: str | os.PathLike[str]) -> str:
    """Return the path to write an index to.

    Raises:
        ConfigurationError: the path is a URL.
    """
    text = str(path) if isinstance(path, RemoteFile) else files.local_path(path)
    if files.is_url(text):
        raise ConfigurationError(f"{redact(text)} is not a local path", advice="Pass a local path for the index")
    return text


def compressed(name: str) -> ConfigurationError:
    """Return the error for an attempt to write the index of a compressed file.

    Args:
        name: the path of the index, or the file.
    """
    return ConfigurationError(f"{redact(name)}: a compressed file cannot have an index", advice="Decompress it")


def index_name(name: str) -> str:
    """Return the name of an index in memory made from a file, for error messages."""
    return f"the index of {name}"


def index_of(ranges: RangeFile, name: str) -> RecordIndex:
    """Return the index of an uncompressed file. For long records only the headers are read, and their CRCs compared.

    Raises:
        DamagedRecordError: a length is damaged, or the file is truncated.
    """
    version = ranges.version()
    size, at, window = version.size, 0, _WINDOW_BYTES
    offsets: list[Ints] = []
    count = 0
    while at < size:
        data = bytes(ranges.read([(at, min(at + window, size))])[0])
        found = scan(data, heads_only=True)
        begins = found.starts - HEAD_BYTES + at
        here, rest = at + found.end, size - at - found.end
        damage, is_whole = found.damage, found.end == len(data)
        if damage is None and not is_whole and len(data) - found.end >= HEAD_BYTES:
            if found.needs > rest:
                damage = Damage("cut in data", f"its frame has {found.needs:,} bytes, but only {rest:,} follow")
            begins, at = np.append(begins, here), here + found.needs
        elif damage is None and not is_whole and rest < HEAD_BYTES:
            damage = Damage("cut in header", f"the file ends after {rest} of {HEAD_BYTES} bytes of its header")
        else:
            at = here
        if damage is not None:
            raise damaged(name, damage, count + len(found.starts), here, data[found.end :])
        window = _WINDOW_BYTES if len(begins) >= _SOME else _HEADS_BYTES
        count += len(begins)
        offsets.append(begins)
    places = np.concatenate([*offsets, np.array([size], np.int64)])
    return RecordIndex(places[:-1], np.diff(places), index_name(name), version=version)

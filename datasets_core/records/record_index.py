"""`RecordIndex`: where each record of a TFRecord file stands; in memory, or beside the file as DALI's tools have it."""

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

INDEX_ADVICE = "Make it again with records.index(path, save=True)"
_AT_ONCE_BYTES = 1 << 18
_WINDOW_BYTES = 1 << 20
_HEADS_BYTES = 1 << 12
_SOME = 8  # records of a window, or heads alone are read next
_REFUSED = (401, 403)
_REFUSALS = frozenset({"PermissionError", "PermissionDeniedError", "UnauthenticatedError"})  # of stores


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecordIndex:
    """Where the records of a file stand.

    Attributes:
        offsets: the byte of the file, once it is decompressed, at which the frame of each record begins; int64.
        lengths: bytes of each whole frame; int64.
        name: the index, as messages name it.
        is_plain: the file is not compressed, so that these are bytes of the file itself.
        version: of the file of this disk that it was made from; it is not written along.

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
        """The bytes of the file, decompressed."""
        return int(self.offsets[-1] + self.lengths[-1]) if len(self) else 0

    def bytes_of(self, start: int, stop: int) -> tuple[int, int]:
        """The bytes of the frames of records `start` to `stop`, without the last."""
        if start >= stop:
            return 0, 0
        return int(self.offsets[start]), int(self.offsets[stop - 1] + self.lengths[stop - 1])

    def parts(self, start: int, stop: int, block_bytes: int) -> Iterator[tuple[int, int]]:
        """Records `start` to `stop` in parts of at most so many bytes, but at least one record."""
        while start < stop:
            limit = self.offsets[start] + block_bytes
            reach = len(self) if limit >= self.num_bytes else int(np.searchsorted(self.offsets, limit, side="right")) - 1
            upto = min(max(reach, start + 1), stop)
            yield start, upto
            start = upto

    def check(self, size: int, name: str) -> None:
        """See that it is the index of a file of so many bytes.

        Raises:
            FileFormatError: it is not.
        """
        if self.is_plain and size != self.num_bytes:
            reason = f"it is of a file of {self.num_bytes:,} bytes, and {name} has {size:,}"
            raise FileFormatError(self.name, reason, advice=INDEX_ADVICE)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as text, a line for each record: where its frame begins, and its bytes.

        Raises:
            ConfigurationError: the file is compressed, so that no record can be found by it; or the place is a URL.
        """
        if not self.is_plain:
            raise compressed(os.fspath(path))
        text = writable(path)
        lines = (f"{offset} {length}\n" for offset, length in zip(self.offsets.tolist(), self.lengths.tolist(), strict=True))
        files.write_atomically(text, "".join(lines).encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RecordIndex:
        """Read one that `save`, or DALI's `tfrecord2idx`, wrote.

        Args:
            path: a local path, a URL, or a `RemoteFile`.

        Raises:
            FileFormatError: it is none, or has gaps.
            DataFilesNotFoundError: it is not there.
        """
        ranges = ranges_of(path)
        try:
            data = bytes(ranges.tail(_AT_ONCE_BYTES))  # one request, which tells the size too
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
            raise FileFormatError(
                name, "it is not an index: lines of two whole numbers are one", advice=INDEX_ADVICE
            ) from error
        if len(numbers) != 2 * data.count(b"\n") + (2 if data and not data.endswith(b"\n") else 0):
            raise FileFormatError(name, "it is not an index: not every line has two numbers", advice=INDEX_ADVICE)
        offsets, lengths = np.ascontiguousarray(numbers[::2]), np.ascontiguousarray(numbers[1::2])
        ends = np.concatenate([np.zeros(1, np.int64), offsets + lengths])
        wrong = np.flatnonzero((offsets != ends[:-1]) | (lengths < FRAME_BYTES))
        if len(wrong):
            line = int(wrong[0]) + 1
            reason = f"record {line - 1:,} does not begin where the one before it ends, or is shorter than a frame"
            raise FileFormatError(name, reason, line=line, advice=INDEX_ADVICE)
        return cls(offsets, lengths, name)


def place_beside(path: str | os.PathLike[str]) -> str | RemoteFile:
    """Where the index of a file would be: beside it, by its name and `.idx`.

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
    """The index that stands beside a file, as `<file>.idx`; None where there is none.

    There is none where its server says so, forbids access, as stores do where nobody may list what there is, or may not be
    asked, in offline mode.  A server that does not answer leaves that open, and rows would come in another order without it.

    Raises:
        FileFormatError: it is no index.
        DownloadError: it cannot be told whether there is one, or it cannot be fetched.
    """
    beside = place_beside(path)
    try:
        return RecordIndex.load(beside)
    except (FileNotFoundDatasetsError, DownloadError) as error:
        if _tells_of_none(error, beside):
            return None
        raise


def has_index_beside(path: str | os.PathLike[str]) -> bool:
    """Whether `index_beside` would find one, of which no more is asked than that.

    Raises:
        DownloadError: it cannot be told.
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
    """See that an index which is older than its file names the records that are there now: their heads are gone through.

    A damage is not the index's fault: up to there it is compared.

    Args:
        index: one of the right size.
        ranges: the file; one that is elsewhere has no date that can be compared.

    Raises:
        FileFormatError: it names others.
    """
    if not isinstance(ranges, LocalRanges) or not _is_older(index.name, ranges.path):
        return
    try:
        is_current = index == index_of(ranges, ranges.name)
    except DamagedRecordError as error:
        is_current = error.record is not None and error.offset in index.offsets[error.record : error.record + 1]
    if not is_current:
        raise FileFormatError(index.name, f"it is older than {ranges.name}, and names other records", advice=INDEX_ADVICE)


def _is_older(path: str, other: str) -> bool:
    try:
        return os.stat(path).st_mtime_ns < os.stat(other).st_mtime_ns
    except OSError:  # it is elsewhere, or has a name only
        return False


def _tells_of_none(error: FileNotFoundDatasetsError | DownloadError, beside: str | RemoteFile) -> bool:
    """Whether an error means that there is no index."""
    if isinstance(error, (FileNotFoundDatasetsError, OfflineError)):
        return True
    is_refused = error.status in _REFUSED or type(error.__cause__).__name__ in _REFUSALS
    return is_refused and not isinstance(beside, str)


def writable(path: str | os.PathLike[str]) -> str:
    """The path at which an index is to be written.

    Raises:
        ConfigurationError: it is a URL.
    """
    text = str(path) if isinstance(path, RemoteFile) else files.local_path(path)
    if files.is_url(text):
        raise ConfigurationError(f"{redact(text)} is not a local path, where an index can be written. Give one.")
    return text


def compressed(name: str) -> ConfigurationError:
    """The error where the index of a compressed file is to be written.

    Args:
        name: what is to be written, or the file.
    """
    return ConfigurationError(f"{redact(name)}: records of a compressed file are not found by an index. Decompress it.")


def index_name(name: str) -> str:
    """What messages call the index of a file that was made from it, and is nowhere but in memory."""
    return f"the index of {name}"


def index_of(ranges: RangeFile, name: str) -> RecordIndex:
    """The index of a plain file, of which no more is read than it takes: of long records the heads, whose CRCs are compared.

    Raises:
        DamagedRecordError: a length is damaged, or the file is cut.
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
                damage = Damage("cut in data", f"its frame takes {found.needs:,} bytes, and {rest:,} are there")
            begins, at = np.append(begins, here), here + found.needs
        elif damage is None and not is_whole and rest < HEAD_BYTES:
            damage = Damage("cut in header", f"the file ends behind {rest} bytes of the {HEAD_BYTES} of its head")
        else:
            at = here
        if damage is not None:
            raise damaged(name, damage, count + len(found.starts), here, data[found.end :])
        window = _WINDOW_BYTES if len(begins) >= _SOME else _HEADS_BYTES
        count += len(begins)
        offsets.append(begins)
    places = np.concatenate([*offsets, np.array([size], np.int64)])
    return RecordIndex(places[:-1], np.diff(places), index_name(name), version=version)

"""Records of TFRecord files that have an index beside them, wherever they are, by runs of records: a block each."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from datasets_core.building.marks import unpacked
from datasets_core.engines.threads import renewed_after_fork
from datasets_core.errors import DamagedRecordError, ExampleError, FileFormatError, redact
from datasets_core.fetch.ranges.file import RangeFile
from datasets_core.fetch.streaming import StreamingDownloadManager
from datasets_core.files import is_url
from datasets_core.meta.row_blocks import Ints
from datasets_core.records.frames import damaged, scan
from datasets_core.records.record_index import (
    INDEX_ADVICE,
    RecordIndex,
    check_current,
    has_index_beside,
    index_beside,
    index_of,
    place_beside,
)
from datasets_core.records.wire.values import RecordBlock
from datasets_core.stream.sources.block_reader import FileIndex

from ._blocks import BlockSource

if TYPE_CHECKING:
    from datasets_core.fetch.disk_cache import IndexCache

    from ._tfrecord_rows import TfRecordReading


logger = logging.getLogger(__name__)


def has_index(path: str, dl_manager: Any) -> bool:
    """True if an index is beside a file.

    Args:
        path: the file, local or elsewhere.
        dl_manager: knows how a URL is reached.

    Raises:
        DownloadError: its server does not tell.
    """
    if is_url(path):
        path = StreamingDownloadManager(download_config=dl_manager.download_config).download(path)
    return has_index_beside(path)


class Groups(NamedTuple):
    """The runs of records that are the blocks of a file: those that begin in one stretch of it.

    Attributes:
        starts: the byte at which each run begins.
        rows: its records.
        size: the bytes of the file.
    """

    starts: Ints
    rows: Ints
    size: int

    @classmethod
    def of(cls, offsets: Ints, size: int) -> Groups:
        """Those of a file whose records begin at these bytes.

        >>> Groups.of(np.array([0, 100, 300_000]), 300_050).rows.tolist()
        [2, 1]
        """
        from ._tfrecord_rows import BLOCK_BYTES

        stretches = offsets // BLOCK_BYTES
        firsts = np.flatnonzero(np.diff(stretches, prepend=-1))
        return cls(offsets[firsts], np.diff(firsts, append=len(offsets)), size)

    @property
    def sizes(self) -> Ints:
        """The bytes of each run."""
        return np.diff(self.starts, append=self.size)

    @property
    def first_ones(self) -> int:
        """How many of the runs hold the records that tell the columns; see `is_enough`."""
        from ._tfrecord_rows import is_enough

        ends = zip(np.cumsum(self.rows).tolist(), np.cumsum(self.sizes).tolist(), strict=True)
        return next((count for count, (rows, size) in enumerate(ends, 1) if is_enough(rows, size)), len(self.rows))

    def to_bytes(self) -> bytes:
        """All of it, to be kept."""
        return np.concatenate([[self.size], self.starts, self.rows]).astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Groups:
        """What `to_bytes` gave."""
        numbers = np.frombuffer(data, "<i8").astype(np.int64)
        starts, rows = np.split(numbers[1:], 2)
        return cls(starts, rows, int(numbers[0]))


class SplitColumns:
    """The columns of the rows of some files: as they are asked for, or as the first records tell them.

    Args:
        reading: how records are read.
    """

    def __init__(self, reading: TfRecordReading) -> None:
        self.files: tuple[RecordBlocks, ...] = ()
        features = reading.known_features
        self._found = None if features is None else features.arrow_schema
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have a lock of this process."""
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"files": self.files, "_found": self._found}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.forked()
        renewed_after_fork(self)

    def found(self) -> pa.Schema | None:
        """The columns; None where there is no record."""
        with self._lock:
            if self._found is None:
                columns = (file.columns_of_records() for file in self.files)
                self._found = next((found for found in columns if found is not None), None)
            return self._found


class RecordBlocks(BlockSource[Groups]):
    """The records of a TFRecord file; see `BlockFile`.  A file without an index is gone through for one.

    Args:
        path: the file.
        name: what messages name it.
        reading: how its records are read.
        columns: those of the rows, for all files of a split.
    """

    kind = "TFRecord"

    def __init__(self, path: str | os.PathLike[str], name: str, reading: TfRecordReading, columns: SplitColumns) -> None:
        self._reading, self._columns = reading, columns
        super().__init__(path, name)

    @staticmethod
    def of(paths: Sequence[str | os.PathLike[str]], names: Sequence[str], reading: TfRecordReading) -> list[RecordBlocks]:
        """The files of a split, which have the same columns."""
        columns = SplitColumns(reading)
        made = [RecordBlocks(path, name, reading, columns) for path, name in zip(paths, names, strict=True)]
        columns.files = tuple(made)
        return made

    def _begin(self) -> None:
        super()._begin()
        self._head: bytes = b""
        self._beside: RecordIndex | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name not in ("_head", "_beside")}

    @property
    def saved_as(self) -> str | None:
        """See `BlockFile.saved_as`."""
        known = super().saved_as
        return None if known is None else f"{known}\n{self._reading.identity}"

    # -- the index -----------------------------------------------------------------------------------------------------

    def is_indexed(self) -> bool:
        """True if an index is beside the file; of one that is elsewhere it is fetched, where it was not before.

        Raises:
            DownloadError: its server does not tell.
        """
        from datasets_core.fetch.disk_cache import IndexCache

        if isinstance(place_beside(self._path), str):
            return has_index_beside(self._path)
        if IndexCache.of_settings().get(self._key) is not None:
            return True
        try:
            self._beside = index_beside(self._path)
        except FileFormatError:  # which is raised when its rows are asked for
            return True
        return self._beside is not None

    def _learned(self, ranges: RangeFile) -> bytes:
        """Where the blocks are, as the index beside the file says; where there is none, as its heads say."""
        size = ranges.version().size
        index, self._beside = index_beside(self._path) if self._beside is None else self._beside, None
        if index is None:
            logger.info("%s has no index beside it, as the first of the files has: it is gone through.", self._name)
            index = index_of(ranges, self._name)
        else:
            index.check(size, self._name)
            check_current(index, ranges)
        return Groups.of(index.offsets, size).to_bytes()

    def _parsed(self, data: bytes) -> Groups:
        with self._faults():
            return Groups.from_bytes(data)

    def index(self) -> FileIndex:
        """See `BlockFile.index`."""
        groups = self._read_footer()
        return FileIndex.of(self._columns.found(), groups.rows, groups.sizes, self._version())

    def columns_of_records(self) -> pa.Schema | None:
        """The columns as the first records tell them; None where there are none.

        Raises:
            DamagedRecordError: the first record is damaged.
            FileFormatError: the records are not where the index says, so that no number of a record is right.
        """
        from ._tfrecord_rows import RecordRows

        groups = self._read_footer()
        count = groups.first_ones
        if not count:
            return None
        cache, key = self._cache_of_columns()
        if cache is not None and (kept := _columns_in(cache.get(key))) is not None:
            return kept
        stop = int(groups.starts[count]) if count < len(groups.starts) else groups.size
        (head,) = self._bytes([(0, stop)])
        self._head = bytes(head)
        rows = RecordRows(self._reading)
        _, failure = rows.begun((block, None) for number in range(count) for block in self._block(number, None))
        is_of_rows = isinstance(failure, DamagedRecordError | ExampleError)  # and comes behind those before it
        if failure is not None and (rows.schema is None or not is_of_rows):
            raise failure
        if cache is not None and failure is None:
            cache.put(key, (rows.packed or "").encode())
        return rows.schema or pa.schema([])

    def _cache_of_columns(self) -> tuple[IndexCache | None, str]:
        """Where the columns of a file elsewhere are kept for the next process, and under which key."""
        from datasets_core.fetch.disk_cache import IndexCache

        version = self._version()
        cache = IndexCache.of_settings() if version[1] else None
        return cache, f"{self.kind} columns\n{self.identity}\n{version}\n{self._reading.identity}"

    def _bytes(self, asked: Sequence[tuple[int, int]]) -> list[Any]:
        """Some bytes of the file, which are not fetched again where they came with the first records."""
        head = memoryview(self._head)
        missing = [each for each in asked if each[1] > len(head)]
        fetched = iter(super()._bytes(missing))
        return [next(fetched) if stop > len(head) else head[start:stop] for start, stop in asked]

    # -- the records ---------------------------------------------------------------------------------------------------

    def needed(self, block: int, columns: Sequence[str] | None) -> list[tuple[int, int]]:
        """See `BlockFile.needed`: all of the records, whatever the columns."""
        groups = self._read_footer()
        start = int(groups.starts[block])
        return self._checked([(start, start + int(groups.sizes[block]))])

    def _block(self, number: int, fetched: Any) -> Iterator[RecordBlock]:
        """The records of a block; those before a damage come before the error.

        Raises:
            DamagedRecordError: one is damaged.
            FileFormatError: they are not where the index says.
        """
        groups = self._read_footer()
        start, first = int(groups.starts[number]), int(groups.rows[:number].sum())
        parts = self.fetch([number], None)[0] if fetched is None else fetched
        data = b"".join(bytes(part) for _, part in parts)
        found = scan(data, verify=self._reading.verify)
        if len(found.starts):
            yield RecordBlock(data, found.starts, found.stops, first, self._name, start)
        good = first + len(found.starts)
        if found.damage is not None:
            raise damaged(self._name, found.damage, good, start + found.end, data[found.end :])
        if found.end != len(data) or len(found.starts) != groups.rows[number]:
            self.forget()  # where the index is mended, it is read anew
            index = redact(str(place_beside(self._path)))
            reason = f"its records do not begin where the index {index} says, from record {good:,} on"
            raise self._source.fault(reason, row=good, advice=INDEX_ADVICE)

    def read(self, block: int, columns: Sequence[str] | None, fetched: Any = None) -> Generator[pa.RecordBatch]:
        """See `BlockFile.read`."""
        from ._tfrecord_rows import RecordRows

        schema = self._columns.found()
        assert schema is not None  # there are records
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        rows = RecordRows(self._reading, schema, columns=columns)
        for records in self._block(block, fetched):
            yield from rows.fitted(records)


def _columns_in(kept: bytes | None) -> pa.Schema | None:
    """What was kept of the columns of a file."""
    if kept is None:
        return None
    try:
        return unpacked(kept.decode() or None) or pa.schema([])
    except ValueError as error:
        logger.debug("What was kept of the columns is not used: %s.", error)
        return None

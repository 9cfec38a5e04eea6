"""Rows of TFRecord files, whose inferred column types may widen (`RecordRows`), and files read by index (`RecordBlocks`)."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core.building.marks import Mark, TextFile, packed, unpacked
from datasets_core.engines.threads import renewed_after_fork
from datasets_core.errors import (
    DamagedRecordError,
    DatasetsCoreError,
    ExampleError,
    FileChangedError,
    FileFormatError,
    logger_of,
    redact,
)
from datasets_core.features.schema import Features
from datasets_core.fetch.ranges.file import LocalRanges, RangeFile
from datasets_core.fetch.streaming import StreamingDownloadManager
from datasets_core.files import is_url, kind_of
from datasets_core.meta.row_blocks import Ints
from datasets_core.records.examples import ExampleReader, keys_of
from datasets_core.records.frames import (
    HEAD_BYTES,
    TAIL_BYTES,
    blocks_of,
    compression_of,
    damaged,
    frame_offsets,
    inflated,
    scan,
)
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
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.sources.block_reader import FileIndex

from ._blocks import BlockSource
from ._source import Source

if TYPE_CHECKING:
    from datasets_core.fetch.disk_cache import IndexCache


# `TfRecordReading`: how the records of a file are read: its plain bytes, local or remote, and their conversion.


BLOCK_BYTES = 1 << 18
"""Bytes of records read at once if rows are read by position: starting in the middle of a file fetches about as much."""

LATER_BYTES = 1 << 20
"""The same for a stream read from its beginning, after its first rows: each block has a fixed cost."""

SNIFFED_BYTES = 1024
_PASSED_BYTES = 1 << 20
_OTHERS = frozenset({"bz2", "xz", "zst", "lz4"})  # not supported by TensorFlow, but possible in our files


@dataclass(frozen=True)
class TfRecordReading:
    """Options for reading records; see `TfRecordConfig`.

    Attributes:
        spec, sequence_spec: the features of a message to read, by key.
        features: features of the columns, given by the user or a card.
        message: type of the records; None: detected from the first ones.
        columns: the selected columns; None: all.
        verify: True to compare CRCs.
        compression: compression of the files; None: detected.
        named: the columns that were reported as missing in the first records.
    """

    spec: Any = None
    sequence_spec: Any = None
    features: Features | None = None
    message: str | None = None
    columns: tuple[str, ...] | None = None
    verify: bool = True
    compression: str | None = None
    named: set[str] = field(default_factory=set, init=False, compare=False, repr=False)

    def reader(self, columns: Sequence[str] | None = None) -> ExampleReader:
        """Return the reader of records.

        Args:
            columns: those of the selected columns to read; None: all.
        """
        wanted = self.columns if columns is None else tuple(columns)
        return ExampleReader(
            spec=self.spec,
            sequence_spec=self.sequence_spec,
            features=self.features,
            message=self.message,
            columns=None if wanted is None else list(wanted),
        )

    @property
    def identity(self) -> str:
        """Identity of rows read with these options."""
        features = None if self.features is None else self.features.to_dict()
        specs = [repr(None if specs is None else list(specs.items())) for specs in (self.spec, self.sequence_spec)]
        return Hasher.hash([*specs, features, self.message, self.columns, self.verify])

    @cached_property
    def known_features(self) -> Features | None:
        """Features of the rows, if known without reading records."""
        is_known = self.features is not None or self.spec is not None or self.sequence_spec is not None
        return self.reader().features if is_known or self.message == "bytes" else None

    def blocks(
        self, source: Source, mark: Mark | None, block_bytes: int, later_bytes: int | None = None
    ) -> Generator[tuple[RecordBlock, TextFile]]:
        """Yield the records of a file, in blocks, from the beginning or from a mark.

        Raises:
            DamagedRecordError: a record is damaged; raised after the valid records before it.
            FileChangedError: the file is not the one of the mark.
        """
        at, first = (mark.at, mark.row) if mark is not None else (0, 0)
        handle, stream, file = _opened(source, self.compression, mark, block_bytes)
        try:
            size = None if file.compression or file.size < 0 else file.size - at
            how: dict[str, Any] = {"verify": self.verify, "block_bytes": block_bytes, "later_bytes": later_bytes, "size": size}
            for block in blocks_of(stream, name=source.name, first=first, offset=at, **how):
                yield block, file
        finally:
            handle.close()


def _opened(source: Source, compression: str | None, mark: Mark | None, first_bytes: int) -> tuple[Any, Any, TextFile]:
    """Return the object to close, the decompressed bytes from the mark on, and their version."""
    at = 0 if mark is None else mark.at
    if mark is not None and at and not mark.file.compression and source.remote is not None:
        ahead = source.opened_at(mark.file, at, mark.to)
        return ahead, ahead, mark.file
    handle, found = source.raw(first_bytes)
    try:
        head = handle.read(SNIFFED_BYTES)
        handle.seek(0)
        file = replace(found, compression=kind_of_compression(head) if compression is None else compression)
        if mark is not None and not mark.file.is_same(file):
            raise FileChangedError(source.name)
        if not file.compression:
            handle.seek(at)
            return handle, handle, file
        stream: Any = _undone(source, handle, file.compression)
        while at > 0 and (passed := stream.read(min(at, _PASSED_BYTES))):
            at -= len(passed)
        return handle, stream, file
    except BaseException:
        handle.close()
        raise


def kind_of_compression(head: bytes) -> str:
    """Return the compression of a file by its first bytes; "" for none."""
    known = compression_of(head[:HEAD_BYTES])
    other = kind_of(head)
    if known or other not in _OTHERS or (len(head) >= HEAD_BYTES and scan(head[:HEAD_BYTES]).damage is None):
        return known
    return str(other)


def _undone(source: Source, handle: BinaryIO, kind: str) -> Any:
    return source.undone(handle) if kind in _OTHERS else inflated(handle, name=source.name, compression=kind)


logger = logger_of(__name__)

T = TypeVar("T")

_HEAD_ROWS, _HEAD_BYTES, _MOST_HEAD_BYTES = 100, 1 << 17, 8 << 20  # bytes of a stream, to determine the columns
_BUILD_BYTES = 4 << 20  # bytes read at once in a build that is not streamed
_NOTHING = pa.schema([])
_GIVE = "Pass features= or spec= with all columns, or omit streaming=True"


class RecordRows:
    """Rows of records, with inferred columns.

    Args:
        reading: options.
        known: the columns, as far as known before.
        columns: those of the selected columns to read; None: all.

    Attributes:
        schema: the columns inferred so far, each of the narrowest type that holds all values; None before the first record,
            or with known features.
        is_widened: True if earlier rows had narrower types than later ones.
    """

    def __init__(
        self, reading: TfRecordReading, known: pa.Schema | None = None, *, columns: Sequence[str] | None = None
    ) -> None:
        self._reading, self._reader = reading, reading.reader(columns)
        self.is_known = reading.known_features is not None
        self.schema = None if self.is_known else known
        self.is_widened = False
        self._packed: tuple[pa.Schema | None, str | None] = None, None

    @property
    def packed(self) -> str | None:
        """Return the columns as a short text, for resuming."""
        if self._packed[0] is not self.schema:
            self._packed = self.schema, packed(self.schema)
        return self._packed[1]

    def of(self, block: RecordBlock) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a block; rows before an invalid record come before its error.

        Raises:
            ExampleError: a message is invalid, or lacks the expected features.
        """
        try:
            batch = self._reader.read(block, self.schema)
        except ExampleError as error:
            if error.record is None:
                raise
            good = error.record - block.first
            if 0 < good < len(block):
                yield from self.of(block[:good])
            raise _placed(block, good, error.reason, error.key, error.advice) from error.__cause__
        if block.first == 0 and len(block):
            self._tell_of_nothing(block, batch)
        if not self.is_known and not batch.schema.equals(self.schema or _NOTHING):
            self.is_widened |= _changed(self.schema, batch.schema) is not None
            self.schema = batch.schema
        yield batch

    def _tell_of_nothing(self, block: RecordBlock, batch: pa.RecordBatch) -> None:
        """Log once which columns are empty in the first records, since a name in `features=` may be wrong."""
        reading = self._reading
        if reading.features is None or reading.spec is not None or reading.sequence_spec is not None:
            return
        nothing = [name for name in batch.schema.names if batch.column(name).null_count == len(block)]
        for name in nothing:
            if name not in reading.named:
                reading.named.add(name)
                reason = "column %r of features= has no value in the first %d records"
                logger.warning(f"%s: {reason}; %s.", block.name, name, len(block), self._keys(block))

    def _keys(self, block: RecordBlock) -> str:
        try:
            return f"they have {', '.join(map(repr, keys_of(block, self._reading.message)))}"
        except ExampleError as error:  # in a key that is not selected
            return str(error).removesuffix(".")

    def of_file(self, source: Source) -> Generator[tuple[pa.RecordBatch, RecordBlock], None, tuple[Ints, int] | None]:
        """Yield the rows of a file with their records, and at the end the positions of all records (None if compressed)."""
        is_plain, starts, end = True, [np.zeros(0, np.int64)], 0
        for block, file in self._reading.blocks(source, None, _BUILD_BYTES):
            is_plain &= not file.compression
            starts.append(frame_offsets(block))
            end = block.offset + int(block.stops[-1]) + TAIL_BYTES
            for batch in self.of(block):
                yield batch, block
        return (np.concatenate(starts), end) if is_plain else None

    def fitted(self, block: RecordBlock) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a block with the types of earlier rows; other types raise an error after the rows that fit.

        Args:
            block: the records.

        Raises:
            ExampleError: as for `of`, or a record has other types.
        """
        known = self.schema
        for batch in self.of(block):
            key = None if self.is_known else _changed(known, batch.schema)
            if key is None:
                yield batch
                continue
            good = self._good(block, known)
            self.schema = known
            if good:
                yield from self.of(block[:good])
            kind = batch.schema.field(key).type
            assert known is not None  # columns without known types may differ
            reason = f"is {kind}, but {known.field(key).type} in the first records, which determine the types"
            raise _placed(block, good, reason, key, _GIVE)

    def _good(self, block: RecordBlock, known: pa.Schema | None) -> int:
        """Return how many of the first records of a block have the known types."""
        low, high = 0, len(block)
        while high - low > 1:
            middle = (low + high) // 2
            found = self._reader.read(block[low:middle], known)
            low, high = (middle, high) if _changed(known, found.schema) is None else (low, middle)
        return low

    def begun(self, blocks: Iterator[tuple[RecordBlock, T]]) -> tuple[list[tuple[RecordBlock, T]], DatasetsCoreError | None]:
        """Infer the columns from the first records; return their blocks, and the error raised before there were enough.

        Raises:
            FileFormatError: a requested column is missing.
        """
        taken: list[tuple[RecordBlock, T]] = []
        rows = size = 0
        try:
            for block, beside in blocks:
                taken.append((block, beside))
                for _ in self.of(block):
                    pass
                rows, size = rows + len(block), size + block.num_bytes
                if is_enough(rows, size):
                    break
        except DatasetsCoreError as error:
            return taken, error
        finally:
            self.is_widened = False  # no row was returned
        if taken:
            self.check(taken[0][0], "the first records")
        return taken, None

    def check(self, block: RecordBlock, where: str) -> None:
        """Check that records have the requested columns.

        Args:
            block: some of the records; the message lists their columns.
            where: description of the records for the message.

        Raises:
            FileFormatError: a column is in none of them.
        """
        found = [] if self.schema is None else self.schema.names
        missing = [name for name in self._reading.columns or () if name not in found]
        if missing and not self.is_known:
            known = ", ".join(map(repr, replace(self._reading, columns=None).reader().read(block).schema.names))
            reason = f"{where} have no feature {missing[0]!r}"
            raise FileFormatError(block.name, reason, advice=f"Choose columns= among {known}, or also pass features= or spec=")


def _placed(block: RecordBlock, row: int, reason: str, key: str | None, advice: str | None) -> ExampleError:
    """Return the error for a record of a file, with its number and position."""
    place = int(frame_offsets(block)[row])
    return ExampleError(block.name, reason, record=block.first + row, key=key, offset=place, advice=advice)


def _changed(known: pa.Schema | None, found: pa.Schema) -> str | None:
    """Return the first column whose type has changed, except from null."""
    types = {} if known is None else {field.name: field.type for field in known}
    for column in found:
        before = types.get(column.name)
        if before is not None and column.type != before and not _is_empty(before):
            return str(column.name)
    return None


def _is_empty(kind: pa.DataType) -> bool:
    """Return True if only null and empty lists have such a type."""
    return bool(pa.types.is_null(kind)) or (pa.types.is_list(kind) and _is_empty(kind.value_type))


def is_enough(rows: int, num_bytes: int) -> bool:
    """Return True if this number of records is enough to determine the columns: some hundred, or fewer large ones."""
    return num_bytes >= _HEAD_BYTES and (rows >= _HEAD_ROWS or num_bytes >= _MOST_HEAD_BYTES)


def streamed_rows(
    reading: TfRecordReading, source: Source, schema: pa.Schema | None, mark: Mark | None
) -> Generator[tuple[pa.RecordBatch, Mark | None]]:
    """Yield the rows of a file for a stream; see `FileBuilder.read_live`."""
    known = schema if mark is None or not mark.at else _told_by(mark)
    rows = RecordRows(reading, known)
    with closing(reading.blocks(source, mark, BLOCK_BYTES, LATER_BYTES)) as found:
        begun: list[tuple[RecordBlock, TextFile]] = []
        failure = None
        if known is None and not rows.is_known:
            begun, failure = rows.begun(found)
        for block, file in chain(begun, () if failure else found):
            told: Mark | None = Mark(block.offset, block.offset + LATER_BYTES, rows.packed, file)
            for batch in rows.fitted(block):
                yield batch, told
                told = None
        if failure is not None:
            raise failure


def _told_by(mark: Mark) -> pa.Schema | None:
    """Return the columns known at a mark.

    Raises:
        ValueError: not a mark of such a file.
    """
    if mark.reader is not None and not isinstance(mark.reader, str):
        raise ValueError(f"invalid mark of a TFRecord file: {mark.reader!r}")
    return unpacked(mark.reader)


def num_records(reading: TfRecordReading, path: str, name: str) -> int:
    """Return the number of records of a local file, from their headers, after decompression if needed.

    Raises:
        DamagedRecordError: a record is damaged, as far as that is detected.
    """
    with closing(LocalRanges(path, name=name)) as ranges:
        (head,) = ranges.read([(0, min(SNIFFED_BYTES, ranges.version().size))])
        if not (reading.compression or kind_of_compression(bytes(head))):
            return len(index_of(ranges, name))
    return sum(len(block) for block, _ in reading.blocks(Source(path, name), None, _BUILD_BYTES))


# -- TFRecord files with an index, local or remote, in runs of records: each run is a block


def has_index(path: str, dl_manager: Any) -> bool:
    """Return True if an index is next to a file.

    Args:
        path: the file, local or elsewhere.
        dl_manager: accesses URLs.

    Raises:
        DownloadError: its server does not answer.
    """
    if is_url(path):
        path = StreamingDownloadManager(download_config=dl_manager.download_config).download(path)
    return has_index_beside(path)


class Groups(NamedTuple):
    """The runs of records that are the blocks of a file: each has the records that begin in one range of bytes.

    Attributes:
        starts: position of each run in bytes.
        rows: number of records of each run.
        size: size of the file in bytes.
    """

    starts: Ints
    rows: Ints
    size: int

    @classmethod
    def of(cls, offsets: Ints, size: int) -> Groups:
        """Return the runs of a file whose records begin at these positions.

        >>> Groups.of(np.array([0, 100, 300_000]), 300_050).rows.tolist()
        [2, 1]
        """
        from ._tfrecord_rows import BLOCK_BYTES

        stretches = offsets // BLOCK_BYTES
        firsts = np.flatnonzero(np.diff(stretches, prepend=-1))
        return cls(offsets[firsts], np.diff(firsts, append=len(offsets)), size)

    @property
    def sizes(self) -> Ints:
        """Return the sizes of the runs in bytes."""
        return np.diff(self.starts, append=self.size)

    @property
    def first_ones(self) -> int:
        """Return the number of runs whose records determine the columns; see `is_enough`."""
        from ._tfrecord_rows import is_enough

        ends = zip(np.cumsum(self.rows).tolist(), np.cumsum(self.sizes).tolist(), strict=True)
        return next((count for count, (rows, size) in enumerate(ends, 1) if is_enough(rows, size)), len(self.rows))

    def to_bytes(self) -> bytes:
        """Return the runs as bytes, for storage."""
        return np.concatenate([[self.size], self.starts, self.rows]).astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> Groups:
        """Return the runs from a result of `to_bytes`."""
        numbers = np.frombuffer(data, "<i8").astype(np.int64)
        starts, rows = np.split(numbers[1:], 2)
        return cls(starts, rows, int(numbers[0]))


class SplitColumns:
    """The columns of the rows of some files: as requested, or inferred from the first records.

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
        """Create a new lock after a fork."""
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"files": self.files, "_found": self._found}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.forked()
        renewed_after_fork(self)

    def found(self) -> pa.Schema | None:
        """Return the columns; None without records."""
        with self._lock:
            if self._found is None:
                columns = (file.columns_of_records() for file in self.files)
                self._found = next((found for found in columns if found is not None), None)
            return self._found


class RecordBlocks(BlockSource[Groups]):
    """The records of a TFRecord file; see `BlockFile`.  For a file without an index, one is computed by a scan.

    Args:
        path: the file.
        name: name used in messages.
        reading: how its records are read.
        columns: columns of the rows, shared by all files of a split.
    """

    kind = "TFRecord"

    def __init__(self, path: str | os.PathLike[str], name: str, reading: TfRecordReading, columns: SplitColumns) -> None:
        self._reading, self._columns = reading, columns
        super().__init__(path, name)

    @staticmethod
    def of(paths: Sequence[str | os.PathLike[str]], names: Sequence[str], reading: TfRecordReading) -> list[RecordBlocks]:
        """Return the files of a split, which have the same columns."""
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
        known = super().saved_as
        return None if known is None else f"{known}\n{self._reading.identity}"

    # -- the index -----------------------------------------------------------------------------------------------------

    def is_indexed(self) -> bool:
        """Return True if an index is next to the file; the index of a remote file is fetched, unless it was before.

        Raises:
            DownloadError: its server does not answer.
        """
        from datasets_core.fetch.disk_cache import IndexCache

        if isinstance(place_beside(self._path), str):
            return has_index_beside(self._path)
        if IndexCache.of_settings().get(self._key) is not None:
            return True
        try:
            self._beside = index_beside(self._path)
        except FileFormatError:  # raised when its rows are requested
            return True
        return self._beside is not None

    def _learned(self, ranges: RangeFile) -> bytes:
        """Return the positions of the blocks, from the index next to the file, or from the record headers without one."""
        size = ranges.version().size
        index, self._beside = index_beside(self._path) if self._beside is None else self._beside, None
        if index is None:
            logger.info("%s has no index file, unlike the first file: it is scanned.", self._name)
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
        """Return the columns inferred from the first records; None without records.

        Raises:
            DamagedRecordError: the first record is damaged.
            FileFormatError: the records are not where the index says, so that record numbers are wrong.
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
        is_of_rows = isinstance(failure, DamagedRecordError | ExampleError)  # raised after the records before it
        if failure is not None and (rows.schema is None or not is_of_rows):
            raise failure
        if cache is not None and failure is None:
            cache.put(key, (rows.packed or "").encode())
        return rows.schema or pa.schema([])

    def _cache_of_columns(self) -> tuple[IndexCache | None, str]:
        """Return the cache of the columns of a remote file, and their key."""
        from datasets_core.fetch.disk_cache import IndexCache

        version = self._version()
        cache = IndexCache.of_settings() if version[1] else None
        return cache, f"{self.kind} columns\n{self.identity}\n{version}\n{self._reading.identity}"

    def _bytes(self, asked: Sequence[tuple[int, int]]) -> list[Any]:
        """Return some bytes of the file; those that came with the first records are not fetched again."""
        head = memoryview(self._head)
        missing = [each for each in asked if each[1] > len(head)]
        fetched = iter(super()._bytes(missing))
        return [next(fetched) if stop > len(head) else head[start:stop] for start, stop in asked]

    # -- the records ---------------------------------------------------------------------------------------------------

    def needed(self, block: int, columns: Sequence[str] | None) -> list[tuple[int, int]]:
        """See `BlockFile.needed`: whole records, independent of the columns."""
        groups = self._read_footer()
        start = int(groups.starts[block])
        return self._checked([(start, start + int(groups.sizes[block]))])

    def _block(self, number: int, fetched: Any) -> Iterator[RecordBlock]:
        """Yield the records of a block; those before a damaged one come before the error.

        Raises:
            DamagedRecordError: a record is damaged.
            FileFormatError: the records are not where the index says.
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
            self.forget()  # after the index is fixed, it is read again
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
    """Return the cached columns of a file."""
    if kept is None:
        return None
    try:
        return unpacked(kept.decode() or None) or pa.schema([])
    except ValueError as error:
        logger.debug("The cached columns are not used: %s.", error)
        return None

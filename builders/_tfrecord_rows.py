"""`RecordRows`: rows of TFRecord files; inferred column types may widen while records are read."""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, BinaryIO, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core.building.marks import Mark, TextFile, packed, unpacked
from datasets_core.errors import DatasetsCoreError, ExampleError, FileChangedError, FileFormatError
from datasets_core.features.schema import Features
from datasets_core.fetch.ranges.file import LocalRanges
from datasets_core.files import kind_of
from datasets_core.meta.row_blocks import Ints
from datasets_core.records.examples import ExampleReader, keys_of
from datasets_core.records.frames import blocks_of, compression_of, frame_offsets, inflated, scan
from datasets_core.records.framing import HEAD_BYTES, TAIL_BYTES
from datasets_core.records.record_index import index_of
from datasets_core.records.wire.values import RecordBlock
from datasets_core.store.fingerprint import Hasher

from ._source import Source

# `TfRecordReading`: how the records of a file are read: its plain bytes, wherever they are, and what they are read as.


BLOCK_BYTES = 1 << 18
"""Of records that are read at once where rows are had by place: to begin in the middle of a file fetches about as much."""

LATER_BYTES = 1 << 20
"""The same of a stream from the beginning on, behind its first rows: a block costs some time whatever it holds."""

SNIFFED_BYTES = 1024
_PASSED_BYTES = 1 << 20
_OTHERS = frozenset({"bz2", "xz", "zst", "lz4"})  # that TensorFlow does not know, and other files of ours may have


@dataclass(frozen=True)
class TfRecordReading:
    """Options for reading records; see `TfRecordConfig`.

    Attributes:
        spec, sequence_spec: the features of a message to read, by key.
        features: of the columns, given by the user or a card.
        message: type of the records; None: detected from the first ones.
        columns: the selected columns; None: all.
        verify: True to compare CRCs.
        compression: of the files; None: detected.
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
        """The records of a file, block by block, from its beginning or from a mark on.

        Raises:
            DamagedRecordError: after the good records before it were given.
            FileChangedError: the file is another one than that of the mark.
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
    """Return the compression of a file that begins so; "" for none."""
    known = compression_of(head[:HEAD_BYTES])
    other = kind_of(head)
    if known or other not in _OTHERS or (len(head) >= HEAD_BYTES and scan(head[:HEAD_BYTES]).damage is None):
        return known
    return str(other)


def _undone(source: Source, handle: BinaryIO, kind: str) -> Any:
    return source.undone(handle) if kind in _OTHERS else inflated(handle, name=source.name, compression=kind)


logger = logging.getLogger(__name__)

T = TypeVar("T")

_HEAD_ROWS, _HEAD_BYTES, _MOST_HEAD_BYTES = 100, 1 << 17, 8 << 20  # of a stream, to determine the columns
_BUILD_BYTES = 4 << 20  # read at once in a build that is not streamed
_NOTHING = pa.schema([])
_GIVE = "Give features= or spec= with all columns, or leave streaming=True out"


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
            ExampleError: an invalid message, or one without the expected features.
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
        """Say which columns the first records have nothing of, since a name may be wrong in `features=`: once for each."""
        reading = self._reading
        if reading.features is None or reading.spec is not None or reading.sequence_spec is not None:
            return
        nothing = [name for name in batch.schema.names if batch.column(name).null_count == len(block)]
        for name in nothing:
            if name not in reading.named:
                reading.named.add(name)
                reason = "column %r of features= is None in all of the first %d records"
                logger.warning(f"%s: {reason}; %s.", block.name, name, len(block), self._keys(block))

    def _keys(self, block: RecordBlock) -> str:
        try:
            return f"they have {', '.join(map(repr, keys_of(block, self._reading.message)))}"
        except ExampleError as error:  # in a key that is not selected
            return str(error).removesuffix(".")

    def of_file(self, source: Source) -> Generator[tuple[pa.RecordBatch, RecordBlock], None, tuple[Ints, int] | None]:
        """The rows of a file with their records; and, when all came, where these begin, and end; None where it is packed."""
        is_plain, starts, end = True, [np.zeros(0, np.int64)], 0
        for block, file in self._reading.blocks(source, None, _BUILD_BYTES):
            is_plain &= not file.compression
            starts.append(frame_offsets(block))
            end = block.offset + int(block.stops[-1]) + TAIL_BYTES
            for batch in self.of(block):
                yield batch, block
        return (np.concatenate(starts), end) if is_plain else None

    def fitted(self, block: RecordBlock) -> Iterator[pa.RecordBatch]:
        """The rows of a block with the types of those before them, which were given: others are an error behind all that fit.

        Args:
            block: the records.

        Raises:
            ExampleError: as `of`; or a record has other types.
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
            assert known is not None  # what was not known did not change
            reason = f"is {kind}, and {known.field(key).type} in the records that told the columns"
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
        """Learn the columns from the first records: their blocks, and the error that came before there were enough of them.

        Raises:
            FileFormatError: they have none of a column that is wanted.
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
            self.is_widened = False  # no row was given
        if taken:
            self.check(taken[0][0], "its first records")
        return taken, None

    def check(self, block: RecordBlock, where: str) -> None:
        """See that records have the columns that are wanted.

        Args:
            block: some of the records, whose columns the message names.
            where: which these are.

        Raises:
            FileFormatError: one is in none of them.
        """
        found = [] if self.schema is None else self.schema.names
        missing = [name for name in self._reading.columns or () if name not in found]
        if missing and not self.is_known:
            known = ", ".join(map(repr, replace(self._reading, columns=None).reader().read(block).schema.names))
            reason = f"{where} have no feature {missing[0]!r}"
            raise FileFormatError(block.name, reason, advice=f"Choose columns= among {known}, or give features= or spec= too")


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
    """True if nothing has such a type but null and empty lists."""
    return bool(pa.types.is_null(kind)) or (pa.types.is_list(kind) and _is_empty(kind.value_type))


def is_enough(rows: int, num_bytes: int) -> bool:
    """True if so many records determine the columns: some hundred or more, unless they are large."""
    return num_bytes >= _HEAD_BYTES and (rows >= _HEAD_ROWS or num_bytes >= _MOST_HEAD_BYTES)


def streamed_rows(
    reading: TfRecordReading, source: Source, schema: pa.Schema | None, mark: Mark | None
) -> Generator[tuple[pa.RecordBatch, Mark | None]]:
    """The rows of a file as a stream gives them: see `FileBuilder.read_live`."""
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
        raise ValueError(f"no mark of a TFRecord file: {mark.reader!r}")
    return unpacked(mark.reader)


def num_records(reading: TfRecordReading, path: str, name: str) -> int:
    """Return the number of records of a local file: by their headers if it is plain, else by decompressing it.

    Raises:
        DamagedRecordError: a damaged record, as far as detected.
    """
    with closing(LocalRanges(path, name=name)) as ranges:
        (head,) = ranges.read([(0, min(SNIFFED_BYTES, ranges.version().size))])
        if not (reading.compression or kind_of_compression(bytes(head))):
            return len(index_of(ranges, name))
    return sum(len(block) for block, _ in reading.blocks(Source(path, name), None, _BUILD_BYTES))

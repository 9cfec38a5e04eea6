"""How the records of a file become rows: its plain bytes, wherever they are, and the columns that specs or records tell."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core.building.live_marks import Mark, TextFile, packed
from datasets_core.errors import DatasetsCoreError, ExampleError, FileChangedError, FileFormatError
from datasets_core.features.schema import Features
from datasets_core.fetch.sniff import kind_of
from datasets_core.meta.row_blocks import Ints
from datasets_core.records.example_columns import ExampleReader
from datasets_core.records.framing import HEAD_BYTES
from datasets_core.records.inflated import compression_of, inflated
from datasets_core.records.record_block import RecordBlock
from datasets_core.records.record_frames import blocks_of, scan
from datasets_core.store.fingerprint import Hasher

from ._source import Source

T = TypeVar("T")

BLOCK_BYTES = 1 << 18
"""Of records that a stream reads at once: to begin again in the middle of a file fetches about as much."""

_HEAD_ROWS, _HEAD_BYTES, _MOST_HEAD_BYTES = 100, 1 << 17, 8 << 20  # of a stream, that tell the columns
_NOTHING = pa.schema([])
_GIVE = "Give features= or spec= with all columns, or leave streaming=True out"
SNIFFED_BYTES = 1024
_PASSED_BYTES = 1 << 20
_OTHERS = frozenset({"bz2", "xz", "zst", "lz4"})  # that TensorFlow does not know, and other files of ours may have


@dataclass(frozen=True)
class RecordReading:
    """How records are read; see `TfRecordConfig`.

    Attributes:
        spec, sequence_spec: what is read of a message, by key.
        features: of the columns, as the user or a card gives them.
        message: what a record is; None: the first ones tell.
        columns: the columns that are wanted; None: all.
        verify: CRCs are compared.
        compression: of the files; None: each tells.
    """

    spec: Any = None
    sequence_spec: Any = None
    features: Features | None = None
    message: str | None = None
    columns: tuple[str, ...] | None = None
    verify: bool = True
    compression: str | None = None

    def reader(self, columns: Sequence[str] | None = None) -> ExampleReader:
        """What makes rows of records.

        Args:
            columns: of those that are wanted, the ones to be read; None: all.
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
        """What tells rows that are read so from others."""
        features = None if self.features is None else self.features.to_dict()
        specs = [repr(None if specs is None else list(specs.items())) for specs in (self.spec, self.sequence_spec)]
        return Hasher.hash([*specs, features, self.message, self.columns, self.verify])

    @cached_property
    def told(self) -> Features | None:
        """The features of the rows, where no record has to tell them."""
        is_told = self.features is not None or self.spec is not None or self.sequence_spec is not None
        return self.reader().features if is_told or self.message == "bytes" else None

    def blocks(self, source: Source, mark: Mark | None, block_bytes: int) -> Generator[tuple[RecordBlock, TextFile]]:
        """The records of a file, block by block, from its beginning or from a mark on.

        Raises:
            DamagedRecordError: after the good records before it were given.
            FileChangedError: the file is another one than that of the mark.
        """
        at, first = (mark.at, mark.row) if mark is not None else (0, 0)
        handle, stream, file = _opened(source, self.compression, mark, block_bytes)
        try:
            size = None if file.compression or file.size < 0 else file.size - at
            how: dict[str, Any] = {"verify": self.verify, "block_bytes": block_bytes, "size": size}
            for block in blocks_of(stream, name=source.name, first=first, offset=at, **how):
                yield block, file
        finally:
            handle.close()


def _opened(source: Source, compression: str | None, mark: Mark | None, first_bytes: int) -> tuple[Any, Any, TextFile]:
    """What is to be closed, the plain bytes from the mark on, and the version that they are of."""
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
    """What compressed a file that begins so; "" where it is plain."""
    known = compression_of(head[:HEAD_BYTES])
    other = kind_of(head)
    if known or other not in _OTHERS or (len(head) >= HEAD_BYTES and scan(head[:HEAD_BYTES]).damage is None):
        return known
    return str(other)


def _undone(source: Source, handle: BinaryIO, kind: str) -> Any:
    return source.undone(handle) if kind in _OTHERS else inflated(handle, name=source.name, compression=kind)


class Rows:
    """The rows of records, and what is known of their columns.

    Args:
        reading: how records are read.
        known: the columns, as far as they are known before.
        columns: of those that are wanted, the ones to be read; None: all.

    Attributes:
        schema: the columns as records told them so far, each of the narrowest type that holds all values; None where none did,
            or none has to.
        is_widened: rows were seen whose types are too narrow for those behind them.
    """

    def __init__(self, reading: RecordReading, known: pa.Schema | None = None, *, columns: Sequence[str] | None = None) -> None:
        self._reading, self._reader = reading, reading.reader(columns)
        self.is_told = reading.told is not None
        self.schema = None if self.is_told else known
        self.is_widened = False
        self._packed: tuple[pa.Schema | None, str | None] = None, None

    @property
    def packed(self) -> str | None:
        """The columns as a short text, for who goes on from here."""
        if self._packed[0] is not self.schema:
            self._packed = self.schema, packed(self.schema)
        return self._packed[1]

    def of(self, block: RecordBlock) -> Iterator[pa.RecordBatch]:
        """The rows of a block; of one with a record that is none, those before it come before the error.

        Raises:
            ExampleError: a record is no such message, or not of the features that are asked for.
        """
        try:
            batch = self._reader.read(block, self.schema)
        except ExampleError as error:
            good = 0 if error.record is None else error.record - block.first
            if not 0 < good < len(block):
                raise
            yield from self.of(block[:good])
            raise
        if not self.is_told and not batch.schema.equals(self.schema or _NOTHING):
            self.is_widened |= _changed(self.schema, batch.schema) is not None
            self.schema = batch.schema
        yield batch

    def fitted(self, block: RecordBlock, *, adds: bool = True) -> Iterator[pa.RecordBatch]:
        """The rows of a block with the types of those before them, which were given: others are an error behind all that fit.

        Args:
            block: the records.
            adds: there may be more columns than were known.

        Raises:
            ExampleError: as `of`; or a record has other types.
        """
        known = self.schema
        for batch in self.of(block):
            key = None if self.is_told else _changed(known, batch.schema, adds=adds)
            if key is None:
                yield batch
                continue
            good = self._good(block, known, adds=adds)
            self.schema = known
            if good:
                yield from self.of(block[:good])
            kind = batch.schema.field(key).type
            there = "in none of" if known is None or key not in known.names else f"{known.field(key).type} in"
            reason = f"is {kind}, and {there} the records that told the columns"
            raise ExampleError(block.name, reason, record=block.first + good, key=key, advice=_GIVE)

    def _good(self, block: RecordBlock, known: pa.Schema | None, *, adds: bool) -> int:
        """How many of the first records of a block have the types that are known."""
        low, high = 0, len(block)
        while high - low > 1:
            middle = (low + high) // 2
            found = self._reader.read(block[low:middle], known)
            low, high = (middle, high) if _changed(known, found.schema, adds=adds) is None else (low, middle)
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
        if missing and not self.is_told:
            known = ", ".join(map(repr, replace(self._reading, columns=None).reader().read(block).schema.names))
            reason = f"{where} have no feature {missing[0]!r}"
            raise FileFormatError(block.name, reason, advice=f"Choose columns= among {known}, or give features= or spec= too")


def _changed(known: pa.Schema | None, found: pa.Schema, *, adds: bool = True) -> str | None:
    """The first column that has another type than was known of it; not one that was known to have no values at all.

    Args:
        known: what was known.
        found: the columns, at least those that were known.
        adds: a column that was not known is none of those.
    """
    types = {} if known is None else {field.name: field.type for field in known}
    for field in found:
        before = types.get(field.name)
        is_other = not adds if before is None else field.type != before and not (adds and _is_empty(before))
        if is_other:
            return str(field.name)
    return None


def _is_empty(kind: pa.DataType) -> bool:
    """Whether nothing has such a type but null and empty lists."""
    return bool(pa.types.is_null(kind)) or (pa.types.is_list(kind) and _is_empty(kind.value_type))


def is_enough(rows: int, num_bytes: int) -> bool:
    """Whether so many records tell the columns: some hundred or more, unless they are large."""
    return num_bytes >= _HEAD_BYTES and (rows >= _HEAD_ROWS or num_bytes >= _MOST_HEAD_BYTES)


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

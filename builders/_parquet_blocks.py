"""`ParquetBlocks`: a Parquet file, wherever it is, by its row groups: a block each."""

from __future__ import annotations

import itertools
import logging
import os
import warnings
from collections.abc import Generator, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from datasets_core.config import settings
from datasets_core.errors import FileFormatError
from datasets_core.fetch.range_file import RangeFile
from datasets_core.stream.block_files import FileIndex

from ._block_source import ADVICE, BlockSource
from ._parquet_filters import columns_read, possible_groups
from ._schemas import look_at_names, repeated
from ._source import refuse_foreign
from ._sparse import Sparse

logger = logging.getLogger(__name__)

_MAGIC, _ENCRYPTED = b"PAR1", b"PARE"
_PIECE_ROWS, _PIECE_SHARE = 65_536, 16  # the memory of a stream holds so many pieces of a row group
_THREADED_BYTES = 1 << 18  # of a row group that is decoded in threads
_STREAM_BYTES, _LEAST_STREAM_BYTES = 4 << 20, 64 << 10


class Options(Protocol):
    """What is to be read of a file; see `ParquetConfig`."""

    batch_size: int | None
    columns: list[str] | None
    filters: Any
    on_bad_files: Literal["error", "warn", "skip"]


class ParquetBlocks(BlockSource["_Footer"]):
    """The row groups of a Parquet file; see `BlockFile`.

    Args:
        path: the file.
        name: what messages name it.
        options: what to read of it.
    """

    kind = "Parquet"

    def __init__(self, path: str | os.PathLike[str], name: str, options: Options) -> None:
        self._options = options
        super().__init__(path, name)

    def _begin(self) -> None:
        super()._begin()
        self._reader: tuple[Any, Sparse] | None = None

    @property
    def saved_as(self) -> str | None:
        """See `BlockFile.saved_as`."""
        if self._options.filters is not None or self._options.on_bad_files != "error" or super().saved_as is None:
            return None
        return f"{super().saved_as}\n{self._options.columns!r}"

    # -- the footer ----------------------------------------------------------------------------------------------------

    def index(self) -> FileIndex:
        """See `BlockFile.index`."""
        try:
            return self._index()
        except FileFormatError as error:
            if self._options.on_bad_files == "error":
                raise
            if self._options.on_bad_files == "warn":
                warnings.warn(f"Rows are left out: {error}", stacklevel=2)
            logger.info("Left out: %s", error)
            nothing = np.zeros(0, np.int64)
            return FileIndex.of(None, nothing, nothing, (0, ""))

    def _index(self) -> FileIndex:
        footer, filters = self._read_footer(), self._options.filters
        metadata, schema = footer.metadata, footer.schema
        with self._faults():
            look_at_names(schema)
            if (twice := repeated(schema.names)) is not None:
                raise ValueError(f"two of its columns are named {twice!r}")
        for column in self._options.columns or ():
            if column not in schema.names:
                known = ", ".join(map(repr, schema.names))
                raise self._source.fault(f"has no column {column!r}", advice=f"Choose columns= among {known}")
        if self._options.columns is not None:
            wanted = self._wanted(footer)
            schema = pa.schema([schema.field(column) for column in wanted], metadata=schema.metadata)
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        rows = np.array([group.num_rows for group in groups], np.int64)
        sizes = np.array([group.total_byte_size for group in groups], np.int64)
        if (rows < 0).any() or int(rows.sum()) != metadata.num_rows:
            raise self._unreadable("its row groups do not have its rows")
        found = FileIndex.of(schema, rows, sizes, self._version())
        if filters is None:
            return found
        with self._faults():
            return found.chosen(possible_groups(footer.data, filters))

    def _wanted(self, footer: _Footer) -> list[str]:
        """The columns that are read: those that are wanted, and such as filters need."""
        columns, filters, names = self._options.columns, self._options.filters, footer.schema.names
        if columns is None:
            return list(names)
        return list(columns) if filters is None else columns_read(columns, filters, names)

    def _footer_bytes(self, ranges: RangeFile, tail: bytes, size: int) -> bytes:
        """The footer with its length and the mark behind it."""
        mark = tail[-4:]
        if mark not in (_MAGIC, _ENCRYPTED) or size < 12:
            self._refuse(ranges, size)
        if mark == _ENCRYPTED:
            raise self._source.fault(
                "is encrypted, and cannot be read without its keys", advice="Decrypt it, and write it again without encryption"
            )
        return self._last(int.from_bytes(tail[-8:-4], "little") + 8, ranges, tail, size)

    def _refuse(self, ranges: RangeFile, size: int) -> None:
        """Say what a file without the mark at its end is.

        Raises:
            FileFormatError: always.
        """
        head = bytes(ranges.read([(0, min(4096, size))])[0])
        if head.startswith((_MAGIC, _ENCRYPTED)):
            raise self._unreadable("its end is missing: it holds no footer")
        refuse_foreign(self._source, head, "a Parquet file")
        raise self._unreadable("neither its first nor its last bytes are those of a Parquet file")

    def _parsed(self, data: bytes) -> _Footer:
        import pyarrow.parquet as pq  # 12 ms that a dataset which stands does without

        with self._faults():
            metadata = pq.read_metadata(pa.BufferReader(_MAGIC + data))
            return _Footer(metadata, metadata.schema.to_arrow_schema(), data)

    # -- the row groups ------------------------------------------------------------------------------------------------

    def needed(self, block: int, columns: Sequence[str] | None) -> list[tuple[int, int]]:
        """See `BlockFile.needed`."""
        footer = self._read_footer()
        group = footer.metadata.row_group(block)
        names = self._names(footer, columns)
        found = []
        for place in range(group.num_columns):
            chunk = group.column(place)
            path = chunk.path_in_schema
            if names is not None and not any(path == name or path.startswith(f"{name}.") for name in names):
                continue
            start = chunk.data_page_offset
            if chunk.has_dictionary_page and chunk.dictionary_page_offset is not None and chunk.dictionary_page_offset > 0:
                start = min(start, chunk.dictionary_page_offset)
            found.append((start, start + chunk.total_compressed_size))
        return self._checked(found)

    def read(self, block: int, columns: Sequence[str] | None, fetched: Any = None) -> Generator[pa.RecordBatch]:
        """See `BlockFile.read`."""
        footer = self._read_footer()
        group = footer.metadata.row_group(block)
        names = self._names(footer, columns)
        schema = footer.schema if names is None else pa.schema([footer.schema.field(name) for name in names])
        schema = schema.with_metadata(footer.schema.metadata)
        first = footer.first_row(block)
        row = first
        is_left_out = self._options.on_bad_files != "error"  # but by its footer it was none of those
        advice = "Leave streaming=True out, as only then on_bad_files= finds it" if is_left_out else ADVICE
        with self._faults(lambda: row, advice):
            file, sparse = self._file(footer, None if fetched is not None else self.needed(block, columns))
            with sparse.holding(fetched or []):
                rows = self._options.batch_size or piece_rows(group.num_rows, group.total_byte_size)
                threads = group.total_byte_size > _THREADED_BYTES
                for batch in file.iter_batches(rows, row_groups=[block], columns=names, use_threads=threads):
                    batch.validate(full=True)  # pyarrow takes strings that are not UTF-8, and any keys of dictionaries
                    row += batch.num_rows
                    if batch.num_rows:
                        yield in_order(batch, schema)
            if row - first != group.num_rows:
                raise ValueError(f"its row group {block} ends after {row - first} of {group.num_rows} rows")

    def _names(self, footer: _Footer, columns: Sequence[str] | None) -> list[str] | None:
        wanted = self._wanted(footer) if columns is None else list(columns)
        return None if wanted == footer.schema.names else wanted

    def _file(self, footer: _Footer, needed: list[tuple[int, int]] | None) -> tuple[Any, Sparse]:
        """The file as pyarrow reads it: from what was fetched (None), or, by stretches of each column, as it goes."""
        import pyarrow.parquet as pq  # see above

        if needed is None and self._reader is not None:
            return self._reader
        stretch = 0
        if needed is not None:
            stretch = max(_LEAST_STREAM_BYTES, min(_STREAM_BYTES, _piece_bytes() // max(1, len(needed))))
        sparse = Sparse(self._opened(), stretch, [stop for _, stop in needed or ()])
        file = pq.ParquetFile(
            sparse,
            metadata=footer.metadata,
            memory_map=False,
            pre_buffer=False,
            buffer_size=stretch // 4,
            page_checksum_verification=True,
        )
        if needed is None:
            self._reader = file, sparse
        return file, sparse


class _Footer:
    """What a footer says."""

    __slots__ = ("_ends", "data", "metadata", "schema")

    def __init__(self, metadata: Any, schema: pa.Schema, data: bytes) -> None:
        self.metadata, self.schema, self.data = metadata, schema, data
        self._ends: list[int] | None = None

    def first_row(self, group: int) -> int:
        """The number of the first row of a row group in its file."""
        if self._ends is None:
            rows = (self.metadata.row_group(number).num_rows for number in range(self.metadata.num_row_groups))
            self._ends = [0, *itertools.accumulate(rows)]
        return self._ends[group]


def piece_rows(rows: int, size: int) -> int:
    """How many rows to decode at a time, of so many in so many bytes."""
    return max(1, min(_PIECE_ROWS, _piece_bytes() * rows // max(size, 1)))


def _piece_bytes() -> int:
    return settings().stream_memory_bytes // _PIECE_SHARE


def in_order(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """A batch with the columns of a schema, and with its metadata, which batches lose."""
    if batch.schema.names != schema.names:
        batch = batch.select(schema.names)
    if not len(schema):
        return batch
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)

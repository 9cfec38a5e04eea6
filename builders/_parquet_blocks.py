"""Row groups of Parquet files: read whole or by place, filtered, their page checksums verified."""

from __future__ import annotations

import contextlib
import itertools
import os
import warnings
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.config import check_schema, settings
from datasets_core.errors import DatasetsCoreError, FileFormatError, logger_of
from datasets_core.features.arrow import validate
from datasets_core.features.formats.formats import RowFormat
from datasets_core.features.schema import Features
from datasets_core.fetch.ranges.file import RangeFile
from datasets_core.progress import FileMeter, meter
from datasets_core.stream.nodes.columns import Cast, Selected
from datasets_core.stream.nodes.functions import Function
from datasets_core.stream.sources.block_reader import FileIndex
from datasets_core.stream.steps import ChangeColumns, Filter, Step

from ._blocks import ADVICE, BlockSource, Sparse, Window
from ._source import Source, refuse_foreign
from ._tables import empty_batch, look_at_names, repeated

if TYPE_CHECKING:
    from .parquet import ParquetConfig


# Filters of Parquet streams: row groups that cannot match are not read, and rows of the others that do not match are
# dropped.


_FILTER_ROWS = 1024
_PLACE = "__row__"


def expression_of(filters: Any) -> Any:
    """Return filters, given in any form, as an expression."""
    import pyarrow.parquet as pq  # takes 12 ms; an existing dataset does not need it

    return pq.filters_to_expression(filters) if isinstance(filters, (list, tuple)) else filters


def possible_groups(footer: bytes, filters: Any) -> list[int]:
    """Return the row groups of a file that may have matching rows, according to their statistics.

    Args:
        footer: the footer of the file, with its length and end mark.
        filters: see `ParquetConfig`.

    Raises:
        pyarrow.ArrowException: a filter does not fit the columns.
    """
    import pyarrow.dataset as ds  # takes 30 ms; a plain read does not need it

    fragment = ds.ParquetFileFormat().make_fragment(pa.BufferReader(b"PAR1" + footer))
    return [group.id for group in fragment.subset(filter=expression_of(filters)).row_groups]


def columns_read(columns: Sequence[str], filters: Any, names: Sequence[str]) -> list[str]:
    """Return the requested columns, and those that filters need.

    >>> columns_read(["b"], [("a", ">", 1)], ["a", "b", "c"])
    ['b', 'a']
    """
    text = str(expression_of(filters))
    return [*columns, *(name for name in names if name not in columns and name in text)]


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Decides which rows of a table the filters keep."""

    filters: Any

    def __call__(self, table: pa.Table) -> Any:
        """Return for each row whether it is kept."""
        numbered = table.append_column(_PLACE, pa.array(np.arange(table.num_rows)))
        kept = np.zeros(table.num_rows, bool)
        kept[numbered.filter(expression_of(self.filters))[_PLACE].to_numpy()] = True
        return kept.tolist()


def filter_steps(filters: Any, columns: Sequence[str] | None, features: Features | None) -> tuple[Step, ...]:
    """Conversion of the rows of files to rows of the dataset.

    Args:
        filters, columns: see `ParquetConfig`.
        features: types that the columns are cast to; None keeps the types.
    """
    function = Function(KeptRows(filters), "filter", format=RowFormat("arrow"))
    steps: list[Step] = [Filter(function, is_batched=True, size=_FILTER_ROWS)]
    if columns is not None:
        steps.append(ChangeColumns(Selected(tuple(columns)), f"columns={list(columns)}"))
    if features is not None:
        steps.append(ChangeColumns(Cast(features, is_all=True), "features="))
    return tuple(steps)


# `ParquetBlocks`: a local or remote Parquet file; each row group is a block.


logger = logger_of(__name__)

_MAGIC = b"PAR1"
_ENCRYPTED = b"PARE"
_PIECE_ROWS, _PIECE_SHARE = 65_536, 16  # number of such pieces of a row group in the memory of a stream
_THREADED_BYTES = 1 << 18  # size of a row group decoded in threads
_STREAM_BYTES, _LEAST_STREAM_BYTES = 4 << 20, 64 << 10


class Options(Protocol):
    """Options for reading a file; see `ParquetConfig`."""

    batch_size: int | None
    columns: list[str] | None
    filters: Any
    on_bad_files: Literal["error", "warn", "skip"]


class ParquetBlocks(BlockSource["_Footer"]):
    """The row groups of a Parquet file; see `BlockFile`.

    Args:
        path: the file.
        name: name used in messages.
        options: options for reading.
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
                warnings.warn(f"Rows are skipped: {error}", stacklevel=2)
            logger.info("Left out: %s", error)
            nothing = np.zeros(0, np.int64)
            return FileIndex.of(None, nothing, nothing, (0, ""))

    def _index(self) -> FileIndex:
        footer, filters = self._read_footer(), self._options.filters
        metadata, schema = footer.metadata, footer.schema
        with self._faults():
            check_schema(schema, self._source.name)
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
            raise self._unreadable("its row groups do not add up to its number of rows")
        found = FileIndex.of(schema, rows, sizes, self._version())
        if filters is None:
            return found
        with self._faults():
            return found.chosen(possible_groups(footer.data, filters))

    def _wanted(self, footer: _Footer) -> list[str]:
        """Return the columns to read: the requested ones, and those that filters need."""
        columns, filters, names = self._options.columns, self._options.filters, footer.schema.names
        if columns is None:
            return list(names)
        return list(columns) if filters is None else columns_read(columns, filters, names)

    def _footer_bytes(self, ranges: RangeFile, tail: bytes, size: int) -> bytes:
        """The footer with its length and end mark."""
        mark = tail[-4:]
        if mark not in (_MAGIC, _ENCRYPTED) or size < 12:
            self._refuse(ranges, size)
        if mark == _ENCRYPTED:
            raise self._source.fault("is encrypted, and its keys are not available", advice="Decrypt the file")
        return self._last(int.from_bytes(tail[-8:-4], "little") + 8, ranges, tail, size)

    def _refuse(self, ranges: RangeFile, size: int) -> None:
        """Raise the error for a file without the end mark.

        Raises:
            FileFormatError: always.
        """
        head = bytes(ranges.read([(0, min(4096, size))])[0])
        if head.startswith((_MAGIC, _ENCRYPTED)):
            raise self._unreadable("its end is missing, so it has no footer")
        refuse_foreign(self._source, head, "a Parquet file")
        raise self._unreadable("it does not begin or end like a Parquet file")

    def _parsed(self, data: bytes) -> _Footer:
        import pyarrow.parquet as pq  # takes 12 ms; an existing dataset does not need it

        with self._faults():
            metadata = pq.read_metadata(pa.BufferReader(_MAGIC + data))
            return _Footer(metadata, metadata.schema.to_arrow_schema(), data)

    # -- the row groups ------------------------------------------------------------------------------------------------

    def needed(self, block: int, columns: Sequence[str] | None) -> list[tuple[int, int]]:
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
        is_left_out = self._options.on_bad_files != "error"  # though its footer was valid
        advice = "Omit streaming=True: on_bad_files= only applies to damaged rows without it" if is_left_out else ADVICE
        with self._faults(lambda: row, advice):
            file, sparse = self._file(footer, None if fetched is not None else self.needed(block, columns))
            with sparse.holding(fetched or []):
                rows = self._options.batch_size or piece_rows(group.num_rows, group.total_byte_size)
                threads = group.total_byte_size > _THREADED_BYTES
                for batch in file.iter_batches(rows, row_groups=[block], columns=names, use_threads=threads):
                    validate(batch)  # pyarrow accepts strings that are not UTF-8, and invalid keys of dictionaries
                    row += batch.num_rows
                    if batch.num_rows:
                        yield in_order(batch, schema)
            if row - first != group.num_rows:
                raise ValueError(f"its row group {block} ends after {row - first} of {group.num_rows} rows")

    def _names(self, footer: _Footer, columns: Sequence[str] | None) -> list[str] | None:
        wanted = self._wanted(footer) if columns is None else list(columns)
        return None if wanted == footer.schema.names else wanted

    def _file(self, footer: _Footer, needed: list[tuple[int, int]] | None) -> tuple[Any, Sparse]:
        """Return the file for pyarrow: from the fetched bytes (None), or fetched column by column while it is read."""
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
    """The content of a footer."""

    __slots__ = ("_ends", "data", "metadata", "schema")

    def __init__(self, metadata: Any, schema: pa.Schema, data: bytes) -> None:
        self.metadata, self.schema, self.data = metadata, schema, data
        self._ends: list[int] | None = None

    def first_row(self, group: int) -> int:
        """Return the number of the first row of a row group in its file."""
        if self._ends is None:
            rows = (self.metadata.row_group(number).num_rows for number in range(self.metadata.num_row_groups))
            self._ends = [0, *itertools.accumulate(rows)]
        return self._ends[group]


def piece_rows(rows: int, size: int) -> int:
    """Return how many rows to decode at a time, for a number of rows and their bytes."""
    return max(1, min(_PIECE_ROWS, _piece_bytes() * rows // max(size, 1)))


def _piece_bytes() -> int:
    return settings().stream_memory_bytes // _PIECE_SHARE


def in_order(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return a batch with the columns and the metadata of a schema."""
    if batch.schema.names != schema.names:
        batch = batch.select(schema.names)
    if not len(schema):
        return batch
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)


_BATCH_ROWS = 65_536
_BATCH_BYTES = 32 << 20
_BUFFER_BYTES = 1 << 18  # buffer of each column; without it a row group is read at once
_ADVICE = "Write or fetch the file again"


Groups: TypeAlias = list[tuple[int, int]]
"""Return rows and decoded bytes of each row group."""


def read_parquet(source: Source, options: ParquetConfig, groups: Groups | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Parquet file; at least one batch, possibly empty.

    Args:
        source: the file.
        options: options for reading.
        groups: receives the row groups, unless a filter drops rows.

    Raises:
        FileFormatError: the file is truncated, altered, or not a Parquet file; or it lacks a column.
    """
    if source.remote is not None and _scans(options):
        source = Source(os.fspath(source.remote), source.name)
    with contextlib.closing(Window(source)) if source.remote is not None else open(source.path, "rb") as handle:
        yield from _read(source, options, handle, groups)


def _read(source: Source, options: ParquetConfig, handle: Any, told: Groups | None) -> Iterator[pa.RecordBatch]:
    head = handle.read(4096)
    if not head.startswith(_MAGIC):
        if not head:
            raise source.fault("is empty, so it has no Parquet footer", advice=_ADVICE)
        if not head.startswith(b"PARE"):
            refuse_foreign(source, head, "a Parquet file")
    row = 0
    try:
        schema, batches, total = _filtered(source, options) if _scans(options) else _plain(source, options, handle, told)
        if isinstance(watched := meter(), FileMeter) and not isinstance(handle, Window):
            size = os.fstat(handle.fileno()).st_size
            watched.opened(source.path, size, lambda: size * row // max(total, 1))
        check_schema(schema, source.name)
        look_at_names(schema)
        if (twice := repeated(schema.names)) is not None:
            raise ValueError(f"two of its columns are named {twice!r}")
        for batch in batches:
            validate(batch)  # pyarrow accepts strings that are not UTF-8, and any keys of dictionaries
            row += batch.num_rows
            if batch.num_rows:
                yield batch
    except DatasetsCoreError:
        raise
    except (pa.ArrowException, OSError, ValueError, TypeError, EOFError) as error:
        reason = " ".join(str(error).split())
        raise source.fault(f"cannot be read as Parquet ({reason})", row=row or None, advice=_ADVICE) from error
    if not row:
        yield empty_batch(schema)


def _scans(options: ParquetConfig) -> bool:
    return options.filters is not None or options.fragment_scan_options is not None


def _plain(
    source: Source, options: ParquetConfig, handle: Any, told: Groups | None
) -> tuple[pa.Schema, Iterator[pa.RecordBatch], int]:
    """Return the schema, the batches, and the number of rows of the file."""
    import pyarrow.parquet as pq  # takes 12 ms; an existing dataset does not need it

    file = pq.ParquetFile(  # not memory-mapped: truncating a mapped file while it is read kills the process
        handle if isinstance(handle, Window) else source.path,
        memory_map=False,
        pre_buffer=False,
        buffer_size=_BUFFER_BYTES,
        page_checksum_verification=True,
    )
    if told is not None:
        groups = map(file.metadata.row_group, range(file.metadata.num_row_groups))
        told.extend((group.num_rows, group.total_byte_size) for group in groups)
    schema = file.schema_arrow
    columns = _columns(source, schema, options.columns)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns], metadata=schema.metadata)
    rows = options.batch_size or _batch_rows(file.metadata)
    if isinstance(handle, Window):
        batches = _by_groups(file, handle, rows, columns)
    else:
        batches = file.iter_batches(rows, columns=columns)
    return schema, (_ordered(batch, schema) for batch in _whole(file, batches)), file.metadata.num_rows


def _by_groups(file: Any, window: Window, rows: int, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    """Yield the batches of each row group, which takes one read since its columns are adjacent."""
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        chunks = [group.column(place) for place in range(group.num_columns)]
        wanted = [each for each in chunks if columns is None or each.path_in_schema.partition(".")[0] in columns] or chunks
        starts = [min(each.dictionary_page_offset or each.data_page_offset, each.data_page_offset) for each in wanted]
        ends = [start + each.total_compressed_size for start, each in zip(starts, wanted, strict=True)]
        window.load(min(starts, default=0), max(ends, default=0))
        yield from file.iter_batches(rows, row_groups=[number], columns=columns)


def _whole(file: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the batches, and check the number of rows: pyarrow accepts a truncated last page."""
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        yield batch
    if rows != file.metadata.num_rows:
        raise ValueError(f"it has only {rows} of {file.metadata.num_rows} rows")


def _filtered(source: Source, options: ParquetConfig) -> tuple[pa.Schema, Iterator[pa.RecordBatch], int]:
    import pyarrow.dataset as ds  # takes 30 ms; a plain read does not need it
    import pyarrow.parquet as pq
    from pyarrow import fs

    scan = options.fragment_scan_options or ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    fragment = ds.ParquetFileFormat(default_fragment_scan_options=scan).make_fragment(
        os.path.abspath(source.path), filesystem=fs.LocalFileSystem()
    )
    schema = fragment.physical_schema
    columns = _columns(source, schema, options.columns)
    if columns is not None:
        schema = pa.schema([schema.field(name) for name in columns], metadata=schema.metadata)
    filters = pq.filters_to_expression(options.filters) if isinstance(options.filters, list) else options.filters
    batches = fragment.to_batches(
        columns=columns,
        filter=filters,
        batch_size=options.batch_size or _batch_rows(fragment.metadata),
        batch_readahead=1,
        fragment_readahead=1,
    )
    return schema, (_ordered(batch, schema) for batch in batches), fragment.metadata.num_rows


def _columns(source: Source, schema: pa.Schema, wanted: list[str] | None) -> list[str] | None:
    if wanted is None:
        return None
    for name in wanted:
        if name not in schema.names:
            raise source.fault(f"has no column {name!r}", advice=f"Choose columns= among {', '.join(map(repr, schema.names))}")
    return list(wanted)


def _batch_rows(metadata: Any) -> int:
    """Return the rows per batch, from their size in the footer, so that wide rows do not make batches of gigabytes."""
    if not metadata.num_rows:
        return _BATCH_ROWS
    size: int = sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))
    rows: int = _BATCH_BYTES * metadata.num_rows // max(size, 1)
    return max(1, min(_BATCH_ROWS, rows))


def _ordered(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if batch.schema.names != schema.names:
        batch = batch.select(schema.names)
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)  # with the file's metadata, which batches do not keep

"""Parquet files, row group by row group, with page checksums verified if present; filters and column selection."""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import warnings
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DatasetsCoreError, FileFormatError
from datasets_core.features.formats.formats import RowFormat
from datasets_core.features.schema import Features
from datasets_core.fetch.ranges.file import RangeFile
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.stream.nodes.columns import Cast, Selected
from datasets_core.stream.nodes.functions import Function
from datasets_core.stream.sources.block_reader import FileIndex
from datasets_core.stream.steps import ChangeColumns, Filter, Step

from ._blocks import ADVICE, BlockSource, Sparse, Window
from ._source import Source, refuse_foreign
from ._tables import FileBuilder, empty_batch, look_at_names, repeated

if TYPE_CHECKING:
    from datasets_core.stream.sources.block_reader import BlockFile
    from datasets_core.stream.steps import Step


# Filters of Parquet streams: row groups that cannot have such rows are not read, and of the others those rows are left
# out.


_FILTER_ROWS = 1024
_PLACE = "__row__"


def expression_of(filters: Any) -> Any:
    """Filters as an expression, whichever way they are given."""
    import pyarrow.parquet as pq  # 12 ms, not needed for an existing dataset

    return pq.filters_to_expression(filters) if isinstance(filters, (list, tuple)) else filters


def possible_groups(footer: bytes, filters: Any) -> list[int]:
    """Return the row groups of a file that may have matching rows, by their statistics.

    Args:
        footer: of the file, with its length and the final mark.
        filters: see `ParquetConfig`.

    Raises:
        pyarrow.ArrowException: a filter does not fit the columns.
    """
    import pyarrow.dataset as ds  # 30 ms that a plain read does without

    fragment = ds.ParquetFileFormat().make_fragment(pa.BufferReader(b"PAR1" + footer))
    return [group.id for group in fragment.subset(filter=expression_of(filters)).row_groups]


def columns_read(columns: Sequence[str], filters: Any, names: Sequence[str]) -> list[str]:
    """The columns that are wanted, and those that filters need, which may be some more of the file's.

    >>> columns_read(["b"], [("a", ">", 1)], ["a", "b", "c"])
    ['b', 'a']
    """
    text = str(expression_of(filters))
    return [*columns, *(name for name in names if name not in columns and name in text)]


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Returns which rows of a table match filters."""

    filters: Any

    def __call__(self, table: pa.Table) -> Any:
        """For each row whether it is kept."""
        numbered = table.append_column(_PLACE, pa.array(np.arange(table.num_rows)))
        kept = np.zeros(table.num_rows, bool)
        kept[numbered.filter(expression_of(self.filters))[_PLACE].to_numpy()] = True
        return kept.tolist()


def filter_steps(filters: Any, columns: Sequence[str] | None, features: Features | None) -> tuple[Step, ...]:
    """Return the steps from the rows of files to those of a dataset.

    Args:
        filters, columns: see `ParquetConfig`.
        features: target types of the columns; None: unchanged.
    """
    function = Function(KeptRows(filters), "filter", format=RowFormat("arrow"))
    steps: list[Step] = [Filter(function, is_batched=True, size=_FILTER_ROWS)]
    if columns is not None:
        steps.append(ChangeColumns(Selected(tuple(columns)), f"columns={list(columns)}"))
    if features is not None:
        steps.append(ChangeColumns(Cast(features, is_all=True), "features="))
    return tuple(steps)


# `ParquetBlocks`: a Parquet file, wherever it is, by its row groups: a block each.


logger = logging.getLogger(__name__)

_MAGIC = b"PAR1"
_ENCRYPTED = b"PARE"
_PIECE_ROWS, _PIECE_SHARE = 65_536, 16  # the memory of a stream holds so many pieces of a row group
_THREADED_BYTES = 1 << 18  # of a row group that is decoded in threads
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
        import pyarrow.parquet as pq  # 12 ms, not needed for an existing dataset

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
    """Content of a footer."""

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
    """Return the number of rows to decode at a time, for so many rows of so many bytes."""
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


EXTENSIONS: dict[str, dict[str, Any]] = {".parquet": {}, ".geoparquet": {}, ".gpq": {}}


_BATCH_ROWS = 65_536
_BATCH_BYTES = 32 << 20
_BUFFER_BYTES = 1 << 18  # of each column; without it a row group is read at once
_ADVICE = "Write or fetch the file again"
_ON_BAD_FILES = ("error", "warn", "skip")


@dataclass(eq=False)
class ParquetConfig(BuilderConfig):
    """Options of `load_dataset("parquet", ...)`.

    Args:
        batch_size: rows that are read at a time; None chooses by the width of the rows.
        columns: the columns to load, in this order; None loads all.
        features: what the columns are cast to; None takes what the files say.
        filters: rows to keep, as `pyarrow.parquet.read_table` takes them: an expression, `[(column, op, value)]`, or a list of
            such lists.  Row groups whose statistics rule them out are not read.
        fragment_scan_options: a `pyarrow.dataset.ParquetFragmentScanOptions`.
        on_bad_files: "error" refuses a file that cannot be read, "warn" and "skip" leave it out.
    """

    batch_size: int | None = None
    columns: list[str] | None = None
    features: Any = None
    filters: Any = None
    fragment_scan_options: Any = None
    on_bad_files: Literal["error", "warn", "skip"] = "error"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.on_bad_files not in _ON_BAD_FILES:
            raise ConfigurationError(f"on_bad_files={self.on_bad_files!r} is unknown. Use 'error', 'warn' or 'skip'.")
        if self.batch_size is not None and self.batch_size < 1:
            raise ConfigurationError(f"batch_size={self.batch_size} reads nothing. Pass at least 1, or None.")
        if isinstance(self.columns, str):
            raise ConfigurationError(f"columns={self.columns!r} is a text. Pass a list of names.")
        if self.columns is not None and (twice := repeated(list(self.columns))) is not None:
            raise ConfigurationError(f"columns= names {twice!r} twice. Name each column once.")
        if isinstance(self.filters, (str, bytes, dict)):
            raise ConfigurationError(
                f"filters={self.filters!r} is no filter. Pass [(column, operator, value)], a list of such, or an expression."
            )
        if (
            self.columns is not None
            and self.features is not None
            and (unknown := [c for c in self.columns if c not in self.features])
        ):
            raise ConfigurationError(
                f"columns= names {unknown[0]!r}, which features= does not have. Give both the same columns."
            )


class Parquet(FileBuilder):
    """Parquet files; features that Hugging Face `datasets` left in their metadata are kept."""

    is_format = True
    name = "parquet"
    cache_version = "cff1f3a490a8f0da3571ed517de04a03"
    BUILDER_CONFIG_CLASS = ParquetConfig
    streams = True
    seeks = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._groups: dict[str, Groups] = {}  # rows and bytes of the row groups of what was read
        columns, features = self.config.columns, self.info.features
        if columns is not None and features is not None:
            self.info.features = Features({name: features[name] for name in columns if name in features})

    def block_file(self, path: str | os.PathLike[str], name: str) -> BlockFile | None:
        """See `FileBuilder.block_file`."""

        if self.config.fragment_scan_options is not None:
            logger.warning("With fragment_scan_options, %s is streamed from its beginning: skipped rows are read too.", name)
            return None
        return ParquetBlocks(path, name, self.config)

    def block_steps(self) -> tuple[Step, ...]:
        """See `FileBuilder.block_steps`."""
        if self.config.filters is None:
            return ()

        return filter_steps(self.config.filters, self.config.columns, self.info.features)

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        """See `FileBuilder.read`."""
        options = self.config
        groups = self._groups[source.path] = []
        try:
            yield from read_parquet(source, options, groups)
        except FileFormatError as error:
            if options.on_bad_files == "error":
                raise
            if options.on_bad_files == "warn":
                warnings.warn(f"Rows are left out: {error}", stacklevel=2)
            logger.info("Left out: %s", error)

    def file_blocks(self, gen_kwargs: dict[str, Any]) -> RowBlocks | None:
        """See `Hooks.file_blocks`: as a stream finds them, of files that were just read, so that no footer is read twice."""
        known, self._groups = self._groups, {}
        groups = [known.get(os.fspath(path), []) for path in gen_kwargs["files"]]
        parts = [RowBlocks.of([rows for rows, _ in each], [size for _, size in each], file_count=1) for each in groups]
        return RowBlocks.joined(parts)


Groups: TypeAlias = list[tuple[int, int]]
"""Rows and decoded bytes of each row group."""


def read_parquet(source: Source, options: ParquetConfig, groups: Groups | None = None) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a Parquet file; at least one batch, if an empty one.

    Args:
        source: the file.
        options: options.
        groups: receives the row groups; not with filters on rows.

    Raises:
        FileFormatError: the file is truncated, altered, or not a Parquet file; it lacks a column.
    """
    if source.remote is not None and _scans(options):
        source = Source(os.fspath(source.remote), source.name)
    with contextlib.closing(Window(source)) if source.remote is not None else open(source.path, "rb") as handle:
        yield from _read(source, options, handle, groups)


def _read(source: Source, options: ParquetConfig, handle: Any, told: Groups | None) -> Iterator[pa.RecordBatch]:
    head = handle.read(4096)
    if not head.startswith(_MAGIC):
        if not head:
            raise source.fault("is empty: it holds no Parquet footer", advice=_ADVICE)
        if not head.startswith(b"PARE"):
            refuse_foreign(source, head, "a Parquet file")
    row = 0
    try:
        schema, batches = _filtered(source, options) if _scans(options) else _plain(source, options, handle, told)
        look_at_names(schema)
        if (twice := repeated(schema.names)) is not None:
            raise ValueError(f"two of its columns are named {twice!r}")
        for batch in batches:
            batch.validate(full=True)  # pyarrow accepts strings that are not UTF-8, and any dictionary keys
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
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    import pyarrow.parquet as pq  # 12 ms, not needed for an existing dataset

    file = pq.ParquetFile(  # not mapped: a mapped file that is cut while it is read kills the process
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
    return schema, (_ordered(batch, schema) for batch in _whole(file, batches))


def _by_groups(file: Any, window: Window, rows: int, columns: list[str] | None) -> Iterator[pa.RecordBatch]:
    """Yield the batches of one row group after the other, each read at once: its columns are contiguous."""
    for number in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(number)
        chunks = [group.column(place) for place in range(group.num_columns)]
        wanted = [each for each in chunks if columns is None or each.path_in_schema.partition(".")[0] in columns] or chunks
        starts = [min(each.dictionary_page_offset or each.data_page_offset, each.data_page_offset) for each in wanted]
        ends = [start + each.total_compressed_size for start, each in zip(starts, wanted, strict=True)]
        window.load(min(starts, default=0), max(ends, default=0))
        yield from file.iter_batches(rows, row_groups=[number], columns=columns)


def _whole(file: Any, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches, as many rows as the footer says: pyarrow takes the end of a cut file for that of its last page."""
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        yield batch
    if rows != file.metadata.num_rows:
        raise ValueError(f"it ends after {rows} of {file.metadata.num_rows} rows")


def _filtered(source: Source, options: ParquetConfig) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    import pyarrow.dataset as ds  # 30 ms that a plain read does without
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
    return schema, (_ordered(batch, schema) for batch in batches)


def _columns(source: Source, schema: pa.Schema, wanted: list[str] | None) -> list[str] | None:
    if wanted is None:
        return None
    for name in wanted:
        if name not in schema.names:
            raise source.fault(f"has no column {name!r}", advice=f"Choose columns= among {', '.join(map(repr, schema.names))}")
    return list(wanted)


def _batch_rows(metadata: Any) -> int:
    """Rows a batch, so that wide rows do not make batches of gigabytes: by what the footer says of their size."""
    if not metadata.num_rows:
        return _BATCH_ROWS
    size: int = sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))
    rows: int = _BATCH_BYTES * metadata.num_rows // max(size, 1)
    return max(1, min(_BATCH_ROWS, rows))


def _ordered(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    if batch.schema.names != schema.names:
        batch = batch.select(schema.names)
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema)  # with the file's metadata, which batches lose

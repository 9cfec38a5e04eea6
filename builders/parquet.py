"""Parquet files, row group by row group, with their page checksums verified where they have them."""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pyarrow as pa

from datasets_core.building.builder_config import BuilderConfig
from datasets_core.errors import ConfigurationError, DatasetsCoreError, FileFormatError
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks

from ._schemas import empty_batch, look_at_names, repeated
from ._source import Source, refuse_foreign
from ._tables import FileBuilder
from ._window import Window

if TYPE_CHECKING:
    from datasets_core.stream.block_files import BlockFile
    from datasets_core.stream.steps import Step

EXTENSIONS: dict[str, dict[str, Any]] = {".parquet": {}, ".geoparquet": {}, ".gpq": {}}

logger = logging.getLogger(__name__)

_MAGIC = b"PAR1"
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
        from ._parquet_blocks import ParquetBlocks  # 20 ms that a build does without

        if self.config.fragment_scan_options is not None:
            logger.warning("With fragment_scan_options, %s is streamed from its beginning: skipped rows are read too.", name)
            return None
        return ParquetBlocks(path, name, self.config)

    def block_steps(self) -> tuple[Step, ...]:
        """See `FileBuilder.block_steps`."""
        if self.config.filters is None:
            return ()
        from ._parquet_filters import filter_steps  # as above

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
    """The rows of a Parquet file; at least one batch, if an empty one.

    Args:
        source: the file.
        options: what to read of it.
        groups: is told the row groups; not where a filter leaves rows out.

    Raises:
        FileFormatError: the file is cut, altered, or no Parquet file; a column is not in it.
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
            batch.validate(full=True)  # pyarrow takes strings that are not UTF-8, and keys of dictionaries as they stand
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
    import pyarrow.parquet as pq  # 12 ms that a dataset which stands does without

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
    """The batches of one row group after the other, each of which is had by one read: its columns lie side by side."""
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

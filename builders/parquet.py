"""Parquet files, row group by row group, with page checksums verified if present; filters and column selection."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from datasets_core._lazy import attach
from datasets_core.building.hooks import BuilderConfig
from datasets_core.errors import ConfigurationError, FileFormatError, logger_of
from datasets_core.features.schema import Features

from ._tables import FileBuilder, repeated

if TYPE_CHECKING:
    from datasets_core.meta.row_blocks import RowBlocks
    from datasets_core.stream.sources.block_reader import BlockFile
    from datasets_core.stream.steps import Step

    from ._source import Source


logger = logger_of(__name__)

__getattr__, __dir__ = attach(__name__, {"read_parquet": "datasets_core.builders._parquet_blocks"})

EXTENSIONS: dict[str, dict[str, Any]] = {".parquet": {}, ".geoparquet": {}, ".gpq": {}, ".pq": {}}

_ON_BAD_FILES = ("error", "warn", "skip")


@dataclass(eq=False)
class ParquetConfig(BuilderConfig):
    """Options of `load_dataset("parquet", ...)`.

    Args:
        batch_size: number of rows read at a time; None chooses by the width of the rows.
        columns: the columns to load, in this order; None loads all.
        features: types that the columns are cast to; None uses the types of the files.
        filters: rows to keep, as `pyarrow.parquet.read_table` takes them: an expression, `[(column, op, value)]`, or a list of
            such lists.  Row groups whose statistics rule them out are not read.
        fragment_scan_options: a `pyarrow.dataset.ParquetFragmentScanOptions`.
        on_bad_files: "error" refuses a file that cannot be read, "warn" and "skip" drop it.
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
            raise ConfigurationError(f"batch_size={self.batch_size} is not valid. Pass at least 1, or None.")
        if isinstance(self.columns, str):
            raise ConfigurationError(f"columns={self.columns!r} is a string. Pass a list of names.")
        if self.columns is not None and (twice := repeated(list(self.columns))) is not None:
            raise ConfigurationError(f"columns= names {twice!r} twice. Name each column once.")
        if isinstance(self.filters, (str, bytes, dict)):
            raise ConfigurationError(
                f"filters={self.filters!r} is not valid. Pass [(column, operator, value)], a list of these, or an expression."
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
    """Parquet files; features that Hugging Face `datasets` stored in their metadata are used."""

    is_format = True
    name = "parquet"
    cache_version = "cff1f3a490a8f0da3571ed517de04a03"
    BUILDER_CONFIG_CLASS = ParquetConfig
    streams = True
    seeks = True

    @property
    def is_native(self) -> bool:
        return True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._groups: dict[str, list[tuple[int, int]]] = {}  # rows and bytes of the row groups read so far
        columns, features = self.config.columns, self.info.features
        if columns is not None and features is not None:
            self.info.features = Features({name: features[name] for name in columns if name in features})

    def block_file(self, path: str | os.PathLike[str], name: str) -> BlockFile | None:
        from ._parquet_blocks import ParquetBlocks  # takes 60 ms; a finished dataset does not need it

        if self.config.fragment_scan_options is not None:
            logger.warning("With fragment_scan_options, %s is streamed from its beginning, including skipped rows.", name)
            return None
        return ParquetBlocks(path, name, self.config)

    def block_steps(self) -> tuple[Step, ...]:
        if self.config.filters is None:
            return ()
        from ._parquet_blocks import filter_steps  # as above

        return filter_steps(self.config.filters, self.config.columns, self.info.features)

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        from ._parquet_blocks import read_parquet  # as above

        options = self.config
        groups = self._groups[source.path] = []
        try:
            yield from read_parquet(source, options, groups)
        except FileFormatError as error:
            if options.on_bad_files == "error":
                raise
            if options.on_bad_files == "warn":
                warnings.warn(f"Rows are skipped: {error}", stacklevel=2)
            logger.info("Left out: %s", error)

    def file_blocks(self, gen_kwargs: dict[str, Any]) -> RowBlocks | None:
        """See `Hooks.file_blocks`, for files that were just read, so that no footer is read twice."""
        from datasets_core.meta.row_blocks import RowBlocks  # as above

        known, self._groups = self._groups, {}
        groups = [known.get(os.fspath(path), []) for path in gen_kwargs["files"]]
        parts = [RowBlocks.of([rows for rows, _ in each], [size for _, size in each], file_count=1) for each in groups]
        return RowBlocks.joined(parts)

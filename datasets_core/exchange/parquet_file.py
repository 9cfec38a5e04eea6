"""Datasets as Parquet files, with their features inside."""

from __future__ import annotations

from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from datasets_core.errors import CastError, ConfigurationError
from datasets_core.exchange.rows_out import opened, rows_of_bytes, table_of, tables
from datasets_core.progress import progress
from datasets_core.rows.tabled import Tabled

GROUP_BYTES = 32 << 20
"""Bytes of a row group in Arrow's layout, about."""
GROUP_ROWS = 1 << 20


def write_parquet(
    dataset: Tabled, target: Any, batch_size: int | None, storage_options: dict[str, Any] | None, options: dict[str, Any]
) -> int:
    """Write the rows: the bytes that they take in Arrow's layout; see `Dataset.to_parquet`."""
    group = min(GROUP_ROWS, rows_of_bytes(dataset, GROUP_BYTES, least=100))
    with opened(target, storage_options) as out, progress("Writing Parquet", total=dataset.num_rows) as bar:
        writer = parquet_writer(out, table_of(dataset, 0, 0).schema, options)
        written = 0
        try:
            for table in tables(dataset, batch_size, group):
                writer.write_table(table, row_group_size=max(1, table.num_rows))
                written += table.nbytes
                bar.update(table.num_rows)
        finally:
            writer.close()
    return written


def parquet_writer(out: IO[bytes], schema: pa.Schema, options: dict[str, Any]) -> pq.ParquetWriter:
    """What writes rows of this schema as Parquet.

    Raises:
        ConfigurationError: options that mean nothing.
        CastError: Parquet has no such type.
    """
    try:
        return pq.ParquetWriter(out, schema, **options)
    except TypeError as error:
        raise ConfigurationError(f"{error}. Give options of pyarrow.parquet.ParquetWriter.") from error
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
        raise CastError(f"Parquet cannot hold these columns: {error}. Cast them, or use save_to_disk.") from error
    except pa.ArrowException as error:
        raise ConfigurationError(f"{error}. Give options that pyarrow.parquet.ParquetWriter takes.") from error

"""The rows of a stream in a table of a database, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from datasets_core.exchange.frames_out import write_sql_parts
from datasets_core.exchange.stream_batches import StreamBatches
from datasets_core.rows.arguments import checked_batch_size
from datasets_core.rows.tabled import Tabled
from datasets_core.stream.iterable import IterableDataset


def write_stream_sql(stream: IterableDataset, name: str, con: Any, batch_size: int | None, options: dict[str, Any]) -> int:
    """Write the rows from where the stream stands on: their number; see `IterableDataset.to_sql`."""
    size = None if batch_size is None else checked_batch_size(batch_size)
    batches = StreamBatches(stream, size)
    return write_sql_parts(_parts(batches), name, con, options, batches.num_rows)


def _parts(batches: StreamBatches) -> Iterator[tuple[Tabled, int, int]]:
    is_empty = True
    for batch, _ in batches.behind(None, 0):
        is_empty = False
        yield batches.tabled(batch), 0, batch.num_rows
    if is_empty:  # the table is made all the same
        yield batches.sample, 0, 0

"""What an author yields, taken in chunks and encoded: batches of rows with their keys, and tables, each with the part it is of.

Rows are taken in chunks, bounded in rows and bytes, and a chunk is encoded column by column: no Python runs per row but the
author's own.
"""

from __future__ import annotations

import itertools
from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from datasets_core.building.author_failures import begin, shown, taken
from datasets_core.building.hooks import Encoded, Hooks, Part, Reread
from datasets_core.building.jobs import holds_once
from datasets_core.config import settings
from datasets_core.errors import CastError, CellCastError, DatasetGenerationCastError, DatasetGenerationError, DatasetsCoreError
from datasets_core.features.codec import RowEncoder
from datasets_core.features.order_free import OrderFreeEncoder
from datasets_core.store.chunks import ChangedRowsError, Chunks

_MOST_ROWS = 2048  # more of them leave the cache of the processor before they are encoded: a quarter slower


def encoded_rows(builder: Hooks, job: Part, *, first: list[Any] | None = None, copies: bool = False) -> Generator[Encoded]:
    """The rows of a part of a split, encoded.

    Args:
        builder: whose `generate` makes the rows.
        job: the part.
        first: takes the first key, or holds it when the rows are made again.
        copies: every row is copied as it comes; rows that can be made once only are in any case.

    Raises:
        DatasetGenerationError: the author's code failed, or what it yields is no pair of a key and a dict.
        DatasetGenerationCastError: a row does not fit the features.
        ChangedRowsError: rows were changed after they had been yielded: they must be made again, with `copies`.
    """
    copies = copies or holds_once(job.gen_kwargs) or holds_once(vars(builder))
    is_loose = builder.is_of_old_datasets
    encoder = OrderFreeEncoder() if job.is_order_free else RowEncoder(builder.info.features, is_loose=is_loose)
    row = job.skip
    for keys, rows, chunks in _chunks(builder, job, first, copies=copies):
        batch = _encode(builder, job, encoder, rows, keys, row)
        chunks.measured(batch.nbytes, len(rows))
        row += len(rows)
        yield Encoded(keys, batch, encoder.facts if isinstance(encoder, OrderFreeEncoder) else None)


def made_tables(
    builder: Hooks, job: Part, *, from_row: int | None = None
) -> Generator[tuple[Any, pa.Table | pa.RecordBatch], None, int]:
    """Keys and tables of a part of a split, with no more rows than it asks for; and, when all came, how many rows there were.

    Args:
        builder: whose `generate` makes the tables.
        job: the part.
        from_row: the row with which they begin; with one, tables all of whose rows are left out come too, without rows.

    Raises:
        DatasetGenerationError: the author's code failed, or yields something else.
        Reread: the text must be read again with another schema.
    """
    pairs = begin(job, builder)
    row: int = from_row or 0
    key: Any = None

    def reached() -> tuple[int, Any]:
        return row, key

    while True:
        try:
            key, table = taken(job, builder, pairs.__next__, reached, passes=(StopIteration, Reread))
        except StopIteration:
            return row
        if not isinstance(table, pa.Table | pa.RecordBatch):
            raise DatasetGenerationError(
                f"{builder.label} yields a {type(table).__name__} for split {job.split!r}{_in(builder, job, row, key)}. "
                "Yield pairs of a key and a pyarrow.Table from _generate_tables."
            )
        if job.max_rows is not None:
            table = table.slice(0, job.max_rows - row)
        left_out = max(0, min(job.skip - row, table.num_rows))
        row += table.num_rows
        if left_out < table.num_rows or not left_out or from_row is not None:
            yield key, table.slice(left_out) if left_out else table
        if job.max_rows is not None and row == job.max_rows:
            return row


def _chunks(
    builder: Hooks, job: Part, first: list[Any] | None, *, copies: bool
) -> Iterator[tuple[list[Any], list[Any], Chunks]]:
    """Keys and rows, chunk after chunk; `first` takes the first key, or holds it when the rows are made again."""
    limits = settings()
    most = min(limits.batch_rows, _MOST_ROWS)
    rows_at_once = max(1, min(most, job.batch_rows or most))
    pairs = begin(job, builder)
    if job.max_rows is not None:
        pairs = itertools.islice(pairs, job.max_rows)
    row, last_key = _skipped(builder, job, pairs)
    chunks = Chunks(pairs, max_rows=rows_at_once, max_bytes=limits.batch_bytes, copies=copies, is_live=job.is_live)

    def reached() -> tuple[int, Any]:
        chunk = chunks.taken
        return row + len(chunk), chunk[-1][0] if chunk and isinstance(chunk[-1], tuple) and chunk[-1] else last_key

    while True:
        failure: DatasetsCoreError | None = None
        try:
            chunk = taken(job, builder, chunks.take, reached, passes=(ChangedRowsError,))
        except ChangedRowsError:
            _compare_first(builder, job, first, chunks.taken, row)
            raise
        except DatasetsCoreError as error:
            failure, chunk = error, chunks.taken
        _compare_first(builder, job, first, chunk, row)
        if failure is not None and not (job.is_live and chunk):
            raise failure
        if not chunk:
            return
        if failure is not None:
            chunks.check()
        keys, rows = _unzip(builder, job, chunk, row)
        yield keys, rows, chunks
        if failure is not None:
            raise failure
        row += len(chunk)
        last_key = keys[-1]


def _skipped(builder: Hooks, job: Part, pairs: Iterator[tuple[Any, Any]]) -> tuple[int, Any]:
    """Take the rows that are left out; how many, and the last key."""
    row, last = 0, (None, None)

    def skip() -> None:
        nonlocal row, last
        for pair in itertools.islice(pairs, job.skip):
            row, last = row + 1, pair

    def key() -> Any:
        return last[0] if isinstance(last, tuple) and last else None

    if job.skip:
        taken(job, builder, skip, lambda: (row, key()))
    return job.skip, key()


def _compare_first(builder: Hooks, job: Part, first: list[Any] | None, chunk: list[Any], row: int) -> None:
    """Refuse rows that are made again and do not begin where they began: what was yielded before would be lost."""
    if first is None or row:
        return
    found = [pair[0] for pair in chunk[:1] if isinstance(pair, (tuple, list)) and pair]
    if not first:
        first += found
    elif found != first:
        raise DatasetGenerationError(
            f"_generate_examples of {builder.label} changes rows of split {job.split!r} after it has yielded them, and "
            f"does not begin again with the key {first[0]!r}. Yield a new dict with new values for every row."
        )


def _unzip(builder: Hooks, job: Part, chunk: list[Any], row: int) -> tuple[list[Any], list[Any]]:
    try:
        keys, rows = [key for key, _ in chunk], [fields for _, fields in chunk]
        if all(issubclass(kind, Mapping) for kind in set(map(type, rows))):
            return keys, rows
    except (TypeError, ValueError):
        pass  # the loop below finds which pair it is
    for position, pair in enumerate(chunk):
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[1], Mapping):
            kind = f"a tuple of {len(pair)}" if isinstance(pair, tuple | list) and len(pair) != 2 else _kind_of(pair)
            key = pair[0] if isinstance(pair, tuple | list) and pair else None
            where = _in(builder, job, row + position, key)
            raise DatasetGenerationError(
                f"_generate_examples of {builder.label} yields {kind} as row {row + position} of split {job.split!r}{where}. "
                "Yield pairs of a key and a dict."
            )
    return [key for key, _ in chunk], [fields for _, fields in chunk]


def _in(builder: Hooks, job: Part, row: int, key: Any) -> str:
    place = builder.place_of_row(job, row, key)
    return f", in {place}" if place else ""


def _kind_of(pair: Any) -> str:
    if isinstance(pair, tuple | list):
        return f"a key and a {type(pair[1]).__name__}"
    return f"a {type(pair).__name__}"


def _encode(
    builder: Hooks, job: Part, encoder: RowEncoder | OrderFreeEncoder, rows: list[Any], keys: Sequence[Any], row: int
) -> pa.RecordBatch:
    try:
        batch = encoder.encode(rows)
    except CastError as error:
        raise _cast_failure(builder, job, error, keys, row) from error
    if batch.num_rows != len(rows):
        raise DatasetGenerationError(
            f"Row {row} of split {job.split!r} of {builder.label} has no columns. Yield dicts with at least one."
        )
    return batch


def _cast_failure(builder: Hooks, job: Part, error: CastError, keys: Sequence[Any], row: int) -> DatasetGenerationCastError:
    split = f"split {job.split!r} of {builder.label}"
    if isinstance(error, CellCastError) and error.row is not None:
        number, key = row + error.row, keys[error.row]
        place = builder.place_of_row(job, number, key)
        which = f"Row {number} (key {shown(key)}) of {split}{f', yielded in {place},' if place else ''}"
        advice = error.advice or "Mend the value, or the feature of the column"
        return DatasetGenerationCastError(f"{which} does not fit column {error.column!r}: {error.reason}. {advice}.", row=row)
    return DatasetGenerationCastError(f"Rows {row} to {row + len(keys) - 1} of {split} do not fit: {error}", row=row)

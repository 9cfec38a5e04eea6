"""One job, done: the author's hooks are run, and what they yield becomes shards.

Rows are taken in chunks, bounded in rows and bytes, and a chunk is encoded column by column: no Python runs per row but the
author's own.
"""

from __future__ import annotations

import itertools
import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import pyarrow as pa

from datasets_core.building.hooks import Hooks, Reread
from datasets_core.building.jobs import ShardJob, ShardResult, holds_once
from datasets_core.building.key_hash import Words
from datasets_core.building.keys import Clash, KeyLog
from datasets_core.building.row_order import RowOrder
from datasets_core.building.sink import TableSink
from datasets_core.config import settings
from datasets_core.errors import (
    CastError,
    CellCastError,
    DatasetGenerationCastError,
    DatasetGenerationError,
    DatasetsCoreError,
    DuplicateKeysError,
)
from datasets_core.features.codec import RowEncoder
from datasets_core.features.order_free import OrderFreeEncoder
from datasets_core.store.chunks import ChangedRowsError, Chunks

_MOST_ROWS = 2048  # more of them leave the cache of the processor before they are encoded: a quarter slower

OnRows = Callable[[int], object]


def run_job(job: ShardJob, on_rows: OnRows = lambda rows: None) -> ShardResult:
    """Do a job.

    Args:
        job: what to make.
        on_rows: told how many rows were written, now and then.

    Raises:
        DatasetGenerationError: the author's code failed; errors of the library pass as they are.
        DuplicateKeysError: two of its rows share a key.
    """
    return _run_tables(job, on_rows) if job.builder.yields == "tables" else _run_rows(job, on_rows)


# -- tables ------------------------------------------------------------------------------------------------------------


def _run_tables(job: ShardJob, on_rows: OnRows) -> ShardResult:
    builder = job.builder if job.schema is None or not job.builder.rereads else job.builder.with_schema(job.schema)
    while True:
        try:
            return _write_tables(job, builder, on_rows)
        except Reread as request:
            if builder.read_schema is not None and builder.read_schema.equals(request.schema):
                raise DatasetGenerationError(
                    f"{builder.label} asks to read split {job.split!r} again with the schema that it has. "
                    "That is a fault of the builder: it must ask with a wider one."
                ) from None
            builder = builder.with_schema(request.schema)


def _write_tables(job: ShardJob, builder: Hooks, on_rows: OnRows) -> ShardResult:
    with TableSink(job, merge_columns=builder.merge_columns) as sink:
        tables = _begin(job, builder)
        row, key = 0, None
        while True:
            try:
                key, table = next(tables)
            except StopIteration:
                break
            except (DatasetsCoreError, Reread):
                raise
            except Exception as error:
                _fail(job, error, row=row, key=key)
            if not isinstance(table, pa.Table | pa.RecordBatch):
                raise DatasetGenerationError(
                    f"{builder.label} yields a {type(table).__name__} for split {job.split!r}. "
                    "Yield pairs of a key and a pyarrow.Table from _generate_tables."
                )
            if job.max_rows is not None:
                table = table.slice(0, job.max_rows - row)
            sink.write(table, what=origin(job.gen_kwargs, key) or f"The table behind row {row}")
            row += table.num_rows
            on_rows(table.num_rows)
            if row == job.max_rows:
                break
        return ShardResult(job.name, sink.finish(), sink.schema)


def origin(gen_kwargs: Mapping[str, Any], key: Any) -> str | None:
    """The file that the table of `key` was read from; a key `(number of the file, …)` tells which of several."""
    return file_of(gen_kwargs, key[0] if isinstance(key, tuple) and key and isinstance(key[0], int) else None)


def file_of(gen_kwargs: Mapping[str, Any], number: int | None = None) -> str | None:
    """The file of that number among the arguments, by the name that the user knows; the first with how many follow."""
    listed = gen_kwargs.get("names") or gen_kwargs.get("files")
    if not isinstance(listed, list) or not listed or not all(isinstance(name, (str, os.PathLike)) for name in listed):
        return None
    if number is not None and 0 <= number < len(listed):
        return os.fspath(listed[number])
    return os.fspath(listed[0]) if len(listed) == 1 else f"{os.fspath(listed[0])} (and {len(listed) - 1} more)"


# -- rows --------------------------------------------------------------------------------------------------------------


def _run_rows(job: ShardJob, on_rows: OnRows) -> ShardResult:
    if holds_once(job.gen_kwargs) or holds_once(vars(job.builder)):
        return _write_rows(job, on_rows, copies=True)
    first: list[Any] = []
    try:
        return _write_rows(job, on_rows, first=first)
    except ChangedRowsError:
        return _write_rows(job, on_rows, first=first, copies=True)


def _write_rows(job: ShardJob, on_rows: OnRows, *, first: list[Any] | None = None, copies: bool = False) -> ShardResult:
    encoder = OrderFreeEncoder() if job.is_order_free else RowEncoder(job.builder.info.features)
    keys = KeyLog(job.folder, job.stem, keep=job.keep_keys) if job.compare_keys or job.keep_keys else None
    with RowOrder(job) as order, TableSink(job, merge_columns=True, writer=order.runs) as sink:
        row = 0
        for chunk_keys, rows, chunks in _chunks(job, first, copies=copies):
            words = order.take(chunk_keys, row)
            if keys is not None:
                _take_keys(job, keys, chunk_keys, words, row)
            batch = _encode(job, encoder, rows, chunk_keys, row)
            chunks.measured(batch.nbytes, len(rows))
            sink.write(batch, what=f"The rows from {row} on")
            row += len(rows)
            on_rows(len(rows))
        record = None
        if keys is not None:
            try:
                record = keys.finish()
            except Clash as clash:
                _clash(job, clash, (), row)
        shards = sink.finish()
        runs, words_file = order.finish()
        facts = encoder.facts if isinstance(encoder, OrderFreeEncoder) else None
        return ShardResult(job.name, shards, sink.schema, record, runs, words_file, facts)


def _chunks(job: ShardJob, first: list[Any] | None, *, copies: bool) -> Iterator[tuple[list[Any], list[Any], Chunks]]:
    """Keys and rows, chunk after chunk; `first` takes the first key, or holds it when the rows are made again."""
    limits = settings()
    most = min(limits.batch_rows, _MOST_ROWS)
    rows_at_once = max(1, min(most, job.batch_rows or most))
    pairs = _begin(job, job.builder)
    if job.max_rows is not None:
        pairs = itertools.islice(pairs, job.max_rows)
    chunks = Chunks(pairs, max_rows=rows_at_once, max_bytes=limits.batch_bytes, copies=copies)
    row, last_key = 0, None
    while True:
        try:
            chunk = chunks.take()
        except (DatasetsCoreError, ChangedRowsError):
            _compare_first(job, first, chunks.taken, row)
            raise
        except Exception as error:
            chunk = chunks.taken
            key = chunk[-1][0] if chunk and isinstance(chunk[-1], tuple) and chunk[-1] else last_key
            _fail(job, error, row=row + len(chunk), key=key)
        _compare_first(job, first, chunk, row)
        if not chunk:
            return
        keys, rows = _unzip(job, chunk, row)
        yield keys, rows, chunks
        row += len(chunk)
        last_key = keys[-1]


def _compare_first(job: ShardJob, first: list[Any] | None, chunk: list[Any], row: int) -> None:
    """Refuse rows that are made again and do not begin where they began: what was yielded before would be lost."""
    if first is None or row:
        return
    found = [pair[0] for pair in chunk[:1] if isinstance(pair, (tuple, list)) and pair]
    if not first:
        first += found
    elif found != first:
        raise DatasetGenerationError(
            f"_generate_examples of {job.builder.label} changes rows of split {job.split!r} after it has yielded them, and "
            f"does not begin again with the key {first[0]!r}. Yield a new dict with new values for every row."
        )


def _unzip(job: ShardJob, chunk: list[Any], row: int) -> tuple[list[Any], list[Any]]:
    try:
        keys, rows = [key for key, _ in chunk], [fields for _, fields in chunk]
        if all(issubclass(kind, Mapping) for kind in set(map(type, rows))):
            return keys, rows
    except (TypeError, ValueError):
        pass  # the loop below finds which pair it is
    for position, pair in enumerate(chunk):
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[1], Mapping):
            kind = f"a tuple of {len(pair)}" if isinstance(pair, tuple | list) and len(pair) != 2 else _kind_of(pair)
            raise DatasetGenerationError(
                f"_generate_examples of {job.builder.label} yields {kind} as row {row + position} of split {job.split!r}. "
                "Yield pairs of a key and a dict."
            )
    return [key for key, _ in chunk], [fields for _, fields in chunk]


def _kind_of(pair: Any) -> str:
    if isinstance(pair, tuple | list):
        return f"a key and a {type(pair[1]).__name__}"
    return f"a {type(pair).__name__}"


def _encode(
    job: ShardJob, encoder: RowEncoder | OrderFreeEncoder, rows: list[Any], keys: Sequence[Any], row: int
) -> pa.RecordBatch:
    try:
        batch = encoder.encode(rows)
    except CastError as error:
        raise _cast_failure(job, error, keys, row) from error
    if batch.num_rows != len(rows):
        raise DatasetGenerationError(
            f"Row {row} of split {job.split!r} of {job.builder.label} has no columns. Yield dicts with at least one."
        )
    return batch


def _cast_failure(job: ShardJob, error: CastError, keys: Sequence[Any], row: int) -> DatasetGenerationCastError:
    split = f"split {job.split!r} of {job.builder.label}"
    if isinstance(error, CellCastError) and error.row is not None:
        which = f"Row {row + error.row} (key {keys[error.row]!r}) of {split}"
        advice = error.advice or "Mend the value, or the feature of the column"
        return DatasetGenerationCastError(f"{which} does not fit column {error.column!r}: {error.reason}. {advice}.", row=row)
    return DatasetGenerationCastError(f"Rows {row} to {row + len(keys) - 1} of {split} do not fit: {error}", row=row)


# -- keys --------------------------------------------------------------------------------------------------------------


def _take_keys(job: ShardJob, log: KeyLog, keys: Sequence[Any], words: Words | None, row: int) -> None:
    try:
        if words is None:
            log.add(keys)
        else:
            log.add_words(words)
    except Clash as clash:
        _clash(job, clash, keys, row)


def _clash(job: ShardJob, clash: Clash, keys: Sequence[Any], row: int) -> NoReturn:
    """Raise what a clash means: an error, or where nobody minds, that the keys do not tell this part from the others."""
    if not job.compare_keys:
        raise clash
    _, first = clash.first
    _, second = clash.second
    key = keys[second - row] if row <= second < row + len(keys) else key_of(job, second)
    part = f" of part {job.index + 1} of {job.count}" if job.count > 1 else ""
    places = (f"row {first}{part}", f"row {second}{part}")
    raise DuplicateKeysError(key, split=job.split, places=places, is_sorted=job.order != "source")


def key_of(job: ShardJob, row: int) -> Any:
    """The key of a row, by running the author's code again up to it."""
    pair = next(itertools.islice(_begin(job, job.builder), row, None), None)
    return pair[0] if pair is not None else None


# -- the author's failures ---------------------------------------------------------------------------------------------


def _begin(job: ShardJob, builder: Hooks) -> Iterator[tuple[Any, Any]]:
    try:
        return iter(builder.generate(job.gen_kwargs))
    except DatasetsCoreError:
        raise
    except Exception as error:
        _fail(job, error, row=0, key=None)


def _fail(job: ShardJob, error: Exception, *, row: int, key: Any) -> NoReturn:
    reached = f"at row {row}" if key is None else f"at row {row}, behind key {key!r}"
    part = f" (part {job.index + 1} of {job.count})" if job.count > 1 else ""
    where = f"split {job.split!r}{part}, {place_of(error, job.builder)}"
    raise DatasetGenerationError(
        f"{job.builder.label} failed {reached} of {where}: {describe(error)}. Mend the code there, or the data that it reads.",
        row=row,
    ) from error


def describe(error: BaseException) -> str:
    """An error as one phrase: its kind and its own words."""
    words = str(error).strip().rstrip(".")
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def place_of(error: BaseException, builder: object) -> str:
    """`in FILE, line N`: the innermost frame in the author's file, else beside it, else outside the library."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    script = _file_of(builder)
    library = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for belongs in (
        lambda file: file == script,
        lambda file: script is not None and os.path.dirname(file) == os.path.dirname(script),
        lambda file: not os.path.abspath(file).startswith(library + os.sep),
        lambda file: True,
    ):
        found = [(file, line) for file, line in frames if belongs(file)]
        if found:
            return f"in {found[-1][0]}, line {found[-1][1]}"
    return "in code without lines"


def _file_of(builder: object) -> str | None:
    """The file in which the author's class stands: that of the first hook which is not the library's own."""
    for parent in type(builder).__mro__:
        if parent.__module__.startswith("datasets_core.building."):
            continue
        for value in vars(parent).values():
            code = getattr(getattr(value, "__func__", value), "__code__", None)
            if code is not None:
                return str(code.co_filename)
    return None

"""`write_tables`, `write_rows`: one job of a build, from the author's hooks into shards, with keys and their order."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from types import TracebackType
from typing import Any, NoReturn, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core.building.failures import fail, is_failure, out_of_time, shown
from datasets_core.building.hooks import Encoded, Hooks, Part, Replay, divide, file_of, holds_once, one_file_of
from datasets_core.building.write.jobs import ShardJob, ShardResult, TableSink
from datasets_core.building.write.row_keys import Clash, KeyLog, KeyRecord, Words, hash_words, integer_words
from datasets_core.building.write.runs import Run, RunWriter, order_file
from datasets_core.config import settings
from datasets_core.engines.deadline import TimeUp, stopped_at
from datasets_core.errors import (
    CastError,
    CellCastError,
    DatasetGenerationCastError,
    DatasetGenerationError,
    DatasetsCoreError,
    DuplicateKeysError,
    InvalidKeyError,
)
from datasets_core.features.arrow import keep_freed_memory
from datasets_core.features.schema import RowEncoder, plain_schema
from datasets_core.features.unordered import Facts, OrderFreeEncoder
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.progress import meter
from datasets_core.store.chunks import ChangedRowsError, Chunks

# Rows and tables of a script, taken in chunks and encoded: batches of rows with their keys, and tables, each with its part.


T = TypeVar("T")

_END: Any = object()
_MOST_ROWS = 2048  # more of them leave the cache of the processor before they are encoded: a quarter slower


class AuthorGuard:
    """Runs the author's code of one part of a split: `with guard:` reports where and at which row that code failed.

    Only the statements inside a `with` block count as the author's; the block adds no frame and wraps no generator.

    Args:
        job: the part of the split.
        builder: the builder with the code.
        reached: returns the number of rows made so far, and the key of the last one, or None.

    Attributes:
        passes: exceptions that are not failures.
    """

    def __init__(self, job: Part, builder: Hooks, reached: Callable[[], tuple[int, Any]]) -> None:
        self._job, self._builder, self._reached = job, builder, reached
        self.passes: tuple[type[BaseException], ...] = ()

    @property
    def _doing(self) -> str:
        job = self._job
        part = f" (part {job.index + 1} of {job.count})" if job.count > 1 else ""
        return f"generating the rows of split {job.split!r}{part}"

    def limited(self, work: Callable[[], T]) -> Callable[[], T]:
        """Return `work` itself, or with a deadline, a `work` that is interrupted at it."""
        deadline = self._job.deadline
        return work if deadline is None else functools.partial(stopped_at, deadline, work, doing=self._doing)

    def __enter__(self) -> AuthorGuard:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Translate a failure.

        Raises:
            DatasetGenerationError: the author's code failed.
            MissingDependencyError: a package that it needs is not installed.
            ScriptTimeoutError: it did not finish by its deadline.
        """
        if error is None or isinstance(error, self.passes):
            return
        if isinstance(error, TimeUp):
            row, _ = self._reached()
            deadline = self._job.deadline
            raise out_of_time(self._builder, deadline, error, self._doing, split=self._job.split, row=row) from None
        if is_failure(error, self._builder):
            row, key = self._reached()
            fail(self._job, self._builder, error, row=row, key=key)


def encoded_rows(builder: Hooks, job: Part, *, first: list[Any] | None = None, copies: bool = False) -> Generator[Encoded]:
    """Yield the rows of a part of a split, encoded.

    Args:
        builder: its `generate` yields the rows.
        job: the part.
        first: stores the first key, or has it when the rows are generated again.
        copies: True to copy every row; rows that can be generated only once are always copied.

    Raises:
        DatasetGenerationError: the author's code failed, or yielded a value that is not a pair of a key and a dict.
        DatasetGenerationCastError: a row does not fit the features.
        ChangedRowsError: rows were changed after they had been yielded: generate them again, with `copies`.
    """
    copies = copies or holds_once(job.gen_kwargs) or holds_once(vars(builder))
    how: Any = {"is_loose": builder.is_of_old_datasets, "extra_columns": builder.extra_columns}
    encoder = OrderFreeEncoder() if job.is_order_free else RowEncoder(builder.info.features, **how)
    limits = settings()
    most = min(limits.batch_rows, _MOST_ROWS)
    pairs = begin(job, builder)
    if job.max_rows is not None:
        pairs = itertools.islice(pairs, job.max_rows)
    row, last_key = _skipped(builder, job, pairs)
    chunks = Chunks(
        pairs,
        max_rows=max(1, min(most, job.batch_rows or most)),
        max_bytes=limits.batch_bytes,
        copies=copies,
        is_live=job.is_live,
    )

    if (watched := meter()) is not None:
        watched.done = chunks.count

    def reached() -> tuple[int, Any]:
        chunk = chunks.taken
        return row + len(chunk), chunk[-1][0] if chunk and isinstance(chunk[-1], tuple) and chunk[-1] else last_key

    guard = AuthorGuard(job, builder, reached)
    guard.passes = (ChangedRowsError,)
    take = guard.limited(chunks.take)
    while True:
        failure: DatasetsCoreError | None = None
        try:
            with guard:
                chunk = take()
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
        batch = _encode(builder, job, encoder, rows, keys, row)
        chunks.measured(batch.nbytes, len(rows))
        row += len(rows)
        last_key = keys[-1]
        yield Encoded(keys, batch, encoder.facts if isinstance(encoder, OrderFreeEncoder) else None)
        if failure is not None:
            raise failure


def begin(job: Part, builder: Hooks) -> Iterator[tuple[Any, Any]]:
    """Return the pairs that the author's `_generate_*` makes for a part of a split.

    Raises:
        DatasetGenerationError: the author's code fails when it is called.
    """
    guard = AuthorGuard(job, builder, lambda: (0, None))
    with guard:
        return iter(guard.limited(functools.partial(builder.generate, job.gen_kwargs))())


def made_tables(
    builder: Hooks, job: Part, *, from_row: int | None = None
) -> Generator[tuple[Any, pa.Table | pa.RecordBatch], None, int]:
    """Yield keys and tables of a part of a split, up to its maximum of rows; return the number of rows at the end.

    Args:
        builder: its `generate` yields the tables.
        job: the part.
        from_row: the first row; with one, tables without remaining rows are yielded too, as empty tables.

    Raises:
        DatasetGenerationError: the author's code failed, or yielded another value.
        Replay: the text must be read again with another schema.
    """
    pairs = begin(job, builder)
    row: int = from_row or 0
    key: Any = None
    guard = AuthorGuard(job, builder, lambda: (row, key))
    guard.passes = (Replay,)
    draw = guard.limited(functools.partial(next, pairs, _END))
    while True:
        with guard:
            pair = draw()
        if pair is _END:
            return row
        key, table = pair
        if not isinstance(table, pa.Table | pa.RecordBatch):
            where = _in(builder, job, row, key)
            raise DatasetGenerationError(
                f"{builder.label} yields a {type(table).__name__} for split {job.split!r}{where}. "
                "Yield pairs of a key and a pyarrow.Table from _generate_tables."
            ).placed(where[2:], row=row, split=job.split)
        if job.max_rows is not None:
            table = table.slice(0, job.max_rows - row)
        left_out = max(0, min(job.skip - row, table.num_rows))
        row += table.num_rows
        if left_out < table.num_rows or not left_out or from_row is not None:
            yield key, table.slice(left_out) if left_out else table
        if job.max_rows is not None and row == job.max_rows:
            return row


def _skipped(builder: Hooks, job: Part, pairs: Iterator[tuple[Any, Any]]) -> tuple[int, Any]:
    """Skip rows; return their number, and the last key."""
    row, last = 0, (None, None)

    def skip() -> None:
        nonlocal row, last
        for pair in itertools.islice(pairs, job.skip):
            row, last = row + 1, pair

    def key() -> Any:
        return last[0] if isinstance(last, tuple) and last else None

    if job.skip:
        guard = AuthorGuard(job, builder, lambda: (row, key()))
        with guard:
            guard.limited(skip)()
    return job.skip, key()


def _compare_first(builder: Hooks, job: Part, first: list[Any] | None, chunk: list[Any], row: int) -> None:
    """Refuse rows that are generated again and do not begin with the same row: rows yielded before would be lost."""
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
            ).placed(where[2:], row=row + position, split=job.split)
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
        ).placed(row=row, split=job.split)
    return batch


def _cast_failure(builder: Hooks, job: Part, error: CastError, keys: Sequence[Any], row: int) -> DatasetGenerationCastError:
    split = f"split {job.split!r} of {builder.label}"
    if isinstance(error, CellCastError) and error.row is not None:
        number, key = row + error.row, keys[error.row]
        place = builder.place_of_row(job, number, key)
        which = f"Row {number} (key {shown(key)}) of {split}{f', yielded in {place},' if place else ''}"
        advice = str(error.advice).replace("pass extra_columns=", "give the builder's class extra_columns = ")
        message = f"{which} does not fit column {error.column!r}: {error.reason}. {advice}."
        return DatasetGenerationCastError(message, row=number).in_column(error.column).placed(place, split=job.split)
    message = f"Rows {row} to {row + len(keys) - 1} of {split} do not fit: {error}"
    return DatasetGenerationCastError(message, row=row).placed(split=job.split)


# The words that a job stores for the keys of its rows, so that the rows of the whole split can be ordered.


class RowOrder:
    """The order of the rows of one job.

    Rows with known order and schema go into sorted runs; for others the words are stored in a file next to them.

    Args:
        job: the job.

    Attributes:
        runs: writer of the runs; None if rows go into shards, in the order of the source.
    """

    def __init__(self, job: ShardJob) -> None:
        self._job = job
        self.runs: RunWriter | None = None
        self._file = contextlib.ExitStack()
        self._append: Any = None
        if job.sorts:
            schema = plain_schema(job.builder.info.features.arrow_schema)  # type: ignore[union-attr]
            file_format, num_shards, max_shard_bytes = job.final or ("arrow", None, None)
            from datasets_core.building.write.reorder import final_ends  # streams do not reorder

            ends = functools.partial(final_ends, num_shards=num_shards, max_shard_bytes=max_shard_bytes) if job.final else None
            self.runs = RunWriter(job.folder, job.stem, split=job.split, schema=schema, file_format=file_format, ends=ends)
        elif job.order != "source":
            self._append = self._file.enter_context(order_file(job.folder, self._name))

    def __enter__(self) -> RowOrder:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()
        if error is not None and self.runs is None and self._job.order != "source":
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(self._job.folder, self._name))

    def take(self, keys: Sequence[Any], row: int) -> Words | None:
        """Return the hashes of the keys of the next rows; None if the order does not depend on keys.

        Raises:
            InvalidKeyError: a key without a hash.
        """
        if self._job.order == "source":
            return None
        words = hash_words(keys, self._job.split, first_row=row)
        if self.runs is not None:
            self.runs.tell(words)
        elif self._append is not None:
            kept = words if self._job.order == "hash" else integer_words(keys, first_row=row)
            if kept is None:  # a key that is not an integer: the rows keep the order of the source
                self._append = None
            else:
                self._append(np.ascontiguousarray(kept.T))
        return words

    def finish(self) -> tuple[tuple[Run, ...], str | None]:
        """Write the runs and the file of the words to the disk, and return them."""
        self._file.close()
        if self.runs is not None:
            return tuple(self.runs.runs), None
        return (), None if self._append is None else self._name

    @property
    def _name(self) -> str:
        return f"{self._job.stem}.words"


OnRows = Callable[[int], object]


# -- tables ------------------------------------------------------------------------------------------------------------


def write_tables(job: ShardJob, on_rows: OnRows = lambda rows: None) -> ShardResult:
    """Write the tables of a job into shards; return its result.

    Args:
        job: the job.
        on_rows: called repeatedly with the number of rows written.

    Raises:
        DatasetGenerationError: the author's code failed; errors of the library pass unchanged.
    """
    keep_freed_memory()
    builder = job.builder.with_schema(job.schema) if job.schema is not None and job.builder.rereads else job.builder
    while True:
        row, counts = 0, FileCounts(builder, job.gen_kwargs)
        try:
            with closing(builder.made_tables(job)) as tables, TableSink(job, merge_columns=builder.merge_columns) as sink:
                file, start = None, 0  # the file of the last table, and the number of its first row in the job
                for key, table in tables:
                    if file is None or file != one_origin(job.gen_kwargs, key):
                        file = one_origin(job.gen_kwargs, key)
                        start = 0 if file is None else row
                    what = origin(job.gen_kwargs, key) or f"The table that starts at row {row}"
                    try:
                        sink.write(table, what=what, row=row - start, file=file)
                    except DatasetGenerationCastError as error:
                        place = builder.place_of_row(job, row, key)
                        if place is None:
                            raise
                        failure = DatasetGenerationCastError(f"{place}: {error}", row=error.row).in_column(error.column)
                        raise failure.placed(place, split=job.split) from error
                    row += table.num_rows
                    counts.add(key, table)
                    on_rows(table.num_rows)
                shards, blocks = sink.finish(), counts.blocks()
            return ShardResult(job.name, shards, sink.schema, denied=job.builder.denied, blocks=blocks)
        except Replay as request:  # what was read is text whose types are wider than they seemed
            if builder.read_schema is not None and builder.read_schema.equals(request.schema):
                raise DatasetGenerationError(
                    f"{builder.label} requests to read split {job.split!r} again with the schema that it already has. "
                    "That is a bug of the builder: it must request a wider schema."
                ) from None
            builder = builder.with_schema(request.schema)


def origin(gen_kwargs: Mapping[str, Any], key: Any) -> str | None:
    """Return the file that the table of `key` was read from; a key `(number of the file, …)` selects one of several."""
    return file_of(gen_kwargs, _number_of(key))


def one_origin(gen_kwargs: Mapping[str, Any], key: Any) -> str | None:
    """Return the file that the table of `key` was read from; None if it may be one of several."""
    return one_file_of(gen_kwargs, _number_of(key))


def _number_of(key: Any) -> int | None:
    return key[0] if isinstance(key, tuple) and key and isinstance(key[0], int) else None


# -- rows --------------------------------------------------------------------------------------------------------------


def write_rows(job: ShardJob, on_rows: OnRows = lambda rows: None) -> ShardResult:
    """Write the rows of a job into shards or sorted runs; return its result.

    Args:
        job: the job.
        on_rows: called repeatedly with the number of rows written.

    Raises:
        DatasetGenerationError: the author's code failed; errors of the library pass unchanged.
        DuplicateKeysError: two of its rows share a key.
    """
    first: list[Any] = []
    copies = False
    while True:
        row, facts = 0, Facts() if job.is_order_free else None
        keys = KeyLog(job.folder, job.stem, keep=job.keep_keys) if job.compare_keys or job.keep_keys else None
        try:
            with (
                closing(job.builder.encoded_rows(job, first=first, copies=copies)) as batches,
                RowOrder(job) as order,
                TableSink(job, merge_columns=True, writer=order.runs) as sink,
            ):
                for encoded in batches:
                    _take_keys(job, order, keys, encoded.keys, row)
                    sink.write(encoded.batch, what=f"The rows from {row} on", row=row)
                    facts = encoded.facts
                    row += len(encoded.keys)
                    on_rows(len(encoded.keys))
                record = None if keys is None else _finished(job, keys, row)
                shards, (runs, words_file) = sink.finish(), order.finish()
            is_final = order.runs is not None and order.runs.is_final
            denied = job.builder.denied
            return ShardResult(job.name, shards, sink.schema, record, runs, words_file, facts, denied, is_final=is_final)
        except ChangedRowsError:  # rows were changed after they had been yielded
            if copies:
                raise
            copies = True


# -- keys --------------------------------------------------------------------------------------------------------------


def _take_keys(job: ShardJob, order: RowOrder, log: KeyLog | None, keys: Sequence[Any], row: int) -> None:
    try:
        words = order.take(keys, row)
        if log is not None and words is not None:
            log.add_words(words)
        elif log is not None:
            log.add(keys)
    except Clash as clash:
        _clash(job, clash, keys, row)
    except InvalidKeyError as error:
        raise error.of(job.split, job.builder.place_of_row(job, error.row or 0, error.key)) from error.__cause__


def _finished(job: ShardJob, log: KeyLog, rows: int) -> KeyRecord:
    try:
        return log.finish()
    except Clash as clash:
        _clash(job, clash, (), rows)


def _clash(job: ShardJob, clash: Clash, keys: Sequence[Any], row: int) -> NoReturn:
    """Raise the error for duplicate keys or, if keys are not checked, an error that the parts share keys."""
    if not job.compare_keys:
        raise clash
    _, first = clash.first
    _, second = clash.second
    key = keys[second - row] if row <= second < row + len(keys) else key_of(job, second)
    part = f" of part {job.index + 1} of {job.count}" if job.count > 1 else ""
    place = job.builder.place_of_row(job, second, key)
    places = (f"row {first}{part}", f"row {second}{part}")
    raise DuplicateKeysError(key, split=job.split, places=places, is_sorted=job.order != "source", place=place)


def key_of(job: ShardJob, row: int) -> Any:
    """Return the key of a row, by running the author's code again up to it."""
    pairs = begin(job, job.builder)
    guard = AuthorGuard(job, job.builder, lambda: (row, None))
    with guard:
        pair = guard.limited(functools.partial(next, itertools.islice(pairs, row, None), None))()
    return pair[0] if pair is not None else None


# `FileCounts`: number of rows of each file of a job, counted while its tables pass.


class FileCounts:
    """Rows and bytes of each file of a job.

    A file is the unit that is one job of a stream. The key of a table identifies it: `(number of the file, …)`;
    tables of several files that were read as one have the key `(number of the first, number of the table, rows of each file)`.

    Args:
        builder: the builder of the tables.
        gen_kwargs: the arguments of the job.
    """

    def __init__(self, builder: Hooks, gen_kwargs: dict[str, Any]) -> None:
        self._builder, self._gen_kwargs = builder, gen_kwargs
        count = len(divide(gen_kwargs, group_bytes=0)) if builder.reads_in_order else 0
        self._rows, self._sizes = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self._last = 0

    def add(self, key: Any, table: pa.Table | pa.RecordBatch) -> None:
        """Count a table.

        Args:
            key: its key.
            table: its rows.
        """
        count = len(self._rows)
        if not count:
            return
        parts = (0,) if count == 1 else key if isinstance(key, tuple) else ()
        number = parts[0] if parts and isinstance(parts[0], int) else -1
        rows = parts[2] if len(parts) == 3 and isinstance(parts[2], tuple) else (table.num_rows,)
        if not self._last <= number <= count - len(rows):  # rows that do not come file after file
            self._rows = self._rows[:0]
            return
        self._last = number
        files = slice(number, number + len(rows))
        if len(rows) == 1 or (len(parts) > 1 and parts[1] == 0):
            self._rows[files] += rows
        shares = np.array(rows, np.int64)
        self._sizes[files] += table.nbytes * shares // max(1, int(shares.sum()))

    def blocks(self) -> RowBlocks | None:
        """Return row ranges in the files; None if unknown."""
        count = len(self._rows)
        if not count:
            return None
        counted = RowBlocks.of(self._rows, self._sizes[:count], np.arange(count), is_indexed=False, file_count=count)
        found = self._builder.file_blocks(self._gen_kwargs)
        if found is None or not np.array_equal(
            np.bincount(found.files, found.rows, minlength=count).astype(np.int64), self._rows
        ):
            return counted
        return found

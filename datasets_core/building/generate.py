"""One job, done: what the author's hooks made becomes shards, with the keys of the rows and their order."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from typing import Any, NoReturn

from datasets_core.building.author_failures import begin, taken
from datasets_core.building.file_counts import FileCounts
from datasets_core.building.hooks import Hooks, Reread
from datasets_core.building.jobs import ShardJob, ShardResult, file_of
from datasets_core.building.key_hash import Words
from datasets_core.building.keys import Clash, KeyLog
from datasets_core.building.row_order import RowOrder
from datasets_core.building.sink import TableSink
from datasets_core.errors import DatasetGenerationCastError, DatasetGenerationError, DuplicateKeysError, InvalidKeyError
from datasets_core.features.order_free import Facts
from datasets_core.store.chunks import ChangedRowsError

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
    result = _run_tables(job, on_rows) if job.builder.yields == "tables" else _run_rows(job, on_rows)
    denied = job.builder.denied
    return dataclasses.replace(result, denied=denied) if denied else result


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
    tables = builder.made_tables(job)
    with closing(tables), TableSink(job, merge_columns=builder.merge_columns) as sink:
        row, counts = 0, FileCounts(builder, job.gen_kwargs)
        for key, table in tables:
            try:
                sink.write(table, what=origin(job.gen_kwargs, key) or f"The table behind row {row}")
            except DatasetGenerationCastError as error:
                place = builder.place_of_row(job, row, key)
                if place is None:
                    raise
                raise DatasetGenerationCastError(f"{place}: {error}", row=error.row) from error
            row += table.num_rows
            counts.add(key, table)
            on_rows(table.num_rows)
        return ShardResult(job.name, sink.finish(), sink.schema, blocks=counts.blocks())


def origin(gen_kwargs: Mapping[str, Any], key: Any) -> str | None:
    """The file that the table of `key` was read from; a key `(number of the file, …)` tells which of several."""
    return file_of(gen_kwargs, key[0] if isinstance(key, tuple) and key and isinstance(key[0], int) else None)


# -- rows --------------------------------------------------------------------------------------------------------------


def _run_rows(job: ShardJob, on_rows: OnRows) -> ShardResult:
    first: list[Any] = []
    try:
        return _write_rows(job, on_rows, first=first)
    except ChangedRowsError:
        return _write_rows(job, on_rows, first=first, copies=True)


def _write_rows(job: ShardJob, on_rows: OnRows, *, first: list[Any], copies: bool = False) -> ShardResult:
    keys = KeyLog(job.folder, job.stem, keep=job.keep_keys) if job.compare_keys or job.keep_keys else None
    batches = job.builder.encoded_rows(job, first=first, copies=copies)
    with closing(batches), RowOrder(job) as order, TableSink(job, merge_columns=True, writer=order.runs) as sink:
        row, facts = 0, Facts() if job.is_order_free else None
        for encoded in batches:
            try:
                words = order.take(encoded.keys, row)
                if keys is not None:
                    _take_keys(job, keys, encoded.keys, words, row)
            except InvalidKeyError as error:
                raise error.of(job.split, job.builder.place_of_row(job, error.row or 0, error.key)) from error.__cause__
            sink.write(encoded.batch, what=f"The rows from {row} on")
            facts = encoded.facts
            row += len(encoded.keys)
            on_rows(len(encoded.keys))
        record = None
        if keys is not None:
            try:
                record = keys.finish()
            except Clash as clash:
                _clash(job, clash, (), row)
        shards = sink.finish()
        runs, words_file = order.finish()
        return ShardResult(job.name, shards, sink.schema, record, runs, words_file, facts)


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
    place = job.builder.place_of_row(job, second, key)
    places = (f"row {first}{part}", f"row {second}{part}")
    raise DuplicateKeysError(key, split=job.split, places=places, is_sorted=job.order != "source", place=place)


def key_of(job: ShardJob, row: int) -> Any:
    """The key of a row, by running the author's code again up to it."""
    pairs = begin(job, job.builder)
    pair = taken(job, job.builder, lambda: next(itertools.islice(pairs, row, None), None), lambda: (row, None))
    return pair[0] if pair is not None else None

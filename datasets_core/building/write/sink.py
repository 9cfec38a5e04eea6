"""`TableSink`: tables of one job into shards with a schema that widens without loss; recast of earlier shards."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Protocol

import pyarrow as pa

from datasets_core.building.hooks import Hooks, file_of
from datasets_core.building.write.jobs import ShardJob, ShardResult
from datasets_core.errors import CastError, DatasetGenerationCastError
from datasets_core.features.arrow import merge_schemas
from datasets_core.features.cast import cast_table
from datasets_core.features.schema import Features, plain_schema
from datasets_core.features.unordered import Facts, join_schemas
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.shard import FileShard, ShardCache
from datasets_core.store.writer import ShardWriter


class Writer(Protocol):
    """Consumer of the batches of a job."""

    def write(self, data: pa.RecordBatch | pa.Table) -> None:
        """Take rows."""
        ...

    def close(self) -> list[ShardRecord]:
        """Have them on the disk."""
        ...

    def abort(self) -> None:
        """Remove them."""
        ...


class TableSink:
    """Writes the tables of a job, cast to a common schema.

    With features (the builder's own, or the schema that all jobs agreed on) every table is cast to them.  Without, the first
    table decides and later ones widen it; earlier rows are then written again.

    Args:
        job: the job.
        merge_columns: columns may be missing from some tables; else all have the same.
        writer: takes the rows instead of shards; only with a fixed schema.
    """

    def __init__(self, job: ShardJob, *, merge_columns: bool, writer: Writer | None = None) -> None:
        self._job, self._merge_columns = job, merge_columns
        self.features = job.builder.info.features
        if self.features is None and job.schema is not None:
            self.features = Features.from_arrow_schema(job.schema)
        self.is_fixed = self.features is not None
        self.schema: pa.Schema | None = None if self.features is None else plain_schema(self.features.arrow_schema)
        self._origin: str | None = None
        self._writer = writer
        self._widths = 0

    def __enter__(self) -> TableSink:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None and self._writer is not None:
            self._writer.abort()

    def write(self, table: pa.Table | pa.RecordBatch, *, what: str) -> None:
        """Append a table.

        Args:
            table: its rows.
            what: where it comes from, for messages.

        Raises:
            DatasetGenerationCastError: its columns do not fit those before, or the features.
        """
        if self.schema is None:
            self._adopt(table.schema)
            self._origin = what
        if self.is_fixed or not _is_stored_as(table.schema, self.schema):
            table = self._fit(table, what)
        if table.num_rows:
            self._open().write(table)

    def finish(self) -> tuple[ShardRecord, ...]:
        """The shards, on the disk."""
        return () if self._writer is None else tuple(self._writer.close())

    def _adopt(self, schema: pa.Schema) -> None:
        self.features = Features.from_arrow_schema(schema)
        self.schema = plain_schema(self.features.arrow_schema)

    def _open(self) -> Writer:
        if self._writer is None:
            job = self._job
            stem = f"{job.stem}-w{self._widths}" if self._widths else job.stem
            self._writer = ShardWriter(
                job.folder,
                stem,
                split=job.split,
                schema=self.schema,
                file_format=job.file_format,
                max_shard_bytes=job.max_shard_bytes,
            )
        return self._writer

    def _fit(self, table: pa.Table, what: str) -> pa.Table:
        assert self.schema is not None and self.features is not None
        if not self.is_fixed:
            found = plain_schema(Features.from_arrow_schema(table.schema).arrow_schema)
            if not self._merge_columns:
                check_columns(self._label, self._origin, self.schema.names, what, found.names)
            try:
                wider = plain_schema(
                    join_schemas(self.schema, found) if self._job.is_order_free else merge_schemas(self.schema, found)
                )
            except CastError as error:
                raise self._error(what, error) from error
            if not wider.equals(self.schema):
                self._widen(wider, what)
        try:
            return cast_table(table, self.features, what=what)
        except CastError as error:
            raise self._error(what, error) from error

    def _widen(self, schema: pa.Schema, what: str) -> None:
        """Go on with `schema`, which `what` needs, and write again what was written."""
        narrow, self._writer = self._writer, None
        self._adopt(schema)
        if narrow is None:
            return
        self._widths += 1
        records = narrow.close()
        features = Features.from_arrow_schema(schema)
        try:
            for batch in read_batches(self._job.folder, records, self._job.file_format):
                self._open().write(cast_table(batch, features, what=f"split {self._job.split!r}"))
        except CastError as error:
            raise self._error(f"What was read before {what}", error) from error
        finally:
            narrow.abort()

    @property
    def _label(self) -> str:
        return f"split {self._job.split!r} of {self._job.builder.label}"

    def _error(self, what: str, error: CastError) -> DatasetGenerationCastError:
        return DatasetGenerationCastError(f"{what} does not fit {self._label}: {error}").placed(split=self._job.split)


def _is_stored_as(found: pa.Schema, stored: pa.Schema | None) -> bool:
    """True if the writer takes batches of `found` as they are; maps, views and extensions have other types in shards."""
    return plain_schema(found).equals(stored) and not any(
        pa.types.is_dictionary(kind) and pa.types.is_nested(kind.value_type) for kind in found.types
    )


def check_columns(label: str, first: str | None, expected: Sequence[str], what: str, found: Sequence[str]) -> None:
    """Refuse tables of different columns.

    Raises:
        DatasetGenerationCastError: with the columns that are new and those that are missing.
    """
    new = [name for name in found if name not in expected]
    missing = [name for name in expected if name not in found]
    if not new and not missing:
        return
    facts = [f"new columns {new}"] * bool(new) + [f"missing columns {missing}"] * bool(missing)
    beside = f" beside {first}" if first and first != what else ""
    raise DatasetGenerationCastError(
        f"{what} does not fit {label}{beside}: {' and '.join(facts)}. "
        "Put files of different columns into different configs, or pass features= that name all columns."
    )


def read_batches(folder: str, records: Sequence[ShardRecord], file_format: str) -> Iterator[pa.RecordBatch]:
    """The record batches of finished shards, one after the other."""
    for record in records:
        shard = FileShard(os.path.join(folder, record.name), file_format, ShardCache(max_bytes=0))
        for index in range(len(shard.batch_rows())):
            yield shard.batch(index)


# The schema on which the jobs of a build agree, and the job that casts finished shards to it.


@dataclasses.dataclass(frozen=True, slots=True)
class RecastJob:
    """Finished shards to write again with a wider schema.

    Attributes:
        job: the job, with the wider schema and a stem of its own.
        result: its first result.
    """

    job: ShardJob
    result: ShardResult

    @property
    def name(self) -> str:
        """Name in the journal."""
        return self.job.name


def recast_job(recast: RecastJob, on_rows: Callable[[int], object] = lambda rows: None) -> ShardResult:
    """Cast the shards of a finished job.

    Raises:
        DatasetGenerationCastError: a value would be lost.
    """
    job, result = recast.job, recast.result
    with TableSink(job, merge_columns=True) as sink:
        for batch in read_batches(job.folder, result.shards, job.file_format):
            sink.write(batch, what=file_of(job.gen_kwargs) or f"Part {job.index + 1} of {job.count}")
            on_rows(batch.num_rows)
        return ShardResult(job.name, sink.finish(), sink.schema, result.keys, words=result.words, blocks=result.blocks)


def agreed_schema(builder: Hooks, done: Sequence[tuple[ShardJob, ShardResult]]) -> pa.Schema:
    """The schema that holds the rows of all jobs: that of the features, else the narrowest.

    Raises:
        DatasetGenerationCastError: columns or types that do not fit.
    """
    if builder.info.features is not None:
        return plain_schema(builder.info.features.arrow_schema)
    agreed: pa.Schema | None = None
    first: str | None = None
    for job, result in done:
        if result.schema is None:
            continue
        what = file_of(job.gen_kwargs) or f"Part {job.index + 1} of {job.count} of split {job.split!r}"
        if agreed is None:
            agreed, first = result.schema, what
            continue
        if result.schema.equals(agreed):
            continue
        if builder.yields == "tables" and not builder.merge_columns:
            check_columns(builder.label, first, agreed.names, what, result.schema.names)
        agreed = _merged(builder, agreed, result.schema, what, is_order_free=result.facts is not None)
    if agreed is None:
        return pa.schema([])
    found = [result.facts for _, result in done if result.facts is not None]
    if found:
        agreed = _in_order(builder, agreed, found)
    return plain_schema(Features.from_arrow_schema(agreed).arrow_schema)


def _in_order(builder: Hooks, agreed: pa.Schema, found: Sequence[Facts]) -> pa.Schema:
    """The schema with columns and fields in an order that does not depend on which rows came first."""
    facts = Facts()
    for each in found:
        facts.add(each)
    try:
        facts.check()
    except CastError as error:
        raise DatasetGenerationCastError(f"The rows of {builder.label} do not fit each other: {error}") from error
    return facts.ordered(agreed)


def _merged(builder: Hooks, agreed: pa.Schema, found: pa.Schema, what: str, *, is_order_free: bool) -> pa.Schema:
    if builder.rereads:  # text can always be read again
        joined = {field.name: field.type for field in agreed}
        for field in found:
            before = joined.get(field.name, field.type)
            joined[field.name] = builder.join_types(before, field.type) or pa.string()
        return pa.schema(list(joined.items()))
    try:
        return (join_schemas if is_order_free else merge_schemas)(agreed, found, what=what)
    except CastError as error:
        raise DatasetGenerationCastError(f"The files of {builder.label} do not fit each other: {error}") from error

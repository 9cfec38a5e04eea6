"""`TableSink`: tables of one job into shards, whose schema widens as far as nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Protocol

import pyarrow as pa

from datasets_core.building.jobs import ShardJob
from datasets_core.errors import CastError, DatasetGenerationCastError
from datasets_core.features.codec import cast_table, merge_schemas
from datasets_core.features.order_free import join_schemas
from datasets_core.features.schema import Features
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.shard import FileShard, Shelf
from datasets_core.store.writer import ShardWriter, plain_schema


class Writer(Protocol):
    """What takes the batches of a job."""

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
    """Where a job's tables go.

    With features (the builder's own, or the schema that all jobs agreed on) every table is cast to them.  Without, the first
    table decides and later ones widen it; what was written is then written again.

    Args:
        job: whose tables.
        merge_columns: columns may be missing from some tables; else all have the same.
        writer: what takes the rows instead of shards; only where the schema is fixed.
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
        return DatasetGenerationCastError(f"{what} does not fit {self._label}: {error}")


def _is_stored_as(found: pa.Schema, stored: pa.Schema | None) -> bool:
    """Whether the writer takes batches of `found` as they are; maps, views and extensions have other types in shards."""
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
        shard = FileShard(os.path.join(folder, record.name), file_format, Shelf(max_bytes=0))
        for index in range(len(shard.batch_rows())):
            yield shard.batch(index)

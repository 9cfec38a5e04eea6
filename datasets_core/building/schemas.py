"""The schema on which the jobs of a build agree, and the job that casts finished shards to it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import pyarrow as pa

from datasets_core.building.hooks import Hooks
from datasets_core.building.jobs import ShardJob, ShardResult, file_of
from datasets_core.building.sink import TableSink, check_columns, read_batches
from datasets_core.errors import CastError, DatasetGenerationCastError
from datasets_core.features.merge import merge_schemas
from datasets_core.features.order_free import Facts, join_schemas
from datasets_core.features.schema import Features
from datasets_core.store.writer import plain_schema


@dataclasses.dataclass(frozen=True, slots=True)
class RecastJob:
    """Finished shards to be written again with a wider schema.

    Attributes:
        job: the job, with the wider schema and a stem of its own.
        result: what came of it before.
    """

    job: ShardJob
    result: ShardResult

    @property
    def name(self) -> str:
        """What the journal calls it."""
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
    if builder.rereads:  # text can always be read as it stands
        joined = {field.name: field.type for field in agreed}
        for field in found:
            before = joined.get(field.name, field.type)
            joined[field.name] = builder.join_types(before, field.type) or pa.string()
        return pa.schema(list(joined.items()))
    try:
        return (join_schemas if is_order_free else merge_schemas)(agreed, found, what=what)
    except CastError as error:
        raise DatasetGenerationCastError(f"The files of {builder.label} do not fit each other: {error}") from error

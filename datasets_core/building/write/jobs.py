"""`ShardJob`: the unit of work of a build, one part of a split; `ShardResult`: its outcome."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol

import pyarrow as pa

from datasets_core.building.hooks import Builder, Hooks, divide, file_of, names_of_parts, one_file_of
from datasets_core.building.options import BuildOptions
from datasets_core.building.write.row_keys import Clash, KeyRecord, compare, compare_heads
from datasets_core.config import has_alias, settings
from datasets_core.engines import Engine
from datasets_core.engines.deadline import Deadline, SerialEngine, can_stop
from datasets_core.engines.threads import followed
from datasets_core.errors import (
    CastError,
    CellCastError,
    DatasetGenerationCastError,
    DatasetGenerationError,
    FileFormatError,
    InvalidKeyError,
    WorkerDiedError,
    redact,
)
from datasets_core.features.arrow import merge_schemas
from datasets_core.features.cast import cast_table
from datasets_core.features.schema import Features, features_of_file, plain_schema
from datasets_core.features.unordered import Facts, join_schemas
from datasets_core.files import is_local_path
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.progress import FileMeter, Meter, ProgressFile, metered
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.pieces import stored_names
from datasets_core.store.shard import FileShard, ShardCache
from datasets_core.store.writer import ShardWriter

if TYPE_CHECKING:
    from datasets_core.building.write.runs import Run


@dataclasses.dataclass(frozen=True, slots=True)
class ShardJob:
    """A part of a split, to be written as separate shards.

    Attributes:
        builder: the builder whose hooks generate the rows.
        split: the split.
        gen_kwargs: the arguments of this part.
        index, count: number of the part, and number of parts.
        folder: folder of the shards.
        stem: prefix of their names.
        schema: schema to read and write with; None: inferred from the rows.
        file_format: "arrow" or "parquet".
        max_shard_bytes: size at which a new shard begins; None for the setting.
        batch_rows: maximum rows of a batch; None for the setting.
        compare_keys: keys must be unique.
        keep_keys: the keys are requested for a comparison with other jobs.
        order: the later order of the rows of the split: by the "hash" of their keys, by "key" if all are integers, or unchanged
            ("source").
        max_rows: maximum number of rows; None for all.
        deadline: when the author's code must have finished; None for no limit.
        final: format, number (None if not requested) and bytes (None without a limit) of the final shards; None if rows of
            the split come from other jobs too, or are final already.
    """

    builder: Hooks
    split: str
    gen_kwargs: dict[str, Any]
    index: int
    count: int
    folder: str
    stem: str
    schema: pa.Schema | None
    file_format: str
    max_shard_bytes: int | None
    batch_rows: int | None
    compare_keys: bool
    keep_keys: bool
    order: Literal["source", "hash", "key"] = "source"
    max_rows: int | None = None
    deadline: Deadline | None = None
    final: tuple[str, int | None, int | None] | None = None

    @property
    def name(self) -> str:
        """Name in the journal."""
        return self.stem

    def attempt(self, token: str) -> ShardJob:
        """Return the job with names of files that no other attempt at it uses."""
        return dataclasses.replace(self, stem=f"{self.stem}-{token}")

    def within(self, folder: str) -> ShardJob:
        """Return the job with its files in another folder."""
        return dataclasses.replace(self, folder=folder)

    def inputs(self, folder: str) -> Iterable[str]:
        """Yield the names of the files of other jobs that it reads; when one is requested, those before are in the folder."""
        return ()

    @property
    def sorts(self) -> bool:
        """True if rows are written into sorted runs at once: their order and their schema are known."""
        return self.order == "hash" and self.builder.yields == "rows" and self.builder.info.features is not None

    @property
    def skip(self) -> int:
        return 0

    @property
    def is_live(self) -> bool:
        """See `Part.is_live`: rows are read after all are written."""
        return False

    @property
    def is_order_free(self) -> bool:
        """True if columns and types are inferred from the rows, and do not depend on the order of the rows."""
        return self.order != "source" and self.builder.yields == "rows" and self.schema is None


def jobs_of_split(
    template: ShardJob, split: str, gen_kwargs: dict[str, Any], *, group_bytes: int, count: int | None
) -> list[ShardJob]:
    """Return the jobs that write a split.

    Args:
        template: a job with what all have in common; its `final` is for a split of a single job.
        split: the split.
        gen_kwargs: its arguments.
        group_bytes, count: see `divide`.
    """
    if template.max_rows is not None:  # the first that come: no second part knows how many came before
        parts = [gen_kwargs] if template.max_rows else []
    else:
        parts = divide(gen_kwargs, group_bytes=group_bytes, count=count)
    is_one = len(parts) == 1
    return [
        dataclasses.replace(
            template,
            split=split,
            gen_kwargs=part,
            index=index,
            count=len(parts),
            stem=f"{split}-first" if template.max_rows is not None else f"{split}-{index:05d}",
            keep_keys=not is_one and template.builder.yields == "rows",
            final=template.final if is_one else None,
        )
        for index, part in enumerate(parts)
    ]


@dataclasses.dataclass(frozen=True, slots=True)
class ShardResult:
    """Outcome of a job.

    Attributes:
        name: name of the job.
        shards: the shards with rows, in order.
        schema: schema of the shards; None without rows and tables.
        keys: the keys of the rows; None if not compared.
        runs: the sorted runs in the shards; empty if the shards are in the order of the source.
        words: the file of the sort words of the rows; None if there is none.
        facts: further facts for the schema of all jobs; None if features or the first rows decide.
        denied: descriptions of accesses denied so far to a sandboxed script.
        blocks: row ranges in the source files, if known.
        is_final: the shards are those of the split, in its order.
    """

    name: str
    shards: tuple[ShardRecord, ...]
    schema: pa.Schema | None
    keys: KeyRecord | None = None
    runs: tuple[Run, ...] = ()
    words: str | None = None
    facts: Facts | None = None
    denied: tuple[str, ...] = ()
    blocks: RowBlocks | None = dataclasses.field(default=None, compare=False)
    is_final: bool = False

    @property
    def rows(self) -> int:
        """Number of rows."""
        return sum(shard.rows for shard in self.shards)


def run_attempt(function: Callable[..., ShardResult], job: Any, *, tells: str = "", counts_bytes: bool = False) -> ShardResult:
    """Run a job in a worker; its files have names that only this attempt uses.

    An engine may run a job twice, even at the same time, and the author's code may generate other rows each time. The second
    attempt then leaves the files of the first, which may be mapped already, unchanged.

    Args:
        function: runs the job.
        job: a job with `name` and `attempt(token)`.
        tells: folder of the files that record the progress of jobs, for a progress bar; empty for none.
        counts_bytes: True to count bytes of files instead of rows.
    """
    attempt = job.attempt(os.urandom(4).hex())
    try:
        if not tells or not os.path.isdir(tells):  # nobody looks, or this is another machine
            return dataclasses.replace(function(attempt), name=job.name)
        watched = FileMeter() if counts_bytes else Meter()
        path = os.path.join(tells, job.name)
        with ProgressFile(path) as file, metered(watched), followed(file.update, lambda: watched.done()):
            return dataclasses.replace(function(attempt, on_rows=watched.add), name=job.name)
    except Exception as error:
        with contextlib.suppress(AttributeError):  # of a class with slots
            error.failed_job = job.name  # type: ignore[attr-defined]
        raise


# The engine that runs the jobs of a split, and the error for a worker that dies.


def chosen_engine(engine: Engine, count: int, deadline: Deadline | None, *, is_native: bool = False) -> Engine:
    """Return the engine for a number of jobs.

    One job needs no worker, unless it has a deadline at which only a worker can be stopped.

    Args:
        engine: the requested engine.
        count: the number of jobs.
        deadline: deadline of code that runs in this process.
        is_native: True if the jobs release the interpreter's lock: they run in threads, unless processes were requested by
            name.
    """
    if isinstance(engine, SerialEngine) and (deadline is None or can_stop()):
        return engine
    from datasets_core.engines.pool import ProcessEngine, ThreadEngine  # takes 2 ms; a serial build does not need it

    if isinstance(engine, SerialEngine):
        return ProcessEngine(1)
    if count == 1 and deadline is None and isinstance(engine, ThreadEngine):
        return SerialEngine()  # a worker would be started for nothing
    if is_native and deadline is None and isinstance(engine, ProcessEngine) and not engine.is_named:
        return ThreadEngine(engine.workers)  # a process takes longer to start than many files to read
    return engine


def worker_died(error: WorkerDiedError, jobs: Sequence[Any], builder: Hooks, split: str) -> WorkerDiedError | None:
    """Return the error that names the part of the split whose worker was killed; None if `error` contains all known facts.

    Args:
        error: the error of the engine.
        jobs: its jobs.
        builder: the builder of the dataset.
        split: the split.
    """
    job = jobs[error.job] if error.job is not None else None
    if not isinstance(job, ShardJob):
        return None
    part = f" (part {job.index + 1} of {job.count})" if job.count > 1 else ""
    named = WorkerDiedError(
        f"The worker process that made split {split!r}{part} of {builder.label} {error.how or 'ended'}, without a result: "
        "it may have run out of memory, or code of the dataset ended it. "
        "Run again with a smaller num_proc; finished parts are kept.",
        job=error.job,
    )
    named.how = error.how
    return named


# The keys of jobs, compared when a job finishes, so that a shared key is found before all jobs have finished.


_THOROUGH_ROWS = 1 << 18  # below this, all keys are compared whenever a job is done


class Arrivals:
    """The keys of the jobs of a divided split, compared when a job finishes.

    The first keys of each job are compared with all keys of the others when it finishes.  If rows are sorted (`is_thorough`),
    all keys are compared whenever their number has grown by half: the work stays proportional to the number of rows.

    Args:
        folder: folder of the keys of the jobs.
        is_thorough: True to compare all keys meanwhile, not only the first ones.
    """

    def __init__(self, folder: str, *, is_thorough: bool) -> None:
        self._folder, self._is_thorough = folder, is_thorough
        self._records: dict[int, KeyRecord] = {}
        self._due = 0

    def add(self, index: int, result: ShardResult) -> None:
        """Compare the keys of the job at `index` with those that came before.

        Raises:
            Clash: two rows share a key.
        """
        if result.keys is not None:
            self._records[index] = result.keys
            compare_heads(self._ordered, sorted(self._records).index(index), self._folder)
        rows = sum(record.rows for record in self._records.values())
        if self._is_thorough and len(self._records) > 1 and rows >= self._due:
            self.finish()
            self._due = rows + rows // 2 if rows > _THOROUGH_ROWS else 0

    def finish(self) -> None:
        """Compare all keys.

        Raises:
            Clash: two rows share a key.
        """
        compare(self._ordered, self._folder)

    @property
    def _ordered(self) -> list[KeyRecord]:
        return [self._records[index] for index in sorted(self._records)]


@dataclasses.dataclass(slots=True)
class Stage:
    """Independent jobs of one split.

    Attributes:
        split: the split.
        function: runs a job, and regularly calls `on_rows` with the number of rows written.
        jobs: the jobs; each has a `name`, its name in the journal, and `attempt(token)`.
        deadline: when the author's code must have finished; None if the jobs run no such code, or have no time limit.
        keys: compares the keys of the jobs; None if these cannot differ between jobs, or the split is not divided.
        verb: title of the progress bar.
        failure: why the jobs cannot run separately; set when they have failed.
    """

    split: str
    function: Callable[..., ShardResult]
    jobs: Sequence[Any]
    deadline: Deadline | None = None
    keys: Arrivals | None = None
    verb: str = "Building"
    failure: str | None = None


# Names of the files of splits.


def counted_files(builder: Hooks, splits: Mapping[str, dict[str, Any]]) -> dict[str, str]:
    """Return the names of the files of splits as text, without secrets; none if rows were left out, since their numbers differ.

    Args:
        builder: the builder of the rows.
        splits: the arguments of each split whose rows were counted by file.
    """
    if getattr(builder, "block_steps", tuple)():
        return {}
    named = {split: names_of_parts(split, asked) for split, asked in splits.items()}
    return {
        split: stored_names(name if is_local_path(name) else redact(name) for name in names) for split, names in named.items()
    }


# Tables to shards: the sink of a job, and schemas that jobs agree on.


class Writer(Protocol):
    """Consumer of the batches of a job."""

    def write(self, data: pa.RecordBatch | pa.Table) -> None:
        """Add rows."""
        ...

    def close(self) -> list[ShardRecord]:
        """Write the rows to the disk, and return the shards."""
        ...

    def abort(self) -> None:
        """Remove what was written."""
        ...


class TableSink:
    """Writes the tables of a job, cast to a common schema.

    With features (the builder's own, or the schema that all jobs agreed on) every table is cast to them.  Without features, the
    first table determines the schema and later ones widen it; then earlier rows are written again.

    Args:
        job: the job.
        merge_columns: True if columns may be missing from some tables; else all have the same.
        writer: receives the rows instead of shards; only with a fixed schema.
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

    def write(self, table: pa.Table | pa.RecordBatch, *, what: str, row: int, file: str | None = None) -> None:
        """Append a table.

        Args:
            table: its rows.
            what: its origin, for messages.
            row: the number of its first row, in the file if there is one.
            file: the file that it was read from.

        Raises:
            DatasetGenerationCastError: its columns do not fit those of earlier tables, or the features; the error names file
                and row.
        """
        try:
            self._write(table, what, row)
        except DatasetGenerationCastError as error:
            error.placed(file=file, split=self._job.split)
            raise

    def _write(self, table: pa.Table | pa.RecordBatch, what: str, row: int) -> None:
        if self.schema is None:
            self._adopt(table.schema, what)
            self._origin = what
        if self.is_fixed or not _is_stored_as(table.schema, self.schema):
            table = self._fit(table, what, row)
        if table.num_rows:
            self._open().write(table)

    def finish(self) -> tuple[ShardRecord, ...]:
        """Write the shards to the disk and return them."""
        return () if self._writer is None else tuple(self._writer.close())

    def _adopt(self, schema: pa.Schema, what: str) -> None:
        self.features = features_of_file(schema, what)
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
                divides=not has_alias(),
            )
        return self._writer

    def _fit(self, table: pa.Table, what: str, row: int) -> pa.Table:
        assert self.schema is not None and self.features is not None
        if not self.is_fixed:
            found = plain_schema(features_of_file(table.schema, what).arrow_schema)
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
        except CellCastError as error:
            if error.row is None:
                raise self._error(what, error) from error
            raise DatasetGenerationCastError.of_cell(error, what, self._label, row + error.row) from error
        except CastError as error:
            raise self._error(what, error) from error

    def _widen(self, schema: pa.Schema, what: str) -> None:
        """Continue with `schema`, which `what` needs, and write earlier rows again."""
        narrow, self._writer = self._writer, None
        self._adopt(schema, what)
        if narrow is None:
            return
        self._widths += 1
        records = narrow.close()
        features = Features.from_arrow_schema(schema)
        try:
            for batch in read_batches(self._job.folder, records, self._job.file_format):
                self._open().write(cast_table(batch, features, what=f"split {self._job.split!r}"))
        except CastError as error:
            raise self._error(f"A batch before {what}", error) from error
        finally:
            narrow.abort()

    @property
    def _label(self) -> str:
        return f"split {self._job.split!r} of {self._job.builder.label}"

    def _error(self, what: str, error: CastError) -> DatasetGenerationCastError:
        return DatasetGenerationCastError(f"{what} does not fit {self._label}: {error}")


def _is_stored_as(found: pa.Schema, stored: pa.Schema | None) -> bool:
    """Return True if the writer takes batches of `found` unchanged; maps, views and extensions have other types in shards."""
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
    beside = f" next to {first}" if first and first != what else ""
    raise DatasetGenerationCastError(
        f"{what} does not fit {label}{beside}: {' and '.join(facts)}. "
        "Put files of different columns into different configs, or pass features= that name all columns."
    )


def read_batches(folder: str, records: Sequence[ShardRecord], file_format: str) -> Iterator[pa.RecordBatch]:
    """Yield the record batches of finished shards, one after the other."""
    for record in records:
        shard = FileShard(os.path.join(folder, record.name), file_format, ShardCache(max_bytes=0), sums=record.crc32c)
        for index in range(len(shard.batch_rows())):
            shard.compare(index)
            yield shard.batch(index)


# The schema on which the jobs of a build agree, and the job that casts finished shards to it.


@dataclasses.dataclass(frozen=True, slots=True)
class RecastJob:
    """Finished shards to write again with a wider schema.

    Attributes:
        job: the job, with the wider schema and its own stem.
        result: its first result.
    """

    job: ShardJob
    result: ShardResult

    @property
    def name(self) -> str:
        """Name in the journal."""
        return self.job.name

    def attempt(self, token: str) -> RecastJob:
        """See `ShardJob.attempt`."""
        return dataclasses.replace(self, job=self.job.attempt(token))

    def within(self, folder: str) -> RecastJob:
        """See `ShardJob.within`."""
        return dataclasses.replace(self, job=self.job.within(folder))

    def inputs(self, folder: str) -> Iterable[str]:
        """See `ShardJob.inputs`."""
        return [shard.name for shard in self.result.shards]


def recast_job(recast: RecastJob, on_rows: Callable[[int], object] = lambda rows: None) -> ShardResult:
    """Cast the shards of a finished job.

    Raises:
        DatasetGenerationCastError: a value would be lost.
    """
    job, result = recast.job, recast.result
    with TableSink(job, merge_columns=True) as sink:
        row, file = 0, one_file_of(job.gen_kwargs)
        what = file_of(job.gen_kwargs) or f"Part {job.index + 1} of {job.count}"
        for batch in read_batches(job.folder, result.shards, job.file_format):
            sink.write(batch, what=what, row=row, file=file)
            row += batch.num_rows
            on_rows(batch.num_rows)
        return ShardResult(job.name, sink.finish(), sink.schema, result.keys, words=result.words, blocks=result.blocks)


def agreed_schema(builder: Hooks, done: Sequence[tuple[ShardJob, ShardResult]]) -> pa.Schema:
    """Return the schema that can hold the rows of all jobs: that of the features, else the narrowest one.

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
    """Return the schema with columns and fields in an order that does not depend on which rows came first."""
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


LAYOUT_SETTINGS = ("batch_bytes", "batch_rows", "job_bytes")


def layout_of(**options: int | None) -> dict[str, int]:
    """Return what decides, besides the sources and the order, which rows are in which shard and batch of a build.

    Args:
        options: those of the build; the settings are added.
    """
    found = {**options, **{name: getattr(settings(), name) for name in LAYOUT_SETTINGS}}
    return {name: value for name, value in found.items() if value is not None}


def why_indivisible(error: Clash | DatasetGenerationError) -> str | None:
    """Return why a split cannot be built in parts: they share keys, or one fails at its first row; None for other failures."""
    if isinstance(error, Clash):
        return "its parts share keys"
    if error.row != 0 or isinstance(error, (FileFormatError, InvalidKeyError)):
        return None
    return f"a part fails by itself ({error})"


def bytes_of_jobs(stage: Stage) -> dict[str, int]:
    """Return the bytes that each job of a stage reads, by its name; empty if they are not known."""
    found: dict[str, int] = {}
    for job in stage.jobs:
        paths = job.gen_kwargs.get("files")
        if not isinstance(paths, list) or not all(isinstance(path, str) and os.path.isfile(path) for path in paths):
            return {}
        found[job.name] = sum(map(os.path.getsize, paths))
    return found


def part_count(builder: Hooks, options: BuildOptions) -> int | None:
    """Return the maximum number of parts of a split; None if its lists alone decide.

    Hugging Face `datasets` passed whole lists to scripts, unless `num_proc` requested parts. Scripts may rely on it: rows
    are numbered from file to file, or the first file of a list is different.
    """
    if not builder.is_of_old_datasets:
        return None
    if options.num_proc is not None:
        return options.num_proc
    return 1 if getattr(options.engine, "workers", None) == 1 else None


def expected_rows(builder: Builder, split: str) -> int | None:
    """Return the number of rows that the description of a dataset names for a split, if all are built."""
    splits = builder.recorded.splits
    recorded = splits.get(split) if splits else None
    return recorded.num_examples or None if recorded is not None and not builder.is_partial else None

"""`Build`: one build in a staging folder: jobs, engine, journal, order, checks, up to the commit.

It plans, runs the jobs, makes their schemas agree, checks, writes the manifest, and commits once.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import functools
import itertools
import json
import os
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from datasets_core import files
from datasets_core._version import __version__
from datasets_core.building.cache_key import check_unchanged, dataset_identity, identify, identity_of, sources_of
from datasets_core.building.failures import out_of_time
from datasets_core.building.hooks import ROW_GROUP_BYTES, TABLE_GROUP_BYTES, Builder, SplitGenerator
from datasets_core.building.options import (
    BuildOptions,
    LocalFiles,
    Order,
    Register,
    check_downloads,
    check_manifest,
    download_manager,
    has_register,
    named_splits,
    recorded_downloads,
    takes_local_files,
    wanted_order,
)
from datasets_core.building.write.exchange import (
    Exchange,
    JobPlan,
    files_of,
    remove_plan,
    run_elsewhere,
    small_files_of,
    without_credentials,
)
from datasets_core.building.write.generate import write_rows, write_tables
from datasets_core.building.write.jobs import (
    Arrivals,
    RecastJob,
    ShardJob,
    ShardResult,
    Stage,
    agreed_schema,
    bytes_of_jobs,
    chosen_engine,
    counted_files,
    expected_rows,
    jobs_of_split,
    layout_of,
    part_count,
    recast_job,
    run_attempt,
    why_indivisible,
    worker_died,
)
from datasets_core.building.write.reorder import Ordering
from datasets_core.building.write.row_keys import Clash, as_json, from_json
from datasets_core.building.write.runs import Run, is_as_written, run_bytes
from datasets_core.config import has_alias, settings
from datasets_core.engines.deadline import SerialEngine, TimeUp
from datasets_core.engines.threads import followed
from datasets_core.errors import (
    ConfigurationError,
    DatasetDiskError,
    DatasetGenerationError,
    DownloadError,
    ScriptTimeoutError,
    WorkerDiedError,
    logger_of,
)
from datasets_core.features.schema import Features
from datasets_core.features.unordered import Facts
from datasets_core.fetch import disk_cache
from datasets_core.fetch.checksums import VerificationMode
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.progress import FileMeter, Meter, is_seen, metered, progress, told
from datasets_core.store import module_state
from datasets_core.store.atomic import temporary_folder
from datasets_core.store.commit import Journal, Staging, dead_work, remove_garbage
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.manifest import JOURNAL_NAME, Manifest, ShardRecord, located
from datasets_core.store.pieces import stored_blocks
from datasets_core.store.writer import ShardWriter, is_stored_as_it_is

# The finished jobs of an unfinished build, which the next run reuses.


def build_journal(folder: str, plan: str, exchange: Exchange | None = None) -> Journal[ShardResult]:
    """Return the journal of a staging folder, with the finished jobs whose shards are complete.

    Args:
        folder: the staging folder.
        plan: the identity of the build; finished jobs of another plan do not count.
        exchange: has the files instead, and the journal if another machine wrote it.
    """
    path = os.path.join(folder, JOURNAL_NAME)
    if exchange is not None and exchange.size(JOURNAL_NAME) > max(0, _size(path)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        exchange.fetch(folder, [JOURNAL_NAME])
    journal = Journal(path, {"plan": plan}, _line, _result, is_lazy=True)
    journal.read()
    journal.entries = [result for result in journal.entries if _is_whole(result, folder, exchange)]
    if exchange is not None:
        exchange.fetch(folder, [name for result in journal.entries for name, _ in small_files_of(result)])
    return journal


_ENDINGS = (".arrow", ".parquet", ".keys", ".order", ".words")  # of the files that jobs write


def _remove_unfinished(folder: str, results: Iterable[ShardResult]) -> None:
    """Remove the files of interrupted attempts: no other attempt uses their names and would overwrite them."""
    known = {name for result in results for name, _ in files_of(result)}
    for name in os.listdir(folder):
        if name.endswith(_ENDINGS) and name not in known:
            os.unlink(os.path.join(folder, name))


def has_finished_jobs(path: str) -> bool:
    """Return True if the journal has a finished job, so that another run may resume it."""
    try:
        with open(path, "rb") as handle:
            return bool(handle.readline()) and bool(handle.readline())
    except FileNotFoundError:
        return False


def _line(result: ShardResult) -> dict[str, Any]:
    schema = None if result.schema is None else base64.b64encode(result.schema.serialize().to_pybytes()).decode()
    return {
        "job": result.name,
        "shards": [shard._asdict() for shard in result.shards],
        "schema": schema,
        "keys": None if result.keys is None else as_json(result.keys),
        "runs": [asdict(run) for run in result.runs],
        "words": result.words,
        "facts": None if result.facts is None else result.facts.to_json(),
        "denied": list(result.denied),
        "blocks": None if result.blocks is None else result.blocks.to_json(),
        "final": result.is_final,
    }


def _result(found: dict[str, Any]) -> ShardResult:
    shards = tuple(
        ShardRecord(**{**shard, "batches": tuple((int(rows), int(count)) for rows, count in shard["batches"])})
        for shard in found["shards"]
    )
    schema = None if found["schema"] is None else pa.ipc.read_schema(pa.py_buffer(base64.b64decode(found["schema"])))
    keys = None if found["keys"] is None else from_json(found["keys"])
    runs = tuple(Run(**run) for run in found["runs"])
    facts = None if found["facts"] is None else Facts.from_json(found["facts"])
    blocks = None if found["blocks"] is None else RowBlocks.from_json(found["blocks"])
    denied, is_final = tuple(found["denied"]), bool(found.get("final"))
    return ShardResult(found["job"], shards, schema, keys, runs, found["words"], facts, denied, blocks, is_final)


def _is_whole(result: ShardResult, folder: str, exchange: Exchange | None) -> bool:
    if exchange is not None:  # whose files are whole, or not there
        return all(os.path.basename(name) == name and exchange.size(name) == size for name, size in files_of(result))
    return all(
        os.path.basename(name) == name and _size(os.path.join(folder, name)) == size for name, size in files_of(result)
    ) and all(is_as_written(os.path.join(folder, shard.name), shard) for shard in result.shards)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return -1


logger = logger_of(__name__)


@functools.cache  # once a process: what dies later is found by the next one
def _sweep(cache_dir: str) -> None:
    """Remove the files that killed builds of other datasets left in the cache."""
    try:
        remove_garbage(dead_work(cache_dir))
    except OSError as error:  # this build does without
        logger.info("Files of dead builds in %s are not removed: %s", cache_dir, error)


def _sweep_downloads(cache_dir: str) -> None:
    """Remove the files that killed downloads and extractions left in the cache."""
    try:
        downloads, now = os.path.join(cache_dir, "downloads"), settings()
        for place, extracted in ((downloads, os.path.join(downloads, "extracted")), (now.downloads_dir, now.extracted_dir)):
            if os.path.isdir(place) or os.path.isdir(extracted):
                for folder in disk_cache.download_folders(place, extracted):
                    disk_cache.sweep(folder)
    except OSError as error:  # this build does without
        logger.info("Files of dead downloads in %s are not removed: %s", cache_dir, error)


class Build:
    """One build, into one staging folder; the caller holds the lock of the dataset.

    Attributes:
        splits, downloads, sources: of the plan: the splits, the records of the downloads, and the source files before they are
            read.
        schema, shards, write_order, blocks, denied: of the jobs: the schema of all shards, the shards in order, the order of
            their rows, the row ranges of each split in its source files, and the accesses denied to a sandboxed script.
    """

    def __init__(self, builder: Builder, options: BuildOptions) -> None:
        self.builder, self.options = builder, options
        self._order: Order = wanted_order(builder, disable_shuffling=options.disable_shuffling)
        self._is_as_read = self._order == "source" and options.num_shards is None  # what the jobs write is final
        target, spans = located(options.output_dir), getattr(options.engine, "spans_machines", False)
        self._exchange = Exchange.of(target, options.storage_options) if spans and files.is_url(target) else None
        self._sent_builder = without_credentials(builder) if spans else builder
        self._failed: tuple[Stage, str] | None = None  # the job that failed
        self.staging = Staging.adopt_or_create(options.output_dir)

    def run(self, *, is_committed: bool = True) -> Manifest:
        """Make the dataset: plan, jobs, results, commit.

        Args:
            is_committed: False to leave its shards in the staging folder.

        Raises:
            DatasetsCoreError: a failure, as a subclass.
        """
        builder, options = self.builder, self.options
        _sweep(builder.cache_root)
        try:
            dl_manager = self._plan()
            plan = _plan_identity(builder, options, self.splits)
            with build_journal(self.staging.folder, plan, self._exchange) as journal, self._kept(journal):
                results = {result.name: result for result in journal.entries}  # finished by a run that was interrupted
                _remove_unfinished(self.staging.folder, journal.entries)
                for stage in self._stages(results):
                    try:
                        with contextlib.closing(self._results(stage, results)) as running:
                            for job, result in running:
                                if job.name not in results:
                                    self._note(journal, result)
                                    results[job.name] = result
                                if stage.keys is not None:
                                    stage.keys.add(job.index, result)
                        if stage.keys is not None:
                            stage.keys.finish()
                    except (Clash, DatasetGenerationError) as error:
                        stage.failure = None if stage.keys is None else why_indivisible(error)
                        if stage.failure is None:
                            raise
            manifest = self._manifest()
            if not is_committed:
                return manifest
            check_manifest(builder, manifest, self.downloads, options.verification)
            for split in self.splits:
                split.split_info = (manifest.info.splits or SplitDict())[split.name]
            if options.checks_version:
                from datasets_core.building.folders import check_bump  # takes 20 ms; most do not need it

                check_bump(builder, options.output_dir, self.staging.folder, manifest, options.storage_options)
            if self._exchange is not None and not manifest.schema:
                self._exchange.fetch(self.staging.folder, [shard.name for shard in manifest.shards[:1]])
            committed = self.staging.commit(
                manifest,
                storage_options=options.storage_options,
                has_schema=bool(manifest.schema),
                sent_to=None if self._exchange is None else self._exchange.url,
            )
            if hasattr(dl_manager, "manage_extracted_files"):
                dl_manager.manage_extracted_files()
            logger.info("Dataset %s prepared in %s", builder.label, options.output_dir)
            if os.path.isdir(plans := os.path.join(builder.cache_root, "plans")):
                remove_plan(plans, self._template())
            return committed
        except BaseException as error:
            is_kept = isinstance(error, (KeyboardInterrupt, DownloadError, WorkerDiedError)) or (
                getattr(options.engine, "spans_machines", False) and isinstance(error, (ConfigurationError, DatasetDiskError))
            )
            if not (is_kept and has_finished_jobs(self.staging.journal)):  # which the next run takes over
                self._discard()
            self._tell_arguments(error)
            raise

    def _tell_arguments(self, error: BaseException) -> None:
        """Add to the error of a job which arguments it had, and how to run it alone."""
        if self._failed is None or isinstance(error, (KeyboardInterrupt, ConfigurationError, ScriptTimeoutError)):
            return
        stage, name = self._failed
        job = next((job for job in stage.jobs if job.name == name), None)
        if isinstance(job, ShardJob):
            template = dataclasses.replace(self._template(), builder=without_credentials(self.builder), deadline=None)
            splits = [(split.name, split.gen_kwargs) for split in self.splits]
            plan = JobPlan(stage.function, template, splits, self._division)
            error.add_note(plan.told(job, os.path.join(self.builder.cache_root, "plans"), error))

    def repair(self, manifest: Manifest, damaged: Sequence[ShardRecord]) -> bool:
        """Generate damaged shards of a finished local dataset again, and replace them one by one.

        The jobs that wrote them run again; if rows were put in order later, or the jobs depend on each other, all jobs do.

        Args:
            manifest: manifest of the dataset; it is not changed, since a shard is replaced by equal bytes only.
            damaged: the records of the shards, with their checksums.

        Returns:
            False if the sources gave other bytes: then nothing is replaced.

        Raises:
            DatasetsCoreError: the jobs cannot run, for example if a source no longer exists.
        """
        try:
            self._plan()
            made: dict[str, str] = {}
            for split in self.splits if self._is_as_read else ():
                made |= self._made_again(split, manifest, [shard for shard in damaged if shard.split == split.name])
            if not all(shard.sha256 in made for shard in damaged):
                self.run(is_committed=False)
                made = {shard.sha256: shard.name for shard in self.shards}
            if not all(shard.sha256 in made for shard in damaged):
                return False
            check_unchanged(self.sources)
            for shard in damaged:
                self.staging.replace_shard(made[shard.sha256], shard.name)
            return True
        finally:
            self._discard()

    def _made_again(self, split: SplitGenerator, manifest: Manifest, damaged: Sequence[ShardRecord]) -> dict[str, str]:
        """Return names of staged shards by their sha256: those of the jobs that may have written the damaged ones."""
        shards, jobs = manifest.split_shards().get(split.name, []), self._jobs(split) if damaged else []
        if len(jobs) == len(shards):  # one shard for each job
            jobs = [job for job, shard in zip(jobs, shards, strict=True) if shard in damaged]
        features, made = manifest.info.features, dict[str, str]()
        agreed = None if features is None else features.arrow_schema
        wide = [dataclasses.replace(job, schema=agreed, stem=f"{job.stem}-r") for job in jobs if job.schema is None]
        for each in (jobs, wide):  # a job may have been read again with the schema of all
            if each and not all(shard.sha256 in made for shard in damaged):
                write = write_rows if self.builder.yields == "rows" else write_tables
                with contextlib.closing(self._results(Stage(split.name, write, each, self.options.timeout), {})) as running:
                    made |= {shard.sha256: shard.name for _, result in running for shard in result.shards}
        return made

    def _discard(self) -> None:
        self.staging.discard_as_far_as_possible()
        if self._exchange is not None:
            try:
                self._exchange.discard()
            except Exception as error:  # of a kind of the store; the first failure is the one to report
                logger.warning("Could not remove %s: %s", self._exchange.url, error)

    def _note(self, journal: Journal[ShardResult], result: ShardResult) -> None:
        """Add a result to the journal, and send the journal to the store now and then, for the next run on another machine."""
        if self._exchange is not None:
            self._exchange.fetch(self.staging.folder, [name for name, _ in small_files_of(result)])
        if journal.add(result) and self._exchange is not None:
            self._exchange.send(self.staging.folder, [JOURNAL_NAME])

    @contextlib.contextmanager
    def _kept(self, journal: Journal[ShardResult]) -> Iterator[None]:
        """Copy the journal to the store when the jobs have ended, also after a failure."""
        try:
            yield
        finally:
            if self._exchange is not None and journal.entries:
                self._exchange.send(self.staging.folder, [JOURNAL_NAME])

    # -- the plan ------------------------------------------------------------------------------------------------------

    def _plan(self) -> Any:
        """Download, list the splits and the sources, and check the downloads; return the download manager."""
        builder, options = self.builder, self.options
        registered = Register.of(builder, options) if has_register(builder, options) else None
        dl_manager = self._download_manager(registered)
        if not isinstance(dl_manager, LocalFiles):
            _sweep_downloads(builder.cache_root)
        self.splits = named_splits(builder, dl_manager, deadline=options.timeout)
        self.downloads = _recorded(dl_manager)
        if registered is not None:
            registered.settle(dl_manager, self.downloads)
        if not builder.is_partial:
            expected = recorded_downloads(builder, options.verification)
            check_downloads(expected, self.downloads, options.verification)
        self.sources = sources_of(
            builder.config.data_files,
            [split.gen_kwargs for split in self.splits],
            self.downloads or {},
            local_paths=getattr(dl_manager, "local_paths", ()),
            caches=getattr(dl_manager, "cache_folders", ()),
            hashed=options.verification is VerificationMode.ALL_CHECKS,
            belongs=builder.has_source,
        )
        return dl_manager

    def _download_manager(self, registered: Register | None) -> Any:
        """Return the download manager of the user, or one for the build, or None for local files of a format."""

        def manager() -> Any:
            made = self.options.dl_manager or download_manager(self.builder, self.options)
            identify(made, self.builder.config.data_files)
            return made if registered is None else registered.equip(made)

        return LocalFiles(manager) if takes_local_files(self.builder, self.options) else manager()

    def _jobs(self, split: SplitGenerator) -> list[ShardJob]:
        return jobs_of_split(self._template(), split.name, split.gen_kwargs, **self._division)

    @property
    def _division(self) -> dict[str, Any]:
        """How `divide` cuts the arguments of a split."""
        group_bytes = ROW_GROUP_BYTES if self.builder.yields == "rows" else TABLE_GROUP_BYTES
        return {"group_bytes": settings().job_bytes or group_bytes, "count": part_count(self.builder, self.options)}

    def _template(self) -> ShardJob:
        """Return a job with what all jobs have in common."""
        features = self.builder.info.features
        return ShardJob(
            builder=self._sent_builder,
            split="",
            gen_kwargs={},
            index=0,
            count=1,
            folder=self.staging.folder,
            stem="",
            schema=None if features is None else features.arrow_schema,
            file_format=self.options.file_format if self._is_as_read else "arrow",
            max_shard_bytes=self.options.max_shard_bytes if self._order == "source" else max(1, run_bytes() // 4),
            batch_rows=self.builder.writer_batch_size,
            compare_keys=self._order != "source" or self.options.verification is not VerificationMode.NO_CHECKS,
            keep_keys=False,
            order=self._order,
            max_rows=self.options.max_rows,
            deadline=self.options.timeout,
            final=(self.options.file_format, self.options.num_shards, self.options.max_shard_bytes),
        )

    # -- jobs and their results ----------------------------------------------------------------------------------------

    def _stages(self, results: dict[str, ShardResult]) -> Iterator[Stage]:
        """Yield the stages of the build in order; the jobs of one are finished when the next one is requested.

        Args:
            results: results of the jobs finished so far, by name.
        """
        builder = self.builder
        write = write_rows if builder.yields == "rows" else write_tables
        made: dict[str, list[tuple[ShardJob, ShardResult]]] = {}
        plans = [(split, self._jobs(split)) for split in self.splits]
        for split, jobs in plans:  # 1. every part of a split makes its rows
            is_divided = len(jobs) > 1 and builder.yields == "rows"
            keys = Arrivals(self.staging.folder, is_thorough=self._order != "source") if is_divided else None
            stage = Stage(split.name, write, jobs, self.options.timeout, keys)
            yield stage
            if stage.failure is not None:
                logger.warning(
                    "Split %r of %s is built in one piece: %s. Keys that differ between the lists in gen_kwargs allow parallel "
                    "builds.",
                    split.name,
                    builder.label,
                    stage.failure,
                )
                whole = jobs_of_split(self._template(), split.name, split.gen_kwargs, group_bytes=0, count=1)
                jobs = [dataclasses.replace(job, stem=f"{split.name}-whole") for job in whole]
                yield Stage(split.name, write, jobs, self.options.timeout)
            made[split.name] = [(job, results[job.name]) for job in jobs]
        done = [pair for pairs in made.values() for pair in pairs]
        self.denied = [builder.denied, *(result.denied for _, result in done)]
        self.schema = agreed_schema(builder, done)
        fitted: dict[str, list[ShardResult]] = {}
        for name, pairs in made.items():  # 2. parts of another schema are read again, or cast
            wide = {
                job.name: dataclasses.replace(job, schema=self.schema, stem=f"{job.stem}-r")
                for job, result in pairs
                if result.shards and result.schema != self.schema
            }
            if wide and builder.rereads:
                yield Stage(name, write, list(wide.values()), self.options.timeout)
            elif wide:
                yield Stage(name, recast_job, [RecastJob(wide[job.name], found) for job, found in pairs if job.name in wide])
            fitted[name] = [results[wide[job.name].name] if job.name in wide else result for job, result in pairs]
        check_unchanged(self.sources)
        self.shards: list[ShardRecord] = []
        orders: set[Order] = set()
        for name, found in fitted.items():  # 3. the rows are put in order, and into as many shards as asked for
            shards = [shard for result in found for shard in result.shards]
            if not self._is_as_read:
                ordering = Ordering(
                    label=builder.label,
                    has_keys=builder.yields == "rows",
                    order=self._order,
                    options=self.options,
                    folder=self.staging.folder,
                    split=name,
                    schema=self.schema,
                )
                shards, order = yield from ordering.stages(found, results)
                orders.update([order] if shards else [])
            self.shards += shards if any(shard.rows for shard in shards) else self._empty_shard(name, self.schema)
        self.write_order = orders.pop() if len(orders) == 1 else "source" if orders else self._order
        self.blocks = self._blocks(fitted) if self.write_order == "source" else {}

    def _results(self, stage: Stage, finished: Mapping[str, ShardResult]) -> Generator[tuple[Any, ShardResult]]:
        """Yield each job of a stage with its result: first the finished ones, then the others as the engine runs them.

        Raises:
            WorkerDiedError: a worker process was killed; the error names the part of the split.
            ScriptTimeoutError: a worker process was killed, since it did not finish in time.
        """
        builder, split, deadline = self.builder, stage.split, stage.deadline
        taken = [(job, finished[job.name]) for job in stage.jobs if job.name in finished]
        waiting = [job for job in stage.jobs if job.name not in finished]
        if taken:
            logger.info("Reusing %d of %d finished jobs of split %r.", len(taken), len(stage.jobs), split)
            yield from taken
        timer = deadline if builder.is_stopped_by_timer else None
        engine = chosen_engine(self.options.engine, len(waiting), timer, is_native=getattr(builder, "is_native", False))
        is_here, total, sizes = (
            isinstance(engine, SerialEngine),
            expected_rows(builder, split),
            bytes_of_jobs(stage) if getattr(builder, "streams", False) and stage.function is write_tables else {},
        )
        counts_bytes = total is None and bool(sizes)
        done: dict[str, int] = {}  # by the name of a job
        with contextlib.ExitStack() as stack:
            total, unit = (sum(sizes.values()), "B") if counts_bytes else (total, "rows")
            bar = stack.enter_context(progress(f"{stage.verb} {split}", total=total, unit=unit))
            bar.update(sum(sizes[job.name] if counts_bytes else result.rows for job, result in taken))
            running: Iterator[tuple[int, ShardResult]]
            if is_here:
                watched = stack.enter_context(metered(FileMeter() if counts_bytes else Meter()))
                if is_seen(bar):
                    stack.enter_context(followed(bar.update, lambda: sum(done.values()) + watched.done()))
                running = engine.run(functools.partial(stage.function, on_rows=watched.add), waiting)
            else:
                tells = stack.enter_context(tempfile.TemporaryDirectory(dir=temporary_folder())) if is_seen(bar) else ""
                if tells:
                    files = {job.name: os.path.join(tells, job.name) for job in waiting}
                    left = lambda: sum(done[name] if name in done else told(file) for name, file in files.items())  # noqa: E731
                    stack.enter_context(followed(bar.update, left))
                code = builder, getattr(waiting[0], "gen_kwargs", None) if waiting else None
                verb, is_killed = f"The build of {builder.label}", getattr(engine, "shares_memory", None) is False
                limit = {"deadline": timer} if is_killed and timer else {}
                shared: str = self.staging.folder
                how: dict[str, Any] = {"tells": tells, "counts_bytes": counts_bytes}
                work = functools.partial(run_attempt, stage.function, **how)
                if self._exchange is not None:
                    work = functools.partial(run_elsewhere, self._exchange, stage.function, **how)
                    self._exchange.send(shared, {job.plan for job in waiting if hasattr(job, "plan")})
                folder = shared if self._exchange is None else None
                running = module_state.run(engine, work, waiting, *code, verb=verb, folder=folder, **limit)
            try:
                for position, result in running:
                    name = waiting[position].name
                    if is_here:
                        watched.reset()
                    done[name] = sizes[name] if counts_bytes else result.rows
                    yield waiting[position], result
            except WorkerDiedError as error:
                self._failed = None if error.job is None else (stage, waiting[error.job].name)
                found = worker_died(error, waiting, builder, split)
                if found is None:
                    raise
                raise found from error
            except Exception as error:
                name = getattr(error, "failed_job", None)
                self._failed = None if name is None or getattr(engine, "shares_memory", True) else (stage, name)
                raise
            except TimeUp as up:
                doing = f"generating the rows of split {split!r}, in code that cannot be interrupted,"
                raise out_of_time(builder, deadline, up, doing, split=split) from None
            finally:
                if isinstance(running, Generator):
                    running.close()

    def _empty_shard(self, split: str, schema: pa.Schema) -> list[ShardRecord]:
        with ShardWriter(
            self.staging.folder, f"{split}-empty", split=split, schema=schema, file_format=self.options.file_format
        ) as writer:
            return writer.close()

    # -- identity ----------------------------------------------------------------------------------------------------

    def _blocks(self, results: dict[str, list[ShardResult]]) -> dict[str, str]:
        """Return the row ranges of each split in its source files, if all jobs know them."""
        found: dict[str, str] = {}
        for split, done in results.items():
            parts = [result.blocks for result in done if result.blocks is not None]
            if parts and len(parts) == len(done):
                found[split] = stored_blocks(RowBlocks.joined(parts))
        return found

    def _manifest(self) -> Manifest:
        info = self.builder.info.copy()
        if info.features is None:
            info.features = Features.from_arrow_schema(self.schema)
        made: SplitDict = SplitDict(dataset_name=info.dataset_name)
        for split in self.splits:
            own = [shard for shard in self.shards if shard.split == split.name]
            made.add(
                SplitInfo(
                    name=split.name,
                    num_bytes=sum(shard.num_bytes for shard in own),
                    num_examples=sum(shard.rows for shard in own),
                    shard_lengths=[shard.rows for shard in own],
                    dataset_name=info.dataset_name,
                )
            )
        info.splits = made
        info.download_checksums = self.downloads
        sizes = [record.get("num_bytes") for record in (self.downloads or {}).values()]
        info.download_size = sum(size for size in sizes if size is not None)
        info.dataset_size = sum(shard.num_bytes for shard in self.shards)
        info.size_in_bytes = info.download_size + info.dataset_size
        return Manifest(
            info,
            tuple(self.shards),
            self.options.file_format,
            str(self.options.verification.value),
            self.sources,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            identity=dataset_identity(self.builder),
            schema=Hasher.hash(self.schema)
            if self.shards and is_stored_as_it_is(self.schema, self.options.file_format)
            else "",
            write_order=self.write_order,
            disable_shuffling=self._order == "key",
            max_rows=self.options.max_rows,
            denied=tuple(dict.fromkeys(itertools.chain(*self.denied))),
            confined=(self.builder.repo_id or os.path.realpath(self.builder.base_path or ""))
            if self.builder.is_confined
            else "",
            commit=self.builder.commit_sha or "",
            origin=_origin(self.builder),
            built_with=layout_of(
                max_shard_bytes=self.options.max_shard_bytes or settings().max_shard_bytes,
                num_shards=self.options.num_shards,
                num_proc=part_count(self.builder, self.options),
                writer_batch_size=self.builder.writer_batch_size,
            ),
            blocks=self.blocks,
            files=counted_files(
                self.builder, {split.name: split.gen_kwargs for split in self.splits if split.name in self.blocks}
            ),
        )


def _origin(builder: Builder) -> str:
    """Return the folder of a local dataset, of its script or of its data files; "" for other builders."""
    is_bound = builder.is_confined or bool(builder.repo_id)
    return "" if is_bound or not builder.base_path or files.is_url(builder.base_path) else os.path.realpath(builder.base_path)


def _plan_identity(builder: Builder, options: BuildOptions, splits: Sequence[SplitGenerator]) -> str:
    """Return the identity of the build, for the journal; a random one if a part has no identity."""
    limits = settings()
    parts = [
        __version__,  # other code may write other bytes
        builder.hash,
        builder.is_confined,  # what it is denied may change its rows
        builder.config_id,
        str(builder.version),
        builder.yields,
        None if builder.info.features is None else builder.info.features.arrow_schema.serialize().to_pybytes(),
        options.file_format,
        options.verification.value,
        options.max_shard_bytes or limits.max_shard_bytes,
        (wanted_order(builder, disable_shuffling=options.disable_shuffling), options.num_shards, options.max_rows),
        part_count(builder, options),
        limits.batch_bytes,
        limits.batch_rows,
        builder.writer_batch_size,
        [(split.name, split.gen_kwargs) for split in splits],
    ]
    parts += [] if limits.job_bytes is None else [limits.job_bytes]
    parts += ["alias"] if has_alias() else []
    data_files = getattr(builder.config.data_files, "identities", ())
    parts.append(json.dumps(data_files))  # with their sizes and times, which need no other look
    identity = identity_of(parts, but={path for path, _, modified in data_files if modified}) if builder.hash else None
    return identity or os.urandom(16).hex()


def _recorded(dl_manager: Any) -> dict[str, Any] | None:
    """Return the records of the manager about its downloads; None if it has none."""
    recorder = getattr(dl_manager, "get_recorded_sizes_checksums", None)
    found = recorder() if recorder is not None else None
    return dict(found) if isinstance(found, dict) else None

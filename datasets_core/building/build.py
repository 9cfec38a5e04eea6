"""One build, from the plan to the commit.

Plan, run the jobs, let their schemas agree, check, write the manifest, one commit.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import json
import logging
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from datasets_core._version import __version__
from datasets_core.building import checks
from datasets_core.building.arrivals import Arrivals
from datasets_core.building.bump import check_bump
from datasets_core.building.file_counts import counted_files
from datasets_core.building.generate import run_job
from datasets_core.building.hooks import Builder, SplitGenerator
from datasets_core.building.job_runs import run_jobs
from datasets_core.building.jobs import ROW_GROUP_BYTES, TABLE_GROUP_BYTES, ShardJob, ShardResult, divide
from datasets_core.building.journal import Journal, has_finished_jobs
from datasets_core.building.keys import Clash, compare
from datasets_core.building.options import BuildOptions
from datasets_core.building.ordering import Ordering, staged_bytes, staged_format
from datasets_core.building.registration import Register
from datasets_core.building.schemas import RecastJob, agreed_schema, recast_job
from datasets_core.building.sources import check_unchanged, dataset_identity, identify, identity_of, sources_of
from datasets_core.building.split_names import download_manager, named_splits
from datasets_core.building.write_order import Order, wanted_order
from datasets_core.config import settings
from datasets_core.errors import (
    DatasetGenerationError,
    DownloadError,
    InvalidKeyError,
    WorkerDiedError,
)
from datasets_core.features.schema import Features
from datasets_core.fetch import temporaries
from datasets_core.fetch.checksum import VerificationMode
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.progress import progress
from datasets_core.store.commit import Staging
from datasets_core.store.file_structure import stored_blocks
from datasets_core.store.garbage import dead_work, remove_garbage
from datasets_core.store.manifest import Manifest, ShardRecord, SourceRecord
from datasets_core.store.writer import ShardWriter

logger = logging.getLogger(__name__)


def build(builder: Builder, options: BuildOptions) -> Manifest:
    """Build a dataset; the caller holds its lock.

    Raises:
        DatasetsCoreError: of the kind that says what is wrong.
    """
    staging = Staging.adopt_or_create(options.output_dir)
    _sweep(builder.cache_root)
    try:
        return _Build(builder, options, staging).run()
    except (KeyboardInterrupt, DownloadError, WorkerDiedError):
        if not has_finished_jobs(staging.journal):
            staging.discard()
        raise  # the next run takes over the finished jobs
    except BaseException:
        staging.discard()
        raise


@functools.cache  # once a process: what dies later is found by the next one
def _sweep(cache_dir: str) -> None:
    """Remove what builds of other datasets, downloads and extractions left in the cache when they were killed."""
    try:
        remove_garbage(dead_work(cache_dir))
        downloads, now = os.path.join(cache_dir, "downloads"), settings()
        for place, extracted in ((downloads, os.path.join(downloads, "extracted")), (now.downloads_dir, now.extracted_dir)):
            for folder in temporaries.download_folders(place, extracted):
                temporaries.sweep(folder)
    except OSError as error:  # this build does without
        logger.info("What dead builds left in %s stays: %s", cache_dir, error)


class _Build:
    """One build under the lock, into one staging folder."""

    def __init__(self, builder: Builder, options: BuildOptions, staging: Staging) -> None:
        self.builder, self.options, self.staging = builder, options, staging
        self._order: Order = wanted_order(builder, disable_shuffling=options.disable_shuffling)

    def run(self) -> Manifest:
        """Everything, up to the commit."""
        registered = Register.of(self.builder, self.options)
        dl_manager = registered.equip(self.options.dl_manager or download_manager(self.builder, self.options))
        identify(dl_manager, self.builder.config.data_files)
        splits = named_splits(self.builder, dl_manager, deadline=self.options.timeout)
        downloads = _recorded(dl_manager)
        registered.settle(dl_manager, downloads)
        if not self.builder.is_partial:
            expected = checks.recorded_downloads(self.builder, self.options.verification)
            checks.check_downloads(expected, downloads, self.options.verification)
        sources = self._sources(splits, downloads, dl_manager)
        plans = {split.name: self._jobs(split) for split in splits}
        with Journal(self.staging.folder, _plan_identity(self.builder, self.options, splits)) as journal:
            results = {split.name: self._run_split(split, plans[split.name], journal) for split in splits}
            schema, fitted = self._agree(results, journal)
            check_unchanged(sources)
            shards, order = self._final_shards(fitted, schema, journal)
        blocks = self._blocks(fitted) if order == "source" else {}
        manifest = self._manifest(shards, schema, splits, downloads, sources, order)
        denied = [self.builder.denied, *(result.denied for pairs in results.values() for _, result in pairs)]
        manifest = dataclasses.replace(
            manifest,
            denied=tuple(dict.fromkeys(itertools.chain(*denied))),
            commit=self.builder.commit_sha or "",
            blocks=blocks,
            files=counted_files(self.builder, {split.name: split.gen_kwargs for split in splits if split.name in blocks}),
        )
        checks.check_manifest(self.builder, manifest, downloads, self.options.verification)
        for split in splits:
            split.split_info = (manifest.info.splits or SplitDict())[split.name]
        if self.options.checks_version:
            check_bump(self.builder, self.options.output_dir, self.staging.folder, manifest, self.options.storage_options)
        committed = self.staging.commit(manifest, storage_options=self.options.storage_options)
        if hasattr(dl_manager, "manage_extracted_files"):
            dl_manager.manage_extracted_files()
        return committed

    def _sources(
        self, splits: list[SplitGenerator], downloads: dict[str, Any] | None, dl_manager: Any
    ) -> tuple[SourceRecord, ...]:
        """The sources as they are before they are read: one that changes from now on is not what was built."""
        return sources_of(
            self.builder.config.data_files,
            [split.gen_kwargs for split in splits],
            downloads or {},
            local_paths=getattr(dl_manager, "local_paths", ()),
            caches=getattr(dl_manager, "cache_folders", ()),
            hashed=self.options.verification is VerificationMode.ALL_CHECKS,
            belongs=self.builder.has_source,
        )

    def _jobs(self, split: SplitGenerator) -> list[ShardJob]:
        rows = self.builder.yields == "rows"
        if self.options.max_rows is not None:  # the first that come: no second part knows how many came before
            return [self._job(split.name, split.gen_kwargs, 0, 1, f"{split.name}-first")] if self.options.max_rows else []
        group_bytes = ROW_GROUP_BYTES if rows else TABLE_GROUP_BYTES
        parts = divide(split.gen_kwargs, group_bytes=group_bytes, count=_part_count(self.builder, self.options))
        return [self._job(split.name, part, index, len(parts), f"{split.name}-{index:05d}") for index, part in enumerate(parts)]

    def _job(self, split: str, gen_kwargs: dict[str, Any], index: int, count: int, stem: str) -> ShardJob:
        features = self.builder.info.features
        return ShardJob(
            builder=self.builder,
            split=split,
            gen_kwargs=gen_kwargs,
            index=index,
            count=count,
            folder=self.staging.folder,
            stem=stem,
            schema=None if features is None else features.arrow_schema,
            file_format=staged_format(self._order, self.options),
            max_shard_bytes=staged_bytes(self._order, self.options),
            batch_rows=self.builder.writer_batch_size,
            compare_keys=self._order != "source" or self.options.verification is not VerificationMode.NO_CHECKS,
            keep_keys=count > 1 and self.builder.yields == "rows",
            order=self._order,
            max_rows=self.options.max_rows,
            deadline=self.options.timeout,
        )

    # -- jobs ----------------------------------------------------------------------------------------------------------

    def _run_split(self, split: SplitGenerator, jobs: list[ShardJob], journal: Journal) -> list[_Done]:
        """The results of a split, in the order of its rows.

        Parts whose rows share keys, or whose code fails at its first row, were not meant to be made apart: such a split is
        built again in one piece, as its author wrote it.
        """
        if len(jobs) < 2 or self.builder.yields == "tables":
            return self._run(split.name, run_job, jobs, journal)
        try:
            arrivals = Arrivals(self.staging.folder, is_thorough=self._order != "source")
            done = self._run(split.name, run_job, jobs, journal, arrived=arrivals)
            compare([result.keys for _, result in done if result.keys is not None], self.staging.folder)
            return done
        except Clash:
            why = "its parts share keys"
        except DatasetGenerationError as error:
            if error.row != 0 or isinstance(error, InvalidKeyError):
                raise
            why = f"a part fails by itself ({error})"
        logger.warning(
            "Split %r of %s is built in one piece: %s. Keys that differ between the lists in gen_kwargs allow parallel builds.",
            split.name,
            self.builder.label,
            why,
        )
        whole = self._job(split.name, split.gen_kwargs, 0, 1, f"{split.name}-whole")
        return self._run(split.name, run_job, [whole], journal)

    def _run(
        self,
        split: str,
        function: Callable[..., ShardResult],
        jobs: Sequence[Any],
        journal: Journal,
        *,
        arrived: Callable[[dict[int, ShardResult], int], None] = lambda results, latest: None,
        what: str = "Building",
    ) -> list[_Done]:
        """Run the jobs that the journal does not have; the results of all, in order."""
        results = {index: journal.finished[job.name] for index, job in enumerate(jobs) if job.name in journal.finished}
        if results:
            logger.info("Taking over %d of %d finished jobs of split %r.", len(results), len(jobs), split)
        for index in sorted(results):
            arrived({before: result for before, result in results.items() if before <= index}, index)
        waiting = [index for index in range(len(jobs)) if index not in results]
        with progress(f"{what} {split}", total=_expected_rows(self.builder, split)) as bar:
            bar.update(sum(result.rows for result in results.values()))
            running = run_jobs(
                function,
                [jobs[index] for index in waiting],
                builder=self.builder,
                split=split,
                engine=self.options.engine,
                deadline=self.options.timeout if function is run_job else None,
                on_rows=bar.update,
            )
            with contextlib.closing(running):
                for position, result in running:
                    index = waiting[position]
                    journal.record(result)
                    results[index] = result
                    arrived(results, index)
        return [(jobs[index], results[index]) for index in range(len(jobs))]

    # -- one schema ----------------------------------------------------------------------------------------------------

    def _agree(self, results: dict[str, list[_Done]], journal: Journal) -> tuple[pa.Schema, dict[str, list[ShardResult]]]:
        """The schema of all jobs, and their results with it: made again, or cast, where a job had another one."""
        done = [pair for pairs in results.values() for pair in pairs]
        schema = agreed_schema(self.builder, done)
        fitted: dict[str, list[ShardResult]] = {}
        for split, pairs in results.items():
            narrow = [(job, result) for job, result in pairs if result.shards and result.schema != schema]
            again = {
                job.name: result
                for (job, _), (_, result) in zip(narrow, self._widen(split, narrow, schema, journal), strict=True)
            }
            fitted[split] = [again.get(job.name, result) for job, result in pairs]
        return schema, fitted

    def _widen(self, split: str, narrow: list[_Done], schema: pa.Schema, journal: Journal) -> list[_Done]:
        if not narrow:
            return []
        wide = [dataclasses.replace(job, schema=schema, stem=f"{job.stem}-r") for job, _ in narrow]
        if self.builder.rereads:
            return self._run(split, run_job, wide, journal)
        jobs = [RecastJob(job, result) for job, (_, result) in zip(wide, narrow, strict=True)]
        return self._run(split, recast_job, jobs, journal)

    def _final_shards(
        self, fitted: dict[str, list[ShardResult]], schema: pa.Schema, journal: Journal
    ) -> tuple[list[ShardRecord], Order]:
        """The shards of all splits as they are to be written, and what the rows in them are in the order of."""
        found: list[ShardRecord] = []
        orders: set[Order] = set()
        for split, results in fitted.items():
            run = functools.partial(self._run_again, split, journal)
            ordering = Ordering(
                label=self.builder.label,
                has_keys=self.builder.yields == "rows",
                order=self._order,
                options=self.options,
                folder=self.staging.folder,
                split=split,
                schema=schema,
                run=run,
            )
            shards, order = ordering.final_shards(results)
            if shards:
                orders.add(order)
            found += shards or self._empty_shard(split, schema)
        return found, orders.pop() if len(orders) == 1 else "source" if orders else self._order

    def _run_again(
        self, split: str, journal: Journal, function: Callable[..., ShardResult], jobs: Sequence[Any]
    ) -> list[ShardResult]:
        return [result for _, result in self._run(split, function, jobs, journal, what="Writing")]

    def _empty_shard(self, split: str, schema: pa.Schema) -> list[ShardRecord]:
        with ShardWriter(
            self.staging.folder, f"{split}-empty", split=split, schema=schema, file_format=self.options.file_format
        ) as writer:
            return writer.close()

    # -- what it is ----------------------------------------------------------------------------------------------------

    def _blocks(self, results: dict[str, list[ShardResult]]) -> dict[str, str]:
        """How the rows of each split lie in the files that they came from, where all jobs know it."""
        found: dict[str, str] = {}
        for split, done in results.items():
            parts = [result.blocks for result in done if result.blocks is not None]
            if parts and len(parts) == len(done):
                found[split] = stored_blocks(RowBlocks.joined(parts))
        return found

    def _manifest(
        self,
        shards: list[ShardRecord],
        schema: pa.Schema,
        splits: list[SplitGenerator],
        downloads: dict[str, Any] | None,
        sources: tuple[SourceRecord, ...],
        order: Order,
    ) -> Manifest:
        info = self.builder.info.copy()
        if info.features is None:
            info.features = Features.from_arrow_schema(schema)
        made: SplitDict = SplitDict(dataset_name=info.dataset_name)
        for split in splits:
            own = [shard for shard in shards if shard.split == split.name]
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
        info.download_checksums = downloads
        sizes = [record.get("num_bytes") for record in (downloads or {}).values()]
        info.download_size = sum(size for size in sizes if size is not None)
        info.dataset_size = sum(shard.num_bytes for shard in shards)
        info.size_in_bytes = info.download_size + info.dataset_size
        return Manifest(
            info,
            tuple(shards),
            self.options.file_format,
            str(self.options.verification.value),
            sources,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            identity=dataset_identity(self.builder),
            write_order=order,
            disable_shuffling=self._order == "key",
            max_rows=self.options.max_rows,
        )


_Done = tuple[Any, ShardResult]  # a job and what came of it


def _expected_rows(builder: Builder, split: str) -> int | None:
    splits = builder.recorded.splits
    recorded = splits.get(split) if splits else None
    return recorded.num_examples or None if recorded is not None and not builder.is_partial else None


def _part_count(builder: Builder, options: BuildOptions) -> int | None:
    """How many parts a split has at most; None where its lists alone decide.

    Hugging Face `datasets` gave its authors whole lists, unless `num_proc` asked for parts.  Their code may count on it: rows
    have a number that goes on from file to file, or the first file of a list is not like the others.
    """
    if not builder.is_of_old_datasets:
        return None
    if options.num_proc is not None:
        return options.num_proc
    return 1 if getattr(options.engine, "workers", None) == 1 else None


def _plan_identity(builder: Builder, options: BuildOptions, splits: Sequence[SplitGenerator]) -> str:
    """The identity of what is built, for the journal; one that never returns where the parts have none."""
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
        _part_count(builder, options),
        limits.batch_bytes,
        limits.batch_rows,
        builder.writer_batch_size,
        [(split.name, split.gen_kwargs) for split in splits],
    ]
    data_files = getattr(builder.config.data_files, "identities", ())
    parts.append(json.dumps(data_files))  # with their sizes and times, which need no other look
    identity = identity_of(parts, but={path for path, _, modified in data_files if modified}) if builder.hash else None
    return identity or os.urandom(16).hex()


def _recorded(dl_manager: Any) -> dict[str, Any] | None:
    """What the manager recorded of its downloads; None where it records nothing."""
    recorder = getattr(dl_manager, "get_recorded_sizes_checksums", None)
    found = recorder() if recorder is not None else None
    return dict(found) if isinstance(found, dict) else None

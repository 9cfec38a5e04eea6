"""`Ordering`: last stages of a build with `shuffle_on_write` or `num_shards`: sorted runs, merge plan, final shards.

Each job makes whole files from finished ones, in bounded memory, so that it can be run again.  The content of a shard
depends only on the order of the rows: its record batches end when they reach a number of bytes, regardless of the origin of the
rows.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from datasets_core.building.options import BuildOptions, Order
from datasets_core.building.write.jobs import ShardResult, Stage
from datasets_core.building.write.row_keys import Words, position_words, row_words, sorted_order
from datasets_core.building.write.runs import (
    EqualWords,
    Run,
    RunWriter,
    batches_of,
    canonical,
    final_writer,
    merge_plan,
    next_batch,
    read_plan,
    read_words,
    run_bytes,
    run_slices,
    sidecar,
    taken_rows,
)
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DatasetGenerationError
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.writer import ShardWriter

OnRows = Callable[[int], object]


@dataclasses.dataclass(frozen=True, slots=True)
class SortJob:
    """One shard in the order of the source, to be converted to sorted runs.

    Attributes:
        folder: folder of the shard and of the runs.
        split: the split.
        schema: schema of its rows.
        shard: the shard.
        first_row: the number of its first row in the split.
        by: the order of its rows: by the hash of their "numbers", by their "place", or by "words" in a file.
        words: that file.
        first_word: position of the first row's word in it.
    """

    folder: str
    split: str
    schema: pa.Schema
    shard: ShardRecord
    first_row: int
    by: Literal["numbers", "place", "words"]
    words: str | None = None
    first_word: int = 0
    token: str = ""

    @property
    def name(self) -> str:
        """Name in the journal: with the content of the shard, which may differ in another run."""
        return f"{self.shard.name}-{self.shard.sha256[:16]}-{self.first_row}-sorted"

    @property
    def stem(self) -> str:
        """Prefix of the names of its files."""
        return f"{self.shard.name}-{self.token}" if self.token else self.shard.name

    def attempt(self, token: str) -> SortJob:
        """See `ShardJob.attempt`."""
        return dataclasses.replace(self, token=token)

    def within(self, folder: str) -> SortJob:
        """See `ShardJob.within`."""
        return dataclasses.replace(self, folder=folder)

    def inputs(self, folder: str) -> Sequence[str]:
        """See `ShardJob.inputs`."""
        return [self.shard.name] if self.words is None else [self.shard.name, self.words]

    def words_of(self, start: int, stop: int) -> Words:
        """Return the words of rows of the shard."""
        if self.by == "numbers":
            return row_words(self.first_row + start, self.first_row + stop, self.split)
        if self.by == "place":
            return position_words(self.first_row + start, self.first_row + stop)
        return read_words(self.folder, str(self.words), self.first_word + start, self.first_word + stop)


def sort_job(job: SortJob, on_rows: OnRows = lambda rows: None) -> ShardResult:
    """Make sorted runs of a shard; a shard that is in order already is used unchanged."""
    if job.by != "numbers":
        words = job.words_of(0, job.shard.rows)
        if sorted_order(words) is None:
            on_rows(job.shard.rows)
            return ShardResult(job.name, (), job.schema, runs=(sidecar(job.folder, job.shard, words, stem=job.stem),))
    writer = RunWriter(job.folder, job.stem, split=job.split, schema=job.schema)
    try:
        start = 0
        for batch in batches_of([job.shard], job.folder):
            writer.tell(job.words_of(start, start + batch.num_rows))
            writer.write(batch)
            start += batch.num_rows
            on_rows(batch.num_rows)
        return ShardResult(job.name, tuple(writer.close()), job.schema, runs=tuple(writer.runs))
    except BaseException:
        writer.abort()
        raise


@dataclasses.dataclass(frozen=True, slots=True)
class MergeJob:
    """One final shard, to be merged from the runs of a split.

    Attributes:
        folder: folder of runs, plan and shard.
        split: the split.
        stem: prefix of the name of the shard.
        schema: schema of the rows.
        file_format: format of the shard.
        runs: all runs.
        plan: the file of the merge plan.
        start, stop: the ranks of its rows.
        before: for each run, the number of its rows before the shard.
    """

    folder: str
    split: str
    stem: str
    schema: pa.Schema
    file_format: str
    runs: tuple[Run, ...]
    plan: str
    start: int
    stop: int
    before: tuple[int, ...]

    @property
    def name(self) -> str:
        """Name in the journal."""
        return self.stem

    def attempt(self, token: str) -> MergeJob:
        """See `ShardJob.attempt`."""
        return dataclasses.replace(self, stem=f"{self.stem}-{token}")

    def within(self, folder: str) -> MergeJob:
        """See `ShardJob.within`."""
        return dataclasses.replace(self, folder=folder)

    def inputs(self, folder: str) -> Iterator[str]:
        """See `ShardJob.inputs`."""
        yield self.plan
        for number in np.unique(read_plan(folder, self.plan, self.start, self.stop)["run"]):
            yield self.runs[number].data


def merge_job(job: MergeJob, on_rows: OnRows = lambda rows: None) -> ShardResult:
    """Write a final shard."""
    taken = np.array(job.before, np.int64)
    with _final_writer(job) as writer:
        for owners, lengths in _blocks(job):
            parts, places = _gathered(job, owners, taken)
            starts = np.cumsum([0, *(part.num_rows for part in parts[:-1])])
            start = 0
            for length, num_bytes in lengths:
                wanted = places[start : start + length]
                writer.write(canonical(taken_rows(parts, wanted, num_bytes, starts=starts)))
                start += length
                on_rows(length)
        return ShardResult(job.name, tuple(writer.close()), job.schema)


@dataclasses.dataclass(frozen=True, slots=True)
class CutJob:
    """One final shard, to be cut out of shards in the order of the source.

    Attributes:
        folder: folder of these shards and of the result.
        split: the split.
        stem: prefix of the name of the shard.
        schema: schema of the rows.
        file_format: format of the shard.
        sources: the shards that hold its rows, in Arrow's format.
        skip, rows: number of their rows to skip, and to take.
    """

    folder: str
    split: str
    stem: str
    schema: pa.Schema
    file_format: str
    sources: tuple[ShardRecord, ...]
    skip: int
    rows: int

    @property
    def name(self) -> str:
        """Name in the journal."""
        return self.stem

    def attempt(self, token: str) -> CutJob:
        """See `ShardJob.attempt`."""
        return dataclasses.replace(self, stem=f"{self.stem}-{token}")

    def within(self, folder: str) -> CutJob:
        """See `ShardJob.within`."""
        return dataclasses.replace(self, folder=folder)

    def inputs(self, folder: str) -> Sequence[str]:
        """See `ShardJob.inputs`."""
        return [source.name for source in self.sources]


def cut_job(job: CutJob, on_rows: OnRows = lambda rows: None) -> ShardResult:
    """Write a final shard."""
    with _final_writer(job) as writer:
        skip, left = job.skip, job.rows
        for source in job.sources:
            stop = min(source.rows, skip + left)
            for batch in run_slices(os.path.join(job.folder, source.name), skip, stop):
                writer.write(batch)
                on_rows(batch.num_rows)
            left -= stop - skip
            skip = 0
        return ShardResult(job.name, tuple(writer.close()), job.schema)


def cut_jobs(
    folder: str, split: str, sources: Sequence[ShardRecord], boundaries: Sequence[int], *, schema: pa.Schema, file_format: str
) -> list[CutJob]:
    """Return the jobs that divide the rows of a split into other shards."""
    jobs, start = [], 0
    for index, stop in enumerate(boundaries):
        first, skip = 0, 0
        parts: list[ShardRecord] = []
        for source in sources:
            if first < stop and first + source.rows > start:
                skip = skip if parts else start - first
                parts.append(source)
            first += source.rows
        stem = final_stem(split, index, len(boundaries))
        jobs.append(CutJob(folder, split, stem, schema, file_format, tuple(parts), skip, stop - start))
        start = stop
    return jobs


def final_stem(split: str, index: int, count: int) -> str:
    """Return the prefix of the name of a final shard in the staging folder."""
    return f"{split}-final{index:05d}of{count}"


# -- rows in their order -----------------------------------------------------------------------------------------------


def _final_writer(job: MergeJob | CutJob) -> ShardWriter:
    return final_writer(job.folder, job.stem, split=job.split, schema=job.schema, file_format=job.file_format)


def _blocks(job: MergeJob) -> Iterator[tuple[np.ndarray, list[tuple[int, int]]]]:
    """Yield the runs of the next ranks, and rows and bytes of their batches: as many as are gathered at once."""
    limit = run_bytes() // 2
    owners: list[np.ndarray] = []
    lengths: list[tuple[int, int]] = []
    held = 0
    for found, num_bytes in _chunks(job):
        if lengths and held + num_bytes > limit:
            yield np.concatenate(owners), lengths
            owners, lengths, held = [], [], 0
        owners.append(found)
        lengths.append((len(found), num_bytes))
        held += num_bytes
    if lengths:
        yield np.concatenate(owners), lengths


def _chunks(job: MergeJob) -> Iterator[tuple[np.ndarray, int]]:
    """Yield, for each record batch, the runs of its rows and their bytes, which depend only on the ranks."""
    limits = settings()
    rank = job.start
    while rank < job.stop:
        rows = read_plan(job.folder, job.plan, rank, min(job.stop, rank + limits.batch_rows))
        length = next_batch(rows["bytes"], limits.batch_bytes)
        yield rows["run"][:length], int(rows["bytes"][:length].sum(dtype=np.int64))
        rank += length


def _gathered(job: MergeJob, owners: np.ndarray, taken: np.ndarray) -> tuple[list[pa.RecordBatch], np.ndarray]:
    """Return the rows of a block, run after run, and the position of each; `taken` is advanced."""
    by_run = np.argsort(owners, kind="stable")
    places = np.empty(len(owners), np.int64)
    places[by_run] = np.arange(len(owners))
    counts = np.bincount(owners, minlength=len(job.runs))
    parts: list[pa.RecordBatch] = []
    for number in np.flatnonzero(counts):
        start = int(taken[number])
        path = os.path.join(job.folder, job.runs[number].data)
        parts += run_slices(path, start, start + int(counts[number]))
    taken += counts
    return parts, places


# The number of shards of a split, and the rows at which they end.


ROW_BYTES = 16
"""Bytes of a row besides its values, as records in a file have lengths and checksums."""

_LEAST_BYTES = 64 << 20
_MOST_BYTES = 1 << 30
_MANY = 1024


def number_of_shards(
    num_bytes: int,
    num_rows: int,
    *,
    num_shards: int | None = None,
    max_shard_bytes: int | None = None,
    is_precise: bool = True,
) -> int:
    """Return the number of shards of a split.

    If the user does not choose: 1,024 if shards then have 64 MiB to 1 GiB, a multiple of it for more than 1 TiB, and otherwise
    the largest power of two below it that keeps these sizes; one shard for small splits.

    Args:
        num_bytes: bytes of all values; each row counts 16 bytes more.
        num_rows: number of rows; no shard is empty.
        num_shards: the number requested by the user; None or 0 for none.
        max_shard_bytes: maximum average size of a shard in bytes.
        is_precise: the size is known exactly; False leaves a tenth of 1 GiB free.

    Raises:
        ConfigurationError: the number of shards is negative, or larger than the number of rows.

    >>> number_of_shards(10 << 30, 100_000), number_of_shards(1000, 10, max_shard_bytes=200)
    (128, 6)
    """
    if num_shards:
        if not 0 < num_shards <= num_rows:
            raise ConfigurationError(
                f"num_shards is {num_shards:,} for {num_rows:,} rows", advice="Give a number from 1 to the number of rows"
            )
        return num_shards
    total = num_bytes + ROW_BYTES * num_rows
    if max_shard_bytes is not None:
        return max(1, min(-(-total // max_shard_bytes), num_rows))
    most = total // _LEAST_BYTES
    least = total // (_MOST_BYTES if is_precise else int(_MOST_BYTES * 0.9))
    if least <= _MANY <= most and num_rows >= _MANY:
        return _MANY
    if least > _MANY:
        multiple = 2
        while _MANY * multiple < least:
            multiple += 1
        return _MANY * multiple
    for power in range(9, 0, -1):
        if least <= 1 << power <= most and 1 << power <= num_rows:
            return 1 << power
    return 1


def final_ends(num_bytes: int, num_rows: int, *, num_shards: int | None, max_shard_bytes: int | None) -> list[int]:
    """Return the rows at which the final shards of a split end; none if it has fewer rows than shards were requested."""
    if (num_shards or 0) > num_rows:
        return []
    count = number_of_shards(num_bytes, num_rows, num_shards=num_shards, max_shard_bytes=max_shard_bytes)
    return shard_boundaries(num_rows, count)


def shard_boundaries(num_rows: int, num_shards: int) -> list[int]:
    """Return the rows at which the shards end: the i-th at `round(num_rows * i / num_shards)`, halves to even.

    Raises:
        ConfigurationError: there are no rows, or fewer than shards.

    >>> shard_boundaries(10, 4)
    [2, 5, 8, 10]
    """
    if not 0 < num_shards <= num_rows:
        raise ConfigurationError(
            f"{num_rows:,} rows cannot fill {num_shards:,} shards", advice="Give at least one row for each shard"
        )
    return [_rounded(num_rows * index, num_shards) for index in range(1, num_shards + 1)]


def _rounded(numerator: int, denominator: int) -> int:
    """`round(numerator / denominator)`, also for numbers that a float does not hold."""
    whole, rest = divmod(numerator, denominator)
    return whole + (2 * rest > denominator or (2 * rest == denominator and whole % 2 == 1))


# Final shards from the results of the jobs of a split: sorted by hash or by key, or cut again.


@dataclass(frozen=True, slots=True)
class Ordering:
    """Puts the rows of one split into their final order.

    Attributes:
        label: the dataset, for messages.
        has_keys: True for rows with keys, False for tables.
        order: the write order.
        options: options of the build.
        folder: the staging folder.
        split: the split.
        schema: common schema of all jobs.
    """

    label: str
    has_keys: bool
    order: Order
    options: BuildOptions
    folder: str
    split: str
    schema: pa.Schema

    def stages(
        self, results: Sequence[ShardResult], done: Mapping[str, ShardResult]
    ) -> Generator[Stage, None, tuple[list[ShardRecord], Order]]:
        """Yield the stages that put the rows in order; return the final shards, and the order of their rows.

        Args:
            results: the rows.
            done: results by the name of the job; those of a stage are complete when the next one is requested.

        Raises:
            ConfigurationError: more shards than rows.
            DatasetGenerationError: two rows have the same position.
        """
        wanted = self.order
        shards = [shard for result in results for shard in result.shards]
        if any(result.is_final for result in results):  # of the one job of the split
            return shards, wanted
        rows = sum(shard.rows for shard in shards)
        if not rows:
            return [], wanted
        if (self.options.num_shards or 0) > rows:
            raise ConfigurationError(
                f"num_shards is {self.options.num_shards:,}, and split {self.split!r} of {self.label} has {rows:,} rows",
                advice="Request at most one shard for each row, or omit num_shards",
            )
        final: Sequence[CutJob | MergeJob]
        if wanted == "source":
            boundaries = shard_boundaries(rows, number_of_shards(0, rows, num_shards=self.options.num_shards))
            if self.options.file_format == "arrow" and boundaries == list(itertools.accumulate(shard.rows for shard in shards)):
                return shards, wanted
            final = cut_jobs(
                self.folder, self.split, shards, boundaries, schema=self.schema, file_format=self.options.file_format
            )
            yield Stage(self.split, cut_job, final, verb="Writing")
        else:
            runs = [run for result in results for run in result.runs]
            if not runs:
                by = self._words_by(results)
                jobs = self._sort_jobs(results, by)
                yield Stage(self.split, sort_job, jobs, verb="Writing")
                runs = [run for job in jobs for run in done[job.name].runs]
                wanted = "source" if by == "place" else wanted
            final = self._merge_jobs(runs)
            yield Stage(self.split, merge_job, final, verb="Writing")
        return [shard for job in final for shard in done[job.name].shards], wanted

    def _words_by(self, results: Sequence[ShardResult]) -> Literal["numbers", "place", "words"]:
        if not self.has_keys:
            return "numbers" if self.order == "hash" else "place"
        is_whole = all(result.words is not None or not result.rows for result in results)
        return "words" if is_whole or self.order == "hash" else "place"

    def _sort_jobs(self, results: Sequence[ShardResult], by: Literal["numbers", "place", "words"]) -> Sequence[SortJob]:
        jobs, row = [], 0
        for result in results:
            word = 0
            for shard in result.shards:
                jobs.append(SortJob(self.folder, self.split, self.schema, shard, row, by, result.words, word))
                row += shard.rows
                word += shard.rows
        return jobs

    def _merge_jobs(self, runs: Sequence[Run]) -> list[MergeJob]:
        options = self.options
        rows = sum(run.rows for run in runs)
        count = number_of_shards(
            sum(run.num_bytes for run in runs), rows, num_shards=options.num_shards, max_shard_bytes=options.max_shard_bytes
        )
        boundaries = shard_boundaries(rows, count)
        try:
            plan = merge_plan(self.folder, f"{self.split}.plan", runs, boundaries)
        except EqualWords:
            raise DatasetGenerationError(
                f"Two rows of split {self.split!r} of {self.label} have the same place in its "
                "order. Yield keys that differ as integers (True is 1)."
            ) from None
        return [
            MergeJob(
                folder=self.folder,
                split=self.split,
                stem=final_stem(self.split, index, count),
                schema=self.schema,
                file_format=options.file_format,
                runs=tuple(runs),
                plan=plan.name,
                start=boundaries[index - 1] if index else 0,
                stop=stop,
                before=plan.starts[index],
            )
            for index, stop in enumerate(boundaries)
        ]

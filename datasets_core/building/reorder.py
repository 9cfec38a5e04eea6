"""The second part of a build whose rows are not written as they come: rows into sorted runs, runs into the final shards.

Each job makes whole files of its own from finished ones, in bounded memory, and so can be run again.  What a shard holds
follows from the order of the rows alone: its record batches end where so many bytes are reached, wherever rows came from.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa

from datasets_core.building.jobs import ShardResult
from datasets_core.building.key_hash import Words, position_words, row_words, sorted_order
from datasets_core.building.merge_plan import read_plan
from datasets_core.building.sorted_runs import (
    ENDLESS,
    Run,
    RunWriter,
    batches_of,
    read_words,
    run_bytes,
    run_slices,
    sidecar,
)
from datasets_core.config import settings
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.writer import ShardWriter

OnRows = Callable[[int], object]


@dataclasses.dataclass(frozen=True, slots=True)
class SortJob:
    """One shard in the order of the source, to be made into sorted runs.

    Attributes:
        folder: where it is, and where the runs go.
        split: the split.
        schema: of its rows.
        shard: the shard.
        first_row: the number of its first row in the split.
        by: what its rows are ordered by: the hash of their "numbers", their "place", or "words" in a file.
        words: that file.
        first_word: which of its words is the first row's.
    """

    folder: str
    split: str
    schema: pa.Schema
    shard: ShardRecord
    first_row: int
    by: Literal["numbers", "place", "words"]
    words: str | None = None
    first_word: int = 0

    @property
    def name(self) -> str:
        """What the journal calls it: by the content of the shard too, which another run may have cut otherwise."""
        return f"{self.shard.name}-{self.shard.sha256[:16]}-{self.first_row}-sorted"

    def words_of(self, start: int, stop: int) -> Words:
        """The words of rows of the shard."""
        if self.by == "numbers":
            return row_words(self.first_row + start, self.first_row + stop, self.split)
        if self.by == "place":
            return position_words(self.first_row + start, self.first_row + stop)
        return read_words(self.folder, str(self.words), self.first_word + start, self.first_word + stop)


def sort_job(job: SortJob, on_rows: OnRows = lambda rows: None) -> ShardResult:
    """Make sorted runs of a shard; one that is in order stays where it is."""
    if job.by != "numbers":
        words = job.words_of(0, job.shard.rows)
        if sorted_order(words) is None:
            on_rows(job.shard.rows)
            return ShardResult(job.name, (), job.schema, runs=(sidecar(job.folder, job.shard, words),))
    writer = RunWriter(job.folder, job.shard.name, split=job.split, schema=job.schema)
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
        folder: where runs and plan are, and where the shard goes.
        split: the split.
        stem: how the name of the shard begins.
        schema: of the rows.
        file_format: of the shard.
        runs: all runs.
        plan: the file of the merge plan.
        start, stop: the ranks of its rows.
        before: for each run, how many of its rows come before the shard.
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
        """What the journal calls it."""
        return self.stem


def merge_job(job: MergeJob, on_rows: OnRows = lambda rows: None) -> ShardResult:
    """Write a final shard."""
    taken = np.array(job.before, np.int64)
    with _final_writer(job) as writer:
        for owners, lengths in _blocks(job):
            rows, places = _gathered(job, owners, taken)
            start = 0
            for length in lengths:
                writer.write(_canonical(rows.take(places.slice(start, length))))
                start += length
                on_rows(length)
        return ShardResult(job.name, tuple(writer.close()), job.schema)


@dataclasses.dataclass(frozen=True, slots=True)
class CutJob:
    """One final shard, to be cut out of shards in the order of the source.

    Attributes:
        folder: where they are, and where it goes.
        split: the split.
        stem: how the name of the shard begins.
        schema: of the rows.
        file_format: of the shard.
        sources: the shards that hold its rows, in Arrow's format.
        skip, rows: which of their rows.
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
        """What the journal calls it."""
        return self.stem


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
    """The jobs that cut the shards of a split at other rows."""
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
    """How the name of a final shard begins in the staging folder."""
    return f"{split}-final{index:05d}of{count}"


# -- rows in their order -----------------------------------------------------------------------------------------------


def _final_writer(job: MergeJob | CutJob) -> ShardWriter:
    return ShardWriter(
        job.folder,
        job.stem,
        split=job.split,
        schema=job.schema,
        file_format=job.file_format,
        max_shard_bytes=ENDLESS,
        batch_bytes=settings().batch_bytes,
    )


def _blocks(job: MergeJob) -> Iterator[tuple[np.ndarray, list[int]]]:
    """The runs of the next ranks, and the lengths of the batches that they make: as many as are gathered at once."""
    limit = run_bytes() // 2
    owners: list[np.ndarray] = []
    lengths: list[int] = []
    held = 0
    for found, num_bytes in _chunks(job):
        if lengths and held + num_bytes > limit:
            yield np.concatenate(owners), lengths
            owners, lengths, held = [], [], 0
        owners.append(found)
        lengths.append(len(found))
        held += num_bytes
    if lengths:
        yield np.concatenate(owners), lengths


def _chunks(job: MergeJob) -> Iterator[tuple[np.ndarray, int]]:
    """The runs of the rows of one record batch after the other, and their bytes: they depend on nothing but the ranks."""
    limits = settings()
    rank = job.start
    while rank < job.stop:
        rows = read_plan(job.folder, job.plan, rank, min(job.stop, rank + limits.batch_rows))
        reached = np.cumsum(rows["bytes"], dtype=np.int64)
        length = max(1, int(np.searchsorted(reached, limits.batch_bytes, side="right")))
        yield rows["run"][:length], int(reached[length - 1])
        rank += length


def _gathered(job: MergeJob, owners: np.ndarray, taken: np.ndarray) -> tuple[pa.RecordBatch, pa.Array]:
    """The rows of a block, run after run, and where each of them stands there; `taken` is moved on."""
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
    return pa.concat_batches(parts), pa.array(places)


def _canonical(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch as a file would hold it: equal rows are equal bytes, and counted alike, whatever they were taken from."""
    return pa.ipc.read_record_batch(batch.serialize(), batch.schema)

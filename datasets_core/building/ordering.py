"""From what the jobs of a split made to its final shards: sorted by hash or by key, or cut anew, as was asked for.

A split whose rows are sorted takes twice its size on the disk while it is built, as sorted runs and as shards; three times
where rows must be seen before their order or their schema is known: Arrow tables, builders without features, rows by key.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pyarrow as pa

from datasets_core.building.jobs import ShardResult
from datasets_core.building.merge_plan import EqualWords, merge_plan
from datasets_core.building.options import BuildOptions
from datasets_core.building.reorder import MergeJob, SortJob, cut_job, cut_jobs, final_stem, merge_job, sort_job
from datasets_core.building.shard_counts import number_of_shards, shard_boundaries
from datasets_core.building.sorted_runs import Run, run_bytes
from datasets_core.building.write_order import Order
from datasets_core.errors import ConfigurationError, DatasetGenerationError
from datasets_core.store.manifest import ShardRecord

RunJobs = Callable[[Callable[..., ShardResult], Sequence[Any]], list[ShardResult]]


def staged_bytes(order: Order, options: BuildOptions) -> int | None:
    """How large the shards are that the jobs write: such as can be sorted, where that is what becomes of them."""
    return options.max_shard_bytes if order == "source" else max(1, run_bytes() // 4)


def staged_format(order: Order, options: BuildOptions) -> str:
    """The format of the shards that the jobs write: Arrow's own where they are written again."""
    return options.file_format if order == "source" and options.num_shards is None else "arrow"


@dataclass(frozen=True, slots=True)
class Ordering:
    """How the rows of one split come into their order.

    Attributes:
        label: the dataset, for messages.
        has_keys: rows come with keys, not in tables.
        order: what its rows are put in order by.
        options: how to build.
        folder: the staging folder.
        split: the split.
        schema: on which all jobs agreed.
        run: runs jobs; their results in order.
    """

    label: str
    has_keys: bool
    order: Order
    options: BuildOptions
    folder: str
    split: str
    schema: pa.Schema
    run: RunJobs

    def final_shards(self, results: Sequence[ShardResult]) -> tuple[list[ShardRecord], Order]:
        """The final shards, and what their rows are in the order of.

        Raises:
            ConfigurationError: more shards were asked for than there are rows.
            DatasetGenerationError: two rows have the same place.
        """
        wanted = self.order
        shards = [shard for result in results for shard in result.shards]
        rows = sum(shard.rows for shard in shards)
        if not rows:
            return [], wanted
        if (self.options.num_shards or 0) > rows:
            raise ConfigurationError(
                f"num_shards is {self.options.num_shards:,}, and split {self.split!r} of {self.label} has {rows:,} rows. "
                "Ask for as many shards as rows at most, or leave num_shards out."
            )
        if wanted == "source":
            return (shards if self.options.num_shards is None else self._cut(shards)), wanted
        runs = [run for result in results for run in result.runs]
        if runs:
            return self._merge(runs), wanted
        by = self._words_by(results)
        jobs = list(self._sort_jobs(results, by))
        runs = [run for result in self.run(sort_job, jobs) for run in result.runs]
        return self._merge(runs), "source" if by == "place" else wanted

    def _words_by(self, results: Sequence[ShardResult]) -> Literal["numbers", "place", "words"]:
        if not self.has_keys:
            return "numbers" if self.order == "hash" else "place"
        is_whole = all(result.words is not None or not result.rows for result in results)
        return "words" if is_whole or self.order == "hash" else "place"

    def _cut(self, shards: list[ShardRecord]) -> list[ShardRecord]:
        rows = sum(shard.rows for shard in shards)
        boundaries = shard_boundaries(rows, number_of_shards(0, rows, num_shards=self.options.num_shards))
        if self.options.file_format == "arrow" and boundaries == list(itertools.accumulate(shard.rows for shard in shards)):
            return shards
        jobs = cut_jobs(self.folder, self.split, shards, boundaries, schema=self.schema, file_format=self.options.file_format)
        return [shard for result in self.run(cut_job, jobs) for shard in result.shards]

    def _sort_jobs(self, results: Sequence[ShardResult], by: Literal["numbers", "place", "words"]) -> Sequence[SortJob]:
        jobs, row = [], 0
        for result in results:
            word = 0
            for shard in result.shards:
                jobs.append(SortJob(self.folder, self.split, self.schema, shard, row, by, result.words, word))
                row += shard.rows
                word += shard.rows
        return jobs

    def _merge(self, runs: Sequence[Run]) -> list[ShardRecord]:
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
                f"Two rows of split {self.split!r} of {self.label} have the same place in its order. "
                "Yield keys that differ as integers (True is 1)."
            ) from None
        jobs = [
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
        return [shard for result in self.run(merge_job, jobs) for shard in result.shards]

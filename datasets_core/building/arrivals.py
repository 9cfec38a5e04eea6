"""The keys of jobs, compared as the jobs are done, so that a key that two of them share is found before all are."""

from __future__ import annotations

from datasets_core.building.jobs import ShardResult
from datasets_core.building.keys import compare, compare_heads

_THOROUGH_ROWS = 1 << 18  # below this, all keys are compared whenever a job is done


class Arrivals:
    """Called whenever a job is done, with the results so far.

    The first keys of each job are compared with all keys of the others when it arrives.  Where rows are sorted (`is_thorough`),
    all keys are, as soon as half as many more have come as at the last time: the work stays in proportion to the rows.

    Args:
        folder: where the keys of the jobs are.
        is_thorough: whether all keys are compared on the way, and not only the first ones.
    """

    def __init__(self, folder: str, *, is_thorough: bool) -> None:
        self._folder, self._is_thorough = folder, is_thorough
        self._due = 0

    def __call__(self, results: dict[int, ShardResult], latest: int) -> None:
        """Compare the keys of the job at `latest` with those that came before.

        Raises:
            Clash: two rows share a key.
        """
        order = sorted(index for index, result in results.items() if result.keys is not None)
        records = [result.keys for index in order if (result := results[index]).keys is not None]
        if latest in order:
            compare_heads(records, order.index(latest), self._folder)
        rows = sum(record.rows for record in records)
        if self._is_thorough and len(records) > 1 and rows >= self._due:
            compare(records, self._folder)
            self._due = rows + rows // 2 if rows > _THOROUGH_ROWS else 0

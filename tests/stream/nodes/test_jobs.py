"""The first rows of several streams are fetched together, and nothing else happens before they are wanted."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core import config
from datasets_core.dataset.combine import interleave_datasets
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.media.media import NOWHERE
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.jobs import GeneratedRows, Marked, RowJob, RowsOfJobs, ask_together
from datasets_core.stream.plan import Plan


@pytest.fixture
def streams(tmp_path: Path, range_server: Any) -> Any:
    for number in range(4):
        rows = {"a": range(100 * number, 100 * number + 100), "b": [os.urandom(2000) for _ in range(100)]}
        pq.write_table(pa.table(rows), tmp_path / f"{number}.parquet", row_group_size=20)
    url = range_server.serve(tmp_path)
    with config.using(cache_dir=tmp_path / "cache"):
        yield [IterableDataset.from_parquet(f"{url}/{number}.parquet") for number in range(4)]


def test_streams_are_asked_at_the_same_time(streams: list[IterableDataset], range_server: Any) -> None:
    together = threading.Barrier(4, timeout=60)

    def wait(asked: Any) -> None:
        if not together.broken:
            together.wait()

    range_server.before(wait)
    rows = iter(interleave_datasets(streams))
    first = [next(rows)["a"] for _ in range(4)]
    range_server.before(None)

    assert first == [0, 100, 200, 300]
    assert not together.broken


def test_functions_are_called_as_rows_are_wanted(streams: list[IterableDataset]) -> None:
    seen: list[int] = []
    before = threading.active_count()
    noted = [stream.map(lambda row: seen.append(row["a"])) for stream in streams]

    assert next(iter(interleave_datasets(noted)))["a"] == 0
    assert not [row for row in seen if row % 100 > 3]
    assert threading.active_count() < before + 40


def test_what_cannot_be_had_is_an_error_when_it_is_wanted(streams: list[IterableDataset], range_server: Any) -> None:
    mixed = interleave_datasets(streams)
    assert mixed.column_names == ["a", "b"]
    range_server.fail("3.parquet", "missing", times=None)
    rows = iter(mixed)

    assert [next(rows)["a"] for _ in range(3)] == [0, 100, 200]
    with pytest.raises(DatasetsCoreError) as caught:
        next(rows)
    assert str(caught.value.file).endswith("3.parquet")


def test_errors_of_calls_made_together_are_not_lost_but_late() -> None:
    made: list[int] = []

    def fail() -> None:
        raise DatasetsCoreError("late")

    ask_together([fail, lambda: made.append(1), lambda: made.append(2)])

    assert sorted(made) == [1, 2]


# Rows that jobs make: where they stand, and marks, from which a job goes on.


class Marking(RowJob):
    """Makes numbers in batches of five, and marks them; keeps what it was asked for."""

    is_independent = True

    def __init__(self, count: int, *, every: int = 1) -> None:
        self.count, self.every = count, every
        self.asked: list[Any] = []

    def batches(self, skip: int, *, in_order: bool, mark: Any = None) -> Any:
        self.asked.append((skip, mark))
        first = 0 if mark is None else mark[0]
        assert mark is None or mark == [first, {"byte": first * 10}]
        for start in range(first, self.count, 5):
            rows = [{"a": number} for number in range(max(skip, start), min(start + 5, self.count))]
            marks = start >= skip and start // 5 % self.every == 0
            yield Marked(rows, {"byte": start * 10}) if marks else rows


def _source(*jobs: Any) -> RowsOfJobs:
    return RowsOfJobs(jobs, None, NOWHERE, lambda: ["rows", ""])


def _rows(node: GeneratedRows, state: Any) -> list[tuple[int, Any]]:
    """The rows behind a state, each with the state behind it."""
    return [
        (row["a"], json.loads(json.dumps(delivery.after(number))))
        for delivery in node.blocks(state)
        for number, row in enumerate(delivery.block.rows())
    ]


@pytest.mark.parametrize("every", [1, 2])
def test_a_job_goes_on_at_its_last_mark(every: int) -> None:
    node = GeneratedRows.of(_source(Marking(12, every=every), Marking(7, every=every)))
    whole = _rows(node, node.start)
    assert [row for row, _ in whole] == [*range(12), *range(7)]

    for number, (_, state) in enumerate(whole):
        assert [row for row, _ in _rows(node, state)] == [row for row, _ in whole[number + 1 :]]


def test_a_mark_is_told_with_the_row_that_it_is_of() -> None:
    job = Marking(12)
    node = GeneratedRows.of(_source(job))
    state = _rows(node, node.start)[7][1]
    assert state == [0, 8, [5, {"byte": 50}]]

    list(node.blocks(state))

    assert job.asked == [(0, None), (8, [5, {"byte": 50}])]


def test_a_job_that_never_marked_is_told_none() -> None:
    class Plain(RowJob):
        is_independent = True

        def batches(self, skip: int, *, in_order: bool, mark: Any = None) -> Any:
            yield pa.RecordBatch.from_arrays([pa.array(range(skip, 3), pa.int64())], names=["a"])

    node = GeneratedRows.of(_source(Plain()))
    assert _rows(node, [0, 1]) == [(1, [0, 2]), (2, [0, 3])]


class Counting(Marking):
    """Knows how many rows it makes."""

    def num_rows(self) -> int:
        return self.count


@pytest.mark.parametrize("count", [0, 3, 11, 12, 13, 20, 26, 27, 40])
@pytest.mark.parametrize("known", [0, 1, 2, 3])
def test_rows_that_are_skipped_are_not_made_where_jobs_are_counted(count: int, known: int) -> None:
    jobs = [(Counting if place < known else Marking)(rows) for place, rows in enumerate((12, 8, 7))]
    stream = IterableDataset(Plan(_source(*jobs), (), 3))
    whole = [row["a"] for row in stream]
    for job in jobs:
        job.asked.clear()
    rows = stream.map(lambda row: {"a": row["a"]}).skip(count)

    assert [row["a"] for row in rows] == whole[count:]
    if known and count >= 12:
        assert jobs[0].asked == []
    if known == 3 and count < 20:
        first = int(count >= 12)
        assert jobs[first].asked == [(count - 12 * first, None)]

    walk = iter(rows)
    head = [row["a"] for _, row in zip(range(4), walk, strict=False)]
    rows.load_state_dict(json.loads(json.dumps(walk.state_dict())))
    assert head + [row["a"] for row in rows] == whole[count:]

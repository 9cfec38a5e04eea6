"""The first rows of several streams are fetched together, and nothing else happens before they are wanted."""

from __future__ import annotations

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
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.jobs import ask_together


@pytest.fixture
def streams(tmp_path: Path, range_server: Any) -> Any:
    for number in range(4):
        rows = {"a": range(100 * number, 100 * number + 100), "b": [os.urandom(2000) for _ in range(100)]}
        pq.write_table(pa.table(rows), tmp_path / f"{number}.parquet", row_group_size=20)
    url = range_server.serve(tmp_path)
    with config.using(cache_dir=tmp_path / "cache"):
        yield [IterableDataset.from_parquet(f"{url}/{number}.parquet") for number in range(4)]


def test_streams_are_asked_at_the_same_time(streams: list[IterableDataset], range_server: Any) -> None:
    together = threading.Barrier(4, timeout=10)

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
    with pytest.raises(DatasetsCoreError, match=r"3\.parquet"):
        next(rows)


def test_errors_of_calls_made_together_are_not_lost_but_late() -> None:
    made: list[int] = []

    def fail() -> None:
        raise DatasetsCoreError("late")

    ask_together([fail, lambda: made.append(1), lambda: made.append(2)])

    assert sorted(made) == [1, 2]

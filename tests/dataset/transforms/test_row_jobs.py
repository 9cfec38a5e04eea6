"""Parts of a dataset: cut at borders of batches, told of while they run, named when they fail."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.transforms.calling import Part, ProgressFile, as_size, borders, number_of_parts, results
from datasets_core.errors import ArgumentTypeError, ConfigurationError, WorkerDiedError


@given(st.integers(1, 200), st.integers(1, 20), st.integers(1, 50))
def test_parts_cover_the_rows_in_order_and_cut_no_batch(rows: int, parts: int, unit: int) -> None:
    runs = borders(rows, parts, unit)

    assert [row for start, stop in runs for row in range(start, stop)] == list(range(rows))
    assert all(start % unit == 0 and start < stop for start, stop in runs)
    assert len(runs) <= parts


def test_how_many_parts_and_rows_of_a_batch() -> None:
    assert [number_of_parts(asked, 3) for asked in (None, 0, 1, 2, 9)] == [None, None, 1, 2, 3]
    assert [as_size(asked) for asked in (None, 0, -1, 7)] == [None, None, None, 7]
    with pytest.raises(ConfigurationError):
        number_of_parts(-1, 3)
    with pytest.raises(ArgumentTypeError):
        as_size("x")


def _parts(count: int) -> list[Part]:
    rows = Dataset.from_dict({"a": list(range(10 * count))})
    return [Part(rows.select(range(10 * rank, 10 * rank + 10)), 10 * rank, rank) for rank in range(count)]


def test_results_come_in_the_order_of_the_parts() -> None:
    found = results(lambda part: part.rows, _parts(3), engine="threads", stage="x", total=30, verb="map")

    assert found == ["rows 0 to 9", "rows 10 to 19", "rows 20 to 29"]


def test_a_killed_worker_is_told_with_its_rows() -> None:
    def killed(part: Part) -> None:
        if part.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(WorkerDiedError, match=r"map\(\) on rows 10 to 19 ended") as failure:
        results(killed, _parts(2), engine=None, stage="x", total=20, verb="map")

    assert failure.value.job == 1


def test_a_teller_writes_what_is_done(tmp_path: Path) -> None:
    with ProgressFile(str(tmp_path / "told")) as teller, ProgressFile("") as silent:
        teller.update(3)
        teller.update(4)
        silent.update(1)

    assert int((tmp_path / "told").read_text()) == 7

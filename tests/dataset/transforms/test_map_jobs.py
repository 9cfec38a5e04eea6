"""`map` in parts: the rows of all, in order, those too for which nothing was returned."""

from __future__ import annotations

from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.transforms import jobs
from datasets_core.engines.process import WorkerProcess


@pytest.mark.parametrize("engine", ["serial", "threads"])
def test_rows_for_which_nothing_was_returned_stay_among_others(engine: str) -> None:
    rows = Dataset.from_dict({"a": list(range(6))})

    mapped = rows.map(lambda row: {"n": 1} if row["a"] > 3 else None, num_proc=3, engine=engine)

    assert mapped[:] == {"a": list(range(6)), "n": [None] * 4 + [1, 1]}


def test_a_function_that_returns_nothing_changes_nothing() -> None:
    rows, seen = Dataset.from_dict({"a": list(range(6))}), []

    same = rows.map(lambda row: seen.append(row["a"]), num_proc=2, engine="threads", remove_columns="a")

    assert (same[:], same._fingerprint, sorted(seen)) == (rows[:], rows._fingerprint, list(range(6)))


def test_types_are_joined_over_the_parts() -> None:
    def typed(row: dict[str, Any]) -> dict[str, Any]:
        return {"n": [None, 1, 2.5][row["a"]], "l": [[], [], ["s"]][row["a"]], "m": [1, "s", None][row["a"]]}

    rows = Dataset.from_dict({"a": [0, 1, 2]})

    parts = [rows.map(typed, num_proc=n, engine="threads") for n in (1, 2, 3)]

    assert [part.features for part in parts[1:]] == [parts[0].features] * 2
    assert [part[:] for part in parts] == [
        {"a": [0, 1, 2], "n": [None, 1.0, 2.5], "l": [[], [], ["s"]], "m": [1, "s", None]}
    ] * 3


def ranked(row: dict[str, Any], rank: int) -> dict[str, Any]:
    return {"n": row["a"] + 1, "rank": rank}


@pytest.mark.parametrize("worth_seconds", [60, -1])
def test_short_work_is_done_here_and_the_rest_of_long_work_elsewhere(
    monkeypatch: pytest.MonkeyPatch, worth_seconds: float
) -> None:
    started: list[WorkerProcess] = []
    start = WorkerProcess._start
    monkeypatch.setattr(WorkerProcess, "_start", lambda self: started.append(self) or start(self))
    monkeypatch.setattr(jobs, "_WORTH_SECONDS", worth_seconds)
    monkeypatch.setattr(jobs, "_TRIAL_SECONDS", 0)
    rows = Dataset.from_dict({"a": list(range(10))})

    mapped = rows.map(ranked, with_rank=True, num_proc=2)

    assert mapped[:] == {"a": list(range(10)), "n": list(range(1, 11)), "rank": [0] * 5 + [1] * 5}
    assert bool(started) == (worth_seconds < 0)

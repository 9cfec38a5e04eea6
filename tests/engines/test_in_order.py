"""Jobs of a pool: all of them, in order, some of them ahead, and errors at their places."""

import logging
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.engines import pool as module
from datasets_core.engines.pool import Pace, WorkerPool, ahead_of, in_order


@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(), max_size=30), st.integers(1, 4), st.integers(1, 9))
def test_results_come_in_the_order_of_the_jobs(jobs: list[int], workers: int, ahead: int) -> None:
    assert list(in_order(iter(jobs), lambda job: job + 1, WorkerPool(workers), ahead)) == [(job, job + 1) for job in jobs]


def test_no_more_jobs_are_taken_than_may_be_in_work() -> None:
    taken: list[int] = []

    def jobs() -> Iterator[int]:
        for job in range(100):
            taken.append(job)
            yield job

    found = in_order(jobs(), lambda job: job, WorkerPool(2), 5)
    for number in range(10):
        next(found)
        assert len(taken) <= number + 1 + 5
    found.close()


def test_errors_of_the_work_and_of_the_jobs_come_at_their_places() -> None:
    def jobs() -> Iterator[int]:
        yield from range(4)
        raise OSError("no more")

    good = in_order(jobs(), lambda job: job, WorkerPool(2), 9)
    assert [next(good)[0] for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(OSError, match="no more"):
        next(good)

    bad = in_order(iter([1, 0, 1]), lambda job: 1 // job, WorkerPool(2), 9)
    assert next(bad) == (1, 1)
    with pytest.raises(ZeroDivisionError):
        next(bad)


def test_the_log_says_what_is_waited_for(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(module, "_SILENT_SECONDS", 0.05)
    free = threading.Event()
    threading.Timer(0.3, free.set).start()
    with caplog.at_level(logging.WARNING, "datasets_core"):
        assert list(in_order(iter([1]), lambda job: free.wait(), WorkerPool(1), 1, "map(slow)")) == [(1, True)]
    assert "wait for map(slow)" in caplog.text


def test_workers_get_few_rows_at_first_and_of_slow_work() -> None:
    pace = Pace()
    assert pace.rows == 1
    for rows in (4, 16, 64, 256, 256):
        pace.took(pace.rows, 1e-6)
        assert pace.rows == rows
    pace.took(256, 25.6)
    assert pace.rows == 1


def test_lanes_share_what_is_done_ahead() -> None:
    assert [ahead_of(WorkerPool(4), lanes) for lanes in (1, 2, 48)] == [8, 4, 2]
    assert ahead_of(None, 1) == 0

"""Jobs of a pool: all of them, in order, some of them ahead, and errors at their places."""

import logging
import os
import pickle
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.engines import pool as module
from datasets_core.engines.pool import ENGINES, Pace, WorkerPool, ahead_of, call_in_process, in_order
from datasets_core.engines.process import SentFunction


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


# Pools of workers: begun by the first who uses them, ended with the last, whole after a fork.


def _alive() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "datasets_core-worker"]


def _is_over(seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while _alive() and time.monotonic() < end:
        threading.Event().wait(0.01)
    return not _alive()


def test_as_many_calls_as_there_are_workers_are_made_at_once() -> None:
    barrier = threading.Barrier(3, timeout=60)
    with WorkerPool(3).working() as submit:
        assert sorted(future.result() for future in [submit(barrier.wait, 0) for _ in range(3)]) == [0, 1, 2]


def test_calls_with_low_numbers_come_first() -> None:
    begun: list[int] = []
    free = threading.Event()
    with WorkerPool(1).working() as submit:
        first = submit(free.wait, 0)
        futures: list[Future[None]] = [submit(lambda number=number: begun.append(number), number) for number in (3, 1, 2)]
        free.set()
        for future in (first, *futures):
            future.result()
    assert begun == [1, 2, 3]


@pytest.mark.parametrize("engine", ENGINES)
def test_workers_end_with_their_last_user(engine: str) -> None:
    pool = WorkerPool(2, engine)
    where = SentFunction(os.getpid, "map(getpid)")
    with pool.working() as submit, pool.working() as other:
        found = {each(lambda: call_in_process(where), 0).result() for each in (submit, other)}
    assert (os.getpid() in found) == (engine == "threads")
    assert _is_over()


def test_a_call_that_was_not_begun_can_be_taken_back() -> None:
    free = threading.Event()
    with WorkerPool(1).working() as submit:
        first, second = submit(free.wait, 0), submit(lambda: True, 1)
        assert second.cancel()
        free.set()
        assert first.result()


def test_a_fork_has_workers_of_its_own() -> None:
    pool = WorkerPool(1)
    with pool.working() as submit:
        assert submit(os.getpid, 0).result() == os.getpid()
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            with pool.working() as inner:
                os.write(write, str(inner(os.getpid, 0).result()).encode())
            os._exit(0)
        os.close(write)
        with os.fdopen(read) as found:
            assert found.read() == str(pid)
        os.waitpid(pid, 0)


def test_a_pool_is_sent_without_its_workers() -> None:
    with (pool := WorkerPool(2, "processes")).working():
        other = pickle.loads(pickle.dumps(pool))
    assert (other.count, other.engine) == (2, "processes")

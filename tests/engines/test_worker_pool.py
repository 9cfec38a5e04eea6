"""Pools of workers: begun by the first who uses them, ended with the last, whole after a fork."""

import os
import pickle
import threading
import time
from concurrent.futures import Future

import pytest

from datasets_core.engines.pool import ENGINES, WorkerPool, call_in_process
from datasets_core.engines.process import SentFunction


def _alive() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "datasets_core-worker"]


def _is_over(seconds: float = 5.0) -> bool:
    end = time.monotonic() + seconds
    while _alive() and time.monotonic() < end:
        threading.Event().wait(0.01)
    return not _alive()


def test_as_many_calls_as_there_are_workers_are_made_at_once() -> None:
    barrier = threading.Barrier(3, timeout=10)
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

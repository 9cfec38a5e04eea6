"""The serial engine; the suite of all engines is in `test_engine.py`."""

import threading

from datasets_core.engines.deadline import SerialEngine


def test_jobs_run_in_their_order_and_here() -> None:
    seen: list[tuple[int, int]] = []

    def work(job: int) -> int:
        seen.append((job, threading.get_ident()))
        return job * 2

    assert list(SerialEngine().run(work, [3, 1, 2])) == [(0, 6), (1, 2), (2, 4)]
    assert seen == [(job, threading.get_ident()) for job in (3, 1, 2)]


def test_a_job_runs_only_when_its_result_is_asked_for() -> None:
    seen: list[int] = []
    running = SerialEngine(8).run(seen.append, [1, 2])
    assert next(running) == (0, None)
    assert seen == [1]

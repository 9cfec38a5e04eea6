"""Code that is stopped when its time is over."""

import os
import re
import signal
import subprocess
import sys
import threading
import time

import pytest

from datasets_core.engines.deadline import Deadline, SerialEngine, TimeUp, can_stop, stopped_at
from datasets_core.errors import ConfigurationError

SOON = 0.05


def _spin():
    while True:
        pass


def _spin_and_catch_everything():
    while True:
        try:
            _spin()
        except BaseException:
            continue


def _spin_and_return():
    try:
        _spin()
    except BaseException:
        return "done"


def _read_a_pipe():
    reader, writer = os.pipe()
    try:
        os.read(reader, 1)
    finally:
        os.close(reader)
        os.close(writer)


HANGING = {
    "loop": _spin,
    "sleep": lambda: time.sleep(10**6),
    "pipe": _read_a_pipe,
    "expression": lambda: re.match("(a+)+$", "a" * 60 + "b"),
    "lock": lambda: threading.Event().wait(),
    "catches everything": _spin_and_catch_everything,
    "catches and returns": _spin_and_return,
    "another process": lambda: subprocess.run([sys.executable, "-c", "import time; time.sleep(10**6)"], check=False),
}


@pytest.mark.parametrize("work", HANGING.values(), ids=HANGING)
def test_code_that_hangs_is_stopped_and_its_place_is_known(work):
    with pytest.raises(TimeUp) as caught:
        stopped_at(Deadline.of(SOON), work, doing="spinning")

    assert any(file == __file__ for file, _ in caught.value.places)


def test_what_is_done_in_time_is_given_and_the_handler_is_put_back():
    def own(number, frame):
        raise AssertionError

    before = signal.signal(signal.SIGALRM, own)
    try:
        assert stopped_at(Deadline.of(60), lambda: 7, doing="counting") == 7
        assert signal.getsignal(signal.SIGALRM) is own
        assert signal.getitimer(signal.ITIMER_REAL)[0] == 0
    finally:
        signal.signal(signal.SIGALRM, before)


def test_the_timer_of_others_is_not_taken_from_them():
    before = signal.signal(signal.SIGALRM, lambda number, frame: None)
    signal.setitimer(signal.ITIMER_REAL, 10**6)
    try:
        with pytest.raises(ConfigurationError, match="SIGALRM"):
            stopped_at(Deadline.of(1), lambda: None, doing="x")
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 10**5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("outer", "inner"), [(SOON, 60), (60, SOON)])
def test_of_two_deadlines_the_first_holds(outer, inner):
    with pytest.raises(TimeUp):
        stopped_at(Deadline.of(outer), lambda: stopped_at(Deadline.of(inner), _spin, doing="in"), doing="out")

    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_an_outer_deadline_holds_behind_an_inner_one():
    def work():
        assert stopped_at(Deadline.of(SOON / 5), lambda: 1, doing="in") == 1
        _spin()

    with pytest.raises(TimeUp):
        stopped_at(Deadline.of(SOON), work, doing="out")


def test_a_deadline_that_is_past_begins_nothing():
    with pytest.raises(TimeUp):
        stopped_at(Deadline(1, time.monotonic() - 1), lambda: pytest.fail("begun"), doing="x")


def test_a_thread_that_cannot_be_stopped_is_not_begun():
    raised = []

    def work():
        assert not can_stop()
        try:
            stopped_at(Deadline.of(1), lambda: pytest.fail("begun"), doing="importing it")
        except ConfigurationError as error:
            raised.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert "importing it" in raised[0]
    assert "main" in raised[0]


@pytest.mark.parametrize("timeout", [0, -1, "5", True, float("nan"), float("inf"), object()])
def test_a_limit_that_is_none_is_refused(timeout):
    with pytest.raises(ConfigurationError, match="timeout"):
        Deadline.of(timeout)


def test_what_the_library_puts_away_is_not_interrupted_again(tmp_path):
    """Only code outside the library is asked again: a lock, a file, a folder of ours is put away once and whole."""
    from datasets_core.files import locked

    def work():
        with locked(str(tmp_path / "a.lock")):
            _spin()

    with pytest.raises(TimeUp):
        stopped_at(Deadline.of(SOON), work, doing="locking")

    with locked(str(tmp_path / "a.lock")):
        pass


# The serial engine; the suite of all engines is in `test_engine.py`.


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

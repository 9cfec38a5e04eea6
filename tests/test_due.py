"""Work whose time is over ends: where it looks at the time, and where it does not."""

import contextvars
import threading
import time
from pathlib import Path

import pytest

from datasets_core import files
from datasets_core.engines.threads import RetryPolicy, done_by
from datasets_core.files import Overdue, at_most, check


def test_what_is_done_in_time_comes_back_or_raises() -> None:
    own: contextvars.ContextVar[int] = contextvars.ContextVar("own")
    own.set(7)
    assert done_by(time.monotonic() + 60, own.get) == 7
    assert done_by(None, own.get) == 7
    with pytest.raises(ZeroDivisionError):
        done_by(time.monotonic() + 60, lambda: 1 // 0)


def test_work_that_looks_at_the_time_ends_and_other_work_is_left() -> None:
    ended, go = threading.Event(), threading.Event()

    def looks() -> None:
        try:
            while True:
                check()
        finally:
            ended.set()

    with pytest.raises(Overdue):
        done_by(time.monotonic() + 0.05, looks)
    assert ended.wait(60)
    with pytest.raises(Overdue):
        done_by(time.monotonic() + 0.05, go.wait)
    go.set()
    check()  # nothing is due here


def test_waits_are_as_long_as_there_is_time() -> None:
    assert at_most(9.0) == 9.0
    assert done_by(time.monotonic() + 5, lambda: at_most(9.0)) <= 5.0


def test_a_lock_is_not_waited_for_beyond_the_time(tmp_path: Path) -> None:
    tried = threading.Event()

    def wait() -> None:
        try:
            with files.locked(str(tmp_path / "a.lock")):
                raise AssertionError
        finally:
            tried.set()

    with files.locked(str(tmp_path / "a.lock")):
        with pytest.raises(Overdue):
            done_by(time.monotonic() + 0.1, wait)
        assert tried.wait(60)


def test_a_pause_before_the_next_try_ends_with_the_time() -> None:
    with pytest.raises(Overdue):
        done_by(time.monotonic() + 0.1, lambda: RetryPolicy().wait(60))

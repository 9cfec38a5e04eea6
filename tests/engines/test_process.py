"""Worker processes: what they answer, and what is said when they cannot."""

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from datasets_core.engines.process import SentFunction, WorkerProcess
from datasets_core.errors import ConfigurationError, WorkerDiedError


@pytest.fixture
def process() -> Iterator[WorkerProcess]:
    found = WorkerProcess()
    yield found
    found.end()


def test_calls_are_answered_by_one_process(process: WorkerProcess) -> None:
    factor = 3
    tripled = SentFunction(lambda number: (os.getpid(), number * factor), "map(tripled)")

    (first, three), (second, six) = process.call(tripled, 1), process.call(tripled, 2)

    assert (three, six) == (3, 6) and first == second != os.getpid()


def test_an_error_of_the_function_comes_as_it_is_and_the_process_goes_on(process: WorkerProcess) -> None:
    divided = SentFunction(lambda number: 1 // number, "map(divided)")
    with pytest.raises(ZeroDivisionError):
        process.call(divided, 0)
    assert process.call(divided, 1) == 1


@pytest.mark.parametrize(("code", "how"), [(3, "exited with code 3"), (-9, "was killed by signal 9")])
def test_a_process_that_dies_is_an_error_that_names_the_function_and_how(process: WorkerProcess, code: int, how: str) -> None:
    def dies(code: int) -> None:
        os._exit(code) if code >= 0 else os.kill(os.getpid(), -code)

    with pytest.raises(WorkerDiedError, match=rf"map\(dies\) {how}"):
        process.call(SentFunction(dies, "map(dies)"), code)
    assert process.call(SentFunction(os.getppid, "map(asks)")) == os.getpid()


def test_a_process_can_be_killed_while_it_works(process: WorkerProcess) -> None:
    threading.Timer(0.2, process.kill).start()
    with pytest.raises(WorkerDiedError, match=f"signal {int(signal.SIGKILL)}"):
        process.call(SentFunction(signal.pause, "map(pause)"))


def test_what_holds_on_to_this_process_is_refused_with_advice(process: WorkerProcess) -> None:
    lock: Any = threading.Lock()
    with pytest.raises(ConfigurationError, match=r"map\(locked\) cannot be sent .*engine='threads'"):
        process.call(SentFunction(lambda: lock, "map(locked)"))
    with pytest.raises(ConfigurationError, match=r"row of .* cannot be sent"):
        process.call(SentFunction(print, "map(print)"), lock)
    with pytest.raises(ConfigurationError, match=r"row of .* cannot be sent"):
        process.call(SentFunction(threading.Lock, "map(Lock)"))


def test_what_a_function_prints_is_printed_when_it_is_done(process: WorkerProcess, capfd: pytest.CaptureFixture[str]) -> None:
    assert process.call(SentFunction(lambda: print("hello") or input is not None, "map(prints)")) is True
    assert "hello" in capfd.readouterr().out

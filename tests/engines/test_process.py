"""Worker processes: what they answer, and what is said when they cannot."""

import logging
import os
import select
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets_core import config
from datasets_core.dataset.dataset import Dataset
from datasets_core.engines import process as processes
from datasets_core.engines.pool import ProcessEngine
from datasets_core.engines.process import SentFunction, WorkerProcess, can_fork
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


# Forked workers: what they have of the process that forks them, and what not.

_VARIABLE: ContextVar[int] = ContextVar("_VARIABLE", default=0)
_local = threading.local()


def _ended(pids: list[int], seconds: float) -> bool:
    """Whether all of these processes end in time, which their descriptors tell, and one that is gone has none."""
    end = time.monotonic() + seconds
    for pid in pids:
        try:
            watched = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        try:
            if not select.select([watched], [], [], max(0, end - time.monotonic()))[0]:
                return False
        finally:
            os.close(watched)
    return True


@pytest.fixture
def forked() -> Iterator[None]:
    with config.using(start_method="fork"):
        yield


def test_a_fork_has_the_context_and_the_thread_locals_of_the_caller(forked: None) -> None:
    def found(job: int) -> tuple[int, int]:
        return _here(), job

    def _here() -> int:
        module = sys.modules[__name__]
        return int(module._VARIABLE.get() + module._local.value)

    _VARIABLE.set(3)
    _local.value = 4
    assert dict(ProcessEngine(2).run(found, [0, 1])) == {0: (7, 0), 1: (7, 1)}


def test_forks_draw_random_numbers_of_their_own(forked: None, tmp_path: Path) -> None:
    np.random.seed(7)
    here = float(np.random.RandomState(7).random())

    def drawn(job: int) -> float:
        (tmp_path / str(job)).touch()
        while len(list(tmp_path.iterdir())) < 2:  # until both workers have a job
            os.sched_yield()
        return float(np.random.random())

    found = dict(ProcessEngine(2).run(drawn, [0, 1])).values()
    assert len({here, *found}) == 3


def test_what_waits_to_be_printed_is_printed_once(tmp_path: Path) -> None:
    program = tmp_path / "prints.py"
    program.write_text(
        "import sys\n"
        "from datasets_core.engines.pool import ProcessEngine\n"
        "sys.stdout.write('begun ')\n"
        "print(dict(ProcessEngine(2).run(lambda job: print('job', job), [0])))\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("begun job 0\n{0: None}\n", "")


def test_a_fork_can_fork(forked: None) -> None:
    def inner(job: int) -> dict[int, int]:
        return dict(ProcessEngine(2).run(lambda other: job * 10 + other, [1, 2]))

    assert dict(ProcessEngine(2).run(inner, [1, 2])) == {0: {0: 11, 1: 12}, 1: {0: 21, 1: 22}}


def test_the_worker_after_a_dead_fork_is_a_program(forked: None, tmp_path: Path) -> None:
    marker = tmp_path / "died"

    def dies_once(job: int) -> bool:
        if not marker.exists():
            marker.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return hasattr(sys.modules.get("tests_marker"), "K")

    made = types.ModuleType("tests_marker")
    made.K = 1  # type: ignore[attr-defined]
    sys.modules["tests_marker"] = made
    try:
        assert dict(ProcessEngine(1).run(dies_once, [0])) == {0: False}
        assert dict(ProcessEngine(1).run(dies_once, [0])) == {0: True}
    finally:
        del sys.modules["tests_marker"]


def test_forks_that_are_not_used_end_with_the_others(forked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[WorkerProcess] = []
    fork = WorkerProcess.fork
    monkeypatch.setattr(WorkerProcess, "fork", lambda self: made.append(self) or fork(self))
    results = ProcessEngine(3).run(lambda job: job, iter([1]))
    assert next(results) == (0, 1)
    pids = [each._process.pid for each in made if each._process is not None]
    results.close()
    assert len(made) == 3
    assert pids
    assert _ended(pids, 10)


def test_a_fork_that_waits_for_ever_is_named_in_the_log(
    forked: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Tells(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "has not used the processor" in record.getMessage():
                fifo.write_bytes(b"go")

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    monkeypatch.setattr(processes, "_IDLE_SECONDS", 0.05)
    handler = Tells()
    logging.getLogger("datasets_core").addHandler(handler)
    try:
        assert dict(ProcessEngine(1).run(lambda job: fifo.read_bytes(), [0])) == {0: b"go"}
    finally:
        logging.getLogger("datasets_core").removeHandler(handler)


def test_libraries_that_do_not_survive_a_fork_have_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    with config.using(start_method="auto"):
        for name in processes._NOT_FORKED:
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.delitem(sys.modules, "torch", raising=False)
        assert can_fork() is (sys.platform == "linux")
        monkeypatch.setitem(sys.modules, "jax", types.ModuleType("jax"))
        assert not can_fork()
    with config.using(start_method="fork"):
        assert can_fork()
    with pytest.raises(ConfigurationError, match="start_method is 'thread'"), config.using(start_method="thread"):
        pass


def test_pools_of_streams_have_programs(forked: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: WorkerProcess) -> None:
        raise AssertionError("forked")

    monkeypatch.setattr(WorkerProcess, "fork", refused)
    stream = Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset()
    found = stream.map(lambda row: {"a": row["a"], "pid": os.getpid()}, num_workers=1, engine="processes")
    assert {row["pid"] for row in found}.isdisjoint({os.getpid()})

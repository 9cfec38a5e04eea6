"""Worker processes: those that die, and those whose parent dies."""

import os
import select
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pytest

from datasets_core.engines.local import ProcessEngine, send_by_value
from datasets_core.errors import ConfigurationError, DatasetBuildError, WorkerDiedError

_WATCHES = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes by their descriptors")


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


def test_a_killed_worker_is_an_error_that_names_its_job() -> None:
    def kill_second(job: int) -> int:
        if job == 11:
            os.kill(os.getpid(), signal.SIGKILL)
        return job

    with pytest.raises(WorkerDiedError, match=r"job 1 of 3 .*kill_second.*ended without a result"):
        list(ProcessEngine(2).run(kill_second, [10, 11, 12]))


@pytest.mark.parametrize("held", [threading.Lock(), (number for number in [1])], ids=["lock", "generator"])
def test_what_cannot_be_sent_is_one_error(held: object) -> None:
    with pytest.raises(ConfigurationError, match=r"A job cannot be sent .*cannot pickle.* leave num_proc out"):
        list(ProcessEngine(2).run(str, [held, held]))
    with pytest.raises(ConfigurationError, match="A function cannot be sent"):
        list(ProcessEngine(2).run(lambda job: (job, held), [1, 2]))


def test_a_worker_that_leaves_is_an_error_that_names_its_job() -> None:
    with pytest.raises(WorkerDiedError, match="job 0 of 1"):
        list(ProcessEngine(1).run(os._exit, [3]))


@_WATCHES
def test_no_worker_outlives_its_run() -> None:
    pids = list(dict(ProcessEngine(2).run(lambda job: os.getpid(), range(4))).values())
    assert _ended(pids, 10)


@_WATCHES
def test_busy_workers_end_when_the_results_are_closed() -> None:
    def first_tells(job: int) -> int:
        while job:
            pass
        return os.getpid()

    results = ProcessEngine(2).run(first_tells, [0, 1, 1])
    _, pid = next(results)
    results.close()
    assert _ended([pid], 10)


@_WATCHES
def test_what_a_worker_started_ends_with_it() -> None:
    def start(job: int) -> int:
        return subprocess.Popen(["sleep", "600"]).pid

    assert _ended(list(dict(ProcessEngine(2).run(start, [0, 1])).values()), 10)


_WITHOUT_PGREP = """
from datasets_core.engines.local import ProcessEngine
print(sorted(ProcessEngine(2).run(abs, range(3))))
"""


def test_workers_end_where_no_pgrep_tells_of_their_children(tmp_path: Path) -> None:
    command, environment = [sys.executable, "-c", _WITHOUT_PGREP], {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, timeout=60, check=True)
    assert done.stdout == b"[(0, 0), (1, 1), (2, 2)]\n"
    assert done.stderr == b""


def test_an_error_whose_constructor_wants_more_than_its_args_stays_what_it_is() -> None:
    class NeedsTwo(Exception):
        def __init__(self, one: str, two: str) -> None:
            self.one, self.held = one, threading.Lock()
            super().__init__(f"{one} and {two}")

    def fail(job: int) -> None:
        raise NeedsTwo("salt", "pepper")

    with pytest.raises(NeedsTwo, match="salt and pepper") as caught:
        list(ProcessEngine(1).run(fail, [0]))
    assert caught.value.one == "salt"
    assert not hasattr(caught.value, "held")
    assert any("in fail" in note for note in caught.value.__notes__)


def test_an_error_that_cannot_be_sent_is_told_in_words() -> None:
    class Guarded(Exception):
        def __new__(cls, one: str, *, key: bool = False) -> "Guarded":
            if not key:
                raise TypeError("no key")
            return super().__new__(cls, one)

        def __init__(self, one: str, *, key: bool) -> None:
            super().__init__(one)

    def fail(job: int) -> None:
        raise Guarded("salt", key=True)

    with pytest.raises(DatasetBuildError, match="Guarded: salt"):
        list(ProcessEngine(1).run(fail, [0]))


def test_an_error_tells_where_in_the_worker_it_arose() -> None:
    def fail_deep_down(job: int) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no") as caught:
        list(ProcessEngine(1).run(fail_deep_down, [0]))
    assert any("fail_deep_down" in note for note in caught.value.__notes__)


def test_modules_that_only_exist_here_can_be_sent() -> None:
    module = types.ModuleType("made_in_a_test")
    sys.modules["made_in_a_test"] = module
    exec("def double(job):\n    return 2 * job\n", vars(module))
    send_by_value(module)
    assert list(ProcessEngine(1).run(module.double, [4])) == [(0, 8)]


_PARENT = """
import os, sys
from datasets_core.engines.local import ProcessEngine

def busy(fifo):
    with open(fifo, "w") as told:
        told.write(f'{os.getpid():10}')
    while True:
        pass

list(ProcessEngine(2).run(busy, [sys.argv[1], sys.argv[1]]))
"""


def _pid_from(told: int) -> int:
    assert select.select([told], [], [], 60)[0], "no worker began in time"
    return int(os.read(told, 10))


@_WATCHES
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path: Path, how: signal.Signals) -> None:
    fifo = tmp_path / "pids"
    os.mkfifo(fifo)
    parent = subprocess.Popen([sys.executable, "-c", _PARENT, str(fifo)], stderr=subprocess.PIPE)
    told = os.open(fifo, os.O_RDWR)  # for writing too, so that no end is read between the workers
    pids = [_pid_from(told) for _ in range(2)]
    os.close(told)
    parent.send_signal(how)
    parent.communicate(timeout=30)
    assert _ended(pids, 10)


_IN_A_DAEMON = """
import multiprocessing, os

def work(queue):
    from datasets_core.engines.local import ProcessEngine
    queue.put([(index, pid == os.getpid()) for index, pid in ProcessEngine(2).run(lambda job: os.getpid(), range(2))])

context = multiprocessing.get_context("fork")
queue = context.SimpleQueue()
worker = context.Process(target=work, args=(queue,), daemon=True)
worker.start()
worker.join()
print(queue.get() if not queue.empty() else "nothing")
"""


@pytest.mark.skipif(os.name == "nt", reason="forks")
def test_a_daemonic_process_does_the_jobs_itself() -> None:
    done = subprocess.run([sys.executable, "-c", _IN_A_DAEMON], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == "[(0, True), (1, True)]", done.stderr
    assert "2 jobs run here" in done.stderr

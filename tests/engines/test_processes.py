"""Worker processes: those that die, and those whose parent dies."""

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
from pathlib import Path

import pytest

from datasets_core import config
from datasets_core.engines import threads
from datasets_core.engines.pool import ProcessEngine
from datasets_core.engines.process import _PROGRAM, send_by_value
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


@pytest.fixture(autouse=True, params=["fork", "spawn"])
def method(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("DATASETS_START_METHOD", request.param)  # of programs that tests start
    with config.using(start_method=request.param):
        yield request.param


def test_a_killed_worker_is_an_error_that_names_its_job() -> None:
    def kill_second(job: int) -> int:
        if job == 11:
            os.kill(os.getpid(), signal.SIGKILL)
        return job

    with pytest.raises(WorkerDiedError, match=r"job 1 \(.*kill_second\) ended without a result: it was killed by signal 9"):
        list(ProcessEngine(2).run(kill_second, [10, 11, 12]))


def test_the_job_of_a_killed_worker_is_done_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def killed_twice(job: int) -> int:
        if job == 1:
            for name in ("first", "second"):
                if not (tmp_path / name).exists():
                    (tmp_path / name).touch()
                    os.kill(os.getpid(), signal.SIGKILL)
        return job * 10

    with caplog.at_level(logging.WARNING, "datasets_core"):
        assert dict(ProcessEngine(2).run(killed_twice, range(4))) == {0: 0, 1: 10, 2: 20, 3: 30}
    assert caplog.text.count("was killed by signal 9 (SIGKILL); its job is run again") == 2
    for path in tmp_path.iterdir():
        path.unlink()
    with pytest.raises(WorkerDiedError, match="job 1 "):
        list(ProcessEngine(2).run(killed_twice, range(4), retries=1))


def test_a_worker_whose_own_child_lives_on_is_seen_to_die(tmp_path: Path) -> None:
    def forks(job: int) -> None:
        if os.fork() == 0:
            fifo.read_bytes()
            os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with pytest.raises(WorkerDiedError):  # its child holds no end of a pipe
        list(ProcessEngine(1).run(forks, [0], retries=0))
    fifo.write_bytes(b"end")


def test_a_job_with_a_worker_error_of_its_own_is_not_done_again() -> None:
    def fail(job: int) -> None:
        raise WorkerDiedError(f"a worker of {os.getpid()}")

    with pytest.raises(WorkerDiedError, match="a worker of") as caught:
        list(ProcessEngine(1).run(fail, [0]))
    assert caught.value.job is None


def test_a_forked_process_leaves_the_workers_alone() -> None:
    results = ProcessEngine(1).run(lambda job: os.getpid(), range(4))
    first = next(results)[1]
    pid = os.fork()
    if not pid:
        results.close()
        threads._ended()
        os._exit(0)
    os.waitpid(pid, 0)
    assert {worker for _, worker in results} == {first}


def test_workers_have_the_arguments_and_flags_of_the_program() -> None:
    found = dict(ProcessEngine(1).run(lambda job: (sys.argv, sys.flags.optimize, sys.stdin.read()), [0]))
    assert found[0] == (sys.argv, sys.flags.optimize, "")


@pytest.mark.parametrize("held", [threading.Lock(), (number for number in [1])], ids=["lock", "generator"])
def test_what_cannot_be_sent_is_one_error(held: object) -> None:
    with pytest.raises(ConfigurationError, match=r"A job cannot be sent .*cannot pickle.* remove num_proc"):
        list(ProcessEngine(2).run(str, [held, held]))
    with pytest.raises(ConfigurationError, match="A function cannot be sent"):
        list(ProcessEngine(2).run(lambda job: (job, held), [1, 2]))


def test_a_worker_that_leaves_is_an_error_that_names_its_job() -> None:
    with pytest.raises(WorkerDiedError, match=r"job 0 .*exited with code 3"):
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


_WITHOUT_PROGRAMS = """
from datasets_core.engines.pool import ProcessEngine
print(sorted(ProcessEngine(2).run(abs, range(3))))
"""


def test_workers_need_no_program_but_python(tmp_path: Path) -> None:
    command, environment = [sys.executable, "-c", _WITHOUT_PROGRAMS], {**os.environ, "PATH": str(tmp_path)}
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
from datasets_core.engines.pool import ProcessEngine

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


def test_a_worker_that_was_told_nothing_ends_in_silence() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, "1", "1"], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)

    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


_IN_A_DAEMON = """
import multiprocessing, os

def work(queue):
    from datasets_core.engines.pool import ProcessEngine
    found = ProcessEngine(2).run(lambda job: os.getpid(), range(2), ordered=True)
    queue.put([(index, pid == os.getpid()) for index, pid in found])

context = multiprocessing.get_context("fork")
queue = context.SimpleQueue()
worker = context.Process(target=work, args=(queue,), daemon=True)
worker.start()
worker.join()
print(queue.get() if not queue.empty() else "nothing")
"""


@pytest.mark.skipif(os.name == "nt", reason="forks")
def test_a_daemonic_process_has_workers_too() -> None:
    done = subprocess.run([sys.executable, "-c", _IN_A_DAEMON], capture_output=True, text=True, check=True, timeout=60)

    assert done.stdout.strip() == "[(0, False), (1, False)]", done.stderr

"""Engines of this machine that work side by side: several threads, several processes."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing import process
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import cloudpickle

from datasets_core import config
from datasets_core.engines.deadline import Deadline, SerialEngine, TimeUp
from datasets_core.errors import ConfigurationError, DatasetBuildError, WorkerDiedError

T = TypeVar("T")
R = TypeVar("R")

logger = logging.getLogger(__name__)

_ORPHAN_CHECK_SECONDS = 0.5
_GRACE_SECONDS = 1.0  # in which a job says itself where it hangs, unless it hangs in C


def send_by_value(module: ModuleType) -> None:
    """Have what `module` defines travel to workers as code: they cannot import it by its name."""
    cloudpickle.register_pickle_by_value(module)


def sent_by_value() -> list[ModuleType]:
    """The modules of which `send_by_value` was told."""
    return [sys.modules[name] for name in sorted(cloudpickle.list_registry_pickle_by_value()) if name in sys.modules]


def packed(value: Any) -> bytes:
    """A value as bytes that another process can unpack, classes and functions of a script or of `__main__` too."""
    main = sys.modules.get("__mp_main__")  # `__main__` of the program, in a process that multiprocessing spawned
    if main is not None:
        send_by_value(main)
    return bytes(cloudpickle.dumps(value))


def unpacked(data: bytes) -> Any:
    """The value that was packed."""
    return cloudpickle.loads(data)


def met_by_pickling(value: Any) -> list[Any]:
    """The functions, classes and modules that pickling a value meets, by value or by name; up to what cannot be pickled.

    >>> met_by_pickling([len, 1])
    [<built-in function len>]
    """
    observer = _Observer()
    with contextlib.suppress(Exception):  # which the engine says when it sends the value
        observer.dump(value)
    return observer.met


class _Observer(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles to nowhere; large buffers are not copied."""

    def __init__(self) -> None:
        super().__init__(_Nowhere(), protocol=5, buffer_callback=lambda _: None)
        self.met: list[Any] = []

    def reducer_override(self, value: Any) -> Any:
        """See `pickle.Pickler.reducer_override`."""
        if hasattr(value, "__qualname__") or isinstance(value, ModuleType):
            self.met.append(value)
        return super().reducer_override(value)


class _Nowhere:
    def write(self, data: Any) -> int:
        """Take bytes."""
        return len(data)


def _workers(count: int | None) -> int:
    if count is None:
        return os.cpu_count() or 1
    if count < 1:
        raise ConfigurationError(f"An engine cannot have {count} workers. Give at least 1.")
    return count


class ThreadEngine:
    """Jobs in threads of this process: for work that releases the interpreter's lock."""

    def __init__(self, workers: int | None = None) -> None:
        self.workers = _workers(workers)

    def run(self, function: Callable[[T], R], jobs: Sequence[T]) -> Iterator[tuple[int, R]]:
        """See `Engine.run`."""
        count = min(self.workers, len(jobs))
        if count == 0:
            return
        pool = ThreadPoolExecutor(count, thread_name_prefix="datasets_core")
        try:
            waiting = iter(range(len(jobs)))
            running: dict[Future[R], int] = {}
            for index in _up_to(count, waiting):
                running[pool.submit(contextvars.copy_context().run, function, jobs[index])] = index
            while running:
                for future in _next_done(running):
                    done = running.pop(future)
                    result = future.result()
                    for index in _up_to(1, waiting):
                        running[pool.submit(contextvars.copy_context().run, function, jobs[index])] = index
                    yield done, result
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


class ProcessEngine:
    """Jobs in worker processes: for work in Python.

    Functions and jobs may be anything that cloudpickle can send, lambdas and classes of `__main__` too, and no
    `if __name__ == "__main__"` is needed.  Each worker is an executor of its own, so that one that dies is known with its job.

    Args:
        workers: how many; None is one for each processor.
        deadline: when the jobs are to be done; workers that still run then are killed.
    """

    def __init__(self, workers: int | None = None, *, deadline: Deadline | None = None) -> None:
        self.workers, self.deadline = _workers(workers), deadline

    def until(self, deadline: Deadline | None) -> ProcessEngine:
        """The same engine with a deadline."""
        return ProcessEngine(self.workers, deadline=deadline)

    def run(self, function: Callable[[T], R], jobs: Sequence[T]) -> Iterator[tuple[int, R]]:
        """See `Engine.run`."""
        count = min(self.workers, len(jobs))
        if count == 0:
            return
        if process.current_process().daemon:
            logger.warning("A daemonic process may start no others: %d jobs run here, one after the other.", len(jobs))
            yield from SerialEngine().run(function, jobs)
            return
        sent = _sendable((config.settings(), function), "function")
        workers = [_Worker() for _ in range(count)]
        try:
            waiting = iter(range(len(jobs)))
            running: dict[Future[bytes], tuple[int, _Worker]] = {}
            for worker, index in zip(workers, _up_to(count, waiting), strict=True):
                running[worker.submit(sent, jobs[index])] = index, worker
            while running:
                for future in _next_done(running, self.deadline):
                    done, worker = running.pop(future)
                    result: R = _unpack(future, done, len(jobs), function)
                    for index in _up_to(1, waiting):
                        running[worker.submit(sent, jobs[index])] = index, worker
                    yield done, result
        finally:
            for worker in workers:
                worker.kill()
            for worker in workers:
                worker.join()


def _sendable(value: Any, what: str) -> bytes:
    """Pickled for a worker process.

    Raises:
        ConfigurationError: something in it holds on to this process: an open connection, a lock, a generator.
    """
    try:
        return bytes(cloudpickle.dumps(value))
    except (TypeError, AttributeError, ValueError, RecursionError, pickle.PicklingError) as error:
        raise ConfigurationError(
            f"A {what} cannot be sent to a worker process: {error}. "
            "Make that object where it is used and not in gen_kwargs, in the builder or beside it; or leave num_proc out."
        ) from error


def _up_to(count: int, waiting: Iterator[int]) -> Iterator[int]:
    for _ in range(count):
        try:
            yield next(waiting)
        except StopIteration:
            return


def _next_done(running: dict[Future[R], Any], deadline: Deadline | None = None) -> list[Future[R]]:
    """The futures that are done, at least one, in the order in which they were begun.

    Raises:
        TimeUp: none is, and the jobs did not stop themselves when their time was over.
    """
    limit = None if deadline is None else deadline.remaining + _GRACE_SECONDS
    done, _ = wait(running, timeout=limit, return_when=FIRST_COMPLETED)
    if not done:
        raise TimeUp(())
    return [future for future in running if future in done]


# -- one worker process ------------------------------------------------------------------------------------------------


class _Worker:
    """One process, and the executor that feeds it."""

    def __init__(self) -> None:
        from loky.process_executor import ProcessPoolExecutor  # 40 ms that serial work does without

        self._executor = ProcessPoolExecutor(max_workers=1, initializer=_begin, initargs=(os.getpid(),))
        self._killed: list[Any] = []

    def submit(self, sent: bytes, job: Any) -> Future[bytes]:
        """Start one job."""
        future: Future[bytes] = self._executor.submit(_work, sent, _sendable(job, "job"))
        return future

    def kill(self) -> None:
        """Kill the process and those that it started, whatever they do.

        loky asks `pgrep` for them.  Ctrl-C ends that too, and not every machine has it; then the process would stay.
        """
        processes, manager = self._executor._processes, self._executor._executor_manager_thread
        processes = [processes.popitem()[1] for _ in range(len(processes))]
        self._executor.shutdown(wait=False, kill_workers=True)
        for each in processes:
            _kill_tree(each.pid)
        self._killed += [*processes, *([] if manager is None else [manager])]

    def join(self) -> None:
        """Wait for the process that was killed, and for the thread that fed it."""
        for each in self._killed:
            each.join()


def _kill_tree(pid: int) -> None:
    for child in _children(pid):
        _kill_tree(child)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    if not os.path.exists("/proc/self/task"):  # in a session of its own, which Ctrl-C does not reach
        return list(
            map(int, subprocess.run(["pgrep", "-P", str(pid)], stdout=subprocess.PIPE, start_new_session=True).stdout.split())
        )
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # the task ended
            found += map(int, task.read_text().split())
    return found


def _begin(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    threading.Thread(target=end_with, args=(parent,), daemon=True, name="datasets_core-orphan-check").start()


def end_with(parent: int) -> None:
    """End this process as soon as its parent is another one: its own is gone."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_SECONDS)
    os._exit(1)


def _work(sent: bytes, job: bytes) -> bytes:
    try:
        settings, function = cloudpickle.loads(sent)
        with config.using(settings):
            result = function(cloudpickle.loads(job))
        return bytes(cloudpickle.dumps(result))
    except BaseException as error:
        return bytes(cloudpickle.dumps(Failure.of(error)))


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception on its way to the parent, with what caused it, which pickle alone would lose."""

    pickled: bytes
    cause: Failure | None

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """The exception, ready to be sent."""
        error.add_note("In a worker process:\n" + "".join(traceback.format_tb(error.__traceback__)).rstrip())
        cause = error.__cause__
        pickled = _pickled(error)
        if pickled is None:
            words = "".join(traceback.format_exception_only(error)).strip()
            pickled = cloudpickle.dumps(DatasetBuildError(f"A worker failed with an error that cannot be sent: {words}"))
        return cls(pickled, cls.of(cause) if cause is not None and cause is not error else None)

    def error(self) -> BaseException:
        """The exception, as it was."""
        error: BaseException = cloudpickle.loads(self.pickled)
        if self.cause is not None:
            error.__cause__ = self.cause.error()
        return error


def _pickled(error: BaseException) -> bytes | None:
    """An exception as it is, else its class with as much of its state as can be sent; None where even that cannot."""
    with contextlib.suppress(Exception):
        pickled = cloudpickle.dumps(error)
        cloudpickle.loads(pickled)  # an exception whose constructor wants more than its args fails only here
        return bytes(pickled)
    with contextlib.suppress(Exception):
        arguments = tuple(part if _can_be_sent(part) else repr(part) for part in error.args)
        state = {name: part for name, part in vars(error).items() if _can_be_sent(part)}
        pickled = cloudpickle.dumps(_Remade(type(error), arguments, state))
        cloudpickle.loads(pickled)
        return bytes(pickled)
    return None


def _can_be_sent(value: Any) -> bool:
    try:
        cloudpickle.loads(cloudpickle.dumps(value))
    except Exception:
        return False
    return True


class _Remade:
    """Pickles as an exception that is made without a call of its constructor."""

    def __init__(self, *parts: Any) -> None:
        self._parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, self._parts


def _remade(kind: type[BaseException], arguments: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    vars(error).update(state)
    return error


def _unpack(future: Future[bytes], index: int, total: int, function: Callable[..., R]) -> R:
    from loky.process_executor import BrokenProcessPool

    try:
        received = cloudpickle.loads(future.result())
    except BrokenProcessPool as error:
        what = getattr(function, "__qualname__", type(function).__qualname__)
        raise WorkerDiedError(
            f"The worker process of job {index} of {total} ({what}) ended without a result; it was killed, perhaps for "
            f"want of memory. Run again with a smaller num_proc; finished jobs are kept.",
            job=index,
        ) from error
    if isinstance(received, Failure):
        raise received.error()
    result: R = received
    return result

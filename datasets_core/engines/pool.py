"""`WorkerProcess`: a process of its own that is sent functions and calls, one at a time, for as long as it is needed.

It is started as a program and not forked, so that it needs no `if __name__ == "__main__"`, shares no lock with its parent, and
may be started by daemonic processes too, as the workers of torch's `DataLoader` are.  What functions print goes to stderr.
"""

from __future__ import annotations

import atexit
import heapq
import itertools
import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from typing import IO, Any, TypeVar

from datasets_core import config
from datasets_core.engines.local import Failure, end_with, packed, unpacked
from datasets_core.errors import ConfigurationError, WorkerDiedError

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from datasets_core.engines.pool import serve; serve(int(sys.argv[2]))"
)
_KEYS = itertools.count()
_LENGTH = 8


@dataclass(frozen=True)
class SentFunction:
    """A function that is called in worker processes: it is packed once, and sent once to each.

    Attributes:
        call: the function.
        label: what it is called in errors.
    """

    call: Callable[..., Any]
    label: str
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def key(self) -> int:
        """A number that no other function of this process has."""
        return int(self._kept.setdefault("key", next(_KEYS)))

    @property
    def packed(self) -> bytes:
        """The function as bytes.

        Raises:
            ConfigurationError: it holds on to this process.
        """
        if "packed" not in self._kept:
            try:
                self._kept["packed"] = packed((config.settings(), self.call))
            except (TypeError, AttributeError, ValueError, RecursionError, pickle.PicklingError) as error:
                raise ConfigurationError(
                    f"{self.label} cannot be sent to a worker process: {error}. "
                    "Make that object inside of the function, or give engine='threads'."
                ) from error
        found: bytes = self._kept["packed"]
        return found


class WorkerProcess:
    """One process, started by the first call."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._known: set[int] = set()

    def call(self, function: SentFunction, *arguments: Any) -> Any:
        """What the function gives in the process; an error of the function is raised as it is.

        Raises:
            WorkerDiedError: the process ended without an answer.
            ConfigurationError: the function or its arguments cannot be sent.
        """
        sent = None if function.key in self._known else function.packed
        message = as_bytes((function.key, sent, arguments), function.label)
        if self._process is None:
            self._process = self._started()
        try:
            assert self._process.stdin is not None and self._process.stdout is not None
            _write(self._process.stdin, message)
            answer = _read(self._process.stdout)
        except (OSError, EOFError, ValueError) as error:  # ValueError: closed, since the process is killed
            raise self._died(function) from error
        found = unpacked(answer)
        if isinstance(found, Failure):
            raise found.error()
        self._known.add(function.key)
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if not sys.executable:
            raise ConfigurationError("This Python has no program to start workers with. Give engine='threads'.")
        command = [sys.executable, "-c", _PROGRAM, json.dumps([path for path in sys.path if isinstance(path, str)])]
        return subprocess.Popen([*command, str(os.getpid())], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _died(self, function: SentFunction) -> WorkerDiedError:
        process = self._process
        code = None
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=5)
        self.kill()
        self.end()
        how = "was ended" if code is None else f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return WorkerDiedError(
            f"The worker process of {function.label} {how}, without an answer. "
            "Look whether it needs more memory than there is, or give fewer workers."
        )

    def kill(self) -> None:
        """End the process, whatever it does; by any thread."""
        process = self._process
        if process is not None and process.returncode is None:
            process.kill()

    def end(self) -> None:
        """Tidy up behind the process, by the thread that calls it; the next call starts another one."""
        process, self._process = self._process, None
        self._known.clear()
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.wait()


def as_bytes(value: Any, label: str) -> bytes:
    """A value to be sent.

    Raises:
        ConfigurationError: it cannot be.
    """
    with suppress(TypeError, AttributeError, ValueError, pickle.PicklingError):
        return pickle.dumps(value, protocol=5)  # several times as fast as what knows lambdas, too
    try:
        return packed(value)
    except (TypeError, AttributeError, ValueError, RecursionError, pickle.PicklingError) as error:
        raise ConfigurationError(
            f"A row cannot be sent to or from a worker process of {label}: {error}. "
            "Leave such values out of rows, or give engine='threads'."
        ) from error


def _write(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(len(data).to_bytes(_LENGTH, "little"))
    pipe.write(data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    length = int.from_bytes(_exactly(pipe, _LENGTH), "little")
    return _exactly(pipe, length)


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    data = pipe.read(count)
    if len(data) < count:
        raise EOFError
    return data


def serve(parent: int) -> None:
    """Answer calls until there are no more: what a worker process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    threading.Thread(target=end_with, args=(parent,), daemon=True, name="datasets_core-orphan-check").start()
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    known: dict[int, tuple[Any, Callable[..., Any]]] = {}
    while True:
        try:
            message = _read(questions)
        except EOFError:
            return
        try:
            _write(answers, _answer(message, known))
        except BrokenPipeError:
            return


def _answer(message: bytes, known: dict[int, tuple[Any, Callable[..., Any]]]) -> bytes:
    try:
        key, sent, arguments = unpacked(message)
        if sent is not None:
            known[key] = unpacked(sent)
        settings, function = known[key]
        with config.using(settings):
            return as_bytes(function(*arguments), getattr(function, "__qualname__", "a function"))
    except Exception as error:
        return packed(Failure.of(error))


# `WorkerPool`: threads that make calls for as long as somebody reads, each with a process where functions are sent to
# one.


R = TypeVar("R")

ENGINES = ("threads", "processes")
"""Where a pool can make calls."""
_SECONDS_TO_END = 1.0

_here = threading.local()


def call_in_process(function: SentFunction, *arguments: Any) -> Any:
    """Call a function in the process of this thread of a pool; in threads of others, here.

    Raises:
        WorkerDiedError: the process ended without an answer.
    """
    process: WorkerProcess | None = getattr(_here, "process", None)
    return function.call(*arguments) if process is None else process.call(function, *arguments)


class WorkerPool:
    """Workers that are there while somebody uses them: the first use starts them, and they end with the last.

    Threads and processes belong to the process that started them: after a fork the child starts its own.

    Args:
        count: how many calls are made at once.
        engine: `"threads"` or `"processes"`.

    >>> pool = WorkerPool(2)
    >>> with pool.working() as submit:
    ...     [submit(call, 0).result() for call in (lambda: 1, lambda: 2)]
    [1, 2]
    """

    def __init__(self, count: int, engine: str = "threads") -> None:
        self.count, self.engine = count, engine
        self._begin()

    def _begin(self) -> None:
        self._pid, self._lock, self._users = os.getpid(), threading.RLock(), 0
        self._workers: _Workers | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerPool, (self.count, self.engine)

    @contextmanager
    def working(self) -> Iterator[Callable[[Callable[[], R], int], Future[R]]]:
        """The workers: gives what starts a call and answers with its future; calls with low numbers come first."""
        if self._pid != os.getpid():
            self._begin()
        pid = self._pid
        with self._lock:
            if self._workers is None:
                self._workers = _Workers(self.count, has_processes=self.engine == "processes")
            workers = self._workers
            self._users += 1
        try:
            yield workers.submit
        finally:
            if pid == os.getpid():
                with self._lock:
                    self._users -= 1
                    if not self._users:
                        self._workers = None
                        workers.close()


class _Workers:
    """Some threads.

    They may be closed by the garbage collector in the middle of anything: no lock is taken here that is not reentrant.
    """

    def __init__(self, count: int, *, has_processes: bool) -> None:
        self._count, self._has_processes = count, has_processes
        self._waiting: list[tuple[int, int, Future[Any], Callable[[], Any]]] = []
        self._order = itertools.count()
        self._lock = threading.RLock()
        self._signals: SimpleQueue[bool] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._processes: list[WorkerProcess] = []
        self._is_closed = False
        _OPEN.add(self)

    def submit(self, call: Callable[[], R], priority: int) -> Future[R]:
        """Start a call as soon as a thread is free, before those with higher numbers."""
        future: Future[R] = Future()
        with self._lock:
            heapq.heappush(self._waiting, (priority, next(self._order), future, copied(call)))
            if len(self._threads) < self._count:
                self._threads.append(threading.Thread(target=self._run, daemon=True, name="datasets_core-worker"))
                self._threads[-1].start()
        self._signals.put(True)
        return future

    def _run(self) -> None:
        process = None
        if self._has_processes:
            process = _here.process = WorkerProcess()
            with self._lock:
                self._processes.append(process)
        try:
            while self._signals.get() and not self._is_closed:
                with self._lock:
                    _, _, future, call = heapq.heappop(self._waiting)
                _set_result(future, call)
                del future, call  # or the rows of the last call stay until the next
        finally:
            if process is not None:
                process.end()

    def close(self) -> None:
        """End the threads behind what they do now, and the processes at once."""
        self._is_closed = True
        for _ in self._threads:
            self._signals.put(False)
        for process in self._processes:
            process.kill()

    def join(self) -> None:
        """Wait a little until the threads are done."""
        for thread in self._threads:
            thread.join(_SECONDS_TO_END)


def _set_result(future: Future[Any], call: Callable[[], Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        found = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(found)


def copied(call: Callable[[], R]) -> Callable[[], R]:
    """The call with the settings that hold here, for another thread."""
    context = copy_context()
    return lambda: context.run(call)


_OPEN: weakref.WeakSet[_Workers] = weakref.WeakSet()


@atexit.register
def _end_all() -> None:
    """Leave no process behind, and no thread in the middle of a library that is being torn down."""
    for act in ("close", "join"):
        for workers in list(_OPEN):
            getattr(workers, act)()


# Jobs of a pool of workers, some of which are done ahead, and all of which come in order.


logger = logging.getLogger(__name__)

T = TypeVar("T")

_MOST_ROWS = 256
_PIECE_SECONDS = 0.03
_SILENT_SECONDS = 60.0  # behind which the log says what a reader waits for


class Pace:
    """How many rows a worker is given at once: one at first, so that the first rows come early, then as many as are done soon.

    >>> pace = Pace()
    >>> pace.rows
    1
    >>> pace.took(1, 0.001)
    >>> pace.rows
    4
    """

    __slots__ = ("rows",)

    def __init__(self) -> None:
        self.rows = 1

    def timed(self, rows: int, work: Callable[[T], R], job: T) -> R:
        """What some work on so many rows gives; how long it takes decides about the next ones."""
        begun = time.perf_counter()
        found = work(job)
        self.took(rows, time.perf_counter() - begun)
        return found

    def took(self, rows: int, seconds: float) -> None:
        """Note how long so many rows took."""
        soon = int(_PIECE_SECONDS * rows / max(seconds, 1e-9))
        self.rows = max(1, min(soon, 4 * rows, _MOST_ROWS))


def in_order(
    jobs: Iterator[T], work: Callable[[T], R], pool: WorkerPool, ahead: int, label: str = "a function of the stream"
) -> Iterator[tuple[T, R]]:
    """Each job with its result, in order; an error comes where its job stands.

    >>> list(in_order(iter([1, 2, 3]), lambda job: job * 10, WorkerPool(2), 4))
    [(1, 10), (2, 20), (3, 30)]

    Args:
        jobs: taken by the thread that reads.
        work: on one of them, in a worker.
        pool: of workers.
        ahead: how many jobs are in work at most.
        label: of the work, for the log.
    """
    running: deque[tuple[T, Future[R]]] = deque()
    failure: Exception | None = None
    is_begun = is_over = False
    with pool.working() as submit:
        try:
            while True:
                while not is_over and len(running) < ahead and (is_begun or not running or not running[0][1].done()):
                    try:
                        job = next(jobs)
                    except StopIteration:
                        is_over = True
                    except Exception as error:  # its place is behind what runs
                        failure, is_over = error, True
                    else:
                        running.append((job, submit(partial(work, job), len(running))))
                if not running:
                    break
                job, future = running.popleft()
                found = _waited(future, label)
                del future
                yield job, found
                is_begun = True
            if failure is not None:
                raise failure
        finally:
            for _, future in running:
                future.cancel()


def _waited(future: Future[R], label: str) -> R:
    waited = 0.0
    while not wait([future], timeout=_SILENT_SECONDS).done:
        waited += _SILENT_SECONDS
        logger.warning("The next rows wait for %s, which a worker has called for %d seconds.", label, waited)
    return future.result()


def ahead_of(pool: WorkerPool | None, shards: int) -> int:
    """How many pieces each of so many lanes has in work.

    >>> ahead_of(WorkerPool(4), 1), ahead_of(WorkerPool(4), 48)
    (8, 2)
    """
    return 0 if pool is None else max(2, -(-2 * pool.count // shards))

"""`WorkerPool`: threads that make calls for as long as somebody reads, each with a process where functions are sent to one."""

from __future__ import annotations

import atexit
import heapq
import itertools
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any, TypeVar

from datasets_core.engines.worker_process import SentFunction, WorkerProcess

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
                _answer(future, call)
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


def _answer(future: Future[Any], call: Callable[[], Any]) -> None:
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

"""`ExecutorEngine`: jobs in an executor of `concurrent.futures`."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from functools import partial
from typing import Any

from datasets_core.engines.pool import Head, RemoteEngine, answer, died
from datasets_core.engines.threads import in_thread
from datasets_core.errors import logger_of

logger = logger_of(__name__)

_LOOK_SECONDS, _STUCK_SECONDS = 0.5, 2.0


class ExecutorEngine(RemoteEngine):
    """Jobs in an executor of `concurrent.futures`, such as those of loky, mpi4py, parsl or Dask.

    Args:
        executor: the executor, which stays open; or a function that makes one, which is shut down after the run, and replaced
            if its workers die.
        workers: number of jobs that it runs at once; None: as the executor reports it.

    Example:
        >>> with ThreadPoolExecutor(2) as executor:
        ...     Dataset.from_dict({"a": [1, 2]}).map(lambda row: {"a": -row["a"]}, engine=ExecutorEngine(executor))["a"][:]
        [-1, -2]
    """

    def __init__(self, executor: Executor | Callable[[], Executor], workers: int | None = None) -> None:
        self._make = None if isinstance(executor, Executor) or hasattr(executor, "submit") else executor
        self._executor: Any = None if self._make is not None else executor
        self._asked, self._renewing = workers, threading.RLock()
        self._broken: list[Any] = []
        self._is_over, self._watches = threading.Event(), list[Any]()
        self._measure()

    def _measure(self) -> None:
        self.shares_memory = isinstance(self._executor, ThreadPoolExecutor)
        self.spans_machines = not self.shares_memory
        known = getattr(self._executor, "_max_workers", None)
        self.workers = self._asked or (known if isinstance(known, int) else os.cpu_count()) or 1

    def open(self) -> None:
        if self._executor is None and self._make is not None:
            self._executor = self._make()
            self._measure()
        self._watch(self._executor)

    def _watch(self, executor: Any) -> None:
        if hasattr(executor, "_processes") and hasattr(executor, "_result_queue"):
            self._watches.append(in_thread(partial(_end_if_stuck, executor, self._is_over), "datasets_core-executor"))

    def _start(self, function: Any, head: Head, index: int, job: Any, retries: int) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        call = partial(copy_context().run, function, job) if self.shares_memory else partial(answer, head, function.pack(job))
        self._try(call, future, index, retries, retries)
        return future

    def _try(self, call: Callable[[], Any], future: Future[Any], index: int, left: int, retries: int) -> None:
        executor = self._executor  # no lock is held here: a broken executor calls back under its own, which `submit` takes
        try:
            inner = executor.submit(call)
        except BrokenExecutor as error:
            self._failed(error, executor, call, future, index, left, retries)
            return
        future.inner = inner  # type: ignore[attr-defined]
        inner.add_done_callback(lambda inner: self._over(inner, executor, call, future, index, left, retries))

    def _over(self, inner: Any, executor: Any, call: Any, future: Future[Any], *numbers: int) -> None:
        if inner.cancelled():
            future.set_exception(InterruptedError())
        elif isinstance(error := inner.exception(), BrokenExecutor):
            self._failed(error, executor, call, future, *numbers)
        elif error is not None:
            future.set_exception(error)
        else:
            future.set_result(inner.result())

    def _failed(
        self, error: BaseException, executor: Any, call: Any, future: Future[Any], index: int, left: int, retries: int
    ) -> None:
        """Run the job again in a new executor, if one can be made."""
        if self._make is None or left <= 0:
            future.set_exception(died(str(error) or type(error).__name__, index, retries if self._make is not None else 0))
            return
        with self._renewing:
            if self._executor is executor:
                self._executor = self._make()
                self._broken.append(executor)
                self._watch(self._executor)
            self.retried += 1
        self._try(call, future, index, left - 1, retries)

    def _end(self, run: str, begun: set[Future[Any]]) -> None:
        for future in tuple(begun):
            future.inner.cancel()  # type: ignore[attr-defined]
        wait(tuple(begun))
        self._is_over.set()
        for watch in self._watches:
            watch.join()
        self._is_over, self._watches = threading.Event(), []
        if self._make is not None:
            self.close()

    def close(self) -> None:
        """Shut down the executor that this engine made."""
        if self._make is not None and self._executor is not None:
            for executor in (*self._broken, self._executor):
                executor.shutdown(wait=True, cancel_futures=True)
            self._broken, self._executor = [], None


def _end_if_stuck(executor: Any, is_over: threading.Event) -> None:
    """End a `ProcessPoolExecutor` whose worker was killed in the middle of a result: it would wait for the rest for ever.

    Its own thread reads that result from a pipe, and does not see that the worker has ended.  Without any writer of the pipe
    the read fails, and the executor is broken, as after other deaths of workers.
    """
    from multiprocessing.connection import wait as ready  # the executor has imported it

    since: float | None = None
    while not is_over.wait(_LOOK_SECONDS) and executor._processes is not None and not executor._broken:
        try:
            processes = list(executor._processes.values())
            has_dead = bool(ready([process.sentinel for process in processes], 0))
        except (OSError, ValueError, RuntimeError):  # it ends or starts a process at this moment
            continue
        now = time.monotonic()
        since = (now if since is None else since) if has_dead else None
        if since is not None and now >= since + _STUCK_SECONDS:
            logger.warning("A worker of an executor ended in the middle of a result; the other workers are ended too.")
            for process in processes:
                process.kill()
            executor._result_queue._writer.close()
            return

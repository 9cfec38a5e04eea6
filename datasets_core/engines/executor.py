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
_TOGETHER = 2  # tries of a job beside others: an executor does not say whose worker died, so later ones are made alone


class ExecutorEngine(RemoteEngine):
    """Jobs in an executor of `concurrent.futures`, such as those of loky, mpi4py, parsl or Dask.

    Args:
        executor: the executor, which stays open; or a function that makes one, which is shut down after the run, and replaced
            if its workers die. After an error, jobs that run in an executor of processes that the function made are ended;
            others are waited for.
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
        self._is_over, self._watches = threading.Event(), list[Any]()
        self._own, self._suspects = list[Any](), list[Any]()
        self._alone: Any = None
        self._measure()

    def _measure(self) -> None:
        self.shares_memory = isinstance(self._executor, ThreadPoolExecutor)
        self.spans_machines = not self.shares_memory
        known = getattr(self._executor, "_max_workers", None)
        self.workers = self._asked or (known if isinstance(known, int) else os.cpu_count()) or 1

    def open(self) -> None:
        if self._executor is None and self._make is not None:
            self._executor = self._made()
            self._measure()
        elif self._make is None:
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
        """Run the job again in a new executor, if one can be made; alone, if that was done before."""
        if self._make is None or left <= 0 or self._is_over.is_set():
            future.set_exception(died(str(error) or type(error).__name__, index, retries if self._make is not None else 0))
            return
        try:
            with self._renewing:
                if self._executor is executor:
                    self._executor = self._made()
                self.retried += 1
                if retries - left + 1 >= min(_TOGETHER, retries):
                    self._suspects.append((call, future, index, left - 1, retries))
                    self._alone = self._alone or in_thread(self._run_alone, "datasets_core-executor")
                    return
        except BaseException as made:  # by the function that makes executors; nobody else hears of it
            future.set_exception(made)
            return
        self._try(call, future, index, left - 1, retries)

    def _made(self) -> Any:
        executor = self._make()  # type: ignore[misc]
        self._own.append(executor)
        self._watch(executor)
        return executor

    def _run_alone(self) -> None:
        """Run the jobs whose executors broke, one at a time: whose worker dies now has ended it by itself."""
        while True:
            with self._renewing:
                if not self._suspects:
                    self._alone = None
                    return
                call, future, index, left, retries = self._suspects.pop(0)
                if self._is_over.is_set():
                    future.set_exception(InterruptedError())
            while not future.done():
                try:
                    executor = self._made()
                    inner = executor.submit(call)
                except BaseException as error:
                    future.set_exception(error)
                    continue
                wait((inner,))
                if executor is not self._executor:
                    executor.shutdown()
                ended, is_dead = inner.exception(), isinstance(inner.exception(), BrokenExecutor)
                if is_dead and left > 0 and not self._is_over.is_set():
                    left, self.retried = left - 1, self.retried + 1
                elif ended is not None:
                    future.set_exception(died(str(ended) or type(ended).__name__, index, retries) if is_dead else ended)
                else:
                    future.set_result(inner.result())

    def _end(self, run: str, begun: set[Future[Any]]) -> None:
        self._is_over.set()
        with self._renewing:
            own = [] if all(future.done() for future in tuple(begun)) else self._own
            ended = [_end_workers(executor) for executor in own]
            if not any(ended):  # Python 3.11 fails to end those with cancelled jobs
                for future in tuple(begun):
                    future.inner.cancel()  # type: ignore[attr-defined]
            alone = self._alone
        wait(tuple(begun))
        for thread in (*self._watches, *([] if alone is None else [alone])):
            thread.join()
        self._is_over, self._watches = threading.Event(), []
        self.close()

    def close(self) -> None:
        """Shut down the executor that this engine made."""
        if self._make is not None and self._executor is not None:
            for executor in self._own:
                executor.shutdown(wait=True, cancel_futures=True)
            self._own, self._executor = [], None


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
            _end_workers(executor)
            return


def _end_workers(executor: Any) -> bool:
    """End the processes of a `ProcessPoolExecutor`; return False for other executors."""
    parts: tuple[Any, Any] = getattr(executor, "_processes", None), getattr(executor, "_result_queue", None)
    if is_running := None not in parts:
        for process in list(parts[0].values()):
            process.kill()
        parts[1]._writer.close()
    return is_running

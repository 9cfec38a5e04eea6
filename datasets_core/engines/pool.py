"""Threads that make calls, each with a worker process if functions are sent to one; engines and pools of them.

An engine has its workers for one run; a `WorkerPool` for as long as the stream that uses it is read.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import platform
import shutil
import socket
import sys
import tempfile
import threading
import time
from bisect import insort
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sized
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

from datasets_core import files
from datasets_core._version import __version__
from datasets_core.config import using
from datasets_core.engines.deadline import RETRIES, Deadline, TimeUp
from datasets_core.engines.process import Failure, SentFunction, WorkerProcess, can_fork, packed, unpacked
from datasets_core.engines.threads import CallWindow, Daemons
from datasets_core.errors import ConfigurationError, WorkerDiedError, logger_of

T = TypeVar("T")
R = TypeVar("R")

logger = logger_of(__name__)

ENGINES = ("threads", "processes")
"""The kinds of workers of a pool."""
_GRACE_SECONDS = 1.0  # in which a job says itself where it hangs, unless it hangs in C
_LOOK_SECONDS = 0.1  # between two looks at `stop`
_WAIT_SECONDS = 0.5  # of one wait: Python misses a Ctrl-C that comes in the moment before it, until it is over
_SILENT_SECONDS = 60.0  # behind which the log says what is waited for
_MOST_ROWS = 256
_PIECE_SECONDS = 0.03

_here = threading.local()


def call_in_process(
    function: SentFunction,
    *arguments: Any,
    retries: int = RETRIES,
    job: int | None = None,
    on_retry: Callable[[], object] = bool,
) -> Any:
    """Call a function in the worker process of this thread, or in this process if there is none.

    Raises:
        WorkerDiedError: the process ended without an answer, and so did the `retries` processes after it.
    """
    process: WorkerProcess | None = getattr(_here, "process", None)
    if process is None:
        return function.call(*arguments)
    return process.call(function, *arguments, retries=retries, job=job, on_retry=on_retry)


class Workers(Daemons):
    """Threads that last until they are closed, each with a worker process if requested.

    Args:
        count: number of threads.
        has_processes: True for processes.
        forks: True to fork all processes immediately, in the calling thread, before the threads run.
    """

    def __init__(self, count: int, *, has_processes: bool, forks: bool = False) -> None:
        self._has_processes, self._pid = has_processes, os.getpid()
        self._processes: list[WorkerProcess] = []
        self._forked: list[WorkerProcess] = []  # and not yet taken by a thread
        super().__init__("datasets_core-worker", lambda: count, lasts=True)
        try:
            for _ in range(count if forks else 0):
                process = WorkerProcess()
                process.fork()
                self._forked.append(process)
        except BaseException:
            self.close()
            raise

    def _run(self) -> None:
        if not self._has_processes:
            super()._run()
            return
        with self._lock:
            process = _here.process = self._forked.pop() if self._forked else WorkerProcess()
            self._processes.append(process)
        try:
            super()._run()
        finally:
            process.end()

    def close(self, wait_seconds: float | None = 0.0) -> None:
        """See `Daemons.close`; the processes end immediately."""
        if self._pid != os.getpid():  # of the process that this one was forked from
            return
        super().close()  # no thread takes a process any more
        with self._lock:
            untaken, self._forked = self._forked, []
        for process in untaken:
            process.end()
        for process in self._processes:
            process.kill()
        super().close(wait_seconds)


def done(
    submit: Callable[[Callable[[], R], int], Future[R]],
    work: Callable[[T], R],
    jobs: Iterator[T],
    window: int,
    *,
    ordered: bool,
    deadline: Deadline | None = None,
    stop: threading.Event | None = None,
    label: str = "",
) -> Generator[tuple[T, R]]:
    """Yield each job with its result.

    Args:
        submit: see `Daemons.submit`.
        work: called with a job, in a worker.
        jobs: taken by the reading thread; an error while taking one is raised after the results of earlier jobs.
        window: maximum number of jobs that are in progress, or finished but not yielded.
        ordered: True for results, and errors of jobs, in the order of the jobs.
        deadline, stop: see `Engine.run`.
        label: description of the work, for log messages about waiting.
    """
    calls: CallWindow[R] = CallWindow(submit, window)
    held: dict[Hashable, T] = {}
    numbers = itertools.count()
    failure: Exception | None = None
    is_begun = is_over = False
    try:
        while True:
            is_late = deadline is not None and not deadline.remaining
            while not (is_over or is_late) and len(calls) < window and (is_begun or calls.ready(ordered=True) is None):
                try:
                    job = next(jobs)
                except StopIteration:
                    is_over = True
                except Exception as error:  # its place is behind what runs
                    failure, is_over = error, True
                else:
                    held[number := next(numbers)] = job
                    calls.add(number, 1, partial(work, job))
            if not len(calls):
                if is_late and not is_over:
                    raise TimeUp(())
                break
            key = _next_done(calls, ordered, deadline, stop, label)
            if key is None:
                return
            yield held.pop(key), calls.take(key)
            is_begun = True
        if failure is not None:
            raise failure
    finally:
        calls.close()


def _next_done(
    calls: CallWindow[R], ordered: bool, deadline: Deadline | None, stop: threading.Event | None, label: str
) -> Hashable | None:
    """Return the key of the next result; None once `stop` is set.

    Raises:
        TimeUp: no job is done, and the jobs did not stop themselves at the deadline.
    """
    begun = told = time.monotonic()
    while not (stop is not None and stop.is_set()):
        if (key := calls.ready(ordered=ordered)) is not None:
            return key
        now = time.monotonic()
        left = _SILENT_SECONDS if deadline is None else deadline.at + _GRACE_SECONDS - now
        if left <= 0:
            raise TimeUp(())
        if label and now >= told + _SILENT_SECONDS:
            told = now
            logger.warning("The next rows wait for %s, which has been running in a worker for %d seconds.", label, now - begun)
        calls.wait(min(left, _WAIT_SECONDS if stop is None else _LOOK_SECONDS), ordered=ordered)
    return None


# -- engines -----------------------------------------------------------------------------------------------------------


class ThreadEngine:
    """Runs jobs in threads of this process: for work that releases the interpreter's lock.

    Args:
        workers: number of threads; None: one for each processor.
    """

    shares_memory: ClassVar[bool] = True

    def __init__(self, workers: int | None = None) -> None:
        if workers is not None and workers < 1:
            raise ConfigurationError(f"An engine cannot have {workers} workers", advice="Give at least 1")
        self.workers = workers or os.cpu_count() or 1

    def run(
        self,
        function: Callable[[T], R],
        jobs: Iterable[T],
        *,
        window: int | None = None,
        ordered: bool = False,
        retries: int = RETRIES,
        deadline: Deadline | None = None,
        stop: threading.Event | None = None,
    ) -> Iterator[tuple[int, R]]:
        """See `Engine.run`."""
        count = min(self.workers, len(jobs)) if isinstance(jobs, Sized) else self.workers
        work = self._work(function, retries)
        has_processes = not self.shares_memory
        workers = Workers(count, has_processes=has_processes, forks=has_processes and can_fork())
        options: dict[str, Any] = {"ordered": ordered, "deadline": deadline, "stop": stop}
        pace = JobPace(getattr(function, "__qualname__", type(function).__qualname__))

        def paced() -> Iterator[tuple[int, T]]:
            for index, job in enumerate(jobs):
                pace.begun(index, job)
                yield index, job

        try:
            for (index, _), result in done(workers.submit, work, paced(), window or 2 * count, **options):
                pace.ended(index)
                yield index, result
        except BaseException:
            if stop is not None:
                stop.set()
            raise
        finally:
            workers.close(None)

    def _work(self, function: Callable[[T], R], retries: int) -> Callable[[tuple[int, T]], R]:
        return lambda job: function(job[1])


class ProcessEngine(ThreadEngine):
    """Runs jobs in worker processes: for work in Python.

    Functions and jobs may be anything that cloudpickle can send, including lambdas and classes of `__main__`, and `if __name__
    == "__main__"` is not needed.
    """

    shares_memory: ClassVar[bool] = False
    retried: int = 0
    """Number of jobs that were begun again since their worker died."""
    is_named: bool = True
    """False if only `num_proc` asks for it: threads may do work that releases the interpreter's lock."""

    def _work(self, function: Callable[[T], R], retries: int) -> Callable[[tuple[int, T]], R]:
        sent = SentFunction(function, getattr(function, "__qualname__", type(function).__qualname__), is_of_rows=False)
        _ = sent.packed  # here, where it fails at once
        return lambda job: call_in_process(sent, job[1], retries=retries, job=job[0], on_retry=self._count)

    def _count(self) -> None:
        self.retried += 1


# -- in a worker of another library ------------------------------------------------------------------------------------


Head = tuple[str, dict[str, str], list[str], bytes]
"""What all jobs of a run share: its name, the versions and import paths of the driver, and the function, packed."""

_sent = threading.local()  # the function of the last job of this thread
_running: Counter[str] = Counter()
_counting = threading.Lock()


def versions() -> dict[str, str]:
    """Return the versions that driver and workers must share: code travels as bytecode, and rows are equal byte by byte."""
    import pyarrow as pa  # a pool of threads does without

    return {"Python": platform.python_version().rpartition(".")[0], "datasets_core": __version__, "pyarrow": pa.__version__}


def answer(head: Head, job: bytes) -> bytes:
    """Run a job in a worker; return its result or its failure, packed."""
    run, wanted, paths, sent = head
    with _counting:
        _running[run] += 1
    try:
        check_versions(wanted)
        if getattr(_sent, "run", None) != run:
            sys.path += [path for path in paths if path not in sys.path and os.path.exists(path)]
            settings, decimals, *parts = unpacked(sent)
            if decimals is not None:
                sys.modules["decimal"].setcontext(decimals.copy())
            _sent.run, _sent.settings, _sent.function = run, settings, SentFunction(*parts)
        with using(_sent.settings):
            return bytes(_sent.function.pack(_sent.function.call(unpacked(job))))
    except BaseException as error:
        return packed(Failure.of(error))
    finally:
        with _counting:
            _running[run] -= 1


def is_running(run: str) -> bool:
    """Return True if this worker is running a job of a run."""
    with _counting:
        return _running[run] > 0


def check_versions(wanted: Mapping[str, str]) -> None:
    """Check that this worker has the `versions` of the driver.

    Raises:
        ConfigurationError: it has another one.
    """
    for name, found in versions().items():
        if found != wanted[name]:
            raise ConfigurationError(
                f"The worker on {socket.gethostname()} has {name} {found}, this process has {wanted[name]}",
                advice="Install the same versions on all machines",
            )


def answer_anywhere(head: Head, job: bytes) -> Any:
    """Call `answer`; this function is sent by value, so that a worker without the library is reported."""
    try:
        from datasets_core.engines.pool import answer
    except ImportError as error:
        import socket

        return f"The worker on {socket.gethostname()} cannot import datasets_core ({error}). Install it on all machines."
    return answer(head, job)


answer_anywhere.__module__ = "__main__"  # which cloudpickle sends as code


# -- engines that other libraries are behind ---------------------------------------------------------------------------


_SLOW, _SLOW_JOBS, _SLOW_SECONDS = 5.0, 8, 30.0  # times the median of at least so many jobs, and at least so long


class JobPace:
    """Logs the jobs that take much longer than others.

    Args:
        label: description of the function.
    """

    def __init__(self, label: str) -> None:
        self._label, self._since, self._took, self._told = label, dict[int, float](), list[float](), set[int]()
        self._names: dict[int, str] = {}

    def begun(self, index: int, job: Any = None) -> None:
        """Record that a job was submitted."""
        self._since[index] = time.monotonic()
        if isinstance(name := getattr(job, "name", None), str):
            self._names[index] = name

    def ended(self, index: int) -> None:
        """Record that a job is done, and check the others."""
        now = time.monotonic()
        insort(self._took, now - self._since.pop(index, now))
        self._names.pop(index, None)
        for slow in self.stragglers(now) if now - min(self._since.values(), default=now) >= _SLOW_SECONDS else ():
            self._told.add(slow)
            median = self._took[len(self._took) // 2]
            logger.warning(
                "%s: job %s has been running for %.0f seconds; half of the others took at most %.1f.",
                self._label,
                f"{slow} ({name})" if (name := self._names.get(slow)) else slow,
                now - self._since[slow],
                median,
            )

    def stragglers(self, now: float) -> list[int]:
        """Return the jobs, not logged yet, that take more than five times the median duration of those that are done."""
        if len(self._took) < _SLOW_JOBS:
            return []
        most = max(_SLOW_SECONDS, _SLOW * self._took[len(self._took) // 2])
        return [index for index, since in self._since.items() if now - since > most and index not in self._told]


class RemoteEngine:
    """An engine that leaves scheduling, transport and retries to another library.

    Attributes:
        shares_memory: see `Engine`.
        spans_machines: True if workers may be on other machines.
        workers: number of jobs that run at once, if known.
        retried: number of jobs that were begun again since their worker died, as far as the other library reports it.
    """

    shares_memory = False
    spans_machines = True
    workers: int = 1
    retried: int = 0

    def run(
        self,
        function: Callable[[T], R],
        jobs: Iterable[T],
        *,
        window: int | None = None,
        ordered: bool = False,
        retries: int = RETRIES,
        deadline: Deadline | None = None,
        stop: threading.Event | None = None,
    ) -> Iterator[tuple[int, R]]:
        """See `Engine.run`."""
        label = getattr(function, "__qualname__", type(function).__qualname__)
        sent = SentFunction(function, label, is_of_rows=False)
        name = f"datasets_core-{os.urandom(8).hex()}"
        paths = [os.path.abspath(path) for path in sys.path if isinstance(path, str)]
        head: Head = (name, versions(), paths, b"" if self.shares_memory else sent.packed)
        self.open()
        begun: set[Future[Any]] = set()
        pace = JobPace(label)

        def submit(call: Callable[[], tuple[int, T]], _: int) -> Future[Any]:
            index, job = call()
            future = self._start(function if self.shares_memory else sent, head, index, job, retries)
            begun.add(future)
            pace.begun(index, job)
            future.add_done_callback(begun.discard)
            return future

        try:
            limits: dict[str, Any] = {"ordered": ordered, "deadline": deadline, "stop": stop}
            for (index, _), found in done(submit, tuple, enumerate(jobs), window or 2 * self.workers, **limits):
                pace.ended(index)
                yield index, found if self.shares_memory else _taken(found)
        except BaseException:
            if stop is not None:
                stop.set()
            raise
        finally:
            self._end(name, begun)

    def open(self) -> None:
        """Start or find workers, and count them; a run calls this itself."""

    def _start(self, function: Any, head: Head, index: int, job: Any, retries: int) -> Future[Any]:
        """Begin a job; return a future of the result of `answer`, whose exceptions only concern the workers."""
        raise NotImplementedError

    def _end(self, run: str, begun: set[Future[Any]]) -> None:
        """Wait until no job of a run is running any more."""
        raise NotImplementedError

    def close(self) -> None:
        """End what the engine started; the next run starts it again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_CONNECT_SECONDS = 10.0
_LEFT_SECONDS = 600.0  # a local cluster ends within them when its driver was killed


def folder_of_cluster(kind: str, parent: str | None = None) -> str:
    """Make the temporary folder of a cluster on this machine; those of drivers that were killed are removed.

    Args:
        kind: a short name of the cluster.
        parent: where; None for the usual place of temporary folders.
    """
    place, prefix = parent or tempfile.gettempdir(), f"dc-{kind}.tmp-"
    for entry in os.scandir(place):
        if entry.name.startswith(prefix) and files.owner_is_alive(entry.path) is False:
            with contextlib.suppress(OSError):  # another process removes it
                if entry.stat().st_mtime < time.time() - _LEFT_SECONDS:
                    shutil.rmtree(entry.path)
    return tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=place)


def look_for(address: str | None) -> None:
    """Connect to a cluster that is given by host and port: Ray and Dask themselves try for long.

    Raises:
        ConnectionError: nothing answers there.
    """
    host, _, port = (address or "").removeprefix("ray://").removeprefix("tcp://").rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_SECONDS).close()
        except OSError as error:
            raise ConnectionError(str(error)) from error


def _taken(found: Any) -> Any:
    if isinstance(found, str):
        raise ConfigurationError(found)
    value = unpacked(found)
    if isinstance(value, Failure):
        raise value.error()
    return value


def died(how: str, index: int, retries: int) -> WorkerDiedError:
    """Return the error for a job whose workers died."""
    again = f", {retries + 1} times" if retries else ""
    error = WorkerDiedError(
        f"The worker of job {index} ended without a result{again}: {how}. It may need more memory than is available, or its "
        "code ends the process. Run again with smaller jobs; finished jobs are kept.",
        job=index,
    )
    error.how = f"ended ({how})"
    return error


# -- pools of streams --------------------------------------------------------------------------------------------------


class WorkerPool:
    """Workers that are started by their first user and stopped by their last.

    Threads and processes belong to the process that started them: after a fork the child starts its own.

    Args:
        count: number of calls that run at once.
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
        self._workers: Workers | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkerPool, (self.count, self.engine)

    @contextmanager
    def working(self) -> Iterator[Callable[[Callable[[], R], int], Future[R]]]:
        """Yield a function that submits a call and returns its future; calls with low numbers run first."""
        if self._pid != os.getpid():
            self._begin()
        pid = self._pid
        with self._lock:
            if self._workers is None:
                self._workers = Workers(self.count, has_processes=self.engine == "processes")
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


def in_order(
    jobs: Iterator[T], work: Callable[[T], R], pool: WorkerPool, ahead: int, label: str = "a function of the stream"
) -> Generator[tuple[T, R]]:
    """Yield each job with its result, in order; the error of a job is raised in its place.

    >>> list(in_order(iter([1, 2, 3]), lambda job: job * 10, WorkerPool(2), 4))
    [(1, 10), (2, 20), (3, 30)]

    Args:
        jobs: the jobs, taken by the thread that reads.
        work: called with a job, in a worker.
        pool: the pool of workers.
        ahead: maximum number of jobs that run or wait at a time.
        label: description of the work, for the log.
    """
    assert ahead > 0, "no job would ever be done"
    with pool.working() as submit:
        yield from done(submit, work, jobs, ahead, ordered=True, label=label)


class Pace:
    """Number of rows in a piece of work: one at first, so that the first rows come early, then as many as a short time allows.

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
        """Run work on this many rows and return its result; its duration determines the size of the next pieces."""
        begun = time.perf_counter()
        found = work(job)
        self.took(rows, time.perf_counter() - begun)
        return found

    def took(self, rows: int, seconds: float) -> None:
        """Record the duration of work on this many rows."""
        soon = int(_PIECE_SECONDS * rows / max(seconds, 1e-9))
        self.rows = max(1, min(soon, 4 * rows, _MOST_ROWS))


def ahead_of(pool: WorkerPool | None, shards: int) -> int:
    """Return the number of pieces that each lane works on at a time.

    >>> ahead_of(WorkerPool(4), 1), ahead_of(WorkerPool(4), 48)
    (8, 2)
    """
    return 0 if pool is None else max(2, -(-2 * pool.count // shards))

"""`Daemons`: threads that wait for servers; `StallTimeout`: how long a caller waits; `RetryPolicy`: pauses between tries.

The threads are created when there is work, belong to one process (a fork creates its own), end when they are idle, and do not
keep a process from ending.
"""

from __future__ import annotations

import atexit
import os
import random
import re
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC
from typing import Any, Generic, Protocol, TypeVar

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DownloadError, logger_of
from datasets_core.progress import progress

# `renewed_after_fork`: objects with locks or threads, which are reset in a forked process, where other threads do not exist.


class Forkable(Protocol):
    """An object that is notified in the child process after a fork."""

    def forked(self) -> None:
        """Create new locks; called in the child process before anything else runs there."""
        ...


_all: weakref.WeakSet[Forkable] = weakref.WeakSet()


def renewed_after_fork(thing: Forkable) -> None:
    """Call `thing.forked()` in each process that is forked from this one, as long as `thing` exists.

    Args:
        thing: object with locks.
    """
    _all.add(thing)


def _forked() -> None:
    for thing in list(_all):
        thing.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


logger = logger_of(__name__)

T = TypeVar("T")

_IDLE_SECONDS = 2.0
_LOG_SECONDS = 10.0
_END_SECONDS = 1.0  # for all threads together, when the process ends
_PROGRESS = 1 << 16  # bytes that count as such


class StoppedError(Exception):
    """A job whose result is no longer needed."""


class Job(Generic[T]):
    """A piece of work: waiting, started, or done.

    Args:
        work: the function, called in the context of the thread that creates the job.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work: Callable[[], T] | None = work
        self._context = copy_context()
        self._found: list[Any] = []
        self._error: BaseException | None = None
        self._lock = threading.Lock()
        self.is_begun, self.begun_at = False, 0.0
        self.thread: threading.Thread | None = None
        self.done = threading.Event()

    def begin(self) -> bool:
        """Return True if the caller runs the job; False if another thread has started it."""
        with self._lock:
            is_first = not self.is_begun
            if is_first:
                self.is_begun, self.begun_at = True, time.monotonic()
            return is_first

    def do(self) -> None:
        """Run the work; called by the thread that took it."""
        work, self._work = self._work, None
        assert work is not None
        try:
            self._found.append(self._context.run(work))
        except BaseException as error:  # raised where it is waited for
            self._error = error
        finally:
            self.done.set()

    def result(self) -> T:
        """Wait for the job; return its result, or raise its exception."""
        if self._error is not None:
            try:
                raise self._error
            finally:
                del self  # the trace-back would hold it, and what it found
        return self._found[0]  # type: ignore[no-any-return]

    def join(self, seconds: float | None = None) -> None:
        """Wait a limited time for the job's own thread to end; not in that thread itself, which may collect garbage."""
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join(seconds)


def in_thread(work: Callable[[], T], name: str) -> Job[T]:
    """Start a piece of work in a separate daemon thread.

    >>> job = in_thread(lambda: 1, "example")
    >>> job.join()
    >>> job.result()
    1
    """
    job = Job(work)
    job.thread = threading.Thread(target=job.do, name=name, daemon=True)
    job.thread.start()
    return job


_LOOK_SECONDS = 0.1  # between two looks at how far a function, or a worker, is: the two add up to less than 0.25


@contextmanager
def followed(tell: Callable[[int], object] | None, rows_done: Callable[[], int]) -> Iterator[None]:
    """Report the number of finished rows several times a second, from a thread, since a call of the function may be slow."""
    if tell is None:
        yield
        return
    ended = threading.Event()

    def follow() -> None:
        shown, is_over = 0, False
        while not is_over:
            is_over = ended.wait(_LOOK_SECONDS)
            done = rows_done()
            if done > shown:
                tell(done - shown)
                shown = done

    following = in_thread(follow, "datasets_core-progress")
    try:
        yield
    finally:
        ended.set()
        following.join()
    following.result()


def done_by(at: float | None, work: Callable[[], T]) -> T:
    """Return the result of the work.  Work that never checks the deadline is abandoned after it.

    Args:
        at: the deadline, by `time.monotonic`; None calls the work directly.
        work: runs in a separate thread, in the context of the caller.

    Raises:
        Overdue: the work did not finish in time.

    >>> done_by(time.monotonic() + 60, lambda: files.at_most(5.0))
    5.0
    """
    if at is None:
        return work()
    due = files.Due(at, threading.Event())

    def run() -> T:
        files.due.set(due)
        return work()

    job = in_thread(run, "done_by")
    try:
        if not job.done.wait(max(0.0, at - time.monotonic())):
            raise files.Overdue
    except BaseException:
        due.is_called_off.set()
        raise
    return job.result()


_pools: weakref.WeakSet[Daemons] = weakref.WeakSet()
_waits: weakref.WeakSet[StallTimeout] = weakref.WeakSet()


class Daemons:
    """A pool of threads.

    Args:
        name: name of the threads.
        most: returns the maximum number of threads; called when there is work.
    """

    def __init__(self, name: str, most: Callable[[], int]) -> None:
        self._name, self._most = name, most
        self.forked()
        _pools.add(self)
        renewed_after_fork(self)

    def forked(self) -> None:
        """Reset without threads: those of the parent process do not exist after a fork."""
        self._waiting: deque[Job[Any]] = deque()
        self._changed = threading.Condition()
        self._threads: set[threading.Thread] = set()
        self._num_idle, self._is_closed = 0, False

    def submit(self, work: Callable[[], T]) -> Job[T]:
        """Submit work, which runs after earlier submissions."""
        job = Job(work)
        with self._changed:
            self._waiting.append(job)
            self._is_closed = False
            self._staff()
            self._changed.notify()
        return job

    def leave(self, job: Job[Any]) -> None:
        """Abandon a piece of work and the thread that it blocks; another thread may take its place."""
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)
            if job.thread is not None:
                self._threads.discard(job.thread)
                self._staff()

    def urge(self, job: Job[Any]) -> None:
        """Start waiting work in one more thread, since all others may be blocked."""
        with self._changed:
            if job in self._waiting:
                self._waiting.remove(job)
                self._start(lambda: self._alone(job))

    def close(self, wait_seconds: float = 0.0) -> None:
        """Cancel work that has not started; threads end after their current work.

        Args:
            wait_seconds: total time to wait for them.
        """
        with self._changed:
            self._is_closed = True
            self._waiting.clear()
            self._changed.notify_all()
            threads = [thread for thread in self._threads if thread is not threading.current_thread()]
        end = time.monotonic() + wait_seconds
        for thread in threads:
            if wait_seconds:
                thread.join(max(0.0, end - time.monotonic()))

    def _staff(self) -> None:
        """Start a thread for waiting work, if one more is allowed."""
        if len(self._waiting) > self._num_idle and len(self._threads) < self._most():
            self._start(self._run)

    def _start(self, run: Callable[[], None]) -> None:
        thread = threading.Thread(target=run, name=self._name, daemon=True)
        self._threads.add(thread)
        thread.start()

    def _alone(self, job: Job[Any]) -> None:
        me = job.thread = threading.current_thread()
        if job.begin():
            job.do()
        job.thread = None
        with self._changed:
            self._threads.discard(me)
            self._staff()

    def _run(self) -> None:
        me = threading.current_thread()
        while True:
            with self._changed:
                while not self._waiting and me in self._threads:
                    if self._is_closed or not self._is_awaited():
                        self._threads.discard(me)
                        return
                if me not in self._threads:  # another one has its place
                    return
                job = self._waiting.popleft()
                job.thread = me
            if job.begin():
                job.do()
            job.thread = None
            del job  # and what came of it

    def _is_awaited(self) -> bool:
        """Wait for work; return True if there may be some for this thread."""
        self._num_idle += 1
        is_told = self._changed.wait(_IDLE_SECONDS)
        self._num_idle -= 1
        return is_told or bool(self._waiting)


SHARED = Daemons("datasets_core-ranges", lambda: settings().stream_threads)  # for all ranges of bytes of this process


def _ended() -> None:
    for pool in list(_pools):
        pool.close()
    for stall_timeout in list(_waits):
        stall_timeout.end()
    end = time.monotonic() + _END_SECONDS
    for pool in list(_pools):
        pool.close(max(0.001, end - time.monotonic()))


atexit.register(_ended)


class StallTimeout:
    """Time limit on waiting for bytes: it starts again when bytes arrive.

    Args:
        name: name of the file.
        wanted: number of bytes to wait for.
        seconds: maximum time without bytes; default: the setting `stream_timeout_seconds`.

    >>> stall_timeout = StallTimeout("https://example.org/a", 8, seconds=60)
    >>> stall_timeout.told(8)
    >>> stall_timeout.waited_for(Daemons("example", lambda: 1).submit(lambda: b"the bytes"))
    b'the bytes'
    """

    def __init__(self, name: str, wanted: int, *, seconds: float | None = None) -> None:
        self._name, self._wanted = name, wanted
        self._seconds = settings().stream_timeout_seconds if seconds is None else seconds
        self._came = self._marked = 0
        self._since = self._begun = self._spoken = self._left = time.monotonic()
        self._why = ""
        self._aborts: list[Callable[[], object]] = []
        self.stop = threading.Event()
        _waits.add(self)

    def told(self, count: int) -> None:
        """Record that `count` more bytes arrived.

        Raises:
            StoppedError: the bytes are no longer needed.
        """
        if self.stop.is_set():
            raise StoppedError
        self._came += count
        if self._came >= self._marked + _PROGRESS:
            self._marked, self._since = self._came, time.monotonic()

    def pauses(self, seconds: float, why: str) -> None:
        """Record a pause before a retry, which does not count as waiting."""
        self._since += seconds
        self._why = f" ({why})"

    def on_stop(self, abort: Callable[[], object]) -> None:
        """Register a function that is called if waiting ends before the bytes arrive."""
        self._aborts.append(abort)
        if self.stop.is_set():
            abort()

    def end(self) -> None:
        """Stop waiting."""
        self.stop.set()
        for abort in self._aborts:
            abort()

    def waited_for(self, job: Job[T], pool: Daemons | None = None) -> T:
        """Return the result of a piece of work; a long wait is logged.

        Args:
            job: the work; it reports its bytes to this object.
            pool: the threads that run it.

        Raises:
            DownloadError: almost no bytes arrived for too long.
        """
        asked = queued = time.monotonic()
        self._begun += asked - self._left
        self._leave_out(self._left, asked)
        try:
            while not job.done.wait(self._until_next_look()):
                files.check()
                now = time.monotonic()
                queued = self._leave_out(queued, job.begun_at if job.is_begun else now)  # those before it are waited for
                if not job.is_begun and pool is not None and now >= asked + self._seconds:
                    pool.urge(job)
                self._look()
            return job.result()
        finally:
            self._left = time.monotonic()
            if not job.done.is_set():
                self.end()
                if pool is not None:
                    pool.leave(job)

    def _leave_out(self, start: float, stop: float) -> float:
        """Do not count a period as silence of the server, since no reader waited or no request was sent; return its end."""
        if stop <= start:
            return start
        self._since = self._since + stop - start if self._since <= start else max(self._since, stop)
        return stop

    def _until_next_look(self) -> float:
        now = time.monotonic()
        return max(0.001, files.at_most(min(self._since + self._seconds, self._spoken + _LOG_SECONDS) - now))

    def _look(self) -> None:
        now = time.monotonic()
        if now >= self._since + self._seconds:
            reason = f"{self._came:,} of {self._wanted:,} bytes arrived in {now - self._begun:.0f} seconds{self._why}"
            advice = "Run again, or raise stream_timeout_seconds with datasets_core.config.using"
            raise DownloadError(self._name, reason, advice=advice)
        if now >= self._spoken + _LOG_SECONDS:
            self._spoken = now
            if now >= self._since + _LOG_SECONDS:
                logger.warning(
                    "Waiting for %s: %s of %s bytes arrived in %.0f seconds%s.",
                    self._name,
                    f"{self._came:,}",
                    f"{self._wanted:,}",
                    now - self._begun,
                    self._why,
                )


# Several files at the same time: threads, one line of progress for all of them, and one failure that cancels the others
# off.


R = TypeVar("R")


class CalledOffError(DownloadError):
    """A piece of work that was stopped because another one failed."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Receives progress, and can cancel the downloads."""

    on_bytes: Callable[[int], object] = field(default=lambda count: None)
    stop: threading.Event = field(default_factory=threading.Event)

    def told(self, count: int) -> None:
        """Report `count` more bytes (fewer, if negative).

        Raises:
            CalledOffError: another piece of work failed.
        """
        if self.stop.is_set():
            raise CalledOffError("download", "cancelled because another one failed", advice="See the other error")
        files.check()
        self.on_bytes(count)


@contextmanager
def stage(name: str, *, total: int | None, is_shown: bool) -> Iterator[Watch]:
    """A progress line in bytes, updated by several threads."""
    if not is_shown:
        yield Watch()
        return
    lock = threading.Lock()
    with progress(name, total=total, unit="B") as bar:

        def told(count: int) -> None:
            with lock:
                bar.update(count)

        yield Watch(told)


def each(function: Callable[[str], R], items: Sequence[str], watch: Watch, *, threads: int) -> list[R]:
    """Return the results in the order of `items`; the first failure cancels the others and is raised.

    Raises:
        ConfigurationError: `threads` is less than 1.
    """
    from datasets_core.engines.pool import ThreadEngine  # 3 ms that one download does without

    if threads < 1:
        raise ConfigurationError(f"num_proc is {threads}", advice="Give 1 or more, or None")
    if len(items) <= 1 or threads == 1:
        return [function(item) for item in items]
    results = ThreadEngine(threads).run(function, items, stop=watch.stop)
    return [result for _, result in sorted(results, key=lambda pair: pair[0])]


# Tries again: how many, and the pauses between them, as the policy and the servers say.


_FIRST_PAUSE_SECONDS = 0.5
_SPREAD = 0.1  # of a pause required by a server: clients resume at different times


class Clock(Protocol):
    """A clock in seconds since the epoch that can sleep; see `SystemClock`."""

    def now(self) -> float: ...

    def sleep(self, seconds: float, stop: threading.Event | None = None, /) -> None: ...


class SystemClock:
    """The system clock."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float, stop: threading.Event | None = None, /) -> None:
        """Sleep, or return early if `stop` is set."""
        (stop or threading.Event()).wait(seconds)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Number of tries, and the pauses between them.

    Attributes:
        tries: number of tries, including the first.
        longest_pause_seconds: limit of a pause in seconds, also for pauses required by a server.
        clock: the clock.
        jitter: source of random numbers for pauses.
    """

    tries: int = 5
    longest_pause_seconds: float = 60.0
    clock: Clock = field(default_factory=SystemClock)
    jitter: random.Random = field(default_factory=random.Random)

    def seconds(self, failures: int, retry_after: str | None = None, *, within: float | None = None) -> float:
        """Return the pause after the `failures`-th failure: that of the server, else doubled each time, with jitter.

        Args:
            failures: number of failures.
            retry_after: the `Retry-After` header.
            within: limit in seconds.
        """
        asked = retry_after_seconds(retry_after, self.clock.now())
        if asked is None:
            asked = _FIRST_PAUSE_SECONDS * 2 ** (failures - 1) * self.jitter.uniform(0.5, 1.5)
        longest = self.longest_pause_seconds if within is None else max(0.0, min(within, self.longest_pause_seconds))
        return min(asked, longest)

    def wait(self, seconds: float, stop: threading.Event | None = None) -> None:
        """Sleep for some seconds, but not past the deadline of the work; `stop` ends the pause."""
        self.clock.sleep(files.at_most(seconds), stop)
        files.check()


def pause_asked(headers: Mapping[str, str]) -> str | None:
    """Return the pause required by a busy server, in the form of `Retry-After`; `ratelimit` is the header of the Hub.

    Args:
        headers: headers of the response, by lower-case names.

    >>> pause_asked({"ratelimit": '"api";r=0;t=55'}), pause_asked({"retry-after": "3", "ratelimit": '"api";r=9;t=55'})
    ('55', '3')
    >>> pause_asked({"retry-after": "3", "ratelimit": '"api";r=0;t=55'})
    '55'
    """
    found = re.search(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)", headers.get("ratelimit") or "")
    return found[1] if found else headers.get("retry-after") or None


def retry_after_seconds(header: str | None, now: float) -> float | None:
    """Return the seconds of a `Retry-After` header, a number or a date; None if it is neither.

    >>> retry_after_seconds("120", 0.0), retry_after_seconds("Thu, 01 Jan 1970 00:01:00 GMT", 0.0)
    (120.0, 60.0)
    """
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(text)
    from email.utils import parsedate_to_datetime  # 3 ms; few servers say when

    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)


class HostPauses:
    """The times until which servers required pauses, shared by all users of the same connections.

    >>> pauses = HostPauses()
    >>> pauses.seconds("https://example.org", RetryPolicy())
    0.0
    """

    def __init__(self) -> None:
        self._until: dict[object, float] = {}
        self._asked: dict[object, float] = {}  # times until which they required pauses, without a limit
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Create new locks after a fork."""
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[HostPauses], tuple[()]]:
        return HostPauses, ()

    def put_off(self, host: object, retry_after: str | None, policy: RetryPolicy) -> None:
        """Record the pause that a server requires.

        Args:
            host: the server.
            retry_after: the `Retry-After` header of the server; None if absent.
            policy: the clock, and the longest pause to keep.
        """
        asked = retry_after_seconds(retry_after, policy.clock.now())
        if not asked:
            return
        until = policy.clock.now() + min(asked, policy.longest_pause_seconds)
        with self._lock:
            self._until[host] = max(until, self._until.get(host, 0.0))
            self._asked[host] = max(policy.clock.now() + asked, self._asked.get(host, 0.0))

    def asked(self, host: object, policy: RetryPolicy) -> float:
        """Return the remaining pause that a server requires, even if it exceeds the longest pause."""
        with self._lock:
            return max(0.0, self._asked.get(host, 0.0) - policy.clock.now())

    def seconds(self, host: object, policy: RetryPolicy) -> float:
        """Return the remaining pause to keep for a server, with some jitter added."""
        with self._lock:
            left = self._until.get(host, 0.0) - policy.clock.now()
        return left * (1 + policy.jitter.uniform(0.0, _SPREAD)) if left > 0 else 0.0

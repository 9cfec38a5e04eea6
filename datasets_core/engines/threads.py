"""`Daemons`: threads; `CallWindow`: calls made ahead of their use; `RetryPolicy`: pauses between tries.

The threads are created when there is work, belong to one process (a fork creates its own), end when they are idle, and do not
keep a process from ending.
"""

from __future__ import annotations

import atexit
import heapq
import itertools
import os
import random
import re
import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC
from queue import Empty, SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DownloadError
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


T = TypeVar("T")
R = TypeVar("R")

_IDLE_SECONDS = 2.0
_END_SECONDS = 1.0  # for all threads together, when the process ends
_WAIT_SECONDS = 1.0  # between two looks at the deadline


class Job(Future[T]):
    """A piece of work: waiting, running, done or cancelled.

    Args:
        work: the function, called in the context of the thread that creates the job.

    Attributes:
        begun_at: the time at which it began, by `time.monotonic`; None while it waits.
        thread: the thread that runs it.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__()
        self._work: Callable[[], T] | None = work
        self._context = copy_context()
        self.begun_at: float | None = None
        self.thread: threading.Thread | None = None

    def do(self) -> None:
        """Run the work, unless it was cancelled; called by the thread that took it."""
        work, self._work = self._work, None
        if work is None or not self.set_running_or_notify_cancel():
            return
        self.begun_at = time.monotonic()
        try:
            found = self._context.run(work)
        except BaseException as error:  # raised where it is waited for
            self.set_exception(error)
            del self  # or the trace-back would hold it
        else:
            self.set_result(found)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait a limited time for the end of the work; return True if it has ended."""
        with suppress(TimeoutError, CancelledError):
            self.exception(seconds)
        return self.done()

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
        if not job.wait(max(0.0, at - time.monotonic())):
            raise files.Overdue
    except BaseException:
        due.is_called_off.set()
        raise
    return job.result()


_pools: weakref.WeakSet[Daemons] = weakref.WeakSet()


class Daemons:
    """A pool of threads, which the first work starts.

    The garbage collector may close it at any point, so that its lock is reentrant.

    Args:
        name: name of the threads.
        most: returns the maximum number of threads; called when there is work.
        lasts: True for threads that wait for work until the pool is closed; others end when they are idle.
    """

    def __init__(self, name: str, most: Callable[[], int], *, lasts: bool = False) -> None:
        self._name, self._most, self._lasts = name, most, lasts
        self.forked()
        _pools.add(self)
        renewed_after_fork(self)

    def forked(self) -> None:
        """Reset without threads: those of the parent process do not exist after a fork."""
        self._waiting: list[tuple[int, int, Job[Any]]] = []
        self._order = itertools.count()
        self._lock = threading.RLock()
        self._signals: SimpleQueue[None] = SimpleQueue()  # one for each piece of work; a condition is twice as slow
        self._threads: set[threading.Thread] = set()
        self._num_idle, self._is_closed = 0, False

    def submit(self, work: Callable[[], T], priority: int = 0) -> Job[T]:
        """Submit work, which runs before waiting work with a higher number, and after earlier work with the same one."""
        job = Job(work)
        with self._lock:
            heapq.heappush(self._waiting, (priority, next(self._order), job))
            self._is_closed = False
            self._staff()
        self._signals.put(None)
        return job

    def leave(self, job: Job[Any]) -> None:
        """Abandon a piece of work and the thread that it blocks; another thread may take its place."""
        with self._lock:
            self._unqueue(job)
            if job.thread is not None:
                self._threads.discard(job.thread)
                self._staff()

    def urge(self, job: Job[Any]) -> None:
        """Start waiting work in one more thread, since all others may be blocked."""
        with self._lock:
            if self._unqueue(job):
                self._start(lambda: self._do(job))

    def close(self, wait_seconds: float | None = 0.0) -> None:
        """Cancel work that has not started; threads end after their current work.

        Args:
            wait_seconds: total time to wait for them; None for no limit.
        """
        with self._lock:
            self._is_closed = True
            self._waiting.clear()
            for _ in self._threads:
                self._signals.put(None)
            threads = [thread for thread in self._threads if thread is not threading.current_thread()]
        end = None if wait_seconds is None else time.monotonic() + wait_seconds
        for thread in threads if wait_seconds != 0 else ():
            thread.join(None if end is None else max(0.0, end - time.monotonic()))

    def _unqueue(self, job: Job[Any]) -> bool:
        kept = [each for each in self._waiting if each[2] is not job]
        is_found = len(kept) < len(self._waiting)
        heapq.heapify(kept)
        self._waiting = kept
        return is_found

    def _staff(self) -> None:
        """Start a thread for waiting work, if one more is allowed."""
        if len(self._waiting) > self._num_idle and len(self._threads) < self._most():
            self._start(self._run)

    def _start(self, run: Callable[[], None]) -> None:
        def life() -> None:
            try:
                run()
            finally:
                with self._lock:
                    self._threads.discard(thread)
                    self._staff()

        thread = threading.Thread(target=life, name=self._name, daemon=True)
        self._threads.add(thread)
        thread.start()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            self._do(job)
            del job  # and what came of it

    @staticmethod
    def _do(job: Job[Any]) -> None:
        job.thread = threading.current_thread()
        job.do()
        job.thread = None

    def _next(self) -> Job[Any] | None:
        """Wait for work of this thread; return None if the thread has to end."""
        me = threading.current_thread()
        while True:
            with self._lock:
                if me not in self._threads or (self._is_closed and not self._waiting):  # or another one has its place
                    return None
                self._num_idle += 1
            try:
                self._signals.get(timeout=None if self._lasts else _IDLE_SECONDS)
                is_over = False
            except Empty:
                is_over = True
            with self._lock:
                self._num_idle -= 1
                if self._waiting and me in self._threads:
                    job = heapq.heappop(self._waiting)[2]
                    job.thread = me
                    return job
                if is_over:
                    self._threads.discard(me)
                    return None


SHARED = Daemons("datasets_core-ranges", lambda: settings().stream_threads)  # for all ranges of bytes of this process


class Endable(Protocol):
    """An object that waits for something."""

    def end(self) -> None:
        """Stop waiting."""
        ...


_waits: weakref.WeakSet[Endable] = weakref.WeakSet()


def ended_at_exit(thing: Endable) -> None:
    """Call `thing.end()` when the process ends, if `thing` still exists."""
    _waits.add(thing)


@atexit.register
def _ended() -> None:
    """End all threads, and the processes of those that have some, before libraries are unloaded."""
    for pool in list(_pools):
        pool.close()
    for waiting in list(_waits):
        waiting.end()
    end = time.monotonic() + _END_SECONDS
    for pool in list(_pools):
        pool.close(max(0.001, end - time.monotonic()))


# `CallWindow`: calls that are made ahead of the use of their results.


@dataclass(slots=True)
class _Item(Generic[T]):
    weight: int
    call: Callable[[], T]
    future: Future[T] | None = None


class CallWindow(Generic[T]):
    """Calls in the order in which their results are taken; workers make as many of them ahead as a budget allows.

    A run of an engine, the read-ahead of a stream and a queue of `slim` are windows. Only one thread uses a window.

    Args:
        submit: starts a call in a worker, see `Daemons.submit`.
        budget: limit of the weights of calls that are under way, or made and not taken; one call is always allowed.

    >>> window = CallWindow(Daemons("example", lambda: 2).submit, 1_000)
    >>> window.want((n, 100, lambda n=n: n * n) for n in range(5))
    >>> [window.take(n) for n in (0, 1, 4)]
    [0, 1, 16]
    >>> window.close()
    """

    def __init__(self, submit: Callable[[Callable[[], T], int], Future[T]], budget: int) -> None:
        self._submit, self._budget = submit, budget
        self._lock = threading.RLock()
        self._items: dict[Hashable, _Item[T]] = {}  # in the order of their use
        self._num_unsent = 0  # of them
        self._left: list[_Item[T]] = []  # under way, and wanted no more

    def __len__(self) -> int:
        return len(self._items)

    @property
    def keys(self) -> list[Hashable]:
        """The keys of the calls whose results were not taken, in order."""
        return list(self._items)

    def want(self, items: Iterable[tuple[Hashable, int, Callable[[], T]]]) -> None:
        """Set the calls whose results are taken next, in order; earlier calls that are not among them are dropped.

        Args:
            items: for each call its key, its weight, and the function.
        """
        with self._lock:
            before, self._items = self._items, {}
            for key, weight, call in items:
                self._items[key] = before.pop(key) if key in before else _Item(weight, call)
            for item in before.values():
                if item.future is not None and not item.future.cancel() and not item.future.done():
                    self._left.append(item)
            self._num_unsent = sum(item.future is None for item in self._items.values())
            self._fill()

    def add(self, key: Hashable, weight: int, call: Callable[[], T]) -> None:
        """Add a call after the others; see `want`."""
        with self._lock:
            self._items[key] = _Item(weight, call)
            self._num_unsent += 1
            self._fill()

    def take(self, key: Hashable, call: Callable[[], T] | None = None) -> T:
        """Return the result of a call and remove it; the call is made in this thread if no worker has begun it.

        Args:
            key: the key of the call.
            call: the function, if the key is not wanted.

        Raises:
            KeyError: the key is not wanted, and `call` is None.
            Exception: the error of the call; it is made again by a later `take` with a function.
        """
        with self._lock:
            item = self._items.pop(key, None)
            if item is None and call is None:
                raise KeyError(key)
            future = None if item is None else item.future
            self._num_unsent -= item is not None and future is None
            is_made = future is not None and future.done()
            if future is not None and not is_made and future.cancel():
                future = None
            self._fill(taken=None if is_made or future is None else item)
        if future is None:
            own = call if item is None else item.call
            assert own is not None
            return own()
        while not is_made:
            is_made = bool(wait((future,), _WAIT_SECONDS).done)
            files.check()
        return future.result()

    def ready(self, *, ordered: bool) -> Hashable | None:
        """Return the key of a call that is made, of the first one if `ordered`; None if there is none."""
        for key, item in self._items.items():
            if item.future is not None and item.future.done():
                return key
            if ordered:
                break
        return None

    def wait(self, seconds: float, *, ordered: bool) -> None:
        """Wait a limited time until a call may be `ready`."""
        futures = [item.future for item in self._items.values() if item.future is not None]
        wait(futures[:1] if ordered else futures, seconds, FIRST_COMPLETED)

    def close(self) -> None:
        """Drop everything; workers end their current calls."""
        self.want(())

    def forked(self) -> None:
        """Reset after a fork: the workers belong to the parent process, and all calls are made again."""
        self._lock, self._left, self._num_unsent = threading.RLock(), [], len(self._items)
        for item in self._items.values():
            item.future = None

    def _fill(self, *, taken: _Item[T] | None = None) -> None:
        """Start as many calls as the budget allows, in order.

        Args:
            taken: the call being waited for, whose weight still counts.
        """
        if not self._num_unsent:
            return
        self._left = [item for item in self._left if item.future is not None and not item.future.done()]
        used = sum(item.weight for item in self._left) + (taken.weight if taken is not None else 0)
        is_first = taken is None
        for place, item in enumerate(self._items.values()):
            if item.future is None and not is_first and used + item.weight > self._budget:
                break
            used += item.weight
            is_first = False
            if item.future is None:
                item.future = self._submit(item.call, place)
                self._num_unsent -= 1


# Several files at the same time: threads, one line of progress for all of them, and one failure that cancels the others
# off.


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

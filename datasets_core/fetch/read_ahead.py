"""`ReadAhead`: what is read soon is fetched in threads meanwhile, in the order of its use and within a budget of bytes."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from datasets_core import due
from datasets_core.config import settings
from datasets_core.fetch.after_fork import renewed_after_fork
from datasets_core.fetch.daemons import Daemons, Job

T = TypeVar("T")

_LOOK_SECONDS = 1.0


@dataclass(slots=True)
class _Item(Generic[T]):
    num_bytes: int
    fetch: Callable[[], T]
    job: Job[T] | None = None


class ReadAhead(Generic[T]):
    """Things that are fetched before they are taken; to be used by one thread.

    A process that is forked from this one begins with the same list, and with none of it fetched.

    Args:
        budget_bytes: how much may be fetched, or under way, and not taken; one thing may always be.  By default the setting
            `stream_memory_bytes`.
        threads: how many things are fetched at the same time; by default the setting `stream_threads`.

    >>> ahead = ReadAhead(1_000, threads=2)
    >>> ahead.want((n, 100, lambda n=n: n * n) for n in range(5))
    >>> [ahead.take(n) for n in (0, 1, 4)]
    [0, 1, 16]
    >>> ahead.close()
    """

    def __init__(self, budget_bytes: int | None = None, threads: int | None = None) -> None:
        self._budget = settings().stream_memory_bytes if budget_bytes is None else budget_bytes
        self._most = settings().stream_threads if threads is None else threads
        most = self._most
        self._pool = Daemons("datasets_core-ahead", lambda: most)
        self._lock = threading.RLock()
        self._items: dict[Hashable, _Item[T]] = {}  # in the order of their use
        self._left: list[_Item[T]] = []  # under way, and wanted no more
        weakref.finalize(self, self._pool.close)
        renewed_after_fork(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return ReadAhead, (self._budget, self._most)

    def want(self, items: Iterable[tuple[Hashable, int, Callable[[], T]]]) -> None:
        """Say what is taken next, in order; what was wanted before and is not among it is dropped.

        Args:
            items: for each thing its key, about how many bytes it takes, and what fetches it, which runs in a thread.
        """
        with self._lock:
            before, self._items = self._items, {}
            for key, num_bytes, fetch in items:
                self._items[key] = before.pop(key) if key in before else _Item(num_bytes, fetch)
            for item in before.values():
                self._drop(item)
            self._fill()

    def take(self, key: Hashable, fetch: Callable[[], T] | None = None) -> T:
        """One of the things that are wanted, which is wanted no more; where it is not under way it is fetched here.

        Args:
            key: which.
            fetch: fetches it, where it is not among what is wanted.

        Raises:
            KeyError: it is not, and nothing is told that fetches it.
            Exception: what its fetching raised; taken again, it is fetched again, by `fetch`.
        """
        with self._lock:
            item = self._items.pop(key, None)
            if item is None and fetch is None:
                raise KeyError(key)
            job = None if item is None else item.job
            if job is not None and job.begin():  # it waits for a thread
                self._pool.leave(job)
                job = None
            self._fill(taken=item if job is not None and not job.done.is_set() else None)
        if job is None:
            own = fetch if item is None else item.fetch
            assert own is not None
            return own()
        while not job.done.wait(_LOOK_SECONDS):
            due.check()
        return job.result()

    @property
    def keys(self) -> list[Hashable]:
        """What is wanted and was not taken, in order."""
        return list(self._items)

    def close(self) -> None:
        """Drop everything; the threads go when they have done what they do.  It may be used again."""
        self.want(())
        self._pool.close()

    def forked(self) -> None:
        """Have nothing under way: the threads are those of the process that this one was forked from."""
        self._lock, self._left = threading.RLock(), []
        for item in self._items.values():
            item.job = None

    def _drop(self, item: _Item[T]) -> None:
        """Call off what is wanted no more, or let it end."""
        if item.job is None:
            return
        if item.job.begin():
            self._pool.leave(item.job)
        elif not item.job.done.is_set():
            self._left.append(item)

    def _fill(self, *, taken: _Item[T] | None = None) -> None:
        """Begin with as much as there is room for, in order.

        Args:
            taken: is waited for, so that its bytes are in use still.
        """
        self._left = [item for item in self._left if item.job is not None and not item.job.done.is_set()]
        used = sum(item.num_bytes for item in self._left) + (taken.num_bytes if taken is not None else 0)
        is_first = taken is None
        for item in self._items.values():
            if item.job is None and not is_first and used + item.num_bytes > self._budget:
                break
            used += item.num_bytes
            is_first = False
            if item.job is None:
                item.job = self._pool.submit(item.fetch)

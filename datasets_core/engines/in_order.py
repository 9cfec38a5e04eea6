"""Jobs of a pool of workers, some of which are done ahead, and all of which come in order."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from functools import partial
from typing import TypeVar

from datasets_core.engines.worker_pool import WorkerPool

logger = logging.getLogger(__name__)

T = TypeVar("T")
R = TypeVar("R")

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


def ahead_of(pool: WorkerPool | None, lanes: int) -> int:
    """How many pieces each of so many lanes has in work.

    >>> ahead_of(WorkerPool(4), 1), ahead_of(WorkerPool(4), 48)
    (8, 2)
    """
    return 0 if pool is None else max(2, -(-2 * pool.count // lanes))

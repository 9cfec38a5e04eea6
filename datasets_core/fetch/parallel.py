"""Several files at the same time: threads, one line of progress for all of them, and one failure that calls the others off."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TypeVar

from datasets_core import due
from datasets_core.errors import ConfigurationError, DownloadError
from datasets_core.progress import progress

R = TypeVar("R")


class CalledOffError(DownloadError):
    """A piece of work that was stopped because another one failed."""


@dataclass(frozen=True, slots=True)
class Watch:
    """Who is told of progress, and who may call it off."""

    on_bytes: Callable[[int], object] = field(default=lambda count: None)
    stop: threading.Event = field(default_factory=threading.Event)

    def told(self, count: int) -> None:
        """`count` more bytes (fewer, if negative).

        Raises:
            CalledOffError: another piece of work failed.
        """
        if self.stop.is_set():
            raise CalledOffError("download", "called off, because another one failed", advice="See the other error")
        due.check()
        self.on_bytes(count)


@contextmanager
def stage(name: str, *, total: int | None, is_shown: bool) -> Iterator[Watch]:
    """One line of progress, in bytes, that several threads may tell."""
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
    """The results in the order of `items`; the first failure calls the others off and is raised.

    Raises:
        ConfigurationError: `threads` is less than 1.
    """
    if threads < 1:
        raise ConfigurationError(f"num_proc is {threads}. Give 1 or more, or None.")
    if len(items) <= 1 or threads == 1:
        return [function(item) for item in items]
    with ThreadPoolExecutor(min(threads, len(items)), thread_name_prefix="fetch") as pool:
        futures = [pool.submit(copy_context().run, function, item) for item in items]
        try:
            return _results(futures)
        finally:
            watch.stop.set()  # nothing is left to do, or nothing is wanted any more
            pool.shutdown(wait=True, cancel_futures=True)


def _results(futures: Sequence[Future[R]]) -> list[R]:
    done, _ = wait(futures, return_when=FIRST_EXCEPTION)
    failed = [future for future in futures if future in done and future.exception() is not None]
    causes = [future for future in failed if not isinstance(future.exception(), CalledOffError)]
    for future in [*causes, *failed]:
        future.result()
    return [future.result() for future in futures]

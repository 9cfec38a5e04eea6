"""`done_by`: work that ends when its time is over, wherever it waits: for bytes, for a lock, for the next try."""

from __future__ import annotations

import contextvars
import dataclasses
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Overdue(BaseException):
    """The time of the work is over; nothing that tries again may take it for an error of the work."""


@dataclasses.dataclass(frozen=True)
class _Due:
    at: float
    is_called_off: threading.Event


_due: contextvars.ContextVar[_Due | None] = contextvars.ContextVar("datasets_core_due", default=None)


def check() -> None:
    """To be called by work now and then.

    Raises:
        Overdue: its time is over, or nobody waits for it any more.
    """
    due = _due.get()
    if due is not None and (due.is_called_off.is_set() or time.monotonic() >= due.at):
        raise Overdue


def at_most(seconds: float) -> float:
    """So many seconds, or what is left of the time where that is less.

    >>> at_most(5.0)
    5.0
    """
    due = _due.get()
    return seconds if due is None else max(0.0, min(seconds, due.at - time.monotonic()))


def done_by(at: float | None, work: Callable[[], T]) -> T:
    """What the work returns.  Work that never looks at the time is left to itself when that is over.

    Args:
        at: by `time.monotonic`; None just calls it.
        work: runs in a thread of its own, in the context of the caller.

    Raises:
        Overdue: it was not done in time.

    >>> done_by(time.monotonic() + 60, lambda: at_most(5.0))
    5.0
    """
    if at is None:
        return work()
    due, context, found = _Due(at, threading.Event()), contextvars.copy_context(), list[Any]()

    def run() -> None:
        _due.set(due)
        try:
            found.extend((work(), None))
        except BaseException as error:  # raised where it is waited for
            found.extend((None, error))

    thread = threading.Thread(target=context.run, args=(run,), name="done_by", daemon=True)
    thread.start()
    try:
        thread.join(max(0.0, at - time.monotonic()))
    finally:
        if thread.is_alive():
            due.is_called_off.set()
    if not found:
        raise Overdue
    if found[1] is not None:
        raise found[1]
    return found[0]  # type: ignore[no-any-return]

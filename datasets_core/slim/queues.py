"""`QueueRunners`: a block of code at whose end whatever reads ahead in it is ended."""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import Any, Protocol, Self

from datasets_core.errors import NestedQueueRunnerError as NestedQueueRunnerError


class Runner(Protocol):
    """What has threads, and can be closed."""

    def close(self) -> None:
        """End them."""
        ...


class QueueRunners:
    """Ends the threads of all providers, parallel readers and prefetch queues that are made in its block.

    Their threads begin when something is asked for, so that nothing has to be started.

    Args:
        runners: others that are to be closed at the end; a session of TensorFlow, which older code gives, has no effect.

    Raises:
        NestedQueueRunnerError: (when entered) another one is open.

    >>> from datasets_core import slim
    >>> with slim.QueueRunners():
    ...     queue = slim.prefetch_queue([1, 2, 3])
    ...     queue.dequeue()
    1
    >>> queue.is_closed
    True
    """

    def __init__(self, *runners: Any) -> None:
        self._given = runners
        self._made: list[weakref.ref[Any]] = []

    def __enter__(self) -> Self:
        if _open:
            raise NestedQueueRunnerError
        _open.append(self)
        return self

    def add(self, runner: Runner) -> None:
        """Have something closed at the end of the block."""
        self._made.append(weakref.ref(runner))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        _open.remove(self)
        for runner in (*self._given, *(made() for made in reversed(self._made))):
            close = getattr(runner, "close", None)
            if close is not None:
                close()


_open: list[QueueRunners] = []


def register(runner: Runner) -> None:
    """Tell the block that is open, if one is, of something that was made in it.

    Args:
        runner: what has threads.
    """
    for block in _open:
        block.add(runner)

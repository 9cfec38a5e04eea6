"""`QueueRunners`: a block of code at whose end whatever reads ahead in it is ended."""

from __future__ import annotations

import weakref
from contextlib import ExitStack
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Protocol, Self

from datasets_core.errors import NestedQueueRunnerError as NestedQueueRunnerError


class Runner(Protocol):
    """What has threads, and can be closed."""

    def close(self) -> None:
        """End them."""
        ...


class QueueRunners:
    """Ends the threads of all providers, parallel readers and prefetch queues that are made in its block, by the thread
    that entered it; other threads have blocks of their own.

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
        self._is_open = False

    @staticmethod
    def current() -> QueueRunners | None:
        """The block that the running code is in."""
        block = _entered.get()
        return block if block is not None and block._is_open else None

    def __enter__(self) -> Self:
        if self._is_open or self.current() is not None:
            raise NestedQueueRunnerError
        self._is_open = True
        _entered.set(self)
        return self

    def add(self, runner: Runner) -> None:
        """Have something closed at the end of the block."""
        self._made.append(weakref.ref(runner))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self._is_open = False
        with ExitStack() as ends:  # all of them, whichever fail; what was made last before what it reads from
            for runner in (*(made() for made in self._made), *reversed(self._given)):
                close = getattr(runner, "close", None)
                if close is not None:
                    ends.callback(close)


_entered: ContextVar[QueueRunners | None] = ContextVar("QueueRunners", default=None)


def register(runner: Runner) -> None:
    """Tell the block that is open, if one is, of something that was made in it.

    Args:
        runner: what has threads.
    """
    block = QueueRunners.current()
    if block is not None:
        block.add(runner)

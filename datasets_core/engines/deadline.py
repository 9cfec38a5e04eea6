"""`Deadline`: the time by which code that may hang must finish, and the timer that stops it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from datasets_core.errors import ConfigurationError

if TYPE_CHECKING:
    from random import Random

T = TypeVar("T")

_AGAIN_SECONDS = 0.05  # code that catches everything is asked again so often
_SOON_SECONDS = (1e-6, 2e-4)
_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

Place = tuple[str, int]
"""A file and a line in it."""


class Deadline(NamedTuple):
    """The time by which work must be finished.

    Attributes:
        seconds: the time limit, for messages.
        at: the time at which it ends, by `time.monotonic()` of this machine.

    >>> Deadline.of(None) is None, Deadline.of(60).seconds, Deadline.of(60).remaining > 59
    (True, 60.0, True)
    """

    seconds: float
    at: float

    @classmethod
    def of(cls, timeout: float | Deadline | None) -> Deadline | None:
        """Return a deadline this many seconds from now; a deadline, or None (no limit), is returned unchanged.

        Raises:
            ConfigurationError: the number of seconds is not above zero.
        """
        if timeout is None or isinstance(timeout, Deadline):
            return timeout
        try:
            seconds = -1.0 if isinstance(timeout, (bool, str)) else float(timeout)
        except (TypeError, ValueError):
            seconds = -1.0
        if not 0 < seconds < threading.TIMEOUT_MAX:
            raise ConfigurationError(
                f"timeout is {timeout!r}", advice="Give a number of seconds above 0, or None for no limit", value=timeout
            )
        return cls(seconds, time.monotonic() + seconds)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the remaining time, since another machine has another clock."""
        return _received, (self.seconds, self.remaining)

    @property
    def remaining(self) -> float:
        """Seconds left; 0 after the deadline."""
        return max(0.0, self.at - time.monotonic())


def _received(seconds: float, remaining: float) -> Deadline:
    return Deadline(seconds, time.monotonic() + remaining)


class TimeUp(BaseException):
    """Raised in code whose deadline has passed; `except Exception` in the author's code does not catch it.

    Args:
        places: where the code was, from the inside out.
    """

    def __init__(self, places: tuple[Place, ...]) -> None:
        super().__init__(places)
        self.places = places


def can_stop() -> bool:
    """Return True if code that hangs in the current thread can be stopped: only in the main thread, which receives signals."""
    return hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()


def stopped_at(deadline: Deadline, work: Callable[[], T], *, doing: str) -> T:
    """Return the result of `work`, which is interrupted if the deadline passes first.

    The timer is that of the system (`SIGALRM`). The earlier handler is restored.

    Args:
        deadline: the deadline.
        work: the code that may hang. It is not interrupted within a C function that never checks for signals.
        doing: description of the work, for messages of this function.

    Raises:
        TimeUp: `work` was interrupted, even if it caught that and returned.
        ConfigurationError: this thread cannot be interrupted, or another timer of the process is already running.
    """
    timer = _Timer(deadline)
    timer.begin(doing)
    try:
        try:
            made = work()
        finally:
            timer.end()
    except TimeUp:
        timer.end()
        raise
    if timer.places is not None:
        raise TimeUp(timer.places)
    return made


class _Timer:
    """The system's interval timer, set to a deadline."""

    def __init__(self, deadline: Deadline) -> None:
        self.deadline = deadline
        self.places: tuple[Place, ...] | None = None
        self._runs = False
        self._before: Any = None
        self._outer: _Timer | None = None

    def begin(self, doing: str) -> None:
        """Set the timer, unless that of an outer call expires first."""
        if not can_stop():
            raise ConfigurationError(
                f"timeout= cannot stop a script that hangs while {doing} outside the main thread",
                advice=(
                    "Call this in the main thread, remove timeout=, or run the script confined (trust_remote_code='sandbox')"
                ),
            )
        if not self.deadline.remaining:
            raise TimeUp(())
        handler = signal.getsignal(signal.SIGALRM)
        self._outer = owner if isinstance(owner := getattr(handler, "__self__", None), _Timer) else None
        if self._outer is None and signal.getitimer(signal.ITIMER_REAL)[0]:
            raise ConfigurationError(
                "timeout= uses the SIGALRM timer, which other code in this process (for example a test runner with a time "
                "limit) already uses",
                advice="Disable one of the two, or run the script confined (trust_remote_code='sandbox')",
            )
        if self._outer is not None and self._outer.deadline.at <= self.deadline.at:
            return
        _installed()  # here and now, with the next: the handler may interrupt an import, and must begin none
        _random()
        self._runs, self._before = True, signal.signal(signal.SIGALRM, self._ring)
        signal.setitimer(signal.ITIMER_REAL, max(self.deadline.remaining, 1e-6), _AGAIN_SECONDS)

    def end(self) -> None:
        """Stop the timer, and restore the earlier one."""
        if not self._runs:
            return
        self._runs = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._before if self._before is not None else signal.SIG_DFL)
        if self._outer is not None:
            signal.setitimer(signal.ITIMER_REAL, max(self._outer.deadline.remaining, 1e-6), _AGAIN_SECONDS)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if not self._runs:
            return
        if self.places is None:
            self.places = _places(frame)
        elif _tidies_up(frame):
            return
        else:  # caught: `while True: try … except: pass` is left only between two rounds, so ask at another moment each time
            signal.setitimer(signal.ITIMER_REAL, _random().uniform(*_SOON_SECONDS), _AGAIN_SECONDS)
        raise TimeUp(self.places)


def _places(frame: FrameType | None) -> tuple[Place, ...]:
    found: list[Place] = []
    while frame is not None:
        found.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(found)


def _tidies_up(frame: FrameType | None) -> bool:
    """Return True if the running code belongs to the library, or was called by it, since its cleanup must not be interrupted
    again.
    """
    while frame is not None:
        path = frame.f_code.co_filename
        if path.startswith(_LIBRARY):
            return True
        if not path.startswith(("<frozen", *_installed())):
            return False
        frame = frame.f_back
    return True


@cache
def _installed() -> tuple[str, ...]:
    """Return the folders of Python's own modules and of installed packages; this takes 2 ms, spent only with a time limit."""
    import sysconfig

    return tuple({sysconfig.get_path(kind) + os.sep for kind in ("stdlib", "platstdlib", "purelib", "platlib")})


@cache
def _random() -> Random:
    from random import Random  # 0.5 ms likewise

    return Random()


# The engine that runs one job after the other, in the calling thread.


R = TypeVar("R")

RETRIES = 3
"""Number of times that a job is run again if its worker died."""


class SerialEngine:
    """Runs one job after the other in this thread."""

    shares_memory: ClassVar[bool] = True

    def __init__(self, workers: int | None = None) -> None:
        self.workers = 1

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
        try:
            for index, job in enumerate(jobs):
                if stop is not None and stop.is_set():
                    return
                if deadline is not None and not deadline.remaining:
                    raise TimeUp(())
                yield index, function(job)
        except BaseException:
            if stop is not None:
                stop.set()
            raise


SERIAL = SerialEngine()

"""When to try again, and how long to wait before."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC
from typing import Protocol

from datasets_core import due

_FIRST_PAUSE_SECONDS = 0.5


class Clock(Protocol):
    """The time, and the passing of it."""

    def now(self) -> float:
        """Seconds since the epoch."""
        ...

    def sleep(self, seconds: float, stop: threading.Event | None = None, /) -> None:
        """Let the time pass, or less of it where `stop` is set."""
        ...


class SystemClock:
    """The clock on the wall."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def sleep(self, seconds: float, stop: threading.Event | None = None, /) -> None:
        """Let the time pass, or less of it where `stop` is set."""
        (stop or threading.Event()).wait(seconds)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to try, and the pauses between.

    Attributes:
        tries: in all, the first included.
        longest_pause_seconds: the cap, also of what a server asks for.
        clock: the time.
        jitter: where chance comes from.
    """

    tries: int = 5
    longest_pause_seconds: float = 60.0
    clock: Clock = field(default_factory=SystemClock)
    jitter: random.Random = field(default_factory=random.Random)

    def pause(
        self,
        failures: int,
        retry_after: str | None = None,
        stop: threading.Event | None = None,
        *,
        within: float | None = None,
    ) -> None:
        """Wait after the `failures`-th failure: what the server asked for, else twice as long each time, with jitter.

        Args:
            failures: how many there were.
            retry_after: what the server asked for.
            stop: ends the pause.
            within: no longer than these seconds.
        """
        self.wait(self.seconds(failures, retry_after, within=within), stop)

    def seconds(self, failures: int, retry_after: str | None = None, *, within: float | None = None) -> float:
        """How long `pause` would wait."""
        asked = retry_after_seconds(retry_after, self.clock.now())
        if asked is None:
            asked = _FIRST_PAUSE_SECONDS * 2 ** (failures - 1) * self.jitter.uniform(0.5, 1.5)
        longest = self.longest_pause_seconds if within is None else max(0.0, min(within, self.longest_pause_seconds))
        return min(asked, longest)

    def wait(self, seconds: float, stop: threading.Event | None = None) -> None:
        """Let so many seconds pass, or what is left of the time of the work.

        Args:
            seconds: how many.
            stop: ends the pause.
        """
        self.clock.sleep(due.at_most(seconds), stop)
        due.check()


def pause_asked(headers: Mapping[str, str]) -> str | None:
    """What a busy server asks for, as `Retry-After` says it: in `ratelimit` the Hub tells when it counts requests anew.

    Args:
        headers: of the answer, by lower-case names.

    >>> pause_asked({"ratelimit": '"api";r=0;t=55'}), pause_asked({"retry-after": "3", "ratelimit": '"api";r=9;t=55'})
    ('55', '3')
    >>> pause_asked({"retry-after": "3", "ratelimit": '"api";r=0;t=55'})
    '55'
    """
    found = re.search(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d+)", headers.get("ratelimit") or "")
    return found[1] if found else headers.get("retry-after") or None


def retry_after_seconds(header: str | None, now: float) -> float | None:
    """Seconds that a `Retry-After` header asks to wait, in its form as number or as date; None where it says neither.

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

"""`HostPauses`: what busy servers ask for, kept by all who use the same connections."""

from __future__ import annotations

import logging
import threading

from datasets_core.fetch.after_fork import renewed_after_fork
from datasets_core.fetch.retry import RetryPolicy, retry_after_seconds

logger = logging.getLogger(__name__)

_SPREAD = 0.1  # of a pause: after it not all of them come at once
_LOG_SECONDS = 5.0


class HostPauses:
    """Until when each server is to be left alone.

    >>> pauses = HostPauses()
    >>> pauses.seconds("https://example.org", RetryPolicy())
    0.0
    """

    def __init__(self) -> None:
        self._until: dict[object, float] = {}
        self._asked: dict[object, float] = {}  # until when they ask to be left alone, however long that is
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have locks of this process: those who held them are in the one that it was forked from."""
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[HostPauses], tuple[()]]:
        return HostPauses, ()

    def put_off(self, host: object, retry_after: str | None, policy: RetryPolicy) -> None:
        """Take note of what a server asks for.

        Args:
            host: which.
            retry_after: its header; None for none.
            policy: has the clock, and the longest pause that is kept.
        """
        asked = retry_after_seconds(retry_after, policy.clock.now())
        if not asked:
            return
        until = policy.clock.now() + min(asked, policy.longest_pause_seconds)
        with self._lock:
            self._until[host] = max(until, self._until.get(host, 0.0))
            self._asked[host] = max(policy.clock.now() + asked, self._asked.get(host, 0.0))

    def asked(self, host: object, policy: RetryPolicy) -> float:
        """How long a server still asks to be left alone, which may be longer than anybody waits."""
        with self._lock:
            return max(0.0, self._asked.get(host, 0.0) - policy.clock.now())

    def seconds(self, host: object, policy: RetryPolicy) -> float:
        """How long a server is to be left alone still, and a little more."""
        with self._lock:
            left = self._until.get(host, 0.0) - policy.clock.now()
        return left * (1 + policy.jitter.uniform(0.0, _SPREAD)) if left > 0 else 0.0

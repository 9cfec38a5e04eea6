"""What the parent holds for a confined process, and gives back whatever happens: the process, descriptors, its folder."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import signal
from dataclasses import dataclass, field
from typing import Any

from datasets_core.confine.scratch import clear
from datasets_core.confine.template import Forked

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Held:
    """What must be given back when a confined process is not needed any more.

    Attributes:
        owner: the process that holds it; a fork of that has copies of the descriptors only.
        descriptors: what is open for it.
        scratch: its folder.
        forked: the process.
        end: how it ended, once it has.
    """

    owner: int
    descriptors: list[int]
    scratch: str
    forked: Forked | None = None
    end: dict[str, Any] = field(default_factory=dict)

    def release(self) -> None:
        """Kill the process, wait for its end, close what is open, and remove its scratch folder."""
        descriptors, self.descriptors = self.descriptors, []
        forked, self.forked = self.forked, None
        for descriptor in descriptors:
            os.close(descriptor)
        if self.owner != os.getpid():
            if forked is not None:
                os.close(forked.watched)
            return
        if forked is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(forked.watched, signal.SIGKILL)
            readable(forked.watched, None)
            os.close(forked.watched)
            self.end = forked.ended()
        try:
            clear(self.scratch)
        except OSError as error:
            logger.warning("The scratch folder %s of a confined script could not be removed: %s", self.scratch, error)


def readable(descriptor: int, seconds: float | None) -> bool:
    """Whether there is something to read, or a process has ended, within so many seconds; None waits for it."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(None if seconds is None else max(0.0, seconds) * 1000))

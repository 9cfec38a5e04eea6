"""What a confined script prints: into the log, harmless and not endless."""

from __future__ import annotations

import logging
import os

from datasets_core.confine.reported import shown

MAX_BYTES = 64 << 10
_TAIL_BYTES = 4096
_AT_ONCE = 256 << 10

logger = logging.getLogger(__name__)


class Output:
    """The parent's end of the pipe that standard output and standard error of a confined process go to.

    Args:
        descriptor: the pipe.
        script: the script, as the log names it.
    """

    def __init__(self, descriptor: int, *, script: str) -> None:
        self.descriptor, self._script = descriptor, script
        self._line = b""
        self._shown = 0
        self._tail = b""
        os.set_blocking(descriptor, False)

    @property
    def tail(self) -> str:
        """The last that was printed."""
        return shown(self._tail.decode(errors="replace"))

    def drain(self) -> bool:
        """Take what is there, without waiting; False once nothing more will come."""
        for _ in range(_AT_ONCE >> 16):
            try:
                chunk = os.read(self.descriptor, 1 << 16)
            except BlockingIOError:
                return True
            if not chunk:
                self._show(self._line)
                self._line = b""
                return False
            self._take(chunk)
        return True

    def _take(self, chunk: bytes) -> None:
        self._tail = (self._tail + chunk)[-_TAIL_BYTES:]
        if self._shown > MAX_BYTES:
            return
        *lines, self._line = (self._line + chunk).split(b"\n")
        if len(self._line) > MAX_BYTES:
            lines.append(self._line)
            self._line = b""
        for line in lines:
            self._show(line)

    def _show(self, line: bytes) -> None:
        if self._shown > MAX_BYTES or not line.strip():
            return
        self._shown += len(line) + 1
        if self._shown > MAX_BYTES:
            logger.info("%s printed more than %d bytes; the rest is left out.", self._script, MAX_BYTES)
        else:
            logger.info("%s: %s", self._script, shown(line.decode(errors="replace").rstrip()))

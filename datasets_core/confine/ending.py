"""How a confined process ended that did not answer, as an error."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any

from datasets_core.errors import DatasetsCoreError, DeniedAccessError, ScriptMemoryError, WorkerDiedError

_BY_SIGNAL = 128
_OUT_OF_MEMORY = ("bad_alloc", "MemoryError", "Cannot allocate memory", "out of memory")


def error_of_end(
    end: Mapping[str, Any], script: str, *, memory_bytes: int, cpu_seconds: int | None, tail: str
) -> DatasetsCoreError:
    """The error that says why a confined process ended before it had answered.

    Args:
        end: what the template tells of it.
        script: the script.
        memory_bytes: memory that it might take.
        cpu_seconds: processor time that it might take.
        tail: the last that it printed.
    """
    status = end.get("status")
    said = f" The last that it printed: {tail.strip()[-300:]!r}." if tail.strip() else ""
    if status is None:
        return WorkerDiedError(f"The confined process of {script} ended with the process that started it. Run it again.")
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) > _BY_SIGNAL:
        status = os.WEXITSTATUS(status) - _BY_SIGNAL  # as bwrap tells of the process in it
    if os.WIFEXITED(status):
        how = f"ended by itself, with exit status {os.WEXITSTATUS(status)}, before it had answered"
        return WorkerDiedError(f"The confined process of {script} {how}. Look where the script leaves the process.{said}")
    number = os.WTERMSIG(status)
    if number == signal.SIGSYS:
        return DeniedAccessError("make a system call of another machine (SIGSYS)", path=script)
    is_late = cpu_seconds is not None and end.get("cpu", 0.0) >= cpu_seconds
    if number == signal.SIGXCPU or (number == signal.SIGKILL and is_late):
        how = f"used up its processor time ({end.get('cpu', 0.0):.0f} s)"
        return WorkerDiedError(f"The confined process of {script} {how}. Raise the setting confined_cpu_seconds.")
    if any(words in tail for words in _OUT_OF_MEMORY) or (
        number == signal.SIGKILL and end.get("max_rss", 0) > memory_bytes // 2
    ):
        return ScriptMemoryError(script, limit=memory_bytes)
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    if number == signal.SIGKILL:
        how = "was killed, by somebody else or for want of memory on the machine"
        return WorkerDiedError(f"The confined process of {script} {how} (SIGKILL). Run it again, with less beside it.")
    return WorkerDiedError(f"The confined process of {script} crashed ({name}). Look for native code in the script.{said}")

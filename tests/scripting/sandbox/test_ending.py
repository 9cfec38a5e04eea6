"""How a process ended is told by its status and by what it had taken."""

import signal

import pytest

from datasets_core.errors import DatasetsCoreError, DeniedAccessError, ScriptMemoryError, WorkerDiedError
from datasets_core.scripting.sandbox.process import error_of_end

LIMIT = 1 << 30


@pytest.mark.parametrize(
    ("end", "tail", "kind", "said"),
    [
        ({}, "", WorkerDiedError, "ended with the process that started it"),
        ({"status": 3 << 8}, "bye", WorkerDiedError, "exit status 3.*'bye'"),
        ({"status": signal.SIGSEGV}, "", WorkerDiedError, "SIGSEGV"),
        ({"status": signal.SIGSEGV | 0x80}, "", WorkerDiedError, "SIGSEGV"),
        ({"status": (128 + signal.SIGSEGV) << 8}, "", WorkerDiedError, "SIGSEGV"),
        ({"status": signal.SIGABRT}, "what():  std::bad_alloc", ScriptMemoryError, "1,073,741,824 bytes"),
        ({"status": signal.SIGKILL, "max_rss": LIMIT}, "", ScriptMemoryError, "1,073,741,824 bytes"),
        ({"status": signal.SIGKILL, "max_rss": 5}, "", WorkerDiedError, "somebody else"),
        ({"status": signal.SIGKILL, "cpu": 7.5}, "", WorkerDiedError, "processor time"),
        ({"status": signal.SIGXCPU, "cpu": 7.0}, "", WorkerDiedError, "processor time"),
        ({"status": signal.SIGSYS}, "", DeniedAccessError, "SIGSYS"),
        ({"status": 63}, "", WorkerDiedError, "signal 63"),
    ],
)
def test_the_error_says_what_ended_it(end: dict[str, int], tail: str, kind: type[DatasetsCoreError], said: str) -> None:
    error = error_of_end(end, "a.py", memory_bytes=LIMIT, cpu_seconds=7, tail=tail)
    assert type(error) is kind
    with pytest.raises(kind, match=said):
        raise error
    assert "a.py" in str(error)

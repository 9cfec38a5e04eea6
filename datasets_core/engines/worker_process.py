"""`WorkerProcess`: a process of its own that is sent functions and calls, one at a time, for as long as it is needed.

It is started as a program and not forked, so that it needs no `if __name__ == "__main__"`, shares no lock with its parent, and
may be started by daemonic processes too, as the workers of torch's `DataLoader` are.  What functions print goes to stderr.
"""

from __future__ import annotations

import itertools
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Any

from datasets_core import config
from datasets_core.engines.local import Failure, end_with, packed, unpacked
from datasets_core.errors import ConfigurationError, WorkerDiedError

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from datasets_core.engines.worker_process import serve; serve(int(sys.argv[2]))"
)
_KEYS = itertools.count()
_LENGTH = 8


@dataclass(frozen=True)
class SentFunction:
    """A function that is called in worker processes: it is packed once, and sent once to each.

    Attributes:
        call: the function.
        label: what it is called in errors.
    """

    call: Callable[..., Any]
    label: str
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def key(self) -> int:
        """A number that no other function of this process has."""
        return int(self._kept.setdefault("key", next(_KEYS)))

    @property
    def packed(self) -> bytes:
        """The function as bytes.

        Raises:
            ConfigurationError: it holds on to this process.
        """
        if "packed" not in self._kept:
            try:
                self._kept["packed"] = packed((config.settings(), self.call))
            except (TypeError, AttributeError, ValueError, RecursionError, pickle.PicklingError) as error:
                raise ConfigurationError(
                    f"{self.label} cannot be sent to a worker process: {error}. "
                    "Make that object inside of the function, or give engine='threads'."
                ) from error
        found: bytes = self._kept["packed"]
        return found


class WorkerProcess:
    """One process, started by the first call."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._known: set[int] = set()

    def call(self, function: SentFunction, *arguments: Any) -> Any:
        """What the function gives in the process; an error of the function is raised as it is.

        Raises:
            WorkerDiedError: the process ended without an answer.
            ConfigurationError: the function or its arguments cannot be sent.
        """
        sent = None if function.key in self._known else function.packed
        message = as_bytes((function.key, sent, arguments), function.label)
        if self._process is None:
            self._process = self._started()
        try:
            assert self._process.stdin is not None and self._process.stdout is not None
            _write(self._process.stdin, message)
            answer = _read(self._process.stdout)
        except (OSError, EOFError, ValueError) as error:  # ValueError: closed, since the process is killed
            raise self._died(function) from error
        found = unpacked(answer)
        if isinstance(found, Failure):
            raise found.error()
        self._known.add(function.key)
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        if not sys.executable:
            raise ConfigurationError("This Python has no program to start workers with. Give engine='threads'.")
        command = [sys.executable, "-c", _PROGRAM, json.dumps([path for path in sys.path if isinstance(path, str)])]
        return subprocess.Popen([*command, str(os.getpid())], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _died(self, function: SentFunction) -> WorkerDiedError:
        process = self._process
        code = None
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(timeout=5)
        self.kill()
        self.end()
        how = "was ended" if code is None else f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return WorkerDiedError(
            f"The worker process of {function.label} {how}, without an answer. "
            "Look whether it needs more memory than there is, or give fewer workers."
        )

    def kill(self) -> None:
        """End the process, whatever it does; by any thread."""
        process = self._process
        if process is not None and process.returncode is None:
            process.kill()

    def end(self) -> None:
        """Tidy up behind the process, by the thread that calls it; the next call starts another one."""
        process, self._process = self._process, None
        self._known.clear()
        if process is None:
            return
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.wait()


def as_bytes(value: Any, label: str) -> bytes:
    """A value to be sent.

    Raises:
        ConfigurationError: it cannot be.
    """
    with suppress(TypeError, AttributeError, ValueError, pickle.PicklingError):
        return pickle.dumps(value, protocol=5)  # several times as fast as what knows lambdas, too
    try:
        return packed(value)
    except (TypeError, AttributeError, ValueError, RecursionError, pickle.PicklingError) as error:
        raise ConfigurationError(
            f"A row cannot be sent to or from a worker process of {label}: {error}. "
            "Leave such values out of rows, or give engine='threads'."
        ) from error


def _write(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(len(data).to_bytes(_LENGTH, "little"))
    pipe.write(data)
    pipe.flush()


def _read(pipe: IO[bytes]) -> bytes:
    length = int.from_bytes(_exactly(pipe, _LENGTH), "little")
    return _exactly(pipe, length)


def _exactly(pipe: IO[bytes], count: int) -> bytes:
    data = pipe.read(count)
    if len(data) < count:
        raise EOFError
    return data


def serve(parent: int) -> None:
    """Answer calls until there are no more: what a worker process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    threading.Thread(target=end_with, args=(parent,), daemon=True, name="datasets_core-orphan-check").start()
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    known: dict[int, tuple[Any, Callable[..., Any]]] = {}
    while True:
        try:
            message = _read(questions)
        except EOFError:
            return
        try:
            _write(answers, _answer(message, known))
        except BrokenPipeError:
            return


def _answer(message: bytes, known: dict[int, tuple[Any, Callable[..., Any]]]) -> bytes:
    try:
        key, sent, arguments = unpacked(message)
        if sent is not None:
            known[key] = unpacked(sent)
        settings, function = known[key]
        with config.using(settings):
            return as_bytes(function(*arguments), getattr(function, "__qualname__", "a function"))
    except Exception as error:
        return packed(Failure.of(error))

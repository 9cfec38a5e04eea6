"""The template: one freshly executed, trusted, single-threaded interpreter per process, which forks the confined ones.

Starting an interpreter and importing pyarrow takes half a second; forking one that has done so takes milliseconds.  The
template is executed anew (`-I`, an environment without anything of the parent's, no descriptors), so that nothing of the
parent's memory can be read in a confined process; and it is forked before anything of a script runs.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from datasets_core.confine.boot import environment, words
from datasets_core.confine.forks import MAX_MESSAGE
from datasets_core.errors import ConfinementUnavailableError

_START_SECONDS = 60.0  # a cold disk, and a machine that is busy
_ANSWER_SECONDS = 60.0  # imports of what a script needs included
_LAST_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Forked:
    """A process that the template forked.

    Attributes:
        source: the template.
        number: what it knows the process by.
        process: its id.
        watched: a descriptor (pidfd) that stands for it, whoever gets its id later; the caller closes it.
    """

    source: Template
    number: int
    process: int
    watched: int

    def ended(self) -> dict[str, Any]:
        """How it ended, once it has: `status` as of `os.wait`, `max_rss` in bytes, `cpu` in seconds; nothing if unknown."""
        return self.source.ended(self)


class Template:
    """The parent's handle of its template process."""

    def __init__(self) -> None:
        self.owner = os.getpid()
        self._lock = threading.Lock()
        self._number = 0
        ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with its:
                self._process = subprocess.Popen(
                    words("datasets_core.confine.forks", "run", control=its.fileno()),
                    env=environment(),
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    pass_fds=[its.fileno()],
                    start_new_session=True,
                )
        except (OSError, ValueError) as error:
            ours.close()
            raise ConfinementUnavailableError(f"no interpreter could be started as {sys.executable!r} ({error})") from error
        self._control = ours
        self._is_ready = False

    @property
    def is_running(self) -> bool:
        """Whether it is this process's, and still there."""
        return self.owner == os.getpid() and self._control.fileno() >= 0 and self._process.poll() is None

    def fork(
        self,
        descriptors: Sequence[int],
        *,
        scratch: str,
        serve: str,
        preload: tuple[str, ...] = (),
        execute: Sequence[str] = (),
    ) -> Forked | None:
        """Start a confined process; None if what it was to import beforehand has started threads.

        Args:
            descriptors: what it reads from, writes to, prints to, and sends notices by.
            serve: the function that it is to be served by, as `module:name`.
            scratch: its folder, which the template removes if the parent is killed.
            preload: modules to import before the fork, as far as they are on the list of `forks`.
            execute: a command line to execute instead of serving.

        Raises:
            ConfinementUnavailableError: the template died, hangs or cannot fork.
        """
        with self._lock:
            asked = {"do": "fork", "scratch": scratch, "serve": serve, "preload": preload, "execute": execute}
            head, passed = self._ask(asked, descriptors)
        if "threads" in head:
            return None
        if "pid" not in head or len(passed) != 1:
            raise ConfinementUnavailableError(f"no process could be forked ({head.get('error', 'no reason is known')})")
        return Forked(self, head["n"], head["pid"], passed[0])

    def ended(self, forked: Forked) -> dict[str, Any]:
        """How a process ended that has; nothing if it ended with the template."""
        with self._lock:
            try:
                return self._ask({"do": "tell", "of": forked.number})[0]
            except ConfinementUnavailableError:
                return {}  # it died, and all its processes with it

    def stop(self) -> None:
        """End it, and with it every process that it forked."""
        self._control.close()
        if self._process.stderr is not None:
            self._process.stderr.close()
        if self.owner != os.getpid():
            self._process.returncode = 0  # it is the parent's, who waits for it
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def _ask(self, request: dict[str, Any], descriptors: Sequence[int] = ()) -> tuple[dict[str, Any], list[int]]:
        try:
            if not self._is_ready:
                self._receive(_START_SECONDS, None)
                self._is_ready = True
            self._number += 1
            message = json.dumps({"n": self._number, **request}).encode()
            socket.send_fds(self._control, [message], descriptors)
            return self._receive(_ANSWER_SECONDS, self._number)
        except (OSError, ValueError) as error:
            reason = self._last_words() or str(error)
            self.stop()
            advice = "Try again; it is started anew"
            if "ModuleNotFoundError" in reason:
                advice = "Install that package with this interpreter: confined processes see installed packages alone"
            raise ConfinementUnavailableError(
                f"the process that starts confined ones failed ({reason})", advice=advice
            ) from error

    def _receive(self, seconds: float, number: int | None) -> tuple[dict[str, Any], list[int]]:
        """The reply to a request; replies to earlier ones, whose asker was interrupted, are put away with what they started."""
        end = time.monotonic() + seconds
        while True:
            waiting = select.poll()
            waiting.register(self._control, select.POLLIN)
            if not waiting.poll(max(0.0, end - time.monotonic()) * 1000):
                raise TimeoutError(f"no answer in {seconds:g} s")
            data, descriptors, _, _ = socket.recv_fds(self._control, MAX_MESSAGE, 4)
            if not data:
                raise ConnectionError("it ended")
            head = json.loads(data)
            if head.get("n") == number:
                return head, descriptors
            for descriptor in descriptors:
                with contextlib.suppress(OSError):
                    signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                os.close(descriptor)

    def _last_words(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(_LAST_SECONDS)
        if self._process.stderr is None or self._process.stderr.closed or self._process.poll() is None:
            return ""  # or it was stopped, as all are when the interpreter ends
        lines = self._process.stderr.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""


_lock = threading.Lock()
_current: Template | None = None
_retired: list[Template] = []  # they have threads, and processes that are still needed
_threaded: set[str] = set()  # modules that start threads when they are imported


def template() -> Template:
    """The template of this process, started if need be; a process that was forked from this one starts its own.

    Raises:
        ConfinementUnavailableError: no interpreter could be started.
    """
    global _current
    with _lock:
        if _current is None or not _current.is_running:
            if _current is not None:
                _current.stop()
            _current = Template()
        return _current


def fork(
    descriptors: Sequence[int], *, scratch: str, serve: str, preload: Sequence[str] = (), execute: Sequence[str] = ()
) -> Forked:
    """A process forked by the template of this one; the arguments are those of `Template.fork`.

    Raises:
        ConfinementUnavailableError: none could be started.
    """
    global _current
    scratch = os.path.realpath(scratch)
    for wanted in dict.fromkeys((tuple(name for name in preload if name not in _threaded), ())):
        source = template()
        forked = source.fork(descriptors, scratch=scratch, serve=serve, preload=wanted, execute=execute)
        if forked is not None:
            return forked
        with _lock:  # a fork would lack the threads that an import has started: another one, without that import
            _threaded.update(wanted)
            _retired.append(source)
            _current = None if _current is source else _current
    raise ConfinementUnavailableError("an installed package starts threads when the library is imported")


def stop() -> None:
    """End the templates of this process, with all that they forked; the next use starts another."""
    global _current
    with _lock:
        for each in (*_retired, *([_current] if _current is not None else [])):
            each.stop()
        _retired.clear()
        _current = None


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread may have held it


atexit.register(stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

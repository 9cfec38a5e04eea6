"""`SandboxedProcess`: the parent's handle of one sandboxed process: requests, replies, deadlines, errors.

Messages from the process are untrusted: `protocol` bounds them, and this module checks their order.  A process that sends an
unexpected or malformed message, or misses its deadline, is killed.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Self

from datasets_core.config import settings
from datasets_core.engines.threads import done_by, in_thread, renewed_after_fork
from datasets_core.errors import (
    ConfinementUnavailableError,
    DatasetDiskError,
    DatasetsCoreError,
    DeniedAccessError,
    ScriptMemoryError,
    ScriptTimeoutError,
    WorkerDiedError,
    logger_of,
)
from datasets_core.files import Overdue
from datasets_core.scripting.sandbox import limits
from datasets_core.scripting.sandbox.denials import UNNAMED, Denial, Notices, denial_of, raised, shown
from datasets_core.scripting.sandbox.limits import Layers, Sandbox, clear, layers
from datasets_core.scripting.sandbox.protocol import Incoming, Kind, Message, PipeError, packed
from datasets_core.scripting.sandbox.template import Forked, fork, words

# Errors for confined processes that ended without an answer.


_BY_SIGNAL = 128
_OUT_OF_MEMORY = ("bad_alloc", "MemoryError", "Cannot allocate memory", "out of memory")


def error_of_end(
    end: Mapping[str, Any], script: str, *, memory_bytes: int, cpu_seconds: int | None, tail: str
) -> DatasetsCoreError:
    """Return the error for a sandboxed process that ended before it answered.

    Args:
        end: its status from the template.
        script: the script.
        memory_bytes: its memory limit.
        cpu_seconds: its limit of processor time.
        tail: the end of its output.
    """
    status = end.get("status")
    said = f" Its last output: {tail.strip()[-300:]!r}." if tail.strip() else ""
    if status is None:
        return WorkerDiedError(f"The confined process of {script} ended with the process that started it. Run it again.")
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) > _BY_SIGNAL:
        status = os.WEXITSTATUS(status) - _BY_SIGNAL  # bwrap reports the signal of its child so
    if os.WIFEXITED(status):
        how = f"ended by itself, with exit status {os.WEXITSTATUS(status)}, before it answered"
        return WorkerDiedError(f"The confined process of {script} {how}. Check where the script exits the process.{said}")
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
        how = "was killed, by another process or for lack of memory on the machine"
        return WorkerDiedError(f"The confined process of {script} {how} (SIGKILL). Run it again, with fewer other processes.")
    return WorkerDiedError(f"The confined process of {script} crashed ({name}). Look for native code in the script.{said}")


# Resources that the parent holds for a confined process, and always releases: the process, descriptors, its folder.


logger = logger_of(__name__)


@dataclass(slots=True)
class ProcessResources:
    """Resources of a sandboxed process, released when it is no longer needed.

    Attributes:
        owner: the process that owns them; a fork has copies of the descriptors only.
        descriptors: its open descriptors.
        scratch: its scratch folder.
        forked: the process.
        end: its exit status, once it has ended.
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
    """Return True if there is something to read, or a process has ended, within this many seconds; None waits for it."""
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(None if seconds is None else max(0.0, seconds) * 1000))


# The output of a confined script, which is logged in a safe and limited form.


MAX_BYTES = 64 << 10
_TAIL_BYTES = 4096
_AT_ONCE = 256 << 10


class Output:
    """The parent's end of the pipe that standard output and standard error of a confined process go to.

    Args:
        descriptor: the pipe.
        script: name of the script in the log.
    """

    def __init__(self, descriptor: int, *, script: str) -> None:
        self.descriptor, self._script = descriptor, script
        self._line = b""
        self._shown = 0
        self._tail = b""
        os.set_blocking(descriptor, False)

    @property
    def tail(self) -> str:
        """The last lines of the output."""
        return shown(self._tail.decode(errors="replace"))

    def drain(self) -> bool:
        """Read the available output without waiting; return False at its end."""
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
            logger.warning("%s: %s", self._script, shown(line.decode(errors="replace").rstrip()))


__all__ = ["Sandbox", "SandboxedProcess"]

_START_SECONDS = 60.0
_END_SECONDS = 2.0
_EXIT_SECONDS = 1.0  # between the end of a pipe and the end of the process that held it
_LOOK_SECONDS = 0.25  # how often the disk is looked at, at most
_LOOK_SHARE = 20  # times as long as a look takes
_PAUSE_SECONDS = 1.0  # between two replies, after which a process is stopped
_IDLE_DENIALS = 1000
_PIPE_BYTES = 1 << 20
_MAX_DENIALS = 1000
_SERVE = "datasets_core.scripting.sandbox.served:serve"

Answer = Callable[[dict[str, Any]], Mapping[str, Any]]
When = float | None | Callable[[], float | None]


class _EndedError(Exception):
    """The process has ended."""


class _ReportedError(Exception):
    """An error reported by the process."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class SandboxedProcess:
    """One sandboxed process: `start` makes it, `ask` and `stream` send requests, `close` or `kill` end it.

    It serves one request at a time, of one thread.  Any exception during a request, except an error reported by the process
    itself, kills it; so does leaving a `stream` early. Its denied accesses are in `denials`: the caller warns of those that no
    error reported (`denials.warn_of`).
    """

    def __init__(
        self, sandbox: Sandbox, held: ProcessResources, forked: Forked, *, requests: int, replies: int, output: int
    ) -> None:
        self.sandbox = sandbox
        self.denials: list[Denial] = []
        self.layers: tuple[str, ...] = ()
        self._held, self._forked = held, forked
        self._requests = requests
        self._incoming = Incoming(replies, max_payload_bytes=sandbox.memory)
        self._output = Output(output, script=sandbox.script)
        self._notices: Notices | None = None
        self._look_at, self._kept_free = time.monotonic() + _LOOK_SECONDS, limits.kept_free(sandbox.scratch)
        self._most_bytes, self._most_files = sandbox.most_bytes(), sandbox.most_files()
        self._most_seconds, self._ran, self._since = settings().confined_seconds, 0.0, 0.0
        self._life = threading.RLock()  # its process runs, is stopped, or is over
        self._is_stopped = self._is_waiting = False
        self._kept_files = limits.num_free_files(sandbox.scratch) // 2
        self._num_known = 0  # denials before the present request
        self._release = weakref.finalize(self, held.release)
        os.set_blocking(requests, False)
        self._waiting = select.poll()
        self._waiting.register(forked.watched, select.POLLIN)
        self._waiting.register(output, select.POLLIN)

    @classmethod
    def start(cls, sandbox: Sandbox, *, serve: str = _SERVE, _layers: Layers | None = None) -> Self:
        """Return a sandboxed process, with all layers active.

        Args:
            sandbox: its rights.
            serve: the function that serves requests in it, as `module:name`.

        Raises:
            ConfinementUnavailableError: this machine has no sandbox.
        """
        import fcntl  # not on every system

        found = _layers or layers()
        if not found.can_sandbox:
            raise ConfinementUnavailableError(found.reason)
        os.makedirs(sandbox.scratch, mode=0o700, exist_ok=True)
        its_reads, requests = os.pipe2(os.O_CLOEXEC)
        replies, its_writes = os.pipe2(os.O_CLOEXEC)
        output, its_output = os.pipe2(os.O_CLOEXEC)
        ours, its = socket.socketpair()
        its_own = (its_reads, its_writes, its_output, its.detach())
        held = ProcessResources(os.getpid(), [requests, replies, output, ours.detach()], sandbox.scratch)
        try:
            try:
                execute = []
                if not found.landlock and found.bwrap is not None:
                    told = words("datasets_core.scripting.sandbox.template", "run_executed", serve=serve)
                    execute = limits.command(
                        found.bwrap, told, inputs=sandbox.readable, scratch=os.path.realpath(sandbox.scratch)
                    )
                forked = fork(its_own, scratch=sandbox.scratch, serve=serve, preload=sandbox.preload, execute=execute)
                held.forked = forked
            finally:
                for descriptor in its_own:
                    os.close(descriptor)
            for descriptor in (requests, replies):
                with contextlib.suppress(OSError):  # more than this user may take: it only is slower
                    fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            confined = cls(sandbox, held, forked, requests=requests, replies=replies, output=output)
        except BaseException:
            held.release()
            raise
        confined._enter(found)
        return confined

    def _enter(self, found: Layers) -> None:
        """Make the process enter the sandbox."""
        with self._turn():
            kind, message = self._exchange(self.sandbox.setup(found), time.monotonic() + _START_SECONDS, "entering the sandbox")
            if kind is not Kind.READY:
                self._out_of_turn(kind)
            self.layers = tuple(map(str, message.head.get("layers", ()))) + (() if found.landlock else ("bwrap",))
            if "notices" in self.layers:
                self._take_notices(str(found.machine))

    def _take_notices(self, machine: str) -> None:
        """Return the descriptor for refused calls, which the process sent before it reported that it is ready."""
        with socket.socket(fileno=self._held.descriptors.pop()) as ours:
            ours.setblocking(False)
            _, (descriptor, *_), _, _ = socket.recv_fds(ours, 16, 1)
        self._held.descriptors.append(descriptor)
        self._notices = Notices(descriptor, machine=machine, scratch=self.sandbox.scratch)
        self._waiting.register(descriptor, select.POLLIN)

    def ask(
        self,
        request: Mapping[str, Any],
        answer: Answer | None = None,
        *,
        deadline: float | None = None,
        doing: str = "its answer",
    ) -> Message:
        """Send one request, and return its one reply.

        Args:
            request: plain values.
            answer: called with each question of the process meanwhile; returns the answer.
            deadline: as of `time.monotonic`; the process is killed then.
            doing: description of the request, for the error of the deadline.

        Raises:
            DatasetsCoreError: the error of the process, or its end.
        """
        (message,) = self._replies(request, answer, deadline, doing, only=Kind.LAST)
        return message

    def stream(
        self,
        request: Mapping[str, Any],
        answer: Answer | None = None,
        *,
        deadline: When = None,
        doing: str = "its answer",
    ) -> Iterator[Message]:
        """Send one request, and yield its replies, the last one included.

        Args and errors are those of `ask`; a deadline may be a function that returns that of each reply.  The process is
        killed if the replies are not read to their end.
        """
        return self._replies(request, answer, deadline, doing)

    def _replies(
        self, request: Mapping[str, Any], answer: Answer | None, deadline: When, doing: str, only: Kind | None = None
    ) -> Iterator[Message]:
        def due() -> float | None:
            return deadline() if callable(deadline) else deadline

        with self._turn():
            kind, message = self._exchange(request, due(), doing)
            while True:
                if kind is Kind.LAST:
                    self._check_use(at_once=True)
                if kind is Kind.QUESTION and answer is not None:
                    self._send(Kind.ANSWER, self._answered(answer, message.head, due(), doing), due())
                elif kind is Kind.LAST or (kind is Kind.PART and only is None):
                    if only is None:
                        _stopper.add(self)
                    try:
                        yield message
                    finally:
                        self.go_on()
                    if kind is Kind.LAST:
                        return
                else:
                    self._out_of_turn(kind)
                kind, message = self._next(due(), doing)

    def _answered(self, answer: Answer, question: dict[str, Any], deadline: float | None, doing: str) -> Mapping[str, Any]:
        """Return the answer, or raise an error if it takes too long."""
        began = time.monotonic()
        try:
            return done_by(deadline, lambda: answer(question))
        except Overdue:
            seconds = round(time.monotonic() - began, 1)
            raise ScriptTimeoutError(self.sandbox.script, doing, seconds=seconds) from None

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One request and its replies: an error reported by the process leaves it alive, any other kills it."""
        if not self._release.alive:
            raise WorkerDiedError(f"The confined process of {self.sandbox.script} has ended. Start another process.")
        self.go_on()
        self._since = time.monotonic()
        try:
            yield
        except _EndedError:
            if not readable(self._forked.watched, _EXIT_SECONDS):
                self.kill()
                message = f"The confined process of {self.sandbox.script} closed its pipe, and was stopped. Do not trust it."
                raise WorkerDiedError(message) from None
            self.kill()
            limit, seconds, tail = self.sandbox.memory, self.sandbox.cpu, self._output.tail
            raise error_of_end(
                self._held.end, self.sandbox.script, memory_bytes=limit, cpu_seconds=seconds, tail=tail
            ) from None
        except PipeError as error:
            self.kill()
            message = f"The confined process of {self.sandbox.script} sent {error}, and was stopped. Do not trust it."
            raise WorkerDiedError(message) from error
        except _ReportedError as told:
            raise told.error from None
        except BaseException:
            self.kill()
            raise
        finally:
            self._ran += time.monotonic() - self._since
            self._is_waiting = True
            self.stop_if_idle()

    def stop_if_idle(self) -> None:
        """Stop all of its threads while it has no request; `go_on` lets them run again."""
        with self._life:
            if self._is_waiting and not self._is_stopped and self._release.alive and self._held.owner == os.getpid():
                self._is_stopped = True
                self._signal(signal.SIGSTOP)

    def pause(self) -> None:
        """Note that its replies are not read at the moment."""
        with self._life:
            self._is_waiting = True

    def go_on(self) -> None:
        """Let it run."""
        with self._life:
            self._is_waiting = False
            if self._is_stopped and self._release.alive:
                self._is_stopped = False
                self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._forked.watched, number)
        if "bwrap" in self.layers:
            for process in list(limits.below(self._forked.process))[1:]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, number)

    def _exchange(self, request: Mapping[str, Any], deadline: float | None, doing: str) -> tuple[Kind, Message]:
        self._num_known = len(self.denials)
        if self._has_spoken():
            raise PipeError("an unexpected message, without a request")
        self._send(Kind.REQUEST, request, deadline)
        return self._next(deadline, doing)

    def _has_spoken(self) -> bool:
        """Return True if it has sent anything without a request, except notes of denied accesses."""
        for _ in range(_IDLE_DENIALS):
            found = self._read()
            if found is None:
                return False
            if found[0] is not Kind.DENIAL:
                return True
            self._note(denial_of(found[1].head))
        return True

    def _next(self, deadline: float | None, doing: str) -> tuple[Kind, Message]:
        """Return the next message that is not a denial note."""
        began = time.monotonic()
        while True:
            self._check_use()
            if deadline is not None and time.monotonic() >= deadline:
                raise ScriptTimeoutError(self.sandbox.script, doing, seconds=round(time.monotonic() - began, 1))
            found = self._read()
            if found is None and self._is_over():
                found = self._read()  # what it said last
                if found is None:
                    raise _EndedError
            if found is None:
                self._wait(self._incoming.descriptor, select.POLLIN, deadline)
                continue
            kind, message = found
            if kind is Kind.FAILURE:
                raise _ReportedError(self._raised(message))
            if kind is not Kind.DENIAL:
                return found
            self._note(denial_of(message.head))

    def _read(self) -> tuple[Kind, Message] | None:
        try:
            return self._incoming.read()
        except EOFError:
            raise _EndedError from None

    def _note(self, denial: Denial) -> None:
        if denial not in self.denials and len(self.denials) < _MAX_DENIALS:
            self.denials.append(denial)

    def _raised(self, message: Message) -> DatasetsCoreError:
        """Return the error reported by the process; a denial that it contains needs no warning."""
        error = raised(message.head, script=self.sandbox.script)
        if isinstance(error, ScriptMemoryError):
            return ScriptMemoryError(self.sandbox.script, limit=self.sandbox.memory)
        if isinstance(error, DeniedAccessError):
            told = denial_of(vars(error))
            by_kernel = [each for each in self.denials[self._num_known :] if each.path is None]
            if told.tried.startswith(UNNAMED) and by_kernel:
                said = DeniedAccessError(by_kernel[-1].tried, path=told.path, line=told.line)
                error, said.__notes__, told = said, error.__notes__, by_kernel[-1]
            self.denials = [each for each in self.denials if each != told]
        return error

    def _is_over(self) -> bool:
        return readable(self._forked.watched, 0)

    def _send(self, kind: Kind, head: Mapping[str, Any], deadline: float | None) -> None:
        rest = memoryview(packed(kind, head))
        while rest:
            try:
                rest = rest[os.write(self._requests, rest) :]
            except BlockingIOError:
                if self._is_over():
                    raise _EndedError from None
                if deadline is not None and time.monotonic() >= deadline:
                    raise ScriptTimeoutError(self.sandbox.script, "receiving a request", seconds=0) from None
                self._wait(self._requests, select.POLLOUT, deadline)
            except BrokenPipeError:
                raise _EndedError from None

    def _wait(self, descriptor: int, events: int, deadline: float | None) -> None:
        """Wait for the pipe, at most until other work is due, and process output and refused calls meanwhile."""
        left = _LOOK_SECONDS if deadline is None else max(0.0, deadline - time.monotonic())
        self._waiting.register(descriptor, events)
        happened = dict(self._waiting.poll(1000 * min(_LOOK_SECONDS, left)))
        self._waiting.unregister(descriptor)
        if self._output.descriptor in happened and not self._output.drain():
            self._waiting.unregister(self._output.descriptor)
        if self._notices is not None and self._notices.descriptor in happened:
            if happened[self._notices.descriptor] & select.POLLIN:
                denial = self._notices.take()
                if denial is not None:
                    self._note(denial)
            else:
                self._waiting.unregister(self._notices.descriptor)  # the process has ended

    def _check_use(self, *, at_once: bool = False) -> None:
        """Compare now and then what it has used since its start with its limits: disk, files, threads, time."""
        now, script, scratch = time.monotonic(), self.sandbox.script, self.sandbox.scratch
        if now < self._look_at and not at_once:
            return
        free = limits.free(scratch)
        if free < self._kept_free or limits.num_free_files(scratch) < self._kept_files:
            raise DatasetDiskError(scratch, "a confined script has filled the disk with its files", free=free)
        num_bytes, num_files, num_threads = limits.used(scratch, self._forked.process, most_files=self._most_files)
        if self._most_bytes is not None and num_bytes > self._most_bytes:
            reason = f"a confined script has written more than {self._most_bytes:,} bytes (setting confined_scratch_bytes)"
            raise DatasetDiskError(scratch, reason, free=free)
        if num_files > self._most_files:
            reason = f"a confined script has made more than {self._most_files:,} files (setting confined_scratch_files)"
            raise DatasetDiskError(scratch, reason, free=free)
        if num_threads > limits.MOST_TASKS:
            raise WorkerDiedError(f"The confined process of {script} has more than {limits.MOST_TASKS:,} threads. Start fewer.")
        if self._most_seconds is not None and self._ran + now - self._since > self._most_seconds:
            raise ScriptTimeoutError(script, "running (setting confined_seconds)", seconds=self._most_seconds)
        self._look_at = time.monotonic() + max(_LOOK_SECONDS, _LOOK_SHARE * (time.monotonic() - now))

    def _out_of_turn(self, kind: Kind) -> NoReturn:
        raise PipeError(f"an unexpected {kind.name.lower()}")

    def close(self) -> None:
        """Wait a moment for the process to end, then kill it."""
        if self._release.alive and self._held.owner == os.getpid():
            self.go_on()
            self._held.descriptors.remove(self._requests)
            os.close(self._requests)  # the end of its requests
            end = time.monotonic() + _END_SECONDS
            with contextlib.suppress(_EndedError, PipeError, ScriptTimeoutError, _ReportedError):
                while True:
                    self._next(end, "ending")
        self.kill()

    def kill(self) -> None:
        """End the process, and remove everything that it left."""
        with self._life:
            if self._release.alive:
                self._output.drain()
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class _Stopper:
    """Stops processes whose replies are not read for some time, as those of a stream that is not continued."""

    def __init__(self) -> None:
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Begin without processes after a fork; they are the parent's."""
        self._lock = threading.Lock()
        self._paused: dict[int, tuple[float, weakref.ref[SandboxedProcess]]] = {}
        self._is_running = False

    def add(self, process: SandboxedProcess) -> None:
        """Stop a process in one second, unless its replies are read before that."""
        process.pause()
        with self._lock:
            self._paused[id(process)] = time.monotonic() + _PAUSE_SECONDS, weakref.ref(process)
            if self._is_running:
                return
            self._is_running = True
        in_thread(self._run, "datasets_core-stop")

    def _run(self) -> None:
        while True:
            time.sleep(_PAUSE_SECONDS / 2)
            with self._lock:
                now = time.monotonic()
                due = [key for key, (at, _) in self._paused.items() if at <= now]
                found = [self._paused.pop(key)[1]() for key in due]
                if not self._paused and not due:
                    self._is_running = False
                    return
            for process in found:
                if process is not None:
                    process.stop_if_idle()


_stopper = _Stopper()

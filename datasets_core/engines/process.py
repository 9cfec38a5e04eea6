"""`WorkerProcess`: a process that answers calls of functions, and values and errors in the form in which they are sent."""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import json
import os
import pickle
import select
import signal
import sys
import threading
import time
import traceback
import warnings
import weakref
from collections import ChainMap
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from types import CodeType, ModuleType
from typing import IO, TYPE_CHECKING, Any, ClassVar

import cloudpickle

from datasets_core import config
from datasets_core.errors import ConfigurationError, DatasetBuildError, WorkerDiedError, logger_of
from datasets_core.errors.base import users_frames

if TYPE_CHECKING:
    import subprocess

logger = logger_of(__name__)

_ORPHAN_CHECK_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1
_IDLE_SECONDS = 60.0
"""Seconds after which a forked process that neither answers nor uses the processor is named in the log."""
_NOT_FORKED = ("cupy", "grpc", "jax", "jaxlib", "lance", "polars", "tensorflow")
"""Libraries whose threads or devices do not survive a fork: each documents it, or was observed to hang."""


# -- values sent to another process ----------------------------------------------------------------------------


def send_by_value(module: ModuleType) -> None:
    """Send definitions of `module` to workers as code, since they cannot import it by its name."""
    cloudpickle.register_pickle_by_value(module)


def sent_by_value() -> list[ModuleType]:
    """Return the modules registered with `send_by_value`."""
    return [sys.modules[name] for name in sorted(cloudpickle.list_registry_pickle_by_value()) if name in sys.modules]


def packed(value: Any) -> bytes:
    """Return a value as bytes that another process can unpack, including classes and functions of a script or of `__main__`."""
    main = sys.modules.get("__mp_main__")  # `__main__` of the program, in a process that multiprocessing spawned
    if main is not None:
        send_by_value(main)
    written = io.BytesIO()
    _Pickler(written).dump(value)
    return written.getvalue()


_REDUCERS: Any = cloudpickle.Pickler.dispatch_table


def _code_with_its_file(code: CodeType) -> tuple[Any, ...]:
    make, arguments = _REDUCERS[CodeType](code)
    return make, tuple(code.co_filename if argument == "<dynamic-code>" else argument for argument in arguments)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Keeps the file name of code, which cloudpickle 3.1.3 leaves out, so that an error in a worker names the user's file."""

    dispatch_table: ClassVar = ChainMap({CodeType: _code_with_its_file}, _REDUCERS)


def unpacked(data: bytes) -> Any:
    """Return the value that was packed."""
    return cloudpickle.loads(data)


def met_by_pickling(value: Any) -> list[Any]:
    """Return the functions, classes and modules found while pickling a value, by value or by name, up to the first object that
    cannot be pickled.

    >>> met_by_pickling([len, 1])
    [<built-in function len>]
    """
    observer = _Observer()
    with contextlib.suppress(Exception):  # which the engine says when it sends the value
        observer.dump(value)
    return observer.met


class _Observer(cloudpickle.Pickler):  # type: ignore[misc]
    """Pickles without output; large buffers are not copied."""

    def __init__(self) -> None:
        super().__init__(_Nowhere(), protocol=5, buffer_callback=lambda _: None)
        self.met: list[Any] = []

    def reducer_override(self, value: Any) -> Any:
        if hasattr(value, "__qualname__") or isinstance(value, ModuleType):
            self.met.append(value)
        return super().reducer_override(value)


class _Nowhere:
    def write(self, data: Any) -> int:
        """Discard bytes."""
        return len(data)


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception for the parent process, with its cause, which `pickle` by itself would lose."""

    pickled: bytes
    cause: Failure | None

    @classmethod
    def of(cls, error: BaseException) -> Failure:
        """Return the exception in a form that can be sent."""
        frames, cause = users_frames(error.__traceback__), error.__cause__
        if not (getattr(error, "of_users_function", False) and cause is not None):  # else its cause has the frames
            error.add_note("In a worker process:\n" + "".join(traceback.format_tb(frames or error.__traceback__)).rstrip())
        if frames is not None:
            error.of_users_function = True  # type: ignore[attr-defined]
        pickled = _pickled(error.with_traceback(None))  # which tblib, that Dask brings, would send too
        if pickled is None:
            words = "".join(traceback.format_exception_only(error)).strip()
            pickled = cloudpickle.dumps(DatasetBuildError(f"A worker failed with an error that cannot be sent: {words}"))
        return cls(pickled, cls.of(cause) if cause is not None and cause is not error else None)

    def error(self) -> BaseException:
        """Return the original exception."""
        error: BaseException = cloudpickle.loads(self.pickled)
        if self.cause is not None:
            error.__cause__ = self.cause.error()
        return error


def _pickled(error: BaseException) -> bytes | None:
    """Return an exception unchanged if it can be sent, else its class with as much of its state as can be sent, else None."""
    with contextlib.suppress(Exception):
        pickled = cloudpickle.dumps(error)
        cloudpickle.loads(pickled)  # an exception whose constructor wants more than its args fails only here
        return bytes(pickled)
    with contextlib.suppress(Exception):
        arguments = tuple(part if _can_be_sent(part) else repr(part) for part in error.args)
        state = {name: part for name, part in vars(error).items() if _can_be_sent(part)}
        pickled = cloudpickle.dumps(_Remade(type(error), arguments, state))
        cloudpickle.loads(pickled)
        return bytes(pickled)
    return None


def _can_be_sent(value: Any) -> bool:
    try:
        cloudpickle.loads(cloudpickle.dumps(value))
    except Exception:
        return False
    return True


class _Remade:
    """Pickles as an exception that is created without a call of its constructor."""

    def __init__(self, *parts: Any) -> None:
        self._parts = parts

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, self._parts


def _remade(kind: type[BaseException], arguments: tuple[Any, ...], state: dict[str, Any]) -> BaseException:
    error = kind.__new__(kind, *arguments)
    error.args = arguments
    vars(error).update(state)
    return error


# -- a worker process --------------------------------------------------------------------------------------------------


_PROGRAM = (
    "import json, os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); questions = open(os.dup(0), 'rb'); "
    "os.dup2(os.open(os.devnull, os.O_RDONLY), 0); answers, parent = map(int, sys.argv[1:]); "
    "sys.path[:], sys.argv[:] = json.loads(questions.readline() or os._exit(1)); "
    "from datasets_core.engines.process import serve; serve(questions, answers, parent)"
)
_CANNOT_BE_SENT = (TypeError, AttributeError, ValueError, RecursionError, pickle.PicklingError)
_ELSEWHERE = "Create that object where it is used, not in gen_kwargs, the builder or its module; or remove num_proc."
_KEYS = itertools.count()
_LENGTH = 8


@dataclass(frozen=True)
class SentFunction:
    """A function that is called in worker processes: it is pickled once, and sent once to each.

    Attributes:
        call: the function.
        label: name of the function in errors.
        is_of_rows: True if its arguments and results are rows of plain values, for which `pickle` is sufficient and several
        times as fast.
    """

    call: Callable[..., Any]
    label: str
    is_of_rows: bool = True
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def key(self) -> int:
        """A number that identifies the function in this process."""
        return int(self._kept.setdefault("key", next(_KEYS)))

    @property
    def packed(self) -> bytes:
        """The function and the settings of the caller as bytes.

        Raises:
            ConfigurationError: the function has values that are bound to this process.
        """
        if "packed" not in self._kept:
            own = "Create that object inside the function, or use engine='threads'."
            what, advice = (self.label, own) if self.is_of_rows else ("A function", _ELSEWHERE)
            held = _sent_settings(), _decimal_context(), self.call, self.label, self.is_of_rows
            self._kept["packed"] = _sendable(held, what, advice)
        found: bytes = self._kept["packed"]
        return found

    def pack(self, value: Any) -> bytes:
        """Return arguments, or a result, of the function as bytes.

        Raises:
            ConfigurationError: arguments or result have values that are bound to this process.
        """
        if not self.is_of_rows:
            return _sendable(value, "A job", _ELSEWHERE)
        with contextlib.suppress(*_CANNOT_BE_SENT):
            return pickle.dumps(value, protocol=5)
        return _sendable(value, f"A row of {self.label}", "Remove such values from the rows, or use engine='threads'.")


def _sent_settings() -> config.Config:
    """Return the settings for workers, without an engine: workers run their jobs themselves."""
    found = config.settings()
    return found if found.engine is None else replace(found, engine=None)


def _decimal_context() -> Any:
    """Return the decimal context of this thread; None if the module `decimal` is not imported."""
    return sys.modules["decimal"].getcontext() if "decimal" in sys.modules else None


def _sendable(value: Any, what: str, advice: str) -> bytes:
    try:
        return packed(value)
    except _CANNOT_BE_SENT as error:
        raise ConfigurationError(f"{what} cannot be sent to or from a worker process: {error}. {advice}") from error


class WorkerProcess:
    """One process that receives functions and calls, one at a time. The first call, and the first call after its death, start
    it.

    It is started as a program, which needs no `if __name__ == "__main__"`, shares no lock with its parent, and can also be
    started by daemonic processes, such as the workers of torch's `DataLoader`; or `fork` starts it as a copy of this process.
    After its death, the next one is a program.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | _Forked | None = None
        self._answers: IO[bytes] | None = None
        self._known: set[int] = set()
        self._lock = threading.RLock()  # `kill` may be called by the garbage collector in the middle of `call`
        self.is_killed = False
        _processes.add(self)

    def fork(self) -> None:
        """Start the process as a copy of this one, made by the calling thread, with its modules and context variables.

        Raises:
            OSError: the system has no more processes or memory.
        """
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none
                stream.flush()  # or both processes print what it holds
        with _forking, self._lock, contextlib.ExitStack() as opened:
            asked, questions = _pipe(opened)
            ours, answers = _pipe(opened)
            parent = os.getpid()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, where this process has threads
                pid = os.fork()
            if pid == 0:
                _serve_as_fork(asked, answers, (questions, ours), parent)
            opened.pop_all()
            os.close(asked)
            os.close(answers)
            with contextlib.suppress(OSError):  # it did so itself
                os.setpgid(pid, pid)
            self._process, self._answers = _Forked(pid, open(questions, "wb")), open(ours, "rb")  # noqa: SIM115

    def call(
        self,
        function: SentFunction,
        *arguments: Any,
        retries: int = 0,
        job: int | None = None,
        on_retry: Callable[[], object] = bool,
    ) -> Any:
        """Return the result of the function in the process; an error of the function is raised unchanged.

        Args:
            function, arguments: the call.
            retries: number of new attempts, each in a new process, if the process dies.
            job: number of the job, for the error.
            on_retry: called before each new attempt.

        Raises:
            WorkerDiedError: the process ended without an answer, that many times.
            ConfigurationError: the function, its arguments or its result cannot be sent.
        """
        payload = function.pack(arguments)
        while True:
            try:
                answer = self._answer(function, payload)
                break
            except (OSError, EOFError) as error:
                died = self._died(function, job)
                if self.is_killed or not retries:
                    raise died from error
                retries -= 1
                on_retry()
                logger.warning("The worker process of %s %s; its job is run again.", function.label, died.how)
        self._known.add(function.key)
        found = unpacked(answer)
        if isinstance(found, Failure):
            raise found.error()
        return found

    def _answer(self, function: SentFunction, payload: bytes) -> bytes:
        sent = None if function.key in self._known else function.packed
        questions, answers = self._pipes()
        _write(questions, pickle.dumps((function.key, sent)))
        _write(questions, payload)
        if isinstance(self._process, _Forked):
            self._process.await_answer(answers, function.label)
        return _read(answers)

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        with self._lock:
            if self.is_killed:
                raise EOFError
            if self._process is None:
                self._start()
            assert self._process is not None and self._process.stdin is not None and self._answers is not None
            return self._process.stdin, self._answers

    def _start(self) -> None:
        import subprocess  # which a worker does without

        if not sys.executable:
            raise ConfigurationError(
                "The Python executable is unknown (sys.executable is empty), so workers cannot be started",
                advice="Use engine='threads'",
            )
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # as multiprocessing does
        ours, theirs = os.pipe()
        try:
            command = [sys.executable, *flags, "-P", "-c", _PROGRAM, str(theirs), str(os.getpid())]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=[theirs], process_group=0)
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        self._answers = open(ours, "rb")  # noqa: SIM115 - closed by `end`
        assert self._process.stdin is not None
        paths = [path for path in sys.path if isinstance(path, str)]
        self._process.stdin.write(json.dumps([paths, sys.argv]).encode() + b"\n")

    def _died(self, function: SentFunction, job: int | None) -> WorkerDiedError:
        code = None
        if self._process is not None:
            with contextlib.suppress(Exception):  # still there: it closed its pipes
                code = self._process.wait(timeout=5)
        self.end()
        how = "was stopped" if code is None else f"was killed by {_signal(-code)}" if code < 0 else f"exited with code {code}"
        if job is None:
            said = f"{function.label} {how} without an answer"
            advice = "Check whether it needs more memory than is available, or use fewer workers"
        else:
            said = f"job {job} ({function.label}) ended without a result: it {how}, perhaps for lack of memory"
            advice = "Run again with a smaller num_proc; finished jobs are kept"
        died = WorkerDiedError(f"The worker process of {said}. {advice}.", job=job)
        died.how = how
        return died

    def kill(self) -> None:
        """Kill the process; any thread may call this."""
        with self._lock:
            self.is_killed = True
            if self._process is not None:
                _kill_group(self._process)

    def end(self) -> None:
        """End the process and wait for it, in the thread that uses it; the next call starts another one."""
        with self._lock:
            process, self._process = self._process, None
            answers, self._answers = self._answers, None
            self._known.clear()
        if process is None:
            return
        _kill_group(process)
        for pipe in (process.stdin, answers):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.wait()

    def forget(self) -> None:
        """Close the pipes of the process, in a process that was forked from its parent."""
        pipes = (self._process.stdin if self._process is not None else None, self._answers)
        _close(*(pipe.fileno() for pipe in pipes if pipe is not None))


def _kill_group(process: subprocess.Popen[bytes] | _Forked) -> None:
    """Kill a process and its children."""
    if process.poll() is None:  # else its number may be that of another one
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            elif isinstance(process, subprocess.Popen):
                process.kill()


def _signal(number: int) -> str:
    with contextlib.suppress(ValueError):  # a real-time signal has no name
        return f"signal {number} ({signal.Signals(number).name})"
    return f"signal {number}"


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


# -- a copy of this process --------------------------------------------------------------------------------------------


_processes: weakref.WeakSet[WorkerProcess] = weakref.WeakSet()
_forking = threading.Lock()  # while pipes are made and not yet closed here, or another child would keep them open


def can_fork() -> bool:
    """Return True if worker processes are to be copies of this one, by the setting `start_method`.

    Raises:
        ConfigurationError: the setting is "fork" on a system without it.
    """
    method = config.settings().start_method
    if method == "fork" and not hasattr(os, "fork"):
        raise ConfigurationError(f"start_method is 'fork', which {sys.platform} does not have", advice="Use 'auto' or 'spawn'")
    if method != "auto":
        return method == "fork"
    torch = sys.modules.get("torch")
    has_device = torch is not None and hasattr(torch, "cuda") and torch.cuda.is_initialized()
    return sys.platform == "linux" and not has_device and not any(name in sys.modules for name in _NOT_FORKED)


class _Forked:
    """A forked process with the methods of `subprocess.Popen` that a `WorkerProcess` uses."""

    def __init__(self, pid: int, stdin: IO[bytes]) -> None:
        self.pid, self.stdin = pid, stdin
        self._code: int | None = None
        self._lock = threading.RLock()

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal; None as long as the process runs."""
        with self._lock:
            if self._code is None:
                try:
                    pid, status = os.waitpid(self.pid, os.WNOHANG)
                except ChildProcessError:  # waited for by the program: its code is not known
                    self._code = 0
                else:
                    self._code = os.waitstatus_to_exitcode(status) if pid else None
            return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process.

        Raises:
            TimeoutError: the process did not end in this many seconds.
        """
        end, pause = time.monotonic() + (float("inf") if timeout is None else timeout), 0.0005
        while (code := self.poll()) is None:
            if time.monotonic() > end:
                raise TimeoutError(f"The process {self.pid} did not end in {timeout} seconds.")
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        return code

    def await_answer(self, answers: IO[bytes], label: str) -> None:
        """Wait until there is an answer, or the process has ended; log once if it seems to hang."""
        waiting = select.poll()
        waiting.register(answers, select.POLLIN | select.POLLHUP)
        used = self._used()
        while not waiting.poll(_IDLE_SECONDS * 1000):
            before, used = used, self._used()
            if used == before:
                logger.warning(
                    "The worker process %d of %s has not used the processor for %d seconds. If it waits for a lock that "
                    "another thread held when it was forked, set DATASETS_START_METHOD=spawn.",
                    self.pid,
                    label,
                    _IDLE_SECONDS,
                )
                return

    def _used(self) -> list[bytes]:
        """Return the processor time of the process in ticks, user and system: fields 14 and 15 of `proc(5)`."""
        with contextlib.suppress(OSError), open(f"/proc/{self.pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[11:13]
        return []


def _pipe(opened: contextlib.ExitStack) -> tuple[int, int]:
    reads, writes = os.pipe()
    opened.callback(_close, reads, writes)
    return reads, writes


_copy_of: int | None = None


def is_copy_of(pid: int) -> bool:
    """Return True in a process that `WorkerProcess.fork` made from the process `pid`: its modules are the same."""
    return _copy_of == pid


def _serve_as_fork(questions: int, answers: int, others: tuple[int, ...], parent: int) -> None:
    """Answer calls in the forked process, and end it without returning to the parent's code."""
    global _copy_of, _forking
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setpgid(0, 0)
        _close(*others)
        for process in list(_processes):
            process.forget()
        _processes.clear()
        _forking, _copy_of = threading.Lock(), parent  # this thread holds the lock of its parent
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115 - notebooks and test runners have another one
        gc.freeze()  # what the parent holds is not finalized here
        _new_seeds()
        _use_one_thread()
        serve(open(questions, "rb"), answers, parent)  # noqa: SIM115
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _new_seeds() -> None:
    """Reseed the random numbers of the process, as Python does for `random`."""
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed()
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "random"):
        torch.random.default_generator.manual_seed(int.from_bytes(os.urandom(7), "little"))


def _use_one_thread() -> None:
    """Prevent OpenMP from using threads: the parent's threads do not exist here, and GNU's OpenMP would wait for them
    forever.
    """
    from ctypes import CDLL

    with contextlib.suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps if "omp" in line and ".so" in line}
        for path in sorted(path for path in paths if os.path.basename(path).startswith(("libgomp", "libomp", "libiomp"))):
            CDLL(path).omp_set_num_threads(1)


def serve(questions: IO[bytes], descriptor: int, parent: int) -> None:
    """Answer calls until there are no more: the main loop of a worker process.

    Args:
        questions: the calls.
        descriptor: descriptor of the pipe for the answers.
        parent: the calling process; this one ends with it.
    """
    os.set_inheritable(descriptor, False)
    answers = open(descriptor, "wb")  # noqa: SIM115 - as long as this process
    os.register_at_fork(after_in_child=partial(_close, questions.fileno(), descriptor))  # or its end would not be seen
    _end_with(parent)
    known: dict[int, tuple[Any, Any, SentFunction]] = {}
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            _write(answers, _answer(_read(questions), _read(questions), known))


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _answer(head: bytes, arguments: bytes, known: dict[int, tuple[Any, Any, SentFunction]]) -> bytes:
    try:
        key, sent = pickle.loads(head)
        if sent is not None:
            settings, decimals, *parts = unpacked(sent)
            known[key] = settings, decimals, SentFunction(*parts)
        settings, decimals, function = known[key]
        if decimals is not None:
            sys.modules["decimal"].setcontext(decimals.copy())
        with config.using(settings):
            return function.pack(function.call(*unpacked(arguments)))
    except BaseException as error:
        return packed(Failure.of(error))
    finally:
        with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or none
            sys.stdout.flush()  # the end of this process is a kill


def _end_with(parent: int) -> None:
    """End this process as soon as its parent has ended.

    On Linux the kernel does this, even while C code holds the interpreter's lock; elsewhere a thread does.
    """
    if sys.platform == "linux":
        from ctypes import CDLL

        CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)
    else:
        from datasets_core.engines.threads import in_thread

        in_thread(partial(_watch, parent), "datasets_core-orphan-check")


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_SECONDS)
    os._exit(1)

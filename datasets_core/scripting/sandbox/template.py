"""`Template`: one freshly executed, trusted, single-threaded interpreter per process, which forks the sandboxed ones.

Starting an interpreter and importing pyarrow takes 0.2 s; forking one that has done so takes milliseconds. The
template is executed again (`-I`, an empty environment, no descriptors), so that a confined process cannot read memory of
the parent; and it is forked before any code of a script runs.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from datasets_core.errors import ConfinementUnavailableError
from datasets_core.scripting.sandbox import kernel, limits
from datasets_core.scripting.sandbox.denials import Watch
from datasets_core.scripting.sandbox.limits import clear, root_folder, site_folders
from datasets_core.scripting.sandbox.protocol import Channel, Kind

# Running one function of this library in a fresh interpreter, with nothing of this process's paths or
# environment.


ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "4",  # each arena reserves 64 MiB of the address space, which is limited
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pyarrow's, which starts a thread when it is imported
    "MALLOC_CONF": "background_thread:false",
}
_PASSED = ("TZ", "LD_LIBRARY_PATH")  # the local time, and what some interpreters cannot be started without
_TEXT = """
import importlib.util, json, os, sys
root, module, name, folders, arguments = sys.argv[1:]
sys.argv[:] = [""]
place = os.path.join(root, "datasets_core")
file = os.path.join(place, "__init__.py")
spec = importlib.util.spec_from_file_location("datasets_core", file, submodule_search_locations=[place])
sys.modules["datasets_core"] = library = importlib.util.module_from_spec(spec)
spec.loader.exec_module(library)
folders = json.loads(folders)
sys.path[:] = [path for path in sys.path if any(path == each or path.startswith(each + os.sep) for each in folders)]
sys.path += [each for each in folders if each not in sys.path]
getattr(importlib.import_module(module), name)(**json.loads(arguments))
"""


def environment() -> dict[str, str]:
    """Return the environment of a fresh interpreter."""
    return {name: os.environ[name] for name in _PASSED if os.environ.get(name)} | ENVIRONMENT


def words(module: str, name: str, **arguments: Any) -> list[str]:
    """Return the command line of an interpreter that runs one function.

    Its modules only come from the standard library, installed packages, and the folder of this library.

    Args:
        module, name: the function, of this library.
        arguments: plain values for it.

    >>> words("datasets_core.scripting.sandbox.template", "run", control=3)[1:5]
    ['-I', '-X', 'utf8', '-c']
    """
    told = [root_folder(), module, name, json.dumps(site_folders()), json.dumps(arguments)]
    return [sys.executable, "-I", "-X", "utf8", "-c", _TEXT, *told]


# Life of a sandboxed process: forked by the template, it enters the sandbox, and only then serves requests.


_READS, _WRITES, _NOTICES = 3, 4, 5
_ENVIRONMENT = {
    "HOME": "home", "TMPDIR": "tmp", "HF_HOME": "home/.cache/huggingface", "XDG_CACHE_HOME": "home/.cache",
    "XDG_CONFIG_HOME": "home/.config", "XDG_DATA_HOME": "home/.local/share", "MPLCONFIGDIR": "home/.config/matplotlib",
    "PATH": "bin", "NLTK_DATA": "home/nltk_data", "TFDS_DATA_DIR": "home/tensorflow_datasets",
}  # fmt: skip


def execute(words: Sequence[str], descriptors: Sequence[int]) -> NoReturn:
    """Execute another program in this process, which becomes the confined process (`run_executed`)."""
    try:
        os.setsid()
        _keep_only(descriptors)
        for descriptor in (_READS, _WRITES, _NOTICES):
            os.set_inheritable(descriptor, True)
        os.execve(words[0], list(words), environment())
    finally:
        os._exit(127)


def run_executed(serve: str) -> NoReturn:
    """Run as the confined process in an interpreter that was executed for it."""
    run_child(serve, (_READS, _WRITES, 1, _NOTICES), parent=None, tasks=limits.num_tasks())


def run_child(serve: str, descriptors: Sequence[int], *, parent: int | None, tasks: int) -> NoReturn:
    """Run as the confined process, from the fork to its end.

    Args:
        serve: the function that is called with a `Channel`, as `module:name`.
        descriptors: the pipes from and to the parent, the pipe for output, and the socket for notices.
        parent: the process that forked this one; this process ends with it, if nothing else ensures that.
        tasks: number of threads that its user already runs.
    """
    status = 1
    try:
        with contextlib.suppress(PermissionError):  # it leads a session already, where it was executed
            os.setsid()
        _keep_only(descriptors)
        channel = Channel(_READS, _WRITES)
        with _told(channel):
            setup = next(channel.requests())
            function = _function(serve)
            if parent is not None:
                limits.die_with(parent)
            _settle(setup)
            active = _enter(setup, tasks)
            channel.watch = _watch(setup)
            channel.watch.tell = channel.tell_denials
            channel.send(Kind.READY, {"layers": active})
        with _told(channel):
            function(channel)
            channel.tell_denials()
            status = 0
    finally:
        with contextlib.suppress(BaseException):  # the script may have put anything there; this process ends now
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


@contextlib.contextmanager
def _told(channel: Channel) -> Iterator[None]:
    """Report an exception to the parent, if it still listens."""
    try:
        yield
    except BaseException as error:
        with contextlib.suppress(OSError):
            channel.fail(error)
        raise SystemExit(1) from error


def _keep_only(descriptors: Sequence[int]) -> None:
    """Close everything except the given descriptors and the standard streams, without input."""
    reads, writes, output, notices = descriptors
    nothing = os.open(os.devnull, os.O_RDONLY)
    given = (nothing, output, output, reads, writes, notices)
    above = max(map(int, os.listdir("/proc/self/fd"))) + 1
    for place, descriptor in enumerate(given):
        os.dup2(descriptor, above + place, inheritable=False)
    for place in range(len(given)):
        os.dup2(above + place, place, inheritable=place < 3)
    os.closerange(len(given), above + len(given))


_LOCKS = ("Barrier", "BoundedSemaphore", "Condition", "Event", "Lock", "RLock", "Semaphore")


def _settle(setup: Mapping[str, Any]) -> None:
    """Set up the script's surroundings: its folders, its environment, and its own random seeds."""
    scratch = setup["scratch"]
    os.umask(0o077)
    os.chdir(scratch)
    os.environ.clear()
    os.environ.update(setup["environment"])
    os.environ.update({name: os.path.join(scratch, place) for name, place in _ENVIRONMENT.items()})
    for place in ("home", "tmp"):
        os.makedirs(os.path.join(scratch, place), exist_ok=True)
    tempfile.tempdir = None
    sys.dont_write_bytecode = True
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()  # forks of one process would all draw the same
    processes = importlib.import_module("multiprocessing")
    for name in _LOCKS:  # there are no other processes to share them with: those of threads serve a `ThreadPool`
        setattr(processes.context.BaseContext, name, staticmethod(getattr(threading, name)))
        setattr(processes, name, getattr(threading, name))


def _enter(setup: Mapping[str, Any], tasks: int) -> list[str]:
    """Enter the sandbox, layer after layer; any that fails ends this process.

    Returns:
        The active layers.
    """
    machine, version = setup["machine"], setup["landlock"]
    limits.limit(memory=setup["memory_bytes"], cpu_seconds=setup["cpu_seconds"], file=setup["file_bytes"], tasks=tasks)
    limits.drop_capabilities(machine)
    kernel.forbid_new_privileges()
    active = ["limits", "capabilities"]
    if version:
        readable = [*limits.readable(), *setup["readable"]]
        kernel.restrict(
            readable=readable, listed=setup["listed"], writable=[setup["scratch"]], devices=limits.DEVICES, version=version
        )
        active.append("landlock")
    if setup["seccomp"]:
        active += _filter(machine, notices=setup["notices"])
    os.close(_NOTICES)
    return active


def _filter(machine: str, *, notices: bool) -> list[str]:
    program = kernel.program(machine, process=os.getpid(), notices=notices)
    if not notices:
        kernel.install(program)
        return ["seccomp"]
    closing = kernel.closing(machine)
    with socket.socket(fileno=os.dup(_NOTICES)) as parent:
        listener = kernel.install(program, notices=True)
        socket.send_fds(parent, [b"!"], [listener])
    os.close(listener)
    kernel.install(closing)
    return ["seccomp", "notices"]


def _watch(setup: Mapping[str, Any]) -> Watch:
    """Install the audit hook permanently, and return it."""
    watch = Watch(
        readable=[*limits.readable(), *limits.DEVICES, *setup["readable"]],
        writable=[setup["scratch"], *limits.DEVICES],
        listed=setup["listed"],
        trusted=[os.path.join(limits.root_folder(), "datasets_core"), *limits.site_folders()],
        hides=not setup["landlock"],
    )
    sys.addaudithook(watch.hook)
    return watch


def _function(serve: str) -> Callable[[Channel], None]:
    module, _, name = serve.partition(":")
    function: Callable[[Channel], None] = getattr(importlib.import_module(module), name)
    return function


# The template process: it imports heavy modules, forks a child for each request, and reports how each one
# ended.


MAX_MESSAGE = 1 << 16
PRELOADS = frozenset(
    {"PIL.Image", "bs4", "cv2", "h5py", "lxml.etree", "nltk", "openpyxl", "pandas", "regex", "scipy", "sklearn", "soundfile",
     "spacy", "tqdm", "yaml"}
)  # fmt: skip
_HEAVY = ("numpy", "pyarrow", "pyarrow.ipc", "datasets_core.building.builder", "datasets_core.scripting.script")
_LATER = (  # when there is time: the first child does not wait for what not every script needs
    *("datasets_core.building.write.generate", "datasets_core.features.types", "datasets_core.features.inference"),
    *("datasets_core.meta.reference", "datasets_core.scripting.compat.tables.datasets", "pyarrow.compute", "multiprocessing"),
    *("numpy.random", "csv", "zipfile", "tarfile", "xml.etree.ElementTree", "concurrent.futures", "uuid"),
)


def run(control: int) -> None:
    """Answer requests for children until the parent ends.

    Args:
        control: descriptor of the socket to the parent.
    """
    gc.disable()
    for name in _HEAVY:
        importlib.import_module(name)
    gc.freeze()  # what children share with the template is not touched by their collections
    gc.enable()
    _Template(socket.socket(fileno=control)).serve()


def num_threads() -> int:
    """Return the number of threads of this process, without those of an allocator that handles forks itself."""
    count = 0
    for thread in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{thread}/comm", encoding="utf-8", errors="replace") as file:
            count += file.read().strip() != "jemalloc_bg_thd"
    return count


class _Template:
    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._running: dict[int, int] = {}  # process → number of the request that it was started by
        self._scratch: dict[int, str] = {}
        self._ended: dict[int, dict[str, Any]] = {}
        self._tasks = limits.num_tasks()
        self._later = list(_LATER)

    def serve(self) -> None:
        parent = os.pidfd_open(os.getppid())
        waiting = select.poll()
        waiting.register(self._control, select.POLLIN)
        waiting.register(parent, select.POLLIN)
        self._reply({"ready": os.getpid(), "threads": num_threads()})
        try:
            self._answer(waiting, parent)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the parent was killed between a request and its answer
        finally:
            self._clean()

    def _answer(self, waiting: select.poll, parent: int) -> None:
        while True:
            happened = dict(waiting.poll(0 if self._later else None))
            if not happened:
                importlib.import_module(self._later.pop(0))
                if not self._later:
                    gc.freeze()
                continue
            data, descriptors = b"", list[int]()
            if parent not in happened:
                data, descriptors, _, _ = socket.recv_fds(self._control, MAX_MESSAGE, 8)
            if not data:
                return
            request = json.loads(data)
            try:
                if request["do"] == "fork":
                    self._fork(request, descriptors, parent)
                else:
                    self._tell(request)
            except OSError as error:
                self._reply({"n": request["n"], "error": f"{type(error).__name__}: {error}"})
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            self._reap()

    def _fork(self, request: dict[str, Any], descriptors: list[int], parent: int) -> None:
        before = num_threads()
        for name in request["preload"]:
            if name in PRELOADS and name not in sys.modules:
                self._preload(name)
        if num_threads() > before or before > 1:
            self._reply({"n": request["n"], "threads": num_threads()})
            return
        importlib.import_module(request["serve"].partition(":")[0])
        template = os.getpid()
        process = os.fork()
        if not process and request["execute"]:
            execute(request["execute"], descriptors)  # never returns
        if not process:
            run_child(request["serve"], descriptors, parent=template, tasks=self._tasks)  # never returns
        self._running[process], self._scratch[process] = request["n"], request["scratch"]
        watched = os.pidfd_open(process)
        try:
            self._reply({"n": request["n"], "pid": process}, [watched])
        finally:
            os.close(watched)

    def _clean(self) -> None:
        """Remove everything that the parent left, if it was killed or did not clean up."""
        for process, scratch in self._scratch.items():
            with contextlib.suppress(OSError):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                clear(scratch)

    def _preload(self, name: str) -> None:
        try:
            importlib.import_module(name)
        except Exception as error:  # whatever a package does when it is imported: the script that needs it meets the same
            print(f"{name} was not imported beforehand: {error!r}", file=sys.stderr)

    def _tell(self, request: dict[str, Any]) -> None:
        self._reap(request["of"])
        self._reply({"n": request["n"], **self._ended.pop(request["of"], {})})

    def _reap(self, wanted: int | None = None) -> None:
        """Record the children that have ended; wait for the requested one."""
        for process, number in list(self._running.items()):
            ended, status, usage = os.wait4(process, 0 if number == wanted else os.WNOHANG)
            if ended:
                del self._running[process], self._scratch[process]
                self._ended[number] = {
                    "status": status,
                    "max_rss": usage.ru_maxrss << 10,
                    "cpu": usage.ru_utime + usage.ru_stime,
                }

    def _reply(self, head: dict[str, Any], descriptors: list[int] | None = None) -> None:
        socket.send_fds(self._control, [json.dumps(head).encode()], descriptors or [])


_START_SECONDS = 60.0  # a cold disk, and a machine that is busy
_ANSWER_SECONDS = 60.0  # imports of what a script needs included
_LAST_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Forked:
    """A process forked by the template.

    Attributes:
        source: the template.
        number: identifies the process in the template.
        process: its id.
        watched: a descriptor (pidfd) of the process, unaffected by reuse of its id; the caller closes it.
    """

    source: Template
    number: int
    process: int
    watched: int

    def ended(self) -> dict[str, Any]:
        """Return how it ended, if it has ended: `status` as of `os.wait`, `max_rss` in bytes, `cpu` in seconds; or empty."""
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
                    words("datasets_core.scripting.sandbox.template", "run", control=its.fileno()),
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
        """True if this process started it and it still runs."""
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
        """Start a confined process; None if a module imported beforehand has started threads.

        Args:
            descriptors: the descriptors for reading, writing, output and notices.
            serve: the function that serves requests, as `module:name`.
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
        """Return how a process ended; empty if it ended with the template."""
        with self._lock:
            try:
                return self._ask({"do": "tell", "of": forked.number})[0]
            except ConfinementUnavailableError:
                return {}  # it died, and all its processes with it

    def forked(self) -> None:
        """Leave the process to the one that started it: a fork does not wait for it."""
        self._process.returncode = 0

    def stop(self) -> None:
        """End it, and every process that it forked."""
        self._control.close()
        if self._process.stderr is not None:
            self._process.stderr.close()
        if self.owner != os.getpid():
            self.forked()
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
            advice = "Try again; it is started again"
            if "ModuleNotFoundError" in reason:
                advice = "Install that package with this interpreter: confined processes only see installed packages"
            raise ConfinementUnavailableError(
                f"the process that starts confined ones failed ({reason})", advice=advice
            ) from error

    def _receive(self, seconds: float, number: int | None) -> tuple[dict[str, Any], list[int]]:
        """Return the reply to a request; replies to earlier requests that were interrupted are dropped, and the processes that
        they started are ended.
        """
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
    """Return the template of this process, started if needed; a process that was forked from this one starts its own.

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
    """Return a process forked by the template of this one; the arguments are those of `Template.fork`.

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
    """End the templates of this process, and all processes that they forked; the next use starts another template."""
    global _current
    with _lock:
        for each in (*_retired, *([_current] if _current is not None else [])):
            each.stop()
        _retired.clear()
        _current = None


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()  # another thread may have held it
    for each in (*_retired, *([] if _current is None else [_current])):
        each.forked()


atexit.register(stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)

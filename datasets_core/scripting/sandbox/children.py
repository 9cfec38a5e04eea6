"""`Children`: the sandboxed processes of one script, started on use, each brought to the state of the builder."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import os
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from datasets_core.config import settings
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import ScriptTimeoutError
from datasets_core.fetch import disk_cache
from datasets_core.store.manifest import parse_staging

if TYPE_CHECKING:
    from datasets_core.scripting.sandbox.denials import Denial
    from datasets_core.scripting.sandbox.process import SandboxedProcess
    from datasets_core.scripting.sandbox.protocol import Message

Answer = Callable[[dict[str, Any]], Mapping[str, Any]]


@dataclasses.dataclass(frozen=True)
class Home:
    """Folders for the files of a sandboxed script, all below one folder in the downloads.

    Args:
        folder: the folder.

    >>> Home.of("/c/downloads", "/scripts/reviews").files.startswith("/c/downloads/confined/")
    True
    """

    folder: str

    @classmethod
    def of(cls, downloads: str, identity: str) -> Home:
        """Return the folders of a script.

        Args:
            downloads: the folder of downloads.
            identity: identity of the script's folder, or of its repository: scripts of one folder share their files.
        """
        name = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return cls(os.path.join(downloads, disk_cache.CONFINED, name))

    @property
    def files(self) -> str:
        """Folder of downloaded and unpacked files, readable for the script."""
        return os.path.join(self.folder, "files")

    @property
    def mark(self) -> str:
        """Path of a file that exists if any of the files is not public."""
        return os.path.join(self.folder, "private")

    def scratch(self, family: str) -> str:
        """Create a folder that a confined process may write.

        If the parent process is killed, the folder is removed like an unfinished build.

        Args:
            family: identifies the builder across processes.
        """
        name = f"script.incomplete-{os.getpid()}-{family}{os.urandom(4).hex()}"
        try:
            os.makedirs(self.files, exist_ok=True)
            scratch = os.path.join(self.folder, name)
            os.mkdir(scratch, 0o700)
        except OSError:  # a cache that cannot be written still reads what is in it
            scratch = os.path.join(tempfile.gettempdir(), f"datasets_core-{name}")
            os.mkdir(scratch, 0o700)
        return scratch

    def clear(self, family: str) -> None:
        """Remove the scratch folders of a family: those of workers that were killed."""
        from datasets_core.scripting.sandbox.limits import clear

        with contextlib.suppress(FileNotFoundError):
            for name in os.listdir(self.folder):
                found = parse_staging(os.path.join(self.folder, name))
                if found is not None and os.path.basename(found.path).rpartition("-")[2].startswith(family):
                    clear(found.path)


class Children:
    """Sandboxed processes of one script, each used by one thread at a time.

    Args:
        script: the script, for messages.
        home: folders of its files.
        readable: further paths that it may read.
        listed: folders that it may list, without reading their files.
        load: the request to load it.
        preload: modules that it imports.

    Attributes:
        make: the request to make its builder; None before that.
        splits: the request for its splits, and the replay of its downloads; None before that.
        token: identity of the script and its location.
    """

    def __init__(
        self,
        script: str,
        home: Home,
        *,
        readable: tuple[str, ...],
        listed: tuple[str, ...] = (),
        load: Mapping[str, Any],
        preload: tuple[str, ...] = (),
    ) -> None:
        self.script, self.home, self.readable, self.listed = script, home, readable, listed
        self._load, self._preload = dict(load), preload
        self.make: dict[str, Any] | None = None
        self.splits: tuple[dict[str, Any], Answer] | None = None
        self.denials: list[Denial] = []
        self.token, self._family = os.urandom(16).hex(), os.urandom(4).hex()
        self._started_in = 0.0  # seconds that the starts of processes have taken
        self._idle: list[SandboxedProcess] = []
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: value for name, value in self.__dict__.items() if name not in ("_idle", "_lock", "denials")}
        return _arrived, (self.token, state)  # processes stay with the one that started them

    def told(self, deadline: Deadline | None) -> dict[str, Any]:
        """Return the script's description of its class."""
        child = self._started()
        with self._using(child):
            return self._ask(child, self._load, deadline, doing="importing it").head

    def made(self, make: dict[str, Any], deadline: Deadline | None) -> dict[str, Any]:
        """Return the script's description of a new builder."""
        with self.one(deadline) as child:
            self.make, self.splits = make, None
            return self._ask(child, make, deadline, doing="creating its builder").head

    def named(self, request: dict[str, Any], answer: Answer, replay: Answer, deadline: Deadline | None) -> dict[str, Any]:
        """Return the script's description of its splits; also sent to all later processes.

        Args:
            request: the request.
            answer: answers its requests.
            replay: repeats the same answers.
            deadline: deadline of the reply.
        """
        self.splits = None
        with self.one(deadline) as child:
            found = self._ask(child, request, deadline, answer=answer, doing="returning its splits").head
        kept, self._idle = self._idle[-1:], self._idle[:-1]
        self.close()  # processes in an earlier state
        self._idle, self.splits, self.token = kept, (request, replay), os.urandom(16).hex()
        return found

    @contextlib.contextmanager
    def one(self, deadline: Deadline | None = None) -> Iterator[SandboxedProcess]:
        """Yield a process in the state of the builder, for one thread; it is used again if nothing fails."""
        with self._lock:
            child = self._idle.pop() if self._idle else None
        if child is not None:
            with self._using(child):
                yield child
            return
        child = self._started()
        with self._using(child):
            self._ask(child, self._load, deadline, doing="importing it")
            if self.make is not None:
                self._ask(child, self.make, deadline, doing="creating its builder")
            if self.splits is not None:
                request, replay = self.splits
                self._ask(child, request, deadline, answer=replay, doing="returning its splits")
            yield child

    @contextlib.contextmanager
    def _using(self, child: SandboxedProcess) -> Iterator[None]:
        try:
            yield
        except BaseException:
            child.kill()
            raise
        finally:
            self.denials += [each for each in child.denials if each not in self.denials]
        child.denials.clear()
        with self._lock:
            self._idle.append(child)
        _lately.add(self)

    def _started(self) -> SandboxedProcess:
        from datasets_core.scripting.sandbox.limits import Sandbox
        from datasets_core.scripting.sandbox.process import SandboxedProcess

        limits, began = settings(), time.monotonic()
        child = SandboxedProcess.start(
            Sandbox(
                readable=(*self.readable, self.home.files),
                listed=self.listed,
                scratch=self.home.scratch(self._family),
                memory_bytes=limits.confined_memory_bytes,
                cpu_seconds=limits.confined_cpu_seconds,
                file_bytes=limits.confined_file_bytes,
                preload=self._preload,
                script=self.script,
            )
        )
        self._started_in += time.monotonic() - began
        return child

    def _due(self, deadline: Deadline | None) -> float | None:
        """Return the deadline, extended by the time of starting processes."""
        return None if deadline is None else deadline.at + self._started_in

    def _ask(
        self,
        child: SandboxedProcess,
        request: Mapping[str, Any],
        deadline: Deadline | None,
        *,
        doing: str,
        answer: Answer | None = None,
    ) -> Message:
        with in_time(self.script, deadline, doing):
            return child.ask(request, answer, deadline=self._due(deadline), doing=doing)

    def stream(
        self,
        request: Mapping[str, Any],
        deadline: Callable[[], Deadline | None],
        *,
        doing: str,
        answer: Answer | None = None,
    ) -> Generator[Message]:
        """Yield the replies to a request; a process whose replies are not read to the end is ended.

        Args:
            request: the request.
            deadline: returns the deadline of the next reply.
            doing: description of the request for messages.
            answer: answers its requests.
        """
        first = deadline()
        with in_time(self.script, first, doing), self.one(first) as child:
            yield from child.stream(request, answer, deadline=lambda: self._due(deadline()), doing=doing)

    def close(self) -> None:
        """End the idle processes."""
        with self._lock:
            idle, self._idle = self._idle, []
        for child in idle:
            child.kill()

    def end(self) -> None:
        """End the processes, and remove files left by those of workers; no request may follow."""
        self.close()
        self.home.clear(self._family)


class _IdleProcesses:
    """The last few owners of idle processes; processes of older owners are ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._order: list[weakref.ref[Children]] = []

    def add(self, children: Children) -> None:
        """Record that a builder has an idle process, and end the processes of the builder that has been idle longest."""
        with self._lock:
            self._order = [each for each in self._order if each() not in (None, children)] + [weakref.ref(children)]
            over = [each() for each in self._order[:-_MOST_IDLE]]
            self._order = self._order[-_MOST_IDLE:]
        for each in over:
            if each is not None:
                each.close()


_MOST_IDLE = 4
_lately = _IdleProcesses()
_arrivals: dict[str, Children] = {}  # of the one builder that this worker process makes jobs of


def _arrived(token: str, state: dict[str, Any]) -> Children:
    """Return the object for a pickled state: one for all jobs of a builder, so that its processes serve them all."""
    found = _arrivals.get(token)
    if found is None:
        found = Children.__new__(Children)
        found.__dict__.update(state, denials=[], _idle=[], _lock=threading.Lock())
        for other in _arrivals.values():
            other.close()
        _arrivals.clear()
        _arrivals[token] = found
    return found


@contextlib.contextmanager
def in_time(script: str, deadline: Deadline | None, doing: str) -> Iterator[None]:
    """Name the whole time limit in timeout errors of the block."""
    try:
        yield
    except ScriptTimeoutError as error:
        if deadline is None:
            raise
        raise ScriptTimeoutError(script, doing, seconds=deadline.seconds, split=error.split, row=error.row) from None

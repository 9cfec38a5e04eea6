"""`Watch`, `Denial`: accesses denied to a sandboxed script, described with their location in the script; errors of the script.

An audit hook of the sandboxed process sees the actions of Python.  It refuses sockets, processes and signals itself, so
that the error describes the action; file accesses it only records, since the kernel decides.  It is not a
protection: Landlock and seccomp stop code that bypasses it, and `Notices` reports that.
"""

from __future__ import annotations

import contextlib
import dis
import errno
import os
import re
import struct
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import FrameType, FunctionType
from typing import Any

from datasets_core import errors
from datasets_core.errors import (
    ConfinementUnavailableError,
    DatasetDiskError,
    DatasetGenerationError,
    DatasetsCoreError,
    DeniedAccessError,
    DeniedAccessWarning,
    MissingDependencyError,
    ScriptMemoryError,
    ScriptTimeoutError,
    UntrustedScriptError,
    WorkerDiedError,
    redact,
)
from datasets_core.errors.base import authors_frames
from datasets_core.optional import is_installed
from datasets_core.scripting.sandbox.kernel import name_of, pretended

_IMPORT = "<frozen importlib._bootstrap>"
_CURIOUS = ("/platform.py", "/uuid.py", "/ctypes/util.py")  # they ask other programs, and do without
_MAX_DENIAL_TEXT = 300
_MAX_DENIALS = 200
UNNAMED = "do what is denied"  # begins what was tried, where only the system's refusal is known
_QUOTED = re.compile(r"'(/[^']+)'")


@dataclass(frozen=True, slots=True)
class Denial:
    """One denied access.

    Attributes:
        tried: description of the action, as in "it tried to …".
        path: the file of the script, if known.
        line: the line in it, from 1.
    """

    tried: str
    path: str | None = None
    line: int | None = None


def warn_of(denials: Iterable[Denial], *, script: str) -> None:
    """Warn once of each denied access that the script ignored.

    Args:
        denials: denials that were not reported by an error.
        script: the script, if its place is unknown.
    """
    for denial in dict.fromkeys(denials):
        said = DeniedAccessError(denial.tried, path=denial.path or script, line=denial.line)
        warnings.warn(DeniedAccessWarning(str(said)), stacklevel=3)


class Watch:
    """The audit hook of a confined process, and the denials that it recorded.

    Args:
        readable: files and folders that may be read.
        writable: folders that may be written.
        trusted: folders whose code is not the script's.
        listed: folders whose names may be read.
        hides: True if files that may not be read do not exist for the process.
    """

    def __init__(
        self,
        *,
        readable: Iterable[str],
        writable: Iterable[str],
        trusted: Iterable[str],
        listed: Iterable[str] = (),
        hides: bool = False,
    ) -> None:
        self._listed = tuple(map(os.path.realpath, listed))
        self._hides = hides
        self.denials: list[Denial] = []
        self.unsent: list[Denial] = []
        self._writable = tuple(map(os.path.realpath, writable))
        self._readable = (*map(os.path.realpath, readable), *self._writable)
        self._trusted = tuple(place + os.sep for place in trusted)
        self._here: str | None = None  # the working folder, as long as it is known
        self._folders: dict[tuple[str, bool], bool] = {}
        self._by_path: dict[str, Denial] = {}
        self._handlers = self._table()
        self.tell: Callable[[], None] | None = None  # sends what is unsent to the parent

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Audit hook for `sys.addaudithook`.

        Raises:
            DeniedAccessError: the action opens a socket, starts a process, or signals another one.
        """
        handler = self._handlers.get(event)
        if handler is not None:
            handler(*arguments)

    def blamed(self, error: BaseException) -> Denial | None:
        """Return the denial that caused an error, if any; preferably one that describes the action."""
        seen: BaseException | None = error
        unnamed = None
        for _ in range(20):
            if seen is None:
                break
            if isinstance(seen, DeniedAccessError):
                return Denial(seen.tried, seen.path, seen.line)
            found = self._of(seen) if isinstance(seen, OSError) else None
            if found is not None and not found.tried.startswith(UNNAMED):
                return found
            unnamed = unnamed or found
            seen = seen.__cause__ or seen.__context__  # also one that libraries leave out when they raise their own
        return unnamed

    def _of(self, error: OSError) -> Denial | None:
        text = str(error)
        refusals = (errno.EACCES, errno.EPERM, errno.EROFS, *([errno.ENOENT] if self._hides else []))
        if error.errno not in refusals and f"errno {errno.EACCES}]" not in text.lower():
            return None
        names = [name for name in (error.filename, error.filename2, *_QUOTED.findall(text)) if isinstance(name, (str, bytes))]
        paths = [self._absolute(name) for name in names]
        for path in paths:
            if path in self._by_path:
                return self._by_path[path]
        for path in paths:
            is_own = self._is_inside(path, writing=True)
            if os.access(path, os.R_OK) and not is_own:  # else it is none that the user could read
                return Denial(f"open {_cut_path(path)!r}", *self._place_of(error))
            if is_own and not os.path.lexists(path) and error.errno in (errno.EACCES, errno.EPERM):  # below a folder elsewhere
                return Denial(f"open {_cut_path(names[paths.index(path)])!r}", *self._place_of(error))
        if paths or error.errno not in (errno.EACCES, errno.EPERM):
            return None
        through = {os.path.basename(os.path.dirname(each.filename)) for each in traceback.extract_tb(error.__traceback__)}
        tried = "start processes (multiprocessing)" if "multiprocessing" in through else f"{UNNAMED} ({_cut_path(text)})"
        return Denial(tried, *self._place_of(error))

    def _table(self) -> dict[str, Callable[..., None]]:
        refused: dict[str, Callable[..., str]] = {
            "socket.__new__": lambda _, family, kind, protocol: (
                f"open a socket ({_constant('AF_', family)}, {_constant('SOCK_', kind)})"
            ),
            "socket.connect": lambda _, address: f"connect to {address!r}",
            "socket.bind": lambda _, address: f"listen at {address!r}",
            "socket.sendto": lambda _, address: f"send to {address!r}",
            "socket.sendmsg": lambda _, address: f"send to {address!r}",
            "socket.getaddrinfo": lambda host, port, *_: f"connect to {_host(host)!r}, port {port}",
            "socket.gethostbyname": lambda host: f"look up the address of {_host(host)!r}",
            "socket.gethostbyaddr": lambda host: f"look up the address of {_host(host)!r}",
            "socket.getnameinfo": lambda address: f"look up the name of {address!r}",
            "subprocess.Popen": lambda program, words, *_: f"start a process ({_command(words or program)})",
            "os.system": lambda command: f"start a process ({_command(command)})",
            "os.exec": lambda path, words, _: f"start a process ({_command(words or path)})",
            "os.posix_spawn": lambda path, words, _: f"start a process ({_command(words or path)})",
            "os.spawn": lambda _, path, words, *__: f"start a process ({_command(words or path)})",
            "pty.spawn": lambda words: f"start a process ({_command(words)})",
            "os.fork": lambda: "start a process (fork)",
            "os.forkpty": lambda: "start a process (fork)",
            "os.killpg": lambda group, number: f"send signal {number} to the processes {group}",
            "os.symlink": lambda source, place, *_: f"make a link to {_cut_path(source)!r} at {_cut_path(place)!r}",
            "os.link": lambda source, place, *_: f"make a link to {_cut_path(source)!r} at {_cut_path(place)!r}",
        }
        for event in ("http.client", "ftplib", "imaplib", "poplib", "smtplib", "nntplib"):
            name = f"{event}.open" if event == "imaplib" else f"{event}.connect"
            refused[name] = lambda _, host, port=None, *__: f"connect to {_host(host)!r}, port {port}"
        table: dict[str, Callable[..., None]] = {name: self._refusing(words) for name, words in refused.items()}
        table |= {
            "urllib.Request": self._request,
            "os.kill": self._kill,
            "os.chdir": self._move_on,
            "os.fchdir": self._move_on,
            "open": self._open,
            "os.listdir": lambda path: self._look("list", path),
            "os.scandir": lambda path: self._look("list", path),
            "sqlite3.connect": lambda path: self._look("open", path),
            "os.mkdir": lambda path, *_: self._change("make the folder", path),
            "os.remove": lambda path, *_: self._change("remove", path),
            "os.rmdir": lambda path, *_: self._change("remove", path),
            "os.rename": self._move,
            "os.truncate": lambda path, *_: self._change("truncate", path),
            "os.chmod": lambda path, *_: self._change("change the mode of", path, refuse=True),
            "os.chown": lambda path, *_: self._change("change the owner of", path, refuse=True),
            "os.utime": lambda path, *_: self._change("change the times of", path, refuse=True),
            "os.setxattr": lambda path, *_: self._change("change the attributes of", path, refuse=True),
            "os.removexattr": lambda path, *_: self._change("change the attributes of", path, refuse=True),
        }
        return table

    def _refusing(self, words: Callable[..., str]) -> Callable[..., None]:
        return lambda *arguments: self._refuse(words(*arguments))

    def _refuse(self, tried: str) -> None:
        denial = self._note(tried)
        raise DeniedAccessError(denial.tried, path=denial.path, line=denial.line)

    def _note(self, tried: str) -> Denial:
        place = self._place()
        denial = Denial(tried[: 2 * _MAX_DENIAL_TEXT], *(place or (None, None)))
        if place is not None and denial not in self.denials and len(self.denials) < _MAX_DENIALS:
            self.denials.append(denial)
            self.unsent.append(denial)
            if self.tell is not None:
                with contextlib.suppress(OSError):  # the parent has gone, and this process goes with it
                    self.tell()
        return denial

    def _place(self) -> tuple[str | None, int | None] | None:
        """Return the innermost line of the script; None if the script did not cause the access: an import of an installed
        package, or the standard library inspecting the machine.
        """
        frame: FrameType | None = sys._getframe(1)
        unnamed: tuple[str | None, int | None] = (None, None)
        while frame is not None:
            name = frame.f_code.co_filename
            if name == _IMPORT or (name.endswith(_CURIOUS) and self._is_trusted(name)):
                return None
            if not self._is_trusted(name):
                if name.startswith("/"):
                    return name, frame.f_lineno
                unnamed = unnamed if unnamed[0] else (name, frame.f_lineno)
            frame = frame.f_back
        return unnamed

    def _place_of(self, error: BaseException) -> tuple[str | None, int | None]:
        """Return the innermost line of the script in a traceback."""
        lines = [(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
        own = [line for line in lines if not self._is_trusted(line[0])]
        return next((line for line in reversed(own) if line[0].startswith("/")), own[-1] if own else (None, None))

    def _is_trusted(self, name: str) -> bool:
        return name.startswith(("<frozen ", *self._trusted)) or not name.startswith(("/", "<"))  # "pyarrow/error.pxi"

    def _request(self, url: str, *_: object) -> None:
        if not url.lower().startswith(("file:", "data:")):
            self._refuse(f"connect to {_cut_path(redact(url))!r}")

    def _kill(self, process: int, number: int) -> None:
        if process != os.getpid():
            self._refuse(f"send signal {number} to process {process}")

    def _open(self, path: object, mode: object, flags: int) -> None:
        if isinstance(path, int) or path is None:
            return
        writing = bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)) if isinstance(flags, int) else False
        if isinstance(mode, str):
            writing = writing or any(letter in mode for letter in "wax+")
        self._change("write", path) if writing else self._look("read", path)

    def _look(self, words: str, path: object) -> None:
        if path is None or not isinstance(path, (str, bytes, os.PathLike)):
            return
        whole = self._absolute(path)
        if self._is_inside(whole, writing=False) or (words == "list" and _below(os.path.realpath(whole), self._listed)):
            return
        if os.path.lexists(whole):
            self._by_path[whole] = self._note(f"{words} {_cut_path(whole)!r}")
        elif self._hides and len(self._by_path) < _MAX_DENIALS:
            self._by_path[whole] = Denial(f"{words} {_cut_path(whole)!r}", *(self._place() or (None, None)))

    def _change(self, words: str, path: object, *, refuse: bool = False) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        whole = self._absolute(path)
        if self._is_inside(whole, writing=True) or not os.path.lexists(os.path.dirname(whole)):
            return
        if refuse:
            self._refuse(f"{words} {_cut_path(whole)!r}")
        self._by_path[whole] = self._note(f"{words} {_cut_path(whole)!r}")

    def _move_on(self, *_: object) -> None:
        self._here = None

    def _absolute(self, path: Any) -> str:
        text = os.fsdecode(path)
        if not text.startswith("/"):
            self._here = self._here or os.getcwd()
            text = f"{self._here}/{text}"
        return os.path.normpath(text)

    def _move(self, source: object, target: object, *_: object) -> None:
        self._change("move", source)
        self._change("write", target)

    def _is_inside(self, path: str, *, writing: bool) -> bool:
        """Return True if the sandbox allows reading, or writing, a path; decided by its folder, which is looked up once."""
        folder = os.path.dirname(path)
        known = self._folders.get((folder, writing))
        places = self._writable if writing else self._readable
        if known is None:
            known = _below(os.path.realpath(folder), places)
            if len(self._folders) < 10_000:
                self._folders[folder, writing] = known
        return known or _below(os.path.realpath(path), places)


def _below(path: str, places: Iterable[str]) -> bool:
    return any(path == place or path.startswith(place.rstrip("/") + "/") for place in places)


def _cut_path(text: object) -> str:
    shown = os.fsdecode(text) if isinstance(text, (bytes, os.PathLike)) else str(text)
    return shown if len(shown) <= _MAX_DENIAL_TEXT else shown[:_MAX_DENIAL_TEXT] + "…"


def _host(host: object) -> object:
    return host.decode(errors="replace") if isinstance(host, bytes) else host


def _constant(prefix: str, value: int) -> str:
    """Return the name of a number in `socket`."""
    names = vars(sys.modules.get("socket", sys)).items()
    return next((name for name, found in names if name.startswith(prefix) and found == value), str(value))


def _command(words: Any) -> str:
    if isinstance(words, (list, tuple)):
        return _cut_path(" ".join(_cut_path(word) for word in words[:20]))
    return _cut_path(words)


# Errors of the sandboxed process: sent as plain values, and raised again by the parent as the same class, if they are
# ours.


_MAX_TEXT = 20_000
_MAX_FACTS = 100
_MAX_LINES = 30
# Programs decide by these whether they trust a script, and the library whether it goes on: no script makes one.
_OF_THE_PARENT = (UntrustedScriptError, ConfinementUnavailableError, ScriptTimeoutError, WorkerDiedError)


def head_of(error: BaseException, denial: Denial | None = None) -> dict[str, Any]:
    """Return an error as the head of a message.

    Args:
        error: the error.
        denial: its cause, if it was a denial.

    >>> head_of(ZeroDivisionError("division by zero"))["error"]["message"]
    'division by zero'
    """
    if denial is not None:
        error = DeniedAccessError(denial.tried, path=denial.path, line=denial.line).with_traceback(error.__traceback__)
    elif isinstance(error, OSError) and error.errno == errno.EFBIG and not _is_ours(error):
        place = error.filename or "a file of a confined script"
        error = DatasetDiskError(str(place), "it is larger than the setting confined_file_bytes allows, or than what is free")
    elif _is_memory(error):
        error = ScriptMemoryError("A confined script").with_traceback(error.__traceback__)
    facts = {name: value for name, value in vars(error).items() if _is_plain(value)} if _is_ours(error) else {}
    cause = error.__cause__
    told = cause if cause is not None and getattr(error, "of_users_function", False) else error
    frames = authors_frames(told) or told.__traceback__
    lines = traceback.format_exception(type(told), told, frames, limit=-_MAX_LINES, chain=False)
    return {
        "error": {
            "class": type(error).__name__,
            "message": _cut(str(error)),
            "facts": facts,
            "traceback": [_cut(line) for line in "".join(lines).splitlines()[-2 * _MAX_LINES :]],
        }
    }


def _is_ours(error: BaseException) -> bool:
    return isinstance(error, DatasetsCoreError) and getattr(errors, type(error).__name__, None) is type(error)


def _is_memory(error: BaseException) -> bool:
    """Return True if the error, or one of its causes, is a lack of memory."""
    seen: BaseException | None = error
    for _ in range(20):
        if seen is None:
            return False
        if isinstance(seen, MemoryError) or (isinstance(seen, OSError) and seen.errno == errno.ENOMEM):
            return not isinstance(error, ScriptMemoryError)
        seen = seen.__cause__ or seen.__context__
    return False


def _is_plain(value: object, depth: int = 0) -> bool:
    if isinstance(value, (list, tuple)):
        return depth < 3 and len(value) <= _MAX_FACTS and all(_is_plain(each, depth + 1) for each in value)
    return value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _MAX_TEXT)


def raised(head: Mapping[str, Any], *, script: str) -> DatasetsCoreError:
    """Return the error described by an untrusted head from the sandboxed process.

    Args:
        head: the head, not validated.
        script: the script, for errors that are not classes of `datasets_core.errors`.
    """
    told = head.get("error")
    told = told if isinstance(told, dict) else {}
    name, message = shown(told.get("class", "?"), 200), shown(told.get("message", ""))
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, DatasetsCoreError) and not issubclass(kind, _OF_THE_PARENT):
        facts = told.get("facts")
        facts = facts if isinstance(facts, dict) else {}
        state = {key: _tupled(value) for key, value in facts.items() if key.isidentifier() and key[0] != "_" and key != "args"}
        if kind is MissingDependencyError:
            message = _with_place(message, state.get("package"))
        told_of = {key: value for key, value in state.items() if _is_plain(value) and not callable(getattr(kind, key, None))}
        error = errors.rebuild(kind, (message,), dict.fromkeys(_fields(kind)) | told_of)
        if isinstance(error, DeniedAccessError):
            error.errno = errno.EPERM
    else:
        error = DatasetGenerationError(
            f"The confined run of {script} failed with {name}: {message.rstrip('.')}. Fix the script."
        )
    lines = told.get("traceback")
    if isinstance(lines, list) and lines:
        error.add_note("In the confined process:\n" + "\n".join(shown(line, 2000) for line in lines[-2 * _MAX_LINES :]))
    return error


def _fields(kind: type[DatasetsCoreError]) -> frozenset[str]:
    """Return the attributes that the constructors of an error set, which programs expect of every error of its class."""
    makers = [found for base in kind.__mro__ if isinstance(found := vars(base).get("__init__"), FunctionType)]
    set_there = {each.argval for maker in makers for each in dis.get_instructions(maker) if each.opname == "STORE_ATTR"}
    return frozenset(name for name in set_there if not hasattr(kind, name))


def _with_place(message: str, package: object) -> str:
    """Return the advice for a package that this process finds, but the sandboxed one does not."""
    if not isinstance(package, str) or not package.isidentifier() or not is_installed(package):
        return message
    return (
        f"{message.partition(', which is not installed')[0]}, which confined scripts do not see: it is outside of the "
        f"folders of installed packages. Install {package!r} without -e, or trust the script by trust_remote_code=True."
    )


def _tupled(value: object) -> object:
    """Return lists as tuples, which errors contain."""
    return tuple(map(_tupled, value)) if isinstance(value, list) else _text(value)


def _text(value: object) -> object:
    return shown(value) if isinstance(value, str) else value


def shown(text: object, limit: int = _MAX_TEXT) -> str:
    """Return a text of the confined process for display, without control characters and of limited length.

    >>> shown("a\\x1b[31mred\\tb")
    'a\\\\x1b[31mred\\tb'
    """
    cut = _cut(str(text), limit)
    return "".join(each if each.isprintable() or each in "\n\t " else ascii(each)[1:-1] for each in cut)


def _cut(text: str, limit: int = _MAX_TEXT) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def denial_of(head: Mapping[str, Any]) -> Denial:
    """Return the denial described by an untrusted head from the sandboxed process."""
    path, line = head.get("path"), head.get("line")
    return Denial(
        shown(head.get("tried", "?"), 2000),
        shown(path, 4096) if isinstance(path, str) else None,
        line if isinstance(line, int) else None,
    )


# System calls that the kernel hands to the parent instead of executing them: refused, and reported.


_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTICE = struct.Struct("=QII iIQ 6Q")
_ANSWER = struct.Struct("=QqiI")
_HERE = 0xFFFFFF9C  # AT_FDCWD, as 32 bits
_PATH_BYTES = 4096
_USER_DATABASE = (1, 0x80801, 0)  # the socket, AF_UNIX, by which the C library asks nscd for users; not required

_WORDS = {
    "socket": "open a socket", "socketpair": "open a socket", "connect": "connect to something", "bind": "listen",
    "sendto": "send to something", "fork": "start a process", "vfork": "start a process", "clone": "start a process",
    "execve": "start a program", "execveat": "start a program", "kill": "send a signal to another process",
    "tgkill": "send a signal to another process", "tkill": "send a signal to another process",
    "rt_sigqueueinfo": "send a signal to another process", "rt_tgsigqueueinfo": "send a signal to another process",
    "pidfd_send_signal": "send a signal to another process", "ptrace": "get a handle of another process",
    "process_vm_readv": "read the memory of another process", "process_vm_writev": "write the memory of another process",
    "open": "truncate a file that it does not write", "openat": "truncate a file that it does not write",
    "symlink": "make a link", "symlinkat": "make a link", "link": "make a link", "linkat": "make a link",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Call:
    id: int
    task: int
    name: str
    arguments: tuple[int, ...]


class Notices:
    """The parent's end of the channel through which a confined process reports denials.

    Args:
        descriptor: descriptor of the kernel's notices.
        machine: the architecture of its system call numbers.
        scratch: folder in which changes of modes, owners and times of files are simulated.
    """

    def __init__(self, descriptor: int, *, machine: str, scratch: str) -> None:
        self.descriptor = descriptor
        self._machine, self._scratch = machine, os.path.realpath(scratch)
        self._pretended = pretended(machine)

    def take(self) -> Denial | None:
        """Answer one pending call: simulate success, or refuse it and return the denial."""
        call = self._received()
        if call is None:
            return None
        own = self._own(call) if call.name in self._pretended else None
        answer = -errno.EPERM if own is None else 0 if os.path.lexists(own) else -errno.ENOENT
        is_untold = call.name == "socket" and call.arguments[:3] == _USER_DATABASE
        if not self._exchanged(_SEND, bytearray(_ANSWER.pack(call.id, 0, answer, 0))):
            return None
        if own is not None or is_untold:
            return None
        words = _WORDS.get(call.name)
        return Denial(f"make the system call {call.name}" if words is None else f"{words} (by the system call {call.name})")

    def _received(self) -> _Call | None:
        notice = bytearray(_NOTICE.size)
        if not self._exchanged(_RECEIVE, notice):
            return None
        number_of_notice, task, _, number, _, _, *arguments = _NOTICE.unpack(notice)
        return _Call(number_of_notice, task, name_of(number, self._machine), tuple(arguments))

    def _exchanged(self, request: int, words: bytearray) -> bool:
        """Exchange a notification with the kernel; False if the calling thread has ended meanwhile."""
        import fcntl  # not on every system

        try:
            fcntl.ioctl(self.descriptor, request, words)
        except OSError:
            return False
        return True

    def _own(self, call: _Call) -> str | None:
        """Return the file that a call names, if it is in the scratch folder; None if that cannot be determined."""
        folder, *rest = call.arguments if "at" in call.name else (_HERE, *call.arguments)
        try:
            if call.name in ("fchmod", "fchown") or (call.name == "utimensat" and not rest[0]):
                path = os.readlink(f"/proc/{call.task}/fd/{call.arguments[0] & 0xFFFFFFFF}")
            else:
                here = "cwd" if folder & 0xFFFFFFFF == _HERE else f"fd/{folder & 0xFFFFFFFF}"
                path = os.path.join(os.readlink(f"/proc/{call.task}/{here}"), self._text(call.task, rest[0]))
            found = os.path.realpath(path)
        except (OSError, ValueError, OverflowError):
            return None
        return found if found.startswith(self._scratch + os.sep) else None

    @staticmethod
    def _text(task: int, place: int) -> str:
        with open(f"/proc/{task}/mem", "rb", buffering=0) as memory:
            page = os.sysconf("SC_PAGE_SIZE")
            memory.seek(place)
            text = memory.read(min(_PATH_BYTES, page - place % page))
            if b"\0" not in text:
                text += memory.read(_PATH_BYTES)
        return shown(os.fsdecode(text.partition(b"\0")[0]))

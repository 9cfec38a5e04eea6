"""What a confined script tried and may not do, in words, with the place in its text.

An audit hook of the confined process sees what Python is about to do.  Sockets, processes and signals it refuses by itself, so
that the error says what was tried; files it only takes note of, since the kernel decides.  It keeps nothing out: code that goes
past it meets Landlock and seccomp, and `notices` tells of that.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType
from typing import Any

from datasets_core.errors import DeniedAccessError, DeniedAccessWarning
from datasets_core.redact import redact

_IMPORT = "<frozen importlib._bootstrap>"
_CURIOUS = ("/platform.py", "/uuid.py", "/ctypes/util.py")  # they ask other programs, and do without
_MAX_TEXT = 300
_MAX_DENIALS = 200
UNNAMED = "do what is denied"  # begins what was tried, where only the system's refusal is known
_QUOTED = re.compile(r"'(/[^']+)'")


@dataclass(frozen=True, slots=True)
class Denial:
    """One thing that was denied.

    Attributes:
        tried: in words, as in "it tried to …".
        path: the file of the script, where known.
        line: the line in it, from 1.
    """

    tried: str
    path: str | None = None
    line: int | None = None


def warn_of(denials: Iterable[Denial], *, script: str) -> None:
    """Warn of each thing that was denied and that the script went on without, once.

    Args:
        denials: what no error has told of.
        script: the script, where its place is not known.
    """
    for denial in dict.fromkeys(denials):
        said = DeniedAccessError(denial.tried, path=denial.path or script, line=denial.line)
        warnings.warn(DeniedAccessWarning(str(said)), stacklevel=3)


class Watch:
    """The audit hook of a confined process, and what it has taken note of.

    Args:
        readable: files and folders that may be read.
        writable: folders that may be written.
        trusted: folders whose code is not the script's.
        hides: what may not be read is not there at all.
    """

    def __init__(
        self, *, readable: Iterable[str], writable: Iterable[str], trusted: Iterable[str], hides: bool = False
    ) -> None:
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

    def hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        """What `sys.addaudithook` takes.

        Raises:
            DeniedAccessError: a socket, a process, or a signal to another.
        """
        handler = self._handlers.get(event)
        if handler is not None:
            handler(*arguments)

    def blamed(self, error: BaseException) -> Denial | None:
        """The denial that an error came of, if one did; rather one that says what was tried than one that does not."""
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
                return Denial(f"open {_cut(path)!r}", *self._place_of(error))
            if is_own and not os.path.lexists(path) and error.errno in (errno.EACCES, errno.EPERM):  # below a folder elsewhere
                return Denial(f"open {_cut(names[paths.index(path)])!r}", *self._place_of(error))
        if paths or error.errno not in (errno.EACCES, errno.EPERM):
            return None
        through = {os.path.basename(os.path.dirname(each.filename)) for each in traceback.extract_tb(error.__traceback__)}
        tried = "start processes (multiprocessing)" if "multiprocessing" in through else f"{UNNAMED} ({_cut(text)})"
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
            "os.symlink": lambda source, place, *_: f"make a link to {_cut(source)!r} at {_cut(place)!r}",
            "os.link": lambda source, place, *_: f"make a link to {_cut(source)!r} at {_cut(place)!r}",
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
        denial = Denial(tried[: 2 * _MAX_TEXT], *(place or (None, None)))
        if place is not None and denial not in self.denials and len(self.denials) < _MAX_DENIALS:
            self.denials.append(denial)
            self.unsent.append(denial)
        return denial

    def _place(self) -> tuple[str | None, int | None] | None:
        """The innermost line that is the script's; None for what is not its doing: an import of an installed package, or the
        standard library finding out about the machine.
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
        """The innermost line of a traceback that is the script's."""
        lines = [(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)]
        own = [line for line in lines if not self._is_trusted(line[0])]
        return next((line for line in reversed(own) if line[0].startswith("/")), own[-1] if own else (None, None))

    def _is_trusted(self, name: str) -> bool:
        return name.startswith(("<frozen ", *self._trusted)) or not name.startswith(("/", "<"))  # "pyarrow/error.pxi"

    def _request(self, url: str, *_: object) -> None:
        if not url.lower().startswith(("file:", "data:")):
            self._refuse(f"connect to {_cut(redact(url))!r}")

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
        if self._is_inside(whole, writing=False):
            return
        if os.path.lexists(whole):
            self._by_path[whole] = self._note(f"{words} {_cut(whole)!r}")
        elif self._hides and len(self._by_path) < _MAX_DENIALS:
            self._by_path[whole] = Denial(f"{words} {_cut(whole)!r}", *(self._place() or (None, None)))

    def _change(self, words: str, path: object, *, refuse: bool = False) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        whole = self._absolute(path)
        if self._is_inside(whole, writing=True) or not os.path.lexists(os.path.dirname(whole)):
            return
        if refuse:
            self._refuse(f"{words} {_cut(whole)!r}")
        self._by_path[whole] = self._note(f"{words} {_cut(whole)!r}")

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
        """Whether the cage lets a path be read, or written; told by its folder, which is looked up once."""
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


def _cut(text: object) -> str:
    shown = os.fsdecode(text) if isinstance(text, (bytes, os.PathLike)) else str(text)
    return shown if len(shown) <= _MAX_TEXT else shown[:_MAX_TEXT] + "…"


def _host(host: object) -> object:
    return host.decode(errors="replace") if isinstance(host, bytes) else host


def _constant(prefix: str, value: int) -> str:
    """The name that a number has in `socket`."""
    names = vars(sys.modules.get("socket", sys)).items()
    return next((name for name, found in names if name.startswith(prefix) and found == value), str(value))


def _command(words: Any) -> str:
    if isinstance(words, (list, tuple)):
        return _cut(" ".join(_cut(word) for word in words[:20]))
    return _cut(words)

"""System calls that the kernel hands to the parent instead of doing them: refused, and told of."""

from __future__ import annotations

import errno
import os
import struct
from dataclasses import dataclass

from datasets_core.confine.denials import Denial
from datasets_core.confine.reported import shown
from datasets_core.confine.syscalls import name_of, pretended

_RECEIVE, _SEND = 0xC0502100, 0xC0182101
_NOTICE = struct.Struct("=QII iIQ 6Q")
_ANSWER = struct.Struct("=QqiI")
_HERE = 0xFFFFFF9C  # AT_FDCWD, as 32 bits
_PATH_BYTES = 4096
_USER_DATABASE = (1, 0x80801, 0)  # the socket, AF_UNIX, by which the C library asks nscd who a user is; it does without

_WORDS = {
    "socket": "open a socket", "socketpair": "open a socket", "connect": "connect to something", "bind": "listen",
    "sendto": "send to something", "fork": "start a process", "vfork": "start a process", "clone": "start a process",
    "execve": "start a program", "execveat": "start a program", "kill": "send a signal to another process",
    "tgkill": "send a signal to another process", "tkill": "send a signal to another process",
    "rt_sigqueueinfo": "send a signal to another process", "rt_tgsigqueueinfo": "send a signal to another process",
    "pidfd_send_signal": "send a signal to another process", "ptrace": "get hold of another process",
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
    """The parent's end: what a confined process was refused, as it comes.

    Args:
        descriptor: of the kernel's notices.
        machine: whose numbers its system calls have.
        scratch: where modes, owners and times of files are changed as if.
    """

    def __init__(self, descriptor: int, *, machine: str, scratch: str) -> None:
        self.descriptor = descriptor
        self._machine, self._scratch = machine, os.path.realpath(scratch)
        self._pretended = pretended(machine)

    def take(self) -> Denial | None:
        """Answer one call, which must have come: as if it were done, or refused, which is told."""
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
        """Tell the kernel, or be told; False if the thread that made the call has ended meanwhile."""
        import fcntl  # not on every system

        try:
            fcntl.ioctl(self.descriptor, request, words)
        except OSError:
            return False
        return True

    def _own(self, call: _Call) -> str | None:
        """The file that a call names, if it lies in the scratch folder; what cannot be found out does not."""
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

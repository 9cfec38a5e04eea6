"""seccomp, by ctypes: which system calls this process may still make, as a filter program that the kernel runs for each.

The packages for it (`pyseccomp`, and `landlockpy` for Landlock) are not used: the first needs libseccomp of the system, which
must be found and loaded, and neither saves more than the 60 lines that assemble and install a program here.  It has some 900
instructions: the machine is checked, allowed calls pass, calls that depend on their arguments have a rule each, calls that no
script needs are refused, and what is none of these does not exist here (ENOSYS).

Where the kernel can (`notices`), refused calls are handed to the parent, which refuses and reports them.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
from collections.abc import Callable, Iterable

from datasets_core.confine import syscalls
from datasets_core.confine.libc import checked, libc

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_X32 = 0x40000000  # numbers from here on are of the x32 machine, whose calls are others
_SET_FILTER, _GET_ACTION = 1, 2
_NEW_LISTENER = 1 << 3
_NO_NEW_PRIVS = 38

ALLOW, KILL, NOTIFY = 0x7FFF0000, 0x80000000, 0x7FC00000

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06  # BPF_LD|W|ABS, BPF_ALU|AND|K, BPF_RET|K
_EQUAL, _AT_LEAST, _ANY_BIT = 0x15, 0x35, 0x45  # BPF_JMP|JEQ|K, JGE, JSET
_NUMBER_AT, _MACHINE_AT, _ARGUMENTS_AT = 0, 4, 16

_THREAD = 0x00010000
_THREAD_FLAGS = 0x007D0F00  # what C libraries start threads with, and nothing that makes a process or a namespace
_ACCESS_MODE, _TRUNCATE = 3, 0o1000
_FCNTL = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1031, 1032, 1034)  # duplicates, flags, locks, sizes; no signals, no leases
_PRCTL = (3, 15, 16, 23, 39, 41, 42, 0x53564D41)  # names of threads and of memory, huge pages, questions
_IOCTL = (0x5401, 0x5413, 0x5421, 0x541B, 0x5450, 0x5451)  # is it a terminal, how large; blocking, bytes there, close on exec
_FORGE_INPUT = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
_CLONE_FILE = 0x40049409  # FICLONE, which callers know may not be supported

Instruction = tuple[int, int, int, int]


def errno_action(code: int) -> int:
    """The action that lets a call fail."""
    return 0x00050000 | code


REFUSE = errno_action(errno.EPERM)


def machine() -> str | None:
    """The machine whose system calls this process makes, if it is one that scripts are confined on.

    >>> machine() in {"x86_64", "aarch64", None}
    True
    """
    name = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    is_wide = struct.calcsize("P") == 8  # a 32-bit interpreter makes the calls of another machine
    return name if name in _ARCHITECTURES and is_wide and platform.system() == "Linux" else None


def is_available() -> bool:
    """Whether the kernel takes filters."""
    return _has_action(REFUSE & 0xFFFF0000)


def has_notices() -> bool:
    """Whether the kernel can hand calls to another process."""
    return _has_action(NOTIFY)


def _has_action(action: int) -> bool:
    number = _SECCOMP.get(machine() or "")
    return number is not None and libc().syscall(number, _GET_ACTION, 0, struct.pack("=I", action)) == 0


def program(name: str, *, process: int, notices: bool) -> list[Instruction]:
    """The filter of a confined process.

    Args:
        name: the machine.
        process: its id: it may send signals to itself.
        notices: refused calls are handed to the parent, and what sends it the descriptor for that still passes (`closing`).
    """
    deny = NOTIFY if notices else REFUSE
    rules: dict[str, list[Instruction]] = dict.fromkeys(syscalls.allowed(name), _always(ALLOW))
    rules |= dict.fromkeys(syscalls.refused(name), _always(deny))
    rules |= dict.fromkeys(syscalls.pretended(name), _always(NOTIFY if notices else errno_action(0)))
    rules |= dict.fromkeys(syscalls.unsupported(name), _always(errno_action(errno.EOPNOTSUPP)))
    if not notices:
        rules["utimensat"] = _present_time()
    rules |= dict.fromkeys(("clone3", "openat2"), _always(errno_action(errno.ENOSYS)))  # by pointer: callers then use the older
    rules["clone"] = _thread(deny)
    rules["open"], rules["openat"] = _opening(1, deny), _opening(2, deny)
    rules["kill"] = rules["tgkill"] = _one_of(0, {process: ALLOW}, deny)
    rules["prlimit64"] = _one_of(0, {0: ALLOW, process: ALLOW}, deny)
    rules["sched_setaffinity"] = _one_of(0, {0: ALLOW, process: ALLOW}, REFUSE)
    rules["fcntl"] = _one_of(1, dict.fromkeys(_FCNTL, ALLOW), deny)
    rules["prctl"] = _one_of(0, dict.fromkeys(_PRCTL, ALLOW), deny)
    rules["ioctl"] = _one_of(
        1,
        dict.fromkeys(_IOCTL, ALLOW) | dict.fromkeys(_FORGE_INPUT, deny) | {_CLONE_FILE: errno_action(errno.EOPNOTSUPP)},
        errno_action(errno.ENOTTY),
    )
    if notices:
        rules["sendmsg"] = rules["seccomp"] = _always(ALLOW)
    numbers = _numbers(name)
    return _assembled(
        name, {numbers[call]: rule for call, rule in rules.items() if call in numbers}, errno_action(errno.ENOSYS)
    )


def closing(name: str) -> list[Instruction]:
    """The filter that takes back what `program` let pass for the sake of notices."""
    numbers = _numbers(name)
    return _assembled(name, {numbers[call]: _always(REFUSE) for call in ("sendmsg", "seccomp")}, ALLOW)


def _numbers(name: str) -> dict[str, int]:
    tables: Iterable[Callable[[str], dict[str, int]]] = (
        syscalls.allowed,
        syscalls.refused,
        syscalls.pretended,
        syscalls.unsupported,
        syscalls.ruled,
    )
    return {call: number for table in tables for call, number in table(name).items()}


def _always(action: int) -> list[Instruction]:
    return [(_RETURN, 0, 0, action)]


def _argument(index: int) -> Instruction:
    """Load the low half of an argument: all that the kernel looks at in those that rules are about."""
    return (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * index)


def _one_of(index: int, actions: dict[int, int], otherwise: int) -> list[Instruction]:
    tests = [each for value, action in actions.items() for each in ((_EQUAL, 0, 1, value), *_always(action))]
    return [_argument(index), *tests, *_always(otherwise)]


def _thread(deny: int) -> list[Instruction]:
    """clone makes a thread, and nothing else."""
    return [
        _argument(0),
        (_ANY_BIT, 0, 2, _THREAD),
        (_AND, 0, 0, 0xFFFFFFFF ^ _THREAD_FLAGS),
        (_EQUAL, 1, 0, 0),
        *_always(deny),
        *_always(ALLOW),
    ]


def _present_time() -> list[Instruction]:
    """Times of files seem to change, but to the present: that fails, as it does for a file that is yet to be made (`touch`)."""
    high = (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * 2 + 4)
    given = _always(errno_action(0))
    return [_argument(2), (_EQUAL, 1, 0, 0), *given, high, (_EQUAL, 1, 0, 0), *given, *_always(REFUSE)]


def _opening(index: int, deny: int) -> list[Instruction]:
    """Opening truncates no file that it does not open for writing, which the first versions of Landlock let pass."""
    return [
        _argument(index),
        (_AND, 0, 0, _ACCESS_MODE),
        (_EQUAL, 3, 0, 3),
        (_EQUAL, 0, 3, 0),
        _argument(index),
        (_ANY_BIT, 0, 1, _TRUNCATE),
        *_always(deny),
        *_always(ALLOW),
    ]


def _assembled(name: str, rules: dict[int, list[Instruction]], otherwise: int) -> list[Instruction]:
    written = [(_LOAD, 0, 0, _MACHINE_AT), (_EQUAL, 1, 0, _ARCHITECTURES[name]), *_always(KILL), (_LOAD, 0, 0, _NUMBER_AT)]
    if name == "x86_64":
        written += [(_AT_LEAST, 0, 1, _X32), *_always(KILL)]
    # The kernel keeps in mind which calls always pass, so only those with rules are looked up, and they come first.
    for number, rule in sorted(rules.items(), key=lambda each: (len(each[1]) == 1, each[0])):
        written += [(_EQUAL, 0, len(rule), number), *rule]
    return [*written, *_always(otherwise)]


def forbid_new_privileges() -> None:
    """No program that this process might execute can get more rights than it has; filters and Landlock ask for that.

    Raises:
        OSError: the kernel refused.
    """
    nothing = [ctypes.c_ulong(0)] * 3
    checked(libc().prctl(_NO_NEW_PRIVS, ctypes.c_ulong(1), *nothing), "no_new_privs")


def install(instructions: list[Instruction], *, notices: bool = False) -> int:
    """Put a filter on this thread and all that come of it, for good.

    Returns:
        The descriptor of the notices; 0 without.

    Raises:
        OSError: the kernel refused.
    """
    code = b"".join(struct.pack("=HBBI", *each) for each in instructions)
    text = ctypes.create_string_buffer(code, len(code))
    described = struct.pack("@HP", len(instructions), ctypes.addressof(text))
    number = _SECCOMP[machine() or ""]
    return checked(libc().syscall(number, _SET_FILTER, _NEW_LISTENER if notices else 0, described), "seccomp")

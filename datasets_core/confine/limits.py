"""What a confined process may take of the machine, and the rights that it gives up: resource limits and capabilities."""

from __future__ import annotations

import ctypes
import os
import struct

from datasets_core.config import settings
from datasets_core.confine.libc import checked, libc

_LEAST_MEMORY = 2 << 30
_KEPT_FREE = 1 << 30
_MOST_FILES = 1024
_MORE_TASKS = 4096
_CAPABILITY_VERSION = 0x20080522
_CAPSET = {"x86_64": 126, "aarch64": 91}
_BOUNDING_READ, _BOUNDING_DROP, _AMBIENT, _AMBIENT_CLEAR, _DEATH_SIGNAL = 23, 24, 47, 4, 1


def memory_bytes() -> int:
    """The memory that a confined script may take, as the settings say, else half of what the machine has."""
    chosen = settings().confined_memory_bytes
    if chosen is not None:
        return chosen
    return max(_LEAST_MEMORY, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)


def file_bytes(folder: str) -> int:
    """The size of one file that a confined script may write in `folder`, as the settings say, else what is free there."""
    chosen = settings().confined_file_bytes
    return chosen if chosen is not None else free(folder) - kept_free(folder)


def free(folder: str) -> int:
    """What is free on the disk of `folder`, in bytes."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def num_free_files(folder: str) -> int:
    """How many more files the disk of `folder` can hold, where it counts them; else 0."""
    return os.statvfs(folder).f_favail


def kept_free(folder: str) -> int:
    """What a confined script must leave free there: 1 GiB, or half of what is free where that is less."""
    return min(_KEPT_FREE, free(folder) // 2)


def num_tasks() -> int:
    """How many threads the user of this process runs, which the limit on processes counts."""
    count, user = 0, os.getuid()
    for name in os.listdir("/proc"):
        try:
            if name.isdigit() and os.stat(f"/proc/{name}").st_uid == user:
                count += len(os.listdir(f"/proc/{name}/task"))
        except OSError:  # it has ended meanwhile
            continue
    return count


def limit(*, memory: int, cpu_seconds: int | None, file: int, tasks: int) -> None:
    """Set the limits of this process, which it cannot raise again.

    Args:
        memory: bytes that it may take beyond what it has mapped now.
        cpu_seconds: processor time; it is told at the end of it, and killed a second later.
        file: size of a file that it writes.
        tasks: threads that its user runs already.
    """
    import resource  # not on every system

    _limit(resource.RLIMIT_AS, _address_space() + memory)
    if cpu_seconds is not None:
        _limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
    _limit(resource.RLIMIT_FSIZE, file)
    _limit(resource.RLIMIT_NOFILE, _MOST_FILES)
    _limit(resource.RLIMIT_NPROC, tasks + _MORE_TASKS)
    for none in (resource.RLIMIT_CORE, resource.RLIMIT_MSGQUEUE, resource.RLIMIT_RTPRIO, resource.RLIMIT_NICE):
        _limit(none, 0)


def _limit(what: int, soft: int, hard: int | None = None) -> None:
    """The limit, or the one that holds already if it is lower."""
    import resource

    _, present = resource.getrlimit(what)
    top = hard if hard is not None else soft
    top = top if present == resource.RLIM_INFINITY else min(top, present)
    resource.setrlimit(what, (min(soft, top), top))


def _address_space() -> int:
    with open("/proc/self/statm", encoding="utf-8") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")


def drop_capabilities(machine: str) -> None:
    """Give up every capability, for good: a root that is left is one in name.

    Raises:
        OSError: the kernel refused.
    """
    capability = 0
    while _prctl(_BOUNDING_READ, capability) >= 0:
        _prctl(_BOUNDING_DROP, capability)  # only a process that has capabilities can, and must
        capability += 1
    _prctl(_AMBIENT, _AMBIENT_CLEAR)
    header, nothing = struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)
    checked(libc().syscall(_CAPSET[machine], header, nothing), "capset")


def die_with(parent: int) -> None:
    """Let this process be killed when `parent`, which forked it, ends.

    Raises:
        ProcessLookupError: it has ended already.
    """
    _prctl(_DEATH_SIGNAL, 9)
    if os.getppid() != parent:
        raise ProcessLookupError("the process that forked this one has ended")


def _prctl(option: int, argument: int) -> int:
    return int(libc().prctl(option, ctypes.c_ulong(argument), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)))

"""Reads what the system tells of other processes: environment, memory, descriptors."""

import ctypes
import os

from .attacker import WHERE, Attacker, attempt, system_call


def _read(path):
    with open(path, "rb") as file:
        return file.read(4096)


def _linked(path):
    return os.readlink(path)


def _by_call(name, process):
    text = ctypes.create_string_buffer(64)

    class Piece(ctypes.Structure):
        _fields_ = (("place", ctypes.c_void_p), ("size", ctypes.c_size_t))

    ours, its = Piece(ctypes.addressof(text), 64), Piece(ctypes.addressof(text), 64)
    return system_call(name, process, ctypes.byref(ours), 1, ctypes.byref(its), 1, 0)


def ways():
    """Each way, with its name."""
    for who, process in (("parent", WHERE["process"]), ("template", os.getppid()), ("first", 1)):
        for what in ("environ", "mem", "maps", "cmdline", "auxv", "stack", "io", "syscall", "fdinfo/0", "net/tcp", "mountinfo"):
            yield f"{what} of {who}", lambda place=f"/proc/{process}/{what}": _read(place)
        yield f"descriptors of {who}", lambda place=f"/proc/{process}/fd": os.listdir(place)
        yield f"threads of {who}", lambda place=f"/proc/{process}/task": os.listdir(place)
        yield f"a file of {who}", lambda place=f"/proc/{process}/root{WHERE['secret']}": _read(place)
        yield f"a file beside {who}", lambda place=f"/proc/{process}/cwd/project_secrets.py": _read(place)
        yield f"standard input of {who}", lambda place=f"/proc/{process}/fd/0": _read(place)
        yield f"process_vm_readv of {who}", lambda process=process: _by_call("process_vm_readv", process)
        yield f"ptrace of {who}", lambda process=process: system_call("ptrace", 16, process, 0, 0)
        yield f"ptrace seize of {who}", lambda process=process: system_call("ptrace", 0x4206, process, 0, 0)
        yield f"pidfd of {who}", lambda process=process: system_call("pidfd_open", process, 0)
        yield f"kcmp of {who}", lambda process=process: system_call("kcmp", os.getpid(), process, 0, 0, 0)
    for what in ("environ", "mem", "auxv", "task", "fd", "map_files"):
        yield f"own {what}", lambda place=f"/proc/self/{what}": os.listdir(place) if os.path.isdir(place) else _read(place)
    yield "environ of a thread", lambda: _read("/proc/thread-self/environ")
    yield "all processes", lambda: os.listdir("/proc")
    yield "kernel log", lambda: _read("/dev/kmsg")
    yield "all memory", lambda: _read("/dev/mem")
    yield "keyrings", lambda: system_call("keyctl", 0, -3, 0, 0, 0)
    yield "terminal", lambda: _read("/dev/tty")


attempt("import", ways)


class ReadProcesses(Attacker):
    """Reads."""

    ways = staticmethod(ways)

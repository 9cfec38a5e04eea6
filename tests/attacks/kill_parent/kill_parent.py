"""Signals, traces and changes the processes around it."""

import ctypes
import os
import resource
import signal

from .attacker import LIBC, WHERE, Attacker, attempt, system_call


def _done(function, *arguments):
    def way():
        function(*arguments)
        return repr(arguments)

    return way


def _called(name, *arguments):
    return lambda: system_call(name, *arguments) or True


def _by_library(name, *arguments):
    def way():
        if getattr(LIBC, name)(*arguments) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return True

    return way


def ways():
    """Each way, with its name."""
    information = ctypes.create_string_buffer(128)
    for who, process in (("parent", WHERE["process"]), ("template", os.getppid())):
        yield f"kill {who}", _done(os.kill, process, signal.SIGKILL)
        yield f"ask for {who}", _done(os.kill, process, 0)
        yield f"killpg {who}", _done(os.killpg, process, signal.SIGKILL)
        yield f"libc kill {who}", _by_library("kill", process, signal.SIGKILL)
        yield f"tgkill {who}", _called("tgkill", process, process, 9)
        yield f"tkill {who}", _called("tkill", process, 9)
        yield f"rt_sigqueueinfo {who}", _called("rt_sigqueueinfo", process, 9, information)
        yield f"rt_tgsigqueueinfo {who}", _called("rt_tgsigqueueinfo", process, process, 9, information)
        yield (
            f"pidfd_send_signal {who}",
            lambda process=process: system_call("pidfd_send_signal", system_call("pidfd_open", process, 0), 9, None, 0),
        )
        yield f"ptrace {who}", _called("ptrace", 16, process, 0, 0)
        yield f"process_vm_writev {who}", _called("process_vm_writev", process, None, 0, None, 0, 0)
        yield f"prlimit {who}", lambda process=process: resource.prlimit(process, resource.RLIMIT_NOFILE, (3, 3))
        yield f"raw prlimit {who}", _called("prlimit64", process, 7, None, information)
        yield f"setpriority {who}", _done(os.setpriority, os.PRIO_PROCESS, process, 19)
        yield f"sched_setaffinity {who}", _done(os.sched_setaffinity, process, {0})
        yield f"sched_setscheduler {who}", _done(os.sched_setscheduler, process, os.SCHED_BATCH, os.sched_param(0))
        yield f"ioprio_set {who}", _called("ioprio_set", 1, process, 0)
        yield f"setpgid {who}", _done(os.setpgid, process, 0)
        yield f"write the memory of {who}", lambda process=process: open(f"/proc/{process}/mem", "r+b")
        yield f"choose {who} to die of want", lambda process=process: open(f"/proc/{process}/oom_score_adj", "w")
        yield f"move_pages {who}", _called("move_pages", process, 0, None, None, None, 0)
    yield "kill the group", _by_library("kill", 0, signal.SIGKILL)
    yield "kill all", _by_library("kill", -1, signal.SIGKILL)
    yield "outlive the parent", lambda: LIBC.prctl(1, 0, 0, 0, 0) == 0
    yield "get traced", lambda: LIBC.prctl(0x59616D61, ctypes.c_ulong(-1).value, 0, 0, 0) == 0
    yield "leave the session", _done(os.setsid)
    yield "raise own limits", _done(resource.setrlimit, resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    yield "another user", _done(os.setuid, 1)
    yield "another group", _done(os.setgid, 1)
    yield "more groups", _done(os.setgroups, [0])
    yield "capabilities", _called("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)(*[0xFFFFFFFF] * 6))
    yield "signals for the owner of a pipe", lambda: __import__("fcntl").fcntl(4, 8, WHERE["process"]) or True
    yield "another filter", _called("seccomp", 1, 0, information)
    yield "the clock", _called("clock_settime", 0, information)
    yield "the host's name", _called("sethostname", b"harm", 4)
    yield "reboot", _called("reboot", 0xFEE1DEAD, 672274793, 0, None)
    yield "a module of the kernel", _called("finit_module", 4, b"", 0)


attempt("import", ways)


class KillParent(Attacker):
    """Signals."""

    ways = staticmethod(ways)

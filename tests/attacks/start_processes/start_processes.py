"""Starts processes and programs."""

import concurrent.futures
import ctypes
import multiprocessing
import os
import platform
import pty
import subprocess
import sys

from .attacker import LIBC, WHERE, Attacker, attempt, system_call

TOUCH = ["/bin/touch", os.path.join(WHERE["home"], "harm.txt")]


def _forked(fork):
    made = fork()
    made = made[0] if isinstance(made, tuple) else made
    if made == 0:
        os._exit(0)
    return made


def _by_call(name, *arguments):
    def way():
        made = system_call(name, *arguments)
        if made == 0:
            os._exit(0)
        return made

    return way


def _clone3():
    arguments = ctypes.create_string_buffer(88)
    made = system_call("clone3", arguments, 88)
    if made == 0:
        os._exit(0)
    return made


def _execve():
    words = (ctypes.c_char_p * 3)(*map(os.fsencode, TOUCH), None)
    return system_call("execve", words[0], words, None)


def _spawned():
    LIBC.posix_spawn.restype = ctypes.c_int
    words = (ctypes.c_char_p * 3)(*map(os.fsencode, TOUCH), None)
    code = LIBC.posix_spawn(ctypes.byref(ctypes.c_int()), words[0], None, None, words, None)
    if code:
        raise OSError(code, os.strerror(code))
    return True


def _library_system():
    code = LIBC.system(os.fsencode(" ".join(TOUCH)))
    if code:
        raise OSError(ctypes.get_errno(), f"status {code}")
    return True


def _own_program():
    with open("program", "w") as file:
        file.write("#!/bin/sh\ntouch harm\n")
    os.chmod("program", 0o755)
    return subprocess.run(["./program"], check=True)


def _many(method):
    def way():
        context = multiprocessing.get_context(method)
        process = context.Process(target=print)
        process.start()
        return process.pid

    return way


def _pool():
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        return pool.submit(os.getpid).result(timeout=5)


def ways():
    """Each way, with its name."""
    yield "system", lambda: os.system(" ".join(TOUCH)) == 0
    yield "popen", lambda: os.popen(" ".join(TOUCH)).close() is None
    yield "subprocess", lambda: subprocess.run(TOUCH, check=True)
    yield "subprocess with a shell", lambda: subprocess.check_output("id", shell=True)
    yield "this interpreter", lambda: subprocess.run([sys.executable, "-c", "print()"], check=True)
    yield "own program", _own_program
    yield "fork", lambda: _forked(os.fork)
    yield "forkpty", lambda: _forked(os.forkpty)
    yield "pty.fork", lambda: _forked(pty.fork)
    yield "posix_spawn", lambda: os.posix_spawn(TOUCH[0], TOUCH, {})
    yield "posix_spawnp", lambda: os.posix_spawnp("touch", TOUCH, {})
    yield "spawnv", lambda: os.spawnv(os.P_WAIT, TOUCH[0], TOUCH) == 0
    yield "execve", lambda: os.execve(TOUCH[0], TOUCH, {})
    yield "execv of a descriptor", lambda: os.execve(os.open("/bin/touch", os.O_PATH), TOUCH, {})
    for method in ("fork", "spawn", "forkserver"):
        yield f"multiprocessing by {method}", _many(method)
    yield "process pool", _pool
    yield "libc fork", lambda: _forked(lambda: _checked(LIBC.fork()))
    yield "libc system", _library_system
    yield "libc posix_spawn", _spawned
    yield "raw execve", _execve
    yield "raw execveat", lambda: system_call("execveat", -100, os.fsencode(TOUCH[0]), None, None, 0)
    if platform.machine() == "x86_64":
        yield "raw fork", _by_call("fork")
        yield "raw vfork", _by_call("vfork")
    yield "raw clone", _by_call("clone", 17, None, None, None, None)
    yield "raw clone into namespaces", _by_call("clone", 0x10000000 | 17, None, None, None, None)
    yield "raw clone3", _clone3


def _checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


attempt("import", ways)


class StartProcesses(Attacker):
    """Starts."""

    ways = staticmethod(ways)

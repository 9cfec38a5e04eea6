"""Takes the library apart in its own process, and then tries again what was denied."""

import ctypes
import gc
import os
import socket
import sys

import datasets_core.scripting.sandbox.template as child
import datasets_core.scripting.sandbox.denials as denials
import datasets_core.scripting.sandbox.kernel as landlock
import datasets_core.scripting.sandbox.limits as limits
import datasets_core.scripting.sandbox.protocol as pipe
import datasets_core.scripting.sandbox.kernel as seccomp
from datasets_core.errors import DeniedAccessError

from .attacker import LIBC, WHERE, Attacker, attempt, system_call


def _patched():
    for name in ("hook", "_refuse", "_note", "_look", "_change", "_kill", "_open"):
        setattr(denials.Watch, name, lambda *_, **__: None)
    for watch in [each for each in gc.get_objects() if isinstance(each, denials.Watch)]:
        watch._handlers.clear()
        watch.denials.clear()
        watch.unsent.clear()
    pipe.Channel.tell_denials = lambda self: None
    child._enter = landlock.restrict = seccomp.install = limits.limit = lambda *_, **__: []
    DeniedAccessError.__init__ = lambda self, *_, **__: None


def _read():
    with open(WHERE["secret"]) as file:
        return file.read()


def _hooks():
    sys.addaudithook(lambda *_: None)
    return _read()


def _all_threads():
    import threading

    found = []
    thread = threading.Thread(target=lambda: found.append(_read()))
    thread.start()
    thread.join()
    return found


def _other_interpreter():
    import _xxsubinterpreters as interpreters

    made = interpreters.create()
    interpreters.run_string(made, f"print(open({WHERE['secret']!r}).read(), file=open('found', 'w'))")
    with open("found") as file:
        return file.read()


def _new_rules():
    """A rule set of its own cannot widen the one that holds."""
    landlock._call(444, (1 << 13).to_bytes(8, "little"), ctypes.c_size_t(8), 0)
    return True


def _kept_descriptors():
    """Descriptors that the template, or the library, might have left open."""
    found = []
    for number in range(3, 1024):
        try:
            place = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            try:
                os.fstat(number)
            except OSError:
                continue
            place = "?"
        found.append((number, place))
    return [each for each in found if each[0] > 5 and not each[1].startswith(os.getcwd())]


def ways():
    """Each way, with its name."""
    yield "descriptors", _kept_descriptors
    _patched()
    yield "read", _read
    yield "socket", lambda: socket.socket()
    yield "connect", lambda: socket.create_connection(("127.0.0.1", WHERE["port"]), timeout=2)
    yield "fork", os.fork
    yield "system", lambda: os.system(f"touch {WHERE['home']}/harm") == 0
    yield "write", lambda: open(WHERE["target"], "w")
    yield "hooks", _hooks
    yield "threads", _all_threads
    yield "other interpreter", _other_interpreter
    yield "new rules", _new_rules
    yield "more privileges", lambda: LIBC.prctl(38, 0, 0, 0, 0) == 0
    yield "capabilities", lambda: LIBC.prctl(47, 2, 21, 0, 0) == 0
    yield "listener", lambda: system_call("seccomp", 1, 8, ctypes.create_string_buffer(16))
    yield "kill", lambda: (os.kill(WHERE["process"], 9), True)


attempt("import", ways)


class Games(Attacker):
    """Plays."""

    ways = staticmethod(ways)

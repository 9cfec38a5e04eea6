"""Makes system calls of another machine, and every one that is refused."""

import ctypes
import mmap
import os

from datasets_core.scripting.sandbox import kernel, kernel

from .attacker import LIBC, WHERE, Attacker, attempt, system_call

CODES = {
    "int 0x80": b"\xb8\x14\x00\x00\x00\xcd\x80\xc3",  # mov eax, 20 (getpid); int 0x80; ret
    "x32": b"\xb8\x27\x00\x00\x40\x0f\x05\xc3",  # mov eax, 0x40000027 (getpid); syscall; ret
    "x32 execve": b"\xb8\x08\x02\x00\x40\x0f\x05\xc3",
    "sysenter": b"\xb8\x14\x00\x00\x00\x0f\x34\xc3",
    "socket": b"\xb8\x29\x00\x00\x00\xbf\x02\x00\x00\x00\xbe\x01\x00\x00\x00\x31\xd2\x0f\x05\xc3",
}


def run(code):
    """Run machine code."""
    place = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    place.write(code)
    function = ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(place)))
    result = function()
    if result < 0:
        raise OSError(-result, os.strerror(-result))
    return result


def ways():
    """Each way, with its name."""
    if WHERE["mode"]:
        yield WHERE["mode"], lambda: run(CODES[WHERE["mode"]])
        return
    for name in kernel.refused(kernel.machine()):
        yield name, lambda name=name: system_call(name, 0, 0, 0, 0, 0, 0) or True
    for number in (400, 470, 1000, 65535):
        yield f"number {number}", lambda number=number: system_call(number, 0, 0, 0, 0, 0, 0) or True
    for request in (0x5412, 0x541C, 0x5423, 0x4B4D):
        yield f"ioctl {request:x}", lambda request=request: system_call("ioctl", 1, request, b"x") or True
    yield "chmod of nowhere", lambda: LIBC.chmod(ctypes.c_void_p(-1), 0o777) == 0
    yield "chmod past the end", lambda: LIBC.chmod(ctypes.c_void_p((1 << 63) + 5), 0o777) == 0
    yield "fchmodat of nothing", lambda: system_call("fchmodat", 0x7FFFFFFF, b"x", 0o777) == 0
    yield "utimensat of nothing", lambda: system_call("utimensat", -1, None, None, 0) == 0
    yield "chown of a number", lambda: system_call("fchown", -1, 0, 0) == 0


attempt("import", ways)


class MachineCode(Attacker):
    """Calls."""

    ways = staticmethod(ways)

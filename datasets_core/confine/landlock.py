"""Landlock, by its three system calls: which files this process may still reach; no TCP, and no signals to others.

The rules hold for this thread and all that come of it, for good.  A kernel's ABI says what it can hold back: 1 (5.13) files,
2 moves between folders, 3 truncation, 4 TCP, 5 ioctl on devices, 6 signals and abstract sockets.  What is missing in an older
one, `seccomp` covers.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable

from datasets_core.confine.libc import checked, libc

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on all machines
_VERSION_FLAG = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << bit for bit in range(6))
_MAKE_CHAR, _MAKE_DIR, _MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_BLOCK, _MAKE_SYM = (1 << bit for bit in range(6, 13))
_REFER, _TRUNCATE, _IOCTL_DEV = (1 << bit for bit in range(13, 16))
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER | _TRUNCATE

_COVERS = {
    1: "files", 2: "moves between folders", 3: "truncation", 4: "TCP", 5: "device ioctls", 6: "signals and abstract sockets",
}  # fmt: skip


def abi() -> int:
    """The version of Landlock that this kernel offers; 0 where it offers none.

    >>> abi() >= 0
    True
    """
    return max(0, int(libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION_FLAG)))


def coverage(version: int) -> list[str]:
    """What a version of Landlock holds back.

    >>> coverage(3)
    ['files', 'moves between folders', 'truncation']
    """
    return [what for since, what in _COVERS.items() if since <= version]


def restrict(*, readable: Iterable[str], writable: Iterable[str], devices: Iterable[str], version: int) -> None:
    """Let this thread reach nothing but these files and folders, for good.

    Args:
        readable: what may be read.
        writable: folders that may be read, and written in: files and folders made, moved and removed, but no links, devices,
            sockets and pipes.
        devices: files that may be read and written as they are.
        version: the ABI to use.

    Raises:
        OSError: the kernel refused.
    """
    handled = _handled(version)
    attributes = struct.pack("=QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _call(_CREATE_RULESET, attributes[:size], ctypes.c_size_t(size), 0)
    try:
        for paths, rights in ((readable, _READ), (writable, _WRITE), (devices, _READ_FILE | _WRITE_FILE)):
            for path in paths:
                _allow(ruleset, path, rights & handled)
        _call(_RESTRICT_SELF, ruleset, 0)
    finally:
        os.close(ruleset)


def _handled(version: int) -> int:
    """All rights over files that the version knows."""
    rights = (_MAKE_SYM << 1) - 1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        rights |= right if version >= since else 0
    return rights


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return  # what is not there, or cannot be reached anyway, needs no right
    try:
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        rule = struct.pack("=Qi", rights if is_folder else rights & _OF_FILES, descriptor)
        _call(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: int | bytes | ctypes.c_size_t) -> int:
    return checked(libc().syscall(number, *arguments), "Landlock")

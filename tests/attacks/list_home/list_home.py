"""Lists the folders of its user."""

import ctypes
import glob
import os
import pathlib
import shutil

import pyarrow.fs

from .attacker import LIBC, WHERE, Attacker, attempt, system_call

HOME = WHERE["home"]


def _walked():
    def raised(error):
        raise error

    return list(os.walk(HOME, onerror=raised))


def _by_descriptor():
    return os.listdir(os.open(HOME, os.O_RDONLY | os.O_DIRECTORY))


def _by_call():
    descriptor = os.open(HOME, os.O_PATH | os.O_DIRECTORY)
    text = ctypes.create_string_buffer(4096)
    system_call("getdents64", descriptor, text, 4096)
    return text.raw


def _by_library():
    LIBC.opendir.restype = ctypes.c_void_p
    found = LIBC.opendir(os.fsencode(HOME))
    if not found:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return found


def _changed():
    here = os.getcwd()
    os.chdir(HOME)
    try:
        return os.listdir()
    finally:
        os.chdir(here)


def ways():
    """Each way, with its name."""
    yield "listdir", lambda: os.listdir(HOME)
    yield "scandir", lambda: [entry.name for entry in os.scandir(HOME)]
    yield "iterdir", lambda: list(pathlib.Path(HOME).iterdir())
    yield "glob", lambda: glob.glob(f"{HOME}/*") + glob.glob(f"{HOME}/.*/*")
    yield "walk", _walked
    yield "descriptor", _by_descriptor
    yield "getdents", _by_call
    yield "opendir", _by_library
    yield "chdir", _changed
    yield "pyarrow.fs", lambda: pyarrow.fs.LocalFileSystem().get_file_info(pyarrow.fs.FileSelector(HOME))
    yield "copytree", lambda: shutil.copytree(HOME, "copied")
    yield "home of the environment", lambda: [name for name in os.listdir(os.path.expanduser("~")) if name != ".cache"]
    for name in ("cache", "project", "root", "temporary", "mounts"):
        yield f"list {name}", lambda place=WHERE[name]: os.listdir(place)


attempt("import", ways)


class ListHome(Attacker):
    """Lists."""

    ways = staticmethod(ways)

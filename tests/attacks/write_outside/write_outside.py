"""Writes, removes, moves and changes files that are not its own."""

import ctypes
import logging
import os
import pathlib
import shutil
import site
import sqlite3
import sys
import tempfile
import zipfile

import numpy
import pyarrow
import pyarrow.fs

from .attacker import LIBC, WHERE, Attacker, attempt, system_call

TARGET = WHERE["target"]
HERE = os.path.dirname(__file__)


def _write(path):
    with open(path, "a") as file:
        file.write("harm")
    return path


def _truncated(path):
    os.truncate(path, 0)
    return path


def _by_flags():
    os.close(os.open(TARGET, os.O_RDONLY | os.O_TRUNC))
    return TARGET


def _temporary():
    with tempfile.NamedTemporaryFile(dir=WHERE["temporary"], delete=False) as file:
        file.write(b"harm")
    return file.name


def _done(function, *arguments, **options):
    def way():
        function(*arguments, **options)
        return repr(arguments)

    return way


def _by_library(name, *arguments):
    def way():
        if getattr(LIBC, name)(*arguments) < 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        return name

    return way


def _logged():
    handler = logging.FileHandler(os.path.join(WHERE["home"], "log"))
    handler.close()
    return True


def _unpacked():
    with zipfile.ZipFile("made.zip", "w") as file:
        file.writestr("inner", "harm")
    with zipfile.ZipFile("made.zip") as file:
        file.extractall(WHERE["home"])
    return True


def ways():
    """Each way, with its name."""
    bytes_of, place = os.fsencode(TARGET), WHERE["home"]
    yield "append", lambda: _write(TARGET)
    for name in ("home", "cache", "temporary", "project", "shared_memory", "root", "settings_folder", "files"):
        yield f"make in {name}", lambda folder=WHERE[name]: _write(os.path.join(folder, "harm.txt"))
    yield "make beside the script", lambda: _write(os.path.join(HERE, "harm.py"))
    yield "the script itself", lambda: _write(__file__)
    yield "make in packages", lambda: _write(os.path.join(site.getsitepackages()[0], "harm.pth"))
    yield "make in the user's packages", lambda: _write(os.path.join(WHERE["home"], ".local", "harm.pth"))
    yield "make beside the library", lambda: _write(os.path.join(os.path.dirname(pyarrow.__file__), "harm.py"))
    yield "make in the interpreter", lambda: _write(os.path.join(sys.prefix, "harm"))
    yield "make beside the scratch folder", lambda: _write(os.path.join(os.getcwd(), "..", "harm"))
    yield "os.open", _done(os.open, TARGET, os.O_WRONLY)
    yield "os.open to read and write", _done(os.open, TARGET, os.O_RDWR)
    yield "O_RDONLY and O_TRUNC", _by_flags
    yield "truncate", lambda: _truncated(TARGET)
    yield "unlink", _done(os.unlink, TARGET)
    yield "rmdir", _done(os.rmdir, WHERE["empty"])
    yield "rmtree", _done(shutil.rmtree, WHERE["empty"])
    yield "rename", _done(os.rename, TARGET, TARGET + ".moved")
    yield "rename here", _done(os.rename, TARGET, "taken")
    yield "replace", lambda: (_write("mine"), os.replace("mine", TARGET))
    yield "link out", lambda: (_write("mine"), os.link("mine", os.path.join(place, "linked")))
    yield "symlink out", _done(os.symlink, "/etc", os.path.join(place, "linked"))
    yield "mkdir", _done(os.mkdir, os.path.join(place, "made"))
    yield "mkfifo", _done(os.mkfifo, os.path.join(place, "pipe"))
    yield "mkfifo in scratch", _done(os.mkfifo, "pipe")
    yield "mknod", _done(os.mknod, os.path.join(place, "node"))
    yield "chmod", _done(os.chmod, TARGET, 0o777)
    yield "chmod of the home", _done(os.chmod, place, 0o777)
    yield "chown", _done(os.chown, TARGET, os.getuid(), os.getgid())
    yield "utime", _done(os.utime, TARGET, (0, 0))
    yield "setxattr", _done(os.setxattr, TARGET, "user.harm", b"1")
    yield "pathlib", _done(pathlib.Path(TARGET).write_text, "harm")
    yield "tempfile", _temporary
    yield "copy", lambda: (_write("mine"), shutil.copy("mine", place))
    yield "numpy.save", _done(numpy.save, os.path.join(place, "harm.npy"), numpy.zeros(3))
    yield "numpy.memmap", _done(numpy.memmap, TARGET, dtype="uint8", mode="r+")
    yield "pyarrow.OSFile", _done(pyarrow.OSFile, TARGET, "wb")
    yield "pyarrow.fs", lambda: pyarrow.fs.LocalFileSystem().open_output_stream(TARGET)
    yield "pyarrow.fs delete", lambda: (pyarrow.fs.LocalFileSystem().delete_file(TARGET), True)
    yield "sqlite3", lambda: sqlite3.connect(WHERE["database"]).execute("DROP TABLE secrets")
    yield "logging", _logged
    yield "zipfile", _unpacked
    yield "libc open", _by_library("open", bytes_of, os.O_WRONLY)
    yield "libc creat", _by_library("creat", bytes_of, 0o600)
    yield "libc truncate", _by_library("truncate", bytes_of, 0)
    yield "libc unlink", _by_library("unlink", bytes_of)
    yield "libc rename", _by_library("rename", bytes_of, bytes_of + b".moved")
    yield "libc chmod", _by_library("chmod", bytes_of, 0o777)
    yield "libc utimes", _by_library("utimes", bytes_of, None)
    yield "libc chown", _by_library("chown", bytes_of, os.getuid(), os.getgid())
    yield "libc symlink", _by_library("symlink", b"/etc", os.fsencode(place) + b"/raw")
    yield "libc link", _by_library("link", bytes_of, os.fsencode(place) + b"/raw")
    yield "libc mknod", _by_library("mknod", os.fsencode(place) + b"/raw", 0o010600, 0)
    yield "fchmod of O_PATH", lambda: (system_call("fchmodat2", os.open(TARGET, os.O_PATH), b"", 0o777, 0x1000), True)
    yield "memfd", _done(os.memfd_create, "harm")
    yield "shared memory", lambda: system_call("shmget", 0, 4096, 0o1600)
    yield "message queue", lambda: system_call("mq_open", b"harm", 0o102, 0o600, None)
    yield "mount", lambda: system_call("mount", b"none", os.fsencode(place), b"tmpfs", 0, None)
    yield "namespace", lambda: (system_call("unshare", 0x10000000), True)


attempt("import", ways)


class WriteOutside(Attacker):
    """Writes."""

    ways = staticmethod(ways)

"""`tf.io.gfile`: files of this machine, by the names that TensorFlow has for what one does with them."""

from __future__ import annotations

import glob as _glob
import io
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any

from datasets_core.errors import ConfigurationError
from datasets_core.files import is_url

Given = str | bytes | os.PathLike[str]


class _Text(io.TextIOWrapper):
    """A text file whose lines end where TensorFlow ends them: at a line feed, whatever stands before it."""

    def size(self) -> int:
        """Its bytes."""
        return os.stat(self.name).st_size

    @property
    def mode(self) -> str:
        """How it was opened."""
        return str(getattr(self.buffer, "mode", "r")).replace("b", "")


class _Bytes(io.BufferedReader):
    """A file of bytes."""

    def size(self) -> int:
        """Its bytes."""
        return os.stat(self.name).st_size


class _OpensFiles(type):
    """The class of what opens a file when it is called: open files are its instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, io.IOBase)


class GFile(metaclass=_OpensFiles):
    """An open file: of text, unless the mode says "b".

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with GFile(join(folder, "a.txt"), "w") as file:
    ...         _ = file.write("one\\r\\ntwo")
    ...     with GFile(join(folder, "a.txt")) as file:
    ...         list(file), file.size()
    (['one\\r\\n', 'two'], 8)
    """

    def __new__(cls, name: Given, mode: str = "r") -> Any:
        """The open file."""
        path, plain = _local(name), mode.replace("b", "").replace("t", "")
        if "b" not in mode:
            return _Text(open(path, f"{plain}b"), encoding="utf-8", newline="\n")
        return _Bytes(io.FileIO(path, "r")) if plain == "r" else open(path, mode)


Open = FastGFile = GFile


def _local(given: Given) -> str:
    """A path of this machine.

    Raises:
        ConfigurationError: it is a URL.
    """
    path = os.fsdecode(given) if isinstance(given, bytes) else os.fspath(given)
    if is_url(path):
        if path.startswith("file://"):
            return path.removeprefix("file://")
        raise ConfigurationError(
            f"{path!r} is on no disk of this machine. Fetch it by dl_manager.download, or install tensorflow."
        )
    return path


def exists(path: Given) -> bool:
    """Whether a file or a folder stands there."""
    return os.path.exists(_local(path))


def isdir(path: Given) -> bool:
    """Whether a folder stands there."""
    return os.path.isdir(_local(path))


def listdir(path: Given) -> list[str]:
    """The names in a folder."""
    return os.listdir(_local(path))


def glob(pattern: Given | list[Given] | tuple[Given, ...]) -> list[str]:
    """The paths that fit a pattern, or one of several; `*` and `?` mean also a dot at the beginning, and never a slash.

    >>> glob("/no/such/folder/*")
    []
    """
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [found for each in patterns for found in sorted(_glob.glob(_local(each), include_hidden=True))]


def walk(
    top: Given, topdown: bool = True, onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each folder below, with the names of the folders and of the files in it."""
    return os.walk(_local(top), topdown=topdown, onerror=onerror)


def makedirs(path: Given) -> None:
    """Make a folder, and those above it, where there is none."""
    os.makedirs(_local(path), exist_ok=True)


def mkdir(path: Given) -> None:
    """Make a folder."""
    os.mkdir(_local(path))


def remove(path: Given) -> None:
    """Remove a file."""
    os.remove(_local(path))


def rmtree(path: Given) -> None:
    """Remove a folder with all that is in it."""
    shutil.rmtree(_local(path))


def copy(src: Given, dst: Given, overwrite: bool = False) -> None:
    """Copy a file.

    Raises:
        FileExistsError: there is one already, and it is not to be replaced.
    """
    _check_free(dst, overwrite)
    shutil.copyfile(_local(src), _local(dst))


def rename(src: Given, dst: Given, overwrite: bool = False) -> None:
    """Move a file or a folder.

    Raises:
        FileExistsError: there is one already, and it is not to be replaced.
    """
    _check_free(dst, overwrite)
    os.replace(_local(src), _local(dst))


def _check_free(path: Given, overwrite: bool) -> None:
    if not overwrite and os.path.exists(_local(path)):
        raise FileExistsError(f"{os.fspath(path)!r} is there already. Give overwrite=True, or another name.")


def stat(path: Given) -> Any:
    """What the system says of a file: an object with `length`, `mtime_nsec` and `is_directory`."""
    return _Status(os.stat(_local(path)))


class _Status:
    def __init__(self, found: os.stat_result) -> None:
        self.length, self.mtime_nsec = found.st_size, found.st_mtime_ns
        self.is_directory = bool(found.st_mode & 0o040000)


def join(path: Given, *paths: Given) -> str:
    """Paths, one below the other.

    >>> join("a", "b", "c")
    'a/b/c'
    """
    return os.path.join(*(os.fsdecode(each) if isinstance(each, bytes) else os.fspath(each) for each in (path, *paths)))


def get_registered_schemes() -> list[str]:
    """The schemes of the file systems that these functions know."""
    return ["", "file"]


Exists, Glob, IsDirectory, ListDirectory, MakeDirs, MkDir, Remove, Walk = (
    exists,
    glob,
    isdir,
    listdir,
    makedirs,
    mkdir,
    remove,
    walk,
)
Copy, DeleteRecursively, Rename, Stat = copy, rmtree, rename, stat

"""Small packages for scripts: `tf.io.gfile`, `etils.epath`, absl, six, tree, and lazy imports of TFDS."""

from __future__ import annotations

import functools
import glob as _glob
import importlib
import io
import itertools
import logging as _logging
import operator
import os
import shutil
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as _LibraryPath
from types import ModuleType, SimpleNamespace
from typing import Any

from datasets_core.errors import ConfigurationError, MissingDependencyError
from datasets_core.files import is_url
from datasets_core.optional import distribution, needed
from datasets_core.scripting.compat.tables import compat_module_of
from datasets_core.scripting.modules import script_folder, script_place

# `etils.epath`, and the paths that TFDS builders get: those of `pathlib`, with the methods that etils adds.


PathLike = str | os.PathLike[str]
PathLikeCls = (str, os.PathLike)
_Kind: Any = type(_LibraryPath())
_SCHEMES = ("gs:/", "s3:/", "http:/", "https:/")  # pathlib drops one of their slashes


class Path(_Kind):  # type: ignore[misc]  # that of this system
    """A local path, with the methods of `epath.Path` that `pathlib.Path` does not have.

    >>> path = Path("a") / "b.txt"
    >>> type(path) is Path, path.name, path.format(1), Path("{}").format("x") == Path("x")
    (True, 'b.txt', Path('a/b.txt'), True)
    >>> str(Path("gs://bucket") / "a")
    'gs://bucket/a'
    """

    def __str__(self) -> str:
        text: str = super().__str__()
        return text.replace(":/", "://", 1) if text.startswith(_SCHEMES) and "://" not in text else text

    def __fspath__(self) -> str:
        return str(self)

    def format(self, *args: Any, **kwargs: Any) -> Path:
        """Return the path with its braces filled in, like `str.format`."""
        return type(self)(str(self).format(*args, **kwargs))

    def copy(self, dst: PathLike, overwrite: bool = False) -> Path:
        """Copy the file.

        Raises:
            FileExistsError: the target exists, and `overwrite` is False.
        """
        self._check_free(dst, overwrite)
        shutil.copyfile(self, dst)
        return type(self)(dst)

    def copytree(self, dst: PathLike) -> Path:
        """Copy the folder with its content."""
        shutil.copytree(self, dst)
        return type(self)(dst)

    def rmtree(self, missing_ok: bool = False) -> None:
        """Remove the folder with its content."""
        if not missing_ok or self.exists():
            shutil.rmtree(self)

    def glob(self, pattern: str, **_: Any) -> Iterator[Path]:
        """Yield the paths below that match a pattern, in order; an absolute pattern is used without this path, as in etils."""
        if "**" in pattern:
            return iter(super().glob(pattern))
        return (type(self)(path) for path in glob(os.path.join(str(self), pattern)))

    def _check_free(self, path: PathLike, overwrite: bool) -> None:
        if not overwrite and os.path.exists(path):
            raise FileExistsError(f"{os.fspath(path)!r} exists already. Give overwrite=True, or another name.")

    def mkdir(self, mode: int | None = None, parents: bool = False, exist_ok: bool = False) -> None:
        """Make a folder."""
        super().mkdir(0o777 if mode is None else mode, parents=parents, exist_ok=exist_ok)

    def open(self, mode: str = "r", encoding: str | None = None, errors: str | None = None, **kwargs: Any) -> Any:
        """Open the file; texts are UTF-8."""
        return super().open(mode, encoding=_encoding(mode, encoding), errors=errors, **kwargs)

    def read_text(self, encoding: str | None = None, errors: str | None = None) -> str:
        """Return the text of the file, as UTF-8."""
        found: str = super().read_text(encoding or "utf-8", errors)
        return found

    def write_text(self, data: str, encoding: str | None = None, errors: str | None = None, **kwargs: Any) -> int:
        """Write a text into the file, as UTF-8."""
        count: int = super().write_text(data, encoding or "utf-8", errors, **kwargs)
        return count

    if sys.version_info < (3, 12):

        def walk(
            self, top_down: bool = True, on_error: Any = None, follow_symlinks: bool = False
        ) -> Iterator[tuple[Path, list[str], list[str]]]:
            """Yield each folder below, with the names of the folders and of the files in it."""
            for folder, folders, files in os.walk(str(self), top_down, on_error, follow_symlinks):
                yield type(self)(folder), folders, files


def _encoding(mode: str, given: str | None) -> str | None:
    return None if "b" in mode else given or "utf-8"


def as_path(path: PathLike) -> Path:
    """Return a path, given as text or as another path.

    >>> as_path("a/b").name
    'b'

    Raises:
        ConfigurationError: it is a URL.
    """
    text = os.fspath(path)
    if is_url(text) and not text.startswith("file://"):
        raise ConfigurationError(
            f"{text!r} is not on a disk of this machine", advice="Fetch it by dl_manager.download", value=text
        )
    return Path(text.removeprefix("file://"))


def resource_path(package: Any) -> Path:
    """Return the folder of the files of a package; for one of an old library, that of the calling script.

    >>> resource_path("json").name
    'json'
    """
    import importlib.util

    name = package if isinstance(package, str) else package.__name__
    found = None if name.startswith("tensorflow_datasets") else importlib.util.find_spec(name)
    places = [] if found is None else list(found.submodule_search_locations or [])
    return Path(places[0] if places else script_folder() or os.curdir)


Given = str | bytes | os.PathLike[str]


class _ReopenedFile(io.RawIOBase):
    """A file that is opened again when it is read after `release`."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._file = io.FileIO(path)

    def _opened(self) -> io.FileIO:
        if self._file.closed:
            self._file = io.FileIO(self.name)
        return self._file

    def release(self) -> None:
        self._file.close()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._opened().fileno()

    def readinto(self, buffer: Any, /) -> int | None:
        return self._opened().readinto(buffer)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        return self._opened().seek(offset, whence)

    def tell(self) -> int:
        return self._opened().tell()

    def close(self) -> None:
        self._file.close()
        super().close()


class _Text(io.TextIOWrapper):
    """A text file whose lines end only at a line feed, as in TensorFlow.  It can be read after `close`, from its beginning."""

    def close(self) -> None:
        """Close the file until it is read again."""
        if isinstance(self.buffer, _Bytes):
            self.seek(0)
        super().close()

    def size(self) -> int:
        """Return its size in bytes."""
        return os.stat(self.name).st_size

    @property
    def mode(self) -> str:
        """Mode of the open file."""
        return str(getattr(self.buffer, "mode", "r")).replace("b", "")


class _Bytes(io.BufferedReader):
    """A file of bytes.  As in TensorFlow, it can be read after `close`, from its beginning."""

    raw: _ReopenedFile

    def close(self) -> None:
        """Close the file until it is read again."""
        self.seek(0)
        self.raw.release()

    def __del__(self) -> None:
        super().close()

    def size(self) -> int:
        """Return its size in bytes."""
        return os.stat(self.name).st_size


class _OpensFiles(type):
    """Metaclass of `GFile`: calling it opens a file, and open files are its instances."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, io.IOBase)


class GFile(metaclass=_OpensFiles):
    """An open file: a text file unless the mode contains "b".

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with GFile(join(folder, "a.txt"), "w") as file:
    ...         _ = file.write("one\\r\\ntwo")
    ...     with GFile(join(folder, "a.txt")) as file:
    ...         list(file), file.size()
    (['one\\r\\n', 'two'], 8)
    """

    def __new__(cls, name: Given, mode: str = "r") -> Any:
        """Return the open file."""
        path, plain = _local(name), mode.replace("b", "").replace("t", "")
        if "b" not in mode:
            return _Text(
                _Bytes(_ReopenedFile(path)) if plain == "r" else open(path, f"{plain}b"), encoding="utf-8", newline="\n"
            )
        return _Bytes(_ReopenedFile(path)) if plain == "r" else open(path, mode)


Open = FastGFile = GFile


def _local(given: Given) -> str:
    """Return a local path.

    Raises:
        ConfigurationError: it is a URL.
    """
    path = os.fsdecode(given) if isinstance(given, bytes) else os.fspath(given)
    if is_url(path):
        if path.startswith("file://"):
            return path.removeprefix("file://")
        raise ConfigurationError(
            f"{path!r} is not on a disk of this machine",
            advice="Fetch it by dl_manager.download, or install tensorflow",
            value=path,
        )
    return path


def exists(path: Given) -> bool:
    """Return True if a file or a folder exists."""
    return os.path.exists(_local(path))


def isdir(path: Given) -> bool:
    """Return True if a folder exists."""
    return os.path.isdir(_local(path))


def listdir(path: Given) -> list[str]:
    """Return the names in a folder."""
    return os.listdir(_local(path))


def glob(pattern: Given | list[Given] | tuple[Given, ...]) -> list[str]:
    """Return the paths that match a pattern, or one of several; `*` and `?` also match a leading dot, but never a slash.

    >>> glob("/no/such/folder/*")
    []
    """
    patterns = pattern if isinstance(pattern, (list, tuple)) else [pattern]
    return [found for each in patterns for found in sorted(_glob.glob(_local(each), include_hidden=True))]


def walk(
    top: Given, topdown: bool = True, onerror: Callable[[OSError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Return each folder below, with the names of the folders and of the files in it."""
    return os.walk(_local(top), topdown=topdown, onerror=onerror)


def makedirs(path: Given) -> None:
    """Make a folder, and its parents, if they do not exist."""
    os.makedirs(_local(path), exist_ok=True)


def mkdir(path: Given) -> None:
    """Make a folder."""
    os.mkdir(_local(path))


def remove(path: Given) -> None:
    """Remove a file."""
    os.remove(_local(path))


def rmtree(path: Given) -> None:
    """Remove a folder with its content."""
    shutil.rmtree(_local(path))


def copy(src: Given, dst: Given, overwrite: bool = False) -> None:
    """Copy a file.

    Raises:
        FileExistsError: the target exists, and `overwrite` is False.
    """
    _check_free(dst, overwrite)
    shutil.copyfile(_local(src), _local(dst))


def rename(src: Given, dst: Given, overwrite: bool = False) -> None:
    """Move a file or a folder.

    Raises:
        FileExistsError: the target exists, and `overwrite` is False.
    """
    _check_free(dst, overwrite)
    os.replace(_local(src), _local(dst))


def _check_free(path: Given, overwrite: bool) -> None:
    if not overwrite and os.path.exists(_local(path)):
        raise FileExistsError(f"{os.fspath(path)!r} exists already. Give overwrite=True, or another name.")


def stat(path: Given) -> Any:
    """Return the status of a file: an object with `length`, `mtime_nsec` and `is_directory`."""
    return _Status(os.stat(_local(path)))


class _Status:
    def __init__(self, found: os.stat_result) -> None:
        self.length, self.mtime_nsec = found.st_size, found.st_mtime_ns
        self.is_directory = bool(found.st_mode & 0o040000)


def join(path: Given, *paths: Given) -> str:
    """Return paths joined.

    >>> join("a", "b", "c")
    'a/b/c'
    """
    return os.path.join(*(os.fsdecode(each) if isinstance(each, bytes) else os.fspath(each) for each in (path, *paths)))


def get_registered_schemes() -> list[str]:
    """Return the schemes of the file systems that these functions support."""
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


# `tfds.core.lazy_imports` and `lazy_imports_utils`: packages that are imported when a script first uses them.


_MODULES = {
    "PIL_Image": ("PIL.Image",),
    "PIL_ImageDraw": ("PIL.ImageDraw",),
    "matplotlib": ("matplotlib", "matplotlib.pyplot"),
    "pycocotools": ("pycocotools.mask",),
    "scipy": ("scipy", "scipy.io", "scipy.io.wavfile", "scipy.ndimage"),
    "skimage": ("skimage", "skimage.color", "skimage.filters", "skimage.transform"),
    "array_record_module": ("array_record.python.array_record_module",),
    "array_record_data_source": ("array_record.python.array_record_data_source",),
    "parquet": ("pyarrow.parquet",),
    "nltk": ("nltk", "nltk.tokenize"),
}
"""Names of packages in TFDS → the module, and its submodules to import with it."""


class LazyImports:
    """Packages by their names in TFDS.

    >>> LazyImports().json.loads("[1]")
    [1]
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"lazy_imports has no {name!r}", name=name)
        return _package(name)


def _package(name: str) -> Any:
    if name == "gcsfs_store":
        return _opened("gcsfs").GCSFileSystem(token="anon").get_mapper
    first, *more = _MODULES.get(name, (name,))
    opened: ModuleType = _opened(first)
    for module in more:
        _opened(module)
    return opened


def _opened(module: str) -> ModuleType:
    face = compat_module_of(module)
    if face is not None:
        return importlib.import_module(face)
    found: ModuleType = needed(module, script_place(), distribution(module.partition(".")[0]))
    return found


lazy_imports = LazyImports()


class Absent:
    """A package that is not installed: importing its name works, and using one of its attributes raises an error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{self._name} has no {name!r}", name=name)
        return getattr(_package(self._name), name)


class LazyModules:
    """Packages by name; using an attribute of one that is not installed raises an error."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"lazy_imports_utils has no attribute {name!r}", name=name)
        try:
            return _package(name)
        except MissingDependencyError:
            return Absent(name)


lazy_modules = LazyModules()


# `absl`, `six` and `tree` if they are not installed: the parts that TFDS builders use.


_logger = _logging.getLogger("absl")


@functools.cache
def _said(text: str) -> Iterator[int]:
    return itertools.count(1)


class AbslLogging(SimpleNamespace):
    """`absl.logging`: the logger of that name."""

    DEBUG, INFO, WARNING, WARN, ERROR, FATAL = 1, 0, -1, -1, -2, -3

    debug = staticmethod(_logger.debug)
    info = staticmethod(_logger.info)
    warning = warn = staticmethod(_logger.warning)
    error = staticmethod(_logger.error)
    exception = staticmethod(_logger.exception)
    fatal = staticmethod(_logger.critical)

    @staticmethod
    def log(level: int, message: str, *args: Any, **kwargs: Any) -> None:
        """Log a message; levels are those of absl, which count downwards."""
        plain = {1: _logging.DEBUG, 0: _logging.INFO, -1: _logging.WARNING, -2: _logging.ERROR, -3: _logging.CRITICAL}
        _logger.log(plain.get(level, _logging.DEBUG), message, *args, **kwargs)

    vlog = log

    @staticmethod
    def log_first_n(level: int, message: str, n: int, *args: Any) -> None:
        """Log a message the first `n` times."""
        if next(_said(message)) <= n:
            AbslLogging.log(level, message, *args)

    @staticmethod
    def log_every_n(level: int, message: str, n: int, *args: Any) -> None:
        """Log a message every `n`-th time, beginning with the first."""
        if next(_said(message)) % n == 1 or n == 1:
            AbslLogging.log(level, message, *args)

    @staticmethod
    def set_verbosity(level: Any) -> None:
        """Do nothing: the program chooses the level of its log."""

    @staticmethod
    def get_verbosity() -> int:
        """Return the log level, in the numbers of absl."""
        return 0


absl_logging = AbslLogging()


class AbslFlags:
    """`absl.flags`: flags with their defaults, never set from a command line.

    >>> flags = AbslFlags()
    >>> flags.DEFINE_string("language", "en", "Which one.")
    >>> flags.FLAGS.language
    'en'
    """

    def __init__(self) -> None:
        self.FLAGS = SimpleNamespace()

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("DEFINE"):
            raise AttributeError(f"absl.flags has no {name!r} here", name=name)
        return self._define

    def _define(self, name: str, default: Any = None, *_: Any, **__: Any) -> None:
        vars(self.FLAGS)[name] = default


absl_flags = AbslFlags()


def _ensure_text(value: Any, encoding: str = "utf-8", errors: str = "strict") -> str:
    return value.decode(encoding, errors) if isinstance(value, bytes) else value


def _ensure_binary(value: Any, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    return value.encode(encoding, errors) if isinstance(value, str) else value


def _add_metaclass(kind: type[type]) -> Callable[[type], type]:
    def again(cls: type) -> type:
        kept = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
        return kind(cls.__name__, cls.__bases__, kept)

    return again


urllib_moved = SimpleNamespace(error=urllib.error, parse=urllib.parse, request=urllib.request)
six_moves = SimpleNamespace(
    range=range, zip=zip, map=map, filter=filter, input=input, xrange=range, zip_longest=itertools.zip_longest,
    reduce=functools.reduce, urllib=urllib_moved,
)  # fmt: skip
six = SimpleNamespace(
    PY2=False, PY3=True, BytesIO=io.BytesIO, StringIO=io.StringIO, binary_type=bytes, text_type=str, string_types=(str,),
    integer_types=(int,), class_types=(type,), ensure_binary=_ensure_binary, ensure_str=_ensure_text, ensure_text=_ensure_text,
    add_metaclass=_add_metaclass, iteritems=lambda d: iter(d.items()), iterkeys=lambda d: iter(d.keys()),
    itervalues=lambda d: iter(d.values()), viewitems=lambda d: d.items(), next=next, u=str, b=lambda s: s.encode("latin-1"),
    int2byte=lambda i: bytes((i,)), indexbytes=operator.getitem, moves=six_moves,
)  # fmt: skip


def map_structure(function: Callable[..., Any], *structures: Any, **_: Any) -> Any:
    """Return the result of a function for each leaf of a nest, or for the leaves of several nests of the same structure.

    >>> map_structure(lambda a, b: a + b, {"x": [1, 2]}, {"x": [3, 4]})
    {'x': [4, 6]}
    """
    first = structures[0]
    if isinstance(first, Mapping):
        return {name: map_structure(function, *(each[name] for each in structures)) for name in first}
    if isinstance(first, (list, tuple)):
        parts = [map_structure(function, *values) for values in zip(*structures, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    return function(*structures)


def flatten(structure: Any) -> list[Any]:
    """Return the leaves of a nest; those of dicts in the order of their keys.

    >>> flatten({"b": [1, 2], "a": 3})
    [3, 1, 2]
    """
    if isinstance(structure, Mapping):
        return [leaf for name in sorted(structure) for leaf in flatten(structure[name])]
    return [leaf for value in structure for leaf in flatten(value)] if isinstance(structure, (list, tuple)) else [structure]

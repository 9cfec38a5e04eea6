"""`Script`: the text of a script and of the modules next to it that it imports, found by parsing, without running them."""

from __future__ import annotations

import ast
import codecs
import hashlib
import io
import os
import re
import stat
import sys
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType
from typing import Protocol

from datasets_core.errors import DatasetNotFoundError, ScriptError, redact
from datasets_core.meta.listings import UnfitFileError, small_bytes
from datasets_core.scripting.compat.tables import COMPAT_MODULES

# Modules of a dataset collection that a script imports by their full names: from the collection, or from next to it.


COLLECTIONS = frozenset({"tensorflow_datasets"})
_NEVER = frozenset({"core", "public_api", "scripts", "testing"})  # the library itself, replaced by compatibility modules


class Place(Protocol):
    """Interface of the files next to a script."""

    def is_file(self, path: str) -> bool:
        """Return True if the file exists; it is then on this disk."""
        ...

    def is_folder(self, path: str) -> bool:
        """Return True if the folder exists."""
        ...


class _OnDisk:
    """Files next to a script on this disk."""

    def is_file(self, path: str) -> bool:
        """See `Place`."""
        return os.path.isfile(path)

    def is_folder(self, path: str) -> bool:
        """See `Place`."""
        return os.path.isdir(path)


ON_DISK = _OnDisk()


@dataclass(frozen=True, slots=True)
class Collected:
    """`from tensorflow_datasets.module import names`, or `import tensorflow_datasets.module`.

    Attributes:
        module: the text after `from` or `import`.
        names: the imported names.
        guarded: True if the code handles a failed import.
    """

    module: str
    names: tuple[str, ...]
    guarded: bool


def collected_imports(node: ast.Import | ast.ImportFrom, *, guarded: bool) -> Iterator[Collected]:
    """Yield the imports of collection modules in one statement.

    >>> [(found.module, found.names) for found in collected_imports(
    ...     ast.parse("from tensorflow_datasets.translate import wmt").body[0], guarded=False)]
    [('tensorflow_datasets.translate', ('wmt',))]
    """
    if isinstance(node, ast.ImportFrom):
        wanted = [(node.module or "", tuple(alias.name for alias in node.names))]
    else:
        wanted = [(alias.name, ()) for alias in node.names]
    for module, names in wanted:
        top, _, rest = module.partition(".")
        if top in COLLECTIONS and rest and rest.partition(".")[0] not in _NEVER and module not in COMPAT_MODULES:
            yield Collected(module, names, guarded)


def collection_of(script: str) -> str | None:
    """Return the folder of the dataset collection that a script is part of; None if it is part of none.

    It is the nearest folder above the script that has the name of a collection and is a package of Python.

    Args:
        script: absolute path of the script.

    >>> collection_of("/scripts/birds.py")
    """
    folder = os.path.dirname(script)
    while folder != os.path.dirname(folder):
        if os.path.basename(folder) in COLLECTIONS and os.path.isfile(os.path.join(folder, "__init__.py")):
            return folder
        folder = os.path.dirname(folder)
    return None


def files_of(folder: str, wanted: Collected, *, but: str, place: Place = ON_DISK) -> list[tuple[str, str]]:
    """Return (dotted name, file) of the modules that an import from a collection loads, as far as they are found.

    They are searched in the folder of the collection that contains the script, then next to the script, where the
    first parts of their names may be missing.

    Args:
        folder: folder of the script.
        wanted: the import.
        but: the script itself, which is not one of its own modules.
        place: returns which files exist.
    """
    found = []
    for name in wanted.names:
        file = _file_of_module(folder, f"{wanted.module}.{name}", place)
        if file is not None:
            found.append((f"{wanted.module}.{name}", file))
    if not wanted.names or len(found) < len(wanted.names):
        file = _file_of_module(folder, wanted.module, place)
        if file is not None:
            found.append((wanted.module, file))
    return [(name, file) for name, file in found if file != but]


def _file_of_module(folder: str, dotted: str, place: Place) -> str | None:
    top, *parts = dotted.split(".")
    above = folder
    while True:
        if os.path.basename(above) == top:
            file = _module(above, parts, place)
            if file is not None:
                return file
        if above == os.path.dirname(above):
            break
        above = os.path.dirname(above)
    for first in range(len(parts)):
        file = _module(folder, parts[first:], place)
        if file is not None:
            return file
    return None


def _module(folder: str, parts: Sequence[str], place: Place) -> str | None:
    plain = os.path.join(folder, *parts)
    for candidate in (f"{plain}.py", os.path.join(plain, "__init__.py")):
        if place.is_file(candidate):
            return candidate
    return None


_MOST_BYTES = 16 << 20  # of one module that the user named or trusted
_MOST_CONFINED_BYTES = 2 << 20  # of an untrusted script: the tree of a text takes some 200 bytes for each of its bytes
_MOST_CONFINED_IN_ALL = 8 << 20
ROOT = "datasets_core_scripts"
_TRUST = "Read it, and pass trust_remote_code=True if you trust it"
_SLOW_CODECS = frozenset({"idna", "punycode"})  # their time grows with the square of the text
_REMOTE = re.compile(r"#\s*From:\s*(\S+)")


@dataclass(frozen=True, slots=True)
class Module:
    """The text of one module of a script.

    Attributes:
        name: dotted name relative to the script's folder; "" for the folder itself.
        path: its path.
        text: its bytes.
        is_package: True if it is a folder's `__init__.py`.
        is_certain: True if importing the script always imports the module.
    """

    name: str
    path: str
    text: bytes
    is_package: bool = False
    is_certain: bool = True


FOLDER = Module("", "", b"", is_package=True)


@dataclass(frozen=True, slots=True)
class Script:
    """A script that was read, but has not run.

    Attributes:
        path: absolute path of the script.
        modules: the script first, then its relative imports, each once.
    """

    path: str
    modules: tuple[Module, ...]

    @property
    def digest(self) -> str:
        """sha256 of the texts, independent of their location: the identity of the code."""
        sha = hashlib.sha256()
        for module in sorted(self.modules, key=lambda each: each.name):
            sha.update(f"{module.name}\0{len(module.text)}\0".encode() + module.text)
        return sha.hexdigest()

    @property
    def is_of_old_datasets(self) -> bool:
        """True if it was written for Hugging Face `datasets`."""
        return any(name == "datasets" for each in self.modules for name, _ in scan(each.path, each.text).needed)

    @property
    def package(self) -> str:
        """The name of the package of its modules."""
        place = hashlib.sha256(f"{self.path}\0{self.digest}".encode()).hexdigest()
        return f"{ROOT}.{identifier(self.modules[0].name)}_{place[:12]}"

    def name_of(self, module: Module) -> str:
        """Return the full name of one of its modules."""
        return f"{self.package}.{identifier(module.name) if module is self.modules[0] else module.name}"


def read_script(path: str | os.PathLike[str], *, is_confined: bool = False, place: Place = ON_DISK) -> Script:
    """Read a script and the modules next to it that it imports relatively, without running any code.

    Args:
        path: the script.
        is_confined: True for an untrusted script: only files that resolve into its folder, or into its collection, are
            read, up to a size.
        place: finds modules next to the script; it may fetch them on use.

    Raises:
        DatasetNotFoundError: the file does not exist.
        ScriptError: the script is not Python or too large, or imports from outside its folder or from a URL.
    """
    full = os.path.abspath(os.fspath(path))
    folder, stem = os.path.dirname(full), os.path.basename(full).removesuffix(".py")
    within, num_bytes = collection_of(full) or folder if is_confined else None, 0
    modules = [_read_module(full, stem, within=within)]
    names = {stem, ""}
    for module in modules:  # grows while it is walked
        num_bytes += len(module.text)
        if is_confined and num_bytes > _MOST_CONFINED_IN_ALL:
            what = f"it and the modules that it imports have more than {_MOST_CONFINED_IN_ALL:,} bytes"
            raise ScriptError(full, what, advice=_TRUST)
        inside = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
        if module is modules[0]:
            inside = []  # the dots of its name are those of a file
        imports = scan(module.path, module.text)
        opened: list[tuple[Relative | Collected, list[tuple[str, str]]]]
        root = _root_of(module, folder)
        opened = [(each, _beside(root, inside, each, module.path, place)) for each in imports.relative]
        opened += [(each, files_of(folder, each, but=full, place=place)) for each in imports.collected]
        for wanted, files in opened:
            for name, found in files:
                if name not in names:
                    names.add(name)
                    is_certain = module.is_certain and not wanted.guarded
                    modules.append(_read_module(found, name, is_certain=is_certain, within=within))
    return Script(full, tuple(modules))


def _root_of(module: Module, folder: str) -> str:
    """Return the folder to which the name of a module is relative: the script's, or for a module of a collection, that of the
    collection.
    """
    parts = module.name.split(".")
    plain = os.path.dirname(module.path) if module.is_package else module.path.removesuffix(".py")
    return plain.removesuffix(os.path.join(os.sep, *parts)) if plain.endswith(os.path.join(os.sep, *parts)) else folder


def _read_module(path: str, name: str, *, is_certain: bool = True, within: str | None = None) -> Module:
    try:
        is_file = stat.S_ISREG(os.stat(path).st_mode)
        most = _MOST_BYTES if within is None else _MOST_CONFINED_BYTES
        text = small_bytes(path, most_bytes=most, within=within)
    except UnfitFileError as error:
        if not is_file:  # a pipe may never end
            message = f"The script {path} is not a file but a folder, a pipe or a device. Check the path."
            raise DatasetNotFoundError(message) from error
        raise ScriptError(path, f"it is {error}", advice="Check the path" if within is None else _TRUST) from error
    except OSError as error:
        raise DatasetNotFoundError(f"The script {path} cannot be read: {error.strerror}", advice="Check the path") from error
    return Module(name, path, text, os.path.basename(path) == "__init__.py", is_certain)


def _beside(folder: str, inside: list[str], wanted: Relative, path: str, place: Place) -> list[tuple[str, str]]:
    """Return (dotted name, file) of the modules that one relative import loads, including parent packages."""
    up = wanted.level - 1
    if up > len(inside):
        raise ScriptError(
            path, "a relative import leaves the script's folder", line=wanted.line, advice="Move the module next to it"
        )
    base = inside[: len(inside) - up]
    target = [*base, *wanted.module.split(".")] if wanted.module else base
    found = []
    for depth in range(len(base) + 1, len(target) + 1):
        file = _file_of(folder, target[:depth], place)
        if file is not None:
            found.append((".".join(target[:depth]), file))
        elif not wanted.guarded and not place.is_folder(os.path.join(folder, *target[:depth])):
            missing = os.path.join(folder, *target[:depth]) + ".py"
            raise ScriptError(path, f"it imports {missing}, which does not exist", line=wanted.line, advice="Add that file")
    for name in wanted.names:  # `from . import a`, or a submodule of a package
        file = _file_of(folder, [*target, name], place)
        if file is not None:
            found.append((".".join([*target, name]), file))
    return found


def _file_of(folder: str, parts: Sequence[str], place: Place) -> str | None:
    plain = os.path.join(folder, *parts)
    for candidate in (f"{plain}.py", os.path.join(plain, "__init__.py")):
        if place.is_file(candidate):
            return candidate
    return None


@dataclass(frozen=True, slots=True)
class Relative:
    """`from .module import names`.

    Attributes:
        level: number of dots.
        module: the name after the dots, or "".
        names: the imported names.
        line: its line.
        guarded: True if the code handles a failed import, or imports within a function.
    """

    level: int
    module: str
    names: tuple[str, ...]
    line: int
    guarded: bool


@dataclass(frozen=True, slots=True)
class Imports:
    """The imports of one module.

    Attributes:
        relative: imports of modules next to it.
        needed: (top-level package, line) of other imports that run whenever the module is imported.
        collected: imports of modules of the script's dataset collection.
    """

    relative: tuple[Relative, ...]
    needed: tuple[tuple[str, int], ...]
    collected: tuple[Collected, ...] = ()


@lru_cache(maxsize=64)
def scan(path: str, text: bytes) -> Imports:
    """Return all imports in a text.

    Raises:
        ScriptError: the text is not Python; the error names the line.
    """
    try:
        if codecs.lookup(tokenize.detect_encoding(io.BytesIO(text).readline)[0]).name in _SLOW_CODECS:
            raise ScriptError(path, "it is written in an unsupported encoding", advice="Write it as UTF-8")
        tree = ast.parse(text, path)
        _refuse_remote(tree, path, text)
    except SyntaxError as error:
        raise ScriptError(path, f"it is not valid Python ({error.msg})", line=error.lineno or None) from error
    except (ValueError, tokenize.TokenError) as error:  # a null byte
        raise ScriptError(path, f"it is not valid Python ({error})") from error
    except (RecursionError, MemoryError) as error:
        raise ScriptError(path, "its expressions are nested too deeply") from error
    relative: list[Relative] = []
    needed: list[tuple[str, int]] = []
    collected: list[Collected] = []
    for node, guarded in _import_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            names = tuple(alias.name for alias in node.names)
            relative.append(Relative(node.level, node.module or "", names, node.lineno, guarded))
            continue
        collected += collected_imports(node, guarded=guarded)
        if not guarded:
            names = (node.module or "",) if isinstance(node, ast.ImportFrom) else tuple(alias.name for alias in node.names)
            needed += [(name.partition(".")[0], node.lineno) for name in names]
    return Imports(tuple(relative), tuple(needed), tuple(collected))


def _import_nodes(tree: ast.AST) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield every import of a module, and whether the module can be imported without it."""
    waiting = [(tree, False)]  # not recursive: a thousand branches of one `if` are nested in each other
    while waiting:
        node, guarded = waiting.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, guarded
            continue
        if isinstance(node, ast.Try | ast.TryStar):
            guarded = guarded or any(_catches_missing(handler) for handler in node.handlers)
        elif isinstance(node, ast.If | ast.For | ast.While | ast.Match | ast.FunctionDef | ast.AsyncFunctionDef):
            guarded = True
        inner = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt | ast.excepthandler | ast.match_case)]
        waiting += [(each, guarded) for each in reversed(inner)]


def _catches_missing(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(handler.type)}  # no recursion
    return any(each in str(name) for name in caught for each in ("ImportError", "ModuleNotFoundError", "Exception"))


def _refuse_remote(tree: ast.AST, path: str, text: bytes) -> None:
    """Refuse `from .x import y # From: URL`, with which versions 1 and 2 of `datasets` fetched a module from any URL."""
    if b"From:" not in text:
        return
    ends = {node.end_lineno for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)}
    for token in tokenize.tokenize(io.BytesIO(text).readline):
        found = _REMOTE.match(token.string) if token.type == tokenize.COMMENT and token.start[0] in ends else None
        if found is not None:
            what = f"an import refers to {redact(found[1])}, but code is only read from the script's folder"
            advice = "Put that file next to the script, and delete the comment"
            raise ScriptError(path, what, line=token.start[0], advice=advice)


def identifier(stem: str) -> str:
    """Return a file's stem as a name of Python: `imagenet-1k` → `imagenet_1k`."""
    return re.sub(r"\W", "_", stem)


# The calling script: found on the stack, for errors that name its line, and for paths that refer to its folder.


def script_frame() -> FrameType | None:
    """Return the innermost frame that runs code of a script; None if there is none.

    >>> script_frame()
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and not str(frame.f_globals.get("__name__", "")).startswith(f"{ROOT}."):
        frame = frame.f_back
    return frame


def script_place() -> str:
    """Return `The script FILE, line N,`, or a word for the calling code if it is not a script.

    >>> script_place()
    'This code'
    """
    frame = script_frame()
    return "This code" if frame is None else f"The script {frame.f_code.co_filename}, line {frame.f_lineno},"


def script_folder() -> str | None:
    """Return the folder of the calling script; None if there is none.

    >>> script_folder()
    """
    frame = script_frame()
    return None if frame is None else os.path.dirname(os.path.abspath(frame.f_code.co_filename))

"""Imports one dataset script, under a module name of its own, with the modules beside it that it imports relatively.

A script lives as `datasets_core_scripts.<stem>_<digest>.<stem>`, where the digest covers its folder, its text and the text of
those modules: a changed script is a new module, and two scripts of one name do not meet.  Nothing is added to `sys.path` and
no bytecode is written; a finder on `sys.meta_path` answers for those names alone, from the texts that were read.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import inspect
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType

from datasets_core.building.builder import DatasetBuilder
from datasets_core.engines.local import send_by_value
from datasets_core.errors import DatasetNotFoundError, DatasetsCoreError, MissingDependencyError, ScriptError

ROOT = "datasets_core_scripts"
_LIBRARY = "datasets_core.building."  # the base classes, which a script imports and does not mean
_DISTRIBUTIONS = {
    "bs4": "beautifulsoup4", "cv2": "opencv-python", "Crypto": "pycryptodome", "dateutil": "python-dateutil",
    "PIL": "pillow", "skimage": "scikit-image", "sklearn": "scikit-learn", "yaml": "pyyaml",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Module:
    """The text of one module of a script.

    Attributes:
        name: dotted, as seen from the script's folder; "" for the folder itself.
        path: where it was read.
        text: its bytes.
        is_package: whether it is a folder's `__init__.py`.
    """

    name: str
    path: str
    text: bytes
    is_package: bool = False


_FOLDER = Module("", "", b"", is_package=True)


@dataclass(frozen=True, slots=True)
class Script:
    """A script as it was read: nothing of it has run.

    Attributes:
        path: the script, absolute.
        modules: the script first, then what it imports relatively, each once.
    """

    path: str
    modules: tuple[Module, ...]

    @property
    def digest(self) -> str:
        """sha256 of the texts, wherever they lie: the identity of what the script does."""
        sha = hashlib.sha256()
        for module in sorted(self.modules, key=lambda each: each.name):
            sha.update(f"{module.name}\0{len(module.text)}\0".encode() + module.text)
        return sha.hexdigest()

    @property
    def package(self) -> str:
        """The name of the package that its modules live in."""
        place = hashlib.sha256(f"{self.path}\0{self.digest}".encode()).hexdigest()
        return f"{ROOT}.{_identifier(self.modules[0].name)}_{place[:12]}"

    def name_of(self, module: Module) -> str:
        """The full name of one of its modules."""
        return f"{self.package}.{_identifier(module.name) if module is self.modules[0] else module.name}"


# -- reading -----------------------------------------------------------------------------------------------------------


def read_script(path: str | os.PathLike[str]) -> Script:
    """Read a script and the modules beside it that it imports relatively, without running any of it.

    Raises:
        DatasetNotFoundError: no such file.
        ScriptError: no Python, or a relative import of what is not in the script's folder.
    """
    full = os.path.abspath(os.fspath(path))
    folder, stem = os.path.dirname(full), os.path.basename(full).removesuffix(".py")
    modules = [_read_module(full, stem, is_package=False)]
    names = {stem, ""}
    for module in modules:  # grows while it is walked
        inside = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
        for wanted in _scan(module.path, module.text).relative:
            for name, found in _beside(folder, inside, wanted, module.path):
                if name not in names:
                    names.add(name)
                    modules.append(_read_module(found, name, is_package=os.path.basename(found) == "__init__.py"))
    return Script(full, tuple(modules))


def _read_module(path: str, name: str, *, is_package: bool) -> Module:
    try:
        with open(path, "rb") as file:
            return Module(name, path, file.read(), is_package)
    except OSError as error:
        raise DatasetNotFoundError(f"The script {path} cannot be read: {error.strerror}. Check the path.") from error


def _beside(folder: str, inside: list[str], wanted: _Relative, path: str) -> list[tuple[str, str]]:
    """(dotted name, file) of the modules that one relative import opens, packages on the way included."""
    up = wanted.level - 1
    if up > len(inside):
        raise ScriptError(
            path, "a relative import leaves the script's folder", line=wanted.line, advice="Move the module beside it"
        )
    base = inside[: len(inside) - up]
    target = [*base, *wanted.module.split(".")] if wanted.module else base
    found = []
    for depth in range(len(base) + 1, len(target) + 1):
        file = _file_of(folder, target[:depth])
        if file is not None:
            found.append((".".join(target[:depth]), file))
        elif not wanted.guarded and (depth == len(target) or not os.path.isdir(os.path.join(folder, *target[:depth]))):
            missing = os.path.join(folder, *target[:depth]) + ".py"
            raise ScriptError(path, f"it imports {missing}, which does not exist", line=wanted.line, advice="Add that file")
    for name in wanted.names:  # `from . import a`, or a submodule of a package
        file = _file_of(folder, [*target, name])
        if file is not None:
            found.append((".".join([*target, name]), file))
    return found


def _file_of(folder: str, parts: Sequence[str]) -> str | None:
    plain = os.path.join(folder, *parts)
    for candidate in (f"{plain}.py", os.path.join(plain, "__init__.py")):
        if os.path.isfile(candidate):
            return candidate
    return None


@dataclass(frozen=True, slots=True)
class _Relative:
    level: int
    module: str
    names: tuple[str, ...]
    line: int
    guarded: bool


@dataclass(frozen=True, slots=True)
class _Imports:
    relative: tuple[_Relative, ...]
    needed: tuple[tuple[str, int], ...]  # (top-level package, line) of imports that nothing guards


@lru_cache(maxsize=64)
def _scan(path: str, text: bytes) -> _Imports:
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        raise ScriptError(path, f"it is no Python ({error.msg})", line=error.lineno) from error
    except ValueError as error:  # a null byte
        raise ScriptError(path, f"it is no Python ({error})") from error
    relative: list[_Relative] = []
    needed: list[tuple[str, int]] = []
    for node, guarded in _import_nodes(tree, guarded=False):
        if isinstance(node, ast.ImportFrom) and node.level:
            names = tuple(alias.name for alias in node.names)
            relative.append(_Relative(node.level, node.module or "", names, node.lineno, guarded))
        elif not guarded:
            names = (node.module or "",) if isinstance(node, ast.ImportFrom) else tuple(alias.name for alias in node.names)
            needed += [(name.partition(".")[0], node.lineno) for name in names]
    return _Imports(tuple(relative), tuple(needed))


def _import_nodes(node: ast.AST, *, guarded: bool) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Every import below `node`, and whether the script copes without it."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node, guarded
    elif isinstance(node, ast.Try):
        copes = guarded or any(_catches_missing(handler) for handler in node.handlers)
        for child in node.body:
            yield from _import_nodes(child, guarded=copes)
        for child in (*node.handlers, *node.orelse, *node.finalbody):
            yield from _import_nodes(child, guarded=copes)
    elif isinstance(node, ast.If):
        typing_only = "TYPE_CHECKING" in ast.unparse(node.test)
        for child in node.body:
            yield from _import_nodes(child, guarded=guarded or typing_only)
        for child in node.orelse:
            yield from _import_nodes(child, guarded=guarded)
    else:
        for child in ast.iter_child_nodes(node):
            yield from _import_nodes(child, guarded=guarded)


def _catches_missing(handler: ast.ExceptHandler) -> bool:
    caught = "" if handler.type is None else ast.unparse(handler.type)
    return handler.type is None or any(name in caught for name in ("ImportError", "ModuleNotFoundError", "Exception"))


# -- running -----------------------------------------------------------------------------------------------------------


class _Finder:
    """Finds the modules of the scripts that were read, and nothing else."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.modules: dict[str, Module] = {ROOT: _FOLDER}
        self.classes: dict[str, type[DatasetBuilder]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The import system's question."""
        module = self.modules.get(fullname)
        if module is None:
            return None
        if not module.path:
            return ModuleSpec(fullname, _Loader(module), is_package=True)
        search: list[str] | None = [] if module.is_package else None
        return importlib.util.spec_from_file_location(
            fullname, module.path, loader=_Loader(module), submodule_search_locations=search
        )

    def add(self, script: Script) -> None:
        """Make the script's modules importable."""
        self.modules[script.package] = _FOLDER
        for module in script.modules:
            parents = module.name.split(".")[:-1] if module is not script.modules[0] else []
            for depth in range(1, len(parents) + 1):
                self.modules.setdefault(".".join([script.package, *parents[:depth]]), _FOLDER)
            self.modules[script.name_of(module)] = module
        if self not in sys.meta_path:
            sys.meta_path.append(self)
            send_by_value(importlib.import_module(ROOT))


class _Loader(InspectLoader):
    def __init__(self, module: Module) -> None:
        self.module = module

    def is_package(self, fullname: str) -> bool:
        return self.module.is_package

    def get_source(self, fullname: str) -> str:
        return importlib.util.decode_source(self.module.text)

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self.module.text, self.module.path or "<folder>")


_finder = _Finder()


def load_script(path: str | os.PathLike[str]) -> type[DatasetBuilder]:
    """The builder class of a script.

    It is the first concrete `DatasetBuilder` that the script defines itself, else the last concrete one among its names.

    Raises:
        DatasetNotFoundError: no such file.
        MissingDependencyError: the script imports a package that is not installed.
        ScriptError: no Python, code that fails when it is imported, or no builder in it.
    """
    return load(read_script(path))


def load(script: Script) -> type[DatasetBuilder]:
    """The builder class of a script that was read; its text runs at the first call only."""
    package = script.package
    with _finder.lock:
        found = _finder.classes.get(package)
        if found is None:
            _check_packages(script)
            _finder.add(script)
            name = script.name_of(script.modules[0])
            with _own_errors(script, name):
                module = importlib.import_module(name)
            found = _builder_in(module, script)
            if found.__module__.startswith(f"{package}."):
                found.script = _Shipped(script)  # type: ignore[attr-defined]
            _finder.classes[package] = found
        return found


@dataclass(frozen=True, slots=True)
class _Shipped:
    """A script as an attribute of its builder class.

    Engines send classes of a script by value.  With this attribute the texts travel along, and arriving makes them importable:
    a relative import inside a function works in the worker too.
    """

    script: Script

    def __reduce__(self) -> tuple[Callable[[Script], _Shipped], tuple[Script]]:
        return _arrive, (self.script,)


def _arrive(script: Script) -> _Shipped:
    with _finder.lock:
        _finder.add(script)
    return _Shipped(script)


def _identifier(stem: str) -> str:
    return re.sub(r"\W", "_", stem)


def _check_packages(script: Script) -> None:
    for module in script.modules:
        for package, line in _scan(module.path, module.text).needed:
            if not _is_installed(package):
                if package == "datasets":
                    raise ScriptError(
                        module.path,
                        "it imports 'datasets'",
                        line=line,
                        advice="This version runs scripts written for this library; write 'import datasets_core as datasets'",
                    )
                install_name = _DISTRIBUTIONS.get(package, package)
                raise MissingDependencyError(
                    package, needed_for=f"The script {module.path}, line {line},", install=install_name
                )


def _is_installed(package: str) -> bool:
    if package in sys.modules or package in sys.builtin_module_names:
        return True
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


@contextlib.contextmanager
def _own_errors(script: Script, name: str) -> Iterator[None]:
    """Tell a failing import by the place in the script, and leave no half-made module behind."""
    try:
        yield
    except BaseException as error:
        for loaded in [each for each in sys.modules if each.startswith(f"{script.package}.")]:
            del sys.modules[loaded]
        if isinstance(error, DatasetsCoreError) or not isinstance(error, Exception):
            raise
        ours = {module.path for module in script.modules}
        places = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in ours]
        path, line = (places[-1].filename, places[-1].lineno) if places else (script.path, None)
        raise ScriptError(path, f"importing it failed with {type(error).__name__}: {error}", line=line) from error


def _builder_in(module: ModuleType, script: Script) -> type[DatasetBuilder]:
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, DatasetBuilder)]
    concrete = [
        each for each in classes if not inspect.isabstract(each) and not each.__module__.startswith("datasets_core.building.")
    ]
    own = [each for each in concrete if each.__module__ == module.__name__]
    if not concrete:
        raise ScriptError(
            script.path,
            "it defines no dataset builder",
            advice="Define a subclass of GeneratorBasedBuilder or ArrowBasedBuilder",
        )
    return own[0] if own else concrete[-1]

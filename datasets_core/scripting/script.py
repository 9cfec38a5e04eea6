"""Import of one dataset script, under a separate module name, with the modules next to it that it imports relatively.

A script is imported as `datasets_core_scripts.<stem>_<digest>.<stem>`, where the digest covers its folder, its text and the
text of those modules: a changed script is a new module, and two scripts of the same name never collide. Nothing is added to
`sys.path` and no bytecode is written; a finder on `sys.meta_path` finds only those names, from the texts that were read.
"""

from __future__ import annotations

import abc
import ast
import importlib
import importlib.util
import inspect
import os
import re
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import InspectLoader
from importlib.machinery import ModuleSpec
from types import CodeType, MappingProxyType, ModuleType
from typing import NoReturn, TypeVar

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.failures import describe
from datasets_core.engines.deadline import Deadline, Place, TimeUp, stopped_at
from datasets_core.engines.process import send_by_value
from datasets_core.errors import (
    DatasetBuildError,
    DatasetsCoreError,
    DefunctDatasetError,
    DownloadError,
    FileNotFoundDatasetsError,
    MissingDependencyError,
    ScriptError,
    ScriptTimeoutError,
    UnknownConfigError,
    UnknownOptionError,
    UnknownVersionError,
    VerificationError,
)
from datasets_core.optional import distribution, is_installed, missing_package
from datasets_core.scripting.compat.tables import COMPAT_MODULES, compat_module_of
from datasets_core.scripting.modules import COLLECTIONS, FOLDER, ROOT, Module, Script, read_script, scan

# Execution of a script's code for its import and description: its errors and timeouts, with their location.


T = TypeVar("T")

# Errors of the library for the user of a script, not for its author.
_TO_THE_USER = (
    DatasetBuildError, DefunctDatasetError, DownloadError, FileNotFoundDatasetsError, MissingDependencyError, ScriptError,
    UnknownConfigError, UnknownOptionError, UnknownVersionError, VerificationError,
)  # fmt: skip


def ran(script: Script, work: Callable[[], T], *, doing: str, deadline: Deadline | None = None) -> T:
    """Return the result of `work`, which runs code of the script.

    Args:
        script: the script.
        work: runs the code.
        doing: "importing it", "creating its builder".
        deadline: deadline of the work.

    Raises:
        MissingDependencyError: a package is not installed.
        ScriptError: the code raised an exception that is not an error of the library for its user.
        ScriptTimeoutError: it did not finish in time.
    """
    try:
        return work() if deadline is None else stopped_at(deadline, work, doing=doing)
    except TimeUp as up:
        path, line = _place(up.places[::-1], script) or (script.path, None)
        seconds = 0.0 if deadline is None else deadline.seconds
        raise ScriptTimeoutError(script.path, doing, seconds=seconds, path=path, line=line) from None
    except (KeyboardInterrupt, *_TO_THE_USER):
        raise
    except BaseException as error:
        place = _place([(frame.filename, frame.lineno or 0) for frame in traceback.extract_tb(error.__traceback__)], script)
        is_plain = isinstance(error, (Exception, SystemExit, GeneratorExit, BaseExceptionGroup))
        if place is None and (isinstance(error, DatasetsCoreError) or not is_plain):
            raise  # said by the library, or by what runs us, and not of a line of the script
        _tell(script, error, place, doing)


def _tell(script: Script, error: BaseException, place: Place | None, doing: str) -> NoReturn:
    path, line = place or (script.path, None)
    package = missing_package(error) if isinstance(error, Exception) else None
    if package is not None:
        where = path if line is None else f"{path}, line {line},"
        raise MissingDependencyError(package, needed_for=f"The script {where}", install=distribution(package)) from error
    words, advice = describe(error), "Fix the script"
    if isinstance(error, DatasetsCoreError) and ". " in words:  # which says itself what to do
        words, _, advice = words.rpartition(". ")
    raise ScriptError(path, f"{doing} failed with {words}", line=line, advice=advice) from error


def _place(frames: Sequence[Place], script: Script) -> Place | None:
    """Return the innermost frame in the script or next to it; frames are ordered from the outermost to the innermost."""
    ours = {module.path for module in script.modules}
    return next((place for place in reversed(frames) if place[0] in ours), None)


# The code of a script's module, with imports of old libraries replaced by imports of compatibility modules.


_IMPORTERS = frozenset({"import_module", "__import__"})


def rewritten(text: bytes, path: str, own: Mapping[str, str] = MappingProxyType({})) -> CodeType:
    """Return code for a text whose imports of old libraries open compatibility modules, under the same names.

    It applies to every import in the text, also in functions and under conditions, and to `importlib.import_module` and
    `__import__` of a constant name.  Lines and columns do not change.

    Args:
        text: text of the module.
        path: path of the file.
        own: modules of the script, including those of its collection, by their names in the text.

    >>> space = {}
    >>> exec(rewritten(b"import os, datasets.features as f; from datasets import Value", "a.py"), space)
    >>> space["Value"] is Value, space["f"].Value is Value
    (True, True)
    """
    tree = ast.parse(text, path)
    own = {name: full for name, full in own.items() if name.partition(".")[0] in COLLECTIONS and name not in COMPAT_MODULES}
    for node in ast.walk(tree):  # not recursive: sums of a thousand texts are nested in each other
        if isinstance(node, ast.Import):
            node.names = [new for alias in node.names for new in _aliases(alias, own)]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            node.module = own.get(node.module) or compat_module_of(node.module) or node.module
        elif isinstance(node, ast.Call):
            _check_call(node)
    code: CodeType = compile(tree, path, "exec", dont_inherit=True)
    return code


def _check_call(node: ast.Call) -> None:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
    if called in _IMPORTERS and node.args and isinstance(node.args[0], ast.Constant):
        name = node.args[0].value
        face = compat_module_of(name) if isinstance(name, str) else None
        if face is not None:
            _open_module(node, str(name), face, whole=called == "import_module")


def _aliases(alias: ast.alias, own: Mapping[str, str]) -> list[ast.alias]:
    """Return the names for `import a.b`: it loads a.b and binds `a`, while `import a.b as c` binds a.b."""
    if alias.asname is not None and alias.name in own:
        return [ast.copy_location(ast.alias(own[alias.name], alias.asname), alias)]
    face = compat_module_of(alias.name)
    if face is None:
        return [alias]
    top = alias.name.partition(".")[0]
    opened = [ast.alias(face, alias.asname or top)]
    if alias.asname is None and top != alias.name:
        opened.append(ast.alias(compat_module_of(top) or top, top))
    return [ast.copy_location(each, alias) for each in opened]


def _open_module(call: ast.Call, name: str, face: str, *, whole: bool) -> None:
    """Change a call of an import function to load a compatibility module; `__import__("a.b")` returns `a`, unless it has a
    fromlist.
    """
    place = call.args[0]
    if not whole and len(call.args) < 4 and not any(keyword.arg == "fromlist" for keyword in call.keywords):
        face = compat_module_of(name.partition(".")[0]) or face
        names = ast.Tuple([ast.Constant("__name__")], ast.Load())
        call.keywords.append(ast.keyword("fromlist", names))
    call.args[0] = ast.Constant(face)
    ast.copy_location(call.args[0], place)
    ast.fix_missing_locations(call)


_LIBRARY = ("datasets_core.building.", "datasets_core.tfds.")  # the base classes, which a script imports and does not mean


class _Finder:
    """Finds only the modules of scripts that were read."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.modules: dict[str, Module] = {ROOT: FOLDER}
        self.scripts: dict[str, Script] = {}
        self.classes: dict[str, type[DatasetBuilder]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module for the import system."""
        module = self.modules.get(fullname)
        if module is None:
            return None
        if not module.path:
            return ModuleSpec(fullname, _Loader(module), is_package=True)
        spec = importlib.util.spec_from_file_location(fullname, module.path, loader=_Loader(module))
        if spec is not None and module.is_package:
            spec.submodule_search_locations = []  # nothing is found on the disk that was not read
        return spec

    def add(self, script: Script) -> None:
        """Make the script's modules importable."""
        self.modules[script.package], self.scripts[script.package] = FOLDER, script
        for module in script.modules:
            parents = module.name.split(".")[:-1] if module is not script.modules[0] else []
            for depth in range(1, len(parents) + 1):
                self.modules.setdefault(".".join([script.package, *parents[:depth]]), FOLDER)
            self.modules[script.name_of(module)] = module
        if self not in sys.meta_path:
            sys.meta_path.append(self)
            send_by_value(importlib.import_module(ROOT))


class _ScriptModule(ModuleType):
    """A module of a script. It is pickled as its name and the texts of the script, since its values may not be."""

    def __reduce__(self) -> tuple[Callable[..., ModuleType], tuple[_Shipped | None, str]]:
        script = _finder.scripts.get(".".join(self.__name__.split(".")[:2]))
        return _imported, (_Shipped(script) if script is not None else None, self.__name__)


def _imported(_: _Shipped | None, name: str) -> ModuleType:
    return importlib.import_module(name)


class _Loader(InspectLoader):
    def __init__(self, module: Module) -> None:
        self.module = module

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _ScriptModule(spec.name)

    def is_package(self, fullname: str) -> bool:
        return self.module.is_package

    def get_source(self, fullname: str) -> str:
        return importlib.util.decode_source(self.module.text)

    def get_code(self, fullname: str) -> CodeType:
        package = ".".join(fullname.split(".")[:2])
        own = {name.removeprefix(f"{package}."): name for name in _finder.modules if name.startswith(f"{package}.")}
        return rewritten(self.module.text, self.module.path or "<folder>", own)


_finder = _Finder()


def load_script(path: str | os.PathLike[str]) -> type[DatasetBuilder]:
    """Return the builder class of a script.

    It is the first concrete `DatasetBuilder` that the script defines itself, else the last concrete one among its names.

    Raises:
        DatasetNotFoundError: the file does not exist.
        MissingDependencyError: the script imports a package that is not installed.
        ScriptError: the file is not Python, fails when it is imported, or defines no builder.
    """
    return load(read_script(path))


def load(script: Script, *, deadline: Deadline | None = None) -> type[DatasetBuilder]:
    """Return the builder class of a script that was read; its text runs only at the first call.

    Args:
        script: the script.
        deadline: time by which its import must finish.
    """
    package = script.package
    with _finder.lock:
        found = _finder.classes.get(package)
        if found is None:
            _check_packages(script)
            _finder.add(script)
            name = script.name_of(script.modules[0])
            try:
                module = ran(script, lambda: importlib.import_module(name), doing="importing it", deadline=deadline)
            except BaseException:
                for loaded in [each for each in sys.modules if each.startswith(f"{package}.")]:
                    del sys.modules[loaded]  # no half-made module stays behind
                raise
            found = _builder_in(module, script)
            if found.__module__.startswith(f"{package}."):
                found.script = _Shipped(script)  # type: ignore[attr-defined]
                found.is_of_old_datasets = script.is_of_old_datasets
            _finder.classes[package] = found
        return found


@dataclass(frozen=True, slots=True)
class _Shipped:
    """A script as an attribute of its builder class.

    Engines send classes of a script by value.  With this attribute the texts are sent along, and unpickling makes them
    importable: a relative import inside a function works in the worker too.
    """

    script: Script

    def __reduce__(self) -> tuple[Callable[[Script], _Shipped], tuple[Script]]:
        return _arrive, (self.script,)


def _arrive(script: Script) -> _Shipped:
    with _finder.lock:
        _finder.add(script)
    return _Shipped(script)


def _check_packages(script: Script) -> None:
    missing: dict[str, tuple[str, int]] = {}
    for module in script.modules:
        for package, line in scan(module.path, module.text).needed if module.is_certain else ():
            if compat_module_of(package) is None and not is_installed(package):
                missing.setdefault(package, (module.path, line))
    if missing:
        first, *others = missing
        _refuse(first, *missing[first], [(name, distribution(name)) for name in others])


def _refuse(package: str, path: str, line: int, more: list[tuple[str, str]]) -> NoReturn:
    if os.path.exists(os.path.join(os.path.dirname(path), f"{package}.py")):
        advice = f"Import the file next to the script relatively: 'from .{package} import …'"
        raise ScriptError(path, f"it imports {package!r}, which is not installed", line=line, advice=advice)
    where = f"The script {path}, line {line},"
    raise MissingDependencyError(package, needed_for=where, install=distribution(package), more=more)


def _builder_in(module: ModuleType, script: Script) -> type[DatasetBuilder]:
    classes = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, DatasetBuilder)]
    for each in classes:
        if each.__module__ == module.__name__:
            abc.update_abstractmethods(each)  # hooks may have been set after the class was made
    concrete = [each for each in classes if not inspect.isabstract(each) and not each.__module__.startswith(_LIBRARY)]
    own = list(dict.fromkeys(each for each in concrete if each.__module__ == module.__name__))
    if not concrete:
        advice = "Define a subclass of GeneratorBasedBuilder or ArrowBasedBuilder with all its hooks"
        raise ScriptError(script.path, "it defines no dataset builder", advice=advice)
    if not own:
        return concrete[-1]
    strangers = [each for each in own[1:] if not issubclass(each, own[0]) and not issubclass(own[0], each)]
    if strangers and not _fits(own[0].__name__, script.modules[0].name):
        one, other = own[0].__name__, strangers[0].__name__
        what = f"it defines two builders, {one} and {other} (line {_line_of(other, script)})"
        advice = "Leave one of them in it, or give the first one the name of the file"
        raise ScriptError(script.path, what, line=_line_of(one, script), advice=advice)
    return own[0]


def _fits(name: str, stem: str) -> bool:
    """Return True if the name of a class is the name of its file, or a part of it."""
    short, long = sorted((re.sub(r"[\W_]", "", name).lower(), re.sub(r"[\W_]", "", stem).lower()), key=len)
    return bool(short) and short in long


def _line_of(name: str, script: Script) -> int | None:
    tree = ast.parse(script.modules[0].text)
    return next((node.lineno for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name), None)

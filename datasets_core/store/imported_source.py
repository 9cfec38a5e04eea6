"""The user's files that an import in a function reads, those that they import in turn too, loaded or not."""

from __future__ import annotations

import ast
import functools
import importlib.util
import os
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

from datasets_core.errors import UnhashableError
from datasets_core.store.code_reach import codes, is_installed, is_installed_path

_WRAPS = (types.FunctionType, functools._lru_cache_wrapper, staticmethod, classmethod)
_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASKS = {"import_module", "__import__"}


def imported_sources(imports: Iterable[tuple[int, str]], package: str | None) -> dict[str, str | types.ModuleType]:
    """By full name, the files of the user's modules that imports read; the module itself where it has no file.

    Nothing is imported for that but the packages around a module.

    Args:
        imports: level and name of each.
        package: the package in which they stand.

    Raises:
        UnhashableError: a file imports what only its run decides.

    >>> imported_sources([(0, "json")], None)
    {}
    """
    found: dict[str, str | types.ModuleType] = {}
    waiting = [full for level, name in imports for full in _full_names(level, name, package)]
    done: set[str] = set()
    while waiting:
        full = waiting.pop()
        if full in done:
            continue
        done.add(full)
        place = _place(full)
        if place is None:
            continue
        found[full] = place
        if isinstance(place, str) and place.endswith(".py"):
            is_package = os.path.basename(place) == "__init__.py"
            around = full if is_package else full.rpartition(".")[0]
            waiting += [name for level, path in _imports_in(place) for name in _full_names(level, path, around)]
    return dict(sorted(found.items()))


def changed_since(module: types.ModuleType, path: str) -> dict[str, Any]:
    """What stands in a loaded module otherwise than its file says: set from outside, or the file was edited since."""
    path = os.path.abspath(path)
    tree = _parsed(path)
    if tree is None:
        return {}
    literals = _literals(tree)
    written = set(codes(compile(tree, path, "exec", dont_inherit=True)))
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    stored |= {
        alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    stored |= {node.name for node in ast.walk(tree) if isinstance(node, _DEFINES)}
    changed: dict[str, Any] = {}
    for name, part in sorted(vars(module).items()):
        if name.startswith("__") or isinstance(part, types.ModuleType):
            continue
        functions = list(_functions(part))
        own = [inner.__code__ for inner in functions if os.path.abspath(inner.__code__.co_filename) == path]
        if isinstance(part, type) and any(_is_put_in(inner, module) for inner in functions):
            is_changed = part.__module__ == module.__name__
        elif own:
            is_changed = not written.issuperset(own)
        elif isinstance(part, (types.FunctionType, type)) and part.__module__ == module.__name__:
            is_changed = False  # made by other code of what the file says
        elif name in literals:
            said = literals[name]
            is_changed = repr(said) != repr(part) and not (isinstance(part, set) and said == part)
        else:
            is_changed = name not in stored and "*" not in stored
        if is_changed:
            changed[name] = part
    return changed


def _is_put_in(function: types.FunctionType, module: types.ModuleType) -> bool:
    home = function.__module__
    return home != module.__name__ and "__wrapped__" not in vars(function) and not is_installed(home)


def _functions(value: Any) -> Iterator[types.FunctionType]:
    """A function and those that it wraps, those of a class."""
    parts = vars(value).values() if isinstance(value, type) else (value,)
    for part in parts:
        inner = part.fget if isinstance(part, property) else part
        while isinstance(inner, _WRAPS):
            if isinstance(inner, types.FunctionType):
                yield inner
            inner = vars(inner).get("__wrapped__")


def _full_names(level: int, name: str, package: str | None) -> list[str]:
    """A module and the packages around it, which its import reads first."""
    try:
        full = importlib.util.resolve_name("." * level + name, package) if level else name
    except (ImportError, ValueError):
        return []
    parts = full.rstrip(".").split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def _place(full: str) -> str | types.ModuleType | None:
    module = sys.modules.get(full)
    if module is not None:
        if is_installed(module):
            return None
        path = getattr(module, "__file__", None)
        if path is None:
            return None if hasattr(module, "__path__") else module  # of a package without a file, or made by a program
        return module if full == "__main__" else str(path)
    try:
        spec = importlib.util.find_spec(full)
    except (ImportError, ValueError, AttributeError):
        return None
    origin = None if spec is None else spec.origin
    return None if origin is None or origin in ("built-in", "frozen") or is_installed_path(origin) else origin


def _parsed(path: str) -> ast.Module | None:
    try:
        with open(path, "rb") as file:
            return ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return None


def _imports_in(path: str) -> Iterator[tuple[int, str]]:
    tree = _parsed(path)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            yield from ((0, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = node.module or ""
            yield node.level, around
            yield from ((node.level, f"{around}.{alias.name}".lstrip(".")) for alias in node.names if alias.name != "*")
        elif isinstance(node, ast.Call) and _called(node.func) in _ASKS:
            given = [*node.args, *(word.value for word in node.keywords if word.arg == "name")]
            name = given[0].value if given and isinstance(given[0], ast.Constant) else None
            if not isinstance(name, str) or name.startswith("."):
                raise UnhashableError(f"line {node.lineno} of {os.path.basename(path)!r} imports what only its run decides")
            yield 0, name


def _called(function: ast.expr) -> str | None:
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else None


def _literals(tree: ast.Module) -> dict[str, Any]:
    """The names that the file sets once, to a literal."""
    times: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            times[node.id] = times.get(node.id, 0) + 1
    found: dict[str, Any] = {}
    for line in tree.body:
        target = line.targets[0] if isinstance(line, ast.Assign) else line.target if isinstance(line, ast.AnnAssign) else None
        value = line.value if isinstance(line, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(target, ast.Name) and value is not None and times[target.id] == 1:
            try:
                found[target.id] = ast.literal_eval(value)
            except (ValueError, TypeError, SyntaxError):
                continue
    return found

"""What code depends on: the globals that it reads, attributes of modules, modules that it imports; and whose code it is."""

from __future__ import annotations

import os
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

_STANDARD = os.path.dirname(os.__file__) + os.sep
_INSTALLED = {"site-packages", "dist-packages"}
_OWN = __name__.partition(".")[0]  # this library, which a checkout runs from elsewhere
_WORD = re.compile(r"[^\W\d]\w*")
_LOOKS_ANYWHERE = {"eval", "exec", "globals", "vars", "locals", "__import__"}
"""Builtins by which a text becomes a name: every name in the texts of such code counts."""
_ASKS_FOR_MODULES = ("import_module", "__import__")
_FILLERS = ("EXTENDED_ARG", "CACHE", "PUSH_NULL", "PRECALL")


@dataclass(slots=True)
class Reach:
    """What a code object, and the functions within it, look up outside of themselves.

    Attributes:
        paths: each global that is read, with the attributes that are read of it at once: `("helpers", "f")`.
        imports: the modules that may be imported: level, name; of `from a import b` both `a` and `a.b`.
        is_open: whether a module is imported whose name only the run decides.
        words: names in the texts, for code that may look up what a text says.
    """

    paths: set[tuple[str, ...]] = field(default_factory=set)
    imports: set[tuple[int, str]] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    is_open: bool = False


def reach_of(code: types.CodeType) -> Reach:
    """What code depends on.

    >>> sorted(reach_of((lambda row: helpers.sub.f(row) + LIMIT).__code__).paths)
    [('LIMIT',), ('helpers', 'sub', 'f')]
    """
    import dis  # 5 ms that only functions need

    reach = Reach()
    for inner in codes(code):
        path: list[str] = []
        level = 0
        names: tuple[str, ...] = ()
        asks = False
        for step in dis.get_instructions(inner):
            if asks and step.opname not in _FILLERS:
                asks = False
                text = step.argval if step.opname == "LOAD_CONST" else None
                if isinstance(text, str) and not text.startswith("."):
                    reach.imports.add((0, text))
                else:
                    reach.is_open = True
            asks = asks or ("LOAD" in step.opname and step.opname != "LOAD_CONST" and step.argval in _ASKS_FOR_MODULES)
            if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and path:
                path.append(str(step.argval))
                continue
            if step.opname in _FILLERS:
                continue
            if path:
                reach.paths.add(tuple(path))
                path = []
            if step.opname == "LOAD_NAME" or ("LOAD" in step.opname and "GLOBAL" in step.opname):
                path = [str(step.argval)]
            elif step.opname == "LOAD_CONST" and isinstance(step.argval, int):
                level = step.argval  # of the import that may follow: level, names, IMPORT_NAME
            elif step.opname == "LOAD_SMALL_INT":
                level = int(step.argval)
            elif step.opname == "LOAD_CONST":
                names = step.argval if isinstance(step.argval, tuple) else ()
            elif step.opname == "IMPORT_NAME":
                name = str(step.argval)
                reach.imports.add((level, name))
                reach.imports |= {(level, f"{name}.{part}".lstrip(".")) for part in names if part != "*"}
        if path:
            reach.paths.add(tuple(path))
    if any(path[0] in _LOOKS_ANYWHERE for path in reach.paths):
        reach.words = {word for inner in codes(code) for text in _texts(inner.co_consts) for word in _WORD.findall(text)}
    return reach


def codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object, and those of the functions and comprehensions within it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


def _texts(constants: tuple[Any, ...]) -> Iterator[str]:
    for constant in constants:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, tuple):
            yield from _texts(constant)


# -- whose code it is --------------------------------------------------------------------------------------------------


def is_installed(module: Any) -> bool:
    """Whether a module (or the module of a name) is part of Python or of an installed package: its name says what it does."""
    found = sys.modules.get(module) if isinstance(module, str) else module
    if found is None or getattr(found, "__name__", None) in ("__main__", "__mp_main__"):
        return False
    path = getattr(found, "__file__", None)
    if path is None:
        origin = getattr(getattr(found, "__spec__", None), "origin", None)
        return found.__name__ in sys.builtin_module_names or origin in ("built-in", "frozen")
    is_own = str(getattr(found, "__name__", "")).partition(".")[0] == _OWN
    return is_own or is_installed_path(path)


def is_found_by_name(value: Any, module: str | None) -> bool:
    """Whether a function or a class is what its qualified name says, in a module."""
    found: Any = sys.modules.get(module or "")
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


def module_name(name: str | None) -> str:
    """The name of a module, the same in the program and in processes that it starts."""
    return "__main__" if name == "__mp_main__" else str(name)


def is_installed_path(path: str) -> bool:
    """Whether a file is one of Python or of an installed package."""
    return path.startswith(_STANDARD) or not _INSTALLED.isdisjoint(path.split(os.sep))


def attribute(module: types.ModuleType, name: str) -> tuple[bool, Any]:
    """Whether a module has an attribute, and the attribute."""
    try:
        return True, getattr(module, name)
    except AttributeError:
        return False, None

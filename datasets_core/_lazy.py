"""Lazy names: public names of a module imported on first use (PEP 562), and the one import from a higher floor."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def attach(module: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for `module`, whose names live in `homes`.

    Args:
        module: the package's own name.
        homes: public name → full name of the module that defines it; a home equal to `module + "." + name` is that
            submodule itself.
    """

    def getattr_(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        found = importlib.import_module(home)
        value = found if home == f"{module}.{name}" else getattr(found, name)
        vars(importlib.import_module(module))[name] = value  # the next access costs nothing
        return value

    def dir_() -> list[str]:
        return sorted({*vars(importlib.import_module(module)), *homes})

    return getattr_, dir_


def later(module: str, name: str) -> Any:
    """Return the attribute `name` of `module`, imported now: for the one call to a higher floor (`ARCHITECTURE.md`) only.

    >>> later("math", "sqrt")(4)
    2.0
    """
    return getattr(importlib.import_module(module), name)

"""Which functions cannot tell in which process they run, nor end it: they may run here instead of in a worker."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from datasets_core.store.code_reach import reach_of

_MODULES = frozenset(
    {"base64", "bisect", "collections", "copy", "datetime", "decimal", "difflib", "fractions", "functools", "hashlib"}
    | {"heapq", "html", "itertools", "json", "math", "numpy", "operator", "pyarrow", "re", "statistics", "string"}
    | {"textwrap", "unicodedata"}
)
_REACHES_OUT = {"__import__", "breakpoint", "eval", "exec", "exit", "globals", "input", "open", "quit", "vars"}
_BUILTINS = frozenset(vars(builtins)) - _REACHES_OUT
_VALUES = (int, float, str, bytes, bool, type(None), re.Pattern)


def is_plain(function: Callable[..., Any], *values: Any) -> bool:
    """Whether a function, and the values that it is given, use nothing but values, plain functions and known modules.

    >>> import os
    >>> is_plain(lambda row: len(row["text"])), is_plain(lambda row: os.getpid())
    (True, False)
    """
    return _is_plain((function, *values), set())


def _is_plain(value: Any, seen: set[int]) -> bool:
    if isinstance(value, _VALUES) or id(value) in seen:
        return True
    if isinstance(value, (tuple, list, set, frozenset)):
        return len(value) < 1000 and all(_is_plain(each, seen) for each in value)
    if isinstance(value, dict):
        return len(value) < 1000 and all(_is_plain(pair, seen) for pair in value.items())
    if isinstance(value, ModuleType):
        return value.__name__.partition(".")[0] in _MODULES
    if isinstance(value, (type, BuiltinFunctionType)):
        return (getattr(value, "__module__", None) or "").partition(".")[0] in _MODULES or getattr(
            builtins, value.__name__, None
        ) is value
    if isinstance(value, partial):
        return _is_plain((value.func, value.args, value.keywords), seen)
    return isinstance(value, FunctionType) and _is_plain_function(value, seen)


def _is_plain_function(function: FunctionType, seen: set[int]) -> bool:
    if function.__module__.partition(".")[0] in _MODULES:
        return True
    seen.add(id(function))
    reach = reach_of(function.__code__)
    if any(name.partition(".")[0] not in _MODULES for _, name in reach.imports):
        return False
    for name, *_ in reach.paths:
        if name in function.__globals__:
            if not _is_plain(function.__globals__[name], seen):
                return False
        elif name not in _BUILTINS:
            return False
    try:
        held = [cell.cell_contents for cell in function.__closure__ or ()]
    except ValueError:  # a name that has no value yet
        return False
    return _is_plain((held, function.__defaults__, function.__kwdefaults__), seen)

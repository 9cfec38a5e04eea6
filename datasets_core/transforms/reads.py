"""Which columns a function reads of the row that it is given, where its code shows that it does nothing else with the row."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"})
_SEES_ALL = frozenset({"locals", "vars", "eval", "exec", "dir", "_getframe", "currentframe", "breakpoint", "set_trace"})
_NO_PLAIN_CALL = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


def columns_read(function: Callable[..., Any]) -> frozenset[str] | None:
    """The keys that a function looks up in its first argument; None where it may do anything else with it.

    The answer is sure: every use of the argument in the code is a look-up of a constant, so that the row cannot be changed,
    kept or seen whole.

    >>> sorted(columns_read(lambda row: {"n": len(row["text"]) + row["id"]}))
    ['id', 'text']
    >>> columns_read(lambda row: row) is columns_read(lambda row: row.update(a=1)) is None
    True
    """
    while isinstance(function, partial) and not function.args:
        function = function.func
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    if not code.co_argcount or code.co_flags & _NO_PLAIN_CALL or _SEES_ALL & set(code.co_names):
        return None
    row = code.co_varnames[0]
    if row in code.co_cellvars:
        return None
    steps = list(dis.get_instructions(code))
    found = set()
    for place, step in enumerate(steps):
        used = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        if "FAST" not in step.opname or row not in used:
            continue
        behind = steps[place + 1 : place + 3]
        if step.opname not in _LOADS or len(behind) < 2 or not _is_look_up(*behind):
            return None
        found.add(behind[0].argval)
    return frozenset(found)


def _is_look_up(key: dis.Instruction, access: dis.Instruction) -> bool:
    if key.opname != "LOAD_CONST" or not isinstance(key.argval, str) or key.is_jump_target or access.is_jump_target:
        return False
    return access.opname == "BINARY_SUBSCR" or (access.opname == "BINARY_OP" and access.argrepr == "[]")

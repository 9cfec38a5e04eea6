"""Lines of an author's code: where a hook is defined, and which `yield` gave a row."""

from __future__ import annotations

import dis
import itertools
import os
import time
from collections.abc import Callable, Iterator
from types import CodeType, GeneratorType
from typing import Any

from datasets_core.building.hooks import Hooks, Part
from datasets_core.building.jobs import holds_once

_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MOST_SECONDS = 5.0  # in which rows are made again to find a line
_DELEGATES = frozenset(("SEND", "YIELD_FROM"))


def hook_place(cls: type, *names: str) -> str | None:
    """`FILE, line N`, where an author defined the first of the hooks that a class has; None where none did.

    >>> hook_place(dict, "_info") is None
    True
    """
    for name in names:
        for parent in cls.__mro__:
            if name in vars(parent):
                code = _code_of(vars(parent)[name])
                if parent.__module__.startswith("datasets_core.") or code is None:
                    return None
                return f"{code.co_filename}, line {code.co_firstlineno}"
    return None


def row_place(
    builder: Hooks, job: Part, row: int, key: Any, *, generate: Callable[[dict[str, Any]], Iterator[Any]] | None = None
) -> str | None:
    """`FILE, line N` of the `yield` that gave a row; of the hook where that cannot be told; None without an author.

    Where the code has several, its rows are made again, as far as that goes in seconds.

    Args:
        builder: whose row.
        job: of which part of which split.
        row: its number in the part.
        key: its key.
        generate: what makes the author's own rows, where `builder.generate` changes them.
    """
    names = ("_generate_examples", "_generate_tables")
    hook = hook_place(type(builder), *names)
    if hook is None:
        return None
    code = next((_code_of(getattr(type(builder), name)) for name in names if hasattr(type(builder), name)), None)
    lines = _yield_lines(code) if code is not None else None
    if code is not None and lines is not None and len(lines) == 1:
        return f"{code.co_filename}, line {lines[0]}"
    try:
        found = None if holds_once(job.gen_kwargs) else _line_of_row(generate or builder.generate, job, row, key)
    except Exception:  # the author's code, in whichever state the first time has left what it reads
        found = None
    if found is None and lines and code is not None:
        return f"{code.co_filename}, line {' or '.join(map(str, lines))}"
    return found or hook


def _code_of(hook: Any) -> CodeType | None:
    while hasattr(hook, "__wrapped__"):
        hook = hook.__wrapped__
    if isinstance(hook, property):
        hook = hook.fget
    code = getattr(getattr(hook, "__func__", hook), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _yield_lines(code: CodeType) -> list[int] | None:
    """The lines with a `yield`; None where there is none, or where it passes on what others yield."""
    instructions = list(dis.get_instructions(code))
    if any(each.opname in _DELEGATES for each in instructions):
        return None
    lines = {each.positions.lineno for each in instructions if each.opname == "YIELD_VALUE" and each.positions is not None}
    return sorted(line for line in lines if line is not None) or None


def _line_of_row(generate: Callable[[dict[str, Any]], Iterator[Any]], job: Part, row: int, key: Any) -> str | None:
    made: Iterator[Any] = iter(generate(job.gen_kwargs))
    if not isinstance(made, GeneratorType):
        return None
    end = time.monotonic() + (_MOST_SECONDS if job.deadline is None else min(_MOST_SECONDS, job.deadline.remaining))
    for pair in itertools.islice(made, row):
        del pair
        if time.monotonic() > end:
            return None
    pair = next(made)
    if isinstance(pair, tuple) and pair and not _is_same(pair[0], key):
        return None
    return yield_place(made)


def yield_place(made: object) -> str | None:
    """`FILE, line N` where a generator stands at the `yield` that gave its last value; None for what is no generator.

    >>> def rows():
    ...     yield 1
    >>> made = rows()
    >>> next(made), yield_place(made).endswith(", line 2")
    (1, True)
    """
    if not isinstance(made, GeneratorType):
        return None
    inner = made  # which lives as long as `made` does
    while isinstance(inner.gi_yieldfrom, GeneratorType) and not inner.gi_yieldfrom.gi_code.co_filename.startswith(_LIBRARY):
        inner = inner.gi_yieldfrom
    frame = inner.gi_frame
    return None if frame is None else f"{inner.gi_code.co_filename}, line {frame.f_lineno}"


def _is_same(a: Any, b: Any) -> bool:
    """Whether two keys are of one row, as far as keys of their kind can tell."""
    return not isinstance(a, (int, str, bytes, tuple)) or bool(a == b)

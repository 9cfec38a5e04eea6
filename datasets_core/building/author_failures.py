"""Where and how an author's code failed, in words that name the split, the row, the key, the file and the line."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from typing import Any, NoReturn

from datasets_core.building.hooks import Hooks, Part
from datasets_core.errors import DatasetGenerationError, DatasetsCoreError


def begin(job: Part, builder: Hooks) -> Iterator[tuple[Any, Any]]:
    """What the author's `_generate_*` yields for a part of a split.

    Raises:
        DatasetGenerationError: the author's code fails as it is called.
    """
    try:
        return iter(builder.generate(job.gen_kwargs))
    except DatasetsCoreError:
        raise
    except Exception as error:
        fail(job, builder, error, row=0, key=None)


def fail(job: Part, builder: Hooks, error: Exception, *, row: int, key: Any) -> NoReturn:
    """Say that the author's code failed.

    Args:
        job: of which part of which split.
        builder: whose code.
        error: what it raised.
        row: how many rows it had made.
        key: that of the row before; None where there was none.

    Raises:
        DatasetGenerationError: always.
    """
    reached = f"at row {row}" if key is None else f"at row {row}, behind key {key!r}"
    part = f" (part {job.index + 1} of {job.count})" if job.count > 1 else ""
    where = f"split {job.split!r}{part}, {place_of(error, builder)}"
    raise DatasetGenerationError(
        f"{builder.label} failed {reached} of {where}: {describe(error)}. Mend the code there, or the data that it reads.",
        row=row,
    ) from error


def describe(error: BaseException) -> str:
    """An error as one phrase: its kind and its own words."""
    words = str(error).strip().rstrip(".")
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def place_of(error: BaseException, builder: object) -> str:
    """`in FILE, line N`: the innermost frame in the author's file, else beside it, else outside the library."""
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    script = _file_of(builder)
    library = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for belongs in (
        lambda file: file == script,
        lambda file: script is not None and os.path.dirname(file) == os.path.dirname(script),
        lambda file: not os.path.abspath(file).startswith(library + os.sep),
        lambda file: True,
    ):
        found = [(file, line) for file, line in frames if belongs(file)]
        if found:
            return f"in {found[-1][0]}, line {found[-1][1]}"
    return "in code without lines"


def _file_of(builder: object) -> str | None:
    """The file in which the author's class stands: that of the first hook which is not the library's own."""
    for parent in type(builder).__mro__:
        if parent.__module__.startswith("datasets_core.building."):
            continue
        for value in vars(parent).values():
            code = getattr(getattr(value, "__func__", value), "__code__", None)
            if code is not None:
                return str(code.co_filename)
    return None

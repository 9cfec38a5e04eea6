"""Errors of an author's code, with split, row, key, file and line."""

from __future__ import annotations

import dis
import itertools
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, GeneratorType
from typing import Any, NoReturn

from datasets_core.building.hooks import Hooks, Part, holds_once
from datasets_core.engines.deadline import Deadline, Place, TimeUp
from datasets_core.errors import (
    DatasetBuildError,
    DatasetGenerationError,
    DatasetsCoreError,
    DownloadError,
    FileNotFoundDatasetsError,
    MissingDependencyError,
    ScriptTimeoutError,
    VerificationError,
)
from datasets_core.errors.base import show_authors_frames
from datasets_core.optional import distribution, missing_package

# Locations in an author's code: the definition of a hook, and the `yield` of a row.


_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_MOST_SECONDS = 5.0  # time limit in seconds for generating rows again to find a line
_DELEGATES = frozenset(("SEND", "YIELD_FROM"))


def hook_place(cls: type, *names: str) -> str | None:
    """`FILE, line N`, of the first hook defined by an author; None if there is none.

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
    """Return `FILE, line N` of the `yield` of a row; of the hook if that is unknown; None without an author.

    If the code has several `yield` statements, its rows are generated again, for at most a few seconds.

    Args:
        builder: the builder.
        job: the part of the split.
        row: number of the row in the part.
        key: key of the row.
        generate: yields the author's own rows, if `builder.generate` changes them.
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
    except Exception:  # the author's code may fail, since its inputs may have changed
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
    """Return the lines with a `yield`; None if there is none, or with `yield from`."""
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
    """Return `FILE, line N` of the `yield` at which a generator is suspended; None for other objects.

    >>> def rows():
    ...     yield 1
    >>> made = rows()
    >>> next(made), yield_place(made).endswith(", line 2")
    (1, True)
    """
    if not isinstance(made, GeneratorType):
        return None
    inner = made  # which exists as long as `made` does
    while isinstance(inner.gi_yieldfrom, GeneratorType) and not inner.gi_yieldfrom.gi_code.co_filename.startswith(_LIBRARY):
        inner = inner.gi_yieldfrom
    frame = inner.gi_frame
    return None if frame is None else f"{inner.gi_code.co_filename}, line {frame.f_lineno}"


def _is_same(a: Any, b: Any) -> bool:
    """Return True if two keys are of one row, as far as keys of their type can show."""
    return not isinstance(a, (int, str, bytes, tuple)) or bool(a == b)


_LONGEST = 2000  # maximum length of an author's error message: some print all that they read
# Errors of the library about files, downloads and packages already have the name that the user knows.
_TOLD = (DatasetBuildError, DownloadError, VerificationError, MissingDependencyError, FileNotFoundDatasetsError)


def fail_hook(error: BaseException, builder: object, deadline: Deadline | None, *, doing: str, label: str) -> None:
    """Raise the error for an exception of another hook of the author, such as `_split_generators`; return for other failures.

    Args:
        error: the exception.
        builder: the builder.
        deadline: deadline of the hook.
        doing: the purpose of the hook: "naming the splits".
        label: the dataset, for messages.

    Raises:
        DatasetGenerationError: the hook failed.
        MissingDependencyError: a package is not installed.
        ScriptTimeoutError: the hook did not finish in time.
    """
    if isinstance(error, TimeUp):
        raise out_of_time(builder, deadline, error, doing) from None
    if not is_failure(error, builder):
        return
    _check_package(error, builder, label)
    place = place_of(error, builder, "_split_generators")
    raise DatasetGenerationError(
        f"{label} failed {doing}, {place}: {describe(error)}. Fix the code or the data that it reads."
    ).placed(place) from error


def missed_manual_dir(error: TypeError) -> TypeError:
    """Return the error for code that used `dl_manager.manual_dir` as a path though it is None."""
    words = f"{error} (dl_manager.manual_dir is None; pass the folder of manually downloaded files as data_dir=)"
    return TypeError(words).with_traceback(error.__traceback__)


def fail(job: Part, builder: Hooks, error: BaseException, *, row: int, key: Any) -> NoReturn:
    """Raise an error for a failure of the author's code.

    Args:
        job: the part of the split.
        builder: the builder.
        error: the exception.
        row: number of rows yielded before.
        key: key of the previous row; None if there is none.

    Raises:
        MissingDependencyError: a package is not installed.
        DatasetGenerationError: any other failure.
    """
    _check_package(error, builder, builder.label)
    reached = f"at row {row}" if key is None else f"at row {row}, after key {shown(key)}"
    part = f" (part {job.index + 1} of {job.count})" if job.count > 1 else ""
    place = place_of(error, builder, "_generate_examples", "_generate_tables")
    where = f"split {job.split!r}{part}, {place}"
    failure = DatasetGenerationError(
        f"{builder.label} failed {reached} of {where}: {describe(error)}. Fix the code or the data that it reads.",
        row=row,
    ).placed(place, split=job.split)
    if not _is_ours(builder):
        show_authors_frames(failure, error)
    raise failure from error


def _check_package(error: BaseException, builder: object, label: str) -> None:
    package = missing_package(error)
    if package is not None:
        where = f"{label}, {place_of(error, builder)},"
        raise MissingDependencyError(package, needed_for=where, install=distribution(package)) from error


def is_failure(error: BaseException, builder: object) -> bool:
    """Return True if an error is a failure of the author's code, and not an error of the library, the user or a caller."""
    if isinstance(error, DatasetsCoreError):
        return not isinstance(error, _TOLD) and not _is_ours(builder) and _raised_by(error, builder)
    if isinstance(error, (Exception, SystemExit, GeneratorExit, BaseExceptionGroup)):
        return True
    return not isinstance(error, KeyboardInterrupt) and _raised_by(error, builder)  # for example of a test runner


def _raised_by(error: BaseException, builder: object) -> bool:
    """Return True if a frame of the traceback is in the author's file, or in one next to it."""
    script = _file_of(builder)
    return script is not None and any(_is_beside(script, file) for file, _ in _frames(error))


def describe(error: BaseException) -> str:
    """Return an error as one phrase: its type and message."""
    try:
        words = str(error).strip().rstrip(".")
    except Exception:  # the author's own class may fail
        words = "its message cannot be shown"
    words = words if len(words) <= _LONGEST else f"{words[:_LONGEST]} …"
    if isinstance(error, BaseExceptionGroup):
        words = f"{words}: {'; '.join(map(describe, error.exceptions[:5]))}"
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def words_of(value: object) -> str:
    """Return a value of an author as text, even if its class is faulty."""
    try:
        return repr(value)
    except Exception:  # the author's own class may fail
        return f"a {type(value).__name__}"


def shown(value: object) -> str:
    """Return the text of a value of an author for messages."""
    text = words_of(value)
    return text if len(text) <= 200 else f"{text[:200]} …"


def place_of(error: BaseException, builder: object, *hooks: str) -> str:
    """Return `in FILE, line N`: the innermost frame in the author's file or next to it, else outside the library.

    For a file next to it, with the line that called it; for an exception raised from another one, the place of the cause;
    for one raised before the author's code ran, the location of the hook.

    Args:
        error: the exception.
        builder: the builder.
        hooks: hooks that may have been called.
    """
    script = _file_of(builder)
    frames = _frames(error)
    cause = error.__cause__
    if script is not None and cause is not None and not any(_is_beside(script, file) for file, _ in frames):
        frames = _frames(cause) or frames
    found = _authors_place(frames, builder)
    is_authors = found is not None and _is_beside(script or "", found[0])
    hook = None if _is_ours(builder) or is_authors else hook_place(type(builder), *hooks)
    if hook is not None:  # the call of the hook failed
        return f"in {hook}"
    if found is None:
        return "in code without line numbers"
    path, line = found
    called = [number for file, number in frames if file == script]
    if path != script and called and _is_beside(script or "", path):
        return f"in {path}, line {line}, called in {script}, line {called[-1]}"
    return f"in {path}, line {line}"


def _frames(error: BaseException) -> list[Place]:
    return [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]


def _authors_place(frames: Sequence[Place], builder: object) -> Place | None:
    """Return the innermost frame that belongs to the author; frames come from the outside in."""
    script = _file_of(builder)
    tests: list[Callable[[str], bool]] = [
        lambda file: script is not None and _is_beside(script, file),
        lambda file: not os.path.abspath(file).startswith(_LIBRARY),
        lambda file: True,
    ]
    for belongs in tests:
        found = [place for place in frames if belongs(place[0])]
        if found:
            return found[-1]
    return None


def _is_beside(script: str, file: str) -> bool:
    return file == script or os.path.dirname(file) == os.path.dirname(script)


def out_of_time(
    builder: object, deadline: Deadline | None, up: TimeUp, doing: str, *, split: str | None = None, row: int | None = None
) -> ScriptTimeoutError:
    """Return the error for an author's code that did not finish in time.

    Args:
        builder: the builder with the code.
        deadline: its deadline.
        up: the exception with its location.
        doing: description of the activity.
        split: the split whose rows were generated.
        row: number of rows generated.
    """
    place = _authors_place(up.places[::-1], builder)
    path, line = place or (None, None)
    script = _file_of(builder) or type(builder).__name__
    seconds = 0.0 if deadline is None else deadline.seconds
    return ScriptTimeoutError(script, doing, seconds=seconds, path=path, line=line, split=split, row=row)


def _is_ours(builder: object) -> bool:
    """Return True if the author is the library: a reader of a format."""
    return type(builder).__module__.startswith("datasets_core.")


def _file_of(builder: object) -> str | None:
    """Return the file of the author's class: that of the first hook defined outside the library."""
    for parent in type(builder).__mro__:
        if parent.__module__.startswith("datasets_core.building."):
            continue
        for value in vars(parent).values():
            code = getattr(getattr(value, "__func__", value), "__code__", None)
            if code is not None:
                return str(code.co_filename)
    return None

"""Where and how an author's code failed, in words that name the split, the row, the key, the file and the line."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

from datasets_core.building.author_places import hook_place
from datasets_core.building.hooks import Hooks, Part
from datasets_core.engines.deadline import Deadline, Place, TimeUp, stopped_at
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
from datasets_core.optional import distribution, missing_package

T = TypeVar("T")

_LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LONGEST = 2000  # characters of an author's words: some print all that they read
# What the library says of files, downloads and packages names the user's thing already.
_TOLD = (DatasetBuildError, DownloadError, VerificationError, MissingDependencyError, FileNotFoundDatasetsError)


def begin(job: Part, builder: Hooks) -> Iterator[tuple[Any, Any]]:
    """What the author's `_generate_*` yields for a part of a split.

    Raises:
        DatasetGenerationError: the author's code fails as it is called.
    """
    return taken(job, builder, lambda: iter(builder.generate(job.gen_kwargs)), lambda: (0, None))


def taken(
    job: Part,
    builder: Hooks,
    work: Callable[[], T],
    reached: Callable[[], tuple[int, Any]],
    *,
    passes: tuple[type[BaseException], ...] = (),
) -> T:
    """What `work` takes of the author's code, which may fail or hang.

    Args:
        job: of which part of which split.
        builder: whose code.
        work: what runs the code.
        reached: how many rows had been made, and the key of the last one, or None.
        passes: what means no failure.

    Raises:
        DatasetGenerationError: the author's code failed.
        ScriptTimeoutError: it was not done when its time was over.
    """
    part = f" (part {job.index + 1} of {job.count})" if job.count > 1 else ""
    doing = f"making the rows of split {job.split!r}{part}"
    try:
        return stopped_at(job.deadline, work, doing=doing)
    except passes:
        raise
    except TimeUp as up:
        raise out_of_time(builder, job.deadline, up, doing, split=job.split, row=reached()[0]) from None
    except BaseException as error:
        if not is_failure(error, builder):
            raise
        row, key = reached()
        fail(job, builder, error, row=row, key=key)


def asked(builder: object, deadline: Deadline | None, work: Callable[[], T], *, doing: str, label: str) -> T:
    """What another hook of the author returns, such as `_split_generators`.

    Args:
        builder: whose hook.
        deadline: when it is to be done.
        work: what calls the hook.
        doing: what the hook does: "naming the splits".
        label: the dataset, for messages.

    Raises:
        DatasetGenerationError: it failed.
        MissingDependencyError: a package is not installed.
        ScriptTimeoutError: it was not done when its time was over.
    """
    try:
        return stopped_at(deadline, work, doing=doing)
    except TimeUp as up:
        raise out_of_time(builder, deadline, up, doing) from None
    except BaseException as error:
        if not is_failure(error, builder):
            raise
        _check_package(error, builder, label)
        raise DatasetGenerationError(
            f"{label} failed {doing}, {place_of(error, builder, '_split_generators')}: {describe(error)}. "
            "Mend the code there, or the data that it reads."
        ) from error


def missed_manual_dir(error: TypeError) -> TypeError:
    """The failure of code that made a path of `dl_manager.manual_dir`, which is None, with what to do."""
    words = f"{error} (dl_manager.manual_dir is None; pass the folder of the files that you fetched yourself as data_dir=)"
    return TypeError(words).with_traceback(error.__traceback__)


def fail(job: Part, builder: Hooks, error: BaseException, *, row: int, key: Any) -> NoReturn:
    """Say that the author's code failed.

    Args:
        job: of which part of which split.
        builder: whose code.
        error: what it raised.
        row: how many rows it had made.
        key: that of the row before; None where there was none.

    Raises:
        MissingDependencyError: a package is not installed.
        DatasetGenerationError: anything else.
    """
    _check_package(error, builder, builder.label)
    reached = f"at row {row}" if key is None else f"at row {row}, behind key {shown(key)}"
    part = f" (part {job.index + 1} of {job.count})" if job.count > 1 else ""
    where = f"split {job.split!r}{part}, {place_of(error, builder, '_generate_examples', '_generate_tables')}"
    raise DatasetGenerationError(
        f"{builder.label} failed {reached} of {where}: {describe(error)}. Mend the code there, or the data that it reads.",
        row=row,
    ) from error


def _check_package(error: BaseException, builder: object, label: str) -> None:
    package = missing_package(error)
    if package is not None:
        where = f"{label}, {place_of(error, builder)},"
        raise MissingDependencyError(package, needed_for=where, install=distribution(package)) from error


def is_failure(error: BaseException, builder: object) -> bool:
    """Whether an error is a failure of the author's code, and nothing that the library, the user or a caller says."""
    if isinstance(error, DatasetsCoreError):
        return not isinstance(error, _TOLD) and not _is_ours(builder) and _raised_by(error, builder)
    if isinstance(error, (Exception, SystemExit, GeneratorExit, BaseExceptionGroup)):
        return True
    return not isinstance(error, KeyboardInterrupt) and _raised_by(error, builder)  # else that of a test runner, say


def _raised_by(error: BaseException, builder: object) -> bool:
    """Whether the code of the author, or of a file beside it, is on the way to the error."""
    script = _file_of(builder)
    return script is not None and any(_is_beside(script, file) for file, _ in _frames(error))


def describe(error: BaseException) -> str:
    """An error as one phrase: its kind and its own words."""
    try:
        words = str(error).strip().rstrip(".")
    except Exception:  # the author's own class
        words = "its words cannot be shown"
    words = words if len(words) <= _LONGEST else f"{words[:_LONGEST]} …"
    if isinstance(error, BaseExceptionGroup):
        words = f"{words}: {'; '.join(map(describe, error.exceptions[:5]))}"
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def words_of(value: object) -> str:
    """A value of an author as text, however its class was written."""
    try:
        return repr(value)
    except Exception:  # the author's own class
        return f"a {type(value).__name__}"


def shown(value: object) -> str:
    """A value of an author as it stands in a message."""
    text = words_of(value)
    return text if len(text) <= 200 else f"{text[:200]} …"


def place_of(error: BaseException, builder: object, *hooks: str) -> str:
    """`in FILE, line N`: the innermost frame in the author's file or beside it, else outside the library.

    Of a file beside it, also the line that called it; of an error that the interpreter made of another, the place of that one;
    of one that came before the author's code ran, the place of the hook.

    Args:
        error: what was raised.
        builder: whose code.
        hooks: the hooks that may have been called.
    """
    script = _file_of(builder)
    frames = _frames(error)
    cause = error.__cause__
    if script is not None and cause is not None and not any(_is_beside(script, file) for file, _ in frames):
        frames = _frames(cause) or frames
    found = _authors_place(frames, builder)
    is_authors = found is not None and _is_beside(script or "", found[0])
    hook = None if _is_ours(builder) or is_authors else hook_place(type(builder), *hooks)
    if hook is not None:  # the call of it failed
        return f"in {hook}"
    if found is None:
        return "in code without lines"
    path, line = found
    called = [number for file, number in frames if file == script]
    if path != script and called and _is_beside(script or "", path):
        return f"in {path}, line {line}, called in {script}, line {called[-1]}"
    return f"in {path}, line {line}"


def _frames(error: BaseException) -> list[Place]:
    return [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]


def _authors_place(frames: Sequence[Place], builder: object) -> Place | None:
    """The innermost of the frames, which come from the outside in, that tells an author most."""
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
    """The error for an author's code that was not done in time.

    Args:
        builder: whose code.
        deadline: the time that it had.
        up: where it was.
        doing: what it did.
        split: whose rows it made.
        row: how many of them.
    """
    place = _authors_place(up.places[::-1], builder)
    path, line = place or (None, None)
    script = _file_of(builder) or type(builder).__name__
    seconds = 0.0 if deadline is None else deadline.seconds
    return ScriptTimeoutError(script, doing, seconds=seconds, path=path, line=line, split=split, row=row)


def _is_ours(builder: object) -> bool:
    """Whether the author is the library: a reader of a format."""
    return type(builder).__module__.startswith("datasets_core.")


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

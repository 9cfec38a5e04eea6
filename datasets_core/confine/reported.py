"""Errors of the confined process: told as plain values, and raised again by the parent as what they were, if they are ours."""

from __future__ import annotations

import errno
import traceback
from collections.abc import Mapping
from typing import Any

from datasets_core import errors
from datasets_core.confine.denials import Denial
from datasets_core.errors import (
    DatasetDiskError,
    DatasetGenerationError,
    DatasetsCoreError,
    DeniedAccessError,
    MissingDependencyError,
    ScriptMemoryError,
)
from datasets_core.optional import is_installed

_MAX_TEXT = 20_000
_MAX_FACTS = 100
_MAX_LINES = 30


def head_of(error: BaseException, denial: Denial | None = None) -> dict[str, Any]:
    """An error as the head of a message.

    Args:
        error: the error.
        denial: what it came of, if it did.

    >>> head_of(ZeroDivisionError("division by zero"))["error"]["message"]
    'division by zero'
    """
    if denial is not None:
        error = DeniedAccessError(denial.tried, path=denial.path, line=denial.line).with_traceback(error.__traceback__)
    elif isinstance(error, OSError) and error.errno == errno.EFBIG and not _is_ours(error):
        place = error.filename or "a file of a confined script"
        error = DatasetDiskError(str(place), "it is larger than the setting confined_file_bytes allows, or than what is free")
    elif _is_memory(error):
        error = ScriptMemoryError("A confined script").with_traceback(error.__traceback__)
    facts = {name: value for name, value in vars(error).items() if _is_plain(value)} if _is_ours(error) else {}
    lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-_MAX_LINES, chain=False)
    return {
        "error": {
            "class": type(error).__name__,
            "message": _cut(str(error)),
            "facts": facts,
            "traceback": [_cut(line) for line in "".join(lines).splitlines()[-2 * _MAX_LINES :]],
        }
    }


def _is_ours(error: BaseException) -> bool:
    return isinstance(error, DatasetsCoreError) and getattr(errors, type(error).__name__, None) is type(error)


def _is_memory(error: BaseException) -> bool:
    """Whether the error, or what it was raised from, is that memory ran out."""
    seen: BaseException | None = error
    for _ in range(20):
        if seen is None:
            return False
        if isinstance(seen, MemoryError) or (isinstance(seen, OSError) and seen.errno == errno.ENOMEM):
            return not isinstance(error, ScriptMemoryError)
        seen = seen.__cause__ or seen.__context__
    return False


def _is_plain(value: object, depth: int = 0) -> bool:
    if isinstance(value, (list, tuple)):
        return depth < 3 and len(value) <= _MAX_FACTS and all(_is_plain(each, depth + 1) for each in value)
    return value is None or isinstance(value, (bool, int, float)) or (isinstance(value, str) and len(value) <= _MAX_TEXT)


def raised(head: Mapping[str, Any], *, script: str) -> DatasetsCoreError:
    """The error that a head of the confined process tells of, whatever it holds.

    Args:
        head: the head, which nobody has looked at yet.
        script: the script, for errors that are not ours.
    """
    told = head.get("error")
    told = told if isinstance(told, dict) else {}
    name, message = shown(told.get("class", "?"), 200), shown(told.get("message", ""))
    kind = getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, DatasetsCoreError):
        facts = told.get("facts")
        facts = facts if isinstance(facts, dict) else {}
        state = {key: _tupled(value) for key, value in facts.items() if key.isidentifier() and key[0] != "_" and key != "args"}
        if kind is MissingDependencyError:
            message = _with_place(message, state.get("package"))
        error = errors.rebuild(kind, (message,), {key: value for key, value in state.items() if _is_plain(value)})
    else:
        error = DatasetGenerationError(
            f"The confined run of {script} failed with {name}: {message.rstrip('.')}. Mend the script."
        )
    lines = told.get("traceback")
    if isinstance(lines, list) and lines:
        error.add_note("In the confined process:\n" + "\n".join(shown(line, 2000) for line in lines[-2 * _MAX_LINES :]))
    return error


def _with_place(message: str, package: object) -> str:
    """What to do about a package that this process finds, and a confined one does not."""
    if not isinstance(package, str) or not package.isidentifier() or not is_installed(package):
        return message
    return (
        f"{message.partition(', which is not installed')[0]}, which confined scripts do not see: it stands outside of the "
        f"folders of installed packages. Install {package!r} without -e, or trust the script by trust_remote_code=True."
    )


def _tupled(value: object) -> object:
    """Lists as the tuples that errors hold."""
    return tuple(map(_tupled, value)) if isinstance(value, list) else _text(value)


def _text(value: object) -> object:
    return shown(value) if isinstance(value, str) else value


def shown(text: object, limit: int = _MAX_TEXT) -> str:
    """A text of the confined process as it may be shown: no control characters, and not endless.

    >>> shown("a\\x1b[31mred\\tb")
    'a\\\\x1b[31mred\\tb'
    """
    cut = _cut(str(text), limit)
    return "".join(each if each.isprintable() or each in "\n\t " else ascii(each)[1:-1] for each in cut)


def _cut(text: str, limit: int = _MAX_TEXT) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def denial_of(head: Mapping[str, Any]) -> Denial:
    """A denial that a head of the confined process tells of, whatever it holds."""
    path, line = head.get("path"), head.get("line")
    return Denial(
        shown(head.get("tried", "?"), 2000),
        shown(path, 4096) if isinstance(path, str) else None,
        line if isinstance(line, int) else None,
    )

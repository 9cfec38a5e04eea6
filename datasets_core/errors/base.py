"""`DatasetsCoreError` and general errors; redaction of secrets in messages, and pickling of errors."""

from __future__ import annotations

import logging
import os
import pickle
import re
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self

HIDDEN = "***"


_SECRET_NAME = (
    r"sig|token|key|secret|auth|cred|passw|pwd|policy|session|jwt|code|^x-(amz|goog|ms|oss)|^se$|^st$|^sp$|^sv$|^hmac|^hdnea"
)


_LONG_VALUE = 40  # characters; no page number or file name, most likely a signature


_CHAIN = r"::(?![^\[]*\])(?<!\[::)"  # between the hops of a chain, and not within an address of IPv6


_URL_IN_TEXT = r"[a-z][a-z0-9+.-]*://[^\s'\"<>\[\]]*(\[[0-9a-f:.]*\][^\s'\"<>\]]*|\[[^\s'\"<>\]]*)?"


def redact(url: str) -> str:
    """Return `url` with user info, fragment and secret query values hidden; paths without them are unchanged.

    >>> redact("https://me:pw@host/a.zip?download=1&X-Amz-Signature=abc")
    'https://***@host/a.zip?download=1&X-Amz-Signature=***'
    >>> redact("data/train.csv")
    'data/train.csv'
    """
    if "://" not in url and "::" not in url:
        return url
    if "::" in url:
        first, *rest = re.split(_CHAIN, url)
        return "::".join(
            [_redact_one(first), *(_redact_one(part) if "://" in part else part.partition("?")[0] for part in rest)]
        )
    return _redact_one(url)


def _redact_one(url: str) -> str:
    if "://" not in url:
        return url
    from urllib.parse import urlsplit  # 3 ms that local paths do without

    try:
        scheme, netloc, path, query, _ = urlsplit(url)
    except ValueError:  # an address that does not parse is shown up to where a secret could begin
        return url.partition("?")[0].rpartition("@")[2]
    _, mark, host = netloc.rpartition("@")
    shown = "".join(map(_shown, re.split("([&;])", query))) if query else ""
    path = re.sub(";[^/;]*", lambda found: f";{_shown(found.group()[1:])}", path)
    return f"{scheme}://{f'{HIDDEN}@{host}' if mark else netloc}{path}{f'?{shown}' if shown else ''}"


def _shown(part: str) -> str:
    from urllib.parse import unquote

    name, mark, value = part.partition("=")
    if not mark:
        return HIDDEN if len(name) >= _LONG_VALUE else name
    is_secret = re.search(_SECRET_NAME, unquote(name), re.IGNORECASE) or len(value) >= _LONG_VALUE
    return f"{name}={HIDDEN}" if value and is_secret else part


def redact_text(text: str) -> str:
    """Return `text` with every URL in it redacted."""
    return re.sub(_URL_IN_TEXT, lambda found: redact(found.group()), text, flags=re.IGNORECASE)


def harmless(text: str) -> str:
    """Return text that others may have written in a form for messages: limited in length, without terminal control characters.

    >>> harmless("a\\x1b[31mred\\n")
    'a\\\\x1b[31mred\\n'
    """
    if text.isprintable() and len(text) <= _LONGEST:
        return text
    cut = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text):,} characters)"
    return re.sub(_OBEYED, lambda found: ascii(found.group())[1:-1], cut)


def bounded_json(text: str | bytes, most_values: int = 1 << 22) -> str | bytes:
    """Return JSON that others may have written, unless it has so many values that reading it would take very long.

    Args:
        text: the JSON.
        most_values: maximum number of values; a key counts as two, an object or a list as four.

    Raises:
        ValueError: the JSON has too many values.

    >>> bounded_json('{"a": [1, 2]}')
    '{"a": [1, 2]}'
    """
    signs = (",", ":", "[", "{") if isinstance(text, str) else (b",", b":", b"[", b"{")
    commas, colons, *opened = [text.count(sign) for sign in signs]  # type: ignore[arg-type]
    if commas + 2 * colons + 4 * sum(opened) > most_values:  # an object takes more than a number
        raise ValueError(f"it has {commas + 1:,} values, too many for a description")
    return text


_LONGEST = 50_000  # characters of a message
_OBEYED = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"  # tabs and new lines are not


def logger_of(name: str) -> logging.Logger:
    """Return the logger of a module; control characters in its messages are escaped.

    Every module of the library gets its logger here, since names of files, versions and splits in messages come from others.

    Args:
        name: name of the module.
    """
    logger = logging.getLogger(name)
    logger.addFilter(_made_harmless)  # which is added once
    return logger


def _made_harmless(record: logging.LogRecord) -> bool:
    told = record.getMessage()
    if (shown := harmless(told)) != told:
        record.msg, record.args = shown, ()
    return True


class _HarmlessWarning(UserWarning):
    """A warning whose message has its control characters escaped."""

    def __str__(self) -> str:
        return harmless(super().__str__())


def _names(names: Iterable[object]) -> str:
    """Return the names, quoted and joined, at most twenty of them; `none` for no names."""
    listed = [repr(str(name)) for name in names]
    if len(listed) > 20:
        return ", ".join(listed[:20]) + f", … ({len(listed)} in all)"
    return ", ".join(listed) or "none"


def rebuild(cls: type[DatasetsCoreError], args: tuple[Any, ...], state: dict[str, Any]) -> DatasetsCoreError:
    """Rebuild an error from its attributes, without calling its constructor; used to send errors between processes."""
    make: Any = OSError.__new__ if issubclass(cls, OSError) else Exception.__new__  # none of another builtin can make the class
    error: DatasetsCoreError = make(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class DatasetsCoreError(Exception):
    """Base class of all errors that the library raises on purpose.

    To fix: follow the last sentence of the message, which is also in `error.advice` if there is advice. Catch this class to
    handle every error of the library.

    An attribute that does not apply or is unknown is None. Subclasses add their own.

    Args:
        args: the message; without its last full stop if `advice` is given, which follows as a sentence.
        advice: see below.
        value: see below.
        file: see below.

    Attributes:
        file: the path or URL concerned.
        line: line number in that file, from 1.
        row: row number, from 0.
        split: name of the split.
        value: the invalid value that was passed or found.
        advice: one thing to do, as a sentence without its full stop.

    Example:
        >>> try:
        ...     Dataset.from_dict({"text": ["x"]})["txt"]
        ... except DatasetsCoreError as error:
        ...     print(type(error).__name__, isinstance(error, KeyError))
        UnknownColumnError True
    """

    file: str | None = None
    line: int | None = None
    row: int | None = None
    split: str | None = None
    value: Any = None
    advice: str | None = None

    def __init__(
        self, *args: Any, advice: str | None = None, value: Any = None, file: str | os.PathLike[str] | None = None
    ) -> None:
        if advice is not None:
            self.advice = advice
            args = (f"{args[0]}. {advice}.", *args[1:])
        if value is not None:
            self.value = value
        if file is not None:
            self.file = os.fspath(file)
        super().__init__(*args)

    def __str__(self) -> str:
        return harmless(" ".join(str(part) for part in self.args))

    def placed(
        self,
        place: str | None = None,
        *,
        file: str | None = None,
        line: int | None = None,
        row: int | None = None,
        split: str | None = None,
    ) -> Self:
        """Return the same error with more fields set; `place` gives file and line as in messages.

        Args:
            place: text such as `in a.py, line 3`.
            file: path or URL.
            line: line number, from 1.
            row: row number, from 0.
            split: name of the split.

        Example:
            >>> error = DatasetsCoreError("It failed.").placed("in a.py, line 3, called in b.py, line 9", split="train")
            >>> error.file, error.line, error.row, error.split
            ('a.py', 3, None, 'train')
        """
        if place is not None:
            named, _, number = place.removeprefix("in ").partition(", called in ")[0].rpartition(", line ")
            file, line = named or file, int(number) if number.isdecimal() else line
        for name, value in (("file", file), ("line", line), ("row", row), ("split", split)):
            if value is not None:
                setattr(self, name, value)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        state = dict(self.__dict__)
        try:
            pickle.dumps(state.get("value"))
        except Exception:  # a value of any type was passed: its text travels instead
            state["value"] = repr(state["value"])
        return rebuild, (type(self), self.args, state)


DatasetsError = DatasetsCoreError


def users_frames(found: TracebackType | None) -> TracebackType | None:
    """Return the frames of a traceback from the call of a user's function by a module that sets `CALLS_USERS`.

    None without such frames, and with `DATASETS_CORE_FULL_TRACEBACKS=1`.
    """
    if os.environ.get("DATASETS_CORE_FULL_TRACEBACKS") == "1":
        return None
    calls_users = False
    while found is not None:
        names = found.tb_frame.f_globals
        is_ours = str(names.get("__name__")).partition(".")[0] == "datasets_core"
        if calls_users and not is_ours:
            return found
        calls_users = is_ours and "CALLS_USERS" in names
        found = found.tb_next
    return None


def put_users_frames_first(error: BaseException) -> None:
    """Shorten the traceback of a caught error to the frame that caught it and the frames of the user's function.

    The frames of a worker process are in a note; an error with such a note has `of_users_function` set.
    """
    found = error.__traceback__
    frames = users_frames(found)
    if found is not None and (frames is not None or getattr(error, "of_users_function", False)):
        error.__traceback__ = TracebackType(frames, found.tb_frame, found.tb_lasti, found.tb_lineno)


def show_authors_frames(error: BaseException, cause: BaseException) -> None:
    """Reduce the traceback of `cause`, the cause of `error`, to the frames of the author's code.

    Nothing changes with `DATASETS_CORE_FULL_TRACEBACKS=1`.
    """
    frames = authors_frames(cause)
    if frames is not None and os.environ.get("DATASETS_CORE_FULL_TRACEBACKS") != "1":
        cause.__traceback__ = frames
        error.of_users_function = True  # type: ignore[attr-defined]


def authors_frames(error: BaseException) -> TracebackType | None:
    """Return the frames of a traceback from the first one outside the library."""
    found = error.__traceback__
    while found is not None and str(found.tb_frame.f_globals.get("__name__")).partition(".")[0] == "datasets_core":
        found = found.tb_next
    return found


class FileNotFoundDatasetsError(DatasetsCoreError, FileNotFoundError):
    """A named object does not exist.

    To fix: check the spelling of the path or name, and that the file exists on this machine or server.
    """


class ConfigurationError(DatasetsCoreError, ValueError):
    """An invalid argument, setting or combination of them.

    To fix: change the argument or setting that the message names to one of the values that it lists.
    """


class DecodingDisabledError(ConfigurationError, RuntimeError):
    """A request to decode with a feature that has `decode=False`.

    To fix: remove `decode=False`, or `cast_column` to the feature without it.
    """


class UnhashableError(ConfigurationError, TypeError, pickle.PicklingError):
    """A value that cannot be hashed in the same way in every process.

    To fix: make the object inside the function, or pass `new_fingerprint=` and change it when the result changes.
    """


class ArgumentTypeError(ConfigurationError, TypeError):
    """An argument of the wrong type.

    To fix: pass a value of the type that the message names.
    """


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


class DatasetBuildError(DatasetsCoreError):
    """A build that could not be finished.

    To fix: remove the cause that the message names, and run the build again.
    """


def describe(facts: Mapping[str, object]) -> str:
    """Return facts as `name=value, …`, for messages that compare records."""
    return ", ".join(f"{name}={value}" for name, value in facts.items())

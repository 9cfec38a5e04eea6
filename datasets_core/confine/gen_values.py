"""Arguments of `_generate_*` on the pipe: plain values as JSON with their types; others stay where they are, under a number."""

from __future__ import annotations

import base64
import os
import pathlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from datasets_core.building.author_failures import words_of
from datasets_core.building.jobs import holds_once, is_data
from datasets_core.errors import ConfigurationError, DatasetBuildError
from datasets_core.store.fingerprint import Hasher

_MOST_SHOWN = 1000
_MAX_DEPTH = 24  # of the forms; the pipe takes 64 levels of JSON
_LONG = 1 << 16  # characters or bytes of a value that stays in the process

Hold = Callable[[Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Held:
    """A value of the author that stays in the confined process.

    Attributes:
        number: by which the process knows it.
        identity: what tells it from others; different each time where it has none.
    """

    number: int
    identity: str

    def __repr__(self) -> str:
        return f"<value {self.number} of a confined script>"


class HeldData(Held):
    """A value out of which rows may be read again and again."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        _stays()


class HeldOnce(HeldData):
    """A value that can be read once: an iterator, or an open file."""

    __slots__ = ()

    def __next__(self) -> Any:
        _stays()


def _stays() -> NoReturn:
    raise DatasetBuildError("This value stays in the confined process of its script. Only that script reads it.")


def encoded(value: Any, hold: Hold, *, own: str = "\0", depth: int = 0) -> Any:
    """The form of a value as JSON.

    Args:
        value: the value.
        hold: gives the form of what is no plain value.
        own: texts that begin so are none: paths in a folder that goes with the process.
        depth: of the value in others.

    >>> encoded({"files": ["a", ("b", b"c")]}, refused)
    {'d': {'files': ['a', {'t': ['b', {'b': 'Yw=='}]}]}}
    """
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is float:
        return value
    if kind is str:
        return hold(value) if len(value) > _LONG or value.startswith(own) else value
    if depth > _MAX_DEPTH:
        return hold(value)
    if kind is list:
        if set(map(type, value)) <= {str, int} and not any(
            len(item) > _LONG or item.startswith(own) for item in value if type(item) is str
        ):
            return value
        return [encoded(item, hold, own=own, depth=depth + 1) for item in value]
    if kind is tuple:
        return {"t": [encoded(item, hold, own=own, depth=depth + 1) for item in value]}
    if kind is dict:
        if all(type(name) is str for name in value):
            return {"d": {name: encoded(item, hold, own=own, depth=depth + 1) for name, item in value.items()}}
        return {"m": [[encoded(each, hold, own=own, depth=depth + 2) for each in pair] for pair in value.items()]}
    if kind is bytes and len(value) <= _LONG:
        return {"b": base64.b64encode(value).decode("ascii")}
    if isinstance(value, pathlib.PurePath) and kind.__module__.partition(".")[0] == "pathlib":
        return hold(value) if os.fspath(value).startswith(own) else {"p": os.fspath(value)}
    return hold(value)


def decoded(form: Any, held: Callable[[Mapping[str, Any]], Any]) -> Any:
    """The value that a form stands for.

    Args:
        form: what `encoded` made, or somebody who says so.
        held: gives the value of the form of what is no plain value.

    Raises:
        ConfigurationError: it is no form.

    >>> decoded({"d": {"files": ["a", {"t": ["b", {"b": "Yw=="}]}]}}, unknown)
    {'files': ['a', ('b', b'c')]}
    """
    if isinstance(form, list):
        if set(map(type, form)) <= {str, int}:
            return form
        return [decoded(item, held) for item in form]
    if not isinstance(form, dict):
        return form
    try:
        ((tag, inner),) = form.items()
        if tag == "d" and isinstance(inner, dict):
            return {name: decoded(item, held) for name, item in inner.items()}
        if tag == "t" and isinstance(inner, list):
            return tuple(decoded(item, held) for item in inner)
        if tag == "m" and isinstance(inner, list):
            return {decoded(name, held): decoded(item, held) for name, item in inner}
        if tag == "b" and isinstance(inner, str):
            return base64.b64decode(inner, validate=True)
        if tag == "p" and isinstance(inner, str):
            return pathlib.Path(inner)
        if tag == "held" and isinstance(inner, dict):
            return held(inner)
    except (KeyError, TypeError, ValueError) as error:
        raise _no_form(form) from error
    raise _no_form(form)


def _no_form(form: object) -> ConfigurationError:
    text = repr(form)
    shown = text if len(text) <= 100 else f"{text[:100]} …"
    return ConfigurationError(f"{shown} stands for no value that a confined script is given, or gives. Do not trust it.")


def shown_form(value: object) -> dict[str, Any]:
    """The words of a value that has no other form.

    >>> shown_form({1})
    {'held': {'shown': '{1}'}}
    """
    return {"held": {"shown": words_of(value)[:_MOST_SHOWN]}}


def refused(value: Any) -> dict[str, Any]:
    """The form of nothing: what the user says to a confined script is plain.

    Raises:
        ConfigurationError: always.
    """
    raise ConfigurationError(
        f"{value!r} ({type(value).__name__}) cannot be said to a confined script. Give texts, numbers, lists and dicts of "
        "them, or pass trust_remote_code=True if you trust the script."
    )


def unknown(form: Mapping[str, Any]) -> NoReturn:
    """The value of a form that stands for nothing here.

    Raises:
        ConfigurationError: always.
    """
    raise _no_form(form)


class Values:
    """In the confined process: the values that stay there, in the order in which they were met."""

    def __init__(self) -> None:
        self._values: list[Any] = []

    def hold(self, value: Any) -> dict[str, Any]:
        """Keep a value, and give its form."""
        self._values.append(value)
        kind = "once" if holds_once(value) else "data" if is_data(value) else "value"
        return {"held": {"number": len(self._values) - 1, "kind": kind, "identity": _identity(value)}}

    def held(self, form: Mapping[str, Any]) -> Any:
        """The value of a form that came back."""
        return self._values[form["number"]]


def _identity(value: Any) -> str | None:
    try:
        return Hasher.hash(value)
    except Exception:  # the author's own class: without an identity nothing is taken over from another build
        return None


_KINDS = {"value": Held, "data": HeldData, "once": HeldOnce}


def held_value(form: Mapping[str, Any]) -> Held:
    """In the parent: what stands for a value that stays in the process."""
    kind, number, identity = _KINDS[form["kind"]], form["number"], form["identity"]
    if type(number) is not int or number < 0 or not isinstance(identity, str | None):
        raise ValueError(number)
    return kind(number, os.urandom(16).hex() if identity is None else identity[:64])


def given_back(value: Any) -> dict[str, Any]:
    """The form in which the parent gives a held value back."""
    return {"held": {"number": value.number}} if isinstance(value, Held) else refused(value)

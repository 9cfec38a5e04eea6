"""`absl`, `six` and `tree` where they are not installed: what builders of TFDS use of packages that it brought along."""

from __future__ import annotations

import functools
import io
import itertools
import logging as _logging
import operator
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import Any

_logger = _logging.getLogger("absl")


@functools.cache
def _said(text: str) -> Iterator[int]:
    return itertools.count(1)


class AbslLogging(SimpleNamespace):
    """`absl.logging`: the logger of that name."""

    DEBUG, INFO, WARNING, WARN, ERROR, FATAL = 1, 0, -1, -1, -2, -3

    debug = staticmethod(_logger.debug)
    info = staticmethod(_logger.info)
    warning = warn = staticmethod(_logger.warning)
    error = staticmethod(_logger.error)
    exception = staticmethod(_logger.exception)
    fatal = staticmethod(_logger.critical)

    @staticmethod
    def log(level: int, message: str, *args: Any, **kwargs: Any) -> None:
        """Log a message; levels are those of absl, which count downwards."""
        plain = {1: _logging.DEBUG, 0: _logging.INFO, -1: _logging.WARNING, -2: _logging.ERROR, -3: _logging.CRITICAL}
        _logger.log(plain.get(level, _logging.DEBUG), message, *args, **kwargs)

    vlog = log

    @staticmethod
    def log_first_n(level: int, message: str, n: int, *args: Any) -> None:
        """Log a message the first `n` times."""
        if next(_said(message)) <= n:
            AbslLogging.log(level, message, *args)

    @staticmethod
    def log_every_n(level: int, message: str, n: int, *args: Any) -> None:
        """Log a message each `n`-th time, beginning with the first."""
        if next(_said(message)) % n == 1 or n == 1:
            AbslLogging.log(level, message, *args)

    @staticmethod
    def set_verbosity(level: Any) -> None:
        """Nothing: how much is shown is for the program to say."""

    @staticmethod
    def get_verbosity() -> int:
        """How much is shown, in the numbers of absl."""
        return 0


absl_logging = AbslLogging()


class AbslFlags:
    """`absl.flags`: flags that no command line sets, each of which has its default.

    >>> flags = AbslFlags()
    >>> flags.DEFINE_string("language", "en", "Which one.")
    >>> flags.FLAGS.language
    'en'
    """

    def __init__(self) -> None:
        self.FLAGS = SimpleNamespace()

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("DEFINE"):
            raise AttributeError(f"absl.flags has no {name!r} here", name=name)
        return self._define

    def _define(self, name: str, default: Any = None, *_: Any, **__: Any) -> None:
        vars(self.FLAGS)[name] = default


absl_flags = AbslFlags()


def _ensure_text(value: Any, encoding: str = "utf-8", errors: str = "strict") -> str:
    return value.decode(encoding, errors) if isinstance(value, bytes) else value


def _ensure_binary(value: Any, encoding: str = "utf-8", errors: str = "strict") -> bytes:
    return value.encode(encoding, errors) if isinstance(value, str) else value


def _add_metaclass(kind: type[type]) -> Callable[[type], type]:
    def again(cls: type) -> type:
        kept = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
        return kind(cls.__name__, cls.__bases__, kept)

    return again


urllib_moved = SimpleNamespace(error=urllib.error, parse=urllib.parse, request=urllib.request)
six_moves = SimpleNamespace(
    range=range, zip=zip, map=map, filter=filter, input=input, xrange=range, zip_longest=itertools.zip_longest,
    reduce=functools.reduce, urllib=urllib_moved,
)  # fmt: skip
six = SimpleNamespace(
    PY2=False, PY3=True, BytesIO=io.BytesIO, StringIO=io.StringIO, binary_type=bytes, text_type=str, string_types=(str,),
    integer_types=(int,), class_types=(type,), ensure_binary=_ensure_binary, ensure_str=_ensure_text, ensure_text=_ensure_text,
    add_metaclass=_add_metaclass, iteritems=lambda d: iter(d.items()), iterkeys=lambda d: iter(d.keys()),
    itervalues=lambda d: iter(d.values()), viewitems=lambda d: d.items(), next=next, u=str, b=lambda s: s.encode("latin-1"),
    int2byte=lambda i: bytes((i,)), indexbytes=operator.getitem, moves=six_moves,
)  # fmt: skip


def map_structure(function: Callable[..., Any], *structures: Any, **_: Any) -> Any:
    """What a function makes of each leaf of a nest, or of the leaves of several nests of one form.

    >>> map_structure(lambda a, b: a + b, {"x": [1, 2]}, {"x": [3, 4]})
    {'x': [4, 6]}
    """
    first = structures[0]
    if isinstance(first, Mapping):
        return {name: map_structure(function, *(each[name] for each in structures)) for name in first}
    if isinstance(first, (list, tuple)):
        parts = [map_structure(function, *values) for values in zip(*structures, strict=True)]
        return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
    return function(*structures)


def flatten(structure: Any) -> list[Any]:
    """The leaves of a nest; those of dicts in the order of their keys.

    >>> flatten({"b": [1, 2], "a": 3})
    [3, 1, 2]
    """
    if isinstance(structure, Mapping):
        return [leaf for name in sorted(structure) for leaf in flatten(structure[name])]
    return [leaf for value in structure for leaf in flatten(value)] if isinstance(structure, (list, tuple)) else [structure]

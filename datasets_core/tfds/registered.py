"""The builders that code has defined, by name: each class is known as soon as it is made."""

from __future__ import annotations

import contextlib
import inspect
import os
import threading
from collections.abc import Iterator
from contextvars import ContextVar

from datasets_core.building.class_identity import source_file
from datasets_core.meta.naming import camelcase_to_snakecase

_HOOKS = ("_info", "_split_generators", "_generate_examples", "_shard_iterators_per_split")
_classes: dict[str, type] = {}
_lock = threading.Lock()
_skips: ContextVar[bool] = ContextVar("skips", default=False)


@contextlib.contextmanager
def skip_registration() -> Iterator[None]:
    """Classes that are made within are not registered.

    >>> with skip_registration():
    ...     pass
    """
    token = _skips.set(True)
    try:
        yield
    finally:
        _skips.reset(token)


def name_of(cls: type) -> str:
    """The name of a builder: its class's in snake case; that of its folder where the class is called `Builder`."""
    if cls.__name__ == "Builder":
        path = source_file(cls)
        package = cls.__module__.split(".")
        if path is not None:
            return camelcase_to_snakecase(os.path.basename(os.path.dirname(os.path.abspath(path))))
        if len(package) > 1:
            return package[-2]
    return camelcase_to_snakecase(cls.__name__)


def register(cls: type, name: str) -> bool:
    """Make a class known by name, unless it is abstract or nobody wants it known.  A class made later takes the name over."""
    if _skips.get() or is_abstract(cls):
        return False
    with _lock:
        _classes[name] = cls
    return True


def is_abstract(cls: type) -> bool:
    """Whether a hook of a builder is still to be written; asked while the class is made, when Python does not know yet."""
    return any(getattr(getattr(cls, name, None), "__isabstractmethod__", False) for name in _HOOKS) or inspect.isabstract(cls)


def registered(name: str) -> type | None:
    """The class of that name; None where no code has defined one."""
    return _classes.get(name)


def registered_names() -> list[str]:
    """The names of all builders that code has defined.

    >>> from datasets_core import tfds
    >>> tfds.list_builders() == registered_names()
    True
    """
    return sorted(_classes)

"""The builders that code has defined, by name: each class is known as soon as it is made."""

from __future__ import annotations

import contextlib
import inspect
import os
import threading
from collections.abc import Iterator
from contextvars import ContextVar

from datasets_core.building.class_identity import source_file
from datasets_core.errors import ConfigurationError
from datasets_core.meta.builder_name import tfds_name

_HOOKS = ("_info", "_split_generators", "_generate_examples", "_shard_iterators_per_split")
_SCRIPTS = "datasets_core_scripts."  # modules of scripts that were read from a path
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
            return tfds_name(os.path.basename(os.path.dirname(os.path.abspath(path))))
        if len(package) > 1:
            return package[-2]
    return tfds_name(cls.__name__)


def register(cls: type, name: str) -> bool:
    """Make a class known by name, unless it is abstract or nobody wants it known.

    A class that is made again (a cell of a notebook, a module that is loaded again) takes the name over.

    Raises:
        ConfigurationError: other code has defined a class of that name.
    """
    if _skips.get() or is_abstract(cls):
        return False
    with _lock:
        known = _classes.get(name)
        if known is not None and not _is_same_code(known, cls):
            raise ConfigurationError(
                f"{known.__module__}.{known.__qualname__} is a builder called {name!r} already, and so would be "
                f"{cls.__module__}.{cls.__qualname__}. Rename one, or define it with skip_registration=True."
            )
        _classes[name] = cls
    return True


def _is_same_code(known: type, cls: type) -> bool:
    """Whether a class stands for the other: of the same module or file, or both of scripts, which paths name and not words.

    A class that `type(…)` makes says only that it is of `abc`: nobody knows whose it is.
    """
    modules = [each.__module__.replace("__mp_main__", "__main__") for each in (known, cls)]
    if modules[0] == modules[1] or "abc" in modules or all(module.startswith(_SCRIPTS) for module in modules):
        return True
    files = source_file(known), source_file(cls)
    return files[0] is not None and files[0] == files[1]


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

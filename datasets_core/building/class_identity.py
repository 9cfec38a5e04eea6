"""What tells a builder class from others: its name, the file that defines it, and a hash of its code."""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import sys
from typing import Any

from datasets_core.errors import UnhashableError
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.naming import camelcase_to_snakecase
from datasets_core.store.fingerprint import Hasher, fingerprint

logger = logging.getLogger(__name__)

_MADE_BY_PYTHON = (".__module__", ".__dict__", ".__weakref__", ".__abstractmethods__", "._abc_impl", ".__parameters__")


def keyed(code: str, info: DatasetInfo | None) -> str:
    """The identity of the code, and of the features that are on record: others make other rows of the same files."""
    return code if info is None or info.features is None else fingerprint(code, info.features.to_dict())


def builder_name(cls: type) -> str:
    path = getattr(getattr(getattr(cls, "script", None), "script", None), "path", None)
    if getattr(cls, "is_of_old_datasets", False) and isinstance(path, str):  # hyphens of a file stay in the name
        return camelcase_to_snakecase(os.path.basename(path).removesuffix(".py"))
    module = cls.__module__.rpartition(".")[2]
    return camelcase_to_snakecase(cls.__name__ if module in {"__main__", "__mp_main__"} else module)


def source_file(cls: type) -> str | None:
    return getattr(sys.modules.get(cls.__module__), "__file__", None)


def code_hash(cls: type) -> str:
    """The identity of the file that defines a class, and of the class in it; of its code where there is no such file.

    A class of a notebook, of standard input or of `exec` has no file: its methods count, and the globals that they use.
    """
    path = source_file(cls)
    if path is None or not os.path.isfile(path):
        try:
            return Hasher.hash(_own_code(cls))
        except UnhashableError as error:
            logger.warning("%s is built anew each time, since its code cannot be told from other code: %s", cls.__name__, error)
            return os.urandom(16).hex()
    status = os.stat(path)
    return hashlib.sha256(f"{cls.__qualname__}\0{_file_hash(path, status.st_mtime_ns, status.st_size)}".encode()).hexdigest()[
        :32
    ]


def _own_code(cls: type) -> list[tuple[str, Any]]:
    """What the author of a class wrote: its members and those of its bases, but for this library's and Python's."""
    library = __name__.partition(".")[0]
    theirs = [base for base in cls.__mro__ if base.__module__.partition(".")[0] not in {library, "abc", "builtins"}]
    members = [(f"{base.__qualname__}.{name}", member) for base in theirs for name, member in vars(base).items()]
    return [(name, member) for name, member in members if not name.endswith(_MADE_BY_PYTHON)]


@functools.lru_cache(maxsize=256)
def _file_hash(path: str, modified: int, size: int) -> str:
    with open(path, "rb") as handle:
        return hashlib.sha256(handle.read()).hexdigest()

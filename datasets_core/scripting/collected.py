"""Modules of a collection of datasets that a script imports by their full names: from the collection, or from beside it."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from datasets_core.scripting.faces import FACES

COLLECTIONS = frozenset({"tensorflow_datasets"})
_NEVER = frozenset({"core", "public_api", "scripts", "testing"})  # the library itself, of which faces stand here


class Place(Protocol):
    """What lies beside a script."""

    def is_file(self, path: str) -> bool:
        """Whether there is such a file: then it is on this disk."""
        ...

    def is_folder(self, path: str) -> bool:
        """Whether there is such a folder."""
        ...


class _OnDisk:
    """What lies beside a script that is on this disk as a whole."""

    def is_file(self, path: str) -> bool:
        """See `Place`."""
        return os.path.isfile(path)

    def is_folder(self, path: str) -> bool:
        """See `Place`."""
        return os.path.isdir(path)


ON_DISK = _OnDisk()


@dataclass(frozen=True, slots=True)
class Collected:
    """`from tensorflow_datasets.module import names`, or `import tensorflow_datasets.module`.

    Attributes:
        module: what stands behind `from` or `import`, as it stands there.
        names: what is imported of it.
        guarded: whether the code copes without it.
    """

    module: str
    names: tuple[str, ...]
    guarded: bool


def collected_imports(node: ast.Import | ast.ImportFrom, *, guarded: bool) -> Iterator[Collected]:
    """The imports of modules of a collection that one statement makes.

    >>> [(found.module, found.names) for found in collected_imports(
    ...     ast.parse("from tensorflow_datasets.translate import wmt").body[0], guarded=False)]
    [('tensorflow_datasets.translate', ('wmt',))]
    """
    if isinstance(node, ast.ImportFrom):
        wanted = [(node.module or "", tuple(alias.name for alias in node.names))]
    else:
        wanted = [(alias.name, ()) for alias in node.names]
    for module, names in wanted:
        top, _, rest = module.partition(".")
        if top in COLLECTIONS and rest and rest.partition(".")[0] not in _NEVER and module not in FACES:
            yield Collected(module, names, guarded)


def files_of(folder: str, wanted: Collected, *, but: str, place: Place = ON_DISK) -> list[tuple[str, str]]:
    """(dotted name, file) of the modules that an import of a collection opens, as far as they are found.

    They are looked for in the folder of the collection's name that the script stands in, then beside the script, where the
    first parts of their names may lack.

    Args:
        folder: the script's.
        wanted: the import.
        but: the script itself, which is none of its own modules.
        place: tells which files there are.
    """
    found = []
    for name in wanted.names:
        file = _file_of(folder, f"{wanted.module}.{name}", place)
        if file is not None:
            found.append((f"{wanted.module}.{name}", file))
    if not wanted.names or len(found) < len(wanted.names):
        file = _file_of(folder, wanted.module, place)
        if file is not None:
            found.append((wanted.module, file))
    return [(name, file) for name, file in found if file != but]


def _file_of(folder: str, dotted: str, place: Place) -> str | None:
    top, *parts = dotted.split(".")
    above = folder
    while True:
        if os.path.basename(above) == top:
            file = _module(above, parts, place)
            if file is not None:
                return file
        if above == os.path.dirname(above):
            break
        above = os.path.dirname(above)
    for first in range(len(parts)):
        file = _module(folder, parts[first:], place)
        if file is not None:
            return file
    return None


def _module(folder: str, parts: Sequence[str], place: Place) -> str | None:
    plain = os.path.join(folder, *parts)
    for candidate in (f"{plain}.py", os.path.join(plain, "__init__.py")):
        if place.is_file(candidate):
            return candidate
    return None

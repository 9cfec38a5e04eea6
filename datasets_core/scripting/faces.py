"""The faces of old libraries: modules of ours with the names of `datasets` and its like, for scripts alone.

The face of `datasets.features` is the module `datasets_core.scripting.faces.datasets.features`.  It stands below this one, so
that whatever imports it, in any process, imports this file first, which answers for it: code of a script that travels to a
worker by value finds its faces there.  Nothing is known under an old name, and what others import is not touched.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from datasets_core.optional import is_installed
from datasets_core.scripting import hugging_face, tensorflow_faces

__path__: list[str] = []  # a module with modules below it, none of which is a file

FACES: Mapping[str, Mapping[str, str]] = {**hugging_face.FACES, **tensorflow_faces.FACES}
_REASONS: Mapping[str, str] = {**hugging_face.REASONS, **tensorflow_faces.REASONS}
_TOPS = frozenset(name.partition(".")[0] for name in FACES)


def face_of(dotted: str) -> str | None:
    """The module that a script gets for an old name; None where the name is none of ours, and is imported as it is.

    A module that a face lacks has a name too: importing it says what is the matter.

    >>> face_of("datasets.features")
    'datasets_core.scripting.faces.datasets.features'
    >>> face_of("pandas")
    """
    top = dotted.partition(".")[0]
    if top not in _TOPS or (top in tensorflow_faces.UNLESS_INSTALLED and is_installed(top)):
        return None
    return f"{__name__}.{dotted}"


class Face(ModuleType):
    """One module of an old library: its names open when they are used, from where they live today."""

    def __getattr__(self, name: str) -> Any:
        old = _old_name(self.__name__)
        value = _found(old, name)
        setattr(self, name, value)  # the next access costs nothing
        return value

    def __dir__(self) -> list[str]:
        old = _old_name(self.__name__)
        return sorted({*super().__dir__(), *FACES[old], *_public(old)} - {"*"})

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return open_face, (_old_name(self.__name__),)


def open_face(old: str) -> ModuleType:
    """The face of an old module.

    Raises:
        ModuleNotFoundError: it has none.

    >>> open_face("datasets.tasks").TextClassification.task
    'text-classification'
    """
    return importlib.import_module(f"{__name__}.{old}")


def _old_name(name: str) -> str:
    return name.removeprefix(f"{__name__}.")


def _found(old: str, name: str) -> Any:
    if f"{old}.{name}" in FACES:
        return open_face(f"{old}.{name}")
    table = FACES[old]
    home = table.get(name)
    if home is not None:
        return _at(home)
    if name == "__all__":
        return _public(old)
    if "*" in table and not name.startswith("_"):
        found = _at(table["*"])
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(_refusal(old, name), name=name)


def _public(old: str) -> list[str]:
    names = {name.rpartition(".")[2] for name in FACES if name.rpartition(".")[0] == old}
    names |= {name for name in FACES[old] if not name.startswith("_") and name != "*"}
    if "*" in FACES[old]:
        names |= {name for name in dir(_at(FACES[old]["*"])) if not name.startswith("_")}
    return sorted(names)


def _at(home: str) -> Any:
    """What stands at `module` or `module:name`."""
    module, _, name = home.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


def _refusal(old: str, name: str) -> str:
    top = old.partition(".")[0]
    reason = _REASONS.get(f"{old}.{name}") or _REASONS.get(f"{top}.{name}") or _REASONS.get(name) or _REASONS.get(f"{top}.*")
    return f"{old} has no {name!r} here: {reason}" if reason else f"{old} has no {name!r} here"


class _Finder:
    """Finds the modules of faces, and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The import system's question."""
        if not fullname.startswith(f"{__name__}."):
            return None
        old = _old_name(fullname)
        if old not in FACES:
            above, _, name = old.rpartition(".")
            is_package = old.partition(".")[0] in tensorflow_faces.UNLESS_INSTALLED
            raise ModuleNotFoundError(_refusal(above or old, name), name=old if is_package else None)
        return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A face without names: they open on use."""
        return Face(spec.name, f"`{_old_name(spec.name)}`, as scripts know it.")

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: a face has no code."""


sys.meta_path.append(_Finder())

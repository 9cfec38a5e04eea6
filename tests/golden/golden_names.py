"""The public names of the library, as text: import paths, signatures, the faces of old libraries, entry points."""

from __future__ import annotations

import importlib
import inspect
import tomllib
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType
from typing import Any

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
GROUP = "datasets_core.builders"
MODULES = (
    "datasets_core", "datasets_core.config", "datasets_core.distributed", "datasets_core.errors", "datasets_core.exceptions",
    "datasets_core.features", "datasets_core.files", "datasets_core.inspect", "datasets_core.load", "datasets_core.logging",
    "datasets_core.progress", "datasets_core.records", "datasets_core.slim", "datasets_core.slim.data_decoder",
    "datasets_core.slim.data_provider", "datasets_core.slim.dataset_data_provider", "datasets_core.slim.parallel_reader",
    "datasets_core.slim.tfexample_decoder", "datasets_core.tfds", "datasets_core.tfds.core", "datasets_core.tfds.features",
)  # fmt: skip
"""What users import by its path, beside the formats."""
NAMESPACES = ("datasets_core.tfds.decode", "datasets_core.tfds.download", "datasets_core.slim.dataset",
              "datasets_core.slim.prefetch_queue")  # fmt: skip
"""What is reached as an attribute alone: `tfds.decode`, `slim.dataset`."""
_BUILT_IN = ("dict", "list", "str", "int", "tuple")
_SPECIAL = ("__init__", "__call__", "__getitem__", "__iter__", "__len__", "__enter__", "__exit__")


def modules() -> list[str]:
    """The import paths of all public modules."""
    return [*MODULES, *sorted({value.partition(":")[0] for value in project()["entry-points"][GROUP].values()})]


def project() -> dict[str, Any]:
    """What `pyproject.toml` says of the project."""
    found: dict[str, Any] = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    return found


def opened(path: str) -> Any:
    """A module, or what stands where one is meant."""
    if path in NAMESPACES:
        home, _, name = path.rpartition(".")
        return getattr(importlib.import_module(home), name)
    return importlib.import_module(path)


def names_of(path: str) -> list[str]:
    """The public names of a module: those that it lists, else those of its own functions, classes and values."""
    module = opened(path)
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    return sorted(name for name, value in vars(module).items() if not name.startswith("_") and _is_own(value, module))


def _is_own(value: Any, module: Any) -> bool:
    if isinstance(value, ModuleType):
        return False
    home = getattr(value, "__module__", None)
    return home == getattr(module, "__name__", None) if callable(value) else home is None or not callable(value)


def described(path: str, name: str) -> dict[str, str]:
    """A public name by its kind and signature; of a class its members, too."""
    value = getattr(opened(path), name)
    found = {name: _told(value)}
    if inspect.isclass(value):
        found |= {f"{name}.{member}": told for member, told in _members(value)}
    return found


def _members(cls: type) -> Iterator[tuple[str, str]]:
    for name in sorted({name for base in cls.__mro__ if _is_ours(base) for name in vars(base)}):
        if name.startswith("_") and name not in _SPECIAL:
            continue
        member = inspect.getattr_static(cls, name)
        if isinstance(member, property) or not callable(getattr(member, "__func__", member)):
            yield name, "property" if isinstance(member, property) else "value"
        else:
            yield name, _told(member)


def _is_ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] == "datasets_core"


def _told(value: Any) -> str:
    kind = type(value).__name__ if isinstance(value, (staticmethod, classmethod)) else ""
    value = getattr(value, "__func__", value)
    if isinstance(value, ModuleType):
        return "module"
    if inspect.isclass(value):
        bases = [base.__name__ for base in value.__mro__[1:-1] if not base.__name__.startswith("_")]
        public = [base for base in bases if base in _BUILT_IN or base.endswith(("Error", "Exception", "Warning"))]
        return f"class({', '.join(public)}) {_signature(value)}"
    return f"{kind} {_signature(value)}".strip() if callable(value) else "value"


def _signature(value: Any) -> str:
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return "()"
    return f"({', '.join(map(_parameter, parameters))})"


def _parameter(parameter: inspect.Parameter) -> str:
    star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    kind = {parameter.KEYWORD_ONLY: "keyword ", parameter.POSITIONAL_ONLY: "positional "}.get(parameter.kind, "")
    default = "" if parameter.default is parameter.empty else f"={_default(parameter.default)}"
    annotation = parameter.annotation if isinstance(parameter.annotation, str) else ""
    return f"{kind}{star}{parameter.name}{f': {annotation}' if annotation else ''}{default}"


def _default(value: Any) -> str:
    """A default as a text, where it is a plain value: others may say anything, such as all of the environment."""
    if isinstance(value, (tuple, frozenset)):
        return f"{type(value).__name__}({', '.join(sorted(map(_default, value)))})"
    is_plain = value is None or type(value) in (bool, int, float, str, bytes, complex)
    return repr(value) if is_plain else f"<{getattr(value, '__name__', None) or type(value).__name__}>"


def entry_points() -> dict[str, str]:
    """The entry points that an installed package has: of formats by what they open, of commands by their name alone."""
    found = {f"{GROUP} {name}": value for name, value in project()["entry-points"][GROUP].items()}
    return {**found, **{f"console {name}": "" for name in project()["scripts"]}}


def opened_entry_points() -> dict[str, str]:
    """What each entry point opens."""
    formats, commands = project()["entry-points"][GROUP], project()["scripts"]
    found = {name: EntryPoint(name, value, GROUP).load().__name__ for name, value in formats.items()}
    return {**found, **{name: type(EntryPoint(name, value, "").load()).__name__ for name, value in commands.items()}}


def script_of_faces(faces: dict[str, dict[str, str]]) -> str:
    """A dataset script that imports every module of the old libraries, and whose rows say what its names are."""
    imports = "\n".join(f"import {old} as face{number}" for number, old in enumerate(faces))
    listed = "\n".join(f"    (face{number}, {old!r}, {sorted(names)!r})," for number, (old, names) in enumerate(faces.items()))
    return f"""{imports}
import datasets_core as library

FACES = [
{listed}
]


def told(face, name):
    try:
        value = getattr(face, name)
    except Exception as error:
        return type(error).__name__
    return getattr(value, "__qualname__", None) or type(value).__name__


class Faces(library.GeneratorBasedBuilder):
    def _info(self):
        return library.DatasetInfo(features=library.Features({{"old": library.Value("string"), "is": library.Value("string")}}))

    def _split_generators(self, dl_manager):
        return [library.SplitGenerator("train", {{}})]

    def _generate_examples(self):
        for face, old, names in FACES:
            for name in names:
                yield f"{{old}} {{name}}", {{"old": f"{{old}} {{name}}", "is": told(face, name)}}
"""

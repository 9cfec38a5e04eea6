"""`tfds.core.lazy_imports` and `lazy_imports_utils`: packages that are imported when a script first uses them."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from datasets_core.errors import MissingDependencyError
from datasets_core.optional import distribution, needed
from datasets_core.scripting.calling_script import script_place
from datasets_core.scripting.faces import face_of

_MODULES = {
    "PIL_Image": ("PIL.Image",),
    "PIL_ImageDraw": ("PIL.ImageDraw",),
    "gcsfs_store": ("gcsfs",),
    "matplotlib": ("matplotlib", "matplotlib.pyplot"),
    "pycocotools": ("pycocotools", "pycocotools.mask"),
    "scipy": ("scipy", "scipy.io", "scipy.io.wavfile", "scipy.ndimage"),
    "skimage": ("skimage", "skimage.color", "skimage.filters", "skimage.transform"),
    "array_record_module": ("array_record.python.array_record_module",),
    "array_record_data_source": ("array_record.python.array_record_data_source",),
    "parquet": ("pyarrow.parquet",),
    "nltk": ("nltk", "nltk.tokenize"),
}
"""What TFDS calls a package → the module itself, and those below it that it opens with it."""


class LazyImports:
    """Packages by the names that TFDS has for them.

    >>> LazyImports().json.loads("[1]")
    [1]
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"lazy_imports has no {name!r}", name=name)
        return _package(name)


def _package(name: str) -> Any:
    first, *more = _MODULES.get(name, (name,))
    opened: ModuleType = _opened(first)
    for module in more:
        _opened(module)
    return opened


def _opened(module: str) -> ModuleType:
    face = face_of(module)
    if face is not None:
        return importlib.import_module(face)
    found: ModuleType = needed(module, script_place(), distribution(module.partition(".")[0]))
    return found


lazy_imports = LazyImports()


class Absent:
    """A package that is not installed: it may be imported by name, and says so when something of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{self._name} has no {name!r}", name=name)
        return getattr(_package(self._name), name)


class LazyModules:
    """Packages by name; those that are not installed say so when something of them is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"lazy_imports_utils has no attribute {name!r}", name=name)
        try:
            return _package(name)
        except MissingDependencyError:
            return Absent(name)


lazy_modules = LazyModules()

"""The alias: after `install`, `import datasets` returns this library, until `uninstall`.

    from datasets_core import as_datasets

    as_datasets.install()              # or: with as_datasets.install(): ...
    import datasets                    # this library, under the names of Hugging Face `datasets` 5.2.0

`python -m datasets_core.as_datasets script.py ...` and `... -m module ...` run a program and its child processes with the
alias.  If the library was installed from a wheel, `DATASETS_CORE_AS_DATASETS=1 python script.py` does so, too; otherwise the
variable makes the import of `datasets_core` install the alias.  The alias is never installed without being requested.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any

from datasets_core.as_datasets.names import COMPATIBLE_VERSION, MODULES, absence_of
from datasets_core.errors import ConfigurationError

__all__ = ["VARIABLE", "Alias", "install", "is_installed", "uninstall"]

VARIABLE = "DATASETS_CORE_AS_DATASETS"
"""The environment variable for child processes: `1` makes them use the alias."""

_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "path")  # holds `datasets`, for child processes


class Alias:
    """The installed alias: a context manager that uninstalls it at the end of the block."""

    def __enter__(self) -> Alias:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        uninstall()


def install() -> Alias:
    """Make `import datasets` return this library in this process, and in processes started from now on.

    Child processes find the alias by `PYTHONPATH` and `DATASETS_CORE_AS_DATASETS`, no matter how they are started.

    Returns:
        A context manager that uninstalls the alias when its block ends.

    Raises:
        ConfigurationError: another `datasets` was already imported.

    Example:
        >>> with install():
        ...     import datasets
        ...     datasets.Dataset.from_dict({"a": [1, 2]})[1]
        {'a': 2}
    """
    imported = sys.modules.get("datasets")
    if imported is not None and not _is_ours(imported):
        place = getattr(imported, "__file__", None)
        raise ConfigurationError(
            f"Another 'datasets' was already imported from {place}. Call datasets_core.as_datasets.install() before the first "
            "import of datasets, or run the program with: python -m datasets_core.as_datasets script.py"
        )
    if not is_installed():
        sys.meta_path.insert(0, _FINDER)
        sys.path.insert(0, _PATH)
        os.environ[VARIABLE] = "1"
        os.environ["PYTHONPATH"] = os.pathsep.join([_PATH, *_python_path()])
        importlib.invalidate_caches()
        if "fsspec" in sys.modules:  # otherwise it finds the file systems of the alias when it is imported
            sys.modules["fsspec"].process_entries()
    return Alias()


def uninstall() -> None:
    """Uninstall the alias: a later `import datasets` finds the installed package. Existing objects remain valid."""
    if not is_installed():
        return
    sys.meta_path.remove(_FINDER)
    sys.path[:] = [each for each in sys.path if each != _PATH]
    for name in [name for name, module in sys.modules.items() if name.partition(".")[0] == "datasets" and _is_ours(module)]:
        del sys.modules[name]
    os.environ.pop(VARIABLE, None)
    rest = _python_path()
    if rest:
        os.environ["PYTHONPATH"] = os.pathsep.join(rest)
    else:
        os.environ.pop("PYTHONPATH", None)
    importlib.invalidate_caches()


def take_over(name: str) -> None:
    """Replace the module that a child process imported from its path by the alias."""
    del sys.modules[name]
    importlib.import_module(name)


def is_installed() -> bool:
    """Return True if the alias is installed."""
    return _FINDER in sys.meta_path


def _python_path() -> list[str]:
    return [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each and each != _PATH]


def _is_ours(module: ModuleType) -> bool:
    """Return True for the alias, and for a `datasets/__init__.py` of this project while it installs the alias."""
    return isinstance(module, AliasModule) or "__datasets_core__" in vars(module)


class AliasModule(ModuleType):
    """A module of `datasets`, whose names are imported from this library on first use."""

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sorted({each for each in MODULES[self.__name__] if not each.startswith("_")})
        home = MODULES[self.__name__].get(name)
        if home is None and f"{self.__name__}.{name}" in MODULES:
            return importlib.import_module(f"{self.__name__}.{name}")
        if home is not None:
            value = _opened(home)
            if not home.endswith("()"):
                vars(self)[name] = value
            return value
        starred = MODULES[self.__name__].get("*")
        if starred is not None and not name.startswith("_"):
            try:
                return getattr(_opened(starred), name)
            except AttributeError:
                pass
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise AttributeError(absence_of(self.__name__, name), name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        if not (
            isinstance(value, AliasModule) and name in MODULES[self.__name__]
        ):  # such as `utils.tqdm`, a class and a module
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        names = {*super().__dir__(), *MODULES[self.__name__]} - {"*"}
        starred = MODULES[self.__name__].get("*")
        if starred is not None:
            names |= {name for name in dir(_opened(starred)) if not name.startswith("_")}
        below = f"{self.__name__}."
        return sorted(names | {name.removeprefix(below) for name in MODULES if name.rpartition(".")[0] == self.__name__})

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)


class _Config(AliasModule):
    """`datasets.config`: assigned settings are applied to this library, or rejected."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
            return
        setattr(importlib.import_module("datasets_core.config"), name, value)

    def __delattr__(self, name: str) -> None:
        if name.startswith("__"):
            super().__delattr__(name)
            return
        delattr(importlib.import_module("datasets_core.config"), name)


def _opened(home: str) -> Any:
    """Return the object at `module`, `module:name`, or what `module:name()` returns."""
    module, _, name = home.partition(":")
    found: Any = importlib.import_module(module)
    if not name:
        return found
    found = getattr(found, name.removesuffix("()"))
    return found() if name.endswith("()") else found


class _Finder:
    """Finds `datasets` and its modules."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        if fullname.partition(".")[0] != "datasets":
            return None
        if fullname not in MODULES:
            above, _, name = fullname.rpartition(".")
            raise ModuleNotFoundError(
                absence_of(above, name)
            )  # without its name, which `from datasets import ...` would ignore
        return ModuleSpec(fullname, self, origin="datasets_core.as_datasets", is_package=True)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """See `importlib.abc.Loader`."""
        kind = _Config if spec.name == "datasets.config" else AliasModule
        return kind(spec.name, f"`{spec.name}` of Hugging Face datasets, by datasets_core.")

    def exec_module(self, module: ModuleType) -> None:
        """Give the top module its version and its file; other names are looked up on use."""
        if module.__name__ == "datasets":
            module.__version__ = COMPATIBLE_VERSION  # type: ignore[attr-defined]
            module.__file__ = os.path.join(_PATH, "datasets", "__init__.py")


_FINDER = _Finder()

"""Optional packages: imported when something needs them, and an error that says what to install where they are missing."""

from __future__ import annotations

import importlib
from typing import Any

from datasets_core.errors import MissingDependencyError


def needed(package: str, needed_for: str, install: str | None = None) -> Any:
    """An optional package, or a module of one, imported.

    Args:
        package: its name for an import.
        needed_for: what needs it, as the subject of a sentence.
        install: its name for pip; the library's extra of the package's name by default.

    Raises:
        MissingDependencyError: it is not installed.

    >>> needed("json", "This line").__name__
    'json'
    """
    name = package.partition(".")[0]
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError as error:
        if error.name not in (name, package):
            raise  # the package is there, and lacks another
        raise MissingDependencyError(name, needed_for=needed_for, install=install or f"datasets_core[{name}]") from error

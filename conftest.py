"""The names that examples in docstrings use without importing them: users know them, and methods are examples of a `Dataset`."""

from __future__ import annotations

from typing import Any

import pytest

_NAMES = ("ClassLabel", "Dataset", "DatasetDict", "Features", "Value")


@pytest.fixture(autouse=True)
def _known_names(request: pytest.FixtureRequest) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        import numpy
        import pyarrow

        import datasets_core

        names: dict[str, Any] = {name: getattr(datasets_core, name) for name in _NAMES}
        found = request.getfixturevalue("doctest_namespace")
        for name, value in {**names, "np": numpy, "pa": pyarrow}.items():
            found.setdefault(name, value)

"""What the marks mean."""

import os
from importlib.util import find_spec

import pytest

PEER = "DATASETS_PEER_PYTHON"  # an interpreter that has Hugging Face datasets, where the one that runs the tests has not


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is marked `optional(package)` where the package is not installed."""
    for mark in item.iter_markers("optional"):
        (package,) = mark.args
        elsewhere = package == "datasets" and PEER in os.environ
        if not elsewhere and find_spec(package) is None:
            hint = f", and {PEER} names no other interpreter" if package == "datasets" else ""
            pytest.skip(f"the package {package} is not installed{hint}")

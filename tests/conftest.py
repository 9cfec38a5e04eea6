"""What the marks mean, and how hypothesis finds its examples: the same in every run, unless HYPOTHESIS_PROFILE=campaign."""

import os
from importlib.util import find_spec

import pytest
from hypothesis import settings

settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("campaign", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

PEER = "DATASETS_PEER_PYTHON"  # an interpreter that has Hugging Face datasets, where the one that runs the tests has not


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is marked `optional(package)` where the package is not installed."""
    for mark in item.iter_markers("optional"):
        (package,) = mark.args
        elsewhere = package == "datasets" and PEER in os.environ
        if not elsewhere and find_spec(package) is None:
            hint = f", and {PEER} names no other interpreter" if package == "datasets" else ""
            pytest.skip(f"the package {package} is not installed{hint}")

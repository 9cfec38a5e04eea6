"""The helpers of this folder by their bare names: they are hashed with the name of their module, which must not change."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parent))

import golden_files

collect_ignore_glob = ["golden_*.py", "make.py"]  # have no examples, and are known by one name alone


@pytest.fixture(scope="session")
def sources() -> Iterator[str]:
    """The folder of the source files, always at the same path: see `golden_files`."""
    with golden_files.standing_sources() as folder:
        yield folder

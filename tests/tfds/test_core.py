"""`tfds.core`: every name opens."""

import pytest

import datasets_core
from datasets_core import tfds
from datasets_core.tfds import core


@pytest.mark.parametrize("name", core.__all__)
def test_every_name_opens(name: str) -> None:
    assert getattr(core, name) is not None
    assert name in dir(tfds.core)


def test_names_of_the_library_are_the_library_s_own() -> None:
    assert core.Version is datasets_core.Version
    assert core.Experiment is datasets_core.Experiment

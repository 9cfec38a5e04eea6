"""Each name of the faces of TFDS, TensorFlow and etils leads somewhere."""

import importlib

import pytest

from datasets_core.scripting.compat import tables
from datasets_core.scripting.compat.tables import compat_module_of, open_module


@pytest.mark.parametrize("old", sorted(tables.TENSORFLOW_MODULES))
def test_names_lead_somewhere(old: str) -> None:
    face = open_module(old)
    for name in tables.TENSORFLOW_MODULES[old]:
        if name != "*":
            assert getattr(face, name) is not None
    assert isinstance(dir(face), list)


def test_modules_open_as_attributes() -> None:
    tfds = open_module("tensorflow_datasets")
    assert tfds.core.utils.Version is tfds.core.Version is tfds.public_api.core.Version
    assert tfds.core.features.Text is tfds.features.Text
    assert tfds.testing.DatasetBuilderTestCase is not None
    with pytest.raises(AttributeError, match=r"tensorflow_datasets\.core has no 'beam_utils' here: scripts get"):
        _ = tfds.core.beam_utils
    with pytest.raises(ModuleNotFoundError, match="has no 'translate' here"):
        importlib.import_module(f"{compat_module_of('tensorflow_datasets')}.translate")


def test_packages_that_are_here_are_taken_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compat_module_of("six") is None or compat_module_of("six").endswith("tables.six")  # type: ignore[union-attr]
    monkeypatch.setattr("datasets_core.scripting.compat.tables.is_installed", lambda name: True)
    assert compat_module_of("tensorflow") is compat_module_of("etils.epath") is None
    assert compat_module_of("tensorflow_datasets") is not None


def test_what_depends_on_the_machine_is_a_face() -> None:
    assert {name.partition(".")[0] for name in tables.TENSORFLOW_MODULES} >= tables.UNLESS_INSTALLED

"""`tfds.core`: every name opens."""

import subprocess
import sys

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


# The face itself: every name, and modules whose files have other names.

PROMISED = {
    "load", "builder", "builder_cls", "builder_from_directory", "builder_from_directories", "list_builders", "data_source",
    "even_splits", "split_for_jax_process", "Split", "ReadConfig", "as_dataframe", "as_numpy", "benchmark",
    "core", "features", "download", "decode", "disable_progress_bar", "enable_progress_bar",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PROMISED))
def test_every_name_opens_namespaces(name: str) -> None:
    assert getattr(tfds, name) is not None


def test_names_are_shared_with_the_library() -> None:
    assert tfds.ReadConfig is datasets_core.ReadConfig
    assert tfds.download.DownloadManager.__module__ == "datasets_core.tfds.download"
    assert tfds.decode.SkipDecoding.__module__ == "datasets_core.tfds.decode"


def test_importing_the_face_opens_nothing() -> None:
    code = "import sys; import datasets_core.tfds; print('numpy' in sys.modules, 'pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]

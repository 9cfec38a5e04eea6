from __future__ import annotations

import numpy as np
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from datasets_core import config
from datasets_core.errors import ConfigurationError
from datasets_core.meta.info import SupervisedKeysData
from datasets_core.scripting.compat import datasets
from datasets_core.scripting.compat.tables import open_module


def test_values_without_arrays() -> None:
    value = {"a": [np.arange(2)], "b": (np.int8(1), None, "x"), "c": np.ones((2, 1))}
    assert datasets.cast_to_python_objects(value) == {"a": [[0, 1]], "b": [1, None, "x"], "c": [[1.0], [1.0]]}
    flat = datasets.cast_to_python_objects(np.ones((2, 3)), only_1d_for_numpy=True)
    assert [row.tolist() for row in flat] == [[1.0] * 3] * 2
    assert datasets.NestedDataStructure([{"a": (1, [2])}, 3]).flatten() == [1, 2, 3]
    assert datasets.NestedDataStructure().flatten() == []


def test_names_of_files_of_splits() -> None:
    assert datasets.filenames_for_dataset_split("", "MyData", "test") == ["my_data-test"]
    with pytest.raises(ConfigurationError, match="not valid names of a dataset and a split"):
        datasets.filename_prefix_for_split("a/b", "train")


def test_caching_is_switched() -> None:
    with config.using():
        before = config.is_caching_enabled()
        try:
            datasets.set_caching_enabled(False)
            assert not config.is_caching_enabled()
        finally:
            datasets.set_caching_enabled(before)


def test_stores_are_told_from_disks() -> None:
    assert datasets.is_remote_filesystem(MemoryFileSystem())
    assert not datasets.is_remote_filesystem(LocalFileSystem())


@pytest.mark.parametrize(
    "name",
    [
        "features.features.FeatureType", "features.features.cast_to_python_objects", "info.PostProcessedInfo",
        "naming.filename_prefix_for_split", "utils.py_utils.NestedDataStructure", "set_caching_enabled", "utils.metadata",
        "formatting", "hub", "search", "filesystems.extract_path_from_uri", "parallel", "keyhash", "utils.sharding",
    ],
)  # fmt: skip
def test_old_names_are_found_without_an_import_of_their_module(name: str) -> None:
    found = open_module("datasets")
    for part in name.split("."):
        found = getattr(found, part)
    assert found is not None


def test_what_is_not_here_says_what_to_do() -> None:
    with pytest.raises(AttributeError, match=r"slices are written as text: split='train\[:10%\]'"):
        _ = open_module("datasets").percent


def test_supervised_keys_have_their_fields_in_vars() -> None:
    assert vars(SupervisedKeysData("a", "b")) == {"input": "a", "output": "b"}

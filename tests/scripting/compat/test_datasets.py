"""Tests of datasets_core/scripting/compat/datasets.py."""

from __future__ import annotations

import datetime
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from datasets_core import config
from datasets_core.errors import ConfigurationError, ReferenceSyntaxError
from datasets_core.features.base import Value
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.meta import version
from datasets_core.meta.info import DatasetInfo, SupervisedKeysData
from datasets_core.meta.split_info import SplitInfo
from datasets_core.scripting.compat import datasets
from datasets_core.scripting.compat.datasets import Version
from datasets_core.scripting.compat.tables import open_module


def test_values_without_arrays() -> None:
    value = {"a": [np.arange(2)], "b": (np.int8(1), None, "x"), "c": np.ones((2, 1)), "d": np.array(7)}
    found = datasets.cast_to_python_objects(value)
    assert (found["b"], found["d"], found["c"].shape) == ((1, None, "x"), 7, (2, 1))
    assert found["a"][0].tolist() == [0, 1]
    times = pd.Series([pd.Timestamp(2020, 1, 1), pd.Timestamp(2021, 1, 1)])
    plain = [datetime.datetime(2020, 1, 1), datetime.datetime(2021, 1, 1)]
    assert datasets.cast_to_python_objects({"t": times, "f": pd.DataFrame({"t": times})}) == {"t": plain, "f": {"t": plain}}
    assert type(datasets.cast_to_python_objects(times)[0]) is datetime.datetime
    assert datasets.cast_to_python_objects([pd.Timedelta(seconds=1)]) == [datetime.timedelta(seconds=1)]
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


# old names


@pytest.mark.parametrize(("text", "plain"), [("2018.04.18", "2018.4.18"), ("0.00.000", "0.0.0"), ("1.2.3", "1.2.3")])
def test_versions_may_have_leading_zeros(text: str, plain: str) -> None:
    found = Version(text, "why")
    assert (str(found), found.description, found.tuple) == (plain, "why", version.Version(plain).tuple)
    assert found == version.Version(plain) == found == version.as_version(text)
    assert hash(found) == hash(version.Version(plain))
    assert found.match("*.*.*")
    assert pickle.loads(pickle.dumps(found)) == found
    assert isinstance(found, version.Version)


@pytest.mark.parametrize("text", ["1.2", "1..2", "a.b.c", "1.2.x", ""])
def test_what_is_no_version_stays_none(text: str) -> None:
    with pytest.raises(ReferenceSyntaxError, match="is not a valid version"):
        Version(text)


def test_files_are_opened_as_open_does(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("ä\nb\n", encoding="latin-1")
    with datasets.xopen(path, encoding="latin-1", download_config=None) as file:
        assert datasets.readline(file) == "ä\n"
    with datasets.xopen(f"file://{path}", "rb") as file:
        assert file.read() == b"\xe4\nb\n"
    with datasets.xopen(f"file://{path}", encoding="latin-1") as file:
        assert file.read() == "ä\nb\n"


def test_parents_of_paths_and_urls() -> None:
    assert datasets.url_or_path_parent("a/b.txt") == "a"
    assert datasets.url_or_path_join("a", "b", "c.txt") == "a/b/c.txt"


def test_a_seed_holds_for_a_block_of_code() -> None:
    np.random.seed(1)
    random.seed(1)
    before = np.random.get_state()[1].tolist(), random.getstate()
    with datasets.temp_seed(3, set_pytorch=True):
        first = np.random.random()
        random.random()
    with datasets.temp_seed(3):
        assert np.random.random() == first
    assert (np.random.get_state()[1].tolist(), random.getstate()) == before


def test_sizes_are_shown_and_read() -> None:
    assert [datasets.size_str(size) for size in (None, 10, 3 << 20)] == ["Unknown size", "10 bytes", "3.00 MiB"]
    assert datasets.convert_file_size_to_int(7) == 7


def test_which_features_need_a_cast() -> None:
    assert datasets.require_storage_cast(Image())
    assert not datasets.require_storage_cast(Value("string"))


def test_nestings_keep_their_shape() -> None:
    assert datasets.map_nested(str.upper, {"a": ("x", ["y"])}, map_tuple=True) == {"a": ("X", ["Y"])}
    assert datasets.map_nested(len, {"a": ("x", "y"), "b": ["zz"]}) == {"a": 2, "b": [2]}
    found = datasets.map_nested(float, {"a": np.eye(2, dtype=int)}, map_numpy=True)
    assert (found["a"].dtype, found["a"].tolist()) == (np.dtype("float64"), [[1.0, 0.0], [0.0, 1.0]])


@pytest.mark.parametrize("batch_size", [1, 2, None])
def test_a_batched_function_of_nested_values_is_given_lists(batch_size: int | None) -> None:
    sizes = []

    def doubled(values: list[int]) -> list[int]:
        sizes.append(len(values))
        return [2 * value for value in values]

    nested = {"a": 1, "b": [2, 3, {"c": 4}], "d": []}
    found = datasets.map_nested(doubled, nested, batched=True, batch_size=batch_size)
    assert found == {"a": 2, "b": [4, 6, {"c": 8}], "d": []}
    assert sizes == {1: [1, 1, 1, 1], 2: [2, 2], None: [4]}[batch_size]
    assert datasets.map_nested(doubled, 3, batched=True) == 6


def test_dicts_of_dataclasses_become_dicts() -> None:
    info = SplitInfo("train", num_examples=2)
    assert datasets.asdict({"x": [info]})["x"][0]["num_examples"] == 2
    assert datasets.asdict(info)["dataset_name"] is None
    with pytest.raises(TypeError):
        datasets.asdict([info])


# old settings


def test_every_setting_has_a_value() -> None:
    assert all(getattr(datasets, name) is not None for name in dir(datasets))


def test_settings_are_read_when_they_are_asked_for(tmp_path: Path) -> None:
    with config.using(cache_dir=str(tmp_path), offline=True):
        assert tmp_path == datasets.HF_DATASETS_CACHE
        assert datasets.HF_DATASETS_OFFLINE is True


def test_packages_are_told_by_version_and_presence() -> None:
    assert str(datasets.PYARROW_VERSION) == pa.__version__
    assert datasets.PYARROW_VERSION.major >= 21
    assert isinstance(datasets.TF_AVAILABLE, bool)


def test_a_setting_that_there_is_not() -> None:
    with pytest.raises(AttributeError, match="NOTHING"):
        _ = datasets.NOTHING


# tasks

KINDS: list[Any] = [
    datasets.TextClassification, datasets.ImageClassification, datasets.AudioClassification,
    datasets.AutomaticSpeechRecognition,
    datasets.LanguageModeling, datasets.Summarization, datasets.QuestionAnsweringExtractive,
]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_template_survives_its_stored_form_and_pickle(kind: Any) -> None:
    template = kind()
    assert datasets.task_template_from_dict({**template.to_dict(), "labels": ["old"]}) == template
    assert datasets.TaskTemplate.from_dict(template.to_dict()) == template
    assert pickle.loads(pickle.dumps(template)) == template
    assert set(template.column_mapping) <= set(
        template.column_mapping.values()
    )  # by default, columns are called as in the task
    assert set(template.column_mapping.values()) == {*template.input_schema, *template.label_schema}


def test_a_template_takes_the_labels_of_its_column() -> None:
    label = ClassLabel(names=["bad", "good"])
    template = datasets.TextClassification(text_column="t", label_column="l")
    aligned = template.align_with_features(Features({"t": Value("string"), "l": label}))
    assert aligned.label_schema["labels"] == label
    assert aligned == template
    assert template.label_schema is datasets.TextClassification.label_schema
    assert aligned.features["labels"] == label


def test_a_template_takes_the_rate_of_its_column_of_sounds() -> None:
    aligned = datasets.AutomaticSpeechRecognition().align_with_features(Features({"audio": Audio(16_000)}))
    assert aligned.input_schema["audio"] == Audio(16_000)


@pytest.mark.parametrize("features", [{}, {"labels": Value("int64")}])
def test_a_column_that_holds_no_labels_is_refused(features: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="takes its labels from column 'labels'"):
        datasets.ImageClassification().align_with_features(Features(features))


def test_a_column_that_holds_no_sounds_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="takes its audio from column 'audio'"):
        datasets.AutomaticSpeechRecognition().align_with_features(Features({"audio": Value("string")}))


def test_an_unknown_task_is_none() -> None:
    assert datasets.task_template_from_dict({"task": "chess"}) is None


def test_an_info_stores_its_templates() -> None:
    info = DatasetInfo(task_templates=[datasets.TextClassification("text-classification", "t", "l")])
    form = info.to_dict()
    assert form["task_templates"] == [{"task": "text-classification", "text_column": "t", "label_column": "l"}]
    assert DatasetInfo.from_dict(form).task_templates == form["task_templates"]

"""Columns and formats of every split."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import CellCastError, UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel


@pytest.fixture
def splits() -> DatasetDict:
    """Two splits of two columns."""
    train = Dataset.from_dict({"a": [1, 2], "b": ["x", "y"]}, split="train")
    return DatasetDict({"train": train, "test": train.select([1])})


def test_columns_change_in_every_split(splits: DatasetDict) -> None:
    assert splits.select_columns("b")["test"][0] == {"b": "y"}
    assert splits.remove_columns(["b"])["train"][0] == {"a": 1}
    assert splits.rename_column("a", "c").column_names["test"] == ["c", "b"]
    assert splits.rename_columns({"a": "b", "b": "a"})["train"][0] == {"b": 1, "a": "x"}


def test_formats_hold_for_every_split(splits: DatasetDict) -> None:
    assert isinstance(splits.with_format("arrow")["test"][0], pa.Table)
    with splits.formatted_as("arrow"):
        assert isinstance(splits["train"][0], pa.Table)
    assert splits["train"][0] == {"a": 1, "b": "x"}
    splits.set_format("arrow")
    assert isinstance(splits["test"][0], pa.Table)
    splits.reset_format()
    assert splits["test"][0] == {"a": 2, "b": "y"}


def test_a_format_that_fails_for_one_split_changes_none(splits: DatasetDict) -> None:
    splits["test"] = splits["test"].remove_columns("a")

    with pytest.raises(UnknownColumnError):
        splits.set_format("arrow", columns=["a"])

    assert splits["train"].format["type"] is None


def test_kinds_change_in_every_split(splits: DatasetDict) -> None:
    assert splits.cast_column("a", Value("string"))["test"][0] == {"a": "2", "b": "y"}
    assert splits.cast(Features({"b": Value("string"), "a": Value("float32")}))["train"][0] == {"b": "x", "a": 1.0}
    encoded = splits.class_encode_column("b")
    assert [encoded[name].features["b"] for name in encoded] == [ClassLabel(names=["x", "y"]), ClassLabel(names=["y"])]
    labels = splits.cast_column("b", ClassLabel(names=["x", "y"]))
    assert labels.align_labels_with_mapping({"y": 0, "x": 1}, "b").unique("b") == {"train": [1, 0], "test": [0]}
    nested = DatasetDict({"train": Dataset.from_dict({"s": [{"x": {"y": 1}}]})})
    assert (nested.flatten()["train"][0], nested.flatten(max_depth=2)["train"][0]) == ({"s.x.y": 1}, {"s.x": {"y": 1}})


def test_an_error_says_in_which_split_it_arose(splits: DatasetDict) -> None:
    splits["test"] = Dataset.from_dict({"a": ["p"], "b": ["q"]})

    with pytest.raises(CellCastError) as caught:
        splits.cast_column("a", Value("int8"))

    assert caught.value.__notes__ == ["This happened in split 'test'."]


def test_a_transform_holds_for_every_split(splits: DatasetDict) -> None:
    shown = splits.with_transform(lambda batch: {"n": [value * 10 for value in batch["a"]]})
    assert (shown["train"][1], shown["test"][0], splits["test"][0]) == ({"n": 20}, {"n": 20}, {"a": 2, "b": "y"})

    splits.set_transform(lambda batch: {"n": batch["a"]}, columns=["a"])
    assert splits["test"][0] == {"n": 2}

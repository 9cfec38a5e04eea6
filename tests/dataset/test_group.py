"""What is done to a dictionary of datasets is done to each."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.group import DatasetDict
from datasets_core.errors import ArgumentTypeError, UnknownColumnError, UnknownSplitError


@pytest.fixture
def splits() -> DatasetDict:
    """Two splits of two columns."""
    train = Dataset.from_dict({"a": [1, 2], "b": ["x", "y"]}, split="train")
    return DatasetDict({"train": train, "test": train.select([1])})


def test_properties_are_by_split(splits: DatasetDict) -> None:
    assert splits.num_rows == {"train": 2, "test": 1}
    assert splits.num_columns == {"train": 2, "test": 2}
    assert splits.shape == {"train": (2, 2), "test": (1, 2)}
    assert splits.column_names == {"train": ["a", "b"], "test": ["a", "b"]}
    assert splits.cache_files == {"train": [], "test": []}
    assert splits.data["train"].num_rows == 2


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


@pytest.mark.parametrize("key", ["tran", 0])
def test_an_unknown_split_names_the_splits(splits: DatasetDict, key: str) -> None:
    with pytest.raises(UnknownSplitError, match="Splits: 'train', 'test'") as caught:
        splits[key]

    assert isinstance(caught.value, KeyError)


def test_what_is_no_dataset_is_named(splits: DatasetDict) -> None:
    splits["odd"] = 3  # type: ignore[assignment]

    with pytest.raises(ArgumentTypeError, match="Split 'odd' of this DatasetDict holds int, no Dataset"):
        splits.num_rows  # noqa: B018


def test_it_prints_its_splits(splits: DatasetDict) -> None:
    assert repr(DatasetDict({"test": splits["test"]})) == (
        "DatasetDict({\n    test: Dataset({\n        features: ['a', 'b'],\n        num_rows: 1\n    })\n})"
    )


def test_it_pickles(splits: DatasetDict) -> None:
    assert pickle.loads(pickle.dumps(splits))["test"].to_list() == [{"a": 2, "b": "y"}]


@pytest.mark.parametrize("key", [0, slice(2), ["train"], {"train": 1}], ids=repr)
def test_what_names_no_split_is_answered_with_the_splits(key: Any) -> None:
    with pytest.raises(UnknownSplitError, match="'train'"):
        DatasetDict({"train": Dataset.from_dict({"a": [1]})})[key]

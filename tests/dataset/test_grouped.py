"""What a dictionary of datasets says of itself, and of what it does not have."""

from __future__ import annotations

from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownSplitError


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


@pytest.mark.parametrize("key", ["tran", 0])
def test_an_unknown_split_names_the_splits(splits: DatasetDict, key: str) -> None:
    with pytest.raises(UnknownSplitError, match="Available splits: 'train', 'test'") as caught:
        splits[key]

    assert isinstance(caught.value, KeyError)


def test_what_is_no_dataset_is_named(splits: DatasetDict) -> None:
    splits["odd"] = 3  # type: ignore[assignment]

    with pytest.raises(ArgumentTypeError, match="Split 'odd' of this DatasetDict is int, not Dataset"):
        splits.num_rows  # noqa: B018


def test_it_prints_its_splits(splits: DatasetDict) -> None:
    assert repr(DatasetDict({"test": splits["test"]})) == (
        "DatasetDict({\n    test: Dataset({\n        features: ['a', 'b'],\n        num_rows: 1\n    })\n})"
    )


@pytest.mark.parametrize("key", [0, slice(2), ["train"], {"train": 1}], ids=repr)
def test_what_names_no_split_is_answered_with_the_splits(key: Any) -> None:
    with pytest.raises(UnknownSplitError, match="'train'"):
        DatasetDict({"train": Dataset.from_dict({"a": [1]})})[key]


@pytest.mark.parametrize("given", ["a.arrow", {"train": None}])
def test_an_argument_by_split_must_have_all_splits(splits: DatasetDict, given: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"entry for .*split"):
        splits.sort("a", indices_cache_file_names=given)

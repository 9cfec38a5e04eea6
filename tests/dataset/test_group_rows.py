"""Rows of every split."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict, with_name_of
from datasets_core.errors import ConfigurationError


@pytest.fixture
def splits() -> DatasetDict:
    """Two splits of one column."""
    return DatasetDict({"train": Dataset.from_dict({"a": [3, 1, 2]}), "test": Dataset.from_dict({"a": [5, 4]})})


def _values(splits: DatasetDict, column: str = "a") -> dict[str, list[Any]]:
    return {name: splits[name][column][:] for name in splits}


def test_a_function_maps_every_split_and_may_know_its_name(splits: DatasetDict) -> None:
    assert _values(splits.map(lambda row: {"a": row["a"] + 1})) == {"train": [4, 2, 3], "test": [6, 5]}
    named = splits.map(lambda row, i, split: {"s": f"{split}{i}"}, with_indices=True, with_split=True)
    assert _values(named, "s") == {"train": ["train0", "train1", "train2"], "test": ["test0", "test1"]}


def test_coroutines_may_know_the_split_too() -> None:
    async def later(row: int, split: str) -> tuple[int, str]:
        return row, split

    assert asyncio.run(with_name_of(later, "test")(3)) == (3, "test")


def test_rows_of_every_split_are_filtered_and_sorted(splits: DatasetDict) -> None:
    assert _values(splits.filter(lambda row: row["a"] % 2 == 1)) == {"train": [3, 1], "test": [5]}
    assert _values(splits.sort("a", reverse=True)) == {"train": [3, 2, 1], "test": [5, 4]}


def test_shuffles_take_one_seed_or_one_for_each_split(splits: DatasetDict) -> None:
    wanted = {"train": splits["train"].shuffle(seed=1)["a"][:], "test": splits["test"].shuffle(seed=1)["a"][:]}

    assert _values(splits.shuffle(seed=1)) == _values(splits.shuffle(seeds=1)) == wanted
    assert _values(splits.shuffle(seeds={"train": 1, "test": 1})) == wanted
    assert _values(splits.shuffle(generators={name: np.random.default_rng(1) for name in splits})) == wanted
    with pytest.raises(ConfigurationError, match="seed and seeds"):
        splits.shuffle(seed=1, seeds={"train": 1, "test": 2})
    with pytest.raises(ConfigurationError, match="no entry for split 'test'"):
        splits.shuffle(seeds={"train": 1})


def test_selections_are_written_out_and_results_cleaned_up(splits: DatasetDict) -> None:
    flat = splits.sort("a").flatten_indices()

    assert _values(flat) == {"train": [1, 2, 3], "test": [4, 5]}
    assert splits.cleanup_cache_files() == {"train": 0, "test": 0}

"""Streams pushed to a repository of the Hub; what comes of the repository is held by `tests/flows/test_hub_push.py`."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError
from datasets_core.load import load_dataset
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_dict import IterableDatasetDict

ROWS = Dataset.from_dict({"a": list(range(10))})


def test_a_stream_is_a_split_of_several_files(hub: Any) -> None:
    stream = ROWS.to_iterable_dataset(num_shards=3)
    stream.push_to_hub("org/x", split="test", token=hub.token)
    stream.map(lambda row: {"a": row["a"] * 2}).push_to_hub("org/x", token=hub.token, max_shard_size=40)

    paths = [path for path in hub.repos["org/x"].files() if path.endswith(".parquet")]
    assert paths == [f"data/test-{n:05d}-of-00003.parquet" for n in range(3)] + [
        f"data/train-{n:05d}-of-00002.parquet" for n in range(2)
    ]
    found = load_dataset("org/x", token=hub.token)
    assert {name: split["a"][:] for name, split in found.items()} == {
        "test": list(range(10)),
        "train": list(range(0, 20, 2)),
    }


def test_a_dictionary_of_streams_is_a_config(hub: Any) -> None:
    ROWS.push_to_hub("org/x", split="old", token=hub.token)
    streams = {"train": ROWS.to_iterable_dataset(), "untold": ROWS.to_iterable_dataset().map(lambda row: row)}
    IterableDatasetDict(streams).push_to_hub("org/x", token=hub.token, num_shards={"train": 2})

    found = load_dataset("org/x", token=hub.token)
    assert {name: split.num_rows for name, split in found.items()} == {"train": 10, "untold": 10}
    assert "data/train-00001-of-00002.parquet" in hub.repos["org/x"].files()


def test_streams_of_different_features_are_refused_before_anything_is_asked(hub: Any) -> None:
    other = Dataset.from_dict({"z": ["x"]}).to_iterable_dataset()
    with pytest.raises(ConfigurationError, match=r"'b'.*'train'"):
        IterableDatasetDict({"train": ROWS.to_iterable_dataset(), "b": other}).push_to_hub("org/x", token=hub.token)
    assert hub.requests == []


def test_a_second_push_of_the_same_sends_nothing(hub: Any) -> None:
    stream = ROWS.to_iterable_dataset().filter(lambda row: row["a"] != 3)
    first = stream.push_to_hub("org/x", token=hub.token)
    hub.forget()
    second = stream.push_to_hub("org/x", token=hub.token)
    assert first.oid == second.oid
    assert not hub.of("upload")
    assert not hub.of("commit")


def test_arguments_have_the_names_and_the_order_that_users_know() -> None:
    of_dataset = list(inspect.signature(Dataset.push_to_hub).parameters)
    assert list(inspect.signature(IterableDataset.push_to_hub).parameters) == of_dataset
    of_dataset.remove("split")
    assert list(inspect.signature(IterableDatasetDict.push_to_hub).parameters) == of_dataset

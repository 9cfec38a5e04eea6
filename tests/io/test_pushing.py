"""Datasets pushed to a repository of the Hub; what comes of the repository is held by `tests/flows/test_hub_push.py`."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ConfigurationError, ManifestError, OfflineError
from datasets_core.load import load_dataset

ROWS = Dataset.from_dict({"a": [1, 2, 3]})


def test_the_split_is_the_datasets_own_or_train(hub: Any) -> None:
    ROWS.push_to_hub("org/x", token=hub.token)
    DatasetDict({"test": ROWS})["test"].push_to_hub("org/x", split="val", token=hub.token)
    Dataset(ROWS.data, split="test").push_to_hub("org/x", token=hub.token)

    assert set(load_dataset("org/x", token=hub.token)) == {"train", "val", "test"}


def test_a_slice_is_pushed_by_the_name_that_it_is_given(hub: Any) -> None:
    ROWS.push_to_hub("org/x", token=hub.token)
    part = load_dataset("org/x", split="train[1:]", token=hub.token)
    with pytest.raises(ConfigurationError, match="split"):
        part.push_to_hub("org/y", token=hub.token)
    part.push_to_hub("org/y", split="train", token=hub.token)
    assert load_dataset("org/y", split="train", token=hub.token)["a"][:] == [2, 3]


@pytest.mark.parametrize(
    "arguments",
    [
        {"num_shards": 2, "max_shard_size": "1MB"},
        {"max_shard_size": "many"},
        {"num_shards": 0},
        {"num_proc": 0},
        {"config_name": "data"},
        {"split": "a-b"},
        {"revision": "0" * 40},
    ],
    ids=str,
)
def test_arguments_are_checked_before_anything_is_asked(hub: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        ROWS.push_to_hub("org/x", token=hub.token, **arguments)
    assert hub.requests == []


def test_splits_of_different_features_are_refused_before_anything_is_asked(hub: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"'b'.*'train'"):
        DatasetDict({"train": ROWS, "b": Dataset.from_dict({"z": ["x"]})}).push_to_hub("org/x", token=hub.token)
    assert hub.requests == []


def test_a_broken_card_is_told_before_anything_is_sent(hub: Any) -> None:
    hub.repo("org/x", {"README.md": "---\nlicense: [\n---\n"})
    with pytest.raises(ManifestError, match=r"README\.md"):
        ROWS.push_to_hub("org/x", token=hub.token)
    assert not hub.of("preupload")


def test_other_features_are_told_before_anything_is_sent(hub: Any) -> None:
    ROWS.push_to_hub("org/x", token=hub.token)
    hub.forget()
    with pytest.raises(ConfigurationError, match="'train'"):
        Dataset.from_dict({"a": ["x"]}).push_to_hub("org/x", split="test", token=hub.token)
    assert not hub.of("preupload")


def test_offline_is_told(hub: Any) -> None:
    from datasets_core import config

    with config.using(offline=True), pytest.raises(OfflineError, match="org/x"):
        ROWS.push_to_hub("org/x", token=hub.token)


def test_arguments_have_the_names_and_the_order_that_users_know() -> None:
    names = ["self", "repo_id", "config_name", "set_default", "split", "data_dir", "commit_message", "commit_description"]
    names += ["private", "token", "revision", "create_pr", "max_shard_size", "num_shards", "embed_external_files", "num_proc"]
    assert list(inspect.signature(Dataset.push_to_hub).parameters) == names
    names.remove("split")
    assert list(inspect.signature(DatasetDict.push_to_hub).parameters) == names

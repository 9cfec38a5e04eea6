"""What is pushed, as values: the arguments of a push are checked before a row is written."""

from __future__ import annotations

from typing import Any

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.publish.push_target import PushTarget, push_target


def test_the_shards_of_the_default_config_stand_in_data() -> None:
    target = push_target("org/name", splits=["train"])

    assert (target.data_dir, target.commit_message, target.revision) == ("data", "Upload dataset", None)
    assert target.pattern("train") == "data/train-*"


def test_the_shards_of_another_config_stand_in_a_folder_of_its_name() -> None:
    assert push_target("org/name", splits=["train"], config_name="en").data_dir == "en"
    assert push_target("org/name", splits=["train"], config_name="en", data_dir="data/en/").data_dir == "data/en"


@pytest.mark.parametrize(
    "arguments",
    [
        {"repo_id": ""},
        {"repo_id": "a/b/c"},
        {"repo_id": "org/-name-"},
        {"repo_id": "org/na me"},
        {"repo_id": "buckets/org/name"},
        {"config_name": "data"},
        {"config_name": "a/b"},
        {"config_name": ""},
        {"splits": []},
        {"splits": ["a-b"]},
        {"splits": ["../train"]},
        {"revision": "a" * 40},
        {"revision": "a b"},
        {"revision": "../a"},
        {"commit_message": " "},
        {"data_dir": "../elsewhere"},
        {"data_dir": "data/.git"},
        {"data_dir": "da*"},
    ],
    ids=str,
)
def test_arguments_that_mean_nothing_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        push_target(**{"repo_id": "org/name", "splits": ["train"], **arguments})


def test_no_token_stands_in_what_a_target_says() -> None:
    assert "hf_secret" not in repr(PushTarget("org/name", token="hf_secret"))

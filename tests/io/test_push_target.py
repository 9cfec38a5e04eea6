"""What is pushed, as values: the arguments of a push are checked before a row is written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.io.push_card import card_writer
from datasets_core.io.push_target import (
    PushedSplit,
    PushTarget,
    RepositoryState,
    ShardLimits,
    push_target,
    same_features,
    shard_limits,
    shards_by_split,
)
from datasets_core.meta.card_sections import LazyCard
from datasets_core.meta.data_files import match


def test_the_shards_of_the_default_config_stand_in_data() -> None:
    target = push_target("org/name", splits=["train"])

    assert (target.data_dir, target.commit_message, target.revision) == ("data", None, None)
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
        {"splits": ["all"]},
        {"splits": ["All"]},
        {"config_name": "."},
        {"config_name": ".."},
        {"config_name": "a\nb"},
        {"config_name": "c[1]"},
        {"config_name": "~"},
        {"config_name": "%2e%2e"},
        {"config_name": "c" * 256},
        {"config_name": 'a"b'},
        {"revision": "a" * 40},
        {"revision": "a b"},
        {"revision": "../a"},
        {"revision": "../../main"},
        {"revision": "a\n"},
        {"revision": "a\u2028b"},
        {"revision": "a\u00a0b"},
        {"data_dir": "a\nb"},
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


@pytest.mark.parametrize(
    "arguments",
    [
        {"repo_id": None},
        {"repo_id": 5},
        {"config_name": 5},
        {"config_name": None},
        {"data_dir": 5},
        {"revision": 5},
        {"token": 5},
        {"commit_message": 5},
        {"commit_description": b"x"},
        {"private": "yes"},
        {"create_pr": "no"},
        {"set_default": 1},
    ],
    ids=str,
)
def test_arguments_of_other_kinds_are_named(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentTypeError, match=next(iter(arguments))):
        push_target(**{"repo_id": "org/name", "splits": ["train"], **arguments})


@pytest.mark.parametrize("name", ["c[1]", "..", "a\nb", "a]", "a*"])
def test_a_config_that_names_no_folder_is_named_itself(name: str) -> None:
    with pytest.raises(ConfigurationError, match="config_name"):
        push_target("org/name", splits=["train"], config_name=name)


@given(st.text(min_size=1, max_size=12))
def test_a_config_that_is_taken_can_be_read_again(name: str) -> None:
    try:
        target = push_target("org/name", splits=["train"], config_name=name)
    except ConfigurationError:
        return  # it is refused, which the test above looks at
    texts = card_writer(target, None)(RepositoryState(None, None, []), [PushedSplit("train", 1, 1, 1, 0)])

    (entry,) = LazyCard(texts.readme, path="README.md").configs
    ((pattern,),) = (entry.data_files or {}).values()
    assert (entry.name, match(pattern, [f"{target.data_dir}/train-0"])) == (name, [f"{target.data_dir}/train-0"])


def test_no_token_stands_in_what_a_target_says() -> None:
    assert "hf_secret" not in repr(PushTarget("org/name", token="hf_secret"))


# Splits of one config have the same features.

NUMBERS, TEXTS = Features({"a": Value("int64")}), Features({"a": Value("string")})
NOTHING, OTHERS = Features({"a": Value("null")}), Features({"b": Value("null")})


def test_features_of_all_splits_are_one() -> None:
    assert same_features({"train": NUMBERS, "test": Features(NUMBERS)}) == NUMBERS


def test_splits_that_differ_are_named() -> None:
    with pytest.raises(ConfigurationError, match=r"'test'.*string.*'train'.*int64"):
        same_features({"train": NUMBERS, "test": TEXTS})


def test_a_split_without_rows_takes_the_types_of_the_others() -> None:
    assert same_features({"empty": NOTHING, "train": NUMBERS}, ["empty"]) == NUMBERS
    assert same_features({"empty": NOTHING}, ["empty"]) == NOTHING
    with pytest.raises(ConfigurationError, match="'empty'"):
        same_features({"empty": OTHERS, "train": NUMBERS}, ["empty"])


# How many files rows make: as many as were asked for, or as their size asks for.


@pytest.mark.parametrize(
    ("limits", "num_bytes", "num_rows", "count"),
    [
        (ShardLimits(), 0, 0, 1),
        (ShardLimits(), 499_999_999, 10, 1),
        (ShardLimits(), 1_700_000_000, 10, 4),
        (ShardLimits(max_bytes=10), 95, 100, 10),
        (ShardLimits(max_bytes=10), 95, 3, 3),
        (ShardLimits(num_shards=5), 10**12, 2, 5),
        (ShardLimits(num_proc=4), 10, 100, 4),
        (ShardLimits(num_proc=4), 10, 2, 2),
    ],
)
def test_rows_make_so_many_files(limits: ShardLimits, num_bytes: int, num_rows: int, count: int) -> None:
    assert limits.count(num_bytes, num_rows) == count


def test_the_size_of_a_file_is_a_setting() -> None:
    with config.using(max_shard_bytes=100):
        assert ShardLimits().count(350, 1000) == 4


@pytest.mark.parametrize(
    "arguments",
    [(10, 2, None), (None, 0, None), (None, True, None), (None, 1.5, None), (None, "2", None), (None, None, 0)],
)
def test_what_means_nothing_is_refused(arguments: tuple[Any, Any, Any]) -> None:
    with pytest.raises(ConfigurationError):
        shard_limits(*arguments)


def test_numbers_of_numpy_are_numbers() -> None:
    assert shard_limits(None, np.int64(3), None).num_shards == 3


def test_numbers_by_split_are_checked() -> None:
    assert shards_by_split(None, ["train"]) == {}
    assert shards_by_split({"train": 2}, ["train", "test"]) == {"train": 2}
    with pytest.raises(ConfigurationError, match=r"num_shards is 3.*'train', 'test'"):
        shards_by_split(3, ["train", "test"])
    with pytest.raises(ConfigurationError, match="'tran'"):
        shards_by_split({"tran": 2}, ["train"])

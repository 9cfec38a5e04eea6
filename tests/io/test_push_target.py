"""What is pushed, as values: the arguments of a push are checked before a row is written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.io.push_card import card_writer
from datasets_core.io.push_target import PushedSplit, PushTarget, RepositoryState, push_target
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

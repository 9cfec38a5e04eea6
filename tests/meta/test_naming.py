import json
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.meta.reference import camelcase_to_snakecase, snakecase_to_camelcase
from datasets_core.meta.split_info import shard_file_name

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_versions.json").read_text(encoding="utf-8"))

# as `datasets` 5.2.0 gives them
SNAKES = {
    "CamelCase": "camel_case",
    "ABCTest": "abc_test",
    "HTTPServer2": "http_server2",
    "a_b": "a_b",
    "Squad_V2": "squad_v2",
    "ImageNetV2": "image_net_v2",
    "iPhone": "i_phone",
    "Abc1Def": "abc1_def",
}
CAMELS = {"snake_case": "SnakeCase", "a__b": "A__B", "_x": "X", "ab1_c": "Ab1C", "a_": "A", "SQuAD": "Squad"}


@pytest.mark.parametrize(("camel", "snake"), SNAKES.items())
def test_class_names_become_dataset_names(camel: str, snake: str) -> None:
    assert camelcase_to_snakecase(camel) == snake


@pytest.mark.parametrize(("snake", "camel"), CAMELS.items())
def test_dataset_names_become_class_names(snake: str, camel: str) -> None:
    assert snakecase_to_camelcase(snake) == camel


@pytest.mark.parametrize("case", GOLDEN["filename_digits"], ids=str)
def test_numbers_in_file_names_have_the_golden_digits(case: dict[str, Any]) -> None:
    found = shard_file_name("ds", "train", case["shard_index"], case["num_shards"], ".arrow")
    assert found == case["expected"].replace(".tfrecord", "") + ".arrow"


@pytest.mark.parametrize(
    "arguments", [("a/b", "train", 0, 1), ("a", "../x", 0, 1), ("a", "train", 1, 1), ("a", "train", -1, 1), ("", "x", 0, 1)]
)
def test_names_that_would_leave_the_folder_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigurationError):
        shard_file_name(*arguments)

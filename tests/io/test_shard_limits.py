"""How many files rows make: as many as were asked for, or as their size asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from datasets_core import config
from datasets_core.errors import ConfigurationError
from datasets_core.io.push_target import ShardLimits, shard_limits, shards_by_split


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

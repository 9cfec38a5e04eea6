"""Datasets that were built, pushed as they stand on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.errors import DatasetNotFoundError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
from datasets_core.meta.info import DatasetInfo


class Numbers(GeneratorBasedBuilder):
    """Some numbers, in two configs."""

    BUILDER_CONFIGS = [BuilderConfig(name="small"), BuilderConfig(name="large")]  # noqa: RUF012

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"a": Value("int64")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator(name=name, gen_kwargs={"count": count}) for name, count in (("train", 9), ("test", 2))]

    def _generate_examples(self, count: int) -> Iterator[tuple[int, dict[str, int]]]:
        for number in range(count):
            yield number, {"a": number}


def test_a_built_dataset_is_pushed_as_its_config(hub: Any, tmp_path: Path) -> None:
    builder = Numbers(config_name="small", cache_dir=str(tmp_path))
    builder.download_and_prepare()
    builder.push_to_hub("org/x", token=hub.token, num_shards={"train": 2})
    builder.push_to_hub("org/x", "other", token=hub.token)

    found = load_dataset("org/x", "small", token=hub.token)
    assert {name: split["a"][:] for name, split in found.items()} == {"train": list(range(9)), "test": [0, 1]}
    assert "small/train-00001-of-00002.parquet" in hub.repos["org/x"].files()
    assert load_dataset("org/x", "other", split="test", token=hub.token).num_rows == 2


def test_what_is_not_built_is_told(hub: Any, tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFoundError, match="download_and_prepare"):
        Numbers(config_name="small", cache_dir=str(tmp_path)).push_to_hub("org/x", token=hub.token)
    assert hub.requests == []

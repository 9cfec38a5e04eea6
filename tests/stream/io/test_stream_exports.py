"""Streams and the files that they are written to."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.stream.iterable import IterableDataset


@pytest.mark.parametrize("shape", ["plain", "filtered", "shuffled", "batched", "dicts", "skipped"])
def test_what_is_written_is_what_is_read(shape: str, tmp_path: Path) -> None:
    stream = Dataset.from_dict({"a": list(range(3000))}).to_iterable_dataset()
    stream = {
        "plain": lambda: stream,
        "filtered": lambda: stream.filter(lambda row: row["a"] % 7 == 0),
        "shuffled": lambda: stream.shuffle(seed=3),
        "batched": lambda: stream.batch(4),
        "dicts": lambda: stream.map(lambda row: {"b": {"c": [row["a"]]}}),
        "skipped": lambda: stream.skip(2990).take(3),
    }[shape]()
    rows = list(stream)
    stream.to_parquet(tmp_path / "a.parquet")
    stream.to_json(tmp_path / "a.jsonl")
    stream.save_to_disk(tmp_path / "saved")
    assert Dataset.from_parquet(str(tmp_path / "a.parquet")).to_list() == rows
    assert Dataset.from_json(str(tmp_path / "a.jsonl")).to_list() == rows
    assert Dataset.load_from_disk(str(tmp_path / "saved")).to_list() == rows


@pytest.mark.parametrize("method", ["to_parquet", "to_json", "to_csv"])
def test_arguments_stand_where_users_know_them(method: str) -> None:
    names = list(inspect.signature(getattr(IterableDataset, method)).parameters)
    assert names[:4] == ["self", "path_or_buf", "batch_size", "storage_options"]

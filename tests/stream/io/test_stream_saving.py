"""Streams saved to folders, and opened as datasets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ConfigurationError, FileInPlaceError
from datasets_core.load import load_from_disk
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_dict import IterableDatasetDict

ROWS: dict[str, list[Any]] = {"a": list(range(5000)), "t": [f"text {number}" for number in range(5000)]}


@pytest.mark.parametrize(("options", "count"), [({}, 1), ({"max_shard_size": "30KB"}, 3), ({"num_shards": 4}, 4)])
def test_a_saved_stream_is_a_dataset(options: dict[str, str | int], count: int, tmp_path: Path) -> None:
    stream = IterableDataset.from_dict(ROWS)
    stream.save_to_disk(tmp_path / "saved", **options)  # type: ignore[arg-type]
    loaded = load_from_disk(str(tmp_path / "saved"))
    assert isinstance(loaded, Dataset)
    assert loaded[:] == ROWS and loaded.features == stream.features
    assert len([name for name in os.listdir(tmp_path / "saved") if name.endswith(".arrow")]) == count
    assert os.listdir(tmp_path) == ["saved"]


def test_a_save_that_broke_goes_on_file_by_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_BREAKS", "yes")
    monkeypatch.setenv("TEST_CALLS", "0")
    target = tmp_path / "saved"
    with pytest.raises(ValueError, match="4900"):
        IterableDataset.from_dict(ROWS).map(_see).save_to_disk(target, max_shard_size="20KB")
    assert not target.exists()
    monkeypatch.setenv("TEST_BREAKS", "no")
    monkeypatch.setenv("TEST_CALLS", "0")
    IterableDataset.from_dict(ROWS).map(_see).save_to_disk(target, max_shard_size="20KB")
    assert int(os.environ["TEST_CALLS"]) < 4000
    assert load_from_disk(str(target))[:] == ROWS


def _see(row: dict[str, int]) -> dict[str, int]:
    os.environ["TEST_CALLS"] = str(int(os.environ["TEST_CALLS"]) + 1)
    if row["a"] == 4900 and os.environ["TEST_BREAKS"] == "yes":
        raise ValueError("4900")
    return row


def test_what_stands_there_is_replaced_as_a_whole(tmp_path: Path) -> None:
    IterableDataset.from_dict(ROWS).save_to_disk(tmp_path / "saved", num_shards=4)
    IterableDataset.from_dict({"a": [7]}).save_to_disk(tmp_path / "saved")
    assert load_from_disk(str(tmp_path / "saved"))[:] == {"a": [7]}


def test_wrong_places_and_sizes_are_told(tmp_path: Path) -> None:
    stream = IterableDataset.from_dict({"a": [7]})
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FileInPlaceError, match="file"):
        stream.save_to_disk(tmp_path / "file")
    with pytest.raises(ConfigurationError, match="both given"):
        stream.save_to_disk(tmp_path / "saved", max_shard_size=5, num_shards=2)


def test_splits_are_saved_as_a_dictionary(tmp_path: Path) -> None:
    splits = IterableDatasetDict({"train": IterableDataset.from_dict(ROWS), "test": IterableDataset.from_dict({"b": ["x"]})})
    for options, count in [({}, 1), ({"num_shards": {"train": 3}}, 3), ({"max_shard_size": "30KB"}, 3)]:
        splits.save_to_disk(tmp_path / "saved", **options)  # type: ignore[arg-type]
        loaded = load_from_disk(str(tmp_path / "saved"))
        assert isinstance(loaded, DatasetDict) and list(loaded) == ["train", "test"]
        assert loaded["train"][:] == ROWS and loaded["test"][:] == {"b": ["x"]}
        assert len([name for name in os.listdir(tmp_path / "saved" / "train") if name.endswith(".arrow")]) == count
        assert os.listdir(tmp_path) == ["saved"]
    Dataset.from_dict({"a": [7]}).save_to_disk(str(tmp_path / "lone"))
    splits.save_to_disk(tmp_path / "lone")
    assert isinstance(load_from_disk(str(tmp_path / "lone")), DatasetDict)


def test_a_save_of_splits_goes_on_in_the_split_that_broke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def splits() -> IterableDatasetDict:
        first = IterableDataset.from_dict({"a": list(range(3000))}).map(_see)
        return IterableDatasetDict({"train": first, "test": IterableDataset.from_dict(ROWS).map(_see)})

    monkeypatch.setenv("TEST_BREAKS", "yes")
    monkeypatch.setenv("TEST_CALLS", "0")
    with pytest.raises(ValueError, match="4900"):
        splits().save_to_disk(tmp_path / "saved", max_shard_size="20KB")
    assert not (tmp_path / "saved").exists()
    monkeypatch.setenv("TEST_BREAKS", "no")
    monkeypatch.setenv("TEST_CALLS", "0")
    splits().save_to_disk(tmp_path / "saved", max_shard_size="20KB")
    assert int(os.environ["TEST_CALLS"]) < 5000  # of 8000, with those that tell the types
    splits().save_to_disk(tmp_path / "whole", max_shard_size="20KB")
    for split in ("train", "test"):
        names = sorted(name for name in os.listdir(tmp_path / "whole" / split) if name.endswith(".arrow"))
        assert names == sorted(name for name in os.listdir(tmp_path / "saved" / split) if name.endswith(".arrow"))
        for name in names:
            assert (tmp_path / "saved" / split / name).read_bytes() == (tmp_path / "whole" / split / name).read_bytes()
    assert load_from_disk(str(tmp_path / "saved"))["test"][:] == ROWS
    assert sorted(os.listdir(tmp_path)) == ["saved", "whole"]


def test_splits_that_cannot_be_folders_are_refused(tmp_path: Path) -> None:
    stream = IterableDataset.from_dict({"a": [7]})
    for name in ("", "..", "a/b"):
        with pytest.raises(ConfigurationError, match="cannot name a folder"):
            IterableDatasetDict({name: stream}).save_to_disk(tmp_path / "saved")
    with pytest.raises(ConfigurationError, match="'tran'"):
        IterableDatasetDict({"train": stream}).save_to_disk(tmp_path / "saved", num_shards={"tran": 2})
    with pytest.raises(ConfigurationError, match="both given"):
        IterableDatasetDict({"train": stream}).save_to_disk(tmp_path / "saved", 5, {"train": 2})
    assert not os.listdir(tmp_path)

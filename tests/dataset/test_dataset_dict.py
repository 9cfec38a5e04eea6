"""A dictionary of datasets has every method that users of Hugging Face `datasets` know, with its parameters in their order."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict, with_name_of
from datasets_core.errors import CellCastError, ConfigurationError, FileNotFoundDatasetsError, UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel

# From the public interface of `datasets` 5.2.0: method → its parameters.
METHODS = json.loads((Path(__file__).parent / "golden" / "methods.json").read_text(encoding="utf-8"))["DatasetDict"]
NOT_YET = {"push_to_hub"}  # it comes with the Hub


@pytest.mark.parametrize("name", sorted(set(METHODS) - NOT_YET))
def test_a_method_takes_the_known_parameters_in_their_order(name: str) -> None:
    known = [parameter.lstrip("*") for parameter in METHODS[name].split()]
    found = [parameter for parameter in inspect.signature(getattr(DatasetDict, name)).parameters if parameter != "self"]
    assert found[: len(known)] == known


PUBLIC = [name for name in dir(DatasetDict) if not name.startswith("_") and name not in dir(dict)]


@pytest.mark.parametrize("name", sorted({*PUBLIC, *METHODS} - NOT_YET))
def test_a_method_says_what_it_does_with_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(DatasetDict, name)) or "")


@pytest.fixture
def splits() -> DatasetDict:
    """Two splits of two columns."""
    train = Dataset.from_dict({"a": [1, 2], "b": ["x", "y"]}, split="train")
    return DatasetDict({"train": train, "test": train.select([1])})


def test_it_pickles(splits: DatasetDict) -> None:
    assert pickle.loads(pickle.dumps(splits))["test"].to_list() == [{"a": 2, "b": "y"}]


def test_what_is_saved_is_what_is_loaded(splits: DatasetDict, tmp_path: Path) -> None:
    splits.save_to_disk(tmp_path / "saved", num_shards={"train": 2, "test": 1})

    again = DatasetDict.load_from_disk(tmp_path / "saved")

    assert {name: dataset.to_list() for name, dataset in again.items()} == {
        "train": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
        "test": [{"a": 2, "b": "y"}],
    }
    with pytest.raises(FileNotFoundDatasetsError):
        DatasetDict.load_from_disk(tmp_path / "saved" / "train")
    with pytest.raises(ConfigurationError, match="num_shards"):
        splits.save_to_disk(tmp_path / "saved", num_shards=2)  # type: ignore[arg-type]


@pytest.mark.parametrize(("kind", "text"), [("csv", "a\n1\n2\n"), ("json", '{"a": 1}\n{"a": 2}\n')])
def test_files_are_read_by_split(tmp_path: Path, kind: str, text: str) -> None:
    path = tmp_path / f"rows.{kind}"
    path.write_text(text)
    read = getattr(DatasetDict, f"from_{kind}")

    splits = read({"train": str(path), "test": [str(path)]}, cache_dir=str(tmp_path))

    assert {name: (dataset.split, dataset.to_list()) for name, dataset in splits.items()} == {
        "train": ("train", [{"a": 1}, {"a": 2}]),
        "test": ("test", [{"a": 1}, {"a": 2}]),
    }
    assert list(read(str(path), cache_dir=str(tmp_path))) == ["train"]


def test_lines_and_columns_are_read_by_split(tmp_path: Path) -> None:
    lines, table = tmp_path / "a.txt", tmp_path / "a.parquet"
    lines.write_text("x\ny\n")
    Dataset.from_dict({"a": [1], "b": [2]}).to_parquet(str(table))

    assert DatasetDict.from_text({"test": str(lines)}, cache_dir=str(tmp_path))["test"]["text"][:] == ["x", "y"]
    assert DatasetDict.from_parquet({"test": str(table)}, cache_dir=str(tmp_path), columns=["b"])["test"][0] == {"b": 2}


# Columns and formats of every split.


def test_columns_change_in_every_split(splits: DatasetDict) -> None:
    assert splits.select_columns("b")["test"][0] == {"b": "y"}
    assert splits.remove_columns(["b"])["train"][0] == {"a": 1}
    assert splits.rename_column("a", "c").column_names["test"] == ["c", "b"]
    assert splits.rename_columns({"a": "b", "b": "a"})["train"][0] == {"b": 1, "a": "x"}


def test_formats_hold_for_every_split(splits: DatasetDict) -> None:
    assert isinstance(splits.with_format("arrow")["test"][0], pa.Table)
    with splits.formatted_as("arrow"):
        assert isinstance(splits["train"][0], pa.Table)
    assert splits["train"][0] == {"a": 1, "b": "x"}
    splits.set_format("arrow")
    assert isinstance(splits["test"][0], pa.Table)
    splits.reset_format()
    assert splits["test"][0] == {"a": 2, "b": "y"}


def test_a_format_that_fails_for_one_split_changes_none(splits: DatasetDict) -> None:
    splits["test"] = splits["test"].remove_columns("a")

    with pytest.raises(UnknownColumnError):
        splits.set_format("arrow", columns=["a"])

    assert splits["train"].format["type"] is None


def test_kinds_change_in_every_split(splits: DatasetDict) -> None:
    assert splits.cast_column("a", Value("string"))["test"][0] == {"a": "2", "b": "y"}
    assert splits.cast(Features({"b": Value("string"), "a": Value("float32")}))["train"][0] == {"b": "x", "a": 1.0}
    encoded = splits.class_encode_column("b")
    assert [encoded[name].features["b"] for name in encoded] == [ClassLabel(names=["x", "y"]), ClassLabel(names=["y"])]
    labels = splits.cast_column("b", ClassLabel(names=["x", "y"]))
    assert labels.align_labels_with_mapping({"y": 0, "x": 1}, "b").unique("b") == {"train": [1, 0], "test": [0]}
    nested = DatasetDict({"train": Dataset.from_dict({"s": [{"x": {"y": 1}}]})})
    assert (nested.flatten()["train"][0], nested.flatten(max_depth=2)["train"][0]) == ({"s.x.y": 1}, {"s.x": {"y": 1}})


def test_an_error_says_in_which_split_it_arose(splits: DatasetDict) -> None:
    splits["test"] = Dataset.from_dict({"a": ["p"], "b": ["q"]})

    with pytest.raises(CellCastError) as caught:
        splits.cast_column("a", Value("int8"))

    assert caught.value.__notes__ == ["The error occurred in split 'test'."]


def test_a_transform_holds_for_every_split(splits: DatasetDict) -> None:
    shown = splits.with_transform(lambda batch: {"n": [value * 10 for value in batch["a"]]})
    assert (shown["train"][1], shown["test"][0], splits["test"][0]) == ({"n": 20}, {"n": 20}, {"a": 2, "b": "y"})

    splits.set_transform(lambda batch: {"n": batch["a"]}, columns=["a"])
    assert splits["test"][0] == {"n": 2}


# Rows of every split.


@pytest.fixture
def splits_group_rows() -> DatasetDict:
    """Two splits of one column."""
    return DatasetDict({"train": Dataset.from_dict({"a": [3, 1, 2]}), "test": Dataset.from_dict({"a": [5, 4]})})


def _values(splits_group_rows: DatasetDict, column: str = "a") -> dict[str, list[Any]]:
    return {name: splits_group_rows[name][column][:] for name in splits_group_rows}


def test_a_function_maps_every_split_and_may_know_its_name(splits_group_rows: DatasetDict) -> None:
    assert _values(splits_group_rows.map(lambda row: {"a": row["a"] + 1})) == {"train": [4, 2, 3], "test": [6, 5]}
    named = splits_group_rows.map(lambda row, i, split: {"s": f"{split}{i}"}, with_indices=True, with_split=True)
    assert _values(named, "s") == {"train": ["train0", "train1", "train2"], "test": ["test0", "test1"]}


def test_coroutines_may_know_the_split_too() -> None:
    async def later(row: int, split: str) -> tuple[int, str]:
        return row, split

    assert asyncio.run(with_name_of(later, "test")(3)) == (3, "test")


def test_rows_of_every_split_are_filtered_and_sorted(splits_group_rows: DatasetDict) -> None:
    assert _values(splits_group_rows.filter(lambda row: row["a"] % 2 == 1)) == {"train": [3, 1], "test": [5]}
    assert _values(splits_group_rows.sort("a", reverse=True)) == {"train": [3, 2, 1], "test": [5, 4]}


def test_shuffles_take_one_seed_or_one_for_each_split(splits_group_rows: DatasetDict) -> None:
    wanted = {
        "train": splits_group_rows["train"].shuffle(seed=1)["a"][:],
        "test": splits_group_rows["test"].shuffle(seed=1)["a"][:],
    }

    assert _values(splits_group_rows.shuffle(seed=1)) == _values(splits_group_rows.shuffle(seeds=1)) == wanted
    assert _values(splits_group_rows.shuffle(seeds={"train": 1, "test": 1})) == wanted
    assert (
        _values(splits_group_rows.shuffle(generators={name: np.random.default_rng(1) for name in splits_group_rows})) == wanted
    )
    with pytest.raises(ConfigurationError, match="seed and seeds"):
        splits_group_rows.shuffle(seed=1, seeds={"train": 1, "test": 2})
    with pytest.raises(ConfigurationError, match="no entry for split 'test'"):
        splits_group_rows.shuffle(seeds={"train": 1})


def test_selections_are_written_out_and_results_cleaned_up(splits_group_rows: DatasetDict) -> None:
    flat = splits_group_rows.sort("a").flatten_indices()

    assert _values(flat) == {"train": [1, 2, 3], "test": [4, 5]}
    assert splits_group_rows.cleanup_cache_files() == {"train": 0, "test": 0}

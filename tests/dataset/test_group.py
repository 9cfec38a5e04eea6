"""A dictionary of datasets has every method that users of Hugging Face `datasets` know, with its parameters in their order."""

from __future__ import annotations

import inspect
import json
import pickle
from pathlib import Path

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ConfigurationError, FileNotFoundDatasetsError

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

"""Saved folders and exported files, exchanged with Hugging Face `datasets` both ways."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.schema import Features
from datasets_core.load import load_from_disk

pytestmark = pytest.mark.optional("datasets")

Peer = Callable[..., Any]


@pytest.fixture(scope="module")
def whole(every_kind: ModuleType) -> Dataset:
    """The table with a column of every kind."""
    return Dataset.from_list(every_kind.rows(), features=Features.from_dict(every_kind.FORM), split="train")


def _of_a_file(dataset: Dataset, folder: Path) -> Dataset:
    dataset.save_to_disk(folder)
    return Dataset.load_from_disk(folder)


@pytest.mark.parametrize("way", ["written", "copied", "shards", "beside other files"])
def test_the_peer_opens_a_folder_that_we_saved(
    way: str, whole: Dataset, exchange: ModuleType, peer: Peer, tmp_path: Path
) -> None:
    dataset = _of_a_file(whole, tmp_path / "first") if way == "copied" else whole
    if way == "beside other files":
        (tmp_path / "set").mkdir()
        (tmp_path / "set" / "README.md").write_text("mine")
    for _ in range(2):  # over an older copy too
        formatted = dataset.with_format("arrow", columns=["string"])
        formatted.save_to_disk(tmp_path / "set", num_shards=3 if way == "shards" else None)

    theirs = peer("saved", folder=str(tmp_path / "set"))

    assert theirs[""] == exchange.described(whole)
    assert theirs["format"] == {"type": "arrow", "columns": ["string"], "output_all_columns": False}


def test_the_peer_opens_a_dictionary_that_we_saved(whole: Dataset, exchange: ModuleType, peer: Peer, tmp_path: Path) -> None:
    DatasetDict({"train": whole, "none": whole.select([])}).save_to_disk(tmp_path)
    theirs = peer("saved", folder=str(tmp_path))
    assert theirs["train"] == exchange.described(whole)
    assert theirs["none"]["rows"] == []


def test_folders_that_the_peer_saved_open_here(exchange: ModuleType, peer: Peer, tmp_path: Path) -> None:
    theirs = peer("save", folder=str(tmp_path))

    one, group = load_from_disk(tmp_path / "one"), load_from_disk(tmp_path / "group")

    assert isinstance(one, Dataset)
    assert (one.split, one.format["columns"]) == ("train", ["s"])
    assert group["train"]._fingerprint == theirs["fingerprint"]
    described = {"rows": theirs["rows"], "features": theirs["features"]}
    assert exchange.described(one.with_format(None)) == exchange.described(group["train"]) == described
    assert group.num_rows == {"train": 3, "test": 1}


def test_the_peer_writes_the_same_text(whole: Dataset, peer: Peer, tmp_path: Path) -> None:
    """But for arrays, of which it writes the rows as rows of the table."""
    columns = [name for name in whole.column_names if not name.startswith("Array") and name != "uint64"]
    whole.select_columns(columns).to_parquet(tmp_path / "a.parquet")
    theirs = peer("texts", file=str(tmp_path / "a.parquet"))

    read = Dataset.from_parquet(str(tmp_path / "a.parquet"), cache_dir=tmp_path / "cache")
    ours = {
        f"{method} {name}": _text(read.select_columns(name), method) for method in ("to_csv", "to_json") for name in columns
    }

    assert {name for name in ours if ours[name] != theirs[name]} == set()


def _text(dataset: Dataset, method: str) -> Any:
    file = io.BytesIO()
    try:
        return [getattr(dataset, method)(file), file.getvalue().hex()]
    except DatasetsCoreError:
        return None


@pytest.mark.parametrize("kind", ["parquet", "json", "csv"])
def test_the_peer_reads_the_files_that_we_wrote(kind: str, exchange: ModuleType, peer: Peer, tmp_path: Path) -> None:
    dataset = Dataset.from_dict(
        {"i": [1, 2, 3], "f": [0.5, 1.25, -3.0], "s": ["x", "ü,\"'", "line\nline"], "b": [True, False, True]}
    )
    getattr(dataset, f"to_{kind}")(tmp_path / f"a.{kind}")
    theirs = peer("load", kind=kind, files=[str(tmp_path / f"a.{kind}")])
    assert theirs["rows"] == exchange.described(dataset)["rows"]

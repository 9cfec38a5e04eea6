"""Staged files put in their place, file by file where a folder cannot be exchanged."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import (
    ConfigurationError,
    DamagedShardError,
    FileInPlaceError,
    FileNotFoundDatasetsError,
    ManifestError,
)
from datasets_core.features.base import Value
from datasets_core.features.formats.formats import RowFormat
from datasets_core.features.schema import Features
from datasets_core.io import saved_folder
from datasets_core.io.saved_folder import (
    Saved,
    SavedShard,
    is_saved_dataset,
    is_saved_group,
    open_saved,
    read_group,
    read_saved,
)
from datasets_core.load import load_from_disk
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.writer import write_stream


def _some(count: int) -> Dataset:
    return Dataset.from_dict({"a": list(range(count))})


def test_names_in_use_are_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    _some(3).save_to_disk(tmp_path)
    first = {path.name: path.stat().st_ino for path in tmp_path.glob("*.arrow")}
    _some(4).save_to_disk(tmp_path)
    second = {path.name for path in tmp_path.glob("*.arrow")}
    assert len(second) == len(first) == 1
    assert not second & set(first)


class _Refusing(saved_folder._Folder):
    """A folder that takes no file of the name, once."""

    refused = ""

    def write(self, name: str, content: bytes) -> None:
        if os.path.basename(name) == self.refused:
            raise OSError(28, "No space left on device", name)
        super().write(name, content)


@pytest.mark.parametrize("refused", ["state.json", "dataset_dict.json"])
def test_a_commit_that_fails_leaves_the_old_files_alone(refused: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "README.md").write_text("mine")
    saved: Any = _some(3) if refused == "state.json" else DatasetDict({"x": _some(3)})
    saved.save_to_disk(tmp_path)
    before = sorted(map(str, tmp_path.rglob("*")))
    monkeypatch.setattr(saved_folder, "_Folder", _Refusing)
    monkeypatch.setattr(_Refusing, "refused", refused)
    with pytest.raises(OSError, match="No space"):
        saved.save_to_disk(tmp_path)
    assert sorted(map(str, tmp_path.rglob("*"))) == before
    assert load_from_disk(tmp_path).num_rows == saved.num_rows


def test_results_and_other_datasets_below_the_folder_stay(tmp_path: Path) -> None:
    for name in ("cache-ab12", "notes"):
        _some(2).save_to_disk(tmp_path / name)
    for _ in range(2):
        _some(3).save_to_disk(tmp_path)
        DatasetDict({"x": _some(3)}).save_to_disk(tmp_path)
    for name in ("cache-ab12", "notes"):
        assert load_from_disk(tmp_path / name).num_rows == 2


def test_splits_that_are_gone_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    DatasetDict({"x": _some(3), "y": _some(2)}).save_to_disk(tmp_path)
    DatasetDict({"y": _some(4)}).save_to_disk(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["README.md", "dataset_dict.json", "y"]
    assert load_from_disk(tmp_path).num_rows == {"y": 4}


def test_a_built_dataset_is_refused_and_an_odd_description_is_not(tmp_path: Path) -> None:
    (tmp_path / "dataset_info.json").write_text("no json")
    saved_folder.refuse_taken(str(tmp_path))
    (tmp_path / "dataset_info.json").write_text('{"manifest": {}}')
    with pytest.raises(ConfigurationError, match="another folder"):
        saved_folder.refuse_taken(str(tmp_path))


def test_a_file_in_the_place_of_the_folder_is_named_and_stays(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    for saved in (_some(3), DatasetDict({"x": _some(3)})):
        with pytest.raises(FileInPlaceError, match=r"taken is a file, .*\. Pass another path"):
            saved.save_to_disk(tmp_path / "taken")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("taken", "mine")]


# What the JSON files of a saved dataset say, and what they may not.

_INFO = DatasetInfo(features=Features({"a": Value("int64")}), description="Rows.")


def _saved(**changes: Any) -> Saved:
    shards = (SavedShard("data-00000-of-00001.arrow", 1200, (3, 3, 1)),)
    return Saved(**{"info": _INFO, "shards": shards, "fingerprint": "ab", "split": "train", **changes})


def test_what_is_written_is_what_is_read() -> None:
    saved = _saved(format=RowFormat("arrow", ("a",), True, {"x": 1}))
    state, description = json.loads(json.dumps([saved.state(), saved.description()]))
    assert Saved.parse(state, description, path="here") == saved


def test_a_state_of_the_other_library_is_read_without_sizes() -> None:
    state = {"_data_files": [{"filename": "dataset.arrow"}], "_fingerprint": "x", "_format_type": None, "_split": None}
    assert Saved.parse(state, {}, path="here").shards == (SavedShard("dataset.arrow"),)


@pytest.mark.parametrize(
    "state",
    [
        [],
        {},
        {"_data_files": [{"filename": "/etc/passwd"}]},
        {"_data_files": [{"filename": "a/../../b"}]},
        {"_data_files": [{"filename": 7}]},
        {"_data_files": [{}]},
        {"_data_files": [{"filename": "a", "size": 10, "batches": [[-1, 1]]}]},
        {"_data_files": [], "_format_kwargs": 3},
    ],
)
def test_a_state_that_means_nothing_is_named(state: Any) -> None:
    with pytest.raises(ManifestError) as caught:
        Saved.parse(state, {}, path="here")
    assert str(caught.value.file).endswith("state.json")


def _written(folder: Path, rows: list[int], **record: Any) -> Saved:
    schema = pa.schema({"a": pa.int64()})
    size, batches, _ = write_stream(str(folder / "d.arrow"), schema, [pa.record_batch({"a": pa.array(rows, pa.int64())})])
    return _saved(shards=(SavedShard("d.arrow", **{"size": size, "batches": tuple(batches), **record}),))


def test_rows_are_opened_with_and_without_a_record(tmp_path: Path) -> None:
    for record in ({}, {"size": None, "batches": None}):
        table, index = open_saved(str(tmp_path), _written(tmp_path, [1, 2], **record))
        assert (table.to_table().to_pydict(), index) == ({"a": [1, 2]}, None)


def test_a_record_of_other_rows_is_damage(tmp_path: Path) -> None:
    saved = _written(tmp_path, [1, 2], batches=(7,))
    with pytest.raises(DamagedShardError, match="expected 7"):
        open_saved(str(tmp_path), saved)[0].to_table()


def test_no_rows_and_no_files_still_have_columns(tmp_path: Path) -> None:
    table, _ = open_saved(str(tmp_path), _saved(shards=()))
    assert (table.num_rows, table.schema.names) == (0, ["a"])


def test_row_numbers_that_old_versions_wrote_are_followed(tmp_path: Path) -> None:
    saved = _written(tmp_path, [10, 20, 30])
    write_stream(
        str(tmp_path / "i.arrow"), pa.schema({"i": pa.uint64()}), [pa.record_batch({"i": pa.array([2, 0], pa.uint64())})]
    )
    _, index = open_saved(str(tmp_path), _saved(shards=saved.shards, index_files=("i.arrow",)))
    assert index is not None
    assert index.column(0).to_pylist() == [2, 0]


def test_folders_are_told_apart(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert not is_saved_dataset(folder)
    assert not is_saved_group(folder)
    with pytest.raises(FileNotFoundDatasetsError):
        read_saved(folder)
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["../x"]}')
    assert is_saved_group(folder)
    with pytest.raises(ManifestError, match="list of splits"):
        read_group(folder)


def test_the_list_of_splits_counts_where_the_splits_themselves_are_older(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    new = _written(tmp_path / "x", [1, 2])
    (tmp_path / "x" / "state.json").write_text(json.dumps(_saved(shards=()).state()))
    (tmp_path / "x" / "dataset_info.json").write_text("{}")
    states = {"x": new.state() | {"_info": new.description()}}
    (tmp_path / "dataset_dict.json").write_text(json.dumps({"splits": ["x"], "_states": states}))
    assert read_group(str(tmp_path))["x"] == new
    (tmp_path / "x" / "d.arrow").unlink()
    assert read_group(str(tmp_path))["x"].shards == ()

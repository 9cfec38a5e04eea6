"""Staged files put in their place, file by file where a folder cannot be exchanged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import ConfigurationError, FileInPlaceError
from datasets_core.io import saved_folder
from datasets_core.load import load_from_disk


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
        with pytest.raises(FileInPlaceError, match=r"taken is a file, .*\. Give a folder"):
            saved.save_to_disk(tmp_path / "taken")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("taken", "mine")]

"""Rows handed over: that the methods of a dataset lead where they should."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import FileInPlaceError, MissingDependencyError

_ROWS = Dataset.from_dict({"a": [1, 2, 3], "b": ["x", None, "z"]})


def test_python_values_come_whole_or_in_batches() -> None:
    shown = _ROWS.with_format("arrow", columns=["a"])
    assert shown.to_dict() == {"a": [1, 2, 3], "b": ["x", None, "z"]}
    assert shown.to_list()[1] == {"a": 2, "b": None}
    assert list(_ROWS.to_dict(batch_size=2, batched=True)) == [{"a": [1, 2], "b": ["x", None]}, {"a": [3], "b": ["z"]}]


@pytest.mark.parametrize("method", ["to_csv", "to_json", "to_parquet", "to_tfrecord"])
def test_a_file_appears_when_it_is_whole(method: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(path)
    assert getattr(_ROWS, method)(link) > 0
    assert link.is_symlink()
    assert path.read_bytes() != b"old"
    assert sorted(os.listdir(tmp_path)) == ["link", "out"]


@pytest.mark.parametrize("method", ["to_csv", "to_json", "to_parquet", "to_tfrecord"])
def test_a_file_in_the_place_of_a_folder_is_named(method: str, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no folder")
    with pytest.raises(FileInPlaceError, match="plain is a file"):
        getattr(_ROWS, method)(tmp_path / "plain" / "out")


def test_plain_text_needs_no_pandas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    _ROWS.to_csv(tmp_path / "a.csv")
    _ROWS.to_json(tmp_path / "a.json")
    with pytest.raises(MissingDependencyError, match="pandas"):
        _ROWS.to_csv(tmp_path / "b.csv", sep=";")
    assert sorted(os.listdir(tmp_path)) == ["a.csv", "a.json"]

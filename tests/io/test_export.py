"""Rows handed over: that the methods of a dataset lead where they should."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError, ConfigurationError, FileInPlaceError, MissingDependencyError, UnknownColumnError

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


# `to_tf_dataset`: what tensorflow gets are the rows.


@pytest.fixture
def small() -> Dataset:
    """Seven rows."""
    rows = range(7)
    return Dataset.from_dict(
        {"a": list(rows), "f": [i / 2 for i in rows], "t": [f"t{i}" for i in rows], "r": [[0] * i for i in rows]}
    )


@pytest.mark.skipif(find_spec("tensorflow") is not None, reason="tensorflow is installed")
def test_without_tensorflow_the_error_says_what_to_install(small: Dataset) -> None:
    with pytest.raises(MissingDependencyError, match=r"pip install 'datasets_core\[tensorflow\]'"):
        small.to_tf_dataset()


@pytest.mark.optional("tensorflow")
def test_batches_are_inputs_and_labels(small: Dataset) -> None:
    made = small.to_tf_dataset(batch_size=3, columns=["a", "f"], label_cols="t")

    batches = [({name: x.numpy().tolist() for name, x in inputs.items()}, labels.numpy().tolist()) for inputs, labels in made]

    assert batches[0] == ({"a": [0, 1, 2], "f": [0, 0.5, 1]}, [b"t0", b"t1", b"t2"])
    assert [len(labels) for _, labels in batches] == [3, 3, 1]


@pytest.mark.optional("tensorflow")
def test_rows_come_one_by_one_without_a_batch_size_and_each_once_when_shuffled(small: Dataset) -> None:
    assert [x.numpy() for x in small.to_tf_dataset(columns="a")] == list(range(7))
    shuffled = small.to_tf_dataset(columns="a", batch_size=2, shuffle=True, drop_remainder=True, num_workers=2)
    assert len({int(x) for batch in shuffled for x in batch.numpy()}) == 6


@pytest.mark.optional("tensorflow")
def test_a_collate_function_gets_rows(small: Dataset) -> None:
    def pad(rows: list[dict[str, Any]], width: int) -> dict[str, Any]:
        return {"p": np.stack([np.pad(row["r"], (0, width - len(row["r"]))) for row in rows])}

    made = small.remove_columns("t").to_tf_dataset(4, collate_fn=pad, collate_fn_args={"width": 8})

    assert [tuple(batch["p"].shape) for batch in made] == [(4, 8), (3, 8)]


@pytest.mark.optional("tensorflow")
def test_what_has_no_tensor_is_an_error_at_once(small: Dataset) -> None:
    with pytest.raises(CastError, match="column 'r' do not stack"):
        small.to_tf_dataset(3)
    with pytest.raises(UnknownColumnError):
        small.to_tf_dataset(3, columns="zz")
    with pytest.raises(ConfigurationError, match="label_cols"):
        small.to_tf_dataset(3, label_cols="a")

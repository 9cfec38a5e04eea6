"""The rows as tables of some rows each, and the place that they go to."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.io.tables import opened, rows_of_bytes, spans, table_of, tables


def test_the_batches_are_the_rows_that_are_shown() -> None:
    dataset = Dataset.from_dict({"a": list(range(10)), "b": ["x"] * 10}).with_format("arrow", columns=["b"])
    for shown in (dataset, dataset.select([7, 1, 1, 3]), dataset.select(range(2, 9)), dataset.select([])):
        found = [value for table in tables(shown, 3) for value in table.column("a").to_pylist()]
        assert found == shown.with_format(None)["a"][:]
    assert spans(dataset, 4) == [(0, 4), (4, 8), (8, 10)]
    assert table_of(dataset, 2, 2).column_names == ["a", "b"]


def test_a_batch_below_one_row_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        spans(Dataset.from_dict({"a": [1]}), 0)


def test_small_rows_are_many() -> None:
    assert rows_of_bytes(Dataset.from_dict({"a": [1, 2]}), 800) == 100
    assert rows_of_bytes(Dataset.from_dict({"a": []}), 800, least=5) >= 5


def test_a_path_is_filled_as_a_whole_and_a_file_is_the_users(tmp_path: Path) -> None:
    with pytest.raises(KeyError), opened(tmp_path / "a", None) as out:
        out.write(b"half")
        raise KeyError
    assert list(tmp_path.iterdir()) == []
    mine = io.BytesIO()
    with opened(mine, None) as out:
        out.write(b"all")
    assert mine.getvalue() == b"all"
    with pytest.raises(ArgumentTypeError, match="neither"):
        opened(7, None)

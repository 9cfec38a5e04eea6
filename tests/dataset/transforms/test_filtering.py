"""Masks of any kind, and the file of an index: whole, of the same rows, or not there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.results import Place
from datasets_core.dataset.transforms.map import mask_of, read_index, write_index
from datasets_core.errors import ArgumentTypeError, MaskLengthError


@pytest.mark.parametrize(
    "mask",
    [
        [True, False, True],
        (1, 0, "x"),
        [np.True_, None, 2.5],
        np.array([1, 0, 1]),
        np.array([True, False, True]),
        pa.array([True, None, True]),
        pa.chunked_array([[True], [False, True]]),
        [pa.scalar(True), pa.scalar(False), pa.scalar(True)],
    ],
)
def test_every_kind_of_mask_is_understood(mask: Any) -> None:
    assert mask_of(mask, 3).tolist() == [True, False, True]


@pytest.mark.parametrize(("mask", "error"), [([True], MaskLengthError), (True, ArgumentTypeError), ("abc", ArgumentTypeError)])
def test_what_is_no_mask_is_refused(mask: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        mask_of(mask, 3)


def test_an_index_is_read_for_the_rows_it_was_made_of(tmp_path: Path) -> None:
    path, place = str(tmp_path / "x" / "index.arrow"), Place("ab", None, None, 0, True)
    for rows in ([], [0, 3, 4]):
        write_index(path, place, np.array(rows, np.int64), 5)

        found = read_index(path, place, 5)

        assert found is not None
        assert found.tolist() == rows
    assert read_index(path, place, 6) is None
    assert read_index(path, Place("cd", None, None, 0, True), 5) is None
    assert read_index(path, Place("ab", None, None, 0, False), 5) is None
    Path(path).write_bytes(b"ARROW1 cut")
    assert read_index(path, place, 5) is None


@pytest.mark.parametrize("rows", [[0, 3, 5], [3, 1, 4], [-1, 3]])
def test_an_index_that_names_no_rows_is_not_read(tmp_path: Path, rows: list[int]) -> None:
    path, place = str(tmp_path / "index.arrow"), Place("ab", None, None, 0, True)
    write_index(path, place, np.array(rows, np.int64), 5)

    assert read_index(path, place, 5) is None


@pytest.mark.parametrize("kind", [None, "numpy", "arrow", "pandas", "polars"])
@pytest.mark.parametrize("num_proc", [None, 2])
def test_rows_in_every_format_are_judged(kind: str | None, num_proc: int | None) -> None:
    if kind in ("pandas", "polars"):
        pytest.importorskip(kind)
    rows = Dataset.from_dict({"a": list(range(100))}).with_format(kind)

    def keeps(row: Any) -> Any:
        value = row["a"]
        return (value[0].as_py() if isinstance(row, pa.Table) else value) > 90

    engine = "threads" if num_proc else None

    assert rows.filter(keeps, num_proc=num_proc, engine=engine).with_format(None)["a"][:] == list(range(91, 100))

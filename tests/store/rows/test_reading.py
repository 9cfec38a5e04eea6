"""Formats are chosen, left again, and stay with what is made of a dataset."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, RowIndexError, UnknownColumnError
from datasets_core.store.rows.column import Column


@pytest.fixture
def small() -> Dataset:
    """Three rows of three columns."""
    return Dataset.from_dict({"a": [1, 2, 3], "b": ["x", "y", "z"], "s": [{"i": 1}, {"i": 2}, {"i": None}]})


def test_a_format_stays_through_selections_and_changes_of_columns(small: Dataset) -> None:
    formatted = small.with_format("numpy", columns=["a", "b"], dtype="float32")

    renamed, removed = formatted.rename_column("a", "z"), formatted.remove_columns("b")
    for other in (formatted.select([2, 0]), formatted.take(2), renamed, removed):
        assert (other.format["type"], other.format["format_kwargs"]) == ("numpy", {"dtype": "float32"})
    assert renamed.format["columns"] == ["z", "b"]
    assert removed.format["columns"] == ["a"]
    assert formatted.select([2, 0])[:]["a"].tolist() == [3, 1]


@pytest.mark.parametrize("type", [None, "numpy", "arrow", "pandas", "custom"])
def test_columns_of_a_format_stand_in_the_order_of_the_dataset(small: Dataset, type: str | None) -> None:
    kwargs = {"transform": dict} if type == "custom" else {}
    formatted = small.with_format(type, columns=["b", "a"], **kwargs)

    batch = formatted[:2]
    assert list(getattr(batch, "column_names", batch)) == ["a", "b"]
    assert formatted.format["columns"] == ["b", "a"]


def test_a_column_of_arrays_is_read_when_it_is_looked_at(small: Dataset) -> None:
    column = small.with_format("numpy")["a"]

    assert isinstance(column, Column)
    assert (type(column[0]), column[1:].tolist(), list(column)) == (np.int64, [2, 3], [1, 2, 3])
    assert np.asarray(column).dtype == np.int64
    assert small.with_format("numpy")["s"]["i"][:2] == [1, 2]


def test_a_column_outside_the_format_is_plain(small: Dataset) -> None:
    assert small.with_format("numpy", columns=["b"])["a"][:] == [1, 2, 3]


def test_the_format_says_what_was_chosen(small: Dataset) -> None:
    def same(batch: dict[str, Any]) -> dict[str, Any]:
        return batch

    assert small.with_format("np", "a", True).format == {
        "type": "numpy",
        "format_kwargs": {},
        "columns": ["a"],
        "output_all_columns": True,
    }
    assert small.with_transform(same).format["format_kwargs"] == {"transform": same}
    assert small.format["type"] is None


def test_a_block_with_a_format_leaves_the_one_before(small: Dataset) -> None:
    small.set_format("numpy")
    with small.formatted_as("arrow", columns=["a"]):
        assert isinstance(small[:], pa.Table)
    assert isinstance(small[:]["a"], np.ndarray)


def test_what_cannot_be_a_format_leaves_the_dataset_as_it_was(small: Dataset) -> None:
    for act in (
        lambda: small.set_format("numpy", columns=["zz"]),
        lambda: small.set_format("numpy", device="cpu"),
        lambda: small.set_format("nope"),
        lambda: small.set_transform(3),  # type: ignore[arg-type]
    ):
        with pytest.raises((ConfigurationError, UnknownColumnError)):
            act()
    assert small[0]["a"] == 1


@pytest.mark.parametrize("name", [None, "numpy", "arrow"])
def test_a_row_beyond_the_end_is_the_same_error_in_every_format(small: Dataset, name: str | None) -> None:
    formatted = small.with_format(name)

    for act in (lambda: formatted[3], lambda: formatted[[0, 3]], lambda: formatted.__getitems__([2, 3])):
        with pytest.raises(RowIndexError):
            act()


def test_batches_asked_for_by_lists_of_neighbours_are_those_rows(small: Dataset) -> None:
    for keys in ([0, 1, 2], [1], [1, 2], [2, 1], [-1, 0], [1, 1], []):
        assert [row["a"] for row in small.__getitems__(keys)] == [[1, 2, 3][key] for key in keys]


def test_numpy_rows_need_no_other_framework() -> None:
    code = (
        "import sys\n"
        "from datasets_core import Dataset\n"
        "import pyarrow as pa\n"
        "table = pa.Table.from_pylist([])\n"
        "column = pa.Array.from_buffers(pa.int64(), 2, [None, pa.py_buffer(bytes(16))])\n"
        "dataset = Dataset(pa.table([column], names=['a'])).with_format('numpy')\n"
        "dataset[0], dataset[:], list(dataset), dataset[[1, 0]]\n"
        "print(sorted({'pandas', 'torch', 'tensorflow', 'jax', 'polars'} & set(sys.modules)))\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"

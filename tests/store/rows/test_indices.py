"""Keys as row numbers, against Python's and numpy's own meaning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError, MaskLengthError, RowIndexError
from datasets_core.store.rows.indices import (
    as_int,
    checked_batch_size,
    ints_of,
    mapped_index,
    names_of,
    row_count,
    row_number,
    row_numbers,
)

_BOUNDS = st.none() | st.integers(-12, 12)


@given(st.integers(0, 8), _BOUNDS, _BOUNDS, st.none() | st.integers(-4, 4).filter(bool))
def test_slices_mean_what_they_mean_for_lists(size: int, start: int | None, stop: int | None, step: int | None) -> None:
    rows = row_numbers(slice(start, stop, step), size)

    assert list(rows) == list(range(size))[start:stop:step]


@given(st.data())
def test_lists_of_rows_mean_what_they_mean_for_lists(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 9))
    keys = data.draw(st.lists(st.integers(-size, size - 1)))
    wanted = [list(range(size))[key] for key in keys]

    forms: list[Any] = [
        keys,
        tuple(keys),
        np.array(keys, dtype=np.int32),
        np.array(keys, dtype=object),
        pa.array(keys, pa.int64()),
    ]

    assert [list(row_numbers(form, size)) for form in forms] == [wanted] * len(forms)


@given(st.lists(st.booleans(), min_size=1))
def test_masks_choose_the_rows_that_are_true(mask: list[bool]) -> None:
    wanted = [row for row, is_wanted in enumerate(mask) if is_wanted]

    forms: list[Any] = [mask, np.array(mask), list(np.array(mask)), pa.array(mask), pa.chunked_array([mask])]

    assert [list(row_numbers(form, len(mask))) for form in forms] == [wanted] * len(forms)


@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-3, 3).filter(bool))
def test_ranges_are_lists_of_rows(start: int, stop: int, step: int) -> None:
    keys, size = range(start, stop, step), 10

    assert list(row_numbers(keys, size)) == [list(range(size))[key] for key in keys]


@pytest.mark.parametrize(
    "keys", [[3], [-4], range(1, 5), np.array([3]), np.array([2**63], np.uint64), [10**30], (0, 3), [-(10**30)]]
)
def test_rows_beyond_the_end_are_an_error_with_index_and_size(keys: Any) -> None:
    with pytest.raises(RowIndexError, match="out of range for a dataset of 3 rows") as caught:
        row_numbers(keys, 3)

    assert isinstance(caught.value, IndexError)


@pytest.mark.parametrize("mask", [[True], np.array([True] * 4), pa.array([True, False])])
def test_a_mask_of_another_length_is_an_error(mask: Any) -> None:
    with pytest.raises(MaskLengthError, match=f"A mask of {len(mask)} booleans does not fit a dataset of 3 rows"):
        row_numbers(mask, 3)


@pytest.mark.parametrize(
    "keys",
    [
        [None],
        ["a"],
        [1.5],
        [True, 2],
        [0, None],
        {"a": 1},
        "ab",
        b"ab",
        5.0,
        None,
        np.array([1.5]),
        np.array([np.nan]),
        np.array(["a"]),
        np.array([[1]]),
        pa.array([1, None]),
        pa.array([True, None, False]),
        slice(0, 2.0),
        slice(None, None, 0),
    ],
)
def test_what_names_no_rows_is_a_type_error(keys: Any) -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        row_numbers(keys, 3)

    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("key", [True, np.True_])
def test_a_single_boolean_names_no_row(key: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a valid row index"):
        row_number(key, 3)


def test_whole_floats_are_rows() -> None:
    assert list(row_numbers([2.0, -1.0], 3)) == [2, 2]
    assert list(row_numbers(np.array([0.0, 1.0]), 3)) == [0, 1]


@pytest.mark.parametrize("key", [np.int8(-1), np.uint64(2), np.array(2), 2])
def test_numpy_integers_are_rows(key: Any) -> None:
    assert row_number(key, 3) == 2


def test_hidden_values_of_a_masked_array_are_no_rows() -> None:
    with pytest.raises(ArgumentTypeError, match="None"):
        row_numbers(np.ma.array([1, 2], mask=[False, True]), 3)
    assert row_numbers([np.float32(1)], 3).tolist() == [1]  # type: ignore[union-attr]


# Arguments of the methods of a dataset.


def test_one_name_is_a_list_of_one() -> None:
    assert names_of("a") == ["a"]


def test_a_name_given_twice_counts_once() -> None:
    assert names_of(["a", "b", "a"]) == ["a", "b"]


def test_what_names_no_columns_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="is not a valid list of columns"):
        names_of(3)  # type: ignore[arg-type]


def test_a_float_is_no_whole_number() -> None:
    with pytest.raises(ArgumentTypeError, match="num_shards="):
        as_int("num_shards", 1.5)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Cannot take -1 rows"):
        row_count("take", -1)


def test_a_batch_of_no_rows_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"batch_size=.* Give 1 or more"):
        checked_batch_size(0)


# An index in a file is the index, and other tools can read it.


def test_a_mapped_index_is_the_index_and_takes_no_memory(tmp_path: Path) -> None:
    index = np.array([5, 0, 3] * 1000)
    before = pa.total_allocated_bytes()

    mapped = mapped_index(index, str(tmp_path / "below" / "index.arrow"))

    assert mapped.tolist() == index.tolist()
    assert pa.total_allocated_bytes() == before
    assert [path.name for path in (tmp_path / "below").iterdir()] == ["index.arrow"]


def test_an_index_without_rows_is_one(tmp_path: Path) -> None:
    assert mapped_index(np.empty(0, np.int64), str(tmp_path / "index.arrow")).tolist() == []


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.int32(), pa.uint8()])
def test_numbers_come_from_any_column_of_ints(kind: pa.DataType) -> None:
    column = pa.chunked_array([pa.array([9, 1], kind).slice(1), pa.array([2, 3], kind)])

    assert ints_of(column).tolist() == [1, 2, 3]
    assert ints_of(column.slice(0, 0)).tolist() == []


@pytest.mark.parametrize("column", [pa.chunked_array([[1, None]]), pa.chunked_array([["x"]]), pa.chunked_array([[1.0]])])
def test_what_is_no_number_is_refused(column: pa.ChunkedArray) -> None:
    with pytest.raises(ArgumentTypeError, match="Row numbers must be ints"):
        ints_of(column)


def test_a_selection_keeps_its_index_where_it_is_told(tmp_path: Path) -> None:
    dataset = Dataset.from_dict({"n": list(range(9))})
    path = str(tmp_path / "index.arrow")

    shuffled = dataset.shuffle(seed=1, indices_cache_file_name=path)

    assert shuffled[:] == dataset.shuffle(seed=1)[:]
    again = Dataset(dataset.data, indices_table=pa.ipc.open_stream(path).read_all())
    assert again[:] == shuffled[:]
    assert dataset.sort("n", reverse=True, indices_cache_file_name=path)["n"][:] == list(range(8, -1, -1))
    assert dataset.select([3, 1], indices_cache_file_name=path)["n"][:] == [3, 1]
    assert dataset.shard(2, 1, contiguous=False, indices_cache_file_name=path)["n"][:] == [1, 3, 5, 7]
    parts = dataset.train_test_split(seed=1, test_indices_cache_file_name=path, train_indices_cache_file_name=path + "2")
    assert parts["test"][:] == dataset.train_test_split(seed=1)["test"][:]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["index.arrow", "index.arrow2"]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()

    with pytest.raises(OSError, match="folder"):
        mapped_index(np.arange(3), str(tmp_path / "folder"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_a_file_of_the_user_is_no_place_for_an_index(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n")

    with pytest.raises(ConfigurationError) as caught:
        Dataset.from_dict({"n": [1, 2]}).select([1, 0], indices_cache_file_name=str(path))
    assert str(caught.value.file).endswith("mine.csv")
    assert path.read_text() == "a,b\n"

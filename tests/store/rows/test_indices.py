"""Keys as row numbers, against Python's and numpy's own meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, MaskLengthError, RowIndexError
from datasets_core.store.rows.indices import row_number, row_numbers

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
    with pytest.raises(ArgumentTypeError, match="names no row"):
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

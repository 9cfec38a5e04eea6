"""Shapes of arrays and of sparse arrays."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, ItemError
from datasets_core.records.specs.values import SparseValue
from datasets_core.slim.handlers import as_sparse, dense, fill_of, reshaped, sizes_of, sparse_reshaped

SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


@st.composite
def sparse_arrays(draw: Any) -> SparseValue:
    shape = draw(SIZES)
    places = sorted(draw(st.sets(st.integers(0, math.prod(shape) - 1))))
    indices = np.stack(np.unravel_index(np.array(places, np.int64), shape), axis=1)
    return SparseValue.of(indices, [float(place + 1) for place in places], shape)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3), (2, 1, 2)])
def test_a_plain_array_is_a_sparse_one_that_is_full(shape: tuple[int, ...]) -> None:
    array = np.arange(1, math.prod(shape) + 1).reshape(shape)
    found = as_sparse(array)
    assert found.indices.shape == (array.size, array.ndim)
    assert found.values.tolist() == [array[tuple(place)] for place in found.indices]
    assert found.dense_shape.tolist() == list(shape)


@settings(max_examples=50)
@given(sparse_arrays(), st.data())
def test_a_sparse_array_is_reshaped_as_the_dense_one(value: SparseValue, data: Any) -> None:
    count = math.prod(value.dense_shape.tolist())
    rows = data.draw(st.sampled_from([size for size in range(1, count + 1) if count % size == 0]))
    wanted = dense(value, -1.0).reshape(rows, -1)
    assert np.array_equal(dense(sparse_reshaped(value, (rows, -1)), -1.0), wanted)


@settings(max_examples=50)
@given(sparse_arrays())
def test_a_dense_array_holds_each_value_at_its_place(value: SparseValue) -> None:
    made = dense(value, 0)
    assert made.shape == tuple(value.dense_shape) and np.count_nonzero(made) == len(value.values)
    assert made[tuple(value.indices.T)].tolist() == value.values.tolist()


@pytest.mark.parametrize(
    ("indices", "reason"),
    [
        ([[0], [3]], r"a value stands at \[3\], outside of the array's shape \[3\]"),
        ([[-1], [0]], r"a value stands at \[-1\]"),
        ([[2], [0]], r"the value at \[0\] stands behind one"),
        ([[1], [1]], r"the value at \[1\] stands behind one"),
        ([[0]], "1 places and 2 values"),
    ],
)
def test_places_that_are_none_are_refused(indices: list[list[int]], reason: str) -> None:
    with pytest.raises(ItemError, match=f"(?i){reason}"):
        dense(SparseValue.of(indices, [1, 2], [3]), 0)


def test_a_record_cannot_ask_for_any_amount_of_memory() -> None:
    value = SparseValue.of([[0, 0]], [1.0], [1 << 40, 1 << 20])
    with pytest.raises(ItemError, match="has more than 1,073,741,824 elements"):
        dense(value, 0)
    with pytest.raises(ItemError, match="more places than can be counted"):
        dense(SparseValue.of([[0, 0]], [1.0], [1 << 40, 1 << 40]), 0)


def test_what_fills_its_shape_is_not_copied() -> None:
    values = np.arange(3)
    assert dense(SparseValue(np.arange(3)[:, None], values, np.array([3])), 0) is values


@pytest.mark.parametrize(("shape", "wanted"), [([2, 3], (2, 3)), ([-1, 2], (3, 2)), ([6, -1], (6, 1)), ((6,), (6,))])
def test_arrays_take_shapes(shape: Any, wanted: tuple[int, ...]) -> None:
    assert reshaped(np.arange(6), sizes_of(shape)).shape == wanted


@pytest.mark.parametrize("shape", [[4], [-1, 4], [0, -1], [], [7, -1]])
def test_arrays_that_do_not_fit_are_refused(shape: list[int]) -> None:
    with pytest.raises(ItemError, match=r"6 values cannot take the shape"):
        reshaped(np.arange(6), sizes_of(shape))


def test_one_value_takes_the_shape_of_a_scalar() -> None:
    assert reshaped(np.array([4]), ()).shape == ()
    assert dense(sparse_reshaped(SparseValue.of([[0]], [4], [1]), ()), 0).tolist() == 4


@pytest.mark.parametrize("shape", [3, [1.5], ["2"], [-1, -1], [-2], [None, 3]], ids=str)
def test_what_is_no_shape_is_refused(shape: Any) -> None:
    with pytest.raises(ConfigurationError):
        sizes_of(shape)


@pytest.mark.parametrize(
    ("default", "dtype", "wanted"),
    [(0, object, b""), ("é", object, "é".encode()), (b"x", object, b"x"), ("", "int64", 0), (None, "f4", 0), (2, "f4", 2)],
)
def test_a_default_fills_what_can_hold_it(default: Any, dtype: Any, wanted: Any) -> None:
    assert fill_of(default, np.dtype(dtype)) == wanted


@pytest.mark.parametrize(("default", "dtype"), [(1.5, "int64"), ("-", "float32"), (7, object), ([], "int64")])
def test_a_default_that_does_not_fit_is_refused(default: Any, dtype: Any) -> None:
    with pytest.raises(ItemError, match="is not a value of an array of"):
        fill_of(default, np.dtype(dtype))

"""Sparse and ragged values."""

import numpy as np
import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.records.specs.values import RaggedValue, SparseValue


def test_a_sparse_value_is_filled_with_the_default():
    sparse = SparseValue.of([[0, 1], [1, 0]], np.array([5, 6]), [2, 2])
    assert sparse.to_dense(-1).tolist() == [[-1, 5], [6, -1]]


def test_missing_strings_of_a_sparse_value_are_empty():
    sparse = SparseValue.of([[1]], np.array([b"x"], object), [2])
    assert sparse.to_dense().tolist() == [b"", b"x"]


def test_a_sparse_value_without_values_keeps_its_shape():
    assert SparseValue.of([], np.array([], np.int64), [0, 3]).to_dense().shape == (0, 3)


@pytest.mark.parametrize("place", [4, -1])
def test_a_place_outside_of_the_array_is_refused(place):
    with pytest.raises(ConfigurationError, match="outside"):
        SparseValue.of([[place]], [1], [4]).to_dense()


def test_sparse_values_are_equal_by_all_they_hold():
    one, other = SparseValue.of([[0]], [np.nan], [2]), SparseValue.of([[0]], [np.nan], [2])
    assert one == other
    assert one != SparseValue.of([[0]], [np.nan], [3])
    assert one != 3


def test_a_ragged_value_of_two_levels_is_lists_in_lists():
    ragged = RaggedValue(np.array([b"a", b"b", b"c"], object), (np.array([0, 1, 2]), np.array([0, 2, 3])))
    assert ragged.to_list() == [[[b"a", b"b"]], [[b"c"]]]
    assert len(ragged) == 2
    assert ragged.flat_values is ragged.values


def test_ragged_values_are_equal_by_rows_and_values():
    one = RaggedValue(np.arange(2), (np.array([0, 2]),))
    assert one == RaggedValue(np.arange(2), (np.array([0, 2], np.int32),))
    assert one != RaggedValue(np.arange(2), (np.array([0, 1, 2]),))
    assert one != "rows"

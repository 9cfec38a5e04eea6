"""The forms of what specs give: batches, values of records, Arrow."""

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.features.base import List, Value
from datasets_core.features.types import Array2D
from datasets_core.records.specs.values import (
    ElementsPart,
    FixedPart,
    ListPart,
    RaggedPart,
    SparsePart,
    StepsPart,
    as_numpy,
    places_within,
)

INTS = pa.array([1, 2, 3, 4])
BYTES = pa.array([b"a", b"", b"c", b"d"])


def test_values_of_a_slice_are_those_of_the_slice():
    assert as_numpy(INTS[1:3]).tolist() == [2, 3]
    assert as_numpy(BYTES[1:3]).tolist() == [b"", b"c"]


def test_values_are_copies_that_can_be_written_to():
    copied = as_numpy(INTS)
    copied += 1
    assert INTS.to_pylist() == [1, 2, 3, 4]


def test_places_begin_anew_in_each_list():
    assert places_within(np.array([0, 0, 2, 1])).tolist() == [0, 1, 0]


def test_arrays_of_one_shape():
    part = FixedPart(INTS, (2,), 2)
    assert part.batch().tolist() == [[1, 2], [3, 4]]
    assert [row.shape for row in part.rows()] == [(2,), (2,)]
    assert part.arrow(List(Value("int64"), length=2)).to_pylist() == [[1, 2], [3, 4]]


def test_rows_of_single_values_are_arrays_without_a_dimension():
    assert [row.shape for row in FixedPart(INTS, (), 4).rows()] == [()] * 4
    assert [row.shape for row in FixedPart(BYTES, (), 4).rows()] == [()] * 4


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2)])
def test_arrays_without_values_are_counted(shape):
    part = FixedPart(pa.array([], pa.int64()), shape, 3)
    feature = List(Value("int64"), length=0) if len(shape) == 1 else Array2D(shape, "int64")
    assert part.batch().shape == (3, *shape)
    assert part.arrow(feature).to_pylist() == np.zeros((3, *shape)).tolist()


def test_strings_stand_in_lists_of_fixed_lengths():
    feature = List(List(Value("binary"), length=2), length=1)
    assert FixedPart(BYTES, (1, 2), 2).arrow(feature).to_pylist() == [[[b"a", b""]], [[b"c", b"d"]]]


def test_lists_of_any_length():
    part = ListPart(INTS, np.array([0, 0, 3, 4]))
    assert part.batch().indices.tolist() == [[1, 0], [1, 1], [1, 2], [2, 0]]
    assert part.batch().dense_shape.tolist() == [3, 3]
    assert [row.dense_shape.tolist() for row in part.rows()] == [[0], [3], [1]]
    assert part.arrow(List(Value("int64"))).to_pylist() == [[], [1, 2, 3], [4]]


def test_shorter_lists_of_elements_are_filled_up():
    part = ElementsPart(INTS, np.array([0, 2, 2]), (2,), -1)
    assert part.batch().tolist() == [[[1, 2], [3, 4]], [[-1, -1], [-1, -1]]]
    assert [row.tolist() for row in part.rows()] == [[[1, 2], [3, 4]], []]
    assert part.arrow(List(List(Value("int64"), length=2))).to_pylist() == [[[1, 2], [3, 4]], []]


def test_sparse_arrays():
    part = SparsePart(np.array([[0, 1], [1, 0], [2, 2], [3, 1]]), INTS, np.array([0, 3, 4]), (5, 3))
    assert part.batch().indices[:, 0].tolist() == [0, 0, 0, 1]
    assert part.batch().dense_shape.tolist() == [2, 5, 3]
    assert part.rows()[1].indices.tolist() == [[3, 1]]
    feature = {"indices": List(List(Value("int64"))), "values": List(Value("int64")), "dense_shape": List(Value("int64"))}
    assert part.arrow(feature)[1].as_py() == {"indices": [[3, 1]], "values": [4], "dense_shape": [5, 3]}


def test_ragged_levels():
    part = RaggedPart(INTS, np.array([0, 1, 2]), (np.array([0, 1, 2]), 2), "int32")
    assert part.batch().to_list() == [[[[1, 2]]], [[[3, 4]]]]
    assert part.batch().row_splits.dtype == np.int32
    feature = List(List(List(Value("int64"), length=2)))
    assert part.arrow(feature).to_pylist() == [[[[1, 2]]], [[[3, 4]]]]


def test_steps_stand_in_a_list_for_each_record():
    steps = StepsPart(FixedPart(INTS, (), 4), np.array([0, 3, 4]))
    assert steps.batch().tolist() == [[1, 2, 3], [4, 0, 0]]
    assert steps.arrow(List(Value("int64"))).to_pylist() == [[1, 2, 3], [4]]
    nested = StepsPart(ListPart(BYTES, np.array([0, 2, 2, 4])), np.array([0, 2, 3]))
    assert nested.batch().indices.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]
    assert nested.arrow(List(List(Value("binary")))).to_pylist() == [[[b"a", b""], []], [[b"c", b"d"]]]

"""Sparse and ragged values."""

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import ConfigurationError, ExampleError
from datasets_core.features.base import List, Value
from datasets_core.features.types import Array2D
from datasets_core.records.encoding import encode_example, encode_sequence_example
from datasets_core.records.specs.values import (
    ElementsPart,
    FixedPart,
    ListPart,
    RaggedPart,
    RaggedValue,
    SparsePart,
    SparseValue,
    StepsPart,
    Where,
    as_numpy,
    places_within,
    step_column,
    wire_column,
    with_first_error,
)
from datasets_core.records.wire.columns import decode_examples, decode_sequence_examples
from datasets_core.records.wire.messages import Feature
from datasets_core.records.wire.values import RecordBlock


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


# The forms of what specs give: batches, values of records, Arrow.

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


# Values of one kind of one key, and messages that name the record.


def test_a_key_that_no_record_has_is_an_empty_column():
    column = wire_column({}, "string", "a", Where("x", 0, 3))
    assert (column.values.to_pylist(), column.offsets.tolist(), column.present.tolist()) == ([], [0] * 4, [False] * 3)


def test_another_kind_is_an_error_of_the_first_record_that_has_it():
    block = RecordBlock.of([encode_example({"a": value}) for value in (1, 2.5, 3, 4.5)], first=10, name="x.tfrecord")
    with pytest.raises(ExampleError) as caught:
        wire_column(decode_examples(block), "int64", "a", Where.of(block))
    assert str(caught.value.file).endswith("x.tfrecord")
    assert (caught.value.row, caught.value.record, caught.value.key) == (11, 11, "a")


def test_steps_without_a_kind_are_steps_of_every_kind():
    rows = [[Feature(None, []), Feature(None, [])], [Feature("int64", [1, 2]), Feature(None, [])], [], [Feature("int64", [3])]]
    block = RecordBlock.of([encode_sequence_example({}, {"a": row}) for row in rows])
    _, lists = decode_sequence_examples(block)
    column = step_column(lists, "int64", "a", Where.of(block))
    assert column.lists.to_pylist() == [[[], []], [[1, 2], []], [], [[3]]]
    assert column.without_kind.tolist() == [True, True, False, True, False]
    assert column.present.all()


def test_a_list_that_only_has_steps_without_a_kind_is_of_every_kind():
    block = RecordBlock.of([encode_sequence_example({}, {"a": [Feature(None, [])]}), b""])
    column = step_column(decode_sequence_examples(block)[1], "string", "a", Where.of(block))
    assert column.lists.to_pylist() == [[[]], None]


def test_a_step_of_another_kind_is_an_error_of_its_record():
    rows = [[Feature("int64", [1])], [Feature("int64", [1]), Feature("float", [1.0])]]
    block = RecordBlock.of([encode_sequence_example({}, {"a": row}) for row in rows], first=5)
    with pytest.raises(ExampleError, match="record 6: feature 'a' has float values, but int64 is requested in step 1"):
        step_column(decode_sequence_examples(block)[1], "int64", "a", Where.of(block))


def test_steps_are_named_by_their_record():
    where = Where("x", 100, 3).in_steps(np.array([0, 2, 2, 5]))
    assert str(where.error(1, "a", "is odd")).startswith("x: record 100: feature 'a' is odd in step 1")
    assert str(where.error(2, "a", "is odd")).startswith("x: record 102: feature 'a' is odd in step 0")


def test_the_error_that_is_told_is_the_one_of_the_first_record():
    wrong = {3: "late", 2: "first"}

    def read(block):
        for number, reason in wrong.items():
            if block.first <= number < block.first + len(block):
                raise ExampleError("x", reason, record=number)
        return "good"

    with pytest.raises(ExampleError, match="first"):
        with_first_error(RecordBlock.of([b""] * 3, first=1), read)
    assert with_first_error(RecordBlock.of([b""], first=1), read) == "good"

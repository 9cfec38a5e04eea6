"""Values of one kind of one key, and messages that name the record."""

import numpy as np
import pytest

from datasets_core.errors import ExampleError
from datasets_core.records.encoding import encode_example, encode_sequence_example
from datasets_core.records.specs.values import Where, step_column, wire_column, with_first_error
from datasets_core.records.wire.columns import decode_examples, decode_sequence_examples
from datasets_core.records.wire.messages import Feature
from datasets_core.records.wire.values import RecordBlock


def test_a_key_that_no_record_has_is_an_empty_column():
    column = wire_column({}, "string", "a", Where("x", 0, 3))
    assert (column.values.to_pylist(), column.offsets.tolist(), column.present.tolist()) == ([], [0] * 4, [False] * 3)


def test_another_kind_is_an_error_of_the_first_record_that_has_it():
    block = RecordBlock.of([encode_example({"a": value}) for value in (1, 2.5, 3, 4.5)], first=10, name="x.tfrecord")
    with pytest.raises(ExampleError, match=r"x.tfrecord: record 11: feature 'a' has float values"):
        wire_column(decode_examples(block), "int64", "a", Where.of(block))


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
    with pytest.raises(ExampleError, match="record 6: feature 'a' has float values, and int64 is asked for in step 1"):
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

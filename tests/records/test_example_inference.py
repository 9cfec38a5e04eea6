"""What records tell of their columns."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ExampleError
from datasets_core.records.encoding import encode_example, encode_sequence_example
from datasets_core.records.feature_readers import inferred_columns, join_types, spread, widened
from datasets_core.records.specs.values import Where
from datasets_core.records.wire.columns import decode_sequence_examples
from datasets_core.records.wire.messages import Feature
from datasets_core.records.wire.values import RecordBlock

leaves = st.sampled_from([pa.null(), pa.int64(), pa.float32(), pa.binary(), pa.large_binary()])
column_types = st.recursive(leaves, lambda inner: inner.map(pa.list_), max_leaves=2)


def told(*records):
    block = RecordBlock.of(records, first=10, name="x.tfrecord")
    columns = inferred_columns(*decode_sequence_examples(block), Where.of(block))
    return {name: (str(array.type), array.to_pylist()) for name, array in columns.items()}


def test_one_value_in_each_record_is_a_column_of_values():
    assert told(encode_example({"a": 1}), encode_example({"a": 2}))["a"] == ("int64", [1, 2])


def test_a_record_without_the_key_has_none():
    found = told(encode_example({"a": 1}), b"", encode_example({"b": [b"x", b"y"]}))
    assert found == {"a": ("int64", [1, None, None]), "b": ("list<item: binary>", [None, None, [b"x", b"y"]])}


@pytest.mark.parametrize("other", [[1.0, 2.0], Feature("float", []), Feature(None, [])], ids=str)
def test_any_other_number_of_values_makes_lists(other):
    values = [] if isinstance(other, Feature) else other
    assert told(encode_example({"a": 5.0}), encode_example({"a": other}))["a"] == ("list<item: float>", [[5.0], values])


def test_a_key_without_any_values_is_of_lists_of_nothing():
    assert told(encode_example({"a": Feature(None, [])}), b"")["a"] == ("list<item: null>", [[], None])


def test_keys_come_in_the_order_of_their_first_sight_and_those_of_the_context_first():
    records = [encode_sequence_example({"z": 1}, {"y": [1]}), encode_sequence_example({"x": 1, "z": 2}, {"w": [1]})]
    assert list(told(*records)) == ["z", "x", "y", "w"]


def test_feature_lists_with_one_value_in_each_step_are_lists():
    records = [encode_sequence_example({}, {"a": steps}) for steps in ([1, 2], [], [3])]
    assert told(*records, b"")["a"] == ("list<item: int64>", [[1, 2], [], [3], None])


def test_feature_lists_with_other_steps_are_lists_of_lists():
    records = [encode_sequence_example({}, {"a": steps}) for steps in ([[1], Feature(None, [])], [[2, 3]], [])]
    assert told(*records)["a"] == ("list<item: list<item: int64>>", [[[1], []], [[2, 3]], []])


def test_feature_lists_without_values_are_lists_of_nothing():
    assert told(encode_sequence_example({}, {"a": []}))["a"] == ("list<item: null>", [[]])
    assert told(encode_sequence_example({}, {"a": [Feature(None, [])]}))["a"] == ("list<item: list<item: null>>", [[[]]])


def test_kinds_that_mix_are_an_error_that_names_both_records():
    with pytest.raises(
        ExampleError, match=r"x\.tfrecord: record 12: feature 'a' has float values, and int64 values in record 11"
    ):
        told(b"", encode_example({"a": 1}), encode_example({"a": 1.5}))


def test_kinds_that_mix_in_one_feature_list_are_an_error():
    steps = [Feature("int64", [1]), Feature("bytes", [b"a"])]
    with pytest.raises(ExampleError, match="in the same record"):
        told(encode_sequence_example({}, {"a": steps}))


def test_a_key_of_the_context_and_of_the_lists_is_an_error():
    with pytest.raises(ExampleError, match="record 11: feature 'a' is among the feature lists"):
        told(encode_sequence_example({"a": 1}, {}), encode_sequence_example({}, {"a": [1]}))


@given(one=column_types, other=column_types, third=column_types)
def test_joining_types_does_not_depend_on_their_order(one, other, third):
    assert join_types(one, other) == join_types(other, one)
    assert join_types(one, one) == one
    left, right = join_types(one, other), join_types(other, third)
    if left is not None and right is not None:
        assert join_types(left, third) == join_types(one, right)


@pytest.mark.parametrize(
    ("values", "wanted", "widest"),
    [
        ([1, None], pa.list_(pa.int64()), [[1], None]),
        ([[1, 2], None, []], pa.list_(pa.list_(pa.int64())), [[[1], [2]], None, []]),
        ([None, None], pa.list_(pa.int64()), [None, None]),
        ([[], None], pa.list_(pa.list_(pa.binary())), [[], None]),
        ([b"a", None], pa.list_(pa.large_binary()), [[b"a"], None]),
        ([1], pa.int64(), [1]),
    ],
)
def test_columns_widen_to_what_was_joined(values, wanted, widest):
    made = widened(pa.array(values), wanted)
    made.validate(full=True)
    assert (made.type, made.to_pylist()) == (wanted, widest)


def test_values_are_spread_between_nulls():
    import numpy as np

    made = spread(pa.array([b"a", b"b"]), np.array([False, True, False, True]))
    assert made.to_pylist() == [None, b"a", None, b"b"]
    assert spread(pa.array([], pa.int64()), np.array([False])).to_pylist() == [None]

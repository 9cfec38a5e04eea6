"""Which records are sequences."""

import numpy as np
import pytest

from datasets_core.records.encoding import encode_example, encode_sequence_example
from datasets_core.records.feature_readers import has_feature_lists
from datasets_core.records.wire.values import RecordBlock

EXAMPLES = [b"", encode_example({}), encode_example({"a": 1}), encode_example({"a": np.arange(100_000)})]


def test_examples_of_any_size_are_none():
    assert not has_feature_lists(RecordBlock.of(EXAMPLES))
    assert not has_feature_lists(RecordBlock.of([]))


@pytest.mark.parametrize("number", range(5))
def test_one_sequence_among_examples_is_found(number):
    records = [*EXAMPLES[:number], encode_sequence_example({}, {"a": [1]}), *EXAMPLES[number:]]
    assert has_feature_lists(RecordBlock.of(records))


def test_a_sequence_without_lists_is_as_an_example():
    assert not has_feature_lists(RecordBlock.of([encode_sequence_example({"a": 1}, {})]))


def test_what_stands_behind_an_example_and_is_no_list_is_none():
    unknown = encode_example({"a": 1}) + b"\x12\x03abc"
    assert not has_feature_lists(RecordBlock.of([unknown, b"\xff" * 9, b"\n", b"\n\xff\xff\xff\xff\xff\xff"]))


def test_the_order_of_fields_is_free():
    lists = encode_sequence_example({}, {"a": [1]}).removeprefix(b"\n\x00")
    assert has_feature_lists(RecordBlock.of([lists + encode_example({"b": 2})]))

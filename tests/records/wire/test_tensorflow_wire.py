"""What TensorFlow reads from odd forms stands in a table, which `test_wire.py` goes through; here are its rules, one by one."""

import pytest

from datasets_core.records.wire.messages import tensorflow_example, tensorflow_sequence_example
from datasets_core.records.wire.values import Malformed
from tests.records import wire_forms as forms


def test_the_last_entry_of_a_key_that_is_not_empty_counts() -> None:
    found = tensorflow_example(forms.example([(b"a", forms.ints(1)), (b"a", forms.ints(2)), (b"a", b"")]), None)
    assert found[b"a"] == ("int64", [2])


def test_the_first_list_of_a_feature_counts() -> None:
    found = tensorflow_example(forms.example([(b"a", forms.ints(1) + forms.floats(2.0) + b"\xff")]), None)
    assert found[b"a"] == ("int64", [1])


def test_a_length_beyond_the_end_means_the_end() -> None:
    piece = forms.field(1, b"\x05", 100)
    data = forms.field(1, forms.field(1, forms.field(1, b"a") + forms.field(2, forms.field(3, piece, 200)), 300), 400)
    assert tensorflow_example(data, None)[b"a"] == ("int64", [5])


def test_features_that_are_not_asked_for_are_not_looked_into() -> None:
    data = forms.example([(b"a", forms.ints(1)), (b"b", b"\xff")])
    assert tensorflow_example(data, [b"a"])[b"a"] == ("int64", [1])
    with pytest.raises(Malformed, match="not a list"):
        tensorflow_example(data, None)


def test_entries_of_a_sequence_example_have_the_key_first() -> None:
    entry = forms.field(2, forms.steps([forms.ints(1)])) + forms.field(1, b"a")
    with pytest.raises(Malformed, match="no tag 10"):
        tensorflow_sequence_example(forms.field(2, forms.field(1, entry)), None, None)


def test_the_steps_of_a_list_are_of_one_kind() -> None:
    data = forms.sequence_example([], [(b"a", forms.steps([forms.ints(1), b"", forms.floats(1.0)]))])
    with pytest.raises(Malformed, match="several kinds"):
        tensorflow_sequence_example(data, None, None)

"""What protobuf reads from odd forms stands in a table, which `test_wire.py` goes through; here are its rules, one by one."""

import pytest

from datasets_core.records.wire.messages import (
    protobuf_example,
    protobuf_sequence_example,
    tensorflow_example,
    tensorflow_sequence_example,
)
from datasets_core.records.wire.values import Malformed, told_values
from tests.records import wire_forms as forms


def test_the_last_entry_of_a_key_counts() -> None:
    found = protobuf_example(forms.example([(b"a", forms.ints(1)), (b"b", b""), (b"a", forms.floats(2.0))]), None)
    assert {key: told_values(feature) for key, feature in found.items()} == {b"a": ("float", [2.0]), b"b": (None, [])}


def test_an_entry_with_unknown_fields_is_set_apart() -> None:
    odd = forms.field(1, forms.field(1, b"a") + forms.field(2, forms.ints(1)) + forms.UNKNOWN["a group"])
    assert protobuf_example(forms.field(1, odd + forms.entry(b"b", b"")), None).keys() == {b"b"}


def test_pieces_of_a_feature_list_are_joined() -> None:
    entry = forms.field(1, b"a") + forms.field(2, forms.steps([forms.ints(1)])) * 2
    lists = protobuf_sequence_example(forms.field(2, forms.field(1, entry)), None, None)[1]
    assert lists[b"a"] == [("int64", [1])] * 2


@pytest.mark.parametrize("junk", forms.BROKEN.values(), ids=forms.BROKEN)
def test_broken_fields_are_refused_at_every_place(junk: bytes) -> None:
    flat = forms.example([(b"a", forms.ints(1))])
    for data in (junk + flat, flat + junk, forms.example([(b"a", junk)]), forms.field(1, junk)):
        with pytest.raises(Malformed):
            protobuf_example(data, None)


PLACES = {
    "message": lambda groups: (groups, 100),
    "features": lambda groups: (forms.field(1, groups), 99),
    "entry": lambda groups: (forms.field(1, forms.field(1, groups)), 98),
    "feature": lambda groups: (forms.example([(b"a", groups)]), 97),
    "list": lambda groups: (forms.example([(b"a", forms.field(3, groups))]), 96),
    "feature list": lambda groups: (forms.sequence_example([], [(b"a", groups)]), 97),
    "step": lambda groups: (forms.sequence_example([], [(b"a", forms.field(1, groups))]), 96),
    "list of a step": lambda groups: (forms.sequence_example([], [(b"a", forms.field(1, forms.field(3, groups)))]), 95),
}


@pytest.mark.parametrize("place", PLACES)
def test_messages_and_groups_nest_as_deep_as_protobuf_reads_them(place: str) -> None:
    _, deepest = PLACES[place](b"")
    protobuf_sequence_example(PLACES[place](b"\x3b" * deepest + b"\x3c" * deepest)[0], None, None)
    with pytest.raises(Malformed, match="protobuf"):
        protobuf_sequence_example(PLACES[place](b"\x3b" * (deepest + 1) + b"\x3c" * (deepest + 1))[0], None, None)


# What TensorFlow reads from odd forms stands in a table, which `test_wire.py` goes through; here are its rules, one
# by one.


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
    with pytest.raises(Malformed, match="not the expected tag 10"):
        tensorflow_sequence_example(forms.field(2, forms.field(1, entry)), None, None)


def test_the_steps_of_a_list_are_of_one_kind() -> None:
    data = forms.sequence_example([], [(b"a", forms.steps([forms.ints(1), b"", forms.floats(1.0)]))])
    with pytest.raises(Malformed, match="different types"):
        tensorflow_sequence_example(data, None, None)

"""Examples of the form that programs write, read by protobuf as the walker reads them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ExampleError
from datasets_core.records.encoding import encode_example
from datasets_core.records.wire.messages import plain_example
from datasets_core.records.wire.values import told_values
from tests.records.wire_tables import walk_example

KEYS = {b"a", b"bb", b"\xc3\xa9", b""}
values = (
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=12)
    | st.lists(st.integers(0, 300), max_size=90)
    | st.lists(st.floats(width=32), max_size=40)
    | st.lists(st.binary(max_size=200), max_size=3)
)
examples = st.dictionaries(st.sampled_from(["a", "bb", "é", "", "unwanted"]), values)


def told(found):
    return {key: (kind, list(map(repr, values))) for key, (kind, values) in found.items()}


@given(row=examples)
def test_messages_that_programs_write_are_read_as_the_walker_reads_them(row):
    data = encode_example(row)
    found = plain_example(data, KEYS)
    assert found is not None
    assert told({key: told_values(feature) for key, feature in found.items()}) == told(
        walk_example(data, rules="tensorflow", keys=KEYS)
    )


@given(
    row=examples,
    places=st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=3),
    cut=st.integers(0, 9),
)
def test_damaged_messages_are_left_to_the_walker_or_read_as_it_reads_them(row, places, cut):
    data = bytearray(encode_example(row))
    for place, byte in places:
        if data:
            data[place % len(data)] = byte
    data = bytes(data[: len(data) - cut] if cut < 4 else data)
    found = plain_example(data, KEYS)
    if found is not None:
        assert told({key: told_values(feature) for key, feature in found.items()}) == told(
            walk_example(data, rules="tensorflow", keys=KEYS)
        )


@pytest.mark.parametrize("size", [1, 127, 128, 20_000, 300_000])
def test_values_of_any_length_are_read(size):
    data = encode_example({"a": [b"x" * size, b"y"], "bb": np.arange(size)})
    found = plain_example(data, KEYS)
    assert found[b"a"][1] == [b"x" * size, b"y"]
    assert found[b"bb"][1] == list(range(size))


def test_features_that_are_not_wanted_are_not_looked_into():
    data = encode_example({"a": 1}) + b""
    broken = data.replace(b"\x1a\x03\n\x01\x01", b"\x1a\x03\n\x01\xff")
    assert broken != data
    assert plain_example(broken, {b"bb"}) is None
    assert walk_example(broken, rules="tensorflow", keys={b"bb"}) == {}
    with pytest.raises(ExampleError):
        walk_example(broken, rules="tensorflow", keys={b"a"})

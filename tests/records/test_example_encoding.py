"""Values -> wire -> the same values, and what has no form is told by its key."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ExampleError
from datasets_core.records.encoding import encode_example, encode_sequence_example
from datasets_core.records.wire.messages import Feature, decode_example, decode_sequence_example

INTS = st.integers(-(1 << 63), (1 << 63) - 1)
FLOATS = st.floats(width=32, allow_nan=False)
FEATURES = st.one_of(
    st.builds(Feature, st.just("int64"), st.lists(INTS, max_size=50)),
    st.builds(Feature, st.just("float"), st.lists(FLOATS, max_size=50)),
    st.builds(Feature, st.just("bytes"), st.lists(st.binary(max_size=200), max_size=5)),
    st.just(Feature(None, [])),
)
MESSAGES = st.dictionaries(st.text(max_size=10), FEATURES, max_size=6)


@given(MESSAGES)
def test_features_survive_the_wire_in_their_order(features: dict[str, Feature]) -> None:
    found = decode_example(encode_example(features))
    assert list(found.items()) == list(features.items())


@given(MESSAGES, st.dictionaries(st.text(max_size=10), st.lists(FEATURES, max_size=4), max_size=4))
def test_sequences_survive_the_wire(context: dict[str, Feature], lists: dict[str, list[Feature]]) -> None:
    found = decode_sequence_example(encode_sequence_example(context, lists))
    assert [list(found[0].items()), list(found[1].items())] == [list(context.items()), list(lists.items())]


@given(MESSAGES)
def test_the_bytes_of_a_message_are_the_same_each_time(features: dict[str, Feature]) -> None:
    assert encode_example(features) == encode_example(dict(features))


@pytest.mark.parametrize(
    ("value", "kind", "values"),
    [
        (7, "int64", [7]),
        (True, "int64", [1]),
        (np.int8(-3), "int64", [-3]),
        (np.bool_(True), "int64", [1]),
        ([1, True, np.uint16(9)], "int64", [1, 1, 9]),
        (range(3), "int64", [0, 1, 2]),
        (0.5, "float", [0.5]),
        (np.float16(0.25), "float", [0.25]),
        ([1, 0.5], "float", [1.0, 0.5]),
        (0.1, "float", [float(np.float32(0.1))]),
        ("é", "bytes", ["é".encode()]),
        (b"\x00\xff", "bytes", [b"\x00\xff"]),
        pytest.param(["a", b"b", bytearray(b"c"), memoryview(b"d")], "bytes", [b"a", b"b", b"c", b"d"], id="buffers"),
        (np.array([[1, 2], [3, 4]]), "int64", [1, 2, 3, 4]),
        (np.array([[1, 2], [3, 4]]).T, "int64", [1, 3, 2, 4]),
        (np.array([True, False]), "int64", [1, 0]),
        (np.zeros((0, 3), np.float32), "float", []),
        (np.zeros(0, np.uint8), "int64", []),
        (np.array(["a", "bc"]), "bytes", [b"a", b"bc"]),
        (np.zeros(0, "U3"), "bytes", []),
        (np.array([b"a", "b"], object), "bytes", [b"a", b"b"]),
        (np.array(3.5), "float", [3.5]),
        (np.longdouble(0.5), "float", [0.5]),
        ([], None, []),
        ((), None, []),
        (Feature("float", [1, 2.5]), "float", [1.0, 2.5]),
        (Feature("bytes", ["a"]), "bytes", [b"a"]),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_the_kind_follows_from_the_values(value: Any, kind: str | None, values: list[Any]) -> None:
    assert decode_example(encode_example({"x": value})) == {"x": Feature(kind, values)}  # type: ignore[arg-type]


def test_none_is_left_out() -> None:
    assert list(decode_example(encode_example({"a": None, "b": 1}))) == ["b"]
    assert decode_sequence_example(encode_sequence_example({"a": None}, {"b": None, "c": []})) == ({}, {"c": []})


def test_floats_keep_their_bits() -> None:
    numbers = [float("inf"), float("-inf"), -0.0, 1e-45, 3.4028234663852886e38]
    found = decode_example(encode_example({"x": numbers}))["x"].values
    assert struct.pack("5f", *found) == struct.pack("5f", *numbers)
    assert np.isnan(decode_example(encode_example({"x": float("nan")}))["x"].values[0])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1 << 63, "beyond what int64 holds"),
        (np.array([1 << 63], np.uint64), "beyond what int64 holds"),
        ([1, -(1 << 63) - 1], "beyond what int64 holds"),
        (1e39, "1e+39, which is beyond what float32 holds"),
        (np.array([0.5, -1e39]), "-1e+39, which is beyond"),
        ([0.5, 10**400], "beyond what float32 holds"),
        ([1, "a"], "mixes numbers with text"),
        ([1, None], "holds None"),
        ([[1], [2]], "lists in a list"),
        (np.array([[1], [2, 3]], object), "lists in a list"),
        ({"a": 1}, "{'a': 1}"),
        (1j, "1j"),
        (np.array(["2020-01-01"], "datetime64[D]"), "datetime64[D]"),
        ("\ud800", "UTF-8"),
        (Feature("int64", ["a"]), "of kind 'int64' holds values of kind 'bytes'"),  # type: ignore[arg-type]
        (Feature("int", [1]), "of kind 'int'"),  # type: ignore[arg-type]
        (Feature("int64", [0.5]), "holds values of kind 'float'"),
    ],
    ids=str,
)
def test_what_has_no_form_is_told_by_its_key(value: Any, said: str) -> None:
    with pytest.raises(ExampleError) as caught:
        encode_example({"fine": 1, "x": value})
    assert said in str(caught.value) and "'x'" in str(caught.value)
    assert caught.value.key == "x"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    "act",
    [
        lambda: encode_example([("a", 1)]),  # type: ignore[arg-type]
        lambda: encode_example({1: 2}),  # type: ignore[dict-item]
        lambda: encode_example({"\ud800": 2}),
        lambda: encode_sequence_example({}, {"a": 3}),  # type: ignore[dict-item]
        lambda: encode_sequence_example({}, {"a": "text"}),
        lambda: encode_sequence_example({}, {"a": [1, None]}),
        lambda: encode_sequence_example({}, {"a": [[[1]]]}),
    ],
)
def test_mistakes_of_the_caller(act: Callable[[], object]) -> None:
    with pytest.raises(ExampleError):
        act()


def test_the_steps_of_an_array_are_its_rows() -> None:
    found = decode_sequence_example(encode_sequence_example({}, {"a": np.array([[1, 2], [3, 4]]), "b": np.array([5, 6])}))
    assert found[1]["a"] == [Feature("int64", [1, 2]), Feature("int64", [3, 4])]
    assert found[1]["b"] == [Feature("int64", [5]), Feature("int64", [6])]


# What SerializeToString(deterministic=True) of TensorFlow 2.21 gives.
EXAMPLE = (
    "0a430a140a0161120f1a0d0a0b01ffffffffffffffffff010a0d0a0162120812060a040000003f0a0c0a016312070a050a01780a00"
    "0a070a016412021a000a050a01651200"
)
SEQUENCE = "0a0d0a0b0a016112061a040a02ac02121a0a110a0162120c0a061a040a0201020a021a000a050a01631200"


def test_bytes_are_those_that_protobuf_writes() -> None:
    features = {"a": [1, -1], "b": [0.5], "c": ["x", ""], "d": np.zeros(0, int), "e": []}
    assert encode_example(features).hex() == EXAMPLE
    lists = {"b": [[1, 2], np.zeros(0, int)], "c": []}
    assert encode_sequence_example({"a": 300}, lists).hex() == SEQUENCE
    assert [encode_example({}), encode_sequence_example(), encode_sequence_example({}, {})] == [b"\n\0", b"", b"\n\0\x12\0"]


@pytest.mark.parametrize("key", [b"a", "\ud800"])
def test_a_key_that_is_none_is_told_with_its_message(key):
    for encode, name in ((encode_example, "Example"), (lambda given: encode_sequence_example(None, given), "SequenceExample")):
        with pytest.raises(ExampleError, match=f"^{name}: has the key"):
            encode({key: [1]})

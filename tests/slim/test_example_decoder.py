"""Items of Examples, one by one and in blocks."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import records, slim
from datasets_core.errors import ConfigurationError, ExampleError
from datasets_core.records.wire.values import RecordBlock

SPECS = {
    "one": slim.FixedLenFeature([], "int64", -1),
    "pair": slim.FixedLenFeature([2], "float32", [0.0, 0.0]),
    "word": slim.FixedLenFeature([], "string", ""),
    "many": slim.VarLenFeature("int64"),
    "words": slim.VarLenFeature("string"),
    "rows": slim.FixedLenSequenceFeature([2], "int64", allow_missing=True),
    "sparse": slim.SparseFeature("many", "floats", "float32", 50),
}
HANDLERS: dict[str, slim.ItemHandler] = {
    "one": slim.Tensor("one"),
    "one as list": slim.Tensor("one", shape=[1]),
    "pair": slim.Tensor("pair"),
    "word": slim.Tensor("word"),
    "many": slim.Tensor("many"),
    "many as rows": slim.Tensor("many", shape=[1, -1]),
    "words": slim.LookupTensor("words", slim.LookupTable(["a", "b"])),
    "rows": slim.Tensor("rows"),
    "box": slim.BoundingBox(["many"] * 4),
    "sparse": slim.Tensor("sparse"),
    "sparse itself": slim.ItemHandlerCallback("many", lambda found: found["many"]),
    "either": slim.BackupHandler(slim.Tensor("many"), slim.Tensor("one")),
}
DECODER = slim.TFExampleDecoder(SPECS, HANDLERS)
WORDS = st.sampled_from(["a", "b", "c", ""])


@st.composite
def examples(draw: Any) -> bytes:
    values: dict[str, Any] = {
        "one": draw(st.integers(-(2**63), 2**63 - 1)),
        "pair": draw(st.tuples(*[st.floats(width=32, allow_nan=False)] * 2).map(list)),
        "word": draw(WORDS),
        "words": draw(st.lists(WORDS, max_size=3)),
        "rows": draw(st.lists(st.integers(0, 9), max_size=2)) * 2,
    }
    places = sorted(draw(st.sets(st.integers(0, 49), max_size=4)))
    values |= {"many": places, "floats": [place / 2 for place in places]}
    left_out = draw(st.sets(st.sampled_from([key for key in values if key not in ("many", "floats")])))
    return records.encode_example({key: value for key, value in values.items() if key not in left_out and value != []})


def plain(value: Any) -> Any:
    if isinstance(value, slim.SparseValue):
        return [plain(value.indices), plain(value.values), plain(value.dense_shape)]
    return value.dtype.name, value.shape, value.tolist()


@settings(max_examples=25)
@given(st.lists(examples(), min_size=1, max_size=6), st.lists(st.sampled_from(sorted(HANDLERS)), unique=True))
def test_a_block_gives_what_its_records_give(data: list[bytes], items: list[str]) -> None:
    wanted = [[plain(value) for value in DECODER.decode(record, items)] for record in data]
    found = [
        [plain(sample[item]) for item in items or HANDLERS] for sample in DECODER.decode_block(RecordBlock.of(data), items)
    ]
    assert found == wanted


def test_only_the_keys_of_the_items_are_parsed() -> None:
    specs = {"a": slim.FixedLenFeature([], "int64"), "b": slim.FixedLenFeature([], "int64")}
    decoder = slim.TFExampleDecoder(specs, {"a": slim.Tensor("a"), "b": slim.Tensor("b")})
    data = records.encode_example({"a": 1})
    assert decoder.decode(data, ["a"]) == [1]
    assert [int(sample["a"]) for sample in decoder.decode_block(RecordBlock.of([data]), ["a"])] == [1]
    with pytest.raises(ExampleError, match="'b' is missing"):
        decoder.decode(data)


def test_records_before_a_wrong_one_are_given_whatever_is_wrong_with_later_ones() -> None:
    specs = {"a": slim.FixedLenFeature([], "int64"), "b": slim.FixedLenFeature([], "int64")}
    decoder = slim.TFExampleDecoder(specs, {"a": slim.Tensor("a"), "b": slim.Tensor("b")})
    values: list[dict[str, Any]] = [{"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}, {"b": 2}, {"a": 1, "b": 2}]
    samples = decoder.decode_block(RecordBlock.of([records.encode_example(value) for value in values], first=7, name="f"))

    assert [int(next(samples)["b"]) for _ in range(2)] == [2, 2]
    with pytest.raises(ExampleError, match="record 9: feature 'b' is missing"):
        next(samples)


def test_records_before_one_that_is_no_message_are_given() -> None:
    decoder = slim.TFExampleDecoder({"a": slim.FixedLenFeature([], "int64")}, {"a": slim.Tensor("a")})
    good = records.encode_example({"a": 1})
    samples = decoder.decode_block(RecordBlock.of([good, b"\xff\xff", good], name="f"))
    assert int(next(samples)["a"]) == 1
    with pytest.raises(ExampleError, match="f: record 1"):
        next(samples)


def test_specs_of_tensorflow_are_understood() -> None:
    spec = type("VarLenFeature", (), {"dtype": SimpleNamespace(name="int64")})()
    decoder = slim.TFExampleDecoder({"a": spec}, {"a": slim.Tensor("a")})
    data = records.encode_example({"a": [1, 2]})
    assert decoder.decode(data)[0].tolist() == [1, 2]
    assert [sample["a"].tolist() for sample in decoder.decode_block(RecordBlock.of([data]))] == [[1, 2]]


@pytest.mark.parametrize("specs", [None, [], {"a": "int64"}, {"a": slim.FixedLenFeature([None], "int64")}], ids=str)
def test_specs_without_meaning_are_refused(specs: Any) -> None:
    with pytest.raises(ConfigurationError):
        slim.TFExampleDecoder(specs, {"a": slim.Tensor("a")})


def test_a_derived_tensor_is_given_what_decode_gives_it() -> None:
    class Places(slim.Tensor):
        def tensors_to_item(self, keys_to_tensors: Any) -> Any:
            return keys_to_tensors["many"].indices[:, 0] + np.int64(1)

    decoder = slim.TFExampleDecoder(SPECS, {"places": Places("many"), "many": slim.Tensor("many")})
    data = records.encode_example({"many": [7, 8]})
    (sample,) = decoder.decode_block(RecordBlock.of([data]))
    assert decoder.decode(data)[0].tolist() == sample["places"].tolist() == [1, 2]
    assert sample["many"].tolist() == [7, 8]

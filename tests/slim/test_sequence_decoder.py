"""Items of SequenceExamples, one by one and in blocks."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import records, slim
from datasets_core.errors import ConfigurationError, ExampleError
from datasets_core.records.wire.values import RecordBlock

DECODER = slim.TFSequenceExampleDecoder(
    {"id": slim.FixedLenFeature([], "int64", -1), "tags": slim.VarLenFeature("string")},
    {
        "steps": slim.FixedLenSequenceFeature([], "int64", allow_missing=True),
        "pairs": slim.FixedLenSequenceFeature([2], "float32", allow_missing=True),
        "words": slim.VarLenFeature("string"),
        "y": slim.VarLenFeature("float32"),
    },
    {
        "id": slim.Tensor("id"),
        "tags": slim.Tensor("tags"),
        "steps": slim.Tensor("steps"),
        "pairs": slim.Tensor("pairs"),
        "words": slim.Tensor("words", default_value="-"),
        "points": slim.KeypointsSequence(["y", "y"]),
        "counts": slim.NumBoxesSequence(["y"]),
        "rows": slim.ItemHandlerCallback("y", lambda found: found["y"]),
    },
)


@st.composite
def sequences(draw: Any) -> bytes:
    halves = st.lists(st.integers(-4, 4).map(lambda number: number / 2), min_size=1, max_size=3)
    context = {"id": draw(st.integers(-9, 9)), "tags": draw(st.lists(st.sampled_from("ab"), min_size=1, max_size=2))}
    lists: dict[str, list[Any]] = {
        "steps": draw(st.lists(st.integers(-9, 9), max_size=4)),
        "pairs": draw(st.lists(st.just([0.5, 1.5]), max_size=2)),
        "words": draw(st.lists(st.lists(st.sampled_from(["a", "b", ""]), min_size=1, max_size=2), max_size=3)),
        "y": draw(st.lists(halves, max_size=3)),
    }
    left_out = draw(st.sets(st.sampled_from(["id", "tags", *lists])))
    return records.encode_sequence_example(
        {key: value for key, value in context.items() if key not in left_out},
        {key: steps for key, steps in lists.items() if key not in left_out and steps},
    )


def plain(value: Any) -> Any:
    if isinstance(value, slim.SparseValue):
        return [plain(value.indices), plain(value.values), plain(value.dense_shape)]
    return value.dtype.name, value.shape, value.tolist()


@settings(max_examples=20)
@given(st.lists(sequences(), min_size=1, max_size=5), st.lists(st.sampled_from(DECODER.list_items()), unique=True))
def test_a_block_gives_what_its_records_give(data: list[bytes], items: list[str]) -> None:
    wanted = [[plain(value) for value in DECODER.decode(record, items)] for record in data]
    names = items or DECODER.list_items()
    found = [[plain(sample[item]) for item in names] for sample in DECODER.decode_block(RecordBlock.of(data), items)]
    assert found == wanted


def test_records_before_a_wrong_one_are_given() -> None:
    decoder = slim.TFSequenceExampleDecoder({}, {"n": slim.FixedLenSequenceFeature([], "int64")}, {"n": slim.Tensor("n")})
    good, bad = records.encode_sequence_example({}, {"n": [1, 2]}), records.encode_sequence_example({}, {"n": [1.5]})
    samples = decoder.decode_block(RecordBlock.of([good, bad, good], first=4, name="f"))
    assert next(samples)["n"].tolist() == [1, 2]
    with pytest.raises(ExampleError, match="f: record 5: feature 'n'"):
        next(samples)


def test_ragged_steps_are_given_as_they_are() -> None:
    decoder = slim.TFSequenceExampleDecoder({}, {"n": slim.RaggedFeature("int64")}, {"n": slim.Tensor("n")})
    data = [records.encode_sequence_example({}, {"n": steps}) for steps in ([[1], [2, 3]], [[4, 5]])]
    wanted = [[[1], [2, 3]], [[4, 5]]]
    assert [decoder.decode(record)[0].to_list() for record in data] == wanted
    assert [sample["n"].to_list() for sample in decoder.decode_block(RecordBlock.of(data))] == wanted


def test_either_part_may_be_left_out() -> None:
    decoder = slim.TFSequenceExampleDecoder({"id": slim.FixedLenFeature([], "int64")}, None, {"id": slim.Tensor("id")})
    assert decoder.decode(records.encode_sequence_example({"id": 5}, {})) == [5]
    assert slim.TFSequenceExampleDecoder(None, None, {}).list_items() == []


def test_specs_of_the_wrong_part_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="of context_features cannot be a FixedLenSequenceFeature"):
        slim.TFSequenceExampleDecoder({"a": slim.FixedLenSequenceFeature([], "int64")}, {}, {})

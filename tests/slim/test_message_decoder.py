"""What decoders of messages have in common."""

import pickle
from typing import Any

import numpy as np
import pytest

from datasets_core import records, slim
from datasets_core.errors import ArgumentTypeError, ConfigurationError, ExampleError, UnknownFeatureError
from datasets_core.records.wire.values import RecordBlock

SPECS = {"n": slim.FixedLenFeature([], "int64"), "size": slim.VarLenFeature("int64")}
BLOCK = RecordBlock.of([records.encode_example({"n": n, "size": [n] * n}) for n in range(5)], first=100, name="a.tfrecord")


def decoder(**handlers: slim.ItemHandler) -> slim.TFExampleDecoder:
    return slim.TFExampleDecoder(SPECS, handlers)


def test_a_key_without_a_spec_is_told_when_its_item_is_asked_for() -> None:
    made = decoder(n=slim.Tensor("n"), other=slim.Tensor("other"))
    assert made.decode(next(iter(BLOCK)), ["n"]) == [0]
    with pytest.raises(
        UnknownFeatureError, match=r"Item 'other' needs the key 'other', which has no feature spec. Keys .* 'n', 'size'"
    ):
        made.decode(b"")
    with pytest.raises(KeyError):
        made.decode_block(BLOCK, ["other"])


@pytest.mark.parametrize("handlers", [{"a": "n"}, {"a": None}], ids=str)
def test_what_is_no_handler_is_refused(handlers: Any) -> None:
    with pytest.raises(ConfigurationError, match="Item 'a' is to be made by"):
        slim.TFExampleDecoder(SPECS, handlers)


def test_handlers_stand_in_a_dict() -> None:
    with pytest.raises(ArgumentTypeError, match="is not a dict"):
        slim.TFExampleDecoder(SPECS, [slim.Tensor("n")])  # type: ignore[arg-type]


def test_samples_before_one_that_makes_no_item_are_given() -> None:
    samples = decoder(size=slim.Tensor("size", shape=[-1, 2])).decode_block(BLOCK[2:])
    assert next(samples)["size"].tolist() == [[2, 2]]
    with pytest.raises(
        ExampleError, match=r"a.tfrecord: record 103: item 'size': 3 values cannot take the shape \[-1, 2\]"
    ) as caught:
        next(samples)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.record) == (str(caught.value), 103)


def test_the_errors_of_a_function_of_ones_own_are_its_own_with_a_note() -> None:
    def fail(found: dict[str, Any]) -> Any:
        return 1 // int(found["n"])

    made = decoder(inverse=slim.ItemHandlerCallback("n", fail))
    with pytest.raises(ZeroDivisionError) as caught:
        list(made.decode_block(BLOCK))
    assert caught.value.__notes__ == ["This is item 'inverse' of a.tfrecord, record 100."]
    with pytest.raises(ZeroDivisionError) as caught:
        made.decode(next(iter(BLOCK)))
    assert caught.value.__notes__ == ["This is item 'inverse' of Example."]


def test_items_need_no_keys() -> None:
    made = decoder(one=slim.ItemHandlerCallback([], lambda found: 1), n=slim.Tensor("n"))
    assert made.decode(b"damaged", ["one"]) == [1]
    assert [sample["one"] for sample in made.decode_block(BLOCK, ["one"])] == [1] * 5
    assert list(decoder().decode_block(BLOCK)) == [{}] * 5


def test_an_item_may_be_asked_for_twice() -> None:
    made = decoder(n=slim.Tensor("n"))
    assert made.decode(next(iter(BLOCK)), ["n", "n"]) == [0, 0]


def test_samples_can_be_written_to_and_do_not_share_their_values() -> None:
    first, second = list(decoder(n=slim.Tensor("n"), size=slim.Tensor("size")).decode_block(BLOCK))[1:3]
    first["size"][:] = -1
    first["n"][...] = -1
    assert (second["n"].tolist(), second["size"].tolist()) == (2, [2, 2])


def test_records_may_come_as_a_list() -> None:
    assert [int(sample["n"]) for sample in decoder(n=slim.Tensor("n")).decode_block(list(BLOCK))] == [0, 1, 2, 3, 4]


def test_a_record_may_be_anything_that_holds_bytes() -> None:
    data = list(BLOCK)[3]
    for given in (data, bytearray(data), memoryview(data), np.array(data, object)):
        assert decoder(n=slim.Tensor("n")).decode(given) == [3]

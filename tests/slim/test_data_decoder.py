"""The protocol of decoders, and decoders of one's own."""

from typing import Any

import pytest

from datasets_core import slim
from datasets_core.errors import ArgumentTypeError, UnknownItemError
from datasets_core.records.wire.values import RecordBlock
from datasets_core.slim.data_decoder import chosen_items


class Lengths(slim.DataDecoder):
    def decode(self, data: Any, items: Any = None) -> list[Any]:
        return [{"data": data, "length": len(data)}[item] for item in chosen_items(items, self.list_items())]

    def list_items(self) -> list[str]:
        return ["data", "length"]


class OldLengths(slim.DataDecoder):
    def Decode(self, data: Any, items: Any = None) -> list[Any]:  # noqa: N802
        return [{"data": data, "length": len(data)}[item] for item in items]

    def ListItems(self) -> list[str]:  # noqa: N802
        return ["data", "length"]


@pytest.mark.parametrize("decoder", [Lengths(), OldLengths()], ids=["new", "old"])
def test_both_spellings_are_one(decoder: slim.DataDecoder) -> None:
    assert decoder.decode(b"abc", ["length"]) == decoder.Decode(b"abc", ["length"]) == [3]
    assert decoder.list_items() == decoder.ListItems() == ["data", "length"]


@pytest.mark.parametrize("decoder", [Lengths(), OldLengths()], ids=["new", "old"])
def test_blocks_are_decoded_sample_by_sample(decoder: slim.DataDecoder) -> None:
    block = RecordBlock.of([b"a", b"bcd"])
    assert list(decoder.decode_block(block, ["length", "data"])) == [{"length": 1, "data": b"a"}, {"length": 3, "data": b"bcd"}]
    assert list(decoder.decode_block(["wren"])) == [{"data": "wren", "length": 4}]


def test_a_class_that_decodes_nothing_cannot_be_made() -> None:
    class Nothing(slim.DataDecoder):
        def list_items(self) -> list[str]:
            return []

    with pytest.raises(TypeError, match="abstract"):
        Nothing()  # type: ignore[abstract]


@pytest.mark.parametrize("items", [None, [], ()])
def test_all_items_are_meant_where_none_is_named(items: Any) -> None:
    assert chosen_items(items, ["a", "b"]) == ["a", "b"]


def test_items_keep_the_order_and_number_in_which_they_are_asked_for() -> None:
    assert chosen_items(("b", "a", "b"), ["a", "b"]) == ["b", "a", "b"]


def test_one_name_is_no_list() -> None:
    with pytest.raises(ArgumentTypeError, match=r"must be a list or tuple of names, not 'a'. Pass \['a'\]"):
        chosen_items("a", ["a"])


def test_an_unknown_item_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UnknownItemError, match=r"Unknown item 'c'. Available items: 'a', 'b'.") as caught:
        chosen_items(["c"], ["a", "b"])
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, KeyError)

"""Providers of one's own."""

import pytest

from datasets_core.errors import OutOfRangeError
from datasets_core.slim.data_provider import DataProvider


class Two(DataProvider):
    def __init__(self):
        super().__init__(("a", "b"), 2)
        self.given = 0

    def sample(self, items):
        if self.given == 2:
            raise OutOfRangeError("Two", num_samples=2)
        self.given += 1
        return {"a": self.given, "b": -self.given}


def test_items_come_in_the_order_asked_for():
    provider = Two()
    assert provider.get(["b", "a", "b"]) == [-1, 1, -1]
    assert provider.get(("a",)) == [2]
    assert provider.list_items() == ["a", "b"]
    assert provider.num_samples() == 2


def test_no_items_take_no_sample():
    provider = Two()
    assert provider.get([]) == []
    assert provider.given == 0


@pytest.mark.parametrize("items", ["a", None, {"a"}, {"a": 1}, 3])
def test_items_must_be_a_list_or_tuple(items):
    with pytest.raises(ValueError, match="items must be a list or tuple"):
        Two().get(items)


@pytest.mark.parametrize("item", ["c", None, 1])
def test_an_unknown_item_is_refused_and_the_known_ones_are_named(item):
    provider = Two()
    with pytest.raises(ValueError, match="'a', 'b'"):
        provider.get(["a", item])
    assert provider.given == 0

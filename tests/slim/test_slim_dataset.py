"""What a dataset is made of."""

import copy
import pickle

import pytest

from datasets_core import slim
from datasets_core.errors import ConfigurationError


def dataset(**fields: object) -> slim.Dataset:
    return slim.Dataset(["a", "b"], dict, slim.RowDecoder({"text": "line"}), 3, {"text": "A line."}, **fields)


def test_each_argument_is_an_attribute() -> None:
    made = dataset(num_classes=2, labels_to_names={0: "wren"})
    assert (made.data_sources, made.reader, made.num_samples) == (["a", "b"], dict, 3)
    assert (made.items_to_descriptions, made.num_classes, made.labels_to_names) == ({"text": "A line."}, 2, {0: "wren"})


def test_arguments_have_the_names_that_tf_slim_gave_them() -> None:
    made = slim.Dataset(data_sources="*", reader=None, decoder=None, num_samples=0, items_to_descriptions=None)
    nothing = dict.fromkeys(["reader", "decoder", "items_to_descriptions"])
    assert vars(made) == {"data_sources": "*", "num_samples": 0, **nothing}


def test_the_decoder_is_asked() -> None:
    assert dataset().list_items() == ["text"]
    assert dataset().decode({"line": "a wren"}) == ["a wren"]


class Older:
    """A decoder as older code writes it."""

    def ListItems(self) -> list[str]:  # noqa: N802
        return ["text"]

    def Decode(self, data: str, items: list[str] | None = None) -> list[str]:  # noqa: N802
        return [data]


def test_a_decoder_may_have_the_older_names_alone() -> None:
    made = slim.Dataset([], None, Older(), 1, {})
    assert (made.list_items(), made.decode("a wren")) == (["text"], ["a wren"])
    with pytest.raises(ConfigurationError, match="list_items"):
        slim.Dataset([], None, object(), 1, {}).list_items()


def test_a_field_that_is_not_there_is_told() -> None:
    with pytest.raises(AttributeError, match=r"no field 'num_classes'. Fields: .*'decoder'"):
        _ = dataset().num_classes
    assert not hasattr(dataset(), "labels")


def test_it_is_copied_and_pickled_whole() -> None:
    for made in (copy.copy(dataset(n=1)), copy.deepcopy(dataset(n=1)), pickle.loads(pickle.dumps(dataset(n=1)))):
        assert (made.n, made.num_samples, made.list_items()) == (1, 3, ["text"])


def test_it_shows_its_fields() -> None:
    assert "num_samples=3" in repr(dataset())

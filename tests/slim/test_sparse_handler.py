"""Sparse arrays of the keys that hold places and values."""

from typing import Any

import numpy as np
import pytest

from datasets_core import slim
from datasets_core.errors import ConfigurationError, ItemError
from datasets_core.records.specs.values import SparseValue

PLACES = SparseValue.of([[0], [1]], [1, 3], [2])
VALUES = SparseValue.of([[0], [1]], [0.5, 0.25], [2])
FOUND = {
    "indices": PLACES,
    "values": VALUES,
    "size": np.array([5]),
    "sizes": SparseValue.of([[0]], [6], [1]),
    "none": np.empty(0),
}


def test_keys_have_names_of_their_own() -> None:
    assert slim.SparseTensor().keys == ["indices", "values"]
    assert slim.SparseTensor("a", "b", "c").keys == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("options", "shape"),
    [
        ({}, [2]),
        ({"shape": [4]}, [4]),
        ({"shape": []}, [2]),
        ({"shape_key": "size"}, [5]),
        ({"shape_key": "sizes", "shape": [9]}, [6]),
    ],
    ids=str,
)
def test_the_shape_comes_from_a_key_or_is_given(options: dict[str, Any], shape: list[int]) -> None:
    made = slim.SparseTensor(**options).tensors_to_item(FOUND)
    assert made == SparseValue.of([[1], [3]], [0.5, 0.25], shape)


@pytest.mark.parametrize("places", [PLACES, np.array([1, 3])], ids=["sparse", "array"])
@pytest.mark.parametrize("values", [VALUES, np.array([0.5, 0.25])], ids=["sparse", "array"])
def test_specs_of_fixed_length_do_as_well(places: Any, values: Any) -> None:
    made = slim.SparseTensor(shape=[4], densify=True).tensors_to_item({"indices": places, "values": values})
    assert made.tolist() == [0, 0.5, 0, 0.25]


def test_of_a_sequence_the_last_dimension_is_replaced() -> None:
    places = SparseValue.of([[0, 0], [2, 0]], [3, 1], [3, 1])
    made = slim.SparseTensor(shape=[3, 4]).tensors_to_item({"indices": places, "values": VALUES})
    assert made == SparseValue.of([[0, 3], [2, 1]], [0.5, 0.25], [3, 4])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"values_key": "none"}, "'indices' has 2 places and 'none' 0 values"),
        ({"shape": [2, 2]}, r"a place has 1 dimensions, and the shape \[2, 2\] has 2"),
        ({"shape_key": "none"}, r"a place has 1 dimensions, and the shape \[\] has 0"),
        ({"densify": True}, r"a value stands at \[3\], outside"),
        ({"shape": [4], "densify": True, "default_value": "-"}, "default_value='-' is not a value"),
    ],
    ids=str,
)
def test_what_makes_no_sparse_array_is_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=f"(?i){reason}"):
        slim.SparseTensor(**options).tensors_to_item(FOUND)


def test_places_are_numbers() -> None:
    words = np.array([b"a", b"b"], object)
    with pytest.raises(ItemError, match="'indices' holds no numbers"):
        slim.SparseTensor().tensors_to_item({"indices": words, "values": VALUES})


def test_a_shape_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ConfigurationError):
        slim.SparseTensor(shape=["a"])  # type: ignore[list-item]

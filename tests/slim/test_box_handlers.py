"""Boxes and points of their coordinates."""

from typing import Any

import numpy as np
import pytest

from datasets_core import slim
from datasets_core.errors import ConfigurationError, ItemError
from datasets_core.records.specs.values import RaggedValue, SparseValue

SIDES = ("ymin", "xmin", "ymax", "xmax")
RAGGED = SparseValue.of([[0, 0], [0, 1], [2, 0]], [1.0, 2.0, 3.0], [3, 2])
OTHER = SparseValue.of([[0, 0], [1, 0], [1, 1]], [4.0, 5.0, 6.0], [3, 2])


def test_boxes_have_rows_and_coordinates_columns() -> None:
    found = {side: np.array([k, k + 10.0]) for k, side in enumerate(SIDES)}
    made = slim.BoundingBox().tensors_to_item(found)
    assert made.tolist() == [[0, 1, 2, 3], [10, 11, 12, 13]] and made.flags.c_contiguous


def test_values_of_any_length_are_boxes_too() -> None:
    found = {f"b/{side}": SparseValue.of([[0]], [k], [1]) for k, side in enumerate(SIDES)}
    assert slim.BoundingBox(prefix="b/").tensors_to_item(found).tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize("kind", [slim.BoundingBox, slim.BoundingBoxSequence])
@pytest.mark.parametrize("prefix", [None, ""])
def test_no_prefix_is_none_and_nothing(kind: Any, prefix: Any) -> None:
    assert kind(prefix=prefix).keys == list(SIDES)


@pytest.mark.parametrize(
    ("kind", "keys", "words"),
    [
        (slim.BoundingBox, ["a"] * 3, "BoundingBox takes 4 keys, not 3"),
        (slim.BoundingBoxSequence, [], "BoundingBoxSequence takes 4 keys, not 0"),
        (slim.KeypointsSequence, "yx", "KeypointsSequence takes 2 keys, not 1"),
        (slim.NumBoxesSequence, [], "NumBoxesSequence has no keys"),
        (slim.NumBoxesSequence, None, "NumBoxesSequence has no keys"),
    ],
)
def test_another_number_of_keys_is_refused(kind: Any, keys: Any, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        kind(keys)


def test_coordinates_that_do_not_go_together_are_told() -> None:
    found = dict.fromkeys(SIDES, np.zeros(2, np.float32)) | {"xmin": np.zeros(3, np.float32)}
    with pytest.raises(ItemError, match=r"'ymin' \[2\] of float32, 'xmin' \[3\] of float32"):
        slim.BoundingBox().tensors_to_item(found)
    with pytest.raises(ItemError, match="of int64"):
        slim.BoundingBox().tensors_to_item(found | {"xmin": np.zeros(2, np.int64)})


def test_values_of_sequences_stand_at_their_steps() -> None:
    found = {"y": RAGGED, "x": OTHER}
    dense = slim.KeypointsSequence(default_value=-1).tensors_to_item(found)
    assert dense.tolist() == [[[1, 4], [2, -1]], [[-1, 5], [-1, 6]], [[3, -1], [-1, -1]]]

    sparse = slim.KeypointsSequence(return_dense=False).tensors_to_item(found)
    places = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 1], [1, 1, 1], [2, 0, 0]]
    assert sparse == SparseValue.of(places, [1.0, 4.0, 2.0, 5.0, 6.0, 3.0], [3, 2, 2])


def test_dense_steps_do_as_well() -> None:
    steps = np.arange(6.0).reshape(3, 2)
    assert np.array_equal(slim.KeypointsSequence().tensors_to_item({"y": steps, "x": steps}), np.stack([steps, steps], axis=-1))


@pytest.mark.parametrize(
    "value", [np.array(3.0), np.arange(3.0), SparseValue.of([[0]], [1.0], [1])], ids=["0d", "1d", "sparse"]
)
def test_values_without_steps_are_refused(value: Any) -> None:
    with pytest.raises(ItemError, match="dimensions, not time and place in it"):
        slim.KeypointsSequence().tensors_to_item({"y": value, "x": value})


def test_boxes_are_counted() -> None:
    counts = slim.NumBoxesSequence("y").tensors_to_item({"y": RAGGED})
    assert (counts.dtype, counts.tolist()) == (np.dtype("int64"), [2, 0, 1])
    ragged = RaggedValue(np.arange(3), (np.array([0, 2, 2, 3], np.int32),))
    assert slim.NumBoxesSequence("y").tensors_to_item({"y": ragged}).tolist() == [2, 0, 1]


def test_other_counts_are_refused_unless_nobody_checks() -> None:
    found = {"y": RAGGED, "x": OTHER}
    with pytest.raises(ItemError, match=r"'y' has \[2, 0, 1\] boxes in its steps and 'x' \[1, 2, 0\]"):
        slim.NumBoxesSequence(["y", "x"]).tensors_to_item(found)
    assert slim.NumBoxesSequence(["y", "x"], check_consistency=False).tensors_to_item(found).tolist() == [2, 0, 1]


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(ItemError, match="'y' has no sparse values of two dimensions"):
        slim.NumBoxesSequence("y").tensors_to_item({"y": np.zeros((2, 2))})

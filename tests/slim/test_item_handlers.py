"""Handlers of tensors, asked by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from datasets_core import slim
from datasets_core.errors import ConfigurationError, ItemError
from datasets_core.records.specs.values import RaggedValue, SparseValue
from datasets_core.slim.handlers import as_dense, bytes_array

VALUES = {
    "flat": np.arange(6),
    "size": np.array([2, 3]),
    "rows": np.array(2),
    "sparse": SparseValue.of([[0], [1]], [4, 5], [2]),
}


def test_keys_are_listed_in_order() -> None:
    assert slim.Tensor("a", shape_keys=["b", "c"]).keys == ["a", "b", "c"]
    assert slim.Tensor("a", shape_keys="b").keys == ["a", "b"]
    assert slim.ItemHandlerCallback(("a", "b"), dict).keys == ["a", "b"]
    assert slim.ItemHandlerCallback("a", dict).keys == ["a"]
    assert slim.BackupHandler(slim.Tensor("a"), slim.Tensor("b")).keys == ["a", "b"]


def test_arguments_have_the_names_and_places_that_tf_slim_gave_them() -> None:
    slim.Tensor(tensor_key="a", shape_keys=None, shape=[1], default_value=0)
    slim.LookupTensor("a", {}, None, [1], "")
    slim.LookupTensor(tensor_key="a", table={}, shape_keys=None, shape=None, default_value="")
    slim.ItemHandlerCallback(keys=["a"], func=dict)
    slim.BackupHandler(handler=slim.Tensor("a"), backup=slim.Tensor("b"))
    slim.SparseTensor("i", "v", "s", None, True, 0)
    slim.SparseTensor(indices_key=None, values_key=None, shape_key=None, shape=None, densify=False, default_value=0)
    slim.Image("a", "b", None, 3, np.uint8, False, "")
    slim.Image(image_key=None, format_key=None, shape=None, channels=3, dtype="uint8", repeated=False, dct_method="")
    slim.BoundingBox(keys=None, prefix="")
    slim.BoundingBoxSequence(keys=None, prefix=None, return_dense=True, default_value=-1.0)
    slim.KeypointsSequence(keys=None, prefix=None, return_dense=True, default_value=-1.0)
    slim.NumBoxesSequence(keys=["a"], check_consistency=True)
    slim.TFExampleDecoder(keys_to_features={}, items_to_handlers={})
    slim.TFSequenceExampleDecoder(keys_to_context_features={}, keys_to_sequence_features={}, items_to_handlers={})


@pytest.mark.parametrize(
    ("handler", "wanted"),
    [
        (slim.Tensor("flat"), [0, 1, 2, 3, 4, 5]),
        (slim.Tensor("flat", shape=(3, -1)), [[0, 1], [2, 3], [4, 5]]),
        (slim.Tensor("flat", shape_keys="size"), [[0, 1, 2], [3, 4, 5]]),
        (slim.Tensor("flat", shape_keys=["rows", "size"], shape=None), None),
        (slim.Tensor("sparse"), [4, 5]),
        (slim.Tensor("sparse", shape=[1, 2]), [[4, 5]]),
    ],
    ids=repr,
)
def test_tensors_take_their_shape(handler: slim.Tensor, wanted: Any) -> None:
    if wanted is None:
        with pytest.raises(ItemError, match=r"6 values cannot take the shape \[2, 2, 3\]"):
            handler.tensors_to_item(VALUES)
    else:
        assert handler.tensors_to_item(VALUES).tolist() == wanted


def test_a_shape_of_the_record_that_is_none_names_its_keys() -> None:
    with pytest.raises(ConfigurationError, match=r"the shape in 'size' \[-1, -1\] is not a valid shape"):
        slim.Tensor("flat", shape_keys="size").tensors_to_item({"flat": np.arange(6), "size": np.array([-1, -1])})


@pytest.mark.parametrize(
    "make",
    [
        lambda: slim.Tensor("a", "b", [1]),
        lambda: slim.Tensor("a", shape=3),  # type: ignore[arg-type]
        lambda: slim.LookupTensor("a", {}, "b", [1]),
        lambda: slim.LookupTensor("a", None),
        lambda: slim.BackupHandler("a", slim.Tensor("b")),  # type: ignore[arg-type]
        lambda: slim.BackupHandler(slim.Tensor("b"), None),  # type: ignore[arg-type]
        lambda: slim.ItemHandlerCallback("a", None),  # type: ignore[arg-type]
    ],
)
def test_arguments_without_meaning_are_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ConfigurationError):
        make()


def test_a_ragged_value_stays_one_until_it_is_shaped() -> None:
    ragged = RaggedValue(np.arange(4), (np.array([0, 1, 4]),))
    assert slim.Tensor("r").tensors_to_item({"r": ragged}) is ragged
    assert slim.Tensor("r", shape=[2, 2]).tensors_to_item({"r": ragged}).tolist() == [[0, 1], [2, 3]]


@pytest.mark.parametrize(
    "empty",
    [
        np.empty((0, 3)),
        SparseValue.of([], [], [0]),
        SparseValue.of([], [], [2, 0]),
        RaggedValue(np.empty(0), (np.array([0]),)),
        [],
    ],
    ids=["array", "sparse", "sparse-2d", "ragged", "list"],
)
def test_a_backup_stands_in_for_what_has_no_elements(empty: Any) -> None:
    handler = slim.BackupHandler(slim.ItemHandlerCallback("a", lambda found: found["a"]), slim.Tensor("b"))
    assert handler.tensors_to_item({"a": empty, "b": np.array(7)}).tolist() == 7


def test_a_sparse_array_without_values_has_elements_all_the_same() -> None:
    value = SparseValue.of([], [], [3])
    handler = slim.BackupHandler(slim.ItemHandlerCallback("a", lambda found: found["a"]), slim.Tensor("b"))
    assert handler.tensors_to_item({"a": value, "b": np.array(7)}) is value


def test_the_backup_is_not_asked_in_vain() -> None:
    def fail(found: Any) -> Any:
        raise AssertionError

    handler = slim.BackupHandler(slim.Tensor("a"), slim.ItemHandlerCallback("b", fail))
    assert handler.tensors_to_item({"a": np.array([1]), "b": None}).tolist() == [1]


def test_tables_of_other_libraries_may_give_tensors() -> None:
    class Tensor:
        def numpy(self) -> Any:
            return np.array([5])

    class Table:
        def lookup(self, values: Any) -> Any:
            assert values.tolist() == [b"a"]
            return Tensor()

    assert slim.LookupTensor("a", Table()).tensors_to_item({"a": bytes_array(["a"])}).tolist() == [5]


def test_sparse_values_that_leave_gaps_are_filled() -> None:
    assert as_dense(SparseValue.of([[1]], [5], [3])).tolist() == [0, 5, 0]
    assert slim.Tensor("a", default_value=-1).tensors_to_item({"a": SparseValue.of([[1]], [5], [3])}).tolist() == [-1, 5, -1]


def test_handlers_show_their_keys() -> None:
    assert repr(slim.Tensor("a", shape_keys=["b"])) == "Tensor('a', 'b')"

"""Handlers of tensors, asked by hand."""

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import slim
from datasets_core.errors import ArgumentTypeError, ConfigurationError, ItemError
from datasets_core.records.specs.values import RaggedValue, SparseValue
from datasets_core.slim.handlers import (
    LookupTable,
    as_dense,
    as_sparse,
    bytes_array,
    dense,
    fill_of,
    reshaped,
    sizes_of,
    sparse_reshaped,
)

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
        with pytest.raises(ItemError, match=r"6 values do not fit the shape \[2, 2, 3\]"):
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


# Tables of vocabularies.

WORDS = np.array([[b"a", "é".encode()], [b"b", b""]], object)


@pytest.mark.parametrize("vocabulary", [{"a": 10, "é": 20}, {b"a": 10, "é".encode(): np.int64(20)}], ids=["texts", "bytes"])
def test_words_have_numbers_and_others_the_default(vocabulary: Any) -> None:
    found = LookupTable(vocabulary).lookup(WORDS)
    assert (found.dtype, found.tolist()) == (np.dtype("int64"), [[10, 20], [-1, -1]])


def test_a_list_numbers_its_words() -> None:
    assert LookupTable(["b", "a"], default_value=9).lookup(WORDS).tolist() == [[1, 9], [0, 9]]


def test_numbers_have_words() -> None:
    found = LookupTable({0: "wren", 1: "owl"}, default_value="?").lookup(np.array([1, 5]))
    assert found.tolist() == [b"owl", b"?"]


def test_numbers_may_be_floats() -> None:
    found = LookupTable({1: 0.5}, default_value=0.0).lookup(np.array(1))
    assert (found.dtype, found.shape, float(found)) == (np.dtype("float64"), (), 0.5)


class Dtype:
    base_dtype = None


class Evaluated:
    """A tensor that has its values."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def numpy(self) -> Any:
        return self.values if self.values.ndim else self.values[()]


class Hashed:
    """A static hash table of TensorFlow, as far as it is asked."""

    key_dtype = Dtype()

    def __init__(self, tensor: Any) -> None:
        self.tensor, self.default_value = tensor, tensor(np.int32(-1))

    def lookup(self, keys: Any) -> Any:
        raise AttributeError("no tensor")

    def export(self) -> tuple[Any, Any]:
        return self.tensor(np.array([b"a", "é".encode()], object)), self.tensor(np.array([3, 4], np.int32))


def test_a_table_of_tensorflow_is_copied() -> None:
    found = LookupTable.of(Hashed(Evaluated)).lookup(WORDS)
    assert (found.dtype, found.tolist()) == (np.dtype("int32"), [[3, 4], [-1, -1]])


class Hidden:
    key_dtype = Dtype()

    def lookup(self, keys: Any) -> Any:
        raise AttributeError("no tensor")


@pytest.mark.parametrize("table", [Hashed(lambda values: object()), Hidden()], ids=["graph", "hidden"])
def test_a_table_of_tensorflow_that_cannot_be_read_is_refused(table: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"Pass slim\.LookupTable"):
        LookupTable.of(table)


def test_without_a_default_other_words_are_an_error() -> None:
    with pytest.raises(ItemError, match=r"The table has no entry for b'b'\. Pass a table with a default"):
        LookupTable.of({"a": 1, "é": 2}).lookup(WORDS)


def test_a_dict_with_a_default_of_its_own_is_asked_and_not_filled() -> None:
    vocabulary = defaultdict(lambda: -7, {"a": 1})
    assert LookupTable.of(vocabulary).lookup(WORDS).tolist() == [[1, -7], [-7, -7]]
    assert list(vocabulary) == ["a"]


def test_whatever_looks_up_is_a_table() -> None:
    class Own:
        def lookup(self, values: Any) -> Any:
            return values

    own = Own()
    assert LookupTable.of(own) is own


@pytest.mark.parametrize("table", ["abc", 3, None])
def test_what_is_no_table_is_refused(table: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a table"):
        LookupTable.of(table)


def test_a_text_is_no_vocabulary() -> None:
    with pytest.raises(ArgumentTypeError) as caught:
        LookupTable("abc")
    assert caught.value.value == "abc"


def test_a_table_may_be_empty() -> None:
    assert len(LookupTable({})) == 0
    assert LookupTable({}).lookup(WORDS).tolist() == [[-1, -1], [-1, -1]]


# Shapes of arrays and of sparse arrays.

SIZES = st.lists(st.integers(1, 4), min_size=1, max_size=3)


@st.composite
def sparse_arrays(draw: Any) -> SparseValue:
    shape = draw(SIZES)
    places = sorted(draw(st.sets(st.integers(0, math.prod(shape) - 1))))
    indices = np.stack(np.unravel_index(np.array(places, np.int64), shape), axis=1)
    return SparseValue.of(indices, [float(place + 1) for place in places], shape)


@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0), (2, 3), (2, 1, 2)])
def test_a_plain_array_is_a_sparse_one_that_is_full(shape: tuple[int, ...]) -> None:
    array = np.arange(1, math.prod(shape) + 1).reshape(shape)
    found = as_sparse(array)
    assert found.indices.shape == (array.size, array.ndim)
    assert found.values.tolist() == [array[tuple(place)] for place in found.indices]
    assert found.dense_shape.tolist() == list(shape)


@settings(max_examples=50)
@given(sparse_arrays(), st.data())
def test_a_sparse_array_is_reshaped_as_the_dense_one(value: SparseValue, data: Any) -> None:
    count = math.prod(value.dense_shape.tolist())
    rows = data.draw(st.sampled_from([size for size in range(1, count + 1) if count % size == 0]))
    wanted = dense(value, -1.0).reshape(rows, -1)
    assert np.array_equal(dense(sparse_reshaped(value, (rows, -1)), -1.0), wanted)


@settings(max_examples=50)
@given(sparse_arrays())
def test_a_dense_array_holds_each_value_at_its_place(value: SparseValue) -> None:
    made = dense(value, 0)
    assert made.shape == tuple(value.dense_shape) and np.count_nonzero(made) == len(value.values)
    assert made[tuple(value.indices.T)].tolist() == value.values.tolist()


@pytest.mark.parametrize(
    ("indices", "reason"),
    [
        ([[0], [3]], r"a value is at \[3\], outside the array's shape \[3\]"),
        ([[-1], [0]], r"a value is at \[-1\]"),
        ([[2], [0]], r"the value at \[0\] follows one"),
        ([[1], [1]], r"the value at \[1\] follows one"),
        ([[0]], "1 indices and 2 values"),
    ],
)
def test_places_that_are_none_are_refused(indices: list[list[int]], reason: str) -> None:
    with pytest.raises(ItemError, match=f"(?i){reason}"):
        dense(SparseValue.of(indices, [1, 2], [3]), 0)


def test_a_record_cannot_ask_for_any_amount_of_memory() -> None:
    value = SparseValue.of([[0, 0]], [1.0], [1 << 40, 1 << 20])
    with pytest.raises(ItemError, match="has more than 1,073,741,824 elements"):
        dense(value, 0)
    with pytest.raises(ItemError, match="too many elements"):
        dense(SparseValue.of([[0, 0]], [1.0], [1 << 40, 1 << 40]), 0)


def test_what_fills_its_shape_is_not_copied() -> None:
    values = np.arange(3)
    assert dense(SparseValue(np.arange(3)[:, None], values, np.array([3])), 0) is values


@pytest.mark.parametrize(("shape", "wanted"), [([2, 3], (2, 3)), ([-1, 2], (3, 2)), ([6, -1], (6, 1)), ((6,), (6,))])
def test_arrays_take_shapes(shape: Any, wanted: tuple[int, ...]) -> None:
    assert reshaped(np.arange(6), sizes_of(shape)).shape == wanted


@pytest.mark.parametrize("shape", [[4], [-1, 4], [0, -1], [], [7, -1]])
def test_arrays_that_do_not_fit_are_refused(shape: list[int]) -> None:
    with pytest.raises(ItemError, match=r"6 values do not fit the shape"):
        reshaped(np.arange(6), sizes_of(shape))


def test_one_value_takes_the_shape_of_a_scalar() -> None:
    assert reshaped(np.array([4]), ()).shape == ()
    assert dense(sparse_reshaped(SparseValue.of([[0]], [4], [1]), ()), 0).tolist() == 4


@pytest.mark.parametrize("shape", [3, [1.5], ["2"], [-1, -1], [-2], [None, 3]], ids=str)
def test_what_is_no_shape_is_refused(shape: Any) -> None:
    with pytest.raises(ConfigurationError):
        sizes_of(shape)


@pytest.mark.parametrize(
    ("default", "dtype", "wanted"),
    [(0, object, b""), ("é", object, "é".encode()), (b"x", object, b"x"), ("", "int64", 0), (None, "f4", 0), (2, "f4", 2)],
)
def test_a_default_fills_what_can_hold_it(default: Any, dtype: Any, wanted: Any) -> None:
    assert fill_of(default, np.dtype(dtype)) == wanted


@pytest.mark.parametrize(("default", "dtype"), [(1.5, "int64"), ("-", "float32"), (7, object), ([], "int64")])
def test_a_default_that_does_not_fit_is_refused(default: Any, dtype: Any) -> None:
    with pytest.raises(ItemError, match="does not fit an array of"):
        fill_of(default, np.dtype(dtype))

"""What specs understand and refuse, and which columns they make."""

from collections import namedtuple

import numpy as np
import pytest

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.base import List, Value
from datasets_core.features.types import Array2D
from datasets_core.records.specs.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    UniformRowLength,
    VarLenFeature,
    as_spec,
    as_specs,
    check_ragged,
    dtype_name,
    spec_feature,
    spec_keys,
)

Foreign = namedtuple("Foreign", "name")


@pytest.mark.parametrize(
    "spec",
    [
        FixedLenFeature([None], "int64"),
        FixedLenFeature([-1, 2], "int64"),
        FixedLenFeature([2, None], "int64"),
        FixedLenFeature(None, "int64"),
        FixedLenFeature([4], "int32"),
        VarLenFeature("float64"),
        FixedLenFeature([2], "int64", 3),
        FixedLenFeature([3], "int64", []),
        FixedLenFeature([], "int64", 3.0),
        FixedLenFeature([], "int64", "x"),
        FixedLenFeature([], "int64", 2**63),
        FixedLenFeature([], "string", 3),
        FixedLenSequenceFeature([], "int64"),
        FixedLenSequenceFeature([None], "int64", allow_missing=True),
        FixedLenSequenceFeature([0], "int64", allow_missing=True),
        FixedLenSequenceFeature([2], "int64", allow_missing=True, default_value=[8, 9]),
        SparseFeature("ix", "v", "int64", [10]),
        SparseFeature(["ix", "iy"], "v", "int64", 10),
        SparseFeature(["ix", "iy"], "v", "int64", [10]),
        SparseFeature([], "v", "int64", []),
        SparseFeature("ix", "v", "int64", None),
        RaggedFeature("int64", "v", ["lengths"]),
        RaggedFeature("int64", "v", [RaggedFeature.UniformRowLength(0)]),
        RaggedFeature("int64", row_splits_dtype="float32"),
    ],
    ids=repr,
)
def test_a_spec_without_a_meaning_is_refused_with_its_key(spec):
    with pytest.raises(ConfigurationError, match="'the/key'"):
        as_specs({"the/key": spec})


def test_specs_are_no_other_things():
    with pytest.raises(ArgumentTypeError, match="'a'"):
        as_specs({"a": 3})
    with pytest.raises(ArgumentTypeError, match="not a mapping"):
        as_specs([VarLenFeature("int64")])
    with pytest.raises(ArgumentTypeError, match="not a key"):
        as_specs({3: VarLenFeature("int64")})


def test_context_and_lists_take_their_own_kinds_of_specs():
    with pytest.raises(ConfigurationError, match="cannot be a FixedLenFeature"):
        as_specs({"a": FixedLenFeature([], "int64")}, of="sequence_features")
    with pytest.raises(ConfigurationError, match="cannot be a SparseFeature"):
        as_specs({"a": SparseFeature("i", "v", "int64", 3)}, of="context_features")
    with pytest.raises(ConfigurationError, match="default_value"):
        as_specs({"a": FixedLenSequenceFeature([], "int64", default_value=1)}, of="sequence_features")
    assert as_specs({"a": FixedLenSequenceFeature([], "int64")}, of="sequence_features")


@pytest.mark.parametrize("default", [[1, 2, 3, 4], [[1, 2], [3, 4]], [[1, 2, 3, 4]], np.ones((4, 1), np.int64)], ids=repr)
def test_a_default_has_as_many_values_as_the_shape_in_any_shape(default):
    assert as_specs({"a": FixedLenFeature([2, 2], "int64", default)})


def test_bytes_are_keys_too():
    assert list(as_specs({b"a": VarLenFeature("int64")})) == ["a"]


def test_objects_of_tensorflow_are_taken_by_their_names():
    fixed = namedtuple("FixedLenFeature", "shape dtype default_value")
    ragged = namedtuple("RaggedFeature", "dtype value_key partitions row_splits_dtype")
    lengths = namedtuple("RowLengths", "key")

    assert as_spec(fixed([2], Foreign("float32"), None)) == FixedLenFeature([2], "float32")
    made = as_spec(ragged(Foreign("int64"), "v", (lengths("n"),), Foreign("int32")))
    assert made == RaggedFeature("int64", "v", [RaggedFeature.RowLengths("n")])


@pytest.mark.parametrize(
    ("spec", "feature"),
    [
        (FixedLenFeature([], "int64"), Value("int64")),
        (FixedLenFeature(3, "float32"), List(Value("float32"), length=3)),
        (FixedLenFeature((2, 3), "int64"), Array2D((2, 3), "int64")),
        (FixedLenFeature((2, 3), "string"), List(List(Value("binary"), length=3), length=2)),
        (VarLenFeature("string"), List(Value("binary"))),
        (FixedLenSequenceFeature([2], "int64", True), List(List(Value("int64"), length=2))),
        (RaggedFeature("int64"), List(Value("int64"))),
        (RaggedFeature("int64", "v", [RaggedFeature.UniformRowLength(2)]), List(List(Value("int64"), length=2))),
        (
            SparseFeature("i", "v", "float32", 9),
            {"indices": List(List(Value("int64"))), "values": List(Value("float32")), "dense_shape": List(Value("int64"))},
        ),
    ],
    ids=repr,
)
def test_each_spec_makes_a_column(spec, feature):
    assert spec_feature(spec) == feature


def test_steps_make_lists_around_what_each_of_them_holds():
    assert spec_feature(VarLenFeature("int64"), steps=True) == List(List(Value("int64")))
    assert spec_feature(FixedLenSequenceFeature([], "int64"), steps=True) == List(Value("int64"))


def test_the_keys_of_specs_are_each_named_once():
    ragged = RaggedFeature("int64", "v", [RaggedFeature.RowSplits("s"), RaggedFeature.UniformRowLength(2)])
    specs = {"a": SparseFeature(["x", "y"], "v", "int64", [2, 2]), "r": ragged, "x": VarLenFeature("int64")}
    assert spec_keys(specs) == ["x", "y", "v", "s"]


DENSE, MANY = FixedLenFeature([], "int64"), FixedLenSequenceFeature([2], "int64", allow_missing=True)
SPLIT = RaggedFeature("int64", "v", [RaggedFeature.RowSplits("a")])
WIDE = RaggedFeature("int64", "v", row_splits_dtype="int64")


@pytest.mark.parametrize(
    "specs",
    [
        {"a": SparseFeature("a", "a", "float32", 3)},
        {"a": DENSE, "x": SparseFeature("a", "v", "int64", 3)},
        {"a": MANY, "x": SparseFeature("v", "a", "int64", 3)},
        {"a": VarLenFeature("float32"), "x": SparseFeature("a", "v", "int64", 3)},
        {"a": VarLenFeature("int64"), "g": SPLIT},
        {"a": DENSE, "g": SPLIT},
        {"g": SPLIT, "h": WIDE},
        {"g": RaggedFeature("int64", "a"), "h": RaggedFeature("float32", "a")},
    ],
    ids=repr,
)
def test_a_key_is_read_in_one_way_as_tensorflow_has_it(specs):
    with pytest.raises(ConfigurationError, match=r"reads key '[av]' as .*but it is also read as.*\. Read each key in one way"):
        as_specs(specs)


@pytest.mark.parametrize(
    "specs",
    [
        {"a": SparseFeature("a", "a", "int64", 3)},
        {"a": VarLenFeature("int64"), "x": SparseFeature("v", "a", "int64", 3)},
        {"g": SPLIT, "h": RaggedFeature("int64", "a")},
        {"x": SparseFeature([""], "v", "int64", [3])},
    ],
    ids=repr,
)
def test_several_features_may_read_a_key_in_one_way(specs):
    assert as_specs(specs) == specs


class GraphTensor:
    """A tensor of a graph of TensorFlow, as far as it is asked."""

    graph = None

    def __init__(self, kind, dtype, sizes=(), content=b"", **values):
        self.op, self.dtype, self.tensor_content = self, self, content
        self.type, self.as_numpy_dtype, self.tensor_shape = kind, dtype, self
        self.dim = [namedtuple("Dim", "size")(size) for size in sizes]
        for name in ("string", "int64", "int", "float", "double", "bool"):
            setattr(self, f"{name}_val", values.get(name, []))

    def get_attr(self, name):
        return {"value": self}[name]


@pytest.mark.parametrize(
    ("tensor", "default"),
    [
        (GraphTensor("Const", np.int64, int64=[0]), 0),
        (GraphTensor("Const", np.int64, [2, 2], int64=[7]), [[7, 7], [7, 7]]),
        (GraphTensor("Const", np.int64, [3], int64=[7, 8]), [7, 8, 8]),
        (GraphTensor("Const", np.float32, [2], np.array([1.5, 2], np.float32).tobytes()), [1.5, 2.0]),
        (GraphTensor("Const", object, [1], string=[b"a"]), [b"a"]),
        (GraphTensor("Const", np.bool_, bool=[True]), True),
        (GraphTensor("Const", np.int64, [0]), []),
    ],
)
def test_a_default_may_be_a_constant_of_a_graph(tensor, default):
    assert FixedLenFeature([], "int64", tensor).default_value == default


@pytest.mark.parametrize("tensor", [GraphTensor("Fill", np.int64), GraphTensor("Const", np.float16, [1])])
def test_a_default_that_is_known_to_the_graph_alone_is_refused(tensor):
    with pytest.raises(ConfigurationError, match="Pass the value itself, such as default_value=0"):
        as_specs({"k": FixedLenFeature([], "int64", tensor)})


# ragged specs


def test_one_partition_needs_no_list():
    alone = RaggedFeature("int64", "v", RaggedFeature.RowLengths("n"))
    assert alone == RaggedFeature("int64", "v", [RaggedFeature.RowLengths("n")])


def test_partitions_of_others_are_taken_by_their_names():
    class RowLengths:
        key = "n"

    assert RaggedFeature("int64", "v", [RowLengths()]).partitions == (RaggedFeature.RowLengths("n"),)


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (RaggedFeature("int64", partitions=["n"]), "'n' of feature 'a' is not a partition"),
        (RaggedFeature("int64", partitions=[UniformRowLength(0)]), "rows of length 0"),
        (RaggedFeature("int64", row_splits_dtype="int8"), "row_splits_dtype='int8'"),
    ],
    ids=["partition", "length", "dtype"],
)
def test_what_has_no_meaning_is_refused(spec, reason):
    with pytest.raises(ConfigurationError, match=reason):
        check_ragged(spec, "a")
    with pytest.raises(ConfigurationError, match=reason):
        as_specs({"a": spec})


# spec types


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("int64", "int64"),
        ("float", "float32"),
        ("bytes", "string"),
        (int, "int64"),
        (float, "float32"),
        (str, "string"),
        (bytes, "string"),
        (np.int64, "int64"),
        (np.dtype("float32"), "float32"),
        (np.object_, "string"),
        (Foreign("string"), "string"),
        (np.int32, "int32"),
        ("bool", "bool"),
    ],
    ids=str,
)
def test_types_are_known_by_many_names(given, name):
    assert dtype_name(given) == name

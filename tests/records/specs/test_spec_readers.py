"""The rules of specs in blocks: large ones, with defaults, of all types."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.records.encoding import encode_example
from datasets_core.records.specs.parsing import ExampleParser
from datasets_core.records.specs.specs import FixedLenFeature, FixedLenSequenceFeature, SparseFeature, VarLenFeature
from datasets_core.records.specs.values import SparseValue
from datasets_core.records.wire.messages import Feature

ints = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4)
floats = st.lists(st.floats(width=32, allow_nan=False), max_size=4)
strings = st.lists(st.binary(max_size=3), max_size=4)
features = st.fixed_dictionaries(
    {},
    optional={
        "i": ints.map(lambda values: Feature("int64", values)),
        "f": floats.map(lambda values: Feature("float", values)),
        "s": strings.map(lambda values: Feature("bytes", values)),
        "p": ints.map(lambda values: Feature("int64", values)),
    },
)
DEFAULTS = {"int64": [7, 8], "float32": [0.5, 1.5], "string": [b"x", b""]}


def same(one, other):
    if isinstance(one, SparseValue):
        return one == other
    return one.dtype == other.dtype and one.shape == other.shape and one.tolist() == other.tolist()


@pytest.mark.parametrize(("key", "dtype"), [("i", "int64"), ("f", "float32"), ("s", "string")])
@settings(max_examples=40)
@given(rows=st.lists(features, max_size=6))
def test_a_block_gives_what_its_records_give_alone(key, dtype, rows):
    for row in rows:
        if key in row and len(row[key].values) != 2:
            del row[key]
    data = [encode_example(row) for row in rows]
    parser = ExampleParser({key: FixedLenFeature([2], dtype, DEFAULTS[dtype])})
    many = parser.parse_rows(data)[key]
    assert len(many) == len(data)
    assert all(same(one, parser.parse(record)[key]) for one, record in zip(many, data, strict=True))


@settings(max_examples=40)
@given(rows=st.lists(features, max_size=6))
def test_lists_of_a_block_are_those_of_its_records(rows):
    data = [encode_example(row) for row in rows]
    specs = {"f": VarLenFeature("float32"), "s": FixedLenSequenceFeature([], "string", allow_missing=True)}
    parser = ExampleParser(specs)
    many = parser.parse_rows(data)
    for number, record in enumerate(data):
        alone = parser.parse(record)
        assert all(same(many[key][number], alone[key]) for key in specs)


@settings(max_examples=40)
@given(rows=st.lists(features, max_size=6), is_sorted=st.booleans())
def test_sparse_values_of_a_block_are_those_of_its_records(rows, is_sorted):
    for row in rows:
        short = min((len(row[key].values) if key in row else 0) for key in ("i", "p", "f"))
        for key in ("i", "p", "f"):
            if key in row:
                row[key] = Feature(row[key].kind, row[key].values[:short])
    data = [encode_example(row) for row in rows]
    parser = ExampleParser({"made": SparseFeature(["i", "p"], "f", "float32", [9, 9], already_sorted=is_sorted)})
    many = parser.parse_rows(data)["made"]
    assert many == [parser.parse(record)["made"] for record in data]
    if not is_sorted:
        assert all(sparse.indices.tolist() == sorted(sparse.indices.tolist()) for sparse in many)


def test_places_that_are_the_same_keep_the_order_of_their_values():
    data = encode_example({"ix": [1, 0, 1, 0], "v": [1.0, 2.0, 3.0, 4.0]})
    sparse = ExampleParser({"made": SparseFeature("ix", "v", "float32", 2)}).parse(data)["made"]
    assert sparse.values.tolist() == [2.0, 4.0, 1.0, 3.0]


def test_a_default_of_floats_may_be_beyond_what_a_float32_holds():
    parser = ExampleParser({"a": FixedLenFeature([], "float32", 1e300)})
    assert parser.parse(b"")["a"] == np.inf

"""Rows of Arrow blocks as arrays, which agree with values that are made one by one."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features, RowEncoder
from datasets_core.features.types import Array2D, ClassLabel
from datasets_core.stream.nodes.block import ArrowBlock, DictBlock, Kinds
from datasets_core.tfds.elements import converter
from datasets_core.tfds.split_stream import array_rows, plain_rows

CASES = [
    (Value("uint8"), [1, 2]),
    (Value("float16"), [0.5, None]),
    (Value("bool"), [True, False]),
    (Value("string"), ["a", None]),
    (ClassLabel(num_classes=3), [0, 2]),
    (List(Value("int32")), [[1, 2], []]),
    (List(Value("int32")), [[1, 2], [3, 4]]),
    (List(Value("int32")), [[1, None], None]),
    (List(Value("float32"), length=2), [[1, 2], [3, 4]]),
    (List(List(Value("int8"))), [[[1], [2]], []]),
    (List(List(Value("int8"))), [[[1], [2, 3]], [[4, 5]]]),
    (List(List(Value("float32"), length=4)), [[[1, 2, 3, 4]], []]),
    (Array2D((None, 2), "int32"), [[[1, 2]], []]),
    (Array2D((2, 2), "int32"), [[[1, 2], [3, 4]], None]),
    ({"a": Value("int8"), "b": List(Value("string"))}, [{"a": 1, "b": ["x"]}, None]),
]


def _block(feature: Any, values: list[Any]) -> ArrowBlock:
    features = Features({"x": feature})
    return ArrowBlock(RowEncoder(features).encode([{"x": value} for value in values]), Kinds(features))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        alike = (one.dtype, one.shape) == (other.dtype, other.shape)
        return alike and all(map(_same, one, other)) if one.dtype == object else alike and bool(np.array_equal(one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    return type(one) is type(other) and bool(one == other)


@pytest.mark.parametrize(("feature", "values"), CASES, ids=lambda case: repr(case)[:40])
def test_columns_give_what_their_values_give_one_by_one(feature: Any, values: Any) -> None:
    block = _block(feature, values)
    plain = block.rows()
    expected = [converter(feature)(row["x"]) for row in plain]
    for found in (array_rows(block), array_rows(block.slice(0, 1)) + array_rows(block.slice(1, 2))):
        assert all(_same(row["x"], value) for row, value in zip(found, expected, strict=True))


def test_plain_rows_are_plain_but_for_arrays() -> None:
    assert plain_rows(_block(List(Value("int8")), [[1], [2]])) == [{"x": [1]}, {"x": [2]}]
    (row,) = plain_rows(_block(Array2D((1, 2), "int8"), [[[1, 2]]]))
    assert (row["x"].dtype, row["x"].tolist()) == (np.int8, [[1, 2]])


def test_arrays_are_one_s_own() -> None:
    (row,) = array_rows(_block(List(Value("int8")), [[1, 2]]))
    row["x"][0] = 5
    assert row["x"].tolist() == [5, 2]


def test_what_a_function_made_stays_as_it_is() -> None:
    assert array_rows(DictBlock([{"x": [1]}])) == [{"x": [1]}]
    assert pa.types.is_int8(_block(Value("int8"), [1]).batch.column(0).type)

"""Rows that stand for others: which columns are None."""

from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import DictBlock
from datasets_core.stream.nodes.columns import Cast, NullOfCast, NullOfMap, readable
from datasets_core.stream.nodes.functions import Function, RowsMade

NODE = Dataset.from_list([{"a": 0, "b": "x"}, {"a": 1, "b": "2"}]).to_iterable_dataset()._plan.node(0)
FIRST = next(iter(NODE.blocks(0)))


def _put(row: dict[str, Any]) -> None:
    row["b"] = 1 // row["a"]


@pytest.mark.parametrize(
    ("call", "removed", "found"),
    [
        (lambda row: {"c": 1 // row["a"]}, (), {"a": 0, "b": "x", "c": None}),
        (lambda row: {**row, "c": 1 // row["a"]}, ("b",), {"a": None, "b": None, "c": None}),
        (_put, (), {"a": 0, "b": None}),
        (lambda row: 1 // 0, (), {"a": 0, "b": "x"}),
        (lambda row: {"c": 1 // row["a"]}, ("a",), {"b": "x", "c": None}),
    ],
)
def test_columns_that_a_function_sets_at_the_first_row_that_it_can_are_none(call: Any, removed: Any, found: Any) -> None:
    assert NullOfMap(RowsMade(Function(call, "map"), removed), NODE)(FIRST, 0).rows() == [found]


def test_features_of_the_result_hold() -> None:
    result = Features({"a": Value("int8"), "d": Value("string")})
    made = RowsMade(Function(lambda row: {"d": str(1 // row["a"])}, "map"), (), result)
    assert NullOfMap(made, NODE)(FIRST, 0).rows() == [{"a": 0, "d": None}]


def test_values_that_cannot_be_cast_are_none() -> None:
    change = Cast(Features({"b": Value("int64")}), is_all=False)
    assert NullOfCast(change)(FIRST, 0).rows() == [{"a": 0, "b": None}]
    assert NullOfCast(change)(FIRST, 1).rows() == [{"a": 1, "b": 2}]


def test_a_row_of_dicts_is_read_as_it_is() -> None:
    assert readable(DictBlock([{"a": 1}, {"a": 2}]), 1) == {"a": 2}

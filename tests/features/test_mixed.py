"""Columns of values that share no type, and of dicts with different keys."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.features.base import List
from datasets_core.features.dynamic import Json
from datasets_core.features.mixed import have_same_keys, infer_or_json

_JSON = Json().arrow_type


@pytest.mark.parametrize(
    ("values", "arrow_type"),
    [
        ([1, 2.5, None], pa.float64()),
        ([1, "a"], _JSON),
        ([[1], ["a"], None], pa.list_(_JSON)),
        ([[1, "a"], [2]], pa.list_(_JSON)),
        ([{"a": 1, "b": [1]}, {"b": [], "a": "x"}], pa.struct({"a": _JSON, "b": pa.list_(pa.int64())})),
        ([{"a": 1}, {"a": "x", "b": 2}], _JSON),
        ([{"a": 1}, {"b": 1}, None], _JSON),
        ([{"a": 1}, {}], _JSON),
        ([{}], _JSON),
        ([[{"b": 0}, {"c": 0}]], pa.list_(_JSON)),
        ([{"s": {"a": 1}}, {"s": {"b": 1}}, {"s": None}], pa.struct({"s": _JSON})),
        ([{1: 2}], _JSON),
    ],
)
def test_json_stands_as_deep_inside_as_can_be(values: list[Any], arrow_type: pa.DataType) -> None:
    assert infer_or_json(values).type == arrow_type


def test_dicts_with_the_same_keys_in_another_order_are_structs() -> None:
    assert have_same_keys([{"a": 1, "b": 2}, {"b": 3, "a": 4}, None], pa.struct({"a": pa.int64(), "b": pa.int64()}))


_ANY = st.recursive(
    st.none() | st.integers(-9, 9) | st.sampled_from(["a", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=6,
)


@given(st.lists(_ANY, min_size=1, max_size=5))
def test_rows_come_out_as_they_went_in(values: list[Any]) -> None:
    dataset = Dataset.from_dict({"a": values}, on_mixed_types="use_json")

    assert json.dumps(dataset["a"][:], sort_keys=True) == json.dumps(values, sort_keys=True)


def test_the_example_of_hugging_face_is_a_list_of_json() -> None:
    dataset = Dataset.from_dict({"a": [[{"b": 0}, {"c": 0}]]}, on_mixed_types="use_json")

    assert dataset.features == {"a": List(Json())}
    assert dataset[0] == {"a": [{"b": 0}, {"c": 0}]}

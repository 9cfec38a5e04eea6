"""Columns of values that share no type, and of dicts with different keys."""

from __future__ import annotations

import datetime
import decimal
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.results import WideningWriter
from datasets_core.errors import CastError
from datasets_core.features.arrow import Misfit
from datasets_core.features.base import List
from datasets_core.features.inference import infer_or_json
from datasets_core.features.types import Json

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
    assert infer_or_json([{"a": 1, "b": 2}, {"b": 3, "a": 4}, None]).type == pa.struct({"a": pa.int64(), "b": pa.int64()})


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


# -- batches -----------------------------------------------------------------------------------------------------------

_KINDS = st.sampled_from(
    [
        None, True, 1, -1, 2**53 + 1, 2**63, -(2**63), 2**70, 1.5, float("inf"), -0.5, "a", "", b"x", [], [None], [1], [2**63],
        [1.5], ["a"], [[1]], [[float("inf")]], {}, {"a": 1}, {"a": None}, {"a": "x"}, {"a": -1.5}, {"b": 2**63}, {"a": []},
        {"a": {}}, [{"a": 1}], [{}], [{"b": 1}], (1, 2), datetime.date(2020, 1, 1), datetime.time(1), datetime.timedelta(1),
        decimal.Decimal("1.5"), decimal.Decimal("1E+3"), np.int8(-3), np.uint64(2**63 + 5), np.float32(0.1), np.str_("n"),
        np.datetime64("2020-01-01T00:00:00.000000001"), np.zeros(2), np.zeros((2, 2), "i4"), np.array(["a"]), np.zeros(0),
    ]
)  # fmt: skip


def _made(batches: list[list[Any]]) -> tuple[pa.DataType, list[Any]] | type[Exception]:
    """The type and values of a column whose rows come in these batches; CastError where they are refused."""
    writer = WideningWriter(lambda: "", "part", most_bytes=1 << 20, as_json=True)
    try:
        for values in batches:
            writer.write(pa.RecordBatch.from_arrays([infer_or_json(values)], ["v"]))
        (written,) = writer.close()
    except (CastError, Misfit):
        return CastError
    table = pa.Table.from_batches(written.batches)
    return table.schema.field("v").type, Dataset(table)["v"][:]


@settings(max_examples=300)
@given(_KINDS, _KINDS, st.integers(1, 3))
def test_how_rows_are_cut_into_batches_does_not_matter(first: Any, second: Any, times: int) -> None:
    values = [first, *[second] * times, first]
    whole = _made([values])
    for size in range(1, len(values)):
        assert _made([values[start : start + size] for start in range(0, len(values), size)]) == whole


@settings(max_examples=300)
@given(st.lists(_KINDS.filter(lambda value: not isinstance(value, (decimal.Decimal, datetime.date))), min_size=3, max_size=3))
def test_nor_does_it_for_three_kinds(values: list[Any]) -> None:
    whole = _made([values])
    for cut in (1, 2):
        assert _made([values[:cut], values[cut:]]) == whole
    assert _made([[value] for value in values]) == whole

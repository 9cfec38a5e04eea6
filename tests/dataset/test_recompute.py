"""Columns computed anew in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.recompute import (
    aligned_classes,
    cast_features,
    cast_plan,
    checked,
    distinct_values,
    found_classes,
    recomputed,
    retyped_schema,
    runs,
    shown_rows,
    with_columns_of,
)
from datasets_core.errors import CastError, CellCastError, ConfigurationError
from datasets_core.features.arrow import Misfit
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Json
from datasets_core.store.table import RowTable


def _table() -> RowTable:
    return RowTable.from_batches([pa.record_batch({"a": [n, n + 1], "b": ["x", "y"]}) for n in range(0, 6, 2)])


def test_small_pieces_are_read_together_and_hidden_rows_are_null() -> None:
    index = np.array([5, 0, 0])

    (start, block), *more = runs(_table(), shown_rows(index, 6))

    assert (start, more) == (0, [])
    assert block.to_pydict() == {"a": [0, None, None, None, None, 5], "b": ["x", None, None, None, None, "y"]}
    assert shown_rows(np.arange(6), 6) is None


def test_changed_columns_take_the_places_of_the_old_ones() -> None:
    table = _table()

    made = RowTable.from_batches(recomputed(table, None, {"a": lambda column: column.cast(pa.string())}))

    assert with_columns_of(table, made).take(np.array([4, 1])).to_pylist() == [{"a": "4", "b": "x"}, {"a": "1", "b": "y"}]
    assert with_columns_of(table.select(["a"]), made).column_names == ["a"]


def test_a_misfit_names_the_row_that_is_shown() -> None:
    def refuse(column: pa.Array) -> pa.Array:
        raise Misfit(5, "it is odd", ".x")

    with pytest.raises(CellCastError) as caught:
        checked(_table(), np.array([0, 5]), {"a": refuse})
    assert (caught.value.row, caught.value.column) == (1, "a.x")


def test_fields_take_the_types_of_features_where_the_storage_is_the_same() -> None:
    schema = retyped_schema(_table(), Features({"a": Value("int64"), "b": Json()}))

    assert schema.types == [pa.int64(), pa.json_(pa.string())]


# Which columns a cast checks, computes anew, or leaves as they are.

_LABELS = ClassLabel(names=["a", "b"])


@pytest.mark.parametrize(
    ("before", "after", "is_checked", "is_changed"),
    [
        (Value("int64"), Value("int64"), False, False),
        (Value("int64"), Value("int32"), False, True),
        (Value("int64"), _LABELS, True, False),
        (_LABELS, Value("int64"), False, False),
        (_LABELS, ClassLabel(names=["x", "y", "z"]), False, False),
        (_LABELS, ClassLabel(names=["x"]), True, False),
        (List(_LABELS), List(Value("int64")), False, False),
        (List(Value("int64")), List(_LABELS), True, False),
        (Value("string"), Json(), False, False),
        (Json(), Value("string"), False, False),
        (Json(), Json(decode=False), False, False),
    ],
)
def test_columns_are_written_only_where_they_are_stored_otherwise(
    before: Any, after: Any, is_checked: bool, is_changed: bool
) -> None:
    dataset = Dataset.from_dict({"a": [None]}, Features({"a": before}))

    checks, changes = cast_plan(dataset._table, None, Features({"a": before}), Features({"a": after}))

    assert (bool(checks), bool(changes)) == (is_checked, is_changed)


def test_features_are_those_of_the_columns() -> None:
    assert cast_features({"a": Value("int8")}, Features({"a": Value("int64")})) == {"a": Value("int8")}
    with pytest.raises(CastError, match="exactly the columns 'a'"):
        cast_features({}, Features({"a": Value("int64")}))


def test_fields_in_another_order_are_put_in_it() -> None:
    rows = Dataset.from_dict({"a": [{"x": 1, "y": 2}, None]})

    cast = rows.cast_column("a", {"y": Value("int64"), "x": Value("int64")})

    assert [list(value or ()) for value in cast["a"]] == [["y", "x"], []]
    assert cast["a"][:] == rows["a"][:]


# Classes found among values, and numbered otherwise.


def test_values_become_the_codes_of_their_texts() -> None:
    label, change = found_classes([10, 9, None], pa.array([10, 9, None]), False)

    assert label == ClassLabel(names=["10", "9"])
    assert change(pa.array([9, None, 10])).to_pylist() == [1, None, 0]


def test_null_may_be_a_class_and_is_that_of_the_text_none() -> None:
    label, change = found_classes(["None", None], pa.array(["None", None]), True)

    assert (label, change(pa.array([None, "None"])).to_pylist()) == (ClassLabel(names=["None"]), [0, 0])


def test_codes_follow_the_names_and_unknown_ones_stay() -> None:
    label, change = aligned_classes("l", ClassLabel(names=["x", "y"]), {"Y": 0, "X": 1, "z": 2})

    assert (label.names, change(pa.array([0, 1, -1, None])).to_pylist()) == (["Y", "X", "z"], [1, 0, -1, None])


# Values of a column, each once.


@settings(max_examples=50)
@given(st.lists(st.none() | st.integers(0, 3), max_size=10), st.lists(st.integers(0, 9), max_size=10), st.booleans())
def test_each_value_comes_once_where_it_first_is(values: list[Any], places: list[int], is_encoded: bool) -> None:
    array = pa.array(values, pa.int64())
    table = RowTable.from_table(pa.table({"a": array.dictionary_encode() if is_encoded else array}))
    index = [place for place in places if place < len(values)]

    assert distinct_values(table, None).to_pylist() == list(dict.fromkeys(values))
    found = distinct_values(table, np.array(index, dtype=np.int64))
    assert found.to_pylist() == list(dict.fromkeys(values[place] for place in index))


def test_lists_are_not_compared() -> None:
    with pytest.raises(ConfigurationError, match="column 'a', cannot be compared"):
        distinct_values(RowTable.from_table(pa.table({"a": [[1]]})), None)

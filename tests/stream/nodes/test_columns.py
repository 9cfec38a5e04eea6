"""Rows of one stream in the form that several have together."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError, ConfigurationError, UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import ArrowBlock, Block, DictBlock, Kinds, encoded
from datasets_core.stream.nodes.columns import (
    Added,
    Aligned,
    Cast,
    Decoding,
    NullOfCast,
    NullOfMap,
    Renamed,
    Selected,
    readable,
)
from datasets_core.stream.nodes.functions import Function, RowsMade

_WANTED = Features({"a": Value("int64"), "b": {"x": Value("int64"), "y": Value("string")}})


def test_columns_and_fields_that_are_missing_are_none() -> None:
    found = Features({"b": {"x": Value("int64")}})
    block = ArrowBlock(pa.RecordBatch.from_pylist([{"b": {"x": 1}}], schema=found.arrow_schema), Kinds(found))

    aligned = Aligned(tuple(_WANTED), _WANTED).changed(block, None)

    assert aligned.rows() == [{"a": None, "b": {"x": 1, "y": None}}]


def test_rows_without_columns_count() -> None:
    empty = ArrowBlock(pa.RecordBatch.from_struct_array(pa.nulls(2, pa.struct([]))), Kinds(Features({})))

    assert len(Aligned(tuple(_WANTED), _WANTED).changed(empty, None).rows()) == 2


def test_columns_that_nobody_foresaw_come_behind() -> None:
    aligned = Aligned(("a", "b")).changed(DictBlock([{"c": 3, "b": 2}]), None)

    assert aligned.rows() == [{"a": None, "b": 2, "c": 3}]


# Columns that change, row by row: the same for Arrow columns and for dicts.

ROWS = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
FEATURES = Features({"a": Value("int64"), "b": Value("string")})
INT8 = Features({"a": Value("int8")})


@pytest.fixture(params=["arrow", "dicts"])
def block(request: pytest.FixtureRequest) -> Block:
    return encoded(ROWS, Kinds(FEATURES)) if request.param == "arrow" else DictBlock(list(ROWS))


@pytest.mark.parametrize(
    ("change", "rows"),
    [
        (Selected(("b", "a")), [{"b": "x", "a": 1}, {"b": "y", "a": 2}]),
        (Selected(("b",), is_dropped=True), [{"a": 1}, {"a": 2}]),
        (Selected(()), [{}, {}]),
        (Renamed({"a": "b", "b": "a"}), [{"b": 1, "a": "x"}, {"b": 2, "a": "y"}]),
        (Added("c", pa.array([7, 8, 9, 10]), Value("int64")), [{**ROWS[0], "c": 10}, {**ROWS[1], "c": 7}]),
        (Cast(Features({"a": Value("string")}), is_all=False), [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]),
        (
            Cast(Features({"b": Value("string"), "a": Value("float32")}), is_all=True),
            [{"b": "x", "a": 1.0}, {"b": "y", "a": 2.0}],
        ),
        (Decoding(False), ROWS),
    ],
)
def test_a_change_makes_one_row_of_each(block: Block, change: Any, rows: list[dict[str, Any]]) -> None:
    found = change.changed(block, [3, 0])
    assert found.rows() == rows
    assert [list(row) for row in found.rows()] == [list(row) for row in rows]
    assert list(change.features(FEATURES)) == list(rows[0])


@pytest.mark.parametrize(
    "change",
    [Selected(("z",)), Selected(("z",), is_dropped=True), Renamed({"z": "y"}), Cast(Features({"z": Value("int8")}), False)],
)
def test_an_unknown_column_is_refused_in_advance_and_while_reading(block: Block, change: Any) -> None:
    with pytest.raises(UnknownColumnError) as caught:
        change.features(FEATURES)
    assert caught.value.name == "z"
    with pytest.raises(UnknownColumnError) as caught:
        change.changed(block, None)
    assert caught.value.name == "z"


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="Two columns would have the name 'b'"):
        Renamed({"a": "b"}).features(FEATURES)
    with pytest.raises(ConfigurationError, match="Column 'a' already exists"):
        Added("a", pa.array([1]), Value("int64")).features(FEATURES)


def test_a_column_that_is_too_short_is_refused(block: Block) -> None:
    with pytest.raises(ConfigurationError, match="has 1 values, so row 1 has none"):
        Added("c", pa.array([1]), Value("int64")).changed(block, [0, 1])


def test_a_value_that_does_not_fit_is_refused(block: Block) -> None:
    with pytest.raises(CastError, match="b"):
        Cast(Features({"b": Value("int8")}), is_all=False).changed(block, None)


def test_a_cast_to_all_columns_names_the_one_that_is_missing() -> None:
    with pytest.raises(ConfigurationError, match="Column 'b' has no feature"):
        Cast(INT8, is_all=True).features(FEATURES)


def test_media_are_left_as_they_are_stored() -> None:
    before = Features({"a": Image(), "b": [Image()], "c": {"d": Image()}})
    after = Decoding(False).features(before)
    assert after == Features({"a": Image(decode=False), "b": [Image(decode=False)], "c": {"d": Image(decode=False)}})
    assert Decoding(True).features(after) == before


# Rows that stand for others: which columns are None.

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

"""Single values by index: buffers that are absent, shifted or cut are read right."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.formats.python import Access, accessor, bound, bound_values, can_gather, is_quick


@given(st.lists(st.none() | st.booleans(), min_size=1, max_size=40), st.data())
def test_bits_are_read_at_every_shift(values: list[bool | None], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(values) - 1))
    array = pa.array(values, pa.bool_()).slice(start)

    get = accessor(array)

    assert [get(i) for i in range(len(array))] == values[start:]


@pytest.mark.parametrize(
    "type_", [pa.string(), pa.large_binary(), pa.list_(pa.int8()), pa.struct({"a": pa.int8()}), pa.bool_()]
)
def test_columns_of_nothing_but_nulls_are_read(type_: pa.DataType) -> None:
    get = accessor(pa.nulls(3, type_))

    assert [get(i) for i in range(3)] == [None, None, None]


def test_a_column_of_empty_texts_is_read() -> None:
    array = pa.array(["", "", None])

    assert [accessor(array)(i) for i in range(3)] == ["", "", None]


def test_items_under_a_null_list_are_not_seen() -> None:
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), pa.array([1, 2, 3]), mask=pa.array([True, False]))

    assert [accessor(lists)(i) for i in range(2)] == [None, [3]]


@pytest.mark.parametrize("values", [[], [[1]], [[], []], [[1, None], None, [2]]])
def test_sliced_lists_begin_where_they_should(values: list[Any]) -> None:
    array = pa.array([[9, 9], *values, [8]], pa.list_(pa.int64())).slice(1, len(values))

    assert [accessor(array)(i) for i in range(len(array))] == values


def test_rows_are_bound_as_dicts_and_as_tuples() -> None:
    accesses = [Access("{0}[i]", ([5, 6],)), Access("None", ())]

    assert bound(accesses, ("100%", "{0}"))(1) == {"100%": 6, "{0}": None}
    assert bound_values(accesses)(0) == (5, None)
    assert (bound([], ())(0), bound_values([])(0)) == ({}, ())


def test_types_say_how_they_are_read() -> None:
    assert is_quick(pa.struct({"a": pa.list_(pa.string())}))
    assert not is_quick(pa.decimal128(5, 2))
    assert not can_gather(pa.list_(pa.struct({"a": pa.string_view()})))
    assert can_gather(pa.struct({"a": pa.list_(pa.string())}))

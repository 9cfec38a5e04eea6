"""Columns as lists: parts of columns that pyarrow reads otherwise."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from datasets_core.errors import CastError
from datasets_core.features.formats.python import dict_rows, literal, reader


def test_a_few_rows_of_a_large_dictionary_are_read() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([7, None], pa.int32()), pa.array([str(i) for i in range(100)]))

    assert reader(array.type)(array) == ["7", None]


def test_a_null_within_a_dictionary_is_a_null() -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int32()), pa.array([None, "a"]))

    assert reader(array.type)(array) == [None, "a"]


def test_a_dictionary_may_be_empty_where_all_parents_are_null() -> None:
    array = pa.array([None, None], pa.list_(pa.dictionary(pa.int8(), pa.string()), 1))

    assert reader(array.type)(array) == [None, None]


def test_sliced_maps_and_fixed_lists_begin_where_they_should() -> None:
    days = [dt.date(2020, 1, day) for day in range(1, 7)]
    maps = pa.array([[("a", day)] for day in days], pa.map_(pa.string(), pa.date32())).slice(2, 3)
    pairs = pa.array([[day, None] for day in days], pa.list_(pa.date32(), 2)).slice(2, 3)

    assert reader(maps.type)(maps) == [[("a", day)] for day in days[2:5]]
    assert reader(pairs.type)(pairs) == [[day, None] for day in days[2:5]]


def test_lists_of_no_items_of_a_fixed_size_are_read() -> None:
    array = pa.array([[], None], pa.list_(pa.date32(), 0))

    assert reader(array.type)(array) == [[], None]


def test_an_extension_is_read_as_its_storage() -> None:
    array = pa.array([b"0123456789abcdef", None], pa.uuid())

    assert reader(array.type)(array) == [b"0123456789abcdef", None]


def test_a_struct_without_fields_is_an_empty_dict() -> None:
    array = pa.array([{"x": {}}, None], pa.struct({"x": pa.struct([])}))

    assert reader(array.type)(array) == [{"x": {}}, None]


def test_rows_without_columns_are_counted() -> None:
    assert dict_rows(())(2, []) == [{}, {}]


def test_only_true_texts_become_code() -> None:
    class Odd(str):
        def __repr__(self) -> str:
            return "__import__('os').abort()"

    with pytest.raises(CastError, match="is to be a text"):
        literal(Odd("a"))

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.arrow import Misfit, list_array, list_parts, rows_of, struct_array, struct_parts, validity

ROWS = st.lists(st.none() | st.lists(st.none() | st.integers(0, 9), max_size=4), max_size=20)


@given(ROWS, st.sampled_from([pa.list_(pa.int8()), pa.large_list(pa.int8()), pa.list_view(pa.int8())]), st.integers(0, 5))
def test_lists_taken_apart_and_put_together_are_the_same(rows: list[object], arrow_type: pa.DataType, start: int) -> None:
    array = pa.array(rows, arrow_type).slice(start)
    lengths, valid, child = list_parts(array)
    built = list_array(pa.list_(pa.int8()), lengths, valid, child)
    built.validate(full=True)
    assert built.to_pylist() == rows[start:]


@given(st.lists(st.none() | st.lists(st.integers(0, 9), min_size=2, max_size=2), max_size=20))
def test_lists_of_fixed_size_keep_their_nulls(rows: list[object]) -> None:
    arrow_type = pa.list_(pa.int8(), 2)
    lengths, valid, child = list_parts(pa.array(rows, arrow_type))
    built = list_array(arrow_type, lengths, valid, child)
    built.validate(full=True)
    assert built.to_pylist() == rows


def test_a_list_of_another_size_is_named() -> None:
    with pytest.raises(Misfit) as caught:
        list_array(pa.list_(pa.int8(), 2), np.array([2, 3]), None, pa.array([1, 2, 3, 4, 5], pa.int8()))
    assert caught.value.index == 1


def test_elements_under_nulls_are_left_out() -> None:
    hidden = pa.ListArray.from_arrays(pa.array([0, 1, 3]), pa.array([1, 2, 3]), mask=pa.array([False, True]))
    lengths, valid, child = list_parts(hidden)
    assert (lengths.tolist(), child.to_pylist()) == ([1, 0], [1])
    assert valid is not None
    assert valid.tolist() == [True, False]


def test_a_map_is_a_list_of_keys_and_values() -> None:
    array = pa.array([[("a", 1)], None, [("b", None)]], pa.map_(pa.string(), pa.int8()))
    lengths, _, child = list_parts(array)
    assert lengths.tolist() == [1, 0, 1]
    assert child.to_pylist() == [{"key": "a", "value": 1}, {"key": "b", "value": None}]
    assert list_parts(array.slice(2))[2].to_pylist() == [{"key": "b", "value": None}]


@given(st.lists(st.none() | st.fixed_dictionaries({"a": st.none() | st.integers(0, 9)}), max_size=20), st.integers(0, 5))
def test_structs_taken_apart_and_put_together_are_the_same(rows: list[object], start: int) -> None:
    arrow_type = pa.struct({"a": pa.int8()})
    array = pa.array(rows, arrow_type).slice(start)
    valid, fields = struct_parts(array)
    built = struct_array(arrow_type, len(array), valid, list(fields.values()))
    built.validate(full=True)
    assert built.to_pylist() == rows[start:]


@given(st.lists(st.none() | st.integers(0, 9), max_size=30), st.integers(0, 10))
def test_validity_tells_nulls_of_slices(values: list[object], start: int) -> None:
    array = pa.array(values, pa.int8()).slice(start)
    valid = validity(array)
    expected = [value is not None for value in values[start:]]
    assert ([True] * len(array) if valid is None else valid.tolist()) == expected


def test_an_element_belongs_to_the_row_that_holds_it() -> None:
    row = rows_of(np.array([0, 2, 0, 3]))
    assert [row(index) for index in range(5)] == [1, 1, 3, 3, 3]


def test_a_reason_ends_with_the_other_row_in_the_numbers_of_the_level_above() -> None:
    misfit = Misfit(3, "3 does not fit 'a'", other=1)
    assert misfit.at(rows_of(np.array([2, 2]))).reason == "3 does not fit 'a' of row 0"
    assert misfit.at(rows_of(np.array([4]))).reason == "3 does not fit 'a' of the same row"

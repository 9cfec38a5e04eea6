"""Tests of datasets_core/features/arrow.py."""

import itertools
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from datasets_core.errors import CastError
from datasets_core.features import base as types
from datasets_core.features.arrow import (
    Misfit,
    list_array,
    list_parts,
    merge_schemas,
    merge_types,
    rows_of,
    struct_array,
    struct_parts,
    taken,
    validate,
    validity,
)
from datasets_core.features.base import plain_array

LEAVES = [
    pa.null(),
    pa.bool_(),
    *(getattr(pa, f"{sign}int{bits}")() for sign in ("", "u") for bits in (8, 16, 32, 64)),
    pa.float16(),
    pa.float32(),
    pa.float64(),
    pa.decimal128(5, 2),
    pa.decimal128(38, 0),
    pa.decimal128(10, -2),
    pa.decimal256(76, 3),
    pa.decimal32(5, 2),
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.binary(3),
    pa.binary(4),
    pa.date32(),
    pa.date64(),
    pa.timestamp("s"),
    pa.timestamp("ns"),
    pa.timestamp("us", "UTC"),
    pa.timestamp("ms", "Europe/Paris"),
    pa.time32("s"),
    pa.time64("us"),
    pa.duration("s"),
    pa.duration("ns"),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int16(), pa.int8()),
    pa.run_end_encoded(pa.int32(), pa.string()),
    pa.json_(),
    pa.uuid(),
    pa.map_(pa.string(), pa.int8()),
]
TYPES = st.recursive(
    st.sampled_from(LEAVES),
    lambda inner: st.one_of(
        st.builds(pa.list_, inner),
        st.builds(pa.large_list, inner),
        st.builds(pa.list_view, inner),
        st.builds(pa.list_, inner, st.integers(1, 2)),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3).map(pa.struct),
    ),
    max_leaves=4,
)


def unordered(arrow_type: pa.DataType | None) -> Any:
    """A type, where the order of the fields of structs does not count."""
    if arrow_type is not None and pa.types.is_struct(arrow_type):
        return {field.name: (field.nullable, unordered(field.type)) for field in arrow_type}
    if arrow_type is not None and pa.types.is_nested(arrow_type) and not pa.types.is_map(arrow_type):
        return arrow_type.id, getattr(arrow_type, "list_size", None), unordered(arrow_type.value_type)
    return arrow_type


def joined(a: pa.DataType | None, b: pa.DataType | None) -> pa.DataType | None:
    return None if a is None or b is None else merge_types(a, b)


def test_the_join_of_plain_types_does_not_depend_on_the_order() -> None:
    for a, b, c in itertools.product(LEAVES, repeat=3):
        assert joined(joined(a, b), c) == joined(a, joined(b, c)), (a, b, c)
    for a, b in itertools.product(LEAVES, repeat=2):
        assert merge_types(a, b) == merge_types(b, a), (a, b)


@settings(max_examples=300)
@given(TYPES, TYPES, TYPES)
def test_the_join_of_nested_types_does_not_depend_on_the_order(a: pa.DataType, b: pa.DataType, c: pa.DataType) -> None:
    assert unordered(merge_types(a, b)) == unordered(merge_types(b, a))
    assert unordered(joined(joined(a, b), c)) == unordered(joined(a, joined(b, c)))


@given(TYPES, TYPES)
def test_the_join_with_a_part_changes_nothing(a: pa.DataType, b: pa.DataType) -> None:
    assert merge_types(a, a) == a
    whole = merge_types(a, b)
    assert whole is None or unordered(merge_types(whole, a)) == unordered(whole)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (pa.null(), pa.json_(), pa.json_()),
        (pa.int64(), pa.float32(), pa.float64()),
        (pa.uint32(), pa.int8(), pa.int64()),
        (pa.int64(), pa.uint64(), None),
        (pa.uint64(), pa.float64(), None),
        (pa.bool_(), pa.int8(), None),
        (pa.int64(), pa.string(), None),
        (pa.string(), pa.large_string(), pa.large_string()),
        (pa.string(), pa.binary(), pa.binary()),
        (pa.date32(), pa.timestamp("s"), pa.timestamp("s")),
        (pa.date32(), pa.timestamp("s", "UTC"), None),
        (pa.timestamp("s"), pa.timestamp("s", "UTC"), None),
        (pa.timestamp("s", "Asia/Tokyo"), pa.timestamp("us", "UTC"), pa.timestamp("us", "UTC")),
        (pa.dictionary(pa.int8(), pa.string()), pa.large_string(), pa.large_string()),
        (pa.decimal128(5, 2), pa.decimal128(6, 4), pa.decimal128(7, 4)),
        (pa.decimal128(38, 0), pa.decimal128(38, 10), pa.decimal256(48, 10)),
        (pa.decimal256(76, 0), pa.decimal256(76, 10), None),
        (pa.int8(), pa.decimal128(5, 2), pa.decimal128(21, 2)),
        (pa.list_(pa.null()), pa.list_(pa.struct({"a": pa.int8()})), pa.list_(pa.struct({"a": pa.int8()}))),
        (pa.list_(pa.int8(), 2), pa.list_(pa.int8(), 3), pa.list_(pa.int8())),
        (pa.list_(pa.int8()), pa.list_(pa.string()), None),
        (pa.struct({"a": pa.int8()}), pa.list_(pa.int8()), None),
        (pa.map_(pa.string(), pa.int8()), pa.map_(pa.string(), pa.int16()), pa.map_(pa.string(), pa.int16())),
    ],
    ids=str,
)
def test_two_types_join_to_the_narrowest_that_holds_both(a: pa.DataType, b: pa.DataType, expected: pa.DataType | None) -> None:
    assert merge_types(a, b) == expected


def test_a_field_that_one_side_lacks_may_be_null() -> None:
    a = pa.struct([pa.field("a", pa.int8(), nullable=False)])
    assert merge_types(a, pa.struct({"b": pa.int8()})) == pa.struct({"a": pa.int8(), "b": pa.int8()})


def test_schemas_unite_their_columns_in_the_order_of_the_first_sight() -> None:
    merged = merge_schemas(pa.schema({"b": pa.null(), "a": pa.int8()}), pa.schema({"c": pa.string(), "b": pa.int8()}))
    assert merged == pa.schema({"b": pa.int8(), "a": pa.int8(), "c": pa.string()})


def test_equal_schemas_stay_with_their_metadata() -> None:
    schema = pa.schema({"a": pa.int8()}, metadata={"k": "v"})
    assert merge_schemas(schema, pa.schema({"a": pa.int8()})) is schema


def test_two_columns_that_do_not_fit_are_named() -> None:
    with pytest.raises(CastError, match=r"b\.json has string in column 'a', where the rows before it have int8"):
        merge_schemas(pa.schema({"a": pa.int8()}), pa.schema({"a": pa.string()}), what="b.json")
    with pytest.raises(CastError, match="Duplicate column 'a'"):
        merge_schemas(pa.schema([("a", pa.int8()), ("a", pa.int8())]), pa.schema({"a": pa.string()}))


def test_types_nested_too_deep_are_refused() -> None:
    a, b = pa.int8(), pa.int16()
    for _ in range(100):
        a, b = pa.list_(a), pa.list_(b)
    with pytest.raises(CastError, match="nested"):
        merge_types(a, b)


# nesting

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
    assert misfit.at(rows_of(np.array([2, 2]))).reason == "3 does not fit 'a' in row 0"
    assert misfit.at(rows_of(np.array([4]))).reason == "3 does not fit 'a' in the same row"


# Columns of plain values, made without pandas: they are what `pa.array` makes of them, errors included.

TYPES_PLAIN = [
    *(pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()),
    *(pa.float64(), pa.float32(), pa.bool_(), pa.string(), pa.large_string(), pa.null(), None),
]
KINDS = [
    st.integers(-(2**65), 2**65),
    st.integers(-130, 260),
    st.floats(),
    st.booleans(),
    st.text() | st.just("\ud800"),
    st.integers(-3, 3) | st.floats(width=16) | st.booleans() | st.text(max_size=2),
]
COLUMNS = st.one_of([st.lists(kind | st.none(), max_size=20) for kind in KINDS])


def outcome(make, values, arrow_type):
    try:
        made = make(values, arrow_type)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        return type(error), str(error)
    made.validate(full=True)
    return made.type, made.null_count, repr(made.to_pylist())


@given(values=COLUMNS, arrow_type=st.sampled_from(TYPES_PLAIN))
def test_a_column_is_what_arrow_makes_of_it(values, arrow_type):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(types, "_would_import_pandas", lambda: True)
        patch.setattr(types, "_taken", 0)
        assert outcome(plain_array, values, arrow_type) == outcome(pa.array, values, arrow_type)


@pytest.mark.optional("pandas")
@pytest.mark.parametrize(("columns", "imported"), [(20, False), (21, True)])
def test_many_values_are_worth_the_import_of_pandas(columns, imported):
    code = "\n".join(
        [
            "import sys, pyarrow as pa",
            "from datasets_core.features.base import ALLOWANCE, plain_array",
            f"for _ in range({columns}):",
            "    plain_array(['x'] * (ALLOWANCE // 20), pa.string())",
            "print('pandas' in sys.modules)",
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(imported)


@given(
    data=st.one_of(st.text(max_size=40).map(str.encode), st.binary(max_size=40), st.text("abc", min_size=9).map(str.encode)),
    cuts=st.lists(st.integers(-1, 45), max_size=6),
    skip=st.integers(0, 3),
    bitmap=st.none() | st.integers(0, 255),
    nulls=st.integers(0, 3),
    large=st.booleans(),
)
def test_texts_are_refused_where_arrow_refuses_them(data, cuts, skip, bitmap, nulls, large):
    cuts = (
        [cut if cut % 7 else max(0, min(cut, len(data))) for cut in cuts]
        if nulls
        else sorted(max(0, min(cut, len(data))) for cut in cuts)
    )
    if len(cuts) < 2:
        return
    kind, width = (pa.LargeStringArray, np.int64) if large else (pa.StringArray, np.int32)
    buffers = pa.py_buffer(np.array(cuts, width)), pa.py_buffer(data)
    mask = None if bitmap is None else pa.py_buffer(bytes([bitmap]))
    try:
        column = kind.from_buffers(len(cuts) - 1, *buffers, mask, nulls if mask is not None else 0).slice(skip)
    except pa.ArrowInvalid:
        assume(False)
    try:
        pa.record_batch([column], ["text"]).validate(full=True)
    except pa.ArrowInvalid as error:
        with pytest.raises(pa.ArrowInvalid) as caught:
            validate(pa.record_batch([column], ["text"]))
        assert str(caught.value) in str(error)
    else:
        validate(pa.record_batch([column], ["text"]))


@st.composite
def lists_of_numbers(draw):
    """A column of lists, which may be part of a longer one, with other numbers before and after its own."""
    item = draw(st.sampled_from([pa.int8(), pa.int64(), pa.float32(), pa.date32(), pa.timestamp("us", "UTC"), pa.bool_()]))
    number = st.booleans() if item == pa.bool_() else st.integers(0, 100)
    number = number | st.none() if draw(st.booleans()) else number
    rows = draw(st.lists(st.none() | st.lists(number, max_size=4), max_size=9))
    kind = draw(
        st.sampled_from([pa.list_(item), pa.large_list(item), pa.list_(pa.field("own", item)), pa.list_(pa.list_(item))])
    )
    if pa.types.is_list(kind.value_type):
        rows = [row if row is None else [row] for row in rows]
    column = pa.array(rows, kind)
    start = draw(st.integers(0, len(rows)))
    return column.slice(start, draw(st.integers(0, len(rows) - start)))


@given(column=lists_of_numbers(), data=st.data())
def test_rows_are_taken_as_arrow_takes_them(column, data):
    places = data.draw(st.lists(st.integers(0, max(len(column) - 1, 0)), max_size=12 if len(column) else 0))
    batch = pa.record_batch({"id": pa.array(range(len(column)), pa.int64()), "lists": column})
    found = taken(batch, np.array(places, np.int64))
    found.validate(full=True)
    assert found.equals(batch.take(pa.array(places, pa.int64())))
    table = pa.concat_tables([pa.Table.from_batches([batch])] * 2)
    assert taken(table, np.array(places, np.int64)).equals(table.take(pa.array(places, pa.int64())))

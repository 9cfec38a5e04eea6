import itertools
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import CastError
from datasets_core.features.arrow import merge_schemas, merge_types

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
    with pytest.raises(CastError, match="'a' is there twice"):
        merge_schemas(pa.schema([("a", pa.int8()), ("a", pa.int8())]), pa.schema({"a": pa.string()}))


def test_types_nested_too_deep_are_refused() -> None:
    a, b = pa.int8(), pa.int16()
    for _ in range(100):
        a, b = pa.list_(a), pa.list_(b)
    with pytest.raises(CastError, match="nested"):
        merge_types(a, b)

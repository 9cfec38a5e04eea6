"""Tests of datasets_core/features/cast.py."""

import datetime
import decimal
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.arrow import Misfit
from datasets_core.features.base import FeatureType, LargeList, List, Sequence, Value, feature_to_arrow
from datasets_core.features.cast import compile_column
from datasets_core.features.types import Array2D, Array3D, ClassLabel, Json, Translation, TranslationVariableLanguages

SPANS = Sequence({"x": Value("int32"), "y": Value("string")})


def written(feature: FeatureType, values: list[Any]) -> list[Any]:
    array = compile_column(feature)(values)
    array.validate(full=True)
    assert array.type == feature_to_arrow(feature)
    return array.to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("feature", "value", "stored"),
    [
        (Value("int64"), "5", 5),
        (Value("string"), 5, "5"),
        (Value("float16"), 1, 1.0),
        (Value("large_string"), "a", "a"),
        (Value("string_view"), "a", "a"),
        (Value("binary"), "a", b"a"),
        (Value("decimal128(10, 2)"), 1, decimal.Decimal("1.00")),
        (List(Value("int32")), (1, None), [1, None]),
        (List(Value("int32")), {1}, [1]),
        (List(Value("int32")), range(2), [0, 1]),
        (List(Value("uint8")), b"ab", [97, 98]),
        (List(Value("string")), np.array(["a"]), ["a"]),
        (List(Value("string")), ["a", 1], ["a", "1"]),
        (List(Value("int32")), np.array([1.0, 2.0]), [1, 2]),
        (List(Value("float32")), np.ma.array([1, 2], mask=[0, 1]), [1.0, None]),
        (List(List(Value("float32"))), np.ones((1, 2)), [[1.0, 1.0]]),
        (List(List(Value("float32"))), [np.ones(1), None, [2]], [[1.0], None, [2.0]]),
        (LargeList(Value("int32")), np.array([1]), [1]),
        (List(Value("int8"), length=2), [1, 2], [1, 2]),
        (List(List(Value("int8"), length=2)), np.array([[1, 2]]), [[1, 2]]),
        (List(ClassLabel(names=["a", "b"])), [0, "b", None], [0, 1, None]),
        (List(Value("bool")), np.array([True, False]), [True, False]),
        ({"x": Value("int32"), "y": Value("string")}, {"y": 5, "z": 1}, {"x": None, "y": "5"}),
        (SPANS, {"x": [1], "y": ["a"]}, {"x": [1], "y": ["a"]}),
        (SPANS, {"x": [1]}, {"x": [1], "y": None}),
        (SPANS, [{"x": 1}, {"y": "b"}], {"x": [1, None], "y": [None, "b"]}),
        (SPANS, [], {"x": [], "y": []}),
        (List({"x": Value("int32")}), [{"x": 1}, None, {}], [{"x": 1}, None, {"x": None}]),
        (Translation(["en", "fr"]), {"en": "a"}, {"en": "a", "fr": None}),
        (TranslationVariableLanguages(["en"]), {"en": ["b", "a"]}, {"language": ["en", "en"], "translation": ["a", "b"]}),
        (Json(), {"a": [1, "b"]}, '{"a":[1,"b"]}'),
        (List(Json()), [1, "x", None], ["1", '"x"', None]),
        ({"j": Json()}, {"j": [1]}, {"j": "[1]"}),
        (Array2D((1, 2), "float32"), np.ones((1, 2)), [[1.0, 1.0]]),
        (Array2D((None, 2), "int8"), [], []),
        (Array2D((1, 2), "string"), [["a", "b"]], [["a", "b"]]),
        (Array2D((1, 2), "int8"), [np.array([1, 2])], [[1, 2]]),
        (Array3D((None, 1, 2), "uint8"), [[[1, None]]], [[[1, None]]]),
        (List(Array2D((1, 1), "int8")), [[[1]], None], [[[1]], None]),
    ],
    ids=str,
)
def test_a_value_is_stored_with_and_without_nulls_around_it(feature: FeatureType, value: object, stored: object) -> None:
    assert written(feature, [value]) == [stored]
    assert written(feature, [None, value, None]) == [None, stored, None]


@pytest.mark.parametrize(
    "feature", [Value("int8"), List(Value("int8"), length=2), {}, Json(), SPANS, Array2D((1, 1), "int8")], ids=str
)
def test_columns_of_nothing_and_of_nulls_have_the_type(feature: FeatureType) -> None:
    assert written(feature, []) == []
    assert written(feature, [None, None]) == [None, None]


@pytest.mark.parametrize(
    ("feature", "value", "reason"),
    [
        (Value("int64"), 1.5, "fraction"),
        (Value("int64"), np.float64(1.5), "fraction"),
        (Value("int8"), 300, "int8"),
        (Value("int8"), np.int64(300), "int8"),
        (Value("float32"), 1e300, "too large"),
        (Value("float16"), 1e6, "too large"),
        (Value("bool"), 2, "not a valid bool"),
        (Value("string"), b"\xff", "UTF-8"),
        (Value("string"), "\ud800", "surrogate"),
        (Value("timestamp[ns]"), datetime.datetime(9999, 1, 1), "not a valid timestamp"),
        (ClassLabel(names=["a"]), 1, "not the integer of"),
        (ClassLabel(names=["a"]), "b", "Unknown class"),
        (ClassLabel(names=["a"]), 2**70, "not the integer of"),
        (List(Value("string")), "ab", "not a valid list"),
        (List(Value("int32")), 5, "not a valid list"),
        (List(Value("int32")), [[1]], "not a valid int32"),
        (List(Value("int32")), np.array([1.5]), "1.5"),
        (List(Value("uint8")), np.array([-1]), "-1"),
        (List(Value("float32")), np.array([1e300]), "does not fit float"),
        (List(Value("int32")), np.ones((1, 1)), "not a valid int32"),
        (List(Value("int8"), length=2), [1], "1 elements"),
        (List(List(Value("int8"), length=2)), np.array([[1], [2]]), "1 elements"),
        ({"x": Value("int32")}, [1], " dict"),
        ({"x": Value("int32")}, 5, " dict"),
        (SPANS, [5], " dict"),
        (Translation(["en"]), {"de": "a"}, "Unknown languages"),
        (Json(), len, "not a JSON value"),
        (Array2D((1, 2), "int8"), np.ones((2, 1)), "shape"),
        (Array2D((1, 2), "int8"), [[1], [2]], "shape"),
        (Array2D((2, 1), "int8"), [[1], [2, 3]], "shapes"),
        (Array2D((1, 2), "int8"), "x", "not a valid list"),
        (Array2D((1, 2), "int8"), np.full((1, 2), 300), "300"),
    ],
    ids=str,
)
def test_a_value_that_does_not_fit_is_refused_at_its_position(feature: FeatureType, value: object, reason: str) -> None:
    with pytest.raises(Misfit) as caught:
        compile_column(feature)([None, None, value])
    assert caught.value.index == 2
    assert reason in caught.value.reason


def test_the_path_leads_to_the_value_inside() -> None:
    feature = List({"a": {"b": List(Value("int8"))}})
    with pytest.raises(Misfit) as caught:
        compile_column(feature)([[], [{"a": {"b": [1]}}, {"a": {"b": [1, 300]}}]])
    assert (caught.value.index, caught.value.path) == (1, "[].a.b[]")


def test_numbers_in_arrays_keep_their_row() -> None:
    with pytest.raises(Misfit) as caught:
        compile_column(List(Value("int8")))([np.array([1, 2]), None, np.array([], int), np.array([3, 300])])
    assert caught.value.index == 3


def test_an_array_that_changes_later_changes_no_column() -> None:
    array = np.array([1.0, 2.0])
    column = compile_column(List(Value("float64")))([array])
    array[:] = 9
    assert column.to_pylist() == [[1.0, 2.0]]


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(width=64) | st.booleans() | st.text()))
def test_integers_are_stored_as_they_are_or_not_at_all(values: list[Any]) -> None:
    try:
        stored = compile_column(Value("int64"))(values).to_pylist()
    except Misfit as misfit:
        assert not isinstance(values[misfit.index], int)
    else:
        assert [None if v is None else int(v) for v in values] == stored
        assert all(v is None or float(v) == float(s) for v, s in zip(values, stored, strict=True))


@given(
    st.lists(st.none() | st.lists(st.none() | st.lists(st.none() | st.text(max_size=2), max_size=2), max_size=3), max_size=8)
)
def test_nested_lists_are_stored_as_they_are(values: list[Any]) -> None:
    assert written(List(List(Value("string"))), values) == values
    assert written(LargeList(List(Value("large_string"))), values) == values


ARROW_OWN = {"a": pa.int64(), "b": pa.list_(pa.string()), "c": pa.struct({"d": pa.float64()})}


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "a": st.none() | st.integers(-9, 9),
                "b": st.none() | st.lists(st.text(max_size=2), max_size=2),
                "c": st.none() | st.fixed_dictionaries({"d": st.none() | st.floats(allow_nan=False)}),
            }
        ),
        max_size=9,
    )
)
def test_a_struct_is_what_arrow_makes_of_it(values: list[Any]) -> None:
    feature = {"a": Value("int64"), "b": List(Value("string")), "c": {"d": Value("float64")}}
    assert compile_column(feature)(values).equals(pa.array(values, pa.struct(ARROW_OWN)))


def test_a_dict_that_makes_values_of_missing_keys_is_read_without_them() -> None:
    struct: FeatureType = {"a": Value("int64"), "b": Value("string")}
    row: defaultdict[str, Any] = defaultdict(int, a=3)
    for is_loose in (False, True):
        for feature, value, stored in (
            (struct, row, {"a": 3, "b": None}),
            (List(struct), [row], [{"a": 3, "b": None}]),
            (Sequence(struct), [row], {"a": [3], "b": [None]}),
            (Sequence(struct), defaultdict(list, a=[3]), {"a": [3], "b": None}),
            ({"n": struct}, {"n": row}, {"n": {"a": 3, "b": None}}),
        ):
            assert compile_column(feature, is_loose=is_loose)([value, None]).to_pylist() == [stored, None]
    assert dict(row) == {"a": 3}

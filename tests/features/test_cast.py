import datetime
import datetime as dt
import decimal
from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import CastError, CellCastError
from datasets_core.features.arrow import Misfit, merge_types
from datasets_core.features.base import FeatureType, LargeList, List, Sequence, Value, feature_to_arrow
from datasets_core.features.cast import cast_table, compile_column
from datasets_core.features.schema import Features, feature_from_arrow
from datasets_core.features.types import Array2D, Array3D, ClassLabel, Json, Translation, TranslationVariableLanguages

SPANS = Sequence({"x": Value("int8"), "y": Value("string")})
NOON = dt.datetime(2020, 1, 2, 12)


def cast(array: pa.Array, feature: FeatureType) -> list[Any]:
    table = cast_table(pa.table({"a": array}), Features({"a": feature}))
    table.validate(full=True)
    assert table.schema == Features({"a": feature}).arrow_schema
    return table["a"].to_pylist()  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("array", "feature", "values"),
    [
        (pa.array([1, None]), Value("int8"), [1, None]),
        (pa.array([1, None]), Value("string"), ["1", None]),
        (pa.array(["1"]), Value("int8"), [1]),
        (pa.array([1.0]), Value("int8"), [1]),
        (pa.array([1, 0]), Value("bool"), [True, False]),
        (pa.array([b"x"]), Value("large_string"), ["x"]),
        (pa.array([dt.date(2020, 1, 2)]), Value("timestamp[s]"), [dt.datetime(2020, 1, 2)]),
        (pa.array([NOON.replace(hour=0)]), Value("date32"), [dt.date(2020, 1, 2)]),
        (pa.array(["2020-01-02T12:00:00"]), Value("timestamp[s]"), [NOON]),
        (pa.array(["2020-01-02T13:00:00+01:00"]), Value("timestamp[s]"), [NOON]),
        (pa.array(["2020-01-02"]), Value("timestamp[s, tz=UTC]"), [dt.datetime(2020, 1, 2, tzinfo=dt.UTC)]),
        (pa.array(["23:59:59.999000", None]), Value("time32[ms]"), [dt.time(23, 59, 59, 999_000), None]),
        (pa.array(["01:02:03"]), Value("time64[us]"), [dt.time(1, 2, 3)]),
        (pa.array([5]), Value("decimal128(4, 2)"), [5]),
        (pa.array([1.25]), Value("decimal128(4, 2)"), [1.25]),
        (pa.array([0.1]), Value("float16"), [0.0999755859375]),
        (pa.array([None, None]), List({"a": Value("int8")}), [None, None]),
        (pa.array(["a", None]).dictionary_encode(), Value("string"), ["a", None]),
        (pa.array(["b", None, "a"]), ClassLabel(names=["a", "b"]), [1, None, 0]),
        (pa.array(["b", "a"]).dictionary_encode(), ClassLabel(names=["a", "b"]), [1, 0]),
        (pa.array([1.0, None]), ClassLabel(names=["a", "b"]), [1, None]),
        (pa.array([-1, 1], pa.int8()), ClassLabel(names=["a", "b"]), [-1, 1]),
        (pa.array([[1], None, []]), List(Value("string")), [["1"], None, []]),
        (pa.array([[1]], pa.large_list(pa.int64())), List(Value("int8")), [[1]]),
        (pa.array([[1], None]), LargeList(Value("int8")), [[1], None]),
        (pa.array([[1, 2], None]), List(Value("int8"), length=2), [[1, 2], None]),
        (
            pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int8())),
            List({"key": Value("string"), "value": Value("int8")}),
            [[{"key": "k", "value": 1}]],
        ),
        (pa.array([{"x": 1}, None]), {"y": Value("int8"), "x": Value("string")}, [{"y": None, "x": "1"}, None]),
        (
            pa.array([[{"x": 1, "y": "a"}, {"x": 2, "y": None}], None, []]),
            SPANS,
            [{"x": [1, 2], "y": ["a", None]}, None, {"x": [], "y": []}],
        ),
        (
            pa.array([{"x": [1, 2], "y": ["a", None]}, None, {"x": [], "y": []}]),
            List({"x": Value("int8"), "y": Value("string")}),
            [[{"x": 1, "y": "a"}, {"x": 2, "y": None}], None, []],
        ),
        (pa.array([{"x": [1]}]), List({"x": Value("int8"), "y": Value("string")}), [[{"x": 1, "y": None}]]),
        (pa.array([{"en": "a"}]), Translation(["en", "fr"]), [{"en": "a", "fr": None}]),
        (
            pa.array([{"language": ["en"], "translation": ["x"]}]),
            TranslationVariableLanguages(["en"]),
            [{"language": ["en"], "translation": ["x"]}],
        ),
        (pa.array([{"a": 1}, None]), Json(), ['{"a":1}', None]),
        (pa.array(["x"]), Json(), ['"x"']),
        (pa.array([[[1, 2]], None]), Array2D((1, 2), "float32"), [[[1.0, 2.0]], None]),
        (pa.array([[], [[1, 2]]]), Array2D((None, 2), "int8"), [[], [[1, 2]]]),
    ],
    ids=str,
)
def test_data_is_cast_to_the_feature(array: pa.Array, feature: FeatureType, values: list[Any]) -> None:
    assert cast(array, feature) == values
    padded = pa.concat_arrays([pa.nulls(3, array.type), array]).slice(1)
    assert cast(padded, feature) == [None, None, *values]


@pytest.mark.parametrize(
    ("array", "feature"),
    [
        (pa.array([1.5]), Value("int8")),
        (pa.array([300]), Value("int8")),
        (pa.array([2**53 + 1]), Value("float64")),
        (pa.array([1e300]), Value("float32")),
        (pa.array([5]), Value("bool")),
        (pa.array(["x"]), Value("int8")),
        (pa.array(["x"]), Value("timestamp[s]")),
        (pa.array([b"\xff"]), Value("string")),
        (pa.array([NOON]), Value("date32")),
        (pa.array([NOON]), Value("time64[us]")),
        (pa.array([NOON.replace(microsecond=1)]), Value("timestamp[s]")),
        (pa.array([1.255]), Value("decimal128(4, 2)")),
        (pa.array([100]), Value("decimal128(4, 2)")),
        (pa.array([[1]]), Value("string")),
        (pa.array([1]), List(Value("int8"))),
        (pa.array([1]), {"a": Value("int8")}),
        (pa.array([1]), Value("null")),
        (pa.array(["c"]), ClassLabel(names=["a", "b"])),
        (pa.array([2]), ClassLabel(names=["a", "b"])),
        (pa.array([-2]), ClassLabel(names=["a", "b"])),
        (pa.array([[1]]), List(Value("int8"), length=2)),
        (pa.array([[1, 300]]), List(Value("int8"))),
        (pa.array([{"x": 1, "z": 1}]), {"x": Value("int8")}),
        (pa.array([[{"x": 1, "z": 1}]]), SPANS),
        (pa.array([[{"x": 300}]]), SPANS),
        (pa.array([[1]]), SPANS),
        (pa.array([{"x": [1], "y": []}]), List({"x": Value("int8"), "y": Value("string")})),
        (pa.array([{"x": 1}]), List({"x": Value("int8")})),
        (pa.array([[[1, 2, 3]]]), Array2D((1, 2), "int8")),
        (pa.array([[[1, 2], [3]]]), Array2D((2, 2), "int8")),
    ],
    ids=str,
)
def test_data_that_would_be_damaged_is_refused_at_its_row(array: pa.Array, feature: FeatureType) -> None:
    table = pa.table({"a": pa.chunked_array([pa.nulls(2, array.type), pa.concat_arrays([pa.nulls(1, array.type), array])])})
    with pytest.raises(CellCastError) as caught:
        cast_table(table, Features({"a": feature}), what="x.parquet")
    assert caught.value.row == 3
    assert caught.value.column.startswith("a")
    assert "x.parquet" in str(caught.value)


def test_data_of_the_right_type_is_the_same_object() -> None:
    features = Features({"a": ClassLabel(names=["x"]), "b": List(Value("string"))})
    table = pa.table({"a": [0], "b": [["x"]]}, schema=features.arrow_schema)
    assert cast_table(table, features) is table
    batch = table.to_batches()[0]
    assert cast_table(batch, features) is batch


def test_a_column_of_the_right_type_is_not_copied() -> None:
    table = pa.table({"b": ["x"], "a": [1]})
    done = cast_table(table, Features({"a": Value("int8"), "b": Value("string")}))
    assert done["b"].chunk(0).buffers()[2].address == table["b"].chunk(0).buffers()[2].address


def test_labels_of_the_right_type_are_still_checked() -> None:
    with pytest.raises(CellCastError) as caught:
        cast_table(pa.table({"a": [0, 7]}), Features({"a": ClassLabel(names=["x"])}))
    assert caught.value.row == 1


def test_columns_are_reordered_and_what_is_missing_is_null() -> None:
    batch = pa.record_batch({"b": ["x"], "a": [1]})
    features = Features({"a": Value("int8"), "b": Value("string"), "c": Json()})
    done = cast_table(batch, features)
    assert isinstance(done, pa.RecordBatch)
    assert done.to_pylist() == [{"a": 1, "b": "x", "c": None}]
    with pytest.raises(CastError, match=r"missing columns \['c'\]"):
        cast_table(batch, features, fill_missing=False)


def test_columns_that_are_unknown_or_double_are_refused() -> None:
    with pytest.raises(CastError, match=r"X has unknown columns \['b'\]"):
        cast_table(pa.table({"a": [1], "b": [1]}), Features({"a": Value("int8")}), what="x")
    with pytest.raises(CastError, match="duplicate columns"):
        cast_table(pa.table([[1], [2]], ["a", "a"]), Features({"a": Value("int8")}))


def test_tables_without_columns_or_chunks_keep_their_rows() -> None:
    assert cast_table(pa.table({"a": pa.chunked_array([], pa.int64())}), Features({"a": Value("string")})).num_rows == 0
    assert cast_table(pa.table({}), Features({})).num_columns == 0


def test_what_hides_under_nulls_does_no_harm() -> None:
    hidden = pa.StructArray.from_arrays([pa.array([1, 300])], ["x"], mask=pa.array([False, True]))
    assert cast(hidden, {"x": Value("int8")}) == [{"x": 1}, None]
    labels = pa.Array.from_buffers(pa.int64(), 2, [pa.py_buffer(b"\x01"), pa.array([0, 99]).buffers()[1]])
    assert cast(labels, ClassLabel(names=["a"])) == [0, None]


COLUMNS = {
    "int": (pa.int8(), st.integers(-128, 127)),
    "uint": (pa.uint16(), st.integers(0, 2**16 - 1)),
    "float": (pa.float64(), st.floats(allow_nan=False)),
    "text": (pa.string(), st.text(max_size=3)),
    "bytes": (pa.large_binary(), st.binary(max_size=3)),
    "date": (pa.date32(), st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1))),
    "moment": (pa.timestamp("us"), st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))),
    "decimal": (pa.decimal128(6, 2), st.decimals(-1000, 1000, places=2)),
    "list": (pa.list_(pa.int8()), st.lists(st.integers(-128, 127), max_size=3)),
    "struct": (pa.struct({"a": pa.int8()}), st.fixed_dictionaries({"a": st.none() | st.integers(-128, 127)})),
}


@given(st.data(), st.sampled_from(sorted(COLUMNS)), st.sampled_from(sorted(COLUMNS)))
def test_a_cast_to_the_merged_type_loses_nothing(data: st.DataObject, one: str, other: str) -> None:
    arrow_type, values = COLUMNS[one]
    array = pa.array(data.draw(st.lists(st.none() | values, max_size=5)), arrow_type)
    merged = merge_types(arrow_type, COLUMNS[other][0])
    feature = feature_from_arrow(merged) if merged is not None else feature_from_arrow(arrow_type)
    done = cast_table(pa.table({"a": array}), Features({"a": feature}))
    assert cast_table(done, Features({"a": feature_from_arrow(arrow_type)}))["a"].combine_chunks().equals(array)


# Python values to Arrow.


ENCODED_SPANS = Sequence({"x": Value("int32"), "y": Value("string")})


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
        (ENCODED_SPANS, {"x": [1], "y": ["a"]}, {"x": [1], "y": ["a"]}),
        (ENCODED_SPANS, {"x": [1]}, {"x": [1], "y": None}),
        (ENCODED_SPANS, [{"x": 1}, {"y": "b"}], {"x": [1, None], "y": [None, "b"]}),
        (ENCODED_SPANS, [], {"x": [], "y": []}),
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
    "feature", [Value("int8"), List(Value("int8"), length=2), {}, Json(), ENCODED_SPANS, Array2D((1, 1), "int8")], ids=str
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
        (ENCODED_SPANS, [5], " dict"),
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

"""Tests of datasets_core/features/values.py."""

import datetime as dt
import decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import CastError, CellCastError
from datasets_core.features.base import List, Sequence, Value, type_from_name
from datasets_core.features.cast import compile_column
from datasets_core.features.formats.arrays import NanosecondDatetime, NanosecondTime, NanosecondTimedelta
from datasets_core.features.schema import Features, RowEncoder
from datasets_core.features.types import Json
from datasets_core.features.values import as_elements, coercer, decode_value, encode_value, loose_coercer, loose_elements, shown

UTC = dt.UTC
DAY = dt.datetime(2020, 1, 2)


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        ("int64", "5", 5),
        ("int64", 2.0, 2),
        ("int64", True, 1),
        ("int64", np.array(3), 3),
        ("int8", decimal.Decimal("7"), 7),
        ("float32", "1.5", 1.5),
        ("float64", True, 1.0),
        ("float64", 2**53 + 1, float(2**53)),
        ("float64", decimal.Decimal("1.25"), 1.25),
        ("bool", 1, True),
        ("bool", 0.0, False),
        ("string", 5, "5"),
        ("string", 1.5, "1.5"),
        ("string", True, "True"),
        ("string", b"x", "x"),
        ("string", dt.date(2020, 1, 2), "2020-01-02"),
        ("string", [1, 2], "[1, 2]"),
        ("binary", "é", "é".encode()),
        ("decimal128(10, 2)", 1.1, decimal.Decimal("1.10")),
        ("decimal128(10, 2)", "1.5", decimal.Decimal("1.50")),
        ("date32", "2020-01-02", dt.date(2020, 1, 2)),
        ("date32", DAY, dt.date(2020, 1, 2)),
        ("date32", np.datetime64("2020-01-02"), dt.date(2020, 1, 2)),
        ("timestamp[s]", DAY, 1577923200),
        ("timestamp[us]", "2020-01-02", 1577923200 * 10**6),
        ("timestamp[us]", "2020-01-02T01:00:00+01:00", 1577923200 * 10**6),
        ("timestamp[us, tz=UTC]", "2020-01-02", 1577923200 * 10**6),
        ("timestamp[s]", dt.date(2020, 1, 2), 1577923200),
        ("timestamp[ms]", np.datetime64("2020-01-02T00:00:00.5", "ms"), 1577923200500),
        ("timestamp[us]", DAY.replace(tzinfo=UTC), 1577923200 * 10**6),
        ("time32[s]", dt.time(0, 1, 2), 62),
        ("time64[ns]", "00:00:01", 10**9),
        ("duration[s]", dt.timedelta(minutes=1), 60),
        ("duration[ms]", np.timedelta64(5, "s"), 5000),
    ],
)
def test_a_value_is_stored_by_its_dtype(dtype: str, value: object, stored: object) -> None:
    found = coercer(type_from_name(dtype))(value)
    assert (found, type(found)) == (stored, type(stored))


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("int64", 1.5),
        ("int64", "1.5"),
        ("int64", float("nan")),
        ("int64", float("inf")),
        ("int64", 2**63),
        ("int64", b"5"),
        ("int64", [1]),
        ("int64", None),
        ("int8", 300),
        ("uint8", -1),
        ("float32", 1e39),
        ("float16", 10**6),
        ("float64", "x"),
        ("float64", 1 + 2j),
        ("bool", 5),
        ("bool", "true"),
        ("string", b"\xff"),
        ("string", "\ud800"),
        ("binary", 5),
        ("binary", "\ud800"),
        ("fixed_size_binary[3]", b"ab"),
        ("decimal128(10, 2)", "1.255"),
        ("decimal128(3, 2)", 100),
        ("decimal128(10, 2)", "x"),
        ("date32", DAY.replace(hour=1)),
        ("date32", 1.5),
        ("timestamp[s]", DAY.replace(microsecond=1)),
        ("timestamp[us]", 1.5),
        ("timestamp[us]", True),
        ("timestamp[us]", "tomorrow"),
        ("timestamp[ns]", dt.datetime(9999, 1, 1)),
        ("time32[s]", dt.time(0, 0, 0, 1)),
        ("time64[us]", "noon"),
        ("duration[s]", dt.timedelta(microseconds=1)),
        ("duration[s]", 1.5),
        ("null", 0),
    ],
)
def test_a_value_that_would_be_damaged_is_refused(dtype: str, value: object) -> None:
    with pytest.raises(CastError) as caught:
        coercer(type_from_name(dtype))(value)
    assert len(str(caught.value)) < 260


def test_an_integer_of_thousands_of_digits_is_refused() -> None:
    for dtype in ("int64", "float64", "string", "decimal128(38, 0)"):
        with pytest.raises(CastError):
            coercer(type_from_name(dtype))(10**5000)


def test_a_value_nested_too_deep_is_refused() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(CastError, match="deep"):
        coercer(pa.string())(deep)


LONG = {"text": "x" * 10_000, "list": list(range(10_000)), "dict": {"a" * 500: "b" * 500}, "int": 10**5000, "array": np.eye(50)}


@pytest.mark.parametrize("value", LONG.values(), ids=LONG)
def test_a_value_is_shown_short(value: object) -> None:
    assert len(shown(value)) <= 80


@pytest.mark.parametrize("value", ["ab", b"ab", {"a": 1}, 5, None, iter([1])])
def test_what_stands_for_no_list_has_no_elements(value: object) -> None:
    with pytest.raises(CastError, match="not a valid list"):
        as_elements(value)


@pytest.mark.parametrize("value", [(1, 2), np.array([1, 2]), range(1, 3), {1, 2}, pa.array([1, 2]), {1: 0, 2: 0}.keys()])
def test_what_stands_for_a_list_has_elements(value: object) -> None:
    assert list(as_elements(value)) == [1, 2]


def test_dicts_lose_no_row_when_they_become_lists() -> None:
    feature = {"x": List(Value("int32")), "y": List(Value("string"))}
    assert encode_value(feature, [{"x": 1}, {"y": "b"}]) == {"x": [1, None], "y": [None, "b"]}


def test_decoding_reaches_into_lists_and_dicts() -> None:
    feature = {"a": List({"b": Json()}), "c": Value("int8")}
    assert decode_value(feature, {"a": [{"b": "[1]"}, None], "c": 3}) == {"a": [{"b": [1]}, None], "c": 3}


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        ("duration[ns]", NanosecondTimedelta.of(dt.timedelta(seconds=1), 5), 1_000_000_005),
        ("duration[ns]", pa.scalar(7, pa.duration("ns")), 7),
        ("duration[s]", np.timedelta64(1, "h"), 3600),
        ("duration[ms]", np.timedelta64(2, "D"), 172_800_000),
        ("time64[ns]", NanosecondTime.of(dt.time(0, 0, 1), 5), 1_000_000_005),
        ("time64[ns]", pa.scalar(7, pa.time64("ns")), 7),
        ("timestamp[ns]", NanosecondDatetime.of(dt.datetime(1970, 1, 1), 5), 5),
        ("timestamp[ns]", pa.scalar(7, pa.timestamp("ns")), 7),
        ("timestamp[s]", np.datetime64("1970-01-02T01"), 90_000),
        ("timestamp[s]", np.datetime64("1970-02"), 31 * 86_400),
        ("date32", np.datetime64("1970-02"), dt.date(1970, 2, 1)),
        ("float64", np.uint64(2**64 - 1), 2.0**64),
        ("string", np.float32(1.1), "1.1"),
        ("decimal128(10, 2)", np.float32(1.1), decimal.Decimal("1.10")),
    ],
)
def test_values_of_numpy_and_arrow_and_nanoseconds_are_stored_whole(dtype: str, value: Any, stored: Any) -> None:
    assert coercer(Value(dtype).arrow_type)(value) == stored


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("duration[us]", NanosecondTimedelta.of(dt.timedelta(0), 5)),
        ("duration[s]", np.timedelta64(5, "ns")),
        ("duration[s]", np.timedelta64(5)),
        ("duration[s]", np.timedelta64(5, "M")),
        ("time64[us]", NanosecondTime.of(dt.time(0), 5)),
        ("time64[us]", pa.scalar(7, pa.time64("ns"))),
        ("time32[s]", 86_400),
        ("time64[ns]", -1),
        ("timestamp[us]", np.datetime64(5, "ns")),
        ("timestamp[ns]", np.datetime64("0001-01-01T00:00:00", "s")),
        ("date32", np.datetime64("2020-01-01T00:00:00.000000001")),
        ("date32", NanosecondDatetime.of(dt.datetime(2020, 1, 1), 5)),
    ],
)
def test_nanoseconds_that_a_type_cannot_hold_are_refused(dtype: str, value: Any) -> None:
    with pytest.raises(CastError):
        RowEncoder(Features({"a": Value(dtype)})).encode([{"a": value}])


@pytest.mark.parametrize("value", [np.datetime64("NaT"), np.timedelta64("NaT"), pa.scalar(None), pa.scalar(None, pa.int8())])
@pytest.mark.parametrize("dtype", ["date32", "timestamp[s]", "duration[s]", "time32[s]", "string", "bool", "null", "int8"])
def test_what_numpy_and_arrow_have_instead_of_none_is_null(dtype: str, value: Any) -> None:
    features = Features({"a": Value(dtype)})
    assert RowEncoder(features).encode([{"a": value}]).to_pylist() == [features.encode_example({"a": value})] == [{"a": None}]


def test_unsigned_integers_of_numpy_become_floats_of_the_same_value() -> None:
    rows = [{"a": np.uint64(2**64 - 1)}, {"a": np.uint64(2**63)}, {"a": 1}]
    assert RowEncoder(Features({"a": Value("float64")})).encode(rows)["a"].to_pylist() == [2.0**64, 2.0**63, 1.0]


@pytest.mark.parametrize("value", [np.arange(2000), pa.array(range(30))])
def test_an_array_is_no_text_since_its_own_text_leaves_elements_out(value: Any) -> None:
    with pytest.raises(CastError, match=r"array"):
        coercer(pa.string())(value)


# Values that do not fit are taken as Hugging Face `datasets` 1 to 3 took them.


@pytest.mark.parametrize(
    ("arrow_type", "value", "stored"),
    [
        (pa.int32(), 1.9, 1),
        (pa.int32(), "7", 7),
        (pa.bool_(), "False", True),
        (pa.bool_(), "", False),
        (pa.bool_(), 2, True),
        (pa.string(), b"a", "b'a'"),
        (pa.string(), [1], "[1]"),
        (pa.float32(), "1e3", 1000.0),
        (pa.date32(), dt.datetime(2020, 1, 2, 23), dt.date(2020, 1, 2)),
        (pa.date32(), dt.datetime(2020, 1, 2, 23, tzinfo=dt.timezone(-dt.timedelta(hours=2))), dt.date(2020, 1, 3)),
        (pa.binary(), "a", b"a"),
        (pa.int64(), np.array([3]), 3),
    ],
)
def test_a_value_is_made_to_fit(arrow_type: pa.DataType, value: Any, stored: Any) -> None:
    assert loose_coercer(arrow_type)(value) == stored


@pytest.mark.parametrize(
    ("arrow_type", "value"), [(pa.int8(), "x"), (pa.int8(), 300), (pa.float64(), "1,5"), (pa.bool_(), np.array([1, 2]))]
)
def test_what_no_constructor_takes_is_refused(arrow_type: pa.DataType, value: Any) -> None:
    with pytest.raises(CastError):
        loose_coercer(arrow_type)(value)


def test_elements_of_a_text_are_its_letters() -> None:
    assert loose_elements("ab") == ["a", "b"]
    with pytest.raises(CastError):
        loose_elements(5)


def test_an_encoder_is_exact_unless_it_is_told_otherwise() -> None:
    features = Features({"n": Value("int32"), "many": List(Value("int64"))})
    rows = [{"n": 1.5, "many": np.array([0.5, 2.0]), "other": "left out"}]
    assert RowEncoder(features, is_loose=True).encode(rows).to_pylist() == [{"n": 1, "many": [0, 2]}]
    with pytest.raises(CellCastError, match="do not have this column"):
        RowEncoder(features).encode(rows)


def test_moments_are_dates_and_times_as_old_versions_stored_them() -> None:
    moment, text = np.datetime64("2020-01-02T03:04:05"), "2020-01-02 03:04:05"
    pandas = pytest.importorskip("pandas")
    for arrow_type in (pa.date32(), pa.date64()):
        made = [pa.scalar(loose_coercer(arrow_type)(value), arrow_type).as_py() for value in (moment, pandas.Timestamp(text))]
        assert made == [dt.date(2020, 1, 2)] * 2
    for arrow_type in (pa.time32("s"), pa.time64("us")):
        coerce = loose_coercer(arrow_type)
        for value in (moment, pandas.Timestamp(text), dt.datetime.fromisoformat(text)):
            assert pa.scalar(coerce(value), arrow_type).as_py() == dt.time(3, 4, 5)
        assert coerce(pandas.NaT) is None
        with pytest.raises(CastError, match="datetime64"):
            coerce(np.datetime64("2020-01-02"))
    assert loose_coercer(pa.date64())(1577934245) == dt.date(1970, 1, 19)
    with pytest.raises(CastError, match="finer than a s"):
        loose_coercer(pa.time32("s"))(dt.time(1, 2, 3, 4))


def test_elements_of_arrays_have_the_text_that_numpy_gives_them() -> None:
    column = compile_column(Sequence(Value("string")), is_loose=True)
    assert column([np.ones((2, 2), int), np.array([0.1], "float32")]).to_pylist() == [["[1 1]", "[1 1]"], ["0.1"]]
    assert compile_column(Sequence(Sequence(Value("int8"))), is_loose=True)([np.ones((1, 2))]).to_pylist() == [[[1, 1]]]

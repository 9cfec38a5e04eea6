import datetime as dt
import decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import CastError
from datasets_core.features.base import List, Value
from datasets_core.features.dtypes import type_from_name
from datasets_core.features.dynamic import Json
from datasets_core.features.values import as_elements, coercer, decode_value, encode_value, shown

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
    assert len(str(caught.value)) < 250


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


@pytest.mark.parametrize("value", ["ab", b"ab", {"a": 1}, 5, None, iter([1])], ids=repr)
def test_what_stands_for_no_list_has_no_elements(value: object) -> None:
    with pytest.raises(CastError, match="no list"):
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

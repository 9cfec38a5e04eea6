import collections
import datetime as dt
import decimal
import enum
import pathlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.arrow import Misfit
from datasets_core.features.formats.arrays import NanosecondTime
from datasets_core.features.inference import infer_column

UTC = dt.UTC
Point = collections.namedtuple("Point", "x y")


class Color(str, enum.Enum):  # noqa: UP042 (its str() is not its text, unlike StrEnum's)
    RED = "red"


class Moment(dt.datetime): ...


class Span(dt.timedelta): ...


class Day(dt.date): ...


D = decimal.Decimal
BOTH = pa.struct({"a": pa.int64(), "b": pa.float64()})


@pytest.mark.parametrize(
    ("values", "arrow_type", "stored"),
    [
        ([None], pa.null(), [None]),
        ([], pa.null(), []),
        ([1, None, 2.5], pa.float64(), [1.0, None, 2.5]),
        ([np.int8(3)], pa.int8(), [3]),
        ([np.int8(3), 300], pa.int64(), [3, 300]),
        ([np.float32(1.5), np.float64(2)], pa.float64(), [1.5, 2.0]),
        ([True, np.bool_(False)], pa.bool_(), [True, False]),
        (["a", np.str_("b")], pa.string(), ["a", "b"]),
        (["a", b"b"], pa.binary(), [b"a", b"b"]),
        ([bytearray(b"x"), memoryview(b"y")], pa.binary(), [b"x", b"y"]),
        ([2**63, 1], pa.uint64(), [2**63, 1]),
        ([1.0, 2**70], pa.float64(), [1.0, float(2**70)]),
        (
            [D("1.25"), D("100.5")],
            pa.decimal128(5, 2),
            [D("1.25"), D("100.50")],
        ),
        ([D("1.5"), 1], pa.decimal128(2, 1), [D("1.5"), D("1.0")]),
        ([D(10**40), None], pa.decimal256(41, 0), [D(10**40), None]),
        ([D(10**20), D("1E-20")], pa.decimal256(41, 20), [D(10**20), D("1E-20")]),
        ([dt.date(2020, 1, 2)], pa.date32(), [dt.date(2020, 1, 2)]),
        (
            [dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 3)],
            pa.timestamp("us"),
            [dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 2, 3)],
        ),
        ([dt.time(1)], pa.time64("us"), [dt.time(1)]),
        ([dt.timedelta(1)], pa.duration("us"), [dt.timedelta(1)]),
        ([np.datetime64("2020-01-02")], pa.date32(), [dt.date(2020, 1, 2)]),
        ([np.datetime64("2020-01-02", "ms")], pa.timestamp("ms"), [dt.datetime(2020, 1, 2)]),
        ([np.timedelta64(5, "s")], pa.duration("s"), [dt.timedelta(seconds=5)]),
        ([np.array([1, 2], "int8"), None], pa.list_(pa.int8()), [[1, 2], None]),
        ([np.array([1], "int8"), np.array([300], "int16")], pa.list_(pa.int16()), [[1], [300]]),
        ([np.array([1], "int8"), [1.5]], pa.list_(pa.float64()), [[1.0], [1.5]]),
        ([np.array([[1, 2]], "float32")], pa.list_(pa.list_(pa.float32())), [[[1.0, 2.0]]]),
        ([np.array(["a"]), np.array(["bb"])], pa.list_(pa.string()), [["a"], ["bb"]]),
        ([np.array([1, None], object)], pa.list_(pa.int64()), [[1, None]]),
        ([np.ma.array([1, 2], mask=[0, 1])], pa.list_(pa.int64()), [[1, None]]),
        ([np.array(3)], pa.int64(), [3]),
        ([[], [None], [1]], pa.list_(pa.int64()), [[], [None], [1]]),
        ([(1, 2), [3], {4}, range(1)], pa.list_(pa.int64()), [[1, 2], [3], [4], [0]]),
        ([[np.array([1], "int8")]], pa.list_(pa.list_(pa.int8())), [[[1]]]),
        ([{}], pa.struct([]), [{}]),
        (
            [{"a": 1}, None, {"b": 2.5}],
            BOTH,
            [{"a": 1, "b": None}, None, {"a": None, "b": 2.5}],
        ),
        ([collections.OrderedDict(a=1), {"a": 1.5}], pa.struct({"a": pa.float64()}), [{"a": 1.0}, {"a": 1.5}]),
        ([pathlib.PurePosixPath("/x"), "y"], pa.string(), ["/x", "y"]),
        ([Color.RED], pa.string(), ["red"]),
        ([Point(1, 2)], pa.list_(pa.int64()), [[1, 2]]),
        ([Moment(2020, 1, 2, 3), None], pa.timestamp("us"), [dt.datetime(2020, 1, 2, 3), None]),
        ([Span(1)], pa.duration("us"), [dt.timedelta(1)]),
        ([Day(2020, 1, 2), dt.date(2020, 1, 3)], pa.date32(), [dt.date(2020, 1, 2), dt.date(2020, 1, 3)]),
        ([pa.scalar(3), pa.array([1])[0]], pa.int64(), [3, 1]),
        ([pa.array([1])], pa.list_(pa.int64()), [[1]]),
    ],
)
def test_values_share_the_type_that_holds_them_all(values: list[Any], arrow_type: pa.DataType, stored: list[Any]) -> None:
    array = infer_column(values)
    array.validate(full=True)
    assert array.type == arrow_type
    assert array.to_pylist() == stored


def test_moments_of_pandas_keep_their_nanoseconds() -> None:
    pandas = pytest.importorskip("pandas")
    array = infer_column([pandas.Timestamp("2020-01-02T00:00:00.000000001"), pandas.NaT, None])
    assert array.type == pa.timestamp("ns")
    assert [scalar.value for scalar in array] == [1577923200000000001, None, None]
    assert infer_column([pandas.Timedelta(1, "s"), pandas.NA]).to_pylist() == [dt.timedelta(seconds=1), None]


def test_times_of_day_keep_their_nanoseconds() -> None:
    array = infer_column([dt.time(0, 0, 1), NanosecondTime.of(dt.time(0, 0, 1), 5), pa.scalar(7, pa.time64("ns")), None])
    assert array.type == pa.time64("ns")
    assert [scalar.value for scalar in array] == [1_000_000_000, 1_000_000_005, 7, None]


def test_zones_that_differ_become_utc() -> None:
    values = [dt.datetime(2020, 1, 1, tzinfo=UTC), dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=2)))]
    array = infer_column(values)
    assert array.type == pa.timestamp("us", "UTC")
    assert array.to_pylist() == values


@pytest.mark.parametrize(
    ("values", "index", "words"),
    [
        ([1, True], 1, ["True", "bool", "int", "row 0"]),
        ([None, "a", 1], 2, ["int", "str", "row 1"]),
        ([True, 1.5], 1, ["float", "bool"]),
        ([[1], 1], 1, ["list", "int"]),
        ([{"a": 1}, 1], 1, ["dict", "int"]),
        ([[1, "a"]], 0, ["'a'", "the same row"]),
        ([[1], [2, "a"]], 1, ["'a'", "row 0"]),
        ([{"a": 1}, {"a": "x"}], 1, ["'x'", "row 0"]),
        ([2**53 + 1, 1.5], 0, ["float64 would round"]),
        ([np.int64(2**53 + 1), 1.5], 0, ["float64 would round"]),
        ([2**63, -1], 0, ["uint64", "row 1"]),
        ([2**64], 0, ["64 bits"]),
        ([10**5000], 0, ["64 bits"]),
        ([D(1), D("NaN")], 1, ["NaN"]),
        ([D("Infinity")], 0, ["Infinity"]),
        ([D(1), D("1E-80")], 1, ["76 digits"]),
        ([1 + 2j], 0, ["complex"]),
        ([object()], 0, ["object"]),
        ([{1: 2}], 0, ["not a string"]),
        (["\ud800"], 0, ["surrogate"]),
        ([np.array([1j])], 0, ["no Arrow type"]),
        ([dt.datetime(2020, 1, 1, tzinfo=UTC), dt.datetime(2020, 1, 1)], 1, ["UTC", "row 0"]),
        ([D("1.5"), 1.5], 1, ["float", "Decimal"]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_share_no_type_are_named_with_both_rows(values: list[Any], index: int, words: list[str]) -> None:
    with pytest.raises(Misfit) as caught:
        infer_column(values)
    assert caught.value.index == index
    assert [word for word in words if word not in caught.value.reason] == []


@pytest.mark.parametrize("depth", [100, 100_000])
@pytest.mark.parametrize("wrap", [lambda v: [v], lambda v: {"a": v}, lambda v: (v,)], ids=["list", "dict", "tuple"])
def test_deep_nesting_is_refused_and_does_not_crash(depth: int, wrap: Any) -> None:
    value: Any = 1
    for _ in range(depth):
        value = wrap(value)
    with pytest.raises(Misfit, match="nested"):
        infer_column([value])


SIMPLE = st.none() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False)


@given(
    st.lists(
        st.none()
        | st.fixed_dictionaries(
            {"n": SIMPLE, "l": st.none() | st.lists(SIMPLE, max_size=3)}, optional={"s": st.none() | st.text(max_size=3)}
        ),
        max_size=12,
    )
)
def test_rows_of_json_are_what_arrow_makes_of_them(values: list[Any]) -> None:
    assert infer_column(values).to_pylist() == pa.array(values).to_pylist()

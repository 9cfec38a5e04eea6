"""Arrays hold the values that Arrow holds, in Arrow's own memory where nothing forbids it."""

from __future__ import annotations

import copy
import datetime as dt
import math
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import CastError
from datasets_core.features.base import List, Value
from datasets_core.features.formats.arrays import (
    DEFAULT,
    STORED,
    Casting,
    NanosecondDatetime,
    NanosecondTime,
    NanosecondTimedelta,
    cells,
    extractor,
    flat,
    shapes_of,
    texts,
)
from datasets_core.features.types import Array2D

_LEAVES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int8(), st.integers(-128, 127)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.float32(), st.floats(width=32, allow_nan=False, allow_infinity=False)),
    (pa.float64(), st.floats(width=32, allow_nan=False, allow_infinity=False)),
    (pa.bool_(), st.booleans()),
    (pa.string(), st.text(max_size=4)),
    (pa.large_binary(), st.binary(max_size=3)),
    (pa.timestamp("us"), st.datetimes()),
    (pa.timestamp("s"), st.datetimes().map(lambda value: value.replace(microsecond=0))),
    (pa.date32(), st.dates()),
    (pa.duration("us"), st.timedeltas(dt.timedelta(-999), dt.timedelta(999))),
    (pa.time64("us"), st.times()),
    (pa.decimal128(8, 2), st.decimals(-999, 999, places=2)),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from("ab")),
    (pa.null(), st.none()),
]
_COLUMNS = st.recursive(
    st.sampled_from(_LEAVES),
    lambda inner: inner.flatmap(
        lambda column: st.sampled_from(
            [
                (pa.list_(column[0]), st.lists(st.none() | column[1], max_size=3)),
                (pa.large_list(column[0]), st.lists(column[1], min_size=2, max_size=2)),
                (pa.list_(column[0], 2), st.lists(st.none() | column[1], min_size=2, max_size=2)),
                (pa.struct({"x": column[0]}), st.fixed_dictionaries({"x": st.none() | column[1]})),
            ]
        )
    ),
    max_leaves=3,
)


@st.composite
def arrays(draw: st.DrawFn) -> pa.Array:
    """A slice of an array of any type, with nulls or without."""
    type_, values = draw(_COLUMNS)
    rows = draw(st.lists(st.none() | values if draw(st.booleans()) else values, max_size=8))
    start = draw(st.integers(0, len(rows)))
    return pa.array(rows, type_).slice(start, draw(st.integers(0, len(rows) - start)))


def plain(value: Any) -> Any:
    """A value out of an array as Python has it, with None for what stands for null."""
    if isinstance(value, np.ndarray):
        return [plain(inner) for inner in value] if value.ndim else plain(value[()])
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, (np.datetime64, np.timedelta64)):
        return None if np.isnat(value) else value.item()
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and math.isnan(value) else value


@given(arrays(), st.sampled_from([STORED, DEFAULT]))
def test_an_array_holds_the_values_of_the_column(array: pa.Array, casting: Casting) -> None:
    assert plain(extractor(array.type, None, casting)(array)) == array.to_pylist()


@given(arrays(), st.sampled_from([STORED, DEFAULT]))
def test_a_row_does_not_depend_on_the_rows_beside_it(array: pa.Array, casting: Casting) -> None:
    read = cells(array.type, None, casting, np.nan)

    together = read(array)

    alone = [read(array.slice(i, 1))[0] for i in range(len(array))]
    assert [plain(value) for value in together] == array.to_pylist()
    assert list(map(_kind, together)) == list(map(_kind, alone))


def _kind(value: Any) -> Any:
    is_wide = getattr(value, "dtype", None) == np.uint64  # numbers beyond int64 keep their type
    return type(value), None if is_wide else getattr(value, "dtype", None), getattr(value, "shape", None)


_FLAT = [
    pa.array([1, 2, 3, 4], pa.int64()),
    pa.array([1, 2, 3, 4], pa.uint8()),
    pa.array([0.5, 1, 2, 3], pa.float32()),
    pa.array([np.float16(1)] * 4, pa.float16()),
    pa.array([dt.datetime(2020, 1, 1)] * 4, pa.timestamp("ns", "UTC")),
    pa.array([dt.timedelta(1)] * 4, pa.duration("ms")),
    pa.array([[1, 2]] * 4, pa.list_(pa.int32(), 2)),
    pa.array([[[1, 2], [3, 4]]] * 4, pa.list_(pa.list_(pa.float64(), 2), 2)),
]


@pytest.mark.parametrize("array", _FLAT, ids=lambda array: str(array.type))
def test_numbers_times_and_fixed_lists_are_views_of_the_same_memory(array: pa.Array) -> None:
    leaf = array
    while pa.types.is_fixed_size_list(leaf.type):
        leaf = leaf.values
    row_bytes = leaf.type.bit_width // 8 * (len(leaf) // len(array))

    values = extractor(array.type)(array.slice(1, 2))
    view = flat(array.type, None)

    assert values.ctypes.data == leaf.buffers()[1].address + row_bytes
    assert (len(values), values.flags.writeable) == (2, False)
    assert view is not None and np.shares_memory(view(array), values)


def test_arrays_of_fixed_shape_are_views_of_the_same_memory() -> None:
    feature = Array2D(shape=(2, 3), dtype="float32")
    array = pa.array(np.arange(24).reshape(4, 2, 3).tolist(), feature.arrow_type)

    values = extractor(array.type, shapes_of(feature))(array.slice(1))

    assert values.ctypes.data == array.values.values.buffers()[1].address + 6 * 4
    assert values.tolist() == array.slice(1).to_pylist()


def test_a_null_forbids_a_view() -> None:
    for array in (pa.array([1, None]), pa.array([[1, None]], pa.list_(pa.int8(), 2)), pa.array([None], pa.list_(pa.int8(), 1))):
        view = flat(array.type, None)
        assert view is not None and view(array) is None
    assert flat(pa.string(), None) is None
    assert flat(pa.list_(pa.int8()), None) is None


def test_lists_of_one_length_are_one_array_and_others_an_array_of_arrays() -> None:
    type_ = pa.list_(pa.list_(pa.int32()))
    read = extractor(type_, None, DEFAULT)

    even = read(pa.array([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], type_))
    ragged = read(pa.array([[[1], [3, 4]], [[5, 6]], [], None], type_))

    assert (even.shape, even.dtype) == ((2, 2, 2), np.int64)
    assert [None if row is None else (row.shape, row.dtype) for row in ragged] == [
        ((2,), np.dtype(object)),
        ((1, 2), np.dtype("int64")),
        ((0,), np.dtype(object)),
        None,
    ]


@pytest.mark.parametrize(
    ("values", "dtype"), [([1, None], "float32"), ([2**24 + 1, None], "float64"), ([2**53 + 1, None], "object")]
)
def test_integers_beside_nulls_take_the_first_type_that_holds_them(values: list[int | None], dtype: str) -> None:
    made = extractor(pa.int64(), None, DEFAULT)(pa.array(values))

    assert made.dtype == dtype
    assert plain(made) == values


def test_unsigned_integers_beyond_int64_are_not_wrapped() -> None:
    read = extractor(pa.uint64(), None, DEFAULT)

    assert read(pa.array([1], pa.uint64())).dtype == np.int64
    assert read(pa.array([2**63], pa.uint64())).tolist() == [2**63]


def test_nulls_do_not_become_integers() -> None:
    with pytest.raises(CastError, match="nulls, which dtype=int32 cannot represent"):
        extractor(pa.int64(), None, Casting("int32", "int32", "int32"))(pa.array([1, None]))


@pytest.mark.parametrize("size", [2, None])
def test_arrays_of_a_shape_stand_inside_lists_and_structs(size: int | None) -> None:
    feature = {"x": List(Array2D(shape=(size, 2), dtype="int16")), "y": Value("int8")}
    rows = [{"x": [[[1, 2], [3, 4]]], "y": 1}, {"x": [[[5, 6], [7, 8]]], "y": None}]
    inner = pa.list_(pa.list_(pa.list_(pa.int16())))

    made = extractor(pa.struct({"x": inner, "y": pa.int8()}), shapes_of(feature), DEFAULT)(
        pa.array(rows, pa.struct({"x": inner, "y": pa.int8()}))
    )

    assert [row["x"].shape for row in made] == [(1, 2, 2), (1, 2, 2)]
    assert plain(made) == rows


def test_a_row_without_an_array_of_fixed_shape_is_nan() -> None:
    feature = Array2D(shape=(1, 2), dtype="int32")

    made = extractor(feature.arrow_type, shapes_of(feature), DEFAULT)(pa.array([[[1, 2]], None], feature.arrow_type))

    assert (made.shape, made.dtype) == ((2, 1, 2), np.float32)
    assert plain(made) == [[[1, 2]], [[None, None]]]


@given(st.lists(st.none() | st.text(st.sampled_from("a\0ü"), max_size=3), max_size=5), st.integers(0, 5))
def test_arrays_of_texts_hold_them_whole(values: list[str | None], start: int) -> None:
    column = pa.array(values, pa.string()).slice(min(start, len(values)))
    data = pa.array([None if value is None else value.encode() for value in values], pa.large_binary()).slice(len(values) // 2)

    assert texts(column).tolist() == column.to_pylist()
    assert texts(data).tolist() == data.to_pylist()


def test_texts_are_an_array_of_texts_unless_one_is_far_wider() -> None:
    assert texts(pa.array(["a", "bc"])).dtype == np.dtype("<U2")
    assert texts(pa.array(["a"] * 100 + ["b" * 1_000_000])).dtype == object


# Times with nanoseconds behave as those without, and keep what they hold.

_MOMENT = dt.datetime(2020, 1, 2, 3, 4, 5, 6, tzinfo=dt.UTC)
_KINDS: list[tuple[Any, Any]] = [
    (NanosecondDatetime, _MOMENT),
    (NanosecondTime, _MOMENT.time()),
    (NanosecondTimedelta, dt.timedelta(days=-1, seconds=3, microseconds=6)),
]


@pytest.mark.parametrize(("kind", "whole"), _KINDS)
def test_they_survive_copies_and_other_processes(kind: Any, whole: Any) -> None:
    value = kind.of(whole, 7)

    for again in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
        assert again == value
        assert (type(again), again.nanosecond, again.whole()) == (kind, 7, whole)


@pytest.mark.parametrize(("kind", "whole"), _KINDS)
def test_they_are_ordered_by_their_nanoseconds(kind: Any, whole: Any) -> None:
    first, second = kind.of(whole, 1), kind.of(whole, 2)

    assert first < second
    assert first <= second
    assert second > first
    assert second >= first
    assert first != second
    assert first > whole
    assert first != whole
    assert first == kind.of(whole, 1)
    assert hash(first) == hash(kind.of(whole, 1))
    assert first != "text"


def test_arithmetic_is_that_of_the_standard_classes() -> None:
    value, day = NanosecondDatetime.of(_MOMENT, 7), dt.timedelta(days=1)

    assert [type(found) for found in (value + day, day + value, value - day)] == [dt.datetime] * 3
    assert (value + day, day + value, value - day) == (_MOMENT + day, _MOMENT + day, _MOMENT - day)
    assert value - value == _MOMENT - _MOMENT == value - _MOMENT == dt.timedelta(0)


def test_parts_change_and_the_nanoseconds_stay() -> None:
    value = NanosecondDatetime.of(_MOMENT, 7)

    assert value.replace(year=2000) == NanosecondDatetime.of(_MOMENT.replace(year=2000), 7)
    assert value.astimezone(dt.timezone(dt.timedelta(hours=1))) == value
    assert NanosecondTime.of(_MOMENT.time(), 7).replace(hour=1).nanosecond == 7


@given(st.datetimes(), st.integers(1, 999))
def test_the_text_has_nine_digits(whole: dt.datetime, nanosecond: int) -> None:
    text = NanosecondDatetime.of(whole, nanosecond).isoformat()

    assert text == whole.isoformat(timespec="microseconds") + f"{nanosecond:03d}"


def test_texts_say_what_is_held() -> None:
    assert str(NanosecondDatetime.of(_MOMENT, 7)) == "2020-01-02 03:04:05.000006007+00:00"
    assert NanosecondDatetime.of(_MOMENT, 7).isoformat(timespec="seconds") == "2020-01-02T03:04:05+00:00"
    assert str(NanosecondTime.of(_MOMENT.time(), 7)) == "03:04:05.000006007"
    assert NanosecondTime.of(_MOMENT.time(), 7).isoformat("minutes") == "03:04"
    assert str(NanosecondTimedelta.of(dt.timedelta(days=-1, seconds=3661), 7)) == "-1 day, 1:01:01.000000007"
    assert "NanosecondTime.of(" in repr(NanosecondTime.of(_MOMENT.time(), 7))
    assert eval(repr(NanosecondTimedelta.of(dt.timedelta(1), 7)), {**globals(), "datetime": dt}) == NanosecondTimedelta.of(
        dt.timedelta(1), 7
    )
    assert NanosecondTimedelta.of(dt.timedelta(1), 7).nanoseconds == 7


def test_numpy_takes_them_whole() -> None:
    moment = NanosecondDatetime.of(_MOMENT.astimezone(dt.timezone(dt.timedelta(hours=5))), 7)

    assert moment.to_datetime64() == np.datetime64("2020-01-02T03:04:05.000006007")
    assert NanosecondTimedelta.of(dt.timedelta(days=-1), 7).to_timedelta64() == np.timedelta64(-86_399_999_999_993, "ns")


@pytest.mark.optional("pandas")
def test_they_equal_those_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")

    assert NanosecondDatetime.of(dt.datetime(2020, 1, 1), 7) == pandas.Timestamp("2020-01-01T00:00:00.000000007")
    assert NanosecondDatetime.of(dt.datetime(2020, 1, 1), 8) != pandas.Timestamp("2020-01-01T00:00:00.000000007")
    assert NanosecondTimedelta.of(dt.timedelta(0), 7) == pandas.Timedelta(7, "ns")

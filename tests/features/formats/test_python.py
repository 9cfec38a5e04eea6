"""Single values by index: buffers that are absent, shifted or cut are read right."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import CastError
from datasets_core.features.formats.python import (
    Access,
    RowReader,
    accessor,
    bound,
    bound_values,
    can_gather,
    dict_rows,
    is_quick,
    literal,
    reader,
)


@given(st.lists(st.none() | st.booleans(), min_size=1, max_size=40), st.data())
def test_bits_are_read_at_every_shift(values: list[bool | None], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(values) - 1))
    array = pa.array(values, pa.bool_()).slice(start)

    get = accessor(array)

    assert [get(i) for i in range(len(array))] == values[start:]


@pytest.mark.parametrize(
    "type_", [pa.string(), pa.large_binary(), pa.list_(pa.int8()), pa.struct({"a": pa.int8()}), pa.bool_()]
)
def test_columns_of_nothing_but_nulls_are_read(type_: pa.DataType) -> None:
    get = accessor(pa.nulls(3, type_))

    assert [get(i) for i in range(3)] == [None, None, None]


def test_a_column_of_empty_texts_is_read() -> None:
    array = pa.array(["", "", None])

    assert [accessor(array)(i) for i in range(3)] == ["", "", None]


def test_items_under_a_null_list_are_not_seen() -> None:
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), pa.array([1, 2, 3]), mask=pa.array([True, False]))

    assert [accessor(lists)(i) for i in range(2)] == [None, [3]]


@pytest.mark.parametrize("values", [[], [[1]], [[], []], [[1, None], None, [2]]])
def test_sliced_lists_begin_where_they_should(values: list[Any]) -> None:
    array = pa.array([[9, 9], *values, [8]], pa.list_(pa.int64())).slice(1, len(values))

    assert [accessor(array)(i) for i in range(len(array))] == values


def test_rows_are_bound_as_dicts_and_as_tuples() -> None:
    accesses = [Access("{0}[i]", ([5, 6],)), Access("None", ())]

    assert bound(accesses, ("100%", "{0}"))(1) == {"100%": 6, "{0}": None}
    assert bound_values(accesses)(0) == (5, None)
    assert (bound([], ())(0), bound_values([])(0)) == ({}, ())


def test_types_say_how_they_are_read() -> None:
    assert is_quick(pa.struct({"a": pa.list_(pa.string())}))
    assert not is_quick(pa.decimal128(5, 2))
    assert not can_gather(pa.list_(pa.struct({"a": pa.string_view()})))
    assert can_gather(pa.struct({"a": pa.list_(pa.string())}))


# Columns as lists: parts of columns that pyarrow reads otherwise.


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

    with pytest.raises(CastError, match="must be strings"):
        literal(Odd("a"))


# Rows as plain Python values: every reading of a batch agrees with pyarrow's own, whatever the type, nulls and
# slices.

_LEAVES = [
    (pa.int8(), st.integers(-128, 127)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.float32(), st.floats(width=32, allow_nan=False)),
    (pa.float64(), st.floats(allow_nan=False)),
    (pa.float16(), st.floats(width=16, allow_nan=False)),
    (pa.bool_(), st.booleans()),
    (pa.string(), st.text(max_size=5)),
    (pa.large_string(), st.text(max_size=5)),
    (pa.string_view(), st.text(max_size=20)),
    (pa.binary(), st.binary(max_size=5)),
    (pa.large_binary(), st.binary(max_size=5)),
    (pa.binary(3), st.binary(min_size=3, max_size=3)),
    (pa.binary_view(), st.binary(max_size=20)),
    (pa.null(), st.none()),
    (pa.date32(), st.dates()),
    (pa.date64(), st.dates()),
    (pa.time32("s"), st.times().map(lambda t: t.replace(microsecond=0))),
    (pa.time64("us"), st.times()),
    (pa.time64("ns"), st.times()),
    (pa.timestamp("s"), st.datetimes().map(lambda t: t.replace(microsecond=0))),
    (pa.timestamp("us"), st.datetimes()),
    (pa.timestamp("ns"), st.datetimes(dt.datetime(1700, 1, 1), dt.datetime(2200, 1, 1))),
    (pa.timestamp("us", "Europe/Paris"), st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))),
    (pa.timestamp("ms", "+05:30"), st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1))),
    (pa.duration("us"), st.timedeltas(dt.timedelta(days=-9999), dt.timedelta(days=9999))),
    (pa.duration("ns"), st.timedeltas(dt.timedelta(days=-9999), dt.timedelta(days=9999))),
    (pa.decimal128(12, 2), st.decimals(-999999, 999999, places=2)),
    (pa.decimal256(60, 1), st.decimals(-999999, 999999, places=1)),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from(["a", "b", "ü"])),
]

Column = tuple[pa.DataType, st.SearchStrategy[Any]]


def _nest(inner: st.SearchStrategy[Column]) -> st.SearchStrategy[Column]:
    def lists(column: Column) -> list[Column]:
        type_, values = column
        items = st.lists(st.none() | values, max_size=3)
        pairs = st.lists(st.tuples(st.text(max_size=2), st.none() | values), max_size=2)
        return [
            (pa.list_(type_), items),
            (pa.large_list(type_), items),
            (pa.list_(type_, 2), st.lists(st.none() | values, min_size=2, max_size=2)),
            (
                pa.struct([("x", type_), ('it\'s "y"', pa.int16())]),
                st.fixed_dictionaries({"x": st.none() | values, 'it\'s "y"': st.integers(0, 9)}),
            ),
            (pa.map_(pa.string(), type_), pairs),
        ]

    return inner.flatmap(lambda column: st.sampled_from(lists(column)))


_COLUMNS: st.SearchStrategy[Column] = st.recursive(st.sampled_from(_LEAVES), _nest, max_leaves=3)


@st.composite
def batches(draw: st.DrawFn) -> pa.RecordBatch:
    """A slice of a batch of any types, with nulls."""
    columns = draw(st.lists(_COLUMNS, min_size=1, max_size=3))
    rows = draw(st.integers(0, 12))
    arrays = []
    for type_, values in columns:
        data = draw(st.lists(st.none() | values, min_size=rows, max_size=rows)) if draw(st.booleans()) else []
        data = data or draw(st.lists(values, min_size=rows, max_size=rows))
        arrays.append(pa.array(data, type_))
    batch = pa.record_batch(arrays, names=[f"c{k}" for k in range(len(arrays))])
    start = draw(st.integers(0, rows))
    return batch.slice(start, draw(st.integers(0, rows - start)))


@given(batches())
def test_dicts_are_the_rows_that_pyarrow_gives(batch: pa.RecordBatch) -> None:
    assert RowReader(batch.schema).dicts(batch) == batch.to_pylist()


@given(batches())
def test_columns_are_the_lists_that_pyarrow_gives(batch: pa.RecordBatch) -> None:
    assert RowReader(batch.schema).columns(batch) == batch.to_pydict()


@given(batches())
def test_single_rows_are_the_rows_that_pyarrow_gives(batch: pa.RecordBatch) -> None:
    row = RowReader(batch.schema).opener(batch)

    assert [row(i) for i in range(batch.num_rows)] == batch.to_pylist()


@given(batches())
def test_values_have_the_types_that_pyarrow_gives(batch: pa.RecordBatch) -> None:
    reader = RowReader(batch.schema)
    opener = reader.opener(batch)

    wanted = [_kinds(row) for row in batch.to_pylist()]

    assert [_kinds(row) for row in reader.dicts(batch)] == wanted
    assert [_kinds(opener(i)) for i in range(batch.num_rows)] == wanted


def _kinds(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _kinds(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value), [_kinds(inner) for inner in value]
    if isinstance(value, dt.datetime):
        return dt.datetime, value.tzinfo  # pyarrow gives the class of pandas where that is installed
    return dt.timedelta if isinstance(value, dt.timedelta) else type(value), None


@pytest.mark.parametrize("type_", [pa.timestamp("ns"), pa.timestamp("ns", "Europe/Paris"), pa.time64("ns"), pa.duration("ns")])
def test_nanoseconds_are_kept(type_: pa.DataType) -> None:
    stored = [1_600_000_123, None, 0, 1_000]
    batch = pa.record_batch([pa.array(stored, pa.int64()).cast(pa.int64()).view(type_)], names=["t"])

    rows = RowReader(batch.schema).dicts(batch)

    assert rows[0]["t"].nanosecond == 123
    assert rows[1]["t"] is None
    assert not hasattr(rows[3]["t"], "nanosecond")
    assert [RowReader(batch.schema).opener(batch)(i) for i in range(4)] == rows


def test_a_negative_duration_counts_its_nanoseconds_upwards() -> None:
    batch = pa.record_batch([pa.array([-1], pa.int64()).view(pa.duration("ns"))], names=["t"])

    value = RowReader(batch.schema).dicts(batch)[0]["t"]

    assert (value.whole(), value.nanosecond) == (dt.timedelta(microseconds=-1), 999)


def test_nanoseconds_inside_lists_and_structs_are_kept() -> None:
    inner = pa.array([1_001, 2_002], pa.int64()).view(pa.timestamp("ns"))
    lists = pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), inner)
    structs = pa.StructArray.from_arrays([lists], names=["x"])
    batch = pa.record_batch([structs], names=["s"])

    (row,) = RowReader(batch.schema).dicts(batch)

    assert [value.nanosecond for value in row["s"]["x"]] == [1, 2]
    assert RowReader(batch.schema).opener(batch)(0) == row


@pytest.mark.parametrize("name", ["'", '"', "\\", "\n", "{a}", "'}, __import__('os').abort(), {'", "\u2028", "", "ü", "\ud800"])
def test_a_column_name_stays_a_name_whatever_it_holds(name: str) -> None:
    assert bound([Access("i", ())], (name,))(7) == {name: 7}
    assert dict_rows((name,))(2, [[1, 2]]) == [{name: 1}, {name: 2}]


def test_rows_share_no_objects() -> None:
    values = pa.array([{"x": [1]}])
    batch = pa.record_batch([pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), values)], names=["s"])

    first, second = RowReader(batch.schema).dicts(batch)
    first["s"]["x"].append(2)

    assert second == {"s": {"x": [1]}}


def test_two_columns_of_one_name_are_refused() -> None:
    with pytest.raises(CastError, match="Two columns have the name 'a'"):
        RowReader(pa.schema([("a", pa.int8()), ("a", pa.int8())]))


def test_two_struct_fields_of_one_name_are_refused() -> None:
    with pytest.raises(CastError, match="duplicate fields"):
        RowReader(pa.schema([("s", pa.struct([("a", pa.list_(pa.int8())), ("a", pa.int8())]))]))


@pytest.mark.parametrize("type_", [pa.timestamp("s"), pa.date32()])
def test_a_date_beyond_python_is_an_error_that_says_so(type_: pa.DataType) -> None:
    stored = pa.array([2**31 - 1], pa.int32()) if type_ == pa.date32() else pa.array([2**60], pa.int64())
    batch = pa.record_batch([stored.view(type_)], names=["t"])

    with pytest.raises(CastError, match="outside the years"):
        RowReader(batch.schema).dicts(batch)
    with pytest.raises(CastError, match="outside the years"):
        RowReader(batch.schema).opener(batch)(0)


def test_only_the_columns_that_need_it_are_decoded() -> None:
    class Upper:
        columns_to_decode = frozenset({"b", "unknown"})

        def decode_value(self, name: str, value: Any) -> Any:
            return f"{name}:{value}"

    batch = pa.RecordBatch.from_pylist([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
    reader = RowReader(batch.schema, Upper())

    assert reader.dicts(batch) == [{"a": 1, "b": "b:x"}, {"a": 2, "b": "b:y"}]
    assert reader.opener(batch)(1) == {"a": 2, "b": "b:y"}
    assert reader.columns(batch)["b"] == ["b:x", "b:y"]


def test_decimals_keep_their_places() -> None:
    batch = pa.record_batch([pa.array([decimal.Decimal("1.10")])], names=["d"])

    assert str(RowReader(batch.schema).opener(batch)(0)["d"]) == "1.10"


def test_a_wide_table_is_read() -> None:
    batch = pa.record_batch([pa.array([k]) for k in range(3000)], names=[f"c{k}" for k in range(3000)])

    assert RowReader(batch.schema).dicts(batch) == batch.to_pylist()
    assert RowReader(batch.schema).opener(batch)(0) == batch.to_pylist()[0]


def test_a_dictionary_of_dates_is_read() -> None:
    column = pa.array([dt.datetime(2020, 1, 1), None, dt.datetime(2020, 1, 1)]).dictionary_encode()
    batch = pa.record_batch([column], names=["t"]).slice(1)

    assert RowReader(batch.schema).dicts(batch) == batch.to_pylist()
    assert RowReader(batch.schema).opener(batch)(1) == {"t": dt.datetime(2020, 1, 1)}


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "+25:00", "UTC+99:99"])
def test_a_time_zone_that_nobody_knows_is_an_error_that_names_it(zone: str) -> None:
    batch = pa.record_batch([pa.array([1], pa.int64()).view(pa.timestamp("s", zone))], names=["t"])
    with pytest.raises(CastError) as caught:
        RowReader(batch.schema).dicts(batch)
    assert caught.value.value == zone

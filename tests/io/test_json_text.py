"""The JSON text of columns of any kind: the bytes that pandas writes."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import struct
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import CastError
from datasets_core.io.text import float_texts, is_known, objects

pytestmark = pytest.mark.optional("pandas")

_MOMENT = dt.datetime(1677, 9, 22), dt.datetime(2262, 4, 10)
_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_LEAVES: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    (pa.uint64(), st.integers(0, 2**64 - 1)),
    (pa.int8(), st.integers(-128, 127)),
    (pa.float64(), st.floats()),
    (pa.float32(), st.floats(width=32)),
    (pa.bool_(), st.booleans()),
    (pa.string(), _TEXT),
    (pa.large_string(), _TEXT),
    (pa.binary(), _TEXT.map(str.encode)),
    (pa.timestamp("s"), st.datetimes(*_MOMENT).map(lambda moment: moment.replace(microsecond=0))),
    (pa.timestamp("ms"), st.datetimes(*_MOMENT).map(lambda moment: moment.replace(microsecond=5000))),
    (pa.timestamp("us"), st.datetimes(*_MOMENT)),
    (pa.timestamp("us", "Europe/Berlin"), st.datetimes(*_MOMENT)),
    (pa.timestamp("ns"), st.datetimes(*_MOMENT)),
    (pa.duration("us"), st.timedeltas(dt.timedelta(-9999), dt.timedelta(9999))),
    (pa.duration("ns"), st.timedeltas(dt.timedelta(-9999), dt.timedelta(9999))),
    (pa.date32(), st.dates(_MOMENT[0].date(), _MOMENT[1].date())),
    (pa.date64(), st.dates(_MOMENT[0].date(), _MOMENT[1].date())),
    (pa.time32("s"), st.times().map(lambda time: time.replace(microsecond=0))),
    (pa.time64("us"), st.times()),
    (pa.decimal128(20, 6), st.decimals(-1000, 1000, places=6)),
    (pa.null(), st.none()),
]
Column = tuple[pa.DataType, st.SearchStrategy[Any]]


def _listed(inner: Column) -> Column:
    return pa.list_(inner[0]), st.lists(inner[1] | st.none(), max_size=3)


def _large(inner: Column) -> Column:
    return pa.large_list(inner[0]), st.lists(inner[1] | st.none(), max_size=3)


def _pair(inner: Column) -> Column:
    return pa.list_(inner[0], 2), st.lists(inner[1] | st.none(), min_size=2, max_size=2)


def _held(inner: Column) -> Column:
    return pa.struct({"k/%s": inner[0], "é": pa.int8()}), st.fixed_dictionaries(
        {"k/%s": inner[1] | st.none(), "é": st.integers(0, 3) | st.none()}
    )


@st.composite
def _arrays(draw: st.DrawFn) -> pa.Array:
    kind, values = draw(st.sampled_from(_LEAVES))
    for wrap in draw(st.lists(st.sampled_from([_listed, _large, _pair, _held]), max_size=3)):
        kind, values = wrap((kind, values))
    array = pa.array(draw(st.lists(values | st.none(), min_size=1, max_size=5)), kind)
    return array.slice(draw(st.integers(0, len(array) - 1)))


@given(_arrays())
def test_every_kind_is_written_as_pandas_writes_it(array: pa.Array) -> None:
    table = pa.table({"a/%s": array})
    assert is_known(array.type)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = table.to_pandas(integer_object_nulls=True)
        expected = [
            frame.to_json(orient="records", lines=True),
            frame.to_json(orient="records", lines=True, force_ascii=False),
        ]
    assert [objects(table) + b"\n", objects(table, is_ascii=False) + b"\n"] == [text.encode() for text in expected]


@given(st.lists(st.binary(min_size=8, max_size=8).map(lambda raw: struct.unpack("d", raw)[0]), max_size=20))
def test_any_float_is_written_as_pandas_writes_it(values: list[float]) -> None:
    import pandas as pd

    expected = pd.Series(values, dtype="float64").to_json(orient="values")
    assert f"[{','.join(float_texts(np.array(values, dtype=np.float64)).to_pylist())}]" == expected


@pytest.mark.parametrize("value", [0.0, -0.0, 1e16, 1e16 - 2, 1e-15, 9.9e-16, 0.99999999995, 0.5**33, 123456789.0123456789])
def test_floats_at_the_borders_are_written_as_pandas_writes_them(value: float) -> None:
    import pandas as pd

    expected = pd.Series([value, -value]).to_json(orient="values")
    assert f"[{','.join(float_texts(np.array([value, -value])).to_pylist())}]" == expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": 1.5, "b/é": [1, None, 1e20, 0.1 + 0.2]}, rb'{"a":1.5,"b\/\u00e9":[1,null,1e+20,0.3]}'),
        (['1.55555555555555 \\"', 1.55555555555555], rb'["1.55555555555555 \\\"",1.5555555556]'),
        ([2**64 - 1, 2**64, -(2**63), -(2**63) - 1], b'[18446744073709551615,"18446744073709551616",-9223372036854775808,'),
        ([float("nan"), float("inf"), -float("inf"), 1e-7, 1e17], b"[null,null,null,0.0000001,1e+17]"),
        (None, b"null"),
    ],
)
def test_values_of_mixed_kinds_are_written_alike(value: Any, text: bytes) -> None:
    stored = pa.ExtensionArray.from_storage(pa.json_(), pa.array([json.dumps(value), None]))
    assert objects(pa.table({"j": stored})).startswith(b'{"j":' + text)
    assert objects(pa.table({"j": stored})).endswith(b'{"j":null}')


def test_moments_and_dates_of_every_age_are_written() -> None:
    old = pa.table({"d": pa.array([dt.date(1, 1, 1)]), "s": pa.array([{"t": dt.datetime(9999, 1, 1)}])})
    assert objects(old) == b'{"d":-62135596800000,"s":{"t":253370764800000}}'


def test_what_stands_between_rows_can_be_chosen() -> None:
    table = pa.table({"a": pa.chunked_array([[1], [2, 3]])})
    assert objects(table, between=",") == b'{"a":1},{"a":2},{"a":3}'


def test_decimals_keep_their_digits() -> None:
    assert objects(pa.table({"d": [decimal.Decimal("12345678901234567890.10")]})) == b'{"d":"12345678901234567890.10"}'


def test_bytes_that_are_no_text_are_an_error_of_their_column() -> None:
    with pytest.raises(CastError, match="Column 'odd' holds bytes"):
        objects(pa.table({"fine": [1], "odd": [[b"\xff"]]}))

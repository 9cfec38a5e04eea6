"""A table with a column of every kind, by its Python values and by its features in the form that both libraries read."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

_VALUES: dict[str, list[Any]] = {
    "null": [None, None],
    "bool": [True, False],
    "int8": [-128, 127],
    "int16": [-(2**15), 2**15 - 1],
    "int32": [-(2**31), 2**31 - 1],
    "int64": [-(2**63), 2**63 - 1],
    "uint8": [0, 255],
    "uint16": [0, 2**16 - 1],
    "uint32": [0, 2**32 - 1],
    "uint64": [0, 2**64 - 1],
    "float16": [0.5, -65504.0],
    "float32": [0.10000000149011612, float("inf")],
    "float64": [0.1, -0.0],
    "time32[s]": [dt.time(0), dt.time(23, 59, 59)],
    "time32[ms]": [dt.time(0), dt.time(23, 59, 59, 999_000)],
    "time64[us]": [dt.time(0), dt.time(23, 59, 59, 999_999)],
    "timestamp[s]": [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59)],
    "timestamp[ms]": [dt.datetime(1969, 12, 31, 23, 59, 59, 999_000), dt.datetime(2020, 2, 29)],
    "timestamp[us]": [dt.datetime(1900, 1, 1), dt.datetime(2020, 1, 1, 1, 1, 1, 7)],
    "timestamp[ns]": [dt.datetime(1900, 1, 1), dt.datetime(2020, 1, 1, 1, 1, 1, 7)],
    "timestamp[us, tz=UTC]": [dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(1960, 1, 1, tzinfo=dt.UTC)],
    "timestamp[s, tz=Europe/Paris]": [
        dt.datetime(2020, 7, 1, tzinfo=dt.UTC),
        dt.datetime(2020, 10, 25, 1, tzinfo=dt.timezone(dt.timedelta(hours=1))),
    ],
    "date32": [dt.date(1, 1, 1), dt.date(2020, 2, 29)],
    "date64": [dt.date(1969, 12, 31), dt.date(2020, 2, 29)],
    "duration[s]": [dt.timedelta(days=-1), dt.timedelta(0)],
    "duration[us]": [dt.timedelta(microseconds=-1), dt.timedelta(days=9)],
    "decimal128(9, 3)": [decimal.Decimal("1.100"), decimal.Decimal("-999999.999")],
    "decimal256(50, 2)": [decimal.Decimal("1.10"), decimal.Decimal(10**47)],
    "binary": [b"", b"\0\xff"],
    "large_binary": [b"", b"\0\xff"],
    "string": ["", "ü€𝄞\0"],
    "large_string": ["", "ü€𝄞\0"],
    "string_view": ["short", "a text that is longer than twelve bytes"],
    "binary_view": [b"short", b"bytes that are more than twelve of them"],
}

_NESTED: dict[str, tuple[Any, list[Any]]] = {
    "ClassLabel": ({"names": ["neg", "pos"], "_type": "ClassLabel"}, ["pos", 0]),
    "List": ({"feature": {"dtype": "int64", "_type": "Value"}, "_type": "List"}, [[1, None, 3], []]),
    "List of List": (
        {"feature": {"feature": {"dtype": "string", "_type": "Value"}, "_type": "List"}, "_type": "List"},
        [[["a"], None, [], [None]], []],
    ),
    "List of fixed length": (
        {"feature": {"dtype": "float64", "_type": "Value"}, "length": 2, "_type": "List"},
        [[0.5, None], [1.5, 2.5]],
    ),
    "LargeList": ({"feature": {"dtype": "large_string", "_type": "Value"}, "_type": "LargeList"}, [["a", None], []]),
    "List of dict": (
        {"feature": {"x": {"dtype": "int8", "_type": "Value"}, "y": {"dtype": "date32", "_type": "Value"}}, "_type": "List"},
        [[{"x": 1, "y": None}, {"x": None, "y": dt.date(2020, 1, 1)}], []],
    ),
    "Sequence of dict": (
        {
            "feature": {"start": {"dtype": "int32", "_type": "Value"}, "text": {"dtype": "string", "_type": "Value"}},
            "_type": "Sequence",
        },
        [{"start": [0, 7], "text": ["a", None]}, {"start": [], "text": []}],
    ),
    "Sequence of ClassLabel": ({"feature": {"names": ["O", "B"], "_type": "ClassLabel"}, "_type": "Sequence"}, [["B", 0], []]),
    "dict": (
        {"a": {"b": {"c": {"dtype": "timestamp[ms, tz=UTC]", "_type": "Value"}}}, "d": {"dtype": "bool", "_type": "Value"}},
        [{"a": {"b": {"c": dt.datetime(2020, 1, 1, tzinfo=dt.UTC)}}, "d": True}, {"a": {"b": {"c": None}}, "d": None}],
    ),
    "Array2D": (
        {"shape": [2, 2], "dtype": "float32", "_type": "Array2D"},
        [[[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.5], [0.0, -1.0]]],
    ),
    "Array2D of any length": ({"shape": [None, 2], "dtype": "int32", "_type": "Array2D"}, [[[1, 2], [3, 4], [5, 6]], [[7, 8]]]),
    "Array3D": ({"shape": [1, 2, 2], "dtype": "uint8", "_type": "Array3D"}, [[[[0, 1], [2, 255]]], [[[9, 9], [9, 9]]]]),
    "Translation": ({"languages": ["de", "en"], "_type": "Translation"}, [{"de": "ja", "en": "yes"}, {"de": "", "en": "no"}]),
    "TranslationVariableLanguages": (
        {"languages": ["de", "en"], "_type": "TranslationVariableLanguages"},
        [{"en": "yes", "de": ["ja", "jawohl"]}, {"de": "nein"}],
    ),
    "Json": ({"_type": "Json"}, [{"k": [1, "z", None, 0.5]}, "text"]),
}

FORM: dict[str, Any] = {name: {"dtype": name, "_type": "Value"} for name in _VALUES} | {
    name: form for name, (form, _) in _NESTED.items()
}
"""The features of the table, in the JSON form that both libraries read."""


def rows() -> list[dict[str, Any]]:
    """Five rows: two of values, a null in almost every column, and the two again.

    In an array whose length is open, Hugging Face reads a null as NaN.
    """
    columns = _VALUES | {name: values for name, (_, values) in _NESTED.items()}
    one, two = ({name: values[index] for name, values in columns.items()} for index in (0, 1))
    nulls = dict.fromkeys(columns) | {"Array2D of any length": [[0, 0]]}
    return [one, two, nulls, one, two]

"""The JSON text of columns of any kind: the bytes that pandas writes."""

from __future__ import annotations

import bz2
import datetime as dt
import decimal
import gzip
import io
import json
import lzma
import struct
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, MissingDependencyError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, Json
from datasets_core.io.text import float_texts, is_known, objects

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


@pytest.mark.optional("pandas")
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


@pytest.mark.optional("pandas")
@given(st.lists(st.binary(min_size=8, max_size=8).map(lambda raw: struct.unpack("d", raw)[0]), max_size=20))
def test_any_float_is_written_as_pandas_writes_it(values: list[float]) -> None:
    import pandas as pd

    expected = pd.Series(values, dtype="float64").to_json(orient="values")
    assert f"[{','.join(float_texts(np.array(values, dtype=np.float64)).to_pylist())}]" == expected


@pytest.mark.optional("pandas")
@pytest.mark.parametrize("value", [0.0, -0.0, 1e16, 1e16 - 2, 1e-15, 9.9e-16, 0.99999999995, 0.5**33, 123456789.0123456789])
def test_floats_at_the_borders_are_written_as_pandas_writes_them(value: float) -> None:
    import pandas as pd

    expected = pd.Series([value, -value]).to_json(orient="values")
    assert f"[{','.join(float_texts(np.array([value, -value])).to_pylist())}]" == expected


@pytest.mark.optional("pandas")
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


@pytest.mark.optional("pandas")
def test_moments_and_dates_of_every_age_are_written() -> None:
    old = pa.table({"d": pa.array([dt.date(1, 1, 1)]), "s": pa.array([{"t": dt.datetime(9999, 1, 1)}])})
    assert objects(old) == b'{"d":-62135596800000,"s":{"t":253370764800000}}'


@pytest.mark.optional("pandas")
def test_what_stands_between_rows_can_be_chosen() -> None:
    table = pa.table({"a": pa.chunked_array([[1], [2, 3]])})
    assert objects(table, between=",") == b'{"a":1},{"a":2},{"a":3}'


@pytest.mark.optional("pandas")
def test_decimals_keep_their_digits() -> None:
    assert objects(pa.table({"d": [decimal.Decimal("12345678901234567890.10")]})) == b'{"d":"12345678901234567890.10"}'


@pytest.mark.optional("pandas")
def test_bytes_that_are_no_text_are_an_error_of_their_column() -> None:
    with pytest.raises(CastError, match="Column 'odd' has bytes"):
        objects(pa.table({"fine": [1], "odd": [[b"\xff"]]}))


# Rows as csv and JSON text: the bytes that pandas writes, whichever way they are made.

_PLAIN = st.fixed_dictionaries(
    {
        "i": st.none() | st.integers(-(2**63), 2**63 - 1),
        "f": st.none() | st.floats(),
        "g": st.none() | st.floats(width=32),
        "h": st.none() | st.floats(width=16),
        "s": st.none() | _TEXT,
        "b": st.none() | st.booleans(),
        "d/%s": st.fixed_dictionaries({"x": st.none() | st.integers(-9, 9), "y": st.none() | _TEXT}),
    }
)
_KINDS = Features(
    {
        "i": Value("int64"),
        "f": Value("float64"),
        "g": Value("float32"),
        "h": Value("float16"),
        "s": Value("string"),
        "b": Value("bool"),
        "d/%s": {"x": Value("int64"), "y": Value("string")},
    }
)


def _text(dataset: Dataset, method: str, **options: Any) -> bytes:
    file = io.BytesIO()
    size = getattr(dataset, method)(file, **options)
    assert size == len(file.getvalue())
    return file.getvalue()


@pytest.mark.optional("pandas")
@given(st.lists(_PLAIN, min_size=1, max_size=4))
def test_plain_columns_are_written_as_pandas_writes_them(rows: list[dict[str, Any]]) -> None:
    dataset = Dataset.from_list(rows, features=_KINDS)
    frame = dataset._table.to_table().to_pandas(integer_object_nulls=True)
    assert _text(dataset, "to_csv") == frame.to_csv(None, index=False).encode()
    assert _text(dataset, "to_json") == frame.to_json(None, orient="records", lines=True).encode()


@pytest.mark.optional("pandas")
def test_other_columns_and_options_are_left_to_pandas() -> None:
    moments = [dt.datetime(2020, 1, 1), None, dt.datetime(2021, 2, 3, 4, 5, 6)]
    dataset = Dataset.from_dict({"t": moments, "l": [[1, 2], None, []], "b": [b"a", None, b""]})
    frame = dataset._table.to_table().to_pandas(integer_object_nulls=True)
    assert _text(dataset, "to_csv") == frame.to_csv(None, index=False).encode()
    assert _text(dataset, "to_csv", sep=";", index=True) == frame.to_csv(None, sep=";", index=True).encode()
    assert _text(dataset, "to_csv", header=False) == frame.to_csv(None, header=False, index=False).encode()
    lines = [json.loads(line) for line in _text(dataset, "to_json").splitlines()]
    assert lines[2] == {"t": 1612325106000, "l": [], "b": ""}
    assert json.loads(_text(dataset, "to_json", orient="split"))["columns"] == ["t", "l", "b"]


@pytest.mark.optional("pandas")
def test_lists_in_csv_are_what_pandas_makes_of_them_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    whole: list[Any] = [[1, 20, -3], [], None, list(range(1500))]
    lists = {
        "i": whole,
        "n": [*whole[:3], [1, None, 20]],
        "f": [[0.1, None, 1e20], [2.0], None, []],
        "s": [["a'", None, "b,\n"], [], None, ["é"]],
        "b": [[True, False], [], None, [None]],
        "p": [[0, 10], None, [1, 2], [3, 4]],
    }
    kinds = dict(zip(lists, ["int64", "int16", "float32", "string", "bool", "int32"], strict=True))
    features = Features({name: List(Value(kind), length=2 if name == "p" else -1) for name, kind in kinds.items()})
    dataset = Dataset.from_dict(lists, features=features)
    expected = dataset._table.to_table().to_pandas(integer_object_nulls=True).to_csv(None, index=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert _text(dataset, "to_csv") == expected.encode()


@pytest.mark.optional("pandas")
def test_text_does_not_depend_on_batches_or_processes() -> None:
    dataset = Dataset.from_dict({"a": list(range(50)), "s": ["x"] * 50})
    for method in ("to_csv", "to_json"):
        whole = _text(dataset, method)
        assert _text(dataset, method, batch_size=7) == whole
        assert _text(dataset, method, batch_size=20, num_proc=2) == whole


@pytest.mark.optional("pandas")
def test_rows_are_those_that_are_shown() -> None:
    dataset = Dataset.from_dict({"a": list(range(9)), "b": ["x"] * 9}).select([5, 1]).select_columns("a")
    assert _text(dataset.with_format("arrow"), "to_csv") == b"a\n5\n1\n"


@pytest.mark.optional("pandas")
def test_no_rows_are_a_header_or_nothing() -> None:
    dataset = Dataset.from_dict({"a": []})
    assert _text(dataset, "to_csv") == b"a\n"
    assert _text(dataset, "to_json") == b""
    assert json.loads(_text(dataset, "to_json", lines=False)) == []


@pytest.mark.optional("pandas")
def test_values_of_any_kind_and_arrays_are_written_as_they_are() -> None:
    features = Features({"j": Json(), "m": Array2D((2, 2), "int32")})
    rows = [{"j": {"a": 1.5}, "m": [[1, 2], [3, 4]]}, {"j": [1, "x"], "m": [[0, 0], [0, 0]]}]
    dataset = Dataset.from_list(rows, features=features)
    assert [json.loads(line) for line in _text(dataset, "to_json").splitlines()] == rows


@pytest.mark.optional("pandas")
@pytest.mark.parametrize(("name", "open_"), [("gzip", gzip.open), ("bz2", bz2.open), ("xz", lzma.open)])
def test_text_is_compressed_where_that_is_asked_for(name: str, open_: Any, tmp_path: Path) -> None:
    dataset = Dataset.from_dict({"a": [1, 2]})
    dataset.to_json(tmp_path / "a.jsonl", compression=name)
    dataset.to_csv(tmp_path / f"a.csv.{'gz' if name == 'gzip' else name}", compression="infer")
    with open_(tmp_path / "a.jsonl") as file:
        assert file.read() == b'{"a":1}\n{"a":2}\n'
    with open_(tmp_path / f"a.csv.{'gz' if name == 'gzip' else name}") as file:
        assert file.read() == b"a\n1\n2\n"


@pytest.mark.optional("pandas")
def test_json_is_compressed_where_the_name_says_so(tmp_path: Path) -> None:
    Dataset.from_dict({"a": [1]}).to_json(tmp_path / "a.jsonl.gz")
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == b'{"a":1}\n'


@pytest.mark.optional("pandas")
def test_what_means_nothing_is_refused() -> None:
    dataset = Dataset.from_dict({"a": [1, 2]})
    for options in ({"compression": "gzip"}, {"lines": False, "batch_size": 1}):
        with pytest.raises(ConfigurationError):
            dataset.to_json(io.BytesIO(), **options)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="not supported"):
        dataset.to_json("x.json", compression="zip")


@pytest.mark.optional("pandas")
@pytest.mark.parametrize("value", [b"\xff", dt.date(1, 1, 1)])
def test_what_json_cannot_hold_is_an_error_of_its_column(value: Any) -> None:
    with pytest.raises(CastError, match="'odd'"):
        Dataset.from_dict({"fine": [1], "odd": [value]}).to_json(io.BytesIO(), orient="split")


@pytest.mark.optional("pandas")
@pytest.mark.parametrize("force_ascii", [True, False])
def test_a_list_of_records_is_made_batch_by_batch(force_ascii: bool) -> None:
    dataset = Dataset.from_dict({"a": list(range(20_001)), "l": [["é/", None]] * 20_001})
    text = _text(dataset, "to_json", lines=False, force_ascii=force_ascii)
    frame: Any = dataset.to_pandas()
    assert text == frame.to_json(orient="records", force_ascii=force_ascii).encode() + b"\n"


@pytest.mark.optional("pandas")
def test_json_of_any_columns_needs_no_pandas_and_other_orients_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    dataset = Dataset.from_dict({"l": [[dt.datetime(2020, 1, 1), None]], "s": [{"b": b"x", "f": [0.5]}]})
    assert _text(dataset, "to_json") == b'{"l":[1577836800000,null],"s":{"b":"x","f":[0.5]}}\n'
    with pytest.raises(MissingDependencyError, match=r"datasets_core\[pandas\]"):
        dataset.to_json(io.BytesIO(), orient="split")


@pytest.mark.optional("pandas")
def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(CastError):
        Dataset.from_dict({"odd": [b"\xff"]}).to_json(path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.optional("pandas")
@pytest.mark.parametrize("method", ["to_csv", "to_json"])
def test_a_file_is_not_replaced_where_rows_are_to_be_added(method: str, tmp_path: Path) -> None:
    dataset, path = Dataset.from_dict({"a": [1]}), tmp_path / "a.txt"
    getattr(dataset, method)(path, mode="w")
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match="'ab'"):
        getattr(dataset, method)(path, mode="a")
    assert path.read_bytes() == before
    with path.open("ab") as file:
        size = getattr(dataset, method)(file)
    assert path.read_bytes() == before + before[-size:]


@pytest.mark.optional("pandas")
def test_options_that_pandas_does_not_take_are_one_error(tmp_path: Path) -> None:
    dataset, path = Dataset.from_dict({"a": [1]}), tmp_path / "a.txt"
    for method in (dataset.to_csv, dataset.to_json):
        with pytest.raises(ArgumentTypeError, match="bogus"):
            method(path, bogus=1)
    with pytest.raises(ConfigurationError, match="orient"):
        dataset.to_json(path, orient="bogus")
    with pytest.raises(ConfigurationError, match="no_such"):
        dataset.to_csv(path, encoding="no_such")
    assert not path.exists()

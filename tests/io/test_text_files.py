"""Rows as csv and JSON text: the bytes that pandas writes, whichever way they are made."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import io
import json
import lzma
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, MissingDependencyError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, Json

pytestmark = pytest.mark.optional("pandas")

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
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


@given(st.lists(_PLAIN, min_size=1, max_size=4))
def test_plain_columns_are_written_as_pandas_writes_them(rows: list[dict[str, Any]]) -> None:
    dataset = Dataset.from_list(rows, features=_KINDS)
    frame = dataset._table.to_table().to_pandas(integer_object_nulls=True)
    assert _text(dataset, "to_csv") == frame.to_csv(None, index=False).encode()
    assert _text(dataset, "to_json") == frame.to_json(None, orient="records", lines=True).encode()


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


def test_text_does_not_depend_on_batches_or_processes() -> None:
    dataset = Dataset.from_dict({"a": list(range(50)), "s": ["x"] * 50})
    for method in ("to_csv", "to_json"):
        whole = _text(dataset, method)
        assert _text(dataset, method, batch_size=7) == whole
        assert _text(dataset, method, batch_size=20, num_proc=2) == whole


def test_rows_are_those_that_are_shown() -> None:
    dataset = Dataset.from_dict({"a": list(range(9)), "b": ["x"] * 9}).select([5, 1]).select_columns("a")
    assert _text(dataset.with_format("arrow"), "to_csv") == b"a\n5\n1\n"


def test_no_rows_are_a_header_or_nothing() -> None:
    dataset = Dataset.from_dict({"a": []})
    assert _text(dataset, "to_csv") == b"a\n"
    assert _text(dataset, "to_json") == b""
    assert json.loads(_text(dataset, "to_json", lines=False)) == []


def test_values_of_any_kind_and_arrays_are_written_as_they_are() -> None:
    features = Features({"j": Json(), "m": Array2D((2, 2), "int32")})
    rows = [{"j": {"a": 1.5}, "m": [[1, 2], [3, 4]]}, {"j": [1, "x"], "m": [[0, 0], [0, 0]]}]
    dataset = Dataset.from_list(rows, features=features)
    assert [json.loads(line) for line in _text(dataset, "to_json").splitlines()] == rows


@pytest.mark.parametrize(("name", "open_"), [("gzip", gzip.open), ("bz2", bz2.open), ("xz", lzma.open)])
def test_text_is_compressed_where_that_is_asked_for(name: str, open_: Any, tmp_path: Path) -> None:
    dataset = Dataset.from_dict({"a": [1, 2]})
    dataset.to_json(tmp_path / "a.jsonl", compression=name)
    dataset.to_csv(tmp_path / f"a.csv.{'gz' if name == 'gzip' else name}", compression="infer")
    with open_(tmp_path / "a.jsonl") as file:
        assert file.read() == b'{"a":1}\n{"a":2}\n'
    with open_(tmp_path / f"a.csv.{'gz' if name == 'gzip' else name}") as file:
        assert file.read() == b"a\n1\n2\n"


def test_json_is_compressed_where_the_name_says_so(tmp_path: Path) -> None:
    Dataset.from_dict({"a": [1]}).to_json(tmp_path / "a.jsonl.gz")
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()) == b'{"a":1}\n'


def test_what_means_nothing_is_refused() -> None:
    dataset = Dataset.from_dict({"a": [1, 2]})
    for options in ({"compression": "gzip"}, {"lines": False, "batch_size": 1}):
        with pytest.raises(ConfigurationError):
            dataset.to_json(io.BytesIO(), **options)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="not known"):
        dataset.to_json("x.json", compression="zip")


@pytest.mark.parametrize("value", [b"\xff", dt.date(1, 1, 1)])
def test_what_json_cannot_hold_is_an_error_of_its_column(value: Any) -> None:
    with pytest.raises(CastError, match="'odd'"):
        Dataset.from_dict({"fine": [1], "odd": [value]}).to_json(io.BytesIO(), orient="split")


@pytest.mark.parametrize("force_ascii", [True, False])
def test_a_list_of_records_is_made_batch_by_batch(force_ascii: bool) -> None:
    dataset = Dataset.from_dict({"a": list(range(20_001)), "l": [["é/", None]] * 20_001})
    text = _text(dataset, "to_json", lines=False, force_ascii=force_ascii)
    frame: Any = dataset.to_pandas()
    assert text == frame.to_json(orient="records", force_ascii=force_ascii).encode() + b"\n"


def test_json_of_any_columns_needs_no_pandas_and_other_orients_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    dataset = Dataset.from_dict({"l": [[dt.datetime(2020, 1, 1), None]], "s": [{"b": b"x", "f": [0.5]}]})
    assert _text(dataset, "to_json") == b'{"l":[1577836800000,null],"s":{"b":"x","f":[0.5]}}\n'
    with pytest.raises(MissingDependencyError, match=r"datasets_core\[pandas\]"):
        dataset.to_json(io.BytesIO(), orient="split")


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(CastError):
        Dataset.from_dict({"odd": [b"\xff"]}).to_json(path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.json"]


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

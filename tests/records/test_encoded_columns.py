"""Rows by column -> wire are the same bytes as row by row."""

from __future__ import annotations

import datetime
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, CastError, CellCastError, ConfigurationError
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel
from datasets_core.records.encoding import ExampleEncoder, encode_example, encode_examples, encode_sequence_example
from datasets_core.records.wire.messages import Feature, decode_example, decode_sequence_example
from datasets_core.records.wire.values import Kind

SCALARS: dict[str, tuple[Kind, st.SearchStrategy[Any]]] = {
    "int64": ("int64", st.integers(-(1 << 63), (1 << 63) - 1)),
    "int8": ("int64", st.integers(-128, 127)),
    "uint32": ("int64", st.integers(0, (1 << 32) - 1)),
    "bool": ("int64", st.booleans()),
    "float32": ("float", st.floats(width=32, allow_nan=False)),
    "float64": ("float", st.floats(width=32, allow_nan=False)),
    "string": ("bytes", st.text(max_size=150)),
    "large_binary": ("bytes", st.binary(max_size=150)),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[pa.RecordBatch, list[dict[str, Feature | None]], list[dict[str, list[Feature] | None]]]:
    """Rows, and what stands in the message of each."""
    count, start = draw(st.integers(0, 6)), draw(st.integers(0, 2))
    fields, columns = [], []
    plain: list[dict[str, Feature | None]] = [{} for _ in range(count)]
    steps: list[dict[str, list[Feature] | None]] = [{} for _ in range(count)]
    names = st.lists(st.text(max_size=5).filter(lambda text: "/" not in text), unique=True, max_size=5)
    for name in draw(names):
        dtype = draw(st.sampled_from(sorted(SCALARS)))
        kind, values = SCALARS[dtype]
        depth = draw(st.integers(0, 2))
        arrow: pa.DataType = Value(dtype).arrow_type
        drawn = values
        for _ in range(depth):
            arrow, drawn = pa.list_(arrow), st.lists(drawn, max_size=4)
        rows = draw(st.lists(st.none() | drawn, min_size=count + start, max_size=count + start))
        fields.append(pa.field(name, arrow))
        columns.append(pa.array(rows, arrow))
        for row, value in enumerate(rows[start:]):
            if depth == 2:
                steps[row][name] = None if value is None else [_feature(kind, step) for step in value]
            else:
                plain[row][name] = None if value is None else _feature(kind, value if depth else [value])
    fields.append(pa.field("of no kind", pa.null()))
    batch = pa.RecordBatch.from_arrays([*columns, pa.nulls(count + start)], schema=pa.schema(fields))
    return batch.slice(start), plain, steps


def _feature(kind: Kind, values: list[Any]) -> Feature:
    return Feature(kind, [value.encode() if isinstance(value, str) else value for value in values])


@given(tables())
def test_rows_by_column_are_rows_one_by_one(
    drawn: tuple[pa.RecordBatch, list[dict[str, Feature | None]], list[dict[str, list[Feature] | None]]],
) -> None:
    batch, plain, steps = drawn
    made = encode_examples(batch)
    assert made.type == pa.binary()
    if any(steps):
        one_by_one = [encode_sequence_example(*message) for message in zip(plain, steps, strict=True)]
    else:
        one_by_one = [encode_example(message) for message in plain]
    assert made.to_pylist() == one_by_one


@given(tables())
def test_rows_in_parts_are_the_same(drawn: Any) -> None:
    batch, *_ = drawn
    encoder = ExampleEncoder(Features.from_arrow_schema(batch.schema))
    parts = [encoder.encode(batch.slice(row, 1), row).to_pylist() for row in range(batch.num_rows)]
    assert list(chain.from_iterable(parts)) == encoder.encode(batch).to_pylist() == encode_examples(batch).to_pylist()


def test_every_kind_of_column() -> None:
    features = Features(
        {
            "label": ClassLabel(names=["a", "b"]),
            "grid": Array2D((2, 2), "float32"),
            "when": Value("timestamp[us]"),
            "day": Value("date32"),
            "place": {"x": Value("float32"), "tags": List({"name": Value("string"), "n": Value("int8")})},
            "picture": Image(),
            "pictures": List(Image()),
            "nothing": Value("null"),
            "pair": List(Value("int8"), length=2),
        }
    )
    row = {
        "label": 1,
        "grid": [[1, 2], [3, 4]],
        "when": datetime.datetime(1970, 1, 1, 0, 0, 1),
        "day": datetime.date(1970, 1, 3),
        "place": {"x": 0.5, "tags": [{"name": "é", "n": 1}, {"name": "", "n": 2}]},
        "picture": {"bytes": b"png", "path": None},
        "pictures": [{"bytes": b"1", "path": None}, {"bytes": b"2", "path": "b"}],
        "nothing": None,
        "pair": [5, 6],
    }
    batch = pa.RecordBatch.from_pylist([row, dict.fromkeys(row)], schema=features.arrow_schema)
    whole, empty = (decode_example(record.as_py()) for record in encode_examples(batch, features))
    assert empty == {}
    assert {key: feature.values for key, feature in whole.items()} == {
        "label": [1],
        "grid": [1.0, 2.0, 3.0, 4.0],
        "when": [1_000_000],
        "day": [2],
        "place/x": [0.5],
        "place/tags/name": ["é".encode(), b""],
        "place/tags/n": [1, 2],
        "picture": [b"png"],
        "pictures": [b"1", b"2"],
        "pair": [5, 6],
    }


def test_lists_of_lists_make_sequences_of_all_rows() -> None:
    batch = pa.record_batch({"a": [[[1], []], None], "b": ["x", None], "c": [[["y"]], []]})
    first, second = (decode_sequence_example(record.as_py()) for record in encode_examples(batch))
    assert first == (
        {"b": Feature("bytes", [b"x"])},
        {"a": [Feature("int64", [1]), Feature("int64", [])], "c": [Feature("bytes", [b"y"])]},
    )
    assert second == ({}, {"c": []})


def test_features_that_are_given_lead() -> None:
    batch = pa.record_batch({"a": [1, 2], "b": ["x", "y"]})
    features = Features({"b": Value("binary"), "a": Value("float32")})
    made = encode_examples(batch, features).to_pylist()
    assert made == [encode_example({"b": b"x", "a": 1.0}), encode_example({"b": b"y", "a": 2.0})]


def test_tables_of_several_batches() -> None:
    batch = pa.record_batch({"a": [1, 2], "b": [0.5, 1e300]})
    table = pa.Table.from_batches([batch.slice(0, 1), batch.slice(0, 0), batch.slice(0, 1)])
    assert encode_examples(table).to_pylist() == [encode_example({"a": 1, "b": 0.5})] * 2
    assert encode_examples(table.slice(0, 0)).to_pylist() == []
    with pytest.raises(CellCastError, match="Row 2, column 'b'"):
        encode_examples(pa.Table.from_batches([batch.slice(0, 1), batch]))
    with pytest.raises(ArgumentTypeError, match="dict is not a batch"):
        encode_examples({"a": [1]})


def test_rows_without_columns() -> None:
    batch = pa.record_batch({"a": pa.nulls(3)})
    assert encode_examples(batch).to_pylist() == [b"\n\0"] * 3
    assert encode_examples(batch.slice(0, 0)).to_pylist() == []


def test_many_columns_and_sizes() -> None:
    random = np.random.default_rng(0)
    sizes = random.integers(0, 300, 500)
    columns = {f"c{number}": pa.array([bytes(int(size)) for size in np.roll(sizes, number)]) for number in range(40)}
    columns["large"] = pa.array([bytes(1 << 17), b""] * 250)
    batch = pa.record_batch(columns)
    assert encode_examples(batch).to_pylist() == [encode_example(row) for row in batch.to_pylist()]


@pytest.mark.parametrize(
    ("column", "row"),
    [
        (pa.array([1.5, None, 1e300]), 2),
        (pa.array([1, (1 << 63)], pa.uint64()), 1),
        (pa.array([None, [1.0], [], [0.5, -1e40]]), 3),
        (pa.array([[1], [2, None]]), 1),
    ],
    ids=str,
)
def test_errors_name_row_and_column(column: pa.Array, row: int) -> None:
    encoder = ExampleEncoder(Features({"x": {"y": Features.from_arrow_schema(pa.schema([("y", column.type)]))["y"]}}))
    batch = pa.RecordBatch.from_arrays([pa.StructArray.from_arrays([column], ["y"])], ["x"])
    with pytest.raises(CellCastError, match=rf"Row {100 + row}, column 'x\.y': .*\. Mend the value") as caught:
        encoder.encode(batch, 100)
    assert caught.value.row == 100 + row


def test_what_was_rounded_is_known() -> None:
    encoder = ExampleEncoder(Features({"x": Value("float64"), "y": List(Value("float64")), "z": Value("float64")}))
    batch = pa.record_batch({"x": [None, 0.5, 0.1], "y": [[0.5], [], [0.25, 0.2]], "z": [0.5, 1.0, float("nan")]})
    encoder.encode(batch, 10)
    encoder.encode(batch, 20)
    assert encoder.rounded == {"x": 12, "y": 12}


def test_columns_without_a_form() -> None:
    with pytest.raises(CastError, match="decimal128"):
        encode_examples(pa.record_batch({"a": pa.array([1], pa.decimal128(3))}))
    with pytest.raises(ConfigurationError, match="'a/b'"):
        encode_examples(pa.record_batch({"a/b": [1], "a": [{"b": 1}]}))

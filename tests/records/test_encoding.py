"""Rows by column -> wire are the same bytes as row by row."""

from __future__ import annotations

import datetime
import pickle
import struct
from collections.abc import Callable
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, CastError, CellCastError, ConfigurationError, ExampleError
from datasets_core.features.arrow import Misfit
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel
from datasets_core.records.encoding import (
    ExampleEncoder,
    Pieces,
    encode_example,
    encode_examples,
    encode_sequence_example,
    leaf_values,
    wire_bytes,
    wire_floats,
    wire_ints,
)
from datasets_core.records.feature_readers import Leaf
from datasets_core.records.wire.messages import Feature, decode_example, decode_sequence_example
from datasets_core.records.wire.values import Kind, varint

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
    with pytest.raises(CellCastError) as caught:
        encode_examples(pa.Table.from_batches([batch.slice(0, 1), batch]))
    assert (caught.value.column, caught.value.row) == ("b", 2)
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
    with pytest.raises(CellCastError, match=rf"Row {100 + row}, column 'x\.y': .*\. Fix the value") as caught:
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


# Values of columns as bytes.


def pieces(found: Pieces) -> list[Any]:
    values: list[Any] = found.array().to_pylist()
    return values


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2)],
    ids=str,
)
def test_bytes_of_every_type(kind: pa.DataType) -> None:
    array = pa.array(["ab", "cd", "ef"] if pa.types.is_string(kind) else [b"ab", b"cd", b"ef"]).cast(kind)
    assert pieces(wire_bytes(array.slice(1))) == [b"cd", b"ef"]
    assert pieces(wire_bytes(array.slice(3))) == []


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint16(), pa.int64(), pa.bool_()], ids=str)
def test_ints_of_every_type(kind: pa.DataType) -> None:
    assert pieces(wire_ints(pa.array([0, 1, 1]).cast(kind).slice(1))) == [b"\1", b"\1"]


@pytest.mark.parametrize(
    "kind", [pa.date32(), pa.date64(), pa.time32("s"), pa.time64("ns"), pa.timestamp("us", "UTC"), pa.duration("ms")], ids=str
)
def test_moments_are_the_numbers_that_arrow_stores(kind: pa.DataType) -> None:
    numbers = pa.array([0, 86_400_000, 300], f"int{kind.bit_width}").view(kind)
    assert pieces(wire_ints(numbers.slice(1))) == [varint(86_400_000), varint(300)]


def test_uint64_beyond_int64_says_where() -> None:
    assert pieces(wire_ints(pa.array([(1 << 63) - 1], pa.uint64()))) == [b"\xff" * 8 + b"\x7f"]
    with pytest.raises(Misfit) as caught:
        wire_ints(pa.array([1, 1 << 63], pa.uint64()))
    assert caught.value.index == 1 and "9223372036854775808" in caught.value.reason


def test_floats_that_are_rounded_or_beyond() -> None:
    found, rounded = wire_floats(pa.array([0.5, float("inf"), float("nan"), -0.0]))
    assert rounded is None and found.data.to_pybytes() == np.array([0.5, np.inf, np.nan, -0.0], "<f4").tobytes()
    assert wire_floats(pa.array([0.5, 0.1, 0.2]))[1] == 1
    assert wire_floats(pa.array([0.5, 0.1], pa.float32()))[1] is None
    assert wire_floats(pa.array([0.5, 1.5], pa.float16()))[0].data.to_pybytes() == np.array([0.5, 1.5], "<f4").tobytes()
    with pytest.raises(Misfit, match="1e\\+39"):
        wire_floats(pa.array([0.1, 1e39]))


def test_values_of_slices_with_nulls() -> None:
    column = pa.array([[9], [1, 2], None, [], [3]], pa.list_(pa.int8())).slice(1)
    found = leaf_values(column, Leaf("x", "x", ("x", -1), "int64"))
    assert found.valid is not None and found.valid.tolist() == [True, False, True, True]
    assert [found.counts[0].tolist(), found.values.to_pylist()] == [[2, 0, 0, 1], [1, 2, 3]]
    assert [found.row(value) for value in range(3)] == [0, 0, 3]


def test_values_of_fields_of_lists_of_dicts() -> None:
    column = pa.array([{"a": [{"b": 1}, {"b": 2}]}, None, {"a": None}])
    found = leaf_values(column, Leaf("x/a/b", "x.a.b", ("x", "a", -1, "b"), "int64"))
    assert found.valid is not None and found.valid.tolist() == [True, False, False]
    assert found.values.to_pylist() == [1, 2]


@pytest.mark.parametrize(
    ("column", "steps", "row"),
    [
        (pa.array([[1], [2, None]]), ("x", -1), 1),
        (pa.array([[[1]], [], [[1], None]]), ("x", -1, -1), 2),
        (pa.array([[[1]], [], [[1], [2, None]]]), ("x", -1, -1), 2),
        (pa.array([None, [{"a": 1}, None]]), ("x", -1, "a"), 1),
        (pa.array([[1, 2], [1]]), ("x", 2), 1),
        (pa.array([[[1, 2]], [[1, 2], [1]]]), ("x", -1, 2), 1),
    ],
    ids=str,
)
def test_what_has_no_form_says_its_row(column: pa.Array, steps: tuple[Any, ...], row: int) -> None:
    with pytest.raises(Misfit) as caught:
        leaf_values(column, Leaf("x", "x", steps, "int64"))
    assert caught.value.index == row


def test_files_that_were_not_read_are_told() -> None:
    column = pa.array([{"bytes": None, "path": None}, {"bytes": None, "path": "a.png"}])
    with pytest.raises(Misfit, match=r"'a\.png'") as caught:
        leaf_values(column, Leaf("x", "x", ("x", "bytes"), "bytes", is_media=True))
    assert caught.value.index == 1


# Values -> wire -> the same values, and what has no form is told by its key.

INTS = st.integers(-(1 << 63), (1 << 63) - 1)
FLOATS = st.floats(width=32, allow_nan=False)
FEATURES = st.one_of(
    st.builds(Feature, st.just("int64"), st.lists(INTS, max_size=50)),
    st.builds(Feature, st.just("float"), st.lists(FLOATS, max_size=50)),
    st.builds(Feature, st.just("bytes"), st.lists(st.binary(max_size=200), max_size=5)),
    st.just(Feature(None, [])),
)
MESSAGES = st.dictionaries(st.text(max_size=10), FEATURES, max_size=6)


@given(MESSAGES)
def test_features_survive_the_wire_in_their_order(features: dict[str, Feature]) -> None:
    found = decode_example(encode_example(features))
    assert list(found.items()) == list(features.items())


@given(MESSAGES, st.dictionaries(st.text(max_size=10), st.lists(FEATURES, max_size=4), max_size=4))
def test_sequences_survive_the_wire(context: dict[str, Feature], lists: dict[str, list[Feature]]) -> None:
    found = decode_sequence_example(encode_sequence_example(context, lists))
    assert [list(found[0].items()), list(found[1].items())] == [list(context.items()), list(lists.items())]


@given(MESSAGES)
def test_the_bytes_of_a_message_are_the_same_each_time(features: dict[str, Feature]) -> None:
    assert encode_example(features) == encode_example(dict(features))


@pytest.mark.parametrize(
    ("value", "kind", "values"),
    [
        (7, "int64", [7]),
        (True, "int64", [1]),
        (np.int8(-3), "int64", [-3]),
        (np.bool_(True), "int64", [1]),
        ([1, True, np.uint16(9)], "int64", [1, 1, 9]),
        (range(3), "int64", [0, 1, 2]),
        (0.5, "float", [0.5]),
        (np.float16(0.25), "float", [0.25]),
        ([1, 0.5], "float", [1.0, 0.5]),
        (0.1, "float", [float(np.float32(0.1))]),
        ("é", "bytes", ["é".encode()]),
        (b"\x00\xff", "bytes", [b"\x00\xff"]),
        pytest.param(["a", b"b", bytearray(b"c"), memoryview(b"d")], "bytes", [b"a", b"b", b"c", b"d"], id="buffers"),
        (np.array([[1, 2], [3, 4]]), "int64", [1, 2, 3, 4]),
        (np.array([[1, 2], [3, 4]]).T, "int64", [1, 3, 2, 4]),
        (np.array([True, False]), "int64", [1, 0]),
        (np.zeros((0, 3), np.float32), "float", []),
        (np.zeros(0, np.uint8), "int64", []),
        (np.array(["a", "bc"]), "bytes", [b"a", b"bc"]),
        (np.zeros(0, "U3"), "bytes", []),
        (np.array([b"a", "b"], object), "bytes", [b"a", b"b"]),
        (np.array(3.5), "float", [3.5]),
        (np.longdouble(0.5), "float", [0.5]),
        ([], None, []),
        ((), None, []),
        (Feature("float", [1, 2.5]), "float", [1.0, 2.5]),
        (Feature("bytes", ["a"]), "bytes", [b"a"]),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_the_kind_follows_from_the_values(value: Any, kind: str | None, values: list[Any]) -> None:
    assert decode_example(encode_example({"x": value})) == {"x": Feature(kind, values)}  # type: ignore[arg-type]


def test_none_is_left_out() -> None:
    assert list(decode_example(encode_example({"a": None, "b": 1}))) == ["b"]
    assert decode_sequence_example(encode_sequence_example({"a": None}, {"b": None, "c": []})) == ({}, {"c": []})


def test_floats_keep_their_bits() -> None:
    numbers = [float("inf"), float("-inf"), -0.0, 1e-45, 3.4028234663852886e38]
    found = decode_example(encode_example({"x": numbers}))["x"].values
    assert struct.pack("5f", *found) == struct.pack("5f", *numbers)
    assert np.isnan(decode_example(encode_example({"x": float("nan")}))["x"].values[0])


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (1 << 63, "out of range for int64"),
        (np.array([1 << 63], np.uint64), "out of range for int64"),
        ([1, -(1 << 63) - 1], "out of range for int64"),
        (1e39, "1e+39, which is out of range for float32"),
        (np.array([0.5, -1e39]), "-1e+39, which is out of range"),
        ([0.5, 10**400], "out of range for float32"),
        ([1, "a"], "mixes numbers with text"),
        ([1, None], "contains None"),
        ([[1], [2]], "nested lists"),
        (np.array([[1], [2, 3]], object), "nested lists"),
        ({"a": 1}, "{'a': 1}"),
        (1j, "1j"),
        (np.array(["2020-01-01"], "datetime64[D]"), "datetime64[D]"),
        ("\ud800", "UTF-8"),
        (Feature("int64", ["a"]), "has kind 'int64', but its values have kind 'bytes'"),  # type: ignore[arg-type]
        (Feature("int", [1]), "has kind 'int'"),  # type: ignore[arg-type]
        (Feature("int64", [0.5]), "its values have kind 'float'"),
    ],
    ids=str,
)
def test_what_has_no_form_is_told_by_its_key(value: Any, said: str) -> None:
    with pytest.raises(ExampleError) as caught:
        encode_example({"fine": 1, "x": value})
    assert said in str(caught.value) and "'x'" in str(caught.value)
    assert caught.value.key == "x"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    "act",
    [
        lambda: encode_example([("a", 1)]),  # type: ignore[arg-type]
        lambda: encode_example({1: 2}),  # type: ignore[dict-item]
        lambda: encode_example({"\ud800": 2}),
        lambda: encode_sequence_example({}, {"a": 3}),  # type: ignore[dict-item]
        lambda: encode_sequence_example({}, {"a": "text"}),
        lambda: encode_sequence_example({}, {"a": [1, None]}),
        lambda: encode_sequence_example({}, {"a": [[[1]]]}),
    ],
)
def test_mistakes_of_the_caller(act: Callable[[], object]) -> None:
    with pytest.raises(ExampleError):
        act()


def test_the_steps_of_an_array_are_its_rows() -> None:
    found = decode_sequence_example(encode_sequence_example({}, {"a": np.array([[1, 2], [3, 4]]), "b": np.array([5, 6])}))
    assert found[1]["a"] == [Feature("int64", [1, 2]), Feature("int64", [3, 4])]
    assert found[1]["b"] == [Feature("int64", [5]), Feature("int64", [6])]


# What SerializeToString(deterministic=True) of TensorFlow 2.21 gives.
EXAMPLE = (
    "0a430a140a0161120f1a0d0a0b01ffffffffffffffffff010a0d0a0162120812060a040000003f0a0c0a016312070a050a01780a00"
    "0a070a016412021a000a050a01651200"
)
SEQUENCE = "0a0d0a0b0a016112061a040a02ac02121a0a110a0162120c0a061a040a0201020a021a000a050a01631200"


def test_bytes_are_those_that_protobuf_writes() -> None:
    features = {"a": [1, -1], "b": [0.5], "c": ["x", ""], "d": np.zeros(0, int), "e": []}
    assert encode_example(features).hex() == EXAMPLE
    lists = {"b": [[1, 2], np.zeros(0, int)], "c": []}
    assert encode_sequence_example({"a": 300}, lists).hex() == SEQUENCE
    assert [encode_example({}), encode_sequence_example(), encode_sequence_example({}, {})] == [b"\n\0", b"", b"\n\0\x12\0"]


@pytest.mark.parametrize("key", [b"a", "\ud800"])
def test_a_key_that_is_none_is_told_with_its_message(key):
    for encode, name in ((encode_example, "Example"), (lambda given: encode_sequence_example(None, given), "SequenceExample")):
        with pytest.raises(ExampleError, match=f"^{name}: has the key"):
            encode({key: [1]})

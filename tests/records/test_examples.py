"""Blocks of records as rows: by specs, by features, by what records tell, and as they are."""

import base64
import json
import pickle
from pathlib import Path

import pyarrow as pa
import pytest

from datasets_core.errors import ConfigurationError, ExampleError, UnknownColumnError
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel
from datasets_core.records.encoding import encode_example, encode_sequence_example
from datasets_core.records.examples import ExampleReader
from datasets_core.records.feature_readers import join_types
from datasets_core.records.specs.parsing import ExampleParser
from datasets_core.records.specs.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from datasets_core.records.specs.values import RaggedValue, SparseValue
from datasets_core.records.wire.messages import Feature
from datasets_core.records.wire.values import RecordBlock

GOLDEN = json.loads((Path(__file__).parent / "golden" / "parsing.json").read_text(encoding="utf-8"))
RECORDS = [base64.b64decode(record) for record in GOLDEN["records"]]
CASES = [pytest.param(case, id=f"{case['key']}-{case['spec']}".replace(" ", "")) for case in GOLDEN["examples"]]


def rows(reader, *records, known=None, first=10):
    batch = reader.read(RecordBlock.of(records, first=first, name="x.tfrecord"), known)
    batch.validate(full=True)
    assert reader.features is None or batch.schema == reader.features.arrow_schema
    return batch.to_pylist()


def as_column(value):
    """What a parser gives for a record, as a column has it."""
    if isinstance(value, SparseValue):
        parts = {"indices": value.indices, "values": value.values, "dense_shape": value.dense_shape}
        return {name: part.tolist() for name, part in parts.items()}
    return value.to_list() if isinstance(value, RaggedValue) else value.tolist()


# -- by specs


@pytest.mark.parametrize("case", CASES)
def test_a_column_by_a_spec_holds_what_parsing_gives(case, peer):
    key, spec = case["key"], peer.spec(case["spec"])
    strict = (
        RaggedFeature(spec.dtype, spec.value_key, spec.partitions, validate=True) if isinstance(spec, RaggedFeature) else spec
    )
    for record in RECORDS:
        wanted = peer.outcome(lambda record=record: ExampleParser({key: strict}).parse(record)[key])
        if wanted == "refused":
            with pytest.raises(ValueError, match=r"."):
                rows(ExampleReader(spec={key: spec}), record)
            continue
        value = as_column(ExampleParser({key: strict}).parse(record)[key])
        if isinstance(spec, VarLenFeature):
            value = value["values"]
        assert rows(ExampleReader(spec={key: spec}), record, record) == [{key: value}] * 2


def test_columns_by_specs_have_the_types_of_the_specs():
    spec = {
        "n": FixedLenFeature([], int, 0),
        "box": FixedLenFeature([2, 2], float),
        "tags": VarLenFeature(str),
        "sparse": SparseFeature("ix", "v", float, 9),
    }
    reader = ExampleReader(spec=spec)
    assert reader.features == {
        "n": Value("int64"),
        "box": Array2D((2, 2), "float32"),
        "tags": List(Value("binary")),
        "sparse": {
            "indices": List(List(Value("int64"))),
            "values": List(Value("float32")),
            "dense_shape": List(Value("int64")),
        },
    }
    record = encode_example({"box": [0.0, 1.0, 2.0, 3.0], "ix": [5, 2], "v": [0.5, 1.5]})
    assert rows(reader, record) == [
        {
            "n": 0,
            "box": [[0, 1], [2, 3]],
            "tags": [],
            "sparse": {"indices": [[2], [5]], "values": [1.5, 0.5], "dense_shape": [9]},
        }
    ]


def test_features_cast_what_specs_parse():
    features = Features({"label": ClassLabel(names=["x", "y"]), "text": Value("string"), "picture": Image()})
    spec = {
        "text": FixedLenFeature([], str, ""),
        "label": FixedLenFeature([], int, -1),
        "picture": FixedLenFeature([], str, "none"),
    }
    reader = ExampleReader(spec=spec, features=features)
    assert list(reader.features) == ["label", "text", "picture"]
    record = encode_example({"label": 1, "text": "é"})
    assert rows(reader, record) == [{"label": 1, "text": "é", "picture": {"bytes": b"none", "path": None}}]
    with pytest.raises(ExampleError, match=r"record 11: feature 'label' has a value that does not fit: 7") as raised:
        rows(reader, record, encode_example({"label": 7}))
    assert raised.value.record == 11


def test_specs_of_sequences_read_context_and_lists():
    reader = ExampleReader(
        spec={"id": FixedLenFeature([], int), "v": VarLenFeature(float)},
        sequence_spec={
            "n": FixedLenSequenceFeature([], int, True),
            "w": RaggedFeature(str),
            "p": FixedLenSequenceFeature([2], int, True),
        },
    )
    records = [
        encode_sequence_example({"id": 1}, {"n": [1, 2], "w": [["a"], []]}),
        encode_sequence_example({"id": 2}, {"p": [[1, 2]]}),
    ]
    assert rows(reader, *records) == [
        {"id": 1, "v": [], "n": [1, 2], "w": [[b"a"], []], "p": []},
        {"id": 2, "v": [], "n": [], "w": [], "p": [[1, 2]]},
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"spec": {"a": FixedLenFeature([None], int)}},
        {"spec": {"a": VarLenFeature(int)}, "sequence_spec": {"a": VarLenFeature(int)}},
        {"sequence_spec": {"a": VarLenFeature(int)}, "message": "example"},
        {"spec": {"a": VarLenFeature(int)}, "message": "bytes"},
        {"spec": {"a": VarLenFeature(int)}, "features": Features({"b": List(Value("int64"))})},
        {"spec": {"a": SparseFeature("i", "v", int, 3)}, "message": "sequence_example"},
        {"message": "text"},
        {"message": "bytes", "features": Features({"a": Value("binary"), "b": Value("binary")})},
        {"message": "bytes", "features": Features({"a": List(Value("binary"))})},
    ],
    ids=str,
)
def test_what_has_no_meaning_is_refused_at_once(options):
    with pytest.raises(ConfigurationError):
        ExampleReader(**options)


# -- by what records tell


def test_the_records_tell_their_columns():
    reader = ExampleReader()
    assert rows(reader, encode_example({"a": 1, "b": "x"}), encode_example({"b": "y", "c": [0.5, 1.5]})) == [
        {"a": 1, "b": b"x", "c": None},
        {"a": None, "b": b"y", "c": [0.5, 1.5]},
    ]
    assert reader.features is None


def test_what_is_known_of_columns_comes_first_and_is_widened():
    known = pa.schema({"gone": pa.float32(), "a": pa.list_(pa.int64()), "b": pa.int64(), "e": pa.null()})
    reader = ExampleReader()
    record = encode_example({"new": 1, "b": [1, 2], "a": 5, "e": 1.5})
    batch = reader.read(RecordBlock.of([record]), known)
    assert batch.to_pylist() == [{"gone": None, "a": [5], "b": [1, 2], "e": 1.5, "new": 1}]
    assert batch.schema.types == [pa.float32(), pa.list_(pa.int64()), pa.list_(pa.int64()), pa.float32(), pa.int64()]


def test_another_kind_than_is_known_is_an_error_of_its_first_record():
    with pytest.raises(ExampleError, match=r"record 11: feature 'a' has type float, but int64 in earlier records"):
        rows(ExampleReader(), b"", encode_example({"a": 1.5}), known=pa.schema({"a": pa.int64()}))


def test_records_with_feature_lists_are_sequences():
    record = encode_sequence_example({"id": 5}, {"n": [[1], [2, 3]]})
    assert rows(ExampleReader(), record) == [{"id": 5, "n": [[1], [2, 3]]}]
    assert rows(ExampleReader(message="sequence_example"), record) == [{"id": 5, "n": [[1], [2, 3]]}]
    assert rows(ExampleReader(message="example"), record) == [{"id": 5}]


def test_records_without_columns_are_rows():
    batch = ExampleReader().read(RecordBlock.of([b"", b""]))
    assert (batch.num_rows, batch.num_columns) == (2, 0)
    assert ExampleReader().read(RecordBlock.of([])).num_rows == 0
    assert ExampleReader(features=Features({})).read(RecordBlock.of([b""] * 3)).num_rows == 3


# -- as they are


def test_records_may_be_rows_as_they_are():
    assert rows(ExampleReader(message="bytes"), b"\xff", b"") == [{"record": b"\xff"}, {"record": b""}]
    text = ExampleReader(message="bytes", features=Features({"line": Value("string")}))
    assert rows(text, "é".encode()) == [{"line": "é"}]
    with pytest.raises(ExampleError) as caught:
        rows(text, b"a", b"\xff")
    assert caught.value.row == 11


def test_records_of_a_slice_are_those_of_the_slice():
    block = RecordBlock.of([b"a", b"bc", b"", b"d"])[1:3]
    assert ExampleReader(message="bytes").read(block).to_pylist() == [{"record": b"bc"}, {"record": b""}]


# -- some columns


WAYS = {
    "specs": {"spec": {"a": FixedLenFeature([], int), "b": VarLenFeature(str)}},
    "features": {"features": Features({"a": Value("int64"), "b": List(Value("binary"))})},
    "records": {},
}


@pytest.mark.parametrize("way", WAYS)
def test_columns_come_in_the_order_that_is_asked_for(way):
    record = encode_example({"a": 1, "b": ["x", "y"]})
    assert list(rows(ExampleReader(**WAYS[way], columns=["b", "a"]), record)[0]) == ["b", "a"]
    assert rows(ExampleReader(**WAYS[way], columns=["b"]), record) == [{"b": [b"x", b"y"]}]
    assert rows(ExampleReader(**WAYS[way], columns=[]), record) == [{}]


@pytest.mark.parametrize("way", ["specs", "features"])
def test_columns_that_are_not_there_are_refused(way):
    with pytest.raises(UnknownColumnError) as caught:
        ExampleReader(**WAYS[way], columns=["c"])
    assert caught.value.name == "c"


def test_columns_that_are_not_read_are_not_checked():
    record = encode_example({"a": "no number", "b": ["x"]})
    assert rows(ExampleReader(**WAYS["specs"], columns=["b"]), record) == [{"b": [b"x"]}]


# -- all ways


@pytest.mark.parametrize("way", WAYS)
def test_a_reader_goes_to_other_processes(way):
    record = encode_example({"a": 1, "b": ["x", "y"]})
    again = pickle.loads(pickle.dumps(ExampleReader(**WAYS[way])))
    assert rows(again, record) == rows(ExampleReader(**WAYS[way]), record)


@pytest.mark.parametrize("way", WAYS)
def test_of_several_errors_the_first_record_is_told(way):
    records = [encode_example({"a": 1}), b"\x0a\xff", encode_example({"a": "x"})]
    with pytest.raises(ExampleError) as caught:
        rows(ExampleReader(**WAYS[way]), *records)
    assert str(caught.value.file).endswith("x.tfrecord")
    assert (caught.value.row, caught.value.record) == (11, 11)
    if way != "records":
        with pytest.raises(ExampleError) as caught:
            rows(ExampleReader(**WAYS[way]), *records[::2], b"\xff", first=11)
        assert str(caught.value.file).endswith("x.tfrecord")
        assert (caught.value.row, caught.value.record, caught.value.key) == (12, 12, "a")


def test_one_value_and_several_are_lists():
    assert join_types(pa.int64(), pa.list_(pa.int64())) == pa.list_(pa.int64())


def test_a_feature_without_a_list_is_an_empty_one():
    record = encode_example({"a": Feature(None, [])})
    assert rows(ExampleReader(), record) == [{"a": []}]
    assert rows(ExampleReader(spec={"a": VarLenFeature(int)}), record) == [{"a": []}]

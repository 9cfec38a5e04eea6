"""Parsing of Examples by specs, held to what TensorFlow gave for many records and specs."""

import base64
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import ArgumentTypeError, ConfigurationError, ExampleError, UnknownColumnError
from datasets_core.records.encoding import encode_example, encode_sequence_example
from datasets_core.records.reader import TFRecordReader
from datasets_core.records.specs import parsing
from datasets_core.records.specs.parsing import (
    ExampleParser,
    SequenceParser,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from datasets_core.records.specs.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from datasets_core.records.specs.values import SparseValue
from datasets_core.records.wire.values import RecordBlock

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "parsing.json").read_text(encoding="utf-8"))
RECORDS = [base64.b64decode(record) for record in GOLDEN["records"]]
MIXED = json.loads((Path(__file__).parents[1] / "golden" / "mixed_specs.json").read_text(encoding="utf-8"))
MIXED_SPECS = {
    "label_fixed": FixedLenFeature([1], "int64"),
    "label_scalar_default": FixedLenFeature([], "int64", -5),
    "tags_var": VarLenFeature("string"),
    "flat_wrong_len": FixedLenFeature([4], "int64"),
    "flat_seq": FixedLenSequenceFeature([], "int64", allow_missing=True),
    "sparse": SparseFeature("idx", "val", "float32", 5),
    "ragged": RaggedFeature("int64"),
    "empty_int_fixed_default": FixedLenFeature([], "int64", default_value=3),
}
CASES = [pytest.param(case, id=f"{case['key']}-{case['spec']}".replace(" ", "")) for case in GOLDEN["examples"]]


def texts(value):
    """Values as the table of the mixed file has them: numbers as text, bytes as base64."""
    if isinstance(value, list):
        return [texts(inner) for inner in value]
    return base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)


def as_mixed(value):
    if isinstance(value, SparseValue):
        parts = {"indices": value.indices.tolist(), "values": texts(value.values.tolist())}
        return {"sparse": {**parts, "dense_shape": value.dense_shape.tolist()}}
    return {"dense": texts(value.reshape(-1).tolist()), "shape": list(value.shape)}


@pytest.mark.parametrize("case", MIXED["parse_single_example"], ids=lambda case: case["name"])
def test_the_records_of_the_mixed_file_are_parsed_as_tensorflow_parses_them(case):
    key = "made" if case["name"] == "sparse" else case["key"]
    features = {key: MIXED_SPECS[case["name"]]}
    with TFRecordReader(str(Path(__file__).parents[1] / "golden" / "tfrecord" / "mixed.tfrecord")) as reader:
        records = list(reader)
    for record, wanted in zip(records, case["expected_per_record_of_mixed"], strict=True):
        if "error" in wanted:
            with pytest.raises(ExampleError):
                parse_single_example(record, features)
        else:
            assert as_mixed(parse_single_example(record, features)[key]) == wanted


@pytest.mark.parametrize("case", CASES)
def test_single_records_are_parsed_as_tensorflow_parses_them(case, peer):
    key = case["key"]
    found = [
        peer.outcome(lambda record=record: parse_single_example(record, {key: peer.spec(case["spec"])})[key])
        for record in RECORDS
    ]
    assert found == list(map(peer.expected, case["single"]))


def fits(record, made, peer):
    """Whether the rows that a record tells fit its own values."""
    strict = replace(made, validate=True) if isinstance(made, RaggedFeature) else made
    return peer.outcome(lambda: parse_single_example(record, {"made": strict})) != "refused"


@pytest.mark.parametrize("case", CASES)
def test_batches_are_parsed_as_tensorflow_parses_them(case, peer):
    """But that it joins the rows of all records before it looks whether they fit, and takes values of another record."""
    key = case["key"]
    for rows, wanted in case["batches"]:
        records = [RECORDS[row] for row in rows]
        found = peer.outcome(lambda records=records: parse_example(records, {key: peer.spec(case["spec"])})[key])
        if found == "refused" and "Row" in case["spec"]:
            assert not all(fits(record, peer.spec(case["spec"]), peer) for record in records)
        else:
            assert found == peer.expected(wanted), rows


@pytest.mark.parametrize("case", CASES)
def test_a_block_gives_for_each_record_what_the_record_gives_alone(case, peer):
    key = case["key"]
    good = [record for record, found in zip(RECORDS, case["single"], strict=True) if "error" not in found]
    if not good:
        return
    parser = ExampleParser({key: peer.spec(case["spec"])})
    assert [peer.told(value) for value in parser.parse_rows(good)[key]] == [
        peer.told(parser.parse(record)[key]) for record in good
    ]


@pytest.mark.parametrize("case", CASES)
def test_a_block_is_refused_for_its_first_record_that_would_be_alone(case, peer):
    key = case["key"]
    wrong = [number for number, found in enumerate(case["single"]) if "error" in found]
    if not wrong or len(wrong) == len(RECORDS):
        return
    with pytest.raises(ExampleError) as raised:
        ExampleParser({key: peer.spec(case["spec"])}).parse_rows(RecordBlock.of(RECORDS, first=100, name="a.tfrecord"))
    assert raised.value.path == "a.tfrecord"
    assert raised.value.record == 100 + wrong[0]


def test_only_the_features_that_are_asked_for_are_parsed():
    parser = ExampleParser({"a": FixedLenFeature([], "int64"), "b": VarLenFeature("string")})
    data = encode_example({"b": ["x"]})
    assert list(parser.parse_rows([data], ["b"])) == ["b"]
    with pytest.raises(UnknownColumnError) as caught:
        parser.parse_rows([data], ["c"])
    assert caught.value.name == "c"


def test_objects_of_other_libraries_are_records_too():
    data = encode_example({"a": 7})
    features = {"a": FixedLenFeature([], "int64")}
    held = SimpleNamespace(numpy=lambda: data)
    for given in (data, bytearray(data), memoryview(data), held, pa.scalar(data), np.array(data, object)):
        assert parse_single_example(given, features)["a"] == 7
    for many in ([data], np.array([data], object), pa.array([data]), (data,), RecordBlock.of([data])):
        assert parse_example(many, features)["a"].tolist() == [7]
    assert parse_example(data, features)["a"].shape == ()


def test_what_is_no_record_is_refused():
    features = {"a": VarLenFeature("int64")}
    with pytest.raises(ArgumentTypeError, match="not a record"):
        parse_single_example("text", features)
    with pytest.raises(ArgumentTypeError, match="not a list of records"):
        parse_example({"a": 1}, features)
    with pytest.raises(ArgumentTypeError, match="drops trailing zero bytes"):
        parse_example(np.array([b"a"]), features)
    with pytest.raises(ExampleError):
        parse_single_example(b"\xff\xff", features)


def test_specs_are_needed():
    for nothing in ({}, None, []):
        with pytest.raises(ConfigurationError, match=r"^features="):
            parse_single_example(b"", nothing)


def test_results_can_be_written_to_and_are_no_one_elses():
    data = encode_example({"a": [1, 2], "f": [0.5]})
    features = {
        "a": FixedLenFeature([2], "int64"),
        "f": FixedLenFeature([1], "float32"),
        "d": FixedLenFeature([1], "int64", [7]),
    }
    for value in parse_single_example(data, features).values():
        value += 1
    again = parse_single_example(data, features)
    assert [value.tolist() for value in again.values()] == [[1, 2], [0.5], [7]]
    for rows in ExampleParser(features).parse_rows([data]).values():
        rows[0] += 1


def test_specs_that_change_in_their_dict_are_seen():
    data, features = encode_example({"a": [1, 2]}), {"a": FixedLenFeature([2], "int64")}
    assert parse_single_example(data, features)["a"].shape == (2,)
    features["a"] = FixedLenFeature([1, 2], "int64")
    assert parse_single_example(data, features)["a"].shape == (1, 2)


def test_parsers_of_many_specs_are_not_kept_for_ever():
    for number in range(200):
        assert parse_single_example(b"", {f"k{number}": VarLenFeature("int64")})
    assert len(parsing._parsers) <= 64


def test_errors_name_the_key_and_what_was_found():
    data = encode_example({"a": [1, 2]})
    with pytest.raises(ExampleError, match=r"'a' has 2 values, but shape \[3\] needs 3") as raised:
        parse_single_example(data, {"a": FixedLenFeature([3], "int64")})
    assert raised.value.key == "a"
    with pytest.raises(ExampleError, match="'a' has int64 values, but float32 is requested"):
        parse_single_example(data, {"a": VarLenFeature("float32")})
    with pytest.raises(ExampleError) as caught:
        parse_single_example(data, {"b": FixedLenFeature([3], "int64")})
    assert caught.value.key == "b"


# Parsing of SequenceExamples by specs, held to what TensorFlow gave for many records and specs.

RECORDS_SEQUENCE_PARSING = [base64.b64decode(record) for record in GOLDEN["sequences"]]
CASES_SEQUENCE_PARSING = [
    pytest.param(case, id=f"{case['place']}-{case['key']}-{case['spec']}".replace(" ", ""))
    for case in GOLDEN["sequence_examples"]
]


def asked(case, peer):
    return {f"{case['place']}_features": {case["key"]: peer.spec(case["spec"])}}


@pytest.mark.parametrize("case", CASES_SEQUENCE_PARSING)
def test_single_records_are_parsed_as_tensorflow_parses_them_sequence_parsing(case, peer):
    for number, record in enumerate(RECORDS_SEQUENCE_PARSING):
        found = peer.outcome(lambda record=record: parse_single_sequence_example(record, **asked(case, peer)))
        wanted = peer.expected(case["single"][number])
        if found == "refused" and "R.RowLengths" in case["spec"]:
            continue  # TensorFlow takes the rows of one step from the values of another
        assert found == wanted, number


@pytest.mark.parametrize("case", CASES_SEQUENCE_PARSING)
def test_batches_are_parsed_as_tensorflow_parses_them_sequence_parsing(case, peer):
    for rows, wanted in case["batches"]:
        records = [RECORDS_SEQUENCE_PARSING[row] for row in rows]
        found = peer.outcome(lambda records=records: parse_sequence_example(records, **asked(case, peer)))
        if found == "refused" and "R.RowLengths" in case["spec"]:
            continue
        assert found == peer.expected(wanted), rows


def test_a_parser_of_nothing_is_refused():
    with pytest.raises(ConfigurationError, match="Both context_features and sequence_features are empty"):
        parse_single_sequence_example(b"", None, {})


def test_context_and_lists_may_have_a_key_in_common():
    data = encode_sequence_example({"a": 1}, {"a": [2, 3]})
    context, lists = parse_single_sequence_example(
        data, {"a": FixedLenFeature([], "int64")}, {"a": FixedLenSequenceFeature([], "int64")}
    )
    assert (context["a"], lists["a"].tolist()) == (1, [2, 3])


def test_steps_without_values_of_a_shape_without_values_are_counted():
    data = encode_sequence_example({}, {"a": [np.zeros(0, np.int64)] * 3})
    parser = SequenceParser(None, {"a": FixedLenSequenceFeature([0], "int64")})
    assert parser.parse(data)[1]["a"].shape == (3, 0)
    assert parser.parse_batch([data, data])[1]["a"].shape == (2, 3, 0)


def test_errors_name_record_key_and_step():
    good = encode_sequence_example({}, {"a": [[1], [2]]})
    wrong = encode_sequence_example({}, {"a": [[1], [2, 3]]})
    parser = SequenceParser(None, {"a": FixedLenSequenceFeature([], "int64")})
    with pytest.raises(ExampleError, match=r"record 8: feature 'a' has 2 values, but shape \[\] needs 1 in step 1") as raised:
        parser.parse_batch(RecordBlock.of([good, wrong], first=7))
    assert raised.value.record == 8
    with pytest.raises(ExampleError, match=r"SequenceExample: feature 'a' has 2 values.* in step 1"):
        parser.parse(wrong)
    with pytest.raises(ExampleError, match="'a' has int64 values, but string is requested in step 0"):
        parse_single_sequence_example(good, None, {"a": VarLenFeature("string")})


def test_the_first_record_that_is_refused_is_named_whatever_is_asked_for():
    spec = FixedLenFeature([], "int64")
    parser = SequenceParser({"a": spec, "b": spec}, {"n": FixedLenSequenceFeature([], "int64")})
    block = [encode_sequence_example({"a": 1}, {"n": [1]}), encode_sequence_example({"b": 1}, {"n": [1]})]
    for parse in (parser.parse_batch, parser.parse_rows):
        with pytest.raises(ExampleError, match="SequenceExample: record 0: feature 'b'") as raised:
            parse(block)
        assert raised.value.record == 0

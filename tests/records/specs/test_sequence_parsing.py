"""Parsing of SequenceExamples by specs, held to what TensorFlow gave for many records and specs."""

import base64
import json
from pathlib import Path

import numpy as np
import pytest

from datasets_core.errors import ConfigurationError, ExampleError
from datasets_core.records.encoding import encode_sequence_example
from datasets_core.records.specs.parsing import SequenceParser, parse_sequence_example, parse_single_sequence_example
from datasets_core.records.specs.specs import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from datasets_core.records.wire.values import RecordBlock

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "parsing.json").read_text(encoding="utf-8"))
RECORDS = [base64.b64decode(record) for record in GOLDEN["sequences"]]
CASES = [
    pytest.param(case, id=f"{case['place']}-{case['key']}-{case['spec']}".replace(" ", ""))
    for case in GOLDEN["sequence_examples"]
]


def asked(case, peer):
    return {f"{case['place']}_features": {case["key"]: peer.spec(case["spec"])}}


@pytest.mark.parametrize("case", CASES)
def test_single_records_are_parsed_as_tensorflow_parses_them(case, peer):
    for number, record in enumerate(RECORDS):
        found = peer.outcome(lambda record=record: parse_single_sequence_example(record, **asked(case, peer)))
        wanted = peer.expected(case["single"][number])
        if found == "refused" and "R.RowLengths" in case["spec"]:
            continue  # TensorFlow takes the rows of one step from the values of another
        assert found == wanted, number


@pytest.mark.parametrize("case", CASES)
def test_batches_are_parsed_as_tensorflow_parses_them(case, peer):
    for rows, wanted in case["batches"]:
        records = [RECORDS[row] for row in rows]
        found = peer.outcome(lambda records=records: parse_sequence_example(records, **asked(case, peer)))
        if found == "refused" and "R.RowLengths" in case["spec"]:
            continue
        assert found == peer.expected(wanted), rows


def test_a_parser_of_nothing_is_refused():
    with pytest.raises(ConfigurationError, match="Neither context_features nor sequence_features asks"):
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
    with pytest.raises(ExampleError, match=r"record 8: feature 'a' has 2 values, and shape \[\] takes 1 in step 1") as raised:
        parser.parse_batch(RecordBlock.of([good, wrong], first=7))
    assert raised.value.record == 8
    with pytest.raises(ExampleError, match=r"SequenceExample: feature 'a' has 2 values.* in step 1"):
        parser.parse(wrong)
    with pytest.raises(ExampleError, match="'a' has int64 values, and string is asked for in step 0"):
        parse_single_sequence_example(good, None, {"a": VarLenFeature("string")})


def test_the_first_record_that_is_refused_is_named_whatever_is_asked_for():
    spec = FixedLenFeature([], "int64")
    parser = SequenceParser({"a": spec, "b": spec}, {"n": FixedLenSequenceFeature([], "int64")})
    block = [encode_sequence_example({"a": 1}, {"n": [1]}), encode_sequence_example({"b": 1}, {"n": [1]})]
    for parse in (parser.parse_batch, parser.parse_rows):
        with pytest.raises(ExampleError, match="SequenceExample: record 0: feature 'b'") as raised:
            parse(block)
        assert raised.value.record == 0

"""Feature lists of sequences by specs, in blocks and alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ExampleError
from datasets_core.records.encoding import encode_sequence_example
from datasets_core.records.specs.parsing import SequenceParser
from datasets_core.records.specs.specs import FixedLenSequenceFeature, RaggedFeature, VarLenFeature
from datasets_core.records.wire.messages import Feature

steps = st.lists(st.lists(st.integers(-9, 9), max_size=3).map(lambda values: Feature("int64", values)), max_size=4)


def rows_of(values):
    return [list(step.values) for step in values]


@given(table=st.lists(steps, max_size=5))
def test_steps_of_any_length_come_back(table):
    data = [encode_sequence_example({}, {"a": row}) for row in table]
    ragged = SequenceParser(None, {"a": RaggedFeature("int64")})
    assert [ragged.parse(record)[1]["a"].to_list() for record in data] == list(map(rows_of, table))
    assert ragged.parse_batch(data)[1]["a"].to_list() == list(map(rows_of, table))
    sparse = SequenceParser(None, {"a": VarLenFeature("int64")})
    for record, row in zip(data, table, strict=True):
        found = sparse.parse(record)[1]["a"]
        assert found.values.tolist() == [value for step in row for value in step.values]
        assert found.dense_shape.tolist() == [len(row), max((len(step.values) for step in row), default=0)]


def test_rows_in_steps_are_told_by_another_list():
    spec = RaggedFeature("int64", "v", [RaggedFeature.RowLengths("n")])
    data = encode_sequence_example({}, {"v": [[1, 2, 3], [4]], "n": [[1, 2], [1]]})
    parser = SequenceParser(None, {"r": spec})
    assert parser.parse(data)[1]["r"].to_list() == [[[1], [2, 3]], [[4]]]
    assert parser.parse_batch([data, data])[1]["r"].to_list() == [[[[1], [2, 3]], [[4]]]] * 2


def test_lists_of_one_feature_have_the_same_number_of_steps():
    spec = RaggedFeature("int64", "v", [RaggedFeature.RowLengths("n")])
    data = encode_sequence_example({}, {"v": [[1, 2, 3], [4]], "n": [[1, 2]]})
    with pytest.raises(ExampleError, match="'n' has another number of steps than 'v'"):
        SequenceParser(None, {"r": spec}).parse(data)


def test_a_missing_list_is_an_error_or_empty():
    strict, lenient = (SequenceParser(None, {"a": FixedLenSequenceFeature([2], "float32", given)}) for given in (False, True))
    with pytest.raises(ExampleError, match="'a' is missing"):
        strict.parse(b"")
    with pytest.raises(ExampleError, match="'a' is missing"):
        strict.parse_batch([b""])
    assert lenient.parse(b"")[1]["a"].shape == (0, 2)
    assert lenient.parse(b"")[1]["a"].dtype == np.float32
    values, lengths = lenient.parse_batch([b"", encode_sequence_example({}, {"a": [[1.0, 2.0]]})])[1:]
    assert values["a"].tolist() == [[[0, 0]], [[1, 2]]]
    assert lengths["a"].tolist() == [0, 1]

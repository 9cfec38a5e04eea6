"""The steps of feature lists, record by record: held to what the parser gives for each record by itself."""

import numpy as np
import pytest

from datasets_core.records.encoding import encode_sequence_example
from datasets_core.records.specs.parsing import SequenceParser
from datasets_core.records.specs.specs import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, VarLenFeature

LISTS = [{"n": [[1, 2], [3, 4]]}, {}, {"n": [[5, 6]]}, {"n": [[7, 8], [9, 10], [11, 12]]}]
RAGGED = [{"n": [[1], [2, 3]]}, {}, {"n": [[4, 5, 6]]}]


@pytest.mark.parametrize(
    ("spec", "lists"),
    [
        (FixedLenSequenceFeature([2], "int64", allow_missing=True), LISTS),
        (VarLenFeature("int64"), RAGGED),
        (RaggedFeature("int64"), RAGGED),
        (RaggedFeature("int64", partitions=[RaggedFeature.UniformRowLength(2)]), LISTS),
    ],
    ids=["fixed", "sparse", "ragged", "ragged-twice"],
)
def test_each_record_has_its_own(spec: object, lists: list[dict[str, list[list[int]]]]) -> None:
    parser = SequenceParser({"id": FixedLenFeature([], "int64")}, {"n": spec})
    data = [encode_sequence_example({"id": number}, steps) for number, steps in enumerate(lists)]
    context, found = parser.parse_rows(data)
    wanted = [parser.parse(record) for record in data]

    assert [int(number) for number in context["id"]] == list(range(len(data)))
    same = [one == own["n"] for one, (_, own) in zip(found["n"], wanted, strict=True)]
    assert all(np.all(equal) for equal in same)


def test_no_records_have_nothing() -> None:
    parser = SequenceParser(None, {"n": VarLenFeature("string")})
    assert parser.parse_rows([]) == ({}, {"n": []})

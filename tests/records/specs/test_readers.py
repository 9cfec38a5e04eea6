"""Rows of values that other keys tell, in blocks and alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ExampleError
from datasets_core.records.encoding import encode_example, encode_sequence_example
from datasets_core.records.specs.parsing import ExampleParser, SequenceParser, parse_example, parse_single_example
from datasets_core.records.specs.specs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from datasets_core.records.specs.values import SparseValue
from datasets_core.records.wire.messages import Feature

WAYS = {
    "RowLengths": lambda rows: [len(row) for row in rows],
    "RowSplits": lambda rows: [0, *np.cumsum([len(row) for row in rows]).tolist()],
    "RowStarts": lambda rows: [0, *np.cumsum([len(row) for row in rows]).tolist()][:-1],
    "RowLimits": lambda rows: np.cumsum([len(row) for row in rows]).tolist(),
    "ValueRowIds": lambda rows: [number for number, row in enumerate(rows) for _ in row],
}
tables = st.lists(st.lists(st.lists(st.integers(-9, 9), max_size=3), max_size=4), max_size=5)


def whole(rows, way):
    """Rows that the last empty ones of are left out where their way does not tell them."""
    while way == "ValueRowIds" and rows and not rows[-1]:
        rows = rows[:-1]
    return rows


def encoded(rows, way):
    flat = np.array([value for row in rows for value in row], np.int64)
    return encode_example({"v": flat, "p": np.array(WAYS[way](rows), np.int64)})


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=40)
@given(table=tables)
def test_rows_come_back_however_they_are_told(way, table):
    table = [whole(rows, way) for rows in table]
    data = [encoded(rows, way) for rows in table]
    for validate in (False, True):
        parser = ExampleParser({"r": RaggedFeature("int64", "v", [getattr(RaggedFeature, way)("p")], validate=validate)})
        assert [parser.parse(record)["r"].to_list() for record in data] == table
        assert [value.to_list() for value in parser.parse_rows(data)["r"]] == table
        assert parser.parse_batch(data)["r"].to_list() == table


WRONG = {
    "RowLengths": [[1, 1], [4], [-1, 4], []],
    "RowSplits": [[1, 3], [0, 2], [0, 4], [0, 2, 1, 3], []],
    "RowStarts": [[1], [0, 4], [0, 2, 1], []],
    "RowLimits": [[2], [4], [2, 1, 3], []],
    "ValueRowIds": [[0, 0], [0, 1, 0], [0, 0, 0, 0], [], [2, 1, 2]],
}


@pytest.mark.parametrize(("way", "told"), [(way, told) for way in WRONG for told in WRONG[way]], ids=str)
def test_rows_that_do_not_fit_are_refused_in_batches_and_where_that_is_asked_for(way, told):
    good = encoded([[1, 2], [3]], way)
    wrong = encode_example({"v": [1, 2, 3], "p": np.array(told, np.int64)})
    partition = getattr(RaggedFeature, way)("p")
    with pytest.raises(ExampleError, match="do not fit 3 values") as raised:
        parse_example([good, wrong, good], {"r": RaggedFeature("int64", "v", [partition])})
    assert raised.value.record == 1
    with pytest.raises(ExampleError, match="do not fit 3 values"):
        parse_single_example(wrong, {"r": RaggedFeature("int64", "v", [partition], validate=True)})


def test_uniform_rows_are_dimensions_or_rows():
    uniform = RaggedFeature.UniformRowLength
    data = [encode_example({"v": np.arange(6), "n": [1, 2]}), encode_example({"v": [7, 8], "n": [1]})]
    inner = parse_example(data, {"r": RaggedFeature("int64", "v", [RaggedFeature.RowLengths("n"), uniform(2)])})["r"]
    assert inner.to_list() == [[[[0, 1]], [[2, 3], [4, 5]]], [[[7, 8]]]]
    assert inner.values.shape == (4, 2)
    with pytest.raises(ExampleError, match=r"6 values, which cannot be divided into rows of 4"):
        parse_single_example(data[0], {"r": RaggedFeature("int64", "v", [uniform(4)])})


# The rules of specs in blocks: large ones, with defaults, of all types.

ints = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4)
floats = st.lists(st.floats(width=32, allow_nan=False), max_size=4)
strings = st.lists(st.binary(max_size=3), max_size=4)
features = st.fixed_dictionaries(
    {},
    optional={
        "i": ints.map(lambda values: Feature("int64", values)),
        "f": floats.map(lambda values: Feature("float", values)),
        "s": strings.map(lambda values: Feature("bytes", values)),
        "p": ints.map(lambda values: Feature("int64", values)),
    },
)
DEFAULTS = {"int64": [7, 8], "float32": [0.5, 1.5], "string": [b"x", b""]}


def same(one, other):
    if isinstance(one, SparseValue):
        return one == other
    return one.dtype == other.dtype and one.shape == other.shape and one.tolist() == other.tolist()


@pytest.mark.parametrize(("key", "dtype"), [("i", "int64"), ("f", "float32"), ("s", "string")])
@settings(max_examples=40)
@given(rows=st.lists(features, max_size=6))
def test_a_block_gives_what_its_records_give_alone(key, dtype, rows):
    for row in rows:
        if key in row and len(row[key].values) != 2:
            del row[key]
    data = [encode_example(row) for row in rows]
    parser = ExampleParser({key: FixedLenFeature([2], dtype, DEFAULTS[dtype])})
    many = parser.parse_rows(data)[key]
    assert len(many) == len(data)
    assert all(same(one, parser.parse(record)[key]) for one, record in zip(many, data, strict=True))


@settings(max_examples=40)
@given(rows=st.lists(features, max_size=6))
def test_lists_of_a_block_are_those_of_its_records(rows):
    data = [encode_example(row) for row in rows]
    specs = {"f": VarLenFeature("float32"), "s": FixedLenSequenceFeature([], "string", allow_missing=True)}
    parser = ExampleParser(specs)
    many = parser.parse_rows(data)
    for number, record in enumerate(data):
        alone = parser.parse(record)
        assert all(same(many[key][number], alone[key]) for key in specs)


@settings(max_examples=40)
@given(rows=st.lists(features, max_size=6), is_sorted=st.booleans())
def test_sparse_values_of_a_block_are_those_of_its_records(rows, is_sorted):
    for row in rows:
        short = min((len(row[key].values) if key in row else 0) for key in ("i", "p", "f"))
        for key in ("i", "p", "f"):
            if key in row:
                row[key] = Feature(row[key].kind, row[key].values[:short])
    data = [encode_example(row) for row in rows]
    parser = ExampleParser({"made": SparseFeature(["i", "p"], "f", "float32", [9, 9], already_sorted=is_sorted)})
    many = parser.parse_rows(data)["made"]
    assert many == [parser.parse(record)["made"] for record in data]
    if not is_sorted:
        assert all(sparse.indices.tolist() == sorted(sparse.indices.tolist()) for sparse in many)


def test_places_that_are_the_same_keep_the_order_of_their_values():
    data = encode_example({"ix": [1, 0, 1, 0], "v": [1.0, 2.0, 3.0, 4.0]})
    sparse = ExampleParser({"made": SparseFeature("ix", "v", "float32", 2)}).parse(data)["made"]
    assert sparse.values.tolist() == [2.0, 4.0, 1.0, 3.0]


def test_a_default_of_floats_may_be_beyond_what_a_float32_holds():
    parser = ExampleParser({"a": FixedLenFeature([], "float32", 1e300)})
    assert parser.parse(b"")["a"] == np.inf


# Feature lists of sequences by specs, in blocks and alone.

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
    with pytest.raises(ExampleError, match="'n' does not have as many steps as 'v'"):
        SequenceParser(None, {"r": spec}).parse(data)


def test_a_missing_list_is_an_error_or_empty():
    strict, lenient = (SequenceParser(None, {"a": FixedLenSequenceFeature([2], "float32", given)}) for given in (False, True))
    with pytest.raises(ExampleError) as caught:
        strict.parse(b"")
    assert caught.value.key == "a"
    with pytest.raises(ExampleError) as caught:
        strict.parse_batch([b""])
    assert (caught.value.row, caught.value.record, caught.value.key) == (0, 0, "a")
    assert lenient.parse(b"")[1]["a"].shape == (0, 2)
    assert lenient.parse(b"")[1]["a"].dtype == np.float32
    values, lengths = lenient.parse_batch([b"", encode_sequence_example({}, {"a": [[1.0, 2.0]]})])[1:]
    assert values["a"].tolist() == [[[0, 0]], [[1, 2]]]
    assert lengths["a"].tolist() == [0, 1]


# The steps of feature lists, record by record: held to what the parser gives for each record by itself.

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

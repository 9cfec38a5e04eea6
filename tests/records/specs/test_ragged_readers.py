"""Rows of values that other keys tell, in blocks and alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ExampleError
from datasets_core.records.encoding import encode_example
from datasets_core.records.specs.parsing import ExampleParser, parse_example, parse_single_example
from datasets_core.records.specs.specs import RaggedFeature

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
    with pytest.raises(ExampleError, match=r"6 values, which make no rows of 4"):
        parse_single_example(data[0], {"r": RaggedFeature("int64", "v", [uniform(4)])})

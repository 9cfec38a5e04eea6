"""Rows of many files as one: columns in one order, types that hold all values, misfits with file and row."""

import pyarrow as pa
import pytest

from datasets_core.errors import DatasetGenerationCastError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.sources.blocks import BlockFit
from tests.stream.memory_blocks import MemoryBlocks

FEATURES = Features({"a": Value("int32"), "b": Value("string")})


def rows_of(fit, table, first=0, name="second"):
    file = MemoryBlocks(name, [table])
    return list(fit.pieces(file, 0, fit.of(table.schema, name), first, None))


def batch(**columns):
    return pa.record_batch(columns)


def test_columns_come_in_the_order_of_the_features():
    fit = BlockFit(FEATURES, None, "data", is_fixed=False)
    (found,) = rows_of(fit, batch(b=["x"], a=pa.array([1], pa.int32())))
    assert found.to_pylist() == [{"a": 1, "b": "x"}] and found.schema.names == ["a", "b"]


def test_a_wider_type_of_a_later_file_is_that_of_its_rows():
    fit = BlockFit(FEATURES, None, "data", is_fixed=False)
    (wide,) = rows_of(fit, batch(a=[2**40], b=["x"]))
    (narrow,) = rows_of(fit, batch(a=pa.array([1], pa.int8()), b=["y"]))
    assert wide.schema.field("a").type == pa.int64() and narrow.schema.field("a").type == pa.int32()
    assert fit.features_of(wide.schema)["a"] == Value("int64") and fit.features_of(narrow.schema) is None
    both = fit.joined([narrow, wide])
    assert both["a"].to_pylist() == [1, 2**40] and fit.features_of(both.schema)["a"] == Value("int64")


def test_columns_that_the_first_rows_of_a_file_did_not_tell_are_in_those_that_have_them():
    fit = BlockFit(Features({"a": Value("int32"), "b": Value("null")}), None, "data", is_fixed=False)
    told = fit.of(pa.schema({"a": pa.int32(), "b": pa.null()}), "second")
    first, later = batch(a=pa.array([1], pa.int32()), b=pa.nulls(1)), batch(b=["x"], c=[2])
    (same,) = fit.pieces(MemoryBlocks("second", [first]), 0, told, 0, None)
    (more,) = fit.pieces(MemoryBlocks("second", [later]), 0, told, 0, None)
    assert same.to_pylist() == [{"a": 1, "b": None}] and fit.features_of(same.schema) is None
    assert more.to_pylist() == [{"a": None, "b": "x", "c": 2}] and fit.features_of(more.schema)["c"] == Value("int64")


@pytest.mark.parametrize("columns", [{"a": [1]}, {"a": [1], "b": ["x"], "c": [1]}, {"a": ["text"], "b": ["x"]}], ids=str)
def test_files_that_do_not_fit_are_named(columns):
    fit = BlockFit(FEATURES, None, "the data", is_fixed=False)
    with pytest.raises(DatasetGenerationCastError, match=r"second does not fit the data"):
        fit.of(batch(**columns).schema, "second")


def test_fixed_features_are_cast_to_and_missing_columns_are_null():
    fit = BlockFit(FEATURES, None, "data", is_fixed=True)
    (found,) = rows_of(fit, batch(a=["7"]))
    assert found.to_pylist() == [{"a": 7, "b": None}]


def test_a_value_that_does_not_fit_tells_its_row_in_the_file():
    fit = BlockFit(FEATURES, None, "data", is_fixed=True)
    with pytest.raises(DatasetGenerationCastError, match=r"second, row 101, column 'a'") as caught:
        rows_of(fit, batch(a=["7", "seven"]), first=100)
    assert caught.value.row == 101


def test_some_columns_only():
    fit = BlockFit(FEATURES, ["b"], "data", is_fixed=False)
    assert fit.of(batch(a=[1], b=["x"]).schema, "second").columns == ("b",)
    (found,) = rows_of(fit, batch(a=[1], b=["x"]))
    assert found.to_pylist() == [{"b": "x"}] and fit.empty().schema.names == ["b"]
    with pytest.raises(DatasetGenerationCastError):  # the columns that are not read must fit all the same
        fit.of(batch(b=["x"]).schema, "third")

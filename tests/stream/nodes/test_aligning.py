"""Rows of one stream in the form that several have together."""

from __future__ import annotations

import pyarrow as pa

from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import ArrowBlock, DictBlock, Kinds
from datasets_core.stream.nodes.columns import Aligned

_WANTED = Features({"a": Value("int64"), "b": {"x": Value("int64"), "y": Value("string")}})


def test_columns_and_fields_that_are_missing_are_none() -> None:
    found = Features({"b": {"x": Value("int64")}})
    block = ArrowBlock(pa.RecordBatch.from_pylist([{"b": {"x": 1}}], schema=found.arrow_schema), Kinds(found))

    aligned = Aligned(tuple(_WANTED), _WANTED).changed(block, None)

    assert aligned.rows() == [{"a": None, "b": {"x": 1, "y": None}}]


def test_rows_without_columns_count() -> None:
    empty = ArrowBlock(pa.RecordBatch.from_struct_array(pa.nulls(2, pa.struct([]))), Kinds(Features({})))

    assert len(Aligned(tuple(_WANTED), _WANTED).changed(empty, None).rows()) == 2


def test_columns_that_nobody_foresaw_come_behind() -> None:
    aligned = Aligned(("a", "b")).changed(DictBlock([{"c": 3, "b": 2}]), None)

    assert aligned.rows() == [{"a": None, "b": 2, "c": 3}]

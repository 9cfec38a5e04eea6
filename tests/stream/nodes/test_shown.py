"""Rows in formats: those of Arrow columns and those that a function made look alike."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.features.base import Value
from datasets_core.features.formats.formats import RowFormat
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import Block, BlockFormatter, DictBlock, Kinds, encoded, of_table

ROWS = [{"a": 1, "b": "x", "c": [1, 2], "d": 0.5}, {"a": 2, "b": "y", "c": [3, 4], "d": 1.5}]
FEATURES = Features({"a": Value("int64"), "b": Value("string"), "c": [Value("int64")], "d": Value("float64")})
DATASET = Dataset.from_list(ROWS, FEATURES)
KINDS = [
    None,
    "numpy",
    "arrow",
    *(pytest.param(name, marks=pytest.mark.optional(name)) for name in ("torch", "pandas", "polars")),
]


@pytest.fixture(params=["arrow", "dicts"])
def block(request: pytest.FixtureRequest) -> Block:
    return encoded(ROWS, Kinds(FEATURES)) if request.param == "arrow" else DictBlock(list(ROWS))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_shown_as_those_of_a_dataset(block: Block, kind: str | None) -> None:
    assert repr(BlockFormatter(RowFormat(kind)).rows(block)) == repr(list(DATASET.with_format(kind)))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "numpy"])
def test_batches_are_shown_as_those_of_a_dataset(block: Block, kind: str | None) -> None:
    assert repr(BlockFormatter(RowFormat(kind)).columns(block)) == repr(DATASET.with_format(kind)[:])


def test_batches_of_arrays_have_the_dtypes_of_a_dataset(block: Block) -> None:
    found, wanted = BlockFormatter(RowFormat("numpy")).columns(block), DATASET.with_format("numpy")[:]
    assert {name: array.tolist() for name, array in found.items()} == {name: array.tolist() for name, array in wanted.items()}
    assert [found[name].dtype for name in "acd"] == [wanted[name].dtype for name in "acd"]


def test_arguments_of_a_format_hold(block: Block) -> None:
    assert BlockFormatter(RowFormat("numpy", kwargs={"dtype": "int8"})).columns(block)["a"].dtype == np.int8


@pytest.mark.optional("torch")
def test_tensors_that_a_function_made_stay_tensors() -> None:
    import torch

    block = DictBlock([{"a": torch.ones(2)}, {"a": torch.zeros(2)}])
    assert torch.equal(BlockFormatter(RowFormat("torch")).columns(block)["a"], torch.tensor([[1.0, 1.0], [0.0, 0.0]]))
    assert BlockFormatter(RowFormat("torch")).rows(block)[0]["a"] is block.dicts[0]["a"]
    assert BlockFormatter(RowFormat("numpy")).rows(block)[0]["a"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("made", [pa.table({"a": [1, 2]}), pa.record_batch({"a": [1, 2]}), pa.table({"a": [1, 2]}).slice(0, 2)])
def test_a_table_is_rows(made: Any) -> None:
    found = of_table(made)
    assert found is not None and found.rows() == [{"a": 1}, {"a": 2}]


@pytest.mark.optional("pandas")
@pytest.mark.optional("polars")
def test_a_frame_is_rows() -> None:
    import pandas as pd
    import polars as pl

    for frame in (pd.DataFrame({"a": ["x"]}), pl.DataFrame({"a": ["x"]})):
        found = of_table(frame)
        assert found is not None and found.rows() == [{"a": "x"}]


def test_a_table_without_rows_is_no_rows() -> None:
    found = of_table(pa.table({"a": pa.array([], pa.int64())}))
    assert found is not None and found.rows() == []
    assert of_table(3) is None

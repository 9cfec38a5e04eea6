"""Blocks of rows: Arrow columns and dicts do the same."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.features.base import Value
from datasets_core.features.formats.formats import RowFormat
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import ArrowBlock, Block, BlockFormatter, DictBlock, Kinds, encoded, joined, of_table

ROWS = [{"a": i, "b": [i] * (i % 3)} for i in range(6)]
KINDS = Kinds(Features({"a": Value("int64"), "b": [Value("int64")]}))


@pytest.fixture(params=["arrow", "dicts"])
def block(request: pytest.FixtureRequest) -> Block:
    return encoded(ROWS, KINDS) if request.param == "arrow" else DictBlock(list(ROWS))


def test_a_block_gives_its_rows(block: Block) -> None:
    assert (block.num_rows, block.names, block.rows()) == (6, ["a", "b"], ROWS)
    assert block.columns() == {"a": [row["a"] for row in ROWS], "b": [row["b"] for row in ROWS]}


def test_rows_are_dicts_of_their_own(block: Block) -> None:
    block.rows()[0]["a"] = 7
    assert block.rows() == ROWS


@pytest.mark.parametrize("rows", [[], [2], [0, 1, 2, 3, 4, 5], [5, 0, 0, 3], [1, 2, 4]])
def test_rows_are_taken_by_number(block: Block, rows: list[int]) -> None:
    assert block.take(rows).rows() == [ROWS[row] for row in rows]
    assert block.slice(1, 3).rows() == ROWS[1:3]


def test_neighbours_are_put_together(block: Block) -> None:
    found = block.slice(1, 6).grouped(np.array([2, 3]))
    assert found.rows() == [{"a": [1, 2], "b": [[1], [2, 2]]}, {"a": [3, 4, 5], "b": [[], [4], [5, 5]]}]


def test_blocks_are_joined(block: Block) -> None:
    assert joined([block.slice(0, 2), block.slice(2, 6)]).rows() == ROWS
    assert joined([block.slice(0, 2), DictBlock([{"c": 1}])]).rows() == [*ROWS[:2], {"c": 1}]


def test_arrow_blocks_stay_arrow() -> None:
    block = encoded(ROWS, KINDS)
    assert isinstance(joined([block.slice(0, 1), block.take([3])]), ArrowBlock)
    assert block.take(range(6)) is block
    assert isinstance(block.slice(0, 3).batch, pa.RecordBatch)


# Rows in formats: those of Arrow columns and those that a function made look alike.

ROWS_SHOWN = [{"a": 1, "b": "x", "c": [1, 2], "d": 0.5}, {"a": 2, "b": "y", "c": [3, 4], "d": 1.5}]
FEATURES = Features({"a": Value("int64"), "b": Value("string"), "c": [Value("int64")], "d": Value("float64")})
DATASET = Dataset.from_list(ROWS_SHOWN, FEATURES)
KINDS_SHOWN = [
    None,
    "numpy",
    "arrow",
    *(pytest.param(name, marks=pytest.mark.optional(name)) for name in ("torch", "pandas", "polars")),
]


@pytest.fixture(params=["arrow", "dicts"])
def block_shown(request: pytest.FixtureRequest) -> Block:
    return encoded(ROWS_SHOWN, Kinds(FEATURES)) if request.param == "arrow" else DictBlock(list(ROWS_SHOWN))


@pytest.mark.parametrize("kind", KINDS_SHOWN)
def test_rows_are_shown_as_those_of_a_dataset(block_shown: Block, kind: str | None) -> None:
    assert repr(BlockFormatter(RowFormat(kind)).rows(block_shown)) == repr(list(DATASET.with_format(kind)))


@pytest.mark.parametrize("kind", [kind for kind in KINDS_SHOWN if kind != "numpy"])
def test_batches_are_shown_as_those_of_a_dataset(block_shown: Block, kind: str | None) -> None:
    assert repr(BlockFormatter(RowFormat(kind)).columns(block_shown)) == repr(DATASET.with_format(kind)[:])


def test_batches_of_arrays_have_the_dtypes_of_a_dataset(block_shown: Block) -> None:
    found, wanted = BlockFormatter(RowFormat("numpy")).columns(block_shown), DATASET.with_format("numpy")[:]
    assert {name: array.tolist() for name, array in found.items()} == {name: array.tolist() for name, array in wanted.items()}
    assert [found[name].dtype for name in "acd"] == [wanted[name].dtype for name in "acd"]


def test_arguments_of_a_format_hold(block_shown: Block) -> None:
    assert BlockFormatter(RowFormat("numpy", kwargs={"dtype": "int8"})).columns(block_shown)["a"].dtype == np.int8


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

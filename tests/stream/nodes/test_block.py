"""Blocks of rows: Arrow columns and dicts do the same."""

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import ArrowBlock, Block, DictBlock, Kinds, encoded, joined

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

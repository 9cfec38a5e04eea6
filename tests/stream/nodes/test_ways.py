"""Where rows stand, in part too; and that more of them are read at once only where they can be had."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import ArrowBlock, Block, Kinds
from datasets_core.stream.nodes.positions import NextPositions, Positions, WidePositions
from datasets_core.stream.order.layers import Grouped

KINDS = Kinds(Features({"a": Value("int64")}))


def _located(start: int, count: int) -> NextPositions:
    return NextPositions(start, Positions(np.arange(start, start + count), np.arange(start, start + count) * 10, 0, []))


def _reading(broken: int = 1 << 40) -> tuple[Callable[[Positions], Block], list[int]]:
    counts: list[int] = []

    def read(positions: Positions) -> Block:
        counts.append(len(positions.places))
        if (positions.places >= broken).any():
            raise ConfigurationError("broken")
        return ArrowBlock(pa.record_batch({"a": positions.places}), KINDS)

    return read, counts


def test_a_part_of_lists_has_their_rows() -> None:
    lists = Grouped(10, 4, False)
    positions = Positions(np.arange(3), np.arange(10), np.arange(10), [(lists, np.arange(3))])
    found = positions.part(1, 3)
    assert found.numbers.tolist() == found.above[0][1].tolist() == [1, 2]
    assert found.places.tolist() == list(found.turns) == [4, 5, 6, 7, 8, 9]  # type: ignore[arg-type]
    assert positions.part(0, 3) is positions


def test_rows_are_read_once_and_many_at_a_time() -> None:
    read, counts = _reading()
    wide, located = WidePositions(read), _located(100, 50)
    for start in range(100, 150, 5):
        block = wide.read(located, start, located.part(start, start + 5), 4 * (start - 100))
        assert [row["a"] for row in block.rows()] == [place * 10 for place in range(start, start + 5)]
    assert counts == [5, 20, 25]
    other = _located(150, 10)
    assert wide.read(other, 150, other.part(0 + 150, 152), 0).rows() == [{"a": 1500}, {"a": 1510}]


def test_rows_that_cannot_be_had_spoil_none_before_them() -> None:
    read, counts = _reading(broken=1300)
    wide, located = WidePositions(read), _located(100, 50)
    for start in range(100, 130, 10):
        assert wide.read(located, start, located.part(start, start + 10), 100).num_rows == 10
    assert counts == [50, 10, 40, 10, 30, 10]
    with pytest.raises(ConfigurationError):
        wide.read(located, 130, located.part(130, 140), 100)


def test_large_rows_are_read_few_at_a_time() -> None:
    counts: list[int] = []

    def read(positions: Positions) -> Block:
        counts.append(len(positions.places))
        return ArrowBlock(pa.record_batch({"a": [["x" * (1 << 20)]] * len(positions.places)}), KINDS)

    wide, located = WidePositions(read), _located(0, 100)
    wide.read(located, 0, located.part(0, 2), 0)
    wide.read(located, 2, located.part(2, 4), 100)
    assert counts == [2, 6]

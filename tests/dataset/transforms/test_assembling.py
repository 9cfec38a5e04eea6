"""Small results put together: in their order, and apart where their columns differ."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.transforms import mapper
from datasets_core.dataset.transforms.mapper import Assembler, Draft
from datasets_core.dataset.transforms.values import Inputs
from datasets_core.errors import CastError


def assembled(rows: Dataset, types: list[Any], size: int = 2) -> list[Any]:
    """Batches of a kept column and one of the number of the batch, of these types."""
    read = Inputs(rows)
    assembler = Assembler(read)
    made: list[Any] = []
    for number, (block, kind) in enumerate(zip(read.batches(0, rows.num_rows, size), types, strict=True)):
        column = pa.array([number] * block.num_rows).cast(kind)
        made += assembler.add(Draft(block, ["a", "n"], [None, column], [None, None], True))
    return [*made, *assembler.flush()]


@pytest.mark.parametrize("order", [range(6), [5, 4, 3, 2, 1, 0]])
def test_equal_columns_become_one_batch(order: Any) -> None:
    rows = Dataset.from_dict({"a": list(range(6))}).select(order)

    (made,) = assembled(rows, [pa.int64()] * 3)

    assert made.batch().to_pydict() == {"a": rows["a"][:], "n": [0, 0, 1, 1, 2, 2]}
    assert made.batch({"a"}).to_pydict() == {"n": [0, 0, 1, 1, 2, 2]}
    assert (made.kinds, made.has_update, made.num_rows) == ({}, True, 6)
    assert made.kept == ({"a"} if order == range(6) else set())


def test_another_type_begins_another_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = Dataset.from_dict({"a": list(range(6))})

    assert [each.length for each in assembled(rows, [pa.int64(), pa.int8(), pa.int8()])] == [2, 4]
    monkeypatch.setattr(mapper, "_MOST_ROWS", 2)
    assert [each.length for each in assembled(rows, [pa.int64()] * 3)] == [2, 2, 2]


def test_columns_of_different_lengths_are_refused() -> None:
    block = Inputs(Dataset.from_dict({"a": [1, 2]})).block(0, 2)

    with pytest.raises(CastError, match=r"'a': 2, 'n': 1"):
        Draft(block, ["a", "n"], [None, pa.array([1])], [None, None], True).length()


def test_rows_without_columns_are_counted() -> None:
    read = Inputs(Dataset.from_dict({"a": [1, 2]}))
    assembler = Assembler(read)
    assembler.add(Draft(read.block(0, 2), [], [], [], True))

    (made,) = assembler.flush()

    assert made.batch().num_rows == made.length == 2


def test_a_very_large_block_becomes_several_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapper, "_MOST_ROWS", 2)
    rows = Dataset.from_dict({"a": list(range(5))})

    made = assembled(rows, [pa.int64()], size=5)

    assert [each.batch().to_pydict() for each in made] == [
        {"a": [0, 1], "n": [0, 0]},
        {"a": [2, 3], "n": [0, 0]},
        {"a": [4], "n": [0]},
    ]

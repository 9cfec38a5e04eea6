"""Rows put together: every row once, in order, in lists as long as was asked for."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import datasets_core.dataset.transforms.map as batching
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.transforms.map import even_starts, run_starts
from datasets_core.features.base import Value
from datasets_core.features.schema import Features


@given(st.integers(0, 50), st.integers(1, 9), st.booleans())
def test_even_lists_cover_the_rows(rows: int, size: int, drop_last: bool) -> None:
    starts = even_starts(rows, size, drop_last).tolist()
    lengths = [stop - start for start, stop in itertools.pairwise(starts)]

    assert all(length == size for length in lengths[:-1])
    assert sum(lengths) == (rows // size * size if drop_last else rows)


@given(st.lists(st.sampled_from([None, 0, 1]), max_size=30))
def test_runs_are_those_of_groupby(values: list[Any]) -> None:
    rows = Dataset.from_dict(
        {"a": values, "b": range(len(values))}, features=Features({"a": Value("int8"), "b": Value("int64")})
    )

    found = rows.batch(by_column="a")

    assert found["a"][:] == [list(group) for _, group in itertools.groupby(values)]
    assert [number for numbers in found["b"][:] for number in numbers] == list(range(len(values)))


@pytest.mark.parametrize("values", [["x", "x", "y"], [[1], [1], [2]], [{"k": 1}, {"k": 1}, {"k": 2}], [1.0, 1.0, float("nan")]])
def test_values_of_any_kind_are_compared(values: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "_BLOCK_ROWS", 1)
    rows = Dataset.from_dict({"a": values})

    assert run_starts(rows, ["a"]).tolist() == [0, 2, 3]

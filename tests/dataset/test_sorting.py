"""Sorting gives the order that Python gives, in memory and by runs on the disk."""

from __future__ import annotations

import datetime as dt
import errno
import os
from functools import cmp_to_key
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.dataset import relational
from datasets_core.dataset.relational import SortKeys, sorted_rows
from datasets_core.errors import ConfigurationError, DatasetDiskError
from datasets_core.store.table import RowTable

_KINDS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), st.integers(-2, 2)),
    (pa.string(), st.text("ab", max_size=2)),
    (pa.bool_(), st.booleans()),
    (pa.float64(), st.sampled_from([-1.5, 0.0, 2.0])),
    (pa.dictionary(pa.int8(), pa.string()), st.sampled_from("xyz")),
    (pa.date32(), st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 3))),
]


def _as_python(rows: list[tuple[Any, ...]], keys: SortKeys) -> list[int]:
    def compare(one: int, other: int) -> int:
        for mine, theirs, is_down in zip(rows[one], rows[other], keys.descending, strict=True):
            if mine == theirs:
                continue
            if mine is None or theirs is None:
                return -1 if (mine is None) == keys.nulls_first else 1
            return (-1 if mine < theirs else 1) * (-1 if is_down else 1)
        return 0

    return sorted(range(len(rows)), key=cmp_to_key(compare))


@st.composite
def _cases(draw: st.DrawFn) -> tuple[pa.Table, SortKeys]:
    kinds = draw(st.lists(st.sampled_from(_KINDS), min_size=1, max_size=3))
    size = draw(st.integers(0, 40))
    columns = {
        f"c{k}": pa.array(draw(st.lists(st.none() | values, min_size=size, max_size=size)), kind)
        for k, (kind, values) in enumerate(kinds)
    }
    descending = tuple(draw(st.booleans()) for _ in kinds)
    batches = pa.table(columns).to_batches(max_chunksize=draw(st.integers(1, 9)))
    table = pa.Table.from_batches(batches, pa.table(columns).schema)
    return table, SortKeys(tuple(columns), descending, draw(st.booleans()))


@given(_cases())
def test_rows_come_in_the_order_of_python(case: tuple[pa.Table, SortKeys]) -> None:
    table, keys = case

    found = sorted_rows(RowTable.from_table(table), None, keys)

    assert found.tolist() == _as_python([tuple(row.values()) for row in table.to_pylist()], keys)


@pytest.fixture(scope="module")
def small_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for runs of eight rows."""
    return tmp_path_factory.mktemp("runs")


@given(_cases(), st.integers(1, 9))
def test_runs_on_the_disk_give_the_same_order(small_runs: Path, case: tuple[pa.Table, SortKeys], least: int) -> None:
    table, keys = case
    rows = RowTable.from_table(table)
    with config.using(sort_bytes=1, cache_dir=str(small_runs)), pytest.MonkeyPatch.context() as patch:
        patch.setattr(relational, "_LEAST_ROWS", least)
        found = sorted_rows(rows, None, keys)

    assert found.tolist() == sorted_rows(rows, None, keys).tolist()
    assert list(small_runs.iterdir()) == []


@pytest.mark.parametrize("values", [np.arange(20_000), np.arange(20_000)[::-1], np.zeros(20_000, int), np.arange(20_000) % 7])
def test_long_runs_merge_in_blocks(small_runs: Path, values: Any) -> None:
    table = RowTable.from_table(pa.table({"v": np.ascontiguousarray(values)}))
    with config.using(sort_bytes=1 << 15, cache_dir=str(small_runs)):
        found = sorted_rows(table, None, SortKeys(("v",), (False,), False))

    assert found.tolist() == np.argsort(values, kind="stable").tolist()


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system reserves no place on the disk")
def test_a_full_disk_is_told_before_numbers_are_written_by_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int, start: int, size: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    table = RowTable.from_table(pa.table({"v": np.zeros(20_000, np.int8)}))
    monkeypatch.setattr(os, "posix_fallocate", full)
    with config.using(sort_bytes=1 << 12, cache_dir=str(tmp_path)), pytest.raises(DatasetDiskError, match="No space left"):
        sorted_rows(table, None, SortKeys(("v",), (False,), False))
    assert list(tmp_path.iterdir()) == []


def test_nan_stands_between_values_and_nulls(small_runs: Path) -> None:
    table = RowTable.from_table(pa.table({"v": pa.array([float("nan"), 1.0, None, float("nan"), -1.0] * 900)}))
    keys = SortKeys(("v",), (True,), False)
    with config.using(sort_bytes=1 << 12, cache_dir=str(small_runs)):
        found = sorted_rows(table, None, keys)

    assert found.tolist() == sorted_rows(table, None, keys).tolist()
    assert found[:900].tolist() == list(range(1, 4500, 5))
    assert found[-900:].tolist() == list(range(2, 4500, 5))


def test_rows_of_an_index_are_numbered_by_the_index() -> None:
    table = RowTable.from_table(pa.table({"v": [5, 3, 4, 3]}))

    assert sorted_rows(table, np.array([3, 0, 1]), SortKeys(("v",), (False,), False)).tolist() == [0, 2, 1]


def test_values_without_order_are_named() -> None:
    table = RowTable.from_table(pa.table({"v": [[1], [2]]}))

    with pytest.raises(ConfigurationError, match=r"Column 'v' is .*, which cannot be sorted"):
        sorted_rows(table, None, SortKeys(("v",), (False,), False))

"""Any chain of operations on a dataset gives what the same operations give on a list of rows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.dataset.combine import concatenate_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.store.writer import ShardWriter

Rows = list[dict[str, Any]]

FEATURES = Features({"n": Value("int64"), "text": Value("string"), "items": List(Value("int32"))})
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "n": st.one_of(st.none(), st.integers(-5, 5)),
            "text": st.one_of(st.none(), st.text("ab", max_size=2)),
            "items": st.one_of(st.none(), st.lists(st.integers(0, 3), max_size=2)),
        }
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp())
    yield made
    shutil.rmtree(made)


def _stored(rows: Rows, folder: Path, batch_rows: int) -> Dataset:
    """The rows in mapped files of small batches."""
    place = Path(tempfile.mkdtemp(dir=folder))
    with ShardWriter(str(place), "rows", split="train", schema=FEATURES.arrow_schema, batch_rows=batch_rows) as writer:
        writer.write(Dataset.from_list(rows, features=FEATURES).data.table)
    parts = [Dataset.from_file(place / record.name) for record in writer.close()]
    return concatenate_datasets(parts)


def _plus_one(row: dict[str, Any]) -> dict[str, Any]:
    return {"n": None if row["n"] is None else row["n"] + 1}


def _is_kept(row: dict[str, Any]) -> bool:
    return row["n"] is None or row["n"] % 2 == 0


def _doubled(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: [value for value in values for _ in range(2)] for name, values in batch.items()}


def _sorted(rows: Rows, is_reverse: bool) -> Rows:
    known = sorted((row for row in rows if row["n"] is not None), key=lambda row: row["n"], reverse=is_reverse)
    return known + [row for row in rows if row["n"] is None]


def _permuted(rows: Rows, seed: int) -> Rows:
    return [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]


def _step(number: int, argument: int) -> tuple[Callable[[Dataset], Dataset], Callable[[Rows], Rows]]:
    """One operation, on a dataset and on a list."""
    chosen = lambda size: [(argument * 7 + 3 * i) % size for i in range(argument % 5)] if size else []  # noqa: E731
    steps: list[tuple[Callable[[Dataset], Dataset], Callable[[Rows], Rows]]] = [
        (lambda ds: ds.select(chosen(len(ds))), lambda rows: [rows[i] for i in chosen(len(rows))]),
        (lambda ds: ds.select(range(len(ds) // 2)), lambda rows: rows[: len(rows) // 2]),
        (lambda ds: ds.shuffle(seed=argument), lambda rows: _permuted(rows, argument)),
        (lambda ds: ds.sort("n"), lambda rows: _sorted(rows, False)),
        (lambda ds: ds.sort("n", reverse=True), lambda rows: _sorted(rows, True)),
        (lambda ds: ds.filter(_is_kept), lambda rows: [row for row in rows if _is_kept(row)]),
        (lambda ds: ds.map(_plus_one), lambda rows: [{**row, **_plus_one(row)} for row in rows]),
        (
            lambda ds: ds.map(_doubled, batched=True, batch_size=1 + argument % 4),
            lambda rows: [row for row in rows for _ in range(2)],
        ),
        (lambda ds: concatenate_datasets([ds, ds.take(2)]), lambda rows: rows + rows[:2]),
        (lambda ds: ds.flatten_indices(), lambda rows: rows),
        (lambda ds: ds.skip(1), lambda rows: rows[1:]),
        (lambda ds: ds.repeat(argument % 3), lambda rows: rows * (argument % 3)),
        (lambda ds: ds.shard(3, argument % 3, contiguous=False), lambda rows: rows[argument % 3 :: 3]),
    ]
    return steps[number % len(steps)]


@settings(max_examples=60, deadline=None)
@given(
    rows=ROWS,
    chain=st.lists(st.tuples(st.integers(0, 12), st.integers(0, 30)), max_size=6),
    batch_rows=st.integers(0, 4),
)
def test_a_chain_of_operations_is_the_chain_on_lists(
    rows: Rows, chain: list[tuple[int, int]], batch_rows: int, folder: Path
) -> None:
    with config.using(cache_dir=str(folder / "cache")):
        dataset = _stored(rows, folder, batch_rows) if batch_rows else Dataset.from_list(rows, features=FEATURES)
        for number, argument in chain:
            on_dataset, on_list = _step(number, argument)
            dataset, rows = on_dataset(dataset), on_list(rows)
        assert dataset.features == FEATURES
        assert dataset.num_rows == len(rows)
        assert list(dataset) == rows
        assert dataset[:] == {name: [row[name] for row in rows] for name in FEATURES}
        assert [dataset[i] for i in range(len(rows))] == rows
        assert dataset.with_format("arrow")[:].to_pylist() == rows

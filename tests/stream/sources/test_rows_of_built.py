"""Built rows with the structure of the files that they came from."""

from __future__ import annotations

import pickle

import numpy as np
import pyarrow as pa

from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.pieces import FileStructure, Span, stored_blocks, stored_names
from datasets_core.store.table import RowTable
from datasets_core.stream.sources.tables import RowsOfBuilt


def built(rows: list[int], *, is_indexed: bool, names: str = "") -> RowsOfBuilt:
    count = sum(rows)
    table = RowTable.from_batches([pa.record_batch({"a": pa.array(range(count), pa.int64())})])
    blocks = RowBlocks.of(rows, files=np.arange(len(rows)), is_indexed=is_indexed, file_count=len(rows))
    table.structure = FileStructure((Span(stored_blocks(blocks), 0, count, names),))
    return RowsOfBuilt(table, None, Features.from_arrow_schema(table.schema), MediaPaths(None), str)


def values(rows: RowsOfBuilt) -> list[list[int]]:
    jobs = rows.as_jobs()
    assert jobs is not None
    return [[each for batch in job.batches(0, in_order=False) for each in batch["a"].to_pylist()] for job in jobs.jobs]


def test_each_file_is_a_job_that_knows_its_rows_and_skips_without_reading() -> None:
    rows = built([3, 0, 2], is_indexed=False)
    assert values(rows) == [[0, 1, 2], [], [3, 4]]
    jobs = rows.as_jobs()
    assert jobs is not None and [job.num_rows() for job in jobs.jobs] == [3, 0, 2]  # type: ignore[attr-defined]
    assert [batch["a"].to_pylist() for batch in jobs.jobs[0].batches(2, in_order=True)] == [[2]]
    assert list(jobs.jobs[0].batches(9, in_order=True)) == []


def test_blocks_that_are_indexed_are_no_jobs() -> None:
    rows = built([3, 2], is_indexed=True)
    assert rows.as_jobs() is None and rows.blocks is not None and rows.blocks.rows.tolist() == [3, 2]


def test_the_structure_goes_along() -> None:
    rows = built([3, 0, 2], is_indexed=False)
    again = pickle.loads(pickle.dumps(rows))
    assert values(again) == values(rows)


def test_rows_by_an_index_have_none() -> None:
    rows = built([3, 2], is_indexed=True)
    chosen = RowsOfBuilt(rows.table, np.array([4, 0]), rows.features, rows.paths, str)
    assert chosen.blocks is None and chosen.as_jobs() is None


def test_rows_know_their_files_by_place_and_as_jobs() -> None:
    rows = built([3, 0, 2], is_indexed=False, names=stored_names(["a/0.csv", "a/1.csv", "b/0.csv"]))
    found = rows.origins(np.array([4, 0, 2]))
    assert found is not None
    assert ([found.names[file] for file in found.files], found.rows.tolist()) == (["b/0.csv", "a/0.csv", "a/0.csv"], [1, 0, 2])
    jobs = pickle.loads(pickle.dumps(rows.as_jobs()))
    assert [job.origin for job in jobs.jobs] == [("a/0.csv", 0), ("a/1.csv", 0), ("b/0.csv", 0)]
    assert list(jobs.file_names()) == ["a/0.csv", "a/1.csv", "b/0.csv"]


def test_rows_of_files_that_nobody_named_are_numbered_by_their_places() -> None:
    rows = built([3, 2], is_indexed=False)
    jobs = rows.as_jobs()
    assert rows.origins(np.array([0])) is None
    assert jobs is not None and [job.origin for job in jobs.jobs] == [("", 0), ("", 3)]  # type: ignore[attr-defined]

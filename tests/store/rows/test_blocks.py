"""Blocks hold the rows that an index names, in order, bounded; without an index they are the pages themselves."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.store.rows.view import blocks, joined_blocks, stream
from datasets_core.store.table import RowTable


def table_of(lengths: list[int]) -> tuple[RowTable, list[int]]:
    values = list(range(sum(lengths)))
    ends = np.cumsum([0, *lengths])
    batches = [pa.record_batch({"a": pa.array(values[a:b], pa.int64())}) for a, b in itertools.pairwise(ends)]
    return RowTable.from_batches(batches, pa.schema({"a": pa.int64()})), values


@pytest.mark.parametrize("cut", [blocks, joined_blocks])
@given(lengths=st.lists(st.integers(0, 9), max_size=6), data=st.data())
def test_blocks_hold_the_rows_that_the_index_names(cut, lengths, data) -> None:
    table, values = table_of(lengths)
    index = data.draw(st.none() | (st.lists(st.integers(0, len(values) - 1), max_size=20) if values else st.just([])))

    found = [
        row
        for block in cut(table, None if index is None else np.array(index, dtype=np.int64))
        for row in block["a"].to_pylist()
    ]

    assert found == (values if index is None else [values[i] for i in index])


def test_small_batches_are_joined_for_computing() -> None:
    table, _ = table_of([10] * 100)

    assert [block.num_rows for block in joined_blocks(table, None)] == [1000]


def test_large_batches_are_divided_for_computing() -> None:
    table, _ = table_of([200_000])

    assert max(block.num_rows for block in joined_blocks(table, None)) <= 1 << 16


def test_a_stream_without_an_index_copies_nothing() -> None:
    table, _ = table_of([50_000, 50_000])
    before = pa.total_allocated_bytes()

    addresses = [batch["a"].buffers()[1].address for batch in stream(table, None, table.schema)]

    assert addresses == [table.piece(k)["a"].buffers()[1].address for k in range(2)]
    assert pa.total_allocated_bytes() == before


def test_a_stream_with_an_index_holds_one_gather_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets_core.store.table._GATHERED_BYTES", 1 << 20)
    rows = 400_000
    wide = pa.record_batch({"a": pa.array(np.zeros(rows * 16)).cast(pa.float64()).slice(0, rows), "b": np.zeros(rows)})
    table = RowTable.from_batches([wide.slice(start, 10_000) for start in range(0, rows, 10_000)])
    index = np.random.default_rng(0).permutation(rows)
    before, most, seen = pa.total_allocated_bytes(), 0, 0

    for batch in stream(table, index, table.schema):
        seen += batch.num_rows
        most = max(most, pa.total_allocated_bytes() - before)

    assert seen == rows
    assert most < 5 << 20  # of 6.4 MB in all


def test_rows_without_columns_are_counted() -> None:
    table = RowTable.from_batches([pa.RecordBatch.from_struct_array(pa.array([{}] * 3, pa.struct([])))])

    assert sum(batch.num_rows for batch in stream(table, None, table.schema)) == 3

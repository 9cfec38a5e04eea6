"""Reading ahead and gathering stay within bounds, whatever the rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.features.formats.python import RowReader
from datasets_core.store.rows import view
from datasets_core.store.rows.view import RowView
from datasets_core.store.table import RowTable


def _view(table: pa.Table, index: list[int] | None = None) -> RowView:
    rows = RowTable.from_table(table)
    return RowView(rows, None if index is None else np.array(index, dtype=np.int64), RowReader(table.schema))


def test_the_first_block_is_small_and_the_others_are_large() -> None:
    sizes = [stop - start for start, stop in _view(pa.table({"a": list(range(5000))})).borders(0, 5000)]

    assert sizes[:4] == [16, 64, 256, 1000]
    assert sum(sizes) == 5000


def test_large_rows_make_small_blocks() -> None:
    table = pa.table({"a": [bytes(1 << 18)] * 20})

    assert max(stop - start for start, stop in _view(table).borders(0, 20)) == 3


@pytest.mark.parametrize("rows", [[3], [4, 0, 4], list(range(40)) * 8, list(range(39, -1, -1)), []])
@pytest.mark.parametrize("kind", [pa.string(), pa.string_view(), pa.decimal128(5, 1), pa.list_(pa.string_view())])
def test_every_way_to_gather_gives_the_same_rows(rows: list[int], kind: pa.DataType) -> None:
    values = [None if i % 7 == 3 else [str(i)] if pa.types.is_list(kind) else str(i) for i in range(40)]
    column = pa.array(values, kind if pa.types.is_list(kind) else pa.string()).cast(kind)
    table = pa.Table.from_batches(pa.table({"a": column}).to_batches(max_chunksize=11))
    listed = table.to_pylist()
    wanted = [listed[i] for i in rows]
    numbers = np.array(rows, dtype=np.int64)

    for read in (_view(table), _view(pa.concat_tables([table, table]), list(range(40)))):
        assert read.rows_at(numbers) == wanted
        assert read.columns_at(numbers)["a"] == [row["a"] for row in wanted]
        assert read.table_at(numbers).to_pylist() == wanted


def test_no_more_pieces_stay_open_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view, "_MOST_PIECES", 3)
    table = pa.Table.from_batches(pa.table({"a": list(range(50))}).to_batches(max_chunksize=2))
    read = _view(table)

    assert [read.row(i)["a"] for i in range(50)] == list(range(50))
    assert read.columns_at(np.array([1, 40, 3]))["a"] == [1, 40, 3]
    assert len(read._openers) <= 4


def test_decoded_pieces_do_not_pile_up(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": list(range(100))}), tmp_path / "a.parquet", row_group_size=2)
    dataset = Dataset.from_file(tmp_path / "a.parquet")

    assert [dataset[i]["a"] for i in range(100)] == list(range(100))
    assert len(dataset._view()._openers) <= view._MOST_DECODED

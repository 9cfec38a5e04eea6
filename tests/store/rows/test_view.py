"""Reading ahead and gathering stay within bounds, whatever the rows."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError, MediaDecodeError
from datasets_core.features.base import List, Value
from datasets_core.features.formats.python import RowReader
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D
from datasets_core.store.rows import view
from datasets_core.store.rows.view import RowView, blocks, joined_blocks, stream
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


# Rows as arrays are the rows that plain Python gives, however they are asked for and wherever they stand.

_COLUMNS: list[tuple[pa.DataType, st.SearchStrategy[Any]]] = [
    (pa.int64(), st.integers(-999, 999)),
    (pa.int8(), st.integers(-9, 9)),
    (pa.float32(), st.floats(width=32, allow_nan=False, allow_infinity=False)),
    (pa.bool_(), st.booleans()),
    (pa.string(), st.text(max_size=3)),
    (pa.timestamp("ms"), st.datetimes().map(lambda value: value.replace(microsecond=0))),
    (pa.list_(pa.int16()), st.lists(st.integers(0, 9), max_size=2)),
    (pa.list_(pa.float32(), 2), st.lists(st.floats(width=32, allow_nan=False), min_size=2, max_size=2)),
    (pa.struct({"x": pa.int32()}), st.fixed_dictionaries({"x": st.none() | st.integers(0, 9)})),
]
_FORMATS = ["numpy", pytest.param("torch", marks=pytest.mark.optional("torch"))]


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    """A dataset of several pieces, some columns with nulls, perhaps with an index."""
    kinds = draw(st.lists(st.sampled_from(_COLUMNS), min_size=1, max_size=3))
    schema = pa.schema([(f"c{k}", type_) for k, (type_, _) in enumerate(kinds)])
    parts = []
    for rows in draw(st.lists(st.integers(1, 5), max_size=4)):
        has_nulls = draw(st.booleans())
        columns = [
            pa.array(draw(st.lists(st.none() | values if has_nulls else values, min_size=rows, max_size=rows)), type_)
            for type_, values in kinds
        ]
        parts.append(pa.record_batch(columns, schema=schema))
    dataset = Dataset(pa.Table.from_batches(parts, schema))
    if len(dataset) and draw(st.booleans()):
        dataset = dataset.select(draw(st.lists(st.integers(0, len(dataset) - 1), max_size=8)))
    return dataset


def plain(value: Any) -> Any:
    """A value as plain Python has it, None for NaN."""
    if hasattr(value, "tolist") and not isinstance(value, np.datetime64):
        value = value.astype(object) if getattr(getattr(value, "dtype", None), "kind", "") == "M" else value
        value = value.tolist()
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else value.item()
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


@pytest.mark.parametrize("name", _FORMATS)
@given(datasets(), st.data())
def test_every_way_to_read_gives_the_values_of_plain_python(name: str, dataset: Dataset, data: st.DataObject) -> None:
    formatted, rows = dataset.with_format(name), list(dataset)
    size = len(rows)
    keys = data.draw(st.lists(st.integers(-size, size - 1), max_size=20)) if size else []
    start = data.draw(st.integers(0, size))

    assert [plain(row) for row in formatted] == rows
    assert [plain(formatted[i]) for i in range(size)] == rows
    assert plain(formatted[keys]) == dataset[keys]
    assert plain(formatted[start:]) == dataset[start:]
    assert [plain(row) for row in formatted.__getitems__(keys)] == dataset.__getitems__(keys)
    assert [plain(batch) for batch in formatted.iter(3)] == list(dataset.iter(3))
    for column in dataset.column_names:
        assert plain(formatted[column][:]) == dataset[column][:]
        assert [plain(value) for value in formatted[column]] == list(dataset[column])


@pytest.fixture(params=[False, True], ids=["in memory", "mapped"])
def numbers(request: pytest.FixtureRequest, tmp_path: Path) -> Dataset:
    """A thousand rows in pieces of a hundred."""
    table = pa.table({"a": np.arange(1000), "b": np.arange(1000, dtype="f4"), "c": np.arange(1000, dtype="i4")})
    if not request.param:
        return Dataset(pa.Table.from_batches(table.to_batches(max_chunksize=100)))
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as writer:
        writer.write_table(table, max_chunksize=100)
    return Dataset.from_file(tmp_path / "a.arrow")


def test_a_batch_within_a_piece_is_a_view_that_cannot_be_written_to(numbers: Dataset) -> None:
    formatted = numbers.with_format("numpy")

    first, again = formatted[10:20], formatted[15:18]

    assert all(np.shares_memory(first[name], again[name]) for name in "ab")
    assert first["c"].dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        first["a"][0] = 7


@pytest.mark.optional("torch")
def test_tensors_may_be_written_to_without_a_change_of_the_dataset(numbers: Dataset) -> None:
    formatted = numbers.with_format("torch")

    for batch in (formatted[:10], formatted[0], formatted[[0, 500]], formatted.__getitems__([0, 1])[0]):
        batch["a"] += 1

    assert numbers[0]["a"] == 0
    assert formatted[:2]["a"].tolist() == [0, 1]


@pytest.mark.parametrize("rows", [[5], [999, 0], list(range(0, 1000, 7)), list(range(950, 40, -1)), [3, 3, 3], []])
def test_gathers_over_pieces_keep_the_order(numbers: Dataset, rows: list[int]) -> None:
    shuffled = numbers.select(np.random.default_rng(0).permutation(1000))

    assert numbers.with_format("numpy")[rows]["b"].tolist() == rows
    assert shuffled.with_format("numpy")[rows]["a"].tolist() == shuffled[rows]["a"]


def test_the_types_of_numbers_are_those_of_hugging_face(numbers: Dataset) -> None:
    formatted = numbers.with_format("numpy")

    assert {name: str(values.dtype) for name, values in formatted[:2].items()} == {"a": "int64", "b": "float32", "c": "int64"}
    assert {name: str(value.dtype) for name, value in formatted[0].items()} == {"a": "int64", "b": "float32", "c": "int32"}
    assert {str(value.dtype) for value in numbers.with_format("numpy", dtype="f2")[0].values()} == {"float16"}


def test_arrays_of_fixed_shape_and_lists_are_stacked() -> None:
    features = Features({"m": Array2D(shape=(2, 2), dtype="float32"), "l": List(Value("int64"), length=3)})
    dataset = Dataset.from_dict(
        {"m": np.arange(20.0).reshape(5, 2, 2).tolist(), "l": [[i] * 3 for i in range(5)]}, features=features
    )

    batch = dataset.with_format("numpy")[1:4]

    assert (batch["m"].shape, batch["l"].shape) == ((3, 2, 2), (3, 3))
    assert np.shares_memory(batch["m"], dataset.with_format("numpy")[2:3]["m"])
    assert dataset.with_format("numpy")[[4, 0]]["m"].tolist() == [dataset[4]["m"], dataset[0]["m"]]


def test_an_error_of_a_value_names_the_column() -> None:
    with pytest.raises(CastError, match="Column 'a': The column contains nulls"):
        Dataset.from_dict({"a": [1, None]}).with_format("numpy", dtype="int32")[:]


@pytest.mark.optional("torch")
def test_a_formatted_dataset_travels(numbers: Dataset) -> None:
    again = pickle.loads(pickle.dumps(numbers.select([7, 3]).with_format("torch")))

    assert again[:]["a"].tolist() == [7, 3]
    assert pickle.loads(pickle.dumps(again["a"]))[:].tolist() == [7, 3]


@pytest.mark.optional("PIL")
@pytest.mark.parametrize("read", [lambda rows: rows[2], lambda rows: rows[1:4], lambda rows: rows[[3, 2]], list])
def test_a_medium_that_cannot_be_shown_is_told_by_its_row(read: Callable[[Dataset], object]) -> None:
    pytest.importorskip("PIL")
    picture, features = np.zeros((2, 2), np.uint8), Features({"picture": Image()})
    rows = Dataset.from_dict({"picture": [picture, picture, b"no picture", picture]}, features=features)
    with pytest.raises(MediaDecodeError) as caught:
        read(rows.with_format("numpy"))
    assert (caught.value.column, caught.value.row) == ("picture", 2)


# Blocks hold the rows that an index names, in order, bounded; without an index they are the pages themselves.


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

"""`RowTable`: the laws of a sequence, over pieces."""

import os
import pickle
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import CastError
from datasets_core.store import table as table_module
from datasets_core.store.shard import FileShard, MemoryShard, Shard, ShardCache
from datasets_core.store.table import LazyShards, RowTable
from datasets_core.store.writer import ShardWriter


def _pieces(sizes: list[int]) -> RowTable:
    """Rows 0, 1, 2, … in batches of the sizes."""
    numbers = iter(range(sum(sizes)))
    schema = pa.schema({"n": pa.int64(), "s": pa.string()})
    batches = []
    for size in sizes:
        values = [next(numbers) for _ in range(size)]
        columns = [pa.array(values, pa.int64()), pa.array([f"s{value}" for value in values], pa.string())]
        batches.append(pa.RecordBatch.from_arrays(columns, schema=schema))
    return RowTable.from_batches(batches, schema)


def _numbers(rows: RowTable | pa.Table) -> list[int]:
    table = rows.to_table() if isinstance(rows, RowTable) else rows
    return table["n"].to_pylist()  # type: ignore[no-any-return]


sizes = st.lists(st.integers(0, 5), max_size=8)
bounds = st.integers(-3, 45)


@given(sizes)
def test_rows_come_in_order_and_are_counted(sizes: list[int]) -> None:
    rows = _pieces(sizes)
    assert _numbers(rows) == list(range(sum(sizes)))
    assert len(rows) == rows.num_rows == sum(sizes)
    assert rows.starts.tolist() == [sum(s for s in sizes[:k]) for k, size in enumerate(sizes) if size]


@given(sizes, bounds, bounds, bounds, bounds)
def test_slices_of_slices_are_slices(sizes: list[int], a: int, b: int, c: int, d: int) -> None:
    expected = list(range(sum(sizes)))[max(a, 0) : max(b, 0)][max(c, 0) : max(d, 0)]
    assert _numbers(_pieces(sizes).slice(a, b).slice(c, d)) == expected


@given(sizes, st.integers(0, 40))
def test_two_slices_at_any_row_make_the_whole(sizes: list[int], cut: int) -> None:
    rows = _pieces(sizes)
    both = RowTable.concat([rows.slice(0, cut), rows.slice(cut, rows.num_rows)])
    assert both.to_table().equals(rows.to_table())
    assert both.num_rows == rows.num_rows


@given(sizes.filter(any), st.data())
def test_locate_finds_the_row(sizes: list[int], data: st.DataObject) -> None:
    rows = _pieces(sizes).slice(data.draw(st.integers(0, 3)), 40)
    for row in range(rows.num_rows):
        piece, offset = rows.locate(row)
        assert rows.piece(piece).column(0)[offset].as_py() == _numbers(rows)[row]


@given(sizes.filter(any), st.data())
def test_take_gives_the_rows_in_the_order_asked_for(sizes: list[int], data: st.DataObject) -> None:
    rows = _pieces(sizes)
    wanted = data.draw(st.lists(st.integers(0, rows.num_rows - 1), max_size=20))
    found = rows.take(np.array(wanted, dtype=np.int64))
    assert _numbers(found) == wanted
    assert found["s"].to_pylist() == [f"s{n}" for n in wanted]
    assert found.schema.equals(rows.schema)


@pytest.mark.slow
def test_take_of_more_text_than_offsets_reach_stays_in_parts() -> None:
    big = RowTable.from_table(pa.table({"s": ["x" * (1 << 20), "y"], "n": [0, 1]}))
    rows = RowTable.concat([big, big])
    wanted = np.array([0, 2] * 1100)  # 2.2 GiB of text
    found = rows.take(wanted)
    assert found.num_rows == 2200
    assert found["s"].num_chunks > 1
    assert found["n"].to_pylist() == [0] * 2200


@pytest.mark.parametrize("wanted", [[-1], [3], [0, 1, 3]])
def test_take_of_a_row_that_is_not_there_is_an_index_error(wanted: list[int]) -> None:
    with pytest.raises(IndexError, match="is out of range: there are 3 rows"):
        _pieces([2, 1]).take(np.array(wanted))


@given(sizes, st.integers(1, 7), bounds.filter(lambda n: n >= 0), st.none() | bounds.filter(lambda n: n >= 0))
def test_batches_cover_the_rows_once_and_in_order(sizes: list[int], max_rows: int, start: int, stop: int | None) -> None:
    batches = list(_pieces(sizes).batches(max_rows, start, stop))
    assert [n for batch in batches for n in batch.column(0).to_pylist()] == list(range(sum(sizes)))[start:stop]
    assert all(0 < batch.num_rows <= max_rows for batch in batches)


def test_columns_can_be_chosen_ordered_and_renamed() -> None:
    rows = _pieces([2, 2])
    assert rows.select(["s", "n"]).rename(["text", "number"]).select(["number"]).to_table().to_pydict() == {
        "number": [0, 1, 2, 3]
    }
    assert rows.select(["s", "n"]).column_names == ["s", "n"]
    assert rows.slice(1, 3).rename(["a", "b"]).take(np.array([1, 0])).to_pylist() == [{"a": 2, "b": "s2"}, {"a": 1, "b": "s1"}]


def test_no_columns_still_have_rows() -> None:
    rows = _pieces([2, 3]).select([])
    assert (rows.num_rows, sum(batch.num_rows for batch in rows.batches())) == (5, 5)


def test_metadata_can_be_replaced() -> None:
    rows = _pieces([2]).with_metadata({b"k": b"v"})
    assert rows.schema.metadata == {b"k": b"v"}
    assert rows.to_table().schema.metadata == {b"k": b"v"}
    assert rows.piece(0).schema.metadata == {b"k": b"v"}


def test_what_does_not_fit_is_refused() -> None:
    rows = _pieces([2])
    with pytest.raises(CastError, match=r"Unknown column 'x'. Available columns: 'n', 's'"):
        rows.select(["x"])
    with pytest.raises(CastError, match="1 names for 2 columns"):
        rows.rename(["x"])
    with pytest.raises(CastError, match="Table 1 has the columns s: string, but the first has n: int64, s: string"):
        RowTable.concat([rows, rows.select(["s"])])
    with pytest.raises(CastError, match="at least one table"):
        RowTable.concat([])


def test_empty_tables_keep_their_schema() -> None:
    rows = _pieces([2]).slice(1, 1)
    assert (rows.num_rows, rows.num_pieces) == (0, 0)
    assert rows.to_table().schema.equals(rows.schema)
    assert rows.take(np.array([], dtype=np.int64)).schema.equals(rows.schema)
    assert list(rows.batches()) == []


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path, table: pa.Table) -> str:
    with ShardWriter(str(tmp_path), "part", split="train", schema=table.schema, batch_rows=10) as writer:
        for start in range(0, 100, 10):
            writer.write(table.slice(start, 10))
            writer._flush()
    return str(tmp_path / "part-00000.arrow")


def test_mapped_batches_take_no_memory(path: str) -> None:
    rows = RowTable.from_file(path)
    before = pa.total_allocated_bytes()
    held = rows.to_table()
    assert held.num_rows == 100
    assert pa.total_allocated_bytes() == before


def test_in_memory_rows_do_not_need_the_file(path: str, table: pa.Table) -> None:
    rows = RowTable.from_file(path, in_memory=True)
    with open(path, "r+b") as handle:
        handle.truncate(0)
    assert rows.to_table().equals(table)


def test_a_table_names_the_files_of_its_rows(path: str) -> None:
    rows = RowTable.from_file(path)
    assert RowTable.concat([rows, rows.select(rows.column_names), RowTable.from_table(rows.to_table())]).files == [path]
    assert rows.slice(3, 3).files == []


def test_mapped_rows_travel_by_path(path: str, table: pa.Table) -> None:
    rows = RowTable.from_file(path).slice(5, 95)
    sent = pickle.dumps(rows)
    assert len(sent) < 3000
    assert pickle.loads(sent).to_table().equals(table.slice(5, 90))


def test_rows_in_memory_travel_whole_but_without_the_rest() -> None:
    rows = RowTable.from_table(pa.table({"n": list(range(100_000))}).slice(7, 3))
    sent = pickle.dumps(rows)
    assert len(sent) < 3000
    assert pickle.loads(sent).to_table()["n"].to_pylist() == [7, 8, 9]


def test_rows_of_a_file_and_of_memory_travel_together(path: str, table: pa.Table) -> None:
    mixed = RowTable.concat([RowTable.from_file(path).slice(5, 25), RowTable.from_table(pa.concat_tables([table] * 1000))])
    shown = mixed.slice(10, 30).select(["text", "id"])
    sent = pickle.dumps(shown)
    assert len(sent) < 5000
    restored = pickle.loads(sent)
    assert restored.to_table().equals(shown.to_table())
    assert restored.files == [path]


def test_many_threads_open_the_same_table(path: str, table: pa.Table) -> None:
    rows = RowTable.from_file(path, validate=False)
    start = threading.Barrier(8)
    results = []

    def read() -> None:
        start.wait()
        results.append(rows.to_table().equals(table))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 8


def test_reading_rows_does_not_import_pandas(path: str) -> None:
    code = """
import sys
import numpy as np
from datasets_core.store.table import RowTable
rows = RowTable.from_file(sys.argv[1])
rows.take(np.array([99, 3, 3])); rows.slice(3, 50).to_table(); rows.select(["id"]).piece(0).to_pylist()
print("pandas" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    "values",
    [
        pa.array(["a", None, "a text of more than twelve bytes"] * 20, pa.string_view()),
        pa.array([b"a", None, b"bytes that are more than twelve"] * 20, pa.binary_view()),
        pa.array([["a"], None, []] * 20, pa.list_(pa.string_view())),
        pa.RunEndEncodedArray.from_arrays(pa.array([20, 60], pa.int32()), pa.array(["a", None])),
    ],
    ids=lambda values: str(values.type),
)
def test_columns_that_pyarrow_cannot_take_are_taken_row_by_row(values: pa.Array) -> None:
    table = RowTable.from_batches([pa.record_batch([part], ["a"]) for part in (values.slice(0, 25), values.slice(25))])
    rows = [30, 2, 2, 59, 0, 19, 20, 24, 25] * 4

    assert table.take(np.array(rows))["a"].to_pylist() == [values[row].as_py() for row in rows]


# -- rows that are gathered --------------------------------------------------------------------------------------------


@given(sizes, st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=4))
def test_runs_are_slices_of_the_pieces(sizes: list[int], spans: list[tuple[int, int]]) -> None:
    rows = _pieces([100, *sizes, 100])
    wanted = [row for start, stop in spans for row in range(start, max(start, stop))]

    assert _numbers(rows.take(np.array(wanted, dtype=np.int64))) == wanted


def test_runs_are_not_copied() -> None:
    rows = _pieces([300, 300])
    found = rows.take(np.r_[500:600, 100:200])

    address = rows.piece(1).column("n").buffers()[1].address
    assert found["n"].chunk(0).buffers()[1].address == address


@given(sizes, st.data(), st.sampled_from([(0, 0), (0, 1 << 30), (128 << 20, 1 << 30)]))
def test_gathered_batches_are_the_rows(sizes: list[int], data: st.DataObject, limits: tuple[int, int]) -> None:
    rows = _pieces([50, *sizes, 50])
    wanted = data.draw(st.lists(st.integers(0, rows.num_rows - 1), max_size=300))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_module, "_ROWS_AT_FIRST", 7)
        patch.setattr(table_module, "_GATHERED_BYTES", 64)
        for name, limit in zip(("_WHOLE_BYTES", "_CHUNKED_BYTES"), limits, strict=True):
            patch.setattr(table_module, name, limit)
        batches = list(rows.batches_at(np.array(wanted, dtype=np.int64)))

    assert [value for batch in batches for value in batch["n"].to_pylist()] == wanted
    assert all(batch.num_rows <= 300 for batch in batches)


# -- identity ----------------------------------------------------------------------------------------------------------


def test_the_identity_of_rows_in_memory_is_their_content() -> None:
    whole, cut, other = _pieces([6]), _pieces([1, 2, 3]), _pieces([7])

    assert whole._fingerprint == cut._fingerprint == pickle.loads(pickle.dumps(cut))._fingerprint
    assert RowTable.concat([other.slice(0, 2), other.slice(2, 6)])._fingerprint == whole._fingerprint
    assert other._fingerprint != whole._fingerprint
    assert whole.rename(["n", "t"])._fingerprint != whole._fingerprint
    assert whole.select(["s", "n"])._fingerprint != whole._fingerprint


def test_the_identity_of_rows_in_files_is_not_their_place(path: str, tmp_path: Path) -> None:
    moved = shutil.copy2(path, tmp_path / "moved.arrow")
    here, there = RowTable.from_file(path), RowTable.from_file(str(moved))

    assert here._fingerprint == there._fingerprint
    assert here.slice(0, 1)._fingerprint != here._fingerprint
    assert here.select(here.column_names[:1])._fingerprint != here._fingerprint


def test_a_file_with_other_bytes_has_another_identity(path: str, tmp_path: Path) -> None:
    other = shutil.copy2(path, tmp_path / "other.arrow")
    before = os.stat(path)
    with open(other, "r+b") as file:
        file.seek(-20, os.SEEK_END)
        byte = file.read(1)
        file.seek(-20, os.SEEK_END)
        file.write(bytes([byte[0] ^ 1]))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert FileShard(str(other), "arrow", ShardCache()).identity != FileShard(path, "arrow", ShardCache()).identity
    assert FileShard(path, "arrow", ShardCache(), identity="known").identity == "known"
    assert pickle.loads(pickle.dumps(FileShard(path, "arrow", ShardCache(), identity="known"))).identity == "known"


# Shards that are made when they are asked for.

SCHEMA = pa.schema({"n": pa.int64()})


def _shards(made: list[int]) -> LazyShards:
    def shard(number: int) -> Shard:
        made.append(number)
        return MemoryShard([pa.record_batch({"n": pa.array([number] * 2)})], SCHEMA)

    return LazyShards([[2]] * 1000, shard)


def test_a_table_makes_the_shards_whose_rows_are_read() -> None:
    made: list[int] = []
    table = RowTable.from_shards(_shards(made), schema=SCHEMA)

    assert (table.num_rows, table.slice(4, 40).num_rows, made) == (2000, 36, [])
    assert table.slice(1, 5).to_table()["n"].to_pylist() == [0, 1, 1, 2]
    assert made == [0, 1, 2]


def test_a_shard_is_made_once() -> None:
    made: list[int] = []
    shards = _shards(made)

    assert shards[7] is shards[7] is shards[-993]
    assert shards[7:9] == [shards[7], shards[8]]
    assert made == [7, 8]


def test_shards_end() -> None:
    with pytest.raises(IndexError):
        _shards([])[1000]
    assert sum(1 for _ in _shards([])) == 1000

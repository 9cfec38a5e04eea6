"""Where the rows of tables stand: in which file, at which number, through every way in which tables are made of others."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.meta.splits import row_ranges
from datasets_core.store.manifest import Manifest, runs
from datasets_core.store.pieces import BatchLocations, BatchRows, Places, locations_of_file
from datasets_core.store.rows.create import filled, spread
from datasets_core.store.source import open_rows
from datasets_core.store.table import RowTable, zipped

Build = Callable[..., tuple[str, Manifest]]


@pytest.fixture
def rows(dataset: tuple[str, Manifest]) -> RowTable:
    folder, manifest = dataset
    return open_rows(folder, manifest, row_ranges("train[90:]+train[5:45]", manifest.split_lengths()))


def _found(table: RowTable) -> list[tuple[str, int]]:
    places = table.places
    files, rows = places.split(places.keys(np.arange(len(table))))
    return [(places.paths[file].rpartition("/")[2], row) for file, row in zip(files.tolist(), rows.tolist(), strict=True)]


def _expected(numbers: list[int]) -> list[tuple[str, int]]:
    return [(f"reviews-train-{number // 20:05d}-of-00005.arrow", number % 20) for number in numbers]


def test_rows_stand_where_the_shards_say(rows: RowTable) -> None:
    assert _found(rows) == _expected([*range(90, 100), *range(5, 45)])
    assert rows.places.rows(rows.places.keys(np.arange(50))).tolist() == list(range(50))


@pytest.mark.parametrize(
    "derived",
    [
        pytest.param(lambda rows: rows.select(["text"]), id="columns"),
        pytest.param(lambda rows: rows.rename(["a", "b", "c"]).select(["b"]), id="renamed"),
        pytest.param(lambda rows: pickle.loads(pickle.dumps(rows)), id="another process"),
        pytest.param(lambda rows: filled(rows, pa.schema([*rows.schema, ("new", pa.int8())])), id="wider"),
        pytest.param(lambda rows: spread(rows, [[0]], pa.schema([rows.schema.field(0)])), id="spread"),
        pytest.param(lambda rows: zipped(rows, _numbers(len(rows))), id="beside, left"),
        pytest.param(lambda rows: zipped(_numbers(len(rows)), rows), id="beside, right"),
    ],
)
def test_rows_stand_where_they_stood_whatever_becomes_of_their_columns(
    rows: RowTable, derived: Callable[[RowTable], RowTable]
) -> None:
    table = derived(rows)
    assert _found(table) == _found(rows)
    assert _found(table.slice(7, 30)) == _found(rows)[7:30]
    assert _found(RowTable.concat([table.slice(20, 30), table.slice(0, 5)])) == _found(rows)[20:30] + _found(rows)[:5]


def _numbers(count: int) -> RowTable:
    return RowTable.from_table(pa.table({"number": pa.array(range(count))}))


def test_rows_that_were_read_into_memory_stand_where_they_stood(dataset: tuple[str, Manifest]) -> None:
    folder, manifest = dataset
    ranges = row_ranges("train[15:45]", manifest.split_lengths())
    table = open_rows(folder, manifest, ranges, in_memory=True)
    assert _found(table) == _expected(list(range(15, 45)))
    assert _found(pickle.loads(pickle.dumps(table.slice(3, 20)))) == _expected(list(range(18, 35)))
    assert table.files == []


def test_rows_of_no_build_stand_nowhere(dataset: tuple[str, Manifest]) -> None:
    folder, manifest = dataset
    cached = open_rows(folder, manifest, row_ranges("train[:5]", manifest.split_lengths()), has_ids=False)
    built = open_rows(folder, manifest, row_ranges("train[:5]", manifest.split_lengths()))
    assert cached.places.paths == ()
    assert cached.places.keys(np.arange(5)).tolist() == [-1] * 5
    assert cached.places.rows(np.array([0])).tolist() == [-1]
    places = RowTable.concat([cached, built]).places
    assert places.keys(np.arange(10)).tolist() == [-1] * 5 + [0, 1, 2, 3, 4]
    assert places.rows(np.arange(6)).tolist() == [5, 6, 7, 8, 9, -1]


def test_a_slice_knows_the_files_of_all_shards_where_names_may_be_the_same(dataset: tuple[str, Manifest]) -> None:
    folder, manifest = dataset
    table = open_rows(folder, manifest, row_ranges("train", manifest.split_lengths()))
    names = [f"reviews-train-{number:05d}-of-00005.arrow" for number in range(5)]
    assert sorted(table.slice(45, 50).places.names) == names[2:3]  # those of one build are not
    part = RowTable.concat([table, table]).slice(45, 50)
    assert sorted(part.places.names) == names
    assert _found(part) == _expected(list(range(45, 50)))
    assert [path.rpartition("/")[2] for path in part.places.paths] == [*part.places.names]


def test_files_of_one_name_are_known_where_a_slice_travels(described: pa.Table, tmp_path: Path, build: Build) -> None:
    tables = []
    for name in "ab":
        folder, manifest = build(str(tmp_path / name), described)
        tables.append(open_rows(folder, manifest, row_ranges("train", manifest.split_lengths())))
    part = RowTable.concat(tables).slice(5, 10)
    moved = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(part))))
    assert sorted(moved.places.paths) == sorted(part.places.paths)
    assert len(moved.places.paths) == 2 * len(tables[0].places.paths)
    assert moved.to_table() == part.to_table()
    assert moved.files == part.files


def test_places_open_nothing(tmp_path: Path, described: pa.Table, build: Build) -> None:
    folder, manifest = build(str(tmp_path / "d"), described)
    rows = open_rows(folder, manifest, row_ranges("train", manifest.split_lengths()))
    assert rows.places.rows(np.array([42])).tolist() == [42]
    assert folder not in Path("/proc/self/maps").read_text()


class _File:
    def __init__(self, number: int, rows: list[int]) -> None:
        self.number, self.rows = number, rows

    def locations(self) -> BatchLocations:
        return locations_of_file(f"/d/{self.number}.arrow", f"{self.number}.arrow", self.rows)


@given(
    batches=st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=4), min_size=1, max_size=4),
    ranges=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(1, 4)), max_size=8),
)
def test_the_row_of_a_key_is_the_first_that_has_it(batches: list[list[int]], ranges: list[tuple[int, int, int, int]]) -> None:
    shards = [_File(number, rows) for number, rows in enumerate(batches)]
    pieces = []
    for shard, batch, first, count in ranges:  # that overlap as they like
        rows = batches[shard % len(batches)]
        left = rows[batch % len(rows)] - first
        if left > 0:
            pieces.append([shard % len(batches), batch % len(rows), first, min(count, left)])
    places = Places(shards, np.array(pieces, np.int64).reshape(-1, 4))

    size = sum(piece[3] for piece in pieces)
    keys = places.keys(np.arange(size))
    expected = [keys.tolist().index(key) for key in keys.tolist()]
    assert places.rows(keys).tolist() == expected
    files, rows_ = places.split(keys)
    assert [places.key(file, row) for file, row in zip(files.tolist(), rows_.tolist(), strict=True)] == keys.tolist()
    absent = sorted(set(range(60)) - set(keys.tolist()))
    assert places.rows(np.array(absent)).tolist() == [-1] * len(absent)


def test_a_table_is_disjoint_that_has_no_row_of_a_file_twice(rows: RowTable) -> None:
    assert rows.places.is_disjoint
    assert not RowTable.concat([rows, rows.slice(7, 8)]).places.is_disjoint
    assert not RowTable.concat([rows.slice(0, 8), rows.slice(7, 12), rows.slice(12, 50)]).places.is_disjoint
    assert RowTable.concat([rows.slice(8, 20), rows.slice(0, 8)]).places.is_disjoint
    assert _numbers(3).places.is_disjoint


@given(st.lists(st.integers(0, 5), max_size=8))
def test_rows_of_a_file_stand_one_batch_after_the_other(rows: list[int]) -> None:
    found = locations_of_file("/d/a.arrow", "a.arrow", BatchRows(runs(rows)))
    assert found.firsts.tolist() == [sum(rows[:batch]) for batch in range(len(rows))]
    assert locations_of_file("/d/a.arrow", "a.arrow", rows).firsts.tolist() == found.firsts.tolist()

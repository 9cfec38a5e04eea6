"""Pieces of row ranges: what numpy computes at once is what a loop over batches finds."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.manifest import Manifest, runs
from datasets_core.store.pieces import (
    BatchLocations,
    BatchRows,
    FileStructure,
    Places,
    Span,
    counts_of,
    cut,
    locations_of_file,
    pieces_of,
    row_ranges,
    stacked,
    stored_blocks,
    stored_names,
    whole_ranges,
)
from datasets_core.store.rows.create import filled, spread
from datasets_core.store.source import open_rows
from datasets_core.store.table import RowTable, zipped

_SHARDS = st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=5)


def _by_loop(ranges: list[tuple[int, int, int]], rows: list[list[int]]) -> list[list[int]]:
    found = []
    for shard, start, stop in ranges:
        for batch, (first, last) in enumerate(pairwise(accumulate(rows[shard], initial=0))):
            low, high = max(start, first), min(stop, last)
            if low < high:
                found.append([shard, batch, low - first, high - low])
    return found


@given(rows=_SHARDS, data=st.data())
def test_ranges_become_the_runs_of_batches_that_hold_their_rows(rows: list[list[int]], data: st.DataObject) -> None:
    bounds = [
        st.tuples(st.just(shard), st.integers(0, sum(each)), st.integers(0, sum(each))) for shard, each in enumerate(rows)
    ]
    ranges = data.draw(st.lists(st.one_of(bounds), max_size=6)) if bounds else []
    coded = [BatchRows(runs(each)) for each in rows]
    assert pieces_of(ranges, rows).tolist() == _by_loop(ranges, rows)
    assert pieces_of(ranges, coded).tolist() == _by_loop(ranges, rows)


@given(rows=_SHARDS)
def test_whole_ranges_hold_every_row_once(rows: list[list[int]]) -> None:
    pieces = pieces_of(whole_ranges(rows), rows)
    assert pieces[:, 3].sum() == sum(map(sum, rows))


@given(rows=_SHARDS, data=st.data())
def test_pieces_that_are_cut_have_the_rows_between(rows: list[list[int]], data: st.DataObject) -> None:
    pieces = pieces_of(whole_ranges(rows), rows)
    size = int(pieces[:, 3].sum())
    start, stop = data.draw(st.integers(0, size)), data.draw(st.integers(0, size))
    every = [(shard, batch, first + row) for shard, batch, first, count in pieces.tolist() for row in range(count)]
    found = cut(pieces, start, stop)
    assert [(s, b, first + row) for s, b, first, count in found.tolist() for row in range(count)] == every[start:stop]


def test_pieces_are_stacked_in_order() -> None:
    one, two = np.array([[0, 0, 0, 4]]), np.array([[1, 0, 0, 2]])
    assert stacked([one, two]).tolist() == [[0, 0, 0, 4], [1, 0, 0, 2]]
    assert stacked([]).shape == (0, 4)


def test_coded_rows_behave_as_the_list() -> None:
    rows = BatchRows([(1000, 2), (7, 1)])
    assert (list(rows), len(rows), rows[0], rows[2], rows[-3], rows[1:]) == ([1000, 1000, 7], 3, 1000, 7, 1000, [1000, 7])
    assert counts_of(rows).tolist() == counts_of([1000, 1000, 7]).tolist()
    assert rows == [1000, 1000, 7]
    assert pickle.loads(pickle.dumps(rows)) == rows
    assert hash(rows) == hash(BatchRows(rows.runs))


@pytest.mark.parametrize("index", [3, -4])
def test_a_batch_that_is_not_there_is_an_error(index: int) -> None:
    with pytest.raises(IndexError, match="there are 3"):
        BatchRows([(1000, 2), (7, 1)])[index]


# Runs of rows of splits, as blocks of the files that they were built from.

counts = st.lists(st.integers(0, 9), max_size=6)


def structure(rows: list[int], *, is_indexed: bool = True) -> FileStructure:
    blocks = RowBlocks.of(rows, files=np.arange(len(rows)), is_indexed=is_indexed, file_count=len(rows))
    return FileStructure((Span(stored_blocks(blocks), 0, sum(rows)),))


@given(st.lists(counts, min_size=1, max_size=3), st.integers(0, 70), st.integers(0, 70), st.integers(0, 9))
def test_a_cut_has_the_blocks_of_its_rows(splits: list[list[int]], start: int, length: int, again: int) -> None:
    whole = FileStructure(tuple(structure(rows).spans[0] for rows in splits))
    flat = [each for rows in splits for each in rows]
    owners = np.repeat(np.arange(len(flat)), flat)
    start = min(start, len(owners))
    stop = min(start + length, len(owners))
    cut = whole.cut(start, stop)
    assert cut.num_rows == stop - start
    first = min(again, stop - start)
    inner = cut.cut(first, stop - start).blocks()
    assert (0 if inner is None else inner.num_rows) == stop - start - first
    found = cut.blocks()
    if found is not None and found.num_rows:
        same = np.repeat(np.arange(len(found.rows)), found.rows)
        assert (np.diff(same).astype(bool) >= np.diff(owners[start:stop]).astype(bool)).all()


def test_a_slice_has_the_files_of_its_split() -> None:
    whole = structure([4, 0, 2, 0], is_indexed=False)
    blocks = whole.blocks()
    assert blocks is not None and not blocks.is_indexed and (blocks.num_files, blocks.rows.tolist()) == (4, [4, 2])
    part = whole.cut(1, 5).blocks()
    assert part is not None and not part.is_indexed and (part.num_files, part.rows.tolist()) == (4, [3, 1])
    nothing = FileStructure((whole.spans[0]._replace(start=2, stop=2),)).blocks()
    assert nothing is not None and nothing.num_files == 4
    assert whole.cut(0, 6) is whole


def test_what_does_not_fit_is_no_structure() -> None:
    text = structure([4, 2]).spans[0].stored
    for span in (Span("{", 0, 6), Span("{}", 0, 6), Span(text, 0, 7), Span(text, 2, 7)):
        assert FileStructure((span,)).blocks() is None
    assert FileStructure(()).blocks() is None


def test_rows_of_one_read_from_the_beginning_make_all_so() -> None:
    joined = FileStructure((structure([4, 2]).spans[0], structure([3], is_indexed=False).spans[0])).blocks()
    assert joined is not None and not joined.is_indexed


@given(st.lists(counts, min_size=1, max_size=3), st.integers(0, 70), st.integers(0, 70), st.integers(0, 3))
def test_rows_of_a_cut_keep_their_places_in_the_files(splits: list[list[int]], start: int, length: int, first: int) -> None:
    spans, expected = [], []
    for number, rows in enumerate(splits):
        cuts = [(min(first, count), count - min(first, count)) for count in rows]  # each file is of two blocks
        parts = [(file, part) for file, cut in enumerate(cuts) for part in cut]
        blocks = RowBlocks.of([part for _, part in parts], files=[file for file, _ in parts], file_count=len(rows))
        names = [f"{number}/part-{file}.csv" for file in range(len(rows))]
        spans.append(Span(stored_blocks(blocks), 0, sum(rows), stored_names(names)))
        expected += [(name, row) for name, count in zip(names, rows, strict=True) for row in range(count)]
    start = min(start, len(expected))
    stop = min(start + length, len(expected))
    places = FileStructure(tuple(spans)).cut(start, stop).places()
    assert places is not None
    files, inside = places.of(np.arange(stop - start))
    assert [(places.names[file], row) for file, row in zip(files, inside.tolist(), strict=True)] == expected[start:stop]


@given(st.lists(st.text(), max_size=9))
def test_names_are_stored_in_short_and_come_back(names: list[str]) -> None:
    rows = RowBlocks.of([1] * len(names), files=np.arange(len(names)))
    places = FileStructure((Span(stored_blocks(rows), 0, len(names), stored_names(names)),)).places()
    assert places is not None and list(places.names) == names


def test_long_lists_of_names_are_short() -> None:
    names = [f"https://host/org/name/resolve/main/data/train-{number:05d}-of-10000.parquet" for number in range(10_000)]
    assert len(stored_names(names)) < 35 * len(names)


def test_names_that_do_not_fit_are_not_known() -> None:
    text = structure([4, 2]).spans[0].stored
    for names in ("", "{", "{}", "3", "[[0]]", stored_names(["a"]), stored_names(["a", "b", "c"])):
        assert FileStructure((Span(text, 0, 6, names),)).places() is None


# Where the rows of tables stand: in which file, at which number, through every way in which tables are made of
# others.

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

"""Runs of rows of splits, as blocks of the files that they were built from."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.pieces import FileStructure, Span, stored_blocks, stored_names

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

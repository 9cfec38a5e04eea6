"""Runs of rows of splits, as blocks of the files that they were built from."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.file_structure import FileStructure, Span, stored_blocks

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

"""How rows lie in blocks: cut, stored and read again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.meta.row_blocks import RowBlocks

counts = st.lists(st.integers(0, 9), max_size=12)


@given(counts, st.integers(0, 60), st.integers(0, 60))
def test_a_cut_has_the_rows_of_its_run(rows: list[int], start: int, length: int) -> None:
    blocks = RowBlocks.of(rows, [10 * each for each in rows], files=np.arange(len(rows)))
    run = range(min(start, blocks.num_rows), min(start + length, blocks.num_rows))
    cut = blocks.cut([run])
    owners = np.repeat(np.arange(len(rows)), rows)[run.start : run.stop]
    assert np.repeat(cut.files, cut.rows).tolist() == owners.tolist()
    assert (cut.sizes == 10 * cut.rows).all()
    assert (cut.rows > 0).all()


@given(counts)
def test_blocks_come_back_from_json(rows: list[int]) -> None:
    blocks = RowBlocks.of(rows, files=np.arange(len(rows)), is_indexed=False)
    again = RowBlocks.from_json(json.loads(json.dumps(blocks.to_json())))
    assert again.rows.tolist() == [each for each in rows if each]
    assert again.files.tolist() == blocks.files.tolist() and again.sizes.tolist() == blocks.sizes.tolist()
    assert again.is_indexed is False and again.num_files == blocks.num_files


@given(st.lists(counts, max_size=4))
def test_joined_blocks_count_files_on(parts: list[list[int]]) -> None:
    blocks = [RowBlocks.of(rows, files=np.arange(len(rows)), file_count=len(rows)) for rows in parts]
    joined = RowBlocks.joined(blocks)
    flat = [each for rows in parts for each in rows]
    assert joined.num_files == len(flat) and joined.is_indexed
    assert joined.rows.tolist() == [each for each in flat if each]
    assert joined.files.tolist() == [number for number, each in enumerate(flat) if each]


def test_a_hundred_thousand_equal_blocks_are_few_bytes() -> None:
    blocks = RowBlocks.of(np.full(100_000, 1000), np.full(100_000, 5), np.repeat(np.arange(100), 1000))
    assert len(json.dumps(blocks.to_json())) < 2000


def test_runs_follow_one_another() -> None:
    blocks = RowBlocks.of([4, 4, 2], files=[0, 0, 1])
    cut = blocks.cut([range(8, 10), range(0), range(2, 5)])
    assert cut.rows.tolist() == [2, 2, 1] and cut.files.tolist() == [1, 0, 0]


@pytest.mark.parametrize("stored", [{}, {"rows": 3}, {"rows": [[0, 1]], "sizes": [[0, 1]], "files": [[0, 1]], "is_indexed": 1}])
def test_what_is_no_row_blocks_is_told(stored: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="no row blocks"):
        RowBlocks.from_json(stored)

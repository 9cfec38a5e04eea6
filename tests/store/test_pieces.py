"""Pieces of row ranges: what numpy computes at once is what a loop over batches finds."""

import pickle
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.store.manifest import runs
from datasets_core.store.pieces import BatchRows, counts_of, cut, pieces_of, stacked, whole_ranges

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

"""Layers of an order: what they say of places is what the same does to a list."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.stream.order import ENDLESS, Cut, Grouped, Layer, Repeated, Shuffled, even_run, even_runs


def _all(layer: Layer) -> list[int]:
    return layer.below(np.arange(layer.num_rows, dtype=np.int64), 0).tolist()


@given(st.lists(st.builds(range, st.integers(0, 9), st.integers(0, 20), st.integers(1, 3)), min_size=1, max_size=4))
def test_a_cut_is_its_runs_in_order(runs: list[range]) -> None:
    assert _all(Cut(tuple(runs))) == [row for run in runs for row in run]


def test_rows_repeat() -> None:
    assert _all(Repeated(3, 2)) == [0, 1, 2, 0, 1, 2]
    assert Repeated(3, None).num_rows == ENDLESS
    assert Repeated(0, None).num_rows == 0


@given(st.integers(0, 200), st.integers(1, 200), st.data())
def test_any_place_of_a_shuffle_can_be_read_first(size: int, window: int, data: st.DataObject) -> None:
    order = Shuffled(size, window, 3)
    whole = _all(order)
    places = data.draw(st.lists(st.integers(0, size - 1), max_size=5)) if size else []

    assert Shuffled(size, window, 3).below(np.array(places, np.int64), 0).tolist() == [whole[place] for place in places]
    assert sorted(whole) == list(range(size))


def test_a_shuffle_of_a_trillion_rows_costs_no_more() -> None:
    found = Shuffled(10**12, 10**6, 1).below(np.arange(10**11, 10**11 + 100), 0)
    assert len(np.unique(found)) == 100 and found.max() < 10**12


@given(st.integers(0, 30), st.integers(1, 7), st.booleans())
def test_lists_hold_neighbours(size: int, length: int, is_whole: bool) -> None:
    layer = Grouped(size, length, is_whole)
    assert _all(layer) == list(range(size - size % length if is_whole else size))
    assert layer.lengths(np.arange(layer.num_rows)).sum() == len(_all(layer))


@given(st.integers(0, 50), st.integers(1, 9), st.integers(1, 9))
def test_runs_cover_all_and_begin_at_units(size: int, parts: int, unit: int) -> None:
    runs = even_runs(size, parts, unit)
    assert [row for run in runs for row in run] == list(range(size))
    assert all(not run or run.start % unit == 0 for run in runs)
    assert runs == [even_run(size, parts, part, unit) for part in range(parts)]


def test_runs_differ_by_one_row_at_most() -> None:
    lengths = [len(run) for run in even_runs(10, 4)]
    assert max(lengths) - min(lengths) == 1


@pytest.mark.parametrize("epoch", [1, 2])
def test_an_epoch_has_an_order_of_its_own(epoch: int) -> None:
    order, rows = Shuffled(50, 10, 1), np.arange(50)
    assert order.below(rows, epoch).tolist() != order.below(rows, 0).tolist()


def test_rows_of_several_epochs_are_shuffled_as_each_epoch_alone():
    layer = Shuffled(40, 16, seed=3, reshuffles=True)
    places, turns = np.tile(np.arange(40), 2), np.repeat([5, 2], 40)
    found = layer.below_in_turns(places, turns)
    assert found[:40].tolist() == layer.below(np.arange(40), 5).tolist()
    assert found[40:].tolist() == layer.below(np.arange(40), 2).tolist()
    assert layer.below_in_turns(np.arange(40), 2).tolist() == found[40:].tolist()

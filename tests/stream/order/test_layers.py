"""Layers of an order: what they say of places is what the same does to a list."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.stream.order.layers import (
    ENDLESS,
    Cut,
    Grouped,
    OrderLayer,
    Permutation,
    Permutations,
    Repeated,
    Shuffled,
    Slice,
    even_run,
    even_runs,
    run_of,
)


def _all(layer: OrderLayer) -> list[int]:
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
    found = layer.places_below(places, turns, 0)
    assert found[:40].tolist() == layer.below(np.arange(40), 5).tolist()
    assert found[40:].tolist() == layer.below(np.arange(40), 2).tolist()
    assert layer.places_below(np.arange(40), 2, 0).tolist() == found[40:].tolist()


class _Counted:
    """Rows that tell how far they were asked."""

    def __init__(self, rows: int) -> None:
        self.rows, self.asked = rows, 0

    def reach(self, count: int) -> int:
        self.asked = max(self.asked, count)
        return min(count, self.rows)


@given(st.integers(0, 40), st.integers(0, 50), st.none() | st.integers(0, 50))
def test_a_slice_is_that_of_a_list(size: int, start: int, stop: int | None) -> None:
    assert _all(Slice(size, start, stop)) == list(range(size))[start:stop]
    assert [Slice(size, start, stop).reach(count) for count in (0, 3, 99)] == [
        len(list(range(size))[start:stop][:count]) for count in (0, 3, 99)
    ]


def test_rows_below_are_counted_no_further_than_asked() -> None:
    rows = _Counted(1000)
    assert (Slice(rows, 10).reach(5), rows.asked) == (5, 15)
    assert (Slice(rows, 10, 12).reach(50), rows.asked) == (2, 15)
    assert (Grouped(rows, 4, False).reach(8), rows.asked) == (8, 32)
    assert (Grouped(rows, 4, False).below(np.array([8]), 0).tolist(), rows.asked) == ([32, 33, 34, 35], 36)
    assert (Repeated(rows, 3).reach(40), rows.asked) == (40, 40)
    assert (Repeated(rows, None).below(np.array([44, 2]), 0).tolist(), rows.asked) == ([44, 2], 45)
    assert (Repeated(rows, 3).turns_below(np.array([49]), 0).tolist(), rows.asked) == ([0], 50)
    assert (Repeated(rows, 3).reach(2001), Repeated(rows, 3).below(np.array([2001]), 0).tolist()) == (2001, [1])
    assert Slice(Grouped(Slice(rows, 990), 4, True), 1).num_rows == 1


BLOCKS = st.lists(st.integers(1, 9), min_size=1, max_size=8).map(RowBlocks.of)
LAYERS = [
    lambda size: Cut((range(size // 3, size - size // 4), range(size // 2))),
    lambda size: Cut((range(size // 5, size, 3),)),
    lambda size: Slice(size, 2, 11),
    lambda size: Repeated(size, 3),
]


@given(BLOCKS, st.sampled_from(LAYERS))
def test_blocks_of_a_layer_hold_rows_of_one_block(blocks: RowBlocks, layer_of: Callable[[int], OrderLayer]) -> None:
    layer = layer_of(blocks.num_rows)
    found = layer.structure(blocks, 0)
    assert found is not None
    ends = found.ends.tolist()
    parts = [_all(layer)[start:stop] for start, stop in pairwise([0, *ends])]
    assert [row for part in parts for row in part] == _all(layer)
    assert all(len(set(np.searchsorted(blocks.ends, part, side="right").tolist())) == 1 for part in parts)


@given(BLOCKS, st.integers(1, 5), st.booleans())
def test_a_list_stands_in_the_block_of_its_first_row(blocks: RowBlocks, length: int, is_whole: bool) -> None:
    layer = Grouped(blocks.num_rows, length, is_whole)
    found = layer.structure(blocks, 0)
    assert found is not None
    firsts = np.searchsorted(blocks.ends, np.arange(layer.num_rows) * length, side="right")
    assert found.rows.tolist() == np.unique(firsts, return_counts=True)[1].tolist()


def test_rows_without_blocks_have_none_above() -> None:
    blocks = RowBlocks.of([4])
    assert Shuffled(4, 2, 1).structure(blocks, 0) is None
    assert Repeated(4, None).structure(blocks, 0) is None
    assert Cut((range(3, -1, -1),)).structure(blocks, 0) is None


def test_a_run_of_places_is_in_order() -> None:
    assert run_of(3, 5).tolist() == [3, 4]


# Permutations: bijections for every size, with numbers that never change.

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1023, 1024, 1025, 65_535, 65_536, 65_537]
GOLDEN = {
    1: [0],
    2: [0, 1],
    5: [1, 3, 0, 2, 4],
    1000: [348, 381, 479, 396, 795, 213],
    65_537: [18244, 13679, 4161, 16184, 46043, 31713],
    10**12: [14289156109, 606507230514, 120224201636, 685107136747, 261953577644, 473828111107],
}
MANY_GOLDEN = {
    1: [[0], [0]],
    2: [[1, 0], [0, 1]],
    5: [[1, 2, 0, 3, 4], [0, 1, 3, 2, 4]],
    1000: [[459, 453, 556, 798, 286, 190], [498, 284, 490, 581, 133, 38]],
    65_537: [[4472, 16786, 53061, 46742, 29754, 49158], [58474, 18542, 61080, 19042, 25301, 39573]],
    10**12: [
        [796805337437, 622974527093, 140390584975, 673777900334, 932723276785, 747457534750],
        [167075996159, 788678943718, 403817423657, 915739798366, 880184333820, 693292360452],
    ],
}


@pytest.mark.parametrize("size", SIZES)
def test_each_number_stands_at_one_place(size: int) -> None:
    assert np.array_equal(np.sort(Permutation(size, "key").at(np.arange(size))), np.arange(size))


@given(st.integers(1, 2**62), st.integers(), st.data())
def test_the_place_of_a_number_is_where_it_stands(size: int, key: int, data: st.DataObject) -> None:
    places = np.array(data.draw(st.lists(st.integers(0, size - 1), max_size=20)), np.int64)
    order = Permutation(size, key)

    assert np.array_equal(order.place_of(order.at(places)), places)
    assert np.array_equal(order.at(order.place_of(places)), places)


@pytest.mark.parametrize("size", GOLDEN)
def test_the_numbers_never_change(size: int) -> None:
    assert Permutation(size, "golden").at(np.arange(min(size, 6))).tolist() == GOLDEN[size]


def test_orders_of_different_keys_differ() -> None:
    orders = {
        tuple(Permutation(20, "shuffle", seed, epoch).at(np.arange(20)).tolist()) for seed in range(20) for epoch in range(20)
    }
    assert len(orders) == 400


def test_every_number_comes_first_about_as_often() -> None:
    firsts = np.bincount([Permutation(6, key).at(np.arange(1)).item() for key in range(3000)], minlength=6)
    assert firsts.min() > 400 and firsts.max() < 600


def _whole(orders: Permutations, which: int, size: int) -> list[int]:
    return orders.at(np.full(size, which), np.full(size, size), np.arange(size)).tolist()


@pytest.mark.parametrize("size", SIZES)
def test_each_of_many_orders_has_each_number_at_one_place(size: int) -> None:
    for which in (0, 1, 2**40):
        assert np.array_equal(np.sort(_whole(Permutations("key"), which, size)), np.arange(size))


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(1, 300)), max_size=6), st.integers())
def test_orders_computed_together_are_those_computed_alone(wanted: list[tuple[int, int]], key: int) -> None:
    which = np.array([number for number, size in wanted for _ in range(size)], np.int64)
    sizes = np.array([size for _, size in wanted for _ in range(size)], np.int64)
    places = np.array([place for _, size in wanted for place in range(size)], np.int64)

    found = Permutations(key).at(which, sizes, places)

    assert found.tolist() == [number for which, size in wanted for number in _whole(Permutations(key), which, size)]


@pytest.mark.parametrize("size", MANY_GOLDEN)
def test_the_numbers_of_many_orders_never_change(size: int) -> None:
    count, orders = min(size, 6), Permutations("golden")
    found = [orders.at(np.full(count, which), np.full(count, size), np.arange(count)).tolist() for which in (0, 7)]
    assert found == MANY_GOLDEN[size]


def test_in_many_orders_every_number_is_everywhere_about_as_often() -> None:
    which, places = np.repeat(np.arange(5000), 7), np.tile(np.arange(7), 5000)
    found = Permutations("seen").at(which, np.full(len(which), 7), places)
    counts = np.bincount(places * 7 + found, minlength=49)
    assert counts.min() > 600 and counts.max() < 840

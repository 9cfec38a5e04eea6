"""Permutations: bijections for every size, with numbers that never change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.stream.order.layers import Permutation, Permutations

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

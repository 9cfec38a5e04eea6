"""Permutations: bijections for every size, with numbers that never change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.stream.permutation import Permutation

SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 63, 64, 65, 1023, 1024, 1025, 65_535, 65_536, 65_537]
GOLDEN = {
    1: [0],
    2: [0, 1],
    5: [1, 3, 0, 2, 4],
    1000: [348, 381, 479, 396, 795, 213],
    65_537: [18244, 13679, 4161, 16184, 46043, 31713],
    10**12: [14289156109, 606507230514, 120224201636, 685107136747, 261953577644, 473828111107],
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

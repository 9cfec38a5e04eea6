"""Picks of a block: each source as often as it should be, and at no row a whole pick too often or too rarely."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.stream.order.mixture import fair_picks


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(0, 3))
def test_no_source_is_a_whole_pick_from_its_share(counts: list[int], key: int) -> None:
    picks = fair_picks(counts, key)
    size = sum(counts)

    assert np.bincount(picks, minlength=len(counts)).tolist() == counts
    picked = np.cumsum(picks[:, None] == np.arange(len(counts)), axis=0)
    shares = np.arange(1, size + 1)[:, None] * np.array(counts) / max(1, size)
    assert (np.abs(picked - shares) < 1).all()


def test_the_order_depends_on_the_key() -> None:
    orders = {tuple(fair_picks([5, 5], key).tolist()) for key in range(20)}

    assert len(orders) > 10


def test_large_blocks_are_strewn_as_evenly_as_chance_allows() -> None:
    picks = fair_picks([3000, 1000], "key")

    picked = np.cumsum(picks == 1)
    assert np.abs(picked - np.arange(1, 4001) / 4).max() < 3
    assert len(picks) == 4000


def test_the_order_is_part_of_saved_states() -> None:
    assert fair_picks([7, 2, 1], "key", 3).tolist() == [2, 0, 0, 0, 1, 0, 0, 0, 1, 0]

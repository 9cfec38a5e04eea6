"""Turns of a mixture: weights are kept within a row for ever, any place can be asked first, and lanes have their own."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.stream.order.mixture import (
    InTurn,
    MixtureSchedule,
    Staged,
    Weighted,
    checked_weights,
    fair_picks,
    mixture_schedule,
)

_PERCENTS = st.lists(st.integers(1, 20), min_size=1, max_size=5).map(lambda parts: [part / sum(parts) for part in parts])
_ANY = st.lists(st.floats(0.01, 1), min_size=1, max_size=5).map(lambda parts: [part / sum(parts) for part in parts])


def _turns(kind: str, weights: list[float]) -> MixtureSchedule:
    if kind == "in turn":
        return InTurn(len(weights), 1 % len(weights))
    if kind == "staged":
        return Staged(((0, Weighted.of(weights, (1,))), (70, Weighted.of([1] * len(weights), (2,)))))
    return Weighted.of(weights, (3, 4))


@given(st.sampled_from(["in turn", "staged", "weighted"]), _ANY, st.integers(0, 600), st.integers(0, 300))
@settings(max_examples=60)
def test_picks_from_any_place_are_those_of_the_whole(kind: str, weights: list[float], start: int, count: int) -> None:
    turns = _turns(kind, weights)
    whole = turns.picks(0, start + count)

    assert turns.picks(start, start + count).tolist() == whole[start:].tolist()
    assert turns.counts(start) == np.bincount(whole[:start], minlength=len(weights)).tolist()


@given(_PERCENTS, st.integers(0, 5))
@settings(max_examples=40)
def test_parts_of_a_whole_are_kept_at_every_row(weights: list[float], seed: int) -> None:
    picks = Weighted.of(weights, (seed,)).picks(0, 1000)

    picked = np.cumsum(picks[:, None] == np.arange(len(weights)), axis=0)
    assert np.abs(picked - np.arange(1, 1001)[:, None] * np.array(weights)).max() < 1


@given(_ANY, st.integers(0, 10**6))
def test_any_weights_are_kept_between_blocks(weights: list[float], block: int) -> None:
    turns = Weighted.of(weights, (0,))
    place = block * turns.block

    counts = turns.counts(place)

    assert sum(counts) == place
    whole = sum(map(Fraction, weights))
    assert all(abs(count - place * Fraction(each) / whole) < 1.001 for count, each in zip(counts, weights, strict=True))
    assert all(one <= other for one, other in zip(counts, turns.counts(place + turns.block), strict=True))


def test_a_place_far_behind_costs_no_more_than_the_first() -> None:
    assert Weighted.of([0.7, 0.2, 0.1], (1,)).counts(7 * 10**15) == [49 * 10**14, 14 * 10**14, 7 * 10**14]
    assert len(Weighted.of([0.3, 0.7], (1,)).picks(10**15, 10**15 + 5)) == 5


def test_lanes_beside_one_another_are_not_in_the_same_source() -> None:
    first = [int(InTurn(2).in_shard(lane, 48).picks(0, 1)[0]) for lane in range(48)]
    drawn = [int(Weighted.of([0.5, 0.5], (1,)).in_shard(lane, 48).picks(0, 1)[0]) for lane in range(48)]

    assert first == [0, 1] * 24
    assert 12 < sum(drawn) < 36


def test_turns_by_chance_have_the_same_shares() -> None:
    mixed = InTurn(3).mixed(7, 0)

    assert mixed.counts(3000) == [1000, 1000, 1000]
    assert mixed.picks(0, 30).tolist() != InTurn(3).picks(0, 30).tolist()


def test_turns_are_as_large_as_their_weights_when_they_are_sent() -> None:
    turns = Weighted.of([0.5, 0.5], (1,))
    turns.picks(0, 5000)

    sent = pickle.dumps(turns)

    assert len(sent) < 400
    assert pickle.loads(sent).picks(0, 50).tolist() == turns.picks(0, 50).tolist()


@pytest.mark.parametrize(
    ("weights", "strategy", "message"),
    [
        ([0.5], "first_exhausted", "1 probabilities for 2 datasets"),
        ([0.5, 0.6], "first_exhausted", r"sum to 1\.1"),
        ([1.5, -0.5], "first_exhausted", "outside 0 to 1"),
        ([float("nan"), 1.0], "first_exhausted", "outside 0 to 1"),
        ([1.0, 0.0], "all_exhausted", "Dataset 1 has probability 0"),
        ({5: [0.5, 0.5]}, "first_exhausted", "must start with row 0"),
        ({0: [0.5, 0.5], -3: [0.5, 0.5]}, "first_exhausted", "the key -3, which is not a row number"),
        ({0: [0.5, 0.5], 9: [0.5]}, "first_exhausted", "1 probabilities for 2 datasets"),
        ({0: [0.5, 0.5], 9: [0, 1]}, "all_exhausted", "Dataset 0 has probability 0"),
    ],
)
def test_weights_without_meaning_are_named(weights: Any, strategy: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        checked_weights(weights, 2, strategy)


def test_weights_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="are not numbers"):
        checked_weights("ab", 2, "first_exhausted")


def test_a_weight_that_is_nothing_in_a_million_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Dataset 1 has probability 1e-09"):
        mixture_schedule((1 - 1e-9, 1e-9), 2, 0, 0)


# Picks of a block: each source as often as it should be, and at no row a whole pick too often or too rarely.


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

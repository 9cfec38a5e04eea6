"""Rows of lanes in turn, by arithmetic: as whoever takes a row of each in turn finds them."""

from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.distributed import split_dataset_by_node
from datasets_core.stream.explain import ExplainRequest, Facts
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.order.layers import ENDLESS, even_runs
from datasets_core.stream.order.shuffle import ENDS, LANES, ShardPositions


def _in_turn(size: int, lanes: int, own: tuple[int, ...], ends: str, times: int, before: list[int]) -> list[tuple[int, int]]:
    """The rows of lanes, row by row: each with its lane."""
    rows = {
        lane: [turn * size + row for turn in range(times) for row in run] for lane, run in enumerate(even_runs(size, lanes))
    }
    if ends == "drop":
        rows = {lane: each[: size // lanes * times] for lane, each in rows.items()}
    if ends == "pad" and size:
        longest = -(-size // lanes) * times
        for lane, each in rows.items():
            once = [row + (times - 1) * size for row in even_runs(size, lanes)[lane]] or [lane % size]
            rows[lane] = (each + once * longest)[:longest]
    left = [(number, lane, row) for lane in own for number, row in enumerate(rows[lane])]
    return [(row, lane) for number, lane, row in sorted(left) if number >= before[own.index(lane)]]


@given(
    size=st.integers(0, 40),
    lanes=st.integers(1, 9),
    rank=st.integers(0, 3),
    ranks=st.integers(1, 4),
    ends=st.sampled_from(ENDS),
    times=st.integers(1, 3),
    drawn=st.lists(st.integers(0, 12), min_size=9, max_size=9),
)
def test_lanes_give_rows_in_turn_from_any_place_on(
    size: int, lanes: int, rank: int, ranks: int, ends: str, times: int, drawn: list[int]
) -> None:
    own = tuple(range(rank, lanes, ranks))
    places = ShardPositions.of(size, lanes, own, ends, times)
    if ends == "pad" and size < lanes and times > 1:
        return  # a row of another lane comes again, in any round
    before = [min(given, limit) for given, limit in zip(drawn, places.limits, strict=False)]
    left = places.behind(tuple(before))

    wanted = _in_turn(size, lanes, own, ends, times, before)

    assert left.num_rows == len(wanted)
    assert left.below(np.arange(len(wanted)), 0).tolist() == [row for row, _ in wanted]
    for place in range(len(wanted) + 1):
        counts = [given + sum(lane == each for _, each in wanted[:place]) for given, lane in zip(before, own, strict=True)]
        assert left.given_at(place) == counts


def test_lanes_of_rows_that_repeat_without_end_never_end() -> None:
    places = ShardPositions.of(10, 4, (0, 1, 2, 3), times=None)
    assert places.num_rows > ENDLESS >> 4
    assert places.below(np.arange(12), 0).tolist() == [0, 3, 6, 8, 1, 4, 7, 9, 2, 5, 16, 18]
    far = places.behind(tuple(3 * 10**9 for _ in range(4)))
    assert (far.below(np.arange(4), 0) % 10).tolist() == [0, 3, 6, 8]


@pytest.mark.parametrize("ends", ENDS)
def test_no_rows_are_no_rows(ends: str) -> None:
    places = ShardPositions.of(0, 4, (0, 2), ends)
    assert places.num_rows == 0
    assert places.given_at(0) == [0, 0]


def test_billions_of_rows_are_located_at_once() -> None:
    places = ShardPositions.of(10**10, 48, tuple(range(48)))
    assert places.below(np.array([7 * 10**9]), 0).tolist() == [7 * 10**9 // 48 + (7 * 10**9 % 48) * (10**10 // 48) + 16]


def test_the_number_of_lanes_stands_in_one_place() -> None:
    calls = (split_dataset_by_node, IterableDataset.explain)
    assert {signature(call).parameters["lanes"].default for call in calls} == {LANES}
    assert Facts.__dataclass_fields__["lanes"].default == ExplainRequest.__dataclass_fields__["lanes"].default == LANES

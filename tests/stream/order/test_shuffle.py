"""Shuffled blocks: every row once, few blocks at a time, far apart; and numbers that never change, since states hold them."""

import tracemalloc
from inspect import signature
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.distributed import split_dataset_by_node
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.stream.explain import ExplainRequest, Facts
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.order.layers import ENDLESS, even_runs
from datasets_core.stream.order.shuffle import ENDS, LANES, BlocksInTurn, ShardPositions, ShuffledBlocks

ODD = RowBlocks.of([5, 1, 4, 7, 3, 6, 2, 9], [500, 100, 400, 700, 300, 600, 200, 900])
GOLDEN = {
    (1000, 64 << 20, 1): (
        "18 17 19 9 26 7 8 6 27 36 3 35 33 28 23 22 5 2 4 1 30 29 0 31 34 25 21 32 24 20 11 14 16 15 12 10 13",
        "0 3 9 30 37",
    ),
    (None, 1000, 1): (
        "18 17 19 9 26 7 8 6 27 21 25 23 5 20 24 22 33 29 28 34 32 35 36 30 31 1 0 3 4 2 13 10 16 12 11 15 14",
        "0 3 9 16 25 30 37",
    ),
    (None, 300, 1): (
        "18 17 19 27 26 7 6 8 9 5 21 20 22 25 24 23 28 29 30 32 31 33 36 35 34 0 1 2 3 4 12 11 10 13 14 15 16",
        "0 3 5 7 9 10 13 16 19 22 25 28 30 33 35 37",
    ),
    (1000, 64 << 20, 3): (
        "18 17 19 9 26 7 8 6 27 20 21 5 22 24 23 25 28 34 33 30 35 29 31 36 32 3 0 4 2 1 13 16 15 12 11 14 10",
        "0 3 9 13 16 25 30 37",
    ),
}

SIZES = st.lists(st.tuples(st.integers(1, 40), st.integers(0, 5000)), min_size=1, max_size=30)


def _all(layer: ShuffledBlocks | BlocksInTurn, epoch: int = 0) -> list[int]:
    return layer.below(np.arange(layer.num_rows, dtype=np.int64), epoch).tolist()


@pytest.mark.parametrize(("buffer_rows", "window_bytes", "lanes"), GOLDEN)
def test_the_order_never_changes(buffer_rows: int | None, window_bytes: int, lanes: int) -> None:
    order, starts = GOLDEN[buffer_rows, window_bytes, lanes]
    layer = ShuffledBlocks(ODD, 11, buffer_rows, window_bytes, lanes)
    assert " ".join(map(str, _all(layer, 2))) == order
    assert " ".join(map(str, layer.window_starts(2).tolist())) == starts


def test_the_order_of_many_blocks_never_changes() -> None:
    layer = ShuffledBlocks(RowBlocks.of(np.full(20_000, 400_000), np.full(20_000, 1 << 22)), 5)
    places = np.array([0, 1, 2, 10**9, 7 * 10**9, 7_999_999_999])
    assert layer.below(places, 3).tolist() == [2693148785, 2693098655, 2692949854, 84264169, 7004573372, 6498989080]


@given(SIZES, st.integers(0, 50) | st.none(), st.integers(1, 20_000), st.integers(1, 9), st.integers(0, 3))
def test_each_row_comes_once_wherever_reading_begins(
    sizes: list[tuple[int, int]], buffer_rows: int | None, window_bytes: int, lanes: int, epoch: int
) -> None:
    blocks = RowBlocks.of(*zip(*sizes, strict=True))
    layer = ShuffledBlocks(blocks, 3, buffer_rows, window_bytes, lanes)
    whole = _all(layer, epoch)

    assert sorted(whole) == list(range(blocks.num_rows))
    again = ShuffledBlocks(blocks, 3, buffer_rows, window_bytes, lanes)
    assert again.below(np.arange(blocks.num_rows - 1, -1, -1), epoch).tolist() == whole[::-1]


@given(SIZES, st.integers(1, 50) | st.none(), st.integers(1, 20_000), st.integers(1, 9))
def test_windows_keep_to_their_bytes_and_to_their_lanes(
    sizes: list[tuple[int, int]], buffer_rows: int | None, window_bytes: int, lanes: int
) -> None:
    rows, row_bytes = [rows for rows, _ in sizes], 7
    blocks = RowBlocks.of(rows, [each * row_bytes for each in rows])
    layer = ShuffledBlocks(blocks, 3, buffer_rows, window_bytes, lanes)
    starts = layer.window_starts(0).tolist()
    most = max(1, window_bytes // lanes)

    assert (starts[0], starts[-1]) == (0, blocks.num_rows) and starts == sorted(set(starts))
    assert {run.start for run in even_runs(blocks.num_rows, lanes) if run} <= set(starts)
    assert all((stop - start) * row_bytes < most + row_bytes for start, stop in pairwise(starts))
    found = _all(layer)
    for start, stop in pairwise(starts):  # a window holds whole blocks, or is a part of one, but for the ends of lanes
        touched = np.unique(np.searchsorted(blocks.ends, found[start:stop], side="right"))
        assert len(touched) <= stop - start


def test_the_first_windows_of_each_lane_hold_few_blocks() -> None:
    blocks = RowBlocks.of(np.full(400, 10), np.full(400, 100))
    assert np.diff(ShuffledBlocks(blocks, 1, 1).window_starts(0))[:6].tolist() == [10, 20, 40, 80, 160, 160]
    in_shards = ShuffledBlocks(blocks, 1, None, window_bytes=16_000, lanes=4).window_starts(0)
    assert np.diff(in_shards).tolist() == [10, 20, 40, 80, 160, 320, 370] * 4


def test_a_window_has_as_many_rows_as_were_asked_for() -> None:
    blocks = RowBlocks.of(np.full(4000, 10), np.full(4000, 100))
    lengths = np.diff(ShuffledBlocks(blocks, 1, 5000).window_starts(0))
    assert lengths.max() == 5000 and (lengths == 5000).sum() >= 6


def test_a_block_that_is_too_large_is_read_from_its_beginning_in_windows() -> None:
    layer = ShuffledBlocks(RowBlocks.of([1000, 1000], [10_000, 10_000]), 1, None, window_bytes=1000)
    windows = np.array(_all(layer)).reshape(20, 100)
    assert (windows // 100 == windows[:, :1] // 100).all()
    assert (np.diff(windows[:10, 0] // 100) == 1).all()


def test_sizes_that_nobody_knows_are_those_of_other_rows() -> None:
    known = ShuffledBlocks(RowBlocks.of([10] * 40, [100] * 40), 1, None, window_bytes=500)
    unknown = ShuffledBlocks(RowBlocks.of([10] * 40, [100, *[0] * 39]), 1, None, window_bytes=500)
    nothing = ShuffledBlocks(RowBlocks.of([10] * 40), 1, None, window_bytes=5 * 10 << 10)
    assert _all(known) == _all(unknown) == _all(nothing)


def test_epochs_and_seeds_have_orders_of_their_own() -> None:
    orders = {tuple(_all(ShuffledBlocks(ODD, seed), epoch)) for seed in range(4) for epoch in range(4)}
    assert len(orders) == 16


def test_rows_of_several_rounds_are_shuffled_as_each_round_alone() -> None:
    layer = ShuffledBlocks(ODD, 3, reshuffles=True)
    places, turns = np.tile(np.arange(37), 2), np.repeat([5, 2], 37)
    assert layer.places_below(places, turns, 0).tolist() == _all(layer, 5) + _all(layer, 2)
    assert layer.places_below(np.arange(37), 2, 0).tolist() == _all(layer, 2)


@given(SIZES, st.integers(0, 3))
def test_blocks_in_turn_stay_whole(sizes: list[tuple[int, int]], epoch: int) -> None:
    blocks = RowBlocks.of(*zip(*sizes, strict=True))
    layer = BlocksInTurn(blocks, 4)
    found = _all(layer, epoch)
    numbers = np.searchsorted(blocks.ends, found, side="right")
    changes = np.flatnonzero(np.diff(numbers))

    assert sorted(found) == list(range(blocks.num_rows))
    assert len(changes) == len(blocks.rows) - 1
    assert all(
        after == before + 1 for (before, after), block in zip(pairwise(found), np.diff(numbers), strict=True) if not block
    )
    structure = layer.structure(blocks, epoch)
    assert structure is not None
    assert structure.rows.tolist() == np.diff([0, *(changes + 1).tolist(), blocks.num_rows]).tolist()


def test_windows_are_the_blocks_of_a_second_shuffle() -> None:
    first = ShuffledBlocks(RowBlocks.of([10] * 40, [100] * 40), 1, None, window_bytes=500)
    structure = first.structure(first.blocks, 0)
    assert structure is not None
    assert structure.rows.tolist() == np.diff(first.window_starts(0)).tolist()
    assert structure.sizes.tolist() == (structure.rows * 10).tolist()
    assert ShuffledBlocks(first.blocks, 1, reshuffles=True).structure(first.blocks, 0) is None


@pytest.mark.parametrize("seed", range(3))
def test_rows_mix_as_far_as_is_said(seed: int) -> None:
    layer = ShuffledBlocks(RowBlocks.of(np.full(64, 500), np.full(64, 50_000)), seed)
    found = np.array(_all(layer))
    starts = layer.window_starts(0)
    places = np.empty_like(found)
    places[found] = np.arange(len(found))

    for start, stop in pairwise(starts[5:-1].tolist()):
        assert all(len(np.unique(found[at : at + 256] // 500)) == 16 for at in range(start, stop - 256, 256))
    assert 1_500 < np.median(np.abs(np.diff(places))) < 2_200


def test_blocks_go_anywhere_alike() -> None:
    blocks = RowBlocks.of(np.full(16, 1))
    firsts = np.bincount(
        [BlocksInTurn(blocks, seed).below(np.zeros(1, np.int64), 0).item() for seed in range(3000)], minlength=16
    )
    assert firsts.min() > 120 and firsts.max() < 260


def test_memory_is_some_numbers_for_each_block() -> None:
    blocks = RowBlocks.of(np.full(100_000, 5000), np.full(100_000, 1 << 20))
    blocks.ends  # noqa: B018
    tracemalloc.start()
    layer = ShuffledBlocks(blocks, 1)
    layer.below(np.arange(1000), 0)
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 100_000 * 20 and peak < 100_000 * 100


def test_no_blocks_have_no_rows() -> None:
    nothing = RowBlocks.of([])
    for layer in (ShuffledBlocks(nothing, 1), BlocksInTurn(nothing, 1), ShuffledBlocks(nothing, 1, lanes=3)):
        structure = layer.structure(nothing, 0)
        assert (layer.num_rows, _all(layer)) == (0, [])
        assert structure is not None and structure.num_rows == 0


# Logical shards.


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

"""Lanes of streams: exactly once, in one order on any number of ranks, and exact from any state on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.features.media.media import NOWHERE
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.jobs import Marked, RowJob, RowsOfJobs
from datasets_core.stream.nodes.map_filter import Counted
from datasets_core.stream.nodes.shard import Clock, EveryNth, Lookahead, PlacedShards, ShardsInTurn
from datasets_core.stream.plan import Plan
from tests.stream.listed_rows import ListedRows

LANES = 12
DIVISORS = (1, 2, 3, 4, 6, 12)


class Numbers(RowJob):
    """A job that makes numbers in batches, with marks if it is asked to; counts what it makes."""

    is_independent = True
    made = 0

    def __init__(self, first: int, count: int, *, marks: bool) -> None:
        self.first, self.count, self.marks = first, count, marks

    def batches(self, skip: int, *, in_order: bool, mark: Any = None) -> Any:
        assert mark is None or mark[0] == mark[1]["row"] <= skip
        for start in range(skip, self.count, 5):
            rows = [{"a": self.first + row} for row in range(start, min(self.count, start + 5))]
            Numbers.made += len(rows)
            yield Marked(rows, {"row": start}) if self.marks else rows


def table(rows: int) -> IterableDataset:
    return Dataset.from_dict({"a": list(range(rows))}).to_iterable_dataset()


def jobs(*counts: int, marks: bool = False) -> IterableDataset:
    made = tuple(Numbers(1000 * number, count, marks=marks) for number, count in enumerate(counts))
    return IterableDataset(Plan(RowsOfJobs(made, None, NOWHERE, lambda: ["rows", "ab"]), (), len(made)))


def _twice(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    rows = [place for place, row in enumerate(batch["a"]) for _ in range(row % 3)]
    return {name: [values[place] for place in rows] for name, values in batch.items()}


STEPS: dict[str, Any] = {
    "map": lambda rows: rows.map(lambda row: {"a": row["a"], "b": -row["a"]}),
    "filter": lambda rows: rows.filter(lambda row: row["a"] % 7 != 3),
    "batched": lambda rows: rows.map(_twice, batched=True, batch_size=3),
    "shuffle": lambda rows: rows.shuffle(seed=5, buffer_size=24),
    "repeat": lambda rows: rows.repeat(2),
    "take": lambda rows: rows.take(40),
    "skip": lambda rows: rows.skip(7),
    "indices": lambda rows: rows.filter(lambda row, number: number % 5 != 1, with_indices=True),
    "shard": lambda rows: rows.shard(2, 1),
}


def streams() -> st.SearchStrategy[Any]:
    sources = st.one_of(
        st.tuples(st.just("table"), st.integers(0, 150)),
        st.tuples(st.just("jobs"), st.lists(st.integers(0, 40), min_size=1, max_size=15), st.booleans()),
    )
    return st.tuples(sources, st.lists(st.sampled_from(sorted(STEPS)), max_size=3))


def made(drawn: Any) -> IterableDataset:
    (kind, *given_), steps = drawn
    rows = table(given_[0]) if kind == "table" else jobs(*given_[0], marks=given_[1])
    for step in steps:
        rows = STEPS[step](rows)
    return rows


def ranks(drawn: Any, world_size: int, **options: Any) -> list[list[Any]]:
    return [list(split_dataset_by_node(made(drawn), rank, world_size, lanes=LANES, **options)) for rank in range(world_size)]


def text(rows: Any) -> list[str]:
    return sorted(map(str, rows))


@given(drawn=streams(), world_size=st.integers(1, 13))
def test_every_row_comes_once_on_any_number_of_ranks(drawn: Any, world_size: int) -> None:
    one = ranks(drawn, 1)[0]
    assert text(row for part in ranks(drawn, world_size) for row in part) == text(one)
    is_same = not {"batched", "indices", "shard", "shuffle", "take", "skip"} & set(drawn[1])
    if is_same:  # what batches, numbers and cuts make depends on the rows before
        assert text(one) == text(made(drawn))


@settings(max_examples=25)
@given(drawn=streams(), world_size=st.sampled_from(DIVISORS), rounds=st.integers(1, 3))
def test_a_global_batch_holds_the_same_rows_on_any_number_of_ranks(drawn: Any, world_size: int, rounds: int) -> None:
    one = ranks(drawn, 1)[0]
    parts = ranks(drawn, world_size)
    size = rounds * LANES
    whole = min(len(part) * world_size for part in parts) // size  # behind a filter lanes end one by one
    for number in range(whole):
        share = size // world_size
        batch = [row for part in parts for row in part[number * share : (number + 1) * share]]
        if len(one) >= (number + 1) * size and _all_lanes_go_on(drawn, (number + 1) * rounds):
            assert text(batch) == text(one[number * size : (number + 1) * size])


def _all_lanes_go_on(drawn: Any, rounds: int) -> bool:
    lanes = ranks(drawn, LANES)
    return all(len(lane) >= rounds for lane in lanes)


@given(drawn=streams(), world_size=st.integers(1, 5), rank=st.integers(0, 4), data=st.data())
def test_resumed_is_uninterrupted(drawn: Any, world_size: int, rank: int, data: Any) -> None:
    def part() -> IterableDataset:
        return split_dataset_by_node(made(drawn), rank % world_size, world_size, lanes=LANES)

    whole = list(part())
    found: list[Any] = []
    walk = iter(part())
    for stop in sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=3))):
        found += [next(walk) for _ in range(stop - len(found))]
        state = json.loads(json.dumps(walk.state_dict()))
        other = part()
        other.load_state_dict(state)
        assert other.state_dict() == state
        other.load_state_dict(state)
        walk = iter(other)
    found += list(walk)

    assert found == whole


@pytest.mark.parametrize("size", [1, 4, 7, 30])
def test_batches_come_in_the_order_of_rows(size: int) -> None:
    for rows in (table(100), jobs(30, 50), table(60).filter(lambda row: row["a"] % 4)):
        part = split_dataset_by_node(rows, 1, 3, lanes=LANES)
        whole = [row["a"] for row in part]
        batches = [batch["a"] for batch in part.iter(size)]
        assert [row for batch in batches for row in batch] == whole
        assert all(len(batch) == size for batch in batches[:-1])


def test_lists_behind_hold_rows_of_all_lanes_of_the_rank() -> None:
    part = split_dataset_by_node(table(48), 0, 2, lanes=LANES).batch(6)
    assert next(iter(part))["a"] == [0, 8, 16, 24, 32, 40]
    walk = iter(part)
    next(walk)
    assert walk.state_dict()["at"] == [[lane, 1] for lane in range(0, 12, 2)]


def test_lists_before_hold_rows_of_a_lane() -> None:
    part = split_dataset_by_node(table(48).batch(2), 0, 2, lanes=LANES)
    assert [row["a"] for row in part.take(3)] == [[0, 1], [8, 9], [16, 17]]


def test_few_jobs_are_read_once_by_the_lanes_of_a_rank() -> None:
    rows = split_dataset_by_node(jobs(60, 60), 0, 1, lanes=LANES)
    Numbers.made = 0
    whole = [row["a"] for row in rows]
    assert len(whole) == Numbers.made == 120

    walk = iter(rows)
    head = [next(walk)["a"] for _ in range(61)]
    other = split_dataset_by_node(jobs(60, 60), 0, 1, lanes=LANES)
    other.load_state_dict(walk.state_dict())
    Numbers.made = 0
    assert head + [row["a"] for row in other] == whole
    assert Numbers.made <= 70


def test_ranks_read_the_files_of_their_lanes_alone() -> None:
    part = split_dataset_by_node(jobs(*[10] * 24), 1, 4, lanes=LANES)
    assert {row["a"] // 1000 % 4 for row in part} == {1}


@pytest.mark.parametrize(("ends", "count"), [("drop", 24), ("pad", 27)])
def test_ends_are_even_where_rows_are_counted(ends: str, count: int) -> None:
    parts = ranks((("table", 100), ["shuffle", "map"]), 4, ends=ends)
    assert {len(part) for part in parts} == {count}


def test_behind_a_filter_the_first_lane_that_ends_ends_the_rank() -> None:
    rows = table(96).filter(lambda row: row["a"] >= 4)  # lane 0 of 12 has 4 rows of 8
    assert [len(list(split_dataset_by_node(rows, rank, 2, lanes=LANES, ends="drop"))) for rank in range(2)] == [24, 48]


def test_behind_a_filter_lanes_that_end_begin_again() -> None:
    rows = table(96).filter(lambda row: row["a"] >= 4)
    part = split_dataset_by_node(rows, 0, 2, lanes=LANES, ends="pad")
    whole = [row["a"] for row in part]
    assert len(whole) == 48
    assert [row for row in whole if row < 8] == [4, 5, 6, 7, 4, 5, 6, 7]

    for stop in (0, 23, 24, 25, 30, 47, 48):
        walk = iter(part)
        head = [next(walk)["a"] for _ in range(stop)]
        other = split_dataset_by_node(rows, 0, 2, lanes=LANES, ends="pad")
        other.load_state_dict(json.loads(json.dumps(walk.state_dict())))
        assert head + [row["a"] for row in other] == whole


@pytest.mark.parametrize("ends", ["keep", "drop", "pad"])
def test_lanes_without_rows_are_passed_over(ends: str) -> None:
    for rows in (table(0), jobs(0, 0), table(20).filter(lambda row: False)):
        assert list(split_dataset_by_node(rows, 0, 2, lanes=LANES, ends=ends)) == []


def test_rows_that_repeat_without_end_go_on() -> None:
    for rows in (table(20), jobs(20), table(20).filter(None)):
        part = split_dataset_by_node(rows.repeat(None), 0, 2, lanes=4)
        walk = iter(part)
        found = [next(walk)["a"] for _ in range(30)]
        assert len(set(found)) == 10
        assert found[:10] == found[10:20]


def test_kinds_of_nodes() -> None:
    def node(rows: IterableDataset) -> Any:
        return split_dataset_by_node(rows, 0, 2, lanes=LANES)._plan.node(0)

    assert isinstance(node(table(9).shuffle(seed=1).map(lambda row: row)), PlacedShards)
    assert isinstance(node(table(9).filter(None)), ShardsInTurn)
    assert isinstance(node(table(9).filter(None).take(5)).shard_node(0), EveryNth)
    assert not isinstance(node(jobs(9).filter(None)).shard_node(0), EveryNth)


def test_states_are_small() -> None:
    walk = iter(split_dataset_by_node(jobs(*[50] * 60, marks=True).filter(None), 0, 1))
    for _ in range(1000):
        next(walk)
    assert len(json.dumps(walk.state_dict())) < 4000


def test_windows_of_lanes_are_smaller_the_more_there_are() -> None:
    part = split_dataset_by_node(table(240).filter(None).shuffle(seed=1, buffer_size=24), 0, 1, lanes=LANES)
    lane: Any = part._plan.node(0).shard_node(3)  # type: ignore[attr-defined]
    assert (lane.size, lane.seed) == (2, 1 + (3 << 40))
    inside = split_dataset_by_node(table(240).filter(None), 0, 1, lanes=LANES).shuffle(seed=1, buffer_size=24)
    assert inside._plan.node(0).shard_node(3).size == 2  # type: ignore[attr-defined]
    assert text(part) == text(inside) == text(table(240))


def test_files_that_are_read_again_and_again_give_the_first_rows_first(tmp_path: Any) -> None:
    from datasets_core.load import load_dataset_builder
    from datasets_core.stream.order.files import ReadConfig

    Dataset.from_dict({"a": list(range(30))}).to_parquet(str(tmp_path / "rows.parquet"))
    builder = load_dataset_builder("parquet", data_dir=str(tmp_path), cache_dir=str(tmp_path / "cache"))
    builder.download_and_prepare()
    rows = builder.as_dataset("train", read_config=ReadConfig(repeat_filenames=True))
    part = split_dataset_by_node(rows, 1, 2, lanes=4)
    walk, whole = iter(part), iter(rows)
    assert [next(walk)["a"] for _ in range(40)] == [next(whole)["a"] for _ in range(80)][1::2]


# A tap gives rows of a stream as they are drawn, and says exactly where it stands.


def test_rows_are_given_as_they_are_drawn() -> None:
    tap = Lookahead(ListedRows(0, 5, size=3), [0, 0, 0], 0)
    assert tap.pull()
    assert tap.pull()

    found = [[row["row"] for delivery in tap.given(count) for row in delivery.block.rows()] for count in (2, 2, 1)]

    assert found == [[0, 1], [2, 3], [4]]
    assert not tap.pull()


def test_where_it_stands_tells_whether_a_row_is_known_to_follow() -> None:
    tap = Lookahead(ListedRows(0, 3, size=3), [0, 0, 0], 0)
    tap.pull()

    tap.given(2)
    assert tap.stands == [2, 0, 0]
    tap.given(1)
    assert tap.stands == [3, 0, 2]


def test_a_tap_that_ended_begins_again_or_stays() -> None:
    tap = Lookahead(ListedRows(0, 1), [1, 0, 2], 0)
    assert not tap.pull()

    tap.end(begins_again=True)
    assert tap.stands == [0, 1, 1]
    assert tap.pull()


def test_a_clock_stands_while_others_are_read() -> None:
    times = iter([10, 12, 100, 101, 105])
    clock = Clock(lambda: next(times))

    with clock:
        pass
    assert clock() == 2
    with clock:
        assert clock() == 3
    assert clock() == 7


def test_rows_at_the_bottom_are_read_by_the_clock_of_their_tap() -> None:
    rows = IterableDataset.from_dict({"a": [1, 2]})
    clocks: list[object] = []

    class Timed(ListedRows):
        def timed_by(self, clock: object) -> Timed:
            clocks.append(clock)
            return self

    assert Counted(Timed(0, 1)).timed_by(Clock()) == Counted(Timed(0, 1))
    assert len(clocks) == 1
    assert isinstance(rows.filter(bool)._plan.node(0).timed_by(Clock()), type(rows.filter(bool)._plan.node(0)))

"""The step that divides a stream by lanes: whose lanes are whose, and which steps each lane does by itself."""

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.stream.nodes.functions import Function, RowsMade
from datasets_core.stream.nodes.shard import PlacedShards, ShardsInTurn
from datasets_core.stream.plan import RankLanes, divided_steps, keeps_shards, works_by_shard
from datasets_core.stream.steps import Batch, Filter, Limit, Map, Part, Repeat, Shuffle, Step

FUNCTION = Function(print, "map")
MAP, FILTER = Map(RowsMade(FUNCTION)), Filter(FUNCTION)
BATCHES = Map(RowsMade(FUNCTION), is_batched=True, size=4)
LIST, RUNS = Batch(2, (), False), Batch(None, ("a",), False)
STREAM = Dataset.from_dict({"a": list(range(10))}).to_iterable_dataset()


@pytest.mark.parametrize("world_size", [1, 2, 3, 7])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_lane_is_for_one_worker_of_one_rank(world_size: int, workers: int) -> None:
    own = [RankLanes(12, rank, world_size).own(worker, workers) for rank in range(world_size) for worker in range(workers)]
    assert sorted(lane for each in own for lane in each) == list(range(12))
    for rank in range(world_size):
        together = [lane for each in own[rank * workers : (rank + 1) * workers] for lane in each]
        assert sorted(together) == list(RankLanes(12, rank, world_size).own())


def test_ranks_of_ranks_divide_the_lanes_of_a_rank() -> None:
    whole = RankLanes(12, 1, 2)
    assert sorted(lane for rank in range(3) for lane in whole.within(rank, 3).own()) == list(whole.own())


@pytest.mark.parametrize("step", [MAP, FILTER, BATCHES, LIST, RUNS, Repeat(2), Shuffle(1, 4)])
def test_steps_that_see_rows_or_batches_work_in_lanes(step: object) -> None:
    assert works_by_shard(step)  # type: ignore[arg-type]


@pytest.mark.parametrize("step", [Limit(3), Part(0, 2, True, 1), RankLanes(4, 0, 1)])
def test_steps_that_see_all_rows_do_not(step: object) -> None:
    assert not works_by_shard(step)  # type: ignore[arg-type]


def test_lists_and_limits_behind_see_the_rows_of_the_rank() -> None:
    assert divided_steps([MAP, RUNS, LIST, MAP]) == ((MAP, RUNS), (LIST, MAP))
    assert divided_steps([FILTER, Limit(3), MAP]) == ((FILTER,), (Limit(3), MAP))
    keeping: list[Step] = [LIST, MAP, FILTER]
    others: list[Step] = [Limit(3), BATCHES, RUNS]
    assert all(map(keeps_shards, keeping))
    assert not any(map(keeps_shards, others))


@pytest.mark.parametrize(("change", "kind"), [("none", PlacedShards), ("shuffle", PlacedShards), ("filter", ShardsInTurn)])
def test_the_rows_of_any_node_divide(change: str, kind: type) -> None:
    rows = {"none": STREAM, "shuffle": STREAM.shuffle(seed=1, buffer_size=4), "filter": STREAM.filter(None)}[change]
    nodes = [RankLanes(4, rank, 2).on(rows._plan.node(0), 0) for rank in range(2)]

    assert all(isinstance(node, kind) for node in nodes)
    found = [row["a"] for node in nodes for delivery in node.blocks(node.start) for row in delivery.block.rows()]
    assert sorted(found) == list(range(10))

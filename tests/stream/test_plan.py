"""Plans of streams: values that know their rows, their features and their identity."""

import pickle
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.functions import Function, RowsMade
from datasets_core.stream.nodes.jobs import RowsOfJobs
from datasets_core.stream.nodes.positions import RowsByPlace
from datasets_core.stream.nodes.shard import PlacedShards, ShardsInTurn
from datasets_core.stream.order.layers import Ints
from datasets_core.stream.plan import Plan, RankLanes, divided_steps, keeps_shards, projected
from datasets_core.stream.sources.tables import RowsOfTable
from datasets_core.stream.steps import Batch, Filter, Limit, Map, Part, Repeat, Share, Shuffle, Step

STREAM = Dataset.from_dict({"a": list(range(10))}).to_iterable_dataset(2)
PLAN = STREAM._plan


def _rows(plan: Plan, share: Share | None = None) -> list[Any]:
    node = plan.node(0, share)
    return [row["a"] for delivery in node.blocks(node.start) for row in delivery.block.rows()]


def test_arithmetic_tells_how_many_rows_there_are() -> None:
    assert PLAN.then(Limit(7)).then(Batch(2, (), False)).num_rows == 4
    assert STREAM.filter(None)._plan.num_rows is None


def test_a_step_that_does_not_fit_is_refused_when_it_is_added() -> None:
    with pytest.raises(UnknownColumnError):
        PLAN.then(Batch(None, ("z",), False))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_shares_divide_a_plan(count: int) -> None:
    plan = PLAN.then(Shuffle(1, 4))
    assert sorted(row for index in range(count) for row in _rows(plan, Share(index, count))) == list(range(10))


def test_parts_are_taken_before_functions_run() -> None:
    plan = STREAM.filter(None).map(lambda row: row)._plan.sharded(2, 1, is_contiguous=True)
    assert isinstance(plan.steps[0], Part)
    assert _rows(plan) == [5, 6, 7, 8, 9]


def test_parts_are_taken_behind_steps_that_count() -> None:
    plan = STREAM.filter(None).take(7)._plan.sharded(2, 1, is_contiguous=True)
    assert isinstance(plan.steps[-1], Part)
    assert _rows(plan) == [1, 3, 5]


def test_every_so_many_rows_keep_the_shards() -> None:
    plan = PLAN.every(3, 1)
    assert (_rows(plan), plan.num_shards) == ([1, 4, 7], 2)


def test_plans_have_the_same_signature_wherever_they_are_made() -> None:
    def plan(by: int) -> Plan:
        return STREAM.map(lambda row: {"b": row["a"] * by}).batch(2)._plan

    assert plan(2).signature() == plan(2).signature() != plan(3).signature()
    shuffled = PLAN.then(Shuffle(1, 4))
    assert pickle.loads(pickle.dumps(shuffled)).signature() == shuffled.signature()
    assert PLAN.signature()[0][0] == "10 rows"


def test_a_function_without_identity_is_known_by_its_name() -> None:
    lock = threading.Lock()
    (_, step) = STREAM.map(lambda row: {"b": lock.locked()})._plan.signature()
    assert step == ["map(<lambda>)", ""]


def test_a_long_text_is_cut() -> None:
    (_, step) = STREAM.rename_columns({"a": "b" * 100})._plan.signature()
    assert len(step[0]) == 80


# Columns that nobody needs are not read, and what comes of the rows is the same.

ROWS = {"a": list(range(12)), "b": [f"b{row}" for row in range(12)], "c": [row * 0.5 for row in range(12)], "d": [None] * 12}
FEATURES = Features({"a": Value("int64"), "b": Value("string"), "c": Value("float64"), "d": Value("int8")})


@dataclass
class _Rows(RowsByPlace):
    """Rows that tell which columns were read."""

    names: tuple[str, ...] = tuple(ROWS)
    read_names: list[tuple[str, ...]] = field(default_factory=list)
    num_rows = 12
    paths = NOWHERE
    projects = True

    @property
    def features(self) -> Features:
        return Features({name: FEATURES[name] for name in self.names})

    def near(self, place: int, epoch: int) -> int:
        return 12

    def signed(self) -> list[Any]:
        return ["rows", ""]

    def projected(self, names: Sequence[str]) -> Self:
        return type(self)(tuple(names), self.read_names)

    def read(self, places: Ints, epochs: Ints | int) -> pa.RecordBatch:
        self.read_names.append(self.names)
        columns = [
            pa.array([ROWS[name][place] for place in places], self.features.arrow_schema.field(name).type)
            for name in self.names
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.features.arrow_schema)


def _double(a: int) -> dict[str, Any]:
    return {"a": a * 2, "e": a}


CASES: dict[str, tuple[Callable[[IterableDataset], IterableDataset], str]] = {
    "select": (lambda rows: rows.select_columns(["c", "a"]), "ac"),
    "select behind a shuffle": (lambda rows: rows.shuffle(seed=1).skip(2).take(7).select_columns("b"), "b"),
    "remove": (lambda rows: rows.remove_columns(["b", "d"]), "ac"),
    "remove twice": (lambda rows: rows.remove_columns("b").repeat(2).remove_columns("c"), "ad"),
    "rename": (lambda rows: rows.rename_columns({"a": "b", "b": "x"}).select_columns("b"), "a"),
    "rename and remove": (lambda rows: rows.rename_column("a", "x").remove_columns(["x", "c"]), "bd"),
    "swap": (lambda rows: rows.rename_columns({"a": "b", "b": "a"}).remove_columns("a"), "acd"),
    "select fewer and fewer": (
        lambda rows: rows.select_columns(["a", "b", "c"]).select_columns(["b", "c"]).select_columns("c"),
        "c",
    ),
    "cast": (
        lambda rows: rows.cast_column("b", Value("large_string")).cast_column("a", Value("int8")).select_columns("a"),
        "a",
    ),
    "cast all": (lambda rows: rows.cast(Features({**FEATURES, "a": Value("int16")})).remove_columns("b"), "acd"),
    "add": (lambda rows: rows.add_column("z", list(range(12))).select_columns(["z", "c"]), "c"),
    "only what was added": (lambda rows: rows.add_column("z", list(range(12))).select_columns("z"), "a"),
    "nothing": (lambda rows: rows.select_columns([]), "a"),
    "lists": (lambda rows: rows.batch(5).select_columns("b"), "b"),
    "lists of runs": (lambda rows: rows.batch(by_column="a").select_columns("b"), "ab"),
    "filter by a column": (lambda rows: rows.filter(lambda a: a % 2, input_columns="a").select_columns("b"), "ab"),
    "filter by rows": (lambda rows: rows.filter(lambda row: row["a"] % 2).select_columns("b"), "abcd"),
    "filter behind": (lambda rows: rows.select_columns("a").filter(lambda row: row["a"] % 2), "a"),
    "map of a column": (lambda rows: rows.map(_double, input_columns="a").select_columns(["e", "c"]), "ac"),
    "map that replaces": (lambda rows: rows.map(_double, input_columns="a", remove_columns=list(ROWS)), "a"),
    "map of batches": (
        lambda rows: rows.map(
            lambda a: {"n": [sum(a)]}, batched=True, input_columns=["a"], remove_columns=list(ROWS), batch_size=5
        ),
        "a",
    ),
    "map of rows": (lambda rows: rows.map(lambda row: {"e": row["d"]}).select_columns("e"), "abcd"),
    "map with features": (
        lambda rows: rows.map(_double, input_columns="a", features=Features({**FEATURES, "e": Value("int8")})).select_columns(
            "e"
        ),
        "abcd",
    ),
    "all": (lambda rows: rows.shuffle(seed=2), "abcd"),
}


@pytest.mark.parametrize("name", CASES)
def test_only_what_is_needed_is_read_and_nothing_else_changes(name: str) -> None:
    steps_on, columns = CASES[name]
    source = _Rows()
    stream = steps_on(IterableDataset(Plan(source)))
    plain = steps_on(IterableDataset.from_dict(ROWS, features=FEATURES))

    found = list(stream)

    assert source.read_names and {"".join(names) for names in source.read_names} == {columns}
    assert found == list(_unprojected(plain))
    rows = iter(stream)
    for _ in range(min(3, len(found))):
        next(rows)
    state = stream.state_dict()
    again = steps_on(IterableDataset(Plan(_Rows())))
    again.load_state_dict(state)
    assert list(again) == found[3:]


def _unprojected(stream: IterableDataset) -> list[dict[str, Any]]:
    """The rows of a stream whose rows are in a table that reads all columns."""
    source = stream._plan.source
    assert isinstance(source, RowsOfTable)

    class Whole(RowsOfTable):
        def projected(self, names: Sequence[str]) -> Self | None:
            return None

    whole = Whole(source.table, None, source.features, source.paths, source.identity)
    return list(IterableDataset(Plan(whole, stream._plan.steps)))


def test_rows_that_cannot_be_read_in_part_stay_as_they_are() -> None:
    steps = IterableDataset.from_dict(ROWS).select_columns("a")._plan.steps
    source = RowsOfJobs((), FEATURES, NOWHERE, lambda: ["rows", ""])
    assert projected(source, steps) == (source, steps)


def test_a_table_keeps_its_open_files_for_the_same_columns() -> None:
    source = IterableDataset.from_dict(ROWS)._plan.source
    assert isinstance(source, RowsOfTable)
    first, again = source.projected(["c", "a"]), source.projected(["a", "c"])
    assert first is not None and again is not None
    assert first.table is again.table
    assert list(first.features) == first.read(np.array([1])).schema.names == ["a", "c"]


def test_unknown_columns_are_told_at_once() -> None:
    with pytest.raises(UnknownColumnError):
        IterableDataset(Plan(_Rows())).select_columns("a").remove_columns("b")


# The step that divides a stream by lanes: whose lanes are whose, and which steps each lane does by itself.

FUNCTION = Function(print, "map")
MAP, FILTER = Map(RowsMade(FUNCTION)), Filter(FUNCTION)
BATCHES = Map(RowsMade(FUNCTION), is_batched=True, size=4)
LIST, RUNS = Batch(2, (), False), Batch(None, ("a",), False)
STREAM_RANK_LANES = Dataset.from_dict({"a": list(range(10))}).to_iterable_dataset()


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
def test_steps_that_see_rows_or_batches_work_in_lanes(step: Step) -> None:
    assert step.works_in_shards


@pytest.mark.parametrize("step", [Limit(3), Part(0, 2, True, 1), RankLanes(4, 0, 1)])
def test_steps_that_see_all_rows_do_not(step: Step) -> None:
    assert not step.works_in_shards


def test_lists_and_limits_behind_see_the_rows_of_the_rank() -> None:
    assert divided_steps([MAP, RUNS, LIST, MAP]) == ((MAP, RUNS), (LIST, MAP))
    assert divided_steps([FILTER, Limit(3), MAP]) == ((FILTER,), (Limit(3), MAP))
    keeping: list[Step] = [LIST, MAP, FILTER]
    others: list[Step] = [Limit(3), BATCHES, RUNS]
    assert all(map(keeps_shards, keeping))
    assert not any(map(keeps_shards, others))


@pytest.mark.parametrize(("change", "kind"), [("none", PlacedShards), ("shuffle", PlacedShards), ("filter", ShardsInTurn)])
def test_the_rows_of_any_node_divide(change: str, kind: type) -> None:
    rows = {
        "none": STREAM_RANK_LANES,
        "shuffle": STREAM_RANK_LANES.shuffle(seed=1, buffer_size=4),
        "filter": STREAM_RANK_LANES.filter(None),
    }[change]
    nodes = [RankLanes(4, rank, 2).on(rows._plan.node(0), 0) for rank in range(2)]

    assert all(isinstance(node, kind) for node in nodes)
    found = [row["a"] for node in nodes for delivery in node.blocks(node.start) for row in delivery.block.rows()]
    assert sorted(found) == list(range(10))

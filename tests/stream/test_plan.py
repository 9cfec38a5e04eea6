"""Plans of streams: values that know their rows, their features and their identity."""

import pickle
import threading
from typing import Any

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import UnknownColumnError
from datasets_core.stream.plan import Plan
from datasets_core.stream.steps import Batch, Limit, Part, Share, Shuffle

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

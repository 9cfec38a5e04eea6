"""Steps as values: what they say of themselves, and that arithmetic does what it can."""

import pytest

from datasets_core import Dataset, Features, Value
from datasets_core.errors import UnknownColumnError
from datasets_core.stream.changes import Selected
from datasets_core.stream.functions import Function, RowsMade
from datasets_core.stream.node import Ordered
from datasets_core.stream.nodes import Changed
from datasets_core.stream.order import Cut
from datasets_core.stream.steps import Batch, ChangeColumns, Filter, Limit, Map, Part, Repeat, Shuffle, Step

NODE = Dataset.from_dict({"a": list(range(10))}).to_iterable_dataset()._plan.node(0)
FUNCTION = Function(print, "map")
MAP = Map(RowsMade(FUNCTION))
MAP_BATCHES = Map(RowsMade(FUNCTION), is_batched=True, size=4)
FILTER = Filter(FUNCTION)

TEXTS: list[tuple[Step, str]] = [
    (ChangeColumns(Selected(("a",)), "select_columns(['a'])"), "select_columns(['a'])"),
    (MAP, "map(print)"),
    (FILTER, "filter(print)"),
    (Batch(2, (), False), "batch(2)"),
    (Batch(None, ("a",), False), "batch(by_column=['a'])"),
    (Limit(3), "take(3)"),
    (Limit(3, is_skip=True), "skip(3)"),
    (Repeat(None), "repeat(None)"),
    (Shuffle(1, 5), "shuffle(seed=1, buffer_size=5)"),
    (Part(1, 3, True, 1), "shard(3, 1)"),
]


@pytest.mark.parametrize(("step", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_a_step_says_what_the_user_called(step: Step, text: str) -> None:
    assert step.text == text
    assert step.parts


@pytest.mark.parametrize("step", [step for step, text in TEXTS if "filter" not in text and "by_column" not in text])
def test_steps_that_keep_places_stay_arithmetic(step: Step) -> None:
    assert isinstance(step.on(NODE, 0), Ordered)


@pytest.mark.parametrize("step", [FILTER, MAP_BATCHES, Batch(None, ("a",), False), Batch(None, (), False)])
def test_steps_that_must_see_rows_are_none(step: Step) -> None:
    assert not isinstance(step.on(NODE, 0), Ordered)


def test_a_change_of_a_part_sees_the_numbers_of_the_whole() -> None:
    assert isinstance(NODE, Ordered)
    assert isinstance(MAP.on(NODE.shared(Cut((range(3),))), 0), Changed)


def test_features_follow_the_steps() -> None:
    before = Features({"a": Value("int64")})
    assert FILTER.features(before) == before
    assert MAP.features(before) is None
    assert Map(RowsMade(FUNCTION, (), before)).features(None) == before
    assert Batch(2, (), False).features(None) is None


@pytest.mark.parametrize(
    "step",
    [Map(RowsMade(FUNCTION, ("z",))), Filter(Function(print, "filter", input_columns=("z",))), Batch(None, ("z",), False)],
)
def test_an_unknown_column_is_refused(step: Step) -> None:
    with pytest.raises(UnknownColumnError):
        step.features(Features({"a": Value("int64")}))


@pytest.mark.parametrize(
    ("step", "unit"), [(MAP, 1), (MAP_BATCHES, 4), (FILTER, 1), (Filter(FUNCTION, True, 3), 3), (Batch(5, (), False), 5)]
)
def test_a_step_says_which_rows_stay_together(step: Step, unit: int) -> None:
    assert (step.unit, step.is_local) == (unit, True)


@pytest.mark.parametrize("shards", [1, 4, 6])
@pytest.mark.parametrize("count", [1, 3, 5])
@pytest.mark.parametrize("together", [1, 4, None])
@pytest.mark.parametrize("contiguous", [True, False])
def test_parts_divide_the_rows(shards: int, count: int, together: int | None, contiguous: bool) -> None:
    cuts = [Part(index, count, contiguous, shards, together).cut(25) for index in range(count)]
    assert sorted(row for cut in cuts for run in cut.runs for row in run) == list(range(25))
    assert all(run.start % (together or 25) == 0 for cut in cuts for run in cut.runs if run)

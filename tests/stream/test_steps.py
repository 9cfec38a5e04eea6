"""Steps as values: what they say of themselves, and that arithmetic does what it can."""

from collections.abc import Callable
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import UnknownColumnError
from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.table import RowTable
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.columns import Selected
from datasets_core.stream.nodes.functions import Function, RowsMade
from datasets_core.stream.nodes.map_filter import Changed
from datasets_core.stream.nodes.ordered import Ordered
from datasets_core.stream.order.layers import Cut, Ints
from datasets_core.stream.order.shuffle import ShuffledBlocks
from datasets_core.stream.plan import Plan
from datasets_core.stream.sources.tables import RowsOfTable
from datasets_core.stream.steps import Batch, ChangeColumns, Filter, Limit, Map, Part, Repeat, Shuffle, Step

NODE = Dataset.from_dict({"a": list(range(10))}).to_iterable_dataset()._plan.node(0)
FUNCTION = Function(print, "map")
MAP = Map(RowsMade(FUNCTION))
MAP_BATCHES = Map(RowsMade(FUNCTION), is_batched=True, size=4)
FILTER = Filter(Function(print, "filter"))

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


@pytest.mark.parametrize("fact", ["text", "parts", "on", "is_local", "works_in_shards", "counts_rows", "joins_rows"])
def test_a_step_that_does_not_say_how_it_divides_cannot_be_made(fact: str) -> None:
    facts = {
        "text": "",
        "parts": (),
        "on": None,
        "is_local": True,
        "works_in_shards": True,
        "counts_rows": False,
        "joins_rows": False,
    }
    assert type("Whole", (Step,), facts)()
    with pytest.raises(TypeError, match=f"abstract method {fact}"):
        type("Forgetful", (Step,), {name: value for name, value in facts.items() if name != fact})()


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


BLOCKS = RowBlocks.of([20] * 30, [2000] * 30)


class _InBlocks(RowsOfTable):
    """Rows that lie in blocks, and tell what is expected and read of them."""

    log: list[tuple[str, list[int]]]
    is_fetched = True

    @property
    def blocks(self) -> RowBlocks:
        return BLOCKS

    def expect(self, places: Ints, epochs: Ints | int) -> None:
        self.log.append(("expect", places.tolist()))

    def read(self, places: Ints, epochs: Ints | int = 0) -> pa.RecordBatch:
        self.log.append(("read", places.tolist()))
        return super().read(places, epochs)


def _in_blocks() -> tuple[IterableDataset, list[tuple[str, list[int]]]]:
    table = RowTable.from_table(pa.table({"a": np.arange(600)}))
    source = _InBlocks(table, None, Features({"a": Value("int64")}), NOWHERE, str)
    log: list[tuple[str, list[int]]] = []
    object.__setattr__(source, "log", log)
    return IterableDataset(Plan(source)), log


def _order(blocks: RowBlocks, epoch: int = 0, **options: Any) -> list[int]:
    return ShuffledBlocks(blocks, 1, **options).below(np.arange(blocks.num_rows), epoch).tolist()


ABOVE = BLOCKS.cut([range(30, 500)])
SHUFFLES: dict[str, tuple[Callable[[IterableDataset], IterableDataset], list[int]]] = {
    "alone": (lambda rows: rows.shuffle(1), _order(BLOCKS)),
    "by rows": (lambda rows: rows.shuffle(1, buffer_size=500), _order(BLOCKS, buffer_rows=500)),
    "by bytes": (lambda rows: rows.shuffle(1, window_bytes=4000), _order(BLOCKS, buffer_rows=None, window_bytes=4000)),
    "of a part": (lambda rows: rows.skip(30).take(470).shuffle(1), [30 + row for row in _order(ABOVE)]),
    "of changed rows": (lambda rows: rows.map(lambda row: row).shuffle(1), _order(BLOCKS)),
    "in rounds": (lambda rows: rows.repeat(2).shuffle(1), _order(BLOCKS) + _order(BLOCKS, 1)),
    "without end": (lambda rows: rows.repeat(None).shuffle(1).take(700), (_order(BLOCKS) + _order(BLOCKS, 1))[:700]),
    "of a part of rounds": (
        lambda rows: rows.repeat(2).take(620).shuffle(1),
        [row % 600 for row in _order(RowBlocks.of([20] * 31, [2000] * 31))],
    ),
}


@pytest.mark.parametrize("name", SHUFFLES)
def test_rows_in_blocks_are_shuffled_by_their_blocks(name: str) -> None:
    stream, expected = SHUFFLES[name][0](_in_blocks()[0]), SHUFFLES[name][1]
    assert list(stream["a"]) == expected
    rows = iter(stream)
    list(islice(rows, 111))
    again = SHUFFLES[name][0](_in_blocks()[0])
    again.load_state_dict(stream.state_dict())
    assert list(again["a"]) == expected[111:]


def test_lists_of_rows_in_blocks_are_shuffled_by_their_blocks() -> None:
    lists = list(_in_blocks()[0].batch(7).shuffle(1)["a"])
    assert sorted(lists) == [list(range(start, min(600, start + 7))) for start in range(0, 600, 7)]
    assert max(abs(left[0] - right[0]) for left, right in pairwise(lists)) > 300


def test_rounds_whose_rows_are_numbered_are_shuffled_as_one() -> None:
    def numbered(row: dict[str, Any], number: int) -> dict[str, Any]:
        return {"n": number}

    found = list(_in_blocks()[0].repeat(2).map(numbered, with_indices=True).shuffle(1))
    assert sorted(row["n"] for row in found) == list(range(1200))
    assert all(row["a"] == row["n"] % 600 for row in found)


@pytest.mark.parametrize("with_indices", [False, True])
def test_behind_a_filter_blocks_move_and_windows_mix(with_indices: bool) -> None:
    def keeps(row: dict[str, Any], number: int | None = None) -> bool:
        assert number in (None, row["a"])
        return bool(row["a"] % 2)

    stream = _in_blocks()[0].filter(keeps, with_indices=with_indices).shuffle(1, buffer_size=40)
    found = list(stream["a"])
    blocks = [[row // 20 for row in found[start : start + 40]] for start in range(0, 300, 40)]

    assert sorted(found) == list(range(1, 600, 2))
    assert all(len(set(window)) == 4 for window in blocks[:-1])
    assert len({tuple(sorted(set(window))) for window in blocks}) == 8
    assert sorted(found[:40]) != list(range(1, 80, 2)) and found[:40] != sorted(found[:40])
    by_bytes = list(_in_blocks()[0].filter(keeps).shuffle(1, window_bytes=4000)["a"])
    assert by_bytes == found  # 100 bytes a row
    rows = iter(stream)
    list(islice(rows, 111))
    again = _in_blocks()[0].filter(keeps, with_indices=with_indices).shuffle(1, buffer_size=40)
    again.load_state_dict(stream.state_dict())
    assert list(again["a"]) == found[111:]


def test_what_comes_next_is_expected_before_it_is_read() -> None:
    for stream in (_in_blocks()[0], _in_blocks()[0].shuffle(1)):
        source = stream._plan.source
        assert isinstance(source, _InBlocks)
        source.log.clear()
        expected: set[int] = set()
        for _ in stream:
            for what, places in source.log:
                assert what == "expect" or expected.issuperset(places)
                expected.update(places)
            source.log.clear()


def test_first_rows_expect_few() -> None:
    stream, log = _in_blocks()
    list(islice(stream, 4))
    list(stream.take(5))
    assert max(max(places, default=0) for _, places in log) < 20
    log.clear()
    list(islice(stream.shuffle(1), 4))
    assert len({place // 20 for _, places in log for place in places}) == 1

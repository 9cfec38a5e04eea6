"""Steps that must see rows: one suite for all of them, on rows of which arithmetic knows no places."""

import json
from typing import Any

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.engines.pool import Pace, WorkerPool
from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.columns import ColumnChange
from datasets_core.stream.nodes.functions import Function, RowsMade
from datasets_core.stream.nodes.map_filter import (
    Changed,
    Counted,
    Filtered,
    FilteredByBatch,
    Lists,
    MappedByBatch,
    Rounds,
    SelectedRows,
    Windows,
    numbered,
    pieces,
    worked,
)
from datasets_core.stream.nodes.node import Delivery, Node, Over, RowChange
from datasets_core.stream.nodes.ordered import Ordered
from datasets_core.stream.nodes.positions import RowsByPlace
from datasets_core.stream.order.layers import ENDLESS, OrderLayer, Repeated
from datasets_core.stream.steps import Step

ORDERED = Dataset.from_dict({"a": list(range(40))}).to_iterable_dataset()._plan.node(0)
BELOW = Filtered(ORDERED, Function(lambda row: row["a"] % 4 != 0, "filter"))
VALUES = [value for value in range(40) if value % 4]


def _numbered(row: dict[str, Any], number: int) -> dict[str, Any]:
    return {"a": (row["a"], number)}


def _doubled(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {"a": [value for value in batch["a"] if value % 3 for _ in range(2)]}


def _parts(size: int) -> list[list[int]]:
    return [VALUES[start : start + size] for start in range(0, len(VALUES), size)]


NODES: dict[str, tuple[Node, list[Any] | None]] = {
    "filtered": (Filtered(BELOW, Function(lambda row: row["a"] % 3 == 0, "filter")), [v for v in VALUES if v % 3 == 0]),
    "filtered by batch": (
        FilteredByBatch(BELOW, 7, Function(lambda batch: [i < 2 for i in range(len(batch["a"]))], "filter")),
        [value for part in _parts(7) for value in part[:2]],
    ),
    "changed": (
        Changed(Counted(BELOW), RowsMade(Function(_numbered, "map", with_indices=True))),
        [(value, number) for number, value in enumerate(VALUES)],
    ),
    "mapped by batch": (
        MappedByBatch(BELOW, 4, RowsMade(Function(_doubled, "map"), ("a",)), False),
        [value for value in VALUES if value % 3 for _ in range(2)],
    ),
    "mapped by whole batches": (
        MappedByBatch(BELOW, 4, RowsMade(Function(_doubled, "map"), ("a",)), True),
        [value for value in VALUES[:28] if value % 3 for _ in range(2)],
    ),
    "shuffled": (Windows(BELOW, 8, 1, 0), None),
    "first": (SelectedRows(BELOW, range(5)), VALUES[:5]),
    "behind": (SelectedRows(BELOW, range(5, ENDLESS)), VALUES[5:]),
    "every third": (SelectedRows(BELOW, range(1, ENDLESS, 3)), VALUES[1::3]),
    "rounds": (Rounds(BELOW, 2), VALUES * 2),
    "no round": (Rounds(BELOW, 0), []),
    "endless": (SelectedRows(Rounds(BELOW, None), range(70)), (VALUES * 3)[:70]),
    "lists": (Lists(BELOW, 4, (), False), _parts(4)),
    "whole lists": (Lists(BELOW, 4, (), True), [part for part in _parts(4) if len(part) == 4]),
    "one list": (Lists(BELOW, None, (), False), [VALUES]),
    "runs": (
        Lists(Changed(BELOW, RowsMade(Function(lambda row: {"b": row["a"] // 9}, "map"))), None, ("b",), False),
        [[value for value in VALUES if value // 9 == tens] for tens in range(5)],
    ),
    "whole runs": (
        Lists(Changed(BELOW, RowsMade(Function(lambda row: {"b": row["a"] // 9}, "map"))), None, ("b",), True),
        [[value for value in VALUES if value // 9 == tens] for tens in range(4)],
    ),
}


def _values(node: Node, state: object) -> list[Any]:
    return [row["a"] for delivery in node.blocks(state) for row in delivery.block.rows()]


@pytest.mark.parametrize("name", NODES)
def test_a_step_gives_its_rows(name: str) -> None:
    node, values = NODES[name]
    found = _values(node, node.start)
    assert sorted(found) == VALUES if values is None else found == values


@pytest.mark.parametrize("name", NODES)
def test_from_every_state_on_the_rest_comes(name: str) -> None:
    node, _ = NODES[name]
    whole, count = _values(node, node.start), 0
    for delivery in node.blocks(node.start):
        assert delivery.block.num_rows
        assert _values(node, delivery.before) == whole[count:]
        for row in range(delivery.block.num_rows):
            count += 1
            assert _values(node, json.loads(json.dumps(delivery.after(row)))) == whole[count:]


def test_rounds_of_nothing_end() -> None:
    assert _values(Rounds(SelectedRows(BELOW, range(0)), None), [[ORDERED.start, 0], 0]) == []


def test_the_first_rows_are_taken_without_a_look_at_the_others() -> None:
    def fails_late(row: dict[str, Any]) -> bool:
        assert row["a"] < 30
        return True

    node = SelectedRows(Filtered(ORDERED, Function(fails_late, "filter")), range(3))
    assert _values(node, node.start) == [0, 1, 2]


@pytest.mark.parametrize(
    ("base", "lacking"),
    [
        (Node, "blocks"),
        (Over, "own_numbers"),
        (Step, "counts_rows"),
        (OrderLayer, "below"),
        (RowChange, "changed"),
        (ColumnChange, "features"),
    ],
)
def test_a_kind_that_lacks_a_method_cannot_be_made(base: type, lacking: str) -> None:
    kind = type("Lacking", (base,), {})
    with pytest.raises(TypeError, match=rf"abstract.*\b{lacking}\b"):
        kind()


def test_rows_with_places_have_numbers_already() -> None:
    assert numbered(ORDERED, True) is ORDERED
    assert numbered(BELOW, False) is BELOW
    assert isinstance(numbered(BELOW, True), Counted)


def test_windows_differ_by_epoch() -> None:
    assert _values(Windows(BELOW, 8, 1, 1), [ORDERED.start, 0, 0]) != _values(Windows(BELOW, 8, 1, 0), [ORDERED.start, 0, 0])


def test_every_round_is_a_turn_of_its_own() -> None:
    """What reads the rows is told how often they were read before, through steps and through rounds of rounds."""

    class Turning(RowsByPlace):
        features, paths, num_rows, changes_by_epoch = Features({"a": Value("int64")}), NOWHERE, 2, True

        def near(self, place: int, epoch: int) -> int:
            return ENDLESS

        def signed(self) -> list[Any]:
            return ["rows", ""]

        def read(self, places: Any, epochs: Any) -> Any:
            return pa.record_batch({"a": pa.array((places * 0 + epochs).tolist(), pa.int64())})

    ordered = Ordered(Turning(), (), 5)  # type: ignore[arg-type]
    filtered = Filtered(ordered, Function(lambda row: True, "filter"))

    twice = Rounds(Rounds(filtered, 2), 3, 5)
    arithmetic = ordered.under(Repeated(2, 2)).under(Repeated(4, 3))

    assert _values(twice, twice.start) == [turn for turn in range(30, 36) for _ in range(2)]
    assert _values(arithmetic, 0) == _values(twice, twice.start)
    assert _values(Rounds(filtered, 1, 5), [filtered.start, 0]) == [5, 5]
    assert _values(SelectedRows(Rounds(filtered, None, 5), range(6)), [[filtered.start, 0], 0]) == [5, 5, 6, 6, 7, 7]


# Work on deliveries by workers: the same as without, in pieces.

NODE = Dataset.from_dict({"a": list(range(100))}).to_iterable_dataset()._plan.node(0)


def _values_pooled(delivery: Delivery) -> list[int]:
    return [row["a"] for row in delivery.block.rows()]


def test_pieces_are_as_large_as_workers_take_them() -> None:
    pace, sizes = Pace(), []
    for piece in pieces(NODE.blocks(0), pace):
        sizes.append(piece.block.num_rows)
        pace.rows = 7
    assert sizes[0] == 1 and max(sizes) == 7 and sum(sizes) == 100


@pytest.mark.parametrize("pool", [None, WorkerPool(3)])
def test_each_piece_comes_with_what_was_made_of_it_and_its_states(pool: WorkerPool | None) -> None:
    values: list[int] = []
    for delivery, found in worked(NODE.blocks(10), _values_pooled, pool, 4, "a test"):
        assert found == _values_pooled(delivery)
        assert delivery.before == found[0] and delivery.after(len(found) - 1) == found[-1] + 1
        values += found
    assert values == list(range(10, 100))

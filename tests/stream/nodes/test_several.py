"""Several nodes that are read as one: their lanes, and their rows in random order."""

from __future__ import annotations

from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.map_filter import Rounds
from datasets_core.stream.nodes.mix import Concat, Mixed, sizes_of
from datasets_core.stream.nodes.node import Node
from datasets_core.stream.nodes.shard import shard_of
from datasets_core.stream.order.mixture import InTurn, Stopping
from tests.stream.listed_rows import ListedRows, read


def _placed(first: int, count: int) -> IterableDataset:
    return IterableDataset.from_dict({"row": list(range(first, first + count))})


def _rows(node: Node) -> list[int]:
    return read(node, node.start, 500)[0]


def test_lanes_have_all_rows_of_all_nodes_together() -> None:
    nodes = (_placed(0, 50)._plan.node(0), ListedRows(1, 30), _placed(100, 7).filter(lambda row: True)._plan.node(0))
    for node in (Concat(nodes), Mixed(nodes, InTurn(3), Stopping.ALL_EXHAUSTED_WITHOUT_REPLACEMENT)):
        rows = [row for lane in range(4) for row in _rows(shard_of(node, lane, 4))]

        assert sorted(rows) == sorted(_rows(node))


def test_random_orders_of_equal_nodes_differ() -> None:
    node = _placed(0, 40)._plan.node(0)

    one, other, again = (_rows(node.shuffle_among(1, 7, number, 0)) for number in (0, 1, 0))

    assert one == again != other
    assert sorted(one) == sorted(other) == list(range(40))


def test_rows_that_come_again_and_again_are_mixed_within_each_round() -> None:
    node = _placed(0, 10).repeat(None).take(30)._plan.node(0)
    endless = _placed(0, 10).repeat(None)._plan.node(0)

    assert sorted(_rows(node.shuffle_among(1, 7, 0, 0))) == sorted(3 * list(range(10)))
    rows = read(endless.shuffle_among(1, 7, 0, 0), 0, 30)[0]
    assert [sorted(rows[start : start + 10]) for start in (0, 10, 20)] == 3 * [list(range(10))]


def test_nodes_are_compared_by_rows_or_else_by_files() -> None:
    placed, made = _placed(0, 40)._plan.node(0), IterableDataset.from_generator(dict, gen_kwargs=None)._plan.node(0)

    assert sizes_of([placed, placed.in_turn(1)]) == [40, 40]
    assert sizes_of([placed, made]) == [1, 1]


def test_what_stands_behind_several_nodes_is_known() -> None:
    assert Rounds(Concat((ListedRows(0, 1),)), 2).is_combination
    assert not ListedRows(0, 1).is_combination

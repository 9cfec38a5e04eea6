"""Rows whose places are known: read in blocks from any place on, each with the state behind every row."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.stream.nodes.functions import Function
from datasets_core.stream.nodes.map_filter import Filtered
from datasets_core.stream.nodes.node import Node, chosen, part
from datasets_core.stream.nodes.ordered import Ordered
from datasets_core.stream.order.layers import Cut, Grouped, Shuffled

NODE = Dataset.from_dict({"a": list(range(30))}).to_iterable_dataset()._plan.node(0)
assert isinstance(NODE, Ordered)
NODES: dict[str, Node] = {
    "plain": NODE,
    "shuffled": NODE.under(Shuffled(30, 8, 1)),
    "cut": NODE.under(Cut((range(20, 30), range(0, 10, 3)))),
    "lists": NODE.under(Grouped(30, 4, False)),
    "shared": NODE.shared(Cut((range(5, 20),))),
    "filtered": Filtered(NODE, Function(lambda row: row["a"] % 3 == 0, "filter")),
}


def _rows(node: Node, state: object, size: int | None) -> list[object]:
    found = node.blocks(state) if size is None else node.batches(state, size)
    return [row for delivery in found for row in delivery.block.rows()]


@pytest.mark.parametrize("size", [None, 1, 7, 100])
@pytest.mark.parametrize("name", NODES)
def test_from_every_state_on_the_rest_comes(name: str, size: int | None) -> None:
    node = NODES[name]
    whole, count = _rows(node, node.start, None), 0
    for delivery in node.blocks(node.start) if size is None else node.batches(node.start, size):
        assert _rows(node, delivery.before, None) == whole[count:]
        for row in range(delivery.block.num_rows):
            count += 1
            assert _rows(node, delivery.after(row), size) == whole[count:]
    assert count == len(whole)


@pytest.mark.parametrize("name", NODES)
def test_batches_are_full_but_for_the_last(name: str) -> None:
    sizes = [delivery.block.num_rows for delivery in NODES[name].batches(NODES[name].start, 3)]
    assert set(sizes[:-1]) <= {3} and 1 <= sizes[-1] <= 3


@given(st.integers(0, 29), st.data())
def test_a_part_of_a_delivery_has_its_states(start: int, data: st.DataObject) -> None:
    stop = data.draw(st.integers(start + 1, 30))
    (whole,) = NODE.batches(0, 30)
    found = part(whole, start, stop)
    assert (found.before, found.after(0), found.block.num_rows) == (start, start + 1, stop - start)
    assert chosen(found, [0]).after(0) == start + 1


def test_rows_of_a_share_keep_their_numbers() -> None:
    numbers = itertools.chain(*(delivery.numbers for delivery in NODES["shared"].blocks(0) if delivery.numbers is not None))
    assert list(numbers) == list(range(5, 20))


def test_a_share_of_a_share_is_a_part_of_it() -> None:
    node = NODE.shared(Cut((range(5, 20),))).shared(Cut((range(2, 4),)))
    assert (node.num_rows, node.is_shared, _rows(node, 0, None)) == (2, True, [{"a": 7}, {"a": 8}])


def test_the_first_block_is_small_so_that_rows_come_early() -> None:
    assert next(iter(NODE.blocks(0))).block.num_rows == 4


def test_lanes_are_runs_of_rows_and_lists_are_made_within_them() -> None:
    lanes = [NODES["shuffled"].shard(lane, 4) for lane in range(4)]  # type: ignore[attr-defined]
    assert [row for lane in lanes for row in _rows(lane, 0, None)] == _rows(NODES["shuffled"], 0, None)
    assert [lane.num_rows for lane in lanes] == [8, 8, 7, 7]
    lists = [_rows(NODES["lists"].shard(lane, 4), 0, None) for lane in range(4)]  # type: ignore[attr-defined]
    assert [len(row["a"]) for row in lists[0] + lists[3]] == [4, 4, 4, 3]
    assert [number for lane in lists for row in lane for number in row["a"]] == list(range(30))

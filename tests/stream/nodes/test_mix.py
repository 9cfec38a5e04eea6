"""Concat rows: one node after the other, and on from any state."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.map_filter import Rounds
from datasets_core.stream.nodes.mix import Concat, Mixed, Zip, sizes_of
from datasets_core.stream.nodes.node import Node
from datasets_core.stream.nodes.shard import shard_of
from datasets_core.stream.order.mixture import InTurn, MixtureSchedule, Stopping
from tests.stream.listed_rows import ListedRows, read
from tests.stream.nodes.test_mixed_nodes import drawn, mixtures


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_rows_come_one_node_after_the_other_and_go_on_from_any_state(lengths: list[int]) -> None:
    node = Concat(tuple(ListedRows(number, count, 2) for number, count in enumerate(lengths)))

    rows, states = read(node, node.start)

    assert rows == [1000 * number + row for number, count in enumerate(lengths) for row in range(count)]
    for place, state in enumerate(states):
        assert read(node, state)[0] == rows[place + 1 :]


# Several nodes that are read as one: their lanes, and their rows in random order.


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


# Columns of several nodes side by side, up to the end of the longest, and on from any state.


@given(st.lists(st.integers(0, 7), min_size=1, max_size=3), st.lists(st.integers(1, 4), min_size=3, max_size=3))
def test_rows_stand_side_by_side_and_go_on_from_any_state(lengths: list[int], sizes: list[int]) -> None:
    node = Zip(tuple(ListedRows(number, count, sizes[number], f"c{number}") for number, count in enumerate(lengths)))

    rows, states = read(node, node.start)

    wanted = [[1000 * number + row for number, count in enumerate(lengths) if row < count] for row in range(max(lengths))]
    assert [list(row) if isinstance(row, tuple) else [row] for row in rows] == wanted
    for place, state in enumerate(states):
        assert read(node, state)[0] == rows[place + 1 :]


def test_a_column_that_two_have_is_named() -> None:
    node = Zip((ListedRows(0, 2), ListedRows(1, 2)))

    with pytest.raises(ConfigurationError, match="Column 'row' is duplicated: it is in dataset 0 and in dataset 1"):
        read(node, node.start)


# Skipped by arithmetic: the state behind so many rows is one from which the same rows come as by walking.


def _placed_seeking(number: int, count: int) -> Node:
    rows = {"row": [1000 * number + row for row in range(count)]}
    return IterableDataset.from_dict(rows)._plan.node(0)


@given(mixtures(), st.lists(st.integers(0, 120), max_size=6))
@settings(max_examples=60, deadline=None)
def test_seeking_equals_walking(mixture: tuple[list[int], MixtureSchedule, Stopping], places: list[int]) -> None:
    lengths, turns, strategy = mixture
    node = Mixed(tuple(_placed_seeking(number, count) for number, count in enumerate(lengths)), turns, strategy)
    wanted = drawn(lengths, turns, strategy)

    assert min(200, node.num_rows or 0) == len(wanted)
    for place in places:
        assert read(node, node.state_after(place), 20)[0] == wanted[place : place + 20]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 25))
@settings(deadline=None)
def test_chains_and_rounds_are_skipped_by_arithmetic(lengths: list[int], place: int) -> None:
    chain = Concat(tuple(_placed_seeking(number, count) for number, count in enumerate(lengths)))
    rows = [1000 * number + row for number, count in enumerate(lengths) for row in range(count)]
    assert read(chain, chain.state_after(place))[0] == rows[place:]

    if rows:
        again = Rounds(chain, 3)
        assert read(again, again.state_after(place))[0] == (rows * 3)[place:]


def test_what_only_shows_when_it_is_read_is_not_skipped() -> None:
    node = Concat((ListedRows(0, 3), ListedRows(1, 3)))

    assert node.state_after(2) is None
    assert node.num_rows is None


def test_rows_that_may_fail_and_be_left_out_are_not_counted() -> None:
    def fail(row: dict[str, int]) -> None:
        if row["row"] == 1:
            raise ValueError("odd")

    rows = IterableDataset.from_dict({"row": [0, 1, 2, 3]})
    node = Mixed(
        (rows.map(fail, on_error="skip")._plan.node(0), _placed_seeking(1, 2)),
        InTurn(2),
        Stopping.ALL_EXHAUSTED_WITHOUT_REPLACEMENT,
    )

    assert node.num_rows is None
    assert node.state_after(3) is None

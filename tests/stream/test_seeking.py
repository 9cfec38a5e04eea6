"""Skipped by arithmetic: the state behind so many rows is one from which the same rows come as by walking."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.map_filter import Rounds
from datasets_core.stream.nodes.mix import Concat, Mixed
from datasets_core.stream.nodes.node import Node
from datasets_core.stream.order.mixture import InTurn, MixtureSchedule, Stopping
from tests.stream.listed_rows import ListedRows, read
from tests.stream.nodes.test_mixed_nodes import drawn, mixtures


def _placed(number: int, count: int) -> Node:
    rows = {"row": [1000 * number + row for row in range(count)]}
    return IterableDataset.from_dict(rows)._plan.node(0)


@given(mixtures(), st.lists(st.integers(0, 120), max_size=6))
@settings(max_examples=60, deadline=None)
def test_seeking_equals_walking(mixture: tuple[list[int], MixtureSchedule, Stopping], places: list[int]) -> None:
    lengths, turns, strategy = mixture
    node = Mixed(tuple(_placed(number, count) for number, count in enumerate(lengths)), turns, strategy)
    wanted = drawn(lengths, turns, strategy)

    assert min(200, node.num_rows or 0) == len(wanted)
    for place in places:
        assert read(node, node.state_after(place), 20)[0] == wanted[place : place + 20]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 25))
@settings(deadline=None)
def test_chains_and_rounds_are_skipped_by_arithmetic(lengths: list[int], place: int) -> None:
    chain = Concat(tuple(_placed(number, count) for number, count in enumerate(lengths)))
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
        (rows.map(fail, on_error="skip")._plan.node(0), _placed(1, 2)), InTurn(2), Stopping.ALL_EXHAUSTED_WITHOUT_REPLACEMENT
    )

    assert node.num_rows is None
    assert node.state_after(3) is None

"""Concat rows: one node after the other, and on from any state."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from datasets_core.stream.nodes.mix import Concat
from tests.stream.listed_rows import ListedRows, read


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4))
def test_rows_come_one_node_after_the_other_and_go_on_from_any_state(lengths: list[int]) -> None:
    node = Concat(tuple(ListedRows(number, count, 2) for number, count in enumerate(lengths)))

    rows, states = read(node, node.start)

    assert rows == [1000 * number + row for number, count in enumerate(lengths) for row in range(count)]
    for place, state in enumerate(states):
        assert read(node, state)[0] == rows[place + 1 :]

"""Columns of several nodes side by side, up to the end of the longest, and on from any state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.stream.nodes.mix import Zip
from tests.stream.listed_rows import ListedRows, read


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

    with pytest.raises(ConfigurationError, match="Column 'row' is in dataset 0 and in dataset 1"):
        read(node, node.start)

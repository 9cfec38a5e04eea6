"""Mixed rows: the rule of each strategy row by row, whatever the blocks are; and resumed anywhere as if never interrupted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.stream.nodes.mix import Mixed
from datasets_core.stream.order.mixture import InTurn, MixtureSchedule, Stopping, mixture_schedule, num_of_rows
from tests.stream.listed_rows import ListedRows, read

LENGTHS = st.lists(st.sampled_from([0, 1, 2, 3, 7, 20]), min_size=1, max_size=4)
_MOST = 200


def drawn(lengths: list[int], turns: MixtureSchedule, strategy: Stopping) -> list[int]:
    """The definition: pick by pick, each source looked at behind each of its rows."""
    at, ended, found, pick = [0] * len(lengths), [False] * len(lengths), [], 0
    is_over = any if strategy == "first_exhausted" else all
    while not is_over(ended) and len(found) < _MOST:
        source = int(turns.picks(pick, pick + 1)[0])
        pick += 1
        if ended[source] and strategy == "all_exhausted_without_replacement":
            continue
        if at[source] < lengths[source]:
            found.append(1000 * source + at[source])
            at[source] += 1
        if at[source] >= lengths[source]:
            ended[source] = True
            at[source] = at[source] if strategy == "all_exhausted_without_replacement" else 0
    return found


@st.composite
def mixtures(draw: Any) -> tuple[list[int], MixtureSchedule, Stopping]:
    """Lengths of sources, turns, and a strategy."""
    lengths = draw(LENGTHS)
    parts = draw(st.none() | st.lists(st.integers(1, 9), min_size=len(lengths), max_size=len(lengths)))
    weights: Any = None if parts is None else [part / sum(parts) for part in parts]
    if weights is not None and draw(st.booleans()):
        weights = {0: weights, draw(st.integers(1, 30)): [1 / len(lengths)] * len(lengths)}
    turns = mixture_schedule(weights, len(lengths), draw(st.integers(0, 3)), 0)
    return lengths, turns.in_shard(1, 3) if draw(st.booleans()) else turns, draw(st.sampled_from(Stopping))


@given(mixtures(), st.lists(st.integers(1, 9), min_size=4, max_size=4), st.data())
@settings(max_examples=120, deadline=None)
def test_rows_come_as_the_rule_says_and_go_on_from_any_state(
    mixture: tuple[list[int], MixtureSchedule, Stopping], sizes: list[int], data: st.DataObject
) -> None:
    lengths, turns, strategy = mixture
    wanted = drawn(lengths, turns, strategy)
    nodes = tuple(ListedRows(number, count, sizes[number]) for number, count in enumerate(lengths))
    node = Mixed(nodes, turns, strategy)

    rows, states = read(node, node.start, _MOST)
    assert rows == wanted

    for place in data.draw(st.lists(st.integers(0, max(0, len(rows) - 1)), max_size=8)) if rows else []:
        assert read(node, states[place], 20)[0][: len(wanted) - place - 1] == wanted[place + 1 : place + 21]


@given(mixtures())
@settings(max_examples=80)
def test_the_number_of_rows_follows_from_those_of_the_sources(mixture: tuple[list[int], MixtureSchedule, Stopping]) -> None:
    lengths, turns, strategy = mixture

    assert min(_MOST, num_of_rows(turns, lengths, strategy)) == len(drawn(lengths, turns, strategy))


@pytest.mark.parametrize(
    ("strategy", "rows"),
    [
        ("first_exhausted", [0, 1000, 1]),
        ("all_exhausted", [0, 1000, 1, 1001, 0, 1002]),
        ("all_exhausted_without_replacement", [0, 1000, 1, 1001, 1002]),
    ],
)
def test_streams_end_behind_the_last_row_of_one_as_they_do_elsewhere(strategy: str, rows: list[int]) -> None:
    node = Mixed((ListedRows(0, 2), ListedRows(1, 3)), InTurn(2), Stopping(strategy))

    assert read(node, node.start)[0] == rows


def test_no_source_is_read_before_it_is_drawn() -> None:
    node = Mixed((ListedRows(0, 9), ListedRows(1, 9)), mixture_schedule([1.0, 0.0], 2, 0, 0), Stopping.FIRST_EXHAUSTED)

    _, states = read(node, node.start)

    assert states[-1] == [9, [[9, 0, 2], [0, 0, 0]]]

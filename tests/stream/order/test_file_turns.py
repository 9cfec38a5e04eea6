"""Files in an order of their own, once or without end."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.stream.order.files import EndlessFileTurns, FileTurns, epochs_of_stretch

LENGTHS = np.array([4, 0, 7, 2])


def _order(epoch: int) -> np.ndarray:
    return np.roll(np.arange(4), epoch)


@given(st.permutations(range(4)), st.integers(1, 5), st.integers(1, 5))
def test_an_order_of_files_is_theirs_in_turn(order: list[int], cycle: int, block: int) -> None:
    turns = FileTurns(LENGTHS, np.array(order), cycle, block)
    files, rows = turns.at(np.arange(13))

    found = list(zip(files.tolist(), rows.tolist(), strict=True))

    assert sorted(found) == [(file, row) for file in range(4) for row in range(LENGTHS[file])]
    assert list(dict.fromkeys(file for file, row in found)) == [file for file in order if LENGTHS[file]]
    assert turns.places_of(files, rows).tolist() == list(range(13))


@given(st.integers(1, 9), st.integers(1, 5))
def test_epochs_without_end_are_the_files_of_as_many_as_one_likes(cycle: int, block: int) -> None:
    """What is planned for the first rows does not depend on how many epochs follow."""
    turns = EndlessFileTurns(LENGTHS, _order, cycle, block, 60)
    files, rows = turns.at(np.arange(100))

    many = FileTurns(np.tile(LENGTHS, 60), np.concatenate([_order(epoch) + 4 * epoch for epoch in range(60)]), cycle, block)
    expected, expected_rows = many.at(np.arange(100))

    assert files.tolist() == (expected % 4).tolist()
    assert rows.tolist() == expected_rows.tolist()
    found = list(zip(files.tolist(), rows.tolist(), strict=True))
    assert turns.places_of(files, rows).tolist() == [found.index(row) for row in found]
    assert [turns.first_behind(place) for place in range(60)] == [many.first_behind(place) for place in range(60)]


@pytest.mark.parametrize("place", [0, 12, 13, 5000])
def test_any_place_can_be_asked_for_first(place: int) -> None:
    whole = EndlessFileTurns(LENGTHS, _order, 2, 2, 1000).at(np.arange(place + 1))

    file, row = EndlessFileTurns(LENGTHS, _order, 2, 2, 1000).at(np.array([place]))

    assert (file[0], row[0]) == (whole[0][-1], whole[1][-1])


def test_one_file_at_a_time_is_one_epoch_after_the_other() -> None:
    files, _ = EndlessFileTurns(LENGTHS, _order, 1, 2, 4).at(np.arange(26))
    assert [file for file, _ in itertools.groupby(files.tolist())] == [0, 2, 3, 0, 2]


@given(st.integers(1, 9), st.integers(1, 5), st.integers(1, 4), st.integers(0, 3), st.lists(st.integers(0, 12), max_size=5))
def test_stretches_follow_each_other(cycle: int, block: int, epochs: int, number: int, some: list[int]) -> None:
    turns, rows = EndlessFileTurns(LENGTHS, _order, cycle, block, epochs), 13 * epochs
    orders = np.concatenate([_order(number * epochs + epoch) for epoch in range(epochs)])
    stretch = FileTurns(LENGTHS, orders, cycle, block)
    places = np.array([*range(rows), *some])

    found = turns.at(places + number * rows)

    assert [each.tolist() for each in found] == [each.tolist() for each in stretch.at(places)]
    assert turns.first_behind((number + 1) * rows - 1) == (number + 1) * rows
    both = EndlessFileTurns(LENGTHS, _order, cycle, block, epochs).at(np.arange(2 * rows))
    assert [each[-1].tolist() for each in both] == [each[0].tolist() for each in turns.at(np.array([2 * rows - 1]))]


@pytest.mark.parametrize("changes", [False, True])
def test_a_place_far_behind_takes_no_longer_than_a_stretch(changes: bool) -> None:
    planned = 0

    def order(epoch: int) -> np.ndarray:
        nonlocal planned
        planned += 1
        return _order(epoch)

    epochs = epochs_of_stretch(4, changes=changes)
    files, rows = EndlessFileTurns(LENGTHS, order, 2, 2, epochs).at(np.array([2**61]))

    assert 0 <= rows[0] < LENGTHS[files[0]]
    assert planned <= epochs <= 4096


def test_a_row_of_a_long_file_comes_when_it_comes_among_the_files_of_later_epochs() -> None:
    lengths = np.array([500, 1])
    turns = EndlessFileTurns(lengths, lambda epoch: np.array([0, 1]), 3, 2, 100)
    found = list(zip(*(each.tolist() for each in turns.at(np.arange(1600))), strict=True))

    fresh = EndlessFileTurns(lengths, lambda epoch: np.array([0, 1]), 3, 2, 100)

    assert fresh.places_of(np.array([0]), np.array([499])).tolist() == [found.index((0, 499))]

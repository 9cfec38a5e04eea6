"""Files in an order of their own, once or without end."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.stream.file_turns import EndlessTurns, Turns

LENGTHS = np.array([4, 0, 7, 2])


def _order(epoch: int) -> np.ndarray:
    return np.roll(np.arange(4), epoch)


@given(st.permutations(range(4)), st.integers(1, 5), st.integers(1, 5))
def test_an_order_of_files_is_theirs_in_turn(order: list[int], cycle: int, block: int) -> None:
    turns = Turns(LENGTHS, np.array(order), cycle, block)
    files, rows = turns.at(np.arange(13))

    found = list(zip(files.tolist(), rows.tolist(), strict=True))

    assert sorted(found) == [(file, row) for file in range(4) for row in range(LENGTHS[file])]
    assert list(dict.fromkeys(file for file, row in found)) == [file for file in order if LENGTHS[file]]
    assert turns.places_of(files, rows).tolist() == list(range(13))


@given(st.integers(1, 9), st.integers(1, 5))
def test_epochs_without_end_are_the_files_of_as_many_as_one_likes(cycle: int, block: int) -> None:
    """What is planned for the first rows does not depend on how many epochs follow."""
    turns = EndlessTurns(LENGTHS, _order, cycle, block)
    files, rows = turns.at(np.arange(100))

    many = Turns(np.tile(LENGTHS, 60), np.concatenate([_order(epoch) + 4 * epoch for epoch in range(60)]), cycle, block)
    expected, expected_rows = many.at(np.arange(100))

    assert files.tolist() == (expected % 4).tolist()
    assert rows.tolist() == expected_rows.tolist()
    found = list(zip(files.tolist(), rows.tolist(), strict=True))
    assert turns.places_of(files, rows).tolist() == [found.index(row) for row in found]
    assert [turns.first_behind(place) for place in range(60)] == [many.first_behind(place) for place in range(60)]


@pytest.mark.parametrize("place", [0, 12, 13, 5000])
def test_any_place_can_be_asked_for_first(place: int) -> None:
    whole = EndlessTurns(LENGTHS, _order, 2, 2).at(np.arange(place + 1))

    file, row = EndlessTurns(LENGTHS, _order, 2, 2).at(np.array([place]))

    assert (file[0], row[0]) == (whole[0][-1], whole[1][-1])


def test_one_file_at_a_time_is_one_epoch_after_the_other() -> None:
    files, _ = EndlessTurns(LENGTHS, _order, 1, 2).at(np.arange(26))
    assert [file for file, _ in itertools.groupby(files.tolist())] == [0, 2, 3, 0, 2]

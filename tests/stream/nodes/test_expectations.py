"""What several readers expect of the same rows is expected together."""

import numpy as np

from datasets_core.stream.nodes.positions import Expectations, Turns
from datasets_core.stream.order.layers import Ints


class _Rows:
    def __init__(self) -> None:
        self.told: list[tuple[list[int], Turns]] = []

    def expect(self, places: Ints, turns: Turns) -> None:
        self.told.append((places.tolist(), turns if isinstance(turns, int) else turns.tolist()))


def test_one_reader_is_told_as_it_says() -> None:
    rows = _Rows()
    expected = Expectations(rows.expect)
    expected.say("a", np.array([3, 1]), 2)
    expected.say("a", np.array([5]), np.array([7]))
    expected.leave("a")
    assert rows.told == [([3, 1], 2), ([5], [7]), ([], 0)]


def test_what_comes_first_for_any_reader_comes_first() -> None:
    rows = _Rows()
    expected = Expectations(rows.expect)
    expected.say("a", np.arange(4), 1)
    expected.passed("a", 2)
    expected.say("b", np.array([10, 11]), np.array([1, 2]))
    assert rows.told[-1] == ([2, 10, 3, 11], [1, 1, 1, 2])
    expected.say("c", np.array([20]), 1)
    assert rows.told[-1] == ([2, 10, 20, 3, 11], [1, 1, 1, 1, 2])


def test_nothing_is_taken_back_before_the_last_reader_leaves() -> None:
    rows = _Rows()
    expected = Expectations(rows.expect)
    expected.say("a", np.arange(4), 0)
    expected.say("b", np.arange(4, 8), 0)
    count = len(rows.told)
    expected.leave("a")
    expected.leave("stranger")
    assert len(rows.told) == count
    expected.leave("b")
    assert rows.told[count:] == [([], 0)]


def test_many_readers_are_told_of_in_part() -> None:
    rows = _Rows()
    expected = Expectations(rows.expect)
    for reader in range(100):
        expected.say(reader, np.arange(reader * 10_000, (reader + 1) * 10_000), 0)
    places = rows.told[-1][0]
    assert len(places) <= 100 * 256
    assert {place // 10_000 for place in places[:100]} == set(range(100))

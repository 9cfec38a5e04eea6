"""A tap gives rows of a stream as they are drawn, and says exactly where it stands."""

from __future__ import annotations

from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.map_filter import Counted
from datasets_core.stream.nodes.shard import Clock, Lookahead
from tests.stream.listed_rows import ListedRows


def test_rows_are_given_as_they_are_drawn() -> None:
    tap = Lookahead(ListedRows(0, 5, size=3), [0, 0, 0], 0)
    assert tap.pull()
    assert tap.pull()

    found = [[row["row"] for delivery in tap.given(count) for row in delivery.block.rows()] for count in (2, 2, 1)]

    assert found == [[0, 1], [2, 3], [4]]
    assert not tap.pull()


def test_where_it_stands_tells_whether_a_row_is_known_to_follow() -> None:
    tap = Lookahead(ListedRows(0, 3, size=3), [0, 0, 0], 0)
    tap.pull()

    tap.given(2)
    assert tap.stands == [2, 0, 0]
    tap.given(1)
    assert tap.stands == [3, 0, 2]


def test_a_tap_that_ended_begins_again_or_stays() -> None:
    tap = Lookahead(ListedRows(0, 1), [1, 0, 2], 0)
    assert not tap.pull()

    tap.end(begins_again=True)
    assert tap.stands == [0, 1, 1]
    assert tap.pull()


def test_a_clock_stands_while_others_are_read() -> None:
    times = iter([10, 12, 100, 101, 105])
    clock = Clock(lambda: next(times))

    with clock:
        pass
    assert clock() == 2
    with clock:
        assert clock() == 3
    assert clock() == 7


def test_rows_at_the_bottom_are_read_by_the_clock_of_their_tap() -> None:
    rows = IterableDataset.from_dict({"a": [1, 2]})
    clocks: list[object] = []

    class Timed(ListedRows):
        def timed_by(self, clock: object) -> Timed:
            clocks.append(clock)
            return self

    assert Counted(Timed(0, 1)).timed_by(Clock()) == Counted(Timed(0, 1))
    assert len(clocks) == 1
    assert isinstance(rows.filter(bool)._plan.node(0).timed_by(Clock()), type(rows.filter(bool)._plan.node(0)))

"""What several readers expect of the same rows is expected together."""

import json
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.store.table import RowTable
from datasets_core.stream.nodes.block import ArrowBlock, Block, Kinds
from datasets_core.stream.nodes.positions import Expectations, NextPositions, Positions, RowsByPlace, Turns, WidePositions
from datasets_core.stream.order.files import FileRows
from datasets_core.stream.order.layers import Grouped, Ints
from datasets_core.stream.sources.tables import Order, RowsOfFiles, RowsOfTable


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


# Everything a stream can begin with reads any of its rows first, and says what it is.

TABLE = RowTable.from_table(pa.table({"a": range(20)}))
FEATURES = Features({"a": Value("int64")})
FILES = (FileRows("x", 0, 9), FileRows("y", 3, 11))


def _signed() -> list[Any]:
    return ["20 rows", "ab", []]


ROWS: dict[str, RowsByPlace] = {
    "table": RowsOfTable(TABLE, None, FEATURES, NOWHERE, str),
    "index": RowsOfTable(TABLE, np.arange(19, -1, -1), FEATURES, NOWHERE, str),
    "files": RowsOfFiles(TABLE, FILES, Order(2, 3), FEATURES, NOWHERE, _signed),
    "shuffled": RowsOfFiles(TABLE, FILES, Order(2, 3, seed=4, is_drawn=True), FEATURES, NOWHERE, _signed, ("row_id",)),
}


@pytest.fixture(params=list(ROWS))
def rows(request: pytest.FixtureRequest) -> RowsByPlace:
    """Each kind."""
    return ROWS[request.param]


@pytest.mark.parametrize("epoch", [0, 1, 5])
def test_any_places_are_read_as_they_are_in_order(rows: RowsByPlace, epoch: int) -> None:
    whole = rows.read(np.arange(20), epoch)
    places = np.array([7, 7, 0, 19, 8, 9, 10])

    assert rows.read(places, epoch).to_pylist() == [whole.to_pylist()[place] for place in places]
    assert rows.read(places[:0], epoch).num_rows == 0
    assert sorted(whole["a"].to_pylist()) == list(range(rows.num_rows))
    assert whole.schema.names == list(rows.features)


def test_rows_of_several_epochs_are_read_together(rows: RowsByPlace) -> None:
    places, epochs = np.array([3, 3, 4, 0]), np.array([1, 0, 1, 2])

    found = rows.read(places, epochs).to_pylist()

    assert found == [
        rows.read(np.array([place]), int(epoch)).to_pylist()[0] for place, epoch in zip(places, epochs, strict=True)
    ]


def test_an_order_that_does_not_change_is_the_same_in_every_epoch(rows: RowsByPlace) -> None:
    orders = [rows.read(np.arange(20), epoch)["a"].to_pylist() for epoch in range(4)]
    assert (len({tuple(order) for order in orders}) > 1) is rows.changes_by_epoch


def test_what_tells_rows_from_others_is_plain(rows: RowsByPlace) -> None:
    signed = rows.signed()
    assert json.loads(json.dumps(signed)) == signed
    assert pickle.loads(pickle.dumps(rows)).signed() == signed


def test_a_place_where_reading_costs_more_lies_behind(rows: RowsByPlace) -> None:
    assert all(rows.near(place, 0) > place for place in range(20))


def test_a_drawn_seed_can_be_another(rows: RowsByPlace) -> None:
    assert rows.with_seed(9).drawn_seed == (None if rows.drawn_seed is None else 9)


def test_rows_in_memory_have_no_structure_and_are_at_hand(rows: RowsByPlace) -> None:
    rows.expect(np.arange(3), 0)

    assert (rows.reach(7), rows.reach(100)) == (7, 20)
    assert rows.as_jobs() is None
    assert rows.blocks is None
    assert rows.origins(np.arange(3), 0) is None


# Where rows stand, in part too; and that more of them are read at once only where they can be had.

KINDS = Kinds(Features({"a": Value("int64")}))


def _located(start: int, count: int) -> NextPositions:
    return NextPositions(start, Positions(np.arange(start, start + count), np.arange(start, start + count) * 10, 0, []))


def _reading(broken: int = 1 << 40) -> tuple[Callable[[Positions], Block], list[int]]:
    counts: list[int] = []

    def read(positions: Positions) -> Block:
        counts.append(len(positions.places))
        if (positions.places >= broken).any():
            raise ConfigurationError("broken")
        return ArrowBlock(pa.record_batch({"a": positions.places}), KINDS)

    return read, counts


def test_a_part_of_lists_has_their_rows() -> None:
    lists = Grouped(10, 4, False)
    positions = Positions(np.arange(3), np.arange(10), np.arange(10), [(lists, np.arange(3))])
    found = positions.part(1, 3)
    assert found.numbers.tolist() == found.above[0][1].tolist() == [1, 2]
    assert found.places.tolist() == list(found.turns) == [4, 5, 6, 7, 8, 9]  # type: ignore[arg-type]
    assert positions.part(0, 3) is positions


def test_rows_are_read_once_and_many_at_a_time() -> None:
    read, counts = _reading()
    wide, located = WidePositions(read), _located(100, 50)
    for start in range(100, 150, 5):
        block = wide.read(located, start, located.part(start, start + 5), 4 * (start - 100))
        assert [row["a"] for row in block.rows()] == [place * 10 for place in range(start, start + 5)]
    assert counts == [5, 20, 25]
    other = _located(150, 10)
    assert wide.read(other, 150, other.part(0 + 150, 152), 0).rows() == [{"a": 1500}, {"a": 1510}]


def test_rows_that_cannot_be_had_spoil_none_before_them() -> None:
    read, counts = _reading(broken=1300)
    wide, located = WidePositions(read), _located(100, 50)
    for start in range(100, 130, 10):
        assert wide.read(located, start, located.part(start, start + 10), 100).num_rows == 10
    assert counts == [50, 10, 40, 10, 30, 10]
    with pytest.raises(ConfigurationError):
        wide.read(located, 130, located.part(130, 140), 100)


def test_large_rows_are_read_few_at_a_time() -> None:
    counts: list[int] = []

    def read(positions: Positions) -> Block:
        counts.append(len(positions.places))
        return ArrowBlock(pa.record_batch({"a": [["x" * (1 << 20)]] * len(positions.places)}), KINDS)

    wide, located = WidePositions(read), _located(0, 100)
    wide.read(located, 0, located.part(0, 2), 0)
    wide.read(located, 2, located.part(2, 4), 100)
    assert counts == [2, 6]

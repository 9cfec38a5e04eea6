"""Everything a stream can begin with reads any of its rows first, and says what it is."""

import json
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.store.table import RowTable
from datasets_core.stream.nodes.positions import RowsByPlace
from datasets_core.stream.order.files import FileRows
from datasets_core.stream.sources.tables import Order, RowsOfFiles, RowsOfTable

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

"""Rows of files: their order, their ids, and how they are copied."""

import itertools
import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.store.table import RowTable
from datasets_core.stream.order.files import FileRows
from datasets_core.stream.order.layers import ENDLESS, Permutation
from datasets_core.stream.sources.tables import Order, RowsOfFiles

LENGTHS = (50, 3, 120, 77)
FILES = tuple(FileRows(f"f{number}", number, rows) for number, rows in enumerate(LENGTHS))
BATCHES = [
    {"a": list(range(start, min(250, start + 40))), "t": [f"t{i}" for i in range(start, min(250, start + 40))]}
    for start in range(0, 250, 40)
]
TABLE = RowTable.from_batches([pa.RecordBatch.from_pydict(batch) for batch in BATCHES])
FEATURES = Features({"a": Value("int64"), "t": Value("string")})


def _signed() -> list[Any]:
    return []


def _rows(order: Order, ids: tuple[str, ...] = ()) -> RowsOfFiles:
    return RowsOfFiles(TABLE, FILES, order, FEATURES, NOWHERE, _signed, ids)


def _numbers(rows: RowsOfFiles, places: Any, epoch: int = 0) -> list[int]:
    found = rows.read(np.asarray(places, np.int64), epoch)
    assert found["t"].to_pylist() == [f"t{number}" for number in found["a"].to_pylist()]
    return [int(number) for number in found["a"].to_pylist()]


@given(st.integers(1, 5), st.integers(1, 40), st.integers(0, 249), st.integers(1, 250))
def test_a_run_of_places_is_read_however_it_is_copied(cycle: int, block: int, start: int, count: int) -> None:
    rows = _rows(Order(cycle, block))
    files, numbers = rows.in_epoch(0).at(np.arange(250))
    starts = np.cumsum([0, *LENGTHS])
    expected = (starts[files] + numbers).tolist()

    assert _numbers(rows, range(start, min(250, start + count))) == expected[start : start + count]


@pytest.mark.parametrize("block", [1, 3, 16])
def test_scattered_places_are_read_too(block: int) -> None:
    rows = _rows(Order(3, block))
    whole = _numbers(rows, range(250))
    places = Permutation(250, block).at(np.arange(250))

    assert _numbers(rows, places) == [whole[place] for place in places]
    assert _numbers(rows, range(1, 250, 7)) == whole[1::7]


def test_what_pyarrow_does_not_take_is_read_too() -> None:
    views = pa.table({"v": pa.array([f"view {i}" for i in range(250)]).cast(pa.string_view())})
    rows = RowsOfFiles(RowTable.from_table(views), FILES, Order(4, 8), Features({"v": Value("string_view")}), NOWHERE, _signed)

    files, numbers = rows.in_epoch(0).at(np.arange(250))

    starts = np.cumsum([0, *LENGTHS])
    assert rows.read(np.arange(250), 0)["v"].to_pylist() == [f"view {i}" for i in (starts[files] + numbers).tolist()]


def test_ids_count_from_the_beginning_of_the_file() -> None:
    found = _rows(Order(1, 16), ("tfds_id", "row_id")).read(np.array([0, 49, 50, 53, 249]), 0)

    assert found["tfds_id"].to_pylist() == ["f0__0", "f0__49", "f1__1", "f2__2", "f3__79"]
    assert found["row_id"].to_pylist() == found["tfds_id"].to_pylist()


def test_another_epoch_is_another_order_of_files_alone() -> None:
    rows = _rows(Order(1, 16, seed=3), ("row_id",))

    orders = [
        [each.partition("__")[0] for each in rows.read(np.arange(250), epoch)["row_id"].to_pylist()] for epoch in range(5)
    ]

    assert all(list(dict.fromkeys(order)) != list(dict.fromkeys(other)) for order, other in itertools.pairwise(orders))
    assert all(sorted(order) == sorted(orders[0]) for order in orders)
    assert len(rows._known) <= 3


def test_one_order_for_all_epochs() -> None:
    rows = _rows(Order(2, 4, seed=3, reshuffles=False))
    assert _numbers(rows, range(250), 0) == _numbers(rows, range(250), 7) != _numbers(_rows(Order(2, 4)), range(250))


def test_epochs_without_end_have_no_last_row() -> None:
    rows = _rows(Order(2, 4, seed=3, is_endless=True))

    assert rows.num_rows == ENDLESS
    assert sorted(_numbers(_rows(Order(1, 4, is_endless=True)), range(500))) == sorted([*range(250)] * 2)
    assert rows.near(10**4, 0) > 10**4


def test_the_next_file_is_near() -> None:
    rows = _rows(Order(1, 4))
    assert [rows.near(place, 0) for place in (0, 49, 50, 60, 249)] == [50, 50, 53, 173, 250]


def test_copies_forget_what_was_planned_and_plan_it_again() -> None:
    rows = _rows(Order(2, 4, seed=3, is_endless=True), ("row_id",))
    expected = rows.read(np.arange(90), 1).to_pylist()

    assert pickle.loads(pickle.dumps(rows)).read(np.arange(90), 1).to_pylist() == expected

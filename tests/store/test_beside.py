"""Tables side by side read as one table of all columns."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import CastError
from datasets_core.store.rows.create import spread, viewed
from datasets_core.store.table import RowTable, zipped


def _table(name: str, values: list[int], cuts: list[int]) -> RowTable:
    borders = [0, *sorted(cuts), len(values)]
    parts = [values[a:b] for a, b in itertools.pairwise(borders)]
    schema = pa.schema({name: pa.int64()})
    return RowTable.from_batches([pa.record_batch([pa.array(part, pa.int64())], schema=schema) for part in parts], schema)


@settings(max_examples=50)
@given(st.lists(st.integers(0, 9), max_size=12), st.data())
def test_rows_of_both_stand_side_by_side_however_they_are_cut(values: list[int], data: st.DataObject) -> None:
    cuts = st.lists(st.integers(0, len(values)), max_size=3)
    left = _table("a", values, data.draw(cuts))
    right = _table("b", [value + 1 for value in values], data.draw(cuts))
    start = data.draw(st.integers(0, len(values)))

    both = zipped(left, right)

    wanted = [{"a": value, "b": value + 1} for value in values]
    assert both.to_table().to_pylist() == pickle.loads(pickle.dumps(both)).to_table().to_pylist() == wanted
    assert both.slice(start, len(values)).select(["b"]).to_table().to_pylist() == [{"b": row["b"]} for row in wanted[start:]]


@pytest.mark.parametrize(
    ("right", "message"), [(_table("b", [1, 2], []), "of 1 and of 2 rows"), (_table("a", [1], []), "would be called 'a'")]
)
def test_tables_that_do_not_go_together_are_refused(right: RowTable, message: str) -> None:
    with pytest.raises(CastError, match=message):
        zipped(_table("a", [1], []), right)


def test_fields_are_columns_and_null_where_their_struct_is() -> None:
    table = RowTable.from_table(pa.table({"s": [{"x": 1, "y": {"z": "p"}}, None, {"x": None, "y": None}]}))

    flat = spread(table, [(0, 1, 0), (0, 0)], pa.schema({"z": pa.string(), "x": pa.int64()}))

    assert flat.to_table().to_pydict() == {"z": ["p", None, None], "x": [1, None, None]}
    assert pickle.loads(pickle.dumps(flat)).to_table().to_pydict() == flat.to_table().to_pydict()


@pytest.mark.parametrize("wanted", [pa.json_(pa.string()), pa.string()])
@pytest.mark.parametrize("stored", [pa.json_(pa.string()), pa.string()])
def test_a_view_stores_the_same(stored: Any, wanted: Any) -> None:
    array = viewed(pa.array(["1", None]), stored)

    found = viewed(array, wanted)

    assert found.type == wanted
    assert viewed(found, pa.string()).buffers()[2].address == array.buffers()[2].address

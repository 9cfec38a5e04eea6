"""Columns computed anew in blocks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.recompute import checked, recomputed, retyped_schema, runs, shown_rows, with_columns_of
from datasets_core.errors import CellCastError
from datasets_core.features.arrow import Misfit
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Json
from datasets_core.store.table import RowTable


def _table() -> RowTable:
    return RowTable.from_batches([pa.record_batch({"a": [n, n + 1], "b": ["x", "y"]}) for n in range(0, 6, 2)])


def test_small_pieces_are_read_together_and_hidden_rows_are_null() -> None:
    index = np.array([5, 0, 0])

    (start, block), *more = runs(_table(), shown_rows(index, 6))

    assert (start, more) == (0, [])
    assert block.to_pydict() == {"a": [0, None, None, None, None, 5], "b": ["x", None, None, None, None, "y"]}
    assert shown_rows(np.arange(6), 6) is None


def test_changed_columns_take_the_places_of_the_old_ones() -> None:
    table = _table()

    made = RowTable.from_batches(recomputed(table, None, {"a": lambda column: column.cast(pa.string())}))

    assert with_columns_of(table, made).take(np.array([4, 1])).to_pylist() == [{"a": "4", "b": "x"}, {"a": "1", "b": "y"}]
    assert with_columns_of(table.select(["a"]), made).column_names == ["a"]


def test_a_misfit_names_the_row_that_is_shown() -> None:
    def refuse(column: pa.Array) -> pa.Array:
        raise Misfit(5, "it is odd", ".x")

    with pytest.raises(CellCastError, match=r"Row 1, column 'a\.x': it is odd"):
        checked(_table(), np.array([0, 5]), {"a": refuse})


def test_fields_take_the_types_of_features_where_the_storage_is_the_same() -> None:
    schema = retyped_schema(_table(), Features({"a": Value("int64"), "b": Json()}))

    assert schema.types == [pa.int64(), pa.json_(pa.string())]

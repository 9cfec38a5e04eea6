"""What a column and a row must be, to be added."""

from __future__ import annotations

import pyarrow as pa
import pytest

from datasets_core.dataset.columns import item_features, new_column, null_table, scattered, stored_as
from datasets_core.errors import ConfigurationError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.store.table import RowTable


def test_a_column_is_a_table_of_its_own() -> None:
    table, features = new_column("c", ["x"], ClassLabel(names=["x"]), 1, ["a"])

    assert (table.to_pydict(), features) == ({"c": [0]}, {"c": ClassLabel(names=["x"])})
    with pytest.raises(ConfigurationError, match="'a' already"):
        new_column("a", ["x"], None, 1, ["a"])


def test_rows_go_to_where_an_index_points_unless_it_points_twice() -> None:
    import numpy as np

    table = pa.table({"c": ["x", "y"]})

    moved = scattered(table, np.array([3, 0]), 4)

    assert moved is not None
    assert moved.to_pydict() == {"c": ["y", None, None, "x"]}
    assert scattered(table, np.array([3, 3]), 4) is None


def test_kinds_widen_only_where_they_know_null_alone() -> None:
    features = Features({"a": Value("int8"), "n": Value("null"), "l": List(Value("null")), "k": Value("null")})

    wide = item_features({"a": 5, "n": "x", "l": [1], "new": None}, features)

    assert wide == {
        "a": Value("int8"),
        "n": Value("string"),
        "l": List(Value("int64")),
        "k": Value("null"),
        "new": Value("null"),
    }


@pytest.mark.parametrize("rows", [0, 1, 70_000])
def test_columns_of_nulls_share_their_memory(rows: int) -> None:
    table = null_table(Features({"a": Value("int64")}), rows)

    assert (table.num_rows, table.to_table().column(0).null_count) == (rows, rows)


def test_a_table_is_stored_as_another_is() -> None:
    schema = pa.schema({"a": pa.dictionary(pa.int32(), pa.string()), "j": pa.json_(pa.string())})

    stored = stored_as(pa.table({"a": ["x"], "j": ["1"]}), schema)

    assert stored.schema == schema
    assert RowTable.from_table(stored).num_rows == 1

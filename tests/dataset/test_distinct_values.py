"""Values of a column, each once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.recompute import distinct_values
from datasets_core.errors import ConfigurationError
from datasets_core.store.table import RowTable


@settings(max_examples=50)
@given(st.lists(st.none() | st.integers(0, 3), max_size=10), st.lists(st.integers(0, 9), max_size=10), st.booleans())
def test_each_value_comes_once_where_it_first_is(values: list[Any], places: list[int], is_encoded: bool) -> None:
    array = pa.array(values, pa.int64())
    table = RowTable.from_table(pa.table({"a": array.dictionary_encode() if is_encoded else array}))
    index = [place for place in places if place < len(values)]

    assert distinct_values(table, None).to_pylist() == list(dict.fromkeys(values))
    found = distinct_values(table, np.array(index, dtype=np.int64))
    assert found.to_pylist() == list(dict.fromkeys(values[place] for place in index))


def test_lists_are_not_compared() -> None:
    with pytest.raises(ConfigurationError, match="column 'a', are not compared"):
        distinct_values(RowTable.from_table(pa.table({"a": [[1]]})), None)

"""Rows of a table by number, where a stream begins."""

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.features.base import Value
from datasets_core.features.media.media import NOWHERE
from datasets_core.features.schema import Features
from datasets_core.store.table import RowTable
from datasets_core.stream.sources.tables import RowsOfTable, one_batch

TABLE = RowTable.from_batches([pa.record_batch({"a": [0, 1, 2]}), pa.record_batch({"a": [3, 4]})])
FEATURES = Features({"a": Value("int64")})


@pytest.mark.parametrize("places", [[], [0], [0, 1, 2, 3, 4], [4, 0, 0], [2, 3]])
@pytest.mark.parametrize("index", [None, np.array([4, 3, 2, 1, 0])])
def test_rows_are_read_in_one_batch(places: list[int], index: np.ndarray | None) -> None:
    rows = RowsOfTable(TABLE, index, FEATURES, NOWHERE, str)
    wanted = places if index is None else index[places].tolist()
    assert rows.read(np.array(places, np.int64)).to_pydict() == {"a": wanted}
    assert rows.num_rows == 5


def test_a_selection_has_the_rows_that_it_selects() -> None:
    assert RowsOfTable(TABLE, np.array([1, 1]), FEATURES, NOWHERE, str).num_rows == 2


def test_a_table_without_rows_is_a_batch_without_rows() -> None:
    assert one_batch(pa.table({"a": pa.array([], pa.int8())})).num_rows == 0

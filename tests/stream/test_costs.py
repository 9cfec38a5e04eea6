"""What blocks cost, as far as it is told without files: those of files stand in `test_explaining.py`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.table import RowTable
from datasets_core.stream.costs import BlockCosts, Explanation, RankCost, ReadCost, sized
from datasets_core.stream.sources.tables import RowsOfTable

TABLE = RowTable.from_table(pa.table({"a": pa.array(range(10), pa.int64())}))
ROWS = RowsOfTable(TABLE, None, Features.from_arrow_schema(TABLE.schema), MediaPaths(None), str)


def test_blocks_are_named_once_in_the_order_in_which_they_are_needed() -> None:
    costs = BlockCosts.of(ROWS, RowBlocks.of([4, 4, 2], [40, 40, 20]))
    assert costs.owners(np.array([9, 0, 8, 1, 5])).tolist() == [2, 0, 1]
    assert costs.reading(np.array([2, 0])).decoded_bytes == 60
    assert (costs.largest(), costs.mean_bytes(), costs.num_blocks, costs.is_local) == (40, 33, 3, True)


def test_sizes_that_are_unknown_are_none() -> None:
    costs = BlockCosts.of(ROWS, RowBlocks.of([4, 6]))
    assert costs.reading(np.array([0])).num_bytes is None


def test_rows_without_blocks_have_the_bytes_of_their_table() -> None:
    costs = BlockCosts.of(ROWS, None)
    assert costs.reading(np.zeros(0, np.int64)).rows == 10 and costs.owners(np.array([1])).tolist() == []
    assert "in memory" in costs.text


# How an explanation prints.


def test_what_is_not_known_is_said() -> None:
    text = str(Explanation("A stream"))
    assert "unknown before reading" in text and "not known" in text


def test_sizes_have_units() -> None:
    assert [sized(size) for size in (0, 1500, 2e6, 9.96e11, 3e15)] == ["0 B", "1.5 kB", "2.0 MB", "996 GB", "3000 TB"]


def test_seconds_have_units() -> None:
    for seconds, shown in [(0.0001, "1 ms"), (0.25, "250 ms"), (3.21, "3.2 s"), (600, "10 min"), (36000, "10.0 h")]:
        assert f"about {shown}" in str(Explanation("A stream", all=ReadCost(1, 1, 1, 1, 1, seconds)))


def test_ranks_are_shown_as_far_as_they_fit() -> None:
    ranks = tuple(RankCost(rank, ReadCost(rows=rank)) for rank in range(9))
    text = str(Explanation("A stream", ranks=ranks, imbalance=0.5, large_blocks=(), advice=("Do this.",), window_bytes=3))
    assert "9 ranks in all" in text and "50% more" in text and "Do this." in text

"""More shards of the same rows: one for each block."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.dataset.combine import concatenate_datasets, interleave_datasets
from datasets_core.stream.iterable import IterableDataset


@pytest.fixture
def stream(tmp_path: Path) -> IterableDataset:
    paths = [tmp_path / f"{number}.parquet" for number in range(2)]
    for path in paths:
        pq.write_table(pa.table({"a": range(10)}), path, row_group_size=4)
    return IterableDataset.from_parquet(paths)


def test_row_groups_become_shards(stream: IterableDataset) -> None:
    assert (stream.num_shards, stream.reshard().num_shards) == (2, 6)
    assert list(stream.reshard()) == list(stream)


def test_streams_of_streams_have_the_shards_of_their_streams(stream: IterableDataset) -> None:
    other = IterableDataset.from_dict({"a": [1]})

    assert concatenate_datasets([stream, other]).reshard().num_shards == 7
    assert interleave_datasets([stream, stream]).reshard().num_shards == 6


def test_parts_have_all_rows_together(stream: IterableDataset) -> None:
    more = stream.reshard()

    assert [row for part in range(6) for row in more.shard(6, part)] == list(stream)

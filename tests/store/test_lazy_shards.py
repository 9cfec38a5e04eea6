"""Shards that are made when they are asked for."""

import pyarrow as pa
import pytest

from datasets_core.store.shard import MemoryShard, Shard
from datasets_core.store.table import LazyShards, RowTable

SCHEMA = pa.schema({"n": pa.int64()})


def _shards(made: list[int]) -> LazyShards:
    def shard(number: int) -> Shard:
        made.append(number)
        return MemoryShard([pa.record_batch({"n": pa.array([number] * 2)})], SCHEMA)

    return LazyShards([[2]] * 1000, shard)


def test_a_table_makes_the_shards_whose_rows_are_read() -> None:
    made: list[int] = []
    table = RowTable.from_shards(_shards(made), schema=SCHEMA)

    assert (table.num_rows, table.slice(4, 40).num_rows, made) == (2000, 36, [])
    assert table.slice(1, 5).to_table()["n"].to_pylist() == [0, 1, 1, 2]
    assert made == [0, 1, 2]


def test_a_shard_is_made_once() -> None:
    made: list[int] = []
    shards = _shards(made)

    assert shards[7] is shards[7] is shards[-993]
    assert shards[7:9] == [shards[7], shards[8]]
    assert made == [7, 8]


def test_shards_end() -> None:
    with pytest.raises(IndexError):
        _shards([])[1000]
    assert sum(1 for _ in _shards([])) == 1000

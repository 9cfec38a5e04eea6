"""More shards of the same rows: one for each block."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.dataset.combine import concatenate_datasets, interleave_datasets
from datasets_core.errors import CastError, ConfigurationError
from datasets_core.stream.combine import ConcatStreams, Mixture, ZipStreams, rows_of_streams
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.order.layers import ENDLESS
from datasets_core.stream.order.mixture import Stopping


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


# Several streams as one source: their columns together, their states, and what is refused.


def _stream(**columns: list[Any]) -> IterableDataset:
    return IterableDataset.from_dict(columns)


def _one(*streams: IterableDataset, joining: Any = None) -> IterableDataset:
    return IterableDataset(rows_of_streams([stream._plan for stream in streams], joining or ConcatStreams()))


def test_what_a_stream_lacks_is_none() -> None:
    both = _one(_stream(a=[1]), _stream(b=["x"]))

    assert list(both) == [{"a": 1, "b": None}, {"a": None, "b": "x"}]
    assert both.column_names == ["a", "b"]


def test_columns_that_only_rows_tell_are_brought_together_too() -> None:
    both = _one(_stream(a=[1]), _stream(b=[2, 3]).map(lambda row: {"c": row["b"] * 10}))

    assert both.features is None
    assert list(both) == [{"a": 1, "b": None, "c": None}, {"a": None, "b": 2, "c": 20}, {"a": None, "b": 3, "c": 30}]


def test_columns_of_different_types_are_named() -> None:
    with pytest.raises(CastError, match=r"Column 'a' is .* in dataset 1 and .* in dataset 0"):
        _one(_stream(a=[1]), _stream(a=["x"]))


def test_columns_side_by_side_have_names_of_their_own() -> None:
    with pytest.raises(ConfigurationError, match="Column 'a' is duplicated: it is in dataset 0 and in dataset 1"):
        _one(_stream(a=[1]), _stream(a=["x"]), joining=ZipStreams())


def test_behind_the_end_of_one_its_columns_are_none() -> None:
    assert list(_one(_stream(a=[1]), _stream(b=[2, 3]), joining=ZipStreams())) == [{"a": 1, "b": 2}, {"a": None, "b": 3}]


def test_shards_are_those_of_all_or_of_the_one_that_has_fewest() -> None:
    streams = [IterableDataset.from_list([{"a": row} for row in range(9)], num_shards=count) for count in (3, 2)]

    assert _one(*streams).num_shards == 5
    assert _one(*streams, joining=Mixture(None, 0, Stopping.FIRST_EXHAUSTED)).num_shards == 2
    assert _one(streams[0], _stream(b=[1, 2]), joining=ZipStreams()).num_shards == 1


def test_states_of_other_streams_are_refused() -> None:
    one = _one(_stream(a=[1]), _stream(a=[2]))
    other = _one(_stream(a=[1]), _stream(a=[3]))
    weighted = [
        _one(_stream(a=[1]), _stream(a=[2]), joining=Mixture((0.5, 0.5), seed, Stopping.ALL_EXHAUSTED)) for seed in (0, 1)
    ]

    signatures = {str(stream._plan.signature()) for stream in (one, other, *weighted)}

    assert len(signatures) == 4


def test_streams_are_sent_whole() -> None:
    stream = _one(_stream(a=[1]), _stream(a=[2]))
    list(stream)

    assert list(pickle.loads(pickle.dumps(stream))) == [{"a": 1}, {"a": 2}]


def test_the_number_of_rows_is_told_where_arithmetic_tells() -> None:
    one, other = _stream(a=[1, 2, 3]), _stream(a=[4, 5])

    assert _one(one, other)._plan.num_rows == 5
    assert _one(one.repeat(None), other, joining=Mixture(None, 0, Stopping.FIRST_EXHAUSTED))._plan.num_rows == 4
    assert (
        _one(one.repeat(None), other.repeat(None), joining=Mixture(None, 0, Stopping.ALL_EXHAUSTED))._plan.num_rows == ENDLESS
    )
    assert _one(one, other.filter(bool))._plan.num_rows is None

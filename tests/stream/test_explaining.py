"""What an explanation says, beside what reading takes."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.config import using
from datasets_core.dataset.combine import concatenate_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError
from datasets_core.load import load_dataset
from datasets_core.stream.iterable import IterableDataset

FILES, ROWS, GROUP = 4, 1000, 100


@pytest.fixture
def urls(range_server: Any, tmp_path: Path) -> list[str]:
    draw = random.Random(3)
    (tmp_path / "files").mkdir()
    for number in range(FILES):
        table = pa.table({"a": list(range(ROWS)), "text": [draw.randbytes(200).hex() for _ in range(ROWS)]})
        pq.write_table(table, tmp_path / "files" / f"{number}.parquet", row_group_size=GROUP)
    base = range_server.serve(tmp_path / "files").rstrip("/")
    return [f"{base}/{number}.parquet" for number in range(FILES)]


@pytest.fixture
def stream(urls: list[str], tmp_path: Path) -> Any:
    return load_dataset("parquet", data_files=urls, split="train", streaming=True, cache_dir=str(tmp_path / "cache"))


def test_footers_alone_are_asked(stream: Any, range_server: Any) -> None:
    found = stream.explain()
    assert (found.num_files, found.num_blocks, found.num_rows) == (FILES, FILES * ROWS // GROUP, FILES * ROWS)
    assert len(range_server.requests) <= FILES + 1 and found.footers.requests == FILES
    assert not found.is_local and found.latency is not None and found.first.seconds is not None


def test_bytes_are_those_that_come(stream: Any, range_server: Any) -> None:
    for operation in (lambda s: s, lambda s: s.select_columns(["a"]), lambda s: s.skip(1450).take(70)):
        told = operation(stream).explain()
        range_server.reset()
        rows = len(list(operation(stream)))
        assert rows == told.num_rows
        assert range_server.num_bytes <= told.all.num_bytes * 1.1 and len(range_server.requests) <= told.all.requests
        if told.all.num_bytes and range_server.num_bytes:  # what was read before stays in memory
            assert range_server.num_bytes >= told.all.num_bytes * 0.5


def test_the_first_batch_of_a_slice_is_a_block(stream: Any) -> None:
    found = stream.skip(1450).take(70).explain(batch_size=10)
    assert (found.first.rows, found.first.blocks, found.first.requests, found.all.blocks) == (GROUP, 1, 1, 2)
    assert found.first.num_bytes < found.all.num_bytes


def test_fewer_columns_are_fewer_bytes(stream: Any) -> None:
    whole, narrow = stream.explain(), stream.select_columns(["a"]).explain()
    assert narrow.all.num_bytes < whole.all.num_bytes / 10 and narrow.all.decoded_bytes < whole.all.decoded_bytes / 10


def test_windows_of_a_shuffle_are_told(stream: Any) -> None:
    block = stream.explain().all.decoded_bytes // (FILES * ROWS // GROUP)
    mixed = stream.shuffle(seed=1, window_bytes=4 * block + 10).explain()
    assert 3 * block <= mixed.window_bytes <= 5 * block
    small = stream.shuffle(seed=1, window_bytes=block // 3).explain()
    assert any("do not fit into a shuffle's window" in text for text in small.advice)


def test_blocks_beyond_the_memory_are_named(stream: Any) -> None:
    with using(stream_memory_bytes=10_000):
        found = stream.shuffle(seed=1).explain()
    assert len(found.large_blocks) == FILES * ROWS // GROUP
    assert found.large_blocks[0].file.endswith("0.parquet") and found.large_blocks[1].block == 1
    assert any("stream_memory_bytes" in text for text in found.advice)


def test_what_each_rank_reads_is_told(stream: Any) -> None:
    found = stream.explain(world_size=4)
    assert [each.rank for each in found.ranks] == [0, 1, 2, 3]
    assert sum(each.reading.rows for each in found.ranks) == FILES * ROWS
    assert found.imbalance is not None and found.imbalance >= 0
    uneven = stream.take(GROUP + 10).explain(world_size=4, lanes=4)
    assert uneven.imbalance > 0.15 and any("ranks" in text for text in uneven.advice)


def test_rows_that_must_be_seen_are_not_counted(stream: Any) -> None:
    found = stream.filter(lambda row: row["a"] > 3).explain()
    assert found.num_rows is None and "filter" in found.unknown[0]
    assert found.all.rows == FILES * ROWS


def test_it_prints(stream: Any) -> None:
    text = str(stream.shuffle(seed=1).explain(world_size=8))
    for part in ("4 files, elsewhere", "shuffle(seed=1", "4,000 rows", "first batch", "8 ranks in all", "ms a request"):
        assert part in text


def test_rows_of_a_generator_are_said_to_be_unknown() -> None:
    def rows() -> Any:
        yield {"a": 1}

    found = IterableDataset.from_generator(rows).shuffle(seed=1).explain(world_size=2)
    assert found.num_rows is None and found.all.num_bytes is None and len(found.unknown) == 2
    assert "not known" in str(found) and found.advice


def test_local_rows_take_no_requests() -> None:
    dataset = Dataset.from_dict({"a": list(range(100))})
    for rows in (dataset, dataset.select([4, 2]), dataset.select([])):
        found = rows.to_iterable_dataset().shuffle(seed=1).explain(world_size=2)
        assert found.is_local and found.all.requests == 0 and found.num_rows == len(rows)
        assert str(found)


def test_built_rows_are_explained(urls: list[str], tmp_path: Path) -> None:
    dataset = load_dataset("parquet", data_files=urls, split="train", cache_dir=str(tmp_path / "cache"))
    found = dataset.to_iterable_dataset().shuffle(seed=1).explain(world_size=2)
    assert found.is_local and found.num_blocks == FILES * ROWS // GROUP and len(found.ranks) == 2


def test_numbers_are_checked(stream: Any) -> None:
    for wrong in ({"world_size": 0}, {"batch_size": 0}, {"bandwidth": 0}):
        with pytest.raises(ConfigurationError):
            stream.explain(**wrong)


def test_several_streams_are_explained_together(stream: Any) -> None:
    one = stream.explain()
    both = concatenate_datasets([stream, stream.take(GROUP)])
    found = both.explain()
    assert found.num_files == 2 * FILES and found.all.num_bytes > one.all.num_bytes
    assert "2 streams together" in str(found)


def test_rows_without_end_are_explained_by_a_round(stream: Any) -> None:
    found = stream.repeat(None).explain(world_size=2)
    assert found.num_rows is None and "never" in found.unknown[0] and found.all.rows == FILES * ROWS
    assert sum(each.reading.rows for each in found.ranks) == FILES * ROWS

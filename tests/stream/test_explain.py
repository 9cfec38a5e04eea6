"""What is advised, and when."""

from __future__ import annotations

import random
from dataclasses import replace
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
from datasets_core.stream.costs import Explanation, LargeBlock, RankCost, ReadCost
from datasets_core.stream.explain import Facts, advice_of
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.steps import Shuffle

FAR = Explanation("A stream", is_local=False, memory_budget=256 << 20, num_blocks=10)
FACTS = Facts(None, 1 << 20, 1 << 20)


def said(found: Explanation = FAR, facts: Facts = FACTS) -> str:
    return " ".join(advice_of(found, facts))


def test_where_all_is_well_nothing_is_said() -> None:
    assert said() == ""


def test_large_row_groups_are_told_with_what_to_do() -> None:
    large = replace(FAR, large_blocks=(LargeBlock("a.parquet", 0, 10, 900 << 20),))
    assert "944 MB exceed the 268 MB" in said(large, replace(FACTS, largest=900 << 20))
    shuffled = replace(FACTS, shuffle=Shuffle(1, 1000), largest=900 << 20)
    assert f"window_bytes={16 * (900 << 20)}" in said(FAR, shuffled)
    assert "fetched more than once" in said(replace(FAR, window_bytes=300 << 20))


def test_a_first_batch_that_takes_long_is_told() -> None:
    late = replace(FAR, first=ReadCost(num_bytes=200 << 20, seconds=4.2))
    assert "210 MB, about 4.2 s" in said(late) and said(replace(late, is_local=True)) == ""


def test_many_small_row_groups_are_told() -> None:
    assert "5,000 requests" in said(replace(FAR, all=ReadCost(requests=5000)), Facts(None, 1000, 1000))


def test_ranks_that_read_too_much_are_told() -> None:
    ranks = tuple(RankCost(rank, ReadCost(num_bytes=size)) for rank, size in enumerate([300, 100]))
    assert "50% more" in said(replace(FAR, ranks=ranks, imbalance=0.5))
    assert "All ranks together" in said(replace(FAR, ranks=ranks, all=ReadCost(num_bytes=100)))


def test_few_files_that_are_read_from_their_beginning_are_told() -> None:
    assert "3 files for 48 lanes of 2 ranks" in said(FAR, Facts(None, 0, 0, num_parts=3, world_size=2))
    assert "1,000 rows around them" in said(FAR, Facts(Shuffle(1, 1000), 0, 0, num_parts=3))


# What an explanation says, beside what reading takes.

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
    assert any("do not fit into a shuffle window" in text for text in small.advice)


def test_files_that_changed_since_their_index_was_saved_are_explained_as_they_are(urls: list[str], tmp_path: Path) -> None:
    for rows in (ROWS, ROWS // 2):
        for number in range(FILES):
            pq.write_table(pa.table({"a": list(range(rows))}), tmp_path / "files" / f"{number}.parquet", row_group_size=GROUP)
        found = load_dataset("parquet", data_files=urls, split="train", streaming=True).explain()
        assert (found.num_rows, found.num_blocks) == (FILES * rows, FILES * rows // GROUP)


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
    assert "2 streams combined" in str(found)


def test_rows_without_end_are_explained_by_a_round(stream: Any) -> None:
    found = stream.repeat(None).explain(world_size=2)
    assert found.num_rows is None and "infinite" in found.unknown[0] and found.all.rows == FILES * ROWS
    assert sum(each.reading.rows for each in found.ranks) == FILES * ROWS

"""Shards of equal rows are equal bytes, in groups and pages that other tools read."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError, DatasetDiskError
from datasets_core.features.base import List, Value
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.io import push_parquet
from datasets_core.io.push_parquet import ShardFile, rows_that_fit, write_shards

FEATURES = Features({"n": Value("int64"), "s": Value("string"), "l": List(Value("int32")), "c": ClassLabel(names=["x", "y"])})


def some(count: int, start: int = 0) -> pa.RecordBatch:
    numbers = range(start, start + count)
    columns: dict[str, list[Any]] = {
        "n": list(numbers),
        "s": [None if n % 7 == 0 else "x" * (n % 50) for n in numbers],
        "l": [list(range(n % 4)) for n in numbers],
        "c": [n % 2 for n in numbers],
    }
    table: pa.Table = Dataset.from_dict(columns, features=FEATURES).data
    return table.combine_chunks().to_batches()[0]


def written(path: Path, batches: list[pa.RecordBatch], features: Features = FEATURES, **options: Any) -> bytes:
    with ShardFile(str(path), features, **options) as shard:
        for batch in batches:
            shard.add(batch)
    return path.read_bytes()


@settings(max_examples=40)
@given(cuts=st.lists(st.integers(0, 900), max_size=6))
def test_bytes_do_not_depend_on_how_the_rows_were_cut(cuts: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = some(900)
    borders = [0, *sorted(cuts), 900]
    parts = [whole.slice(start, stop - start) for start, stop in itertools.pairwise(borders)]

    assert written(folder / "parts", parts, group_bytes=4000) == written(folder / "whole", [whole], group_bytes=4000)


def test_bytes_do_not_depend_on_how_nulls_and_dictionaries_are_stored(tmp_path: Path) -> None:
    features = Features({"s": Value("string"), "n": Value("int64")})
    plain = pa.record_batch({"s": ["a", "b", "a"], "n": [1, 2, 3]})
    known = pa.array([1, 2, 3, None])[:3]  # with bits that tell that none is null
    other = pa.record_batch({"s": pa.array(["a", "b", "a"]).dictionary_encode(), "n": known})

    assert written(tmp_path / "a", [plain], features) == written(tmp_path / "b", [other], features)


def test_groups_hold_as_many_rows_as_fit(tmp_path: Path) -> None:
    features = Features({"s": Value("string")})
    batch = pa.record_batch({"s": ["x" * 96] * 10 + ["y" * 5000] + ["z" * 96] * 3})
    written(tmp_path / "a", [batch], features, group_bytes=300)

    found = pq.ParquetFile(tmp_path / "a")
    assert [found.metadata.row_group(n).num_rows for n in range(found.metadata.num_row_groups)] == [3, 3, 3, 1, 1, 3]
    assert found.read().to_pydict() == batch.to_pydict()


def test_groups_are_bounded_in_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(push_parquet, "GROUP_ROWS", 4)
    written(tmp_path / "a", [pa.record_batch({"n": pa.nulls(10)})], Features({"n": Value("null")}))

    found = pq.read_metadata(tmp_path / "a")
    assert [found.row_group(n).num_rows for n in range(found.num_row_groups)] == [4, 4, 2]


def test_files_carry_features_checksums_page_indexes_and_chunks(tmp_path: Path) -> None:
    written(tmp_path / "a", [some(100)])

    found = pq.ParquetFile(tmp_path / "a", page_checksum_verification=True)
    assert found.read().num_rows == 100
    assert json.loads(found.metadata.metadata[b"huggingface"])["info"]["features"]["c"]["names"] == ["x", "y"]
    assert json.loads(found.metadata.metadata[b"content_defined_chunking"])["norm_level"] == 0
    for number in range(found.metadata.num_columns):
        column = found.metadata.row_group(0).column(number)
        assert column.has_column_index
        assert column.has_offset_index
        assert column.compression == "SNAPPY"


def test_a_damaged_page_is_found_out_by_its_checksum(tmp_path: Path) -> None:
    data = bytearray(written(tmp_path / "a", [pa.record_batch({"n": list(range(5000))})], Features({"n": Value("int64")})))
    column = pq.read_metadata(tmp_path / "a").row_group(0).column(0)
    data[column.dictionary_page_offset + column.total_compressed_size // 2] ^= 1
    (tmp_path / "a").write_bytes(data)

    with pytest.raises(OSError, match=r"(?i)crc|checksum"):
        pq.ParquetFile(tmp_path / "a", page_checksum_verification=True).read()


def test_media_are_stored_as_they_are(tmp_path: Path) -> None:
    features = Features({"i": Image(), "deep": {"i": List(Image())}, "n": Value("int64")})
    rows = Dataset.from_dict({"i": [{"bytes": b"abc", "path": None}], "deep": [{"i": []}], "n": [1]}, features=features)
    written(tmp_path / "a", rows.data.to_batches(), features)

    group = pq.read_metadata(tmp_path / "a").row_group(0)
    found = {group.column(n).path_in_schema: group.column(n).compression for n in range(group.num_columns)}
    assert found == {
        "i.bytes": "UNCOMPRESSED",
        "i.path": "UNCOMPRESSED",
        "deep.i.list.element.bytes": "UNCOMPRESSED",
        "deep.i.list.element.path": "UNCOMPRESSED",
        "n": "SNAPPY",
    }


def test_columns_with_dots_in_their_names_are_written(tmp_path: Path) -> None:
    features = Features({"a.b": Value("int64"), "a": {"b": Value("string")}})
    rows = Dataset.from_dict({"a.b": [1], "a": [{"b": "x"}]}, features=features)
    written(tmp_path / "a", rows.data.to_batches(), features)

    assert pq.read_table(tmp_path / "a").to_pylist() == [{"a.b": 1, "a": {"b": "x"}}]


def test_no_rows_make_a_file_of_columns(tmp_path: Path) -> None:
    written(tmp_path / "a", [])

    assert pq.read_table(tmp_path / "a").num_rows == 0
    assert Features.from_arrow_schema(pq.read_schema(tmp_path / "a")) == FEATURES


def test_what_parquet_cannot_hold_is_told(tmp_path: Path) -> None:
    with pytest.raises(CastError, match="Parquet cannot hold"):
        ShardFile(str(tmp_path / "a"), Features({"a": Value("month_day_nano_interval")}))


def test_a_place_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises((DatasetDiskError, FileNotFoundError)):
        ShardFile(str(tmp_path / "none" / "a"), FEATURES)


# -- one file after the other


@settings(max_examples=25)
@given(limit=st.integers(300, 8000), size=st.integers(1, 400))
def test_files_roll_where_the_rows_say(limit: int, size: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.getbasetemp()
    whole = some(300)

    def shards(batches: Iterator[pa.RecordBatch], name: str) -> list[tuple[int, bytes]]:
        made = write_shards(batches, FEATURES, lambda number: str(folder / f"{name}{number % 2}"), limit)
        return [(shard.num_rows, Path(shard.path).read_bytes()) for shard in made]

    parts = shards((whole.slice(start, size) for start in range(0, 300, size)), "parts")
    assert parts == shards(iter([whole]), "whole")
    assert sum(rows for rows, _ in parts) == 300
    assert all(rows for rows, _ in parts)


def test_no_rows_roll_into_one_file(tmp_path: Path) -> None:
    made = list(write_shards(iter([]), FEATURES, lambda number: str(tmp_path / str(number)), 100))

    assert [(shard.num_rows, Path(shard.path).name) for shard in made] == [(0, "0")]


def test_rows_that_fail_close_the_file(tmp_path: Path) -> None:
    def rows() -> Iterator[pa.RecordBatch]:
        yield some(3)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        list(write_shards(rows(), FEATURES, lambda number: str(tmp_path / str(number)), 100_000))


def test_rows_that_fit_are_counted() -> None:
    batch = pa.record_batch({"a": pa.array([1, 2, 3])})
    assert [rows_that_fit(batch, bits, 192) for bits in (0, 63, 64, 191, 192, 1000)] == [0, 0, 1, 2, 3, 3]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told() -> None:
    with pytest.raises(DatasetDiskError, match="/dev/full"), ShardFile("/dev/full", FEATURES, group_bytes=1000) as shard:
        for _ in range(100):
            shard.add(some(900))
    with pytest.raises(DatasetDiskError, match="/dev/full"), ShardFile("/dev/full", FEATURES) as shard:
        shard.add(some(9))

"""Rows handed over to polars, Daft and Spark, and rows that their workers write; Ray and Dask are in `tests/engines`."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core import Dataset, Features, IterableDataset, Value, config
from datasets_core.errors import CastError, ConfigurationError
from datasets_core.io import clusters
from datasets_core.store.table import RowTable


@pytest.fixture
def rows(tmp_path: Path) -> Dataset:
    """A hundred rows in two files."""
    texts = [str(row) if row % 3 else None for row in range(100)]
    Dataset(
        pa.table({"a": pa.array(range(100), pa.uint16()), "text": texts, "list": [[row] for row in range(100)]})
    ).save_to_disk(tmp_path / "rows", num_shards=2)
    return Dataset.load_from_disk(tmp_path / "rows")


def test_parts_are_files_and_row_ranges_and_not_rows(tmp_path: Path) -> None:
    Dataset.from_dict({"text": ["x" * 1000] * 5000}).save_to_disk(tmp_path / "rows")
    rows = Dataset.load_from_disk(tmp_path / "rows")
    assert max(map(len, clusters.packed_parts(rows, 4))) < 8000
    assert max(map(len, clusters.packed_parts(rows.select(range(0, 5000, 50)), 4))) < 8000


@pytest.mark.parametrize("how", ["all", "range", "index"])
def test_a_lazy_frame_has_the_rows(how: str, rows: Dataset) -> None:
    polars = pytest.importorskip("polars")
    chosen = {"all": rows, "range": rows.select(range(30, 80)), "index": rows.shuffle(seed=1)}[how]
    lazy: Any = chosen.to_polars(lazy=True)
    frame: Any = chosen.to_polars()
    assert isinstance(lazy, polars.LazyFrame) and lazy.collect().equals(frame)
    above = polars.col("a") > 40
    assert lazy.filter(above).select("text").head(5).collect().equals(frame.filter(above).select("text").head(5))
    assert lazy.head(7).collect().equals(frame.head(7)) and lazy.select(polars.len()).collect().item() == len(chosen)
    assert lazy.sort("a", descending=True).head(2).collect().equals(frame.sort("a", descending=True).head(2))


def test_a_lazy_frame_reads_what_is_asked_for(rows: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("polars")
    read: list[tuple[Any, ...]] = []
    batches = RowTable.batches

    def noted(self: RowTable, *args: Any, **kwargs: Any) -> Iterator[pa.RecordBatch]:
        read.append((self.column_names, *args))
        return batches(self, *args, **kwargs)

    lazy: Any = rows.to_polars(lazy=True)
    monkeypatch.setattr(RowTable, "batches", noted)
    assert lazy.select("a").head(5).collect()["a"].to_list() == [0, 1, 2, 3, 4]
    assert read == [(["a"], None, 0, 5)]


def test_streams_and_batches_have_no_lazy_frame(rows: Dataset) -> None:
    pytest.importorskip("polars")
    with pytest.raises(ConfigurationError, match="lazy=True and batched=True"):
        rows.to_polars(lazy=True, batched=True)
    stream: IterableDataset = rows.to_iterable_dataset()
    with pytest.raises(ConfigurationError, match="A stream has no lazy frame"):
        stream.to_polars(lazy=True)


def test_workers_of_daft_read_the_files_of_a_dataset(rows: Dataset) -> None:
    pytest.importorskip("daft")
    chosen = rows.select(range(0, 100, 2))
    frame = chosen.to_daft(parts=3)
    assert frame.to_pydict() == chosen.to_dict()
    assert frame.where("a > 94").select("text").to_pydict() == {"text": [None, "98"]}


def _partitions(tables: list[pa.Table]) -> clusters.Write:
    return lambda write: [write(table.to_batches(max_chunksize=2)) for table in tables]


def test_each_part_that_workers_write_is_a_file(tmp_path: Path) -> None:
    parts = [pa.table({"a": [1, 2, 3]}), pa.table({"a": pa.array([], pa.int64())}), pa.table({"a": [4]})]
    rows = clusters.written_by_workers(Dataset, "ray", _partitions(parts), "test", None, tmp_path)
    assert rows["a"] == [1, 2, 3, 4] and str(rows.split) == "test" and len(rows.cache_files) == 2
    again = clusters.written_by_workers(Dataset, "ray", _partitions(parts), None, None, tmp_path)
    assert str(again.split) == "train" and again._fingerprint != rows._fingerprint


def test_files_of_attempts_that_did_not_count_are_removed(tmp_path: Path) -> None:
    def twice(write: Any) -> list[bytes]:
        write([pa.table({"a": [7, 8]})])
        return [write([pa.table({"a": [1]})])]

    rows = clusters.written_by_workers(Dataset, "ray", twice, None, None, tmp_path)
    assert rows["a"] == [1]
    assert [path.suffix for path in tmp_path.rglob("*.arrow")] == [".arrow"]


def test_parts_of_different_types_need_features(tmp_path: Path) -> None:
    parts = [pa.table({"a": [1]}), pa.table({"a": ["2"]})]
    with pytest.raises(
        CastError, match=r"Column 'a' has different types in different parts: int64 and string\. Give features="
    ):
        clusters.written_by_workers(Dataset, "ray", _partitions(parts), None, None, tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "ray"] and not list((tmp_path / "ray").iterdir())
    rows = clusters.written_by_workers(Dataset, "ray", _partitions(parts), None, Features({"a": Value("int32")}), tmp_path)
    assert rows["a"] == [1, 2] and rows.features == {"a": Value("int32")}


def test_no_rows_need_features(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no rows, so its types are not known"):
        clusters.written_by_workers(Dataset, "ray", _partitions([]), None, None, tmp_path)
    rows = clusters.written_by_workers(Dataset, "ray", _partitions([]), None, Features({"a": Value("int32")}), tmp_path)
    assert len(rows) == 0 and rows.column_names == ["a"]


def test_a_worker_that_does_not_see_the_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def elsewhere(write: Any) -> list[bytes]:
        monkeypatch.setattr(clusters.os.path, "exists", lambda path: False)
        try:
            return [write([pa.table({"a": [1]})])]
        finally:
            monkeypatch.undo()

    with pytest.raises(ConfigurationError, match="does not see the folder"):
        clusters.written_by_workers(Dataset, "ray", elsewhere, None, None, tmp_path)
    assert list(tmp_path.iterdir()) == [tmp_path / "ray"] and not list((tmp_path / "ray").iterdir())


def test_types_that_spark_does_not_have() -> None:
    def of(kind: pa.DataType) -> pa.DataType:
        return clusters._spark_type("a", kind)

    assert of(pa.uint64()) == pa.decimal128(20, 0) and of(pa.dictionary(pa.int8(), pa.large_string())) == pa.string()
    assert of(pa.list_(pa.struct([("x", pa.uint8())]), 3)) == pa.list_(pa.struct([("x", pa.int16())]))
    assert of(pa.timestamp("ns", "Europe/Rome")) == pa.timestamp("us", "UTC") and of(pa.int8()) == pa.int8()
    with pytest.raises(CastError, match=r"Spark has no type for column 'a' \(time64\[us\]\)"):
        of(pa.time64("us"))


@pytest.mark.filterwarnings("ignore")  # of pyspark itself
def test_workers_of_spark_read_and_write_the_files_of_a_dataset(
    rows: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = pytest.importorskip("pyspark.sql")
    monkeypatch.setitem(os.environ, "PYSPARK_PYTHON", sys.executable)
    spark = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        chosen = rows.select(range(0, 100, 2))
        frame = chosen.to_spark(parts=3, spark=spark)
        assert [row.asDict() for row in frame.collect()] == list(chosen)
        back = Dataset.from_spark(frame, cache_dir=tmp_path / "cache")
        assert list(back) == list(chosen) and len(back.cache_files) == 3
        assert back.features["a"] == Value("int32")
        assert list(Dataset.from_spark(frame, keep_in_memory=True)) == list(chosen)
        with config.using(cache_dir=str(tmp_path / "cache")):
            assert list(IterableDataset.from_spark(frame)) == list(chosen)
    finally:
        spark.stop()

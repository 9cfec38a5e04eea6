"""From a manifest and row ranges to rows."""

import os
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from datasets_core.errors import DamagedShardError
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.rows import RowRange, row_ranges
from datasets_core.store.manifest import Manifest
from datasets_core.store.source import open_rows

Dataset = tuple[str, Manifest]
Build = Callable[..., Dataset]


def _damage(folder: str, name: str, change: Callable[[bytearray], object]) -> None:
    path = os.path.join(folder, name)
    with open(path, "rb") as handle:
        content = bytearray(handle.read())
    change(content)
    with open(path, "wb") as handle:
        handle.write(content)


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("split", ["train", "test", "train[35:65]", "train[-1:]", "test+train[:5]", "train[90:]+train[:10]"])
def test_ranges_give_their_rows_in_order(
    tmp_path: Path, table: pa.Table, build: Build, split: str, in_memory: bool, file_format: str
) -> None:
    folder, manifest = build(str(tmp_path / "d"), table, file_format=file_format)
    ranges = row_ranges(split, manifest.split_lengths())
    whole = {"train": table, "test": table.slice(0, 10)}
    expected = [whole[r.split].slice(r.shard * 20 + r.start, r.stop - r.start) for r in ranges]
    rows = open_rows(folder, manifest, ranges, in_memory=in_memory)
    assert rows.to_table().equals(pa.concat_tables(expected).combine_chunks())
    assert pickle.loads(pickle.dumps(rows)).to_table().equals(rows.to_table())


def test_only_the_shards_in_the_ranges_are_touched(dataset: Dataset) -> None:
    folder, manifest = dataset
    kept = manifest.shards[2].name
    for name in os.listdir(folder):
        if name != kept:
            os.unlink(os.path.join(folder, name))
    assert open_rows(folder, manifest, [RowRange("train", 2, 3, 5)]).to_table()["id"].to_pylist() == [43, 44]


def test_opening_maps_only_the_shard_that_tells_the_schema(dataset: Dataset) -> None:
    folder, manifest = dataset
    before = len(os.listdir("/proc/self/fd"))
    rows = open_rows(folder, manifest, row_ranges("train", manifest.split_lengths()))
    assert len(os.listdir("/proc/self/fd")) <= before + 1
    assert len(rows) == 100


def test_no_ranges_are_no_rows_of_the_schema(dataset: Dataset, table: pa.Table) -> None:
    folder, manifest = dataset
    rows = open_rows(folder, manifest, [])
    assert len(rows) == 0
    assert rows.schema.equals(table.schema)


def test_a_dataset_without_shards_has_the_schema_of_its_features(tmp_path: Path) -> None:
    features = Features.from_arrow_schema(pa.schema({"a": pa.int64()}))
    assert open_rows(str(tmp_path), Manifest(DatasetInfo(features=features)), []).column_names == ["a"]


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda content: content.pop(), "bytes where"),
        (lambda content: content.clear(), "the shard has 0 bytes"),
        (lambda content: content.append(0), "bytes where"),
        (lambda content: content.__setitem__(0, 0), "begins with"),
        (lambda content: content.__setitem__(-1, 0), "mark .* at the end is missing"),
        (lambda content: content.__setitem__(slice(-8, -4), b"\xff\xff\xff\x7f"), "footer of|mark .* is missing"),
        (lambda content: content.__setitem__(slice(-10, -6), b"\xff\xff\xff\xff"), "footer of|cannot be read"),
    ],
)
def test_damage_at_the_ends_is_found_before_rows_are_read(
    tmp_path: Path, table: pa.Table, build: Build, file_format: str, change: Callable[[bytearray], object], reason: str
) -> None:
    folder, manifest = build(str(tmp_path / "d"), table, file_format=file_format)
    _damage(folder, manifest.shards[1].name, change)
    with pytest.raises(DamagedShardError, match=reason) as caught:
        open_rows(folder, manifest, [RowRange("train", 1, 0, 20)]).to_table()
    assert caught.value.path == os.path.join(folder, manifest.shards[1].name)


def test_a_missing_shard_is_named(dataset: Dataset) -> None:
    folder, manifest = dataset
    os.unlink(os.path.join(folder, manifest.shards[1].name))
    with pytest.raises(DamagedShardError, match=r"00001-of-00005.arrow: the shard is missing \(20 rows of split 'train'\)"):
        open_rows(folder, manifest, row_ranges("train", manifest.split_lengths()))


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_a_shard_of_another_dataset_is_found_when_it_is_touched(
    tmp_path: Path, table: pa.Table, build: Build, file_format: str
) -> None:
    folder, manifest = build(str(tmp_path / "d"), table, file_format=file_format)
    other, others = build(str(tmp_path / "o"), table.rename_columns(["a", "b", "c"]), file_format=file_format)
    os.replace(os.path.join(other, others.shards[1].name), os.path.join(folder, manifest.shards[1].name))
    size = os.path.getsize(os.path.join(folder, manifest.shards[1].name))
    records = [replace(record, size=size) if k == 1 else record for k, record in enumerate(manifest.shards)]
    rows = open_rows(folder, replace(manifest, shards=tuple(records)), row_ranges("train", manifest.split_lengths()))
    with pytest.raises(DamagedShardError, match="other columns"):
        rows.to_table()


def test_remote_datasets_are_read(table: pa.Table, build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, manifest = build("memory://source/reviews", table)
    assert open_rows(folder, manifest, row_ranges("train", manifest.split_lengths())).to_table().equals(table)


def test_types_that_parquet_has_not_are_restored(tmp_path: Path, build: Build) -> None:
    seconds = pa.array(range(100), pa.int64()).cast(pa.timestamp("s", "UTC"))
    days = pa.array([86_400_000 * i for i in range(100)], pa.int64()).cast(pa.date64())
    nested = pa.StructArray.from_arrays([seconds, days], ["at", "on"])
    table = pa.table({"at": seconds, "on": days, "both": nested, "n": pa.array(range(100), pa.int32())})
    folder, manifest = build(str(tmp_path / "d"), table, file_format="parquet")
    described = replace(manifest, info=DatasetInfo(features=Features.from_arrow_schema(table.schema)))

    rows = open_rows(folder, described, row_ranges("train[10:90]", manifest.split_lengths()))

    assert rows.schema.equals(table.schema)
    assert rows.to_table().equals(table.slice(10, 80))
    assert pickle.loads(pickle.dumps(rows)).to_table().equals(table.slice(10, 80))

"""From a manifest and row ranges to rows."""

import contextlib
import errno
import os
import pickle
import random
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pytest

from datasets_core import config
from datasets_core.errors import DamagedShardError, DatasetDiskError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.store import shard as shard_module
from datasets_core.store.manifest import Manifest, manifest_bytes
from datasets_core.store.pieces import BatchRows, PartSums, RowRange, row_ranges
from datasets_core.store.source import check_shards, open_rows, verify_folder
from datasets_core.store.table import RowTable

Dataset = tuple[str, Manifest]
Build = Callable[..., Dataset]


def _age(folder: str) -> None:
    """Have the shards be older than the manifest by more than a tick of the clock."""
    for name in os.listdir(folder):
        if name.endswith((".arrow", ".parquet")):
            os.utime(os.path.join(folder, name), (1, 1))


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Callable[[], set[str]]:
    """What tells the shards that were opened, to be looked into or read, since it was asked last."""
    names: set[str] = set()

    def watched(module: Any, name: str) -> None:
        real = getattr(module, name)

        def watching(path: Any, *arguments: Any, **more: Any) -> Any:
            names.add(os.path.basename(str(path)))
            return real(path, *arguments, **more)

        monkeypatch.setattr(module, name, watching)

    watched(os, "open")
    watched(pa, "memory_map")

    def found() -> set[str]:
        shards = {name for name in names if name.startswith("reviews-")}  # not those that are being built
        names.clear()
        return shards

    return found


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


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_nothing_is_opened_before_a_row_is_read(
    tmp_path: Path, described: pa.Table, build: Build, opened: Callable[[], set[str]], file_format: str
) -> None:
    folder, manifest = build(str(tmp_path / "d"), described, file_format=file_format)
    _age(folder)

    rows = open_rows(folder, manifest, row_ranges("train[10:70]", manifest.split_lengths()))

    assert rows.schema.equals(described.schema, check_metadata=True)
    assert len(rows.slice(5, 50)) == 45
    assert opened() == set()
    assert rows.slice(25, 26).to_table()["id"].to_pylist() == [35]
    assert opened() == {manifest.shards[1].name}


def test_a_shard_that_changed_since_the_commit_is_looked_into(
    tmp_path: Path, described: pa.Table, build: Build, opened: Callable[[], set[str]]
) -> None:
    folder, manifest = build(str(tmp_path / "d"), described)
    _age(folder)
    os.utime(os.path.join(folder, manifest.shards[2].name))

    open_rows(folder, manifest, row_ranges("train", manifest.split_lengths()))

    assert opened() == {manifest.shards[2].name}


@pytest.mark.parametrize("at", [0, -1])
def test_damage_that_left_the_time_alone_is_found_when_the_shard_is_opened(
    tmp_path: Path, described: pa.Table, build: Build, at: int
) -> None:
    folder, manifest = build(str(tmp_path / "d"), described)
    _damage(folder, manifest.shards[1].name, lambda content: content.__setitem__(at, 0))
    _age(folder)

    rows = open_rows(folder, manifest, row_ranges("train", manifest.split_lengths()))

    assert rows.slice(0, 20).to_table()["id"].to_pylist() == list(range(20))
    with pytest.raises(DamagedShardError, match=re.escape(manifest.shards[1].name)):
        rows.slice(20, 21).to_table()


def test_a_shard_that_is_cut_behind_the_plan_is_found_when_it_is_opened(
    tmp_path: Path, described: pa.Table, build: Build
) -> None:
    folder, manifest = build(str(tmp_path / "d"), described)
    rows = open_rows(folder, manifest, row_ranges("train", manifest.split_lengths()))
    _damage(folder, manifest.shards[1].name, lambda content: content.pop())
    with pytest.raises(DamagedShardError, match="bytes, expected"):
        rows.to_table()


@pytest.mark.parametrize("schema", ["", "another"])
def test_the_schema_of_a_manifest_that_does_not_tell_it_is_that_of_the_first_shard(
    tmp_path: Path, described: pa.Table, build: Build, opened: Callable[[], set[str]], schema: str
) -> None:
    folder, manifest = build(str(tmp_path / "d"), described)
    _age(folder)
    rows = open_rows(folder, replace(manifest, schema=schema), row_ranges("train[30:]", manifest.split_lengths()))
    assert rows.schema.equals(described.schema, check_metadata=True)
    assert opened() == {manifest.shards[1].name}


def test_the_features_of_a_manifest_may_be_more_than_its_columns(tmp_path: Path, described: pa.Table, build: Build) -> None:
    folder, manifest = build(str(tmp_path / "d"), described)
    wider = Features({**(manifest.info.features or {}), "more": Value("int8")})
    found = open_rows(
        folder, replace(manifest, info=DatasetInfo(features=wider)), row_ranges("train", manifest.split_lengths())
    )
    assert found.to_table().equals(described)


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
        (lambda content: content.pop(), "bytes, expected"),
        (lambda content: content.clear(), "the shard has 0 bytes"),
        (lambda content: content.append(0), "bytes, expected"),
        (lambda content: content.__setitem__(0, 0), "begins with"),
        (lambda content: content.__setitem__(-1, 0), "marker .* at the end is missing"),
        (lambda content: content.__setitem__(slice(-8, -4), b"\xff\xff\xff\x7f"), "footer of|marker .* is missing"),
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
    records = [
        record._replace(size=size, crc32c=others.shards[1].crc32c) if k == 1 else record
        for k, record in enumerate(manifest.shards)
    ]
    rows = open_rows(folder, replace(manifest, shards=tuple(records)), row_ranges("train", manifest.split_lengths()))
    with pytest.raises(DamagedShardError, match="its columns differ"):
        rows.to_table()


@pytest.fixture
def flipped(tmp_path: Path, table: pa.Table, build: Build) -> tuple[str, Manifest, str]:
    """A dataset with one flipped bit in the last value of the second batch of its first shard."""
    folder, manifest = build(str(tmp_path / "d"), table)
    sums = PartSums(manifest.shards[0].crc32c)
    path = os.path.join(folder, manifest.shards[0].name)
    content = bytearray(Path(path).read_bytes())
    start, stop = sums.span(min(2, len(sums)))
    content[(start + stop) // 2 + 8] ^= 4
    Path(path).write_bytes(content)
    return folder, manifest, path


@pytest.mark.parametrize(
    "reads", [lambda rows: list(rows.batches()), lambda rows: rows.to_table(), lambda rows: list(rows.batches(7))]
)
@pytest.mark.parametrize("how", [{}, {"in_memory": True}, {"is_read": True}])
def test_a_flipped_bit_is_an_error_of_every_pass_over_the_rows(
    flipped: tuple[str, Manifest, str], reads: Callable[[RowTable], Any], how: dict[str, Any]
) -> None:
    folder, manifest, path = flipped
    with pytest.raises(DamagedShardError) as caught:
        reads(open_rows(folder, manifest, row_ranges("train", manifest.split_lengths()), **how))
    batch = min(2, len(PartSums(manifest.shards[0].crc32c))) - 1
    rows = BatchRows(manifest.shards[0].batches)
    first = sum(rows[:batch])
    assert (caught.value.path, caught.value.batch, caught.value.rows) == (path, batch, range(first, first + rows[batch]))
    assert pickle.loads(pickle.dumps(caught.value)).rows == caught.value.rows
    assert f"batch {batch} (" in verify_folder(folder)[0].detail


def test_single_rows_are_compared_on_request_and_nothing_is_where_that_is_off(flipped: tuple[str, Manifest, str]) -> None:
    folder, manifest, _ = flipped
    ranges = row_ranges("train", manifest.split_lengths())
    batch = min(2, len(PartSums(manifest.shards[0].crc32c))) - 1
    row = np.array([sum(BatchRows(manifest.shards[0].batches)[:batch]) + 1])
    with pytest.raises(DamagedShardError) if sys.platform == "linux" else contextlib.nullcontext():
        open_rows(folder, manifest, ranges).take(row)  # the page cache holds what was just written
    with config.using(verify_reads="all"):
        rows = open_rows(folder, manifest, ranges)
    with pytest.raises(DamagedShardError):
        pickle.loads(pickle.dumps(rows)).take(row)
    with config.using(verify_reads="never"):
        assert open_rows(folder, manifest, ranges).to_table().num_rows == 100


def test_every_flipped_bit_of_a_shard_is_found(tmp_path: Path, table: pa.Table, build: Build) -> None:
    folder, manifest = build(str(tmp_path / "d"), table)
    path = Path(folder) / manifest.shards[0].name
    content = path.read_bytes()
    draw = random.Random(0)
    for place in [0, len(content) - 1, *(draw.randrange(len(content)) for _ in range(300))]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(DamagedShardError):
            open_rows(folder, manifest, row_ranges("train", manifest.split_lengths())).to_table()


def _compared_by_a_new_process(folder: str, manifest: Manifest, monkeypatch: pytest.MonkeyPatch, **how: str) -> int:
    """Read all rows as a process does that has read nothing before; return the number of batches that it compares."""
    shard_module._compared_batches.cache_clear()
    parts: list[int] = []
    are_true = PartSums.are_true
    with config.using(**how), monkeypatch.context() as patch:
        patch.setattr(PartSums, "are_true", lambda sums, part, data: parts.append(part) or are_true(sums, part, data))
        rows = open_rows(folder, manifest, row_ranges("train", manifest.split_lengths()))
        assert rows.to_table().num_rows == 100
    return sum(part > 0 for part in parts)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells when the machine was started")
def test_batches_of_a_file_that_did_not_change_are_compared_once_and_then_a_few_of_them(
    tmp_path: Path, table: pa.Table, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, manifest = build(str(tmp_path / "d"), table)
    count = sum(len(PartSums(shard.crc32c)) for shard in manifest.split_shards()["train"])
    monkeypatch.setattr(os, "urandom", lambda size: b"\xff" * size)

    def compared(**how: str) -> int:
        return _compared_by_a_new_process(folder, manifest, monkeypatch, **how)

    assert [compared(verify_reads="never"), compared(), compared()] == [0, count, 0]
    assert compared(verify_reads="all") == count
    with monkeypatch.context() as patch:
        patch.setattr(os, "urandom", bytes)  # each is drawn
        assert compared() == count
    with monkeypatch.context() as patch:
        patch.setattr(shard_module, "boot", lambda: "the machine was started again")
        assert [compared(), compared()] == [count, 0]
    path = Path(folder) / manifest.shards[0].name
    content = path.read_bytes()
    os.utime(path, ns=(0, 0))
    assert compared() == len(PartSums(manifest.shards[0].crc32c))
    times = os.stat(path)
    path.write_bytes(bytes([*content[:-500], content[-500] ^ 1, *content[-499:]]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # as `cp -p` does
    with pytest.raises(DamagedShardError):
        compared()


def test_a_file_that_was_not_read_to_its_end_is_compared_again(
    tmp_path: Path, table: pa.Table, build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, manifest = build(str(tmp_path / "d"), table)
    first = manifest.shards[0]
    if len(PartSums(first.crc32c)) > 1:
        next(iter(open_rows(folder, manifest, row_ranges("train", manifest.split_lengths())).batches()))
    count = sum(len(PartSums(shard.crc32c)) for shard in manifest.split_shards()["train"])
    assert _compared_by_a_new_process(folder, manifest, monkeypatch) == count


def test_datasets_without_checksums_are_read(tmp_path: Path, table: pa.Table, build: Build) -> None:
    folder, manifest = build(str(tmp_path / "d"), table)
    old = replace(manifest, shards=tuple(record._replace(crc32c="") for record in manifest.shards))
    assert b"crc32c" in manifest_bytes(manifest)
    assert b"crc32c" not in manifest_bytes(old)
    assert open_rows(folder, old, row_ranges("train", old.split_lengths())).to_table().equals(table)


@pytest.mark.parametrize("text", ["x", "8:1", "8:g 8:1", "-8:1 8:1", "9:00000000 9:00000000"])
def test_checksums_that_mean_nothing_are_damage(tmp_path: Path, table: pa.Table, build: Build, text: str) -> None:
    folder, manifest = build(str(tmp_path / "d"), table)
    bad = replace(manifest, shards=tuple(record._replace(crc32c=text) for record in manifest.shards))
    with pytest.raises(DamagedShardError):
        open_rows(folder, bad, row_ranges("train", bad.split_lengths())).to_table()


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


def test_rows_that_are_read_once_are_neither_mapped_nor_kept(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, manifest = dataset
    ranges = row_ranges("train", manifest.split_lengths())
    expected = open_rows(folder, manifest, ranges).to_table()
    monkeypatch.setattr(pa, "memory_map", None)
    rows = open_rows(folder, manifest, ranges, is_read=True)
    assert pickle.loads(pickle.dumps(rows)).to_table() == expected
    assert sum(batch.num_rows for batch in rows.batches(7)) == 100
    assert not any(rows.is_mapped(piece) for piece in range(rows.num_pieces))


# Every shard against the manifest.


def _flip(path: str) -> None:
    with open(path, "r+b") as handle:
        handle.seek(os.path.getsize(path) // 2)
        byte = handle.read(1)[0]
        handle.seek(-1, os.SEEK_CUR)
        handle.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_an_untouched_dataset_has_no_problem(tmp_path: Path, table: pa.Table, build: Build, file_format: str) -> None:
    target, _ = build(str(tmp_path / "data"), table, file_format=file_format)
    assert verify_folder(target) == []


def test_every_fault_is_named_with_its_file(dataset: Dataset) -> None:
    target, manifest = dataset
    paths = [os.path.join(target, shard.name) for shard in manifest.shards]
    os.unlink(paths[0])
    _flip(paths[1])
    with open(paths[2], "ab") as handle:
        handle.write(b"x")
    os.unlink(paths[3])
    os.mkdir(paths[3])
    extra = os.path.join(target, "reviews-train-00000-of-00009.arrow")
    Path(extra).touch()
    problems = verify_folder(target)
    assert [(problem.path, problem.kind) for problem in problems] == [
        (paths[0], "missing"),
        (paths[1], "sha256"),
        (paths[2], "size"),
        (paths[3], "unreadable"),
        (extra, "extra"),
    ]
    assert str(problems[0]) == f"{paths[0]}: the shard is missing (20 rows of split 'train')"


def test_progress_is_told_in_bytes_to_the_end(dataset: Dataset) -> None:
    target, manifest = dataset
    told: list[int] = []
    verify_folder(target, told.append)
    assert sum(told) == sum(shard.size for shard in manifest.shards)


def test_without_a_manifest_nothing_can_be_right(tmp_path: Path) -> None:
    (problem,) = verify_folder(str(tmp_path))
    assert (problem.path, problem.kind) == (str(tmp_path), "manifest")
    (tmp_path / "dataset_info.json").write_text("{")
    (problem,) = verify_folder(str(tmp_path))
    assert (problem.path, problem.kind) == (str(tmp_path / "dataset_info.json"), "manifest")


def test_remote_datasets_are_verified(table: pa.Table, build: Build) -> None:
    target, manifest = build("memory://verify/reviews", table)
    assert verify_folder(target) == []
    fsspec.filesystem("memory").pipe_file(f"/verify/reviews/{manifest.shards[0].name}", bytes(manifest.shards[0].size))
    assert [problem.kind for problem in verify_folder(target)] == ["sha256"]


def test_a_shard_that_the_system_cannot_look_at_is_an_error_with_its_cause(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    stat = os.stat

    def failing(path: Any, **options: Any) -> os.stat_result:
        if str(path).endswith(".arrow"):
            raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM), path)
        return stat(path, **options)

    folder, manifest = dataset
    monkeypatch.setattr(os, "stat", failing)
    with pytest.raises(DatasetDiskError) as caught:
        check_shards(str(folder), manifest.shards, manifest.file_format)
    assert os.strerror(errno.ENOMEM) in str(caught.value)

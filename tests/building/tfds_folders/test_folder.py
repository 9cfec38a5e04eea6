"""Tests of datasets_core/building/tfds_folders/folder.py."""

import gzip
import importlib.util
import io
import itertools
import json
import os
import pickle
import shutil
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core.building.folders import check_sound, tfds_manifest
from datasets_core.building.tfds_folders.columns import TfdsReader
from datasets_core.building.tfds_folders.folder import (
    RecordCursor,
    RecordManifest,
    RecordShard,
    TfdsManifest,
    check_there,
    content,
    record_rows,
)
from datasets_core.building.tfds_folders.layout import layout_of
from datasets_core.errors import DamagedRecordError, DamagedShardError, ExampleError, FileFormatError, ManifestError
from datasets_core.features.base import List, Value
from datasets_core.features.types import ClassLabel
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.records.encoding import encode_example
from datasets_core.records.frames import frame
from datasets_core.records.writer import TFRecordWriter
from datasets_core.store.manifest import ShardRecord
from datasets_core.store.pieces import BatchRows, row_ranges
from datasets_core.store.shard import ShardCache


def manifest(size: int) -> RecordManifest:
    splits = SplitDict.from_split_dict([SplitInfo("train", 0, 3, [3]), SplitInfo("test", 0, 0, [])])
    return RecordManifest(DatasetInfo(splits=splits), (ShardRecord("a.tfrecord", "train", 3, size, size, "", ((3, 1),)),))


def test_a_split_may_have_no_files() -> None:
    assert manifest(9).split_lengths() == {"train": [3], "test": []} and manifest(9).split_shards()["test"] == []


def test_a_folder_without_any_of_its_files_is_told() -> None:
    check_there("/data", manifest(9))
    with pytest.raises(DamagedShardError, match=r"/data/a\.tfrecord: this file and all others are missing"):
        check_there("/data", manifest(0))


def test_small_files_are_read_and_others_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert content(str(tmp_path / "a")) == b"abc" and content(str(tmp_path / "b")) is None
    assert content(f"file://{tmp_path}/a") == b"abc" and content(f"memory://{tmp_path}/a") is None
    os.mkfifo(tmp_path / "pipe")
    for name, most in (("pipe", 9), ("a", 2)):
        with pytest.raises(ManifestError, match=name):
            content(str(tmp_path / name), most_bytes=most)


# tfds folder

GOLDEN = Path(__file__).parents[2] / "tfds" / "golden"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(GOLDEN / "ordered" / "1.0.0", tmp_path / "ordered" / "1.0.0"))


def changed(folder: Path, **told: Any) -> None:
    path = folder / "dataset_info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **told}))


def manifest_tfds_folder(folder: Path) -> TfdsManifest:
    found = tfds_manifest(str(folder))
    assert isinstance(found, TfdsManifest)
    return found


def numbers(folder: Path, split: str = "train") -> list[Any]:
    found = manifest_tfds_folder(folder)
    rows = record_rows(str(folder), found, row_ranges(split, found.split_lengths()))
    return [number for batch in rows.batches() for number in batch.column("n").to_pylist()]


def test_files_are_the_shards_of_a_manifest(folder: Path) -> None:
    found = manifest_tfds_folder(folder)
    assert [(shard.name, shard.rows) for shard in found.shards] == [
        ("ordered-train.tfrecord-00000-of-00002", 10),
        ("ordered-train.tfrecord-00001-of-00002", 10),
    ]
    assert (found.file_format, found.write_order, found.disable_shuffling) == ("tfrecord", "key", True)
    assert numbers(folder, "train[8:12]") == [8, 9, 10, 11]


def test_the_identity_changes_with_what_is_recorded_and_not_with_the_place(folder: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(folder, tmp_path / "elsewhere"))
    assert manifest_tfds_folder(folder).identity == manifest_tfds_folder(other).identity
    changed(other, description="another")
    assert manifest_tfds_folder(folder).identity != manifest_tfds_folder(other).identity


def test_rows_that_old_versions_did_not_count_are_counted(folder: Path) -> None:
    changed(folder, splits=[{"name": "train", "numShards": "2"}])
    assert manifest_tfds_folder(folder).split_lengths() == {"train": [10, 10]} and numbers(folder) == list(range(20))


def test_a_split_without_files_has_no_rows(folder: Path) -> None:
    changed(folder, splits=[{"name": "train", "shardLengths": []}, {"name": "test", "shardLengths": ["0"]}])
    assert numbers(folder, "train") == [] and manifest_tfds_folder(folder).info.splits["train"].num_examples == 0  # type: ignore[index]


def test_a_format_beside_the_first_is_read_where_that_is_not(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)  # no package reads array_record
    changed(folder, fileFormat="array_record", alternativeFileFormats=["parquet", "tfrecord"])
    assert manifest_tfds_folder(folder).file_format == "tfrecord"
    with pytest.raises(FileFormatError, match="'array_record', which is not supported"):
        tfds_manifest(str(folder), file_format="array_record")
    with pytest.raises(FileFormatError, match=r"no files of the format 'riegeli'\. Available formats: array_record, parquet"):
        tfds_manifest(str(folder), file_format="riegeli")
    changed(folder, alternativeFileFormats=["parquet"])
    with pytest.raises(FileFormatError, match="array_record"):
        tfds_manifest(str(folder))


def test_files_may_stand_in_folders_below_and_nowhere_else(folder: Path) -> None:
    (folder / "train").mkdir()
    for number in range(2):
        (folder / f"ordered-train.tfrecord-{number:05d}-of-00002").rename(folder / "train" / f"{number:05d}")
    form = json.loads((folder / "dataset_info.json").read_text())["splits"][0]
    changed(folder, splits=[{**form, "filepathTemplate": "{SPLIT}/{SHARD_INDEX}"}])
    assert numbers(folder) == list(range(20))
    changed(folder, splits=[{**form, "filepathTemplate": "../1.0.0/train/{SHARD_INDEX}"}])
    with pytest.raises(ManifestError, match="names no file below the folder"):
        tfds_manifest(str(folder))


def test_strings_that_are_no_texts_are_bytes(folder: Path) -> None:
    string = {"tensor": {"dtype": "string", "shape": {}}}
    features = {"n": string, "t": string, "s": {"sequence": {"feature": {"sequence": {"feature": string}}}}}
    (folder / "features.json").write_text(json.dumps({"featuresDict": {"features": features}}))
    found = {"n": b"\xff\xd8", "t": b"text", "s/ragged_flat_values": [b"\xfe", b"a"], "s/ragged_row_lengths_0": [2]}
    for number in range(2):
        with TFRecordWriter(folder / f"ordered-train.tfrecord-{number:05d}-of-00002") as writer:
            writer.write_all([encode_example(found)] * 10)
    info = manifest_tfds_folder(folder).info
    assert info.features == {"n": Value("binary"), "t": Value("string"), "s": List(List(Value("binary")))}
    assert numbers(folder, "train[:2]") == [b"\xff\xd8"] * 2


def test_damage_is_found_when_all_is_checked(folder: Path) -> None:
    check_sound(str(folder), manifest_tfds_folder(folder))
    path = folder / "ordered-train.tfrecord-00001-of-00002"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with pytest.raises(DamagedRecordError) as caught:
        check_sound(str(folder), manifest_tfds_folder(folder))
    assert caught.value.row == 9


@pytest.mark.parametrize(("name", "content"), [("features.json", "{"), ("features.json", "[]"), ("metadata.json", "{")])
def test_what_is_no_json_is_told_by_name(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)
    with pytest.raises(ManifestError, match=name):
        tfds_manifest(str(folder))


@pytest.mark.parametrize("length", ["1000000000000", "9" * 15, "9" * 20])
def test_rows_that_no_file_of_its_size_holds_are_refused(folder: Path, length: str) -> None:
    changed(folder, splits=[{"name": "train", "shardLengths": [length, "10"]}])
    with pytest.raises(ManifestError) as caught:
        tfds_manifest(str(folder))
    assert str(caught.value.file).endswith("dataset_info.json")


def test_files_that_are_only_numbered_are_looked_for_before_all_are_named(folder: Path) -> None:
    changed(folder, splits=[{"name": "train", "numShards": "1000000"}])
    calls = itertools.count()
    sys.setprofile(lambda frame, event, argument: next(calls))
    with pytest.raises(DamagedShardError, match=r"missing, and its number of rows is not recorded in .*dataset_info\.json"):
        tfds_manifest(str(folder))
    sys.setprofile(None)
    assert next(calls) < 1_000_000  # not one for each of the names
    changed(folder, splits=[{"name": "train", "numShards": "4000000"}])
    with pytest.raises(ManifestError, match=r"dataset_info\.json: split 'train' has 4,000,000 files"):
        tfds_manifest(str(folder))


@pytest.mark.parametrize(
    ("lines", "names"), [("x\n \ny\n", ["x", "1", "y"]), ("0\n\n2", ["0", "1", "2"]), ("a\n\n\n", ["a", "1", "2"])]
)
def test_a_class_whose_name_is_blank_is_called_by_its_number(
    folder: Path, lines: str, names: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    form = {"featuresDict": {"features": {"n": {"classLabel": {"numClasses": "3"}}}}}
    (folder / "features.json").write_text(json.dumps(form))
    (folder / "n.labels.txt").write_text(lines)
    assert manifest_tfds_folder(folder).info.features == {"n": ClassLabel(names=names)}
    assert "'n' has 3 classes, and some names" in caplog.text


# Shards of a folder.


RECORDS = [bytes([number]) * number for number in range(10)]
PLAIN = b"".join(map(frame, RECORDS))


def cursor(data: bytes, kind: str = "tfrecord", total: int = 10, **told: int) -> RecordCursor:
    return RecordCursor("a.tfrecord", kind, io.BytesIO(data), total=total, **told)


def taken(found: RecordCursor, count: int) -> list[bytes]:
    return [record for block in found.take(count) for record in block]


def as_parquet(column: pa.Array, name: str = "data") -> bytes:
    written = io.BytesIO()
    pq.write_table(pa.table({name: column}), written)
    return written.getvalue()


@pytest.mark.parametrize(
    ("data", "kind"), [(PLAIN, "tfrecord"), (gzip.compress(PLAIN), "tfrecord"), (as_parquet(pa.array(RECORDS)), "parquet")]
)
def test_records_are_taken_so_many_at_a_time(data: bytes, kind: str) -> None:
    found = cursor(data, kind)
    assert taken(found, 3) == RECORDS[:3]
    found.skip(2)
    assert taken(found, 5) == RECORDS[5:] and found.number == 10
    found.check_end()
    assert found.is_plain == (data is PLAIN)


def test_another_cursor_begins_where_one_stood() -> None:
    first = cursor(PLAIN)
    first.skip(4)
    other = cursor(PLAIN, number=first.number, place=first.place)
    assert taken(other, 6) == RECORDS[4:]
    (block,) = cursor(PLAIN, number=4, place=first.place).take(1)
    assert block.first == 4


def test_more_and_fewer_records_than_are_on_record_are_told() -> None:
    with pytest.raises(DamagedShardError, match=r"a\.tfrecord: the file has 10 records, but 12 are recorded"):
        taken(cursor(PLAIN, total=12), 12)
    found = cursor(PLAIN, total=9)
    found.skip(9)
    with pytest.raises(DamagedShardError, match="more than the 9 recorded records"):
        found.check_end()


@pytest.mark.parametrize(
    "data", [b"", b"PAR1", as_parquet(pa.array(RECORDS), "rows"), as_parquet(pa.array([1])), as_parquet(pa.array([b"a", None]))]
)
def test_other_parquet_files_are_refused(data: bytes) -> None:
    with pytest.raises(DamagedShardError, match="cannot be read as Parquet with a column of records"):
        taken(cursor(data, "parquet"), 1)


def test_a_cursor_closes_its_file() -> None:
    data = io.BytesIO(PLAIN)
    found = RecordCursor("a", "tfrecord", data, total=10)
    found.skip(1)
    found.close()
    assert data.closed


# record shard

FORM = {"featuresDict": {"features": {"n": {"tensor": {"dtype": "uint8", "shape": {}}}}}}


def example(number: int) -> bytes:
    return bytes([10, 12, 10, 10, 10, 1, 110, 18, 5, 26, 3, 10, 1, number])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "a-train.tfrecord-00000-of-00001"
    found.write_bytes(b"".join(frame(example(number)) for number in range(10)))
    return found


def shard(path: Path, *batches: tuple[int, int], shard_cache: ShardCache | None = None, together: int = 1) -> RecordShard:
    reader = TfdsReader(layout_of(FORM, lambda name: None, path="features.json"))
    rows = BatchRows(batches or ((4, 2), (2, 1)))
    return RecordShard(
        str(path), "tfrecord", reader, rows, shard_cache or ShardCache(), together=together, name=path.name, identity="x"
    )


def shard_numbers(found: RecordShard, index: int) -> list[int]:
    values: list[int] = found.batch(index).column("n").to_pylist()
    return values


def test_batches_are_decoded_in_any_order(path: Path) -> None:
    found = shard(path, shard_cache=ShardCache(max_bytes=0))
    assert [shard_numbers(found, index) for index in (2, 0, 1, 1, 2)] == [
        [8, 9],
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [4, 5, 6, 7],
        [8, 9],
    ]
    found.close()


def test_a_batch_that_was_decoded_is_kept_on_the_shelf(path: Path) -> None:
    found = shard(path)
    before = found.batch(1)
    path.write_bytes(b"")
    assert found.batch(1).equals(before)


def test_all_batches_come_in_order(path: Path) -> None:
    assert [batch.num_rows for batch in shard(path).batches()] == [4, 4, 2]


def test_a_shard_is_sent_to_another_process(path: Path) -> None:
    first = shard(path)
    first.batch(0)
    other = pickle.loads(pickle.dumps(first))
    assert shard_numbers(other, 2) == [8, 9] and other.identity == "x"
    locations = other.locations()
    assert locations is not None and locations.names == (path.name,) and locations.firsts.tolist() == [0, 4, 8]
    first.close()


def test_a_file_that_is_gone_is_told_by_name(path: Path) -> None:
    path.unlink()
    with pytest.raises(DamagedShardError, match=rf"{path.name}: the file is missing \(10 rows\)"):
        shard(path).batch(0)


def test_the_number_of_records_is_held_to_what_is_on_record(path: Path) -> None:
    found = shard(path, (4, 1), (5, 1))
    assert shard_numbers(found, 0) == [0, 1, 2, 3]
    with pytest.raises(DamagedShardError, match="more than the 9 recorded records"):
        found.batch(1)
    with pytest.raises(DamagedShardError, match="10 records, but 12 are recorded"):
        shard(path, (12, 1)).batch(0)


def test_in_a_forked_process_the_file_is_opened_anew(path: Path) -> None:
    found = shard(path)
    found.batch(0)
    cursor = found._cursor
    found.forked()
    assert shard_numbers(found, 1) == [4, 5, 6, 7]
    found.close()
    assert cursor is not None
    cursor.close()


def test_rows_before_a_record_that_cannot_be_read_can_be_read(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[30 * 6 + 13] ^= 1
    path.write_bytes(data)
    found = shard(path, (1, 10), together=4)
    assert [shard_numbers(found, index) for index in (5, 0)] == [[5], [0]]
    for index in (6, 7):
        with pytest.raises(DamagedRecordError) as caught:
            found.batch(index)
        assert (caught.value.row, caught.value.offset) == (6, 180)
    rows = found.batches()
    assert [next(rows).num_rows, next(rows).num_rows] == [4, 2]
    with pytest.raises(DamagedRecordError) as caught:
        next(rows)
    assert caught.value.row == 6


def test_rows_before_one_of_other_features_can_be_read(path: Path) -> None:
    path.write_bytes(b"".join(frame(example(number) if number != 3 else b"") for number in range(10)))
    found = shard(path, (1, 10), together=10)
    assert shard_numbers(found, 2) == [2]
    with pytest.raises(ExampleError) as caught:
        found.batch(3)
    assert str(caught.value.file).endswith("a-train.tfrecord-00000-of-00001")
    assert (caught.value.row, caught.value.record, caught.value.key) == (3, 3, "n")

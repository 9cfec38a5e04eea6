"""Tests of datasets_core/building/tfds_folders/folder.py."""

import itertools
import importlib.util
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from datasets_core.building.folders import check_sound, tfds_manifest
from datasets_core.building.tfds_folders.folder import RecordManifest, TfdsManifest, check_there, content, record_rows
from datasets_core.errors import DamagedRecordError, DamagedShardError, FileFormatError, ManifestError
from datasets_core.features.base import List, Value
from datasets_core.features.types import ClassLabel
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.meta.splits import row_ranges
from datasets_core.records.encoding import encode_example
from datasets_core.records.writer import TFRecordWriter
from datasets_core.store.manifest import ShardRecord


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
    with pytest.raises(DamagedRecordError, match="record 9 at byte"):
        check_sound(str(folder), manifest_tfds_folder(folder))


@pytest.mark.parametrize(("name", "content"), [("features.json", "{"), ("features.json", "[]"), ("metadata.json", "{")])
def test_what_is_no_json_is_told_by_name(folder: Path, name: str, content: str) -> None:
    (folder / name).write_text(content)
    with pytest.raises(ManifestError, match=name):
        tfds_manifest(str(folder))


@pytest.mark.parametrize("length", ["1000000000000", "9" * 15, "9" * 20])
def test_rows_that_no_file_of_its_size_holds_are_refused(folder: Path, length: str) -> None:
    changed(folder, splits=[{"name": "train", "shardLengths": [length, "10"]}])
    with pytest.raises(ManifestError, match=r"dataset_info\.json: shardLengths"):
        tfds_manifest(str(folder))


def test_files_that_are_only_numbered_are_looked_for_before_all_are_named(folder: Path) -> None:
    changed(folder, splits=[{"name": "train", "numShards": "1000000"}])
    calls = itertools.count()
    sys.setprofile(lambda frame, event, argument: next(calls))
    with pytest.raises(DamagedShardError, match=r"missing, and its rows are not on record in .*dataset_info\.json"):
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
    assert "'n' has 3 classes, and some of the names" in caplog.text

import os
from pathlib import Path

import pytest

from datasets_core.building.tfds_folders.folder import RecordManifest, check_there, content
from datasets_core.errors import DamagedShardError, ManifestError
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict, SplitInfo
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

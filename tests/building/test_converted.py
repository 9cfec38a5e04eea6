import os
import shutil
from pathlib import Path

import pytest

from datasets_core.building.folders import tfds_manifest
from datasets_core.building.prepared import ConvertedRecords, converted_rows
from datasets_core.building.tfds_folders.description import Conversion
from datasets_core.building.tfds_folders.folder import TfdsManifest
from datasets_core.errors import DamagedShardError, UnknownSplitError

GOLDEN = Path(__file__).parents[1] / "tfds" / "golden"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(shutil.copytree(GOLDEN / "parts" / "en" / "1.2.0", tmp_path / "data"))


@pytest.fixture
def how(tmp_path: Path) -> Conversion:
    return Conversion(str(tmp_path / "cache"))


def manifest(folder: str) -> TfdsManifest:
    found = tfds_manifest(folder)
    assert isinstance(found, TfdsManifest)
    return found


def numbers(folder: str, split: str, how: Conversion) -> list[int]:
    table, _ = converted_rows(folder, manifest(folder), split, how)
    return [number for batch in table.batches() for number in batch.column("n").to_pylist()]


def converted(how: Conversion) -> list[str]:
    return sorted(os.listdir(Path(str(how.cache_dir), "tfds_folder")))


def test_only_the_splits_that_are_read_are_converted(folder: str, how: Conversion) -> None:
    whole = numbers(folder, "train", how)
    assert converted(how) == ["parts-en-train"] and sorted(whole) == list(range(70))
    assert numbers(folder, "train[20:50]+train[:2]", how) == whole[20:50] + whole[:2]
    assert numbers(folder, "train[1shard]", how) == whole[23:47]
    assert sorted(numbers(folder, "test+more-1", how)) == [0, 0, 1, 1, 2, 2, 3, 4, 5, 6]
    assert converted(how) == ["parts-en-more-1", "parts-en-test", "parts-en-train"]


def test_no_rows_take_no_conversion(folder: str, how: Conversion) -> None:
    assert numbers(folder, "train[5:5]", how) == [] and not os.path.exists(str(how.cache_dir))


def test_a_changed_file_is_converted_again(folder: str, how: Conversion) -> None:
    before = numbers(folder, "test", how)
    for number in range(3):
        shutil.copy(
            f"{folder}/parts-more-1.tfrecord-{number:05d}-of-00003", f"{folder}/parts-test.tfrecord-{number:05d}-of-00003"
        )
    info = Path(folder, "dataset_info.json")
    info.write_text(info.read_text().replace('"2",\n        "3",\n        "2"', '"1", "1", "1"'))
    assert len(before) == 7 and sorted(numbers(folder, "test", how)) == [0, 1, 2]


def test_a_conversion_is_used_again_unless_it_is_forced(folder: str, how: Conversion) -> None:
    builder = ConvertedRecords(folder, manifest(folder), "test", cache_dir=how.cache_dir)
    numbers(folder, "test", how)
    before = os.stat(os.path.join(builder.cache_dir, "dataset_info.json")).st_mtime_ns
    numbers(folder, "test", how)
    assert os.stat(os.path.join(builder.cache_dir, "dataset_info.json")).st_mtime_ns == before
    numbers(folder, "test", Conversion(how.cache_dir, is_forced=True))
    assert os.stat(os.path.join(builder.cache_dir, "dataset_info.json")).st_mtime_ns > before


def test_several_processes_convert_the_files_of_a_split(folder: str, how: Conversion) -> None:
    one = numbers(folder, "train", how)
    assert numbers(folder, "train", Conversion(how.cache_dir, num_proc=2, is_forced=True)) == one


def test_a_file_that_is_missing_is_told_by_name(folder: str, how: Conversion) -> None:
    os.unlink(f"{folder}/parts-train.tfrecord-00001-of-00003")
    with pytest.raises(DamagedShardError, match=r"parts-train\.tfrecord-00001-of-00003: the file is missing"):
        numbers(folder, "train", how)


def test_a_split_that_does_not_exist_is_refused(folder: str, how: Conversion) -> None:
    with pytest.raises(UnknownSplitError):
        numbers(folder, "valid", how)

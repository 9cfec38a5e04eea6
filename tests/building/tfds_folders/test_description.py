"""Tests of datasets_core/building/tfds_folders/description.py."""

import json
from pathlib import Path
from typing import Any

import pytest

from datasets_core.building.tfds_folders.description import TfdsDescription, parse_tfds_description
from datasets_core.errors import ManifestError
from datasets_core.features.schema import Features
from datasets_core.meta.info import SupervisedKeysData

GOLDEN = Path(__file__).parents[2] / "tfds" / "golden"
SPLIT = {"name": "train", "shardLengths": ["3", "2"], "numBytes": "50"}


def told(**content: Any) -> TfdsDescription:
    stored = {"name": "birds", "version": "1.2.0", "splits": [SPLIT], **content}
    found = parse_tfds_description(json.dumps(stored).encode(), path="dataset_info.json")
    assert found is not None
    return found


def names(**split: Any) -> tuple[str, ...]:
    return told(splits=[{**SPLIT, **split}]).splits("tfrecord")[0].files


def test_what_tensorflow_datasets_wrote_is_known() -> None:
    path = GOLDEN / "parts" / "en" / "1.2.0" / "dataset_info.json"
    found = parse_tfds_description(path.read_bytes(), path=str(path))
    assert found is not None and (found.name, found.config, str(found.version)) == ("parts", "en", "1.2.0")
    splits = found.splits("tfrecord")
    assert [split.name for split in splits] == ["train", "test", "more-1"] and splits[0].lengths == (23, 24, 23)
    info = found.info(Features({}), splits, {"rate": 8})
    assert info.supervised_keys == SupervisedKeysData("n", "name") and info.license == "MIT"
    assert info.further == {
        "metadata": {"rate": 8},
        "redistribution_info": {"license": "MIT"},
        "config_description": "the en one",
    }


@pytest.mark.parametrize(
    "content",
    [
        {"builder_name": "csv", "splits": {"train": {"name": "train"}}},
        {"name": "x", "splits": {"train": {}}},
        {"name": "x", "manifest": {}, "splits": []},
        {"description": "", "features": {}},
        [],
        5,
    ],
)
def test_what_other_libraries_wrote_is_none(content: Any) -> None:
    assert parse_tfds_description(json.dumps(content).encode(), path="x") is None


def test_files_are_called_by_their_template() -> None:
    assert names() == ("birds-train.tfrecord-00000-of-00002", "birds-train.tfrecord-00001-of-00002")
    assert names(filepathTemplate="{SPLIT}/{SHARD_INDEX}_{NUM_SHARDS}.{FILEFORMAT}")[1] == "train/00001_00002.tfrecord"
    assert names(filepathTemplate="${DATASET}-${SHARD_X_OF_Y}")[0] == "birds-00000-of-00002"
    many = names(shardLengths=["1"] * 100_001)
    assert many[7] == "birds-train.tfrecord-000007-of-100001"


@pytest.mark.parametrize(
    "template",
    [
        "../{SHARD_INDEX}",
        "/etc/{SHARD_INDEX}",
        "a/../../{SHARD_INDEX}",
        "a//{SHARD_INDEX}",
        "./{SHARD_INDEX}",
        "..\\{SHARD_INDEX}",
        "http://x/{SHARD_INDEX}",
        "{SHARD_INDEX.__class__}",
        "{HOME}{SHARD_INDEX}",
        "{SHARD_INDEX}\0",
        "{SPLIT}",
        "",
        "}{SHARD_INDEX}",
    ],
)
def test_templates_that_lead_elsewhere_or_name_one_file_twice_are_refused(template: str) -> None:
    if template:
        with pytest.raises(ManifestError, match=r"template|names all"):
            names(filepathTemplate=template)
    else:
        assert names(filepathTemplate=template) == names()


@pytest.mark.parametrize(
    "split",
    [
        {"name": "../x"},
        {"name": ""},
        {"name": None},
        {"name": "all"},
        {"shardLengths": ["-1"]},
        {"shardLengths": [True]},
        {"shardLengths": ["x"]},
        {"shardLengths": 5},
        {"shardLengths": [str(1 << 63)]},
        {"shardLengths": None, "numShards": str(1 << 40)},
        {"numBytes": []},
    ],
)
def test_splits_that_mean_nothing_are_refused(split: dict[str, Any]) -> None:
    with pytest.raises(ManifestError) as caught:
        told(splits=[{**SPLIT, **split}]).splits("tfrecord")
    assert str(caught.value.file).endswith("dataset_info.json")


def test_two_splits_of_one_name_are_refused() -> None:
    with pytest.raises(ManifestError, match="two splits named 'train'"):
        told(splits=[SPLIT, SPLIT]).splits("tfrecord")


@pytest.mark.parametrize(
    "content", [{"name": "../x"}, {"configName": "a/b"}, {"version": "latest"}, {"alternativeFileFormats": 5}]
)
def test_names_and_versions_that_mean_nothing_are_refused(content: dict[str, Any]) -> None:
    with pytest.raises(ManifestError) as caught:
        told(**content)
    assert str(caught.value.file).endswith("dataset_info.json")


def test_supervised_keys_may_be_nested() -> None:
    feature = {"featureKey": "x"}
    keys = {"tuple": {"items": [{"dict": {"dict": {"a": feature}}}, {"tuple": {"items": [feature, feature]}}]}}
    info = told(supervisedKeys=keys).info(Features({}), ())
    assert info.supervised_keys is None and info.further == {"supervised_keys": ({"a": "x"}, ("x", "x"))}
    assert told(supervisedKeys={"input": "a", "output": "b"}).info(Features({}), ()).supervised_keys == SupervisedKeysData(
        "a", "b"
    )


def test_what_is_no_json_is_refused() -> None:
    for data in (b"{", b"\xff", b"[" * 100_000):
        with pytest.raises(ManifestError, match="not valid JSON"):
            parse_tfds_description(data, path="x")


@pytest.mark.parametrize("split", [{"shardLengths": ["abc"]}, {"shardLengths": ["9" * 5000]}])
def test_a_number_that_is_none_is_told_with_its_field(split: Any) -> None:
    with pytest.raises(ManifestError, match=r"shardLengths is '[abc9]+', which is not a number"):
        names(**split)


def test_the_first_and_the_last_file_of_each_split_are_known_at_once() -> None:
    splits = [SPLIT, {"name": "test", "numShards": "900000"}, {"name": "one", "numShards": 1}, {"name": "no"}]
    first, test, one, no = told(splits=splits).ends("tfrecord")
    assert first == names() and test == (f"birds-test.tfrecord-{0:06d}-of-900000", "birds-test.tfrecord-899999-of-900000")
    assert len(one) == 1 and no == ()

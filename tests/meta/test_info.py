import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError, FileNotFoundDatasetsError, ManifestError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.card import read_dataset_infos
from datasets_core.meta.info import DatasetInfo, Deferred, SupervisedKeysData, info_of, parse_json
from datasets_core.meta.split_info import SplitDict

FIXTURES = Path(__file__).parent / "fixtures"
CAPTURED = json.loads((FIXTURES / "dataset_info_5.2.0.json").read_text())
OLD = read_dataset_infos((FIXTURES / "dataset_infos_1.18.json").read_text(), path="dataset_infos.json")["plain_text"]


def features(**columns: str) -> Features:
    return Features({name: Value(dtype) for name, dtype in columns.items()})


def as_json(info: DatasetInfo) -> Any:
    return json.loads(json.dumps(info.to_dict()))


def test_what_datasets_wrote_is_read_and_written_alike() -> None:
    assert as_json(DatasetInfo.from_dict(CAPTURED)) == CAPTURED


def test_a_stored_form_becomes_values() -> None:
    info = DatasetInfo.from_dict(CAPTURED)
    assert isinstance(info.features, Features)
    assert isinstance(info.splits, SplitDict)
    assert (info.version, info.supervised_keys) == ("1.2.3", SupervisedKeysData("title", "label"))


def test_an_old_info_keeps_its_features() -> None:
    assert OLD.features is not None
    assert list(OLD.features) == ["id", "title", "label", "languages", "tokens", "options", "answers"]
    assert OLD.features["label"].names == ["no", "yes"]


def test_an_old_info_keeps_its_records() -> None:
    assert (OLD.version, OLD.splits["train"].num_examples, OLD.download_size) == ("1.0.0", 87599, 35142551)
    assert [record["checksum"] for record in OLD.download_checksums.values()][1] is None


def test_an_old_info_keeps_its_task_templates() -> None:
    assert as_json(OLD)["task_templates"][0]["task"] == "question-answering-extractive"


def test_an_old_info_survives_the_way_back() -> None:
    assert DatasetInfo.from_dict(as_json(OLD)) == OLD


def test_an_empty_info_is_written_as_empty_texts() -> None:
    assert DatasetInfo().to_dict() == {"description": "", "citation": "", "homepage": "", "license": ""}


def test_unknown_keys_are_left_out() -> None:
    assert DatasetInfo.from_dict({"of_tomorrow": 1, "features": None, "manifest": {}}) == DatasetInfo()


def test_null_is_unknown() -> None:
    info = DatasetInfo.from_dict({"description": None, "download_size": None, "splits": None, "version": None})
    assert (info.description, info.download_size, info.splits, info.version) == ("", None, None, None)


def test_features_may_be_objects_or_their_stored_form() -> None:
    assert DatasetInfo(features={"a": Value("int8")}) == DatasetInfo(features={"a": {"dtype": "int8", "_type": "Value"}})


def test_nested_features_may_be_objects() -> None:
    assert DatasetInfo(features={"a": {"b": Value("int8")}}).features == Features({"a": {"b": Value("int8")}})


def test_a_pair_is_taken_as_supervised_keys() -> None:
    assert DatasetInfo(supervised_keys=("a", "b")).supervised_keys == SupervisedKeysData("a", "b")


def test_what_is_known_is_shown() -> None:
    assert repr(DatasetInfo(homepage="h", version="1.0.0")) == "DatasetInfo(homepage='h', version=1.0.0)"


def test_an_update_keeps_what_the_other_does_not_know() -> None:
    info = DatasetInfo("old", homepage="h", features=features(a="int8"), download_size=3)
    info.update(DatasetInfo("new", version="1.0.0"))
    assert info == DatasetInfo("new", homepage="h", features=features(a="int8"), download_size=3, version="1.0.0")


def test_an_update_without_ignore_none_takes_everything() -> None:
    assert DatasetInfo("old", features=features(a="int8")).update(DatasetInfo(), ignore_none=False) == DatasetInfo()


def test_an_update_shares_nothing_with_its_source() -> None:
    other = DatasetInfo(download_checksums={"u": {"num_bytes": 1}})
    info = DatasetInfo().update(other)
    other.download_checksums["u"]["num_bytes"] = 2
    assert info.download_checksums == {"u": {"num_bytes": 1}}


@pytest.mark.parametrize("again", [DatasetInfo.copy, copy.deepcopy, lambda info: pickle.loads(pickle.dumps(info))])
def test_an_info_survives_its_copies(again: Any) -> None:
    info = DatasetInfo.from_dict(CAPTURED)
    found = again(info)
    found.splits["train"].num_examples = 0
    assert found.features == info.features
    assert info.splits["train"].num_examples == 10


def test_equal_infos_merge_to_themselves() -> None:
    assert DatasetInfo.from_merge([OLD, None, OLD.copy()]) == OLD


def test_a_merge_joins_texts_once_and_never_loses_features() -> None:
    one = DatasetInfo("d", license="l", features=features(a="int8"), version="1.0.0")
    merged = DatasetInfo.from_merge(
        [one, DatasetInfo("e", license="l"), DatasetInfo("d", features=features(b="string", a="int64"))]
    )
    assert merged == DatasetInfo("d\n\ne", license="l", features=features(a="int8", b="string"))


def test_a_merge_of_nothing_is_empty() -> None:
    assert DatasetInfo.from_merge([]) == DatasetInfo()


@pytest.mark.parametrize("pretty", [False, True])
def test_a_written_folder_is_read_back(tmp_path: Path, pretty: bool) -> None:
    DatasetInfo.from_dict(CAPTURED).write_to_directory(tmp_path / "new", pretty_print=pretty)
    assert DatasetInfo.from_directory(tmp_path / "new") == DatasetInfo.from_dict(CAPTURED)
    assert (tmp_path / "new" / "LICENSE").read_text() == "cc0-1.0"


def test_a_folder_may_be_remote() -> None:
    OLD.write_to_directory("memory://infos/squad")
    assert DatasetInfo.from_directory("memory://infos/squad") == OLD


def test_a_folder_without_info_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundDatasetsError, match=r"dataset_info\.json does not exist"):
        DatasetInfo.from_directory(tmp_path)


def test_a_remote_folder_without_info_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"dataset_info\.json does not exist"):
        DatasetInfo.from_directory("memory://nowhere")


def test_an_empty_folder_name_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        DatasetInfo.from_directory("")


BROKEN = {
    b'{"a": 1,\n"b": }': "line 2, column 6",
    b"": "line 1",
    b'{"a": 1, "a": 2}': "'a' appears twice",
    b'{"description": "\xff"}': "not UTF-8",
    b"[" * 100_000: "too deep",
    b"[" + b"9" * 5000 + b"]": "broken",
    b"[]": "found a list",
    b"null": "found null",
    b'{"features": 3}': "features is 3",
    b'{"features": {"a": {"_type": "Nothing"}}}': "Nothing",
    b'{"features": {"a": {"_type": ["x"]}}}': "info.json",
    b'{"splits": {"train": 5}}': "recorded as 5",
    b'{"splits": {"train": {"name": "train", "num_examples": "x"}}}': "num_examples of split 'train'",
    b'{"download_size": "12"}': "download_size is '12'",
    b'{"description": 3}': "description is 3",
    b'{"version": "1"}': "'1' is not a valid version",
    b'{"version": {}}': "KeyError",
    b'{"version": 3}': "version is 3",
    b'{"supervised_keys": 3}': "supervised_keys is 3",
    b'{"supervised_keys": [1, 2, 3]}': "TypeError",
    b'{"config_name": 3}': "config_name is 3",
    b'{"download_checksums": []}': "download_checksums",
}


@pytest.mark.parametrize(("data", "reason"), BROKEN.items(), ids=[key[:40] for key in BROKEN])
def test_a_broken_file_is_one_error_that_names_it(tmp_path: Path, data: bytes, reason: str) -> None:
    (tmp_path / "dataset_info.json").write_bytes(data)
    with pytest.raises(ManifestError) as caught:
        DatasetInfo.from_directory(tmp_path)
    assert str(tmp_path / "dataset_info.json") in str(caught.value)
    assert reason in str(caught.value)


def test_the_place_in_a_file_is_named() -> None:
    with pytest.raises(ManifestError, match="config 'x': the info of a dataset must be an object, found a number"):
        info_of(3, path="f", place="config 'x'")


def test_json_is_parsed_as_it_is() -> None:
    assert parse_json('{"a": [1, null]}', path="f") == {"a": [1, None]}


@pytest.mark.optional("datasets")
def test_datasets_reads_what_we_write(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    DatasetInfo.from_dict(CAPTURED).write_to_directory(tmp_path)
    found = datasets.DatasetInfo.from_directory(str(tmp_path))
    assert (found.splits["train"].shard_lengths, found.features["label"].names) == ([4, 6], ["neg", "pos"])


def test_an_error_about_a_value_keeps_its_advice() -> None:
    with pytest.raises(ManifestError) as caught:
        info_of({"download_size": -1}, path="f.json", place="config 'x'")
    assert str(caught.value) == "f.json: config 'x': download_size is -1. Record a number of bytes, or null for unknown."


@pytest.mark.parametrize(
    ("known", "name"),
    [
        ({"dataset_name": "reviews", "config_name": "en", "version": "1.2.0"}, "reviews/en/1.2.0"),
        ({"dataset_name": "reviews", "config_name": "default", "version": "1.2.0"}, "reviews/1.2.0"),
        ({"dataset_name": "reviews", "builder_name": "csv"}, "reviews"),
        ({"builder_name": "csv", "version": "0.0.0"}, "csv/0.0.0"),
        ({}, ""),
    ],
)
def test_the_full_name_has_name_config_and_version(known: dict[str, Any], name: str) -> None:
    assert DatasetInfo(**known).full_name == name


def test_a_version_among_the_values_is_shown_and_taken_over() -> None:
    info = DatasetInfo().update(DatasetInfo(version="1.0.0", release_notes={"1.0.0": "first"}))  # type: ignore[arg-type]
    assert repr(info) == "DatasetInfo(version=1.0.0, release_notes={'1.0.0': 'first'})"
    assert DatasetInfo.from_dict(as_json(info)) == info
    assert "release_notes" not in DatasetInfo().to_dict()


def test_an_order_that_is_left_is_stored_where_it_is_and_nowhere_else() -> None:
    assert "disable_shuffling" not in DatasetInfo().to_dict()
    assert repr(DatasetInfo()) == "DatasetInfo()"
    info = DatasetInfo(disable_shuffling=True)
    assert DatasetInfo.from_dict(as_json(info)) == info
    assert DatasetInfo.from_dict({"disable_shuffling": None}).disable_shuffling is False
    with pytest.raises(ConfigurationError, match="disable_shuffling is 'no'"):
        DatasetInfo.from_dict({"disable_shuffling": "no"})


def deferred(**columns: str) -> DatasetInfo:
    stored = DatasetInfo(features=features(**columns)).to_dict()
    info = DatasetInfo.from_dict(stored)
    assert isinstance(vars(info)["features"], Deferred)
    return info


def test_plain_features_of_a_stored_form_are_made_when_they_are_looked_at() -> None:
    info = deferred(a="int8", b="string")
    assert info.features == features(a="int8", b="string")
    assert isinstance(vars(info)["features"], Features)
    assert info.features is info.features


@pytest.mark.parametrize(
    "made",
    [
        lambda info: info,
        lambda info: info.copy(),
        copy.copy,
        copy.deepcopy,
        lambda info: pickle.loads(pickle.dumps(info)),
        lambda info: DatasetInfo().update(info),
        lambda info: DatasetInfo.from_dict(info.to_dict()),
    ],
)
def test_an_info_whose_features_were_not_looked_at_is_as_any_other(made: Any) -> None:
    known = DatasetInfo(features=features(a="int8"))
    assert made(deferred(a="int8")) == known
    assert repr(made(deferred(a="int8"))) == repr(known)
    assert made(deferred(a="int8")).to_dict() == known.to_dict()


def test_a_copy_has_features_of_its_own() -> None:
    info = deferred(a="int8")
    other = info.copy()
    assert other.features is not None and info.features is not None
    other.features["b"] = Value("string")
    assert list(info.features) == ["a"]


def test_features_of_other_kinds_are_made_at_once() -> None:
    with pytest.raises(ConfigurationError):
        DatasetInfo.from_dict({"features": {"a": {"dtype": "int9", "_type": "Value"}}})
    nested = DatasetInfo.from_dict({"features": {"a": [{"dtype": "int8", "_type": "Value"}]}})
    assert isinstance(vars(nested)["features"], Features)

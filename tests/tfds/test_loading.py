"""From a name to rows: code that is imported, scripts, and what stands prepared."""

import json
import pathlib
import shutil
from typing import Any

import pytest

from datasets_core import tfds
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import (
    BlockedVersionError,
    ConfigurationError,
    DatasetNotFoundError,
    DatasetsCoreError,
    UnknownVersionError,
    UnpreparableVersionError,
    UntrustedScriptError,
)
from datasets_core.load import load_dataset

VERSIONS = json.loads((pathlib.Path(__file__).parents[1] / "meta/golden/tfds_versions.json").read_text())
SCRIPT = '''
import numpy as np
import datasets_core.tfds as tfds

class Builder(tfds.core.GeneratorBasedBuilder):
    """Three numbers."""
    VERSION = tfds.core.Version("1.0.0")
    SUPPORTED_VERSIONS = [tfds.core.Version("0.9.0")]
    def _info(self):
        return self.dataset_info_from_configs(features=tfds.features.FeaturesDict({"x": np.int64}))
    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(3)}
    def _generate_examples(self, count):
        for number in range(count):
            yield number, {"x": number}
'''


@pytest.fixture
def script(tmp_path: Any) -> Any:
    folder = tmp_path / "few_numbers"
    folder.mkdir()
    (folder / "few_numbers_dataset_builder.py").write_text(SCRIPT)
    (folder / "README.md").write_text("Few numbers.\n")
    (folder / "CITATIONS.bib").write_text("@misc{few}\n")
    return folder


def test_a_class_is_known_by_its_name_and_comes_with_its_info(numbers: Any, data_dir: str) -> None:
    rows, info = tfds.load("Numbers:1.*.*", split="train", data_dir=data_dir, with_info=True)
    assert (len(rows), info.full_name, info.name) == (10, "numbers/1.0.0", "numbers")
    assert info.splits["train"].num_examples == 10
    assert info.features["even"].names == ["no", "yes"]
    assert info.supervised_keys == ("text", "even")
    assert tfds.builder_cls("numbers") is numbers
    assert tfds.list_builders() == ["numbers"]


def test_what_nobody_knows_is_named_with_what_is_near(numbers: Any, data_dir: str) -> None:
    with pytest.raises(DatasetNotFoundError, match=r"'nmbers'.*numbers"):
        tfds.load("nmbers", data_dir=data_dir)
    with pytest.raises(ValueError, match="numbers"):
        tfds.builder_cls("nmbers")


@pytest.mark.parametrize("call", [tfds.load, tfds.builder, tfds.builder_cls])
def test_a_name_in_a_namespace_is_refused(call: Any, numbers: Any) -> None:
    with pytest.raises(DatasetNotFoundError, match="'huggingface' of 'huggingface:numbers'"):
        call("huggingface:numbers")


def test_download_false_builds_nothing(numbers: Any, data_dir: str) -> None:
    with pytest.raises(DatasetNotFoundError):
        tfds.load("numbers", data_dir=data_dir, download=False)


def test_a_version_is_said_once(numbers: Any, data_dir: str) -> None:
    with pytest.raises(TypeError):
        tfds.builder("numbers:1.0.0", data_dir=data_dir, version="1.0.0")


@pytest.mark.parametrize("case", VERSIONS["builder_names"], ids=lambda case: case["name"] or "empty")
def test_names_that_tfds_refuses_are_refused(case: Any, data_dir: str) -> None:
    refused = "error" in case["expected"] or case["name"] == "mnist:01.0.0"  # TFDS finds out later
    with pytest.raises(DatasetsCoreError) as caught:  # nothing of these names is known
        tfds.builder(case["name"], data_dir=data_dir)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, DatasetNotFoundError) != refused


def _on_disk() -> list[Any]:
    return VERSIONS["on_disk"]


@pytest.mark.parametrize("case", _on_disk(), ids=lambda case: case["name"])
def test_prepared_versions_are_found_without_code(case: Any, data_dir: str) -> None:
    class DiskDs(tfds.core.GeneratorBasedBuilder, skip_registration=True):
        SUPPORTED_VERSIONS = ()

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features={"x": "int64"})

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": [(0, {"x": 1})]}

        _generate_examples = None

    for text in case["present"]:
        version = text.split()[0]
        if "empty" in text:
            pathlib.Path(data_dir, "disk_ds", version).mkdir(parents=True)
        else:
            type("DiskDs", (DiskDs,), {"VERSION": version}, skip_registration=True)(data_dir=data_dir).download_and_prepare()
    expected = case["expected"].get("value")
    if case["name"] in ("disk_ds", "disk_ds:*.*.*"):
        expected = "2.0.0"  # an empty folder of a higher version hides nothing
    if expected is None:
        with pytest.raises(DatasetNotFoundError):
            tfds.builder(case["name"], data_dir=data_dir)
    else:
        assert str(tfds.builder(case["name"], data_dir=data_dir).version) == expected


def test_a_version_that_the_code_lists_no_more_is_read_where_it_is_prepared(numbers: Any, data_dir: str) -> None:
    numbers(data_dir=data_dir).download_and_prepare()
    numbers.VERSION = tfds.core.Version("2.0.0")
    older = tfds.builder("numbers:1.*.*", data_dir=data_dir)
    assert str(older.version) == "1.0.0"
    assert len(tfds.load("numbers:1.0.0", split="train", data_dir=data_dir)) == 10
    with pytest.raises(UnknownVersionError) as caught:
        tfds.builder("numbers:3.*.*", data_dir=data_dir)
    assert caught.value.dataset == "numbers"


def test_a_pattern_takes_what_stands_prepared_before_what_nobody_prepares(numbers: Any, data_dir: str) -> None:
    for version in ("1.2.0", "1.10.0", "1.11.0"):
        numbers.VERSION = tfds.core.Version(version)
        numbers(data_dir=data_dir).download_and_prepare()
    pathlib.Path(data_dir, "numbers", "1.12.0").mkdir()
    numbers.VERSION, numbers.SUPPORTED_VERSIONS = tfds.core.Version("2.0.0"), [tfds.core.Version("1.15.0"), "3.0.0"]
    assert str(tfds.builder("numbers:1.*.*", data_dir=data_dir).version) == "1.11.0"
    numbers.BLOCKED_VERSIONS = tfds.core.BlockedVersions(versions={"1.11.0": "wrong", "3.0.0": None})
    assert str(tfds.builder("numbers:1.*.*", data_dir=data_dir).version) == "1.10.0"
    assert len(tfds.load("numbers:1.2.0", split="train", data_dir=data_dir)) == 10
    with pytest.raises(BlockedVersionError, match="wrong"):
        tfds.builder("numbers:1.11.0", data_dir=data_dir)
    with pytest.raises(UnpreparableVersionError, match=r"can be prepared: '2\.0\.0'\.$"):
        tfds.load("numbers:1.15.*", data_dir=data_dir)


def test_a_newer_folder_that_cannot_be_read_hides_no_good_one(numbers: Any, data_dir: str) -> None:
    built = numbers(data_dir=data_dir)
    built.download_and_prepare()
    newer = pathlib.Path(built.data_dir).with_name("9.0.0")
    shutil.copytree(built.data_dir, newer)
    for shard in newer.glob("*.arrow"):
        shard.write_bytes(shard.read_bytes()[:8] + bytes(shard.stat().st_size - 200) + shard.read_bytes()[-192:])
    shutil.move(newer.parent, newer.parent.with_name("older_numbers"))
    assert str(tfds.builder("older_numbers", data_dir=data_dir).data_dir).endswith("1.0.0")


def test_splits_of_what_is_not_prepared_are_a_key_error(numbers: Any, data_dir: str) -> None:
    info: Any = tfds.builder("numbers", data_dir=data_dir).info
    assert dict(info.splits) == {}
    with pytest.raises(KeyError, match="download_and_prepare"):
        info.splits["train"]


def test_a_folder_opens_without_code(numbers: Any, data_dir: str) -> None:
    built = numbers(data_dir=data_dir)
    built.download_and_prepare()
    opened = tfds.builder_from_directory(built.data_dir)
    assert list(opened.as_dataset("train")) == list(built.as_dataset("train"))
    assert list(opened.as_dataset("test", as_supervised=True)) == list(built.as_dataset("test", as_supervised=True))
    assert opened.info.features == built.info.features
    shutil.copytree(built.data_dir, f"{data_dir}/copy")
    both = tfds.builder_from_directories([built.data_dir, f"{data_dir}/copy"])
    assert len(both.as_dataset("train")) == 20


def test_a_folder_knows_metadata_and_nested_keys(numbers: Any, data_dir: str) -> None:
    keys = ({"a": "number", "b": ("text",)}, "even", "text")

    class Told(numbers):  # type: ignore[misc]
        def _info(self) -> Any:
            info = super()._info()
            info.supervised_keys, info.metadata = keys, {"rates": [1, 2]}
            return info

    built = Told(data_dir=data_dir)
    built.download_and_prepare()
    opened = tfds.builder_from_directory(built.data_dir)
    assert (opened.info.metadata, opened.info.supervised_keys) == ({"rates": [1, 2]}, keys)
    pairs = [list(builder.as_dataset("test", as_supervised=True)) for builder in (opened, built)]
    assert pairs[0] == pairs[1]


def test_the_path_of_a_script_is_a_name_too(script: Any, data_dir: str) -> None:
    path = script / "few_numbers_dataset_builder.py"
    rows, info = tfds.load(path, split="train", data_dir=data_dir, with_info=True)
    assert sorted(row["x"] for row in rows) == [0, 1, 2]
    assert (info.full_name, info.description, info.citation) == ("few_numbers/1.0.0", "Few numbers.", "@misc{few}")
    assert tfds.builder("few_numbers", data_dir=data_dir).is_prepared()


def test_a_folder_with_a_script_has_to_be_trusted(script: Any, data_dir: str) -> None:
    with pytest.raises(UntrustedScriptError):
        tfds.builder(script, data_dir=data_dir)
    trusted = {"trust_remote_code": True}
    assert len(tfds.load(script, split="train", data_dir=data_dir, builder_kwargs=trusted)) == 3


def test_scripts_in_processes_give_the_same_rows(script: Any, data_dir: str) -> None:
    path = str(script / "few_numbers_dataset_builder.py")
    rows = tfds.load(path, split="train", data_dir=data_dir, download_and_prepare_kwargs={"num_proc": 2})
    assert sorted(row["x"] for row in rows) == [0, 1, 2]


def test_a_script_of_the_other_kind_names_its_loader(tmp_path: Any, data_dir: str) -> None:
    path = tmp_path / "other.py"
    path.write_text(
        "import datasets_core as datasets\n"
        "class Other(datasets.GeneratorBasedBuilder):\n"
        "    def _info(self): return datasets.DatasetInfo()\n"
        "    def _split_generators(self, dl_manager): return []\n"
        "    def _generate_examples(self): yield 0, {}\n"
    )
    with pytest.raises(ConfigurationError, match="load_dataset"):
        tfds.builder(str(path), data_dir=data_dir)


def test_load_dataset_reads_such_scripts_as_all_others(script: Any, data_dir: str) -> None:
    path = str(script / "few_numbers_dataset_builder.py")
    dataset = load_dataset(path, split="train", cache_dir=data_dir)
    assert isinstance(dataset, Dataset)
    assert sorted(dataset["x"][:]) == [0, 1, 2]
    rows = load_dataset(path, split="train", cache_dir=data_dir, read_config=tfds.ReadConfig(add_tfds_id=True))
    assert next(iter(rows))["tfds_id"].endswith("__0")
    assert set(load_dataset(path, cache_dir=data_dir)) == {"train"}


# `benchmark`: counts, rates, and what cannot be measured.


def test_elements_are_counted_with_the_first_apart(capsys: Any) -> None:
    found = tfds.benchmark([1, 2, 3], batch_size=4)
    assert {name: row["num_examples"] for name, row in found.table.items()} == {"first+lasts": 12, "first": 4, "lasts": 8}
    assert "First excluded" in capsys.readouterr().out
    assert "First excluded" in found._repr_html_()


def test_any_iterable_is_measured_as_far_as_asked() -> None:
    endless = iter(int, 1)
    assert tfds.benchmark(endless, num_iter=5).table["first+lasts"]["num_examples"] == 5


def test_the_figures_come_as_a_frame_too() -> None:
    pytest.importorskip("pandas")
    found = tfds.benchmark("abc")
    assert found.stats["num_examples"].to_dict() == {"first+lasts": 3, "first": 1, "lasts": 2}
    assert list(found.raw_stats.index) == ["start_time", "first_batch_time", "end_time", "num_iter"]


@pytest.mark.parametrize("options", [{"ds": []}, {"ds": [1], "batch_size": 0}, {"ds": [1], "num_iter": 0}], ids=str)
def test_nothing_cannot_be_measured(options: Any) -> None:
    with pytest.raises(ConfigurationError):
        tfds.benchmark(**options)

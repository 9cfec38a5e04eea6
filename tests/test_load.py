"""Tests of datasets_core/load.py."""

from __future__ import annotations

import copy
import json
import os
import pickle
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest

from datasets_core import config
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DamagedShardError,
    DataFilesNotFoundError,
    DatasetDiskError,
    DatasetNotFoundError,
    DatasetsCoreError,
    FileNotFoundDatasetsError,
    LockDriftError,
    ManifestError,
    NonMatchingChecksumError,
    NonMatchingSplitsSizesError,
    SplitSyntaxError,
    UnknownConfigError,
    UnknownOptionError,
    UnknownSplitError,
    UnknownVersionError,
    UntrustedScriptError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.inspect import get_dataset_config_names
from datasets_core.load import load_dataset, load_dataset_builder, lock_dataset
from datasets_core.meta.splits import ReadInstruction, Split
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.order.files import ReadConfig

SCRIPT = """
import datasets_core as datasets
from .numbers import ROWS

class Counted(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="ten", version="1.0.0")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"n": datasets.Value("int32")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(datasets.Split.TRAIN, {"parts": [0, 1]})]

    def _generate_examples(self, parts):
        for part in parts:
            for row in range(part * ROWS, (part + 1) * ROWS):
                yield row, {"n": row}
"""


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    folder = tmp_path / "numbers"
    folder.mkdir()
    for split, start in (("train", 0), ("test", 100)):
        rows = "".join(f"{number},{number / 2},n{number}\n" for number in range(start, start + 20))
        (folder / f"{split}.csv").write_text("a,b,c\n" + rows)
    return folder


@pytest.fixture
def script(tmp_path: Path) -> Path:
    folder = tmp_path / "counted"
    folder.mkdir()
    (folder / "counted.py").write_text(SCRIPT)
    (folder / "numbers.py").write_text("ROWS = 5\n")
    return folder


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Any]:
    def load(path: object, **arguments: Any) -> Any:
        return load_dataset(str(path), cache_dir=str(tmp_path / "cache"), **arguments)

    return load


def _column(rows: Any, name: str = "a") -> list[Any]:
    return list(rows[name])


def test_a_folder_without_a_split_is_a_dict_of_all(csv: Path, load: Callable[..., Any]) -> None:
    found = load(csv)
    assert isinstance(found, DatasetDict)
    assert list(found) == ["train", "test"]
    assert found["train"][1] == {"a": 1, "b": 0.5, "c": "n1"}
    assert found["test"].num_rows == 20


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("train", list(range(20))),
        (Split.TEST, list(range(100, 120))),
        ("train[10%:20%]", [2, 3]),
        ("train[:2]+test[-1:]", [0, 1, 119]),
        (ReadInstruction("train", from_=-10, unit="%"), [18, 19]),
        ("all", [*range(20), *range(100, 120)]),
    ],
)
def test_a_split_expression_gives_its_rows(csv: Path, load: Callable[..., Any], split: Any, expected: list[int]) -> None:
    found = load(csv, split=split)
    assert isinstance(found, Dataset)
    assert _column(found) == expected


def test_splits_come_in_the_shape_they_are_asked_in(csv: Path, load: Callable[..., Any]) -> None:
    listed = load(csv, split=["train[:1]", "test[:1]"])
    first, second = load(csv, split=("train[:1]", "test[:1]"))
    named = load(csv, split={"fit": "train[:1]", "check": "test[:1]"})
    assert [_column(found) for found in listed] == [[0], [100]]
    assert (_column(first), _column(second)) == ([0], [100])
    assert {name: _column(found) for name, found in named.items()} == {"fit": [0], "check": [100]}


def test_a_format_a_file_and_a_url_give_the_same_rows(csv: Path, load: Callable[..., Any]) -> None:
    store = fsspec.filesystem("memory")
    store.pipe("/numbers8/train.csv", (csv / "train.csv").read_bytes())
    try:
        ways = [
            load("csv", data_files=str(csv / "train.csv"), split="train"),
            load("csv", data_dir=str(csv), split="train"),
            load(csv / "train.csv", split="train"),
            load(csv, data_files="train.csv", split="train"),
            load("memory://numbers8/train.csv", split="train"),
            load("csv", data_files={"x": "memory://numbers8/*.csv"}, split="x"),
        ]
    finally:
        store.rm("/numbers8", recursive=True)
    assert [_column(found) for found in ways] == [list(range(20))] * len(ways)


def test_options_and_features_reach_the_format(csv: Path, load: Callable[..., Any]) -> None:
    found = load(
        "csv",
        data_files=str(csv / "train.csv"),
        split="train",
        names=["x", "y", "z"],
        skiprows=1,
        features={"x": Value("int16"), "y": Value("float32"), "z": Value("string")},
    )
    assert found.features == Features({"x": Value("int16"), "y": Value("float32"), "z": Value("string")})
    assert _column(found, "x") == list(range(20))


def test_each_config_of_a_card_is_its_own_dataset(csv: Path, load: Callable[..., Any]) -> None:
    (csv / "more.jsonl").write_text('{"q": 1}\n{"q": null}\n')
    (csv / "README.md").write_text(
        "---\nconfigs:\n- config_name: tables\n  data_files: [train.csv]\n  default: true\n"
        "- config_name: lines\n  data_files: '*.jsonl'\n---\n"
    )
    assert _column(load(csv, split="train")) == list(range(20))
    assert load(csv, name="lines", split="train")[:] == {"q": [1, None]}


def test_what_the_card_records_is_compared(csv: Path, load: Callable[..., Any]) -> None:
    (csv / "README.md").write_text(
        "---\ndataset_info:\n  splits:\n  - name: train\n    num_examples: 21\n  - name: test\n    num_examples: 20\n---\n"
    )
    with pytest.raises(NonMatchingSplitsSizesError, match="21"):
        load(csv)
    assert load(csv, verification_mode="no_checks")["train"].num_rows == 20
    assert load(csv, data_files="train.csv", split="train").num_rows == 20


def test_a_script_that_is_named(script: Path, load: Callable[..., Any]) -> None:
    found = load(script / "counted.py", split="train")
    assert _column(found, "n") == list(range(10))
    assert found.info.config_name == "ten"


def test_a_script_in_worker_processes_gives_the_same_rows(script: Path, load: Callable[..., Any]) -> None:
    assert _column(load(script / "counted.py", split="train", num_proc=2), "n") == list(range(10))


def test_a_script_in_a_folder_may_be_refused(script: Path, load: Callable[..., Any]) -> None:
    with pytest.raises(UntrustedScriptError) as caught:
        load(script, trust_remote_code=False)
    assert str(caught.value.file).endswith("counted.py")
    assert load(script, split="train", trust_remote_code=True).num_rows == 10


def test_a_change_beside_the_script_is_a_new_dataset(script: Path, load: Callable[..., Any]) -> None:
    before = load(script / "counted.py", split="train").num_rows
    (script / "numbers.py").write_text("ROWS = 7\n")
    assert (before, load(script / "counted.py", split="train").num_rows) == (10, 14)


def test_a_changed_data_file_is_read_anew(csv: Path, load: Callable[..., Any]) -> None:
    before = load(csv, split="train")
    (csv / "train.csv").write_text("a,b,c\n7,7,7\n")
    assert _column(load(csv, split="train")) == [7]
    assert _column(before) == list(range(20))


def test_a_second_load_builds_nothing(csv: Path, load: Callable[..., Any], tmp_path: Path) -> None:
    first = load(csv, split="train")
    stamps = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*") if path.is_file()}
    again = load(csv, split="test")
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*") if path.is_file()} == stamps
    assert first.info.version == again.info.version


def test_rows_that_are_kept_in_memory_outlive_their_files(csv: Path, load: Callable[..., Any], tmp_path: Path) -> None:
    asked = load(csv, split="train", keep_in_memory=True)
    with config.using(max_memory_bytes=1 << 30):
        small = load(csv, split="test")
    for path in (tmp_path / "cache").rglob("*.arrow"):
        path.write_bytes(b"")
    assert _column(asked) == list(range(20))
    assert _column(small) == list(range(100, 120))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"split": "tran"}, UnknownSplitError, r"Unknown split 'tran' in .*Available splits: 'train', 'test'\."),
        ({"split": ["train", "dev[:1]"]}, UnknownSplitError, "'dev'"),
        ({"split": {"x": "train+dev"}}, UnknownSplitError, "'dev'"),
        ({"split": "train[:"}, SplitSyntaxError, r"train\[:"),
        ({"split": 3}, ConfigurationError, "3"),
        ({"num_proc": 0}, ConfigurationError, "num_proc is 0"),
        ({"num_proc": "two"}, ConfigurationError, "num_proc is 'two'"),
        (
            {"download_mode": "again"},
            ConfigurationError,
            r"Unknown download_mode 'again'\. Available modes: 'reuse_dataset_if_exists'",
        ),
        (
            {"verification_mode": "some"},
            ConfigurationError,
            r"Unknown verification_mode 'some'\. Available modes: 'all_checks'",
        ),
        ({"streaming": True, "num_proc": 2}, ConfigurationError, "num_proc=2 is not supported"),
        ({"streaming": True, "lock": True}, ConfigurationError, "lock=True is not supported with streaming=True"),
        ({"data_dir": 5}, ConfigurationError, "data_dir is 5"),
        ({"data_dir": ["a"]}, TypeError, r"data_dir is \['a'\]\. Give a path"),
        ({"data_files": "a\0.csv"}, ConfigurationError, r"data_files contains 'a\\x00\.csv'"),
        ({"data_files": "[z-a].csv"}, ConfigurationError, r"Invalid pattern '\[z-a\]\.csv'"),
        ({"download_config": {}}, TypeError, "download_config is {}"),
        ({"storage_options": 5}, TypeError, "storage_options is 5"),
        ({"config_id": "../../x"}, ConfigurationError, "Unknown config option 'config_id'"),
        ({"trust_remote_code": "yes"}, ConfigurationError, "trust_remote_code='yes'"),
        ({"trust_remote_code": 1}, ConfigurationError, "trust_remote_code=1"),
        ({"features": "int32"}, ConfigurationError, "features is 'int32'"),
        (
            {"splt": "train"},
            UnknownOptionError,
            r"Unknown option 'splt' for .*\. Did you mean 'split'\? Available options: 'name'",
        ),
        ({"delimeter": ";"}, UnknownOptionError, r"Did you mean 'delimiter'\? Available options: 'delimiter', "),
        ({"split": 5}, ConfigurationError, r"split=5 \(int\) is not a valid split expression"),
        ({"seperator": ";"}, UnknownOptionError, r"Unknown option 'seperator' for .*sep"),
        ({"name": "other"}, ConfigurationError, r"Unknown config 'other' in"),
        ({"data_files": "none*.csv"}, DataFilesNotFoundError, r"'none\*\.csv' matches no file in .*train\.csv"),
    ],
)
def test_an_argument_that_means_nothing_is_one_error_before_anything_is_built(
    csv: Path, load: Callable[..., Any], tmp_path: Path, arguments: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        load(csv, **arguments)
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(("place", "error"), [(5, TypeError), ("taken", OSError), ("taken/below", OSError)])
def test_a_cache_that_cannot_be_a_folder_is_one_error(csv: Path, tmp_path: Path, place: Any, error: type[Exception]) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(error) as raised:
        load_dataset(str(csv), cache_dir=place if isinstance(place, int) else tmp_path / place)
    assert isinstance(raised.value, DatasetsCoreError)


def test_a_relative_cache_stays_where_it_was(csv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    found = load_dataset(str(csv), split="train", cache_dir="cache")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert _column(pickle.loads(pickle.dumps(found))) == list(range(20))


def test_an_unknown_split_of_a_script_names_the_dataset(script: Path, load: Callable[..., Any]) -> None:
    path = str(script / "counted.py")
    with pytest.raises(UnknownSplitError, match=rf"Unknown split 'tran' in '{path}'\. Available splits: 'train'"):
        load(path, split="tran")


def test_rows_in_memory_are_read_at_once(csv: Path, tmp_path: Path) -> None:
    builder = load_dataset_builder(str(csv), cache_dir=str(tmp_path / "cache"))
    builder.download_and_prepare(max_shard_size=1)
    found = builder.as_dataset("train+test", in_memory=True)
    shutil.rmtree(tmp_path / "cache")
    assert _column(pickle.loads(pickle.dumps(found))) == [*range(20), *range(100, 120)]


def test_the_settings_do_not_overrule_what_the_user_says_of_memory(csv: Path, load: Callable[..., Any]) -> None:
    with config.using(max_memory_bytes=1 << 30):
        assert load(csv, split="train", keep_in_memory=False).cache_files
        assert not load(csv, split="train").cache_files
    assert not load(csv, split="train", keep_in_memory=True).cache_files


def test_features_that_the_card_gains_later_are_those_of_the_rows(csv: Path, load: Callable[..., Any]) -> None:
    load(csv)
    dtypes = {"a": "int8", "b": "float32", "c": "string"}
    entries = "".join(f"  - name: {name}\n    dtype: {dtype}\n" for name, dtype in dtypes.items())
    (csv / "README.md").write_text(f"---\ndataset_info:\n  features:\n{entries}---\n")
    assert load(csv, split="train").features == {name: Value(dtype) for name, dtype in dtypes.items()}


@pytest.mark.parametrize("path", ["", None, 3])
def test_a_path_that_is_none(path: Any) -> None:
    with pytest.raises(ConfigurationError, match="Give a format, a folder, a script"):
        load_dataset(path)


def test_a_dataset_that_is_neither_here_nor_on_the_hub_is_told_so(load: Callable[..., Any], hub: Any) -> None:
    with pytest.raises(DatasetNotFoundError, match=r"^There is no folder, script or data file.*'acme/reviews' does not exist"):
        load("acme/reviews")


def test_what_lies_here_comes_before_the_hub(
    hub: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "org" / "set"
    folder.mkdir(parents=True)
    (folder / "train.csv").write_text("a\n1\n")
    assert load_dataset("org/set", split="train")["a"][:] == [1]
    with caplog.at_level("WARNING"):
        load_dataset("org/set", revision="v1")
    assert f"'org/set' is read from the local disk ({folder}), and revision='v1'" in caplog.text
    assert hub.requests == []
    with pytest.raises(ArgumentTypeError) as caught:
        load_dataset("org/set", revision=3)  # type: ignore[arg-type]
    assert caught.value.value == 3


def test_the_old_spelling_of_no_checks(csv: Path, load: Callable[..., Any]) -> None:
    (csv / "README.md").write_text("---\ndataset_info:\n  splits:\n  - name: train\n    num_examples: 3\n---\n")
    assert load(csv, split="train", ignore_verifications=True).num_rows == 20


def test_save_infos_verifies_everything(csv: Path, load: Callable[..., Any], tmp_path: Path) -> None:
    load(csv, save_infos=True)
    (manifest,) = (tmp_path / "cache").rglob("dataset_info.json")
    assert json.loads(manifest.read_text())["manifest"]["verification"] == "all_checks"


def test_a_builder_downloads_and_builds_nothing(csv: Path, tmp_path: Path) -> None:
    builder = load_dataset_builder(str(csv), cache_dir=str(tmp_path / "cache"))
    assert builder.dataset_name == "numbers"
    assert not (tmp_path / "cache").exists()
    builder.download_and_prepare()
    assert builder.as_dataset(split="test").num_rows == 20


def test_paths_may_be_path_objects(csv: Path, tmp_path: Path) -> None:
    found = load_dataset("csv", data_files=csv / "train.csv", split="train", cache_dir=tmp_path / "cache")
    assert found.num_rows == 20


def test_a_builder_of_a_built_dataset_knows_its_splits(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a\n1\n2\n3\n4\n")
    cache = str(tmp_path / "cache")
    assert load_dataset_builder("csv", data_files=str(path), cache_dir=cache).info.splits is None

    load_dataset("csv", data_files=str(path), cache_dir=cache)

    builder = load_dataset_builder("csv", data_files=str(path), cache_dir=cache)
    assert builder.info.splits["train[:75%]"].num_examples == 3


def test_a_version_is_said_once(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"'x.py:1.0.0' and version='2.0.0'"):
        load_dataset("x.py:1.0.0", version="2.0.0")
    with pytest.raises(ConfigurationError) as caught:
        load_dataset("x.py", version=2)  # type: ignore[arg-type]
    assert caught.value.value == 2


@pytest.mark.parametrize("name", ["a:1.0.0", "a:b", "a:*.*.*"])
def test_a_colon_may_be_part_of_a_path_that_exists(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir()
    Dataset.from_dict({"a": [1]}).to_parquet(folder / "train.parquet")
    assert load_dataset(str(folder), split="train", cache_dir=tmp_path / "cache")["a"][:] == [1]
    file = folder.rename(tmp_path / "other") / "train.parquet"
    renamed = file.rename(tmp_path / f"{name}.parquet")
    assert load_dataset(str(renamed), split="train", cache_dir=tmp_path / "cache")["a"][:] == [1]


@pytest.mark.parametrize("word", ["latest", "1", "1.0", "experimental_latest"])
def test_a_word_after_a_colon_that_is_no_version_is_told(word: str) -> None:
    with pytest.raises(ValueError, match=rf"The part after the colon, '{word}', is not a valid version: write 'reviews:1.0.0'"):
        load_dataset(f"reviews:{word}")


def test_a_format_is_given_a_version(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    found = load_dataset("csv", data_files=str(tmp_path / "a.csv"), version="1.2.0", split="train", cache_dir=tmp_path)
    assert found.info.full_name == "csv/1.2.0"
    with pytest.raises(UnknownVersionError, match=r"no version '1.\*.\*'. Available versions: '0.0.0'"):
        load_dataset("csv", data_files=str(tmp_path / "a.csv"), version="1.*.*", cache_dir=tmp_path)


def test_the_version_of_a_card_is_the_only_one(tmp_path: Path) -> None:
    folder = tmp_path / "birds"
    folder.mkdir()
    (folder / "train.csv").write_text("a\n1\n")
    (folder / "README.md").write_text("---\nconfigs:\n- config_name: en\n  data_files: train.csv\n  version: 1.2.0\n---\n")
    for reference in (str(folder), f"{folder}:1.*.*", f"{folder}/en:1.2.0"):
        assert load_dataset(reference, split="train", cache_dir=tmp_path / "c").info.full_name == "birds/en/1.2.0"
    with pytest.raises(UnknownVersionError, match=r"has no version '2.0.0'. Available versions: '1.2.0'"):
        load_dataset(str(folder), version="2.0.0", cache_dir=tmp_path / "c")
    with pytest.raises(UnknownConfigError) as caught:
        load_dataset(f"{folder}/de:1.2.0", cache_dir=tmp_path / "c")
    assert caught.value.name == "de"


@pytest.mark.parametrize("asked", [{"shuffle_files": True}, {"read_config": ReadConfig(add_row_id=True)}])
def test_files_are_read_in_turn_where_that_is_asked_for(csv: Path, tmp_path: Path, asked: dict[str, Any]) -> None:
    found = load_dataset(str(csv), cache_dir=tmp_path / "cache", **asked)
    listed = load_dataset(str(csv), split=["train[:50%]", {"a": "test"}], cache_dir=tmp_path / "cache", **asked)

    assert {name: sorted(row["a"] for row in rows) for name, rows in found.items()} == {
        "train": list(range(20)),
        "test": list(range(100, 120)),
    }
    assert isinstance(listed[1]["a"], IterableDataset)
    assert [row["a"] for row in listed[0]] == list(range(10))


def test_the_old_name_of_a_token_is_understood_and_told(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")

    with pytest.warns(FutureWarning, match="use_auth_token= was deprecated") as told:
        stream = load_dataset("csv", data_files=str(path), split="train", streaming=True, use_auth_token="secret")
    with pytest.warns(FutureWarning, match="use_auth_token="):
        names = get_dataset_config_names(str(tmp_path), use_auth_token=True)

    assert list(stream) == [{"a": 1}]
    assert names == ["default"]
    assert "secret" not in str(told[0].message)


# `lock_dataset`, and `load_dataset(lock=)`: what moves is refused, and named.

SCRIPT_LOCKS = """
import datasets_core as datasets
from .words import PREFIX

class Birds(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("1.0.0")
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="en"), datasets.BuilderConfig(name="fr")]
    DEFAULT_CONFIG_NAME = "en"

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"name": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={"path": dl_manager.download("data/birds.txt")})]

    def _generate_examples(self, path):
        with open(path) as lines:
            for number, line in enumerate(lines):
                yield number, {"name": PREFIX + line.strip()}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of data files."""
    path = tmp_path / "birds"
    path.mkdir()
    (path / "train.csv").write_text("name,mass\nalba,3\nbrno,4\n")
    (path / "test.csv").write_text("name,mass\nciro,5\n")
    return path


@pytest.fixture
def script_locks(tmp_path: Path) -> Path:
    """A script with a module and a data file beside it."""
    path = tmp_path / "script" / "birds.py"
    (path.parent / "data").mkdir(parents=True)
    path.write_text(SCRIPT_LOCKS)
    path.with_name("words.py").write_text("PREFIX = ''\n")
    (path.parent / "data" / "birds.txt").write_text("alba\nbrno\n")
    return path


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "locks" / "dataset.lock"


@pytest.fixture
def _own_cache(tmp_path: Path) -> Any:
    (tmp_path / "locks").mkdir()
    with config.using(cache_dir=str(tmp_path / "cache")):
        yield


def _moved(path: Path, lock: Path, **reference: Any) -> tuple[str, ...]:
    with pytest.raises(LockDriftError) as caught:
        load_dataset(str(path), lock=str(lock), **reference)
    assert str(lock) in str(caught.value)
    return caught.value.moved


@pytest.mark.usefixtures("_own_cache")
def test_a_dataset_that_is_what_it_was_loads(folder: Path, script_locks: Path, lock: Path) -> None:
    for path in (folder, script_locks):
        assert lock_dataset(path, lock=lock, update=True).is_written
        assert not lock_dataset(path, lock=lock).is_written
        assert len(load_dataset(str(path), split="train", lock=lock)) == 2


@pytest.mark.usefixtures("_own_cache")
def test_another_checkout_and_another_cache_load_by_the_same_lock(folder: Path, lock: Path, tmp_path: Path) -> None:
    lock_dataset(folder, lock=lock)
    shutil.copytree(folder, tmp_path / "elsewhere" / "checkout")
    rows = load_dataset(str(tmp_path / "elsewhere" / "checkout"), split="test", lock=lock, cache_dir=str(tmp_path / "other"))
    assert rows["name"][:] == ["ciro"]
    assert str(tmp_path) not in lock.read_text()


@pytest.mark.usefixtures("_own_cache")
def test_other_shards_and_formats_are_the_same_rows(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    with config.using(max_shard_bytes=1, batch_rows=1):
        assert len(load_dataset(str(folder), split="train", lock=lock, download_mode="force_redownload")) == 2


@pytest.mark.usefixtures("_own_cache")
def test_true_is_the_lock_beside_the_dataset_or_in_the_present_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_dataset(folder, lock=folder / "dataset.lock")
    assert load_dataset(str(folder), lock=True)["test"]["name"][:] == ["ciro"]
    (folder / "dataset.lock").rename(tmp_path / "dataset.lock")
    monkeypatch.chdir(tmp_path)
    assert load_dataset("birds", lock=True)["test"]["name"][:] == ["ciro"]
    (tmp_path / "dataset.lock").unlink()
    with pytest.raises(FileNotFoundDatasetsError, match=r"birds/dataset\.lock does not exist"):
        load_dataset("birds", lock=True)


CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "changed": (lambda path: (path / "train.csv").write_text("name,mass\nalba,3\nbrno,5\n"), ["train.csv changed"]),
    "added": (lambda path: (path / "dev.csv").write_text("name,mass\n"), ["dev.csv was added"]),
    "removed": (lambda path: (path / "test.csv").unlink(), ["test.csv was removed"]),
    "moved": (lambda path: (path / "test.csv").rename(path / "test-2.csv"), ["test.csv moved to test-2.csv"]),
    "two": (lambda path: [(path / name).write_text("name,mass\nx,1\n") for name in ("test.csv", "dev.csv")],
            ["test.csv changed", "dev.csv was added"]),
}  # fmt: skip


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_not_what_it_was_is_named(change: str, folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    act, lines = CHANGES[change]
    act(folder)
    moved = _moved(folder, lock)
    assert [line.partition(" (")[0] for line in moved] == lines


@pytest.mark.usefixtures("_own_cache")
def test_a_byte_that_was_flipped_without_a_trace_is_found(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    status = os.stat(folder / "train.csv")
    (folder / "train.csv").write_text("name,mass\nalbA,3\nbrno,4\n")
    os.utime(folder / "train.csv", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert [line.partition(" (")[0] for line in _moved(folder, lock)] == ["train.csv changed"]


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("name", ["birds.py", "words.py"])
def test_a_changed_script_does_not_build(name: str, script_locks: Path, lock: Path) -> None:
    lock_dataset(script_locks, lock=lock)
    changed = script_locks.with_name(name)
    changed.write_text(changed.read_text() + "\n# another\n")
    assert [line.partition(" (")[0] for line in _moved(script_locks, lock)] == ["the script changed"]


@pytest.mark.usefixtures("_own_cache")
def test_the_data_of_a_script_is_held_before_it_runs(script_locks: Path, lock: Path) -> None:
    lock_dataset(script_locks, lock=lock)
    assert [file["path"] for file in json.loads(lock.read_text())["files"]] == ["data/birds.txt"]
    (script_locks.parent / "data" / "birds.txt").write_text("alba\n")
    assert [line.partition(" (")[0] for line in _moved(script_locks, lock)] == ["data/birds.txt changed"]


@pytest.mark.usefixtures("_own_cache")
def test_another_config_option_or_type_is_refused(script_locks: Path, folder: Path, lock: Path) -> None:
    lock_dataset(script_locks, lock=lock)
    assert _moved(script_locks, lock, name="fr") == ("the config was 'en' and is now 'fr'",)
    lock_dataset(folder, lock=lock, update=True)
    assert "the option 'sep' was added (';')" in _moved(folder, lock, sep=";")


@pytest.mark.usefixtures("_own_cache")
def test_columns_and_rows_are_held_even_where_the_files_are_not_looked_at(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    form = json.loads(lock.read_text())
    form["splits"][0]["rows"] = 7
    form["features"]["weight"] = form["features"].pop("mass")
    lock.write_text(json.dumps(form))
    assert _moved(folder, lock) == (
        'the column \'weight\' was removed (it was {"_type": "Value", "dtype": "int64"})',
        'the column \'mass\' was added ({"_type": "Value", "dtype": "int64"})',
        "the split 'train' had 7 rows and now has 2",
    )


@pytest.mark.usefixtures("_own_cache")
def test_another_library_is_refused(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    lock.write_text(lock.read_text().replace('"pyarrow": "', '"pyarrow": "0.'))
    assert _moved(folder, lock)[0].startswith("the library 'pyarrow' was 0.")


@pytest.mark.usefixtures("_own_cache")
def test_a_lock_that_says_something_else_is_replaced_only_on_request(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    before = lock.read_text()
    (folder / "test.csv").write_text("name,mass\nciro,6\nduo,7\n")
    with pytest.raises(LockDriftError, match=r"test\.csv changed"):
        lock_dataset(folder, lock=lock)
    assert lock.read_text() == before
    outcome = lock_dataset(folder, lock=lock, update=True)
    assert [line.partition(" (")[0] for line in outcome.moved] == [
        "test.csv changed",
        "the split 'test' had 1 rows and now has 2",
    ]
    assert len(load_dataset(str(folder), split="test", lock=lock)) == 2


@pytest.mark.usefixtures("_own_cache")
def test_downloads_are_held_by_url(script_locks: Path, lock: Path, tmp_path: Path) -> None:
    script_locks.write_text(SCRIPT_LOCKS.replace("data/birds.txt", f"memory://{tmp_path}/birds.txt"))
    store = fsspec.filesystem("memory")
    store.pipe_file(f"{tmp_path}/birds.txt", b"alba\n")
    lock_dataset(script_locks, lock=lock)
    assert len(load_dataset(str(script_locks), split="train", lock=lock, cache_dir=str(tmp_path / "new"))) == 1
    store.pipe_file(f"{tmp_path}/birds.txt", b"ALBA\n")
    with pytest.raises(LockDriftError) as caught:
        load_dataset(str(script_locks), lock=lock, cache_dir=str(tmp_path / "newer"))
    assert f"memory://{tmp_path}/birds.txt has sha256" in caught.value.moved[0]
    assert isinstance(caught.value.__cause__, NonMatchingChecksumError)


@pytest.mark.usefixtures("_own_cache")
def test_a_file_outside_of_the_folder_is_known_by_its_name(folder: Path, lock: Path, tmp_path: Path) -> None:
    files = {"train": str(folder / "train.csv")}
    (tmp_path / "outside.csv").write_text("name,mass\nduo,7\n")
    reference: dict[str, Any] = {"data_files": {**files, "test": str(tmp_path / "outside.csv")}}
    lock_dataset(folder, lock=lock, **reference)
    assert {"name": "outside.csv", "size": 16}.items() <= json.loads(lock.read_text())["files"][0].items()
    load_dataset(str(folder), lock=lock, **reference)
    (tmp_path / "outside.csv").write_text("name,mass\nduo,8\n")
    assert _moved(folder, lock, **reference)[0].startswith("outside.csv changed")


@pytest.mark.usefixtures("_own_cache")
def test_a_broken_lock_is_named_by_its_line(folder: Path, lock: Path) -> None:
    lock.write_text('{\n"form": 1\n"dataset"}')
    with pytest.raises(ManifestError, match="line 3"):
        load_dataset(str(folder), lock=lock)
    with pytest.raises(ManifestError, match="line 3"):
        lock_dataset(folder, lock=lock, update=True)


@pytest.mark.usefixtures("_own_cache")
def test_arguments_that_mean_nothing_are_refused(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    with pytest.raises(ArgumentTypeError) as caught:
        load_dataset(str(folder), lock=3)  # type: ignore[arg-type]
    assert caught.value.value == 3
    with pytest.raises(ConfigurationError, match="Omit one of them"):
        load_dataset(str(folder), lock=lock, register_checksums=True)


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("is_time_kept", [False, True])
def test_bytes_that_changed_in_the_cache_are_never_given_out(
    is_time_kept: bool, folder: Path, lock: Path, tmp_path: Path
) -> None:
    lock_dataset(folder, lock=lock)
    (shard,) = (tmp_path / "cache").rglob("*train*.arrow")
    status = shard.stat()
    shard.write_bytes(shard.read_bytes().replace(b"brno", b"BRNO"))
    if is_time_kept:
        os.utime(shard, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(DamagedShardError, match="is recorded"):
        load_dataset(str(folder), split="train", lock=lock)
    with pytest.raises(DamagedShardError, match="is recorded"):
        lock_dataset(folder, lock=lock, update=True)
    with config.using(verify_reads="never"):
        assert load_dataset(str(folder), split="train", lock=lock, verification_mode="no_checks")["name"][1] == "BRNO"
    again = load_dataset(str(folder), split="train", lock=lock, download_mode="force_redownload")
    assert again["name"][:] == ["alba", "brno"]


@pytest.mark.usefixtures("_own_cache")
def test_no_value_of_a_lock_can_be_changed_unnoticed(folder: Path, lock: Path) -> None:
    lock_dataset(folder, lock=lock)
    form = json.loads(lock.read_text())

    def values(inner: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        for key in inner if isinstance(inner, dict) else range(len(inner)):
            if isinstance(inner[key], (dict, list)):
                yield from values(inner[key], (*path, key))
            yield (*path, key)

    seen = 0
    for path in values(form, ()):
        for change in (_other, lambda value: None):
            changed = copy.deepcopy(form)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = change(inner[path[-1]])
            if (path == ("dataset",) and inner["dataset"]) or changed == form:
                continue  # another checkout may be called otherwise
            lock.write_text(json.dumps(changed))
            with pytest.raises((LockDriftError, ManifestError)):
                load_dataset(str(folder), split="train", lock=lock)
            seen += 1
    assert seen > 50


def _other(value: Any) -> Any:
    if isinstance(value, str):
        return "0" * 64 if len(value) == 64 else value + "x"
    if isinstance(value, dict):
        return {**value, "more": {"_type": "Value", "dtype": "int8"}}
    return value[:-1] if isinstance(value, list) else (value or 0) + 1


@pytest.mark.usefixtures("_own_cache")
def test_a_lock_that_cannot_be_written_is_refused_before_the_build(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundDatasetsError, match=r"x\.lock cannot be written: there is no folder .*missing"):
        lock_dataset(folder, lock=tmp_path / "missing" / "x.lock")
    with pytest.raises(DatasetDiskError, match=r"/proc/x\.lock"):
        lock_dataset(folder, lock="/proc/x.lock")
    assert not (tmp_path / "cache").exists()


MANUAL = SCRIPT_LOCKS.replace("from .words import PREFIX", "import os\nPREFIX = ''").replace(
    'dl_manager.download("data/birds.txt")', 'os.path.join(dl_manager.manual_dir, "birds.txt")'
)


@pytest.mark.usefixtures("_own_cache")
def test_a_relative_folder_of_manual_files_is_that_of_the_present_folder(
    lock: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script" / "birds.py"
    script.parent.mkdir()
    script.write_text(MANUAL)
    (tmp_path / "manual").mkdir()
    (tmp_path / "manual" / "birds.txt").write_text("alba\n")
    monkeypatch.chdir(tmp_path)
    lock_dataset("script/birds.py", lock=lock, data_dir="manual")
    assert [file["name"] for file in json.loads(lock.read_text())["files"]] == ["birds.txt"]
    assert len(load_dataset("script/birds.py", split="train", lock=lock, data_dir="manual")) == 1
    (tmp_path / "manual" / "birds.txt").write_text("brno\n")
    assert _moved(script, lock, data_dir="manual")[0].startswith("birds.txt changed")

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets_core import inspect, load_dataset, load_dataset_builder
from datasets_core.errors import (
    ConfigurationError,
    DatasetNotFoundError,
    UnknownConfigError,
    UnknownOptionError,
    UnknownVersionError,
    UntrustedScriptError,
)
from datasets_core.features.base import Value
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.inspect import (
    get_dataset_config_info,
    get_dataset_config_names,
    get_dataset_default_config_name,
    get_dataset_infos,
    get_dataset_split_names,
)
from datasets_core.resolve.request import Request, Source
from datasets_core.resolve.resolve import source_of

CARD = """---
configs:
- config_name: en
  data_files:
  - split: train
    path: en/*.csv
  - split: dev
    path: en/dev.csv
- config_name: fr
  data_files: fr/*.csv
  default: true
dataset_info:
- config_name: en
  features:
  - name: a
    dtype: int32
  splits:
  - name: train
    num_examples: 7
  - name: dev
    num_examples: 1
---
"""

SCRIPT = """
import datasets_core as datasets

class Asked(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="a"), datasets.BuilderConfig(name="b")]

    def _info(self):
        return datasets.DatasetInfo(description=f"the {self.config.name}")

    def _split_generators(self, dl_manager):
        path = dl_manager.download("data.txt")
        return [datasets.SplitGenerator(self.config.name, {"path": path}), datasets.SplitGenerator("test", {"path": path})]

    def _generate_examples(self, path):
        raise AssertionError("nothing is built")
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    root = tmp_path / "reviews"
    for name in ("en/a.csv", "en/dev.csv", "fr/b.csv"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("a\n1\n")
    (root / "README.md").write_text(CARD)
    return str(root)


@pytest.fixture
def script(tmp_path: Path) -> str:
    root = tmp_path / "asked"
    root.mkdir()
    (root / "asked.py").write_text(SCRIPT)
    (root / "data.txt").write_text("x")
    return str(root / "asked.py")


def test_config_names_are_those_of_the_card(folder: str) -> None:
    assert get_dataset_config_names(folder) == ["en", "fr"]
    assert get_dataset_default_config_name(folder) == "fr"


def test_config_names_are_those_of_the_script(script: str) -> None:
    assert get_dataset_config_names(script) == ["a", "b"]
    assert get_dataset_default_config_name(script) is None


def test_a_format_has_the_default_config() -> None:
    assert get_dataset_config_names("csv", data_files="x.csv") == ["default"]
    assert get_dataset_default_config_name("csv", data_files="x.csv") == "default"


def test_a_folder_script_is_not_asked_without_trust(script: str) -> None:
    with pytest.raises(UntrustedScriptError):
        get_dataset_config_names(str(Path(script).parent), trust_remote_code=False)
    assert get_dataset_config_names(str(Path(script).parent), trust_remote_code=True) == ["a", "b"]


def test_split_names_come_from_the_record_or_the_files(folder: str) -> None:
    assert get_dataset_split_names(folder, "en") == ["train", "dev"]
    assert get_dataset_split_names(folder) == ["train"]
    assert get_dataset_split_names("csv", data_files={"x": f"{folder}/en/a.csv"}) == ["x"]


def test_a_script_is_asked_for_its_splits_and_builds_nothing(script: str) -> None:
    assert get_dataset_split_names(script, "b") == ["b", "test"]


def test_the_info_of_a_config_holds_what_is_recorded(folder: str) -> None:
    info = get_dataset_config_info(folder, "en")
    assert info.features is not None
    assert list(info.features) == ["a"]
    assert info.splits is not None
    assert info.splits["train"].num_examples == 7


def test_infos_are_given_for_every_config(script: str) -> None:
    infos = get_dataset_infos(script)
    assert {name: info.description for name, info in infos.items()} == {"a": "the a", "b": "the b"}
    assert [list(info.splits or ()) for info in infos.values()] == [["a", "test"], ["b", "test"]]


def test_a_config_without_the_version_is_left_out_of_the_infos(script: str, caplog: pytest.LogCaptureFixture) -> None:
    configs = 'datasets.BuilderConfig("a", version="1.0.0"), datasets.BuilderConfig("b", version="2.0.0")'
    Path(script).write_text(SCRIPT.replace('datasets.BuilderConfig(name="a"), datasets.BuilderConfig(name="b")', configs))
    for version, name, other in (("1.0.0", "a", "b"), ("2.*.*", "b", "a")):
        assert list(get_dataset_infos(f"{script}:{version}")) == [name]
        assert f"Config {other!r} is skipped: 'asked' has no version {version!r}" in caplog.text
    with pytest.raises(UnknownVersionError):
        get_dataset_infos(f"{script}:3.0.0")


def test_an_unknown_config_and_an_unknown_dataset(folder: str, hub: Any) -> None:
    with pytest.raises(UnknownConfigError) as caught:
        get_dataset_split_names(folder, "de")
    assert caught.value.name == "de"
    with pytest.raises(DatasetNotFoundError):
        get_dataset_config_names("acme/none")


def test_options_of_the_format_do_not_disturb_the_list_of_configs(folder: str) -> None:
    assert list(get_dataset_infos("csv", data_files=f"{folder}/en/a.csv", sep=";")) == ["default"]


def test_a_misspelt_option_is_refused(folder: str) -> None:
    with pytest.raises(UnknownOptionError) as caught:
        get_dataset_config_names(folder, trust=True)
    assert (caught.value.option, caught.value.value) == ("trust", "trust")


@pytest.mark.parametrize("ask", [get_dataset_config_names, get_dataset_default_config_name, get_dataset_infos])
@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("download_config", {}),
        ("download_mode", "again"),
        ("storage_options", 5),
        ("data_dir", 5),
        ("trust_remote_code", "yes"),
    ],
)
def test_an_argument_that_means_nothing_is_refused_as_in_loading(
    ask: Callable[..., object], argument: str, value: object, folder: str
) -> None:
    with pytest.raises(ConfigurationError, match=rf"\b{argument}\b"):
        ask(folder, **{argument: value})


def test_what_is_said_of_downloads_reaches_the_source(monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    asked: list[Request] = []

    def seen(request: Request) -> Source:
        asked.append(request)
        return source_of(request)

    monkeypatch.setattr(inspect, "source_of", seen)
    config = DownloadConfig(user_agent="me")
    get_dataset_config_names(folder, download_config=config)
    get_dataset_config_names(folder, download_config=config, max_retries=3, token="t")
    get_dataset_default_config_name(folder, proxies={"http": "p"})

    assert asked[0].download_config is config
    assert (asked[1].download_config, asked[1].token) == (DownloadConfig(user_agent="me", max_retries=3), "t")
    assert asked[2].download_config == DownloadConfig(proxies={"http": "p"})


def test_a_builder_of_a_built_dataset_has_its_features_and_streams_without_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    asked: dict[str, Any] = {"data_files": str(tmp_path / "a.csv"), "cache_dir": str(tmp_path / "cache")}
    assert load_dataset_builder("csv", **asked).info.features is None
    load_dataset("csv", **asked)
    builder = load_dataset_builder("csv", **asked)
    assert builder.info.features == {"a": Value("int64")}
    assert repr(builder.config) == f"CsvConfig(name='default', data_files={{'train': ['{tmp_path / 'a.csv'}']}})"
    (tmp_path / "a.csv").write_text("a,b\nx,2\n")
    assert list(builder.as_streaming_dataset("train")) == [{"a": "x", "b": 2}]

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ScriptError, UnknownConfigError
from datasets_core.resolve.request import Request
from datasets_core.resolve.script import LocalScript, ScriptSource

SCRIPT = """
import datasets_core as datasets

class Reviews(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [datasets.BuilderConfig(name=name, version="1.0.0") for name in {configs!r}]
    DEFAULT_CONFIG_NAME = {default!r}

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({{"x": datasets.Value("int64")}}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train")]

    def _generate_examples(self):
        yield 0, {{"x": 1}}
"""


def _source(folder: Path, configs: tuple[str, ...] = (), default: str | None = None, **request: Any) -> ScriptSource:
    path = folder / "reviews.py"
    path.write_text(SCRIPT.format(configs=configs, default=default))
    return ScriptSource(Request(str(path), **request), LocalScript(str(path)))


@pytest.mark.parametrize(
    ("configs", "default", "names", "expected"),
    [
        ((), None, ["default"], "default"),
        (("en",), None, ["en"], "en"),
        (("en", "fr"), None, ["en", "fr"], None),
        (("en", "fr"), "fr", ["en", "fr"], "fr"),
        (("en", "default"), None, ["en", "default"], None),
    ],
)
def test_configs_are_those_of_the_class(
    tmp_path: Path, configs: tuple[str, ...], default: str | None, names: list[str], expected: str | None
) -> None:
    source = _source(tmp_path, configs, default)
    assert source.config_names == names
    assert source.default_config_name == expected


def test_the_builder_is_of_the_script_and_its_folder(tmp_path: Path) -> None:
    builder = _source(tmp_path, ("en", "fr"), name="fr", data_dir="/manual").builder()
    assert (builder.dataset_name, builder.config.name, builder.base_path) == ("reviews", "fr", str(tmp_path))
    assert builder.config.data_dir == "/manual"


def test_the_default_config_is_built_when_none_is_named(tmp_path: Path) -> None:
    assert _source(tmp_path, ("en", "fr"), default="fr").builder().config.name == "fr"


def test_an_unknown_config_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownConfigError, match=r"Available configs: 'en', 'fr'"):
        _source(tmp_path, ("en", "fr"), name="de").builder()


def test_several_configs_without_a_default_ask_for_a_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownConfigError, match=r"none is the default.*Available configs: 'en', 'fr'"):
        _source(tmp_path, ("en", "fr")).builder()


def test_a_changed_script_builds_elsewhere(tmp_path: Path) -> None:
    one = _source(tmp_path, ("en",)).builder().cache_dir
    two = _source(tmp_path, ("en", "fr"), name="en").builder().cache_dir
    assert one != two


def test_what_is_recorded_beside_the_script_goes_to_the_builder(tmp_path: Path) -> None:
    split = {"name": "train", "num_bytes": 8, "num_examples": 1, "dataset_name": "reviews"}
    url, sha = "https://example.org/a.zip", "0" * 64
    (tmp_path / "dataset_infos.json").write_text(
        json.dumps({"en": {"splits": {"train": split}, "download_checksums": {url: {"num_bytes": 1, "checksum": None}}}})
    )
    (tmp_path / "checksums.tsv").write_text(f"{url}\t5\t{sha}\ta.zip\nhttps://example.org/b.zip\t6\tNone\tb.zip\n")
    builder = _source(tmp_path, ("en",)).builder()
    assert builder.recorded.splits is not None
    assert builder.recorded.splits["train"].num_examples == 1
    assert builder.recorded.download_checksums == {url: {"num_bytes": 1, "checksum": None}}
    assert builder.checksums_path == str(tmp_path / "checksums.tsv")


def test_data_files_for_a_script_are_looked_for_beside_it(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    assert _source(tmp_path, data_files="*.txt").builder().config.data_files == {"train": [str(tmp_path / "a.txt")]}


def test_equal_scripts_beside_other_files_build_elsewhere(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    assert _source(tmp_path / "one").builder().cache_dir != _source(tmp_path / "two").builder().cache_dir


@pytest.mark.parametrize("failure", ["1 / 0", "raise SystemExit(3)"])
def test_what_the_scripts_own_hooks_raise_is_told_by_its_place(tmp_path: Path, failure: str) -> None:
    path = tmp_path / "reviews.py"
    path.write_text(SCRIPT.format(configs=(), default=None).replace("return datasets.DatasetInfo", f"{failure} #"))
    with pytest.raises(ScriptError, match=r"reviews\.py, line 9: making its builder failed with (ZeroDivision|SystemExit)"):
        ScriptSource(Request(str(path)), LocalScript(str(path))).builder()

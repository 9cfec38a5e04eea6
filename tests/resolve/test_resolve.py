"""Tests of datasets_core/resolve/resolve.py."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DataFilesNotFoundError,
    DatasetNotFoundError,
    FileNotFoundDatasetsError,
    UntrustedScriptError,
)
from datasets_core.load import load_dataset_builder
from datasets_core.resolve.folder import FormatSource
from datasets_core.resolve.request import Request
from datasets_core.resolve.resolve import held, resolve, root_of, source_of

SCRIPT = """
import datasets_core as datasets
open(__file__ + ".ran", "w").close()

class Found(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo()

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train")]

    def _generate_examples(self):
        yield 0, {"x": 1}
"""


@pytest.fixture
def scripted(tmp_path: Path) -> Path:
    folder = tmp_path / "found"
    folder.mkdir()
    (folder / "found.py").write_text(SCRIPT)
    (folder / "data.csv").write_text("a\n1\n")
    return folder


def _files(builder: Any) -> dict[str, list[str]]:
    return {split: [Path(path).name for path in paths] for split, paths in builder.config.data_files.items()}


def test_a_folder_with_the_name_of_a_format_is_a_folder_where_no_files_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "csv").mkdir()
    (tmp_path / "csv" / "a.json").write_text("{}")
    monkeypatch.chdir(tmp_path)
    assert resolve(Request("csv")).name == "json"


def test_a_folder_of_data_files(tmp_path: Path) -> None:
    (tmp_path / "test.jsonl").write_text("{}")
    builder = resolve(Request(str(tmp_path)))
    assert builder.name == "json"
    assert _files(builder) == {"test": ["test.jsonl"]}


def test_a_url_as_the_path() -> None:
    found = source_of(Request("https://example.org/data/a.csv.gz?x=1"))
    assert isinstance(found, FormatSource)
    assert (found.format, found.request.data_files) == ("csv", "https://example.org/data/a.csv.gz?x=1")


@pytest.mark.parametrize("url", ["https://example.org/data", "https://example.org/a.zip"])
def test_a_url_of_no_known_format_asks_for_one(url: str) -> None:
    with pytest.raises(
        DatasetNotFoundError,
        match=r"of a known format\. Pass the format.*; open the folder of a prepared dataset with builder_from_directory\('",
    ):
        resolve(Request(url))


def test_a_protocol_alone_is_no_dataset() -> None:
    with pytest.raises(DatasetNotFoundError) as caught:
        resolve(Request("s3://"))
    assert caught.value.value == "s3://"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (
            "acme/reviews",
            r"^There is no folder, script or data file .*/acme/reviews\..*'acme/reviews' does not exist at http",
        ),
        ("squad", r"^There is no folder, script or data file .*/squad\..*'squad' does not exist at http"),
        ("squad.csv", r"no format 'squad\.csv' found \(formats: parquet, arrow, json, csv, imagefolder"),
        ("./here/or/there", r"No folder, script or data file.*Check the path\."),
        ("none.py", r"none\.py cannot be read"),
        ("org/name@v1", r"use load_dataset\('org/name', revision='v1'\)\.$"),
        ("org/name/en", r"a config of a Hub dataset use load_dataset\('org/name', 'en'\)\.$"),
        ("HUB/datasets/org/name", r"is the web page of a dataset on the Hub\. Use load_dataset\('org/name'\)\.$"),
        ("hf://spaces/org/name", r"is not a dataset on the Hub\. Write hf://datasets/org/name"),
    ],
)
def test_what_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Any, path: str, words: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetNotFoundError, match=words):
        resolve(Request(path.replace("HUB", hub.url)))


def test_an_empty_folder(tmp_path: Path) -> None:
    with pytest.raises(DataFilesNotFoundError, match="No data file found"):
        resolve(Request(str(tmp_path)))


# -- trust -------------------------------------------------------------------------------------------------------------


def test_a_script_that_is_refused_is_not_even_compiled(scripted: Path) -> None:
    (scripted / "found.py").write_text(SCRIPT + "\nthis is not valid Python\n")
    before = set(sys.modules)
    with pytest.raises(UntrustedScriptError, match=r"found\.py is a dataset script.*trust_remote_code=True"):
        resolve(Request(str(scripted), trust_remote_code=False))
    assert not (scripted / "found.py.ran").exists()
    assert not any("found_" in name for name in sys.modules.keys() - before)


def test_a_script_in_a_folder_runs_when_trusted(scripted: Path) -> None:
    assert type(resolve(Request(str(scripted), trust_remote_code=True))).__name__ == "Found"


def test_a_script_that_is_named_runs(scripted: Path) -> None:
    assert type(resolve(Request(str(scripted / "found.py")))).__name__ == "Found"


def test_a_script_that_is_named_and_distrusted_does_not_run(scripted: Path) -> None:
    with pytest.raises(UntrustedScriptError):
        resolve(Request(str(scripted / "found.py"), trust_remote_code=False))
    assert not (scripted / "found.py.ran").exists()


def test_a_folder_in_the_working_directory_is_known_by_its_name(scripted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(scripted)
    with pytest.raises(UntrustedScriptError):
        resolve(Request(".", trust_remote_code=False))


def test_another_script_in_the_folder_is_no_dataset_script(tmp_path: Path) -> None:
    (tmp_path / "prepare.py").write_text(SCRIPT)
    (tmp_path / "data.csv").write_text("a\n1\n")
    assert source_of(Request(str(tmp_path))).builder().name == "csv"


# Which lock is meant; what it holds is tested with `lock_dataset`.


def test_the_lock_that_is_meant_is_found_or_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    builder, request = load_dataset_builder(str(tmp_path), cache_dir=str(tmp_path)), Request(str(tmp_path))
    for nothing in (None, False):
        with held(nothing, builder, request, registers=True):
            pass
    with pytest.raises(FileNotFoundDatasetsError, match=r"/dataset\.lock does not exist"):
        held(True, builder, request, registers=False)
    with pytest.raises(ArgumentTypeError) as caught:
        held(1, builder, request, registers=False)  # type: ignore[arg-type]
    assert caught.value.value == 1
    with pytest.raises(ConfigurationError, match="Omit one of them"):
        held("x", builder, request, registers=True)


# The folder of a dataset, by the words of the user.


def test_a_folder_is_its_own_root_and_files_have_that_which_holds_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n")
    for path in (tmp_path, tmp_path / "a.csv", tmp_path / "gone.py", f"file://{tmp_path}/a.csv"):
        assert root_of(Request(str(path))) == str(tmp_path)


@pytest.mark.parametrize(
    ("path", "root"),
    [("https://example.org/d/a.csv", "https://example.org/d"), ("s3://bucket/d/", "s3://bucket/d")],
)
def test_urls_have_roots_too(path: str, root: str) -> None:
    assert root_of(Request(path)) == root


@pytest.mark.parametrize(
    ("data_files", "root"),
    [
        ("/d/a.csv", "/d"),
        ("/d/*/a.csv", "/d"),
        ({"train": "/d/a/*.csv", "test": ["/d/b/[x]/c.csv"]}, "/d"),
        (["/d/a.csv", "https://example.org/b.csv"], "/d"),
    ],
)
def test_a_format_has_the_folder_above_all_that_is_named(data_files: object, root: str) -> None:
    assert root_of(Request("csv", data_files=data_files)) == root  # type: ignore[arg-type]


def test_a_format_without_local_files_has_the_present_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert root_of(Request("csv", data_files="https://example.org/b.csv")) == str(tmp_path)
    assert root_of(Request("csv", data_dir="data")) == str(tmp_path / "data")
    assert root_of(Request("csv", data_files="sub/a.csv")) == str(tmp_path / "sub")


@pytest.mark.parametrize(
    ("path", "options", "meant"),
    [
        ("jsonl", {}, "There is no format 'jsonl'. Did you mean 'json'?"),
        ("parqet", {"data_files": "a.parquet"}, "There is no format 'parqet'. Did you mean 'parquet'?"),
        ("data/nope", {}, "Did you mean 'data/nopes'?"),
    ],
)
def test_a_mistaken_name_is_told_before_what_the_hub_says(
    path: str, options: dict[str, Any], meant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: Any
) -> None:
    (tmp_path / "data" / "nopes").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DatasetNotFoundError) as caught:
        resolve(Request(path, **options))
    here, _, there = str(caught.value).partition(" As a dataset of the Hub: ")
    assert meant in here
    assert f"{path!r} does not exist" in there

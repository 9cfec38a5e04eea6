"""A format by name, and one file whose name tells its format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError, DataFilesWarning, DatasetNotFoundError
from datasets_core.fetch.hub.repository import HubCommit
from datasets_core.resolve.folder import FormatSource, file_source
from datasets_core.resolve.request import Request, commits_of
from datasets_core.resolve.resolve import resolve


def _files(builder: Any) -> dict[str, list[str]]:
    return {split: [Path(path).name for path in paths] for split, paths in builder.config.data_files.items()}


def test_a_format_by_name_with_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    builder = resolve(Request("csv", data_files=str(tmp_path / "*.csv"), options={"sep": ";"}))
    assert (builder.name, builder.dataset_name, builder.config.sep) == ("csv", "csv", ";")
    assert _files(builder) == {"train": ["a.csv"]}


def test_a_format_by_name_with_a_folder_takes_the_files_of_that_format(tmp_path: Path) -> None:
    for name in ("train.csv", "test.csv", "LICENSE", "train.parquet"):
        (tmp_path / name).write_text("a\n1\n")
    with pytest.warns(DataFilesWarning, match=r"left out: .*train\.parquet"):
        builder = resolve(Request("csv", data_dir=str(tmp_path)))
    assert _files(builder) == {"train": ["train.csv"], "test": ["test.csv"]}


def test_a_format_by_name_takes_files_of_any_extension_where_none_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("a\n1\n")
    assert _files(resolve(Request("csv", data_dir=str(tmp_path)))) == {"train": ["a.dat"]}


def test_a_name_for_a_config_of_a_format_is_free(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    assert resolve(Request("csv", name="mine", data_files=str(tmp_path / "a.csv"))).config.name == "mine"


def test_a_format_without_files_asks_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="'csv' is a format and says not what to read"):
        resolve(Request("csv"))


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_one_data_file_as_the_path(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a\n1\n")
    builder = resolve(Request(str(tmp_path / name)))
    assert (builder.name, builder.config.sep) == ("csv", "\t")
    assert _files(builder) == {"train": [name]}


def test_the_users_options_come_before_those_of_the_extension(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\n1\n")
    assert resolve(Request(str(tmp_path / "a.tsv"), options={"sep": ";"})).config.sep == ";"


def test_a_file_of_no_known_format_asks_for_one(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("")
    with pytest.raises(DatasetNotFoundError, match="has no extension of a known format"):
        resolve(Request(str(tmp_path / "a.xyz")))


def test_a_file_and_data_files_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n")
    with pytest.raises(ConfigurationError, match="Give one of the two"):
        resolve(Request(str(tmp_path / "a.csv"), data_files="b.csv"))


def test_a_format_has_one_config_and_records_nothing() -> None:
    source = FormatSource(Request("csv"), "csv")
    assert (source.config_names, source.default_config_name, source.recorded) == (["default"], "default", {})
    assert FormatSource(Request("csv", name="mine"), "csv").config_names == ["mine"]


def test_a_file_of_the_hub_is_found_in_what_is_known_already(hub: Any) -> None:
    hub.repo("org/set", {"a.tsv": "a\n1\n"})
    commits = commits_of(Request("hf"))
    commit: HubCommit = commits.commit("org/set")
    hub.forget()
    found = file_source(Request("hf://datasets/org/set/a.tsv"), commit.url("a.tsv"), commits).builder()
    assert (found.config.sep, list(found.config.data_files["train"])) == ("\t", [commit.url("a.tsv")])
    assert hub.requests == []

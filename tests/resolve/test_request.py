from __future__ import annotations

from pathlib import Path

import pytest

from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, UnknownOptionError
from datasets_core.resolve.registry import builder_class
from datasets_core.resolve.request import Location, Request, files_below


def test_a_builder_gets_what_the_request_says(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    asked = Request("csv", cache_dir=str(tmp_path / "cache"), options={"sep": ";"})
    made = asked.builder(builder_class("csv"), asked.options, config_name="en", data_files=files_below(str(tmp_path), None))
    assert made.config.sep == ";"
    assert made.config.name == "en"
    assert made.cache_dir.startswith(str(tmp_path / "cache"))


@pytest.mark.parametrize("option", ["cache_dir", "config_name", "config_id", "hash", "repo_id", "info", "name", "self"])
def test_an_option_does_not_override_what_follows_from_the_arguments(option: str) -> None:
    with pytest.raises(ConfigurationError, match=f"Unknown config option {option!r}"):
        Request("csv").builder(builder_class("csv"), {option: "x"}, config_name="en", data_files="x")


def test_an_unknown_option_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(UnknownOptionError, match="'seperator'"):
        Request("csv").builder(builder_class("csv"), {"seperator": ";"}, data_files=files_below(str(tmp_path), None))


def test_the_files_below_a_folder_are_split_by_their_names(tmp_path: Path) -> None:
    (tmp_path / "test.csv").write_text("a\n1\n")
    assert files_below(str(tmp_path), None) == {"test": [str(tmp_path / "test.csv")]}


def test_a_folder_that_is_not_there() -> None:
    with pytest.raises(DataFilesNotFoundError, match="/no/such"):
        files_below("/no/such", None)


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("reviews", "local"),
        ("file:///data/reviews", "local"),
        ("https://host/a.csv", "http"),
        ("s3://bucket/data", "store"),
        ("zip://a.csv::https://host/a.zip", "store"),
        ("hf://datasets/org/name", "hub"),
        ("zip://a.csv::hf://datasets/org/name/a.zip", "store"),
    ],
)
def test_the_kind_of_a_location_is_told_by_what_was_typed(typed: str, kind: str) -> None:
    assert Location.of(typed).kind == kind


def test_a_local_location_is_absolute_and_knows_whether_it_is_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    assert Location.of("data") == Location("local", str(tmp_path / "data"), is_folder=True)
    assert not Location.of("other").is_folder

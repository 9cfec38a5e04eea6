from __future__ import annotations

import tarfile
import warnings
import zipfile
from pathlib import Path

import pytest

from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, DataFilesWarning
from datasets_core.meta.data_files import DataFilesDict, resolve_data_files
from datasets_core.resolve.registry import Format, infer_format


def _files(folder: Path, **splits: list[str]) -> DataFilesDict:
    for names in splits.values():
        for name in names:
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                path.write_text("x\n")
    return resolve_data_files(dict(splits), folder)


def _names(found: Format) -> dict[str, list[str]]:
    return {split: [Path(path).name for path in paths] for split, paths in found.files.items()}


@pytest.mark.parametrize(
    ("names", "format", "kept"),
    [
        (["a.csv", "b.csv", "c.json"], "csv", ["a.csv", "b.csv"]),
        (["a.csv", "b.json"], "json", ["b.json"]),
        (["a.txt", "b.csv"], "csv", ["b.csv"]),
        (["a.json", "b.parquet"], "parquet", ["b.parquet"]),
        (["a.csv", "b.tsv"], "csv", ["a.csv"]),
        (["a.csv", "b.xyz", "c.xyz"], "csv", ["a.csv"]),
    ],
)
def test_the_most_frequent_format_wins_and_the_rest_is_named(
    tmp_path: Path, names: list[str], format: str, kept: list[str]
) -> None:
    left = next(name for name in names if name not in kept)
    with pytest.warns(DataFilesWarning, match=rf"'d' is read as {format}; left out: .*{left}"):
        found = infer_format(_files(tmp_path, train=names), dataset="d")
    assert found.name == format
    assert _names(found) == {"train": kept}
    assert len(found.files.identities) == len(kept)


@pytest.mark.parametrize("paper", ["LICENSE", "LICENSE.txt", "notes.md", "d.py", "checksums.tsv", "Makefile", "CITATION.cff"])
def test_papers_that_come_along_are_left_out_in_silence(tmp_path: Path, paper: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = infer_format(_files(tmp_path, train=["a.csv", "b.csv", paper]), dataset="d")
    assert _names(found) == {"train": ["a.csv", "b.csv"]}


def test_the_extension_brings_its_options(tmp_path: Path) -> None:
    found = infer_format(_files(tmp_path, train=["a.tsv.gz"]), dataset="d")
    assert (found.name, found.options) == ("csv", {"sep": "\t"})


def test_splits_of_different_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="'train' is csv, 'test' is json"):
        infer_format(_files(tmp_path, train=["a.csv"], test=["b.json"]), dataset="d")


def test_no_known_format_names_the_files_and_the_formats(tmp_path: Path) -> None:
    with pytest.raises(DataFilesNotFoundError, match=r"'d' holds no file of a known format: .*a\.xyz.*parquet"):
        infer_format(_files(tmp_path, train=["a.xyz"]), dataset="d")


def test_a_zip_is_looked_into_where_no_other_file_tells(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("__MACOSX/a.json", "{}")
        archive.writestr("in/a.csv", "x\n")
    found = infer_format(_files(tmp_path, train=["all.zip"]), dataset="d")
    assert found.name == "csv"
    assert _names(found) == {"train": ["all.zip"]}


def test_a_tar_is_looked_into(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("{}\n")
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "a.jsonl", "a.jsonl")
    assert infer_format(_files(tmp_path, train=["all.tar.gz"]), dataset="d").name == "json"


def test_an_archive_beside_data_is_left_out_by_name(tmp_path: Path) -> None:
    with pytest.warns(DataFilesWarning, match=r"left out: .*all\.zip"):
        found = infer_format(_files(tmp_path, train=["a.csv", "all.zip"]), dataset="d")
    assert _names(found) == {"train": ["a.csv"]}


def test_an_archive_behind_http_is_not_fetched_to_be_guessed() -> None:
    with pytest.raises(DataFilesNotFoundError, match="Name the format"):
        infer_format(resolve_data_files("https://example.org/a.zip"), dataset="d")

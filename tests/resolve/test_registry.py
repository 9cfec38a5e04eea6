"""Tests of datasets_core/resolve/registry.py."""

from __future__ import annotations

import importlib
import os
import sys
import tarfile
import warnings
import zipfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from datasets_core.building.builder import DatasetBuilder
from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, DataFilesWarning, PluginError, UnknownFormatError
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.meta.data_files import DataFilesDict, resolve_data_files
from datasets_core.meta.listings import FORMATS
from datasets_core.resolve import registry
from datasets_core.resolve.registry import Format, infer_format


@pytest.mark.parametrize("name", ["csv", "json", "parquet", "arrow", "text"])
def test_every_format_of_the_library_has_its_builder(name: str) -> None:
    found = registry.builder_class(name)
    assert issubclass(found, DatasetBuilder)
    assert registry.is_format(name)
    assert registry.builder_class(name) is found


def test_an_unknown_format_is_an_error_that_names_the_known_ones() -> None:
    with pytest.raises(
        UnknownFormatError,
        match=r"Unknown data format 'xls'\. Available formats: 'parquet', 'arrow', 'json', 'csv', 'imagefolder', ",
    ):
        registry.builder_class("xls")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.csv", ("csv", {})),
        ("a.CSV", ("csv", {})),
        ("a.tsv", ("csv", {"sep": "\t"})),
        ("a.csv.gz", ("csv", {})),
        ("a.csv.bz2.gz", ("csv", {})),
        ("a.csv.zip", ("csv", {})),
        ("a.jsonl", ("json", {})),
        ("a.ndjson.zst", ("json", {})),
        ("a.json", ("json", {})),
        ("a.parquet", ("parquet", {})),
        ("a.arrow", ("arrow", {})),
        ("a.txt", ("text", {})),
        ("x.csv.1", ("csv", {})),
        ("https://example.org/a.json?download=x.csv", ("json", {})),
        ("https://example.org/a.csv#part.txt", ("csv", {})),
        ("zip://a.txt::b.csv", ("text", {})),
        ("folder.csv/LICENSE", None),
        (".csv", None),
        ("a.gz", None),
        ("a", None),
    ],
)
def test_the_extension_tells_the_format(path: str, expected: object) -> None:
    assert registry.format_of(path) == expected


@pytest.mark.parametrize(("path", "expected"), [("a.zip", True), ("a.TAR.gz", True), ("a.tgz", True), ("a.gz", False)])
def test_archives_are_known_by_name(path: str, expected: bool) -> None:
    assert registry.is_archive(path) is expected


def test_another_package_adds_a_format(install: Callable[..., None]) -> None:
    install("fake_plugin", "fake = fake_plugin:Fake")
    assert registry.builder_class("fake").__name__ == "Fake"
    assert registry.format_of("a.fak2.gz") == ("fake", {"deep": True})
    assert registry.known_formats()[-1] == "fake"
    assert registry.rank("fake") > registry.rank("text")


def test_a_format_of_the_library_is_not_replaced(install: Callable[..., None]) -> None:
    install("csv_plugin", "csv = csv_plugin:Fake")
    assert registry.builder_class("csv").__name__ == "Csv"


@pytest.mark.parametrize(
    ("name", "target", "module", "words"),
    [
        ("gone", "gone_module_x:Fake", "", "'gone' is registered as 'gone_module_x:Fake', which cannot be imported"),
        ("lost", "lost_plugin:Missing", "", "AttributeError"),
        ("wrong", "wrong_plugin:value", "value = 3", "which is not a subclass of DatasetBuilder"),
        ("broken", "broken_plugin:Fake", "1 / 0", "ZeroDivisionError"),
    ],
)
def test_a_broken_package_is_named(install: Callable[..., None], name: str, target: str, module: str, words: str) -> None:
    install(f"{name}_plugin", f"{name} = {target}", module=module)
    with pytest.raises(PluginError, match=words):
        registry.builder_class(name)


def test_a_broken_package_does_not_stop_the_search_for_an_extension(install: Callable[..., None]) -> None:
    install("half_plugin", "half = half_plugin:Fake", module="1 / 0")
    with pytest.warns(DataFilesWarning, match="'half'"):
        assert registry.format_of("a.unheard") is None
    assert registry.format_of("a.csv") == ("csv", {})


def test_the_extensions_of_built_in_formats_are_those_of_their_modules() -> None:
    said: dict[str, str] = {}
    for name in registry.BUILT_IN:
        for extension in registry._extensions_of(name):
            said.setdefault(extension, name)
    assert said == FORMATS


@pytest.mark.parametrize("name", ["a.tar", "a.tar.gz", "a.tgz", "a.b.tar.zst"])
def test_a_tar_of_fields_is_one_of_webdataset_however_it_is_compressed(name: str) -> None:
    assert registry.archive_format(name, ["1.png", "1.json"]) == ("webdataset", {})
    assert registry.archive_format(name, ["train.csv"]) is None


def test_what_only_holds_such_a_name_is_no_tar() -> None:
    assert registry.archive_format("a.tar.part", ["1.png", "1.json"]) is None
    assert registry.archive_format("a.zip", ["1.png", "1.json"]) is None


def test_a_name_on_the_hub_has_no_query() -> None:
    assert registry.format_of("hf://datasets/org/name@main/train ?&=#1.csv") == ("csv", {})


FORMAT = """
from datasets_core.builders.text import Text

EXTENSIONS = {".notes": {}}


class Notes(Text):
    is_format = True
    name = "notes"
    cache_version = "1"
"""


def test_a_format_of_another_package_has_what_those_of_the_library_have(install: Callable[..., None], tmp_path: Path) -> None:
    install("noted", "notes = noted_package.reading.lines:Notes", module="")
    source = tmp_path / "site-noted" / "noted_package" / "reading" / "lines.py"
    source.parent.mkdir(parents=True)
    source.write_text(FORMAT)
    files = [str(tmp_path / "a.notes"), str(tmp_path / "b.notes")]
    lines = [f"note {number} {'x' * 100}" for number in range(20_000)]
    for path, part in zip(files, (lines[:15_000], lines[15_000:]), strict=True):
        Path(path).write_text("\n".join(part))
    options: Any = {"data_files": files, "cache_dir": str(tmp_path / "cache")}
    try:
        assert registry.format_of("a.notes") == ("notes", {})
        states = {}
        for name in ("notes", "text"):
            stream = load_dataset(name, split="train", streaming=True, **options)
            assert [row["text"] for row in islice(stream, 12_000)] == lines[:12_000]
            states[name] = stream.state_dict()
        assert states["notes"]["at"] == states["text"]["at"]
        assert states["notes"]["at"][2][1][1] > 1_000_000  # the byte of a mark in the file
        resumed = load_dataset("notes", split="train", streaming=True, **options)
        resumed.load_state_dict(states["notes"])
        assert [row["text"] for row in resumed] == lines[12_000:]

        def sources(name: str) -> list[tuple[object, object]]:
            stream = load_dataset(name, split="train", streaming=True, **options).with_row_ids()
            return [(row["__source__"], row["__row__"]) for row in islice(stream, 14_999, 15_001)]

        assert sources("notes") == sources("text") == [(files[0], 14_999), (files[1], 0)]

        built = load_dataset("notes", split="train", **options)
        assert built["text"][:] == lines and built.info.builder_name == "notes"
        builder = load_dataset_builder("notes", **options)
        assert os.path.isdir(builder.cache_dir) and builder.checksums_path is None
        source.write_text(f"{FORMAT}\n# an edit\n")
        assert load_dataset_builder("notes", **options).cache_dir == builder.cache_dir
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] == "noted_package"]:
            del sys.modules[name]


def test_a_format_is_added_by_one_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "noted_here.py").write_text(FORMAT, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_registered", {})
    kind = importlib.import_module("noted_here").Notes
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a.notes").write_text("one\ntwo\n", encoding="utf-8")
    assert registry.format_of("a.notes") is None
    registry.register_format("notes", kind)
    rows: Any = load_dataset(str(tmp_path / "data"), split="train", cache_dir=str(tmp_path / "cache"))
    named: Any = load_dataset(
        "notes", data_files=str(tmp_path / "data" / "a.notes"), split="train", cache_dir=str(tmp_path / "b")
    )
    assert rows["text"] == named["text"] == ["one", "two"]
    assert registry.known_formats()[-1] == "notes"
    with pytest.raises(ConfigurationError, match="format of the library"):
        registry.register_format("csv", kind)
    registry._plugin_by_extension.cache_clear()


# formats


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
    with pytest.warns(DataFilesWarning, match=rf"'d' is read as {format}; skipped: .*{left}"):
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
    with pytest.raises(DataFilesNotFoundError, match=r"'d' has no file of a known format: .*a\.xyz.*parquet"):
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
    with pytest.warns(DataFilesWarning, match=r"skipped: .*all\.zip"):
        found = infer_format(_files(tmp_path, train=["a.csv", "all.zip"]), dataset="d")
    assert _names(found) == {"train": ["a.csv"]}


def test_an_archive_behind_http_is_not_fetched_to_be_guessed() -> None:
    with pytest.raises(DataFilesNotFoundError, match="Pass the format"):
        infer_format(resolve_data_files("https://example.org/a.zip"), dataset="d")

"""Tests of datasets_core/resolve/folder.py."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest

from datasets_core import records
from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.errors import (
    ConfigurationError,
    DataFilesNotFoundError,
    DataFilesWarning,
    DatasetNotFoundError,
    DownloadError,
    FileNotFoundDatasetsError,
    ManifestError,
    UnknownConfigError,
    UnknownVersionError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.fetch.hub.repository import HubCommit
from datasets_core.inspect import get_dataset_infos
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.meta.info import Card, DatasetInfo
from datasets_core.resolve import folder as folder_room
from datasets_core.resolve.folder import (
    FOLDER_KINDS,
    FolderSource,
    FormatSource,
    file_source,
    folder_source,
    read_folder_card,
    read_text,
)
from datasets_core.resolve.request import Request, commits_of
from datasets_core.resolve.resolve import resolve

CARD = """---
configs:
- config_name: en
  data_files:
  - split: train
    path: en/*.csv
  - split: dev
    path: [en/more/x.csv]
  sep: ";"
  version: 1.2.0
- config_name: json
  data_dir: lines
  default: true
dataset_info:
- config_name: en
  features:
  - name: a
    dtype: int32
  splits:
  - name: train
    num_bytes: 8
    num_examples: 1
---
# Title
"""


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(**texts: str) -> Path:
        folder = tmp_path / "reviews"
        for name, text in texts.items():
            path = folder / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder

    return write


@pytest.fixture
def carded(write: Callable[..., Path]) -> Path:
    return write(
        README_dot_md=CARD,
        en__a_dot_csv="a\n1\n",
        en__more__x_dot_csv="a\n2\n",
        lines__train_dot_jsonl='{"a": 1}\n',
        lines__test_dot_jsonl='{"a": 1}\n',
    )


def _source(folder: Path, **request: Any) -> FolderSource:
    return FolderSource(Request(str(folder), cache_dir=str(folder.parent / "cache"), **request), str(folder))


def _files(source: FolderSource, folder: Path) -> dict[str, list[str]]:
    found = source.builder().config.data_files
    return {split: [str(Path(path).relative_to(folder)) for path in paths] for split, paths in found.items()}


def test_a_folder_without_a_card_has_one_config(write: Callable[..., Path]) -> None:
    folder = write(train_dot_csv="a\n1\n", test_dot_csv="a\n1\n")
    source = _source(folder)
    assert source.config_names == ["default"]
    assert source.default_config_name == "default"
    assert source.recorded == {}
    assert _files(source, folder) == {"train": ["train.csv"], "test": ["test.csv"]}
    assert source.builder().dataset_name == "reviews"


def test_the_card_names_configs_with_files_options_and_version(carded: Path) -> None:
    source = _source(carded, name="en")
    builder = source.builder()
    assert source.config_names == ["en", "json"]
    assert _files(source, carded) == {"train": ["en/a.csv"], "dev": ["en/more/x.csv"]}
    assert (builder.config.name, builder.config.sep, str(builder.version)) == ("en", ";", "1.2.0")


def test_each_config_has_its_own_format_and_the_default_is_taken(carded: Path) -> None:
    source = _source(carded)
    assert source.default_config_name == "json"
    assert source.builder().name == "json"
    assert _files(source, carded) == {"train": ["lines/train.jsonl"], "test": ["lines/test.jsonl"]}


def test_what_the_card_records_goes_to_the_builder(carded: Path) -> None:
    builder = _source(carded, name="en").builder()
    assert builder.info.features == Features({"a": Value("int32")})
    assert builder.recorded.splits is not None
    assert builder.recorded.splits["train"].num_examples == 1
    assert builder.is_partial is False


def test_the_users_options_come_before_those_of_the_card(carded: Path) -> None:
    builder = _source(carded, name="en", options={"sep": "|"}).builder()
    assert builder.config.sep == "|"


def test_features_of_a_config_apply_unless_the_user_has_others(write: Callable[..., Path]) -> None:
    card = "---\nconfigs:\n- config_name: x\n  features:\n  - name: a\n    dtype: int8\n---\n"
    folder = write(README_dot_md=card, train_dot_csv="a\n1\n")
    asked = Features({"a": Value("int16")})
    assert _source(folder).builder().config.features == Features({"a": Value("int8")})
    assert _source(folder, features=asked).builder().config.features == asked


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"data_files": "en/*.csv"}, {"train": ["en/a.csv"]}),
        ({"data_dir": "en/more"}, {"train": ["en/more/x.csv"]}),
        ({"data_dir": "en", "data_files": {"t": "*.csv"}}, {"t": ["en/a.csv"]}),
    ],
)
def test_files_of_the_users_own_take_the_place_of_those_of_the_default_config(
    carded: Path, request_: dict[str, Any], expected: dict[str, list[str]]
) -> None:
    source = _source(carded, **request_)
    builder = source.builder()
    assert _files(source, carded) == expected
    assert builder.config.name == "json"
    assert builder.recorded.splits in (None, {})


def test_files_of_the_users_own_in_a_named_config_keep_its_options(carded: Path) -> None:
    builder = _source(carded, name="en", data_files="en/more/x.csv").builder()
    assert builder.config.sep == ";"
    assert builder.is_partial is True


def test_an_unknown_config_lists_the_known_ones(carded: Path) -> None:
    with pytest.raises(UnknownConfigError, match=r"Unknown config 'fr' in .*Available configs: 'en', 'json'\."):
        _source(carded, name="fr").builder()


def test_several_configs_without_a_default_ask_for_a_name(write: Callable[..., Path]) -> None:
    folder = write(README_dot_md="---\nconfigs:\n- config_name: a\n- config_name: b\n---\n", train_dot_csv="a\n1\n")
    source = _source(folder)
    assert source.default_config_name is None
    with pytest.raises(UnknownConfigError, match=r"several configs and no default config\. Available configs: 'a', 'b'\."):
        source.builder()


@pytest.mark.parametrize(("names", "expected"), [(["a"], "a"), (["a", "default"], "default")])
def test_the_only_config_or_the_one_called_default_is_the_default(
    write: Callable[..., Path], names: list[str], expected: str
) -> None:
    configs = "".join(f"- config_name: {name}\n" for name in names)
    folder = write(README_dot_md=f"---\nconfigs:\n{configs}---\n", train_dot_csv="a\n1\n")
    assert _source(folder).default_config_name == expected
    assert _source(folder).builder().config.name == expected


def test_a_folder_called_like_a_card_is_no_card(write: Callable[..., Path]) -> None:
    folder = write(README_dot_md__notes_dot_txt="x", train_dot_csv="a\n1\n")
    assert _source(folder).config_names == ["default"]


class _Unreachable(fsspec.AbstractFileSystem):
    protocol = "nowhere"

    def info(self, path: str, **options: object) -> object:
        raise RuntimeError("no route")


def test_a_store_that_cannot_be_asked_for_the_card_is_one_error() -> None:
    fsspec.register_implementation("nowhere", _Unreachable, clobber=True)
    with pytest.raises(DownloadError, match=r"nowhere://reviews.*\(RuntimeError: no route\)"):
        read_folder_card("nowhere://reviews")


def test_a_readme_without_front_matter_is_no_card(write: Callable[..., Path]) -> None:
    folder = write(README_dot_md="# Reviews\n\n---\nconfigs: no\n", train_dot_csv="a\n1\n")
    assert _source(folder).config_names == ["default"]


def test_the_configs_of_the_yaml_file_take_the_place_of_those_of_the_readme(write: Callable[..., Path]) -> None:
    folder = write(
        _dot_huggingface_dot_yaml="configs:\n- config_name: a\n  data_files: a.csv\n- config_name: b\n  data_files: b.csv\n",
        README_dot_md="---\nconfigs:\n- config_name: b\n  data_files: c.csv\n---\n",
    )
    card = read_folder_card(str(folder))
    assert {entry.name: entry.data_files for entry in card.configs} == {"a": {"train": ["a.csv"]}, "b": {"train": ["b.csv"]}}


def test_the_old_infos_are_read_and_the_card_has_the_word(write: Callable[..., Path]) -> None:
    def old(dtype: str) -> dict[str, Any]:
        return {"description": "old", "features": {"a": {"dtype": dtype, "id": None, "_type": "Value"}}}

    folder = write(
        README_dot_md=CARD,
        dataset_infos_dot_json=json.dumps({"en": old("string"), "fr": old("string")}),
        en__a_dot_csv="a\n1\n",
    )
    infos = read_folder_card(str(folder)).infos
    assert infos["fr"].features == Features({"a": Value("string")})
    assert infos["en"].features == Features({"a": Value("int32")})


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"README_dot_md": "---\nconfigs: [\n---\n"}, r"README\.md: .*line"),
        ({"dataset_infos_dot_json": "{"}, r"dataset_infos\.json"),
    ],
)
def test_a_broken_card_is_named_with_its_file(write: Callable[..., Path], texts: dict[str, str], words: str) -> None:
    folder = write(train_dot_csv="a\n1\n", **texts)
    with pytest.raises(ManifestError, match=words):
        _source(folder).builder()


@pytest.mark.parametrize("path", ["../secret.csv", "/etc/passwd", "s3://bucket/x.csv", "zip://a.csv::b.zip"])
def test_a_card_does_not_reach_out_of_its_folder(write: Callable[..., Path], path: str) -> None:
    folder = write(README_dot_md=f"---\nconfigs:\n- config_name: a\n  data_files: '{path}'\n---\n")
    with pytest.raises(ConfigurationError, match=r"README\.md"):
        _source(folder).builder()


@pytest.mark.parametrize("option", ["config_id: ../../../out", "hash: ../../out", "repo_id: ../out", "name: en", "self: 1"])
def test_a_card_does_not_choose_the_folder_of_the_build(write: Callable[..., Path], option: str) -> None:
    card = f"---\nconfigs:\n- config_name: default\n  data_files: a.csv\n  {option}\n---\n"
    folder = write(README_dot_md=card, a_dot_csv="a\n1\n")
    with pytest.raises(ConfigurationError, match=f"Unknown config option {option.partition(':')[0]!r}"):
        _source(folder).builder()


def test_files_that_the_card_names_and_that_are_gone_are_an_error(write: Callable[..., Path]) -> None:
    folder = write(README_dot_md="---\nconfigs:\n- config_name: a\n  data_files: none/*.csv\n---\n")
    with pytest.raises(DataFilesNotFoundError, match="none"):
        _source(folder).builder()


def test_the_most_frequent_format_of_the_folder_wins(write: Callable[..., Path]) -> None:
    folder = write(a_dot_csv="a\n1\n", b_dot_csv="a\n1\n", c_dot_json="{}")
    with pytest.warns(DataFilesWarning, match=r"skipped: .*c\.json"):
        assert _source(folder).builder().name == "csv"


def test_a_folder_at_a_url(write: Callable[..., Path]) -> None:
    store = fsspec.filesystem("memory")
    store.pipe({"/reviews9/README.md": CARD.encode(), "/reviews9/en/a.csv": b"a\n1\n", "/reviews9/en/more/x.csv": b"a\n1\n"})
    try:
        source = FolderSource(Request("memory://reviews9", name="en"), "memory://reviews9")
        builder = source.builder()
    finally:
        store.rm("/reviews9", recursive=True)
    assert builder.config.data_files == {
        "train": ["memory://reviews9/en/a.csv"],
        "dev": ["memory://reviews9/en/more/x.csv"],
    }
    assert builder.dataset_name == "reviews9"


def test_of_a_finished_dataset_the_shards_of_its_manifest_are_read(tmp_path: Path) -> None:
    folder, old = tmp_path / "finished", tmp_path / "old.csv"
    for rows in ("1,2020-01-01 10:00:00\n", "2,2020-01-01 10:00:00\n3,\n"):
        old.write_text("a,at\n" + rows)
        builder = load_dataset_builder("csv", data_files={"dev": str(old)}, cache_dir=str(tmp_path / "cache"))
        builder.download_and_prepare(output_dir=folder, file_format="parquet")
    assert len(list(folder.glob("*.parquet"))) == 2

    found = _source(folder).builder()

    assert {split: len(paths) for split, paths in found.config.data_files.items()} == {"dev": 1}
    assert found.info.features == builder.info.features


def test_a_finished_dataset_is_known_by_its_manifest(tmp_path: Path) -> None:
    class Birds(GeneratorBasedBuilder):
        VERSION = "1.2.3"
        BUILDER_CONFIGS: ClassVar[list[Any]] = [BuilderConfig("en")]

        def _info(self) -> DatasetInfo:
            return DatasetInfo(description="Birds.", citation="@birds", features=Features({"a": Value("int8")}))

        def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
            return [SplitGenerator("train", {"rows": 5}), SplitGenerator("val", {"rows": 2})]

        def _generate_examples(self, rows: int) -> Iterator[tuple[int, dict[str, Any]]]:
            yield from ((row, {"a": row}) for row in range(rows))

    folder, cache = tmp_path / "finished", str(tmp_path / "cache")
    Birds(cache_dir=cache, dataset_name="birds").download_and_prepare(folder, num_shards=2)

    for reference, name in ((folder, None), (folder, "en"), (f"{folder}:1.*.*", None)):
        found = load_dataset(str(reference), name, split="train", cache_dir=cache, verification_mode="all_checks")
        assert found.info.full_name == "birds/en/1.2.3"
        assert (found.info.description, found.info.citation) == ("Birds.", "@birds")
        assert found["a"][:] == [0, 1, 2, 3, 4]
    recorded = get_dataset_infos(folder)
    assert {split: info.num_examples for split, info in (recorded["en"].splits or {}).items()} == {"train": 5, "val": 2}
    with pytest.raises(UnknownVersionError, match=r"Available versions: '1\.2\.3'"):
        load_dataset(f"{folder}:2.0.0", cache_dir=cache)
    (folder / "README.md").write_text("---\nconfigs:\n- config_name: mine\n  data_files: '*train*'\n---\n")
    assert get_dataset_infos(folder).keys() == {"mine"}  # the card has the word


def test_shards_that_no_manifest_names_are_no_folder_of_data(tmp_path: Path) -> None:
    shard = tmp_path / "a-train-00000-of-00001-0123456789abcdef.arrow"
    shard.write_bytes(b"")
    with pytest.raises(DatasetNotFoundError, match=rf"{shard.name} but no dataset_info\.json"):
        _source(tmp_path).builder()
    assert _source(tmp_path, data_files="*.arrow").builder().name == "arrow"


def test_the_card_is_read_once(carded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counting(folder: str, storage_options: dict[str, Any] | None = None) -> Card:
        read.append(folder)
        return read_folder_card(folder, storage_options)

    monkeypatch.setattr(folder_room, "read_folder_card", counting)
    source = _source(carded, name="en")
    assert source.config_names[0] == "en"
    assert source.default_config_name in (None, *source.config_names)
    source.builder()
    assert source.recorded is source.card.infos
    assert read == [str(carded)]


@pytest.mark.parametrize("name", ["README.md", "dataset_infos.json"])
def test_a_pipe_in_place_of_a_card_is_an_error_and_no_wait(name, tmp_path):
    (tmp_path / "train.csv").write_text("a\n1\n")
    os.mkfifo(tmp_path / name)

    with pytest.raises(ManifestError, match=f"{name}: not a regular file but a pipe"):
        load_dataset(str(tmp_path), cache_dir=str(tmp_path / "cache"))


@pytest.mark.parametrize("size", [10, 70_000, 200_000])
@pytest.mark.parametrize("closing", ["---\n", "---\r\n", "--- \n", "---"])
def test_a_readme_is_read_as_far_as_its_front_matter_goes(tmp_path, size, closing):
    front = f"---\ntext: {'x' * size}\nconfigs:\n- config_name: a\n{closing}"
    path = tmp_path / "README.md"
    path.write_bytes(front.encode() + (b"" if closing == "---" else b"# T\n---\n" * 50_000))

    text = read_text(str(path), None, is_headed=True)

    assert text.replace("\r\n", "\n").startswith(front.replace("\r\n", "\n"))
    assert len(text) <= len(front) + (1 << 16)


def test_a_readme_without_front_matter_is_not_read_to_its_end(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("# Title\n" * 100_000)

    assert len(read_text(str(path), None, is_headed=True)) <= 1 << 16


def test_what_a_folder_does_not_hold_is_not_asked_for(write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write(train_dot_csv="a\n1\n")
    source = _source(folder)
    assert source.entries == {"train.csv": False}
    monkeypatch.setattr(folder_room, "read_text", lambda *_, **__: pytest.fail("a record was read"))
    monkeypatch.setattr(folder_room, "read_manifest", lambda *_: pytest.fail("a manifest was read"))
    assert source.config_names == ["default"]


def test_a_large_folder_and_a_store_are_asked_for_each_name(
    write: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_room, "_MOST_ENTRIES", 1)
    assert _source(write(train_dot_csv="a\n1\n")).entries is None
    assert FolderSource(Request("memory://none"), "memory://none").entries is None


MARKED: dict[str, dict[str, str]] = {
    "data files": {"train.csv": "a\n1\n"},
    "a script of another name": {"train.csv": "a\n1\n", "convert.py": ""},
    "a script": {"train.csv": "a\n1\n", "reviews.py": "def f(): ...\n"},
    "a manifest": {"train.csv": "a\n1\n", "dataset_info.json": "{}"},
    "a folder": {"data/train.csv": "a\n1\n"},
}


@pytest.mark.parametrize(
    ("held", "asked"),
    [("data files", []), ("a script of another name", [0]), ("a script", [0]), ("a manifest", [1]), ("a folder", [1])],
)
def test_a_folder_is_asked_for_a_kind_only_where_its_listing_holds_a_marker(
    tmp_path: Path, held: str, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, seen = tmp_path / "reviews", []
    for name, text in MARKED[held].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)

    def watching(number: int) -> Callable[[FolderSource], None]:
        return lambda given: seen.append(number)

    kinds = tuple(kind._replace(source=watching(number)) for number, kind in enumerate(FOLDER_KINDS))
    monkeypatch.setattr(folder_room, "FOLDER_KINDS", kinds)
    found = folder_source(Request(str(folder)), str(folder))
    assert (seen, type(found)) == (asked, FolderSource)


def test_a_folder_that_data_dir_names_is_asked_though_the_outer_listing_has_no_marker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.csv").write_text("a\n1\n")
    seen: list[str] = []
    kinds = tuple(kind._replace(source=lambda given, kind=kind: seen.append(kind.name)) for kind in FOLDER_KINDS)
    monkeypatch.setattr(folder_room, "FOLDER_KINDS", kinds)
    folder_source(Request(str(tmp_path), data_dir="/elsewhere"), str(tmp_path))
    assert seen == [FOLDER_KINDS[1].name]


# A format by name, and one file whose name tells its format.


def _files_format_source(builder: Any) -> dict[str, list[str]]:
    return {split: [Path(path).name for path in paths] for split, paths in builder.config.data_files.items()}


def test_a_format_by_name_with_files(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    builder = resolve(Request("csv", data_files=str(tmp_path / "*.csv"), options={"sep": ";"}))
    assert (builder.name, builder.dataset_name, builder.config.sep) == ("csv", "csv", ";")
    assert _files_format_source(builder) == {"train": ["a.csv"]}


def test_a_format_by_name_with_a_folder_takes_the_files_of_that_format(tmp_path: Path) -> None:
    for name in ("train.csv", "test.csv", "LICENSE", "train.parquet"):
        (tmp_path / name).write_text("a\n1\n")
    with pytest.warns(DataFilesWarning, match=r"skipped: .*train\.parquet"):
        builder = resolve(Request("csv", data_dir=str(tmp_path)))
    assert _files_format_source(builder) == {"train": ["train.csv"], "test": ["test.csv"]}


def test_a_format_by_name_takes_files_of_any_extension_where_none_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("a\n1\n")
    assert _files_format_source(resolve(Request("csv", data_dir=str(tmp_path)))) == {"train": ["a.dat"]}


def test_a_name_for_a_config_of_a_format_is_free(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    assert resolve(Request("csv", name="mine", data_files=str(tmp_path / "a.csv"))).config.name == "mine"


def test_a_format_without_files_asks_for_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="'csv' is a format, which needs files to read"):
        resolve(Request("csv"))


@pytest.mark.parametrize("name", ["a.tsv", "a.tsv.gz"])
def test_one_data_file_as_the_path(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a\n1\n")
    builder = resolve(Request(str(tmp_path / name)))
    assert (builder.name, builder.config.sep) == ("csv", "\t")
    assert _files_format_source(builder) == {"train": [name]}


def test_the_users_options_come_before_those_of_the_extension(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\n1\n")
    assert resolve(Request(str(tmp_path / "a.tsv"), options={"sep": ";"})).config.sep == ";"


def test_a_file_of_no_known_format_asks_for_one(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("")
    with pytest.raises(DatasetNotFoundError, match="does not have the extension of a known format"):
        resolve(Request(str(tmp_path / "a.xyz")))


def test_an_archive_of_no_known_format_says_what_it_contains(tmp_path: Path) -> None:
    path = tmp_path / "abalone.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("abalone.zip", "a,b\n1,2\n")  # as pandas writes it
        archive.writestr("b.mat", "x")
    with pytest.raises(DatasetNotFoundError, match=r"it contains 'abalone\.zip', 'b\.mat'") as caught:
        resolve(Request(str(path)))
    assert caught.value.value == str(path)
    assert "data_files=" in str(caught.value.advice)


def test_the_splits_of_a_short_named_tar_are_those_of_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "all.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for split, text in (("train", "a\n1\n"), ("test", "a\n2\n")):
            member = tarfile.TarInfo(f"{split}/x.csv")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    made = load_dataset(str(path), cache_dir=str(tmp_path / "cache"))
    assert {split: rows["a"][:] for split, rows in made.items()} == {"train": [1], "test": [2]}


def test_a_file_and_data_files_exclude_each_other(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n")
    with pytest.raises(ConfigurationError, match="Pass only one of the two"):
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


@pytest.mark.parametrize(
    "absent",
    [
        lambda folder: load_dataset("csv", data_files=f"{folder}/gone.csv"),
        lambda folder: load_dataset("csv", data_dir=f"{folder}/gone.csv"),
        lambda folder: DatasetInfo.from_directory(f"{folder}/gone.csv"),
        lambda folder: list(records.TFRecordReader(f"{folder}/gone.csv")),
    ],
    ids=["file", "folder", "info", "records"],
)
def test_what_is_absent_is_the_file_of_the_error(absent: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundDatasetsError) as caught:
        absent(tmp_path)
    assert str(caught.value.file).startswith(str(tmp_path / "gone.csv"))

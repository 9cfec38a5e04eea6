"""Tests of datasets_core/meta/data_files.py."""

import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import files
from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, DatasetsCoreError, DownloadError, FileFormatError
from datasets_core.meta.data_files import (
    DataFilesDict,
    DataFilesList,
    by_split,
    compiled,
    infer_data_files,
    infer_splits,
    is_pattern,
    match,
    resolve_data_files,
)
from datasets_core.meta.listings import list_folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a1.csv", "a10.csv", "a2.csv", "sub/b.csv", "sub/deep/c.csv", ".git/d.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n1\n")
    return tmp_path


def _names(found: DataFilesDict, folder: Path) -> dict[str, list[str]]:
    return {split: [os.path.relpath(path, folder) for path in paths] for split, paths in found.items()}


@pytest.mark.parametrize(
    ("data_files", "expected"),
    [
        ("a1.csv", {"train": ["a1.csv"]}),
        ("./sub/../a1.csv", {"train": ["a1.csv"]}),
        ("a*.csv", {"train": ["a1.csv", "a10.csv", "a2.csv"]}),
        ("./sub/*.csv", {"train": ["sub/b.csv"]}),
        ("sub/../a1*.csv", {"train": ["a1.csv", "a10.csv"]}),
        ("**/*.csv", {"train": ["a1.csv", "a10.csv", "a2.csv", "sub/b.csv", "sub/deep/c.csv"]}),
        (".git/*", {"train": [".git/d.csv"]}),
        (["a2.csv", "a*.csv"], {"train": ["a2.csv", "a1.csv", "a10.csv"]}),
        (["a2.csv", "a2.csv"], {"train": ["a2.csv", "a2.csv"]}),
        (("a2.csv", ["a1.csv"]), {"train": ["a2.csv", "a1.csv"]}),
        (Path("a1.csv"), {"train": ["a1.csv"]}),
        ({"test": "a1.csv", "x": ["a2.csv", "sub/*"]}, {"test": ["a1.csv"], "x": ["a2.csv", "sub/b.csv"]}),
        ([{"split": "a", "path": "a1.csv"}, {"split": "b", "path": ["a2.csv"]}], {"a": ["a1.csv"], "b": ["a2.csv"]}),
    ],
)
def test_data_files_in_every_form(folder: Path, data_files: object, expected: dict[str, list[str]]) -> None:
    found = resolve_data_files(data_files, folder)  # type: ignore[arg-type]
    assert _names(found, folder) == expected
    assert list(found) == list(expected)


def test_relative_paths_start_in_the_working_directory_by_default(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert resolve_data_files("a1.csv")["train"] == [str(folder / "a1.csv")]


def test_a_file_whose_name_looks_like_a_pattern_is_found_by_its_name(folder: Path) -> None:
    (folder / "a[1].csv").write_text("x\n")
    assert _names(resolve_data_files("a[1].csv", folder), folder) == {"train": ["a[1].csv"]}


def test_identities_tell_size_and_change(folder: Path) -> None:
    before = resolve_data_files("a1.csv", folder)
    os.utime(folder / "a1.csv", ns=(1, 1))
    after = resolve_data_files("a1.csv", folder)
    assert before.identities[0][:2] == (str(folder / "a1.csv"), 4)
    assert after.identities == ((str(folder / "a1.csv"), 4, "1"),)
    assert before.identities != after.identities


def test_one_folder_is_listed_once_for_all_its_patterns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed: list[str] = []
    scandir = os.scandir

    def counting(path: str) -> object:
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counting)
    resolve_data_files({"a": "a*.csv", "b": ["a1*.csv", "*2.csv"]}, folder)
    assert listed == [str(folder)]


def test_paths_without_wildcards_list_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "scandir", None)
    assert len(resolve_data_files(["a1.csv", "sub/b.csv"], folder)["train"]) == 2


def test_a_circle_of_links_ends(folder: Path) -> None:
    (folder / "sub" / "up").symlink_to(folder, target_is_directory=True)
    found = resolve_data_files("**/c.csv", folder)
    assert _names(found, folder) == {"train": ["sub/deep/c.csv"]}


@pytest.mark.parametrize(
    ("data_files", "words"),
    [
        ("z*.csv", r"'z\*\.csv' matches no file in .*a1\.csv"),
        ("z.csv", r"There is no data file .*z\.csv\. .* contains: .*a1\.csv"),
        ("sub", r"is a folder, not a data file\. Write 'sub/\*\*'"),
        ("none/*.csv", r"There is no folder .*none"),
        ("none/z.csv", r"none/z\.csv.*nothing that can be listed"),
        ("zip://*.csv::none.zip", r"There is no file .*none\.zip"),
        ("zip://*.csv::https://example.org/a.zip", "wildcards in an archive at an http URL"),
        ("memory://nowhere/*.csv", r"matches no file in memory://nowhere"),
        ("memory://nowhere/a.csv", r"There is no data file memory://nowhere/a\.csv"),
    ],
)
def test_what_is_not_there_is_named_with_what_is(folder: Path, data_files: str, words: str) -> None:
    with pytest.raises(DataFilesNotFoundError, match=words):
        resolve_data_files(data_files, folder)


@pytest.mark.parametrize(
    ("data_files", "words"),
    [
        ([], "no file for the split 'train'"),
        ({}, "data_files is empty"),
        ({"a": []}, "no file for the split 'a'"),
        ({"a b": "x.csv"}, "Invalid split name 'a b'"),
        ([{"split": "a", "path": "x"}, {"split": "a", "path": "y"}], "'a' twice"),
        ([{"split": "a", "file": "x"}], "Write"),
        (7, "data_files contains 7"),
        ([7], "data_files contains 7"),
        ("", "data_files contains ''"),
        (b"a.csv", "data_files contains"),
    ],
)
def test_forms_that_mean_nothing(data_files: object, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        by_split(data_files)  # type: ignore[arg-type]


def test_http_urls_are_taken_as_they_are() -> None:
    url = "https://example.org/a.csv?x=*"
    assert resolve_data_files(url).identities == ((url, -1, ""),)


def test_members_of_a_zip_are_listed_and_change_with_the_zip(folder: Path) -> None:
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("t/a.csv", "x\n1\n")
        archive.writestr("b.csv", "x\n")
    found = resolve_data_files(["zip://**/*.csv::all.zip", "zip://b.csv::all.zip"], folder)
    mtime = str((folder / "all.zip").stat().st_mtime_ns)
    outer = f"{folder}/all.zip"
    assert found.identities == (
        (f"zip://b.csv::{outer}", 2, mtime),
        (f"zip://t/a.csv::{outer}", 4, mtime),
        (f"zip://b.csv::{outer}", 2, mtime),
    )
    assert files.open_binary(found["train"][1]).read() == b"x\n1\n"


def test_a_damaged_zip_is_one_clear_error(folder: Path) -> None:
    (folder / "bad.zip").write_bytes(b"no zip")
    with pytest.raises(FileFormatError) as caught:
        resolve_data_files("zip://*.csv::bad.zip", folder)
    assert str(caught.value.file).endswith("bad.zip")


def test_a_remote_folder_as_base() -> None:
    store = fsspec.filesystem("memory")
    store.pipe({"/base1/a.csv": b"x\n", "/base1/y/b.csv": b"x\n1\n"})
    try:
        found = resolve_data_files({"t": "**/*.csv", "u": "a.csv"}, "memory://base1")
        inferred = infer_data_files(list_folder("memory://base1"), "memory://base1")
    finally:
        store.rm("/base1", recursive=True)
    assert found == {"t": ["memory://base1/a.csv", "memory://base1/y/b.csv"], "u": ["memory://base1/a.csv"]}
    assert [size for _, size, _ in found.identities] == [2, 4, 2]
    assert inferred == {"train": ["memory://base1/a.csv", "memory://base1/y/b.csv"]}


def test_a_folder_is_split_by_its_names(tmp_path: Path) -> None:
    for name in ("train.csv", "test.csv", "LICENSE"):
        (tmp_path / name).write_text("x\n")
    found = infer_data_files(list_folder(str(tmp_path)), tmp_path)
    assert _names(found, tmp_path) == {"train": ["train.csv"], "test": ["test.csv"]}
    assert found["train"].identities[0][1] == 2


def test_a_base_folder_below_a_hidden_one_is_not_hidden(tmp_path: Path) -> None:
    base = tmp_path / ".cache" / "__x"
    base.mkdir(parents=True)
    (base / "a.csv").write_text("x\n")
    assert _names(infer_data_files(list_folder(str(base)), base), base) == {"train": ["a.csv"]}
    assert _names(resolve_data_files("*.csv", base), base) == {"train": ["a.csv"]}


def test_an_empty_folder_is_an_error_that_says_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("hello")
    with pytest.raises(DataFilesNotFoundError, match=r"No data file found in .* Found: README\.md"):
        infer_data_files(list_folder(str(tmp_path)), tmp_path)


def test_a_missing_folder_is_an_error() -> None:
    with pytest.raises(DataFilesNotFoundError, match="/no/such cannot be listed"):
        list_folder("/no/such")


def test_lists_keep_order_and_identities_when_files_are_left_out(folder: Path) -> None:
    found = resolve_data_files("a*.csv", folder)["train"]
    kept = found.keep([found[2], found[0]])
    assert kept == [found[0], found[2]]
    assert kept.identities == (found.identities[0], found.identities[2])


def test_lists_cross_process_borders_whole(folder: Path) -> None:
    found = resolve_data_files("a*.csv", folder)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert isinstance(again["train"], DataFilesList)
    assert again.identities == found.identities


def test_what_is_resolved_already_stays_as_it_is(folder: Path) -> None:
    found = resolve_data_files("a*.csv", folder)
    assert resolve_data_files(found) is found
    assert resolve_data_files(found["train"])["train"] is found["train"]


class _Unreachable(fsspec.AbstractFileSystem):
    protocol = "unreachable"

    def info(self, path: str, **options: object) -> object:
        raise RuntimeError("no route")

    find = info


@pytest.mark.parametrize("name", ["unreachable://bucket/a.csv", "unreachable://bucket/*.csv"])
def test_a_store_that_cannot_be_asked_is_one_error(name: str) -> None:
    fsspec.register_implementation("unreachable", _Unreachable, clobber=True)
    with pytest.raises(DownloadError, match=r"unreachable://bucket.* \(RuntimeError: no route\)"):
        resolve_data_files(name)


@pytest.mark.parametrize(
    "data_files",
    [
        "ftp://user:s3cr3t@127.0.0.1:1/a.csv",
        "ftp://user:s3cr3t@127.0.0.1:1/*.csv",
        "zip://a.csv::ftp://user:s3cr3t@127.0.0.1:1/a.zip",
        "zip://*.csv::https://user:s3cr3t@127.0.0.1:1/a.zip?token=s3cr3t",
        "memory://user:s3cr3t@box/none.csv",
        "memory://user:s3cr3t@box/none*.csv",
        "zip://a.csv::memory://user:s3cr3t@box/none.zip",
        "nosuch://user:s3cr3t@host/a.csv",
        [{"split": "train", "file": "ftp://user:s3cr3t@host/a.csv"}],
        {"train": {"ftp://user:s3cr3t@host/a.csv"}},
    ],
)
def test_no_error_shows_the_password_of_an_address(data_files: object) -> None:
    with pytest.raises(DatasetsCoreError) as caught:
        resolve_data_files(data_files)  # type: ignore[arg-type]

    assert "s3cr3t" not in f"{caught.value} {caught.value.args} {vars(caught.value)}"


def _shards(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n1\n")
    return folder


def _inferred(folder: Path) -> DataFilesDict:
    return infer_data_files(list_folder(str(folder)), folder)


@pytest.mark.parametrize(
    ("names", "missing"),
    [
        (("train-00000-of-00003.csv", "train-00002-of-00003.csv"), "train-00001-of-00003.csv"),
        (("data/odd-00001-of-00002.parquet",), "data/odd-00000-of-00002.parquet"),
        (("data/train-00001-of-00002-0123456789abcdef.parquet",), "data/train-00000-of-00002.parquet"),
        (("c4-train.00000-of-00002.json.gz",), "c4-train.00001-of-00002.json.gz"),
    ],
)
def test_a_missing_shard_is_named_and_not_passed_over(tmp_path: Path, names: tuple[str, ...], missing: str) -> None:
    _shards(tmp_path, *names)
    with pytest.raises(DataFilesNotFoundError, match=f"missing: {missing}"):
        _inferred(tmp_path)
    with pytest.raises(DataFilesNotFoundError, match=os.path.basename(missing)):
        resolve_data_files(str(tmp_path / os.path.dirname(names[0]) / "*"))
    assert resolve_data_files([str(tmp_path / name) for name in names])["train"] == [str(tmp_path / name) for name in names]


def test_shards_that_are_all_there_are_taken_with_hashes_or_counted_from_one(tmp_path: Path) -> None:
    names = ["train-00000-of-00002-0123456789abcdef.csv", "train-00001-of-00002-fedcba9876543210.csv"]
    names += ["test-00001-of-00002.csv", "test-00002-of-00002.csv"]
    found = _inferred(_shards(tmp_path, *names))
    assert {split: len(paths) for split, paths in found.items()} == {"train": 2, "test": 2}


def test_a_glob_may_choose_among_shards_and_misses_those_that_it_names(tmp_path: Path) -> None:
    _shards(tmp_path, *(f"t-{number:05d}-of-00020.csv" for number in range(20) if number not in (3, 15)))
    assert len(resolve_data_files(str(tmp_path / "t-0001[0-4]-of-*.csv"))["train"]) == 5
    with pytest.raises(DataFilesNotFoundError, match=r"missing: t-00003-of-00020.csv\."):
        resolve_data_files(str(tmp_path / "t-0000*.csv"))


def test_a_link_to_nothing_is_refused_where_it_would_be_read(tmp_path: Path) -> None:
    _shards(tmp_path, "a.csv")
    (tmp_path / "b.csv").symlink_to("gone.csv")
    for ask in (lambda: _inferred(tmp_path), lambda: resolve_data_files(str(tmp_path / "*.csv"))):
        with pytest.raises(DataFilesNotFoundError, match=r"b\.csv is a link to gone\.csv, which does not exist"):
            ask()
    with pytest.raises(DataFilesNotFoundError, match=r"b\.csv is a link to gone\.csv"):
        resolve_data_files(str(tmp_path / "b.csv"))
    assert len(resolve_data_files(str(tmp_path / "a*.csv"))["train"]) == 1


def test_a_pipe_is_no_data_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for ask in (lambda: _inferred(tmp_path), lambda: resolve_data_files(str(tmp_path / "*.csv"))):
        with pytest.raises(DataFilesNotFoundError, match=r"pipe\.csv is not a regular file"):
            ask()
    with pytest.raises(DataFilesNotFoundError, match=r"pipe\.csv is not a regular file"):
        resolve_data_files(str(tmp_path / "pipe.csv"))


def test_files_behind_links_are_told_unless_the_user_names_them(tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (tmp_path / "out").mkdir()
    for path in (folder / "a.csv", tmp_path / "out" / "b.csv"):
        path.write_text("x\n1\n")
    (folder / "c.csv").symlink_to("a.csv")
    (folder / "d").symlink_to(tmp_path / "out")
    links = {f"{folder}/c.csv": (f"{folder}/c.csv", str(folder)), f"{folder}/d/b.csv": (f"{folder}/d", str(folder))}

    assert infer_data_files(list_folder(str(folder)), folder)["train"].links == links
    found = resolve_data_files("**/*.csv", folder)["train"]
    assert found.links == links
    assert found.keep(found[:1]).links == links
    assert resolve_data_files(f"{folder}/**/*.csv")["train"].links == links
    assert resolve_data_files(["c.csv", "d/b.csv"], folder)["train"].links == {}
    assert set(resolve_data_files("c.csv", folder, of_user=False)["train"].links) == {f"{folder}/c.csv"}


# Globs and split keywords; the expected values are what Hugging Face `datasets` 5.2.0 answers for the same folders.

TREE = ["a.csv", "b/a.csv", "b/c/a.csv"]
HIDDEN = [".hidden/.b.csv", ".hidden/a.csv", "h/.c.csv", "h/d.csv"]
SPECIAL = ["__a.csv", "__x/a.csv", "y/a.csv"]
PAPERS = ["README.md", "a/README.md", "b/a.md", "config.json"]
NUMBERS = ["a1.csv", "a10.csv", "a2.csv", "a^.csv"]


@pytest.mark.parametrize(
    ("pattern", "paths", "expected"),
    [
        ("*", TREE, ["a.csv"]),
        ("**", TREE, TREE),
        ("*/*", TREE, ["b/a.csv"]),
        ("b/**", TREE, ["b/a.csv", "b/c/a.csv"]),
        ("**/a.csv", TREE, TREE),
        ("b/**/a.csv", TREE, ["b/a.csv", "b/c/a.csv"]),
        ("b", TREE, []),
        ("**", HIDDEN, ["h/d.csv"]),
        (".hidden/*", HIDDEN, [".hidden/a.csv"]),
        ("h/.*", HIDDEN, ["h/.c.csv"]),
        ("**/a.csv", SPECIAL, ["y/a.csv"]),
        ("__x/*", SPECIAL, ["__x/a.csv"]),
        ("_*/*", SPECIAL, []),
        ("*", SPECIAL, ["__a.csv"]),
        ("*/README.md", PAPERS, ["a/README.md"]),
        ("**/*.md", PAPERS, ["b/a.md"]),
        ("*", PAPERS, []),
        ("a[1].csv", NUMBERS, ["a1.csv"]),
        ("a[!1].csv", NUMBERS, ["a2.csv", "a^.csv"]),
        ("a[^1].csv", NUMBERS, ["a1.csv", "a^.csv"]),
        ("a[0-9].csv", NUMBERS, ["a1.csv", "a2.csv"]),
        ("a?.csv", NUMBERS, ["a1.csv", "a2.csv", "a^.csv"]),
        ("a[.csv", ["a[.csv", "a.csv"], ["a[.csv"]),
        ("*", ["a\nb.csv"], ["a\nb.csv"]),
    ],
)
def test_a_glob_names_these_paths(pattern: str, paths: list[str], expected: list[str]) -> None:
    assert match(pattern, paths) == expected


def test_two_stars_beside_other_characters_are_refused_with_the_right_spelling() -> None:
    with pytest.raises(ConfigurationError, match=r"'\*\*a\.csv'.*'\*\*/\*a\.csv'"):
        match("**a.csv", TREE)


@pytest.mark.parametrize(("path", "expected"), [("a*.csv", True), ("a[1].csv", True), ("a?.csv", True), ("a{1}.csv", False)])
def test_wildcards_make_a_pattern(path: str, expected: bool) -> None:
    assert is_pattern(path) is expected


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["test.csv", "train.csv"], {"train": ["train.csv"], "test": ["test.csv"]}),
        (["test.csv.gz", "train.csv.gz"], {"train": ["train.csv.gz"], "test": ["test.csv.gz"]}),
        (
            ["test.csv", "train.csv", "validation.csv"],
            {"train": ["train.csv"], "validation": ["validation.csv"], "test": ["test.csv"]},
        ),
        (
            ["2train.csv", "a.val.csv", "dev.csv", "my_train.csv", "train", "train1.csv", "trainx.csv", "xtrain.csv"],
            {"train": ["train1.csv", "2train.csv", "my_train.csv"], "validation": ["dev.csv", "a.val.csv"]},
        ),
        (["TEST.csv", "Train.csv"], {"train": ["TEST.csv", "Train.csv"]}),
        (["b.csv", "train_test.csv"], {"train": ["train_test.csv"], "test": ["train_test.csv"]}),
        (["test/b.csv", "test/train.csv"], {"test": ["test/b.csv", "test/train.csv"]}),
        (["eval/a.csv", "foo.csv"], {"test": ["eval/a.csv"]}),
        (["a/train/b/c.csv", "d/test.csv"], {"train": ["a/train/b/c.csv"]}),
        (
            ["dev/a.csv", "val/c.csv", "valid/b.csv", "validation/0.csv"],
            {"validation": ["validation/0.csv", "valid/b.csv", "dev/a.csv", "val/c.csv"]},
        ),
        (
            ["train-1/train-2.csv", "train/train.csv", "training/train/x.csv"],
            {"train": ["train/train.csv", "training/train/x.csv", "train-1/train-2.csv"]},
        ),
        (["data/a b train.csv"], {"train": ["data/a b train.csv"]}),
        (["__a.csv", "__pycache__/train.csv", ".hidden/train.csv", "README.md", "a.csv"], {"train": ["__a.csv", "a.csv"]}),
        (["README.md", "x/dataset_info.json"], {}),
        ([], {}),
    ],
)
def test_names_tell_the_split(paths: list[str], expected: dict[str, list[str]]) -> None:
    found = infer_splits(paths)
    assert found == expected
    assert list(found) == list(expected)


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (
            ["data/abc-00000-of-00001.csv", "data/other.csv", "data/test-00000-of-00001.csv", "data/train-00000-of-00001.csv"],
            {
                "train": ["data/train-00000-of-00001.csv"],
                "test": ["data/test-00000-of-00001.csv"],
                "abc": ["data/abc-00000-of-00001.csv"],
            },
        ),
        (
            ["data/foo.bar-00000-of-00001.csv", "data/train-00000-of-00002-1a2b.csv", "data/train-00001-of-00002-1a2b.csv"],
            {
                "train": ["data/train-00000-of-00002-1a2b.csv", "data/train-00001-of-00002-1a2b.csv"],
                "foo.bar": ["data/foo.bar-00000-of-00001.csv"],
            },
        ),
        (
            ["data/mnist-test.tfrecord-00000-of-00001.gz", "data/mnist-train.tfrecord-00000-of-00001.gz"],
            {
                "train": ["data/mnist-train.tfrecord-00000-of-00001.gz"],
                "test": ["data/mnist-test.tfrecord-00000-of-00001.gz"],
            },
        ),
        (["data/clean-100-00000-of-00001.csv"], {"clean-100": ["data/clean-100-00000-of-00001.csv"]}),
        (["foo-00000-of-00002.csv", "train-00000-of-00002.csv"], {"train": ["train-00000-of-00002.csv"]}),
        (
            ["sub/data/foo-00000-of-00002.csv", "sub/data/train-00000-of-00002.csv"],
            {"train": ["sub/data/train-00000-of-00002.csv"]},
        ),
    ],
)
def test_sharded_names_in_data_have_a_free_split_name(paths: list[str], expected: dict[str, list[str]]) -> None:
    found = infer_splits(paths)
    assert found == expected
    assert list(found) == list(expected)


def test_a_shard_of_a_split_that_cannot_be_named_so_is_refused_and_not_lost() -> None:
    with pytest.raises(ConfigurationError, match="'my split'"):
        infer_splits(["data/my split-00000-of-00001.csv", "data/train-00000-of-00001.csv"])


_parts = st.sampled_from(
    ["train", "test", "dev", "a", "x_train", "train-1", "data", ".h", "__s", "README.md", "b.csv", "val.json"]
)
_paths = st.lists(st.lists(_parts, min_size=1, max_size=4).map("/".join), unique=True, max_size=12)


@given(_paths)
def test_a_split_lists_a_file_once_and_only_files_that_are_there(paths: list[str]) -> None:
    for names in infer_splits(paths).values():
        assert names
        assert len(set(names)) == len(names)
        assert set(names) <= set(paths)


@given(_paths)
def test_a_path_without_wildcards_matches_itself_alone(paths: list[str]) -> None:
    for path in paths:
        assert match(path, paths) == [path]


@given(_paths)
def test_every_file_that_two_stars_name_has_a_visible_path(paths: list[str]) -> None:
    for path in match("**", paths):
        assert not any(part.startswith(".") for part in path.split("/"))


def test_a_range_that_runs_backwards_is_refused() -> None:
    with pytest.raises(ConfigurationError) as caught:
        match("[z-a].csv", ["a.csv"])
    assert caught.value.value == "[z-a].csv"


def _fits(pattern: list[str], path: list[str]) -> bool:
    """The rule of globs, part by part, with every choice tried."""
    if not pattern or not path:
        return not pattern and not path
    if pattern == ["**"]:
        return True
    if pattern[0] == "**":
        return _fits(pattern[1:], path) or _fits(pattern, path[1:])
    return (pattern[0] != "*" or bool(path[0])) and _part_fits(pattern[0], path[0]) and _fits(pattern[1:], path[1:])


def _part_fits(pattern: str, text: str) -> bool:
    if not pattern:
        return not text
    if pattern[0] == "*":
        return any(_part_fits(pattern[1:], text[at:]) for at in range(len(text) + 1))
    if pattern.startswith("[*b]"):
        return bool(text) and text[0] in "*b" and _part_fits(pattern[4:], text[1:])
    return bool(text) and pattern[0] in ("?", text[0]) and _part_fits(pattern[1:], text[1:])


_PARTS = (
    st.lists(st.sampled_from(["a", "b", "?", "*", "[*b]"]), min_size=1, max_size=5)
    .map("".join)
    .filter(lambda part: "**" not in part)
)


@given(
    st.lists(_PARTS | st.just("**"), min_size=1, max_size=6),
    st.lists(st.text("ab*", min_size=1, max_size=4), min_size=1, max_size=5),
)
def test_a_pattern_matches_as_if_every_choice_was_tried(pattern: list[str], path: list[str]) -> None:
    assert (compiled("/".join(pattern)).fullmatch("/".join(path)) is not None) is _fits(pattern, path)


@pytest.mark.parametrize(
    ("pattern", "path"), [("*a" * 30 + "b", "a" * 200), ("**/" * 60 + "x", "a/" * 60), ("**/*a*/" * 25 + "x", "aa/" * 80)]
)
def test_no_pattern_of_a_stranger_takes_long(pattern: str, path: str) -> None:
    assert compiled(pattern).fullmatch(path) is None  # each way to try it would be more than there are atoms


def test_deeply_nested_data_files_are_refused() -> None:
    nested: Any = "a.csv"
    for _ in range(5000):
        nested = [nested]
    with pytest.raises(ConfigurationError, match="nested more than"):
        by_split(nested)

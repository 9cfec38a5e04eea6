"""Globs and split keywords; the expected values are what Hugging Face `datasets` 5.2.0 answers for the same folders."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.meta.data_files import infer_splits, is_pattern, match

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
    for files in infer_splits(paths).values():
        assert files
        assert len(set(files)) == len(files)
        assert set(files) <= set(paths)


@given(_paths)
def test_a_path_without_wildcards_matches_itself_alone(paths: list[str]) -> None:
    for path in paths:
        assert match(path, paths) == [path]


@given(_paths)
def test_every_file_that_two_stars_name_has_a_visible_path(paths: list[str]) -> None:
    for path in match("**", paths):
        assert not any(part.startswith(".") for part in path.split("/"))


def test_a_range_that_runs_backwards_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"'\[z-a\]\.csv' means nothing"):
        match("[z-a].csv", ["a.csv"])

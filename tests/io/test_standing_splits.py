"""The splits of a repository that names none: those that loading finds, in globs that name them and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.io.push_card import ExistingSplit, existing_splits, globs_of, named_files
from datasets_core.meta import data_files


def found(*paths: str, folder: str = "") -> dict[str, tuple[list[str], str | None]]:
    return {name: ([*split.files], split.format) for name, split in existing_splits(paths, folder).items()}


def test_splits_are_told_by_names() -> None:
    assert found("README.md", "train.csv", "data.py", "test.csv") == {
        "train": (["train.csv"], "csv"),
        "test": (["test.csv"], "csv"),
    }
    assert found("en/a.parquet", "fr/b.parquet", folder="en/") == {"train": (["en/a.parquet"], "parquet")}
    assert found("data/x-00000-of-00001.parquet", "train.csv") == {"x": (["data/x-00000-of-00001.parquet"], "parquet")}


def test_a_split_is_read_in_its_most_frequent_format() -> None:
    assert found("a.csv", "b.jsonl.gz", "c.csv", "x.zip") == {"train": (["a.csv", "c.csv"], "csv")}
    assert found("a.zip", "model.bin") == {"train": (["a.zip"], "archive")}


@pytest.mark.parametrize(
    "paths",
    [
        [],
        ["README.md", ".gitattributes", "script.py", "weights.bin"],
        ["LICENSE.txt", "logo.png"],
        ["extra/notes.txt", "paper.pdf"],
        ["data/a b-00000-of-00001.csv"],
        ["~x/train.csv", "C:/test.csv"],
    ],
    ids=["empty", "strange", "papers", "notes", "bad name", "ways out"],
)
def test_what_is_no_data_is_no_split(paths: list[str]) -> None:
    assert found(*paths) == {}


def test_texts_and_images_are_data_where_their_names_say_so() -> None:
    assert [*found("train.txt")] == ["train"]
    assert [*found("cat/1.png", "dog/1.png")] == ["train"]


def test_metadata_of_media_go_with_every_split() -> None:
    splits = existing_splits(["metadata.csv", "train/1.png", "test/1.png"])
    assert {name: (split.files, split.beside) for name, split in splits.items()} == {
        "train": (["train/1.png"], ["metadata.csv"]),
        "test": (["test/1.png"], ["metadata.csv"]),
    }
    assert globs_of(splits["test"], ["metadata.csv", "train/1.png", "test/1.png"], []) == ["metadata.csv", "test/1.png"]


def test_many_files_are_named_by_their_folder_or_ending() -> None:
    many = [f"train/{kind}/{number}.png" for kind in ("a", "b") for number in range(30)]
    assert globs_of(ExistingSplit(many, "imagefolder"), many, []) == ["train/**"]
    others = [*many, "train/a/x.txt"]
    assert globs_of(ExistingSplit(many, "imagefolder"), others, []) == ["train/a/*.png", "train/b/**"]
    shards = [f"data/train-{number:05d}-of-00030.parquet" for number in range(30)]
    assert globs_of(ExistingSplit(shards, "parquet"), shards, ["data/test-00000-of-00001.parquet"]) == ["data/train-*"]
    assert len(globs_of(ExistingSplit(shards, "parquet"), shards, ["data/train-x.parquet"])) == 30


def test_the_files_of_globs_are_found() -> None:
    assert named_files(["./a/*.csv", "b?.csv", "none*"], ["a/1.csv", "b?.csv", "bc.csv"]) == ["a/1.csv", "b?.csv", "none*"]


NAMES = st.sampled_from(["a", "b", "train", "x[1]", "q?", "-00000-of-00002", "c*"])
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".csv"), unique=True, max_size=60)


@given(paths=PATHS, data=st.data())
def test_globs_name_all_files_and_no_other(paths: list[str], data: st.DataObject) -> None:
    wanted = [path for path in paths if data.draw(st.booleans())]
    globs = globs_of(ExistingSplit(wanted, "csv"), paths, [])
    assert sorted({path for glob in globs for path in data_files.match(glob, paths)}) == sorted(wanted)

"""The split of a row in Croissant: a constant, a part of the path of its file, or the path itself as a key."""

import re

import pytest

from datasets_core.meta.croissant_description import Ids, split_nodes, split_pattern
from datasets_core.meta.listings import DatasetFile

SOURCE = {"fileSet": {"@id": "files"}}


def _files(*pairs: tuple[str, str]) -> list[DatasetFile]:
    return [DatasetFile(name, splits=(split,)) for name, split in pairs]


@pytest.mark.parametrize(
    "pairs",
    [
        (("train.csv", "train"), ("test.csv", "test")),
        (
            ("data/train-00000-of-00002.csv", "train"),
            ("data/train-00001-of-00002.csv", "train"),
            ("data/test-0-of-1.csv", "test"),
        ),
        (("train/train.csv", "train"), ("dev/dev.csv", "dev")),
        (("größe.v1.csv", "größe"), ("klein.v2.csv", "klein")),
        (("a+b-train.csv", "train"), ("a+b-train_small.csv", "train_small")),
    ],
    ids=["plain", "shards", "folders", "unicode", "prefix"],
)
def test_a_pattern_gives_each_file_its_split(pairs: tuple[tuple[str, str], ...]) -> None:
    pattern = split_pattern(_files(*pairs))
    assert pattern is not None
    found = {name: match[1] for name, _ in pairs if (match := re.match(pattern, name))}
    assert found == dict(pairs)


def test_names_that_do_not_tell_the_split_have_no_pattern() -> None:
    assert split_pattern(_files(("val.csv", "validation"), ("train.csv", "train"))) is None
    assert split_pattern(_files(("train.csv", "train"), ("x-test-y.csv", "test"))) is None


def test_the_only_split_is_a_constant() -> None:
    listed, field = split_nodes(Ids(), "default", ["train"], _files(("a.csv", "train")), SOURCE)
    assert field["value"] == "train"
    assert "source" not in field
    assert listed["data"] == [{"default_splits/split_name": "train"}]


def test_splits_that_paths_tell_refer_to_their_names() -> None:
    listed, field = split_nodes(Ids(), "c", ["a", "b"], _files(("a.csv", "a"), ("b.csv", "b")), SOURCE)
    assert field["references"] == {"field": {"@id": "c_splits/split_name"}}
    assert field["source"]["transform"] == {"regex": "^(a|b)\\.csv$"}
    assert listed["dataType"] == "cr:Split"


def test_splits_that_paths_do_not_tell_refer_to_the_files() -> None:
    files = _files(("x.csv", "train"), ("y.csv", "test"))
    listed, field = split_nodes(Ids(), "c", ["train", "test"], files, SOURCE)
    assert field["references"] == {"field": {"@id": "c_splits/file"}}
    assert listed["data"][1] == {"c_splits/split_name": "test", "c_splits/file": "y.csv"}

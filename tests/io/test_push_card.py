"""What a repository says of a config after a push: the splits that stand, and nobody else's word changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, DataFilesWarning, ManifestError, PushError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.io.push_card import ExistingSplit, card_writer, existing_splits, globs_of, named_files
from datasets_core.io.push_target import PushedSplit, PushTarget, RepositoryState, push_target
from datasets_core.meta import data_files
from datasets_core.meta.card import read_card

NUMBERS = Features({"a": Value("int64"), "label": ClassLabel(names=["no", "yes"])})
TRAIN, TEST = PushedSplit("train", 3, 30, 300, 0), PushedSplit("test", 2, 20, 200, 0)


def card(text: str | None, *splits: PushedSplit, features: Features | None = NUMBERS, paths: Any = (), **target: Any) -> str:
    place = push_target("org/name", splits=[split.name for split in splits], **target)
    return card_writer(place, features)(RepositoryState(text, None, paths), splits).readme


def said(text: str, config: str = "default") -> tuple[Any, Any]:
    found = read_card(text, path="README.md")
    return next(entry for entry in found.configs if entry.name == config), found.infos[config]


def sizes(text: str, config: str = "default") -> tuple[Any, Any, Any]:
    info = said(text, config)[1]
    splits = None if info.splits is None else {name: split.num_examples for name, split in info.splits.items()}
    return splits, info.download_size, info.dataset_size


def test_a_new_repository_gets_a_card() -> None:
    entry, info = said(card(None, TRAIN, TEST))

    assert entry.data_files == {"train": ["data/train-*"], "test": ["data/test-*"]}
    assert info.features == NUMBERS
    assert sizes(card(None, TRAIN, TEST)) == ({"train": 3, "test": 2}, 500, 50)


def test_other_splits_of_the_config_stay() -> None:
    found = card(card(None, TRAIN), TEST)
    assert said(found)[0].data_files == {"train": ["data/train-*"], "test": ["data/test-*"]}
    assert sizes(found) == ({"train": 3, "test": 2}, 500, 50)


def test_a_split_that_is_replaced_is_counted_once() -> None:
    found = card(card(None, TRAIN, TEST), PushedSplit("train", 7, 70, 700, replaced_bytes=300))
    assert sizes(found) == ({"train": 7, "test": 2}, 900, 90)


def test_all_splits_replace_those_of_the_config() -> None:
    found = card(card(None, TRAIN), TEST, replaces_config=True)
    assert said(found)[0].data_files == {"test": ["data/test-*"]}
    assert sizes(found) == ({"test": 2}, 200, 20)


def test_the_same_push_leaves_the_card() -> None:
    once = card("# Title", TRAIN, TEST)
    assert card(once, PushedSplit("train", 3, 30, 300, replaced_bytes=300)) == once


def test_configs_stand_beside_each_other() -> None:
    found = card(card(card(None, TRAIN), TEST, config_name="en"), TRAIN, config_name="fr", data_dir="french")
    assert said(found, "en")[0].data_files == {"test": ["en/test-*"]}
    assert said(found, "fr")[0].data_files == {"train": ["french/train-*"]}
    assert sizes(found) == ({"train": 3}, 300, 30)


def test_files_of_other_splits_are_named_as_they_were() -> None:
    files = "  data_files:\n  - split: val\n    path: [v/a.parquet, b.parquet]\n"
    text = f"---\nconfigs:\n- config_name: default\n  data_dir: sub\n{files}---\n"
    entry, info = said(card(text, TRAIN))
    assert entry.data_files == {"val": ["sub/v/a.parquet", "sub/b.parquet"], "train": ["data/train-*"]}
    assert entry.data_dir is None
    assert (info.splits, info.download_size) == (None, None)  # nobody knows those of val


def test_a_repository_without_configs_keeps_the_splits_that_were_pushed_to_it() -> None:
    paths = ["data/train-00000-of-00001-abc.parquet", "data/a.b-00000-of-00001.parquet", "data/x.csv", "more/y.parquet"]
    assert said(card("# Title", TEST, paths=paths))[0].data_files == {
        "train": ["data/train-*"],
        "a.b": ["data/a.b-*"],
        "test": ["data/test-*"],
    }
    found = read_card(card("# Title", TEST, paths=[*paths, "en/test-0.csv"], config_name="en"), path="README.md").configs
    assert {entry.name: entry.data_files for entry in found} == {
        "default": {"train": ["data/train-*"], "a.b": ["data/a.b-*"]},  # as it was loaded before
        "en": {"test": ["en/test-*"]},
    }


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        (["train.parquet"], {"train": ["train.parquet"], "test": ["data/test-*"]}),
        (["x/a.parquet", "x/b.parquet", "LICENSE.txt"], {"train": ["x/a.parquet", "x/b.parquet"], "test": ["data/test-*"]}),
        (["test.csv", "logo.png"], {"test": ["data/test-*"]}),
        (["LICENSE.txt", "weights.bin"], {"test": ["data/test-*"]}),
        (["name.py", "train.csv"], {"test": ["data/test-*"]}),
    ],
    ids=["name", "folder", "replaced", "papers", "script"],
)
def test_splits_that_no_card_names_stay(paths: list[str], files: dict[str, list[str]]) -> None:
    assert said(card(None, TEST, paths=paths))[0].data_files == files


def test_splits_that_only_a_folder_tells_stay() -> None:
    text = "---\nconfigs:\n- config_name: en\n  data_dir: en\n---\n"
    entry, _ = said(card(text, TEST, paths=["en/train.parquet", "train.csv"], config_name="en"), "en")
    assert (entry.data_files, entry.data_dir) == ({"train": ["en/train.parquet"], "test": ["en/test-*"]}, None)


def test_a_config_of_another_format_stays_behind_what_is_pushed() -> None:
    found = card(None, TEST, paths=["train.csv", "dev.csv"], config_name="en")
    assert [entry.name for entry in read_card(found, path="README.md").configs] == ["en", "default"]
    assert said(card(found, TEST, paths=["train.csv", "dev.csv"], config_name="fr"), "fr")[0].name == "fr"


@pytest.mark.parametrize(("path", "kind"), [("train.csv", "csv"), ("train/a.jsonl.gz", "json")])
def test_files_of_another_format_that_no_card_names_are_told_and_let_be(path: str, kind: str) -> None:
    with pytest.warns(DataFilesWarning, match=rf"{path} of org/name is {kind}, .*no longer a split of 'default'"):
        (entry,) = read_card(card(None, TEST, paths=[path]), path="README.md").configs
    assert entry.data_files == {"test": ["data/test-*"]}


HAND = "---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: raw.csv\n  sep: ';'\n---\n"


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        (HAND, ["raw.csv"]),
        (HAND, []),
        (HAND.replace("raw.csv", "raw/*"), ["raw/x.csv"]),
        ("---\nconfigs:\n- config_name: default\n  data_dir: raw\n---\n", ["raw/train.csv"]),
    ],
    ids=["hand", "not there", "glob", "folder"],
)
@pytest.mark.parametrize("features", [NUMBERS, None], ids=["known", "unknown"])
def test_splits_of_another_format_are_told_before_a_row_is_made(text: Any, paths: list[str], features: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"'default' of org/name .*'train' as .*(csv|json).*another config_name"):
        card(text, TEST, paths=paths, features=features)
    card(text, TEST, paths=paths, replaces_config=True)
    card(text, TRAIN, paths=paths)


def test_options_of_files_that_are_gone_go() -> None:
    text = "---\nconfigs:\n- config_name: default\n  version: 1.2.0\n  sep: ;\n  data_files: a.csv\n---\n"
    entry, _ = said(card(text, TRAIN, replaces_config=True))
    assert (entry.version, entry.options) == ("1.2.0", {})


@pytest.mark.parametrize("splits", [(TRAIN,), (TEST,)], ids=["train", "test"])
def test_options_that_would_hide_what_is_pushed_go(splits: Any) -> None:
    options = "  columns: [a]\n  filters: [[a, '>', 1]]\n  x-mine: 3\n  description: text\n"
    text = f"---\nconfigs:\n- config_name: default\n{options}  data_files:\n  - split: train\n    path: data/*.parquet\n---\n"
    assert said(card(text, *splits))[0].options == {"x-mine": 3, "description": "text"}

    only_a = Features({"a": Value("int64")})
    kept = {"columns": ["a"]} if splits == (TEST,) else {}  # the split that stays may have other columns
    assert said(card(text, *splits, features=only_a))[0].options == {**kept, "x-mine": 3, "description": "text"}


def test_foreign_keys_of_an_info_stay() -> None:
    text = "---\ndataset_info:\n  description: mine\n  features: []\n  splits: []\n---\n"
    assert said(card(text, TRAIN))[1].description == "mine"


# -- the default config


def test_the_default_config_moves() -> None:
    found = card(card(card(None, TRAIN, config_name="a"), TRAIN, config_name="b", set_default=True), TRAIN, config_name="c")
    assert [entry.name for entry in read_card(found, path="README.md").configs if entry.default] == ["b"]
    found = card(found, TRAIN, config_name="c", set_default=True)
    assert [entry.name for entry in read_card(found, path="README.md").configs if entry.default] == ["c"]
    assert card(found, TRAIN, config_name="c", set_default=True) == found
    assert [entry.default for entry in read_card(card(found, TEST, config_name="c"), path="README.md").configs][-1] is True
    found = card(found, TRAIN, config_name="c", set_default=False)
    assert not any(entry.default for entry in read_card(found, path="README.md").configs)


def test_a_config_called_default_is_the_default_one() -> None:
    first = card(None, TRAIN, set_default=True)
    assert said(first)[0].default is False  # its name says it
    with pytest.raises(ConfigurationError, match="named 'default'"):
        card(first, TRAIN, config_name="en", set_default=True)

    other = card(None, TRAIN, config_name="en", set_default=True)
    with pytest.raises(ConfigurationError, match=r"'en'.*set_default=True"):
        card(other, TRAIN)
    assert not said(card(other, TRAIN, set_default=True), "en")[0].default

    with pytest.raises(ConfigurationError, match="named 'default'"):
        card(None, TRAIN, config_name="en", set_default=True, paths=["train.csv"])


# -- what is refused


def test_a_card_that_could_not_be_read_is_told() -> None:
    target = PushTarget("org/name", config_name="a/b", data_dir="data")
    with pytest.raises(PushError, match=r"README\.md that does not describe the pushed config 'a/b'"):
        card_writer(target, NUMBERS)(RepositoryState(None, None, ()), [TRAIN])


def test_other_splits_have_the_same_features() -> None:
    with pytest.raises(ConfigurationError, match=r"'train'.*int64.*string"):
        card(card(None, TRAIN), TEST, features=Features({"a": Value("string")}))
    card(card(None, TRAIN), TRAIN, features=Features({"a": Value("string")}))
    card(card(None, TRAIN), TEST, features=Features({"a": Value("string")}), replaces_config=True)
    card(card(None, TRAIN), TEST, features=None)


@pytest.mark.parametrize("text", ["---\na: [\n---\n", "---\nconfigs: 3\n---\n", "---\ndataset_info:\n  splits: 5\n---\n"])
def test_a_broken_card_is_told(text: str) -> None:
    with pytest.raises(ManifestError) as caught:
        card(text, TRAIN, paths=["test.csv"])
    assert str(caught.value.file).endswith("README.md")


# -- .huggingface.yaml

YAML = "configs:\n- config_name: default\n  data_files:\n  - split: train\n    path: x.parquet\nlicense: mit"


def test_configs_of_the_yaml_are_edited_there() -> None:
    state = RepositoryState("---\nconfigs:\n- config_name: old\n---\n", None, ["x.parquet"], YAML)
    found = card_writer(push_target("org/name", splits=["test"]), NUMBERS)(state, [TEST])
    assert found.yaml is not None
    (entry,) = read_card(found.yaml, path=".huggingface.yaml").configs
    assert entry.data_files == {"train": ["x.parquet"], "test": ["data/test-*"]}
    assert found.yaml.endswith("license: mit\n")
    assert [entry.name for entry in read_card(found.readme, path="README.md").configs] == ["old"]
    assert read_card(found.readme, path="README.md").infos["default"].features == NUMBERS


def test_infos_of_the_yaml_are_edited_there_too() -> None:
    text = "dataset_info:\n  features:\n  - name: a\n    dtype: string\n  splits:\n  - name: train\n    num_examples: 1\n"
    state = RepositoryState(None, None, ["data/train-00000-of-00001.parquet"], text)
    write = card_writer(push_target("org/name", splits=["test"]), NUMBERS)
    with pytest.raises(ConfigurationError, match="other features"):
        write(state, [TEST])
    found = write(state, [PushedSplit("train", 3, 30, 300, 0)])
    assert found.yaml is not None
    assert read_card(found.yaml, path=".huggingface.yaml").infos["default"].features == NUMBERS
    assert said(found.readme)[0].data_files == {"train": ["data/train-*"]}


# -- dataset_infos.json


def infos(text: str, *splits: PushedSplit, readme: str | None = None, **target: Any) -> Any:
    place = push_target("org/name", splits=[split.name for split in splits], **target)
    return card_writer(place, NUMBERS)(RepositoryState(readme, text, ["data/train-00000-of-00001.parquet"]), splits)


def test_old_infos_of_the_config_are_kept_up_to_date() -> None:
    old = {
        "default": {"description": "mine", "splits": {"train": {"name": "train", "num_examples": 1}}, "download_size": 5},
        "en": {"description": "other", "strange": [1]},
    }
    found = infos(json.dumps(old), TEST)
    new = json.loads(found.dataset_infos)
    assert new["en"] == old["en"]
    assert new["default"]["description"] == "mine"
    assert {name: split["num_examples"] for name, split in new["default"]["splits"].items()} == {"train": 1, "test": 2}
    assert new["default"]["download_size"] == 205


def test_old_infos_of_other_configs_are_left_alone() -> None:
    assert infos('{"en": {}}', TRAIN).dataset_infos is None


def test_broken_infos_are_told() -> None:
    with pytest.raises(ManifestError) as caught:
        infos("{", TRAIN)
    assert str(caught.value.file).endswith("dataset_infos.json")


# The splits of a repository that names none: those that loading finds, in globs that name them and nothing else.


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
    assert {name: (split.files, split.others) for name, split in splits.items()} == {
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

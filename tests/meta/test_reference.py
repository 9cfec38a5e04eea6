"""Tests of datasets_core/meta/reference.py."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, ConfigurationError, ReferenceSyntaxError
from datasets_core.meta.reference import (
    BuilderName,
    DatasetRef,
    camelcase_to_snakecase,
    parse_builder_name,
    snakecase_to_camelcase,
    split_version,
    tfds_name,
)
from datasets_core.meta.split_info import shard_file_name

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_versions.json").read_text(encoding="utf-8"))["builder_names"]
# `name/x` is owner and name here, `ns:name` is TFDS's namespace, keyword arguments are given as such, names keep their case
# and may begin with a digit, and a version has no leading zeros: those golden names stand below, each on its own.
OTHER_GRAMMAR = {"MyDataset", "HTTPServer2Data", "mnist/config", "1ds", "mnist:01.0.0", "a/b/c"}
PLAIN = [
    case
    for case in GOLDEN
    if case["name"] not in OTHER_GRAMMAR
    and "=" not in case["name"]
    and not (case["expected"].get("value") or {}).get("namespace")
]
GOOD = [case for case in PLAIN if "value" in case["expected"]]
BAD = [case for case in PLAIN if "error" in case["expected"]]


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case["name"])
def test_golden_names_parse(case: dict[str, Any]) -> None:
    found, wanted = DatasetRef.parse(case["name"]), case["expected"]["value"]
    assert (found.name, found.version) == (wanted["name"], wanted["kwargs"].get("version"))


@pytest.mark.parametrize("case", BAD, ids=lambda case: case["name"])
def test_golden_names_that_do_not_parse_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(ReferenceSyntaxError):
        DatasetRef.parse(case["name"])


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("squad", DatasetRef("squad")),
        ("1ds", DatasetRef("1ds")),
        ("MyDataset", DatasetRef("MyDataset")),
        ("acme/reviews", DatasetRef("reviews", "acme")),
        ("acme/reviews:1.0.0", DatasetRef("reviews", "acme", version="1.0.0")),
        ("acme/reviews/en", DatasetRef("reviews", "acme", "en")),
        ("acme/reviews/en+x:1.*.*", DatasetRef("reviews", "acme", "en+x", "1.*.*")),
        ("a/b/c", DatasetRef("b", "a", "c")),
    ],
)
def test_a_reference_parses_and_prints(text: str, reference: DatasetRef) -> None:
    assert (DatasetRef.parse(text), str(reference)) == (reference, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "/",
        "a/",
        "/a",
        "a/b/",
        "a/b/c/d",
        "a b",
        "../x",
        "a/..",
        "a/b:latest",
        "a:1",
        "ds:latest",
        "mnist:01.0.0",
        "a:",
        "a\n",
        "~/a",
        "a/b/c?",
        "é",
    ],
)
def test_what_names_no_dataset_is_refused(text: str) -> None:
    with pytest.raises(ReferenceSyntaxError):
        DatasetRef.parse(text)


def test_the_repository_is_owner_and_name() -> None:
    assert DatasetRef.parse("acme/reviews/en:1.0.0").repository == "acme/reviews"


@pytest.mark.parametrize(
    ("path", "split"),
    [
        ("reviews:1.0.0", ("reviews", "1.0.0")),
        ("a/reviews.py:1.*.*", ("a/reviews.py", "1.*.*")),
        ("C:\\data\\reviews:10.0.1", ("C:\\data\\reviews", "10.0.1")),
        ("file:///data/reviews:1.0.0", ("file:///data/reviews", "1.0.0")),
        ("a:b:*.*.*", ("a:b", "*.*.*")),
    ],
)
def test_a_version_at_the_end_of_a_path_is_told_from_it(path: str, split: tuple[str, str]) -> None:
    assert split_version(path) == split


@pytest.mark.parametrize(
    "path",
    [
        "reviews",
        "C:\\data",
        "C:/1.0.0",
        "a:b",
        "ds:latest",
        "ds:1",
        "ds:1.0",
        ":1.0.0",
        "1.0.0",
        "https://h:80/a",
        "s3://b/x:1.0.0",
    ],
)
def test_other_paths_stay_whole(path: str) -> None:
    assert split_version(path) == (path, None)


def test_a_version_with_leading_zeros_is_refused() -> None:
    with pytest.raises(ReferenceSyntaxError) as caught:
        split_version("mnist:01.0.0")
    assert caught.value.value == "01.0.0"


# builder name

words = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
versions = st.from_regex(r"([0-9]|\*)\.([1-9][0-9]|\*)\.(0|\*)", fullmatch=True)


@pytest.mark.parametrize("case", [case for case in GOLDEN if "value" in case["expected"]], ids=lambda case: case["name"])
def test_golden_names_parse_builder_name(case: dict[str, Any]) -> None:
    found = parse_builder_name(case["name"])
    assert {"namespace": found.namespace, "name": found.name, "kwargs": found.kwargs} == case["expected"]["value"]


@pytest.mark.parametrize("case", [case for case in GOLDEN if "error" in case["expected"]], ids=lambda case: case["name"])
def test_golden_names_that_do_not_parse_are_refused_builder_name(case: dict[str, Any]) -> None:
    with pytest.raises(ReferenceSyntaxError):
        parse_builder_name(case["name"])


@given(words, st.none() | words, st.none() | versions, st.dictionaries(words, st.integers() | st.booleans()))
def test_a_name_is_read_as_it_is_written(name: str, config: str | None, version: str | None, options: dict[str, Any]) -> None:
    options = {option: value for option, value in options.items() if option not in {"config", "version"}}
    text = name + (f"/{config}" if config else "") + (f":{version}" if version else "")
    text += "/" + ",".join(f"{option}={value}" for option, value in options.items()) if options else ""
    found = parse_builder_name(text)
    said = {"config": config, "version": version}
    assert found.kwargs == {**options, **{part: value for part, value in said.items() if value}}
    assert (found.name, found.namespace) == (name, None)


def test_a_word_after_a_colon_is_a_name_in_a_namespace() -> None:
    assert parse_builder_name("ds:latest") == BuilderName("latest", "ds")


def test_what_is_said_twice_is_refused() -> None:
    with pytest.raises(TypeError, match=r"'version' is given in 'ds:1.0.0' and as an argument"):
        parse_builder_name("ds:1.0.0", {"version": "1.0.0"})
    with pytest.raises(ArgumentTypeError) as caught:
        parse_builder_name("ds/a", {"config": "b"})
    assert caught.value.value == "config"
    with pytest.raises(ReferenceSyntaxError, match="gives 'a' twice"):
        parse_builder_name("ds/a=1,a=2")


def test_arguments_beside_the_text_are_kept() -> None:
    assert parse_builder_name("ds/a", {"version": "1.0.0", "config": None}).kwargs == {"version": "1.0.0", "config": "a"}


@pytest.mark.parametrize("value", [None, 1, "ds\n", "ds/", "a:b:c"])
def test_what_is_no_name_is_refused(value: Any) -> None:
    with pytest.raises(ReferenceSyntaxError, match="is not a valid dataset name"):
        parse_builder_name(value)


NAMES = {
    "QM9": "q_m9",
    "PG19": "p_g19",
    "ABC123Def": "ab_c123_def",
    "AFLW2k3d": "afl_w2k3d",
    "My_Data": "my__data",
    "HTTPServer2Data": "http_server2_data",
    "MNIST": "mnist",
    "Cifar10": "cifar10",
    "CIFAR10": "cifa_r10",
    "C4": "c4",
    "GLUE": "glue",
    "SuperGlue": "super_glue",
    "my_data": "my_data",
    "X": "x",
    "A1B2": "a1_b2",
    "Abc2D": "abc2_d",
    "DTD": "dtd",
    "E2ENlg": "e2_e_nlg",
    "Kitti2015": "kitti2015",
    "IMDBReviews": "imdb_reviews",
    "Web_NLG": "web_nlg",
    "FOOBar9": "foo_bar9",
    "i_naturalist2017": "i_naturalist2017",
    "COCO2014Captions": "coc_o2014_captions",
    "Ag2": "ag2",
    "aB": "a_b",
    "9x": "9x",
    "Ab1c2D": "ab1c2_d",
    "V3D2x": "v3_d2x",
    "__A": "__a",
    "A__b": "a__b",
    "A_B1": "a__b1",
}  # as TFDS 4.9.10 names them


@pytest.mark.parametrize("name", NAMES)
def test_a_class_has_the_name_that_tfds_gives_it(name: str) -> None:
    assert tfds_name(name) == NAMES[name]


def test_a_name_may_be_that_of_the_class() -> None:
    assert parse_builder_name("QM9/a:1.0.0").name == "q_m9"


# naming

GOLDEN_NAMING = json.loads((Path(__file__).parent / "golden" / "tfds_versions.json").read_text(encoding="utf-8"))

# as `datasets` 5.2.0 gives them
SNAKES = {
    "CamelCase": "camel_case",
    "ABCTest": "abc_test",
    "HTTPServer2": "http_server2",
    "a_b": "a_b",
    "Squad_V2": "squad_v2",
    "ImageNetV2": "image_net_v2",
    "iPhone": "i_phone",
    "Abc1Def": "abc1_def",
}
CAMELS = {"snake_case": "SnakeCase", "a__b": "A__B", "_x": "X", "ab1_c": "Ab1C", "a_": "A", "SQuAD": "Squad"}


@pytest.mark.parametrize(("camel", "snake"), SNAKES.items())
def test_class_names_become_dataset_names(camel: str, snake: str) -> None:
    assert camelcase_to_snakecase(camel) == snake


@pytest.mark.parametrize(("snake", "camel"), CAMELS.items())
def test_dataset_names_become_class_names(snake: str, camel: str) -> None:
    assert snakecase_to_camelcase(snake) == camel


@pytest.mark.parametrize("case", GOLDEN_NAMING["filename_digits"], ids=str)
def test_numbers_in_file_names_have_the_golden_digits(case: dict[str, Any]) -> None:
    found = shard_file_name("ds", "train", case["shard_records"], case["num_shards"], ".arrow")
    assert found == case["expected"].replace(".tfrecord", "") + ".arrow"


@pytest.mark.parametrize(
    "arguments", [("a/b", "train", 0, 1), ("a", "../x", 0, 1), ("a", "train", 1, 1), ("a", "train", -1, 1), ("", "x", 0, 1)]
)
def test_names_that_would_leave_the_folder_are_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(ConfigurationError):
        shard_file_name(*arguments)

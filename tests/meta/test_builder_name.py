import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, ReferenceSyntaxError
from datasets_core.meta.reference import BuilderName, parse_builder_name, tfds_name

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_versions.json").read_text(encoding="utf-8"))["builder_names"]
words = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
versions = st.from_regex(r"([0-9]|\*)\.([1-9][0-9]|\*)\.(0|\*)", fullmatch=True)


@pytest.mark.parametrize("case", [case for case in GOLDEN if "value" in case["expected"]], ids=lambda case: case["name"])
def test_golden_names_parse(case: dict[str, Any]) -> None:
    found = parse_builder_name(case["name"])
    assert {"namespace": found.namespace, "name": found.name, "kwargs": found.kwargs} == case["expected"]["value"]


@pytest.mark.parametrize("case", [case for case in GOLDEN if "error" in case["expected"]], ids=lambda case: case["name"])
def test_golden_names_that_do_not_parse_are_refused(case: dict[str, Any]) -> None:
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
    with pytest.raises(TypeError, match=r"'version' is said in 'ds:1.0.0' and as an argument"):
        parse_builder_name("ds:1.0.0", {"version": "1.0.0"})
    with pytest.raises(ArgumentTypeError, match="'config'"):
        parse_builder_name("ds/a", {"config": "b"})
    with pytest.raises(ReferenceSyntaxError, match="says 'a' twice"):
        parse_builder_name("ds/a=1,a=2")


def test_arguments_beside_the_text_are_kept() -> None:
    assert parse_builder_name("ds/a", {"version": "1.0.0", "config": None}).kwargs == {"version": "1.0.0", "config": "a"}


@pytest.mark.parametrize("value", [None, 1, "ds\n", "ds/", "a:b:c"])
def test_what_is_no_name_is_refused(value: Any) -> None:
    with pytest.raises(ReferenceSyntaxError, match="names no dataset"):
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

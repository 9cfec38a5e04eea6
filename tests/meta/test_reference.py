import json
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ReferenceSyntaxError
from datasets_core.meta.reference import DatasetRef, split_version

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
    with pytest.raises(ReferenceSyntaxError, match=r"'01.0.0' is not a valid version"):
        split_version("mnist:01.0.0")

import copy
import json
import operator
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ReferenceSyntaxError
from datasets_core.meta.version import Version, highest

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_versions.json").read_text(encoding="utf-8"))
VALID = [case["text"] for case in GOLDEN["is_valid"] if case["expected"] and not case["text"].endswith("\n")]
VALID += [case["text"] for case in GOLDEN["parse"] if "value" in case["expected"]]
# TFDS lets a trailing newline pass; it is a refusal here.
INVALID = [case["text"] for case in GOLDEN["is_valid"] if not case["expected"] or case["text"].endswith("\n")]
INVALID += [case["text"] for case in GOLDEN["parse"] if "error" in case["expected"]]
MATCHES = [case for case in GOLDEN["match"] if "value" in case["expected"]]
NO_PATTERNS = [case for case in GOLDEN["match"] if "error" in case["expected"]]
COMPARISONS = [
    (case["left"], case["right"], name, case["expected"][name]) for case in GOLDEN["compare"] for name in case["expected"]
]
COMPARED = [(left, right, name, result["value"]) for left, right, name, result in COMPARISONS if "value" in result]
# Equality never raises, as in `datasets`; TFDS refuses there too.
REFUSED = [
    (left, right, name)
    for left, right, name, result in COMPARISONS
    if "error" in result and isinstance(right, str) and name != "eq"
]
# Python's way with strangers: unequal, and without order.
UNORDERED = [
    (left, right, name)
    for left, right, name, result in COMPARISONS
    if "error" in result and not isinstance(right, str) and name != "eq"
]

numbers = st.tuples(*[st.integers(0, 10**6)] * 3)


def text(parts: tuple[int, ...]) -> str:
    return ".".join(map(str, parts))


@pytest.mark.parametrize("found", VALID)
def test_three_numbers_are_a_version(found: str) -> None:
    assert str(Version(found)) == found


@pytest.mark.parametrize("found", INVALID)
def test_other_texts_are_refused(found: str) -> None:
    with pytest.raises(ReferenceSyntaxError, match="is no version"):
        Version(found)


@pytest.mark.parametrize("case", MATCHES, ids=str)
def test_golden_patterns_match(case: dict[str, Any]) -> None:
    assert Version(case["version"]).match(case["pattern"]) is case["expected"]["value"]


@pytest.mark.parametrize("case", NO_PATTERNS, ids=str)
def test_golden_patterns_that_mean_nothing_are_refused(case: dict[str, Any]) -> None:
    with pytest.raises(ReferenceSyntaxError):
        Version(case["version"]).match(case["pattern"])


@pytest.mark.parametrize(("left", "right", "name", "result"), COMPARED)
def test_golden_comparisons_hold(left: str, right: Any, name: str, result: bool) -> None:
    assert getattr(operator, name)(Version(left), right) is result


@pytest.mark.parametrize(("left", "right", "name"), REFUSED)
def test_a_text_that_is_no_version_is_not_compared(left: str, right: str, name: str) -> None:
    with pytest.raises(ReferenceSyntaxError):
        getattr(operator, name)(Version(left), right)


@pytest.mark.parametrize(("left", "right", "name"), UNORDERED)
def test_other_values_have_no_order_with_versions(left: str, right: Any, name: str) -> None:
    with pytest.raises(TypeError):
        getattr(operator, name)(Version(left), right)


def test_other_values_are_unequal() -> None:
    assert Version("1.0.0") not in (None, "", "bad", "1.*.*", 1, (1, 0, 0))


@given(numbers, numbers)
def test_versions_are_ordered_like_their_numbers(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    assert (Version(text(one)) < Version(text(other))) == (one < other)


@given(numbers)
def test_a_version_and_its_text_are_one_key(parts: tuple[int, ...]) -> None:
    assert {Version(text(parts)): 1}[text(parts)] == 1


@given(st.lists(numbers, min_size=1))
def test_the_highest_of_all_versions_is_the_greatest(found: list[tuple[int, ...]]) -> None:
    chosen = highest("*.*.*", map(text, found))
    assert chosen is not None
    assert chosen.tuple == max(found)


def test_the_highest_match_wins_over_the_first() -> None:
    assert highest("3.*.*", ["2.0.1", "3.0.0", "3.1.1", "2.0.0"]) == "3.1.1"


def test_no_match_is_none() -> None:
    assert highest("4.*.*", ["1.0.0"]) is None


def test_a_version_keeps_its_description_and_numbers() -> None:
    found = Version("1.2.3", "more rows")
    assert (found.description, found.tuple, found.major, found.minor, found.patch) == ("more rows", (1, 2, 3), 1, 2, 3)


def test_a_version_of_a_version_is_equal() -> None:
    assert Version(Version("1.2.3", "x")).description == "x"


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found)), lambda f: Version.from_dict(f.to_dict())]
)
def test_a_version_survives_its_copies(again: Any) -> None:
    found = again(Version("1.2.3", "x"))
    assert (found, found.description) == ("1.2.3", "x")


def test_old_stored_keys_are_left_out() -> None:
    assert Version.from_dict({"version_str": "1.0.0", "description": "", "nlp_version_to_prepare": None, "major": 1}) == "1.0.0"

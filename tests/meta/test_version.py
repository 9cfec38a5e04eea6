"""Tests of datasets_core/meta/version.py."""

import copy
import enum
import json
import operator
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, ReferenceSyntaxError, UnknownExperimentError
from datasets_core.meta.version import Experiment, Version, check_experiment, highest, is_on_by_default

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_versions.json").read_text(encoding="utf-8"))
VALID = [case["text"] for case in GOLDEN["is_valid"] if case["expected"]]
VALID += [case["text"] for case in GOLDEN["parse"] if "value" in case["expected"]]
INVALID = [case["text"] for case in GOLDEN["is_valid"] if not case["expected"]]
INVALID += [case["text"] for case in GOLDEN["parse"] if "error" in case["expected"]]
MATCHES = [case for case in GOLDEN["match"] if "value" in case["expected"]]
NO_PATTERNS = [case for case in GOLDEN["match"] if "error" in case["expected"]]
COMPARISONS = [
    (case["left"], case["right"], name, case["expected"][name]) for case in GOLDEN["compare"] for name in case["expected"]
]
COMPARED = [(left, right, name, result["value"]) for left, right, name, result in COMPARISONS if "value" in result]
REFUSED = [(left, right, name) for left, right, name, result in COMPARISONS if "error" in result]

numbers = st.tuples(*[st.integers(0, 10**6)] * 3)


def text(parts: tuple[int, ...]) -> str:
    return ".".join(map(str, parts))


@pytest.mark.parametrize("found", VALID)
def test_three_numbers_are_a_version(found: str) -> None:
    assert str(Version(found)) == found.strip()
    assert Version.is_valid(found)


@pytest.mark.parametrize("found", INVALID)
def test_other_texts_are_refused(found: str) -> None:
    with pytest.raises(ReferenceSyntaxError, match="is not a valid version"):
        Version(found)
    assert not Version.is_valid(found)


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
def test_golden_comparisons_that_mean_nothing_are_refused(left: str, right: Any, name: str) -> None:
    with pytest.raises(ValueError, match=r"is not a valid version|cannot be compared with a version"):
        getattr(operator, name)(Version(left), right)


def test_only_versions_and_their_texts_compare() -> None:
    with pytest.raises(TypeError) as caught:
        _ = Version("1.0.0") == (1, 0, 0)
    assert caught.value.value == (1, 0, 0)


def test_a_version_is_a_key_among_others() -> None:
    assert {Version("1.0.0"): 1, "latest": 2, None: 3, 4: 5}[Version("1.0.0")] == 1


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


def test_the_highest_keeps_what_it_says_of_experiments() -> None:
    chosen = highest("*.*.*", [Version("1.0.0"), Version("2.0.0", experiments={Experiment.DUMMY: True})])
    assert chosen is not None
    assert chosen.implements(Experiment.DUMMY)


def test_no_match_is_none() -> None:
    assert highest("4.*.*", ["1.0.0"]) is None


def test_a_version_keeps_its_description_and_numbers() -> None:
    found = Version("1.2.3", "more rows")
    assert (found.description, found.tuple, found.major, found.minor, found.patch) == ("more rows", (1, 2, 3), 1, 2, 3)


def test_a_version_of_a_version_is_equal() -> None:
    assert Version(Version("1.2.3", "x")).description == "x"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found)), lambda f: Version.from_dict(f.to_dict())]
)
def test_a_version_survives_its_copies(again: Any) -> None:
    found = again(Version("1.2.3", "x"))
    assert (found, found.description) == ("1.2.3", "x")


def test_old_stored_keys_are_left_out() -> None:
    assert Version.from_dict({"version_str": "1.0.0", "description": "", "nlp_version_to_prepare": None, "major": 1}) == "1.0.0"


DUMMY = Experiment.DUMMY


class Plain(enum.Enum):
    PACKED = 1


class Proven(Experiment):
    __on_by_default__ = ("SORTED",)
    SORTED = 1
    PACKED = 2


@pytest.mark.parametrize("case", [case for case in GOLDEN["experiments"] if "value" in case["expected"]], ids=str)
def test_golden_experiments(case: dict[str, Any]) -> None:
    assert eval(case["call"]) == case["expected"]["value"]


def test_an_unknown_experiment_is_a_key_error() -> None:
    with pytest.raises(KeyError) as caught:
        Version("1.0.0").implements("unknown")  # type: ignore[arg-type]
    assert caught.value.value == "unknown"
    with pytest.raises(ValueError) as caught:
        Version("1.0.0", experiments={"unknown": True})  # type: ignore[dict-item]
    assert caught.value.value == "unknown"
    with pytest.raises(ValueError, match=r"Give {experiment: True or False}"):
        Version("1.0.0", experiments=[DUMMY])  # type: ignore[arg-type]


@pytest.mark.parametrize("experiment", [Plain.PACKED, Proven.PACKED])
def test_an_experiment_starts_off_and_a_version_switches_it_on(experiment: enum.Enum) -> None:
    assert not Version("1.0.0").implements(experiment)
    assert Version("2.0.0", "packed", experiments={experiment: True}).implements(experiment)


def test_an_experiment_that_is_on_by_default_is_opted_out_of() -> None:
    assert Version("1.0.0").implements(Proven.SORTED)
    assert not Version("1.0.0", experiments={Proven.SORTED: False}).implements(Proven.SORTED)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found)), Version])
def test_copies_keep_experiments_and_release(again: Any) -> None:
    found = again(Version("1.0.0", experiments={Plain.PACKED: True}, library_version_to_prepare="0.3"))
    assert found.implements(Plain.PACKED)
    assert found.tfds_version_to_prepare == found.library_version_to_prepare == "0.3"


def test_two_releases_of_one_version_are_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"'0.3' and 'v1'.*not both"):
        Version("1.0.0", library_version_to_prepare="0.3", tfds_version_to_prepare="v1")


def test_the_stored_form_is_that_of_other_tools() -> None:
    found = Version("1.0.0", "x", experiments={DUMMY: True}, library_version_to_prepare="0.3")
    assert found.to_dict() == {"version_str": "1.0.0", "description": "x", "major": 1, "minor": 0, "patch": 0}


# experiment


class Packing(Experiment):
    __on_by_default__ = ("SORTED",)
    SORTED = "sorted"
    BY_LENGTH = "by length"


class Own(Experiment):
    DUMMY = "an author's own"


def test_the_library_s_own_experiment_is_off_by_default() -> None:
    assert isinstance(Experiment.DUMMY, Experiment)
    assert not is_on_by_default(Experiment.DUMMY)


def test_an_enum_says_which_experiments_are_on_by_default() -> None:
    assert [is_on_by_default(each) for each in (*Packing, *Plain)] == [True, False, False]


def test_members_are_those_of_the_author() -> None:
    assert [each.name for each in Packing] == ["SORTED", "BY_LENGTH"]
    assert Own.DUMMY is not Experiment.DUMMY
    assert list(Own) == [Own.DUMMY]


@pytest.mark.parametrize("value", ["unknown", None, 1, [], Packing])
def test_what_is_no_member_is_refused(value: object) -> None:
    with pytest.raises(UnknownExperimentError, match="Unknown experiment"):
        check_experiment(value)

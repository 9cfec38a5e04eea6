import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.versions import BlockedVersions, Versions
from datasets_core.errors import ConfigurationError, UnknownVersionError
from datasets_core.meta.version import Version

GOLDEN = json.loads((Path(__file__).parents[1] / "meta" / "golden" / "tfds_versions.json").read_text(encoding="utf-8"))
LISTED = {
    "Imagenet2012Like": Versions.of(
        Version("2.0.1"), [Version("3.0.0"), Version("1.0.0"), Version("0.0.9", tfds_version_to_prepare="v1.0.0")]
    ),
    "TwoThrees": Versions.of(Version("2.0.1"), [Version("3.0.0"), Version("3.1.1"), Version("2.0.0")]),
    "StrVersions": Versions.of("1.0.0", ["1.1.0"]),
}
# The highest match wins, where TFDS takes the first one.
HIGHEST = {
    ("Imagenet2012Like", "*.0.*"): "3.0.0",
    ("TwoThrees", "3.*.*"): "3.1.1",
    ("TwoThrees", "*.0.*"): "3.0.0",
    ("StrVersions", "*.*.*"): "1.1.0",
}
CASES = [case for case in GOLDEN["pick_version"] if case["class"] in LISTED]
PICKED = [case for case in CASES if "value" in case["expected"]]
REFUSED = [case for case in CASES if "error" in case["expected"]]

texts = st.tuples(*[st.integers(0, 3)] * 3).map(lambda parts: ".".join(map(str, parts)))


@pytest.mark.parametrize("case", PICKED, ids=str)
def test_golden_versions_are_picked(case: dict[str, Any]) -> None:
    wanted = HIGHEST.get((case["class"], case["requested"]), case["expected"]["value"])
    assert LISTED[case["class"]].pick(case["requested"], dataset="x") == wanted


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_golden_refusals_stay_refusals(case: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        LISTED[case["class"]].pick(case["requested"], dataset="x")


def test_a_refusal_lists_what_there_is() -> None:
    with pytest.raises(
        UnknownVersionError, match=r"'reviews' has no version '2.0.0'. Versions: '2.0.1', '3.0.0', '1.0.0', '0.0.9'"
    ):
        LISTED["Imagenet2012Like"].pick("2.0.0", dataset="reviews")


@given(texts, st.lists(texts), texts)
def test_a_pattern_picks_the_highest_match_whatever_the_order(canonical: str, others: list[str], wanted: str) -> None:
    versions, pattern = Versions.of(canonical, others), f"{wanted[0]}.*.*"
    fitting = [version for version in versions.all if version.match(pattern)]
    if fitting:
        assert versions.pick(pattern, dataset="x") == max(fitting)
        assert Versions.of(fitting[0], reversed(versions.all)).pick(pattern, dataset="x") == max(fitting)


@pytest.mark.parametrize(("name", "preparable"), [("Imagenet2012Like", ("2.0.1", "3.0.0")), ("TwoThrees", ("2.0.1", "3.1.1"))])
def test_the_canonical_and_the_highest_version_can_be_prepared(name: str, preparable: tuple[str, ...]) -> None:
    assert LISTED[name].preparable == preparable


def test_what_an_older_release_prepares_cannot_be_prepared() -> None:
    assert Versions.of(Version("1.0.0", library_version_to_prepare="0.1"), ["0.9.0"]).preparable == ()


def test_a_version_that_is_given_as_such_is_picked_with_its_text() -> None:
    assert LISTED["TwoThrees"].pick(Version("3.0.0"), dataset="x") == "3.0.0"
    with pytest.raises(ConfigurationError, match="version is 3"):
        LISTED["TwoThrees"].pick(3, dataset="x")  # type: ignore[arg-type]


def test_a_pattern_passes_over_blocked_versions_while_others_fit() -> None:
    versions = LISTED["TwoThrees"].without(lambda version: version == "3.1.1")
    assert versions.pick("3.*.*", dataset="x") == versions.pick("experimental_latest", dataset="x") == "3.0.0"
    assert versions.pick("3.1.*", dataset="x") == "3.1.1"


def test_a_blocked_version_is_neither_prepared_nor_advised() -> None:
    versions = LISTED["TwoThrees"].without(lambda version: version == "3.1.1")
    assert versions.preparable == ("2.0.1", "3.0.0")
    with pytest.raises(UnknownVersionError, match=r"Versions: '2\.0\.1', '3\.0\.0', '2\.0\.0'\."):
        versions.pick("4.0.0", dataset="x")
    assert versions.without(lambda version: version == "2.0.1").preparable == ("3.1.1",)
    every = versions.without(lambda version: True)
    assert (every.free, every.preparable, every.pick("experimental_latest", dataset="x")) == ((), (), "3.1.1")


@pytest.mark.parametrize(
    ("value", "blocked"),
    [
        (None, {}),
        ({"1.0.0": "why"}, {("1.0.0", None): "why", ("1.0.0", "a"): "why"}),
        (["1.0.0"], {("1.0.0", None): None, ("1.0.0", "a"): None}),
        (BlockedVersions({"1.*.*": "why"}), {("1.0.0", None): "why", ("1.0.0", "a"): "why"}),
        (BlockedVersions(configs={"a": "why"}), {("1.0.0", "a"): "why", ("2.0.0", "a"): "why"}),
        ({"configs": {"a": {"2.0.0": None}}}, {("2.0.0", "a"): None}),
        (BlockedVersions(configs={"a": None}), {("1.0.0", "a"): None, ("2.0.0", "a"): None}),
    ],
)
def test_versions_and_configs_are_blocked(value: Any, blocked: dict[tuple[str, str | None], str | None]) -> None:
    found = BlockedVersions.of(value)
    for version in ("1.0.0", "2.0.0"):
        for config in (None, "a"):
            key = (version, config)
            assert found.is_blocked(version, config) == (key in blocked, blocked.get(key))


def test_what_blocks_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="BLOCKED_VERSIONS is 1"):
        BlockedVersions.of(1)

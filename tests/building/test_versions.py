"""Tests of datasets_core/building/versions.py."""

import json
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

import datasets_core as datasets
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.versions import BlockedVersions, Versions
from datasets_core.errors import (
    BlockedVersionError,
    ConfigurationError,
    DamagedShardError,
    DatasetNotFoundError,
    ExperimentalVersionWarning,
    MissingVersionError,
    UnknownVersionError,
    UnpreparableVersionError,
)
from datasets_core.meta.version import Experiment, Version

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
        UnknownVersionError, match=r"'reviews' has no version '2.0.0'. Available versions: '2.0.1', '3.0.0', '1.0.0', '0.0.9'"
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
    with pytest.raises(ConfigurationError) as caught:
        LISTED["TwoThrees"].pick(3, dataset="x")  # type: ignore[arg-type]
    assert caught.value.value == 3


def test_a_pattern_passes_over_blocked_versions_while_others_fit() -> None:
    versions = LISTED["TwoThrees"].without(lambda version: version == "3.1.1")
    assert versions.pick("3.*.*", dataset="x") == versions.pick("experimental_latest", dataset="x") == "3.0.0"
    assert versions.pick("3.1.*", dataset="x") == "3.1.1"


def test_a_blocked_version_is_neither_prepared_nor_advised() -> None:
    versions = LISTED["TwoThrees"].without(lambda version: version == "3.1.1")
    assert versions.preparable == ("2.0.1", "3.0.0")
    with pytest.raises(UnknownVersionError, match=r"Available versions: '2\.0\.1', '3\.0\.0', '2\.0\.0'\."):
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


# versioned


class Ids(datasets.GeneratorBasedBuilder):
    """Rows that tell the version that was picked, as the hooks see it."""

    def _info(self) -> datasets.DatasetInfo:
        features = datasets.Features({"version": datasets.Value("string"), "dummy": datasets.Value("bool")})
        return datasets.DatasetInfo(description=str(self.version), features=features)

    def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
        return [datasets.SplitGenerator("train", {"version": str(self.version)})]

    def _generate_examples(self, version: str) -> Iterator[tuple[int, dict[str, Any]]]:
        yield 0, {"version": version, "dummy": self.version.implements(Experiment.DUMMY)}


class Imagenet2012Like(Ids):
    VERSION = Version("2.0.1", "a fix")
    SUPPORTED_VERSIONS: ClassVar[list[Any]] = [
        Version("3.0.0", experiments={Experiment.DUMMY: True}),
        Version("1.0.0"),
        Version("0.0.9", tfds_version_to_prepare="v1.0.0"),
    ]
    RELEASE_NOTES: ClassVar[dict[str, str]] = {"3.0.0": "packed"}


class TwoThrees(Ids):
    VERSION = Version("2.0.1")
    SUPPORTED_VERSIONS: ClassVar[list[Any]] = [Version("3.0.0"), Version("3.1.1"), Version("2.0.0")]


class NoVersion(Ids):
    requires_version = True


class StrVersions(Ids):
    VERSION = "1.0.0"
    SUPPORTED_VERSIONS: ClassVar[list[Any]] = ["1.1.0"]


class Cfgs(Ids):
    VERSION = Version("9.0.0")
    SUPPORTED_VERSIONS: ClassVar[list[Any]] = [Version("8.0.0")]
    DEFAULT_CONFIG_NAME = "original"
    BUILDER_CONFIGS: ClassVar[list[Any]] = [
        datasets.BuilderConfig("original", version=Version("0.2.0"), supported_versions=[Version("1.0.0")]),
        datasets.BuilderConfig("small"),
        datasets.BuilderConfig("strv", version="4.0.0", release_notes={"4.0.0": "as text"}),
    ]


CLASSES: dict[str, type[DatasetBuilder]] = {
    each.__name__: each for each in (Imagenet2012Like, TwoThrees, NoVersion, StrVersions, Cfgs)
}
# The highest match wins, where TFDS takes the first one.


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
@pytest.mark.parametrize("case", [case for case in GOLDEN["pick_version"] if case["class"] in CLASSES], ids=str)
def test_golden_versions_are_picked_versioned(case: dict[str, Any]) -> None:
    expected, made = case["expected"], CLASSES[case["class"]]
    if "error" in expected:
        with pytest.raises(ConfigurationError):
            made(version=case["requested"])
        return
    wanted = HIGHEST.get((case["class"], case["requested"]), expected["value"])
    assert made(version=case["requested"]).version == wanted


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
@pytest.mark.parametrize("case", GOLDEN["configs"], ids=str)
def test_golden_versions_of_configs_are_picked(case: dict[str, Any]) -> None:
    expected = case["expected"]
    if "error" in expected:
        with pytest.raises(ConfigurationError):
            Cfgs(config_name=case["config"], version=case["requested"])
        return
    builder = Cfgs(dataset_name="cfgs", config_name=case["config"], version=case["requested"])
    assert builder.config.name == expected["value"]["config"]
    assert builder.version == expected["value"]["version"]
    assert f"/{expected['value']['dir']}/" in builder.cache_dir


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
@pytest.mark.parametrize("case", GOLDEN["download_and_prepare"], ids=str)
def test_golden_versions_are_prepared(case: dict[str, Any], tmp_path: Path) -> None:
    expected = case["expected"]
    builder = CLASSES[case["class"]](version=case["requested"], cache_dir=tmp_path)
    if "error" in expected and case["requested"] != "3.*.*":  # which picks 3.1.1, the highest match
        with pytest.raises(UnpreparableVersionError, match=r"can be prepared: '2.0.1'"):
            builder.download_and_prepare()
        return
    builder.download_and_prepare()
    assert builder.as_dataset("train")[0]["version"] == str(builder.version)
    assert builder.info.full_name == f"test_versions/{builder.version}"


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_a_refusal_names_the_release_that_prepares_the_version(tmp_path: Path) -> None:
    builder = Imagenet2012Like(version="0.0.9", cache_dir=tmp_path)
    with pytest.raises(UnpreparableVersionError, match=r"only release v1.0.0 of the library.*'2.0.1', '3.0.0'") as caught:
        builder.download_and_prepare()
    assert (caught.value.release, caught.value.known) == ("v1.0.0", ("2.0.1", "3.0.0"))


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_a_version_above_the_canonical_one_warns() -> None:
    with pytest.warns(ExperimentalVersionWarning, match=r"Version 3.0.0 of 'test_versions' is experimental.*2.0.1") as caught:
        Imagenet2012Like(version="3.0.0")
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_hooks_see_the_picked_version_and_its_experiments(tmp_path: Path) -> None:
    rows = {}
    for version in ("2.0.1", "3.0.0"):
        builder = Imagenet2012Like(version=version, cache_dir=tmp_path)
        builder.download_and_prepare()
        rows[version] = builder.as_dataset("train")[0]
        assert builder.info.description == version
    assert rows == {"2.0.1": {"version": "2.0.1", "dummy": False}, "3.0.0": {"version": "3.0.0", "dummy": True}}


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_a_builder_tells_its_versions_and_what_changed() -> None:
    builder = Imagenet2012Like(version="1.0.0")
    assert builder.canonical_version == "2.0.1"
    assert builder.version == "1.0.0"
    assert builder.supported_versions == ["3.0.0", "1.0.0", "0.0.9"]
    assert builder.versions == ["2.0.1", "3.0.0", "1.0.0", "0.0.9"]
    assert builder.release_notes == builder.info.release_notes == {"2.0.1": "a fix", "3.0.0": "packed"}
    assert Cfgs(config_name="strv").release_notes == {"4.0.0": "as text"}
    assert Cfgs(config_name="strv").versions == ["4.0.0", "8.0.0"]


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_release_notes_stay_with_what_is_prepared(tmp_path: Path) -> None:
    builder = Imagenet2012Like(cache_dir=tmp_path)
    builder.download_and_prepare()
    assert datasets.builder_from_directory(builder.cache_dir).release_notes == builder.release_notes


def older(version: str) -> type[Ids]:
    class Older(Ids):
        VERSION = version

    return Older


def prepared_by_other_code(tmp_path: Path, version: str, keys: tuple[str, ...]) -> dict[str, str]:
    """Folders of `version` in the cache, made by code that had it as its canonical version."""
    folders = {}
    for key in keys:
        builder = older(version)(cache_dir=tmp_path, hash=key)
        builder.download_and_prepare()
        folders[key] = builder.cache_dir
    return folders


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
@pytest.mark.parametrize("version", ["1.0.0", "0.0.9"])
def test_what_other_code_prepared_of_an_old_version_loads(version: str, tmp_path: Path) -> None:
    folders = prepared_by_other_code(tmp_path, version, ("older",))
    builder = Imagenet2012Like(version=version, cache_dir=tmp_path)
    assert builder.as_dataset("train")[0]["version"] == version
    builder = Imagenet2012Like(version=version, cache_dir=tmp_path)
    builder.look_at_built()
    assert builder.info.splits is not None
    builder.download_and_prepare()
    assert builder.as_dataset("train")[0]["version"] == version
    with pytest.raises(UnpreparableVersionError, match="cannot be prepared again"):
        builder.download_and_prepare(download_mode="force_redownload")
    builder.download_and_prepare(verification_mode="all_checks")
    (shard,) = Path(builder.cache_dir).glob("*.arrow")
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    with pytest.raises(DamagedShardError, match="sha256"):
        builder.download_and_prepare(verification_mode="all_checks")
    assert sorted(os.listdir(os.path.dirname(folders["older"]))) == ["older", "older.lock"]


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_an_old_version_in_a_folder_of_the_user_s_own_loads(tmp_path: Path) -> None:
    older("1.0.0")(cache_dir=tmp_path).download_and_prepare(tmp_path / "out")
    builder = Imagenet2012Like(version="1.0.0", cache_dir=tmp_path / "cache")
    builder.download_and_prepare(tmp_path / "out")
    assert builder.as_dataset("train")[0]["version"] == "1.0.0"
    other = TwoThrees(version="2.0.0", cache_dir=tmp_path / "cache")
    with pytest.raises(UnpreparableVersionError, match="out, and it is too old"):
        other.download_and_prepare(tmp_path / "out")


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_several_builds_of_an_old_version_are_named(tmp_path: Path) -> None:
    folders = prepared_by_other_code(tmp_path, "1.0.0", ("a", "b"))
    builder = Imagenet2012Like(version="1.0.0", cache_dir=tmp_path)
    with pytest.raises(ConfigurationError, match=r"was prepared 2 times.*builder_from_directory") as caught:
        builder.as_dataset("train")
    assert all(folder in str(caught.value) for folder in folders.values())


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_a_broken_build_of_an_old_version_is_passed_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folders = prepared_by_other_code(tmp_path, "1.0.0", ("a", "b"))
    Path(folders["a"], "dataset_info.json").write_text("{")
    builder = Imagenet2012Like(version="1.0.0", cache_dir=tmp_path)
    with caplog.at_level(logging.WARNING, logger="datasets_core"):
        builder.download_and_prepare()
    assert builder._output_dir == folders["b"]
    assert f"Ignoring {folders['a']}, which is damaged" in caplog.text
    shutil.rmtree(folders["b"])
    with pytest.raises(UnpreparableVersionError):
        Imagenet2012Like(version="1.0.0", cache_dir=tmp_path).as_dataset()


class Blocked(Ids):
    VERSION = "2.0.0"
    SUPPORTED_VERSIONS: ClassVar[list[Any]] = ["1.0.0", "3.0.0", "3.1.0"]
    BLOCKED_VERSIONS: ClassVar[Any] = datasets.BlockedVersions(
        versions={"3.1.0": "labels are wrong", "1.0.0": None}, configs={"tiny": "it is empty."}
    )
    BUILDER_CONFIGS: ClassVar[list[Any]] = [datasets.BuilderConfig("large"), datasets.BuilderConfig("tiny")]


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
@pytest.mark.parametrize(
    ("config", "version", "reason"),
    [
        ("large", "3.1.0", "test_versions/large/3.1.0 is blocked: labels are wrong. Choose"),
        ("large", "1.0.0", "the author gives no reason"),
        ("tiny", None, "test_versions/tiny/2.0.0 is blocked: it is empty. Choose"),
    ],
)
def test_blocked_versions_and_configs_are_refused_with_the_reason(
    config: str, version: str | None, reason: str, tmp_path: Path
) -> None:
    builder = Blocked(config_name=config, version=version, cache_dir=tmp_path)
    with pytest.raises(BlockedVersionError, match=reason):
        builder.download_and_prepare()
    with pytest.raises(BlockedVersionError, match=reason):
        builder.as_dataset()


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_a_pattern_takes_the_highest_version_that_is_not_blocked() -> None:
    assert Blocked(config_name="large", version="3.*.*").version == "3.0.0"


class HighestBlocked(TwoThrees):
    BLOCKED_VERSIONS: ClassVar[Any] = {"3.1.1": "rows were lost"}


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_the_highest_version_that_is_not_blocked_is_prepared(tmp_path: Path) -> None:
    builder = HighestBlocked(version="3.*.*", cache_dir=tmp_path)
    builder.download_and_prepare()
    assert builder.as_dataset("train")[0]["version"] == "3.0.0"
    with pytest.raises(UnpreparableVersionError, match=r"can be prepared: '2\.0\.1', '3\.0\.0'\."):
        HighestBlocked(version="2.0.0", cache_dir=tmp_path).download_and_prepare()


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_an_unknown_version_lists_those_there_are() -> None:
    with pytest.raises(UnknownVersionError, match=r"has no version '2.0.0'.*'2.0.1', '3.0.0', '1.0.0', '0.0.9'"):
        Imagenet2012Like(version="2.0.0")


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_a_builder_that_needs_a_version_is_refused_without() -> None:
    with pytest.raises(MissingVersionError, match=r"has no version. Set VERSION = Version"):
        NoVersion()


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_what_has_no_version_is_given_one() -> None:
    assert Ids().version == "0.0.0"
    assert Ids(version="1.2.0").version == "1.2.0"
    assert Ids(version="1.2.0").config.version == "1.2.0"
    assert Ids(version="experimental_latest").version == "0.0.0"
    with pytest.raises(UnknownVersionError, match=r"no version '1.\*.\*'. Available versions: '0.0.0'"):
        Ids(version="1.*.*")


@pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning")
def test_a_preparable_version_that_is_not_prepared_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFoundError, match="is not built in"):
        TwoThrees(cache_dir=tmp_path).as_dataset()

"""Tests of datasets_core/resolve/hub.py."""

from __future__ import annotations

import io
import json
import logging
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.prepared import ReadOnlyBuilder
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import (
    BlockedVersionError,
    ConfigurationError,
    DataFilesNotFoundError,
    DataFilesWarning,
    DatasetNotFoundError,
    DatasetsCoreError,
    EmptyRepositoryError,
    ExperimentalVersionWarning,
    HubUnreachableError,
    ManifestError,
    OfflineError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
    UnknownConfigError,
    UnknownVersionError,
    UnpreparableVersionError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.inspect import (
    get_dataset_config_info,
    get_dataset_config_names,
    get_dataset_default_config_name,
    get_dataset_infos,
    get_dataset_split_names,
)
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.resolve.hub import prepared_source
from datasets_core.resolve.request import Request

SCRIPT = """
import datasets_core as datasets


class Reviews(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("{version}")
    SUPPORTED_VERSIONS = {supported}
    DEFAULT_CONFIG_NAME = "en"
    BUILDER_CONFIGS = [datasets.BuilderConfig("en"), datasets.BuilderConfig("de")]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({{"v": datasets.Value("string")}}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train", {{}})]

    def _generate_examples(self):
        yield 0, {{"v": f"{{self.config.name}} {{self.version}}"}}
"""


class Place:
    """A folder with a script of changing versions, and a cache."""

    def __init__(self, root: Path) -> None:
        self.folder, self.cache = root / "src" / "reviews", root / "cache"
        self.script = self.folder / "reviews.py"
        self.folder.mkdir(parents=True)

    def write(self, version: str, supported: tuple[str, ...] = ()) -> None:
        self.script.write_text(SCRIPT.format(version=version, supported=list(supported)))

    def load(self, path: str | Path, **options: object) -> str:
        text: str = load_dataset(str(path), cache_dir=self.cache, split="train", **options)[0]["v"]  # type: ignore[arg-type]
        return text


@pytest.fixture
def place(tmp_path: Path) -> Place:
    found = Place(tmp_path)
    for version in ("1.0.0", "1.2.0", "1.10.0", "2.0.0"):
        found.write(version)
        for name in ("en", "de") if version == "1.2.0" else ("en",):
            found.load(found.script, name=name)
    (found.cache / "reviews" / "en" / "3.0.0").mkdir()
    return found


def test_a_script_gives_the_version_that_its_reference_names(place: Place) -> None:
    place.write("2.0.0", ("1.10.0", "1.2.0", "3.0.0", "3.1.0"))
    assert place.load(f"{place.script}:2.*.*") == "en 2.0.0"
    assert place.load(f"{place.script}:1.2.0") == "en 1.2.0"  # prepared by the script that was
    assert place.load(f"{place.script}:1.*.*") == "en 1.10.0"
    assert place.load(f"{place.script}:1.2.0", name="de") == "de 1.2.0"
    assert place.load(f"{place.script}/de:2.*.*") == "de 2.0.0"
    assert place.load(f"{place.folder}/en:2.0.0", trust_remote_code=True) == "en 2.0.0"
    with pytest.warns(ExperimentalVersionWarning):
        assert place.load(place.script, version="3.*.*") == "en 3.1.0"
    with pytest.warns(ExperimentalVersionWarning):
        assert place.load(place.script, version="experimental_latest") == "en 3.1.0"


def test_a_version_that_the_script_lists_no_more_is_read_where_it_is_prepared(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="datasets_core"):
        assert place.load(f"{place.script}:1.10.*") == "en 1.10.0"
    assert "lists no version '1.10.*'. Reading the dataset prepared from it" in caplog.text
    with pytest.raises(UnknownVersionError, match=r"'reviews' has no version '1.3.\*'. Available versions: '2.0.0'"):
        place.load(f"{place.script}:1.3.*")
    with pytest.raises(UnknownVersionError) as caught:
        place.load(f"{place.script}:3.0.0")
    assert caught.value.value == "3.0.0"


def test_a_pattern_takes_what_stands_prepared_before_what_nobody_prepares(place: Place) -> None:
    place.write("2.0.0", ("1.15.0", "1.11.0"))
    assert place.load(f"{place.script}:1.*.*") == "en 1.10.0"
    with pytest.raises(UnpreparableVersionError) as caught:
        place.load(f"{place.script}:1.15.0")
    assert str(caught.value.file).endswith("1.15.0")
    assert caught.value.value == "1.15.0"
    with pytest.raises(UnpreparableVersionError) as caught:
        place.load(f"{place.script}:1.11.*")
    assert str(caught.value.file).endswith("1.11.0")
    assert caught.value.value == "1.11.0"


def test_a_blocked_version_is_not_read_where_it_is_prepared(place: Place) -> None:
    place.write("2.0.0")
    script = place.script.read_text()
    place.script.write_text(script.replace("    DEFAULT", '    BLOCKED_VERSIONS = {"1.10.0": "wrong rows"}\n    DEFAULT', 1))
    assert place.load(f"{place.script}:1.*.*") == "en 1.2.0"
    for version in ("1.10.0", "1.10.*"):
        with pytest.raises((BlockedVersionError, UnknownVersionError)):
            place.load(f"{place.script}:{version}")
    with pytest.raises(BlockedVersionError, match="wrong rows"):
        place.load(f"{place.script}:1.10.0")


@pytest.mark.parametrize(
    ("reference", "text"),
    [
        ("reviews/en", "en 2.0.0"),
        ("reviews/en:1.*.*", "en 1.10.0"),
        ("reviews/en:1.2.*", "en 1.2.0"),
        ("reviews/en:*.*.*", "en 2.0.0"),
        ("reviews/de:1.*.*", "de 1.2.0"),
        ("src/reviews/reviews.py/en:2.0.0", "en 2.0.0"),
        ("src/reviews/en:1.0.0", "en 1.0.0"),
    ],
)
def test_what_is_gone_is_read_from_the_cache(place: Place, reference: str, text: str, caplog: pytest.LogCaptureFixture) -> None:
    shutil.rmtree(place.folder)
    with caplog.at_level(logging.WARNING, logger="datasets_core"):
        assert place.load(reference) == text
    assert f"{reference.rpartition(':')[0] or reference} no longer exists" in caplog.text


@pytest.mark.parametrize("reference", ["{other}/reviews/reviews.py", "{other}/reviews", "elsewhere/reviews", "org/reviews"])
def test_what_is_gone_is_not_the_build_of_another_place(place: Place, tmp_path: Path, reference: str) -> None:
    shutil.rmtree(place.folder)
    with pytest.raises((DatasetNotFoundError, HubUnreachableError)):
        place.load(reference.format(other=tmp_path / "other"), name="en")


@pytest.mark.parametrize("reference", ["{root}/mine/corp", "mine/corp"])
def test_data_files_that_are_gone_are_read_from_the_build_of_their_own_folder_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for place in ("mine", "other"):
        (tmp_path / place / "corp").mkdir(parents=True)
        (tmp_path / place / "corp" / "x.csv").write_text(f"a\n{place}\n")
        load_dataset(str(tmp_path / place / "corp"), cache_dir=tmp_path / "cache")
        shutil.rmtree(tmp_path / place / "corp")
    found = load_dataset(reference.format(root=tmp_path), cache_dir=tmp_path / "cache", split="train")
    assert found["a"][:] == ["mine"]
    monkeypatch.chdir(tmp_path / "other")
    for elsewhere in ("corp", "nowhere/corp", f"{tmp_path}/nowhere/corp", "org/corp"):
        if elsewhere != "corp":
            with pytest.raises((DatasetNotFoundError, HubUnreachableError)):
                load_dataset(elsewhere, cache_dir=tmp_path / "cache", split="train")
    monkeypatch.chdir(tmp_path)
    with pytest.raises((DatasetNotFoundError, HubUnreachableError)):
        load_dataset("corp", cache_dir=tmp_path / "cache", split="train")


def test_a_name_that_several_places_end_with_means_none_of_them(place: Place, tmp_path: Path) -> None:
    other = tmp_path / "downloads" / "reviews"
    other.mkdir(parents=True)
    (other / "reviews.py").write_text(SCRIPT.format(version="9.0.0", supported=[]))
    place.load(other / "reviews.py", name="en")
    for folder in (other, place.folder):
        shutil.rmtree(folder)
    with pytest.raises(
        ConfigurationError, match=r"reviews/en no longer exists, and several recorded places end with it: .*downloads/reviews"
    ):
        place.load("reviews/en")
    assert place.load("src/reviews/en") == "en 2.0.0"
    assert place.load(other, name="en") == "en 9.0.0"


def test_the_script_s_own_path_is_enough(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place.folder)
    place.script.unlink()
    assert place.load("reviews.py", name="en") == "en 2.0.0"
    monkeypatch.chdir(place.cache)
    shutil.rmtree(place.folder)
    assert place.load(place.script, name="en") == "en 2.0.0"
    assert place.load(f"{place.script}:1.*.*", name="en") == "en 1.10.0"
    assert place.load(place.folder, name="de", version="1.2.0") == "de 1.2.0"
    builder = load_dataset_builder(str(place.script), "de", cache_dir=place.cache)
    assert isinstance(builder, ReadOnlyBuilder)
    assert isinstance(builder, DatasetBuilder)
    assert builder.info.full_name == "reviews/de/1.2.0"


def test_what_does_not_stand_there_is_refused(place: Place) -> None:
    shutil.rmtree(place.folder)
    for version in ("3.0.0", "3.*.*", "1.2.1"):
        with pytest.raises(
            DatasetNotFoundError,
            match=r"no prepared dataset of version.*choose another version: 2\.0\.0, 1\.10\.0, 1\.2\.0, 1\.0\.0\.$",
        ):
            place.load(f"reviews/en:{version}")
    (place.cache / "reviews" / "en" / "4.0.0" / "k").mkdir(parents=True)
    (broken,) = (place.cache / "reviews" / "en" / "1.10.0").glob("*/dataset_info.json")
    broken.write_text("{")
    with pytest.raises(DatasetNotFoundError, match=r"choose another version: 2\.0\.0, 1\.2\.0, 1\.0\.0\.$"):
        place.load("reviews/en:1.10.0")
    with pytest.raises(DatasetNotFoundError, match=r"choose another version: 1\.2\.0\.$"):  # of this config alone
        place.load("reviews/de:2.0.0")
    with pytest.raises(UnknownConfigError, match=r"Unknown config 'fr' in 'reviews'. Available configs: 'de', 'en'"):
        place.load("reviews/fr:1.0.0")
    with pytest.raises(UnknownConfigError, match="several configs and no default config"):
        place.load("reviews")
    with pytest.raises(HubUnreachableError):  # nothing stands there, so that it may be one of the Hub
        place.load("others")


def test_several_builds_are_named(place: Place) -> None:
    shutil.rmtree(place.folder)
    (build,) = (place.cache / "reviews" / "en" / "1.0.0").glob("*[!k]")
    shutil.copytree(build, build.with_name("other"))
    with pytest.raises(ConfigurationError, match=r"was prepared 2 times.*builder_from_directory"):
        place.load("reviews/en:1.0.0")


def test_only_the_dataset_itself_is_read_from_the_cache(place: Place) -> None:
    shutil.rmtree(place.folder)
    request = Request(str(place.folder), name="en", cache_dir=str(place.cache))
    assert prepared_source(request) is not None
    for own in ({"data_files": "a.csv"}, {"data_dir": "a"}, {"features": Features({"v": Value("int64")})}):
        assert prepared_source(Request(str(place.folder), name="en", cache_dir=str(place.cache), **own)) is None
    with pytest.raises(UnknownConfigError):
        prepared_source(Request(str(place.folder), name="en", cache_dir=str(place.cache), options={"lower": True}))


def test_what_stands_there_of_a_format_is_no_dataset_of_that_name(tmp_path: Path) -> None:
    Dataset.from_dict({"a": [1]}).to_csv(tmp_path / "a.csv")
    load_dataset("csv", data_files=str(tmp_path / "a.csv"), cache_dir=tmp_path / "cache")
    with pytest.raises(DatasetNotFoundError, match="No folder"):
        load_dataset(str(tmp_path / "gone" / "csv"), cache_dir=tmp_path / "cache")


def test_a_source_tells_its_config(place: Place) -> None:
    shutil.rmtree(place.folder)
    source = prepared_source(Request("reviews", name="de", cache_dir=str(place.cache)))
    assert source is not None
    assert (source.config_names, source.default_config_name, list(source.recorded)) == (["de"], "de", ["de"])


# -- repositories that cannot be asked ---------------------------------------------------------------------------------


def _gone(hub: Any) -> None:
    """No hub cache any more, and no network."""
    shutil.rmtree(hub.cache_dir, ignore_errors=True)
    hub.forget()


def test_a_build_answers_for_its_revision_where_nothing_else_does(hub: Any, caplog: pytest.LogCaptureFixture) -> None:
    repo = hub.repo("org/birds", {"train.csv": "a\n1\n"})
    first = repo.sha
    repo.tag("v1")
    assert load_dataset("org/birds", split="train")["a"][:] == [1]
    assert load_dataset("org/birds", split="train", revision="v1")["a"][:] == [1]
    repo.commit({"train.csv": "a\n2\n"})
    second = repo.sha
    load_dataset("org/birds", split="train")
    repo.commit({"train.csv": "a\n3\n"})
    repo.branch("dev")
    _gone(hub)
    with config.using(offline=True):
        asked: dict[str | None, int] = {None: 2, "main": 2, "v1": 1, first: 1, second: 2}
        for revision, value in asked.items():
            assert load_dataset("org/birds", split="train", revision=revision)["a"][:] == [value], revision
        assert first[:7] not in caplog.text.splitlines()[0]
        for revision in ("dev", repo.sha, "v2", first[:7], "refs/convert/parquet"):
            with pytest.raises(OfflineError):
                load_dataset("org/birds", revision=revision)
        builder = load_dataset_builder("org/birds", revision="v1")
        assert (builder.repo_id, builder.commit_sha) == ("org/birds", first)
        assert load_dataset("hf://datasets/org/birds@v1", split="train")["a"][:] == [1]
        assert [row["a"] for row in load_dataset("org/birds", split="train", revision="v1", streaming=True)] == [1]
        assert get_dataset_config_names("org/birds") == ["default"]
    assert hub.requests == []


def test_a_hub_that_is_not_there_is_as_one_that_may_not_be_asked(hub: Any) -> None:
    hub.repo("org/birds", {"train.csv": "a\n1\n"})
    load_dataset("org/birds")
    _gone(hub)
    with config.using(hub_endpoint="http://127.0.0.1:9"):
        assert load_dataset("org/birds", split="train")["a"][:] == [1]
        with pytest.raises(HubUnreachableError) as caught:
            load_dataset("org/birds", revision="v2")
        assert caught.value.revision == "v2"


def test_a_build_answers_for_what_was_asked_for(hub: Any) -> None:
    card = "---\nconfigs:\n- config_name: en\n  data_files: en/*.csv\n- config_name: de\n  data_files: de/*.csv\n---\n"
    hub.repo("org/birds", {"README.md": card, "en/a.csv": "a\n1\n", "de/a.csv": "a\n2\n", "x.csv": "b\n3\n"})
    ways: list[dict[str, Any]] = [
        {"name": "en"},
        {"data_files": "x.csv"},
        {"data_files": {"test": ["x.csv"]}},
        {"data_dir": "de"},
        {"name": "en", "sep": ";"},
        {"name": "en", "features": Features({"a": Value("string")})},
    ]
    found = [load_dataset("org/birds", **way) for way in ways]
    _gone(hub)
    with config.using(offline=True):
        for way, built in zip(ways, found, strict=True):
            again = load_dataset("org/birds", **way)
            assert {split: rows[:] for split, rows in again.items()} == {split: rows[:] for split, rows in built.items()}, way
            assert again.cache_files == built.cache_files
        assert load_dataset("org/birds", data_files=["x.csv"])["train"]["b"][:] == [3]
        for other in (
            {},
            {"name": "de"},
            {"name": "fr"},
            {"data_files": "y.csv"},
            {"data_dir": "en"},
            {"name": "en", "sep": "|"},
            {"name": "en", "features": Features({"a": Value("int8")})},
        ):
            with pytest.raises(OfflineError):
                load_dataset("org/birds", **other)


def test_no_other_dataset_stands_in_for_a_repository(hub: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("birds", "org/swans"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / "train.csv").write_text("a\n1\n")
        load_dataset(folder)
    shutil.rmtree(tmp_path / "org")
    with config.using(offline=True):
        with pytest.raises(OfflineError):
            load_dataset("org/birds")
        assert load_dataset("org/swans", split="train")["a"][:] == [1]  # which was that very folder
    with pytest.raises(RepositoryNotFoundError):
        load_dataset("other/birds", revision="main")


def test_a_repository_that_is_not_shown_any_more_is_not_read_from_the_cache(hub: Any) -> None:
    hub.repo("org/birds", {"train.csv": "a\n1\n"})
    load_dataset("org/birds")
    hub.repos["org/birds"].private = True
    with pytest.raises(RepositoryNotFoundError):
        load_dataset("org/birds")
    _gone(hub)
    with pytest.raises(RepositoryNotFoundError):
        load_dataset("org/birds")


def test_broken_builds_are_passed_over(hub: Any) -> None:
    hub.repo("org/birds", {"train.csv": "a\n1\n"})
    (file,) = load_dataset("org/birds", split="train").cache_files
    _gone(hub)
    Path(file["filename"]).with_name("dataset_info.json").write_text("{")
    with config.using(offline=True), pytest.raises(OfflineError):
        load_dataset("org/birds")


def test_a_script_s_build_is_read_without_the_script(hub: Any) -> None:
    hub.repo("org/reviews", {"reviews.py": SCRIPT.format(version="1.0.0", supported=[])})
    rows = load_dataset("org/reviews", "de", split="train")["v"][:]
    _gone(hub)
    shutil.rmtree(Path(config.settings().cache_dir, "modules"))
    with config.using(offline=True):
        assert load_dataset("org/reviews", "de", split="train")["v"][:] == rows == ["de 1.0.0"]
        with pytest.raises(OfflineError):
            load_dataset("org/reviews", "en")


def test_a_build_is_found_where_a_part_of_the_hub_cache_is_left(hub: Any) -> None:
    """Its listing without its files, or some files without the listing."""
    card = "---\nconfigs:\n- config_name: en\n  data_files: en/*.csv\n---\n"
    hub.repo("org/birds", {"README.md": card, "en/a.csv": "a\n1\n", "en/b.csv": "a\n2\n"})
    hub.repo("org/reviews", {"reviews.py": SCRIPT.format(version="1.0.0", supported=[]), "data.csv": "1"})
    load_dataset("org/birds")
    load_dataset("org/reviews")
    for repo in ("birds", "reviews"):
        folder = Path(hub.cache_dir, f"datasets--org--{repo}")
        shutil.move(folder / "snapshots", hub.home / repo)
        shutil.rmtree(folder / "blobs")
    shutil.rmtree(Path(config.settings().cache_dir, "modules"))
    with config.using(offline=True):
        assert load_dataset("org/birds", split="train")["a"][:] == [1, 2]
        assert load_dataset("org/reviews", split="train")["v"][:] == ["en 1.0.0"]


@pytest.mark.parametrize("form", ["name", "url", "part"])
def test_an_older_build_does_not_stand_for_the_commit_that_the_hub_named(hub: Any, form: str) -> None:
    repo = hub.repo("org/birds", {"train.csv": "a\n1\n"})
    path = "org/birds" if form == "name" else "hf://datasets/org/birds"
    load_dataset(path)
    repo.commit({"train.csv": "a\n2\n"})
    hub.fail(hub.faults.status(503), "tree" if form != "part" else "resolve", times=None)
    with pytest.raises(DatasetsCoreError, match=repo.sha):
        load_dataset(path, split="train")


def test_an_older_build_of_a_script_does_not_stand_for_the_commit_that_the_hub_named(hub: Any) -> None:
    repo = hub.repo("org/reviews", {"reviews.py": SCRIPT.format(version="1.0.0", supported=[])})
    load_dataset("org/reviews", "de")
    repo.commit({"reviews.py": SCRIPT.format(version="2.0.0", supported=[])})
    for kind in ("tree", "resolve"):
        hub.rules.clear()
        hub.fail(hub.faults.status(503), kind, times=None)
        with pytest.raises(DatasetsCoreError, match=repo.sha):
            load_dataset("org/reviews", "de")


def test_an_older_build_of_files_of_another_repository_does_not_stand_for_its_new_ones(hub: Any) -> None:
    hub.repo("org/birds", {"README.md": "birds"})
    other = hub.repo("org/other", {"x.csv": "a\n1\n"})
    files = {"data_files": "hf://datasets/org/other/x.csv"}
    assert load_dataset("org/birds", split="train", **files)["a"][:] == [1]
    other.commit({"x.csv": "a\n2\n"})
    hub.before(lambda request: None, "info")
    hub.fail(hub.faults.status(503), "tree", times=None)
    with pytest.raises(HubUnreachableError, match=other.sha):
        load_dataset("org/birds", split="train", **files)


# A repository as a dataset: what its listing and its card say, with few requests and without its data.

CARD = """---
license: mit
configs:
- config_name: en
  data_files:
  - split: train
    path: en/*.csv
  - split: dev
    path: [en/more/x.csv]
  sep: ";"
  version: 1.2.0
- config_name: lines
  data_dir: lines
  default: true
dataset_info:
- config_name: en
  features:
  - name: a
    dtype: int32
  splits:
  - name: train
    num_bytes: 8
    num_examples: 1
---
# Title
"""
FILES = {
    "README.md": CARD,
    "en/a.csv": "a\n1\n",
    "en/more/x.csv": "a\n2\n",
    "lines/train.jsonl": '{"a": 1}\n',
    "lines/test.jsonl": '{"a": 1}\n',
}


@pytest.fixture
def planned(hub: Any) -> Callable[..., Any]:
    """The builder of a repository with these files, and its data files as paths in it."""

    def planned(files: dict[str, Any], **arguments: Any) -> Any:
        if "org/set" not in hub.repos:
            hub.repo("org/set", files)
        hub.forget()
        builder = load_dataset_builder(arguments.pop("path", "org/set"), **arguments)
        root = f"hf://datasets/org/set@{builder.commit_sha}/" if builder.commit_sha else ""
        found = {split: [path.removeprefix(root) for path in paths] for split, paths in builder.config.data_files.items()}
        return builder, found

    return planned


def test_a_repository_is_planned_with_two_requests_and_its_card(planned: Callable[..., Any], hub: Any) -> None:
    builder, found = planned(FILES)
    sha = hub.repos["org/set"].sha
    assert dict(hub.counts()) == {"info": 1, "tree": 1, "resolve": 1}
    assert [request.name for request in hub.of("resolve")] == ["README.md"]
    assert found == {"train": ["lines/train.jsonl"], "test": ["lines/test.jsonl"]}
    assert (builder.name, builder.config.name, builder.dataset_name) == ("json", "lines", "set")
    assert (builder.repo_id, builder.commit_sha, builder.base_path) == ("org/set", sha, f"hf://datasets/org/set@{sha}")
    assert "/org___set/lines-" in builder.cache_dir
    assert str(builder) == "Json(org/set/lines, version 0.0.0)"


def test_a_config_has_its_files_options_version_and_record(planned: Callable[..., Any]) -> None:
    builder, found = planned(FILES, name="en")
    assert found == {"train": ["en/a.csv"], "dev": ["en/more/x.csv"]}
    assert (builder.name, builder.config.sep, str(builder.version)) == ("csv", ";", "1.2.0")
    assert builder.info.features == Features({"a": Value("int32")})
    assert builder.recorded.splits["train"].num_examples == 1


def test_500_shards_are_planned_with_three_requests(planned: Callable[..., Any], hub: Any) -> None:
    files = {f"data/train-{index:05d}-of-00500.parquet": f"{index}" for index in range(500)}
    _, found = planned({**files, "README.md": "# Title"})
    assert found == {"train": sorted(files)}
    assert len(hub.requests) == 3


def test_what_is_told_of_all_configs_downloads_no_data_and_asks_once(planned: Callable[..., Any], hub: Any) -> None:
    planned(FILES)
    hub.forget()
    assert get_dataset_config_names("org/set") == ["en", "lines"]
    assert get_dataset_default_config_name("org/set") == "lines"
    assert get_dataset_split_names("org/set", "en") == ["train"]
    assert get_dataset_config_info("org/set", "en").features == Features({"a": Value("int32")})
    assert dict(hub.counts()) == {"info": 4}
    hub.forget()
    infos = get_dataset_infos("org/set")
    assert {name: list(info.splits) for name, info in infos.items()} == {"en": ["train"], "lines": ["train", "test"]}
    assert dict(hub.counts()) == {"info": 1}


@pytest.mark.parametrize("place", ["", "lines", "en/more"])
def test_infos_are_told_of_a_url_too(planned: Callable[..., Any], hub: Any, place: str) -> None:
    planned(FILES)
    hub.repos["org/set"].tag("v1")
    hub.forget()
    infos = get_dataset_infos(f"hf://datasets/org/set@v1/{place}".rstrip("/"))
    assert len(infos) == 2 if not place else len(infos) >= 1
    assert dict(hub.counts()) == {"info": 1}


def test_a_pinned_plan_asks_nothing(planned: Callable[..., Any], hub: Any) -> None:
    builder, _ = planned(FILES)
    hub.forget()
    again = load_dataset_builder("org/set", revision=builder.commit_sha)
    assert (again.cache_dir, again.commit_sha) == (builder.cache_dir, builder.commit_sha)
    assert hub.requests == []


# -- the user's own files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"data_files": "en/*.csv"}, {"train": ["en/a.csv"]}),
        ({"data_files": {"x": ["./en/a.csv", "en/more/x.csv"]}}, {"x": ["en/a.csv", "en/more/x.csv"]}),
        ({"data_files": "**/x.csv"}, {"train": ["en/more/x.csv"]}),
        ({"data_dir": "en"}, {"train": ["en/a.csv", "en/more/x.csv"]}),
        ({"data_dir": "./lines/"}, {"train": ["lines/train.jsonl"], "test": ["lines/test.jsonl"]}),
        ({"data_dir": "en", "data_files": {"t": "*.csv"}}, {"t": ["en/a.csv"]}),
        ({"data_files": "hf://datasets/org/set/en/a.csv"}, {"train": ["en/a.csv"]}),
        ({"data_dir": "hf://datasets/org/set@main/en/more"}, {"train": ["en/more/x.csv"]}),
        ({"path": "hf://datasets/org/set/en"}, {"train": ["en/a.csv", "en/more/x.csv"]}),
        ({"path": "hf://datasets/org/set@main"}, {"train": ["lines/train.jsonl"], "test": ["lines/test.jsonl"]}),
        ({"path": "hf://datasets/org/set/", "name": "en"}, {"train": ["en/a.csv"], "dev": ["en/more/x.csv"]}),
    ],
)
def test_files_and_folders_of_the_users_own_are_relative_to_the_repository(
    planned: Callable[..., Any], arguments: dict[str, Any], expected: dict[str, list[str]]
) -> None:
    builder, found = planned(FILES, **arguments)
    assert found == expected
    own = bool({"data_files", "data_dir"} & arguments.keys()) or str(arguments.get("path")).endswith("/en")
    assert builder.is_partial is own


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"path": "csv", "data_files": "hf://datasets/org/set@main/en/*.csv"}, "csv"),
        ({"path": "text", "data_files": {"train": ["hf://datasets/org/set/en/a.csv"]}}, "text"),
        ({"path": "csv", "data_dir": "hf://datasets/org/set/en"}, "csv"),
        ({"path": "hf://datasets/org/set@main/en/a.csv"}, "csv"),
    ],
)
def test_a_format_reads_files_of_the_hub_at_the_commit_that_a_revision_means(
    planned: Callable[..., Any], hub: Any, arguments: dict[str, Any], name: str
) -> None:
    builder, found = planned(FILES, **arguments)
    assert builder.name == builder.dataset_name == name
    assert f"hf://datasets/org/set@{hub.repos['org/set'].sha}/en/a.csv" in found["train"]
    assert dict(hub.counts()) == {"info": 1, "tree": 1}


@pytest.mark.parametrize("data_dir", ["/en", "s3://bucket/x", "en\\more", "../x"])
def test_a_folder_outside_the_repository_is_refused(planned: Callable[..., Any], data_dir: str) -> None:
    with pytest.raises(ConfigurationError):
        planned(FILES, data_dir=data_dir)


def test_a_revision_is_said_once(planned: Callable[..., Any]) -> None:
    with pytest.raises(ConfigurationError, match="Pass only one"):
        planned(FILES, path="hf://datasets/org/set@main", revision="v1")
    with pytest.raises(ConfigurationError, match="Pass only one"):
        planned(FILES, path="hf://datasets/org/set/en", data_dir="lines")


# -- what is not there -------------------------------------------------------------------------------------------------


def test_a_name_that_is_neither_here_nor_there_is_told_so(hub: Any) -> None:
    with pytest.raises(RepositoryNotFoundError, match=r"^There is no folder, .*org/none\..*'org/none' does not exist"):
        load_dataset_builder("org/none")
    with pytest.raises(RevisionNotFoundError) as caught:
        hub.repo("org/set", FILES)
        load_dataset_builder("org/set", revision="none")
    assert caught.value.value == "none"


@pytest.mark.parametrize("arguments", [{}, {"revision": "main"}])
def test_a_repository_without_data_is_told_with_what_it_holds(planned: Callable[..., Any], arguments: dict[str, Any]) -> None:
    with pytest.raises(EmptyRepositoryError, match=r"'org/set' has no data files \(available: .*README\.md.*'main'"):
        planned({"README.md": "# Nothing"}, **arguments)
    with pytest.raises(EmptyRepositoryError):
        get_dataset_config_names("org/set")


def test_a_folder_without_data_is_told_with_the_repository(planned: Callable[..., Any]) -> None:
    with pytest.raises(
        DataFilesNotFoundError, match=r"'org/set' has no file or folder 'none' at revision 'main'\. Available: .*en/a"
    ):
        planned(FILES | {"docs/README.md": "# Title"}, data_dir="none")
    with pytest.raises(DataFilesNotFoundError, match=r"has no file or folder 'en/b\.csv'"):
        planned(FILES, path="hf://datasets/org/set/en/b.csv/")
    with pytest.raises(EmptyRepositoryError, match=r"has no data files in 'docs' \(available: README\.md\)"):
        planned(FILES, data_dir="docs")


def test_files_of_no_known_format_are_named_with_repository_and_revision(planned: Callable[..., Any]) -> None:
    with pytest.raises(DataFilesNotFoundError, match=r"'org/set@main' has no file of a known format: .*a\.exe"):
        planned({"a.exe": "MZ"})


def test_an_unknown_config_names_the_known_ones(planned: Callable[..., Any]) -> None:
    with pytest.raises(UnknownConfigError, match=r"Unknown config 'fr' in 'org/set'.*'en', 'lines'"):
        planned(FILES, name="fr")


def test_missing_shards_are_told_and_the_others_are_read(planned: Callable[..., Any]) -> None:
    with pytest.warns(DataFilesWarning, match="1 of the 3 shards"):
        _, found = planned({"data/train-00001-of-00003.csv": "a\n1\n"})
    assert found == {"train": ["data/train-00001-of-00003.csv"]}


# -- a stranger's card -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("../x.csv", "/etc/passwd", "a/../../x.csv", "s3://bucket/x.csv", "zip://a.csv::b.zip", "http://x.org/a.csv"),
        *("hf://datasets/org/other/a.csv", "file:///etc/passwd", "~/x.csv", "C:\\x.csv", "{a,../b}.csv"),
    ],
)
@pytest.mark.parametrize("key", ["data_files", "data_dir"])
def test_a_card_names_only_files_of_its_own_repository(planned: Callable[..., Any], path: str, key: str) -> None:
    card = f"---\nconfigs:\n- config_name: a\n  {key}: '{path}'\n---\n"
    with pytest.raises((ConfigurationError, DataFilesNotFoundError)) as caught:
        planned({"README.md": card, "a.csv": "a\n1\n"})
    if not path.startswith(("~", "{")):  # these are names of files, which are not there
        assert caught.type is ConfigurationError
        assert "README.md" in str(caught.value)
        assert path in str(caught.value) or repr(path) in str(caught.value)


def test_a_card_that_is_broken_is_named(planned: Callable[..., Any]) -> None:
    with pytest.raises(ManifestError, match=r"hf://datasets/org/set@[0-9a-f]{40}/README\.md: .*line"):
        planned({"README.md": "---\nconfigs: [\n---\n", "a.csv": "a\n1\n"})


@pytest.mark.parametrize("option", ["config_id: ../../../out", "repo_id: ../out", "cache_dir: /tmp/x", "token: x"])
def test_a_card_does_not_choose_the_folder_of_the_build(planned: Callable[..., Any], option: str) -> None:
    card = f"---\nconfigs:\n- config_name: default\n  data_files: a.csv\n  {option}\n---\n"
    with pytest.raises(ConfigurationError, match="Unknown config option"):
        planned({"README.md": card, "a.csv": "a\n1\n"})


def test_what_a_builder_has_no_option_for_is_left_out_and_told(
    planned: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    card = "---\nconfigs:\n- config_name: default\n  data_files: a.csv\n  sep: ;\n  audience: all\n---\n"
    builder, _ = planned({"README.md": card, "a.csv": "a\n1\n"})
    assert builder.config.sep == ";"
    assert "The card of org/set@main sets 'audience' for the config 'default'; Csv has no such option" in caplog.text


# -- records -----------------------------------------------------------------------------------------------------------


def test_the_only_old_info_is_that_of_the_only_config(planned: Callable[..., Any]) -> None:
    infos = {"me--set": {"features": {"a": {"dtype": "int8", "_type": "Value"}}, "splits": {}}}
    builder, _ = planned({"a.csv": "a\n1\n", "dataset_infos.json": json.dumps(infos)})
    assert builder.info.features == Features({"a": Value("int8")})


def test_the_yaml_file_has_the_word(planned: Callable[..., Any]) -> None:
    yaml = "configs:\n- config_name: own\n  data_files: b.csv\n"
    builder, found = planned({".huggingface.yaml": yaml, "README.md": CARD, "b.csv": "a\n1\n"})
    assert (builder.config.name, found) == ("own", {"train": ["b.csv"]})


# -- builds ------------------------------------------------------------------------------------------------------------


def test_a_commit_that_changes_no_file_of_a_config_changes_no_build(planned: Callable[..., Any], hub: Any) -> None:
    before, _ = planned(FILES)
    repo = hub.repos["org/set"]
    repo.commit({"en/a.csv": "a\n7\n", "notes.txt": "x"})
    same, _ = planned(FILES)
    repo.commit({"lines/test.jsonl": '{"a": 2}\n'})
    changed, _ = planned(FILES)
    repo.commit({"README.md": CARD.replace("# Title", "# Other title")})
    other_text, _ = planned(FILES)
    assert len({each.commit_sha for each in (before, same, changed, other_text)}) == 4
    assert same.cache_dir == before.cache_dir != changed.cache_dir == other_text.cache_dir


def test_other_features_on_the_card_are_another_build(planned: Callable[..., Any], hub: Any) -> None:
    before, _ = planned(FILES, name="en")
    hub.repos["org/set"].commit({"README.md": CARD.replace("int32", "int64")})
    assert planned(FILES, name="en")[0].cache_dir != before.cache_dir


def test_repositories_with_equal_files_have_builds_of_their_own(planned: Callable[..., Any], hub: Any) -> None:
    first, _ = planned(FILES)
    for name in ("you/set", "org/set2", "set"):
        hub.repo(name, FILES)
    others = [load_dataset_builder(name).cache_dir for name in ("you/set", "org/set2", "set")]
    assert len({first.cache_dir, *others}) == 4


# -- archives ----------------------------------------------------------------------------------------------------------


def _zipped(files: dict[str, str]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return sink.getvalue()


def test_an_archive_is_looked_into_and_not_fetched(planned: Callable[..., Any], hub: Any) -> None:
    files = {f"cat/{index}.png": "x" * 100_000 for index in range(30)}
    builder, found = planned({"images.zip": _zipped(files)})
    assert (builder.name, found) == ("imagefolder", {"train": ["images.zip"]})
    *_, last = [request.headers.get("range", "") for request in hub.of("storage", "GET")]
    size = len(hub.repos["org/set"].files()["images.zip"])
    assert int(last.removeprefix("bytes=").partition("-")[0]) > size - 100_000
    assert not list(hub.cache_dir.glob("*/blobs/*"))


# -- without the Hub ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"data_files": "data/*"}, {"data_files": "data/train-00001-of-00002.csv"}])
def test_a_part_of_a_repository_in_the_cache_is_not_taken_for_all_of_it(hub: Any, arguments: dict[str, Any]) -> None:
    repo = hub.repo("org/set", {f"data/train-0000{index}-of-00002.csv": "a\n1\n" for index in range(2)})
    folder = hub.cache_dir / "datasets--org--set"
    snapshot = folder / "snapshots" / repo.sha / "data"
    snapshot.mkdir(parents=True)
    (snapshot / "train-00000-of-00002.csv").write_text("a\n1\n")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(repo.sha)
    with config.using(offline=True), pytest.raises(OfflineError, match="the hub cache has only a part of it"):
        load_dataset_builder("org/set", **arguments)
    assert hub.requests == []

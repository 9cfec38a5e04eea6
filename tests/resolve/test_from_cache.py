import logging
import shutil
from pathlib import Path

import pytest

from datasets_core import Dataset, DatasetBuilder, Features, Value, load_dataset, load_dataset_builder
from datasets_core.building.prepared import ReadOnlyBuilder
from datasets_core.errors import (
    BlockedVersionError,
    ConfigurationError,
    DatasetNotFoundError,
    ExperimentalVersionWarning,
    HubUnreachableError,
    UnknownConfigError,
    UnknownVersionError,
    UnpreparableVersionError,
)
from datasets_core.resolve.from_cache import prepared_source
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
        for config in ("en", "de") if version == "1.2.0" else ("en",):
            found.load(found.script, name=config)
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
    assert "lists no version '1.10.*'. Reading what was prepared of it" in caplog.text
    with pytest.raises(UnknownVersionError, match=r"'reviews' has no version '1.3.\*'. Versions: '2.0.0'"):
        place.load(f"{place.script}:1.3.*")
    with pytest.raises(UnknownVersionError, match=r"has no version '3.0.0'"):  # an empty folder
        place.load(f"{place.script}:3.0.0")


def test_a_pattern_takes_what_stands_prepared_before_what_nobody_prepares(place: Place) -> None:
    place.write("2.0.0", ("1.15.0", "1.11.0"))
    assert place.load(f"{place.script}:1.*.*") == "en 1.10.0"
    with pytest.raises(UnpreparableVersionError, match=r"Version 1\.15\.0"):
        place.load(f"{place.script}:1.15.0")
    with pytest.raises(UnpreparableVersionError, match=r"Version 1\.11\.0"):
        place.load(f"{place.script}:1.11.*")


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
    assert f"{reference.rpartition(':')[0] or reference} does not exist any more" in caplog.text


def test_the_script_s_own_path_is_enough(place: Place) -> None:
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
            match=r"no whole dataset of version.*choose another version: 2\.0\.0, 1\.10\.0, 1\.2\.0, 1\.0\.0\.$",
        ):
            place.load(f"reviews/en:{version}")
    (place.cache / "reviews" / "en" / "4.0.0" / "k").mkdir(parents=True)
    (broken,) = (place.cache / "reviews" / "en" / "1.10.0").glob("*/dataset_info.json")
    broken.write_text("{")
    with pytest.raises(DatasetNotFoundError, match=r"choose another version: 2\.0\.0, 1\.2\.0, 1\.0\.0\.$"):
        place.load("reviews/en:1.10.0")
    with pytest.raises(DatasetNotFoundError, match=r"choose another version: 1\.2\.0\.$"):  # of this config alone
        place.load("reviews/de:2.0.0")
    with pytest.raises(UnknownConfigError, match=r"'fr' is no config of 'reviews'. Configs: 'de', 'en'"):
        place.load("reviews/fr:1.0.0")
    with pytest.raises(UnknownConfigError, match="several configs and none is the default"):
        place.load("reviews")
    with pytest.raises(HubUnreachableError):  # nothing stands there, so that it may be one of the Hub
        place.load("others")


def test_several_builds_are_named(place: Place) -> None:
    shutil.rmtree(place.folder)
    (build,) = (place.cache / "reviews" / "en" / "1.0.0").glob("*[!k]")
    shutil.copytree(build, build.with_name("other"))
    with pytest.raises(ConfigurationError, match=r"stands prepared 2 times.*builder_from_directory"):
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
    with pytest.raises(DatasetNotFoundError, match="There is no folder"):
        load_dataset(str(tmp_path / "gone" / "csv"), cache_dir=tmp_path / "cache")


def test_a_source_tells_its_config(place: Place) -> None:
    shutil.rmtree(place.folder)
    source = prepared_source(Request("reviews", name="de", cache_dir=str(place.cache)))
    assert source is not None
    assert (source.config_names, source.default_config_name, list(source.recorded)) == (["de"], "de", ["de"])

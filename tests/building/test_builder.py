"""Builders: how they are made of configs and options."""

import pickle
from dataclasses import dataclass

import pytest

from datasets_core import config
from datasets_core.building.builder import ArrowBasedBuilder, DatasetBuilder, GeneratorBasedBuilder
from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.errors import ConfigurationError, UnknownConfigError, UnknownOptionError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.splits import Split
from datasets_core.meta.version import Version

FEATURES = Features({"id": Value("int64")})


@dataclass(eq=False)
class LanguageConfig(BuilderConfig):
    language: str = "en"
    features: Features | None = None


class Languages(GeneratorBasedBuilder):
    VERSION = Version("2.1.0")
    BUILDER_CONFIG_CLASS = LanguageConfig
    BUILDER_CONFIGS = [  # noqa: RUF012 - as scripts write it
        LanguageConfig("english", language="en"),
        LanguageConfig("french", version="3.0.0", language="fr"),
    ]

    def _info(self):
        return DatasetInfo(features=FEATURES, description="of the script")

    def _split_generators(self, dl_manager):
        return [SplitGenerator(Split.TRAIN, {"count": 10}), SplitGenerator(Split.TEST, {"count": 4})]

    def _generate_examples(self, count):
        for row in range(count):
            yield row, {"id": row}


class Single(Languages):
    BUILDER_CONFIG_CLASS = BuilderConfig
    BUILDER_CONFIGS = []  # noqa: RUF012


@pytest.fixture
def built(tmp_path):
    builder = Single(cache_dir=str(tmp_path), dataset_name="Single")
    builder.download_and_prepare()
    return builder


# -- configs -----------------------------------------------------------------------------------------------------------


def test_several_configs_without_a_default_ask_for_a_name(tmp_path):
    with pytest.raises(UnknownConfigError, match="'english', 'french'"):
        Languages(cache_dir=str(tmp_path))
    with pytest.raises(UnknownConfigError, match=r"Unknown config 'german' in .*'english', 'french'"):
        Languages(cache_dir=str(tmp_path), config_name="german")


def test_the_default_config_is_taken(tmp_path):
    class Defaulted(Languages):
        DEFAULT_CONFIG_NAME = "french"

    assert Defaulted(cache_dir=str(tmp_path)).config.language == "fr"


def test_the_only_config_is_the_default(tmp_path):
    class One(Languages):
        BUILDER_CONFIGS = Languages.BUILDER_CONFIGS[:1]

    assert One(cache_dir=str(tmp_path)).config.name == "english"


def test_options_change_a_copy_of_the_config(tmp_path):
    builder = Languages(cache_dir=str(tmp_path), config_name="english", language="en-GB")

    assert (builder.config.language, builder.config_id) == ("en-GB", "english-language=en-GB")
    assert Languages.builder_configs["english"].language == "en"
    builder.config.language = "changed"
    assert Languages(cache_dir=str(tmp_path), config_name="english").config.language == "en"


def test_options_without_a_name_make_a_config(tmp_path):
    builder = Languages(cache_dir=str(tmp_path), language="de")

    assert (builder.config.name, builder.config.language, builder.config_id) == ("default", "de", "default-language=de")


def test_an_unknown_option_is_refused(tmp_path):
    with pytest.raises(UnknownOptionError) as caught:
        Languages(cache_dir=str(tmp_path), config_name="english", langage="de")
    assert caught.value.value == "langage"
    with pytest.raises(UnknownOptionError) as caught:
        Single(cache_dir=str(tmp_path), langage="de")
    assert caught.value.value == "langage"


@pytest.mark.parametrize("described", [None, {"description": "x"}])
def test_an_info_that_is_none_is_refused(tmp_path, described):
    class Undescribed(Single):
        def _info(self):
            return described

    with pytest.raises(ConfigurationError, match=r"_info of Undescribed \(.*, line \d+\) returned .*\. Return a DatasetInfo\."):
        Undescribed(cache_dir=str(tmp_path))


def test_two_configs_of_one_name_are_refused(tmp_path):
    class Twice(Languages):
        BUILDER_CONFIGS = [LanguageConfig("a"), LanguageConfig("a")]  # noqa: RUF012

    with pytest.raises(ConfigurationError, match="'a'"):
        Twice(cache_dir=str(tmp_path), config_name="a")


@pytest.mark.parametrize(("name", "version"), [("english", "2.1.0"), ("french", "3.0.0")])
def test_the_version_is_the_configs_else_the_class(tmp_path, name, version):
    builder = Languages(cache_dir=str(tmp_path), config_name=name)

    assert builder.info.version == version
    assert f"/{name}/{version}" in builder.cache_dir


def test_features_of_the_user_are_stored_and_keyed(tmp_path):
    wanted = Features({"id": Value("int16")})
    builder = Languages(cache_dir=str(tmp_path), config_name="english", features=wanted)
    builder.download_and_prepare()

    assert builder.config.features == builder.info.features == builder.as_dataset("train").features == wanted
    assert builder.config_id != "english"


def test_the_record_fills_in_what_the_script_leaves_open(tmp_path):
    record = DatasetInfo(description="of the card", license="CC0", features=Features({"other": Value("string")}))

    info = Single(cache_dir=str(tmp_path), info=record).info

    assert (info.description, info.license, info.features) == ("of the script", "CC0", FEATURES)
    assert record.description == "of the card"


# -- classes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("base", [DatasetBuilder, GeneratorBasedBuilder, ArrowBasedBuilder])
def test_a_builder_without_hooks_cannot_be_made(base):
    class Unfinished(base):
        def _info(self):
            return DatasetInfo()

    with pytest.raises(TypeError, match="abstract"):
        Unfinished()


def test_the_folder_is_keyed_by_name_config_version_and_hash(tmp_path):
    builder = Single(cache_dir=str(tmp_path), dataset_name="MyData", repo_id="acme/my_data", hash="ab12")

    assert builder.cache_dir == str(tmp_path / "acme___my_data" / "default" / "2.1.0" / "ab12")


def test_the_cache_of_the_settings_is_the_default(tmp_path):
    with config.using(cache_dir=str(tmp_path)):
        assert Single().cache_dir.startswith(str(tmp_path))


def test_a_builder_crosses_process_borders_with_what_its_hooks_left_on_it(built):
    built.seen = [1]

    copied = pickle.loads(pickle.dumps(built))

    assert (copied.seen, copied.config, copied.cache_dir) == ([1], built.config, built.cache_dir)


def test_the_folder_of_the_class_is_known():
    assert Single.get_imported_module_dir().endswith("building")

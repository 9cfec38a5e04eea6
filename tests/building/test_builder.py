"""Builders: how they are made of configs and options, and how what they built is read."""

import pickle
from dataclasses import dataclass

import pytest

from datasets_core import config
from datasets_core.building.builder import ArrowBasedBuilder, DatasetBuilder, GeneratorBasedBuilder
from datasets_core.building.builder_config import BuilderConfig
from datasets_core.building.hooks import SplitGenerator
from datasets_core.errors import ConfigurationError, UnknownConfigError, UnknownOptionError, UnknownSplitError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import ReadInstruction, Split
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
    with pytest.raises(UnknownConfigError, match=r"'german' is no config of .*'english', 'french'"):
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
    with pytest.raises(UnknownOptionError, match="'langage'"):
        Languages(cache_dir=str(tmp_path), config_name="english", langage="de")
    with pytest.raises(UnknownOptionError, match="'langage'"):
        Single(cache_dir=str(tmp_path), langage="de")


@pytest.mark.parametrize("described", [None, {"description": "x"}])
def test_an_info_that_is_none_is_refused(tmp_path, described):
    class Undescribed(Single):
        def _info(self):
            return described

    with pytest.raises(ConfigurationError, match=r"_info of Undescribed returns .*\. Return a DatasetInfo\."):
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


# -- reading -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("split", "rows"),
    [
        ("train", list(range(10))),
        (Split.TEST, list(range(4))),
        ("train[2:4]", [2, 3]),
        (ReadInstruction("train", to=20, unit="%"), [0, 1]),
        ("train[:1]+test[-1:]", [0, 3]),
        ("all", [*range(10), *range(4)]),
    ],
)
def test_a_split_expression_gives_its_rows(built, split, rows):
    assert [row["id"] for row in built.as_dataset(split)] == rows


def test_nests_of_splits_come_back_in_their_shape(built):
    listed = built.as_dataset(["train[:1]", ("test", {"a": "test[:2]"})])

    assert len(listed[0]) == 1
    assert isinstance(listed[1], tuple)
    assert len(listed[1][0]) == 4
    assert len(listed[1][1]["a"]) == 2


def test_no_split_is_all_of_them_by_name(built):
    assert {name: len(split) for name, split in built.as_dataset().items()} == {"train": 10, "test": 4}


def test_an_unknown_split_is_named_with_those_that_exist(built):
    with pytest.raises(UnknownSplitError, match="'train', 'test'"):
        built.as_dataset("validation")


@pytest.mark.parametrize("in_memory", [False, True])
def test_rows_are_the_same_in_memory(built, in_memory):
    assert [row["id"] for row in built.as_dataset("train", in_memory=in_memory)] == list(range(10))


def test_small_datasets_are_read_into_memory_where_the_settings_say_so(built):
    with config.using(max_memory_bytes=1 << 20):
        assert len(built.as_dataset("train")) == 10


def test_the_info_of_a_built_dataset_has_splits_and_sizes(built):
    info = built.as_dataset("train").info

    assert (info.splits["train"].num_examples, info.splits["train[:50%]"].num_examples) == (10, 5)
    assert info.dataset_size == sum(split.num_bytes for split in info.splits.values())
    assert (info.builder_name, info.dataset_name, info.config_name) == (built.name, "single", "default")
    assert built.info.features == FEATURES


def test_equal_slices_have_equal_fingerprints(built):
    again = Single(cache_dir=built.cache_dir.partition("/single/")[0], dataset_name="single")
    again.download_and_prepare()

    assert again.as_dataset("train[:5]")._fingerprint == built.as_dataset("train[:5]")._fingerprint
    assert again.as_dataset("train[:5]")._fingerprint != built.as_dataset("train[:6]")._fingerprint


CLASS_OF_A_NOTEBOOK = """
import datasets_core as datasets
FACTOR = {factor}

class Rows(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({{"a": datasets.Value("int64")}}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator(name="train", gen_kwargs={{"n": 2}})]

    def _generate_examples(self, n):
        for i in range(n):
            yield i, {{"a": i * FACTOR}}
"""


def test_a_class_without_a_file_is_told_from_another_by_its_code(tmp_path):
    found = []
    for factor in (2, 2, 3):
        names = {"__name__": "of_no_file"}
        exec(CLASS_OF_A_NOTEBOOK.format(factor=factor), names)
        builder = names["Rows"](cache_dir=str(tmp_path))
        builder.download_and_prepare()
        found.append((builder.cache_dir, builder.as_dataset(split="train")["a"][:]))

    assert [rows for _, rows in found] == [[0, 2], [0, 2], [0, 3]]
    assert found[0][0] == found[1][0]

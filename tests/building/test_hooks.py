"""What authors write."""

from dataclasses import dataclass

import pyarrow as pa
import pytest

from datasets_core.building.hooks import BuilderConfig, Replay, SplitGenerator, change_config, make_config, option_names
from datasets_core.errors import ConfigurationError, UnknownOptionError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.meta.splits import Split


def test_a_split_generator_knows_its_split():
    made = SplitGenerator(name=Split.TRAIN, gen_kwargs={"path": "a"})

    assert (made.name, made.gen_kwargs, made.split_info.name) == ("train", {"path": "a"}, "train")


def test_split_generators_share_no_arguments():
    assert SplitGenerator("a").gen_kwargs is not SplitGenerator("b").gen_kwargs


def test_a_request_to_read_again_carries_its_schema():
    schema = pa.schema({"a": pa.string()})

    assert Replay(schema).schema is schema


# Configs: their ids, and how the user's options change them.


@dataclass(eq=False)
class Dataclass(BuilderConfig):
    lower: bool = False


class Plain(BuilderConfig):
    def __init__(self, pair=("en", "fr"), **kwargs):
        super().__init__(name="-".join(pair), version="1.2.0", **kwargs)
        self.pair = pair


@pytest.mark.parametrize(
    ("options", "config_id"),
    [
        ({}, "default"),
        ({"name": "default", "version": "1.0.0", "data_dir": None}, "default"),
        ({"lower": True}, "default-lower=True"),
        ({"size": 3, "lower": True}, "default-lower=True,size=3"),
        ({"sep": "\t"}, "default-sep=%09"),
        ({"data_dir": "some//data/"}, "default-data_dir=some%2Fdata"),
    ],
)
def test_short_options_are_spelled_out(options, config_id):
    assert BuilderConfig().create_config_id(options) == config_id


def test_long_or_deep_options_are_hashed():
    long = BuilderConfig().create_config_id({"text": "x" * 40})
    deep = BuilderConfig().create_config_id({"columns": ["a", "b"]})

    assert long != deep
    assert "x" * 40 not in long
    assert deep == BuilderConfig().create_config_id({"columns": ["a", "b"]})
    assert deep != BuilderConfig().create_config_id({"columns": ["b", "a"]})


def test_features_and_data_files_change_the_id():
    files = [DataFilesDict(train=DataFilesList(["a.csv"], [("a.csv", 3, mtime)])) for mtime in ("1", "2")]
    ids = {
        BuilderConfig().create_config_id({}),
        BuilderConfig().create_config_id({}, Features({"a": Value("int8")})),
        *(BuilderConfig(data_files=found).create_config_id({}) for found in files),
    }

    assert len(ids) == 4


@pytest.mark.parametrize("name", ["a/b", "a:b", "", "..", None, 'a"b'])
def test_a_name_that_is_no_folder_is_refused(name):
    with pytest.raises(ConfigurationError):
        BuilderConfig(name)


def test_options_of_dataclasses_and_of_plain_classes_are_known():
    own = ["name", "version", "data_dir", "data_files", "description"]
    assert option_names(Dataclass) == [*own, "lower", "supported_versions", "release_notes"]
    assert option_names(Plain) == ["pair", *own, "supported_versions", "release_notes"]


@pytest.mark.parametrize("config_class", [Dataclass, Plain])
def test_an_unknown_option_is_named_with_those_that_exist(config_class):
    with pytest.raises(UnknownOptionError, match=r"Unknown option 'wrong' for 'reviews'.*'description'"):
        make_config(config_class, {"wrong": 1}, builder="reviews")


def test_changing_a_config_leaves_it_alone():
    declared = Plain(("de", "en"))

    changed = change_config(declared, {"pair": ("de", "pl"), "data_dir": None}, builder="wmt")

    assert (declared.pair, changed.pair, changed.name) == (("de", "en"), ("de", "pl"), "de-en")
    with pytest.raises(UnknownOptionError, match=r"Unknown option 'pears' for 'wmt'.*'pair'"):
        change_config(declared, {"pears": 1}, builder="wmt")


def test_a_commit_of_the_hub_is_no_part_of_an_id_and_the_hash_of_a_file_is():
    def config_id(commit, etag, path="a.csv"):
        url = f"hf://datasets/org/set@{commit * 40}/{path}"
        return BuilderConfig("en", data_files=DataFilesDict(train=DataFilesList([url], [(url, 3, etag)]))).create_config_id({})

    assert config_id("a", "x") == config_id("b", "x")
    assert len({config_id("a", "x"), config_id("a", "y"), config_id("a", "x", "b.csv")}) == 3

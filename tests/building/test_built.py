"""What a builder built is read by split expressions, in the shape that they are asked for."""

import pathlib

import pytest

from datasets_core import config
from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.errors import ConfigurationError, UnknownSplitError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.splits import ReadInstruction, Split

FEATURES = Features({"id": Value("int64")})


class Single(GeneratorBasedBuilder):
    def _info(self):
        return DatasetInfo(features=FEATURES)

    def _split_generators(self, dl_manager):
        return [SplitGenerator(Split.TRAIN, {"count": 10}), SplitGenerator(Split.TEST, {"count": 4})]

    def _generate_examples(self, count):
        for row in range(count):
            yield row, {"id": row}


@pytest.fixture
def built(tmp_path):
    builder = Single(cache_dir=str(tmp_path), dataset_name="Single")
    builder.download_and_prepare()
    return builder


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


class Processed(Single):
    name_of_file = "index.txt"

    def _post_processing_resources(self, split):
        return {"index": self.name_of_file}

    def _post_process(self, dataset, resources_paths):
        path = pathlib.Path(resources_paths["index"])
        if not path.exists():
            path.write_text("made once")
        return dataset.add_column("note", [path.read_text()] * len(dataset)) if len(dataset) < 10 else None


def test_what_an_author_does_to_a_dataset_that_is_read_is_done(tmp_path):
    builder = Processed(cache_dir=str(tmp_path))
    builder.download_and_prepare()

    assert builder.as_dataset("train[:1]")[0] == {"id": 0, "note": "made once"}
    assert builder.as_dataset()["test"][3] == {"id": 3, "note": "made once"}
    assert builder.as_dataset("train").column_names == ["id"]
    assert builder.as_dataset(["test"])[0].column_names == ["id", "note"]


def test_files_of_an_author_stand_beside_the_dataset_and_nowhere_else(tmp_path):
    builder = Processed(cache_dir=str(tmp_path))
    builder.download_and_prepare()
    builder.name_of_file = "../out.txt"

    with pytest.raises(ConfigurationError, match=r"names the file '\.\./out\.txt'"):
        builder.as_dataset("test")

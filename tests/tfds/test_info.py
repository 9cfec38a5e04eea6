"""`tfds.core.ReadInstruction`: arguments in TFDS's order, instructions of the library."""

import copy
import json
import os
import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import datasets_core
from datasets_core import tfds
from datasets_core.errors import ConfigurationError, SplitSyntaxError
from datasets_core.tfds.info import DatasetInfo, text_beside


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "train"),
        ((None, 20), "train[:20]"),
        ((None, 20, "abs"), "train[:20]"),
        ((None, 20, None), "train[:20]"),
        ((10,), "train[10:]"),
        ((10, None), "train[10:]"),
        ((10, 20), "train[10:20]"),
        ((None, 20, "%"), "train[:20%]"),
        ((10, None, "%", "closest"), "train[10%:]"),
        ((1, 2, "shard"), "train[1shard:2shard]"),
        ((None, 20, "%", "pct1_dropremainder"), "train[:20%](pct1_dropremainder)"),
    ],
)
def test_arguments_come_in_the_order_of_tfds(arguments: tuple[Any, ...], text: str) -> None:
    named = dict(zip(("from_", "to", "unit", "rounding"), arguments, strict=False))
    found = tfds.core.ReadInstruction("train", *arguments)
    assert found == datasets_core.ReadInstruction("train", **named) == tfds.core.ReadInstruction("train", **named)
    assert found.to_spec() == text


@pytest.mark.parametrize(
    "arguments", [("all",), ("train", 10, "%"), ("train", "closest", 10, 20, "%"), ("train", 0, 1, "rows")]
)
def test_what_means_nothing_in_that_order_is_refused(arguments: tuple[Any, ...]) -> None:
    with pytest.raises((SplitSyntaxError, ConfigurationError)):
        tfds.core.ReadInstruction(*arguments)


def test_it_makes_instructions_of_the_library_and_all_of_them_are_instances() -> None:
    made = tfds.core.ReadInstruction("train", None, 20)
    assert type(made) is datasets_core.ReadInstruction
    total = made + "test" + tfds.core.ReadInstruction("validation", 5)
    assert total == datasets_core.ReadInstruction.from_spec("train[:20]+test+validation[5:]")
    read = tfds.core.ReadInstruction.from_spec("train[:20]")
    assert read == made and hash(read) == hash(made) and type(read) is datasets_core.ReadInstruction
    for each in (made, total, read, datasets_core.ReadInstruction("train"), tfds.even_splits("train", 2)[0]):
        assert isinstance(each, tfds.core.ReadInstruction)
    assert not isinstance("train", tfds.core.ReadInstruction)
    assert issubclass(datasets_core.ReadInstruction, tfds.core.ReadInstruction)


def test_it_travels() -> None:
    made = tfds.core.ReadInstruction("train", None, 20)
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert pickle.loads(pickle.dumps(tfds.core.ReadInstruction)) is tfds.core.ReadInstruction


# `tfds.core.DatasetInfo`: its fields, and what of it is stored.

GOLDEN = Path(__file__).parent / "golden"


def test_texts_are_trimmed_and_keys_compare_with_tuples() -> None:
    info = tfds.core.DatasetInfo(description="\n    One\n    two\n", supervised_keys=("x", "y"), metadata={"k": 1})
    assert (info.description, info.supervised_keys, tuple(info.supervised_keys)) == ("One\ntwo", ("x", "y"), ("x", "y"))
    assert (len(info.supervised_keys), info.supervised_keys[1], info.metadata) == (2, "y", {"k": 1})


def test_what_the_library_does_not_store_is_kept_beside_it() -> None:
    known = tfds.core.DatasetInfo(features={"x": "int64"}, supervised_keys=({"a": "x"}, "y", "z"), metadata={"k": 1})
    stored = json.loads(json.dumps(known.to_dict()))
    again = DatasetInfo.of(DatasetInfo.from_dict.__func__(DatasetInfo.__mro__[1], stored), known=known, data_dir="/d")
    assert (again.supervised_keys, again.metadata, again.data_dir) == (({"a": "x"}, "y", "z"), {"k": 1}, "/d")
    assert type(again.features) is tfds.features.FeaturesDict


def test_an_info_shows_what_is_known_of_a_dataset(numbers: Any, data_dir: str) -> None:
    builder = numbers(data_dir=data_dir)
    assert (builder.info.initialized, dict(builder.info.splits), builder.info.data_dir) == (
        False,
        {},
        f"{data_dir}/numbers/1.0.0",
    )
    builder.download_and_prepare()
    assert builder.info.initialized
    assert "numbers/1.0.0" in repr(builder.info)
    assert builder.info.copy().full_name == "numbers/1.0.0"
    assert builder.info.homepage == "https://x.org"


def test_texts_beside_a_script_are_read_where_they_are(tmp_path: Any) -> None:
    (tmp_path / "README.md").write_text(" Hello \n")
    assert text_beside(str(tmp_path / "script.py"), "README.md") == "Hello"
    assert text_beside(str(tmp_path / "script.py"), "CITATIONS.bib") == text_beside(None, "README.md") == ""
    os.mkfifo(tmp_path / "CITATIONS.bib")  # nobody writes into it
    assert text_beside(str(tmp_path / "script.py"), "CITATIONS.bib") == ""


def test_a_translation_may_be_all_columns(data_dir: str) -> None:
    class Translated(tfds.core.GeneratorBasedBuilder):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            features = tfds.features.Translation(languages=["en", "fr"])
            return tfds.core.DatasetInfo(builder=self, features=features, supervised_keys=("en", "fr"))

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": [(0, {"en": "yes", "fr": "oui"})]}

        _generate_examples: Any = None

    (pair,) = tfds.load("translated", split="train", data_dir=data_dir, as_supervised=True)
    assert pair == ("yes", "oui")


def test_what_tensorflow_datasets_recorded_of_a_folder_is_shown() -> None:
    info = tfds.builder_from_directory(GOLDEN / "parts" / "en" / "1.2.0").info
    assert (info.file_format, info.config_description, info.copy().file_format) == ("tfrecord", "the en one", "tfrecord")
    assert (DatasetInfo(features={"x": "int64"}).file_format, DatasetInfo().config_description) == (None, None)


def test_a_config_named_default_is_part_of_the_name_if_it_is_listed(data_dir: str) -> None:
    class Heard(tfds.core.GeneratorBasedBuilder, skip_registration=True):
        VERSION = tfds.core.Version("1.0.0")
        BUILDER_CONFIGS: ClassVar[Any] = [tfds.core.BuilderConfig(name="default"), tfds.core.BuilderConfig(name="other")]

        def _info(self) -> Any:
            keys = ({"b": "b", "a": "a"}, "c")
            return self.dataset_info_from_configs(features={"a": np.int64, "b": np.int64, "c": np.int64}, supervised_keys=keys)

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples()}

        def _generate_examples(self) -> Any:
            yield 0, {"a": 1, "b": 2, "c": 3}

    builder = Heard(data_dir=data_dir)
    assert builder.info.full_name == "heard/default/1.0.0"
    assert str(builder.info.supervised_keys) == "({'a': 'a', 'b': 'b'}, 'c')"
    builder.download_and_prepare()
    assert builder.info.full_name == "heard/default/1.0.0"
    assert tfds.builder_from_directory(builder.data_dir).info.full_name == "heard/default/1.0.0"
    assert Heard(data_dir=data_dir, config="other").info.full_name == "heard/other/1.0.0"


def test_files_beside_the_script_prevail(tmp_path: Any) -> None:
    script = tmp_path / "told" / "told_dataset_builder.py"
    script.parent.mkdir()
    (script.parent / "README.md").write_text("From the file.\n")
    script.write_text(
        "import numpy as np\nimport tensorflow_datasets.public_api as tfds\n"
        "class Builder(tfds.core.GeneratorBasedBuilder):\n"
        "    VERSION = tfds.core.Version('1.0.0')\n"
        "    def _info(self):\n"
        "        return self.dataset_info_from_configs(\n"
        "            features=tfds.features.FeaturesDict({'a': np.int64}), description='argument', citation='@argument')\n"
        "    def _split_generators(self, dl_manager):\n        return {'train': self._generate_examples()}\n"
        "    def _generate_examples(self):\n        yield 0, {'a': 1}\n"
    )
    info = tfds.builder(str(script), data_dir=tmp_path).info
    assert (info.description, info.citation) == ("From the file.", "@argument")


def test_shapes_of_nested_datasets_are_those_of_their_elements() -> None:
    features = tfds.features.FeaturesDict(
        {
            "steps": tfds.features.Dataset({"a": np.float32, "o": {"x": tfds.features.Tensor(shape=(3,), dtype=np.int64)}}),
            "rewards": tfds.features.Dataset(np.float32),
            "words": tfds.features.Sequence({"a": np.int64}),
            "sound": tfds.features.Audio(shape=(1000,)),
        }
    )
    shapes = {"steps": {"a": (), "o": {"x": (3,)}}, "rewards": (), "words": {"a": (None,)}, "sound": (1000,)}
    assert features.shape == shapes
    assert isinstance(features["steps"], tfds.features.Dataset)
    assert isinstance(features["steps"], tfds.features.Sequence)

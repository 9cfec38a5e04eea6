"""Builders of words that stand one a line."""

import io
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image

from datasets_core import progress
from datasets_core.errors import ConfigurationError, DatasetsCoreError
from datasets_core.tfds import utils
from datasets_core.tfds.utils import (
    ConllBuilderConfig,
    ConllDatasetBuilder,
    GraphVisualizerMetadataDict,
    get_conllu_example,
    get_xtreme_pos_example,
    testing,
    visualization,
)


class Words(ConllDatasetBuilder, skip_registration=True):
    VERSION = "1.0.0"
    BUILDER_CONFIGS: ClassVar[list[Any]] = [
        ConllBuilderConfig(name="a", separator="\t", ordered_features={"tokens": [str], "tags": [str]})
    ]

    def _info(self) -> Any:
        return self.create_dataset_info(homepage="https://example.org")

    def _split_generators(self, dl_manager: Any) -> Any:
        return {"train": self._generate_examples(self.base_path)}


def test_sentences_are_rows(tmp_path: Path, data_dir: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("-DOCSTART-\tO\n\na\tA\nb\tB \n\nc\tC\n")
    builder = Words(data_dir=data_dir, base_path=str(path))
    builder.download_and_prepare()
    rows = sorted(map(str, builder.as_dataset("train")))
    assert rows == ["{'tokens': ['a', 'b'], 'tags': ['A', 'B']}", "{'tokens': ['c'], 'tags': ['C']}"]
    path.write_text("a\tb\tc\n")
    with pytest.raises(DatasetsCoreError, match=r"Line 1 of .* has 3 columns"):
        Words(data_dir=data_dir + "2", base_path=str(path)).download_and_prepare()


def test_sentences_of_conllu() -> None:
    class Sentence(list[dict[str, Any]]):
        metadata: dict[str, str]

    sentence = Sentence(
        [{"form": "A", "lemma": "a", "upos": "DET", "head": 2}, {"form": "_", "lemma": "b", "upos": "X", "head": 0}]
    )
    sentence.metadata = {"sent_id": "s1"}
    names = ("idx", "tokens", "lemmas", "upos", "head", "text")
    assert get_conllu_example(sentence, 0, names) == {
        "idx": "s1", "tokens": ["A", "_"], "lemmas": ["a", "b"], "upos": ["DET", "X"], "head": ["2", "0"], "text": "A _",
    }  # fmt: skip
    assert get_xtreme_pos_example(sentence, 0, ("tokens", "upos")) == {"tokens": ["A"], "upos": ["DET"]}


# The tags are those of the shared tasks.


def test_tags() -> None:
    assert (len(utils.POS_TAGS), len(utils.CHUNK_TAGS), len(utils.NER_TAGS), len(utils.UPOS)) == (
        47,
        23,
        9,
        18,
    )
    assert utils.NER_TAGS[:3] == ("O", "B-PER", "I-PER")
    assert list(utils.CONLL_2003_CONFIG.features_dict) == ["tokens", "pos", "chunks", "ner"]
    config = utils.get_universal_morphology_config("af", utils.UNIVERSAL_DEPENDENCIES_FEATURES, "x")
    assert (config.name, config.language, config.features_dict["upos"].num_classes) == ("x", "af", 18)


# Names for tests and pictures may be imported.


def test_they_may_be_derived_from_and_not_called() -> None:
    class Case(testing.DatasetBuilderTestCase):  # type: ignore[misc]
        SPLITS = {"train": 3}  # noqa: RUF012 - as authors write it

    assert Case.SPLITS == {"train": 3}
    with pytest.raises(ConfigurationError) as caught:
        testing.test_main()
    assert caught.value.value == "test_main"
    with pytest.raises(ConfigurationError) as caught:
        testing.mock.more()
    assert caught.value.value == "mock.more"
    for missing in (testing, testing.mock):
        with pytest.raises(AttributeError):
            _ = missing._private


def test_graphs_are_described() -> None:
    assert visualization.GraphVisualizerMetadataDict is GraphVisualizerMetadataDict
    assert GraphVisualizerMetadataDict(edgelist_feature_name="e")["edgelist_feature_name"] == "e"


# Names of types stand in annotations.


def test_they_take_others() -> None:
    def function(a: utils.Tree[int], b: utils.PathLike, c: utils.ListOrTreeOrElem[str]) -> utils.Key:
        return b and a and c  # type: ignore[return-value]

    assert function(1, "b", "c") == "c"


# The small functions of `tfds.core.utils`.


def test_nests_are_flattened_and_packed() -> None:
    nest = {"a": {"b": 1, "c": {"d": 2}}, "e": 3}
    flat = utils.flatten_nest_dict(nest)
    assert flat == {"a/b": 1, "a/c/d": 2, "e": 3}
    assert utils.pack_as_nest_dict(flat, nest) == nest
    assert utils.map_nested(str, (1, [2]), map_tuple=True) == ("1", ["2"])
    assert utils.map_nested(len, {"a": [1, 2]}, dict_only=True) == {"a": 2}
    assert utils.zip_nested({"a": [1]}, {"a": [2]}, dict_only=True) == {"a": ([1], [2])}
    with pytest.raises(KeyError):
        list(utils.zip_dict({"a": 1}, {"b": 1}))


@pytest.mark.parametrize(("given", "expected"), [("True", True), (" false", False), ("1", True), ("0", False), (0, False)])
def test_words_for_true_and_false(given: Any, expected: bool) -> None:
    assert utils.parse_bool(given) is expected


def test_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match="maybe"):
        utils.parse_bool("maybe")


def test_sizes_and_texts() -> None:
    assert [str(utils.Size(count)) for count in (5, 2048, 3 * utils.GiB)] == ["5 bytes", "2.00 KiB", "3.00 GiB"]
    assert utils.dedent(None) == ""
    assert utils.TextEncoderConfig().name == "plain_text"
    assert utils.TextEncoderConfig(encoder_cls=dict).name == "dict"
    assert utils.FileFormat("tfrecord") is utils.FileFormat.TFRECORD
    calls = []

    @utils.memoize()
    def once(n: int) -> int:
        calls.append(n)
        return n

    assert (once(1), once(1), calls) == (1, 1, [1])


def test_bars_are_shown_or_not() -> None:
    was = progress.is_progress_bar_enabled()
    utils.display_progress_bar(not was)
    assert progress.is_progress_bar_enabled() is not was
    utils.display_progress_bar(was)


@pytest.mark.parametrize(
    ("mode", "form", "convert"), [("CMYK", "JPEG", utils.jpeg_cmyk_to_rgb), ("RGBA", "PNG", utils.png_to_jpeg)]
)
def test_pictures_are_turned_into_jpeg(mode: str, form: str, convert: Any) -> None:
    written = io.BytesIO()
    Image.fromarray(np.full((8, 8, 4), 100, np.uint8), mode).save(written, form)
    found = Image.open(io.BytesIO(convert(written.getvalue())))
    assert (found.format, found.mode, found.size) == ("JPEG", "RGB", (8, 8))

"""Builders of words that stand one a line."""

from pathlib import Path
from typing import Any, ClassVar

import pytest

from datasets_core.errors import DatasetsCoreError
from datasets_core.tfds.utils import ConllBuilderConfig, ConllDatasetBuilder, get_conllu_example, get_xtreme_pos_example


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

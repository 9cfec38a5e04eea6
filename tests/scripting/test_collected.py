"""Modules of a collection are found in it, or beside the script."""

from pathlib import Path

import pytest

from datasets_core.errors import ScriptError
from datasets_core.load import load_dataset
from datasets_core.scripting.modules import read_script

BUILDER = """
import numpy as np
import tensorflow_datasets.public_api as tfds
from tensorflow_datasets.words import words_lib
import tensorflow_datasets.words.more_lib as more


class One(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        names = tfds.features.ClassLabel(names_file=tfds.core.tfds_path("words/names.txt"))
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"n": np.int64, "l": names}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        from tensorflow_datasets.words import words_lib as again

        assert again is words_lib
        yield 0, {"n": words_lib.NUMBER + more.NUMBER, "l": "b"}
"""


def _write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "words_lib.py").write_text("from tensorflow_datasets.words import more_lib\nNUMBER = more_lib.NUMBER + 1\n")
    (folder / "more_lib.py").write_text("NUMBER = 20\n")
    (folder / "names.txt").write_text("a\nb\n")


def test_in_the_collection(tmp_path: Path) -> None:
    root = tmp_path / "tensorflow_datasets"
    _write(root / "words")
    (root / "words" / "__init__.py").write_text("raise RuntimeError('it is not run')\n")
    script = root / "one" / "one.py"
    script.parent.mkdir()
    script.write_text(BUILDER)
    assert load_dataset(str(script), split="train", cache_dir=tmp_path / "c").to_list() == [{"n": 41, "l": 1}]
    names = [module.name for module in read_script(script).modules]
    assert names == ["one", "tensorflow_datasets.words.words_lib", "tensorflow_datasets.words.more_lib"]


def test_beside_the_script(tmp_path: Path) -> None:
    _write(tmp_path / "here")
    script = tmp_path / "here" / "one.py"
    script.write_text(BUILDER)
    assert load_dataset(str(script), split="train", cache_dir=tmp_path / "c")["n"][:] == [41]


def test_nowhere(tmp_path: Path) -> None:
    script = tmp_path / "one.py"
    script.write_text(BUILDER)
    with pytest.raises(ScriptError, match=r"line 4.*tensorflow_datasets has no 'words' here.*beside the script"):
        load_dataset(str(script), cache_dir=tmp_path / "c")


def test_a_changed_module_is_another_script(tmp_path: Path) -> None:
    _write(tmp_path)
    script = tmp_path / "one.py"
    script.write_text(BUILDER)
    before = read_script(script).digest
    (tmp_path / "more_lib.py").write_text("NUMBER = 21\n")
    assert read_script(script).digest != before

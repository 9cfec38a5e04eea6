"""What a dataset is made of, as its lock says it; what is refused is tested with `lock_dataset`."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core._version import __version__
from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.lock import held_to, lock_of
from datasets_core.errors import DataFilesNotFoundError, LockDriftError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset_builder
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.equality import data_fingerprint


class Numbers(GeneratorBasedBuilder):
    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"number": Value("int64")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator("train", {"below": 3})]

    def _generate_examples(self, below: int) -> Any:
        yield from ((number, {"number": number}) for number in range(below))


def _built(path: Path, **options: Any) -> Any:
    builder = load_dataset_builder("csv", data_files=str(path), cache_dir=str(path.parent / "cache"), **options)
    builder.download_and_prepare()
    return builder


def test_a_lock_says_what_the_dataset_is_made_of(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x;y\n1;2\n")
    lock = lock_of(_built(path, sep=";"), str(tmp_path))
    assert [(file.kind, file.place, file.size) for file in lock.files or ()] == [("path", "a.csv", 8)]
    assert lock.options == {"sep": ";"}
    assert list(lock.features or ()) == ["x", "y"]
    assert [(split.name, split.rows) for split in lock.splits or ()] == [("train", 1)]
    assert lock.fingerprint == data_fingerprint({split.name: split.sha256 for split in lock.splits or ()})
    assert lock.library_versions["datasets_core"] == __version__
    assert lock.library_versions["pyarrow"] == pa.__version__
    assert lock.script == ""


def test_a_class_without_a_script_file_is_locked_by_its_code(tmp_path: Path) -> None:
    builder = Numbers(cache_dir=str(tmp_path))
    builder.download_and_prepare()
    lock = lock_of(builder, str(tmp_path))
    assert len(lock.script) == 64
    again = Numbers(cache_dir=str(tmp_path / "new"))
    with held_to(lock, "dataset.lock", again, str(tmp_path)):
        again.download_and_prepare()


def test_options_that_json_has_no_word_for_are_told_by_their_hash(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n")
    lock = lock_of(_built(path, false_values=("no",)), str(tmp_path))
    assert str(lock.options["false_values"]).startswith("tuple ")


def test_a_source_that_is_gone_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n")
    builder = _built(path)
    lock = lock_of(builder, str(tmp_path))
    path.unlink()
    with pytest.raises(DataFilesNotFoundError, match=r"a\.csv, which the dataset is made of, cannot be read"):
        lock_of(builder, str(tmp_path))
    with pytest.raises(LockDriftError, match=r"a\.csv is gone"), held_to(lock, "dataset.lock", builder, str(tmp_path)):
        pass

"""What tells the files of a dataset is a part of its info that is neither compared nor stored."""

import copy
import pickle
from pathlib import Path

from datasets_core.load import load_dataset
from datasets_core.meta.info import DatasetInfo


def _built(tmp_path: Path) -> DatasetInfo:
    (tmp_path / "a.csv").write_text("x,y\n1,a\n")
    return load_dataset("csv", data_files=str(tmp_path / "a.csv"), split="train", cache_dir=str(tmp_path / "cache")).info


def test_an_info_with_files_is_stored_and_compared_as_before(tmp_path: Path) -> None:
    info = _built(tmp_path)
    plain = DatasetInfo.from_dict(info.to_dict())
    assert info == plain
    assert "origin" not in repr(info)
    assert not [key for key in info.to_dict() if "origin" in key]


def test_copies_and_pickles_of_an_info_know_the_files(tmp_path: Path) -> None:
    info = _built(tmp_path)
    for other in (info.copy(), copy.deepcopy(info), pickle.loads(pickle.dumps(info)), DatasetInfo().update(info)):
        assert other.to_croissant()["distribution"] == info.to_croissant()["distribution"]


def test_a_builder_knows_its_files_before_it_is_built(tmp_path: Path) -> None:
    from datasets_core.load import load_dataset_builder

    (tmp_path / "a.csv").write_text("x,y\n1,a\n")
    builder = load_dataset_builder("csv", data_files=str(tmp_path / "a.csv"), cache_dir=str(tmp_path / "cache"))
    (file,) = builder.info.to_croissant()["distribution"]
    assert file["contentUrl"] == "a.csv"

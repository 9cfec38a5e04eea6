"""A saved dataset is described by the files of its folder."""

import hashlib
from pathlib import Path

from datasets_core.dataset.dataset import Dataset
from datasets_core.load import load_from_disk


def test_a_saved_dataset_is_told_by_its_files(tmp_path: Path) -> None:
    Dataset.from_dict({"a": [1, 2, 3]}).save_to_disk(tmp_path / "saved", num_shards=2)
    found = load_from_disk(str(tmp_path / "saved"))
    objects = [node for node in found.info.to_croissant()["distribution"] if "contentUrl" in node]
    assert {node["contentUrl"]: node["sha256"] for node in objects} == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (tmp_path / "saved").glob("*.arrow")
    }
    assert found.info.to_croissant(tmp_path)["distribution"][0]["contentUrl"].startswith("saved/")


def test_columns_that_are_in_no_file_are_not_told(tmp_path: Path) -> None:
    Dataset.from_dict({"a": [1, 2, 3]}).save_to_disk(tmp_path / "saved")
    found = load_from_disk(str(tmp_path / "saved")).map(lambda row: {"b": 1}, keep_in_memory=True)
    assert [field["name"] for field in found.info.to_croissant()["recordSet"][-1]["field"]] == ["a"]

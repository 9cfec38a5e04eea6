"""Saved datasets of several splits: all of them or none, and each known from a folder of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError, FileNotFoundDatasetsError
from datasets_core.io.save_to_disk import holds_group, load_group, load_one, save_group

SPLITS = st.dictionaries(
    st.sampled_from(["train", "test", "été", "a b"]), st.lists(st.integers(0, 9), max_size=5), min_size=1, max_size=3
)


def _datasets(splits: dict[str, list[int]]) -> dict[str, Dataset]:
    return {name: Dataset.from_dict({"n": values}) for name, values in splits.items()}


@settings(max_examples=15)
@given(SPLITS)
def test_splits_come_back_by_name_and_in_order(splits: dict[str, list[int]]) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        save_group(_datasets(splits), folder, num_shards=dict.fromkeys(splits, 1))

        found = load_group(Dataset, folder)

        assert {name: dataset["n"][:] for name, dataset in found.items()} == splits
        assert list(found) == list(splits)


def test_a_folder_is_of_one_dataset_or_of_several(tmp_path: Path) -> None:
    save_group(_datasets({"train": [1]}), tmp_path / "several")
    Dataset.from_dict({"n": [2]}).save_to_disk(tmp_path / "one")

    assert holds_group(tmp_path / "several")
    assert not holds_group(tmp_path / "one")
    assert load_one(Dataset, tmp_path / "one")["n"][:] == [2]


def test_a_folder_of_the_other_kind_says_what_to_call(tmp_path: Path) -> None:
    save_group(_datasets({"train": [1]}), tmp_path / "several")
    Dataset.from_dict({"n": [2]}).save_to_disk(tmp_path / "one")

    with pytest.raises(FileNotFoundDatasetsError, match=r"holds a DatasetDict.*DatasetDict\.load_from_disk"):
        load_one(Dataset, tmp_path / "several")
    with pytest.raises(FileNotFoundDatasetsError, match=r"holds one dataset.*Dataset\.load_from_disk"):
        load_group(Dataset, tmp_path / "one")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", "a\0b"])
def test_a_split_that_names_no_folder_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="cannot name a folder"):
        save_group(_datasets({"train": [1], name: [2]}), tmp_path / "set")

    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize("num_shards", [{"train": 1}, {"train": 1, "test": 1, "more": 1}, 2])
def test_numbers_of_files_are_for_all_splits(tmp_path: Path, num_shards: object) -> None:
    with pytest.raises(ConfigurationError, match="a number for each split: 'train', 'test'"):
        save_group(_datasets({"train": [1], "test": [2]}), tmp_path, num_shards=num_shards)  # type: ignore[arg-type]


def test_a_folder_that_was_not_saved_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data.json").write_text(json.dumps({"n": 1}))

    with pytest.raises(FileNotFoundDatasetsError, match="use load_dataset"):
        holds_group(tmp_path)
    with pytest.raises(FileNotFoundDatasetsError, match="does not exist"):
        load_one(Dataset, tmp_path / "nowhere")


def test_what_is_no_path_is_named() -> None:
    for load in (lambda: load_one(Dataset, 5), lambda: load_group(Dataset, 5), lambda: holds_group(5)):  # type: ignore[arg-type]
        with pytest.raises(ArgumentTypeError, match="5 is not a folder"):
            load()
    with pytest.raises(ArgumentTypeError, match="5 is not a folder"):
        Dataset.from_dict({"a": [1]}).save_to_disk(5)  # type: ignore[arg-type]

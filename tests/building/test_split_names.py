"""The splits that a builder names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.options import LocalFiles, check_split_list, check_split_names, named_splits
from datasets_core.errors import ConfigurationError, ManualDownloadError
from datasets_core.meta.info import DatasetInfo


class Named(GeneratorBasedBuilder):
    splits: ClassVar[Any] = [SplitGenerator("train", {}), SplitGenerator("test", {})]

    def _info(self) -> DatasetInfo:
        return DatasetInfo()

    def _split_generators(self, dl_manager: Any) -> Any:
        return self.splits

    def _generate_examples(self) -> Any:
        return iter(())


def test_splits_come_in_their_order(tmp_path: Any) -> None:
    assert [split.name for split in named_splits(Named(cache_dir=str(tmp_path)), None)] == ["train", "test"]


@pytest.mark.parametrize(("splits", "words"), [(7, "returns 7"), (["train"], "returns 'train'"), ([], "names no splits")])
def test_what_is_no_list_of_splits_is_refused(splits: Any, words: str, tmp_path: Any) -> None:
    class Other(Named):
        pass

    Other.splits = splits
    with pytest.raises(ConfigurationError, match=words):
        named_splits(Other(cache_dir=str(tmp_path)), None)


@pytest.mark.parametrize("names", [[], ["all"], ["a", "a"], ["a b"]])
def test_names_that_mean_nothing_are_refused(names: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="label"):
        check_split_names(names, "label")


def test_arguments_of_a_split_have_names() -> None:
    with pytest.raises(ConfigurationError, match="gen_kwargs of split 'train'"):
        check_split_list([SplitGenerator("train", [1])], "label")  # type: ignore[arg-type]


def test_files_that_come_by_hand_need_a_folder(tmp_path: Any) -> None:
    class Manual(Named):
        @property
        def manual_download_instructions(self) -> str:
            return "Fetch it from the library."

    with pytest.raises(ManualDownloadError, match="from the library"):
        named_splits(Manual(cache_dir=str(tmp_path)), None)


class Asked:
    """A download manager that notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.local_paths: set[str] = set()

    def download(self, paths: Any) -> Any:
        self.asked.append(paths)
        return paths

    def extract(self, path: str) -> str:
        return f"{path}.folder"


def test_local_files_are_given_as_they_are_without_a_manager(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    files = LocalFiles(lambda: pytest.fail("a manager was made"))
    assert files.download({"train": [str(path), str(path)]}) == {"train": [str(path), str(path)]}
    assert files.get_recorded_sizes_checksums() == {str(path): {"num_bytes": 4, "checksum": None}}
    assert files.local_paths == {str(path)} and files.cache_folders == ()
    files.manage_extracted_files()


def test_what_local_files_cannot_do_a_manager_does_which_knows_them(tmp_path: Path) -> None:
    path, manager = tmp_path / "a.zip", Asked()
    path.write_text("zip")
    files = LocalFiles(lambda: manager)
    files.download({"train": [str(path)]})
    assert manager.asked == []
    assert files.extract(str(path)) == f"{path}.folder"
    assert manager.asked == [[str(path)]]


def test_a_local_file_that_is_missing_is_told_by_the_manager(tmp_path: Path) -> None:
    manager = Asked()
    LocalFiles(lambda: manager).download({"train": [str(tmp_path / "none.csv")]})
    assert manager.asked == [{"train": [str(tmp_path / "none.csv")]}]

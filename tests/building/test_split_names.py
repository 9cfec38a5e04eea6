"""The splits that a builder names."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.split_names import check_split_names, check_splits, named_splits
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
        check_splits([SplitGenerator("train", [1])], "label")  # type: ignore[arg-type]


def test_files_that_come_by_hand_need_a_folder(tmp_path: Any) -> None:
    class Manual(Named):
        @property
        def manual_download_instructions(self) -> str:
            return "Fetch it from the library."

    with pytest.raises(ManualDownloadError, match="from the library"):
        named_splits(Manual(cache_dir=str(tmp_path)), None)

from pathlib import Path
from typing import Any

import pytest

from datasets_core import tfds
from datasets_core.building.prepared import builder_from_directory
from datasets_core.errors import ConfigurationError, DatasetNotFoundError
from datasets_core.load import load_dataset

GOLDEN = Path(__file__).parents[1] / "tfds" / "golden"


def files_of(name: str) -> dict[str, bytes]:
    return {path.relative_to(GOLDEN).as_posix(): path.read_bytes() for path in (GOLDEN / name).rglob("*") if path.is_file()}


def test_a_folder_of_the_hub_is_read_as_one_of_this_disk(hub: Any) -> None:
    hub.repo("org/root", files_of("parts") | files_of("labels"))
    own = builder_from_directory(GOLDEN / "parts" / "en" / "1.2.0")
    for opened in (builder_from_directory, tfds.builder_from_directory):
        found: Any = opened("hf://datasets/org/root/parts/en/1.2.0")
        assert found.info.features == own.info.features and found.info.splits == own.info.splits
    assert list(builder_from_directory("hf://datasets/org/root@main/labels/1.0.0").as_streaming_dataset("train")) == list(
        load_dataset(str(GOLDEN / "labels" / "1.0.0"), split="train", streaming=True)
    )


def test_what_is_no_folder_of_a_version_is_told_with_those_below(hub: Any) -> None:
    hub.repo("org/root", {**files_of("labels"), "more/a.csv": b"a\n1\n"})
    with pytest.raises(DatasetNotFoundError, match=r"of one version\. Give one of those below it: hf://.*/labels/1\.0\.0"):
        builder_from_directory("hf://datasets/org/root")
    with pytest.raises(DatasetNotFoundError, match="No dataset stands prepared in hf://datasets/org/root/more"):
        builder_from_directory("hf://datasets/org/root/more")
    with pytest.raises(DatasetNotFoundError, match="names no dataset of the Hub"):
        builder_from_directory("hf://datasets")
    with pytest.raises(ConfigurationError, match=r"builder_from_directory\('hf://datasets/org/root/labels/<version>'\)"):
        tfds.load("labels", data_dir="hf://datasets/org/root")

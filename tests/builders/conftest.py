"""What the tests of the formats share: files on disk, built through the registry."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets_core.load import load_dataset
from datasets_core.resolve.registry import builder_class

Build = Callable[..., Any]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Write files, build them by a format, and give the rows of split `train`.

    The files are a mapping of name to bytes; options go to the config.
    """

    def built(format_name: str, files: dict[str, bytes], **options: Any) -> Any:
        folder = tmp_path / "data"
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        names = [os.fspath(folder / name) for name in files]
        builder = builder_class(format_name)(cache_dir=os.fspath(tmp_path / "cache"), data_files={"train": names}, **options)
        builder.download_and_prepare()
        return builder.as_dataset(split="train")

    return built


@pytest.fixture
def from_folder(tmp_path: Path) -> Build:
    """Write files, load their folder by its path alone, and give the rows of split `train`."""

    def loaded(files: dict[str, bytes]) -> Any:
        for name, content in files.items():
            path = tmp_path / "data" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return load_dataset(os.fspath(tmp_path / "data"), split="train", cache_dir=os.fspath(tmp_path / "cache"))

    return loaded

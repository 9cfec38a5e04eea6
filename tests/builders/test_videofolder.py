"""Films in folders: known by their extensions, labelled by folder, stored as they are."""

import pytest

from datasets_core.features.media.types import Video
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel


@pytest.mark.parametrize("extension", ["mp4", "avi", "mkv", "mov", "mpeg"])
def test_a_folder_of_films_gives_their_bytes_and_labels(from_folder, tmp_path, extension):
    rows = from_folder({f"x/a.{extension}": b"one", f"y/b.{extension}": b"two"})

    assert rows.features == Features({"video": Video(), "label": ClassLabel(names=["x", "y"])})
    assert rows.with_format("arrow")[:].to_pylist() == [
        {"video": {"bytes": b"one", "path": f"{tmp_path}/data/x/a.{extension}"}, "label": 0},
        {"video": {"bytes": b"two", "path": f"{tmp_path}/data/y/b.{extension}"}, "label": 1},
    ]

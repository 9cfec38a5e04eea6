"""PDFs in folders: known by their extensions, labelled by folder, stored as they are."""

import pytest

from datasets_core.features.media.types import Pdf
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel


@pytest.mark.parametrize("extension", ["pdf", "PDF"])
def test_a_folder_of_pdfs_gives_their_bytes_and_labels(from_folder, tmp_path, extension):
    rows = from_folder({f"x/a.{extension}": b"one", f"y/b.{extension}": b"two"})

    assert rows.features == Features({"pdf": Pdf(), "label": ClassLabel(names=["x", "y"])})
    assert rows.with_format("arrow")[:].to_pylist() == [
        {"pdf": {"bytes": b"one", "path": f"{tmp_path}/data/x/a.{extension}"}, "label": 0},
        {"pdf": {"bytes": b"two", "path": f"{tmp_path}/data/y/b.{extension}"}, "label": 1},
    ]

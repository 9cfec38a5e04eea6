"""Images in folders: known by their extensions, decoded, labelled by folder."""

import io
import logging

import pytest

from datasets_core import load_dataset
from datasets_core.builders import _folder
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel


@pytest.mark.optional("PIL")
@pytest.mark.parametrize("extension", ["png", "bmp", "GIF", "tiff"])
def test_a_folder_of_images_gives_pictures_and_their_labels(from_folder, extension):
    from PIL import Image as Pillow

    def picture(color):
        sink = io.BytesIO()
        Pillow.new("RGB", (2, 3), color).save(sink, format=extension.upper())
        return sink.getvalue()

    rows = from_folder({f"dark/a.{extension}": picture("black"), f"light/b.{extension}": picture("white")})

    assert rows.features == Features({"image": Image(), "label": ClassLabel(names=["dark", "light"])})
    assert [(row["image"].size, row["image"].convert("L").getpixel((0, 0)), row["label"]) for row in rows] == [
        ((2, 3), 0, 0),
        ((2, 3), 255, 1),
    ]


def test_a_large_copy_is_announced_with_the_way_to_avoid_it(tmp_path, monkeypatch, caplog):
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "a.png").write_bytes(bytes(1000))
    folder = str(tmp_path / "images")
    monkeypatch.setattr(_folder, "_SAID_BYTES", 1000)
    load_dataset(folder, cache_dir=str(tmp_path / "1"))
    assert caplog.text == ""
    monkeypatch.setattr(_folder, "_SAID_BYTES", 999)
    with caplog.at_level(logging.WARNING):
        for options in ({"embed_files": False}, {"streaming": True}, {}):
            assert caplog.text == ""
            load_dataset(folder, cache_dir=str(tmp_path / "2"), **options)
    assert "embed_files=False" in caplog.text and len(caplog.records) == 1

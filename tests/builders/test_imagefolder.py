"""Images in folders: known by their extensions, decoded, labelled by folder."""

import io

import pytest

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

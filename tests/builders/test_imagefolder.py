"""Images in folders: known by their extensions, decoded, labelled by folder."""

import io
import logging
import zipfile

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


def _archive(path, names, others=()):
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name.encode())
        for name, text in dict(others).items():
            archive.writestr(name, text)
    return str(path)


def test_the_folders_of_one_archive_are_splits_and_labels(tmp_path):
    path = _archive(tmp_path / "pets.zip", ["p/train/cat/1.png", "p/train/dog/2.png", "p/test/dog/3.png", "p/cover.png"])

    made = load_dataset(path, cache_dir=str(tmp_path / "cache"))

    assert {split: rows["label"][:] for split, rows in made.items()} == {"train": [0, 1], "test": [1]}
    assert made["test"].features["label"].names == ["cat", "dog"]
    streamed = load_dataset(path, split="train", streaming=True).select_columns(["label"])
    assert [row["label"] for row in streamed] == [0, 1]


def test_metadata_in_one_archive_describe_the_files_of_each_split(tmp_path):
    whole = {"metadata.csv": "file_name,t\ntrain/1.png,a\ntest/1.png,b\n"}
    each = {"train/metadata.csv": "file_name,t\n1.png,a\n", "test/metadata.csv": "file_name,t\n1.png,b\n"}
    for number, metadata in enumerate((whole, each)):
        path = _archive(tmp_path / f"{number}.zip", ["train/1.png", "test/1.png"], metadata)

        made = load_dataset(path, cache_dir=str(tmp_path / "cache"))

        assert {split: rows["t"][:] for split, rows in made.items()} == {"train": ["a"], "test": ["b"]}

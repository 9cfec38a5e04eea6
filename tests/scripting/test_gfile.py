"""`tf.io.gfile` does what TensorFlow's does, on the disk of this machine."""

import csv
import os
import wave
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.scripting import gfile


def test_texts_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("é\r\nzwei\r\rx\n".encode())
    with gfile.GFile(path) as file:
        assert (file.readline(), file.size(), file.mode) == ("é\r\n", 12, "r")
        assert list(file) == ["zwei\r\rx\n"]
        file.seek(0)
        assert file.read() == "é\r\nzwei\r\rx\n"
    with gfile.GFile(str(path), "rb") as data:
        assert (data.read(2), data.size(), data.seekable()) == ("é".encode(), 12, True)
    assert isinstance(data, gfile.GFile)
    assert not isinstance(path, gfile.GFile)


def test_files_are_written(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path / "a.csv")
    with gfile.Open(path, "w") as file:
        csv.writer(file, lineterminator="\n").writerows([[1, "a"], [2, "ö"]])
    with gfile.FastGFile(path, "a") as file:
        file.write("3,c\n")
    with gfile.GFile(path) as file:
        assert [row[1] for row in csv.reader(file)] == ["a", "ö", "c"]
    with gfile.GFile(tmp_path / "b.wav", "wb") as file, wave.open(file) as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"\0\0")
    assert gfile.stat(tmp_path / "b.wav").length == 46


def test_folders(tmp_path: Path) -> None:
    gfile.makedirs(tmp_path / "x" / "y")
    gfile.makedirs(tmp_path / "x" / "y")
    gfile.mkdir(tmp_path / "z")
    for name in ("x/.a.txt", "x/b.txt", "x/y/c.txt"):
        (tmp_path / name).write_text(name)
    assert sorted(gfile.listdir(tmp_path)) == ["x", "z"]
    found = [path.removeprefix(str(tmp_path)) for path in gfile.glob([f"{tmp_path}/*/*.txt", f"{tmp_path}/x/*/*"])]
    assert found == ["/x/.a.txt", "/x/b.txt", "/x/y/c.txt"]
    assert {root: sorted(files) for root, _, files in gfile.walk(str(tmp_path / "x"))} == {
        str(tmp_path / "x"): [".a.txt", "b.txt"],
        str(tmp_path / "x/y"): ["c.txt"],
    }
    assert gfile.isdir(tmp_path / "x")
    assert not gfile.exists(tmp_path / "nothing")
    gfile.copy(tmp_path / "x/b.txt", tmp_path / "d.txt")
    with pytest.raises(FileExistsError):
        gfile.copy(tmp_path / "x/b.txt", tmp_path / "d.txt")
    gfile.copy(tmp_path / "x/y/c.txt", tmp_path / "d.txt", overwrite=True)
    gfile.rename(tmp_path / "d.txt", tmp_path / "e.txt")
    with pytest.raises(FileExistsError):
        gfile.rename(tmp_path / "e.txt", tmp_path / "z")
    gfile.remove(tmp_path / "e.txt")
    gfile.rmtree(tmp_path / "x")
    assert gfile.listdir(tmp_path) == ["z"]
    assert gfile.stat(tmp_path / "z").is_directory


@pytest.mark.parametrize("use", [gfile.GFile, gfile.exists, gfile.listdir, gfile.glob])
def test_other_places_are_refused(use: Any) -> None:
    with pytest.raises(ConfigurationError, match="gs://bucket/a"):
        use("gs://bucket/a")
    assert gfile.exists("file:///")
    assert gfile.get_registered_schemes() == ["", "file"]

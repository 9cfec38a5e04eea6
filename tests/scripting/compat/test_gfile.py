"""`tf.io.gfile` does what TensorFlow's does, on the disk of this machine."""

import csv
import os
import wave
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.scripting.compat import packages


def test_texts_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("é\r\nzwei\r\rx\n".encode())
    with packages.GFile(path) as file:
        assert (file.readline(), file.size(), file.mode) == ("é\r\n", 12, "r")
        assert list(file) == ["zwei\r\rx\n"]
        file.seek(0)
        assert file.read() == "é\r\nzwei\r\rx\n"
    with packages.GFile(str(path), "rb") as data:
        assert (data.read(2), data.size(), data.seekable()) == ("é".encode(), 12, True)
    assert isinstance(data, packages.GFile)
    assert not isinstance(path, packages.GFile)


def test_files_are_written(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path / "a.csv")
    with packages.Open(path, "w") as file:
        csv.writer(file, lineterminator="\n").writerows([[1, "a"], [2, "ö"]])
    with packages.FastGFile(path, "a") as file:
        file.write("3,c\n")
    with packages.GFile(path) as file:
        assert [row[1] for row in csv.reader(file)] == ["a", "ö", "c"]
    with packages.GFile(tmp_path / "b.wav", "wb") as file, wave.open(file) as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes(b"\0\0")
    assert packages.stat(tmp_path / "b.wav").length == 46


def test_folders(tmp_path: Path) -> None:
    packages.makedirs(tmp_path / "x" / "y")
    packages.makedirs(tmp_path / "x" / "y")
    packages.mkdir(tmp_path / "z")
    for name in ("x/.a.txt", "x/b.txt", "x/y/c.txt"):
        (tmp_path / name).write_text(name)
    assert sorted(packages.listdir(tmp_path)) == ["x", "z"]
    found = [path.removeprefix(str(tmp_path)) for path in packages.glob([f"{tmp_path}/*/*.txt", f"{tmp_path}/x/*/*"])]
    assert found == ["/x/.a.txt", "/x/b.txt", "/x/y/c.txt"]
    assert {root: sorted(files) for root, _, files in packages.walk(str(tmp_path / "x"))} == {
        str(tmp_path / "x"): [".a.txt", "b.txt"],
        str(tmp_path / "x/y"): ["c.txt"],
    }
    assert packages.isdir(tmp_path / "x")
    assert not packages.exists(tmp_path / "nothing")
    packages.copy(tmp_path / "x/b.txt", tmp_path / "d.txt")
    with pytest.raises(FileExistsError):
        packages.copy(tmp_path / "x/b.txt", tmp_path / "d.txt")
    packages.copy(tmp_path / "x/y/c.txt", tmp_path / "d.txt", overwrite=True)
    packages.rename(tmp_path / "d.txt", tmp_path / "e.txt")
    with pytest.raises(FileExistsError):
        packages.rename(tmp_path / "e.txt", tmp_path / "z")
    packages.remove(tmp_path / "e.txt")
    packages.rmtree(tmp_path / "x")
    assert packages.listdir(tmp_path) == ["z"]
    assert packages.stat(tmp_path / "z").is_directory


@pytest.mark.parametrize("use", [packages.GFile, packages.exists, packages.listdir, packages.glob])
def test_other_places_are_refused(use: Any) -> None:
    with pytest.raises(ConfigurationError, match="gs://bucket/a"):
        use("gs://bucket/a")
    assert packages.exists("file:///")
    assert packages.get_registered_schemes() == ["", "file"]

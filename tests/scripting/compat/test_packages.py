"""Paths with the verbs of `etils.epath`."""

import csv
import importlib.util
import logging
import os
import pickle
import wave
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError, MissingDependencyError
from datasets_core.scripting.compat import packages
from datasets_core.scripting.compat import packages as epath
from datasets_core.scripting.compat.packages import Absent, absl_logging, lazy_imports, lazy_modules, six


def test_paths_are_those_of_pathlib(tmp_path: Path) -> None:
    path = epath.Path(tmp_path) / "a" / "{}.txt"
    one = path.format("ä")
    assert isinstance(one, Path)
    assert type(one.parent) is epath.Path
    one.parent.mkdir(parents=True, exist_ok=True)
    one.write_text("ü")
    assert one.read_bytes() == "ü".encode()
    with one.open() as file:
        assert file.read() == one.read_text() == "ü"
    with one.open("rb") as file:
        assert file.read() == "ü".encode()
    assert pickle.loads(pickle.dumps(one)) == one
    assert [found.name for found in (epath.Path(tmp_path) / "a").glob("*.txt")] == ["ä.txt"]
    assert all(type(found) is epath.Path for found in epath.Path(tmp_path).iterdir())


def test_what_epath_adds(tmp_path: Path) -> None:
    folder = epath.Path(tmp_path) / "a"
    folder.mkdir()
    one = folder / "1.txt"
    one.write_text("x")
    two = one.copy(folder / "2.txt")
    with pytest.raises(FileExistsError):
        one.copy(two)
    assert one.copy(two, overwrite=True) == two
    assert [(root.name, sorted(files)) for root, _, files in folder.walk()] == [("a", ["1.txt", "2.txt"])]
    other = folder.copytree(tmp_path / "b")
    folder.rmtree()
    folder.rmtree(missing_ok=True)
    assert (folder.exists(), sorted(path.name for path in other.iterdir())) == (False, ["1.txt", "2.txt"])


def test_urls_keep_their_slashes() -> None:
    assert str(epath.Path("gs://bucket/a") / "b") == "gs://bucket/a/b"
    assert epath.as_path("file:///a/b") == Path("/a/b")
    with pytest.raises(ConfigurationError, match="gs://"):
        epath.as_path("gs://bucket/a")


def test_resources_of_packages() -> None:
    import json

    assert (epath.resource_path(json) / "__init__.py").exists()
    assert epath.resource_path("tensorflow_datasets") == Path()


# `tf.io.gfile` does what TensorFlow's does, on the disk of this machine.


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


# Packages are imported when a script uses them, and named where they are missing.


def test_packages_by_the_names_of_tfds() -> None:
    import PIL.Image
    import pyarrow.parquet

    assert lazy_imports.PIL_Image is PIL.Image
    assert lazy_modules.parquet is pyarrow.parquet
    with pytest.raises(AttributeError):
        _ = lazy_imports._nothing
    with pytest.raises(AttributeError):
        _ = lazy_modules._nothing


def test_missing_ones_are_named_when_they_are_used() -> None:
    with pytest.raises(MissingDependencyError, match="no_such_package"):
        _ = lazy_imports.no_such_package
    absent = lazy_modules.no_such_package
    assert isinstance(absent, Absent)
    with pytest.raises(MissingDependencyError, match="no_such_package"):
        _ = absent.anything
    with pytest.raises(AttributeError):
        _ = absent.__wrapped__


@pytest.mark.skipif(importlib.util.find_spec("tensorflow") is not None, reason="TensorFlow is here")
def test_tensorflow_is_what_stands_in_for_it() -> None:
    assert lazy_modules.tensorflow.int64 == "int64"


# What stands in for packages that TFDS brought along.


def test_absl_logs(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "absl"):
        absl_logging.info("one %d", 1)
        absl_logging.log(absl_logging.ERROR, "two")
        for _ in range(5):
            absl_logging.log_first_n(absl_logging.INFO, "few", 2)
            absl_logging.log_every_n(absl_logging.WARNING, "each third", 3)
    said = [record.getMessage() for record in caplog.records]
    assert (said[:2], said.count("few"), said.count("each third")) == (["one 1", "two"], 2, 2)
    absl_logging.set_verbosity(absl_logging.INFO)
    assert absl_logging.get_verbosity() == 0


def test_absl_flags_have_their_defaults() -> None:
    flags = packages.AbslFlags()
    flags.DEFINE_integer("count", 3, "How many.", lower_bound=1)
    assert flags.FLAGS.count == 3
    with pytest.raises(AttributeError):
        _ = flags.nothing


def test_six() -> None:
    assert (list(six.iteritems({"a": 1})), six.ensure_text(b"a"), six.ensure_binary("a")) == ([("a", 1)], "a", b"a")
    assert six.moves.urllib.parse.urljoin("http://a/", "b") == "http://a/b"

    class Meta(type):
        pass

    @six.add_metaclass(Meta)
    class Made:
        x = 1

    assert (type(Made), Made.x) == (Meta, 1)


def test_nests() -> None:
    nest = {"b": (1, [2]), "a": 3}
    assert packages.map_structure(str, nest) == {"b": ("1", ["2"]), "a": "3"}
    assert packages.flatten(nest) == [3, 1, 2]

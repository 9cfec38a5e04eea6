"""Paths with the verbs of `etils.epath`."""

import pickle
from pathlib import Path

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.scripting.compat import packages as epath


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

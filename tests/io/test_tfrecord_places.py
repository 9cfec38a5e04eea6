"""Names of files, and files that stand when all of them are whole."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.io.tfrecord import RecordPlaces, compression_for, record_path, refuse_others, shard_paths, written_through


@pytest.mark.parametrize(
    ("path", "given", "found"),
    [
        ("a", None, ""),
        ("a", "", ""),
        ("a", "gzip", "GZIP"),
        ("a", "GZIP", "GZIP"),
        ("a", "Zlib", "ZLIB"),
        ("a.gz", None, "GZIP"),
        ("a.gz", "", ""),
        ("a.gz", "ZLIB", "ZLIB"),
    ],
)
def test_compressions(path: str, given: str | None, found: str) -> None:
    assert compression_for(path, given) == compression_for(Path(path), given) == found
    assert compression_for(io.BytesIO(), given) == (found if given else "")


@pytest.mark.parametrize("given", ["bz2", "zip", True, 5])
def test_other_compressions_are_refused(given: str) -> None:
    with pytest.raises(ConfigurationError, match="none of TFRecord files"):
        compression_for("a", given)


def test_paths(tmp_path: Path) -> None:
    assert record_path(tmp_path) == str(tmp_path / "data.tfrecord")
    assert record_path(f"{tmp_path}/new/") == f"{tmp_path}/new/data.tfrecord"
    assert record_path("a.tfrecord") == "a.tfrecord"
    assert record_path("memory://a/b") == "memory://a/b"
    for given in (5, b"a", None):
        with pytest.raises(ArgumentTypeError, match="neither a path nor a file"):
            record_path(given)


def test_files_pipes_and_devices_are_written_through(tmp_path: Path) -> None:
    file = io.BytesIO()
    for target in (file, os.devnull):
        with written_through(target) as out:  # type: ignore[union-attr]
            out.write(b"x")
    assert file.getvalue() == b"x"
    for other in (tmp_path, tmp_path / "a", "memory://a", 5):
        assert written_through(other) is None


def test_files_that_are_open_for_text_are_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="open for text"):
        compression_for(io.StringIO(), None)


def test_shards_have_the_names_that_readers_know() -> None:
    assert shard_paths("a", None) == ["a"]
    assert shard_paths("a", 1) == ["a-00000-of-00001"]
    assert shard_paths("a", 100_001)[-1] == "a-100000-of-100001"
    for number in (0, -1):
        with pytest.raises(ConfigurationError, match="num_shards"):
            shard_paths("a", number)


def test_shards_of_another_number_are_not_mixed_with(tmp_path: Path) -> None:
    path = str(tmp_path / "a")
    for name in ("a-00000-of-00002", "ab-00000-of-00009", "a-00000-of-00009.txt", "a-x"):
        (tmp_path / name).write_bytes(b"")
    refuse_others(path, shard_paths(path, 2))
    with pytest.raises(ConfigurationError, match="a-00000-of-00002 stands there already"):
        refuse_others(path, shard_paths(path, 3))
    refuse_others(str(tmp_path / "none" / "a"), ["a"])
    refuse_others("memory://a", ["a"])


def test_files_appear_together(tmp_path: Path) -> None:
    paths = [str(tmp_path / "below" / name) for name in "ab"]
    with RecordPlaces(paths, None) as places:
        for number in range(2):
            with places.opened(number) as out:
                out.write(b"%d" % number)
        assert all(name.startswith(".") for name in os.listdir(tmp_path / "below"))
    assert [Path(path).read_bytes() for path in paths] == [b"0", b"1"]
    assert os.listdir(tmp_path / "below") == ["a", "b"] or sorted(os.listdir(tmp_path / "below")) == ["a", "b"]


def test_what_fails_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(KeyError), RecordPlaces([str(tmp_path / "a")], None) as places, places.opened(0) as out:
        out.write(b"new")
        raise KeyError
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_what_a_killed_write_left_is_removed_by_the_next(tmp_path: Path) -> None:
    left = tmp_path / ".a.incomplete-4194305-abcdef01"
    left.mkdir()
    (left / "0").write_bytes(b"half")
    with RecordPlaces([str(tmp_path / "a")], None) as places, places.opened(0) as out:
        out.write(b"whole")
    assert os.listdir(tmp_path) == ["a"]


def test_objects_of_a_store() -> None:
    import fsspec

    with RecordPlaces(["memory://places/a", "memory://places/b"], None) as places:
        for number in range(2):
            with places.opened(number) as out:
                out.write(b"x")
    assert sorted(fsspec.filesystem("memory").ls("/places", detail=False)) == ["/places/a", "/places/b"]

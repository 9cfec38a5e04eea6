"""Small files: regular ones of the folder are read, and nothing else."""

import os
from pathlib import Path

import pytest

from datasets_core.meta.listings import UnfitFileError, opened, small_bytes


def test_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("a")
    assert small_bytes(str(tmp_path / "a"), most_bytes=3) == b"abc"
    assert small_bytes(str(tmp_path / "link"), most_bytes=3, within=str(tmp_path)) == b"abc"
    with opened(str(tmp_path / "a"), most_bytes=3) as file:
        assert file.read(1) == b"a"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: os.mkfifo(path), "no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "no regular file"),
        (lambda path: path.mkdir(), "no regular file"),
        (lambda path: path.write_bytes(b"abcd"), "4 bytes, where at most 3"),
        (lambda path: path.symlink_to("../outside"), "a link that leads out of its folder"),
    ],
)
def test_others_are_not_read(tmp_path: Path, make: object, words: str) -> None:
    (tmp_path / "outside").write_bytes(b"x")
    folder = tmp_path / "folder"
    folder.mkdir()
    make(folder / "odd")  # type: ignore[operator]
    with pytest.raises(UnfitFileError, match=words):
        small_bytes(str(folder / "odd"), most_bytes=3, within=str(folder))


def test_a_folder_of_a_name_that_begins_so_is_another(tmp_path: Path) -> None:
    for name in ("a", "ab"):
        (tmp_path / name).mkdir()
    (tmp_path / "ab" / "x").write_bytes(b"x")
    (tmp_path / "a" / "x").symlink_to(tmp_path / "ab" / "x")
    with pytest.raises(UnfitFileError, match="out of its folder"):
        small_bytes(str(tmp_path / "a" / "x"), most_bytes=3, within=str(tmp_path / "a"))

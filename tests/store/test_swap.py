"""Folders put in the place of others at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from datasets_core.errors import DatasetDiskError
from datasets_core.store.atomic import StagedFolder, exchange


def _content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


def test_a_new_folder_comes_whole_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    with StagedFolder(str(tmp_path / "deep" / "set")) as staged:
        (Path(staged.path) / "a").write_text("1")
        assert not (tmp_path / "deep" / "set").exists()
        assert staged.take_place()
    assert _content(tmp_path / "deep" / "set") == {"a": "1"}
    assert os.listdir(tmp_path / "deep") == ["set"]


def test_an_old_folder_is_replaced_whole(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "old").write_text("0")
    with StagedFolder(str(tmp_path / "set")) as staged:
        (Path(staged.path) / "new").write_text("1")
        done = staged.take_place()
    assert _content(tmp_path / "set") == ({"new": "1"} if done else {"old": "0"})
    assert os.listdir(tmp_path) == ["set"]


def test_a_failure_leaves_the_old_folder_alone(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "old").write_text("0")
    with pytest.raises(KeyError), StagedFolder(str(tmp_path / "set")) as staged:
        (Path(staged.path) / "new").write_text("1")
        raise KeyError
    assert _content(tmp_path / "set") == {"old": "0"}
    assert os.listdir(tmp_path) == ["set"]


_DIE = """
import os, signal, sys
from datasets_core.store.atomic import StagedFolder
staged = StagedFolder(sys.argv[1]).__enter__()
open(os.path.join(staged.path, "half"), "w").write("x")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_left_is_cleared_by_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", _DIE, str(tmp_path / "set")], check=False, cwd=Path(__file__).parents[2])
    assert len(os.listdir(tmp_path)) == 1
    with StagedFolder(str(tmp_path / "set")) as staged:
        assert os.listdir(tmp_path) == [os.path.basename(staged.path)]


def test_what_a_living_one_fills_is_left_alone(tmp_path: Path) -> None:
    with StagedFolder(str(tmp_path / "set")) as one, StagedFolder(str(tmp_path / "set")) as other:
        assert sorted(os.listdir(tmp_path)) == sorted(os.path.basename(each.path) for each in (one, other))


def test_the_present_folder_is_not_pulled_from_under_the_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "set").mkdir()
    monkeypatch.chdir(tmp_path / "set")
    with StagedFolder(".") as staged:
        assert not staged.take_place()


def test_a_file_in_the_place_is_a_disk_error(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no folder")
    with pytest.raises(DatasetDiskError), StagedFolder(str(tmp_path / "plain" / "set")):
        pass
    with pytest.raises(DatasetDiskError), StagedFolder(str(tmp_path / "plain")) as staged:
        staged.take_place()
    assert os.listdir(tmp_path) == ["plain"]


def test_an_exchange_that_fails_says_why(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"No such file"):
        exchange(str(tmp_path / "none"), str(tmp_path / "neither"))

"""The folder of a push: in the cache where that takes one, and gone afterwards."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from pathlib import Path

import pytest

from datasets_core import config
from datasets_core.fetch import disk_cache
from datasets_core.io.push import shard_folder


def test_the_folder_is_in_the_cache_and_goes(tmp_path: Path) -> None:
    with config.using(cache_dir=str(tmp_path)), shard_folder() as folder:
        assert Path(folder).parent == tmp_path / "pushing"
        Path(folder, "a").touch()

    assert os.listdir(tmp_path / "pushing") == []


def test_what_dead_processes_left_is_removed(tmp_path: Path) -> None:
    pushing = tmp_path / "pushing"
    (pushing / "dead.part").mkdir(parents=True)
    (pushing / "alive.part").mkdir()
    for name, pid in (("dead", 2**22 + 1), ("alive", os.getpid())):
        (pushing / f"{name}.part.json").write_text(json.dumps({"pid": pid, "host": socket.gethostname()}))

    with config.using(cache_dir=str(tmp_path)), shard_folder():
        pass

    assert sorted(os.listdir(pushing)) == ["alive.part", "alive.part.json"]


def test_a_cache_at_a_url_makes_no_folder_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    with config.using(cache_dir="memory://x/y"), shard_folder() as folder:
        assert os.path.isdir(folder)

    assert not os.path.exists(folder)
    assert os.listdir(tmp_path) == []


def test_a_cache_that_takes_no_folder_is_done_without(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with config.using(cache_dir=str(tmp_path / "file")), shard_folder() as folder:
        assert os.path.isdir(folder)

    assert not os.path.exists(folder)


def test_a_folder_that_cannot_be_claimed_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def claim(*_: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr(disk_cache, "claim", claim)

    with config.using(cache_dir=str(tmp_path)), shard_folder() as folder:
        assert folder.startswith(tempfile.gettempdir())

    assert os.listdir(tmp_path / "pushing") == []


def test_an_error_within_is_that_of_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with (
        pytest.raises(ValueError, match="mine") as caught,
        config.using(cache_dir=str(tmp_path / "file")),
        shard_folder(),
    ):
        raise ValueError("mine")

    assert caught.value.__context__ is None

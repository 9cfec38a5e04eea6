"""What a cage grants follows from its fields, and else from the settings."""

from pathlib import Path

import pytest

from datasets_core import config
from datasets_core.scripting.sandbox.limits import Layers, Sandbox

FOUND = Layers("x86_64", 7, True, True)


def test_the_settings_fill_what_a_cage_leaves_open(tmp_path: Path) -> None:
    with config.using(confined_memory_bytes=1 << 29, confined_cpu_seconds=9, confined_file_bytes=8):
        open_, said = Sandbox((), str(tmp_path)), Sandbox((), str(tmp_path), memory_bytes=1, cpu_seconds=2, file_bytes=3)
        assert [open_.setup(FOUND)[name] for name in ("memory_bytes", "cpu_seconds", "file_bytes")] == [1 << 29, 9, 8]
        assert [said.setup(FOUND)[name] for name in ("memory_bytes", "cpu_seconds", "file_bytes")] == [1, 2, 3]


def test_what_may_be_read_is_told_by_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Sandbox((str(tmp_path / "link"),), str(tmp_path)).setup(FOUND)["readable"] == [str(tmp_path / "real")]


def test_the_environment_is_its_own_but_for_the_time_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("HF_TOKEN", "secret")
    assert Sandbox((), str(tmp_path)).setup(FOUND)["environment"] == {
        "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "LOGNAME": "nobody", "USER": "nobody", "TZ": "Asia/Tokyo",
    }  # fmt: skip

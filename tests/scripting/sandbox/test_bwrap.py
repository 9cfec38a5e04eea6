"""The world that bwrap makes: what is bound there, and how it is told that bwrap does not work."""

import sys
from pathlib import Path

import pytest

from datasets_core.scripting.sandbox import limits


def _pairs(line: list[str], option: str) -> set[str]:
    return {line[place + 2] for place, word in enumerate(line) if word == option}


def test_only_the_scratch_folder_can_be_written(tmp_path: Path) -> None:
    line = limits.command("/usr/bin/bwrap", ["python", "-c", "x"], inputs=[str(tmp_path / "in")], scratch=str(tmp_path / "s"))
    assert _pairs(line, "--bind") == {str(tmp_path / "s")}
    assert _pairs(line, "--ro-bind-try") >= {str(tmp_path / "in"), "/usr/lib"}
    assert _pairs(line, "--dev-bind-try") == {"/dev/null", "/dev/full", "/dev/zero", "/dev/random", "/dev/urandom"}
    assert line[line.index("--remount-ro") + 1] == "/"
    assert line[-4:] == ["--", "python", "-c", "x"]


def test_everything_else_is_of_its_own(tmp_path: Path) -> None:
    line = limits.command("bwrap", [], inputs=[], scratch=str(tmp_path))
    assert line[1:4] == ["--unshare-all", "--die-with-parent", "--new-session"]


def test_a_linked_input_is_there_under_both_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    line = limits.command("bwrap", [], inputs=[str(tmp_path / "link")], scratch=str(tmp_path))
    assert _pairs(line, "--ro-bind-try") >= {str(tmp_path / "link"), str(tmp_path / "real")}


@pytest.mark.parametrize("status", [0, 1])
def test_it_counts_only_where_it_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    (tmp_path / "bwrap").write_text(f"#!{sys.executable}\nraise SystemExit({status})")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert limits.program() == (None if status else str(tmp_path / "bwrap"))


def test_without_it_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert limits.program() is None

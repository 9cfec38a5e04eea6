"""What the command prints on a terminal: colours, and tables that fit."""

import io
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from PIL import Image as Pictures

from datasets_core.cli import terminal
from datasets_core.cli.terminal import has_colours

_REPOSITORY = Path(__file__).parents[2]


def _on_terminal(words: list[str], columns: int, **environment: str) -> str:
    """Return what the command prints to a terminal of so many columns."""
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, columns))
    kept = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "NO_COLOR", "FORCE_COLOR"}}
    command = [sys.executable, "-m", "datasets_core", *words]
    with subprocess.Popen(
        command, stdout=theirs, stderr=theirs, stdin=theirs, cwd=_REPOSITORY, env={**kept, "TERM": "xterm", **environment}
    ) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            said += part
    os.close(ours)
    assert process.returncode == 0, said
    return said.decode().replace("\r\n", "\n")


def test_pictures_are_told_in_a_table(tmp_path: Path, cache: str) -> None:
    (tmp_path / "pictures").mkdir()
    Pictures.new("RGB", (40, 30)).save(tmp_path / "pictures" / "1.png")
    lines = _on_terminal(["head", str(tmp_path / "pictures"), "--cache-dir", cache], 80, NO_COLOR="1").splitlines()[-3:]
    assert lines[:2] == ["image", "<image: PNG, 40 x 30 pixels, RGB, 1.png>"]


def test_a_terminal_shows_a_table_that_fits(table: str, cache: str) -> None:
    Path(table).write_text(f"name,mass,note\nalba,3,{'word ' * 40}\nbrno,40,\n")
    said = _on_terminal(["head", table, "--cache-dir", cache], 60, NO_COLOR="1")
    lines = said.splitlines()[-4:]
    assert max(map(len, lines)) <= 60
    assert lines[0].split() == ["name", "mass", "note"]
    assert lines[1].startswith("alba     3  word word") and lines[1].endswith("…")
    assert lines[2] == "brno    40  -"
    assert lines[3] == "2 rows of 2"
    assert '{"name": "alba"' in _on_terminal(["head", table, "--json", "--cache-dir", cache], 60)


def test_many_columns_are_one_below_the_other(table: str, cache: str) -> None:
    Path(table).write_text(",".join(f"c{number}" for number in range(30)) + "\n" + ",".join(map(str, range(30))) + "\n")
    lines = _on_terminal(["head", table, "--cache-dir", cache], 80, NO_COLOR="1").splitlines()[-33:]
    assert lines[:3] == ["row 0", "  COLUMN  VALUE", "  c0      0"]


def test_the_list_of_the_cache_fits_and_keeps_names(built: str, cache: str) -> None:
    head, line, *_ = _on_terminal(["cache", "ls", "--cache-dir", cache], 80).splitlines()
    assert head.startswith("\x1b[1mNAME ") and head.endswith("\x1b[0m")
    assert line.startswith("/".join(os.path.relpath(built, cache).split("/")[:2]) + " ")
    assert len(line) <= 80 and line.endswith("birds.csv")
    assert "\x1b" not in _on_terminal(["cache", "ls", "--cache-dir", cache], 80, NO_COLOR="1")


def test_colours_follow_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    assert not has_colours(io.StringIO())
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert has_colours(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not has_colours(io.StringIO())


def test_wide_letters_take_two_columns(table: str, cache: str) -> None:
    Path(table).write_text("name,mass\n日本,3\nabcd,4\n")
    lines = _on_terminal(["head", table, "--cache-dir", cache], 60, NO_COLOR="1").splitlines()[-3:]
    assert lines[:2] == ["日本     3", "abcd     4"]


def test_numbers_of_a_table_are_never_cut(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    head = ("NAME", "ROWS", "SIZE", "RESULTS", "AGE", "SOURCE")
    row = ("csv/default-3f1c2a", "train 44,000, test 2,000", "44.5 MB", "129.1 MB", "1 month", "~/data/birds/train.csv")
    for columns in (120, 80, 60):
        monkeypatch.setattr(terminal, "terminal_width", lambda columns=columns: columns)
        terminal.print_table(head, [row], right=("SIZE", "RESULTS"), tail="SOURCE", whole=1)
        lines = capsys.readouterr().out.splitlines()
        assert all(len(line) <= columns for line in lines)
        assert all(number in lines[1] for number in ("44.5 MB", "129.1 MB"))
        assert "RESULTS" in lines[0]
    assert lines[1].startswith("csv/default") and lines[1].endswith("ain.csv")

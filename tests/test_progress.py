"""Progress bars are quiet when switched off or away from a terminal."""

import io
import sys

import pytest

from datasets_core import progress


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _bars_on() -> object:
    progress.enable_progress_bars()
    yield
    progress.enable_progress_bars()


def test_a_bar_names_its_stage_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Terminal())
    with progress.progress("Building train", total=10) as bar:
        bar.update(10)
    assert "Building train: 100%" in sys.stderr.getvalue()


def test_nothing_is_drawn_away_from_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.progress("Building train", total=10) as bar:
        bar.update(10)
    assert capsys.readouterr().err == ""


def test_nothing_is_drawn_without_a_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress.progress("Building train", total=10) as bar:
            assert bar.update(10) is None


def test_nothing_is_drawn_when_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", _Terminal())
    progress.disable_progress_bars()
    with progress.progress("Building train", total=10) as bar:
        bar.update(10)
    assert sys.stderr.getvalue() == ""
    assert progress.are_progress_bars_disabled()

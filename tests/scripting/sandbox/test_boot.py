"""A fresh interpreter runs a function of this library, and nothing of this process reaches it."""

import subprocess
import sys
from pathlib import Path

import pytest

from datasets_core.scripting.sandbox.template import environment, words


def test_neither_path_nor_environment_of_this_process_reaches_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('taken from the working folder')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("HF_TOKEN", "secret")
    line = words("builtins", "print", sep="\n", end="", flush=True)
    index = line.index("-c") + 1
    line[index] += "print(sys.path, dict(os.environ), os.path.dirname(library.__file__))"
    done = subprocess.run(line, env=environment(), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert str(tmp_path) not in done.stdout
    assert "secret" not in done.stdout
    assert str(Path(sys.modules["datasets_core"].__file__ or "").parent) in done.stdout


def test_the_time_zone_is_that_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert environment()["TZ"] == "Asia/Tokyo"

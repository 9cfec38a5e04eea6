"""The training loop in `scripts/` runs from TFRecord files to batches of pictures, stops, and goes on with the next sample."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _run(folder: Path, *options: str) -> str:
    command = [sys.executable, str(ROOT / "scripts" / "train_from_tfrecord.py"), "--folder", str(folder), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=120).stdout


def test_it_goes_on_as_if_it_had_not_stopped(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    checkpoint = tmp_path / "checkpoint.json"
    _run(tmp_path, "--stop-after", "9")
    whole = json.loads(checkpoint.read_text())["weights"]
    checkpoint.unlink()
    _run(tmp_path, "--stop-after", "4")
    assert "going on after step 4" in _run(tmp_path, "--stop-after", "9")
    assert json.loads(checkpoint.read_text())["weights"] == whole
